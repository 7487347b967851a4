"""Flash Attention: interpreted, beside float64 with the whole matrix of scores."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from talk.gpu.lowering import Request, lower_apart
from talk.gpu.measure import interpretable
from talk.gpu.traffic import operations
from talk.hardware import ARCHITECTURES
from talk.source import ROOT
from tests.guards import CANARY, GUARD, assert_within, guard_outputs, guarded, laid_out, poisoned
from tests.interpreted import interpreting

with interpreting():
    from demos.cases.challenges import ATTENTION, CAUSAL_ATTENTION, hard_heads, pairs
    from demos.kernels import attention as module
    from demos.kernels.attention import (
        CONFIGS,
        LARGE,
        SMALL,
        attention,
        attention_and_lse,
        attention_by_parts,
        config_for,
        torch_attention,
    )
    from tests import wrong_attention

EMPTY_LIKE, NEW_EMPTY = torch.empty_like, torch.Tensor.new_empty


@pytest.fixture(autouse=True)
def guards(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    torch.manual_seed(0)
    around = guard_outputs(monkeypatch)
    guarded_alike = torch.Tensor.new_empty

    def new_empty(x, *shape, **options):
        """Beside the interpreter's own: the lse, of another dtype than q."""
        if set(options) != {"dtype"}:
            return guarded_alike(x, *shape, **options)
        memory = poisoned(int(np.prod(shape)) + 2 * GUARD, options["dtype"])
        around.extend(end.fill_(CANARY) for end in (memory[:GUARD], memory[-GUARD:]))
        return memory[GUARD:-GUARD].view(shape)

    monkeypatch.setattr(torch.Tensor, "new_empty", new_empty)
    # What was never masked is what NumPy warns of.
    with np.errstate(all="ignore"):
        yield around


def expected(q, k, v, causal, scale):
    """(out, lse) in float64; what sees nothing is 0."""
    q, k, v = (x.double() for x in (q, k, v))
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, -torch.inf)
    lse = torch.logsumexp(scores, dim=-1)
    weights = torch.exp(scores - lse[..., None]).nan_to_num(0.0)
    return weights @ v, lse


def assert_right(
    fn, guards, q, k, v, causal=False, scale=None, near=2e-6, layout=guarded, **options
):
    """NaN around every input does not leak; every element written, none beyond."""
    mine = tuple(map(layout, (q, k, v)))
    got = fn(*mine, causal, scale, **options)
    assert_within(guards)
    torch.testing.assert_close(mine, (q, k, v), rtol=0, atol=0)
    out, lse = expected(q, k, v, causal, scale)
    got = got if isinstance(got, tuple) else (got,)
    assert got[0].dtype == q.dtype
    torch.testing.assert_close(got[0], out.to(q.dtype), rtol=near, atol=near)
    for found in got[1:]:
        torch.testing.assert_close(found, lse.float(), rtol=2e-6, atol=2e-6)


def three(queries, keys, width, batch=1, heads=1, dtype=torch.float32):
    lengths = queries, keys, keys
    return tuple(torch.randn(batch, heads, n, width).to(dtype) for n in lengths)


# 1 is the smallest; 31, 32 and 33 straddle a tile of queries, 129 many tiles of keys.
LENGTHS = [(1, 1), (1, 129), (129, 1), (31, 33), (32, 32), (33, 31), (129, 129), (20, 150)]
BOTH = pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])


@BOTH
@pytest.mark.parametrize(("queries", "keys"), [*LENGTHS, (150, 20)])
def test_any_lengths(queries, keys, causal, guards):
    assert_right(attention_and_lse, guards, *three(queries, keys, 16), causal)


@BOTH
@pytest.mark.parametrize("width", [1, 16, 32, 40, 64, 80, 96, 128, 256])
def test_any_width(width, causal, guards):
    assert_right(attention_and_lse, guards, *three(33, 50, width), causal)


@BOTH
def test_every_head_of_every_batch(causal, guards):
    assert_right(attention_and_lse, guards, *three(20, 40, 16, batch=3, heads=2), causal)


