#!/usr/bin/env python3
"""pprof to another format and back keeps all that the other format can carry; pprof is the judge."""

import collections
import dataclasses
import re
import tempfile
import unittest
from pathlib import Path

import harness
import pprof_proto
from harness import go_top, profile, vesta

PPROF_FILES = [name for name in harness.names() if name.endswith(".pb.gz")]
LOSSLESS = [".pb", ".pb.gz", ".otlp", ".otlp.json"]
NAMES_ONLY = [".folded", ".collapsed"]


def labelled_totals(known, index):
    """Value by set of labels: what must survive besides stacks."""
    totals = collections.Counter()
    for sample in known.samples:
        key = tuple(sorted((name, str(value)) for name, values in sample.labels.items() for value in values))
        totals[key] += sample.values[index]
    return {key: value for key, value in totals.items() if value}


def binaries(known):
    return sorted((mapping["file"], mapping["build_id"], mapping["start"], mapping["limit"], mapping["offset"])
                  for mapping in known.mappings)


# pprof calls an address without a function by its binary, and a conversion that keeps only names by both.
_NO_FUNCTION = re.compile(r"^\[.*\]$|\+0x[0-9a-f]+$")


def named(rows):
    return [row for row in rows if not _NO_FUNCTION.search(row.name)]


def without_separators(rows):
    """The rows as folded stacks can name them: ';' stands between frames there, and Go puts it into the
    names of generic functions whose type is a struct."""
    return [dataclasses.replace(row, name=row.name.replace(";", ":")) for row in rows]


class RoundTrip(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        harness.need_pprof()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def there_and_back(self, path, extension, *arguments):
        middle = self.folder / f"middle{extension}"
        back = self.folder / "back.pb.gz"
        vesta("convert", path, *arguments, "-o", middle)
        vesta("convert", middle, "-o", back)
        return back

    def each(self, extensions, check):
        for name in PPROF_FILES:
            for extension in extensions:
                with self.subTest(file=name, through=extension):
                    check(profile(name), extension)

    def test_lossless(self):
        def check(path, extension):
            back = self.there_and_back(path, extension)
            before, after = pprof_proto.read(path), pprof_proto.read(back)
            self.assertEqual(after.types, before.types)
            for sample_type, unit in before.types:
                for granularity in ("-functions", "-lines", "-addresses"):
                    self.assertEqual(go_top(back, sample_type, unit, granularity),
                                     go_top(path, sample_type, unit, granularity))
            for index in range(len(before.types)):
                self.assertEqual(labelled_totals(after, index), labelled_totals(before, index))
            self.assertEqual((after.period_type, after.period), (before.period_type, before.period))
            self.assertEqual(after.time_ns, before.time_ns)
            self.assertEqual(after.duration_ns, before.duration_ns)
            self.assertEqual(binaries(after), binaries(before))

        self.each(LOSSLESS, check)

    def test_speedscope(self):
        """speedscope has names, files and lines, but neither labels nor type names: a file has one profile
        per type, which comes back as a label, and types are told apart by unit."""
        def check(path, extension):
            after = self.there_and_back(path, extension)
            by_unit = {unit: name for name, unit in pprof_proto.read(after).types}
            for sample_type, unit in pprof_proto.read(path).types:
                kept = go_top(after, by_unit[unit], unit, "-lines", f"-tagfocus=profile_name=^{sample_type}$")
                before = go_top(path, sample_type, unit, "-lines")
                self.assertEqual(named(kept.rows), named(before.rows))
                self.assertEqual(sum(row.flat for row in kept.rows), sum(row.flat for row in before.rows))

        self.each([".speedscope.json"], check)

    def test_folded(self):
        """Folded stacks have names and one type."""
        def check(path, extension):
            for sample_type, unit in pprof_proto.read(path).types:
                with self.subTest(type=sample_type):
                    back = self.there_and_back(path, extension, "--type", sample_type)
                    (kept_type, kept_unit), = pprof_proto.read(back).types
                    kept = go_top(back, kept_type, kept_unit, "-functions")
                    before = go_top(path, sample_type, unit, "-functions")
                    self.assertEqual(named(kept.rows), without_separators(named(before.rows)))
                    self.assertEqual(kept.total, before.total)

        self.each(NAMES_ONLY, check)


class Merge(unittest.TestCase):
    """vesta merge adds up as pprof does when it is given several files."""

    @classmethod
    def setUpClass(cls):
        harness.need_pprof()

    def check(self, *names):
        paths = [profile(name) for name in names]
        with tempfile.TemporaryDirectory() as folder:
            merged = Path(folder) / "merged.pb.gz"
            vesta("merge", *paths, "-o", merged)
            types = pprof_proto.read(paths[0]).types
            self.assertEqual(pprof_proto.read(merged).types, types)
            for sample_type, unit in types:
                # pprof takes several files as last arguments.
                expected = go_top(paths[-1], sample_type, unit, *paths[:-1])
                self.assertEqual(go_top(merged, sample_type, unit), expected)

    def test_two_runs_of_one_program(self):
        self.check("go-cpu-base.pb.gz", "go-cpu-slow.pb.gz")

    def test_a_file_with_itself(self):
        self.check("cpp-cpu.pb.gz", "cpp-cpu.pb.gz")

    def test_three_files(self):
        self.check("go-cpu.pb.gz", "go-cpu-base.pb.gz", "go-cpu-slow.pb.gz")


if __name__ == "__main__":
    harness.main()
