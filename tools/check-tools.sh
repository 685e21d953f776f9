#!/bin/sh
# Checks Rust and Python, and prints the one line that installs what is missing.
set -eu
PYTHON=${PYTHON:-python3}
minimum=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

older() { [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

fail() {
    printf '%s\nInstall it with:\n    %s\n' "$1" "$2" >&2
    exit 1
}

rustup='curl --proto =https --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y && . "$HOME/.cargo/env"'
command -v cargo >/dev/null 2>&1 || fail "Rust $minimum or newer is needed, and cargo was not found." "$rustup"
rust=$(cargo --version | cut -d ' ' -f 2)
older "$rust" "$minimum" && fail "Rust $minimum or newer is needed, this is $rust." "$rustup"
command -v cc >/dev/null 2>&1 || fail "A C linker is needed, and cc was not found." "sudo apt-get install -y gcc libc6-dev"
command -v "$PYTHON" >/dev/null 2>&1 || fail "Python 3.11 or newer is needed, and $PYTHON was not found." \
    "sudo apt-get install -y python3 python3-venv"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python 3.11 or newer is needed, this is $("$PYTHON" --version)." "make PYTHON=/path/to/a/newer/python3"
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "Python's venv module is needed." "sudo apt-get install -y python3-venv"
