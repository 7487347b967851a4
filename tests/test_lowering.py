"""Real compiles for GPUs that are not here: the forms, their line maps, what they cost, why not.

A process takes 2 s to start, so each of the fixtures asks one process for much.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from talk.gpu.linemap import Home, Row, assembly, home, llvm, mlir, sass, without_paths
from talk.gpu.lowering import Request, lower_apart
from talk.gpu.reasons import ended, reason
from talk.gpu.targets import TARGETS
from talk.source import ROOT, parse
from talk.wire import dumps, from_plain

KERNELS = "tests.lowering_kernels"
THREE = ("sm_80", "sm_90", "gfx942")
LAUNCHED = (
    "aligned",
    "odd length",
    "by 16 bytes",
    "by 4 bytes",
    "shares",
    "tuned",
    "tiles",
    "wide",
)


def apart(function, targets=("sm_90",), inputs="pair", **more):
    return lower_apart(
        Request(module=KERNELS, function=function, inputs=inputs, targets=targets, **more)
    )


@pytest.fixture(scope="module")
def compiled():
    """(what was launched, target) → its lowering. Asked from a process that interprets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        found = apart("everything", THREE)
    keys = [(what, target) for target in THREE for what in LAUNCHED]
    return dict(zip(keys, found, strict=True))


@pytest.fixture(scope="module")
def refused():
    return [one.failure for one in apart("nothing_compiles", ("sm_90", "sm_9"))]


def stage(lowering, name):
    return next(stage for stage in lowering.stages if stage.name == name)


def count(lowering, form, family):
    counts = lowering.counts[form]
    return sum(n for name, n in counts.items() if re.match(rf"{family}(\.|_|$)", name))


def kernel_lines(name):
    return parse(ROOT, KERNELS).code(name).text.splitlines()


def behind(lowering, form, pattern, kernel):
    """The kernel's lines behind those lines of a form that match."""
    found, source = stage(lowering, form), kernel_lines(kernel)
    lines = dict(found.lines)
    numbers = [n for n, text in enumerate(found.text.splitlines(), 1) if re.search(pattern, text)]
    assert numbers, f"nothing matches {pattern}"
    return [source[lines[n] - 1].strip() for n in numbers]


# Forms and what they cost


@pytest.mark.parametrize("target", THREE)
def test_every_form_of_a_kernel_is_there(compiled, target):
    last = ("amdgcn",) if target == "gfx942" else ("ptx", "sass")
    found = compiled["aligned", target]
    assert tuple(s.name for s in found.stages) == ("ttir", "ttgir", "llir", *last)
    assert all(s.text and s.lines for s in found.stages)
    assert (found.candidate, found.kernel, found.num_warps) == ("everything", "add_kernel", 4)
    assert found.fits and not found.failure
    assert 0 < found.registers < 64 and found.spills == 0 and found.shared == 0


def test_aligned_memory_is_read_four_elements_at_a_time(compiled):
    found = compiled["aligned", "sm_90"]
    # 1024 elements, 128 threads: two groups of four for each of two inputs.
    assert count(found, "ptx", "ld.global.v4") == 4 and count(found, "ptx", "st.global.v4") == 2
    assert count(compiled["aligned", "sm_80"], "sass", "LDG.E.128") == 4
    assert count(compiled["aligned", "gfx942"], "amdgcn", "buffer_load_dwordx4") == 2


@pytest.mark.parametrize("what", ["odd length", "by 4 bytes"])
def test_a_length_or_a_pointer_off_16_makes_scalar_loads(compiled, what):
    found = compiled[what, "sm_90"]
    aligned_pointers = stage(found, "ttir").text.count("!tt.ptr<f32> {tt.divisibility = 16")
    assert aligned_pointers == (3 if what == "odd length" else 1)  # the output is always aligned
    assert count(found, "ptx", "ld.global.v4") == 0 and found.counts["ptx"]["ld.global.b32"] == 16


def test_a_view_16_bytes_further_is_still_aligned(compiled):
    assert count(compiled["by 16 bytes", "sm_90"], "ptx", "ld.global.v4") > 0


