"""Processes that are served first, and afterwards as before."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flowgauge.duts.priority import HIGHEST, served_first

SLEEPER = "import threading, time; threading.Thread(target=time.sleep, args=(30,)).start(); print(flush=True); time.sleep(30)"


@pytest.mark.skipif(os.geteuid() != 0, reason="a higher priority needs root")
def test_all_threads_of_a_process_and_the_caller_s_new_ones_are_served_first() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        tasks = [int(task) for task in os.listdir(f"/proc/{process.pid}/task")]
        group = Path(f"/proc/{process.pid}/autogroup")
        with served_first([process.pid]):
            assert len(tasks) == 2
            assert {os.getpriority(os.PRIO_PROCESS, task) for task in tasks} == {HIGHEST}
            assert _of_a_new_thread() == HIGHEST
            assert not group.exists() or group.read_text().endswith(f"nice {HIGHEST}\n")
        assert os.getpriority(os.PRIO_PROCESS, 0) == _of_a_new_thread() == before
        assert not group.exists() or group.read_text().endswith("nice 0\n")
        process.kill()


def test_processes_that_are_gone_do_no_harm() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    with served_first([process.pid]):
        pass


def _of_a_new_thread() -> int:
    found = []
    thread = threading.Thread(
        target=lambda: found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
    )
    thread.start()
    thread.join()
    return found[0]
