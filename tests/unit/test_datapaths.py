"""Drivers of Open vSwitch's datapaths and of the bridge, as far as they can be looked at without starting anything."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from flowgauge.cli import listing
from flowgauge.duts import DRIVERS, create
from flowgauge.duts.cores import core_plan
from flowgauge.duts.openvswitch import DATAPATHS, OpenVSwitch
from flowgauge.duts.ovs import afxdp, dpdk
from flowgauge.duts.ovs.dpdk import Dpdk, dpdk_settings
from flowgauge.duts.ovs.kernel import check_module
from flowgauge.errors import ConfigError, MissingToolError
from flowgauge.testbed.interface import ENTRIES
from flowgauge.testbed.uncontrolled import Uncontrolled


@pytest.mark.parametrize("word", DATAPATHS)
def test_each_datapath_is_a_dut_of_its_own(word: str) -> None:
    driver = create(f"ovs:{word},ports=4")
    assert driver.name == f"ovs:{word}"
    assert driver.name in DRIVERS
    assert driver.name in listing.duts()
    assert isinstance(driver, OpenVSwitch)
    assert driver._ports == 4
    assert (driver.plan.dut_pmd is not None) == (word in ("afxdp", "dpdk"))


@pytest.mark.parametrize(
    ("dut", "says"),
    [
        ("ovs:netmap", "ovs has no datapath 'netmap'; it has: afxdp, dpdk, kernel"),
        ("ovs:dpdk,ports=99", "ovs:dpdk: option ports is '99'; allowed: 2..16 ports"),
        ("ovs:dpdk,hugepages=maybe", "allowed: auto, yes or no"),
        ("ovs:kernel,packed=yes", "ovs:kernel has no option 'packed'"),
        ("ovs:afxdp,mode=fast", "allowed: best-effort, native or generic"),
        ("linux-bridge:backend=ring", "allowed: af_packet or af_xdp"),
    ],
)
def test_mistakes_are_answered_with_what_is_allowed(dut: str, says: str) -> None:
    with pytest.raises(ConfigError) as found:
        create(dut)
    assert says in found.value.message


def test_a_kernel_without_the_module_is_told_from_one_that_has_not_loaded_it(tmp_path: Path) -> None:
    sys, modules = tmp_path / "sys", tmp_path / "modules"
    folder = modules / platform.release()
    folder.mkdir(parents=True)
    with pytest.raises(MissingToolError, match="has no module openvswitch"):
        check_module(sys, modules)
    (folder / "modules.dep").write_text(
        "kernel/net/openvswitch/openvswitch.ko.xz: kernel/lib/libcrc32c.ko.xz\n"
    )
    with pytest.raises(MissingToolError, match="is not loaded") as found:
        check_module(sys, modules)
    assert found.value.advice == "modprobe openvswitch (as root)"
    (sys / "openvswitch").mkdir(parents=True)
    check_module(sys, modules)


def test_a_kernel_with_the_module_built_in_has_it(tmp_path: Path) -> None:
    folder = tmp_path / platform.release()
    folder.mkdir()
    (folder / "modules.builtin").write_text("kernel/net/openvswitch/openvswitch.ko\n")
    check_module(tmp_path / "none", tmp_path)


def test_open_vswitch_without_af_xdp_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ovs-vswitchd"
    monkeypatch.setattr(afxdp, "need_tool", lambda name: str(program))
    program.write_bytes(b"netdev_linux")
    with pytest.raises(MissingToolError, match="was built without AF_XDP"):
        afxdp.check_built()
    afxdp._built.cache_clear()
    program.write_bytes(b"netdev_linux\0netdev_afxdp\0")
    afxdp.check_built()


def test_open_vswitch_without_dpdk_is_told_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dpdk, "PROGRAM", tmp_path / "none")
    with pytest.raises(MissingToolError) as found:
        dpdk.find_program()
    assert found.value.advice == "apt-get install openvswitch-switch-dpdk"


def test_dpdk_keeps_to_itself() -> None:
    huge = dpdk_settings("fg-1", 512, huge=True, lcore=0, pmd=3)
    assert huge["dpdk-socket-limit"] == huge["dpdk-socket-mem"] == "512"
    assert (huge["dpdk-lcore-mask"], huge["pmd-cpu-mask"]) == ("0x1", "0x8")
    without = dpdk_settings("fg-1", 512, huge=False, lcore=1, pmd=0)
    assert "--no-huge" in without["dpdk-extra"]
    for settings in (huge, without):
        assert "--no-pci --file-prefix=fg-1" in settings["dpdk-extra"]


def test_queues_of_dpdk_are_those_of_the_sockets() -> None:
    driver = create("ovs:dpdk,queues=4")
    assert isinstance(driver, OpenVSwitch)
    assert driver.plan == core_plan(polls=True, ports=2, queues=4)
    wiring = Dpdk({**{name: option.default for name, option in Dpdk.options.items()}, "queues": 4}).port(1)
    assert wiring.queues == 4
    assert "server=1,queues=4," in wiring.interface


def test_wires_of_dpdk_are_sockets_that_the_tester_serves() -> None:
    values = {name: option.default for name, option in Dpdk.options.items()}
    datapath = Dpdk(values)
    datapath._home = Path("/run/x")
    wiring = datapath.port(2)
    assert wiring.backend == "dpdk"
    assert wiring.interface.startswith("net_virtio_user2,path=/run/x/vhost2.sock,server=1,")
    assert "packed_vq=1" in wiring.interface
    assert "options:vhost-server-path=/run/x/vhost2.sock" in datapath.settings(2)
    assert "packed_vq" not in Dpdk({**values, "packed": False}).port(1).interface


def test_a_dut_without_openflow_can_do_nothing_of_it() -> None:
    from flowgauge.errors import NotOfferedError

    control = Uncontrolled()
    assert ENTRIES not in control.abilities
    for name in ("delete_all", "count_entries", "add_flows", "dump_flows", "add_group", "delete_meters"):
        with pytest.raises(NotOfferedError, match="it needs flow entries, and the DUT has no OpenFlow"):
            getattr(control, name)()
    assert control.describe() == {}