def test_the_first_configuration_is_taken_and_heuristics_run(compiled):
    found = compiled["tuned", "sm_90"]
    assert found.num_warps == 8
    assert "128.0" in stage(found, "ttir").text or "1.280000e+02" in stage(found, "ttir").text


@pytest.mark.parametrize("target", THREE)
def test_too_much_shared_memory_does_not_fit(compiled, target):
    found = compiled["tiles", target]
    assert not found.fits and not found.failure
    assert found.shared > found.shared_limit == TARGETS[target].shared_limit


def test_more_threads_than_a_program_may_have_is_said(compiled):
    assert compiled["wide", "sm_90"].failure == (
        "2,048 threads a program; sm_90 starts at most 1,024."
    )


def test_no_path_of_this_machine_is_left(compiled):
    for lowering in compiled.values():
        for form in lowering.stages:
            assert not re.search(r"(?<![\w/*.])/\w+/\w", form.text), form.name
            assert ".py" not in form.text and ".debug" not in form.text


def test_a_lowering_survives_the_wire(compiled):
    found = compiled["shares", "sm_80"]
    assert from_plain(type(found), json.loads(dumps(found))) == found


# Line maps


@pytest.mark.parametrize("what", ["aligned", "odd length"])
@pytest.mark.parametrize(
    ("target", "form", "load", "store"),
    [
        ("sm_80", "ptx", r"\bld\.global", r"\bst\.global"),
        ("sm_90", "ptx", r"\bld\.global", r"\bst\.global"),
        ("sm_90", "sass", r"\bLDG\b", r"\bSTG\b"),
        ("sm_90", "ttir", r"= tt\.load", r" tt\.store"),
        ("sm_90", "ttgir", r"= tt\.load", r" tt\.store"),
        ("sm_90", "llir", r"@\S+ ld\.global", r"@\S+ st\.global"),
        ("gfx942", "amdgcn", r"buffer_load", r"buffer_store"),
    ],
)
def test_memory_instructions_come_from_the_line_that_loads_or_stores(
    compiled, what, target, form, load, store
):
    found = compiled[what, target]
    loads = behind(found, form, load, "add_kernel")
    assert set(loads) == {
        "x = tl.load(x_ptr + at, inside)",
        "y = tl.load(y_ptr + at, inside)",
    }
    assert loads.count(loads[0]) * 2 == len(loads)
    stores = behind(found, form, store, "add_kernel")
    assert set(stores) == {"tl.store(out_ptr + at, x + y, inside)"}


@pytest.mark.parametrize("form", ["ptx", "sass"])
def test_nearly_every_instruction_has_a_line(compiled, form):
    lowering = compiled["shares", "sm_90"]
    found = stage(lowering, form)
    assert len(found.lines) >= 0.97 * sum(lowering.counts[form].values())


def test_inlined_code_counts_for_the_line_that_calls(compiled):
    found = compiled["shares", "sm_90"]
    source = kernel_lines("shares_kernel")
    for form in found.stages:
        assert {line for _, line in form.lines} <= set(range(1, len(source) + 1))
    # Both sums end up in shared memory twice: the helper's, and the kernel's own.
    lines = behind(found, "ptx", r"\bst\.shared", "shares_kernel")
    assert set(lines) == {"share = x / doubled_sum(x)", source[-1].strip()}


def test_lines_count_from_the_first_decorator(compiled):
    lines = behind(compiled["tuned", "sm_80"], "ptx", r"\bld\.global", "tuned_kernel")
    assert lines == ["tl.store(out_ptr + at, tl.load(x_ptr + at, at < n) + HALF, at < n)"]


def test_a_copy_of_the_kernel_keeps_its_lines(compiled, tmp_path, monkeypatch):
    """The compile cache answers for the copy, with locations that name the first file."""
    shutil.copy(Path(__file__).with_name("lowering_kernels.py"), tmp_path / "copied_kernels.py")
    monkeypatch.syspath_prepend(tmp_path)
    request = Request(
        module="copied_kernels", function="add", inputs="pair", targets=("sm_90",), size={"n": 1024}
    )
    (copy,) = lower_apart(request)
    assert copy.stages == compiled["aligned", "sm_90"].stages