@BOTH
@pytest.mark.parametrize("width", [32, 80])
def test_float16_is_kept_and_summed_in_float32(width, causal, guards):  # case K10
    # Rounded once at the end, and the weights before they meet v.
    inputs = three(70, 70, width, dtype=torch.float16)
    assert_right(attention_and_lse, guards, *inputs, causal, near=2e-3)
    # 3,000 equal weights: a sum in float16 would stop at 2,048.
    q, k, v = torch.zeros(1, 1, 1, 16), torch.ones(1, 1, 3000, 16), torch.ones(1, 1, 3000, 16)
    assert attention(q.half(), k.half(), v.half()).eq(1).all()


@BOTH
def test_no_keys_and_no_queries(causal, guards):  # cases K2, K7
    for queries, keys in ((5, 0), (0, 5), (0, 0)):
        assert_right(attention_and_lse, guards, *three(queries, keys, 16), causal)
    out, lse = attention_and_lse(*three(5, 0, 16), causal)
    assert out.eq(0).all() and lse.eq(-torch.inf).all()
    for batch, heads in ((0, 2), (2, 0)):
        assert attention(*three(3, 3, 16, batch, heads), causal).shape == (batch, heads, 3, 16)


@pytest.mark.filterwarnings("ignore:All-NaN slice")  # of the queries that are not: 0 · inf
def test_scores_of_minus_infinity(guards):  # case K7
    q, k, v = three(3, 70, 16)
    q, k[:, :, :40] = q.abs(), -torch.inf  # the first tile of keys is unseen as a whole
    assert_right(attention_and_lse, guards, q, k, v)
    k[:] = -torch.inf
    out, lse = attention_and_lse(q, k, v)
    assert out.eq(0).all() and lse.eq(-torch.inf).all()


@pytest.mark.filterwarnings("ignore:All-NaN slice")  # the interpreter's maximum, by NumPy
def test_nan_stays_in_its_row(guards):
    q, k, v = three(40, 40, 16)
    q[0, 0, 7, 3] = torch.nan
    out, lse = attention_and_lse(q, k, v)
    wrong = out.isnan().all(dim=-1)[0, 0]
    assert wrong.nonzero().tolist() == lse.isnan()[0, 0].nonzero().tolist() == [[7]]
    assert out.isnan().any(dim=-1)[0, 0].sum() == 1


@BOTH
@pytest.mark.parametrize("scale", [1.0, 0.0, -0.7, 1e-3, 20.0])
def test_any_scale(scale, causal, guards):
    # A score of 100 is known to 6e-6, and so is its exponential.
    near = 2e-6 if abs(scale) < 2 else 2e-4
    q, k, v = three(33, 40, 16)
    assert_right(attention, guards, q, k, v, causal, scale, near=near)


@pytest.mark.parametrize("name", dict(hard_heads()))
def test_hard_heads(name, guards):
    *inputs, causal = interpretable(dict(hard_heads())[name])
    near = 2e-4 if name == "huge scores" else 3e-6
    assert_right(attention, guards, *inputs, causal, near=near)


