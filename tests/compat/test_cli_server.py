"""The command line against a server: everything that it does with files it does with selectors, and what only a server has."""

import csv
import io
import json
import os
import re
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

import pprof_proto
import sdk
import support

BEFORE = "main;work;parse 30\nmain;work;render 10\nmain;idle 2\n"
AFTER = "main;work;parse 60\nmain;work;render 10\nmain;idle 2\n"


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.backups = cls.folder / "backups"
        cls.backups.mkdir()
        cls.server = sdk.Server("--backups", cls.backups).start()
        cls.addClassCleanup(cls.server.__exit__)
        for version, text in (("1", BEFORE), ("2", AFTER)):
            path = cls.folder / f"{version}.folded"
            path.write_text(text)
            cls.run_on(cls.server, "import", path, "--service", "shop", "--labels", f"version={version}", "--type", "cpu")

    @staticmethod
    def run_on(server, *words, check=True, **options):
        return support.vesta(*words, "--server", server.url, check=check, **options)

    def vesta(self, *words, **options):
        return self.run_on(self.server, *words, **options)

    def test_query_tells_what_there_is(self):
        self.assertEqual(self.vesta("query", "values", "service_name").stdout, "shop\n")
        self.assertEqual(self.vesta("query", "values", "version", '{service_name="shop"}').stdout, "1\n2\n")
        self.assertIn("process_cpu:cpu:nanoseconds:cpu:nanoseconds", self.vesta("query", "types").stdout)
        self.assertIn("version", self.vesta("query", "labels").stdout.split())
        series = self.vesta("query", "series", '{version="1"}').stdout
        self.assertRegex(series, r'^process_cpu:cpu:nanoseconds:cpu:nanoseconds\{.*version="1".*\}\n$')
        self.assertIn("series", json.loads(self.vesta("query", "series", "-o", "json").stdout))
        nothing = self.vesta("query", "values", "no_such_label", check=False)
        self.assertEqual(nothing.returncode, 4)

    def test_every_report_takes_a_selector(self):
        both = json.loads(self.vesta("top", 'cpu{service_name="shop"}', "-o", "json").stdout)
        one = json.loads(self.vesta("top", 'cpu{version="1"}', "--from", "-1h", "--to", "now", "-o", "json").stdout)
        share = {row["name"]: row["flat"] / one["total"] for row in one["rows"]}
        self.assertAlmostEqual(share["parse"], 30 / 42)
        self.assertAlmostEqual(both["total"] / one["total"], (42 + 72) / 42)
        for words in (["tree"], ["peek", "work"], ["traces"], ["flame"], ["types"]):
            report = self.vesta(*words, 'cpu{version="2"}')
            self.assertTrue("parse" in report.stdout or words == ["types"], words)

    def test_reports_of_selectors_are_those_of_files(self):
        self.addCleanup(self.vesta, "delete", '{service_name="same"}', "--all-time", "--yes")  # others list all services
        samples = [(["leaf(int)", "work", "main"], [30_000_000], {"latency_ms": 5}), (["work", "main"], [20_000_000], {"latency_ms": 70}),
                   (["read", "leaf(int)", "main"], [9_000_000], {}), (["idle", "main"], [1_000_000], {"latency_ms": 5})]
        path = self.folder / "same.pb"
        path.write_bytes(pprof_proto.encode(samples, time_ns=time.time_ns() - 60_000_000_000, duration_ns=1_000_000_000))
        self.vesta("import", path, "--service", "same")
        filters = ([], ["--prune-from", "^leaf$"], ["--tag-focus", "latency_ms=5"], ["--tag-ignore", "latency_ms=:10"],
                   ["--tag-focus", "latency_ms=5:", "--relative"], ["--tag-focus", "latency_ms=5", "--focus", "work", "--prune-from", "work"],
                   ["--tag-root", "latency_ms"], ["--tag-leaf", "latency_ms,none", "--tag-root", "none"],
                   ["--tag-root", "latency_ms", "--tag-ignore", "latency_ms=70", "--focus", "work|idle"])
        for words in (["top"], ["tree"], ["flame"], ["flame", "--inverted"], ["flame", "-n", "2"], ["traces"], ["peek", "leaf"], ["list", "work"]):
            for flags in filters:
                if words[0] == "list" and {"--relative", "--tag-root", "--tag-leaf"} & set(flags):
                    continue
                with self.subTest(words=words, flags=flags):
                    of_file = support.vesta(*words, path, *flags, check=False)
                    of_server = self.vesta(*words, 'cpu{service_name="same"}', *flags, check=False)
                    self.assertEqual(of_server.returncode, of_file.returncode, of_server.stderr)
                    self.assertEqual(of_server.stdout, of_file.stdout)

    def test_root_by_is_tag_root_of_files(self):
        self.addCleanup(self.vesta, "delete", '{service_name="rooted"}', "--all-time", "--yes")
        samples = [(["leaf", "work", "main"], [30_000_000], {"latency_ms": 5}), (["work", "main"], [20_000_000], {"latency_ms": 70}),
                   (["read", "main"], [9_000_000], {}), (["idle", "main"], [1_000_000], {"latency_ms": 5})]
        path, exported = self.folder / "rooted.pb", self.folder / "exported.pb.gz"
        path.write_bytes(pprof_proto.encode(samples, time_ns=time.time_ns() - 60_000_000_000, duration_ns=1_000_000_000))
        self.vesta("import", path, "--service", "rooted")
        # With their labels, as --tag-focus of several sources asks for them.
        query = urllib.parse.urlencode({"query": 'cpu{service_name="rooted"}', "samples": "true"})
        with urllib.request.urlopen(f"{self.server.url}/api/v1/pprof?{query}") as answer:
            exported.write_bytes(answer.read())
        for flags in ([], ["--tag-focus", "latency_ms=5"], ["--tag-ignore", "latency_ms=5"], ["--tag-focus", "latency_ms=1:", "--relative"],
                      ["--tag-focus", "latency_ms=5", "--hide", "work"]):
            with self.subTest(flags=flags):
                of_file = support.vesta("flame", exported, "--tag-root", "latency_ms", "-o", "csv", *flags).stdout
                names = [flag[2:].replace("-", "_") for flag in flags if flag.startswith("--")]
                values = [flag for flag in flags if not flag.startswith("--")] + ["true"]
                query = urllib.parse.urlencode({"query": 'cpu{service_name="rooted"}', "root_by": "latency_ms", "rows": 0,
                                                "format": "csv", **dict(zip(names, values))})
                with urllib.request.urlopen(f"{self.server.url}/api/v1/tree?{query}") as answer:
                    of_server = answer.read().decode()
                self.assertEqual(self.weights_by_path(of_server), self.weights_by_path(of_file))

    @staticmethod
    def weights_by_path(text):
        """Path, total and self of every node; a value of a label is the same node whether its name is said or not."""
        paths, out = {-1: ()}, {}
        for row in csv.DictReader(io.StringIO(text)):
            name = {"latency_ms=": "<unknown>"}.get(row["name"], row["name"].removeprefix("latency_ms="))
            paths[int(row["id"])] = paths[int(row["parent"])] + (name,)
            out[paths[int(row["id"])]] = (row["total"], row["self"])
        return out

    def test_a_picture_of_two_selectors_is_that_of_their_files(self):
        self.addCleanup(self.vesta, "delete", '{service_name="drawn"}', "--all-time", "--yes")
        files = []
        for version, weights in (("a", (30, 20, 9)), ("b", (60, 5, 0))):
            samples = [(["leaf", "work", "main"], [weights[0] * 1_000_000], {}), (["work", "main"], [weights[1] * 1_000_000], {}),
                       (["gone", "main"], [weights[2] * 1_000_000], {})]
            files.append(self.folder / f"{version}.pb")
            files[-1].write_bytes(pprof_proto.encode([sample for sample in samples if sample[1][0]],
                                                     time_ns=time.time_ns() - 60_000_000_000, duration_ns=1_000_000_000))
            self.vesta("import", files[-1], "--service", "drawn", "--labels", f"version={version}")
        selectors = [f'cpu{{service_name="drawn",version="{version}"}}' for version in "ab"]
        for flags in ([], ["--hide", "work"], ["--scale", "share"]):
            with self.subTest(flags=flags):
                self.vesta("diff", *selectors, "-o", self.folder / "server.svg", *flags)
                support.vesta("diff", *files, "-o", self.folder / "file.svg", *(flags or ["--scale", "rate"]))
                boxes = [re.findall(r"<g><title>.*?</g>", (self.folder / f"{name}.svg").read_text()) for name in ("server", "file")]
                self.assertGreaterEqual(len(boxes[1]), 4)
                self.assertEqual(boxes[0], boxes[1])
        self.vesta("diff", *selectors, "-o", self.folder / "server.html")
        self.assertIn('id="profile"', (self.folder / "server.html").read_text())
        nothing = self.vesta("diff", *selectors, "-o", self.folder / "none.svg", "--focus", "nowhere", check=False)
        self.assertEqual(nothing.returncode, 4, nothing.stderr)
        self.assertFalse((self.folder / "none.svg").exists())

    def test_labels_of_a_selector(self):
        self.addCleanup(self.vesta, "delete", '{service_name="labelled"}', "--all-time", "--yes")
        path = self.folder / "labelled.pb"
        path.write_bytes(pprof_proto.encode([(["main"], [10_000_000], {"bytes": 64}), (["main"], [30_000_000], {"bytes": 128})],
                                            time_ns=time.time_ns() - 60_000_000_000, duration_ns=1_000_000_000))
        self.vesta("import", path, "--service", "labelled")
        labels = self.vesta("labels", 'cpu{service_name="labelled"}', "-o", "csv").stdout.splitlines()
        self.assertIn("service_name,labelled,40000000", labels)
        of_file = support.vesta("labels", path, "-o", "csv").stdout.splitlines()
        self.assertEqual([line for line in labels if line.startswith("bytes")], [line for line in of_file if line.startswith("bytes")])
        roots = json.loads(self.vesta("flame", 'cpu{service_name="labelled"}', "--tag-root", "bytes", "-o", "json").stdout)
        self.assertEqual(len([node for node in roots["nodes"] if node["parent"] == 0]), 2)

    def test_a_selector_that_finds_nothing_says_where_to_look(self):
        for words in (["top", 'cpu{service_name="shoop"}'], ["export", 'cpu{version="9"}', "-o", "-"],
                      ["top", 'cpu{version="1"}', "--from", "-3h", "--to", "-2h"]):
            with self.subTest(words=words):
                nothing = self.vesta(*words, check=False)
                self.assertEqual(nothing.returncode, 4, nothing.stderr)
                self.assertIn("vesta query series", nothing.stderr)

    def test_web_opens_a_selector_and_a_url(self):
        url = f"{self.server.url}/api/v1/pprof?query=" + urllib.parse.quote('cpu{version="1"}')
        for source in ('cpu{version="1"}', url):
            with tempfile.TemporaryDirectory() as scratch:
                child = subprocess.Popen([support.VESTA, "web", "--no-browser", source, "--server", self.server.url],
                                         stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": scratch})
                try:
                    page = child.stdout.readline().strip()
                    self.assertRegex(page, r"^http://127\.0\.0\.1:\d+/\?view=explore&query=.*&file=\w+")
                    with urllib.request.urlopen(urllib.parse.urljoin(page, "/api/v1/files")) as answer:
                        files = json.load(answer)["files"]
                    self.assertEqual(len(files), 1)
                    self.assertEqual(files[0]["id"], urllib.parse.parse_qs(urllib.parse.urlsplit(page).query)["file"][0])
                finally:
                    child.terminate()
                    child.stdout.close()
                self.assertEqual(child.wait(60), 0)
                self.assertEqual(os.listdir(scratch), [])

    def test_web_opens_a_browser(self):
        seen, browser = self.folder / "seen", self.folder / "browser"
        browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}.part && mv {seen}.part {seen}\n')
        browser.chmod(0o755)
        child = subprocess.Popen([support.VESTA, "web", self.folder / "1.folded"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 text=True, env={**os.environ, "BROWSER": str(browser)})
        try:
            page = child.stdout.readline().strip()
            deadline = time.monotonic() + 60
            while not seen.exists():
                self.assertLess(time.monotonic(), deadline, "the browser was not started")
                time.sleep(0.05)
            self.assertEqual(seen.read_text(), page)
        finally:
            child.terminate()
            child.stdout.close()
        self.assertEqual(child.wait(60), 0)

    def test_diff_of_two_selectors_and_of_two_ranges(self):
        report = json.loads(self.vesta("diff", 'cpu{version="1"}', 'cpu{version="2"}', "-o", "json").stdout)
        self.assertEqual(report["rows"][0]["name"], "parse")
        nothing = self.vesta("diff", "cpu{}", "cpu{}", "--base-from", "-3h", "--base-to", "-2h", check=False)
        self.assertNotEqual(nothing.returncode, 0)

    def test_export_in_any_format(self):
        for name in ("a.pb.gz", "a.folded", "a.speedscope.json"):
            path = self.folder / name
            self.vesta("export", 'cpu{version="1"}', "-o", path)
            report = json.loads(support.vesta("top", path, "-o", "json").stdout)
            self.assertEqual(report["rows"][0]["name"], "parse")

    def test_labels_of_samples_do_not_multiply_the_duration(self):
        self.addCleanup(self.vesta, "delete", '{service_name="tagged"}', "--all-time", "--yes")  # others list all services
        duration_ns = 3_980_000_000
        samples = [(["work", "main"], [10_000_000], {"path": f"/{i}"}) for i in range(7)]
        path = self.folder / "tagged.pb"
        path.write_bytes(pprof_proto.encode(samples, time_ns=time.time_ns() - 60_000_000_000, duration_ns=duration_ns))
        self.vesta("import", path, "--service", "tagged")
        self.assertEqual(len(self.vesta("query", "values", "path", '{service_name="tagged"}').stdout.split()), 7)

        def duration(selector, *words):
            answer = json.loads(self.vesta("top", f'cpu{{service_name="tagged"{selector}}}', "-o", "json", *words).stdout)
            self.assertEqual(answer["total"] % 10_000_000, 0)
            return answer["duration_ns"]

        self.assertEqual(duration(""), duration_ns)
        self.assertEqual(duration(', path="/3"'), duration_ns)
        self.assertEqual(duration(', path=~"/[34]"'), duration_ns)
        for extra in ("", "&samples=true"):
            exported = self.folder / "tagged-again.pb.gz"
            query = urllib.parse.quote('cpu{service_name="tagged"}')
            with urllib.request.urlopen(f"{self.server.url}/api/v1/export?query={query}{extra}") as answer:
                exported.write_bytes(answer.read())
            self.assertEqual(pprof_proto.read(exported).duration_ns, duration_ns, extra)
        # Another profile of the same program adds its own time.
        path.write_bytes(pprof_proto.encode(samples[:2], time_ns=time.time_ns() - 40_000_000_000, duration_ns=duration_ns))
        self.vesta("import", path, "--service", "tagged")
        self.assertEqual(duration(""), 2 * duration_ns)
        self.assertEqual(duration(', path="/6"'), duration_ns)
        # A file that is opened on the server, and asked by its id.
        with urllib.request.urlopen(urllib.request.Request(f"{self.server.url}/api/v1/files?name=t.pb", data=path.read_bytes(), method="POST")) as answer:
            opened = json.load(answer)["id"]
        with urllib.request.urlopen(f"{self.server.url}/api/v1/top?file={opened}") as answer:
            self.assertEqual(json.load(answer)["duration_ns"], duration_ns)

    def test_backup_and_restore(self):
        self.vesta("backup", "nightly")
        restored = self.folder / "restored"
        support.vesta("restore", self.backups / "nightly", restored)
        again = support.vesta("restore", self.backups / "nightly", restored, check=False)
        self.assertEqual(again.returncode, 2)
        with sdk.Server(data=restored) as second:
            self.assertEqual(self.run_on(second, "query", "values", "version").stdout, "1\n2\n")
            self.assertEqual(self.run_on(second, "top", "cpu{}", "-o", "json").stdout, self.vesta("top", "cpu{}", "-o", "json").stdout)

    def test_import_at_a_time(self):
        path = self.folder / "past.folded"
        path.write_text("main;past 5\n")
        self.vesta("import", path, "--service", "past", "--type", "cpu", "--time", "2026-11-10T14:30:00Z")
        report = self.vesta("top", 'cpu{service_name="past"}', "--from", "2026-11-10T14:00:00Z", "--to", "2026-11-10T15:00:00Z")
        self.assertIn("past", report.stdout)
        later = self.vesta("top", 'cpu{service_name="past"}', "--from", "2026-11-10T15:00:00Z", "--to", "2026-11-10T16:00:00Z", check=False)
        self.assertEqual(later.returncode, 4)

    def test_delete_asks_or_is_told(self):
        path = self.folder / "old.folded"
        path.write_text("main;old 5\n")
        self.vesta("import", path, "--service", "old", "--type", "cpu")
        refused = self.vesta("delete", '{service_name="old"}', "--all-time", check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--yes", refused.stderr)
        # No default says how much is deleted.
        for extent in ((), ("--from", "-1h"), ("--to", "now"), ("--from", "-1h", "--to", "now", "--all-time")):
            refused = self.vesta("delete", '{service_name="old"}', *extent, "--yes", check=False)
            self.assertEqual(refused.returncode, 2, extent)
            self.assertIn("--all-time", refused.stderr)
        self.vesta("delete", '{service_name="old"}', "--from", "-3h", "--to", "-2h", "--yes")
        self.assertIn("old", self.vesta("query", "values", "service_name").stdout)
        done = self.vesta("delete", '{service_name="old"}', "--from", "-1h", "--to", "now+1h", "--yes")
        self.assertRegex(done.stderr, r'deleting all profiles of \{service_name="old"\} from 20\S+Z to 20\S+Z on http')
        self.assertNotIn("old", self.vesta("query", "values", "service_name").stdout)

    def test_errors_say_what_to_do(self):
        wrong = self.vesta("top", 'cpu{version=~"("}', check=False)
        self.assertEqual(wrong.returncode, 2)
        gone = support.vesta("top", "cpu{}", "--server", "http://127.0.0.1:1", check=False)
        self.assertEqual(gone.returncode, 1)
        self.assertIn("vesta server", gone.stderr)
        none = self.vesta("top", 'cpu{service_name="nobody"}', check=False)
        self.assertEqual(none.returncode, 4)

    def test_tokens(self):
        data = self.folder / "with-tokens"
        config = self.folder / "tokens.yaml"
        config.write_text("auth: {tokens: required}\n")
        token = support.vesta("token", "create", "--data", data, "--scope", "read", "--tenant", "anonymous").stdout.split()[-1]
        with sdk.Server("--config", config, data=data) as server:
            refused = self.run_on(server, "query", "types", check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("token", refused.stderr)
            self.assertEqual(self.run_on(server, "query", "types", "--token", token, check=False).returncode, 4)
            cannot = self.run_on(server, "import", self.folder / "1.folded", "--token", token, check=False)
            self.assertEqual(cannot.returncode, 1)


support.main()
