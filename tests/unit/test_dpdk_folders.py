"""What of /run/dpdk is removed: our own folders that no process uses."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from flowgauge.duts.dpdk_folders import own_folder, sweep

NOBODY = 2**22 + 1
"""Above the highest process number that Linux gives."""


def test_only_our_own_folders_that_nobody_uses_are_removed(tmp_path: Path) -> None:
    names = ["rte", f"flowgauge-{NOBODY}", f"flowgauge-{os.getpid()}", "fg-left", "fg-leased", "fg-listens"]
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / "fg-link").symlink_to(tmp_path / "rte")
    (tmp_path / "fg-left" / "dpdk_telemetry.v2").touch()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as telemetry:
        telemetry.bind(str(tmp_path / "fg-listens" / "dpdk_telemetry.v2"))
        telemetry.listen()
        removed = sweep({str(tmp_path / "fg-leased")}, tmp_path)
    assert removed == [str(tmp_path / "fg-left"), str(tmp_path / f"flowgauge-{NOBODY}")]
    assert {path.name for path in tmp_path.iterdir()} == {*names, "fg-link"} - {
        Path(gone).name for gone in removed
    }


def test_this_process_knows_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert str(own_folder()) == f"/run/dpdk/flowgauge-{os.getpid()}"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    assert str(own_folder()) == f"/run/user/1000/dpdk/flowgauge-{os.getpid()}"
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert str(own_folder()) == f"/tmp/dpdk/flowgauge-{os.getpid()}"
