"""os-ken's applications (`ofctl_rest` and others) as processes of their own on the loopback.

Newer versions of os-ken come without them, so an old one stands in a folder of its own (tools/requirements-osken-applications.txt).
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(sys.prefix) / "os-ken-applications"
LAUNCHER = """
from os_ken.lib import hub
hub.patch()
import eventlet.wsgi
# Newer versions of eventlet have it elsewhere; the applications only hand it on for web sockets.
eventlet.wsgi.ALREADY_HANDLED = getattr(eventlet.wsgi, "ALREADY_HANDLED", object())
from os_ken.cmd.manager import main
main()
"""


def missing() -> str | None:
    """Why they can't be started, None when they can."""
    if (FOLDER / "os_ken" / "app" / "ofctl_rest.py").exists():
        return None
    wanted = "tools/requirements-osken-applications.txt"
    return f"os-ken's applications are not installed: pip install --no-deps --target {FOLDER} -r {wanted}"


def start(openflow_port: int, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """os-ken's manager with applications and options; it prints to `log`."""
    listen = ["--ofp-listen-host", "127.0.0.1", "--ofp-tcp-listen-port", str(openflow_port)]
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), "PYTHONWARNINGS": "ignore"}
    with log.open("w") as output:
        return subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, *listen, *arguments],
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            env=environment,
            cwd="/",
        )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def controller(log: Path) -> Iterator[str]:
    """`ofctl_rest`, running; its name as `--controller` takes it."""
    openflow, web = free_port(), free_port()
    serve = ["--wsapi-host", "127.0.0.1", "--wsapi-port", str(web), "os_ken.app.ofctl_rest"]
    process = start(openflow, log, *serve)
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
