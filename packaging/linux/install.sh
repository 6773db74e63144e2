#!/bin/sh
# Install attn_gui for the present user, out of the folder that this script lies in. Needs no administrator.
set -eu
fail() {
    echo "install.sh: $1" >&2
    exit 1
}

here=$(dirname -- "$(readlink -f -- "$0")")
if [ ! -d "${HOME:-}" ]; then fail "HOME names no folder, and what is installed goes into the home of a user"; fi
# relative ones are to be ignored (XDG Base Directory Specification)
case ${XDG_DATA_HOME:-} in
    /*) data=$XDG_DATA_HOME ;;
    *) data=$HOME/.local/share ;;
esac
case $HOME$data in
    *'
'*) fail "a menu cannot name a folder whose name has a line break" ;;
esac
# not attn_gui, where settings and copies of unsaved work are
target=$data/attn-gui-program
bin=$HOME/.local/bin

if [ ! -x "$here/attn_gui/attn-gui" ]; then
    fail "the folder attn_gui is missing in $here; unpack the archive again"
fi
if [ -e "$target" ] && [ ! -x "$target/attn-gui" ]; then
    fail "$target holds something else than attn_gui; move it away first"
fi
program=$(readlink -f -- "$target/attn-gui" || true)
for running in /proc/[0-9]*/exe; do
    if [ -n "$program" ] && [ "$(readlink "$running" 2> /dev/null)" = "$program" ]; then
        fail "attn_gui is open: close it, then run this again"
    fi
done
mkdir -p "$data" "$bin" "$data/applications" "$data/mime/packages"
# the new version is whole before the old one goes
trap 'rm -rf "$target.new"' EXIT
rm -rf "$target.new"
if ! cp -R "$here/attn_gui" "$target.new" 2> /dev/null || ! cp "$here/uninstall.sh" "$target.new"; then
    fail "the program could not be copied into $data: is there room for it, and may you write there?"
fi
rm -rf "$target.old"
if [ -d "$target" ]; then mv "$target" "$target.old"; fi
mv "$target.new" "$target"
rm -rf "$target.old"

# as the Desktop Entry Specification quotes an argument, then a string; then as sed does what it puts in
quoted=$(printf '%s' "$target/attn-gui" | sed -e 's/["`$\\]/\\&/g' -e 's/%/%%/g' -e 's/\\/\\\\/g' -e 's/[&|\\]/\\&/g')
sed "s|@PROGRAM@|$quoted|" "$here/attn-gui.desktop" > "$data/applications/attn-gui.desktop"
cp "$here/attn-gui.xml" "$data/mime/packages/attn-gui.xml"
for size in 16 24 32 48 64 128 256 512; do
    folder=$data/icons/hicolor/${size}x$size
    mkdir -p "$folder/apps" "$folder/mimetypes"
    cp "$here/icons/attn-gui-$size.png" "$folder/apps/attn-gui.png"
    cp "$here/icons/attn-gui-$size.png" "$folder/mimetypes/application-x-attn-session.png"
done
mkdir -p "$data/icons/hicolor/scalable/apps"
cp "$here/icons/attn-gui.svg" "$data/icons/hicolor/scalable/apps/attn-gui.svg"
# desktops read the new files by themselves where these are missing
if command -v update-desktop-database > /dev/null; then update-desktop-database "$data/applications" || true; fi
if command -v update-mime-database > /dev/null; then update-mime-database "$data/mime" || true; fi
if command -v gtk-update-icon-cache > /dev/null; then gtk-update-icon-cache -q -t "$data/icons/hicolor" || true; fi

echo "attn_gui is in the menu of applications; $target/uninstall.sh takes it away again"
if [ -e "$bin/attn-gui" ] && [ "$(readlink "$bin/attn-gui")" != "$target/attn-gui" ]; then
    echo "$bin/attn-gui was there before and was left as it is: from a terminal, start $target/attn-gui"
    exit 0
fi
ln -sf "$target/attn-gui" "$bin/attn-gui"
echo "From a terminal: $bin/attn-gui"
case ":$PATH:" in
    *":$bin:"*) ;;
    *) echo "$bin is not in PATH: to start attn-gui by its name, add it, or sign in anew" ;;
esac
