"""A client that goes away while its file is opened: the server does not finish what no client waits for."""

import json
import socket
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402


class Cancel(unittest.TestCase):
    def setUp(self):
        self.server = Server().start()
        self.addCleanup(self.server.__exit__)

    def opened(self):
        status, _, body = self.server.request("/api/v1/files")
        self.assertEqual(status, 200, body)
        return [file["name"] for file in json.loads(body)["files"]]

    def cpu_ticks(self):
        fields = Path(f"/proc/{self.server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def test_a_file_whose_client_left_is_not_opened(self):
        # Every line has a stack of its own, which is what takes time.
        body = "".join(f"main;a{n % 977};b{n % 31};c{n} 1\n" for n in range(400_000)).encode()
        client = socket.create_connection(("127.0.0.1", self.server.http_port), timeout=60)
        client.sendall(b"POST /api/v1/files?name=cancelled.folded HTTP/1.1\r\nHost: localhost\r\n"
                       b"Content-Length: %d\r\n\r\n" % len(body) + body)
        client.close()
        status, _, text = self.server.request("/api/v1/files?name=small.folded", b"main;work 1\n")
        self.assertEqual(status, 200, text)
        # It is over when the server is at rest.
        deadline = time.monotonic() + 120
        used, rest = self.cpu_ticks(), 0
        while rest < 10 and time.monotonic() < deadline:
            time.sleep(0.1)
            now = self.cpu_ticks()
            rest = rest + 1 if now == used else 0
            used = now
        self.assertEqual(self.opened(), ["small.folded"])


support.main()
