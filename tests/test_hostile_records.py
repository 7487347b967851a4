"""A record from elsewhere: one clear line, or a deck, a comparison and a replay without harm."""

from __future__ import annotations

import copy
import io
import json
import os
import re
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from slides.__main__ import main
from slides.build import build
from talk import opening, record
from talk.compare import compare
from talk.errors import RecordError, TalkError
from talk.reading import Reading
from talk.sentence import say
from talk.terminal import compared, plain
from tests import decks, hostile
from tests.decks import EVIL

BASE = hostile.record()
PLAIN = hostile.plain(BASE)
PATHS = [path for path in hostile.paths(PLAIN) if len(path) > 1]
OUTLINE = ("events", 0, "outline")


def at(step: str, *inside: str | int) -> tuple[str | int, ...]:
    """Where the outcome of a step stands in `PLAIN`."""
    number = next(
        i for i, e in enumerate(PLAIN["events"]) if e["kind"] == "outcome" and e["step"] == step
    )
    return ("events", number, "outcome", *inside)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("records") / "talk"


def deck(talk: record.Record) -> None:
    html = build(talk).html
    assert "<script>window" not in html and "<img src=x" not in html, "markup of a record"
    assert not re.search(r'style="[^"]*\b(?:nan|inf)\b', html)
    assert not set(map(chr, (0x202E, 0x2066))) & set(html), "it turns round what stands beside it"


def table(talk: record.Record) -> None:
    console = Console(file=io.StringIO(), width=80)
    compared.write([compare(BASE, talk), compare(talk, BASE)], every=True, console=console)
    assert "\x1b" not in console.file.getvalue()


def replay(talk: record.Record) -> None:
    console = Console(file=io.StringIO(), width=80)
    plain.walk(opening.replay([9], talk.folder), console=console)
    text = console.file.getvalue()
    assert "\x1b" not in text and "\u202e" not in text
    undrawn = re.findall(r"This cannot be drawn: (\w+)", text)
    assert set(undrawn) <= {"TalkError", "UnknownReference", "NoValue"}, undrawn


