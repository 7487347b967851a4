"""Loops over run-time values, in the interpreter of a Triton that lost them to a newer NumPy."""

import pytest
import triton

from talk.gpu import loops
from tests.interpreted import interpreting

with interpreting():
    from triton.runtime import interpreter

    from talk.gpu import selftest


def test_a_loop_of_triton_3_6_is_mended(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    patch = interpreter._patch_lang_tensor

    def of_triton_3_6(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data))

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", of_triton_3_6)
    monkeypatch.setattr(triton, "__version__", "3.6.0")
    monkeypatch.setattr(interpreter, "mended", True, raising=False)
    loops.mend()  # was done already
    with pytest.raises(interpreter.InterpreterError) as caught:
        selftest.run("cpu")
    assert isinstance(caught.value.__cause__, (TypeError, DeprecationWarning))
    monkeypatch.delattr(interpreter, "mended")
    loops.mend()
    selftest.run("cpu")
