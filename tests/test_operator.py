"""x · y + z as an operation of PyTorch: its gradient, its fake, its place in torch.compile."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import pytest
import torch

from talk.source import ROOT
from tests.interpreted import interpreting

with interpreting():
    from demos.kernels import operator


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")


def three(n, dtype=torch.float32, **options):
    torch.manual_seed(n)
    return tuple(torch.randn(n, dtype=dtype, **options) for _ in range(3))


@pytest.mark.parametrize("name", ["multiply_add_operator", "multiply_add_opaque"])
@pytest.mark.parametrize("n", [0, 1, 127, 1000])
def test_it_is_right_at_any_length(name, n):
    x, y, z = three(n)
    expected = torch.addcmul(z.double(), x.double(), y.double()).float()
    torch.testing.assert_close(getattr(operator, name)(x, y, z), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["multiply_add_operator", "multiply_add_opaque"])
def test_its_gradient_is_that_of_its_formula(name):
    inputs = three(5, torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(getattr(operator, name), inputs)


def test_the_opaque_one_passes_every_check_of_an_operation():
    torch.library.opcheck(operator.multiply_add_opaque, three(33))
    torch.library.opcheck(operator.multiply_add_opaque, three(33, requires_grad=True))


def test_a_wrong_gradient_is_caught():
    @torch.library.custom_op("memory_wall_tests::wrong", mutates_args=())
    def wrong(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * y

    wrong.register_fake(lambda x, y: torch.empty_like(x))
    wrong.register_autograd(
        lambda ctx, grad: (grad, grad), setup_context=lambda ctx, inputs, output: None
    )
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(wrong, three(5, torch.float64, requires_grad=True)[:2])


def test_it_is_registered_anew_after_an_edit():
    with interpreting():
        again = importlib.reload(operator)
    x, y, z = three(33)
    torch.testing.assert_close(again.multiply_add_operator(x, y, z), torch.addcmul(z, x, y))
    assert again.multiply_add_opaque(x, y, z).shape == (33,)


ON_A_GPU = """
import torch
from demos.kernels.operator import multiply_add_opaque, multiply_add_operator
torch.manual_seed(0)
for op in (multiply_add_operator, multiply_add_opaque):
    for grad in (False, True):
        given = [torch.randn(1000, device="cuda", requires_grad=grad) for _ in range(3)]
        torch.library.opcheck(op, tuple(given))
        through = torch.compile(lambda x, y, z: op(x, y, z) * 2, fullgraph=True)(*given)
        torch.testing.assert_close(through, 2 * torch.addcmul(given[2], given[0], given[1]))
given = [torch.randn(9, device="cuda", dtype=torch.float64, requires_grad=True) for _ in range(3)]
assert torch.autograd.gradcheck(multiply_add_operator, given)
"""


@pytest.mark.gpu
def test_it_passes_every_check_and_compiles_on_a_gpu():
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-c", ON_A_GPU], check=True, cwd=ROOT, env=environment)
