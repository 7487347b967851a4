"""Code on a slide: the text that ran, lit by line groups, and what one line became."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slides.listing import Listing, listing
from slides.lowered import lowered
from talk import runner
from talk.errors import TalkError
from talk.outcome import Code, Outcome
from talk.record import Record
from tests.decks import deck, on, slide, words

KERNEL = Code(
    path="demos/k.py",
    name="add_kernel",
    line=1,
    text="def add_kernel(out, x):\n    i = here()\n\n    v = load(x + i)\n    w = load(out + i)\n",
)


def beats(**texts: str) -> Listing:
    return listing((KERNEL,), {text.replace("_", " "): said for text, said in texts.items()})


def test_a_beat_lights_every_line_that_holds_its_text():
    shown = beats(here="Which?", load="Two loads")
    assert shown.captions == ("Which?", "Two loads")
    assert [line.beats for line in shown.lines] == [(), (0,), (), (1,), (1,)]


def test_spaces_in_a_beat_are_those_of_nobody():
    assert [line.beats for line in beats(**{"i=here": "Here"}).lines][1] == (0,)


def test_a_beat_that_no_line_holds_fails_and_says_which():
    with pytest.raises(TalkError, match=r"no line of the code on this slide holds 'store'"):
        beats(store="Out")


def test_the_build_names_the_slide_of_such_a_beat(tmp_path):
    with pytest.raises(TalkError, match=r"s9\.html\.j2:1, slide s9-baseline: no line"):
        deck(tmp_path, slide("{{ code('9/baseline', beats={'no such text': 'x'}) }}"))


def test_captions_are_fragments_in_turn_from_a_given_one(tmp_path):
    body = "{{ code('9/baseline', beats={'def': 'It begins', 'out': 'It ends'}, at=2) }}"
    page = on(deck(tmp_path, slide(body)))
    assert 'class="fragment beat-0" data-fragment-index="2">It begins' in page
    assert 'class="fragment beat-1" data-fragment-index="3">It ends' in page
    assert 'class="line in-0' in page


def test_columns_of_a_table_are_chosen_by_name(tmp_path):
    page = words(on(deck(tmp_path, slide("{{ table('9/rows', columns=['time']) }}"))))
    assert "time" in page and "calls" not in page.split("<aside")[0]
    with pytest.raises(TalkError, match=r"no column 'shar'"):
        deck(tmp_path, slide("{{ table('9/rows', columns=['shar']) }}"))


@pytest.fixture(scope="module")
def traced() -> Outcome:
    record: Record | None = runner.recording()
    outcome = record.outcome(7, "trace") if record else None
    assert outcome is not None
    return outcome


def test_one_load_becomes_one_instruction_or_one_for_each_element(traced):
    found = lowered(traced)
    assert found is not None
    assert "tl.load" in found.python
    assert [form.name for form in found.forms] == ["PTX", "SASS", "AMDGCN"]
    aligned, ragged = found.forms[0].texts
    assert len(aligned) == 1 and ".v4." in aligned[0]
    assert len(ragged) == 4 and not any(".v4." in line for line in ragged)
    assert found.forms[0].more == 0


def test_a_trace_that_kept_no_text_has_no_such_picture(traced):
    bare = tuple(replace(one, stages=()) for one in traced.lowerings)
    assert lowered(replace(traced, lowerings=bare)) is None
    assert lowered(replace(traced, behind=())) is None