def turned(x):
    """As a projection leaves it: (B, S, H, D), seen as (B, H, S, D)."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def moved(fn, *inputs):
    """What it moves, (name, bytes), where memory is allocated as PyTorch does it."""
    with pytest.MonkeyPatch.context() as plain:
        plain.setattr(torch, "empty_like", EMPTY_LIKE)
        plain.setattr(torch.Tensor, "new_empty", NEW_EMPTY)
        return [(each.name, each.read + each.written) for each in operations(fn, inputs)]


def test_heads_are_read_where_they_lie(guards):
    inputs = tuple(map(turned, three(20, 40, 16, batch=2, heads=3)))
    assert [name for name, _ in moved(attention, *inputs)] == ["attention_kernel"]
    assert_right(attention_and_lse, guards, *inputs)


def test_the_result_lies_as_q_does(monkeypatch):
    monkeypatch.setattr(torch, "empty_like", EMPTY_LIKE)
    for lay in (turned, lambda x: x):
        q, k, v = map(lay, three(20, 40, 16, batch=2, heads=3))
        out = attention(q, k, v)
        assert out.stride() == q.stride()
        torch.testing.assert_close(out, attention_by_parts(q, k, v), rtol=1e-5, atol=1e-6)


def test_any_strides(guards):
    q, k, v = three(20, 40, 16, batch=2, heads=3)

    def far_apart(x):
        return laid_out(x, (9000, 2900, 40, 1))

    assert_right(attention_and_lse, guards, q, k, v, layout=far_apart)
    # Not contiguous in width: copied. One head of keys for all, as grouped queries have it.
    assert_right(attention, guards, q.mT.contiguous().mT, k[..., ::2].repeat(1, 1, 1, 2), v)
    one = k[:, :1].expand(-1, 3, -1, -1)
    torch.testing.assert_close(attention(q, one, v), attention(q, one.contiguous(), v))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: "-".join(map(str, c.values())))
def test_every_configuration_is_right(config, guards):
    q, k, v = three(150, 140, 16)
    assert_right(attention_and_lse, guards, q, k, v, True, **config)


@BOTH
def test_the_plain_ones_are_right_too(causal):
    for keys in (1, 40):
        inputs = three(33, keys, 16, heads=2)
        for fn in (attention_by_parts, torch_attention):
            assert_right(fn, [], *inputs, causal)
    assert attention_by_parts(*three(3, 0, 16), causal).eq(0).all()


@BOTH
def test_the_scores_are_never_in_memory(causal, guards):
    inputs = (*three(128, 150, 16), causal)
    lse = 4 * 128
    assert moved(attention, *inputs) == [("attention_kernel", ATTENTION.bytes_moved(*inputs) + lse)]
    attention(*inputs)
    assert len(guards) == 4  # two for out, two for lse: nothing else is allocated
    scores = 4 * 128 * 150
    assert sum(moved_bytes for _, moved_bytes in moved(attention_by_parts, *inputs)) > 6 * scores


def test_a_pair_of_query_and_key_is_counted_once():
    q, k, _ = three(5, 3, 16, batch=2, heads=3)
    assert pairs(q, k, False) == 2 * 3 * 5 * 3
    assert pairs(q, k, True) == 2 * 3 * (1 + 2 + 3 + 3 + 3)
    assert ATTENTION.flops(q, k, k, True) == 4 * 16 * pairs(q, k, True)
    assert CAUSAL_ATTENTION.inputs(**CAUSAL_ATTENTION.small)[3] is True


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (three(3, 4, 16)[:2] + three(3, 5, 16)[2:], "v as k: got"),
        ([x[0] for x in three(3, 4, 16)], r"expected batch × heads × length × width"),
        ((three(3, 3, 16)[0], *three(3, 3, 32)[1:]), "q differs from k in batch, heads or width"),
        ((three(3, 3, 16)[0], *three(3, 3, 16, heads=2)[1:]), "q differs from k"),
        (three(3, 3, 257), "heads are 1 to 256 wide, not 257"),
        (three(3, 3, 0), "heads are 1 to 256 wide, not 0"),
        ((three(3, 3, 16)[0].half(), *three(3, 3, 16)[1:]), "inputs differ: torch.float16 on cpu"),
    ],
)
def test_what_does_not_fit_is_refused(inputs, message):
    with pytest.raises(ValueError, match=message):
        attention(*inputs)


def test_a_gpu_with_room_has_the_large_tiles(monkeypatch):
    q = torch.empty(1, 1, 1, 80, dtype=torch.bfloat16)
    assert config_for(q) == SMALL[128]
    for limit, table in ((227 * 1024, LARGE), (163 * 1024, SMALL)):
        monkeypatch.setattr(module, "shared_limit", lambda device, limit=limit: limit)
        assert config_for(q) == table[128]


def test_the_same_without_its_mistake_is_right(guards):
    for causal in (False, True):
        assert_right(wrong_attention.attention, guards, *three(40, 50, 16), causal)


@pytest.mark.parametrize(
    ("wrong", "causal", "lengths", "factor"),
    [
        (wrong_attention.keys_that_are_not, False, (40, 50), 1),
        (wrong_attention.no_maximum, False, (40, 50), 30),
        (wrong_attention.divided_by_the_width, False, (40, 50), 1),
        (wrong_attention.never_scaled, False, (40, 50), 1),
        (wrong_attention.sums_not_rescaled, False, (40, 50), 1),
        (wrong_attention.one_ahead, True, (40, 40), 1),
        (wrong_attention.one_behind, True, (40, 40), 1),
        (wrong_attention.aligned_at_the_end, True, (20, 50), 1),
    ],
)
def test_wrong_attention_is_caught(wrong, causal, lengths, factor, guards):
    q, k, v = three(*lengths, 16)
    with pytest.raises(AssertionError, match=r"past its end|not close"):
        assert_right(wrong, guards, factor * q, k, v, causal, near=2e-3)


def test_a_softmax_of_nothing_is_caught(guards):
    q, k, v = three(3, 20, 16)
    q, k[:] = q.abs(), -torch.inf
    with pytest.raises(AssertionError, match="not close"):
        assert_right(wrong_attention.nothing_seen_is_nan, guards, q, k, v)


# Compiled


def lowered(width, config, targets):
    return lower_apart(
        Request(
            module="tests.every_kernel",
            function="causal_attention",
            inputs="heads_of",
            size={"width": width},
            keywords=config,
            targets=targets,
            timeout_s=200,
        )
    )


ROOMY = tuple(a.target for a in ARCHITECTURES if a.shared_per_block >= 200 * 1024)
# sm_75 has no matrix unit that Triton knows of: there it spills, and is right.
OTHERS = ("sm_80", "sm_86", "sm_89", "sm_120", "gfx942")


def test_the_tuned_tile_spills_nothing():
    (one,) = lowered(128, LARGE[128], ("sm_90",))
    assert not one.failure and one.fits and not one.spills
    assert any("wgmma" in name for name in one.counts["ptx"])


SPILLED = {("sm_100", 256): 32}
"""Bytes a lane that are allowed: (target, width), where the tile is the one measured on sm_90."""


@pytest.mark.slow
@pytest.mark.parametrize("width", sorted(LARGE))
def test_no_tile_spills(width):  # case E8
    found = lowered(width, LARGE[width], ROOMY) + lowered(width, SMALL[width], OTHERS)
    assert len(found) == len(ROOMY) + len(OTHERS)
    for one in found:
        assert not one.failure and one.fits, (one.target, one.failure)
        assert one.spills <= SPILLED.get((one.target, width), 0), one.target


ON_A_GPU = """
import torch
from demos.kernels.attention import attention, attention_and_lse, torch_attention
torch.manual_seed(0)
def make(b, h, m, n, d, dtype):
    return (torch.randn(b, h, s, d, device="cuda", dtype=dtype) for s in (m, n, n))
