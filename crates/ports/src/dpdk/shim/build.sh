#!/bin/sh
# Builds the shim as the shared object $1 against the libdpdk that pkg-config knows. 3: there is none.
set -eu
pkg-config --exists libdpdk || exit 3
here=$(dirname "$0")
# shellcheck disable=SC2046  # lists of words are what is meant
${CC:-cc} -std=gnu11 -O3 -Wall -Wextra -fvisibility=hidden -fPIC -shared -DALLOW_EXPERIMENTAL_API \
    $(pkg-config --cflags libdpdk) -o "$1" "$here/flowgauge_dpdk.c" -Wl,--as-needed $(pkg-config --libs libdpdk)
