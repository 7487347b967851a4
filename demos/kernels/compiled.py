"""The references through torch.compile, which writes Triton kernels of its own.

Each is compiled at its first call, as that takes seconds.
"""

import functools

import torch

from demos.kernels.bias_gelu import torch_bias_gelu, torch_bias_gelu_tanh, torch_bias_relu
from demos.kernels.elementwise import torch_add_relu, torch_multiply_add
from demos.kernels.layer_norm import layer_norm_by_parts
from demos.kernels.softmax import softmax_in_five


@functools.cache
def compiled(fn):
    return torch.compile(fn)


def compiled_add_relu(x, y):
    return compiled(torch_add_relu)(x, y)


def compiled_multiply_add(x, y, z):
    return compiled(torch_multiply_add)(x, y, z)


def compiled_bias_relu(x, bias):
    return compiled(torch_bias_relu)(x, bias)


def compiled_bias_gelu(x, bias):
    return compiled(torch_bias_gelu)(x, bias)


def compiled_bias_gelu_tanh(x, bias):
    return compiled(torch_bias_gelu_tanh)(x, bias)


def compiled_softmax(x):
    return compiled(softmax_in_five)(x)


def compiled_layer_norm(x, weight, bias):
    return compiled(layer_norm_by_parts)(x, weight, bias)
