"""`just present` as a command: it says where it is, serves, and stops when it is told to."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def present(tmp_path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "slides", "present", "5", "--port", "0", "--no-terminal"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def test_it_serves_the_deck_to_who_has_the_printed_address_and_stops_on_a_signal(present):
    assert present.stdout is not None
    line = present.stdout.readline()
    address = re.search(r"http://127\.0\.0\.1:\d+/\?key=\S+", line)
    assert address, line
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    page = browser.open(address.group(), timeout=10).read().decode()
    assert 'id="live"' in page and "s5-blocks" in page
    presenter = browser.open(address.group().split("?")[0] + "presenter", timeout=10)
    assert "hands for each answer" in presenter.read().decode()
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.group().split("?")[0], timeout=10)
    present.send_signal(signal.SIGTERM)
    assert present.wait(10) == 0


def test_a_port_in_use_is_one_clear_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "slides", "present", "5", "--port", port, "--no-terminal"],
            cwd=ROOT, capture_output=True, text=True, timeout=30,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"present: port {port} is taken") and "--port" in done.stderr
