#!/bin/sh
# Try the unpacked archive on a machine that has nothing, not even Python: sh fresh.sh FOLDER
# Starts the program, has it test itself, installs it, exports from the installed one, and takes it away again.
set -eu
folder=$(CDPATH= cd -- "$1" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export QT_QPA_PLATFORM=offscreen HOME="$place/home" XDG_DATA_HOME=
mkdir "$HOME"

# what a system without a single font or a setting for them says, and Qt about the offscreen platform
harmless='^Fontconfig |^QFontDatabase: |^Note that Qt no longer ships fonts|^qt.qpa.fonts: |^This plugin does not support |^$'

run() { # NAME WORDS...: its output must come, and nothing on stderr
    name=$1
    shift
    if ! "$@" > "$place/out" 2> "$place/err"; then
        echo "FAILED  $name"
        cat "$place/out" "$place/err"
        exit 1
    fi
    if grep -vE "$harmless" "$place/err"; then
        echo "FAILED  $name: see above what it said on stderr"
        exit 1
    fi
    echo "ok      $name"
}

holds() { # FILE TEXT
    if ! grep -qF "$2" "$1"; then
        echo "FAILED  $1 lacks $2:"
        cat "$1"
        exit 1
    fi
}

run "first paint and Karina's weights" "$folder/attn_gui/attn-gui" --smoke
# softmax([1, 0, 1, 1, 0.5] / sqrt(2)), its first number
holds "$place/out" '"N": [[0.238364'
run "its own tests" "$folder/attn_gui/attn-gui" --self-test
holds "$place/out" ' passed'
run "install.sh" sh "$folder/install.sh"
target=$HOME/.local/share/attn-gui-program
holds "$HOME/.local/share/applications/attn-gui.desktop" "Exec=\"$target/attn-gui\" %f"
run "the installed program" "$HOME/.local/bin/attn-gui" --smoke
run "install.sh once more, over itself" sh "$folder/install.sh"
run "export by the installed program" "$HOME/.local/bin/attn-gui" export --example karina --stage N --out "$place/export"
run "uninstall.sh" sh "$target/uninstall.sh"
profile=$HOME/.local/share/attn_gui
left=$(find "$HOME/.local" -type f ! -name '*.cache' ! -path '*/mime/*' ! -path "$profile/*" | head -n 5)
if [ -e "$target" ] || [ -n "$left" ]; then
    echo "FAILED  uninstall.sh left $target $left"
    exit 1
fi
if [ ! -f "$profile/settings.ini" ]; then
    echo "FAILED  uninstall.sh took the settings away"
    exit 1
fi
echo "ok      nothing is left but the settings"
