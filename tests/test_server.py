"""The web side of a talk lets in who holds the token of this start, and nobody else."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from slides.server import BACKLOG, COOKIE, HOME, Door, Server, Views, application, listening, policy
from talk.errors import TalkError

PAGE = "<!doctype html><script>window.a = 1</script><p>the deck</p>"


@dataclass
class Running:
    """A server with one page; commands: what came in."""

    door: Door
    views: Views
    commands: list[Mapping[str, Any]] = field(default_factory=list)
    opened: list[http.client.HTTPConnection] = field(default_factory=list)

    def ask(
        self, path: str, *, method: str = "GET", body: str = "", **headers: str
    ) -> tuple[int, http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection(HOME, self.door.port, timeout=5)
        self.opened.append(connection)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, given)
        answer = connection.getresponse()
        read = b"" if path == "/events" and answer.status == 200 else answer.read()
        return answer.status, answer, read

    def close(self) -> None:
        for connection in self.opened:
            connection.close()

    @property
    def cookie(self) -> str:
        return f"{COOKIE}={self.door.token}"

    def do(self, body: str, **headers: str) -> int:
        given = {"content_type": "application/json", "cookie": self.cookie} | headers
        return self.ask("/do", method="POST", body=body, **given)[0]


@pytest.fixture
def running() -> Iterator[Running]:
    socket_ = listening()
    views = Views()
    running = Running(Door(socket_.getsockname()[1]), views)

    def command(fields: Mapping[str, Any]) -> None:
        if fields.get("name") == "nonsense":
            raise TalkError("there is no command 'nonsense'.")
        running.commands.append(fields)

    server = Server(socket_, application(running.door, views, {"/": lambda: PAGE}, command), views)
    yield running
    running.close()
    server.close()


def test_the_printed_address_lets_a_browser_in_and_leaves_no_key_behind(running):
    status, answer, _ = running.ask(f"/?key={running.door.token}")
    assert (status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    status, _, body = running.ask("/", cookie=cookie.split(";")[0])
    assert (status, body.decode()) == (200, PAGE)


@pytest.mark.parametrize("path", ["/", "/events"])
def test_without_the_token_nothing_is_shown(running, path):
    for headers in ({}, {"cookie": f"{COOKIE}=wrong"}, {"cookie": f"{COOKIE}=é"}):
        assert running.ask(path, **headers)[0] == 403
    assert running.ask("/?key=wrong")[0] == 403


def test_a_name_that_was_made_to_point_here_gets_nothing(running):
    for host in ("evil.example", f"evil.example:{running.door.port}", HOME, ""):
        assert running.ask("/", host=host, cookie=running.cookie)[0] in (400, 403)
        assert running.ask(f"/?key={running.door.token}", host=host)[0] in (400, 403)
    assert running.ask("/", host=f"localhost:{running.door.port}", cookie=running.cookie)[0] == 200


def test_another_page_cannot_command(running):
    for origin in ("https://evil.example", "null", f"https://{HOME}:{running.door.port}"):
        assert running.do('{"name": "next"}', origin=origin) == 403
    assert running.commands == []
    assert running.do('{"name": "next"}', origin=running.door.address.rstrip("/")) == 202
    assert running.commands == [{"name": "next"}]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("[]", 400),
        ("{", 400),
        ("nonsense", 400),
        ('{"name": "nonsense"}', 400),
        ("[" * 3000, 400),
        (json.dumps({"name": "x" * 5000}), 413),
    ],
)
def test_what_is_no_command_is_refused_in_a_line(running, body, status):
    assert running.do(body) == status
    assert running.commands == []


def test_a_form_of_another_page_is_no_command(running):
    assert running.do('{"name": "next"}', content_type="text/plain") == 415
    assert running.ask("/do", cookie=running.cookie)[0] == 405


def read_until(answer: http.client.HTTPResponse, wanted: bytes) -> bytes:
    seen = b""
    while wanted not in seen:
        line = answer.readline()
        assert line, seen
        seen += line
    return seen


def test_who_comes_late_is_told_the_last_of_each_topic(running):
    running.views.tell("state", {"step": "5/blocks"})
    running.views.tell("state", {"step": "5/fused"})
    running.views.tell("slide", {"html": "a"}, name="s5-blocks")
    running.views.tell("slide", {"html": "b"}, name="s5-fused")
    _, answer, _ = running.ask("/events", cookie=running.cookie)
    seen = read_until(answer, b'"b"')
    assert seen.count(b"event:") == 3 and b"5/blocks" not in seen
    running.views.tell("state", {"step": "6/five"})
    assert b"event: state" in read_until(answer, b"6/five")


def test_markup_in_news_stays_text(running):
    running.views.tell("state", {"message": "\n\nevent: evil\ndata: x </script>"})
    _, answer, _ = running.ask("/events", cookie=running.cookie)
    assert read_until(answer, b"script").count(b"event:") - 1 == 1  # one is inside the text


def test_a_view_that_sleeps_keeps_no_backlog():
    import asyncio

    async def asleep() -> tuple[int, list[bytes]]:
        views = Views()
        stream = views.stream()
        await anext_(stream)  # the retry, and its queue
        for n in range(3 * BACKLOG):
            views.tell("state", {"n": n})
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting = next(iter(views._queues)).qsize()
        seen = [await anext_(stream) for _ in range(1 + waiting)]  # what is known, then the queue
        await stream.aclose()
        return waiting, seen

    async def anext_(stream: Any) -> bytes:
        return bytes(await stream.__anext__())

    waiting, seen = asyncio.run(asleep())
    assert waiting <= BACKLOG
    assert f'"n":{3 * BACKLOG - 1}'.encode() in seen[-1]


def test_it_stops_at_once_with_a_stream_open(running):
    socket_ = listening()
    views = Views()
    door = Door(socket_.getsockname()[1])
    server = Server(socket_, application(door, views, {"/": lambda: PAGE}, print), views)
    other = Running(door, views)
    _, answer, _ = other.ask("/events", cookie=other.cookie)
    answer.readline()
    began = time.monotonic()
    server.close()
    assert time.monotonic() - began < 1
    answer.close()
    other.close()
    assert not any(thread.name == "web" and not thread.daemon for thread in threading.enumerate())


def test_a_port_in_use_is_one_clear_line():
    with socket.create_server((HOME, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TalkError, match=f"port {port} is taken.*\n.*--port"):
            listening(port)


def test_the_policy_allows_the_page_s_own_scripts_and_no_others(running):
    _, answer, _ = running.ask("/", cookie=running.cookie)
    allowed = answer.headers["content-security-policy"]
    assert allowed == policy(PAGE)
    assert "'sha256-" in allowed and "default-src 'none'" in allowed
    assert policy(PAGE.replace("a = 1", "a = 2")) != allowed
    assert "script-src 'none'" in policy("<p>no script</p>")
