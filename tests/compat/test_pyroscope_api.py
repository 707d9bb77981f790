#!/usr/bin/env python3
"""What Pyroscope's own integration suite, canary and command line expect of a server's HTTP API, asked of ours with Connect and
JSON as they ask: every status code of the query API, the canary's probes, and the services besides queries, across a restart."""

import base64
import json
import tempfile
import time
import unittest
import urllib.parse

import sdk
import support

CPU = sdk.CPU
CANARY = "deadmans_switch:made_up:profilos:made_up:profilos"
OTLP = "otlp_test:otlp_test:count:otlp_test:samples"
SELECTOR = '{service_name="canary", job="canary-exporter", instance="here"}'
JSON = {"Content-Type": "application/json"}
HOUR_MS = 3_600_000


def now_ms():
    return int(time.time() * 1000)


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def pprof(samples, sample_type, unit, time_ns):
    """A profile of [(functions, leaf first; value; labels)]."""
    strings = [""]

    def text(word):
        if word not in strings:
            strings.append(word)
        return strings.index(word)

    names = sorted({name for stack, _, _ in samples for name in stack})
    kind = field(1, text(sample_type)) + field(2, text(unit))
    out = field(1, kind)
    for stack, value, labels in samples:
        sample = b"".join(field(1, names.index(name) + 1) for name in stack) + field(2, value)
        for key, label in labels.items():
            sample += field(3, field(1, text(key)) + field(2, text(label)))
        out += field(2, sample)
    for at, name in enumerate(names, 1):
        out += field(4, field(1, at) + field(4, field(1, at)))
        out += field(5, field(1, at) + field(2, text(name)))
    return out + b"".join(field(6, word) for word in strings) + field(9, time_ns) + field(11, kind) + field(12, 1)


def query_string(parameters):
    return "?" + urllib.parse.urlencode(parameters) if parameters else ""