for dtype, near in ((torch.bfloat16, 2e-2), (torch.float16, 3e-3), (torch.float32, 1e-5)):
    for width in (16, 40, 64, 128, 256):
        for m, n in ((129, 129), (333, 1000), (1000, 333)):  # compiled once: none is a multiple
            for causal in (False, True):
                q, k, v = make(2, 3, m, n, width, dtype)
                want = torch_attention(q.double(), k.double(), v.double(), causal)
                got = attention(q, k, v, causal)
                torch.testing.assert_close(got.double(), want, rtol=near, atol=near)
q, k, v = make(2, 3, 5, 0, 64, torch.bfloat16)
assert attention(q, k, v).eq(0).all()
q, k, v = make(1, 16, 16384, 16384, 128, torch.bfloat16)
first = attention(q, k, v, True)
assert torch.equal(first, attention(q, k, v, True))
torch.cuda.reset_peak_memory_stats()
before = torch.cuda.memory_allocated()
out, lse = attention_and_lse(q, k, v)
assert torch.cuda.max_memory_allocated() - before <= out.nbytes + lse.nbytes + 1024
# A row of keys that begins beyond 2^31 elements.
far = torch.zeros(2**31 + 2**20, device="cuda", dtype=torch.bfloat16)
k = far.as_strided((1, 1, 3, 128), (1, 1, 2**30, 1)).copy_(torch.randn(1, 1, 3, 128))
q = torch.randn(1, 1, 9, 128, device="cuda", dtype=torch.bfloat16)
torch.testing.assert_close(attention(q, k, k), attention(q, k.contiguous(), k.contiguous()))
"""


@pytest.mark.gpu
def test_it_is_right_and_small_on_a_gpu():  # case K1
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-c", ON_A_GPU], check=True, cwd=ROOT, env=environment)
