#!/bin/sh
# As root on Debian: the packages that live tests and benchmarks need. Otherwise it says what will be skipped.
set -eu
packages=""
need() { command -v "$1" >/dev/null 2>&1 || packages="$packages $2"; }
PATH=$PATH:/usr/sbin:/sbin
need ovs-vswitchd openvswitch-switch
need ovs-pki openvswitch-common
need openssl openssl
need ip iproute2
need ethtool ethtool
need tcpdump tcpdump
need trafgen netsniff-ng
need tcpreplay tcpreplay
need tshark tshark
need mn mininet
need ping iputils-ping
need strace strace
need pkg-config pkg-config
need dpdk-testpmd dpdk-dev
need dpdk-devbind.py dpdk
[ -e /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk ] || packages="$packages openvswitch-switch-dpdk"
pkg-config --exists libdpdk 2>/dev/null || packages="$packages libdpdk-dev"
[ -z "$packages" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "Not installed:$packages. Tests and benchmarks that need them are skipped." >&2
    exit 0
fi
echo "Installing$packages"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086  # a list of words is what is meant
apt-get install -y -qq --no-install-recommends $packages >/dev/null 2>&1 || {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends $packages >/dev/null
}
