"""Python: pprof from zprofile, speedscope and folded from py-spy, speedscope from pyinstrument."""

import json
import sys
from pathlib import Path

from .common import PROGRAMS, Failure, Maker, Skip, burn_truth, fetch, run, run_json

SOURCE = PROGRAMS / "python"
REQUIREMENTS = SOURCE / "requirements.txt"
BURN = SOURCE / "burn.py"
SECONDS = "2.5"
# Samplers that go by the wall clock miss turns on a busy machine, and see it stand still in one place in others.
OUTSIDE_NS = int(float(SECONDS) * 1e9) // 4


def environment(shop):
    """The bin folder of a virtual environment of our own with all profilers."""
    folder = shop.tools / "venv"
    stamp = f"{sys.version}\n{REQUIREMENTS.read_text()}"
    if shop.needs_install(folder, stamp):
        fetch([sys.executable, "-m", "venv", "--clear", folder],
              "a virtual environment (Debian package python3-venv)")
        fetch([folder / "bin/pip", "install", "-q", "--disable-pip-version-check",
               "--only-binary", ":all:", "-r", REQUIREMENTS], "the packages of requirements.txt")
        shop.mark_installed(folder, stamp)
    return folder / "bin"


def make_zprofile(kind, type_name):
    def make(shop, work):
        name = f"python-{kind}.pb.gz"
        result = run_json([environment(shop) / "python", BURN, kind, work / name])
        # The program burns a little longer than it is sampled for.
        total = (0.55, 1.5) if kind == "cpu" else None
        return {name: burn_truth("zprofile", "", result["process_cpu_ns"], 5_000_000, total, type_name)}

    return make


def make_pyspy(shop, work):
    tools = environment(shop)
    truths = {}
    for name, style in (("python-pyspy.speedscope.json", "speedscope"), ("python-pyspy.folded", "raw")):
        # Folded names would have line numbers in them, a row of a report for each.
        options = ["--function"] if style == "raw" else []
        # The program burns for longer than it is sampled, and is then ended by py-spy, which fails now and
        # then when a program ends while it is being read.
        command = [tools / "py-spy", "record", "--rate", "199", "--duration", "3", "--format", style, *options,
                   "--output", work / name, "--", tools / "python", BURN, "plain", "20"]
        try:
            run(command)
        except Failure as error:
            raise Skip(f"py-spy cannot read other processes here: {error}") from None
        unit, type_name = ("count", "samples") if style == "raw" else ("nanoseconds", "wall")
        truths[name] = burn_truth("py-spy", "", OUTSIDE_NS, 10**9 // 199, type_name=type_name, unit=unit)
    return truths


def evented_cums(speedscope):
    """Time in and under each function of an evented speedscope profile, in ns, by walking its events."""
    profile = speedscope["profiles"][0]
    names = [frame["name"] for frame in speedscope["shared"]["frames"]]
    cums, stack, last = {}, [], profile["startValue"]
    for event in profile["events"]:
        for name in {names[frame] for frame in stack}:
            cums[name] = cums.get(name, 0) + (event["at"] - last) * 1e9
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            stack.pop()
    return cums


def make_pyinstrument(shop, work):
    name = "python-pyinstrument.speedscope.json"
    # Unless told otherwise, it leaves out short calls, most of what light does; and it looks at the clock only
    # when functions are called, unless a thread of its own does that.
    command = [environment(shop) / "pyinstrument", "--interval", "0.002", "--use-timing-thread", "--timeline",
               "-r", "speedscope", "-p", "processor_options.filter_threshold=0", "-o", work / name,
               BURN, "plain", SECONDS]
    # Its timing thread starves on a busy machine, and in one run of twenty never ticks at all. So the truth is
    # what the file itself says, which must be about all three functions.
    for _ in range(5):
        run(command)
        cums = evented_cums(json.loads((work / name).read_text()))
        if all(function in cums for function in ("heavy", "medium", "light")):
            exact = {f"^{function}\\b": [int(cums[function] * 0.9999), int(cums[function] * 1.0001) + 1]
                     for function in ("heavy", "medium", "light")}
            return {name: {"made_by": "pyinstrument", "types": {"wall": {"unit": "nanoseconds", "cum": exact}}}}
    raise Failure("pyinstrument missed one of the three functions in each of five runs")


def _maker(names, make):
    return Maker(names, make, [SOURCE, Path(__file__)])


MAKERS = [
    _maker(["python-cpu.pb.gz"], make_zprofile("cpu", "CPU")),
    _maker(["python-wall.pb.gz"], make_zprofile("wall", "wall")),
    _maker(["python-pyspy.speedscope.json", "python-pyspy.folded"], make_pyspy),
    _maker(["python-pyinstrument.speedscope.json"], make_pyinstrument),
]
