"""Other people's clients speak HTTP/2 to the HTTP port: grpc-go, connect-go (Connect, its GET, gRPC, gRPC-Web) and curl, with TLS and
without. What one protocol stored, all of them find."""

import base64
import json
import os
import ssl
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

import sdk
import support
from server import Server

PUSH = "/push.v1.PusherService/Push"
LABEL_VALUES = "/querier.v1.QuerierService/LabelValues"


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


def push(service):
    """A PushRequest with one pprof of one sample."""
    strings = ("", "cpu", "nanoseconds", "main", "work" * 1000)
    profile = (field(1, field(1, 1) + field(2, 2)) + field(2, field(1, b"\1") + field(2, b"\5"))
               + field(4, field(1, 1) + field(4, field(1, 1) + field(2, 3))) + field(5, field(1, 1) + field(2, 3))
               + b"".join(field(6, text.encode()) for text in strings) + field(9, time.time_ns()))
    labels = (("__name__", "process_cpu"), ("service_name", service))
    series = b"".join(field(1, field(1, name.encode()) + field(2, value.encode())) for name, value in labels)
    return field(1, series + field(2, field(1, profile)))


def label_values():
    """A LabelValuesRequest for all services."""
    return field(1, b"service_name") + field(3, 1) + field(4, 4_102_444_800_000)


class TlsServer(Server):
    def __init__(self, folder):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
             "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
        self.ca = f"{folder}/cert.pem"
        urllib.request.install_opener(urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=self.ca))))
        super().__init__("--tls-cert", self.ca, "--tls-key", f"{folder}/key.pem")
        self.url = f"https://127.0.0.1:{self.http_port}"


