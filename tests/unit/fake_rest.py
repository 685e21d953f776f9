"""A small HTTP server in the place of `ofctl_rest`: answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Answers:
    """What to answer: (method, path) -> (status, body). What was posted stands in `asked`."""

    def __init__(self) -> None:
        self.by_path: dict[tuple[str, str], tuple[int, Any]] = {}
        self.asked: list[tuple[str, str, Any]] = []
        self.url = ""

    def give(self, path: str, body: Any, *, method: str = "GET", status: int = 200) -> None:
        self.by_path[method, path] = (status, body)


@contextmanager
def serving() -> Iterator[Answers]:
    answers = Answers()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            posted = json.loads(self.rfile.read(length)) if length else None
            answers.asked.append((self.command, self.path, posted))
            status, body = answers.by_path.get((self.command, self.path), (404, "not found"))
            data = (
                b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
            )
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    answers.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield answers
    finally:
        server.shutdown()
        server.server_close()
