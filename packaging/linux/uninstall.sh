#!/bin/sh
# Take away what install.sh installed. Settings and sessions stay.
set -eu
data=${XDG_DATA_HOME:-$HOME/.local/share}
target=$data/attn_gui
bin=$HOME/.local/bin/attn-gui

if [ "$(readlink "$bin" 2> /dev/null)" = "$target/attn-gui" ]; then rm -f "$bin"; fi
rm -f "$data/applications/attn-gui.desktop" "$data/mime/packages/attn-gui.xml"
for size in 16 24 32 48 64 128 256 512; do
    folder=$data/icons/hicolor/${size}x$size
    rm -f "$folder/apps/attn-gui.png" "$folder/mimetypes/application-x-attn-session.png"
done
rm -f "$data/icons/hicolor/scalable/apps/attn-gui.svg"
if command -v update-desktop-database > /dev/null; then update-desktop-database "$data/applications" || true; fi
if command -v update-mime-database > /dev/null; then update-mime-database "$data/mime" || true; fi
rm -rf "$target"
echo "attn_gui is gone; settings and sessions were left where they are"
