"""The probes do exactly what their bytes, operations and loads say."""

from __future__ import annotations

import pytest
import torch

from tests.guards import assert_within, guard_outputs, guarded
from tests.interpreted import interpreting

with interpreting():
    from demos.cases.probes import CHAIN, WORKING_SET
    from demos.kernels.probes import (
        CHUNK,
        LINE,
        arithmetic,
        arithmetic_one_by_one,
        chain,
        in_flight,
        random_cycle,
        stride_of,
        torch_arithmetic,
        torch_chain,
        torch_working_set,
        working_set,
    )


@pytest.fixture(autouse=True)
def guards(monkeypatch):
    """The canaries around outputs, which must outlive the test."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    torch.manual_seed(0)
    around = guard_outputs(monkeypatch)
    yield
    assert_within(around)


@pytest.mark.parametrize("lines", [1, 2, 7, 32])
def test_a_cycle_passes_every_line_once(lines):
    links, at, seen = random_cycle(lines).tolist(), 0, []
    for _ in range(lines):
        seen.append(at)
        at = links[at]
    assert at == 0 and sorted(seen) == [LINE * i for i in range(lines)]


@pytest.mark.parametrize("loads", [0, 1, 6, 7, 100])
def test_a_chain_ends_where_a_walk_does(loads):
    links, at = random_cycle(7), 0
    for _ in range(loads):
        at = int(links[at])
    assert chain(links, loads).tolist() == [at] == torch_chain(links, loads).tolist()


@pytest.mark.parametrize("n", [0, 1, 127, 129, 1000])
@pytest.mark.parametrize("k", [0, 1, 7])
def test_arithmetic_is_k_multiply_adds(n, k):
    x = torch.randn(n)
    y = x.double()
    for _ in range(k):
        y = y * 15 / 16 + 1 / 16
    torch.testing.assert_close(torch_arithmetic(x.double(), k), y)
    for fn in (arithmetic, arithmetic_one_by_one):
        torch.testing.assert_close(fn(guarded(x), k), y.float(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("programs", [1, 3, 200])
@pytest.mark.parametrize("n", [0, 1, 129, 1000])
def test_so_many_programs_do_all_the_work(programs, n):
    x, y = torch.randn(n), torch.randn(n)
    total = in_flight(guarded(x), guarded(y), programs=programs, block=32)
    assert torch.equal(total, x + y)


@pytest.mark.parametrize("n", [1, CHUNK, CHUNK + 1, 5 * CHUNK - 3])
@pytest.mark.parametrize("repetitions", [1, 2, 5])
def test_a_working_set_is_read_by_others_in_turn(n, repetitions):
    x = torch.rand(n)
    chunks = torch.nn.functional.pad(x, (0, -n % CHUNK)).view(-1, CHUNK).double().sum(1)
    programs, stride = len(chunks), stride_of(len(chunks))
    expected = [
        sum(chunks[(mine + turn * stride) % programs] for turn in range(repetitions))
        for mine in range(programs)
    ]
    torch.testing.assert_close(torch_working_set(x.double(), repetitions), torch.stack(expected))
    sums = working_set(guarded(x), repetitions)
    torch.testing.assert_close(sums, torch.stack(expected).float())


@pytest.mark.parametrize("programs", [2, 512, 131_072])
def test_nobody_reads_what_its_neighbour_just_read(programs):
    # Else the L1 cache would answer, or what is under way already.
    assert stride_of(programs) % programs > 0 or programs == 1
    assert stride_of(programs) >= programs // 4


def test_a_call_reads_the_same_total_whatever_the_set():
    moved = {
        kib: WORKING_SET.bytes_moved(*WORKING_SET.inputs(kib=kib, total_mib=64))
        for kib in (1024, 4096, 16384)
    }
    assert set(moved.values()) == {64 * 2**20}
    assert CHAIN.items(*CHAIN.inputs(kib=4, loads=100)) == 100
