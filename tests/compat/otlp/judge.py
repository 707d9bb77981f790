"""Judges OTLP profile messages with the official classes: judge.py FILE..., one JSON object per line of what is in each.
Fails on unknown fields, indexes out of range, and an entry 0 that is not empty."""

import json
import sys

from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import ExportProfilesServiceRequest
from google.protobuf.unknown_fields import UnknownFieldSet


def check_unknown(message, path):
    if len(UnknownFieldSet(message)) > 0:
        raise SystemExit(f"{path}: has fields that the official classes do not know")
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for i, item in enumerate(value if field.label == field.LABEL_REPEATED else [value]):
            check_unknown(item, f"{path}.{field.name}[{i}]")


def judge(bytes_):
    request = ExportProfilesServiceRequest()
    request.ParseFromString(bytes_)
    check_unknown(request, "request")
    d = request.dictionary
    tables = {name: getattr(d, f"{name}_table") for name in
              ("mapping", "location", "function", "link", "string", "attribute", "stack")}
    for name, table in tables.items():
        assert len(table) > 0, f"{name}_table is empty"
        if name == "string":
            assert table[0] == "", "string_table[0]"
        elif name == "link":
            assert not any(table[0].trace_id) and not any(table[0].span_id), "link_table[0]"
        else:
            assert table[0] == type(table[0])(), f"{name}_table[0]"
        entries = [item if name == "string" else item.SerializeToString(deterministic=True) for item in table]
        assert len(set(entries)) == len(entries), f"{name}_table has an entry twice"
    used = {name: {0} for name in tables}

    def use(name, index):
        assert 0 <= index < len(tables[name]), f"{name}_table has no entry {index}"
        used[name].add(index)
        return tables[name][index]

    def attributes(indices):
        keys = [use("attribute", i).key_strindex for i in indices]
        assert 0 not in indices and len(set(keys)) == len(keys), "attributes: no key, or one twice"
        return {d.string_table[k] for k in keys}

    for item in d.attribute_table:
        use("string", item.key_strindex), use("string", item.unit_strindex)
    for item in d.function_table[1:]:
        use("string", item.name_strindex), use("string", item.system_name_strindex), use("string", item.filename_strindex)
        assert item.name_strindex or item.system_name_strindex or item.filename_strindex, "a function without any name"
    build_ids, content_hashes = 0, {}
    for item in d.mapping_table:
        use("string", item.filename_strindex)
        build_ids += any(k.startswith("process.executable.build_id.") for k in attributes(item.attribute_indices))
        for attribute in (d.attribute_table[i] for i in item.attribute_indices):
            if d.string_table[attribute.key_strindex] == "process.executable.build_id.htlhash":
                content_hashes[d.string_table[item.filename_strindex]] = attribute.value.string_value
    kinds = 0
    for item in d.location_table:
        use("mapping", item.mapping_index)
        kinds += "profile.frame.type" in attributes(item.attribute_indices)
        for line in item.lines:
            use("function", line.function_index)
    for item in d.stack_table:
        for index in item.location_indices:
            assert index != 0, "a stack with location 0"
            use("location", index)
    profiles, totals = 0, {}
    for resource in request.resource_profiles:
        keys = [a.key for a in resource.resource.attributes]
        assert len(set(keys)) == len(keys), "a resource with a key twice"
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                profiles += 1
                name = d.string_table[profile.sample_type.type_strindex]
                use("string", profile.sample_type.type_strindex), use("string", profile.sample_type.unit_strindex)
                use("string", profile.period_type.type_strindex), use("string", profile.period_type.unit_strindex)
                assert len(profile.profile_id) in (0, 16)
                attributes(profile.attribute_indices)
                seen = set()
                for sample in profile.samples:
                    use("stack", sample.stack_index), use("link", sample.link_index), attributes(sample.attribute_indices)
                    identity = (sample.stack_index, tuple(sorted(sample.attribute_indices)), sample.link_index)
                    assert identity not in seen or sample.timestamps_unix_nano, "a sample that is there twice"
                    seen.add(identity)
                    values, times = len(sample.values), len(sample.timestamps_unix_nano)
                    assert (values == 1 and times == 0) or (times > 0 and values in (0, times)), "the shape of a sample"
                    totals[name] = totals.get(name, 0) + (sum(sample.values) if values else times)
    for name, table in tables.items():
        assert used[name] == set(range(len(table))), f"{name}_table has entries that nobody uses"
    pids = [a.value.WhichOneof("value") for r in request.resource_profiles for a in r.resource.attributes if a.key == "process.pid"]
    assert set(pids) <= {"int_value"}, f"a process id is a number, not {set(pids)}"
    return {"profiles": profiles, "totals": totals, "build_ids": build_ids, "content_hashes": content_hashes, "frame_types": kinds}


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        print(json.dumps(judge(file.read())))
