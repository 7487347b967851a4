"""Bytes that are counted: PyTorch's operations and Triton's launches, beside what must move."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from talk.gpu.traffic import launched, operations, traffic, used
from tests.interpreted import interpreting

with interpreting():
    from demos.kernels.bias_gelu import bias_then_gelu, torch_bias_gelu
    from demos.kernels.elementwise import add_then_relu
    from demos.kernels.layer_norm import layer_norm
    from demos.kernels.matmul import matmul_grouped_kernel
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
    x = torch.randn(150)
    table = traffic({"unfused": add_then_relu}, (x, x), 3 * x.nbytes)
    assert [row[:2] for row in table.rows] == [
        ("unfused", "add_kernel"),
        ("unfused", "relu_kernel"),
        ("unfused", "total"),
        ("must move", "total"),
    ]
    # One tensor given twice is two arguments of the launch.
    assert table.rows[2][4] == 5 * x.nbytes and table.rows[3][4] == 3 * x.nbytes
    # A whole number would name its row.
    assert all(not isinstance(cell, int) for row in table.rows for cell in row)


def test_two_operations_of_one_name_are_told_apart():
    table = traffic({"twice": lambda x: (x * 2) * 3}, (torch.randn(3),), 24)
    assert [row[1] for row in table.rows[:2]] == ["mul", "mul 2"]


@pytest.mark.parametrize(
    ("kernel", "loaded", "stored"),
    [
        (matmul_grouped_kernel, {"a_ptr", "b_ptr"}, {"out_ptr"}),  # through pointers that advance
        (chain_kernel, {"links_ptr"}, {"out_ptr"}),  # an address that was itself loaded
    ],
)
def test_what_a_kernel_reads_and_writes_is_read_from_its_text(kernel, loaded, stored):
    assert used(kernel.fn) == (loaded, stored)


def test_layer_norm_reads_its_weight_and_bias():
    x, weight = torch.randn(M, N), torch.randn(N)
    ((name, read, written),) = moved(layer_norm, x, weight, weight)
    assert (name, read, written) == ("layer_norm_kernel", x.nbytes + 2 * weight.nbytes, x.nbytes)


def test_an_argument_by_keyword_counts_too():
    links = torch.zeros(32, dtype=torch.int32)
    found = launched(
        chain_kernel.fn, (links[:1],), {"links_ptr": links, "loads": 3, "num_warps": 1}
    )
    assert (found.read, found.written) == (links.nbytes, 4)
