"""Bytes that are counted: PyTorch's operations and Triton's launches, beside what must move."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from talk.errors import TalkError
from talk.gpu.kernel_text import used
from talk.gpu.traffic import launched, operations, traffic
from tests.interpreted import interpreting

with interpreting():
    import triton.language as tl

    from demos.kernels.bias_gelu import bias_then_gelu, torch_bias_gelu
    from demos.kernels.elementwise import add_then_relu
    from demos.kernels.layer_norm import layer_norm
    from demos.kernels.matmul import matmul_grouped_kernel
    from demos.kernels.operator import multiply_add_opaque
    from demos.kernels.probes import chain_kernel
    from demos.kernels.softmax import softmax, softmax_in_five

M, N = 5, 33
FLOAT = 4


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    # Beyond the last row there is -inf alone, of which NumPy warns.
    with np.errstate(all="ignore"):
        yield


def moved(candidate, *inputs):
    return [(each.name, each.read, each.written) for each in operations(candidate, inputs)]


def test_softmax_in_five_operations_moves_the_matrix_eight_times():  # case M4
    found = operations(softmax_in_five, (torch.randn(M, N),))
    assert [each.name for each in found] == ["amax", "sub", "exp", "sum", "div"]
    # A column of maxima and one of sums: each written once and read once.
    columns = 4 * M * FLOAT
    assert sum(each.read + each.written for each in found) == 8 * M * N * FLOAT + columns


def test_one_kernel_moves_it_twice():
    assert moved(softmax, torch.randn(M, N)) == [("softmax_kernel", M * N * FLOAT, M * N * FLOAT)]


def test_a_broadcast_bias_counts_by_the_elements_it_holds():
    matrix, bias = M * N * FLOAT, N * FLOAT
    expected = [("add", matrix + bias, matrix), ("gelu", matrix, matrix)]
    assert moved(torch_bias_gelu, torch.randn(M, N), torch.randn(N)) == expected
    expected = [("add_bias_kernel", matrix + bias, matrix), ("gelu_kernel", matrix, matrix)]
    assert moved(bias_then_gelu, torch.randn(M, N), torch.randn(N)) == expected
    stretched = torch.randn(1, N).expand(M, N)
    assert moved(lambda x: x + 1, stretched) == [("add", bias, matrix)]


def test_a_view_moves_nothing_and_a_copy_does():
    x = torch.randn(M, N)
    assert moved(lambda x: x.t().view(N, M)[1:].unsqueeze(0), x) == []
    assert moved(lambda x: x.t().contiguous(), x) == [("clone", x.nbytes, x.nbytes)]


def test_in_place_reads_and_writes_and_out_only_writes():
    x, out = torch.randn(M), torch.empty(M)
    assert moved(lambda x: x.mul_(2), x) == [("mul_", x.nbytes, x.nbytes)]
    assert moved(lambda x: torch.add(x, x, out=out), x) == [("add", x.nbytes, x.nbytes)]


def test_the_rows_end_in_totals_and_in_what_must_move():
    x, y = torch.randn(150), torch.randn(150)
    table = traffic({"unfused": add_then_relu}, (x, y), 3 * x.nbytes)
    assert [row[:2] for row in table.rows] == [
        ("unfused", "add_kernel"),
        ("unfused", "relu_kernel"),
        ("unfused", "total"),
        ("must move", "total"),
    ]
    assert table.rows[2][4] == 5 * x.nbytes and table.rows[3][4] == 3 * x.nbytes
    # A whole number would name its row.
    assert all(not isinstance(cell, int) for row in table.rows for cell in row)


def test_two_operations_of_one_name_are_told_apart():
    table = traffic({"twice": lambda x: (x * 2) * 3}, (torch.randn(3),), 24)
    assert [row[1] for row in table.rows[:2]] == ["mul", "mul 2"]


def test_a_tensor_given_twice_counts_once_to_pytorch_and_to_triton():
    x = torch.randn(150)
    assert moved(lambda x: x + x, x) == [("add", x.nbytes, x.nbytes)]
    first, _ = moved(add_then_relu, x, x)
    assert first == ("add_kernel", x.nbytes, x.nbytes)


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (lambda x, y: x.copy_(y), [("copy_", 64, 64)]),
        (lambda x, y: x.zero_(), [("zero_", 0, 64)]),
        (lambda x, y: torch.full_like(x, 3.0), [("full_like", 0, 64)]),
        (lambda x, y: x.new_zeros(4, 4), [("new_zeros", 0, 64)]),
        (lambda x, y: torch._foreach_add_([x, y], 1.0), [("_foreach_add_", 128, 128)]),
        (lambda x, y: x + x.t(), [("add", 64, 64)]),
        (lambda x, y: x[:3] + x[1:], [("add", 64, 48)]),  # two of three rows are shared
        (lambda x, y: x.squeeze_().t_(), []),
        (lambda x, y: x.view(2, 2, 4) @ y, [("mm", 128, 64)]),  # and an _unsafe_view
        (lambda x, y: x.max(1), [("max", 64, 4 * FLOAT + 4 * 8)]),
        (lambda x, y: x.to(torch.float32).half(), [("_to_copy", 64, 32)]),
        (lambda x, y: x.add_(y[0]), [("add_", 64 + 16, 64)]),
    ],
)
def test_what_an_operation_reads_and_writes_is_no_more_than_it_does(candidate, expected):
    assert moved(candidate, torch.randn(4, 4), torch.randn(4, 4)) == expected


def test_an_operator_made_of_a_kernel_counts_as_that_kernel_once():
    x = torch.randn(150)
    ((name, read, written),) = moved(multiply_add_opaque, x, x.clone(), x.clone())
    assert (name, read, written) == ("multiply_add_kernel", 3 * x.nbytes, x.nbytes)


def test_what_torch_compile_made_is_refused_and_not_counted_as_if_unfused():
    compiled = torch.compile(lambda x: torch.relu(x + 1), backend="eager")
    compiled(torch.randn(3))
    with pytest.raises(TalkError, match=r"^fused: torch\.compile steps aside"):
        traffic({"fused": compiled}, (torch.randn(3),), 24)


def test_a_result_that_nothing_seen_has_written_is_refused():
    def through_numpy(x):
        return torch.from_numpy(x.numpy() * 2)

    with pytest.raises(TalkError, match="what wrote its result was not seen"):
        operations(through_numpy, (torch.randn(3),))
    assert moved(lambda x: x, torch.randn(3)) == []
    assert moved(lambda x: x * 2, torch.randn(0, 3)) == []


def pointers(kernel):
    return tuple({name for name in names if name.endswith("_ptr")} for names in used(kernel))


@pytest.mark.parametrize(
    ("kernel", "loaded", "stored"),
    [
        (matmul_grouped_kernel, {"a_ptr", "b_ptr"}, {"out_ptr"}),  # through pointers that advance
        (chain_kernel, {"links_ptr"}, {"out_ptr"}),  # an address that was itself loaded
    ],
)
def test_what_a_kernel_reads_and_writes_is_read_from_its_text(kernel, loaded, stored):
    assert pointers(kernel.fn) == (loaded, stored)


class Jitted:
    """As Triton keeps a function that kernels call."""

    def __init__(self, fn):
        self.fn = fn


@Jitted
def put(to_ptr, value, like_ptr):
    tl.store(to_ptr, value + tl.load(like_ptr))


def through_a_helper(out_ptr, x_ptr, y_ptr):
    put(out_ptr + 3, tl.load(x_ptr), like_ptr=y_ptr)


def through_a_table(out_ptr, x_ptr, at_ptr):
    row = x_ptr + tl.load(at_ptr)
    tl.store(pointer=out_ptr, value=tl.load(pointer=row))


def scattered(out_ptr, x_ptr, at_ptr):
    at = tl.load(at_ptr)
    tl.store(out_ptr + at, tl.load(x_ptr))


def through_a_pair(out_ptr, x_ptr, y_ptr):
    x, y = x_ptr + 1, y_ptr + 2
    tl.store(out_ptr, tl.load(x) + tl.load(y))


def through_a_descriptor(out_ptr, x_ptr):
    x: object = tl.make_tensor_descriptor(x_ptr, [4], [1], [4])
    out = tl.make_tensor_descriptor(out_ptr, [4], [1], [4])
    out.store([0], x.load([0]))


def with_a_counter(out_ptr, tickets_ptr):
    ticket = tl.atomic_add(tickets_ptr, 1)
    tl.store(out_ptr + ticket, 1)


def in_a_loop(out_ptr, x_ptr, y_ptr):
    at = x_ptr
    for _ in range(3):
        tl.store(out_ptr, tl.load(at))
        at = y_ptr


@pytest.mark.parametrize(
    ("kernel", "loaded", "stored"),
    [
        (through_a_helper, {"x_ptr", "y_ptr"}, {"out_ptr"}),
        (through_a_table, {"x_ptr", "at_ptr"}, {"out_ptr"}),
        (scattered, {"x_ptr", "at_ptr"}, {"out_ptr"}),
        (through_a_pair, {"x_ptr", "y_ptr"}, {"out_ptr"}),
        (through_a_descriptor, {"x_ptr"}, {"out_ptr"}),
        (with_a_counter, {"tickets_ptr"}, {"out_ptr", "tickets_ptr"}),
        (in_a_loop, {"x_ptr", "y_ptr"}, {"out_ptr"}),
    ],
)
def test_a_pointer_is_followed_to_the_load_and_the_store_it_reaches(kernel, loaded, stored):
    assert pointers(kernel) == (loaded, stored)


def plain_names(result, source, n):
    tl.store(result + n, tl.load(source))


def test_a_tensor_counts_whatever_its_parameter_is_called():
    source, result = torch.randn(5), torch.empty(7)
    read, written = launched(plain_names, (result, source, 3), {})
    assert [t.numel() for t in read] == [5] and [t.numel() for t in written] == [7]


def test_layer_norm_reads_its_weight_and_bias():
    x, weight, bias = torch.randn(M, N), torch.randn(N), torch.randn(N)
    ((name, read, written),) = moved(layer_norm, x, weight, bias)
    assert (name, read, written) == ("layer_norm_kernel", x.nbytes + 2 * weight.nbytes, x.nbytes)


def test_an_argument_by_keyword_counts_too():
    links = torch.zeros(32, dtype=torch.int32)
    out = torch.zeros(1, dtype=torch.int32)
    read, written = launched(
        chain_kernel.fn, (out,), {"links_ptr": links, "loads": 3, "num_warps": 1}
    )
    assert read == [links] and written == [out]
