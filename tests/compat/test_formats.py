#!/usr/bin/env python3
"""Files of other tools in other formats: what the programs did is what vesta reads from them."""

import tempfile
import unittest
from pathlib import Path

import harness
from harness import profile, top, truth


def folded_rows(path):
    """{function: (flat, cum)} of a folded file, by the tests' own reading."""
    flat, cum = {}, {}
    for line in path.read_text().splitlines():
        stack, value = line.rsplit(" ", 1)
        frames = stack.split(";")
        flat[frames[-1]] = flat.get(frames[-1], 0) + int(value)
        for frame in set(frames):
            cum[frame] = cum.get(frame, 0) + int(value)
    return {name: (flat.get(name, 0), value) for name, value in cum.items()}


class Truth(unittest.TestCase):
    def check(self, name, sample_type=None):
        path = profile(name)
        (_, expected), = truth(name)["types"].items()
        report = top(path, *(["--type", sample_type] if sample_type else []))
        self.assertEqual(report["unit"], expected["unit"])
        harness.check_truth(self, report, expected)
        return report

    def test_perf_script(self):
        report = self.check("perf-cpp.perf.txt", "cpu")
        least, most = truth("perf-cpp.perf.txt")["events"]
        # 199 Hz, as perf rounds it to a period.
        self.assertTrue(least <= report["total"] / 5025125 <= most + 0.5, report["total"])

    def test_pyspy_speedscope(self):
        self.check("python-pyspy.speedscope.json")

    def test_pyinstrument_speedscope(self):
        self.check("python-pyinstrument.speedscope.json")

    def test_pyspy_folded(self):
        self.check("python-pyspy.folded")
        self.check_folded(profile("python-pyspy.folded"))

    def test_pyspy_folded_without_a_stack(self):
        """py-spy writes a line without a stack for a thread that has none yet, depending on when it looks."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pyspy.folded"
            path.write_text(" 21\n" + profile("python-pyspy.folded").read_text())
            self.check_folded(path)

    def check_folded(self, path):
        report = top(path)
        known = folded_rows(path)
        self.assertEqual(report["total"], sum(flat for flat, _ in known.values()))
        known.pop("", None)  # no function to name, but part of the total
        found = {row["name"]: (row["flat"], row["cum"]) for row in report["rows"]}
        self.assertEqual({name: found.get(name) for name in known}, known)


if __name__ == "__main__":
    harness.main()
