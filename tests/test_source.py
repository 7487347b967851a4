"""Staleness: the text behind a step, followed without an import."""

from __future__ import annotations

import pytest

from talk import source
from talk.errors import TalkError
from talk.outcome import Outcome

SECTION = """
from demos.kernels.scale import scale
from talk import Measure

FACTOR = 2


def launch(x):
    return scale(x, FACTOR)


STEPS = (Measure("scale", "Scale it", CASE, {"triton": launch}, says="nothing yet"),)
"""
KERNEL = """
import triton


@triton.jit
def scale_kernel(x):
    return helper(x)


def helper(x):
    return x


def scale(x, factor):
    return scale_kernel[(1,)](x)


def unrelated():
    return 1
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "demos" / "kernels").mkdir(parents=True)
    (tmp_path / "demos" / "__init__.py").write_text('ORDER = ("s3_scale",)\n')
    (tmp_path / "demos" / "s3_scale.py").write_text(SECTION)
    (tmp_path / "demos" / "kernels" / "scale.py").write_text(KERNEL)
    return tmp_path


def edit(path, old, new):
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_a_step_stands_on_every_definition_it_reaches(root):
    names = [code.name for code in source.behind("demos.s3_scale", "scale", root)]
    assert names == ["step:scale", "launch", "scale", "scale_kernel", "helper", "FACTOR"]
    kernel = source.behind("demos.s3_scale", "scale", root)[3]
    assert kernel.text.startswith("@triton.jit\ndef scale_kernel") and kernel.line == 5
    assert kernel.path == "demos/kernels/scale.py"


@pytest.mark.parametrize(
    ("file", "old", "new", "stands"),
    [
        ("s3_scale.py", "FACTOR = 2", "FACTOR = 3", False),
        ("s3_scale.py", '{"triton": launch}', '{"torch": launch}', False),
        ("kernels/scale.py", "    return x\n", "    return x + 1\n", False),
        ("kernels/scale.py", "return 1", "return 2", True),
        ("s3_scale.py", "Scale it", "Scale it well", True),
        ("s3_scale.py", "nothing yet", "something", True),
        ("s3_scale.py", '"scale", "Scale', '"scaled", "Scale', False),
        ("kernels/scale.py", "def helper(x):", "def helper(x:", False),
    ],
)
def test_a_number_is_stale_when_what_it_stands_on_changed(root, file, old, new, stands):
    ran = Outcome(
        section=3, step="scale", mode="live", behind=source.behind("demos.s3_scale", "scale", root)
    )
    assert source.Standing(root)(3, ran)
    edit(root / "demos" / file, old, new)
    assert source.Standing(root)(3, ran) is stands


def test_an_unknown_section_names_those_there_are(root):
    assert source.section_module(3, root) == "demos.s3_scale"
    with pytest.raises(TalkError, match=r"no section 9\. Sections: 3"):
        source.section_module(9, root)
