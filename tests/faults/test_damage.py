"""Files of a store that are damaged or gone: the server says what is wrong, and what it says about the rest is true."""

import shutil
import sys
import time
import unittest
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402

NUMBERS = 60


def push(server, number, padding=2000, service="disk"):
    body = f"main;number_{number};{'x' * padding}{number} 1\n".encode()
    query = urlencode({"service_name": service, "time": time.time_ns()})
    return server.request(f"/api/v1/profiles?{query}", body)


def names(server, service="disk"):
    query = urlencode({"query": f'cpu{{service_name="{service}"}}', "from": "now-2h", "to": "now", "format": "folded"})
    status, _, body = server.request(f"/api/v1/export?{query}")
    return status, [line.split(";")[1] for line in body.decode(errors="replace").splitlines() if ";" in line]


class Damage(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.store = self.server.data / "store"
        self.addCleanup(self.server.__exit__)
        self.server.start()
        for number in range(NUMBERS):
            status, _, text = push(self.server, number)
            self.assertEqual(status, 200, text)
        self.server.kill()

    def log_file(self):
        logs = [path for path in self.store.glob("*.log") if path.stat().st_size > 0]
        self.assertEqual(len(logs), 1)
        return logs[0]

    def refused(self):
        with self.assertRaises(AssertionError) as caught:
            self.server.start()
        return str(caught.exception)

    def test_a_missing_log_is_not_overlooked(self):
        log = self.log_file()
        kept = log.read_bytes()
        log.unlink()
        text = self.refused()
        self.assertIn(f"the write-ahead log {log.name} is missing", text)
        # As the message says: with the file back, all is there.
        log.write_bytes(kept)
        self.server.start()
        self.assertEqual(len(names(self.server)[1]), NUMBERS)
        self.server.kill()
        # Or without it, if that is what is wanted.
        for log in self.store.glob("*.log"):
            log.unlink()
        text = self.refused()
        listing = self.store / "wal-files"
        self.assertIn(f"remove {listing}", text)
        listing.unlink()
        self.server.start()
        self.assertEqual(names(self.server)[0], 200)
        self.assertEqual(push(self.server, 1000)[0], 200)

    def test_a_log_that_was_never_written_to_is_listed_too(self):
        """A start that is followed by nothing leaves no false alarm, however it ends."""
        for end in (self.server.kill, self.server.stop, self.server.kill):
            self.server.start()
            self.assertEqual(len(names(self.server)[1]), NUMBERS)
            end()
        self.server.start()

    def test_a_hole_in_the_log_ends_the_replay(self):
        log = self.log_file()
        size = log.stat().st_size
        self.assertGreater(size, 3 * 32768, "the log has too few blocks for this test")
        with open(log, "r+b") as file:
            file.seek(size // 2)
            file.write(b"\xa5" * 40)
        self.server.start()
        status, found = names(self.server)
        self.assertEqual(status, 200)
        count = len(found)
        self.assertTrue(0 < count < NUMBERS, found)
        # All before the hole, nothing behind it: what the message says.
        self.assertEqual(set(found), {f"number_{number}" for number in range(count)})
        said = self.server.log()
        self.assertRegex(said, r"the write-ahead log has a gap.*lost.*acknowledged before is available")
        lost = [line for line in self.server.request("/metrics")[2].decode().splitlines() if "lost_log_bytes" in line and line[0] != "#"]
        self.assertEqual(len(lost), 1, lost)
        self.assertGreater(float(lost[0].split()[-1]), 0)
        self.assertEqual(push(self.server, 1000)[0], 200)

    def test_a_damaged_end_of_the_log_is_told(self):
        log = self.log_file()
        with open(log, "r+b") as file:
            file.seek(log.stat().st_size - 60)
            file.write(b"\xa5" * 60)
        self.server.start()
        found = names(self.server)[1]
        self.assertEqual(set(found), {f"number_{number}" for number in range(NUMBERS - 1)})
        self.assertRegex(self.server.log(), r"cannot read the last \d+ bytes of the write-ahead log")

    def test_a_damaged_manifest_means_that_nothing_is_served(self):
        manifests = list(self.store.glob("MANIFEST-*"))
        self.assertTrue(manifests)
        for manifest in manifests:
            with open(manifest, "r+b") as file:
                file.seek(10)
                file.write(b"\xa5" * 60)
        text = self.refused()
        self.assertRegex(text, "(?i)corruption")
        self.assertIn("no data can be served", text)
        self.assertIn("vesta restore", text)

    def start_with_damage(self, original, table, place, length):
        """The message of a start that failed, or None."""
        shutil.rmtree(self.store)
        shutil.copytree(original, self.store)
        with open(self.store / table, "r+b") as file:
            file.seek(place)
            file.write(b"\xa5" * length)
        try:
            self.server.start()
        except AssertionError as problem:
            self.server.process = None
            return str(problem)
        return None

    def test_what_is_said_about_the_rest_is_true(self):
        """Every table in turn, a part of its data and then its end, without which it cannot be opened."""
        self.server.start()  # replays the log into tables
        self.server.stop()
        original = self.store.with_name("original")
        shutil.copytree(self.store, original)
        seen = set()
        for table in sorted(original.glob("*.sst")):
            for place, length in ((5, 40), (table.stat().st_size - 60, 60)):
                with self.subTest(table=table.name, place=place):
                    self.server.stop()
                    problem = self.start_with_damage(original, table.name, place, length)
                    if problem is not None:
                        self.assertRegex(problem, "(?i)corruption")
                        self.assertIn("no data can be served", problem)
                        self.assertNotIn("others work", problem)
                        seen.add("nothing")
                    else:
                        seen.add(self.check_rest(place == 5))
        self.assertLessEqual({"nothing", "service", "range"}, seen)

    def check_rest(self, is_part):
        """Asks for what needs the damaged file, then for what does not, and does what the message advises."""
        self.assertEqual(self.server.request("/ready")[0], 200)
        status, _, body = self.server.request("/api/v1/export?" + urlencode(
            {"query": 'cpu{service_name="disk"}', "from": "now-2h", "to": "now", "format": "folded"}))
        if status == 200:
            return "all"
        text = body.decode()
        self.assertEqual(status, 500, text)
        self.assertIn("queries and writes that need it fail, others work", text)
        self.assertEqual(self.server.get("/api/v1/values/service_name")["values"], ["disk"])
        parameters = {"query": '{service_name="disk"}', "all_time": "true"}
        if is_part:
            self.assertEqual(push(self.server, 2000, service="other")[0], 200)
            self.assertEqual(names(self.server, "other"), (200, ["number_2000"]))
            if "delete the range" in text:
                parameters = {"query": '{service_name="disk"}', "from": "now-2h", "to": "now"}
            status, _, body = self.server.request(f"/api/v1/series?{urlencode(parameters)}", method="DELETE")
            self.assertEqual(status, 200, body)
            self.assertEqual(push(self.server, 1001)[0], 200)
            self.assertEqual(names(self.server), (200, ["number_1001"]))
        return "service" if "delete the service" in text else "range"


support.main()
