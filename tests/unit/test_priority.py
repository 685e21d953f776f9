"""Processes that are served first, and afterwards as before."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flowgauge.duts.priority import HIGHEST, serve_session_first, served_first

SLEEPER = "import threading, time; threading.Thread(target=time.sleep, args=(30,)).start(); print(flush=True); time.sleep(30)"


@pytest.mark.skipif(os.geteuid() != 0, reason="a higher priority needs root")
def test_what_the_caller_starts_is_served_first_with_all_its_threads() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with (
        served_first(),
        subprocess.Popen(
            [sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, start_new_session=True
        ) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        threads = [int(thread) for thread in os.listdir(f"/proc/{process.pid}/task")]
        assert len(threads) == 2
        assert {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads} == {HIGHEST}
        assert _of_a_new_thread() == HIGHEST
        serve_session_first(process.pid)
        assert _group(process.pid) in (HIGHEST, None)
        process.kill()
    assert os.getpriority(os.PRIO_PROCESS, 0) == _of_a_new_thread() == before
    assert _group(os.getpid()) in (0, None)


def test_a_process_that_is_gone_is_no_error() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    serve_session_first(process.pid)


def _group(pid: int) -> int | None:
    """The priority of a process's session; None where sessions have none: another kernel, or a group of its own for the container."""
    path = Path(f"/proc/{pid}/autogroup")
    words = path.read_text().split() if path.exists() else []
    return int(words[-1]) if words else None


def _of_a_new_thread() -> int:
    found = []
    thread = threading.Thread(
        target=lambda: found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
    )
    thread.start()
    thread.join()
    return found[0]