INLINE_ASM = """\
\t.loc\t1 8 4                          // k.py:8:4
\tadd.s64 %rd1, %rd2, %rd3;
\t// begin inline asm
\t.loc\t1 9 9                          // k.py:9:9
\tmov.u32 %r1, 0x0;
\t.loc\t1 10 9                         // k.py:10:9
\t@%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];
\t// end inline asm
\tmov.u32 %r2, %r1;
\t.loc\t2 30 1, function_name $L__info_string0, inlined_at 1 11 3 // library.py:30:1
\tadd.f32 %f1, %f2, %f3;
\t.loc\t2 40 1, function_name $L__info_string1, inlined_at 2 30 1 // library.py:40:1
\tmul.f32 %f1, %f2, %f3;
\t.loc\t2 9 1                          // library.py:9:1
\tneg.f32 %f1, %f2;
\t.file\t1 "/somewhere/k.py"
\t.file\t2 "/elsewhere/library.py"
\t.section\t.debug_abbrev
.b8 1
"""


def test_inline_assembly_has_one_line_and_callers_are_followed():
    rows = assembly(INLINE_ASM, "ptx", Home("k.py", 8, 11))
    assert [row.line for row in rows if row.text.endswith(";")] == [1, 2, 2, 2, 4, 4, None]
    assert not any(".loc" in row.text or "debug" in row.text for row in rows)


def test_sass_takes_its_lines_from_the_ptx():
    text = """\
\t.headerflags\t@"EF"
//--------------------- .text.k --------------------------
\t.section\t.text.k,"ax",@progbits
\t//## File ".nv_debug_ptx_txt", line 2
        /*0000*/              @!P0 LDG.E R0, [R2] ;
        /*0010*/                   NOP;
\t.section\t.nv.info,"",@"SHT_CUDA_INFO"
"""
    assert [row.line for row in sass(text, [Row("", None), Row("", 1)])] == [None, 1, None]


def test_mlir_locations_are_read_and_removed():
    text = """\
#loc = loc("/a/k.py":5:0)
module {
  tt.func public @k(%x: !tt.ptr<f32> loc("x"(#loc))) {
    %0 = tt.load %x : f32 loc(#loc3)
    %1 = math.exp %0 : f32 loc(callsite(#loc2 at #loc3))
    tt.return loc(#loc4)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("/a/k.py":6:4)
#loc2 = loc("/lib/math.py":6:4)
#loc3 = loc("x"(#loc1))
#loc4 = loc(unknown)
"""
    at = home(text, 4, 7)
    assert at == Home("k.py", 4, 7)
    rows = mlir(text, at)
    assert [row.line for row in rows] == [None, 2, 3, 3, None, 2, 2]
    assert "loc" not in "".join(row.text for row in rows)


def test_llvm_locations_end_at_the_outermost_caller():
    text = """\
define void @k() !dbg !4 {
  %1 = load i32, ptr %0, !dbg !6
  %2 = add i32 %1, %1, !dbg !8
  ret void
}
!1 = !DIFile(filename: "k.py", directory: "/a")
!2 = !DIFile(filename: "library.py", directory: "/lib")
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 5)
!5 = distinct !DILexicalBlockFile(scope: !4, file: !2, discriminator: 0)
!6 = !DILocation(line: 6, column: 4, scope: !4)
!8 = !DILocation(line: 99, column: 1, scope: !5, inlinedAt: !6)
"""
    rows = llvm(text, Home("k.py", 4, 7))
    assert [row.line for row in rows] == [None, 3, 3, None, None]
    assert rows[1].text == "  %1 = load i32, ptr %0"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("at /home/me/a b/k.py:3", "at a b/k.py:3"),
        ("/opt/x/ptxas -v", "ptxas -v"),
        ("/*0000*/ LDG // k.py:3", "/*0000*/ LDG // k.py:3"),
        ("1/2 GB/s", "1/2 GB/s"),
    ],
)
def test_paths_are_cut_to_names(text, left):
    assert without_paths(text) == left


# What goes wrong


def test_a_block_that_is_no_power_of_two(refused):
    assert refused[0] == (
        "add_kernel does not compile for sm_90: arange's range must be a power of 2, "
        "in `at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)`."
    )