class StatusCodes(unittest.TestCase):
    """The server is empty, as it is in Pyroscope's suite."""

    @classmethod
    def setUpClass(cls):
        cls.server = sdk.Server()
        cls.server.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def expect(self, status, path, method="POST", body=None, headers=None, parameters=None, name=""):
        with self.subTest(path=path, name=name or status, method=method):
            data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            got, _, answer = self.server.request(path + query_string(parameters), data, headers, method)
            self.assertEqual(got, status, answer[:300])

    def test_render(self):
        good = {"query": CPU + '{service_name="pyroscope"}', "from": "now-15m", "until": "now"}
        ok = [{}, {"format": "dot"}, {"format": "dot", "maxNodes": "50"}, {"format": "dot", "max-nodes": "50"},
              {"groupBy": "service_name"}, {"aggregation": "sum"}, {"aggregation": "avg"}, {"aggregation": "invalid"},
              {"maxNodes": "1024"}, {"max-nodes": "1024"}, {"maxNodes": "0"}, {"maxNodes": "invalid"},
              {"groupBy": "service_name", "aggregation": "sum", "maxNodes": "512"}]
        bad = [{"from": "0", "until": "0"}, {"from": "0"}, {"until": "0"}, {"query": "bad_query"},
               {"query": '{service_name="test"}'}, {"query": 'invalid_format{service_name="test"}'}, {"query": ""},
               {"from": "0", "until": "0", "format": "dot"}]
        for change in ok:
            self.expect(200, "/pyroscope/render", "GET", parameters={**good, **change}, name=change)
        for change in bad:
            self.expect(400, "/pyroscope/render", "GET", parameters={**good, **change}, name=change)
        self.expect(400, "/pyroscope/render", "GET", parameters={"from": "now-15m", "until": "now"}, name="no query")
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            self.expect(405, "/pyroscope/render", method, parameters=good)

    def test_render_diff(self):
        query = CPU + '{service_name="pyroscope"}'
        good = {"leftQuery": query, "leftFrom": "now-30m", "leftUntil": "now-15m",
                "rightQuery": query, "rightFrom": "now-15m", "rightUntil": "now"}
        for change in ({}, {"leftFrom": "now-60m", "leftUntil": "now-30m"}, {"leftFrom": "now-15m", "leftUntil": "now"}):
            self.expect(200, "/pyroscope/render-diff", "GET", parameters={**good, **change}, name=change)
        zeros = {f"{side}{end}": "0" for side in ("left", "right") for end in ("From", "Until")}
        bad = [zeros, {"rightQuery": 'memory:alloc_objects:count:space:bytes{service_name="pyroscope"}'}]
        for side in ("left", "right"):
            bad += [{f"{side}Query": text} for text in
                    ("", "bad_query", '{service_name="test"}', 'invalid_format{service_name="test"}')]
            bad += [{f"{side}From": "0"}, {f"{side}Until": "0"}]
            without = {key: value for key, value in good.items() if key != f"{side}Query"}
            self.expect(400, "/pyroscope/render-diff", "GET", parameters=without, name=f"no {side}Query")
        for change in bad:
            self.expect(400, "/pyroscope/render-diff", "GET", parameters={**good, **change}, name=change)
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            self.expect(405, "/pyroscope/render-diff", method, parameters=good)

    def test_methods_of_the_querier(self):
        now = now_ms()
        span = {"start": now - HOUR_MS, "end": now}
        backwards = {"start": now, "end": now - HOUR_MS}
        stacks = {"profileTypeID": CPU, "labelSelector": "{}", **span}
        # name: a request that is right, variations that are too, variations that are not.
        no_range = [{"start": None, "end": None}]
        of_stacks = [{"profileTypeID": None}, {"profileTypeID": ""}, {"profileTypeID": "invalid_format"},
                     {"labelSelector": None}, {"labelSelector": "!bad_syntax!"}, *no_range]
        matcher = '{namespace="default"}'
        methods = {
            "ProfileTypes": (span, [{"start": 0, "end": 0}, {"start": now - 24 * HOUR_MS}, {"start": now - 300_000},
                                    {"start": -1}, {"start": -2, "end": -1}],
                             [{"start": "now-1h", "end": 0}, {"start": 0, "end": "now"}]),
            "LabelValues": ({"name": "service_name", **span},
                            [{"matchers": [matcher]}, {"matchers": [matcher, '{region="us-west"}']}],
                            [{"matchers": ["!bad_syntax!"]}, {"name": ""}, {"name": None}, *no_range]),
            "LabelNames": (span, [{"matchers": [matcher]}], [{"matchers": ["!bad_syntax!"]}, *no_range]),
            "Series": ({"matchers": ['{service_name="test"}'], **span},
                       [{"labelNames": ["service_name", "namespace"]}, {"matchers": None}],
                       [{"matchers": ["!bad_syntax!"]}, *no_range]),
            "SelectMergeStacktraces": (stacks, [{"maxNodes": 1024}, {"format": 2}, {"labelSelector": '{service_name="test"}'}],
                                       of_stacks),
            "SelectMergeProfile": (stacks, [{"maxNodes": 1024}, {"labelSelector": '{service_name="test"}'}], of_stacks),
            "SelectSeries": ({**stacks, "step": 15.0}, [{"groupBy": ["service_name"]}, {"limit": 10}],
                             [*of_stacks, {"step": None}]),
            "SelectMergeSpanProfile": ({**stacks, "spanSelector": ["0123456789012345", "0123456789012346"]},
                                       [{"maxNodes": 1024}, {"format": 2}], of_stacks),
        }

        def changed(request, change):
            return {key: value for key, value in {**request, **change}.items() if value is not None}

        for name, (good, also_good, bad) in methods.items():
            path = f"/querier.v1.QuerierService/{name}"
            for change in [{}, *also_good]:
                self.expect(200, path, body=changed(good, change), headers=JSON, name=change)
            for change in [*bad, backwards]:
                self.expect(400, path, body=changed(good, change), headers=JSON, name=change)
            self.wrong_requests(path, good)
        side = {**stacks, "start": now - 2 * HOUR_MS, "end": now - HOUR_MS}
        good = {"left": side, "right": stacks}
        path = "/querier.v1.QuerierService/Diff"
        for change in ({}, {"left": {**side, "maxNodes": 1024}, "right": {**stacks, "maxNodes": 512}}, {"left": stacks}):
            self.expect(200, path, body={**good, **change}, headers=JSON, name=change)
        for name in ("left", "right"):
            self.expect(400, path, body=changed(good, {name: None}), headers=JSON, name=f"no {name}")
            for change in ({"profileTypeID": None}, {"profileTypeID": "invalid_format"}, {"labelSelector": None}):
                self.expect(400, path, body={**good, name: changed(good[name], change)}, headers=JSON, name=(name, change))
        self.wrong_requests(path, good)

    def wrong_requests(self, path, good):
        self.expect(400, path, body=b'{"invalid json"', headers=JSON, name="invalid JSON")
        self.expect(400, path, body=b"", headers=JSON, name="no body")
        self.expect(405, path, "GET", headers=JSON)
        for method in ("PUT", "DELETE", "PATCH"):
            self.expect(405, path, method, body=good, headers=JSON)
        self.expect(415, path, body=good, headers={"Content-Type": "text/plain"}, name="plain text")


