# Every recipe is one plain command, so nothing here needs just: run the same line yourself.
# `set no-exit-message` needs just 1.39 or newer; `pip install rust-just` brings it.

# Words reach a command as "$@", untouched. PowerShell has no such thing and appends the recipe's
# name and words to the line instead: there a # swallows them.

set positional-arguments
set no-exit-message
set windows-shell := ["powershell.exe", "-NoLogo", "-NoProfile", "-Command"]

python := if os_family() == "windows" { ".venv/Scripts/python.exe" } else { ".venv/bin/python" }

[private]
[unix]
default:
    @{{ quote(just_executable()) }} --list --unsorted

[private]
[windows]
default:
    @& "{{ just_executable() }}" --list --unsorted #

# walk one section on this machine: just demo 5
[unix]
demo *section: _full
    @{{ python }} -m talk demo "$@"

# walk a recorded section, no GPU needed: just replay 5
[unix]
replay *section: _light
    @{{ python }} -m talk replay "$@"

# walk the talk against the clock, its minutes kept: just rehearse 5
[unix]
rehearse *section: _full
    @{{ python }} -m talk rehearse "$@"

# run sections without a stop and write what they measure to results/
[unix]
record *sections: _full
    @{{ python }} -m talk record "$@"

# promote the newest complete live record to demos/recordings/
[unix]
keep *options: _light
    @{{ python }} -m talk keep "$@"

# hold two records against each other, row by row: just compare results/…
[unix]
compare *records: _light
    @{{ python }} -m talk compare "$@"

# build the deck from the newest record
[unix]
slides *options: _slides
    @{{ python }} -m slides "$@"

# give the talk: slides in a browser and the driver here, one state: just present 5
[unix]
present *sections: _present
    @{{ python }} -m slides present "$@"

# print the deck, a page for each slide: just pdf --steps for each step
[unix]
pdf *options: _pdf
    @{{ python }} -m slides pdf "$@"

# build the handout: all of the deck and its notes as one page to read
[unix]
handout *options: _slides
    @{{ python }} -m slides handout "$@"

# build the cheat sheet: one page to print
[unix]
cheatsheet *options: _light
    @{{ python }} -m slides cheatsheet "$@"

# what one believes of a GPU, and what was measured: just quiz --section 3
[unix]
quiz *options: _light
    @{{ python }} -m talk quiz "$@"

# bring an exercise to my/ and grade it: just exercise 1 --watch
[unix]
exercise *which: _full
    @{{ python }} -m talk exercise "$@"

# write a Jupyter notebook of a section or an exercise to my/: just notebook 5
[unix]
notebook *which: _notebook
    @{{ python }} -m talk notebook "$@"

# name the sections in running order
[unix]
list *options: _light
    @{{ python }} -m talk list "$@"

# measure the stage itself: first frame, key press, deck
[unix]
bench *options: _full
    @{{ python }} -m talk bench --step 1/block --best triton --against torch "$@"

# run the tests; options go to pytest
[unix]
test *options: _dev
    @{{ python }} -m pytest -n auto --maxprocesses 8 "$@"

# check style and types
[unix]
lint: _dev
    @{{ python }} -m ruff check
    @{{ python }} -m ruff format --check
    @{{ python }} -m mypy

_light: _venv
    @{{ python }} talk/install.py light #

_slides: _venv
    @{{ python }} talk/install.py slides #

_present: _venv
    @{{ python }} talk/install.py present #

_pdf: _venv
    @{{ python }} talk/install.py pdf #

_notebook: _venv
    @{{ python }} talk/install.py notebook #

_full: _venv
    @{{ python }} talk/install.py full #

_dev: _venv
    @{{ python }} talk/install.py dev #

[unix]
_venv:
    @test -x {{ python }} || python3 -m venv .venv

[windows]
_venv:
    @if (-not (Test-Path {{ python }})) { py -m venv .venv } #

# replay a section (live demos need Linux): just demo 5
[windows]
demo *section: _full
    @{{ python }} -m talk demo {{ section }} #

# walk a recorded section: just replay 5
[windows]
replay *section: _light
    @{{ python }} -m talk replay {{ section }} #

# walk the talk against the clock, its minutes kept: just rehearse 5
[windows]
rehearse *section: _light
    @{{ python }} -m talk rehearse {{ section }} #

# hold two records against each other, row by row
[windows]
compare *records: _light
    @{{ python }} -m talk compare {{ records }} #

# build the deck from the newest record
[windows]
slides *options: _slides
    @{{ python }} -m slides {{ options }} #

# print the deck, a page for each slide
[windows]
pdf *options: _pdf
    @{{ python }} -m slides pdf {{ options }} #

# build the handout: all of the deck and its notes as one page to read
[windows]
handout *options: _slides
    @{{ python }} -m slides handout {{ options }} #

# build the cheat sheet: one page to print
[windows]
cheatsheet *options: _light
    @{{ python }} -m slides cheatsheet {{ options }} #

# what one believes of a GPU, and what was measured
[windows]
quiz *options: _light
    @{{ python }} -m talk quiz {{ options }} #

# bring an exercise to my/; kernels are graded on Linux
[windows]
exercise *which: _light
    @{{ python }} -m talk exercise {{ which }} #

# write a Jupyter notebook of a section or an exercise to my/
[windows]
notebook *which: _notebook
    @{{ python }} -m talk notebook {{ which }} #

# name the sections in running order
[windows]
list *options: _light
    @{{ python }} -m talk list {{ options }} #
