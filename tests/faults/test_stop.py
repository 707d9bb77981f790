"""SIGTERM ends a server within the time that docs/guide/server.md promises, whatever is in flight, and loses nothing that it acknowledged."""

import json
import os
import socket
import sys
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402

PROMISED = 20
SLACK = 15  # for a machine that is short of CPU


class Stop(unittest.TestCase):
    def stall(self, server):
        """Connections of all kinds that would go on for ever."""
        connections = []

        def connect(port, text, receive_buffer=None):
            connection = socket.socket()
            if receive_buffer:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            connection.connect(("127.0.0.1", port))
            connection.sendall(text)
            connections.append(connection)

        connect(server.http_port, b"")
        connect(server.http_port, b"GET /api/v1/types HTTP/1.1\r\nHost: ")
        connect(server.http_port, b"POST /ingest?name=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nmain")
        connect(server.otlp_port, b"POST /v1development/profiles HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
        query = "/api/v1/export?" + urlencode({"query": "cpu{}", "format": "folded"})
        connect(server.http_port, f"GET {query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), 4096)
        # HTTP/2: the preface, empty settings, and the head of a call that never sends its message.
        connect(server.grpc_port, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
        path = b"/push.v1.PusherService/Push"
        head = b"\x83\x86\x44" + bytes([len(path)]) + path + b"\x41\x01a\x40\x0ccontent-type\x10application/grpc\x40\x02te\x08trailers"
        connect(server.grpc_port, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0" +
                len(head).to_bytes(3, "big") + b"\x01\x04\0\0\0\x01" + head)
        return connections

    def test_whatever_is_in_flight(self):
        with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as silent:
            folder = Path(name)
            # A target that never answers, and a file of targets that is never read to its end: the server cannot know how long that takes.
            targets = folder / "targets.json"
            targets.write_text("[]")
            config = folder / "config.yaml"
            config.write_text(json.dumps({"scrape_configs": [
                {"job_name": "silent", "scrape_interval": "1s", "scrape_timeout": "600s",
                 "static_configs": [{"targets": [f"127.0.0.1:{silent.getsockname()[1]}"]}],
                 "file_sd_configs": [{"files": [str(targets)], "refresh_interval": "1s"}]}]}))
            server = Server("--config", config, data=folder / "data").start()
            connections, pipe = [], None
            try:
                stacks = "".join(f"main;{'f' * 900}{number} 1\n" for number in range(8_000)).encode()
                status, _, body = server.request("/api/v1/profiles?service_name=large&type=cpu", stacks)
                self.assertEqual(status, 200, body)
                connections = self.stall(server)
                os.mkfifo(folder / "pipe")
                os.replace(folder / "pipe", targets)
                deadline = time.monotonic() + 60
                while pipe is None:
                    self.assertLess(time.monotonic(), deadline, "the file of targets is not read again")
                    try:
                        pipe = os.open(targets, os.O_WRONLY | os.O_NONBLOCK)
                    except OSError:
                        time.sleep(0.05)
                status, _, body = server.request("/api/v1/profiles?service_name=last&type=cpu", b"main;acknowledged 7\n")
                self.assertEqual(status, 200, body)
                start = time.monotonic()
                code = server.stop()
                took = time.monotonic() - start
            finally:
                if pipe is not None:
                    os.close(pipe)
                for connection in connections:
                    connection.close()
                if server.process is not None:
                    server.kill()
            log = server.log()
            server.log_path.unlink(missing_ok=True)
            self.assertEqual(code, 0, log)
            self.assertLess(took, PROMISED + SLACK, log)
            self.assertIn("stopped before everything had ended", log)
            self.assertIn("scrapes", log)
            with Server(data=folder / "data") as again:
                self.assertIn("last", again.get("/api/v1/values/service_name")["values"])

    def test_without_anything_in_flight_it_is_soon(self):
        with tempfile.TemporaryDirectory() as name:
            server = Server(data=Path(name) / "data").start()
            start = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - start, PROMISED)
            self.assertNotIn("before everything had ended", server.log())
            server.log_path.unlink(missing_ok=True)


support.main()