class Canary(unittest.TestCase):
    """Each probe of Pyroscope's canary, in its order."""

    def test_probes(self):
        with sdk.Server() as server:
            now = now_ms()
            span = {"start": now, "end": now + 5000}
            stacks = {"profileTypeID": CANARY, "labelSelector": SELECTOR, **span}
            labels = {"__name__": "deadmans_switch", "service_name": "canary", "job": "canary-exporter", "instance": "here"}
            profile = pprof([(["func1", "func2"], 10, {}), (["func1"], 20, {"profile_id": "00000bac2a5ab0c7"})],
                            "made_up", "profilos", now * 1_000_000)
            status, _, body = server.request("/push.v1.PusherService/Push", json.dumps({"series": [{
                "labels": [{"name": name, "value": value} for name, value in labels.items()],
                "samples": [{"ID": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                             "rawProfile": base64.b64encode(profile).decode()}]}]}).encode(), JSON)
            self.assertEqual(status, 200, body)
            for kind, encode in (("application/json", lambda m: json.dumps(m).encode()),):
                status, _, body = server.request("/v1development/profiles", encode(self.otlp(now)), {"Content-Type": kind})
                self.assertEqual(status, 200, body)

            found = server.connect("ProfileTypes", span)
            self.assertIn(CANARY, [entry["ID"] for entry in found["profileTypes"]])
            self.assertIn(OTLP, [entry["ID"] for entry in found["profileTypes"]])
            found = server.connect("Series", {"labelNames": ["service_name", "__profile_type__"], **span})
            self.assertIn({"canary", CANARY},
                          [{label["value"] for label in entry["labels"]} for entry in found["labelsSet"]])
            own = {"matchers": ['{service_name="canary"}'], **span}
            names = server.connect("LabelNames", own)["names"]
            for name in ("__name__", "__period_type__", "__period_unit__", "__profile_type__", "__service_name__", "__type__",
                         "__unit__", "service_name"):
                self.assertIn(name, names)
            self.assertEqual(server.connect("LabelValues", {"name": "service_name", **own})["names"], ["canary"])
            series = server.connect("SelectSeries", {**stacks, "step": 1000, "groupBy": ["service_name"]})["series"]
            self.assertEqual(len(series), 1)
            self.assertEqual(series[0]["labels"], [{"name": "service_name", "value": "canary"}])
            self.assertEqual(len(series[0]["points"]), 1)
            graph = server.connect("SelectMergeStacktraces", stacks)["flamegraph"]
            self.assertEqual((len(graph["names"]), len(graph["levels"]), graph["total"]), (3, 3, "30"))
            of_span = {**stacks, "spanSelector": ["00000bac2a5ab0c7"]}
            graph = server.connect("SelectMergeSpanProfile", of_span)["flamegraph"]
            self.assertEqual((len(graph["names"]), len(graph["levels"])), (2, 2))
            merged = server.connect("SelectMergeProfile", stacks)
            self.assertEqual(sorted(int(sample["value"][0]) for sample in merged["sample"]), [10, 20])
            merged = server.connect("SelectMergeProfile", {**stacks, "profileTypeID": OTLP})
            self.assertEqual(sorted(int(sample["value"][0]) for sample in merged["sample"]), [10, 20])
            series = server.connect("SelectSeries", {**stacks, "step": 5, "exemplarType": "EXEMPLAR_TYPE_INDIVIDUAL"})
            exemplars = series["series"][0]["points"][0]["exemplars"]
            self.assertEqual([exemplar["value"] for exemplar in exemplars], ["30"])
            one = {**stacks, "profileIdSelector": [exemplars[0]["profileId"]]}
            self.assertEqual(len(server.connect("SelectMergeStacktraces", one)["flamegraph"]["names"]), 3)
            sides = {"from": now, "until": now + 5000}
            graph = server.get("/pyroscope/render", query=CANARY + SELECTOR, **sides)["flamebearer"]
            self.assertEqual((len(graph["names"]), len(graph["levels"])), (3, 3))
            diff = {f"{side}{key.capitalize()}": value for side in ("left", "right")
                    for key, value in {"query": CANARY + SELECTOR, **sides}.items()}
            graph = server.get("/pyroscope/render-diff", **diff)["flamebearer"]
            self.assertEqual((len(graph["names"]), len(graph["levels"])), (3, 3))
            stats = server.connect("GetProfileStats", {})
            self.assertTrue(stats["dataIngested"])
            self.assertLessEqual(int(stats["oldestProfileTime"]), now)

    @staticmethod
    def otlp(now):
        def attribute(key, value):
            return {"key": key, "value": {"stringValue": value}}
        return {
            "dictionary": {
                "stringTable": ["", "otlp_test", "samples", "count", "func1", "func2"],
                "mappingTable": [{}],
                "functionTable": [{}, {"nameStrindex": 4}, {"nameStrindex": 5}],
                # The canary has no empty entry in front here, against the specification.
                "locationTable": [{}, {"lines": [{"functionIndex": 1}]}, {"lines": [{"functionIndex": 2}]}],
                "stackTable": [{}, {"locationIndices": [2, 1]}, {"locationIndices": [1]}]},
            "resourceProfiles": [{
                "resource": {"attributes": [attribute("service.name", "canary"), attribute("job", "canary-exporter"),
                                            attribute("instance", "here")]},
                "scopeProfiles": [{"profiles": [{
                    "timeUnixNano": str(now * 1_000_000), "period": "1",
                    "sampleType": {"typeStrindex": 1, "unitStrindex": 3},
                    "periodType": {"typeStrindex": 1, "unitStrindex": 2},
                    "samples": [{"stackIndex": 1, "values": ["10"]}, {"stackIndex": 2, "values": ["20"]}]}]}]}]}


