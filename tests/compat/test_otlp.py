"""Vesta against the official OTLP classes: reads what they write, release by release, and they read what Vesta writes.

The classes come from the package opentelemetry-proto, three releases of it side by side, in a virtual environment under
build/. Nothing of it is installed anywhere else.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
import support  # noqa: E402

MESSAGES = Path(__file__).resolve().parent / "otlp" / "messages.py"
HOME = support.ROOT / "build" / "test-venvs" / "otlp"
# The package's own version, and the numbering its classes have. 1.8 was never packaged.
RELEASES = {"1.39.0": "1.7", "1.41.0": "1.9", "1.45.0": "1.10"}
RUNTIME = "protobuf>=6,<7"  # what all three accept
NEWEST = "1.45.0"

# What each kind of message says: unit, then the value of each function by itself.
TRUTH = {
    "on_cpu": ("count", {"parse": 7, "serve": 2, "main": 3}),
    "on_cpu_unlinked": ("count", {"spin": 2}),
    "off_cpu": ("nanoseconds", {"wait": 12_000_000, "read": 1_000_000}),
    "aggregated": ("nanoseconds", {"f": 1, "g": 2, "main": 1_000_000}),
    "heap": ("bytes", {"make": 1920, "copy": 768}),
}


def python():
    return HOME / "venv" / "bin" / "python"


def install():
    """The environment with all releases; skips where it cannot be had."""
    stamp = HOME / "complete"
    wanted = f"{RUNTIME} {sorted(RELEASES)}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    HOME.mkdir(parents=True, exist_ok=True)
    pip = [python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = [[sys.executable, "-m", "venv", HOME / "venv"], [*pip, RUNTIME]]
    for release in RELEASES:
        target = HOME / release
        steps.append([*pip, "--no-deps", "--upgrade", "--target", target, f"opentelemetry-proto=={release}"])
    for step in steps:
        done = subprocess.run(list(map(str, step)), capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            problem = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
            support.skip(f"cannot install opentelemetry-proto: {problem[-1]}")
    stamp.write_text(wanted)


def messages(release, *arguments):
    environment = {"PYTHONPATH": str(HOME / release), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([str(python()), str(MESSAGES), *map(str, arguments)], env=environment,
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"messages.py {arguments} with {release}:\n{done.stdout}{done.stderr}")
    return done.stdout


def top(path):
    """Unit, total and the flat values by name."""
    report = json.loads(support.vesta("top", path, "-o", "json").stdout)
    flat = {row["name"]: row["flat"] for row in report["rows"] if row["flat"] != 0}
    return report["unit"], report["total"], flat


class Otlp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        install()
        cls.folder = tempfile.TemporaryDirectory(prefix="vesta-otlp-")
        cls.path = Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def assert_says(self, path, kind):
        unit, flat = TRUTH[kind]
        self.assertEqual(top(path), (unit, sum(flat.values()), flat), f"{path.name}: {kind}")

    def test_packages_have_the_numberings_they_are_here_for(self):
        for release, numbering in RELEASES.items():
            self.assertEqual(messages(release, "numbering").strip(), numbering)

    def test_reads_every_kind_of_every_release(self):
        for release, numbering in RELEASES.items():
            if numbering == "1.7":
                continue
            for kind in TRUTH:
                with self.subTest(release=release, kind=kind):
                    path = self.path / f"{release}-{kind}.otlp"
                    messages(release, "make", kind, path)
                    self.assert_says(path, kind)

    def test_reads_their_json(self):
        for kind in TRUTH:
            with self.subTest(kind=kind):
                path = self.path / f"{kind}.json"
                messages(NEWEST, "make", kind, path, "--json")
                self.assert_says(path, kind)

    def test_reads_messages_of_1_7(self):
        path = self.path / "old.otlp"
        messages("1.39.0", "make", "on_cpu", path)
        report = json.loads(support.vesta("top", path, "-o", "json").stdout)
        self.assertEqual((report["type"], report["unit"], report["total"]), ("cpu", "nanoseconds", 5))
        self.assertEqual([(row["name"], row["flat"]) for row in report["rows"]], [("main", 5)])

    def test_names_the_release_whose_json_it_does_not_read(self):
        path = self.path / "old.json"
        messages("1.39.0", "make", "on_cpu", path, "--json")
        done = support.vesta("top", path, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("1.7 or older", done.stderr)
        self.assertIn("upgrade the sender", done.stderr)

    def test_reads_what_async_profiler_writes(self):
        path = support.profile("java-async.otlp")
        truth = json.loads(Path(f"{path}.truth.json").read_text())["types"]["cpu"]
        report = json.loads(support.vesta("top", path, "--nodes", "0", "-o", "json").stdout)
        self.assertEqual(report["unit"], truth["unit"])
        harness.check_truth(self, report, truth)

    def test_writes_what_they_read(self):
        folded = self.path / "x.folded"
        folded.write_text("main;serve;parse 7\nmain;serve 2\nmain 3\nmain;serve;parse 1\n")
        written = self.path / "x.otlp"
        support.vesta("convert", folded, "-o", written)
        (profile,) = json.loads(messages(NEWEST, "check", written))
        self.assertEqual(profile["flat"], {"parse": 8, "serve": 2, "main": 3})

    def test_passes_every_kind_on(self):
        for kind, (unit, flat) in TRUTH.items():
            with self.subTest(kind=kind):
                theirs = self.path / f"{kind}-in.otlp"
                ours = self.path / f"{kind}-out.otlp"
                messages(NEWEST, "make", kind, theirs)
                support.vesta("convert", theirs, "-o", ours)
                profiles = json.loads(messages(NEWEST, "check", ours))
                self.assertEqual(profiles[-1]["unit"], unit)
                self.assertEqual(profiles[-1]["flat"], flat)
                self.assertEqual(profiles[-1]["resource"], {"service.name": "shop"})
                self.assertEqual(len(profiles), 2 if kind == "heap" else 1)
                self.assert_says(ours, kind)

    def test_a_pprof_of_several_types_survives_the_trip(self):
        theirs = self.path / "heap-in.otlp"
        messages(NEWEST, "make", "heap", theirs)
        pprof = self.path / "heap.pb.gz"
        back = self.path / "heap-back.otlp"
        support.vesta("convert", theirs, "-o", pprof)
        self.assert_says(pprof, "heap")
        support.vesta("convert", pprof, "-o", back)
        objects, space = json.loads(messages(NEWEST, "check", back))
        self.assertEqual((objects["type"], objects["flat"]), ("alloc_objects", {"make": 30, "copy": 12}))
        self.assertEqual((space["type"], space["flat"]), ("alloc_space", {"make": 1920, "copy": 768}))


support.main()
