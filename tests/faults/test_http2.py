"""Clients of HTTP/2 that no honest program is: floods of frames, resets and heads, answers that are never read. Each connection ends or
stalls alone; the server answers others meanwhile, and does not grow."""

import socket
import struct
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402

MEBIBYTE = 1 << 20
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4
CALM_DOWN = struct.pack(">I", 11)  # ENHANCE_YOUR_CALM
# HPACK: entries of the static table, and literals that are not kept.
GET, POST, HTTP = b"\x82", b"\x83", b"\x86"


def literal(name, value):
    return b"\x00" + length(len(name)) + name + length(len(value)) + value


def length(size):
    """An integer with a prefix of 7 bits."""
    if size < 127:
        return bytes([size])
    size -= 127
    out = bytearray([127])
    while size >= 128:
        out.append(size % 128 + 128)
        size //= 128
    out.append(size)
    return bytes(out)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def head(method=GET, path=b"/ready"):
    return method + HTTP + literal(b":path", path) + literal(b":authority", b"localhost")


def resident_bytes(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


class Client:
    """Sends what it is told; reads only when it is told to."""

    def __init__(self, server, settings=b""):
        self.socket = socket.create_connection(("127.0.0.1", server.http_port), timeout=30)
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings))

    def send(self, data):
        """False when the server has closed."""
        try:
            self.socket.sendall(data)
            return True
        except (ConnectionError, socket.timeout):
            return False

    def frames(self, seconds=30):
        """Frames as they come, until the server closes; `closed` says whether it did."""
        self.closed = False
        self.socket.settimeout(seconds)
        buffer = b""
        while True:
            try:
                data = self.socket.recv(65536)
            except socket.timeout:
                return
            except ConnectionError:
                data = b""
            if not data:
                self.closed = True
                return
            buffer += data
            while len(buffer) >= 9:
                size = int.from_bytes(buffer[:3], "big")
                if len(buffer) < 9 + size:
                    break
                yield buffer[3], buffer[4], int.from_bytes(buffer[5:9], "big"), buffer[9:9 + size]
                buffer = buffer[9 + size:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class Http2Floods(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(environment={
            "VESTA_SERVER_REQUEST_MEMORY": "64MiB", "VESTA_SERVER_ANSWER_MEMORY": "64MiB", "VESTA_LIMITS_MAX_BODY_BYTES": "8MiB", "VESTA_LIMITS_MAX_DECODED_BYTES": "32MiB"}).start()
        cls.server.get("/api/v1/services")
        cls.at_first = resident_bytes(cls.server.process.pid)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def tearDown(self):
        self.assertIsNone(self.server.process.poll(), self.server.log())
        self.assertEqual(self.server.request("/ready")[0], 200)
        self.assertLess(resident_bytes(self.server.process.pid) - self.at_first, 160 * MEBIBYTE)

    def assert_ends(self, client, data, times):
        """The server ends the connection; where it says why, the client is to calm down."""
        for _ in range(times):
            if not client.send(data):
                return
        codes = [payload[4:8] for kind, _, _, payload in client.frames() if kind == GOAWAY]
        self.assertTrue(client.closed, "the connection is still there")
        self.assertIn(codes, ([], [CALM_DOWN]))

    def test_an_honest_client_is_answered(self):
        with Client(self.server) as client:
            client.send(frame(HEADERS, END_STREAM | END_HEADERS, 1, head()))
            kinds = []
            for kind, flags, stream, _ in client.frames():
                kinds.append(kind)
                if stream == 1 and flags & END_STREAM:
                    break
            self.assertIn(HEADERS, kinds)

    def test_rapid_resets_end_the_connection(self):
        with Client(self.server) as client:
            for first in range(0, 100_000, 100):
                data = b"".join(
                    frame(HEADERS, END_STREAM | END_HEADERS, stream, head(path=b"/api/v1/services"))
                    + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
                    for stream in range(2 * first + 1, 2 * first + 201, 2))
                if not client.send(data):
                    break
            said = [payload for kind, _, _, payload in client.frames() if kind == GOAWAY]
            self.assertTrue(client.closed or first < 99_900)
        for payload in said:
            self.assertEqual(payload[4:8], CALM_DOWN)
            self.assertLess(int.from_bytes(payload[:4], "big"), 2000, "too many requests were taken")

    def test_floods_of_small_frames_end_the_connection(self):
        floods = {
            "ping": frame(PING, 0, 0, b"12345678"),
            "settings": frame(SETTINGS, 0, 0),
            "priority": frame(PRIORITY, 0, 3, b"\0\0\0\0\1"),
            "window": frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1"),
        }
        for name, data in floods.items():
            with self.subTest(name), Client(self.server) as client:
                self.assert_ends(client, data * 1000, 100)
        with self.subTest("empty data"), Client(self.server) as client:
            client.send(frame(HEADERS, END_HEADERS, 1, head(POST, b"/ingest?name=x")))
            self.assert_ends(client, frame(DATA, 0, 1) * 1000, 100)

    def test_heads_without_end_end_the_connection(self):
        with Client(self.server) as client:
            client.send(frame(HEADERS, 0, 1, head()))
            self.assert_ends(client, frame(CONTINUATION, 0, 1, literal(b"x-a", b"b" * 100)) * 100, 100)
        with Client(self.server) as client:
            # One large field goes to the table (index 62), and is named thousands of times.
            large = b"\x40" + length(3) + b"x-a" + length(3000) + b"b" * 3000
            client.send(frame(HEADERS, END_STREAM | END_HEADERS, 1, head() + large))
            self.assert_ends(client, frame(HEADERS, END_STREAM | END_HEADERS, 3, head() + b"\xbe" * 16_000), 1)

    def test_unread_answers_stay_bounded(self):
        # 128 streams of each of 50 clients ask, and none takes a byte of the answers.
        clients = []
        try:
            for _ in range(50):
                client = Client(self.server, settings=struct.pack(">HI", 4, 0))
                clients.append(client)
                client.send(b"".join(frame(HEADERS, END_STREAM | END_HEADERS, stream, head(path=b"/api/v1/openapi.json"))
                                     for stream in range(1, 257, 2)))
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and self.server.request("/ready")[0] != 200:
                time.sleep(0.1)
            # Small answers always go out; a large one has to wait until the others were given up.
            self.assertEqual(self.server.request("/api/v1/services")[0], 200)
            self.assertIn(self.server.request("/api/v1/openapi.json")[0], (200, 503))
            self.assertLess(resident_bytes(self.server.process.pid) - self.at_first, 160 * MEBIBYTE)
        finally:
            for client in clients:
                client.__exit__()

    def test_bodies_that_do_not_come_hold_little(self):
        clients = []
        try:
            for _ in range(20):
                client = Client(self.server)
                clients.append(client)
                padding = b"".join(literal(b"x-%d" % i, b"p" * 1000) for i in range(12))
                client.send(b"".join(frame(HEADERS, END_HEADERS, stream, head(POST, b"/ingest?name=x") + padding)
                                     for stream in range(1, 257, 2)))
            self.assertEqual(self.server.request("/ready")[0], 200)
            self.assertLess(resident_bytes(self.server.process.pid) - self.at_first, 160 * MEBIBYTE)
        finally:
            for client in clients:
                client.__exit__()

    def test_one_stalled_client_leaves_others_alone(self):
        with Client(self.server, settings=struct.pack(">HI", 4, 0)) as stalled:
            stalled.send(frame(HEADERS, END_STREAM | END_HEADERS, 1, head(path=b"/api/v1/openapi.json")))
            for _ in range(20):
                self.assertEqual(self.server.request("/api/v1/openapi.json")[0], 200)


support.main()
