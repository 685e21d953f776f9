"""HTTP with a controller that has the REST interface of os-ken's `ofctl_rest`."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.parse
from typing import Any

from flowgauge.errors import ControllerError, ControllerUnreachableError, UnknownSwitchError, UsageError

TIMEOUT_S = 30.0


class Api:
    """One keep-alive connection to the controller; one call at a time."""

    def __init__(self, url: str) -> None:
        """`url` such as "http://127.0.0.1:8080". Raises UsageError when it is none."""
        parts = urllib.parse.urlsplit(url)
        try:
            host, port = parts.hostname, parts.port or 8080
        except ValueError:
            host, port = None, 0
        if parts.scheme != "http" or not host:
            raise UsageError(
                f"{url!r} is no URL of a controller", advice="For instance: rest:http://127.0.0.1:8080"
            )
        self.url = f"http://{parts.netloc}{parts.path.rstrip('/')}"
        self.host: str = host
        self._port = port
        self._path = parts.path.rstrip("/")
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None

    def get(self, path: str) -> Any:
        """The JSON at a path; see `call`."""
        return self.call("GET", path)

    def post(self, path: str, body: Any) -> Any:
        """Post JSON; see `call`."""
        return self.call("POST", path, json.dumps(body).encode())

    def call(self, method: str, path: str, body: bytes | None = None) -> Any:
        """One request; the JSON of its answer, None when that is empty.

        Raises ControllerUnreachableError when nothing answers, UnknownSwitchError for 404, ControllerError for other failures.
        """
        with self._lock:
            status, reason, answer = self._exchange(method, path, body)
        if status == http.client.NOT_FOUND:
            raise self._not_found(path)
        if status >= http.client.BAD_REQUEST:
            raise ControllerError(
                f"the controller answered {method} {path} with HTTP {status} {reason}{_said(answer)}",
                advice="the controller's own log says why; it must have the interface of os-ken's ofctl_rest",
            )
        if not answer.strip():
            return None
        try:
            return json.loads(answer)
        except ValueError:
            raise ControllerError(
                f"the controller answered {method} {path} with something that is not JSON{_said(answer)}",
                advice=f"check that the interface of os-ken's ofctl_rest is at {self.url}",
            ) from None

    def close(self) -> None:
        """Close the connection; a call that waits for its answer ends with an error."""
        connection, self._connection = self._connection, None
        if connection is not None and connection.sock is not None:
            connection.sock.close()

    def switches(self) -> list[int]:
        """Datapath ids of the connected switches. Raises ControllerError when this is no such interface."""
        found = self.get("/stats/switches")
        if not isinstance(found, list) or not all(isinstance(s, int) for s in found):
            raise ControllerError(
                f"{self.url}/stats/switches holds no list of switches",
                advice="the controller must have the interface of os-ken's ofctl_rest",
            )
        return found

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, str, bytes]:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        # The server may have closed a connection that was idle: then a second attempt, on a new one, is no repetition.
        for attempt in (1, 2):
            fresh = self._connection is None
            connection = self._connection or http.client.HTTPConnection(
                self.host, self._port, timeout=TIMEOUT_S
            )
            self._connection = connection
            try:
                connection.request(method, self._path + path, body, headers)
                reply = connection.getresponse()
                return reply.status, reply.reason, reply.read()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
                self.close()
                if fresh or attempt == 2:
                    raise self._unreachable(error) from error
            except (OSError, http.client.HTTPException) as error:
                self.close()
                raise self._unreachable(error) from error
        raise AssertionError("the second attempt returns or raises")

    def _unreachable(self, error: Exception) -> ControllerUnreachableError:
        why = (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
        return ControllerUnreachableError(
            f"no controller answers at {self.url}: {why}",
            advice=f"start it, or mend the URL; `curl {self.url}/stats/switches` must list the switches",
        )

    def _not_found(self, path: str) -> ControllerError:
        if path == "/stats/switches":
            return ControllerError(
                f"{self.url} has no /stats/switches (HTTP 404)",
                advice="the controller must have the interface of os-ken's ofctl_rest",
            )
        return UnknownSwitchError(
            f"the controller at {self.url} does not know the switch, or not {path} (HTTP 404)",
            advice=f"`curl {self.url}/stats/switches` lists the switches that are connected",
        )


def _said(answer: bytes) -> str:
    text = " ".join(answer.decode(errors="replace").split())
    return f": {text[:200]}" if text else ""
