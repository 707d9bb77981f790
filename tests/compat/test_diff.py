#!/usr/bin/env python3
"""A function that was made slower by a known factor is what `vesta diff` puts first."""

import json
import math
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import harness
from harness import go_top, profile, truth, vesta

BASE, SLOW = "go-cpu-base.pb.gz", "go-cpu-slow.pb.gz"
SAMPLE_NS = 10_000_000  # Go samples at 100 Hz


def colour(element, sheet):
    """The fill of an SVG element as (red, green, blue), its own or its class's in the style sheet."""
    rule = re.search(rf"\.{element.get('class')}\s*\{{([^}}]*)\}}", sheet)
    style = (element.get("style") or "") + ";" + (rule[1] if rule else "")
    filled = re.search(r"fill:\s*([^;]+)", style)
    text = element.get("fill") or (filled[1].strip() if filled else "")
    found = re.fullmatch(r"rgb\((\d+),\s*(\d+),\s*(\d+)\)", text)
    if found:
        return tuple(map(int, found.groups()))
    found = re.fullmatch(r"#([0-9a-fA-F]{6})", text)
    if found:
        return tuple(bytes.fromhex(found[1]))
    raise AssertionError(f"cannot read the colour {text!r}")


class Diff(unittest.TestCase):
    def setUp(self):
        self.base, self.slow = profile(BASE), profile(SLOW)

    def rows(self, before, after, *arguments):
        return json.loads(vesta("diff", before, after, "--type", "cpu", *arguments, "-o", "json"))["rows"]

    def test_slower_function_is_first(self):
        """medium did three times the work. Its loop is mostly mix, inlined into it, so mix leads by flat
        time and medium by cumulative time."""
        rows = self.rows(self.base, self.slow)
        self.assertEqual(rows[0]["name"], "main.mix")
        self.assertGreater(rows[0]["flat_delta"], 0)
        self.assertEqual(rows[0]["flat_after"] - rows[0]["flat_before"], rows[0]["flat_delta"])

        slower = truth(SLOW)["slower"]
        without_mix = self.rows(self.base, self.slow, "--hide", r"^main\.mix$")
        self.assertEqual(without_mix[0]["name"], slower["function"])
        self.assertGreater(without_mix[0]["flat_delta"], 0)
        medium = next(row for row in rows if row["name"] == slower["function"])
        # Against a function that did the same work both times, because the machine may have been slower the second time. Each
        # value is a number of samples, so the bound is four standard deviations of the ratio: never so wide that 1 is in it.
        heavy = next(row for row in rows if row["name"] == "main.heavy")
        counts = [row[side] / SAMPLE_NS for row in (medium, heavy) for side in ("cum_before", "cum_after")]
        ratio = medium["cum_after"] / medium["cum_before"] * heavy["cum_before"] / heavy["cum_after"]
        bound = 4 * math.sqrt(sum(1 / count for count in counts))
        self.assertLess(bound, math.log(slower["factor"]), counts)
        self.assertLess(abs(math.log(ratio / slower["factor"])), bound, counts)
        others = [row for row in rows if row["name"] in ("main.heavy", "main.light")]
        for other in others:
            self.assertLess(abs(other["cum_delta"]), medium["cum_delta"] / 2, other["name"])

    def test_other_way_round_is_negative(self):
        """What got faster comes last, also where not all rows are shown."""
        for arguments in ([], ["--nodes", "5"]):
            rows = self.rows(self.slow, self.base, *arguments)
            self.assertEqual(rows[-1]["name"], "main.mix")
            self.assertLess(rows[-1]["flat_delta"], 0)
            deltas = [row["flat_delta"] for row in rows]
            self.assertEqual(deltas, sorted(deltas, reverse=True))

    def test_ties_are_in_the_order_of_names(self):
        rows = self.rows(self.base, self.slow, "--nodes", "0")
        for row, after in zip(rows, rows[1:]):
            if row["flat_delta"] == after["flat_delta"]:
                self.assertLessEqual(row["name"], after["name"])

    def test_sides_are_the_two_profiles(self):
        harness.need_pprof()
        before = {row.name: row for row in go_top(self.base, "cpu", "nanoseconds").rows}
        after = {row.name: row for row in go_top(self.slow, "cpu", "nanoseconds").rows}
        for row in self.rows(self.base, self.slow, "--nodes", "0"):
            for side, rows in (("before", before), ("after", after)):
                flat = rows[row["name"]].flat if row["name"] in rows else 0
                cum = rows[row["name"]].cum if row["name"] in rows else 0
                self.assertEqual((row[f"flat_{side}"], row[f"cum_{side}"]), (flat, cum), row["name"])

    def test_slower_function_is_red_in_the_flame_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "diff.svg"
            vesta("diff", self.base, self.slow, "--type", "cpu", "-o", out)
            tree = ElementTree.parse(out)
        sheet = "".join(style.text or "" for style in tree.iter() if style.tag.endswith("}style"))
        groups = [group for group in tree.iter() if group.tag.endswith("}g")]

        def colours(function):
            found = []
            for group in groups:
                title = next((child.text or "" for child in group if child.tag.endswith("}title")), "")
                if re.match(rf"{re.escape(function)}\b", title):
                    found += [colour(child, sheet) for child in group if child.tag.endswith("}rect")]
            self.assertTrue(found, f"{function} is not in the flame graph")
            return found

        for red, green, blue in colours("main.medium"):
            self.assertGreater(red, green)
            self.assertGreater(red, blue)


if __name__ == "__main__":
    harness.main()
