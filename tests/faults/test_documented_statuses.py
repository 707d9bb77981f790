"""Every status that the server answers is in its OpenAPI document: each documented route is asked with all kinds of bad input, and a
status that the document does not have for that route fails the test."""

import gzip
import json
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402

LIMITS = """
limits: {max_body_bytes: 1MiB, max_decoded_bytes: 2MiB}
server: {backups: %s}
"""

# For every parameter that a route has, one at a time; the others have values that are right.
BAD_VALUES = ["", "{", "nonsense", "-1", "99999999999999999999999", "\u00e9\u0000", "../../etc/passwd", "a" * 5000, '{service_name="nobody"}',
              "nosuchtype{}", "now+1y", "1", "true", "json", "svg", "html", "pprof"]
GOOD = {"query": "cpu{}", "baseline_query": "cpu{}", "function": "main", "source_file": "/a.cc", "service_name": "shop", "match": "main",
        "from": "-1h", "to": "now", "baseline_from": "-1h", "baseline_to": "now", "name": "a.folded", "format": "folded", "type": "cpu"}


class DocumentedStatuses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        config = cls.server.folder / "config.yaml"
        config.write_text(LIMITS % (cls.server.folder / "backups"))
        cls.server.options += ["--config", str(config)]
        cls.server.start()
        cls.server.request("/api/v1/profiles?" + urlencode({"service_name": "shop", "type": "cpu"}), b"main;work 3\n")
        cls.document = json.loads(cls.server.request("/api/v1/openapi.json")[2])

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def setUp(self):
        self.seen = {}

    def operations(self):
        for path, operations in self.document["paths"].items():
            for method, operation in operations.items():
                yield path, method, operation

    def parameters(self, operation):
        for entry in operation.get("parameters", []):
            if "$ref" in entry:
                entry = self.document["components"]["parameters"][entry["$ref"].rpartition("/")[2]]
            yield entry["name"], entry["in"]

    def good(self, method, operation):
        """Values for a call that is right; one that deletes finds nothing, so that later calls do."""
        values = {**GOOD, "query": '{service_name="nobody"}'} if method == "delete" else GOOD
        return {name: values[name] for name, place in self.parameters(operation) if place == "query" and name in values}

    def note(self, path, method, operation, status, what):
        self.seen.setdefault(status, set()).add(f"{method} {path}")
        self.assertIn(str(status), operation["responses"], f"{method} {path} with {what} is answered with {status}, which is not documented")
        response = operation["responses"][str(status)]
        if "$ref" in response:
            self.assertIn(response["$ref"].rpartition("/")[2], self.document["components"]["responses"])

    def raw(self, text, server=None):
        """The status of the first answer to these bytes."""
        with socket.create_connection(("127.0.0.1", (server or self.server).http_port), timeout=30) as connection:
            connection.sendall(text)
            answer = b""
            while b"\r\n" not in answer:
                block = connection.recv(65536)
                self.assertTrue(block, f"no answer to {text[:200]!r}")
                answer += block
        return int(answer.split()[1])

    def test_bad_parameters(self):
        for path, method, operation in self.operations():
            names, good = dict(self.parameters(operation)), self.good(method, operation)
            queries = [good, {}, {**good, "unknown": "1"}]
            queries += [{**good, name: value} for name, place in names.items() if place == "query" for value in BAD_VALUES]
            body = b"" if method == "post" else None
            for label in ("service_name", "nosuch", "%00", "a%2Fb"):
                real = path.replace("{label}", label).replace("{id}", label)
                for query in queries if label == "service_name" else queries[:1]:
                    status, _, _ = self.server.request(f"{real}?{urlencode(query)}", body, method=method.upper())
                    self.note(path, method, operation, status, query)
        self.assertGreater(len(self.seen.get(200, ())), 15, f"most routes must also be asked something right: {self.seen.get(200)}")
        self.assertTrue({400, 404} <= set(self.seen), self.seen.keys())

    def test_bad_bodies(self):
        for path, method, operation in self.operations():
            good = self.good(method, operation)
            real = f"{path.replace('{label}', 'service_name').replace('{id}', 'x')}?{urlencode(good)}"
            for headers, body in (({}, b"rubbish"), ({}, b"\x0a" * 100_000), ({"Content-Encoding": "gzip"}, b"rubbish"),
                                  ({"Content-Encoding": "gzip"}, gzip.compress(b"a" * 3_000_000)), ({}, gzip.compress(b"a" * 3_000_000)),
                                  ({"Content-Encoding": "br"}, b"x"), ({"Content-Type": "text/plain"}, b"main 1\n")):
                status, _, _ = self.server.request(real, body, headers, method.upper())
                self.note(path, method, operation, status, (headers, body[:20]))
            status = self.raw(f"{method.upper()} {real} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n".encode())
            self.note(path, method, operation, status, "a body over the limit")
        self.assertTrue({400, 413, 415} <= set(self.seen), self.seen.keys())

    def test_bad_heads(self):
        for path, method, operation in self.operations():
            real = path.replace("{label}", "service_name").replace("{id}", "x")
            for target, lines in ((real, ""), (real, "Host: localhost\r\nHost: localhost\r\n"), (real, "Host: a b\r\n"),
                                  (real, "Host: evil.example\r\n"), (real, "Host: localhost\r\nTransfer-Encoding: gzip\r\n"),
                                  (real, "Host: localhost\r\nExpect: tea\r\n"), (real, f"Host: localhost\r\nX: {'a' * 40_000}\r\n"),
                                  (f"{real}?{'a' * 20_000}", "Host: localhost\r\n"), (f"{real}?%zz", "Host: localhost\r\n"),
                                  (real, "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"),
                                  (real, "Host: localhost\r\nOrigin: http://evil.example\r\n"),
                                  (real, "Host: localhost\r\nAuthorization: Bearer vesta_unknown\r\n")):
                status = self.raw(f"{method.upper()} {target} HTTP/1.1\r\n{lines}\r\n".encode())
                self.note(path, method, operation, status, lines[:100])
        self.assertTrue({400, 401, 403, 414, 417, 431} <= set(self.seen), self.seen.keys())

    def test_callers_that_may_not(self):
        with Server("--multi-tenant") as server:
            for path, method, operation in self.operations():
                for headers in ({}, {"X-Scope-OrgID": "a|b"}, {"X-Scope-OrgID": "a"}):
                    status, _, _ = server.request(path, b"" if method == "post" else None, headers, method.upper())
                    self.note(path, method, operation, status, headers)
        folder = self.server.folder / "tokens"
        token = subprocess.run([str(support.VESTA), "token", "create", "--data", str(folder), "--scope", "read", "--tenant", "a", "--name", "r"],
                               capture_output=True, text=True, check=True).stdout.strip()
        config = self.server.folder / "tokens.yaml"
        config.write_text("auth: {tokens: required}\n")
        with Server("--config", config, data=folder) as server:
            for path, method, operation in self.operations():
                for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Bearer {token}"}):
                    status, _, _ = server.request(path, b"" if method == "post" else None, headers, method.upper())
                    self.note(path, method, operation, status, headers)
        self.assertTrue({401, 403} <= set(self.seen), self.seen.keys())

    def test_methods_that_a_path_does_not_have(self):
        for path, operations in self.document["paths"].items():
            real = path.replace("{label}", "service_name").replace("{id}", "x")
            for method in {"get", "post", "put", "delete", "patch"} - set(operations):
                status, headers, _ = self.server.request(real, method=method.upper())
                self.assertEqual(status, 405, f"{method} {real}")
                self.assertIn("Allow", headers)

    def test_a_tenant_over_its_limit(self):
        operation = self.document["paths"]["/api/v1/profiles"]["post"]
        config = self.server.folder / "slow.yaml"
        config.write_text("limits: {bytes_per_second: 1KiB, burst_bytes: 2KiB}\n")
        with Server("--config", config) as server:
            for number in range(20):
                query = urlencode({"service_name": "many", "type": "cpu", "time": time.time_ns()})
                status, _, _ = server.request(f"/api/v1/profiles?{query}", f"main;{'f' * 1000}{number} 1\n".encode())
                self.note("/api/v1/profiles", "post", operation, status, "too many bytes")
        self.assertIn(429, self.seen)


support.main()
