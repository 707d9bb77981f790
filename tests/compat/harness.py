"""What the compatibility tests share: the vesta binary, the profiles, and `go tool pprof` as the judge."""

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))

import support  # noqa: E402

PROFILES = Path(os.environ.get("VESTA_PROFILES", REPOSITORY / "build/test-profiles")).resolve()
MAKE = REPOSITORY / "tests/profiles/make"

# Everything a fresh `go tool pprof` needs to print all rows, in full figures.
ALL_ROWS = ["-nodecount=0", "-nodefraction=0", "-edgefraction=0", "-symbolize=none"]
# pprof prints full integers when it is told the unit to print.
PPROF_UNITS = {"nanoseconds": "ns", "bytes": "B"}


@functools.lru_cache(maxsize=None)
def names():
    """All profiles that tests/profiles/make can make; does not make them."""
    return subprocess.run([MAKE, "--list"], check=True, text=True, stdout=subprocess.PIPE).stdout.split()


@functools.lru_cache(maxsize=None)
def _make(name):
    return subprocess.run([MAKE, "--out", PROFILES, name], text=True, stderr=subprocess.PIPE)


def profile(name):
    """The path of a profile, made now if it is not there; skips the test if it cannot be made."""
    done = _make(name)
    path = PROFILES / name
    if done.returncode != 0:
        raise AssertionError(f"cannot make {name}: {done.stderr.strip()}")
    if not path.exists():
        support.skip(done.stderr.strip())
    return path


def truth(name):
    return json.loads((PROFILES / f"{name}.truth.json").read_text())


def need_pprof():
    support.need_command("go")


def run_vesta(*arguments):
    """Runs vesta whatever its outcome."""
    return support.vesta(*arguments, check=False, stdin=subprocess.DEVNULL)


def vesta(*arguments):
    """Runs vesta, which must succeed; returns its standard output."""
    return support.vesta(*arguments, stdin=subprocess.DEVNULL).stdout


def top(source, *arguments):
    return json.loads(vesta("top", source, "--nodes", "0", *arguments, "-o", "json"))


@dataclass(frozen=True)
class Row:
    name: str
    flat: int
    cum: int


def rows(report):
    return [Row(row["name"], row["flat"], row["cum"]) for row in report["rows"]]


@functools.lru_cache(maxsize=None)
def _pprof_binary():
    # `go tool pprof` once, so that new releases of Go build it; then the binary itself, which starts
    # twenty times as fast.
    subprocess.run(["go", "tool", "pprof", "-h"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    printed = subprocess.run(["go", "tool", "-n", "pprof"], text=True, stdout=subprocess.PIPE)
    path = printed.stdout.strip()
    return [path] if Path(path).is_file() else ["go", "tool", "pprof"]


def go_pprof(*arguments):
    command = [*_pprof_binary(), *map(str, arguments)]
    with tempfile.TemporaryDirectory() as home:
        # pprof would save fetched profiles in the home folder and read settings from there.
        environment = {**os.environ, "PPROF_TMPDIR": home}
        done = subprocess.run(command, text=True, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


# Go prints a share of less than 0.0001 % as 8.5e-05%.
_SHARE = r"-?[\d.]+(?:e-\d+)?%"
_ROW = re.compile(rf"^\s*(-?[\d.]+)([a-zA-Z]*)\s+{_SHARE}\s+{_SHARE}\s+(-?[\d.]+)([a-zA-Z]*)\s+{_SHARE}\s{{2}}(.*)$")
_TOTAL = re.compile(r"^Showing nodes accounting for .* of (-?[\d.]+)([a-zA-Z]*) total$", re.MULTILINE)
_INLINE = re.compile(r" \((partial-)?inline\)$")


@dataclass
class GoTop:
    total: int
    rows: list


def _figure(digits, unit, wanted):
    if (unit and unit != wanted) or "." in digits:
        raise AssertionError(f"pprof rounded {digits}{unit}, wanted whole {wanted or 'counts'}")
    return int(digits)


def go_top(path, sample_type, unit, *arguments):
    """pprof's own rows for a sample type, in its order, without the (inline) remarks."""
    printed = PPROF_UNITS.get(unit, "")
    units = [f"-unit={unit}"] if printed else []
    text = go_pprof("-top", *ALL_ROWS, f"-sample_index={sample_type}", *units, *arguments, path)
    found = _TOTAL.search(text)
    if not found:
        raise AssertionError(f"pprof printed no total:\n{text[:500]}")
    table = text.split("cum%\n", 1)[1]
    out = []
    for line in table.splitlines():
        match = _ROW.match(line)
        if not match:
            raise AssertionError(f"cannot read pprof's line {line!r}")
        flat, flat_unit, cum, cum_unit, name = match.groups()
        out.append(Row(_INLINE.sub("", name), _figure(flat, flat_unit, printed),
                       _figure(cum, cum_unit, printed)))
    return GoTop(_figure(*found.groups(), printed), out)


def match_cum(report, pattern):
    """Cumulative value of the one function whose name matches."""
    found = [row for row in report["rows"] if re.search(pattern, row["name"])]
    if len(found) != 1:
        names_found = [row["name"] for row in found] or [row["name"] for row in report["rows"]][:20]
        raise AssertionError(f"{pattern} matches {len(found)} functions: {names_found}")
    return found[0]["cum"]


def check_truth(test, report, expected):
    """Holds a `vesta top` report against one type of a truth file."""
    shares = expected.get("cum_shares")
    if shares:
        cums = {pattern: match_cum(report, pattern) for pattern in shares}
        for pattern, share in shares.items():
            test.assertAlmostEqual(cums[pattern] / sum(cums.values()), share,
                                   delta=expected["tolerance"], msg=pattern)
    for pattern, (least, most) in expected.get("cum", {}).items():
        value = match_cum(report, pattern)
        test.assertTrue(least <= value <= most, f"{pattern}: {value}, not in {least}..{most}")
    if "total" in expected:
        least, most = expected["total"]
        test.assertTrue(least <= report["total"] <= most,
                        f"total {report['total']}, not in {least}..{most}")


def main():
    """Runs the tests of a file, says what was skipped and why."""
    if not support.VESTA.is_file():
        sys.exit(f"no vesta binary at {support.VESTA}: build it or set VESTA")
    support.main()
