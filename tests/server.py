"""A `vesta server` for tests: real, on loopback, on free ports, with data in a folder that goes away with it."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request

import support
from daemon import Daemon, free_port


class Server(Daemon):
    """`data` given: kept when the server ends, so that it can be started again."""

    ROLE = "server"  # the command

    def __init__(self, *options, data=None, environment=None):
        super().__init__(self.ROLE, options, data, environment)
        self.data = self.folder
        self.http_port, self.grpc_port, self.otlp_port = free_port(), free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.http_port}"
        self.otlp_url = f"http://127.0.0.1:{self.otlp_port}"
        self.grpc = f"127.0.0.1:{self.grpc_port}"

    def command(self):
        return [str(support.VESTA), self.role, "--data", str(self.data), "--http", f"127.0.0.1:{self.http_port}",
                "--grpc", self.grpc, "--otlp-http", f"127.0.0.1:{self.otlp_port}", *self.options]

    def ready_url(self):
        return f"{self.url}/ready"

    # What tests ask.

    def request(self, path, body=None, headers=None, method=None, timeout=60, url=None):
        """(status, headers, bytes) of any answer."""
        query = urllib.request.Request((url or self.url) + path, data=body, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(query, timeout=timeout) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read()

    def get(self, path, **parameters):
        """The JSON of a native API call that must succeed."""
        query = urllib.parse.urlencode(parameters, doseq=True)
        status, _, body = self.request(f"{path}?{query}" if query else path)
        if status != 200:
            raise AssertionError(f"GET {path}?{query}: {status} {body[:500]!r}")
        return json.loads(body)

    def connect(self, method, message, headers=None):
        """A Connect call with JSON to the Pyroscope query API, which must succeed."""
        status, _, body = self.request(
            f"/querier.v1.QuerierService/{method}", json.dumps(message).encode(),
            {"Content-Type": "application/json", **(headers or {})})
        if status != 200:
            raise AssertionError(f"{method} {message}: {status} {body[:500]!r}")
        return json.loads(body)

    def types(self):
        """The ids of all profile types."""
        answer = self.connect("ProfileTypes", {"start": 1, "end": int(time.time() * 1000) + 3_600_000})
        return {entry["ID"] for entry in answer.get("profileTypes", [])}

    def flame(self, type_id, selector, start_ms=None, end_ms=None):
        """{name: [self, total]} of the flame graph that Grafana would show, and its total."""
        now = int(time.time() * 1000)
        answer = self.connect("SelectMergeStacktraces", {
            "profileTypeID": type_id, "labelSelector": selector, "start": start_ms or now - 3_600_000,
            "end": end_ms or now + 60_000, "maxNodes": 100_000})
        graph = answer.get("flamegraph") or {}
        names, totals = graph.get("names", []), {}
        for level in graph.get("levels", []):
            values = list(map(int, level.get("values", [])))
            for at in range(0, len(values), 4):
                entry = totals.setdefault(names[values[at + 3]], [0, 0])
                entry[0] += values[at + 2]
                entry[1] += values[at + 1]
        return totals, int(graph.get("total", 0))