def test_a_plain_global_is_named(refused):
    assert "Cannot access global variable PLAIN_GLOBAL" in refused[1]
    assert "constexpr" in refused[1]


def test_a_dot_too_small_for_the_hardware(refused):
    assert re.search(r"K >= 16.*`total = tl\.dot", refused[2])


def test_the_reason_inside_a_helper_is_found(refused):
    assert refused[3].endswith("power of 2, in `return tl.arange(0, BLOCK)`.")


def test_options_the_backend_refuses(refused):
    assert "num_warps must be a power of 2" in refused[4]
    assert "num_wraps was specified but unrecognised" in refused[5]


def test_one_failure_does_not_spoil_the_next_kernel(refused):
    assert refused[6] == ""


def test_an_unknown_target_is_named_with_the_known(refused):
    assert refused[7:] == [f"no target 'sm_9': there is {', '.join(TARGETS)}."]


def test_a_process_that_aborts_is_a_sentence():
    first, second = apart("add", ("sm_90", "gfx942"), inputs="aborting_pair")
    assert first.failure == "No answer for sm_90: the compiling process was ended by SIGABRT."
    assert second.target == "gfx942" and second.failure
    assert not first.fits


def test_a_process_that_aborts_takes_one_target_and_no_other_along():
    targets = ("sm_90", "sm_80", "sm_86", "gfx942")
    found = apart("adds_but_aborts_for_sm_80", targets)
    assert tuple(one.target for one in found) == targets
    assert [bool(one.stages) for one in found] == [True, False, True, True]
    assert found[1].failure == ("No answer for sm_80: the compiling process was ended by SIGABRT.")


def test_a_process_that_takes_too_long_is_a_sentence_and_the_next_request_is_answered():
    (late,) = apart("add", inputs="hanging_pair", timeout_s=0.5)
    assert late.failure == "No answer for sm_90: it took more than 0.5 s."
    (next_one,) = apart("add")
    assert next_one.stages and not next_one.failure


def test_a_step_lowers_every_candidate_or_says_why_not():
    """At the case's own size: 1 GiB a tensor, on the meta device."""
    request = Request(module=KERNELS, step="trace", targets=("sm_90", "sm_9"))
    found = {(one.target, one.candidate): one for one in lower_apart(request)}
    assert len(found) == 8
    assert found["sm_90", "triton"].fits and found["sm_90", "triton"].kernel == "add_kernel"
    assert {one.failure for (target, _), one in found.items() if target == "sm_90"} == {
        "",
        "torch launches no Triton kernel.",
        "short did not launch: TypeError: missing a required argument: 'BLOCK'.",
        "refuses did not launch: 268435456 elements are too many.",
    }
    assert found["sm_9", "triton"].failure.startswith("no target 'sm_9': there is sm_75, sm_80")


def test_a_name_that_is_not_there_is_a_sentence():
    (one,) = apart("no.such")
    assert one.failure.endswith("has no attribute 'no'.")


def test_native_reasons_are_heard():
    heard = "k.py:7:0: error: unsupported target: 'gfx123'\n#blocked = …\nk.py:7:0: error: Failures"
    assert reason(RuntimeError("PassManager::run failed"), heard) == "unsupported target: 'gfx123'."
    assert reason(RuntimeError("PassManager::run failed")) == "PassManager::run failed."
    assert ended(-6, "LLVM ERROR: Cannot select: x\nStack dump:\n") == (
        "the compiling process was ended by SIGABRT: Cannot select: x"
    )
    assert ended(1, "Traceback\n\nout of patience\n") == (
        "the compiling process ended with exit code 1: out of patience"
    )


def test_ptxas_is_quoted_without_its_command():
    class PTXASError(Exception):
        error_message = (
            "Internal Triton PTX codegen error\n`ptxas` stderr:\n"
            "ptxas fatal   : Value 'sm_99a' is not defined for option 'gpu-name'\n\n"
            "Repro command: /somewhere/bin/ptxas -lineinfo /tmp/x.ptx\n"
        )

    assert reason(PTXASError()) == "Value 'sm_99a' is not defined for option 'gpu-name'."
