"""Joins a switch to a controller that it can't reach by itself: from a namespace of its own, or because it only listens.

Bytes are handed on as they come, none is looked at. A connection that ends on one side is ended on the other, and made anew when the
switch tries again. One thread per direction, which sleeps unless there is something to hand on.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from flowgauge.errors import SetupError

CHUNK = 65536
RETRY_S = 0.5

Address = tuple[str, int]


class Relay:
    """A running relay. Always `close()` it."""

    def __init__(self, switch: Callable[[], socket.socket], controller: Address) -> None:
        """`switch` waits for a connection of the switch, or makes one; OSError means "not yet"."""
        self._switch = switch
        self._controller = controller
        self._closing = threading.Event()
        self._open: list[socket.socket] = []
        self._cleanup: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    @staticmethod
    def listening(path: Path, controller: Address) -> Relay:
        """For a switch that connects to a Unix socket at `path`. Raises SetupError when it can't be made."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(path))
            listener.listen(1)
        except OSError as error:
            listener.close()
            raise SetupError(f"no socket could be made at {path}: {error.strerror}") from error
        listener.settimeout(RETRY_S)
        relay = Relay(lambda: listener.accept()[0], controller)
        relay._cleanup = listener.close
        relay._thread.start()
        return relay

    @staticmethod
    def connecting(switch: Address, controller: Address) -> Relay:
        """For a switch that listens at an address."""
        relay = Relay(lambda: _connect(switch), controller)
        relay._thread.start()
        return relay

    def close(self) -> None:
        """End both connections and the threads."""
        self._closing.set()
        self._end()
        self._thread.join(2 * RETRY_S + 1)
        self._cleanup()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._join()
            except OSError:
                self._closing.wait(RETRY_S)

    def _join(self) -> None:
        """One pair of connections, until one of them ends."""
        # The controller first: a switch that finds an open channel without a controller behind it would wait for its HELLO.
        far = _connect(self._controller)
        self._open = [far]
        try:
            near = self._await_switch()
            if near is None:
                return
            self._open.append(near)
            back = threading.Thread(target=self._hand_on, args=(near, far), daemon=True, name="relay-back")
            back.start()
            self._hand_on(far, near)
            back.join()
        finally:
            self._end()

    def _await_switch(self) -> socket.socket | None:
        while not self._closing.is_set():
            try:
                near = self._switch()
            except TimeoutError:
                continue
            near.settimeout(None)
            return near
        return None

    def _hand_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while chunk := source.recv(CHUNK):
                sink.sendall(chunk)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _end(self) -> None:
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def _connect(address: Address) -> socket.socket:
    made = socket.create_connection(address, timeout=RETRY_S * 4)
    made.settimeout(None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made
