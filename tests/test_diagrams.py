"""Diagrams: a belief, a drawing in beats, figures by reference, and what is so instead."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from slides import anatomy, followed
from slides.build import TEMPLATES, Deck, build
from slides.diagrams import NAMES
from slides.typed import FIGURE, typed_figures
from talk import runner
from talk.errors import TalkError
from talk.outcome import Stage
from talk.reading import Reading
from talk.record import Record
from tests import decks, pages
from tests.test_deck_browser import Watched, new_context, walk

STEPS = {
    "grid": "1/baseline",
    "hiding": "2/chain",
    "lanes": "3/lanes",
    "hierarchy": "3/ladder",
    "trips": "3/fused",
    "coalesced": "5/programs",
    "tiles": "6/unused",
    "lowering": "7/trace",
}
"""The steps whose slides they belong to: all phases and so all accents are among them."""


def recording() -> Record:
    found = runner.recording()
    assert found is not None, "demos/recordings/ holds no recording"
    return found


def drawn(folder: Path, record: Record, slides: str) -> Deck:
    """A deck of a recording that consists of the slides given, between title and wrap-up."""
    templates = folder / "templates"
    shutil.copytree(TEMPLATES, templates)
    for outline in record.outlines:
        (templates / f"s{outline.number}.html.j2").write_text("", encoding="utf-8")
    (templates / "s1.html.j2").write_text(slides, encoding="utf-8")
    return build(record, templates=templates)


def slide(name: str, address: str) -> str:
    title = "A title that fills the whole of its first line and goes on with a second one"
    given = f'"{address}", name="{name}", title="{title}"'
    return f'{{% call slide({given}) %}}{{{{ diagram("{name}") }}}}{{% endcall %}}'


def every() -> str:
    return "".join(slide(name, STEPS[name]) for name in NAMES)


def without(record: Record, *addresses: str) -> Record:
    """The same record, as if these steps had not been performed."""
    left = (e for e in record.events if f"{e.section}/{e.step}" not in addresses)
    return replace(record, events=tuple(left))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Deck:
    return drawn(tmp_path_factory.mktemp("real"), recording(), every())


LONG_NAME = "Test GPU 9000 Laptop Edition, Limited, and more"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Deck:
    """Of a talk that has none of the steps, on a machine with a long name."""
    slides = "".join(slide(name, "9/baseline") for name in NAMES)
    record = decks.talk()
    device = replace(record.machine.device, name=LONG_NAME)
    record = replace(record, machine=replace(record.machine, device=device))
    return decks.deck(tmp_path_factory.mktemp("bare"), slides, record)


def of(deck: Deck, name: str) -> str:
    """The HTML of one diagram."""
    found = re.search(
        rf'<figure class="diagram" data-diagram="{name}">.*?</figure>', deck.html, re.S
    )
    assert found, f"no diagram {name}"
    return found.group()


def beats(figure: str) -> list[int]:
    return sorted({int(beat) for beat in re.findall(r'data-fragment-index="(\d+)"', figure)})


@pytest.mark.parametrize("name", NAMES)
def test_a_belief_then_three_beats_and_more_then_what_is_so(real, name):
    figure = of(real, name)
    found = beats(figure)
    assert found == list(range(len(found)))
    assert f'<p class="truth fragment" data-fragment-index="{found[-1]}">' in figure
    assert beats(figure.split("<svg")[1]) == found[:-1]
    assert len(found) > 3
    belief = re.search(r'<p class="belief">You may think: <q>(.+?)</q></p>', figure)
    truth = re.search(r'<p class="truth[^>]*>(.+?)</p>', figure, re.S)
    assert belief and truth and len(decks.words(truth[1])) > len(belief[1])


@pytest.mark.parametrize("name", NAMES)
def test_each_says_in_words_what_it_shows(real, name):
    alt = re.search(r'<svg [^>]*role="(\w+)" aria-label="([^"]+)"', of(real, name))
    assert alt is not None
    assert alt[1] == ("group" if "data-key" in of(real, name) else "img")
    assert len(alt[2].split()) > 20
    assert "\n" not in alt[2] and alt[2] == alt[2].strip()


def loose(figure: str) -> list[str]:
    """Figures with a unit that are no reference. Code has numbers of its own."""
    shown = re.sub(r'<text[^>]*class="[^"]*code.*?</text>', "", figure, flags=re.S)
    shown = re.sub(r'<(span|tspan) class="known.*?</\1>\s*(</\1>)?', "", shown, flags=re.S)
    return [match.group() for match in FIGURE.finditer(decks.words(shown))]


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_with_a_unit_has_a_passport(real, name):
    figure = of(real, name)
    assert loose(figure) == []
    assert loose(figure.replace("</svg>", "<text>341 ns</text></svg>")) == ["341 ns"]
    for key in re.findall(r'data-key="([^"]+)"', figure):
        assert f'<tr id="{key}">' in real.html


def test_a_figure_typed_into_a_diagram_is_found(tmp_path):
    (tmp_path / "diagrams").mkdir()
    (tmp_path / "diagrams" / "new.svg.j2").write_text("<text>waits 341 ns</text>")
    (found,) = typed_figures(tmp_path)
    assert str(found) == "diagrams/new.svg.j2:1: '341 ns'"


def test_figures_are_those_of_the_record(real):
    reading = Reading(talk=recording())
    shown = {name: decks.words(of(real, name)) for name in NAMES}
    farthest, nearest = (reading.number(f"2/chain[{kib}].each") for kib in (1048576, 16))
    hierarchy = (farthest, nearest, reading.number("machine/bandwidth[read].gbps"))
    for number in (*hierarchy, farthest / nearest):
        assert str(number) in shown["hierarchy"]
    rate, wait = map(reading.number, ("machine/bandwidth[2:1].gbps", "machine/latency.time"))
    for number in (rate, wait, rate * wait):
        assert str(number) in shown["hiding"]
    for ref in ("3/trips[unfused, total].bytes", "3/trips[fused, total].bytes"):
        assert str(reading.number(ref)) in shown["trips"]
    ridges = [reading.number(f"machine/ridge[{name}].intensity") for name in ("fp16", "bf16")]
    assert str(max(ridges, key=lambda ridge: ridge.value)) in shown["tiles"]
    assert f"one of {reading.number('machine/device.sms')} here" in shown["lanes"]
    for name in ("hierarchy", "hiding", "trips", "tiles", "lanes", "lowering"):
        assert "NVIDIA H200 ▣ RECORDED" in shown[name]


def test_a_whole_record_leaves_nothing_out(real):
    assert real.found.missing == {}
    assert "MISSING" not in "".join(of(real, name) for name in NAMES)


def test_what_a_talk_did_not_measure_is_missing_in_its_place(bare):
    for ref, name in {
        "2/chain.each": "hierarchy",
        "3/card[L2 cache].here": "hierarchy",
        "machine/latency.time": "hiding",
        "3/trips[fused, total].bytes": "trips",
        "machine/ridge[bf16].intensity": "tiles",
        "7/trace": "lowering",
    }.items():
        assert bare.found.missing[ref] == [f"s9-baseline-{name}"]
        assert "✕ MISSING" in of(bare, name)
    assert f"{LONG_NAME[:35]}… ▣ RECORDED" in decks.words(of(bare, "lanes"))
    assert "waits ✕ MISSING" in decks.words(of(bare, "hiding"))
    for form in ("TTIR", "TTGIR", "LLVM", "PTX", "SASS"):
        assert form in of(bare, "lowering")


def test_one_outcome_less_leaves_the_other_figures(tmp_path):
    deck = drawn(tmp_path, without(recording(), "2/chain"), slide("hierarchy", "3/ladder"))
    shown = decks.words(of(deck, "hierarchy"))
    assert list(deck.found.missing) == ["2/chain.each"]
    assert "228 KiB ✕ MISSING" in shown
    assert "60.0 MiB" in shown


def test_a_row_less_is_missing_and_no_error(tmp_path):
    record = recording()
    event = record.event(3, "trips")
    assert event and event.outcome and event.outcome.table
    table = replace(event.outcome.table, rows=event.outcome.table.rows[:2])
    cut = replace(event, outcome=replace(event.outcome, table=table))
    events = tuple(cut if each is event else each for each in record.events)
    deck = drawn(tmp_path, replace(record, events=events), slide("trips", "3/fused"))
    assert "five trips: ✕ MISSING" in decks.words(of(deck, "trips"))


def test_nothing_of_a_hostile_record_is_markup(tmp_path):
    deck = drawn(tmp_path, decks.evil(recording()), slide("lowering", "7/trace"))
    figure = of(deck, "lowering")
    assert "window.pwned" in deck.html
    assert "<script" not in figure and "<img" not in figure
    assert figure.count("<g ") == figure.count("</g>")


def test_an_unknown_diagram_is_refused_by_its_slide(tmp_path):
    with pytest.raises(TalkError, match=r"s9-baseline.*no diagram 'gird'") as refused:
        decks.deck(tmp_path, decks.slide('{{ diagram("gird") }}'))
    assert "grid" in refused.value.hint


def test_one_diagram_may_stand_twice(tmp_path):
    deck = decks.deck(tmp_path, decks.slide('{{ diagram("hiding") }}{{ diagram("hiding") }}'))
    assert deck.html.count('data-diagram="hiding"') == 2
    assert re.findall(r'\sid="', of(deck, "hiding")) == []


def test_lanes_are_those_of_the_machine(tmp_path):
    record = decks.talk()
    device = replace(record.machine.device, capability="gfx942")
    record = replace(record, machine=replace(record.machine, device=device))
    body = decks.slide('{{ diagram("lanes") }}{{ diagram("coalesced") }}')
    deck = decks.deck(tmp_path, body, record)
    shown = decks.words(decks.on(deck))
    assert "a warp: 64 lanes" in shown
    assert "8 sectors come" in shown
    assert "64 sectors come" in shown


def test_a_level_is_timed_on_a_set_well_inside_it():
    def level(size: float) -> Any:
        return replace(anatomy.missing("3/card[x].here"), value=size, unit="capacity")

    sets = (16, 128, 4096)
    assert anatomy.inside(sets, level(64 * 1024)) == 16
    assert anatomy.inside(sets, level(64 * 1024 - 1)) == 0
    assert anatomy.inside(sets, level(60 * 2**20)) == 4096
    assert anatomy.inside((), level(2**30)) == 0
    assert anatomy.inside(sets, anatomy.missing("3/card[x].here")) == 0


def test_a_long_line_keeps_what_it_tells():
    assert followed.shortened("a" * followed.MOST) == "a" * followed.MOST
    assert followed.shortened("a" * 80) == "a" * (followed.MOST - 1) + "…"
    told = followed.shortened("%18 = tail call " + "i32, " * 20 + "ld.global.b32 { $0 }" + "x" * 90)
    assert told.startswith("%18 = tail call … ld.global.b32 { $0 }")
    assert len(told) <= followed.MOST


def test_amd_s_forms_are_followed_where_there_are_no_others():
    outcome = recording().outcome(7, "trace")
    assert outcome is not None
    alone = tuple(one for one in outcome.lowerings if one.target == "gfx942")
    found = followed.followed(replace(outcome, lowerings=alone))
    assert found is not None
    assert [form.key for form in found.forms] == ["ttir", "ttgir", "llir", "amdgcn"]
    assert "buffer_load" in found.forms[-1].text
    assert followed.followed(replace(outcome, lowerings=())) is None
    assert followed.followed(replace(outcome, behind=())) is None


def test_a_form_without_the_line_is_there_and_empty():
    stage = Stage(name="ptx", text="ld.global.b32", lines=((1, 3),))
    assert followed.telling(stage, 3) == "ld.global.b32"
    assert followed.telling(stage, 4) == ""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with pages.chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def files(real: Deck, bare: Deck, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    paths = {name: folder / f"{name}.html" for name in ("real", "bare")}
    paths["real"].write_text(real.html, encoding="utf-8")
    paths["bare"].write_text(bare.html, encoding="utf-8")
    return paths


@pytest.fixture
def shown(browser: Browser, files: dict[str, Path]) -> Iterator[Watched]:
    for context in new_context(browser):
        yield Watched(context, files["real"], "s1-baseline-grid")


@pytest.mark.parametrize("which", ["real", "bare"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_every_beat_fits_and_can_be_read(browser, files, which, width, height):
    for context in new_context(browser, viewport={"width": width, "height": height}):
        shown = Watched(context, files[which])
        assert walk(shown) == {}
        assert shown.errors == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("which", ["real", "bare"])
def test_words_on_shapes_reach_a_contrast_of_4_5_in_both_themes(browser, files, which, theme):
    for context in new_context(browser):
        shown = Watched(context, files[which])
        if theme == "dark":
            shown.press("t")
        assert shown.page.evaluate("checks.faint(4.5)") == []


def test_every_beat_fits_in_the_fallback_font_too(shown):
    shown.page.evaluate("document.documentElement.style.setProperty('--sans', '\"Narrowed Sans\"')")
    assert walk(shown) == {}


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("text { font-size: 20px }", "small"),
        ("svg { width: 900px }", "small"),
        ("text.end { text-anchor: start }", "beyond its drawing"),
        ("text.end { transform: translate(-500px, 5px) }", "lies on"),
        ("figure, svg { position: relative; top: 300px }", "below the slide"),
    ],
)
def test_a_planted_fault_is_found(shown, planted, found):
    slide = "s1-baseline-grid" if "end" not in planted else "s3-lanes-lanes"
    shown.go(slide)
    shown.page.evaluate("Reveal.slide(Reveal.getIndices().h, 0, 99)")
    assert shown.page.evaluate("checks.faults()") == []
    rules = planted.replace("figure, svg", ".diagram")
    shown.page.add_style_tag(content=re.sub(r"^(?=text|svg)", f"#{slide} .diagram ", rules))
    assert found in " ".join(shown.page.evaluate("checks.faults()"))


@pytest.mark.parametrize(
    ("slide", "planted", "faint"),
    [
        # Written on the accent, in a colour that is readable anywhere else.
        ("s3-ladder-hierarchy", "text.on { fill: var(--text) }", "memory"),
        ("s1-baseline-grid", "rect.tint { fill: #777 }", "program 1"),
        ("s1-baseline-grid", "text.soft { fill: #999 }", "elements"),
    ],
)
def test_faint_words_on_a_shape_are_found(shown, slide, planted, faint):
    shown.go(slide)
    shown.page.add_style_tag(content=f"#{slide} .diagram {planted}")
    assert faint in " ".join(shown.page.evaluate("checks.faint(4.5)"))


def test_the_last_beat_strikes_the_belief_out(shown):
    struck = "getComputedStyle(Reveal.getCurrentSlide().querySelector('q')).textDecorationLine"
    for name in NAMES:
        shown.go(f"s{STEPS[name].replace('/', '-')}-{name}")
        assert shown.page.evaluate(struck) == "none"
        shown.page.evaluate("Reveal.slide(Reveal.getIndices().h, 0, 99)")
        assert shown.page.evaluate(struck) == "line-through"
        shown.press("PageUp")
        assert shown.page.evaluate(struck) == "none"


def test_a_figure_in_a_drawing_shows_its_passport(shown):
    shown.go("s2-chain-hiding")
    panel = shown.page.locator("#s2-chain-hiding .passport")
    figure = shown.page.locator("#s2-chain-hiding tspan.known").first
    for show, leave in (
        (figure.hover, lambda: shown.page.mouse.move(2, 2)),
        (figure.focus, figure.blur),
    ):
        show()
        rows = panel.locator("tbody tr:visible")
        assert rows.count() == 1
        assert "machine/latency.time" in rows.inner_text()
        leave()
        assert panel.is_hidden()


def test_axe_finds_no_serious_fault(shown):
    for slide in ("s1-baseline-grid", "s3-ladder-hierarchy", "s7-trace-lowering"):
        shown.go(slide)
        shown.page.evaluate("Reveal.slide(Reveal.getIndices().h, 0, 99)")
        assert pages.faults(shown.page) == []
