"""What all makers share: running tools, freshness of outputs, and the shape of the truth."""

import json
import math
import os
import re
import resource
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

REPOSITORY = Path(__file__).resolve().parents[3]
PROGRAMS = REPOSITORY / "tests/programs"

# The burners of every language share 60:30:10 of the time.
BURN_SHARES = (0.60, 0.30, 0.10)


class Skip(Exception):
    """The profile cannot be made on this machine; the text says what is missing."""


class Failure(Exception):
    """A tool that is present did not do its work."""


@dataclass
class Maker:
    """Makes outputs together, since they come from one run or one file."""

    outputs: list
    make: Callable  # make(shop, work) writes the outputs into the folder `work`, returns {name: truth}
    sources: list = field(default_factory=list)


def burn_truth(tool, prefix, spent_ns, period_ns, total=None, type_name="cpu", unit="nanoseconds"):
    """Truth of a profile of the burners, found by cumulative value. The time that was there to be sampled
    says how many samples there are, and so how far chance may move the shares: four standard deviations, and
    no less than seven points, since a busy machine adds more than chance. `total` is [least, most] as parts of that time, for types that measure it."""
    names = [f"^{prefix}{name}\\b" for name in ("heavy", "medium", "light")]
    samples = max(spent_ns / period_ns, 10)
    tolerance = max(4 * math.sqrt(BURN_SHARES[0] * (1 - BURN_SHARES[0]) / samples), 0.07)
    truth = {"unit": unit, "cum_shares": dict(zip(names, BURN_SHARES)), "tolerance": round(tolerance, 3)}
    if total:
        truth["total"] = [int(spent_ns * total[0]), int(spent_ns * total[1])]
    return {"made_by": tool, "types": {type_name: truth}}


def about(value, tolerance=0.1):
    return [int(value * (1 - tolerance)), int(value * (1 + tolerance))]


def need(command, package):
    path = shutil.which(command)
    if not path:
        raise Skip(f"{command} is not installed (Debian package {package})")
    return path


def run(command, env=None, cwd=None, timeout=600):
    """Runs a tool that must succeed; returns its standard output."""
    command = [str(part) for part in command]
    try:
        done = subprocess.run(
            command, cwd=cwd, env={**os.environ, **(env or {})}, timeout=timeout, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(str(error)) from None
    if done.returncode != 0:
        # Some tools say what is wrong on standard output; colours are of no use here.
        said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
        tail = "\n".join(said.strip().splitlines()[-8:])
        raise Failure(f"{' '.join(command)} ended with {done.returncode}: {tail}")
    return done.stdout


def fetch(command, what, **options):
    """Like run, for package managers: a package that cannot be had is a reason to skip."""
    try:
        return run(command, **options)
    except Failure as error:
        raise Skip(f"cannot install {what}: {error}") from None


def run_json(command, **options):
    """Runs a victim program; its last line of standard output is what it measured. Its CPU time is added as
    the kernel has it: on a loaded machine it is much less than the time that went by."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = run(command, **options).strip().splitlines()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        result = json.loads(lines[-1])
    except (IndexError, ValueError):
        raise Failure(f"{command[0]} printed no JSON") from None
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"process_cpu_ns": int(spent * 1e9), **result}


# A CPU profile has the CPU time of the process, but for its start and end and what the profiler itself took.
# Go's loses up to a third of its samples when the program gets a tenth of a CPU.
# Timers of a busy machine also fire late and in bunches, which has been seen to add a tenth. What vesta reads is compared
# with `go tool pprof` to the last unit elsewhere; these bounds are there to catch a wrong unit or a doubled weight.
CPU_TOTAL = (0.55, 1.5)


class Workshop:
    """The output folder, and beside the profiles a folder for what is built and installed."""

    def __init__(self, out):
        self.out = out
        self.tools = out / ".tools"
        self.tools.mkdir(parents=True, exist_ok=True)

    def is_fresh(self, maker):
        made = [self.out / name for name in maker.outputs]
        if not all(path.exists() for path in made):
            return False
        oldest = min(path.stat().st_mtime for path in made)
        return all(source.stat().st_mtime <= oldest for source in self._sources(maker))

    def make(self, maker):
        work = self.tools / "work" / maker.outputs[0]
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        truths = maker.make(self, work)
        missing = [name for name in maker.outputs if not (work / name).is_file()]
        if missing:
            raise Failure(f"the maker did not write {', '.join(missing)}")
        for name, truth in truths.items():
            text = json.dumps(truth, indent=2) + "\n"
            (self.out / f"{name}.truth.json").write_text(text)
        for name in maker.outputs:
            os.replace(work / name, self.out / name)
        shutil.rmtree(work)

    def needs_install(self, folder, stamp):
        """True unless `folder` was installed from this very text; see mark_installed."""
        file = folder / ".stamp"
        return not file.exists() or file.read_text() != stamp

    def mark_installed(self, folder, stamp):
        (folder / ".stamp").write_text(stamp)

    @staticmethod
    def _sources(maker):
        for source in [*maker.sources, Path(__file__)]:
            yield from (path for path in Path(source).rglob("*") if path.is_file()) \
                if source.is_dir() else [source]
