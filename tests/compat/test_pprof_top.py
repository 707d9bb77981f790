#!/usr/bin/env python3
"""`vesta top` says what `go tool pprof -top` says, on files that neither of them wrote."""

import json
import posixpath
import re
import unittest

import harness
import pprof_proto
from harness import go_top, profile, rows, top

PPROF_FILES = [name for name in harness.names() if name.endswith(".pb.gz")]
GRANULARITIES = {"function": "-functions", "line": "-lines", "address": "-addresses"}


def main_type(known):
    """The type with the largest figures carries the most detail, and is the one people look at."""
    index = max(range(len(known.types)), key=lambda i: abs(known.total(i)))
    return index, *known.types[index]


def heaviest_stack(known, index):
    sample = max(known.samples, key=lambda sample: sample.values[index])
    return [frame[0] for location in sample.stack for frame in location]


def filters(known, index):
    """(vesta's arguments, pprof's arguments) with patterns from names that are in the file."""
    stack = heaviest_stack(known, index)
    leaf, middle = re.escape(stack[0]), re.escape(stack[len(stack) // 2])
    # Only patterns that do not match every sample tell a filter from none.
    others = sorted({frame[0] for sample in known.samples for location in sample.stack
                     for frame in location} - set(stack))
    other = re.escape(others[len(others) // 2]) if others else leaf
    yield ["--focus", f"^{leaf}$"], [f"-focus=^{leaf}$"]
    yield ["--focus", other], [f"-focus={other}"]
    if others:
        yield ["--ignore", f"^{other}$"], [f"-ignore=^{other}$"]
    yield ["--hide", f"^{leaf}$"], [f"-hide=^{leaf}$"]
    yield ["--hide", f"^{middle}$"], [f"-hide=^{middle}$"]
    yield ["--show", f"^({leaf}|{middle})$"], [f"-show=^({leaf}|{middle})$"]
    yield ["--show-from", f"^{middle}$"], [f"-show_from=^{middle}$"]
    if others:
        yield (["--focus", middle, "--ignore", other, "--hide", f"^{leaf}$"],
               [f"-focus={middle}", f"-ignore={other}", f"-hide=^{leaf}$"])


def tag_filters(known):
    texts = sorted({(key, value) for sample in known.samples
                    for key, values in sample.labels.items() for value in values
                    if isinstance(value, str) and re.fullmatch(r"[\w.-]+", value)})
    for key, value in texts[:3]:
        for expression in (value, f"{key}={value}"):
            yield ["--tag-focus", expression], [f"-tagfocus={expression}"]
            yield ["--tag-ignore", expression], [f"-tagignore={expression}"]


class PprofTop(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        harness.need_pprof()

    def each_file(self, check):
        for name in PPROF_FILES:
            with self.subTest(file=name):
                path = profile(name)
                check(path, pprof_proto.read(path))

    def compare(self, path, sample_type, unit, ours=(), theirs=()):
        with self.subTest(type=sample_type, arguments=" ".join(ours)):
            expected = go_top(path, sample_type, unit, *theirs)
            done = harness.run_vesta("top", path, "--type", sample_type, "--nodes", "0", *ours, "-o", "json")
            if not expected.rows:
                self.assertEqual(done.returncode, 4, "no data is exit code 4")
                return
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(report["unit"], unit)
            self.assertEqual([self.printed(row, ours) for row in report["rows"]], expected.rows)

    @staticmethod
    def printed(row, arguments):
        """A row of vesta, named as pprof prints it for the granularity asked for."""
        name = row["name"]
        if not {"line", "address"} & set(arguments):
            return harness.Row(name, row["flat"], row["cum"])
        address = f"{int(row['address'], 16):016x} " if row.get("address") else ""
        # pprof prints the shortest spelling of a path. A frame without a function is named as a whole.
        file = posixpath.normpath(row["file"]) if row.get("file") else ""
        if row.get("line"):
            name += f" {file}:{row['line']}"
        elif file:
            name += f" {file}"
        name = name if name.startswith(address) else address + name
        return harness.Row(name, row["flat"], row["cum"])

    def test_every_type_flat_and_cumulative(self):
        def check(path, known):
            for index, (sample_type, unit) in enumerate(known.types):
                self.compare(path, sample_type, unit)
                self.compare(path, sample_type, unit, ["--cum"], ["-cum"])
                with self.subTest(type=sample_type):
                    report = top(path, "--type", sample_type)
                    self.assertEqual(report["total"], known.total(index))
                    self.assertEqual(report["total"], go_top(path, sample_type, unit).total)

        self.each_file(check)

    def test_filters(self):
        def check(path, known):
            index, sample_type, unit = main_type(known)
            for ours, theirs in filters(known, index):
                self.compare(path, sample_type, unit, ours, theirs)
                self.compare(path, sample_type, unit, [*ours, "--cum"], [*theirs, "-cum"])

        self.each_file(check)

    def test_tag_filters(self):
        labelled = set()

        def check(path, known):
            _, sample_type, unit = main_type(known)
            for ours, theirs in tag_filters(known):
                labelled.add(path)
                self.compare(path, sample_type, unit, ours, theirs)

        self.each_file(check)
        self.assertTrue(labelled, "no file with labels was tested")

    def test_granularities(self):
        def check(path, known):
            _, sample_type, unit = main_type(known)
            for ours, theirs in GRANULARITIES.items():
                self.compare(path, sample_type, unit, ["--granularity", ours], [theirs])

        self.each_file(check)

    def test_files(self):
        """pprof -files keeps functions apart that start on different lines of a file, so its rows add up
        to ours in flat; cumulative values come from the tests' own reader."""
        def check(path, known):
            index, sample_type, unit = main_type(known)
            report = {posixpath.normpath(row.name): (row.flat, row.cum)
                      for row in rows(top(path, "--type", sample_type, "--granularity", "file"))}
            flat = {}
            for row in go_top(path, sample_type, unit, "-files").rows:
                flat[row.name] = flat.get(row.name, 0) + row.flat
            self.assertEqual({name: values[0] for name, values in report.items()}, flat)
            with_file = known.rows(index, lambda name, file, line: posixpath.normpath(file) if file else None)
            for file, values in with_file.items():
                self.assertEqual(report[file], values, file)

        self.each_file(check)


class Truth(unittest.TestCase):
    """What the programs did is in the report."""

    def test_pprof_files(self):
        for name in PPROF_FILES:
            with self.subTest(file=name):
                path = profile(name)
                try:
                    truth = harness.truth(name)
                except FileNotFoundError:
                    continue
                for sample_type, expected in truth["types"].items():
                    with self.subTest(type=sample_type):
                        report = top(path, "--type", sample_type)
                        self.assertEqual(report["unit"], expected["unit"])
                        harness.check_truth(self, report, expected)
                        for inlined in expected.get("inlined", []):
                            self.assertIn(inlined, [row["name"] for row in report["rows"]])
                        self.check_tags(path, sample_type, expected)

    def check_tags(self, path, sample_type, expected):
        for key, shares in expected.get("tags", {}).items():
            totals = {value: sum(row["flat"] for row in top(
                path, "--type", sample_type, "--tag-focus", f"{key}={value}")["rows"])
                for value in shares}
            for value, share in shares.items():
                self.assertAlmostEqual(totals[value] / sum(totals.values()), share,
                                       delta=expected["tolerance"], msg=f"{key}={value}")


if __name__ == "__main__":
    harness.main()
