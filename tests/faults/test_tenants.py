"""Tenant A never sees a byte of tenant B: every route there is, asked by B about what A stored, with every word of A looked for in
every answer, errors included."""

import json
import sys
import time
import unittest
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402

# Words that only A ever says: in names of services, labels, values, functions, files, types.
SECRETS = [b"svcsecret", b"labelsecret", b"valuesecret", b"funcsecret", b"filesecret", b"typesecret", b"threadsecret"]
WEIGHT = 7346251  # a number that nobody would come upon


def folded(prefix, weight):
    return f"{prefix}main;{prefix}work {weight}\n".encode()


class Tenants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--multi-tenant")
        config = cls.server.folder / "config.yaml"
        config.write_text(json.dumps({"scrape_configs": [
            {"job_name": f"{name}job", "tenant": tenant, "static_configs": [{"targets": ["127.0.0.1:1"], "labels": {"where": name}}],
             "file_sd_configs": [{"files": [f"/nonexistent/{name}.json"]}]}
            for tenant, name in (("a", "svcsecret"), ("b", "plain"))]}))
        cls.server.options += ["--config", str(config)]
        cls.server.start()
        now = time.time_ns()
        cls.range = {"from": now - 3_600_000_000_000, "to": now + 60_000_000_000}
        cls.push("a", "svcsecret", "labelsecret=valuesecret", folded("funcsecret", WEIGHT), now)
        cls.push("b", "shop", "zone=east", folded("plain", 3), now)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    @classmethod
    def push(cls, tenant, service, labels, body, when):
        query = urlencode({"service_name": service, "labels": labels, "time": when, "type": "typesecret" if tenant == "a" else "cpu"})
        status, _, text = cls.server.request(f"/api/v1/profiles?{query}", body, {"X-Scope-OrgID": tenant})
        assert status == 200, text

    def ask(self, path, body=None, headers=None, method=None, tenant="b"):
        return self.server.request(path, body, {"X-Scope-OrgID": tenant, **(headers or {})}, method)

    def assert_nothing_of_a(self, what, answer):
        status, headers, body = answer
        text = body + json.dumps(headers).encode()
        for secret in SECRETS:
            self.assertNotIn(secret, text, f"{what}: {status}")
        self.assertNotIn(str(WEIGHT).encode(), text, f"{what}: {status}")

    def test_a_itself_sees_it(self):
        status, _, body = self.ask("/api/v1/values/service_name?" + urlencode(self.range), tenant="a")
        self.assertEqual(status, 200)
        self.assertIn(b"svcsecret", body)

    def test_no_tenant_is_no_answer(self):
        status, _, _ = self.server.request("/api/v1/types?" + urlencode(self.range))
        self.assertEqual(status, 401)

    def test_every_native_route(self):
        status, _, document = self.ask("/api/v1/openapi.json")
        self.assertEqual(status, 200)
        asked = answered = 0
        document = json.loads(document)

        def resolve(entry):
            return document["components"]["parameters"][entry["$ref"].rpartition("/")[2]] if "$ref" in entry else entry

        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if method != "get" and method != "post":
                    continue  # what deletes is tried below, where it is looked at who lost what
                names = {resolve(entry)["name"] for entry in operation.get("parameters", [])}
                for query in ("{}", '{service_name="shop"}', '{service_name=~".+"}', '{service_name!=""}', "cpu{}", 'cpu{zone="east"}'):
                    given = {**self.range, "query": query, "baseline_query": query, "function": "plainwork", "step": "60s",
                             "group_by": "service_name", "baseline_from": self.range["from"], "baseline_to": self.range["to"]}
                    parameters = {name: value for name, value in given.items() if name in names}
                    real = path.replace("{label}", "service_name")
                    answer = self.ask(f"{real}?{urlencode(parameters)}", b"" if method == "post" else None, method=method.upper())
                    self.assert_nothing_of_a(f"{method} {real} {query}", answer)
                    if query == "cpu{}":
                        self.assertNotEqual(answer[0], 404, f"{real} is described, but not there")
                    asked += 1
                    answered += answer[0] == 200
        self.assertGreater(answered, 40, "most calls must be good ones, or nothing was tried")
        self.assertGreater(asked, 60)

    def test_every_method_of_pyroscope(self):
        start, end = self.range["from"] // 1_000_000, self.range["to"] // 1_000_000
        types = [entry["ID"] for entry in json.loads(self.ask(
            "/querier.v1.QuerierService/ProfileTypes", json.dumps({"start": start, "end": end}).encode(),
            {"Content-Type": "application/json"})[2]).get("profileTypes", [])]
        self.assertEqual(len(types), 1)
        select = {"profileTypeID": types[0], "labelSelector": "{}", "start": start, "end": end}
        stolen = "typesecret:typesecret:count::"
        for method, message in {
            "ProfileTypes": {"start": start, "end": end},
            "LabelNames": {"start": start, "end": end},
            "LabelValues": {"name": "service_name", "start": start, "end": end},
            "Series": {"matchers": ["{}"], "start": start, "end": end},
            "SelectMergeStacktraces": select,
            "SelectMergeSpanProfile": {**select, "spanSelector": ["0102030405060708"]},
            "SelectMergeProfile": select,
            "SelectSeries": {**select, "step": 15, "groupBy": ["service_name"]},
            "SelectHeatmap": {**select, "step": 15, "queryType": 1},
            "Diff": {"left": select, "right": {**select, "labelSelector": '{service_name="shop"}'}},
            "GetProfileStats": {},
            "AnalyzeQuery": {"start": start, "end": end, "query": "{}"},
        }.items():
            answer = self.ask(f"/querier.v1.QuerierService/{method}", json.dumps(message).encode(), {"Content-Type": "application/json"})
            self.assert_nothing_of_a(method, answer)
        for path in ("/pyroscope/render", "/pyroscope/render-diff", "/pyroscope/label-values"):
            query = {"query": types[0] + "{}", "from": start, "until": end, "leftQuery": types[0] + "{}", "leftFrom": start,
                     "leftUntil": end, "rightQuery": types[0] + "{}", "rightFrom": start, "rightUntil": end, "label": "__name__"}
            self.assert_nothing_of_a(path, self.ask(f"{path}?{urlencode(query)}"))
        # Guessing a type of A does not even tell that it exists.
        guess = {**select, "profileTypeID": stolen}
        nothing = {**select, "profileTypeID": "no:no:count::"}
        answers = [self.ask("/querier.v1.QuerierService/SelectMergeStacktraces", json.dumps(message).encode(),
                            {"Content-Type": "application/json"})[::2] for message in (guess, nothing)]
        self.assertEqual(answers[0], answers[1])

    def test_b_cannot_delete_what_a_has(self):
        query = urlencode({**self.range, "query": '{service_name="svcsecret"}'})
        self.ask(f"/api/v1/series?{query}", method="DELETE")
        status, _, body = self.ask("/api/v1/values/service_name?" + urlencode(self.range), tenant="a")
        self.assertIn(b"svcsecret", body)

    def test_targets_are_those_of_the_tenant(self):
        for tenant, name, other in (("a", "svcsecret", "plain"), ("b", "plain", "svcsecret")):
            status, _, body = self.ask("/api/v1/targets", tenant=tenant)
            self.assertEqual(status, 200)
            answer = json.loads(body)
            self.assertEqual({target["job"] for target in answer["targets"]}, {f"{name}job"})
            self.assertEqual(len(answer["problems"]), 1)
            self.assertNotIn(other, body.decode())
        self.assertEqual(json.loads(self.ask("/api/v1/targets", tenant="c")[2]), {"targets": [], "problems": []})

    def test_metrics_and_pages_tell_no_names(self):
        for path in ("/metrics", "/", "/ready", "/healthz", "/api/v1/stats", "/api/v1/targets"):
            self.assert_nothing_of_a(path, self.ask(path))


support.main()
