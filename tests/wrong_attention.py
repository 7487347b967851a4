"""Attention, and LayerNorm's backward, as people have got them wrong; the checks must notice."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    out_ptr, q_ptr, k_ptr, v_ptr, queries, keys, scale, AHEAD: tl.constexpr, MASK: tl.constexpr,
    SHIFT: tl.constexpr, SHRINK: tl.constexpr, CAUSAL: tl.constexpr, WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    head, d = tl.program_id(1), tl.arange(0, WIDTH)[None, :]
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q_ptr, k_ptr = q_ptr + head * queries * WIDTH, k_ptr + head * keys * WIDTH
    q = tl.load(q_ptr + row[:, None] * WIDTH + d, row[:, None] < queries, other=0.0)
    top = tl.full((BLOCK,), -1e38 if SHIFT else 0.0, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    sums = tl.zeros((BLOCK, WIDTH), tl.float32)
    for first in range(0, keys, BLOCK):
        key = first + tl.arange(0, BLOCK)
        at = key[:, None] * WIDTH + d
        k = tl.load(k_ptr + at, key[:, None] < keys, other=0.0)
        v = tl.load(v_ptr + head * keys * WIDTH + at, key[:, None] < keys, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        if MASK:
            scores = tl.where((key < keys)[None, :], scores, -float("inf"))
        if CAUSAL:
            seen = key[None, :] <= row[:, None] + AHEAD
            scores = tl.where(seen, scores, -float("inf"))
        before = top
        if SHIFT:
            top = tl.maximum(top, tl.max(scores, 1))
        raised, shrink = tl.exp(scores - top[:, None]), tl.exp(before - top)
        total = total * shrink + tl.sum(raised, 1)
        if SHRINK:
            sums *= shrink[:, None]
        sums = tl.dot(raised.to(v.dtype), v, sums, input_precision="ieee")
    out = sums / tl.where(total == 0, 1.0, total)[:, None]
    at = out_ptr + head * queries * WIDTH + row[:, None] * WIDTH + d
    tl.store(at, out, row[:, None] < queries)


def attention(
    q, k, v, causal=False, scale=None, *, mask=True, shift=True, shrink=True, ahead=0, power=-0.5
):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    batch, heads, queries, width = q.shape
    out = torch.empty_like(q)
    attention_kernel[(triton.cdiv(queries, 16), batch * heads)](
        out, q, k, v, queries, k.shape[2], width**power if scale is None else scale,
        AHEAD=ahead, MASK=mask, SHIFT=shift, SHRINK=shrink, CAUSAL=causal, WIDTH=width, BLOCK=16,
    )  # fmt: skip
    return out


def keys_that_are_not(q, k, v, causal, scale):
    return attention(q, k, v, causal, scale, mask=False)


def no_maximum(q, k, v, causal, scale):
    return attention(q, k, v, causal, scale, shift=False)


def divided_by_the_width(q, k, v, causal, scale):
    return attention(q, k, v, causal, scale, power=-1.0)


def never_scaled(q, k, v, causal, scale):
    return attention(q, k, v, causal, scale, power=0.0)


def sums_not_rescaled(q, k, v, causal, scale):
    return attention(q, k, v, causal, scale, shrink=False)


def one_ahead(q, k, v, causal, scale):
    return attention(q, k, v, causal, scale, ahead=1)


def one_behind(q, k, v, causal, scale):
    return attention(q, k, v, causal, scale, ahead=-1)


def aligned_at_the_end(q, k, v, causal, scale):
    return attention(q, k, v, causal, scale, ahead=k.shape[2] - q.shape[2])


def nothing_seen_is_nan(q, k, v, causal, scale):
    """With the whole matrix; a softmax of nothing but -inf is 0 / 0."""
    scores = q @ k.mT * q.shape[-1] ** -0.5 if scale is None else q @ k.mT * scale
    return torch.softmax(scores, dim=-1) @ v


def backward(grad, x, weight, mean, inverse, *, level=True, along=True, deviation=True, rows=None):
    """Right, unless something is left out."""
    scaled = (x - mean[:, None]) * inverse[:, None]
    pull = grad * weight
    dx = pull.clone()
    if level:
        dx -= pull.mean(dim=1, keepdim=True)
    if along:
        dx -= scaled * (pull * scaled).mean(dim=1, keepdim=True)
    if deviation:
        dx *= inverse[:, None]
    return dx, (grad * scaled)[:rows].sum(dim=0), grad[:rows].sum(dim=0)


def without_the_mean_of_pull(*inputs):
    return backward(*inputs, level=False)


def without_the_pull_along_x(*inputs):
    return backward(*inputs, along=False)


def not_divided_by_the_deviation(*inputs):
    return backward(*inputs, deviation=False)


def sums_of_the_first_rows(*inputs):
    return backward(*inputs, rows=64)


def the_weight_in_dweight(grad, x, weight, mean, inverse):
    dx, dweight, dbias = backward(grad, x, weight, mean, inverse)
    return dx, dweight * weight, dbias


def padding_in_the_means(grad, x, weight, mean, inverse):
    """Divided by the block and not by the columns."""
    dx, dweight, dbias = backward(grad, x, weight, mean, inverse)
    _, cols = x.shape
    part = cols / triton.next_power_of_2(cols)
    pull = grad * weight * inverse[:, None]
    return pull + (dx - pull) * part, dweight, dbias
