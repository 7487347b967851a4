"""What one commonly believes of a GPU, as multiple choice. Standard library only.

No answer is written down here: each follows from what was measured. On a GPU with other numbers
another choice is right, and where the numbers say nothing the question is not asked.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Belief:
    """One question.

    answer, says: templates over references (`talk.sentence`). The first renders the number of
    the right choice, from 1, or nothing where the figures do not settle it; the second explains.
    believes: what the usual wrong answer takes for granted.
    """

    section: int
    slug: str
    title: str
    choices: tuple[str, ...]
    answer: str
    says: str
    believes: str


BELIEFS = (
    Belief(
        section=1,
        slug="first-call",
        title="The first call of a kernel is timed with care. Is that the kernel's time?",
        choices=(
            "Yes: over half of it is the kernel at work",
            "In part: the kernel takes a tenth to a half of it",
            "No: nearly all of it is something else",
        ),
        answer="{% if n('stopwatches[first call].short_kernel') / "
        "n('stopwatches[events].short_kernel') < 2 %}1"
        "{% elif n('stopwatches[first call].short_kernel') / "
        "n('stopwatches[events].short_kernel') < 10 %}2{% else %}3{% endif %}",
        says="The first call of a short kernel took "
        "{{ n('stopwatches[first call].short_kernel') }}, the kernel alone "
        "{{ n('stopwatches[events].short_kernel') }}. The rest is mostly the compiler, and is "
        "paid once.",
        believes="The first run is as good as any.",
    ),
    Belief(
        section=1,
        slug="synchronise",
        title="A clock around the call, with a synchronise before it stops: is a short kernel "
        "timed right?",
        choices=(
            "Yes, to within a fifth",
            "It reads up to twice the kernel's time",
            "It reads more than twice the kernel's time",
        ),
        answer="{% if n('stopwatches[synchronise].short_kernel') / "
        "n('stopwatches[events].short_kernel') < 1.2 %}1"
        "{% elif n('stopwatches[synchronise].short_kernel') / "
        "n('stopwatches[events].short_kernel') < 2 %}2{% else %}3{% endif %}",
        says="The clock read {{ n('stopwatches[synchronise].short_kernel') }}, events around the "
        "kernel {{ n('stopwatches[events].short_kernel') }}: the launch and the wait are in the "
        "first.",
        believes="Once it synchronises, a clock times the kernel.",
    ),
    Belief(
        section=1,
        slug="free-relu",
        title="x + y, and then torch.relu of it: what does the ReLU cost, in time?",
        choices=(
            "Next to nothing: a comparison is cheap",
            "Between a tenth and a third of the add",
            "Over a third of the add",
        ),
        answer="{% if n('fused[torch].time') / n('block[torch].time') < 1.1 %}1"
        "{% elif n('fused[torch].time') / n('block[torch].time') < 1.33 %}2{% else %}3{% endif %}",
        says="Both operations take {{ n('fused[torch].time') / n('block[torch].time') }} the time "
        "of torch's add alone. The ReLU reads and writes a whole array; in one kernel with the "
        "add, both take {{ n('fused[fused].time') / n('block[torch].time') }}.",
        believes="What counts is the arithmetic.",
    ),
    Belief(
        section=2,
        slug="more-flops",
        title="A kernel does 16 times the arithmetic on each element it loads. Is it slower?",
        choices=(
            "No, or hardly",
            "Yes, but less than 8 times",
            "Yes, 8 times or more",
        ),
        answer="{% if n('arithmetic[16].time') / n('arithmetic[1].time') < 1.1 %}1"
        "{% elif n('arithmetic[16].time') / n('arithmetic[1].time') < 8 %}2{% else %}3{% endif %}",
        says="16 times the arithmetic took "
        "{{ n('arithmetic[16].time') / n('arithmetic[1].time') }} the time; 1,024 times took "
        "{{ n('arithmetic[1024].time') / n('arithmetic[1].time') }}. "
        "{% if n('arithmetic[triton].edge') > 1 %}Up to {{ n('arithmetic[triton].edge') }} "
        "multiply-adds an element, memory takes longer.{% else %}Here arithmetic is the wall "
        "from the start.{% endif %}",
        believes="More operations, more time.",
    ),
    Belief(
        section=2,
        slug="few-programs",
        title="132 programs of 1,024 elements at a time: what share of the bandwidth do they use?",
        choices=("Under a third", "A third to 80 %", "Over 80 %"),
        answer="{% if n('programs[132].share') < 0.3333 %}1"
        "{% elif n('programs[132].share') < 0.8 %}2{% else %}3{% endif %}",
        says="132 programs reached {{ n('programs[132].gbps') }}, {{ n('programs[132].share') }} "
        "of the ceiling, on {{ n('machine/device.sms') }} multiprocessors. It takes as many loads "
        "under way as bandwidth × latency: "
        "{{ n('machine/bandwidth[2:1].gbps') * n('machine/latency.time') }}.",
        believes="A program on each multiprocessor keeps the GPU busy.",
    ),
    Belief(
        section=2,
        slug="larger-pieces",
        title="132 programs and no more, with blocks of 4,096 in place of 256. The bandwidth?",
        choices=(
            "As before: as many programs are at work",
            "Higher: more loads are under way",
            "Lower: a large block takes longer",
        ),
        answer="{% if n('in-flight[132, 4096].gbps') / n('in-flight[132, 256].gbps') > 1.1 %}2"
        "{% elif n('in-flight[132, 4096].gbps') / n('in-flight[132, 256].gbps') > 0.9 %}1"
        "{% else %}3{% endif %}",
        says="{{ n('in-flight[132, 256].gbps') }} with blocks of 256, "
        "{{ n('in-flight[132, 4096].gbps') }} with 4,096: "
        "{{ n('in-flight[132, 4096].gbps') / n('in-flight[132, 256].gbps') }}.",
        believes="Parallel work is the number of programs.",
    ),
    Belief(
        section=3,
        slug="block-threads",
        title="A block of 256 elements, launched on one warp of 32 threads. What happens?",
        choices=(
            "32 elements are added, the rest are left out",
            "All are added, at less than 80 % of the speed that four warps give",
            "All are added, about as fast as on four warps, or faster",
        ),
        answer="{% if n('warps[1, 256].gbps') / n('warps[4, 256].gbps') < 0.8 %}2"
        "{% else %}3{% endif %}",
        says="Checked against the reference, then timed: {{ n('warps[1, 256].gbps') }} on one "
        "warp, {{ n('warps[4, 256].gbps') }} on four. A block is not its threads: each of 32 "
        "lanes holds eight of the elements.",
        believes="A block of 256 is 256 threads.",
    ),
    Belief(
        section=3,
        slug="occupancy",
        title="Two launches of one kernel; the second has the higher occupancy. Which is faster?",
        choices=(
            "The second: occupancy is what counts",
            "The first can be: it was, here",
            "Neither: they were alike here",
        ),
        answer="{% if n('warps[16, 256].occupancy') > n('warps[1, 256].occupancy') %}"
        "{% if tie(n('warps[16, 256].gbps'), n('warps[1, 256].gbps')) %}3"
        "{% elif n('warps[16, 256].gbps') < n('warps[1, 256].gbps') %}2{% else %}1{% endif %}"
        "{% endif %}",
        says="Blocks of 256: {{ n('warps[1, 256].gbps') }} at "
        "{{ n('warps[1, 256].occupancy') }} occupancy, {{ n('warps[16, 256].gbps') }} at "
        "{{ n('warps[16, 256].occupancy') }}. Occupancy is warps at hand; what hides latency is "
        "the bytes they have under way.",
        believes="Higher occupancy, faster.",
    ),
    Belief(
        section=3,
        slug="above-memory",
        title="The same 16 MiB, read over and over: how many times the GB/s of a set of 1 GiB?",
        choices=("As many, or nearly: bytes are bytes", "1.2 to 2 times", "Over twice"),
        answer="{% if n('hierarchy[16384].gbps') / n('hierarchy[1048576].gbps') < 1.2 %}1"
        "{% elif n('hierarchy[16384].gbps') / n('hierarchy[1048576].gbps') < 2 %}2"
        "{% else %}3{% endif %}",
        says="{{ n('hierarchy[16384].gbps') }} from 16 MiB, {{ n('hierarchy[1048576].gbps') }} "
        "from 1 GiB. {% if n('hierarchy[16384].gbps') / n('hierarchy[1048576].gbps') > 1.2 %}The "
        "first never left a cache: a rate above memory's ceiling is no record, it is a cache."
        "{% else %}No cache of this GPU holds the set.{% endif %}",
        believes="A bandwidth is a property of the GPU.",
    ),
    Belief(
        section=4,
        slug="short-vector",
        title="The good add on 4,096 elements: what is its wall?",
        choices=("Memory: it is an add", "Arithmetic", "The launch"),
        answer="{% if n('tiny[triton].time') / n('machine/launch.time') < 5 %}3"
        "{% elif n('tiny[triton].intensity') < n('machine/ridge[fp32].intensity') %}1"
        "{% else %}2{% endif %}",
        says="It took {{ n('tiny[triton].time') }}; a kernel that does nothing takes "
        "{{ n('machine/launch.time') }} here.",
        believes="A kernel is memory-bound or compute-bound.",
    ),
    Belief(
        section=4,
        slug="bound-is-busy",
        title="By intensity the baseline is memory-bound. What share of the bandwidth does it use?",
        choices=("Over 80 %, or it would not be bound", "5 to 80 %", "Under 5 %"),
        answer="{% if n('baseline[naive].intensity') < n('machine/ridge[fp32].intensity') %}"
        "{% if n('baseline[naive].share') > 0.8 %}1"
        "{% elif n('baseline[naive].share') > 0.05 %}2{% else %}3{% endif %}{% endif %}",
        says="{{ n('baseline[naive].intensity') }} is left of the ridge at "
        "{{ n('machine/ridge[fp32].intensity') }}, and it reaches {{ n('baseline[naive].share') }} "
        "of the bandwidth. The roof says what is possible, not what is used.",
        believes="Memory-bound means that memory is busy.",
    ),
    Belief(
        section=4,
        slug="product-side",
        title="A product of two 8,192 × 8,192 matrices moves three arrays, as an add does. Which "
        "side of the ridge?",
        choices=("Left: memory is its wall", "Right: arithmetic is its wall"),
        answer="{% if n('others[a · b, triton].intensity') < n('machine/ridge[bf16].intensity') %}1"
        "{% else %}2{% endif %}",
        says="{{ n('others[a · b, triton].intensity') }}, with the ridge of the tensor cores at "
        "{{ n('machine/ridge[bf16].intensity') }}: every element that is read is needed thousands "
        "of times.",
        believes="Large arrays, so memory decides.",
    ),
    Belief(
        section=5,
        slug="empty-programs",
        title="Two million programs that do nothing, beside two million that add 128 elements "
        "each. The time?",
        choices=(
            "The empty ones take less than half",
            "The empty ones take half to nine tenths",
            "About the same",
        ),
        answer="{% if n('programs[128 elements].time') / n('programs[nothing].time') > 2 %}1"
        "{% elif n('programs[128 elements].time') / n('programs[nothing].time') > 1.11 %}2"
        "{% else %}3{% endif %}",
        says="{{ n('programs[nothing].time') }} and {{ n('programs[128 elements].time') }}. "
        "Starting a program takes time of its own: "
        "{{ n('programs[nothing].programs') / n('programs[nothing].time') }} start here, at most.",
        believes="What does nothing costs nothing.",
    ),
    Belief(
        section=5,
        slug="half-the-bits",
        title="A kernel reads and writes each element once. With 16 bits in place of 32, what is "
        "its time for as many elements?",
        choices=(
            "The same: it computes as much",
            "Half: half as many bytes",
            "A tenth: 16 bits run on tensor cores",
        ),
        # Twice the elements, so the same bytes, in the one time that both were measured.
        answer="{% if 0.99 < n('8/parts[relu(x), triton].bytes') / n('2/arithmetic[1].bytes') and "
        "n('8/parts[relu(x), triton].bytes') / n('2/arithmetic[1].bytes') < 1.01 %}"
        "{% if n('8/parts[relu(x), triton].time') / n('2/arithmetic[1].time') > 1.5 %}1"
        "{% elif n('8/parts[relu(x), triton].time') / n('2/arithmetic[1].time') > 0.5 %}2"
        "{% else %}3{% endif %}{% endif %}",
        says="A ReLU of 2^28 elements of 16 bits moved {{ n('8/parts[relu(x), triton].bytes') }} "
        "in {{ n('8/parts[relu(x), triton].time') }}; a multiply-add of half as many, of 32 bits, "
        "moved {{ n('2/arithmetic[1].bytes') }} in {{ n('2/arithmetic[1].time') }}: time follows "
        "bytes, so an element of half the bytes takes "
        "{{ n('8/parts[relu(x), triton].time') / n('2/arithmetic[1].time') / 2 }} the time.",
        believes="Fewer bits make the arithmetic faster.",
    ),
    Belief(
        section=6,
        slug="five-fast",
        title="Softmax in five fast operations moves four times the bytes it must. How many times "
        "the time of one kernel?",
        choices=("Less than 3", "3 to 5: as the bytes", "More than 5"),
        answer="{% if n('fused[naive].time') / n('fused[triton].time') < 3 %}1"
        "{% elif n('fused[naive].time') / n('fused[triton].time') < 5 %}2{% else %}3{% endif %}",
        says="{{ n('fused[naive].time') / n('fused[triton].time') }} the time, for "
        "{{ n('traffic[naive, total].bytes') / n('traffic[must move, total].bytes') }} the bytes. "
        "{% if n('fused[naive].time') / n('fused[triton].time') > 5 %}Not each of the five is at "
        "the ceiling for its own bytes.{% else %}The bytes explain it.{% endif %}",
        believes="A chain of fast operations is fast.",
    ),
    Belief(
        section=6,
        slug="larger-tiles",
        title="The tile of a matrix product is doubled, from 128 × 128 to 128 × 256. Its TFLOP/s?",
        choices=(
            "Twice, or nearly: over 1.5 times",
            "5 to 50 % more",
            "Within 5 %",
            "5 % less, or worse",
        ),
        answer="{% if n('tiles[128, 256].tflops') / n('tiles[128, 128].tflops') > 1.5 %}1"
        "{% elif n('tiles[128, 256].tflops') / n('tiles[128, 128].tflops') > 1.05 %}2"
        "{% elif n('tiles[128, 256].tflops') / n('tiles[128, 128].tflops') > 0.95 %}3"
        "{% else %}4{% endif %}",
        says="{{ n('tiles[128, 128].tflops') }} and {{ n('tiles[128, 256].tflops') }}; a tile of "
        "32 × 64 gave {{ n('tiles[32, 64].tflops') }}. More reuse helps until loading is no longer "
        "what it waits for.",
        believes="The larger the tile, the faster.",
    ),
    Belief(
        section=6,
        slug="grouping",
        title="Programs in groups that share the L2 cache, in place of row by row: what does it "
        "gain here?",
        choices=("It is faster", "A tie", "It is slower"),
        answer="{% if tie(n('grouped[in rows].time'), n('grouped[grouped].time')) %}2"
        "{% elif n('grouped[grouped].time') < n('grouped[in rows].time') %}1{% else %}3{% endif %}",
        says="{{ n('grouped[grouped].time') }} in groups, {{ n('grouped[in rows].time') }} in "
        "rows. A trick from a tutorial is a candidate, not a law: measure it on your sizes.",
        believes="What a tutorial recommends is faster.",
    ),
    Belief(
        section=7,
        slug="cuda-by-experts",
        title="PyTorch's add is CUDA written by experts, ours ten lines of Python. Who is faster?",
        choices=("PyTorch, by more than 5 %", "Neither, within 5 %", "Ours, by more than 5 %"),
        answer="{% if n('write[triton].time') / n('write[torch].time') > 1.05 %}1"
        "{% elif n('write[torch].time') / n('write[triton].time') > 1.05 %}3{% else %}2{% endif %}",
        says="{{ n('write[torch].time') }} and {{ n('write[triton].time') }}, ours at "
        "{{ n('write[triton].share') }} of the ceiling.",
        believes="Python is slow.",
    ),
    Belief(
        section=7,
        slug="why-fused",
        title="x · y + z is faster in one kernel than in two. Why?",
        choices=(
            "One instruction multiplies and adds: half the arithmetic",
            "The product makes no trip through memory",
            "One launch fewer",
        ),
        # Where the ratio is what bytes alone say, nothing is left for another reason.
        answer="{% if n('fused[two kernels].time') / n('fused[triton].time') > 1.1 and "
        "n('fused[two kernels].time') / n('fused[triton].time') / n('guess-fused.model') > 0.9 and "
        "n('fused[two kernels].time') / n('fused[triton].time') / n('guess-fused.model') < 1.1 %}2"
        "{% endif %}",
        says="Two kernels take {{ n('fused[two kernels].time') / n('fused[triton].time') }} as "
        "long; bytes alone say {{ n('guess-fused.model') }}, and leave nothing for another "
        "reason.",
        believes="Fewer instructions, less time.",
    ),
    Belief(
        section=7,
        slug="operator",
        title="A kernel is registered as an operation of PyTorch. What does that cost on a large "
        "tensor?",
        choices=("Under 5 %", "5 to 50 %", "More"),
        answer="{% if n('operator[operator].time') / n('operator[triton].time') < 1.05 %}1"
        "{% elif n('operator[operator].time') / n('operator[triton].time') < 1.5 %}2"
        "{% else %}3{% endif %}",
        says="{{ n('operator[operator].time') / n('operator[triton].time') }} the time of the bare "
        "kernel.",
        believes="A framework makes kernels slow.",
    ),
    Belief(
        section=8,
        slug="two-at-the-roof",
        title="Two kernels run one after the other, each near its ceiling. What can one kernel "
        "for both still gain?",
        choices=("Nothing: they are at the roof", "Up to 1.5 times", "Over 1.5 times"),
        answer="{% if n('parts[x + bias, triton].share') > 0.9 and "
        "n('parts[relu(x), triton].share') > 0.9 %}"
        "{% if n('relu[two kernels].time') / n('relu[triton].time') < 1.1 %}1"
        "{% elif n('relu[two kernels].time') / n('relu[triton].time') < 1.5 %}2{% else %}3"
        "{% endif %}{% endif %}",
        says="{{ n('parts[x + bias, triton].share') }} and {{ n('parts[relu(x), triton].share') }} "
        "of their ceiling. Together they take "
        "{{ n('relu[two kernels].time') / n('relu[triton].time') }} as long as one kernel for "
        "both: what saves time is fewer trips, not faster ones.",
        believes="Fast kernels make a fast program.",
    ),
    Belief(
        section=8,
        slug="compiler",
        title="torch.compile or a kernel by hand, for ReLU(x + bias): who is faster?",
        choices=(
            "The compiler, by more than 5 %",
            "Neither, within 5 %",
            "By hand, by more than 5 %",
        ),
        answer="{% if n('relu[triton].time') / n('relu[torch.compile].time') > 1.05 %}1"
        "{% elif n('relu[torch.compile].time') / n('relu[triton].time') > 1.05 %}3"
        "{% else %}2{% endif %}",
        says="{{ n('relu[torch.compile].time') }} and {{ n('relu[triton].time') }}; eager takes "
        "{{ n('relu[torch].time') }}. A chain of elementwise operations is what a compiler fuses "
        "best: write by hand what it cannot.",
        believes="By hand is always faster.",
    ),
    Belief(
        section=8,
        slug="same-bytes",
        title="GELU by erf and GELU by tanh move the same bytes, each in one kernel. Their times?",
        choices=("Alike, within a tenth: bytes decide", "erf takes longer", "tanh takes longer"),
        answer="{% if n('gelu[triton].time') / n('tanh[triton].time') > 1.1 %}2"
        "{% elif n('tanh[triton].time') / n('gelu[triton].time') > 1.1 %}3{% else %}1{% endif %}",
        says="{{ n('gelu[triton].time') }} by erf, {{ n('tanh[triton].time') }} by tanh, at "
        "{{ n('gelu[triton].share') }} and {{ n('tanh[triton].share') }} of the ceiling. "
        "{% if n('gelu[triton].share') < 0.9 %}Past the memory wall the next one is arithmetic."
        "{% else %}Memory is still the wall.{% endif %}",
        believes="What is elementwise is memory-bound.",
    ),
)
"""In the order of the talk."""
