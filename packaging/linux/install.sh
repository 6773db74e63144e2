#!/bin/sh
# Install attn_gui for the present user, out of the folder that this script lies in. Needs no administrator.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
target=$data/attn_gui
bin=$HOME/.local/bin

if [ ! -x "$here/attn_gui/attn-gui" ]; then
    echo "install.sh: the folder attn_gui is missing beside this script; unpack the archive again" >&2
    exit 1
fi
mkdir -p "$data" "$bin" "$data/applications" "$data/mime/packages"
# the new version is whole before the old one goes
rm -rf "$target.new"
cp -R "$here/attn_gui" "$target.new"
cp "$here/uninstall.sh" "$target.new/uninstall.sh"
rm -rf "$target.old"
if [ -d "$target" ]; then mv "$target" "$target.old"; fi
mv "$target.new" "$target"
rm -rf "$target.old"

ln -sf "$target/attn-gui" "$bin/attn-gui"
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

echo "attn_gui is in the menu of applications and in $bin/attn-gui; $target/uninstall.sh takes it away again"
case ":$PATH:" in
    *":$bin:"*) ;;
    *) echo "$bin is not in PATH: to start attn-gui from a terminal, add it, or sign in anew" ;;
esac
