"""One tenant does not make another wait: deletions, queries without end, bombs; and what was deleted leaves the disk."""

import base64
import gzip
import json
import random
import re
import socket
import sys
import threading
import time
import unittest
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402

HOUR = 3_600_000_000_000


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def pprof(time_ns, functions, value=1):
    """A stack of one frame for each function."""
    strings = ["", "cpu", "nanoseconds", *functions]
    out = field(1, field(1, 1) + field(2, 2))
    for at in range(len(functions)):
        out += field(2, field(1, at + 1) + field(2, value))
        out += field(4, field(1, at + 1) + field(4, field(1, at + 1)))
        out += field(5, field(1, at + 1) + field(2, at + 3))
    out += b"".join(field(6, text.encode()) for text in strings)
    return out + field(9, time_ns) + field(10, 1_000_000_000)


class Fairness(unittest.TestCase):
    def setUp(self):
        self.server = Server("--multi-tenant").start()
        self.addCleanup(self.server.__exit__)
        self.now = time.time_ns()

    def push(self, tenant, service, body=b"main;work 1\n", when=None, headers=None):
        query = urlencode({"service_name": service, "time": when or self.now})
        return self.server.request(f"/api/v1/profiles?{query}", body, {"X-Scope-OrgID": tenant, **(headers or {})})

    def push_many(self, tenant, profiles):
        """(service, pod, time, functions) each, in requests of some hundreds."""
        for start in range(0, len(profiles), 500):
            series = [{"labels": [{"name": "service_name", "value": service}, {"name": "pod", "value": pod},
                                  {"name": "__name__", "value": "process_cpu"}],
                       "samples": [{"rawProfile": base64.b64encode(pprof(when, functions)).decode()}]}
                      for service, pod, when, functions in profiles[start:start + 500]]
            status, _, text = self.server.request(
                "/push.v1.PusherService/Push", json.dumps({"series": series}).encode(),
                {"X-Scope-OrgID": tenant, "Content-Type": "application/json"})
            self.assertEqual(status, 200, text)

    def delete(self, tenant, query="{}"):
        parameters = urlencode({"query": query, "from": self.now - 400 * HOUR, "to": self.now + HOUR})
        return self.server.request(f"/api/v1/series?{parameters}", method="DELETE", headers={"X-Scope-OrgID": tenant}, timeout=600)

    def profiles_of(self, tenant, service):
        parameters = urlencode({"query": f'{{service_name="{service}"}}', "from": self.now - 400 * HOUR, "to": self.now + HOUR})
        status, _, body = self.server.request(f"/api/v1/series?{parameters}", headers={"X-Scope-OrgID": tenant})
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def test_a_deletion_lets_others_write(self):
        pods, hours = 400, 100
        # Every other pod stays, so that the deletion is in very many pieces.
        self.push_many("a", [("web", f"{'even' if pod % 2 == 0 else 'odd'}-{pod}", self.now - hour * HOUR, ["main"])
                             for hour in range(hours) for pod in range(pods)])
        self.assertEqual(self.push("b", "shop")[0], 200)
        over = threading.Event()
        answered = {"a": [], "b": []}  # when, in seconds

        def write(tenant):
            while not over.is_set():
                status, _, text = self.push(tenant, "fresh", when=self.now + len(answered[tenant]))
                self.assertEqual(status, 200, text)
                answered[tenant].append(time.monotonic())

        writers = [threading.Thread(target=write, args=(tenant,)) for tenant in answered]
        for writer in writers:
            writer.start()
        deadline = time.monotonic() + 60
        while min(map(len, answered.values())) == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        start = time.monotonic()
        status, _, text = self.delete("a", '{pod=~"even-.*"}')
        end = time.monotonic()
        over.set()
        for writer in writers:
            writer.join()
        self.assertEqual(status, 200, text)
        for tenant, times in answered.items():
            during = [start, *(moment for moment in times if start < moment < end), end]
            longest = max(after - before for before, after in zip(during, during[1:]))
            # Of the same run, so that a slow machine is slow in both.
            self.assertLess(longest, (end - start) / 2, f"a push of {tenant} waited for most of the deletion")

    def test_deleted_data_leaves_the_disk(self):
        rng = random.Random(5)
        names = lambda count: ["%0200x" % rng.getrandbits(800) for _ in range(count)]  # noqa: E731

        def size():
            return sum(path.stat().st_size for path in Path(self.server.data).rglob("*") if path.is_file())

        empty = size()  # the store keeps some room for itself
        for _ in range(12):
            self.push_many("a", [("web", f"pod-{pod}", self.now - hour * HOUR, names(40))
                                 for hour in range(5) for pod in range(20)])
        full = size() - empty
        self.assertGreater(full, 5 << 20)
        self.assertEqual(self.delete("a")[0], 200)
        deadline = time.monotonic() + 60
        while size() - empty >= full / 8 and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertLess(size() - empty, full / 8)

    def test_a_killed_deletion_leaves_a_whole_store(self):
        pods, hours = 300, 48
        self.push_many("a", [("web" if pod % 2 else "api", f"pod-{pod}", self.now - hour * HOUR, ["main"])
                             for hour in range(hours) for pod in range(pods)])
        for round_ in range(6):
            thread = threading.Thread(target=lambda: self.try_delete("a", '{service_name="web"}'))
            thread.start()
            time.sleep(random.Random(round_).random() * 0.1)  # any moment will do
            self.server.kill()
            thread.join()
            self.server.start()
            # Whatever is listed can be asked for, and nothing of the other service is missing.
            start, end = (self.now - 400 * HOUR) // 1_000_000, (self.now + HOUR) // 1_000_000
            total = 0
            for service in ("web", "api"):
                answer = self.server.connect("SelectMergeStacktraces", {
                    "profileTypeID": "process_cpu:cpu:nanoseconds::", "labelSelector": f'{{service_name="{service}"}}',
                    "start": start, "end": end}, {"X-Scope-OrgID": "a"})
                total = int((answer.get("flamegraph") or {}).get("total", 0))
                listed = len(self.profiles_of("a", service).get("series", []))
                self.assertLessEqual(total, pods // 2 * hours)
                self.assertEqual(total == 0, listed == 0, f"{service}: {total} in {listed} series")
            self.assertEqual(total, pods // 2 * hours, "of api nothing was deleted")
        self.assertEqual(self.delete("a", '{service_name="web"}')[0], 200)
        self.assertEqual(self.profiles_of("a", "web").get("series", []), [])

    def try_delete(self, tenant, query):
        try:
            self.delete(tenant, query)
        except OSError:
            pass  # it was killed


class Memory(unittest.TestCase):
    """Small bodies that unpack to much, without a word of it in the head."""

    def rss(self, server, what="VmHWM"):
        for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
            if line.startswith(what):
                return int(line.split()[1]) << 10
        raise AssertionError(f"no {what}")

    def test_bombs_without_content_encoding_stay_within_the_limit(self):
        limit = 64 << 20
        config = {"VESTA_SERVER_REQUEST_MEMORY": "64MiB", "VESTA_LIMITS_MAX_BODY_BYTES": "8MiB",
                  "VESTA_LIMITS_MAX_DECODED_BYTES": "60MiB"}
        with Server(environment=config) as server:
            status, _, text = server.request("/api/v1/profiles?service_name=shop", b"main;work 1\n")
            self.assertEqual(status, 200, text)
            before = self.rss(server)
            within = gzip.compress(b"\0" * (56 << 20), 9)  # as much as one body may
            beyond = gzip.compress(b"\0" * (200 << 20), 9)
            answers = []

            def flood(path, body, headers):
                for _ in range(3):
                    answers.append(server.request(path, body, headers)[:2])

            ways = [("/api/v1/profiles?service_name=x", within, {}),
                    ("/api/v1/profiles?service_name=x", gzip.compress(within), {"Content-Encoding": "gzip"}),
                    ("/ingest?name=x&format=pprof", within, {}),
                    ("/push.v1.PusherService/Push", json.dumps({"series": [{"labels": [{"name": "service_name", "value": "x"}], "samples": [
                        {"rawProfile": base64.b64encode(within).decode()}]}]}).encode(), {"Content-Type": "application/json"}),
                    ("/api/v1/profiles?service_name=x", beyond, {})]
            threads = [threading.Thread(target=flood, args=way) for way in ways for _ in range(5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(answers), 3 * len(threads))
            self.assertLessEqual({status for status, _ in answers}, {400, 413, 422, 429}, "an answer of another kind")
            for status, headers in answers:
                if status == 429:
                    self.assertIn("retry-after", {name.lower() for name in headers})
            grown = self.rss(server) - before
            self.assertLess(grown, 4 * limit, f"{grown >> 20} MiB")
            status, _, text = server.request("/api/v1/profiles?service_name=shop", b"main;work 1\n")
            self.assertEqual(status, 200, text)

    def test_a_tenant_that_holds_much_leaves_room_for_others(self):
        config = {"VESTA_SERVER_REQUEST_MEMORY": "64MiB", "VESTA_LIMITS_MAX_BODY_BYTES": "16MiB",
                  "VESTA_LIMITS_MAX_DECODED_BYTES": "32MiB"}
        with Server("--multi-tenant", environment=config) as server:
            held = 0
            for _ in range(8):
                client = socket.create_connection(("127.0.0.1", server.http_port), timeout=60)
                self.addCleanup(client.close)
                client.sendall(b"POST /api/v1/profiles?service_name=a HTTP/1.1\r\nHost: localhost\r\nX-Scope-OrgID: a\r\n"
                               b"Content-Length: %d\r\n\r\n" % (16 << 20))
                try:
                    client.sendall(b"x" * (15 << 20))  # and then not the rest
                except OSError:
                    pass  # refused: it holds as much as it may
            deadline = time.monotonic() + 60
            while held < 40 << 20 and time.monotonic() < deadline:
                text = server.request("/metrics")[2].decode()
                held = float(re.search(r"^vesta_request_memory_bytes (\S+)", text, re.M).group(1))
            self.assertGreaterEqual(held, 40 << 20, "the first tenant holds what it can")
            body = b"main;work 1\n" * ((2 << 20) // 12)
            for tenant, expected in (("a", 429), ("b", 200), ("b", 200), ("c", 200)):
                status, _, text = server.request("/api/v1/profiles?service_name=b", body, {"X-Scope-OrgID": tenant})
                self.assertEqual(status, expected, f"{tenant}: {text}")


support.main()
