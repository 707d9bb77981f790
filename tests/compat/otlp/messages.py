"""Makes and checks OTLP messages with the official generated classes of whatever release PYTHONPATH offers.

Run by test_otlp.py, never directly by ctest:
  messages.py numbering                  prints which numbering the classes have: 1.7, 1.9 or 1.10
  messages.py make KIND FILE [--json]    writes a ProfilesData of that kind
  messages.py check FILE                 parses FILE, checks every rule of the dictionary, prints a summary as JSON
  messages.py push KIND HOW ADDRESS      exports it now: HOW is grpc, grpc-gzip, http, http-gzip or http-json; prints the answer as JSON
"""

import gzip
import json
import sys
import time
import urllib.request

from google.protobuf import json_format
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.profiles.v1development import profiles_pb2 as otlp

NOW = 1_700_000_000_000_000_000
TABLES = ("mapping_table", "location_table", "function_table", "link_table", "string_table", "attribute_table",
          "stack_table")


def numbering():
    fields = {field.name: field.number for field in otlp.Sample.DESCRIPTOR.fields}
    if "stack_index" not in fields:
        return "1.7"
    return "1.10" if fields["values"] == 4 else "1.9"


class Builder:
    """A message whose dictionary follows the rules: entry 0 is empty, nothing is there twice."""

    def __init__(self):
        self.data = otlp.ProfilesData()
        self.dictionary = self.data.dictionary
        self.dictionary.string_table.append("")
        for table in TABLES:
            if table != "string_table":
                getattr(self.dictionary, table).add()
        resource = self.data.resource_profiles.add()
        attribute = resource.resource.attributes.add(key="service.name")
        attribute.value.string_value = "shop"
        self.scope = resource.scope_profiles.add()
        self.scope.scope.name = "compat"

    def add(self, table, entry):
        table = getattr(self.dictionary, table)
        for position, known in enumerate(table):
            if known == entry:
                return position
        table.append(entry)
        return len(table) - 1

    def string(self, text):
        return self.add("string_table", text)

    def attribute(self, key, **value):
        entry = otlp.KeyValueAndUnit(key_strindex=self.string(key))
        for name, content in value.items():
            setattr(entry.value, name, content)
        return self.add("attribute_table", entry)

    def stack(self, names):
        """From the outermost function to the leaf."""
        build_id = self.attribute("process.executable.build_id.gnu", string_value="abcdef0123456789")
        mapping = self.add("mapping_table", otlp.Mapping(
            memory_start=0x1000, memory_limit=0x9000, filename_strindex=self.string("shop"),
            attribute_indices=[build_id]))
        kind = self.attribute("profile.frame.type", string_value="native")
        stack = otlp.Stack()
        for name in reversed(names):
            function = self.add("function_table", otlp.Function(name_strindex=self.string(name)))
            location = otlp.Location(mapping_index=mapping, address=0x1000 + function, attribute_indices=[kind])
            location.lines.add(function_index=function, line=10 * function)
            stack.location_indices.append(self.add("location_table", location))
        return self.add("stack_table", stack)

    def link(self, number):
        return self.add("link_table", otlp.Link(trace_id=bytes([number] * 16), span_id=bytes([number] * 8)))

    def profile(self, kind, unit):
        profile = self.scope.profiles.add(time_unix_nano=NOW, duration_nano=5_000_000_000)
        profile.sample_type.type_strindex = self.string(kind)
        profile.sample_type.unit_strindex = self.string(unit)
        return profile


def times(count):
    return [NOW + 1000 * i for i in range(count)]


def on_cpu(builder):
    """As the OpenTelemetry profiler reports CPU samples: timestamps, no values."""
    profile = builder.profile("samples", "count")
    profile.period_type.type_strindex = builder.string("cpu")
    profile.period_type.unit_strindex = builder.string("nanoseconds")
    profile.period = 50_000_000
    for thread, (names, count) in enumerate(((["main", "serve", "parse"], 7), (["main", "serve"], 2), (["main"], 3))):
        attributes = [builder.attribute("thread.name", string_value=f"worker-{thread}"),
                      builder.attribute("thread.id", int_value=100 + thread)]
        profile.samples.add(stack_index=builder.stack(names), attribute_indices=attributes,
                            link_index=builder.link(thread) if thread else 0, timestamps_unix_nano=times(count))


