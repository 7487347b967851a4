"""The driver on a real pseudo-terminal: keys in, screens out, and the terminal given back."""

from __future__ import annotations

import re
import signal

import pytest

from tests.screen import KEYS, SIZES, Screen, saved

ALTERNATE, RESTORED = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("talk") / "record")


def replay(folder, size=(80, 24), **environ):
    return Screen("talk", "replay", "5", "--record", str(folder), size=size, **environ)


def slow(tmp_path, *options, size=(80, 24), **environ):
    return Screen("tests.slow_talk", str(tmp_path), *options, size=size, **environ)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_section_is_walked_at_this_size(folder, size):
    with replay(folder, size) as screen:
        screen.until("What we are after")
        screen.press("pagedown")
        screen.until("over 80 %")
        screen.press("1", "right")
        assert "20.0 GB/s" not in screen.until("def add_one"), "nothing before it is run"
        screen.press("right")
        text = screen.until("20.0 GB/s is 1.00 % of the ceiling")
        assert "You were asked" in text and "2,000 GB/s" in text
        screen.press("right", "right")
        assert "more line" in screen.until("kernel_9"), "forty rows do not fit"
        screen.press("end")
        screen.until("kernel_39")
        screen.press("right", "right")
        screen.until("as fast as one")
        screen.press("end")
        screen.until("return x")
        screen.press("right", "right")
        assert "FAILED" in screen.until("ended by signal 11")
        screen.press("right", "q")
        assert screen.ended() == 0
        assert screen.raw.count(ALTERNATE) == screen.raw.count(RESTORED) == 1
        assert screen.raw.endswith(RESTORED + b"nothing was recorded: a replay\r\n")


def test_a_presenter_remote_moves_and_blanks_and_its_stray_keys_do_nothing(folder):
    with replay(folder) as screen:
        screen.until("What we are after")
        screen.press("pagedown")
        before = screen.until("over 80 %")
        screen.press("escape", "f5")
        assert screen.settle() == before
        screen.press("escape", "pageup")
        screen.until("What we are after")
        screen.press(".")
        assert screen.settle().strip() == ""
        screen.press("f5", "escape")
        assert screen.settle().strip() == "", "Esc and F5 keep the hall dark"
        screen.press("b")
        screen.until("What we are after")


def test_esc_swallows_no_key_that_follows_it_at_once(folder):
    with replay(folder) as screen:
        screen.until("What we are after")
        for key in ("pagedown", "pageup", "right"):
            screen.process.send(KEYS["escape"] + KEYS[key])
            screen.until("What we are after" if key == "pageup" else "over 80 %")


def test_another_size_is_drawn_afresh(folder):
    with replay(folder, (100, 30)) as screen:
        screen.until("What we are after")
        screen.press("right", "right", "right")
        screen.until("than torch")
        for width, height in ((80, 24), (160, 45), (50, 12), (61, 16)):
            screen.resize(width, height)
            text = screen.until("give me 60×16" if width < 60 else "than torch")
            lines = screen.settle().split("\n")
            assert len(lines) == height
            assert sum("Hit the memory wall" in line for line in lines) == (width >= 60), text


def test_a_step_can_be_jumped_to(folder):
    with replay(folder) as screen:
        screen.until("What we are after")
        screen.press("g", "b", "l")
        assert "5/blocks" in screen.until("Jump to")
        screen.press("enter")
        screen.until("A block per program")


def test_an_ascii_terminal_gets_ascii_alone(folder):
    with replay(folder, LC_ALL="C") as screen:
        screen.until("What we are after")
        screen.press("right", "right", "right")
        text = screen.until("than torch")
        assert text.isascii() and screen.raw.isascii()
        assert ("####" in text and "= RECORDED" in text) or "! STALE" in text


def test_no_color_keeps_the_words_and_drops_the_colours(folder):
    with replay(folder, NO_COLOR="1", COLORTERM="truecolor") as screen:
        screen.until("What we are after")
        screen.press("right", "right", "right")
        screen.until("than torch")
        styles = set(re.findall(rb"\x1b\[([\d;]*)m", screen.raw))
        assert styles <= {b"0", b"1", b"7", b"1;7"}, "bold and reverse are no colours"
        assert b"1;7" in styles, "the current phase still stands out"


def test_a_dumb_terminal_gets_plain_text_and_why(folder):
    with replay(folder, TERM="dumb") as screen:
        assert screen.ended() == 1, "a step of this record failed"
        assert b"TERM=dumb" in screen.raw and b"\x1b" not in screen.raw
        assert b"5 steps, 1 failed" in screen.raw


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_terminal_back(folder, number):
    with replay(folder) as screen:
        screen.until("What we are after")
        screen.process.kill(number)
        assert screen.ended() == 128 + number
        assert screen.raw.endswith(RESTORED)


def test_a_closed_terminal_ends_the_talk(folder):
    with replay(folder) as screen:
        screen.until("What we are after")
        screen.process.ptyproc.fileobj.close()
        screen.process.wait()
        assert not screen.process.isalive()


def test_a_crash_gives_the_terminal_back_before_it_says_why(tmp_path):
    with slow(tmp_path, "--break") as screen:
        screen.until("def add_one")
        screen.press("right")
        assert screen.ended() == 1
        screen_given_back, _, why = screen.raw.partition(RESTORED)
        assert ALTERNATE in screen_given_back and b"the talk itself broke" in why


def test_long_work_shows_progress_and_a_press_waits(tmp_path):
    with slow(tmp_path) as screen:
        screen.until("def add_one")
        screen.press("right")
        screen.until("timing naive")
        screen.press("right")
        assert "25.0 %" in screen.until("1 press waits")
        assert "1 s" in screen.until("1 s")
        screen.until("What the profiler saw")


def test_ctrl_c_cancels_the_step_and_not_the_talk(tmp_path):
    with slow(tmp_path) as screen:
        screen.until("def add_one")
        screen.press("g", "r", "o", "w", "enter", "right")
        screen.until("timing naive")
        screen.press("ctrl-c")
        assert "r runs it again" in screen.until("cancelled")
        screen.press("ctrl-c")
        screen.until("Nothing is running")
        screen.press("q")
        assert screen.ended() == 0


def test_a_shell_gets_a_terminal_of_its_own_and_gives_it_back(tmp_path):
    with slow(tmp_path) as screen:
        screen.until("def add_one")
        screen.press("i")
        screen.until("the shell of baseline: ")
        # A cooked terminal echoes, and ends the line at a carriage return.
        screen.press("hello", "enter")
        screen.until("the shell was told hello")
        assert "def add_one" in screen.text
        assert screen.raw.count(ALTERNATE) == 2 and b"\x1b[?2004l" in screen.raw
        screen.press("right")
        screen.until("timing naive")
        screen.press("q")
        assert screen.ended() == 0
        assert b"IPython with what the step 5/baseline works on" in screen.raw
        assert screen.raw.rpartition(RESTORED)[2].startswith(b"recorded in ")


def test_ctrl_c_in_a_walk_cancels_the_step(tmp_path):
    with slow(tmp_path, "--auto") as screen:
        screen.until("What the profiler saw")
        screen.process.sendintr()
        screen.heard("cancelled")
        assert screen.ended() == 1
        assert "5 steps, 2 failed" in screen.text


def test_ctrl_c_twice_ends_a_walk(tmp_path):
    with slow(tmp_path, "--auto") as screen:
        screen.until("What the profiler saw")
        screen.process.sendintr()
        screen.heard("cancelled")
        screen.process.sendintr()
        assert screen.ended() == 130
