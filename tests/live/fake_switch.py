"""A switch made of a socket: answers just enough OpenFlow for `control_channel_delay`, and misbehaves when told to."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator, Sequence

HELLO, ERROR, ECHO_REQUEST, ECHO_REPLY, FEATURES_REQUEST, FEATURES_REPLY = 0, 1, 2, 3, 5, 6
BARRIERS = {1: (18, 19), 4: (20, 21)}
"""Request and reply, by version."""
QUIET = (9, 13, 14)
"""SET_CONFIG, PACKET_OUT and FLOW_MOD have no reply."""
TRY_S = 0.1
"""Between attempts to connect."""


class FakeSwitch:
    """Connects to a controller again and again, and commits each of its faults once: (echo requests before it, fault).

    Faults: "close", "reset", "garbage", "silent" (answers nothing more on that connection). A `greeting` replaces its HELLO.
    """

    def __init__(
        self,
        port: int,
        *,
        version: int = 4,
        faults: Sequence[tuple[int, str]] = (),
        greeting: bytes | None = None,
    ) -> None:
        """Starts its thread; it gives up quietly when stopped."""
        self._port, self._version, self._greeting = port, version, greeting
        self._faults = list(faults)
        self._echoes = 0
        self._stopped = threading.Event()
        self.connections = 0
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it; its socket is closed."""
        self._stopped.set()
        self._thread.join(5)

    def _live(self) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(OSError, EOFError):
                connection = socket.create_connection(("127.0.0.1", self._port), timeout=1)
                with connection:
                    self.connections += 1
                    self._converse(connection)
            self._stopped.wait(TRY_S)

    def _converse(self, connection: socket.socket) -> None:
        connection.sendall(self._message(HELLO, 1) if self._greeting is None else self._greeting)
        silent = False
        for kind, xid, body in self._messages(connection):
            if kind == ECHO_REQUEST and (fault := self._next_fault()):
                silent = fault == "silent"
                if not silent:
                    _misbehave(connection, fault)
                    return
            if not silent:
                connection.sendall(self._answer(kind, xid, body))

    def _next_fault(self) -> str:
        self._echoes += 1
        if not self._faults or self._echoes <= self._faults[0][0]:
            return ""
        self._echoes = 0
        return self._faults.pop(0)[1]

    def _answer(self, kind: int, xid: int, body: bytes) -> bytes:
        barrier, barred = BARRIERS[self._version]
        if kind == ECHO_REQUEST:
            return self._message(ECHO_REPLY, xid, body)
        if kind == FEATURES_REQUEST:
            tail = struct.pack("!QIBB2xII", 0xFA, 0, 1, 0, 0, 0)
            return self._message(FEATURES_REPLY, xid, tail)
        if kind == barrier:
            return self._message(barred, xid)
        if kind in (HELLO, ERROR, ECHO_REPLY, *QUIET):
            return b""
        return self._message(ERROR, xid, struct.pack("!HH", 1, 1))  # BAD_REQUEST, BAD_TYPE

    def _message(self, kind: int, xid: int, body: bytes = b"") -> bytes:
        return struct.pack("!BBHI", self._version, kind, 8 + len(body), xid) + body

    def _messages(self, connection: socket.socket) -> Iterator[tuple[int, int, bytes]]:
        while True:
            _, kind, length, xid = struct.unpack("!BBHI", self._exactly(connection, 8))
            yield kind, xid, self._exactly(connection, length - 8)

    def _exactly(self, connection: socket.socket, count: int) -> bytes:
        data = b""
        connection.settimeout(0.1)
        while len(data) < count:
            if self._stopped.is_set():
                raise EOFError
            with contextlib.suppress(TimeoutError):
                part = connection.recv(count - len(data))
                if not part:
                    raise EOFError
                data += part
        return data


def _misbehave(connection: socket.socket, fault: str) -> None:
    """The end of this connection."""
    if fault == "garbage":
        connection.sendall(bytes([4, 3, 0, 3]) + bytes(range(60)))  # an ECHO_REPLY of three bytes
        connection.settimeout(1)
        with contextlib.suppress(OSError):
            while connection.recv(4096):
                pass
    elif fault == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
