"""os-ken's `ofctl_rest` as a process of its own on the loopback."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

APPLICATION = "os_ken.app.ofctl_rest"


def missing() -> str | None:
    """Why it can't be started, None when it can."""
    try:
        found = importlib.util.find_spec(APPLICATION)
    except ModuleNotFoundError:
        found = None
    return None if found else f"{APPLICATION} is not installed: pip install -r tools/requirements-dev.txt"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def controller(log: Path) -> Iterator[str]:
    """A running controller; its name as `--controller` takes it."""
    openflow, web = free_port(), free_port()
    command = [sys.executable, "-c", "from os_ken.cmd.manager import main; main()"]
    listen = ["--ofp-listen-host", "127.0.0.1", "--ofp-tcp-listen-port", str(openflow)]
    serve = ["--wsapi-host", "127.0.0.1", "--wsapi-port", str(web)]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, *listen, *serve, APPLICATION], stdout=output, stderr=output, stdin=subprocess.DEVNULL
        )
    try:
        await_answer(f"http://127.0.0.1:{web}/stats/switches", process, log)
        yield f"rest:http://127.0.0.1:{web},openflow=127.0.0.1:{openflow}"
    finally:
        process.kill()
        process.wait()


def await_answer(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            assert process.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.1)