class Services(unittest.TestCase):
    """What Grafana's Profiles Drilldown and profilecli ask besides queries; what is kept survives kill -9."""

    def call(self, server, path, message, status=200):
        got, _, body = server.request(path, json.dumps(message).encode(), JSON)
        self.assertEqual(got, status, (path, body[:300]))
        return json.loads(body)

    def test_what_clients_give_is_there_after_a_restart(self):
        settings, adhoc = "/settings.v1.SettingsService/", "/adhocprofiles.v1.AdHocProfileService/"
        debug_info = "/debuginfo.v1alpha1.DebuginfoService/"
        with tempfile.TemporaryDirectory() as data:
            with sdk.Server(data=data) as server:
                self.assertEqual(self.call(server, settings + "Get", {}), {})
                self.call(server, settings + "Set", {"setting": {"name": "maxNodes", "value": "1024"}})
                uploaded = self.call(server, adhoc + "Upload", {
                    "name": "cpu.folded", "profile": base64.b64encode(b"main;work 3\nmain;idle 4\n").decode()})
                self.assertEqual(json.loads(uploaded["flamebearerProfile"])["flamebearer"]["numTicks"], 7)
                self.assertEqual(self.call(server, debug_info + "ListDebuginfo", {}), {})
                elf = b"\x7fELF" + bytes(100)
                file = {"file": {"gnuBuildId": "abcd1234", "name": "prog", "type": "TYPE_EXECUTABLE_FULL"}}
                self.assertTrue(self.call(server, debug_info + "ShouldInitiateUpload", file)["shouldInitiateUpload"])
                self.assertEqual(server.request(debug_info + "Upload/abcd1234", elf)[0], 200)
                self.call(server, debug_info + "UploadFinished", {"gnuBuildId": "abcd1234"})
                server.kill()
            with sdk.Server(data=data) as server:
                kept = self.call(server, settings + "Get", {})["settings"]
                self.assertEqual([(entry["name"], entry["value"]) for entry in kept], [("maxNodes", "1024")])
                listed = self.call(server, adhoc + "List", {})["profiles"]
                self.assertEqual([entry["name"] for entry in listed], ["cpu.folded"])
                again = self.call(server, adhoc + "Get", {"id": listed[0]["id"]})
                graphs = [json.loads(answer["flamebearerProfile"])["flamebearer"] for answer in (again, uploaded)]
                self.assertEqual(*graphs)
                found = self.call(server, debug_info + "ListDebuginfo", {})["object"]
                self.assertEqual([(entry["file"]["gnuBuildId"], entry["state"], entry["sizeBytes"]) for entry in found],
                                 [("abcd1234", "STATE_UPLOADED", "104")])
                self.assertNotIn("shouldInitiateUpload", self.call(server, debug_info + "ShouldInitiateUpload", file))
                self.call(server, debug_info + "DeleteDebuginfo", {"gnuBuildId": "abcd1234"})
                self.assertEqual(self.call(server, debug_info + "ListDebuginfo", {}), {})

    def test_lists_are_empty_where_there_is_nothing(self):
        with sdk.Server() as server:
            for path in ("/settings.v1.RecordingRulesService/ListRecordingRules",
                         "/settings.v1.CollectionRulesService/ListCollectionRules",
                         "/adhocprofiles.v1.AdHocProfileService/List"):
                self.assertEqual(self.call(server, path, {}), {})
            self.assertEqual(self.call(server, "/version.v1.Version/Version", {}), {"QuerierAPI": "1"})
            flags = self.call(server, "/capabilities.v1.FeatureFlagsService/GetFeatureFlags", {})["featureFlags"]
            self.assertIn("utf8LabelNames", [flag["name"] for flag in flags if flag.get("enabled")])
            now = now_ms()
            graph = server.connect("SelectMergeStacktraces", {
                "profileTypeID": CPU, "labelSelector": "{}", "start": now - HOUR_MS, "end": now})["flamegraph"]
            self.assertEqual((graph["names"], graph.get("total", "0")), (["total"], "0"))


