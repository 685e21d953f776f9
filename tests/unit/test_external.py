"""The TOML file of an external switch: what it means, and what is said about its mistakes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flowgauge.duts import create, external
from flowgauge.duts.control import read_control
from flowgauge.duts.external import External
from flowgauge.duts.interface import TO_NOBODY, TO_US, Leads, TlsFiles, Wiring
from flowgauge.duts.keys import Keys
from flowgauge.errors import ConfigError, InterfaceError, PermissionNeededError, UnknownNameError
from flowgauge.suites import toml

GOOD = """name = "lab"
versions = ["1.3"]
[control]
listen = "0.0.0.0:6653"
[[port]]
interface = "lo"
of_port = 1
speed_mbps = 1000
[[port]]
interface = "fg-none"
of_port = 2
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "lab.toml"
    path.write_text(text)
    return path


def test_a_good_file_is_read(tmp_path: Path) -> None:
    driver = External(write(tmp_path, GOOD))
    assert driver.name == "lab"
    assert [p["of_port"] for p in driver.describe()["ports"]] == [1, 2]


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('listen = "0.0.0.0:6653"', 'listen = "6653"', 4, "address and port"),
        ('listen = "0.0.0.0:6653"', "", 3, "one of listen, connect"),
        ('versions = ["1.3"]', 'versions = ["1.7"]', 2, "1.0, 1.3"),
        ("of_port = 2", "of_port = 1", 11, "no other [[port]] has"),
        ("of_port = 2", "of_port = 0", 11, "whole number from 1"),
        ("of_port = 2", "of_prt = 2", 11, "interface, of_port, speed_mbps"),
        ("speed_mbps = 1000", "speed_mbps = true", 8, "a number above 0"),
        ('interface = "lo"', "interface = 7", 6, "the name of an interface"),
        ("of_port = 2", "of_port = 2\n[reset]\ncommands = [1]", 13, "list of commands"),
        ("of_port = 1", "of_port = ", 7, "not TOML"),
        ("of_port = 2", "of_port = 2\n[[port]]\nof_port = 3", 12, "the name of an interface"),
        ('name = "lab"', 'nmae = "lab"', 1, "versions, control, port"),
        ('name = "lab"', 'controller = "odl"', 1, "builtin, ovs-ofctl, rest:URL"),
        ('name = "lab"', 'controller = "rest"', 1, "needs its URL"),
        ('listen = "0.0.0.0:6653"', 'listen = "0.0.0.0:6653"\ndatapath_id = "one"', 5, "a number as text"),
    ],
)
def test_a_mistake_names_file_line_and_what_is_allowed(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        External(write(tmp_path, GOOD.replace(old, new, 1)))
    assert "lab.toml" in caught.value.message
    assert f"line {line}" in caught.value.message
    assert said in caught.value.message


def test_too_few_ports(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least 2"):
        External(write(tmp_path, GOOD.rpartition("[[port]]")[0]))


def test_a_missing_interface_is_named_with_advice(tmp_path: Path) -> None:
    with pytest.raises(InterfaceError, match="there is no interface fg-none") as caught:
        External(write(tmp_path, GOOD)).start("1.3")
    assert caught.value.advice is not None


def wiring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, control: str, leads: Leads) -> Wiring:
    monkeypatch.setattr(external, "_checked", lambda port: port)
    text = GOOD.replace('listen = "0.0.0.0:6653"', control)
    return External(write(tmp_path, f'controller = "ovs-ofctl"\n{text}')).start("1.3", leads)


def test_other_controllers_need_no_channel_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert External(write(tmp_path, 'controller = "ovs-ofctl"\n' + GOOD)).controller == "ovs-ofctl"
    found = wiring(tmp_path, monkeypatch, 'ovs_ofctl = "unix:/run/br0.mgmt"', TO_NOBODY)
    assert (found.ofctl, found.datapath_id) == ("unix:/run/br0.mgmt", None)
    found = wiring(tmp_path, monkeypatch, 'connect = "[::1]:6653"\ndatapath_id = "2a"', TO_NOBODY)
    assert (found.ofctl, found.datapath_id) == ("tcp:[::1]:6653", 42)
    assert wiring(tmp_path, monkeypatch, 'listen = "0.0.0.0:6653"', TO_NOBODY).ofctl is None
    with pytest.raises(ConfigError, match="no way to connect"):
        wiring(tmp_path, monkeypatch, 'datapath_id = "1"', TO_US)


def test_a_version_that_it_does_not_speak(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"OpenFlow 1\.0 was asked for; allowed: 1\.3"):
        External(write(tmp_path, GOOD)).start("1.0")


def test_a_failing_reset_command_says_what_it_said(tmp_path: Path) -> None:
    text = GOOD + '[reset]\ncommands = ["echo no luck >&2; false"]\n'
    with pytest.raises(Exception, match="no luck"):
        External(write(tmp_path, text)).reset()


def test_unknown_duts_are_answered_with_those_that_exist() -> None:
    with pytest.raises(UnknownNameError, match=r"embedded, linux-bridge, ovs"):
        create("cisco")


@pytest.mark.parametrize("dut", ["ovs:ports=1", "ovs:ports", "ovs:speed=1"])
def test_options_name_what_is_allowed(dut: str) -> None:
    with pytest.raises(ConfigError, match="ports"):
        create(dut)


def test_the_example_of_the_guide_is_valid() -> None:
    External(Path(__file__).parents[2] / "docs/examples/lab.toml")


def test_an_array_of_numbers_is_no_port(tmp_path: Path) -> None:
    text = 'port = [3, 4]\n[control]\nlisten = "0.0.0.0:6653"\n'
    with pytest.raises(ConfigError, match=r"line 1: an element of port is 3; allowed: a table: \[\[port\]\]"):
        External(write(tmp_path, text))


def test_a_port_in_a_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GOOD.replace('interface = "lo"', 'interface = "lo"\nnetns = "fg-none"')
    driver = External(write(tmp_path, text))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(InterfaceError, match="no network namespace fg-none"):
        driver.start("1.3")
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    with pytest.raises(PermissionNeededError, match="needs root"):
        driver.start("1.3")


TLS = GOOD.replace(
    'listen = "0.0.0.0:6653"',
    'listen = "pssl:6653"\nprivate_key = "ctl-privkey.pem"\ncertificate = "ctl-cert.pem"\nca = "cacert.pem"',
)


def write_tls(tmp_path: Path, text: str) -> Path:
    for name in ("ctl-privkey.pem", "ctl-cert.pem", "cacert.pem"):
        (tmp_path / name).write_text("")
    return write(tmp_path, text)


def test_tls_takes_three_files_beside_the_toml_file(tmp_path: Path) -> None:
    control = read_control(Keys(toml.read(write_tls(tmp_path, TLS))))
    assert (control.mode, control.host, control.port) == ("listen", "0.0.0.0", 6653)
    assert control.tls == TlsFiles(
        *(str(tmp_path / n) for n in ("ctl-privkey.pem", "ctl-cert.pem", "cacert.pem"))
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('"pssl:6653"', '"ptcp:6653"', 5, "private_key is given, but listen is without TLS"),
        ('"pssl:6653"', '"ssl:10.0.0.1:6653"', 4, "pssl:6653"),
        ('private_key = "ctl-privkey.pem"\n', "", 3, "private_key is missing"),
        ('ca = "cacert.pem"', 'ca = "nowhere.pem"', 7, "nowhere.pem: No such file or directory"),
        ('certificate = "ctl-cert.pem"', "certificate = 3", 6, "certificate is 3"),
    ],
)
def test_a_mistake_about_tls_names_the_key_and_the_file(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    assert old in TLS
    with pytest.raises(ConfigError) as caught:
        External(write_tls(tmp_path, TLS.replace(old, new, 1)))
    assert f"lab.toml, line {line}" in caught.value.message
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('listen = "ptcp:6633"', ("listen", "0.0.0.0", 6633)),
        ('listen = "ptcp:"', ("listen", "0.0.0.0", 6653)),
        ('listen = "ptcp:6633:[::1]"', ("listen", "::1", 6633)),
        ('listen = "[::1]:6633"', ("listen", "::1", 6633)),
        ('connect = "tcp:10.0.0.1"', ("connect", "10.0.0.1", 6653)),
        ('connect = "tcp:[::1]:6633"', ("connect", "::1", 6633)),
        ('connect = "switch.example:6633"', ("connect", "switch.example", 6633)),
    ],
)
def test_addresses_may_be_written_as_open_vswitch_does(
    tmp_path: Path, text: str, found: tuple[str, str, int]
) -> None:
    file = write(tmp_path, GOOD.replace('listen = "0.0.0.0:6653"', text))
    control = read_control(Keys(toml.read(file)))
    assert (control.mode, control.host, control.port) == found
