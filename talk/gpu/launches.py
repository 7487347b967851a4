"""What a launcher launches, without launching it: no GPU, no result.

>>> launches(add, x, y)
(Launch(kernel=JITFunction(demos.kernels.add:add_kernel), …, grid=(1024,)),)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from talk.gpu.targets import Target


@dataclass(frozen=True, kw_only=True)
class Specialised:
    """What Triton's compiler is told about the arguments of one launch.

    signature: every parameter → its type, `constexpr` for compile-time values.
    constexprs, attributes: position → value; position → facts such as "divisible by 16".
    options: the backend's own, with its defaults (num_warps, num_stages, …).
    """

    signature: dict[str, str]
    constexprs: dict[tuple[int, ...], Any]
    attributes: dict[tuple[int, ...], list[list[Any]]]
    options: Any


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One kernel launch as the launcher wrote it: `kernel[grid](*args, **keywords)`."""

    kernel: Any
    args: tuple[Any, ...] = field(repr=False)
    keywords: dict[str, Any] = field(repr=False)
    grid: tuple[int, ...]

    @property
    def name(self) -> str:
        """The kernel's name in the source."""
        return str(self.kernel.fn.__name__)

    def specialised(self, target: Target) -> Specialised:
        """The arguments as this target's real launch would see them.

        Triton's own binder decides, per backend: 16-byte alignment, values of 1 that become
        constants, and on AMD whether a tensor is within 2 GiB. (Private names, the same in
        Triton 3.6.0, 3.7.1, 3.8.0 and 3.9.0.)
        Raises KeyError for an argument that neither the kernel nor the backend knows.
        """
        from triton.compiler import make_backend
        from triton.runtime.jit import create_function_from_signature

        kernel, backend = self.kernel, make_backend(target.for_triton())
        binder = create_function_from_signature(kernel.signature, kernel.params, backend)
        bound, facts, options = binder(*self.args, **self.keywords)
        options, signature, constexprs, attributes = kernel._pack_args(
            backend, self.keywords, bound, facts, options
        )
        return Specialised(
            signature=signature, constexprs=constexprs, attributes=attributes, options=options
        )


def launches(fn: Callable[..., Any], *inputs: Any, **keywords: Any) -> tuple[Launch, ...]:
    """Run `fn` and return the Triton launches it would have made, in order.

    The tensors may be on the CPU, or on the `meta` device, where a GiB costs nothing. Nothing is
    computed: a launcher that reads back a result sees memory as it was allocated.
    An autotuned kernel takes its first configuration.
    Raises RuntimeError where kernels are interpreted, TypeError for a launch that leaves out an
    argument, and whatever `fn` raises.
    """
    from triton import knobs

    if knobs.runtime.interpret:
        raise RuntimeError(
            "kernels are interpreted in this process, so nothing here can be compiled"
        )
    caught: list[Launch] = []
    with _launching_into(caught):
        fn(*inputs, **keywords)
    return tuple(caught)


@contextmanager
def _launching_into(caught: list[Launch]) -> Iterator[None]:
    from triton import knobs
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    def catch(kernel: Any, *args: Any, grid: Any, warmup: bool = False, **keywords: Any) -> None:
        keywords["debug"] = keywords.get("debug", kernel.debug) or knobs.runtime.debug
        named = _by_name(kernel, args, keywords)
        grid = grid(named) if callable(grid) else grid
        caught.append(Launch(kernel=kernel, args=args, keywords=keywords, grid=tuple(grid)))

    really = JITFunction.run, Autotuner.run
    JITFunction.run, Autotuner.run = catch, _first_configuration
    try:
        yield
    finally:
        JITFunction.run, Autotuner.run = really


def _first_configuration(tuner: Any, *args: Any, **keywords: Any) -> None:
    config = tuner.configs[0]
    chosen = {**keywords, **config.all_kwargs()}
    if config.pre_hook is not None:
        config.pre_hook({**dict(zip(tuner.arg_names, args, strict=False)), **chosen})
    tuner.fn.run(*args, **chosen)


def _by_name(kernel: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(kernel.fn)
    named = {name: value for name, value in keywords.items() if name in parameters.parameters}
    bound = parameters.bind(*args, **named)
    bound.apply_defaults()
    return bound.arguments