class LabelsOfSamples(unittest.TestCase):
    def test_threads_are_labels(self):
        with sdk.Server() as server:
            now = now_ms()
            profile = pprof([(["work", "main"], 10, {"thread_name": "worker-1"}),
                             (["work", "main"], 20, {"thread_name": "worker-2"}), (["idle", "main"], 40, {})],
                            "cpu", "nanoseconds", now * 1_000_000)
            status, _, body = server.request(
                f"/ingest?name=shop&from={now // 1000}&until={now // 1000 + 10}&format=pprof", profile,
                {"Content-Type": "application/octet-stream"})
            self.assertEqual(status, 200, body)
            span = {"start": now - 60_000, "end": now + 60_000}
            stacks = {"profileTypeID": CPU, **span}
            self.assertIn(CPU, server.types())
            self.assertIn("thread_name", server.connect("LabelNames", span)["names"])
            self.assertEqual(server.connect("LabelValues", {"name": "thread_name", **span})["names"], ["worker-1", "worker-2"])
            of_worker = {**stacks, "labelSelector": '{service_name="shop", thread_name="worker-1"}'}
            self.assertEqual(server.connect("SelectMergeStacktraces", of_worker)["flamegraph"]["total"], "10")
            groups = server.connect("SelectSeries", {**stacks, "labelSelector": "{}", "step": 60, "groupBy": ["thread_name"]})
            self.assertEqual({tuple(label["value"] for label in series.get("labels", [])): series["points"][0]["value"]
                              for series in groups["series"]}, {(): 40, ("worker-1",): 10, ("worker-2",): 20})


support.main()
