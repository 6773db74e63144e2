#!/bin/sh
# Take away what install.sh installed: where this script lies in it, that; else what is in the usual place.
# Settings, copies of unsaved work and sessions stay.
set -eu
fail() {
    echo "uninstall.sh: $1" >&2
    exit 1
}

target=$(dirname -- "$(readlink -f -- "$0")")
if [ ! -x "$target/attn-gui" ]; then
    if [ ! -d "${HOME:-}" ]; then fail "HOME names no folder, and what was installed lies in the home of a user"; fi
    case ${XDG_DATA_HOME:-} in
        /*) target=$XDG_DATA_HOME/attn-gui-program ;;
        *) target=$HOME/.local/share/attn-gui-program ;;
    esac
fi
if [ ! -x "$target/attn-gui" ]; then fail "there is no attn_gui in $target; nothing was taken away"; fi
program=$(readlink -f -- "$target/attn-gui")
for running in /proc/[0-9]*/exe; do
    if [ "$(readlink "$running" 2> /dev/null)" = "$program" ]; then
        fail "attn_gui is open: close it, then run this again"
    fi
done

data=$(dirname -- "$target")
bin=${HOME:-}/.local/bin/attn-gui
if [ "$(readlink -f "$bin" 2> /dev/null)" = "$program" ]; then rm -f "$bin"; fi
rm -f "$data/applications/attn-gui.desktop" "$data/mime/packages/attn-gui.xml"
for size in 16 24 32 48 64 128 256 512; do
    folder=$data/icons/hicolor/${size}x$size
    rm -f "$folder/apps/attn-gui.png" "$folder/mimetypes/application-x-attn-session.png"
done
rm -f "$data/icons/hicolor/scalable/apps/attn-gui.svg"
if command -v update-desktop-database > /dev/null; then update-desktop-database "$data/applications" || true; fi
if command -v update-mime-database > /dev/null; then update-mime-database "$data/mime" || true; fi
if command -v gtk-update-icon-cache > /dev/null; then gtk-update-icon-cache -q -t "$data/icons/hicolor" || true; fi
rm -rf "$target" "$target.new" "$target.old"
echo "attn_gui is gone; settings, copies of unsaved work and sessions were left where they are"