def harmless(folder: Path) -> int:
    """How many of the three views could be drawn. Raises whatever is no TalkError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a torn line is said, and skipped
        try:
            talk = record.read(folder)
        except TalkError:
            return 0
        return sum(drawn(view, talk) for view in (deck, table, replay))


def drawn(view, talk: record.Record) -> bool:
    try:
        view(talk)
    except TalkError as error:
        assert str(error).split("\n")[0]
        return False
    return True


def test_the_record_that_is_mutated_is_good(folder):
    assert harmless(hostile.write(folder, PLAIN)) == 3


MUTATIONS = st.lists(
    st.tuples(st.sampled_from(PATHS), st.sampled_from([*hostile.VALUES, ...])),
    min_size=1,
    max_size=2,
)


@settings(
    max_examples=40, deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(MUTATIONS)
# Each of these once looped for ever, or ended in a traceback.
@example([(at("ran", "step"), "run")])
@example([(OUTLINE, None)])
@example([(("machine", "ceilings", "bandwidth_gbps", "2:1"), "inf")])
@example([(("machine", "ceilings", "bandwidth_gbps"), {})])
@example([(at("bench", "timings", 2, "case"), "")])
@example([(at("tuned", "timings"), [])])
@example([(at("baseline", "timings", 0, "n"), hostile.HUGE)])
@example([((*OUTLINE, "steps", 0, "about"), "9" * 5000 + "/x.time")])
def test_whatever_stands_in_a_field_does_no_harm(folder, mutations):
    talk = PLAIN
    for path, value in mutations:
        try:
            talk = hostile.mutated(talk, path, value)
        except (KeyError, IndexError, TypeError):
            continue  # the first mutation took the place of the second
    harmless(hostile.write(folder, talk))


def many(value: object, times: int) -> list[object]:
    return [value] * times


TIMING = copy.deepcopy(PLAIN["events"][at("baseline")[1]]["outcome"]["timings"][0])


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ((*OUTLINE, "title"), "x" * 5_000_000, "5,000,000 characters"),
        ((*OUTLINE, "steps"), many(PLAIN["events"][0]["outline"]["steps"][0], 200), "100 steps"),
        ((*OUTLINE, "steps", 1, "choices"), {str(i): [0, 1] for i in range(20)}, "20 choices"),
        ((*OUTLINE, "number"), 8, "names another step than it holds"),
        (at("baseline", "timings"), many(TIMING, 1000), "more rows than a step"),
        (at("baseline", "timings", 0, "median_ms"), "inf", "does not hold"),
        (at("baseline", "timings", 0, "compile_ms"), -1.0, "compile_ms"),
        (at("baseline", "timings", 0, "seed"), 10**30, "31 digits"),
        (at("rows", "table", "rows"), many(["k", 1, 1e-6], 3000), "more rows than a step"),
        (at("rows", "table", "rows", 0, 2), 1e300, "a cell beyond"),
        (at("guess", "prediction", "model"), "inf", "a model that expects"),
        (at("ran", "surprise"), 1, "update Memory Wall"),
        (("events", 1, "votes"), {str(i): 1 for i in range(60_000)}, "60,000 characters or items"),
        (("events",), many({"kind": "move"}, 30_000), "20,000 lines"),
        (("machine", "ceilings", "bandwidth_gbps", "2:1"), 0.0, "a ceiling"),
        (("machine", "ceilings", "bandwidth_gbps", "2:1"), -5.0, "a ceiling"),
        (("machine", "ceilings", "launch_us"), float("nan"), "no JSON"),
        (("machine", "ceilings", "programs_per_s"), 0, "a ceiling"),
    ],
)
def test_what_no_machine_measured_is_refused_in_one_line(folder, path, value, problem):
    hostile.write(folder, hostile.mutated(PLAIN, path, value))
    with pytest.raises(RecordError, match=re.escape(problem)) as failed:
        record.read(folder)
    message, hint = str(failed.value).split("\n")
    assert len(message) < 400 and hint


def test_a_file_that_never_ends_is_not_read(folder, monkeypatch):
    events = hostile.write(folder, PLAIN) / "events.jsonl"
    monkeypatch.setattr(record, "MOST_BYTES", 1000)
    with pytest.raises(RecordError, match="larger than 1,000 bytes"):
        record.read(folder)
    events.unlink()
    os.mkfifo(events)
    try:
        with pytest.raises(RecordError, match="is no file"):
            record.read(folder)
    finally:
        events.unlink()
    events.symlink_to("/dev/zero")
    with pytest.raises(RecordError, match="is no file"):
        record.read(folder)
    events.unlink()


def test_nothing_that_a_record_points_to_is_opened(folder, tmp_path):
    """Neither a path of its code nor a link in its place shows what another file holds."""
    secret = tmp_path / "secret.py"
    secret.write_text("def add_one(): return 'the secret'")
    path = at("baseline", "behind", 0, "path")
    for named in (str(secret), f"../../../../..{secret}"):
        talk = record.read(hostile.write(folder, hostile.mutated(PLAIN, path, named)))
        assert "the secret" not in build(talk).html
    events = folder / "events.jsonl"
    events.unlink()
    events.symlink_to(secret)
    with pytest.warns(UserWarning, match="torn") as warned:
        assert record.read(folder).events == ()
    events.unlink()
    assert "the secret" not in str(warned[0].message)


@pytest.mark.parametrize(
    "template",
    ["{{ 9 ** 9 ** 9 }}", "{{ n }}", "{{ tie }}", "{{ x }}", "{{ n('a') }}" * 500, "{{ n(n) }}",
     "{{ n.__globals__ }}",
     "{% set x = n %}", "{% include 'deck.html.j2' %}", "{% import 'x' as y %}",
     "{{ 'a' * 9999999999 }}", "{{ [1] }}", "{{ n|string }}", "{{ '%s' % n }}", "{{ self }}"],
)  # fmt: skip
def test_a_sentence_can_only_compare_and_print_numbers(template):
    with pytest.raises(TalkError):
        say(template, Reading(talk=BASE), 9)


def test_markup_in_every_string_stays_text_in_every_view(folder):
    decks.write(folder.with_name("evil"), decks.evil(BASE))
    talk = record.read(folder.with_name("evil"))
    html = build(talk, beside=BASE).html
    assert "<script>window" not in html and EVIL not in html
    assert html.count("&lt;script&gt;window.pwned=1") > 30
    for view in (deck, table, replay):
        assert drawn(view, talk)


@pytest.mark.parametrize("step", ["baseline", "bench", "rows", "tuned", "traced"])
def test_a_record_without_one_outcome_makes_a_deck_that_says_so(tmp_path, capsys, step):
    number = at(step)[1]
    talk = copy.deepcopy(PLAIN)
    del talk["events"][number]
    folder = hostile.write(tmp_path / "lacking", talk)
    out = ["--record", str(folder), "--out", str(tmp_path / "deck.html")]
    assert main(out) == 0
    listed = capsys.readouterr().out
    assert "✕ MISSING" in (tmp_path / "deck.html").read_text("utf-8")
    assert re.search(rf"^MISSING 9/{step} on s9-", listed, re.MULTILINE)
    assert main([*out, "--strict"]) == 2


def test_nan_is_no_json_wherever_it_stands(folder):
    text = json.dumps(hostile.mutated(PLAIN, at("ran", "seconds"), float("nan"))["events"][-2])
    hostile.write(folder, PLAIN)
    events = folder / "events.jsonl"
    events.write_text(text.replace("9", "NaN", 1) + "\n" + events.read_text())
    with pytest.raises(RecordError, match="line 1 is no JSON"):
        record.read(folder)
