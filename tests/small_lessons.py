"""Two small exercises, for tests of what grading does with code that goes wrong."""

from talk import Case, Lesson


def vectors(n):
    import torch

    return (torch.randn(n),)


def doubled(x):
    return 2 * x


DOUBLE = Case(
    name="2 · x",
    inputs=vectors,
    reference=doubled,
    size={"n": 1 << 20},
    small={"n": 100},
    bytes_moved=lambda x: 2 * x.nbytes,
)

HINTS = ("look", "closer", "almost")

LESSONS = (
    Lesson(
        number=1,
        slug="half",
        title="Half of a number",
        task="Write half.",
        entry="half",
        kind="function",
        checks=(((4,), 2.0, "of four"), ((3,), 1.5, "of three")),
        hints=HINTS,
    ),
    Lesson(
        number=2,
        slug="double",
        title="Twice a vector",
        task="Write double.",
        entry="double",
        kernels=("double_kernel",),
        case="tests.small_lessons:DOUBLE",
        sizes=({"name": "length 100", "n": 100},),
        targets=("sm_90",),
        hints=HINTS,
    ),
)