def on_cpu_unlinked(builder):
    """The hardest to tell apart: as many attributes as timestamps, no link, no value."""
    profile = builder.profile("samples", "count")
    attributes = [builder.attribute("thread.name", string_value="only"), builder.attribute("thread.id", int_value=5)]
    profile.samples.add(stack_index=builder.stack(["main", "spin"]), attribute_indices=attributes,
                        timestamps_unix_nano=times(2))


def off_cpu(builder):
    """Timestamps with values."""
    profile = builder.profile("off_cpu", "nanoseconds")
    profile.samples.add(stack_index=builder.stack(["main", "wait"]), values=[5_000_000, 7_000_000],
                        timestamps_unix_nano=times(2))
    profile.samples.add(stack_index=builder.stack(["main", "read"]), values=[1_000_000],
                        timestamps_unix_nano=times(1))


def aggregated(builder):
    """One value for each stack and nothing else, small ones among them."""
    profile = builder.profile("cpu", "nanoseconds")
    for names, value in ((["main", "f"], 1), (["main", "g"], 2), (["main"], 1_000_000)):
        profile.samples.add(stack_index=builder.stack(names), values=[value])


def heap(builder):
    """What was one pprof with two sample types."""
    order = builder.scope.scope.attributes.add(key="pprof.scope.sample_type_order")
    for position in (0, 1):
        order.value.array_value.values.add().int_value = position
    default = builder.scope.scope.attributes.add(key="pprof.scope.default_sample_type")
    default.value.string_value = "alloc_space"
    for kind, unit, factor in (("alloc_objects", "count", 1), ("alloc_space", "bytes", 64)):
        profile = builder.profile(kind, unit)
        for names, count in ((["main", "make"], 30), (["main", "copy"], 12)):
            profile.samples.add(stack_index=builder.stack(names), values=[count * factor])


KINDS = {function.__name__: function for function in (on_cpu, on_cpu_unlinked, off_cpu, aggregated, heap)}


def old_message():
    """A minimal message in the classes of 1.7."""
    data = otlp.ProfilesData()
    data.dictionary.string_table.extend(["", "main", "cpu", "nanoseconds"])
    data.dictionary.mapping_table.add()
    data.dictionary.function_table.add(name_strindex=1)
    data.dictionary.location_table.add().line.add(function_index=0)
    profile = data.resource_profiles.add().scope_profiles.add().profiles.add(time_nanos=NOW, duration_nanos=5)
    profile.sample_type.add(type_strindex=2, unit_strindex=3)
    profile.location_indices.append(0)
    profile.sample.add(locations_start_index=0, locations_length=1, value=[5])
    return data


def push(kind, how, address):
    """As an exporter does it: with the stub and the messages of the official package."""
    from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as service

    global NOW
    NOW = time.time_ns() - 10_000_000_000
    builder = Builder()
    KINDS[kind](builder)
    request = service.ExportProfilesServiceRequest()
    request.ParseFromString(builder.data.SerializeToString())
    if how.startswith("grpc"):
        import grpc
        from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2_grpc as stubs

        compression = grpc.Compression.Gzip if how == "grpc-gzip" else grpc.Compression.NoCompression
        with grpc.insecure_channel(address) as channel:
            answer = stubs.ProfilesServiceStub(channel).Export(request, timeout=30, compression=compression)
    else:
        headers = {"Content-Type": "application/json" if how == "http-json" else "application/x-protobuf"}
        if how == "http-json":
            body = json_format.MessageToJson(request).encode()
        else:
            body = request.SerializeToString()
        if how == "http-gzip":
            body = gzip.compress(body)
            headers["Content-Encoding"] = "gzip"
        answer = service.ExportProfilesServiceResponse()
        post = urllib.request.Request(f"{address}/v1development/profiles", data=body, headers=headers)
        with urllib.request.urlopen(post, timeout=30) as response:
            if how == "http-json":
                json_format.Parse(response.read(), answer)
            else:
                answer.ParseFromString(response.read())
    print(json_format.MessageToJson(answer))


def make(kind, path, as_json):
    if numbering() == "1.7":
        data = old_message()
    else:
        builder = Builder()
        KINDS[kind](builder)
        data = builder.data
    if as_json:
        # Plain protobuf JSON: ids come in base64, where OTLP says hex.
        content = json_format.MessageToJson(data).encode()
    else:
        content = data.SerializeToString(deterministic=True)
    with open(path, "wb") as file:
        file.write(content)


