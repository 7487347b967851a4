"""The web side of a talk: pages out, news as server-sent events, small commands in.

It runs code on this machine, so it serves this machine alone: on loopback, to who holds the
token of this start, under the names that loopback has.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from talk.errors import TalkError

HOME = "127.0.0.1"
COOKIE = "memory-wall"
MOST_BYTES = 4096
"""Of a command; the longest is a question's votes."""

BEAT_S = 15
"""A comment this often keeps a silent stream from being taken for a dead one."""

BACKLOG = 256
"""News that a view may fall behind by; then it is told everything anew."""

Command = Callable[[Mapping[str, Any]], None]
"""Takes a command's fields; TalkError for one that there is not."""


@dataclass(frozen=True)
class Door:
    """Who may come in. token: of this start."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        return f"http://{HOME}:{self.port}/"

    @property
    def key(self) -> str:
        """The address that lets a browser in."""
        return f"{self.address}?key={self.token}"

    def refuses(self, headers: Mapping[str, str], cookies: Mapping[str, str]) -> str:
        """Why not, or nothing. A name that was made to point here is no name of this host."""
        names = (f"{HOME}:{self.port}", f"localhost:{self.port}")
        if headers.get("host", "") not in names:
            return "this is no name of this machine"
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{name}" for name in names}:
            return "another page asked"
        if not self.opens(cookies.get(COOKIE, "")):
            return "open the address that 'just present' printed"
        return ""

    def opens(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self.token.encode())


class Views:
    """Everyone who looks on. The last news of each topic greets who comes, or comes back."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], bytes] = {}
        self._queues: set[asyncio.Queue[bytes | None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._queues)

    def tell(self, kind: str, data: object, name: str = "") -> None:
        """News for all views, from any thread. name: tells topics of one kind apart."""
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
        message = f"event: {kind}\ndata: {text}\n\n".encode()
        with self._lock:
            self._known[kind, name] = message
        self._soon(message)

    def end(self) -> None:
        """Close every stream, so that the server can stop."""
        self._soon(None)

    def _soon(self, message: bytes | None) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, message)

    def _put(self, message: bytes | None) -> None:
        for queue in self._queues:
            if queue.full():
                while not queue.empty():
                    queue.get_nowait()
                for known in self._all()[: BACKLOG - 1]:
                    queue.put_nowait(known)
            queue.put_nowait(message)

    def _all(self) -> list[bytes]:
        with self._lock:
            return list(self._known.values())

    async def stream(self) -> AsyncIterator[bytes]:
        """All that is known, then the news as it comes."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(BACKLOG)
        self._queues.add(queue)
        try:
            yield b"retry: 300\n\n"
            for known in self._all():
                yield known
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), BEAT_S)
                except asyncio.TimeoutError:
                    yield b": beat\n\n"
                    continue
                if message is None:
                    return
                yield message
        finally:
            self._queues.discard(queue)


SCRIPT = re.compile(r"<script(?![^>]*type=\"application/json\")[^>]*>(.*?)</script>", re.DOTALL)


def policy(html: str) -> str:
    """A content-security policy under which this page's own scripts run, and no others."""
    sums = (hashlib.sha256(script.encode()).digest() for script in SCRIPT.findall(html))
    scripts = " ".join(f"'sha256-{base64.b64encode(found).decode()}'" for found in sums)
    scripts = scripts or "'none'"
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {scripts}",
            # Bars have their lengths in style attributes, which no hash covers.
            "style-src 'unsafe-inline'",
            "img-src data:",
            "font-src data:",
            "connect-src 'self'",
            "frame-src 'self'",
            "frame-ancestors 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def application(
    door: Door, views: Views, pages: Mapping[str, Callable[[], str]], command: Command
) -> Any:
    """The ASGI application. pages: path → its HTML, made when it is asked for."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import (
        HTMLResponse,
        JSONResponse,
        PlainTextResponse,
        RedirectResponse,
        Response,
        StreamingResponse,
    )
    from starlette.routing import Route

    plain = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

    def refused(request: Request) -> Response | None:
        why = door.refuses(request.headers, request.cookies)
        return PlainTextResponse(f"{why}\n", 403, headers=plain) if why else None

    def entered(request: Request) -> Response | None:
        """A browser with the key gets a cookie, and an address without the key."""
        key = request.query_params.get("key", "")
        host_only = door.refuses(request.headers, {COOKIE: door.token})
        if not key or host_only or not door.opens(key):
            return None
        response = RedirectResponse(request.url.path, 303, headers=plain)
        response.set_cookie(COOKIE, door.token, httponly=True, samesite="strict", path="/")
        return response

    def page(request: Request) -> Response:
        response = entered(request) or refused(request)
        if response is not None:
            return response
        html = pages[request.url.path]()
        return HTMLResponse(html, headers={**plain, "Content-Security-Policy": policy(html)})

    async def events(request: Request) -> Response:
        return refused(request) or StreamingResponse(
            views.stream(), media_type="text/event-stream", headers=plain
        )

    async def do(request: Request) -> Response:
        if (response := refused(request)) is not None:
            return response
        if request.headers.get("content-type") != "application/json":
            return PlainTextResponse("a command is JSON\n", 415, headers=plain)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return PlainTextResponse("too long for a command\n", 413, headers=plain)
        try:
            fields = json.loads(body)
            if not isinstance(fields, dict):
                raise TalkError("a command is an object.")
            command(fields)
        except (TalkError, ValueError, RecursionError) as error:
            return PlainTextResponse(f"{str(error)[:200]}\n", 400, headers=plain)
        return JSONResponse({}, 202, headers=plain)

    return Starlette(
        routes=[
            *(Route(path, page) for path in pages),
            Route("/events", events),
            Route("/do", do, methods=["POST"]),
        ]
    )


class Server:
    """The application on a thread of its own. Raises TalkError where the port is taken."""

    def __init__(self, socket_: socket.socket, application: Any, views: Views) -> None:
        import uvicorn

        config = uvicorn.Config(
            application,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            http="h11",
            loop="asyncio",
            timeout_graceful_shutdown=1,
            server_header=False,
        )
        self._views = views
        self._server = uvicorn.Server(config)
        run = self._server.run
        self._thread = threading.Thread(
            target=run, kwargs={"sockets": [socket_]}, name="web", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End the streams, then the server."""
        self._views.end()
        self._server.should_exit = True
        self._thread.join(2)


def listening(port: int = 0) -> socket.socket:
    """A socket on loopback; port 0 is any that is free. Raises TalkError where it is taken."""
    try:
        return socket.create_server((HOME, port))
    except OSError as error:
        raise TalkError(
            f"port {port} is taken or not allowed: {error.strerror}.",
            hint="name another: --port 8001; 0 takes any that is free",
        ) from error
