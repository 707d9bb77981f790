#!/usr/bin/env python3
"""What people type for `go tool pprof` means the same to vesta, letter by letter."""

import re
import unittest

import harness
import pprof_proto
from harness import go_top, profile, rows

CPU = "go-cpu-base.pb.gz"
SLOW = "go-cpu-slow.pb.gz"
HEAP = "go-heap.pb.gz"
LABELS = "go-cpu.pb.gz"


def top(path, *arguments):
    return harness.json.loads(harness.vesta("top", path, "-nodecount=0", "-output=json", *arguments))


def leaf_and_middle(known, index):
    sample = max(known.samples, key=lambda sample: sample.values[index])
    names = [frame[0] for location in sample.stack for frame in location]
    return re.escape(names[0]), re.escape(names[len(names) // 2])


class PprofFlags(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        harness.need_pprof()

    def compare(self, path, sample_type, unit, *flags):
        """The very same words to both."""
        with self.subTest(path=str(path.name), flags=" ".join(map(str, flags))):
            expected = go_top(path, sample_type, unit, *flags)
            self.assertTrue(expected.rows)
            report = top(path, f"-sample_index={sample_type}", *flags)
            self.assertEqual(rows(report), expected.rows)
            self.assertEqual(report["total"], expected.total)
            return report

    def test_filters(self):
        path = profile(CPU)
        known = pprof_proto.read(path)
        index = [name for name, _ in known.types].index("cpu")
        leaf, middle = leaf_and_middle(known, index)
        everything = top(path, "-sample_index=cpu")
        for flags in ([f"-focus={leaf}"], [f"-ignore=^{leaf}$"], [f"-hide={leaf}"], [f"-show={leaf}|{middle}"],
                      [f"-show_from={middle}"], [f"-prune_from=^{middle}$"], ["-focus", leaf, "-cum"],
                      ["-cum=true"], ["-flat"], ["-noinlines"], ["-noinlines=true", "-cum"],
                      [f"-focus={leaf}", "-relative_percentages"], ["-filefunctions", "-focus=main"]):
            if flags[0] != "-filefunctions":
                report = self.compare(path, "cpu", "nanoseconds", *flags)
            if flags[-1] == "-relative_percentages":
                self.assertLess(report["total"], everything["total"])
        self.assertNotEqual(rows(top(path, "-noinlines", "-sample_index=cpu")), rows(everything),
                            "the profile has inlined functions")

    def test_file_functions_are_named_with_their_file(self):
        path = profile(CPU)
        report = top(path, "-filefunctions", "-sample_index=cpu")
        ours = [(f"{row['name']} {row['file']}" if row.get("file") else row["name"], row["flat"], row["cum"])
                for row in report["rows"]]
        theirs = go_top(path, "cpu", "nanoseconds", "-filefunctions").rows
        self.assertEqual(ours, [(row.name, row.flat, row.cum) for row in theirs])

    def test_limits(self):
        path = profile(CPU)
        text = harness.go_pprof("-top", "-nodecount=5", "-nodefraction=0", "-sample_index=cpu", "-unit=ns", "-symbolize=none", path)
        theirs = [line.split()[-1] if not line.endswith("inline)") else line.split()[-2]
                  for line in text.split("cum%\n", 1)[1].splitlines()]
        ours = harness.json.loads(harness.vesta("top", path, "-nodecount=5", "-sample_index=cpu", "-o", "json"))
        self.assertEqual([row["name"] for row in ours["rows"]], theirs)
        everything = top(path, "-sample_index=cpu")
        large = [row for row in everything["rows"] if row["cum"] >= 0.05 * everything["total"]]
        self.assertEqual(top(path, "-sample_index=cpu", "-nodefraction=0.05")["rows"], large)

    def test_types_by_index_and_by_legacy_names(self):
        path = profile(HEAP)
        known = pprof_proto.read(path)
        for index, (name, unit) in enumerate(known.types):
            with self.subTest(type=name):
                self.assertEqual(top(path, f"-sample_index={index}")["type"], name)
                self.compare(path, name, unit)
                self.assertEqual(rows(top(path, f"-{name}")), rows(top(path, f"-sample_index={name}")))

    def test_labels_as_frames(self):
        path = profile(LABELS)
        known = pprof_proto.read(path)
        index, (name, unit) = max(enumerate(known.types), key=lambda t: abs(known.total(t[0])))
        keys = sorted({key for sample in known.samples for key in sample.labels})
        self.assertTrue(keys)
        values = sorted({value for sample in known.samples for value in sample.labels.get(keys[0], [])
                         if isinstance(value, str)})
        for flags in ([f"-tagroot={keys[0]}"], [f"-tagleaf={keys[0]}"], [f"-tagroot={','.join(keys)}"],
                      [f"-tagroot={keys[0]}", f"-focus=^{re.escape(values[0])}$"],
                      [f"-tagfocus={keys[0]}={values[0]}"], [f"-tagignore={keys[0]}={values[0]}"]):
            self.compare(path, name, unit, *flags)

    def test_labels_that_are_shown(self):
        path = profile(LABELS)
        known = pprof_proto.read(path)
        key = sorted({key for sample in known.samples for key in sample.labels})[0]
        for flag, expected in ((f"-taghide=^{key}$", False), (f"-tagshow=^{key}$", True)):
            traces = harness.vesta("traces", path, "-n", "0", flag)
            self.assertEqual(f"{key}:" in traces, expected, flag)
            self.assertEqual(f"{key}:" in harness.vesta("labels", path, flag), expected, flag)

    def test_differences(self):
        before, after = profile(CPU), profile(SLOW)
        for flags in ([], ["-normalize"], ["-drop_negative"], ["-normalize", "-drop_negative", "-cum"]):
            with self.subTest(flags=" ".join(flags)):
                expected = go_top(after, "cpu", "nanoseconds", f"-diff_base={before}", *flags)
                report = top(after, f"-diff_base={before}", "-sample_index=cpu", *flags)
                theirs = {row.name: (row.flat, row.cum) for row in expected.rows}
                ours = {row.name: (row.flat, row.cum) for row in rows(report)}
                self.assertEqual(report["total"], expected.total)
                # Scaling rounds each sample, and pprof cuts what is behind the point: rows may differ by a few nanoseconds.
                allowed = len(pprof_proto.read(after).samples) if "-normalize" in flags else 0
                for name in set(ours) | set(theirs):
                    for one, other in zip(ours.get(name, (0, 0)), theirs.get(name, (0, 0))):
                        self.assertLessEqual(abs(one - other), allowed, name)
                if not allowed:
                    self.assertEqual(rows(report), expected.rows)


class Spelling(unittest.TestCase):
    """One dash and a long word is a name, whatever letters there are."""

    def refused(self, *arguments):
        done = harness.run_vesta(*arguments)
        self.assertEqual(done.returncode, 2, done.stdout)
        return done.stderr

    def test_long_words_are_not_taken_apart(self):
        path = profile(CPU)
        self.assertIn("unknown flag --tagfokus", self.refused("top", "-tagfokus=x", path))
        self.assertIn("did you mean --tag-focus?", self.refused("top", "-tag_fokus=x", path))
        self.assertIn("unknown flag --oops", self.refused("top", "-oops", path))

    def test_units(self):
        path = profile(CPU)
        self.assertIn("--unit cannot be 'foo'", self.refused("top", "-unit=foo", path))
        self.assertIn("nanoseconds", self.refused("top", "-unit=MB", "-sample_index=cpu", path))
        for unit in ("ms", "s", "minutes", "auto", "minimum"):
            ours = harness.vesta("top", path, "-sample_index=cpu", f"-unit={unit}", "-nodecount=0")
            theirs = harness.go_pprof("-top", "-sample_index=cpu", f"-unit={unit}", *harness.ALL_ROWS, path)
            figures = [[re.findall(r"^\s*([\d.]+)[a-z]*\s", line) for line in text.splitlines()[-5:]]
                       for text in (ours, theirs)]
            if unit not in ("auto", "minimum"):  # what fits is a matter of taste
                self.assertEqual(*figures)

    def test_reports_lead_to_commands(self):
        self.assertIn("vesta top", self.refused("-top", "x.pb.gz"))
        self.assertIn("vesta web", self.refused("-http=:", "x.pb.gz"))
        self.assertIn("vesta web", self.refused("top", "-http=:", "x.pb.gz"))
        self.assertIn("vesta flame", self.refused("top", "-call_tree", "x.pb.gz"))


if __name__ == "__main__":
    harness.main()
