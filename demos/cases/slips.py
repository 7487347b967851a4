"""What exercises compute when one thing was forgotten: cause → the same inputs, that mistake.

The grader names a cause where a result is this, element by element.
"""

import torch

from demos.cases.exercises import norm_and_gradients


def weights_of_rows(x, weight):
    return x * weight[: x.shape[0], None]


def across_the_rows(x, weight):
    """As if rows lay `rows` apart: the memory of x, read down its columns."""
    return x.reshape(x.shape[1], x.shape[0]).t() * weight


STRIDED = {"wrong axis": weights_of_rows, "wrong stride": across_the_rows}


def down_the_columns(x):
    return torch.softmax(x, dim=0)


SOFTMAX = {"wrong axis": down_the_columns}


def no_level(x, weight, bias, grad):
    """dx without the mean of the pull."""
    out, dx, dweight, dbias = norm_and_gradients(x, weight, bias, grad)
    inverse = (x.var(dim=1, keepdim=True, correction=0) + 1e-5).rsqrt()
    level = (grad * weight).mean(dim=1, keepdim=True)
    return out, dx + level * inverse, dweight, dbias


def no_slope(x, weight, bias, grad):
    """dx without the mean of pull · scaled."""
    out, dx, dweight, dbias = norm_and_gradients(x, weight, bias, grad)
    mean = x.mean(dim=1, keepdim=True)
    inverse = (x.var(dim=1, keepdim=True, correction=0) + 1e-5).rsqrt()
    scaled = (x - mean) * inverse
    along = (grad * weight * scaled).mean(dim=1, keepdim=True)
    return out, dx + scaled * along * inverse, dweight, dbias


LAYER_NORM = {"a term is missing": no_level, "another term is missing": no_slope}


def attended(q, k, v, causal, scale, ahead=0):
    """Keys up to `ahead` beyond its own are seen by a causal query."""
    scores = q @ k.mT * scale
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril(ahead)
        scores = scores.masked_fill(~seen, -torch.inf)
    return torch.softmax(scores, dim=-1) @ v


def unscaled(q, k, v, causal):
    return attended(q, k, v, causal, 1.0)


def one_key_ahead(q, k, v, causal):
    return attended(q, k, v, causal, q.shape[-1] ** -0.5, 1)


def one_key_behind(q, k, v, causal):
    return attended(q, k, v, causal, q.shape[-1] ** -0.5, -1)


def not_causal(q, k, v, causal):
    return attended(q, k, v, False, q.shape[-1] ** -0.5)


ATTENTION = {
    "wrong scale": unscaled,
    "causal mask off by one": one_key_ahead,
    "causal mask one too strict": one_key_behind,
    "no causal mask": not_causal,
}
