#!/bin/sh
# Runs every fuzz target for the given number of seconds.
set -eu
seconds=${1:-60}
command -v cargo-fuzz >/dev/null 2>&1 || {
    printf 'cargo-fuzz is needed. Install it with:\n    cargo install cargo-fuzz\n' >&2
    exit 1
}
cargo +nightly --version >/dev/null 2>&1 || {
    printf 'Rust nightly is needed. Install it with:\n    rustup toolchain install nightly\n' >&2
    exit 1
}
for target in $(cargo +nightly fuzz list); do
    echo "== $target"
    cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -print_final_stats=1 2>&1 | tail -n 12
done
