"""The exercises, one for each section, and the challenges.

`<slug>.py` is what an attendee gets, `solutions/<slug>.py` an answer, and `wrong/<slug>/` has
answers that are wrong, each with the cause that the grader must name.
"""

from demos.exercises.answers import OCCUPANCIES, WALLS
from talk import Lesson

LESSONS = (
    Lesson(
        number=1,
        slug="ragged",
        title="A length that is no multiple of the block",
        task="Write add_kernel, so that add(x, y) is x + y at any length.",
        entry="add",
        kernels=("add_kernel",),
        case="demos.cases.exercises:RAGGED",
        sizes=({"name": "length 1,000: no multiple of the block", "n": 1000},),
        hints=(
            "Look at double_kernel: its first three lines are about numbers alone, not about x. "
            "They are the same here.",
            "A program has BLOCK elements from program_id · BLOCK on. The last one has some that "
            "do not exist: both loads and the store need to be told which.",
            "i = first + tl.arange(0, BLOCK), inside = i < n; then tl.load(x_ptr + i, inside), "
            "and the store takes `inside` as its third argument.",
        ),
    ),
    Lesson(
        number=2,
        slug="starved",
        title="Feed a starved kernel",
        task="Give each program of add enough loads that do not wait for one another. "
        "It stays one program for each multiprocessor.",
        entry="add",
        kernels=("add_kernel",),
        case="demos.cases.exercises:STARVED",
        sizes=(
            {
                "name": "length 40,000: several blocks for each program",
                "n": 40_000,
            },
        ),
        in_flight=True,
        hints=(
            "The kernel is right. Look at the first line of add: how many bytes does one program "
            "ask for before it waits?",
            "132 programs, as on an H200, × 2 arrays × 64 elements × 4 bytes are 0.07 MB under way. "
            "A memory of 4 TB/s that answers after 0.35 µs wants 1.4 MB.",
            "A block some 20 times as large is the least; twice that leaves room for the stores. "
            "More elements want more lanes: 8 each, so num_warps is block / 256.",
        ),
    ),
    Lesson(
        number=3,
        slug="occupancy",
        title="Compute an occupancy",
        task="Write occupancy: the share of a multiprocessor's warps that a kernel keeps.",
        entry="occupancy",
        kind="function",
        checks=OCCUPANCIES,
        hints=(
            "There are four limits. by_warps and by_shared are two of them, and gpu['programs'] "
            "is the third.",
            "A warp has 32 threads, and its registers are rounded up to REGISTER_UNIT. The warps "
            "that fit are rounded down to SCHEDULERS; only then count programs.",
            "fit = gpu['registers'] // a_warp // SCHEDULERS * SCHEDULERS, and the programs are "
            "min(fit // warps, …): their warps over gpu['warps'].",
        ),
    ),
    Lesson(
        number=4,
        slug="roofline",
        title="Say which wall, before you run",
        task="Write wall: what a kernel waits for, launch, memory or arithmetic.",
        entry="wall",
        kind="function",
        checks=WALLS,
        hints=(
            "All three are times. Which two have to be computed first, and from what?",
            "Bytes over bytes a second are seconds, and so are operations over operations a "
            "second. The launch is in seconds already.",
            "Put the three into a dict by name; max(seconds, key=seconds.get) is the name of the "
            "longest.",
        ),
    ),
    Lesson(
        number=5,
        slug="strided",
        title="Diagnose a strided kernel, then mend it",
        task="Let neighbouring lanes of weigh_kernel read neighbouring elements.",
        entry="weigh",
        kernels=("weigh_kernel",),
        case="demos.cases.exercises:STRIDED",
        slips="demos.cases.slips:STRIDED",
        sizes=({"name": "48 rows of 70 columns", "rows": 48, "cols": 70},),
        coalesced=True,
        hints=(
            "Rows lie one after the other in memory. Lane 0 has row 0 of a column, lane 1 row 1: "
            "how far apart are these in bytes? sectors(cols) says what that costs.",
            "Let lanes run along the columns, as in scale_kernel. Then a program has a row, and "
            "its weights are as many as its lanes.",
            "row is the program's number and col = tl.arange(0, BLOCK); the mask and the block "
            "are about cols, the grid about rows, and weight is loaded at weight_ptr + col.",
        ),
    ),
    Lesson(
        number=6,
        slug="tiles",
        title="The inner loop of a tiled product",
        task="Write the loop of matmul_kernel, so that matmul(a, b) is a @ b.",
        entry="matmul",
        kernels=("matmul_kernel",),
        case="demos.cases.exercises:TILES",
        sizes=(
            {
                "name": "150 × 50 by 50 × 140: no multiple of a tile",
                "m": 150,
                "n": 140,
                "k": 50,
            },
        ),
        # Masked along the depth, and not tuned: section 6 shows what a larger tile gains.
        least_share=0.4,
        hints=(
            "Two loads, each with a mask, and a tl.dot. Write down the shape of each tile first: "
            "which of row, col and done + k runs down, which runs across?",
            "In a, done + k runs across: (done + k)[None, :]. In b it runs down. Where it is "
            "depth or more, both tiles must be 0: what is there would be added.",
            "a = tl.load(a_ptr + row * a_row + across * a_k, mask, other=0.0), and b alike with "
            "down * b_k + col * b_col; the result of tl.dot is the new total.",
        ),
    ),
    Lesson(
        number=7,
        slug="softmax",
        title="A whole kernel from an empty body",
        task="Write softmax_kernel: the softmax of a row, for any columns and any logits.",
        entry="softmax",
        kernels=("softmax_kernel",),
        case="demos.cases.exercises:SOFTMAX",
        slips="demos.cases.slips:SOFTMAX",
        sizes=(
            {
                "name": "5 rows of 33 columns: no power of two",
                "rows": 5,
                "cols": 33,
            },
        ),
        hints=(
            "Begin as row_max_kernel does: a row for each program, a mask, a load with `other`, "
            "in float32 from then on.",
            "Lanes beyond the row must be no maximum, and add nothing to the sum of exp(x - max). "
            "There is one value of `other` that does both.",
            "raised = tl.exp(x - tl.max(x, axis=0)); what is stored is raised over its sum. "
            "x is read `stride` apart, and out is written `cols` apart.",
        ),
    ),
    Lesson(
        number=8,
        slug="residual",
        title="Residual add and LayerNorm in one kernel",
        task="Write residual_norm_kernel: the LayerNorm of x + residual.",
        entry="residual_norm",
        kernels=("residual_norm_kernel",),
        case="demos.cases.exercises:RESIDUAL",
        sizes=(
            {
                "name": "4 rows of 100 columns: no power of two",
                "rows": 4,
                "cols": 100,
            },
        ),
        hints=(
            "centre_kernel has the mean, rms_norm_kernel the scale. Both matrices have strides of "
            "their own, out has rows of cols.",
            "The mean is over cols elements. After the mean is subtracted, a lane beyond the row "
            "holds -mean, not 0: it must be no part of the variance.",
            "centred = tl.where(inside, total - mean, 0.0); the variance is the sum of its "
            "squares / cols, and tl.rsqrt(variance + epsilon) scales it.",
        ),
    ),
    Lesson(
        number=9,
        slug="multiply_add",
        title="Challenge: a fused multiply-add",
        task="Write multiply_add_kernel: x · y + z, one trip, one instruction.",
        entry="multiply_add",
        kernels=("multiply_add_kernel",),
        case="demos.cases.exercises:MULTIPLY_ADD",
        sizes=({"name": "length 1,000: no multiple of the block", "n": 1000},),
        instruction="fma.rn",
        hints=(
            "It is multiply_kernel with one array more.",
            "Three loads, one store, four times `inside`. In between stands what "
            "square_add_kernel does.",
            "tl.fma takes three arguments: two to multiply, and one to add.",
        ),
    ),
    Lesson(
        number=10,
        slug="layer_norm",
        title="Challenge: LayerNorm, forward and backward",
        task="Write slope_kernel and sums_kernel: dx, and dweight and dbias.",
        entry="layer_norm",
        kernels=("slope_kernel", "sums_kernel"),
        case="demos.cases.exercises:LAYER_NORM",
        slips="demos.cases.slips:LAYER_NORM",
        sizes=(
            {
                "name": "5 rows of 40 columns: no power of two",
                "rows": 5,
                "cols": 40,
            },
        ),
        # Eight moves where five must be, and the sums have few programs.
        least_share=0.25,
        hints=(
            "slope_kernel begins as forward_kernel does, with grad as one load more. sums_kernel "
            "has tiles: rows down, columns across, in a loop as in exercise 6.",
            "dx subtracts two means over cols: of pull, and of pull · scaled. Where pull is 0 "
            "beyond the row, neither of them sees it.",
            "Before the loop, dweight and dbias are tl.zeros((BLOCK,), tl.float32). In it, each "
            "adds a tl.sum(…, axis=0) of a tile; after it, both are stored under col < cols.",
        ),
    ),
    Lesson(
        number=11,
        slug="attention",
        title="Challenge: Flash Attention",
        task="Write attention_kernel: softmax(q @ k.T · scale) @ v, a tile of scores at a time.",
        entry="attention",
        kernels=("attention_kernel",),
        case="demos.cases.exercises:ATTENTION",
        slips="demos.cases.slips:ATTENTION",
        sizes=(
            {
                "name": "70 queries of 70 keys: no multiple of a tile",
                "count": 2,
                "queries": 70,
                "keys": 70,
                "width": 32,
                "causal": 0,
            },
        ),
        # Of the tensor cores' arithmetic, for a kernel without its tuning.
        least_share=0.25,
        hints=(
            "It is average_kernel with BLOCK_M queries at once, and with x computed on the way: "
            "a tl.dot of q and the transposed k. rows_of loads all three.",
            "top and total become columns, (BLOCK_M, 1), reduced along axis 1. A score of a key "
            "that does not exist, or may not be seen, is -inf before the maximum is taken.",
            "A new top shrinks both total and sums by tl.exp(before - top). At the end out is "
            "sums / total; where total is 0, there was no key.",
        ),
    ),
)
"""In the order of the sections, then the challenges."""
