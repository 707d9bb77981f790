"""Requests that no honest client sends: each is answered with an error of the protocol's own shape that says what is wrong, none ends
the server, and it does not grow."""

import gzip
import json
import os
import socket
import struct
import sys
import tempfile
import threading
import time
import unittest
import zlib
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402

MEBIBYTE = 1 << 20


def varint(number):
    out = bytearray()
    while True:
        out.append(number & 0x7F | (0x80 if number > 0x7F else 0))
        number >>= 7
        if not number:
            return bytes(out)


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def pprof(strings=("", "cpu", "nanoseconds", "main"), values=(5,), location=1, function=1, types=((1, 2),), when=None, labels=0):
    """A pprof with one sample; each argument can be made wrong."""
    out = b"".join(field(1, field(1, kind) + field(2, unit)) for kind, unit in types)
    sample = field(1, varint(location)) + field(2, b"".join(map(varint, values)))
    sample += b"".join(field(3, field(1, 1) + field(2, 2)) for _ in range(labels))
    out += field(2, sample)
    out += field(4, field(1, 1) + field(4, field(1, function) + field(2, 3)))
    out += field(5, field(1, 1) + field(2, 3))
    out += b"".join(field(6, text if isinstance(text, bytes) else text.encode()) for text in strings)
    out += field(9, time.time_ns() if when is None else when)
    return out


def push(profile, labels=(("__name__", "process_cpu"), ("service_name", "bad"))):
    series = b"".join(field(1, field(1, name.encode()) + field(2, value.encode())) for name, value in labels)
    return field(1, series + field(2, field(1, profile)))