class Http2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        go = support.need_command("go")
        sdk.TOOLS.mkdir(parents=True, exist_ok=True)
        cls.client = sdk.TOOLS / "go-rpc-client"
        sdk.fetch([go, "build", "-o", cls.client, "."], "grpc-go and connect-go", cwd=sdk.CLIENTS / "go-rpc",
                  env={**os.environ, "GOFLAGS": "-buildvcs=false -mod=readonly"})
        cls.server = Server().start()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def call(self, protocol, method, message, *options, server=None):
        done = subprocess.run(
            [self.client, "-protocol", protocol, *options, (server or self.server).url, method], input=message,
            capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        answer["response"] = base64.b64decode(answer["response"] or "")
        return answer

    def test_every_protocol_stores_and_finds(self):
        protocols = {
            "grpc": ("grpc-go", "grpc-go"),
            "connect-grpc": ("HTTP/2.0 POST", "HTTP/2.0 POST"),
            "grpc-web": ("HTTP/2.0 POST", "HTTP/2.0 POST"),
            "connect": ("HTTP/2.0 POST", "HTTP/2.0 POST"),
            "connect-get": (None, "HTTP/2.0 GET"),
        }
        services = []
        for protocol, (pushed, _) in protocols.items():
            for options in ((), ("-gzip",)):
                if pushed is None:
                    continue
                service = f"h2.{protocol}{len(options)}"
                services.append(service)
                with self.subTest(service):
                    answer = self.call(protocol, PUSH, push(service), *options)
                    self.assertEqual((answer["code"], answer["message"], answer["proto"]), ("ok", "", pushed))
        wanted = b"".join(field(1, service.encode()) for service in sorted(services))
        for protocol, (_, asked) in protocols.items():
            for options in ((), ("-gzip",)):
                with self.subTest(f"{protocol} {options}"):
                    answer = self.call(protocol, LABEL_VALUES, label_values(), *options)
                    self.assertEqual((answer["code"], answer["message"]), ("ok", ""))
                    self.assertEqual(answer["response"], wanted)
                    self.assertEqual(answer["proto"], asked)
        # gRPC-Web and Connect's GET do not need HTTP/2.
        for protocol in ("grpc-web", "connect-get"):
            answer = self.call(protocol, LABEL_VALUES, label_values(), "-http1")
            self.assertEqual((answer["code"], answer["response"]), ("ok", wanted))
            self.assertTrue(answer["proto"].startswith("HTTP/1.1"), answer["proto"])

    def test_json_works_with_every_protocol(self):
        question = b'{"name": "service_name", "start": 1, "end": 4102444800000}'
        self.assertEqual(self.call("connect", PUSH, push("h2.json"))["code"], "ok")
        for protocol in ("connect", "connect-get", "connect-grpc", "grpc-web"):
            with self.subTest(protocol):
                answer = self.call(protocol, LABEL_VALUES, question, "-json")
                self.assertEqual(answer["code"], "ok", answer)
                self.assertIn("h2.json", json.loads(answer["response"])["names"])

    def test_failures_have_the_protocols_words(self):
        for protocol in ("grpc", "connect-grpc", "grpc-web", "connect"):
            with self.subTest(protocol):
                # To Connect it is a path like any other that is not there.
                self.assertEqual(self.call(protocol, "/push.v1.PusherService/Nothing", b"")["code"],
                                 "notfound" if protocol == "connect" else "unimplemented")
                answer = self.call(protocol, PUSH, field(1, field(2, field(1, b"not a profile"))))
                self.assertEqual(answer["code"], "invalidargument", answer)
                self.assertGreater(len(answer["message"]), 10)

    def test_large_messages_pass_both_ways(self):
        # Several windows of flow control, and frames.
        message = push("h2.large") + field(99, b"x" * 8_000_000)
        for protocol in ("grpc", "grpc-web", "connect"):
            with self.subTest(protocol):
                answer = self.call(protocol, PUSH, message)
                self.assertEqual((answer["code"], answer["message"]), ("ok", ""))

    def curl(self, *words, server=None):
        curl = support.need_command("curl")
        done = subprocess.run(
            [curl, "--silent", "--show-error", "--max-time", "60", "--write-out", "\n%{http_version} %{http_code}", *words],
            capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        body, _, status = done.stdout.rpartition(b"\n")
        return status.decode(), body

    def test_plain_routes_by_prior_knowledge(self):
        url = self.server.url
        now = ["--http2-prior-knowledge"]
        self.assertEqual(self.curl(*now, f"{url}/ready")[0], "2 200")
        status, body = self.curl(*now, f"{url}/")
        self.assertEqual(status, "2 200")
        self.assertIn(b"<html", body.lower())
        until = int(time.time())
        status, body = self.curl(*now, "--data-binary", "main;work 3\n",
                                 f"{url}/ingest?name=h2curl.cpu&from={until - 10}&until={until}&format=folded")
        self.assertEqual(status, "2 200", body)
        self.assertEqual(self.curl(*now, f"{url}/no/such/thing")[0], "2 404")
        self.assertEqual(self.curl(*now, "--compressed", f"{url}/api/v1/openapi.json")[0], "2 200")
        self.assertEqual(self.curl(*now, "-H", "Host: evil.example", f"{url}/api/v1/services")[0], "2 403")
        self.assertEqual(self.curl(*now, f"{self.server.otlp_url}/api/v1/services")[0], "2 404")
        # Who only asks for an upgrade is answered as before.
        self.assertEqual(self.curl("--http2", f"{url}/ready")[0], "1.1 200")

    def test_everything_works_over_tls(self):
        support.need_command("openssl")
        with tempfile.TemporaryDirectory() as folder, TlsServer(Path(folder)) as server:
            for protocol in ("grpc", "connect-grpc", "grpc-web", "connect"):
                with self.subTest(protocol):
                    answer = self.call(protocol, PUSH, push(f"tls.{protocol}"), "-ca", server.ca, server=server)
                    self.assertEqual((answer["code"], answer["message"]), ("ok", ""))
                    self.assertIn(answer["proto"], ("grpc-go", "HTTP/2.0 POST"))
            answer = self.call("connect-get", LABEL_VALUES, label_values(), "-ca", server.ca, server=server)
            self.assertEqual(answer["proto"], "HTTP/2.0 GET")
            self.assertIn(b"tls.grpc", answer["response"])
            trust = ["--cacert", server.ca]
            self.assertEqual(self.curl(*trust, f"{server.url}/")[0], "2 200")
            self.assertEqual(self.curl(*trust, "--http1.1", f"{server.url}/ready")[0], "1.1 200")
            self.assertEqual(self.curl(*trust, "--no-alpn", f"{server.url}/ready")[0], "1.1 200")


support.main()