def fail(what):
    sys.exit(f"FAIL: {what}")


def check_no_unknown_fields(message, path):
    if len(UnknownFieldSet(message)):
        fail(f"{path} has unknown fields")
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        several = not hasattr(value, "ListFields")
        for position, item in enumerate(value if several else [value]):
            check_no_unknown_fields(item, f"{path}.{field.name}[{position}]")


def check(path):
    data = otlp.ProfilesData()
    with open(path, "rb") as file:
        data.ParseFromString(file.read())
    check_no_unknown_fields(data, "ProfilesData")
    dictionary = data.dictionary
    used = {table: {0} for table in TABLES}
    size = {table: len(getattr(dictionary, table)) for table in TABLES}

    def use(table, position):
        if not 0 <= position < size[table]:
            fail(f"{position} is outside {table}")
        used[table].add(position)

    def use_attributes(holder):
        keys = []
        for position in holder.attribute_indices:
            use("attribute_table", position)
            keys.append(dictionary.attribute_table[position].key_strindex)
        if len(keys) != len(set(keys)) or 0 in keys:
            fail(f"keys of attributes are not unique: {holder}")

    for table in TABLES:
        entries = list(getattr(dictionary, table))
        if not entries:
            fail(f"{table} has no entry 0")
        encoded = [entry if isinstance(entry, str) else entry.SerializeToString(deterministic=True)
                   for entry in entries]
        if table == "link_table":
            if entries[0] != otlp.Link(trace_id=bytes(16), span_id=bytes(8)):
                fail("link_table[0] is not all zeros")
        elif encoded[0]:
            fail(f"{table}[0] is not empty")
        if len(set(encoded)) != len(encoded):
            fail(f"{table} has entries twice")
    for mapping in dictionary.mapping_table:
        use("string_table", mapping.filename_strindex)
        use_attributes(mapping)
    for location in dictionary.location_table:
        use("mapping_table", location.mapping_index)
        use_attributes(location)
        for line in location.lines:
            use("function_table", line.function_index)
    for function in dictionary.function_table:
        for position in (function.name_strindex, function.system_name_strindex, function.filename_strindex):
            use("string_table", position)
    for attribute in dictionary.attribute_table:
        use("string_table", attribute.key_strindex)
        use("string_table", attribute.unit_strindex)
    for stack in dictionary.stack_table:
        for position in stack.location_indices:
            use("location_table", position)

    summary = []
    for resource in data.resource_profiles:
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                use_attributes(profile)
                for kind in (profile.sample_type, profile.period_type):
                    use("string_table", kind.type_strindex)
                    use("string_table", kind.unit_strindex)
                flat = {}
                identities = set()
                for sample in profile.samples:
                    use("stack_table", sample.stack_index)
                    use("link_table", sample.link_index)
                    use_attributes(sample)
                    values = list(sample.values)
                    stamps = list(sample.timestamps_unix_nano)
                    if len(values) != (len(stamps) or 1):
                        fail(f"{len(values)} values with {len(stamps)} timestamps")
                    identity = (sample.stack_index, frozenset(sample.attribute_indices), sample.link_index)
                    if identity in identities:
                        fail("two samples of one identity")
                    identities.add(identity)
                    leaf = dictionary.stack_table[sample.stack_index].location_indices[0]
                    line = dictionary.location_table[leaf].lines[0]
                    name = dictionary.string_table[dictionary.function_table[line.function_index].name_strindex]
                    flat[name] = flat.get(name, 0) + sum(values)
                summary.append({
                    "type": dictionary.string_table[profile.sample_type.type_strindex],
                    "unit": dictionary.string_table[profile.sample_type.unit_strindex],
                    "flat": flat,
                    "resource": {item.key: item.value.string_value for item in resource.resource.attributes},
                })
    for table in TABLES:
        orphans = set(range(size[table])) - used[table]
        if orphans:
            fail(f"{table} has entries that nobody uses: {sorted(orphans)}")
    json.dump(summary, sys.stdout)


def main(arguments):
    if arguments == ["numbering"]:
        print(numbering())
    elif arguments[0] == "make":
        make(arguments[1], arguments[2], "--json" in arguments)
    elif arguments[0] == "check":
        check(arguments[1])
    elif arguments[0] == "push":
        push(*arguments[1:4])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