def resident_bytes(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


class ServerWithFewFiles(Server):
    def command(self):
        return ["prlimit", "--nofile=1400:1400", *super().command()]


class BadRequests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().start()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def tearDown(self):
        self.assertIsNone(self.server.process.poll(), self.server.log())
        self.assertEqual(self.server.request("/ready")[0], 200)

    def assert_push(self, status, message, **headers):
        answer = self.server.request("/push.v1.PusherService/Push", message, {"Content-Type": "application/proto", **headers})
        self.assertIn(answer[0], (status,) if isinstance(status, int) else status, answer[2][:300])
        if answer[0] != 200:
            error = json.loads(answer[2])
            self.assertIn("code", error)
            self.assertGreater(len(error["message"]), 10, error)
        return answer

    def test_what_is_right_is_taken(self):
        self.assert_push(200, push(pprof()))
        self.assert_push(200, push(gzip.compress(pprof())))
        self.assert_push(200, gzip.compress(push(pprof())), **{"Content-Encoding": "gzip"})

    def test_broken_pprofs_are_refused(self):
        for name, profile in {
            "no sample types": pprof(types=()),
            "location 0": pprof(location=0),
            "a location that is not there": pprof(location=99),
            "function 0": pprof(function=0),
            "too few values": pprof(values=()),
            "too many values": pprof(values=(1, 2)),
            "first string not empty": pprof(strings=("x", "cpu", "nanoseconds", "main")),
            "string index out of range": pprof(types=((1, 77),)),
            "cut": pprof()[:-5],
            "no protobuf": b"hello, world" * 10,
            "cut gzip": gzip.compress(pprof())[:-12],
            "empty": b"",
            "in the year 2100": pprof(when=4_102_444_800_000_000_000),
        }.items():
            with self.subTest(name):
                self.assert_push(400, push(profile))
        # 1970 is what a broken clock says, and what py-spy sent in milliseconds.
        with self.subTest("in 1970"):
            answer = self.server.request("/push.v1.PusherService/Push", push(pprof(when=12345)), {"Content-Type": "application/proto"})
            self.assertIn(answer[0], (200, 400))

    def test_labels_have_limits(self):
        many = [("__name__", "process_cpu"), ("service_name", "bad")] + [(f"label{i}", "x") for i in range(100_000)]
        self.assert_push((400, 413), push(pprof(), many))
        self.assert_push(400, push(pprof(), [("__name__", "process_cpu"), ("service_name", "bad"), ("a" * 5000, "x")]))
        self.assert_push(400, push(pprof(), [("__name__", "process_cpu"), ("service_name", "bad"), ("a", "x" * 50_000)]))

    def test_content_types_and_methods(self):
        url = "/push.v1.PusherService/Push"
        self.assertEqual(self.server.request(url, b"x", {"Content-Type": "text/plain"})[0], 415)
        self.assertEqual(self.server.request(url, method="GET")[0], 405)
        self.assertEqual(self.server.request(url, b"", {"Content-Type": "application/json"})[0], 400)
        self.assertEqual(self.server.request(url, b"{", {"Content-Type": "application/json"})[0], 400)
        self.assertEqual(self.server.request("/v1development/profiles", b"x", {"Content-Type": "text/plain"})[0], 415)
        self.assertEqual(self.server.request("/no/such/thing")[0], 404)
        nested = b"[" * 100_000
        self.assertEqual(self.server.request(url, nested, {"Content-Type": "application/json"})[0], 400)

    def test_ingest_answers_as_pyroscope_does(self):
        def ingest(body=b"main;work 3\n", **query):
            return self.server.request("/ingest?" + urlencode(query), body)[0]

        self.assertEqual(ingest(name="app{a=b}"), 200)
        self.assertEqual(ingest(name=""), 400)
        self.assertEqual(ingest(), 400)
        self.assertEqual(ingest(name="app.unknownsuffix"), 400)
        self.assertEqual(ingest(b"main;work three\n", name="app"), 422)
        self.assertEqual(ingest(b"rubbish", name="app", format="pprof"), 422)
        self.assertEqual(ingest(b"rubbish", name="app", format="jfr"), 422)
        self.assertEqual(ingest(b"\xff" * 40, name="app", format="tree"), 422)
        self.assertEqual(ingest(b"\xff" * 40, name="app", format="trie"), 422)
        self.assertEqual(ingest(b"{}", name="app", format="speedscope"), 422)

    def test_bombs_do_not_go_off(self):
        before = resident_bytes(self.server.process.pid)
        bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
        packed = b"".join(bomb.compress(b"\0" * MEBIBYTE) for _ in range(2048)) + bomb.flush()
        for path, headers in (("/push.v1.PusherService/Push", {"Content-Type": "application/proto", "Content-Encoding": "gzip"}),
                              ("/v1development/profiles", {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}),
                              ("/api/v1/profiles?service_name=bomb", {}), ("/ingest?name=bomb&format=pprof", {})):
            status = self.server.request(path, packed, headers)[0]
            self.assertIn(status, (400, 413, 422), path)
        status = self.server.request("/push.v1.PusherService/Push", push(packed), {"Content-Type": "application/proto"})[0]
        self.assertIn(status, (400, 413))
        self.assertLess(resident_bytes(self.server.process.pid) - before, 400 * MEBIBYTE)

    def test_a_push_sent_twice_is_stored_once(self):
        when = time.time_ns()
        message = push(pprof(values=(123_456,), when=when), [("__name__", "process_cpu"), ("service_name", "twice")])
        self.assert_push(200, message)
        self.assert_push(200, message)
        names, total = self.server.flame("process_cpu:cpu:nanoseconds::", '{service_name="twice"}')
        self.assertEqual(total, 123_456)

    def test_selectors_that_make_no_sense(self):
        for query in ("", "{", "cpu{", "cpu{a}", 'cpu{a="b"', 'cpu{a=~"("}', "{}{}", "cpu{a~b}"):
            status, _, body = self.server.request("/api/v1/top?" + urlencode({"query": query, "from": "now-1h", "to": "now"}))
            self.assertEqual(status, 400, (query, body[:200]))
            self.assertIn("message", json.loads(body))
        status, _, body = self.server.request("/querier.v1.QuerierService/SelectMergeStacktraces", json.dumps(
            {"profileTypeID": "process_cpu:cpu:nanoseconds:cpu:nanoseconds", "labelSelector": "{", "start": 1, "end": 2}).encode(),
            {"Content-Type": "application/json"})
        self.assertEqual((status, json.loads(body)["code"]), (400, "invalid_argument"))

    def test_connections_that_say_nothing(self):
        """Thousands of them, and some that speak a byte at a time: others are still served."""
        wanted = min(10_000, max(500, _descriptors() - 500))
        sockets = []
        try:
            for _ in range(wanted):
                try:
                    sockets.append(socket.create_connection(("127.0.0.1", self.server.http_port), timeout=5))
                except OSError:
                    break
            for connection in sockets[:50]:
                try:
                    connection.sendall(b"POST /ingest?name=x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nab")
                except OSError:
                    pass  # it was turned away, which is fine
            self.assertGreater(len(sockets), 400)
            deadline = time.monotonic() + 60
            while True:
                # A server at its bound may turn new ones away for a while, but not for ever.
                try:
                    if self.server.request("/ready", timeout=5)[0] == 200:
                        break
                except OSError:
                    pass
                self.assertLess(time.monotonic(), deadline, "nobody is served")
                for connection in sockets[:len(sockets) // 2]:
                    connection.close()
                sockets = sockets[len(sockets) // 2:]
        finally:
            for connection in sockets:
                connection.close()

    def test_more_grpc_connections_than_the_process_may_have_files(self):
        """They are turned away before the store lacks files, and taken again when others are gone."""
        hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"  # no settings to change

        def greet():
            connection = socket.create_connection(("127.0.0.1", server.grpc_port), timeout=10)
            try:
                connection.sendall(hello)
                if connection.recv(9)[3:4] == b"\4":
                    return connection
            except OSError:
                pass
            connection.close()
            return None

        self.assertGreater(_descriptors(), 1000)
        with ServerWithFewFiles() as server:
            taken = [connection for connection in (greet() for _ in range(800)) if connection]
            try:
                self.assertTrue(100 < len(taken) < 800, len(taken))
                status, _, body = server.request("/api/v1/profiles?service_name=few", pprof())
                self.assertEqual(status, 200, body)
                metrics = server.request("/metrics")[2].decode()
                self.assertIn(f"vesta_grpc_connections_accepted_total {len(taken)}", metrics)
                self.assertIn(f"vesta_grpc_connections_refused_total {800 - len(taken)}", metrics)
                self.assertIsNone(greet())
            finally:
                for connection in taken:
                    connection.close()
            deadline = time.monotonic() + 60
            while not (connection := greet()):
                self.assertLess(time.monotonic(), deadline, "gRPC takes no connections any more")
                time.sleep(0.2)
            connection.close()

    def talk(self, text, server=None):
        """All that comes back for these bytes until the server closes."""
        with socket.create_connection(("127.0.0.1", (server or self.server).http_port), timeout=20) as connection:
            connection.sendall(text)
            answer = b""
            while block := connection.recv(65536):
                answer += block
            return answer

    def test_nothing_is_smuggled_past_a_proxy(self):
        """What one reader takes for a body never runs as a request, and the connection ends."""
        inner = b"GET /api/v1/types HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for lines in (b"Transfer-Encoding: identity", b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: chunked, identity",
                      b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding:\r\n chunked", b"Transfer-Encoding: x\r\nContent-Length: 3",
                      b"Content-Length: 0, 0", b"Host: other", b"Host: localhost", b"X-Scope-OrgID: a\r\nX-Scope-OrgID: b"):
            answer = self.talk(b"POST /ingest?name=a HTTP/1.1\r\nHost: localhost\r\n" + lines + b"\r\n\r\n" + inner)
            self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), (lines, answer[:200]))
            self.assertEqual(answer.count(b"HTTP/1.1 "), 1, (lines, answer))

    def test_other_names_read_nothing(self):
        """DNS rebinding: a page's own name leads here."""
        def status(path, host):
            return int(self.talk(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()).split()[1])

        for path in ("/metrics", "/api/v1/types", "/", "/api/v1/openapi.json"):
            self.assertEqual(status(path, "evil.example:4040"), 403, path)
            self.assertEqual(status(path, f"localhost:{self.server.http_port}"), 200, path)
        self.assertEqual(status("/healthz", "evil.example"), 200)

    def test_pages_of_other_sites_do_not_write(self):
        def status(origin):
            return self.server.request("/ingest?name=app", b"main 1\n", {"Origin": origin})[0]

        self.assertEqual(status(self.server.url), 200)
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
            self.assertEqual(status(origin), 403, origin)

    def test_secrets_in_urls_stay_out_of_logs(self):
        token = "vesta_" + "q" * 43
        for path in ("/api/v1/types?token=hunter2", f"/api/v1/types?access_token={token}", f"/api/v1/labels?query={token}",
                     f"/{token}", "/api/v1/top?%74oken=hunter2", "/api/v1/nowhere?token=hunter2"):
            self.server.request(path, headers={"Referer": f"http://localhost/?token={token}"})
        self.server.request("/api/v1/types?last=1")
        audit = self.server.data / "audit.log"
        deadline = time.monotonic() + 60
        while b"last=1" not in audit.read_bytes():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        for text in (audit.read_bytes(), (self.server.data / "refused.log").read_bytes(), self.server.log().encode()):
            self.assertNotIn(b"hunter2", text)
            self.assertNotIn(token.encode(), text)
        self.assertIn(b"token=...", audit.read_bytes())

    def test_strangers_cannot_rotate_the_audit_log(self):
        """More refusals than both logs have room for: what others did is still there."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            token = support.vesta("token", "create", "--data", folder / "data", "--scope", "read", "--tenant", "a", "--name", "ci").stdout.strip()
            config = folder / "config.yaml"
            config.write_text("auth: {tokens: required}\n")
            with Server("--config", config, data=folder / "data") as server:
                server.request("/api/v1/types?first=1", headers={"Authorization": f"Bearer {token}"})
                request = f"GET /api/v1/types?{'x' * 4000} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
                refused = 0
                with socket.create_connection(("127.0.0.1", server.http_port), timeout=60) as connection:
                    for _ in range(60):
                        connection.sendall(request * 100)
                        answer = b""
                        while answer.count(b"HTTP/1.1 401") < 100:
                            block = connection.recv(1 << 20)
                            self.assertTrue(block)
                            answer += block
                        refused += 100
                self.assertEqual(refused, 6000)  # 24 MB
                server.stop()
            files = {path.name: path.stat().st_size for path in (folder / "data").glob("*.log*")}
            self.assertTrue(b"first=1" in (folder / "data" / "audit.log").read_bytes())
            self.assertNotIn("audit.log.1", files)
            self.assertLess(sum(size for name, size in files.items() if name.startswith("refused.log")), 9 * MEBIBYTE)

    def test_answers_that_are_not_read(self):
        """A hundred clients ask for a large answer and never read it: memory is bounded, others are served, and they are disconnected."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            config = folder / "config.yaml"
            config.write_text("server: {answer_memory: 32MiB, write_timeout: 3s}\n")
            with Server("--config", config) as server:
                stacks = "".join(f"main;{'f' * 500}{number};{'g' * 500}{number} 1\n" for number in range(8_000)).encode()
                status, _, body = server.request("/api/v1/profiles?service_name=large&type=cpu", stacks)
                self.assertEqual(status, 200, body)
                query = "/api/v1/export?" + urlencode({"query": "cpu{}", "format": "folded"})
                status, _, body = server.request(query)
                self.assertEqual(status, 200)
                self.assertGreater(len(body), 6 * MEBIBYTE)
                for _ in range(8):  # what queries take themselves
                    server.request(query)
                before = resident_bytes(server.process.pid)
                stalled, most = [], 0
                try:
                    for _ in range(100):
                        connection = socket.socket()
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                        connection.connect(("127.0.0.1", server.http_port))
                        connection.sendall(f"GET {query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                        stalled.append(connection)
                    deadline = time.monotonic() + 300
                    refused = 'vesta_requests_total{transport="http",route="/api/v1/export",status="503"}'
                    while refused not in (metrics := server.request("/metrics")[2].decode()):
                        self.assertLess(time.monotonic(), deadline, "no answer was refused")
                        most = max(most, resident_bytes(server.process.pid))
                        self.assertEqual(server.request("/healthz")[0], 200)
                        time.sleep(0.02)
                    used = int(metrics.split("\nvesta_answer_memory_bytes ")[1].split()[0])
                    self.assertLessEqual(used, 32 * MEBIBYTE)
                    self.assertEqual(server.request("/api/v1/types", timeout=180)[0], 200)
                    while "\nvesta_http_connections 1\n" not in server.request("/metrics")[2].decode():
                        self.assertLess(time.monotonic(), deadline, "clients that read nothing are still connected")
                        most = max(most, resident_bytes(server.process.pid))
                        time.sleep(0.05)
                    self.assertIn("\nvesta_answer_memory_bytes 0\n", server.request("/metrics")[2].decode())
                    self.assertEqual(server.request(query)[0], 200)
                finally:
                    for connection in stalled:
                        connection.close()
                self.assertLess(most - before, 300 * MEBIBYTE)

    def test_garbage_on_the_wire(self):
        for text in (b"\x00" * 4096, b"GET / HTTP/9.9\r\n\r\n", b"GET " + b"/a" * 100_000 + b" HTTP/1.1\r\n\r\n",
                     b"POST /ingest HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
                     b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 100_000 + b"\r\n", os.urandom(100_000)):
            with socket.create_connection(("127.0.0.1", self.server.http_port), timeout=20) as connection:
                try:
                    connection.sendall(text)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass
                except OSError:
                    pass
        for text in (b"\x00" * 4096, os.urandom(50_000), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + struct.pack(">I", 0xFFFFFFFF) * 100):
            with socket.create_connection(("127.0.0.1", self.server.grpc_port), timeout=20) as connection:
                try:
                    connection.sendall(text)
                    connection.shutdown(socket.SHUT_WR)
                    connection.settimeout(5)
                    while connection.recv(65536):
                        pass
                except OSError:
                    pass

    def test_many_at_once_do_not_make_it_grow(self):
        before = resident_bytes(self.server.process.pid)
        body = os.urandom(4 * MEBIBYTE)

        def attack():
            for _ in range(20):
                self.server.request("/api/v1/profiles?service_name=x", body)

        threads = [threading.Thread(target=attack) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLess(resident_bytes(self.server.process.pid) - before, 300 * MEBIBYTE)


def _descriptors():
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    except (ValueError, OSError):
        pass
    return soft


support.main()
