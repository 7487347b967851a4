"""Numbers on reading: rates, shares, badges, flags, sentences. And how they are written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from talk import look
from talk.errors import NoValue, TalkError, UnknownReference
from talk.look import Badge
from talk.number import tie
from talk.outcome import Clocks, Column, Failure, Table
from talk.reading import Reading
from talk.record import Event, Record
from talk.rows import CACHED, OVERHEAD, flags_of
from talk.sentence import say
from tests import records
from tests.records import CEILINGS, MACHINE, STEPS, timing

READING = Reading(recording=records.record())


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [
        (4369.6, "GB/s", "4,370 GB/s"),
        (20.03, "GB/s", "20.0 GB/s"),
        (9994, "GB/s", "9,990 GB/s"),
        (9999.4, "GB/s", "10.0 TB/s"),
        (0.00452, "share", "0.452 %"),
        (218.2, "ratio", "×218"),
        (737e-6, "s", "737 µs"),
        (999.96e-6, "s", "1.00 ms"),
        (2.3e-8, "s", "23.0 ns"),
        (1.66e9, "/s", "1.66 billion/s"),
        (2**28, "count", "268,435,456"),
        (0, "GB/s", "0 GB/s"),
        (99.96, "GB/s", "100 GB/s"),
        (9.999, "", "10.0"),
        (None, "GB/s", "–"),
        (float("inf"), "s", "– s"),
    ],
)
def test_numbers_have_three_digits_and_their_unit(value, unit, written):
    assert look.quantity(value, unit) == written


def test_rates_and_shares_are_computed_from_the_median():
    number = READING.number("5/blocks[1024].gbps")
    assert float(number) == pytest.approx(12e9 / 6.05e-3 / 1e9)
    assert float(READING.number("5/blocks[1024].share")) == pytest.approx(float(number) / 2000)
    assert number.low < float(number) < number.high


def test_a_number_knows_its_run():
    lines = dict(READING.number("5/blocks[1024].gbps").passport.lines())
    assert lines["gpu"] == "Test GPU 9000" and lines["config"] == "block 1024"
    assert lines["command"] == "just demo 5" and lines["commit"] == "abc1234"
    assert "p20" in lines["spread"] and lines["n"] == "20"


def test_references_reach_tables_the_model_and_the_machine():
    assert float(READING.number("rows[kernel_3].time", section=5)) == pytest.approx(4e-6)
    assert float(READING.number("guess[model].model", section=5)) == 0.9
    assert str(READING.number("machine/bandwidth[2:1].gbps")) == "2,000 GB/s"
    assert str(READING.number("machine/programs.rate")) == "1.00 billion/s"


@pytest.mark.parametrize(
    ("ref", "nearest"),
    [
        ("5/blok[1024].gbps", "5/blocks"),
        ("5/blocks[1025].gbps", "1024"),
        ("5/blocks.gbps", "1024"),
        ("5/blocks[1024].gpbs", "gbps"),
        ("machine/bandwidth[4:1].gbps", "3:1"),
        ("nonsense", "section/step"),
    ],
)
def test_an_unknown_reference_names_its_nearest(ref, nearest):
    with pytest.raises(UnknownReference, match=nearest):
        READING.number(ref)


def test_a_step_not_performed_is_missing_and_has_no_value():
    number = Reading(recording=Record(MACHINE, records.record().events[:1])).number(
        "5/blocks[1].gbps"
    )
    assert number.badge is Badge.MISSING and str(number) == "–"
    with pytest.raises(NoValue):
        float(number)


def test_the_badge_follows_where_a_number_comes_from():
    talk, ref = records.record(), "5/blocks[1].gbps"
    assert Reading(talk=talk, live=True).number(ref).badge is Badge.LIVE
    assert Reading(talk=talk, live=False).number(ref).badge is Badge.RECORDED
    assert Reading(recording=talk, live=True).number(ref).badge is Badge.RECORDED
    stale = Reading(talk=talk, live=True, fresh=lambda section, outcome: False)
    assert stale.number(ref).badge is Badge.STALE


def test_a_failed_or_simulated_step_lends_the_recorded_figures_with_the_reason():
    for outcome, reason in (
        (records.outcome("blocks", failure=Failure(kind="crash", reason="signal 11")), "signal 11"),
        (replace(records.outcome("blocks"), mode="simulated"), "interpreter"),
    ):
        talk = Record(MACHINE, (Event(kind="outcome", section=5, step="blocks", outcome=outcome),))
        reading = Reading(talk=talk, recording=records.record(), live=True)
        own, recorded = reading.shown(5, "blocks")
        assert own.outcome == outcome and recorded.badge is Badge.RECORDED
        assert reason in recorded.reason
        assert reading.number("5/blocks[1].gbps").badge is Badge.RECORDED


def test_a_small_add_is_overhead_bound_and_claims_nothing():  # case M1
    small = timing("triton", 0.005, bytes=4096 * 12)
    assert flags_of(small, CEILINGS) == (OVERHEAD,)
    outcome = records.outcome("blocks", timings=(small,))
    talk = Record(MACHINE, (Event(kind="outcome", section=5, step="blocks", outcome=outcome),))
    number = Reading(talk=talk).number("5/blocks[triton].gbps")
    assert number.value is None and OVERHEAD in number.flags


def test_faster_than_memory_is_flagged_and_never_over_100_percent_unsaid():  # case M2
    assert flags_of(timing("triton", 4.0), CEILINGS) == (CACHED,)
    assert flags_of(timing("triton", 12e9 / 2100e6 / 1.01, mix="write"), CEILINGS) == ()


def reading_of(timing, machine=MACHINE):
    outcome = records.outcome("blocks", timings=(timing,))
    return Reading(talk=Record(machine, (Event(kind="outcome", section=5, step="blocks",
        outcome=outcome),)))  # fmt: skip


def test_a_share_is_of_what_this_machine_was_measured_to_reach():  # case M3
    add = timing("triton", 6.0, flops=10**9)
    for gbps, tflops in ((2000.0, 10.0), (300.0, 8.0)):
        measured = replace(
            CEILINGS, bandwidth_gbps={"2:1": gbps, "read": 9000.0}, tflops={"fp32": tflops}
        )
        reading = reading_of(add, replace(MACHINE, ceilings=measured))
        assert float(reading.number("5/blocks[triton].share")) == pytest.approx(2000 / gbps)
        share = reading.number("5/blocks[triton].arithmetic_share")
        assert float(share) == pytest.approx(1e9 / 6e-3 / (tflops * 1e12))
    unmeasured = reading_of(add, replace(MACHINE, ceilings=None))
    assert unmeasured.number("5/blocks[triton].share").value is None
    assert unmeasured.number("5/blocks[triton].arithmetic_share").value is None


def test_arithmetic_without_a_roof_of_its_own_is_held_against_float32():  # case E2
    product = timing("triton", 1.0, flops=4 * 10**9, arithmetic="bf16")
    for tflops, share in (({"fp32": 8.0}, 0.5), ({"fp32": 8.0, "bf16": 40.0}, 0.1)):
        machine = replace(MACHINE, ceilings=replace(CEILINGS, tflops=tflops))
        found = reading_of(product, machine).number("5/blocks[triton].arithmetic_share")
        assert float(found) == pytest.approx(share)


LAUNCHED = {"num_warps": 4, "num_stages": 3, "registers": 40, "spills": 0, "shared": 16 * 1024}


def test_a_launch_names_its_registers_and_its_theoretical_occupancy():
    reading = reading_of(timing("triton", 6.0, config=LAUNCHED))
    written = {
        name: str(reading.number(f"5/blocks[triton].{name}"))
        for name in ("registers", "spills", "shared", "warps", "occupancy")
    }
    # 40 × 32 = 1,280 registers a warp; 51 warps, in fours 48: 12 programs by registers.
    # 228 ÷ (16 + 1) KiB = 13 by shared memory. 12 programs of 4 warps are 48 of 64.
    assert written == {
        "registers": "40", "spills": "0", "shared": "16.0 KiB", "warps": "4",
        "occupancy": "75.0 %",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("capability", "config"),
    [
        ("", LAUNCHED),
        ("99.0", LAUNCHED),
        ("gfx942", LAUNCHED),
        ("9.0", {}),
        ("9.0", {"num_warps": 4, "shared": 0}),
    ],
)
def test_occupancy_has_no_value_where_the_gpu_or_the_launch_is_not_known(capability, config):
    machine = replace(MACHINE, device=replace(MACHINE.device, capability=capability))
    reading = reading_of(timing("triton", 6.0, config=config), machine)
    assert reading.number("5/blocks[triton].occupancy").value is None
    registers = reading.number("5/blocks[triton].registers").value
    assert registers == config.get("registers")


def test_the_machine_tells_its_roofs_its_ridges_and_its_latency():
    measured = replace(CEILINGS, tflops={"fp32": 42.0, "bf16": 420.0}, latency_ns=317.0)
    recording = records.record()
    machine = replace(recording.machine, ceilings=measured)
    reading = Reading(recording=replace(recording, machine=machine))
    assert str(reading.number("machine/arithmetic[bf16].tflops")) == "420 TFLOP/s"
    # The best streaming ceiling is 2,100 GB/s: 42 / 2.1 FLOP a byte.
    assert reading.number("machine/ridge[fp32].intensity").value == pytest.approx(20.0)
    assert str(reading.number("machine/latency.time")) == "317 ns"
    assert str(reading.number("machine/launch.time")) == "2.00 µs"
    assert str(reading.number("machine/device.sms")) == "100"
    absent = reading.number("machine/arithmetic[fp16].tflops")
    assert absent.value is None and absent.badge is Badge.MISSING


def test_a_machine_without_latency_or_a_roof_says_that_it_was_not_measured():
    with pytest.raises(LookupError, match="latency of memory was not measured"):
        CEILINGS.latency_s  # noqa: B018
    with pytest.raises(LookupError, match="no roof of bf16"):
        CEILINGS.ridge("2:1", "bf16")


def test_overlapping_spreads_are_a_tie():
    reading = Reading(recording=records.record(naive_ms=6.0, torch_ms=6.05))
    assert tie(reading.number("5/baseline[naive].time"), reading.number("5/baseline[torch].time"))
    assert not tie(
        READING.number("5/baseline[naive].time"), READING.number("5/baseline[torch].time")
    )


def test_a_sentence_reverses_with_its_numbers():
    says = STEPS[2].says
    slow, fast = (
        say(says, READING, 5),
        say(says, Reading(recording=records.record(naive_ms=6.0, torch_ms=600.0)), 5),
    )
    assert slow.text == "20.0 GB/s is 1.00 % of the ceiling, slower than torch."
    assert fast.text == "2,000 GB/s is 100 % of the ceiling, faster than torch."
    assert slow.badge is Badge.RECORDED


def test_a_sentence_waits_for_its_numbers():
    assert (
        say(STEPS[2].says, Reading(recording=Record(MACHINE, records.record().events[:1])), 5)
        is None
    )


def test_a_sentence_that_cannot_be_computed_says_so():
    with pytest.raises(TalkError, match="cannot be computed"):
        say("{{ 1 / 0 }}", READING, 5)


def test_nothing_in_a_talk_that_is_not_live_is_live():
    outcome = records.outcome("blocks", timings=(timing("triton", 6.0),))
    event = Event(kind="outcome", section=5, step="blocks", outcome=outcome)
    talk = Record(replace(MACHINE, mode="simulated"), (event,))
    assert Reading(talk=talk, live=True).shown(5, "blocks")[0].badge is Badge.SIMULATED


@pytest.mark.parametrize(
    "hostile",
    [
        "{% for i in n %}{% endfor %}",
        "{{ n.__class__ }}",
        "{{ n('a').__init__.__globals__ }}",
        "{{ cycler() }}",
        "{% include 'x' %}",
        "{{ 'a' * 9999999999 }}",
        "{{ ('a' or 'b') * 9999999999 }}",
        "{{ 9 ** 9 ** 9 }}",
        "{% set x = 1 %}",
        "{{ n(**{}) }}",
        "{{ n('5/blocks[1].gbps') | attr('value') }}",
        "{% macro m() %}{% endmacro %}",
        "{{",
    ],
)
def test_a_hostile_sentence_is_refused(hostile):
    with pytest.raises(TalkError, match="sentence"):
        say(hostile, READING, 5)


# Quotients, knees, models, and counters that could not be read


def test_two_references_name_a_quotient():
    ratio = READING.number("blocks[1].time / blocks[1024].time", section=5)
    assert str(ratio) == "×99.2" and ratio.badge is Badge.RECORDED
    assert READING.number(ratio.ref).value == ratio.value
    rate = READING.number("rows[kernel_3].calls / rows[kernel_3].time", section=5)
    assert str(rate) == "1.00 million/s"


def test_a_quotient_without_one_of_its_numbers_has_no_value():
    missing = Reading(recording=Record(MACHINE, records.record().events[:1]))
    number = missing.number("5/blocks[1].time / 5/blocks[32].time")
    assert number.value is None and number.badge is Badge.MISSING
    assert say("{{ n('blocks[1].time') / n('blocks[32].time') }}", missing, 5) is None


def test_a_quotient_is_as_strong_as_its_weaker_number():
    talk = Record(MACHINE, tuple(e for e in records.record().events if e.step != "blocks"))
    reading = Reading(talk=talk, recording=records.record(), live=True)
    live, recorded = "5/baseline[naive].time", "5/blocks[1].time"
    assert reading.number(f"{live} / {live}").badge is Badge.LIVE
    assert reading.number(f"{live} / {recorded}").badge is Badge.RECORDED
    assert reading.number(f"{recorded} / {live}").badge is Badge.RECORDED


def test_nothing_is_divided_by_zero():
    columns = (Column(name="kernel"), Column(name="time", unit="s"))
    table = Table(columns=columns, rows=(("idle", 0.0), ("busy", 1.0)))
    naught = records.outcome("rows", table=table)
    talk = Record(MACHINE, (Event(kind="outcome", section=5, step="rows", outcome=naught),))
    assert Reading(talk=talk).number("5/rows[busy].time / 5/rows[idle].time").value is None


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({1: 600.0, 32: 20.0, 1024: 6.0}, 1024),
        ({1: 600.0, 32: 6.2, 1024: 6.0}, 32),
        ({1: 5.0, 32: 6.2, 1024: 6.0}, 1),
    ],
)
def test_the_knee_is_the_first_value_near_the_best_rate(times, expected):
    swept = tuple(timing("triton", ms, at={"block": block}) for block, ms in times.items())
    talk = Record(
        MACHINE,
        (
            Event(
                kind="outcome",
                section=5,
                step="blocks",
                outcome=records.outcome("blocks", timings=swept),
            ),
        ),
    )
    knee = Reading(talk=talk).number("5/blocks[triton].knee")
    assert (knee.value, knee.unit) == (expected, "count")


def test_a_model_answers_in_the_unit_of_its_question():
    assert str(READING.number("5/guess.model")) == "90.0 %"


def test_a_model_that_knew_recorded_ceilings_is_recorded():
    simulated = replace(records.outcomes()[0], mode="simulated")
    here = replace(
        MACHINE, mode="simulated", ceilings=None, device=replace(MACHINE.device, name="x")
    )
    talk = Record(here, (Event(kind="outcome", section=5, step="guess", outcome=simulated),))
    model = Reading(talk=talk, recording=records.record(), live=True).number("5/guess.model")
    assert model.badge is Badge.RECORDED and model.passport.gpu == "Test GPU 9000"


def test_counters_that_cannot_be_read_are_those_of_the_recording():
    counters = Table(
        columns=(Column(name="candidate"), Column(name="dram", unit="share")),
        rows=(("naive", 0.004),),
    )
    closed = records.outcome("rows", table=records.ROWS, counters_reason="closed")
    read = replace(closed, counters=counters, counters_reason="")
    talk, recording = (
        Record(MACHINE, (Event(kind="outcome", section=5, step="rows", outcome=outcome),))
        for outcome in (closed, read)
    )
    lent = Reading(talk=talk, recording=recording, live=True)
    assert str(lent.number("5/rows[naive].dram")) == "0.400 %"
    assert lent.number("5/rows[naive].dram").badge is Badge.RECORDED
    assert lent.number("5/rows[kernel_3].time").badge is Badge.LIVE
    assert Reading(talk=talk, live=True).number("5/rows[naive].dram").badge is Badge.MISSING


@pytest.mark.parametrize(
    "broken", ["{{ 1" + "0" * 5000 + " }}", "{{ tie('a', 'b') }}", "{{ " + "(" * 3000 + "1"]
)
def test_a_broken_sentence_is_a_sentence(broken):
    with pytest.raises(TalkError, match="a sentence"):
        say(broken, READING, 5)


def test_a_passport_says_what_slowed_the_clocks():
    slowed = Clocks(sm_mhz=1350, power_w=688.4, throttle=("power cap",))
    record = records.record()
    events = tuple(
        replace(e, outcome=replace(e.outcome, clocks=(Clocks(), slowed))) if e.outcome else e
        for e in record.events
    )
    number = Reading(recording=replace(record, events=events)).number("5/blocks[1024].gbps")
    assert number.passport.clocks == "SM 1,350 MHz, 688 W, power cap"
    assert "clocks" not in dict(READING.number("machine/launch.time").passport.lines())
