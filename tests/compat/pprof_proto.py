"""A plain reader of the pprof protobuf, independent of Vesta's: what the tests know about a file.

Field numbers are those of profile.proto. Only what the tests look at is kept.
"""

import gzip
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Sample:
    stack: list  # leaf first; each location is a list of (function, file, line), innermost first
    values: list
    labels: dict  # key to list of strings and numbers


@dataclass
class Profile:
    types: list  # (name, unit)
    samples: list
    mappings: list  # dicts: start, limit, offset, file, build_id; those that samples refer to
    period: int = 0
    period_type: tuple = ("", "")
    time_ns: int = 0
    duration_ns: int = 0
    default_type: str = ""
    comments: list = field(default_factory=list)
    drop_frames: str = ""

    def total(self, index):
        return sum(sample.values[index] for sample in self.samples)

    def rows(self, index, key):
        """{key of frame: (flat, cum)}; key(function, file, line) may return None to leave a frame out."""
        flat, cum = {}, {}
        for sample in self.samples:
            value = sample.values[index]
            frames = [key(*frame) for location in sample.stack for frame in location]
            if value == 0 or not frames:
                continue
            flat[frames[0]] = flat.get(frames[0], 0) + value
            for name in set(frames):
                cum[name] = cum.get(name, 0) + value
        return {name: (flat.get(name, 0), value) for name, value in cum.items() if name is not None}


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def _fields(data):
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def _message(data):
    """Scalar fields by number, the last one wins."""
    return dict(_fields(data))


def _repeated(value):
    """One element of a repeated integer field, packed or not."""
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        item, at = _varint(value, at)
        out.append(item)
    return out


def read(path):
    data = Path(path).read_bytes()
    return parse(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def parse(data):
    top = {}
    for number, value in _fields(data):
        top.setdefault(number, []).append(value)
    strings = [text.decode("utf-8", "replace") for text in top.get(6, [])]

    def text(index):
        return strings[index] if index else ""

    def value_type(body):
        fields = _message(body)
        return text(fields.get(1, 0)), text(fields.get(2, 0))

    def scalar(number):
        return _signed(top[number][-1]) if number in top else 0

    functions = {}
    for body in top.get(5, []):
        fields = _message(body)
        functions[fields.get(1, 0)] = (text(fields.get(2, 0)), text(fields.get(4, 0)))
    mappings = {}
    for body in top.get(3, []):
        fields = _message(body)
        mappings[fields.get(1, 0)] = {
            "start": fields.get(2, 0), "limit": fields.get(3, 0), "offset": fields.get(4, 0),
            "file": text(fields.get(5, 0)), "build_id": text(fields.get(6, 0))}

    locations, mapping_of = {}, {}
    for body in top.get(4, []):
        identity = mapping = 0
        lines = []
        for number, value in _fields(body):
            if number == 1:
                identity = value
            elif number == 2:
                mapping = value
            elif number == 4:
                line = _message(value)
                name, file = functions.get(line.get(1, 0), ("", ""))
                lines.append((name, file, _signed(line.get(2, 0))))
        if not lines:
            binary = mappings.get(mapping, {}).get("file", "")
            lines = [(f"[{binary.rsplit('/', 1)[-1]}]" if binary else "<unknown>", "", 0)]
        locations[identity] = lines
        mapping_of[identity] = mapping

    samples, used = [], set()
    for body in top.get(2, []):
        stack, values, labels = [], [], {}
        for number, value in _fields(body):
            if number == 1:
                stack += [locations[identity] for identity in _repeated(value)]
                used.update(mapping_of[identity] for identity in _repeated(value))
            elif number == 2:
                values += [_signed(item) for item in _repeated(value)]
            elif number == 3:
                label = _message(value)
                content = text(label[2]) if label.get(2) else _signed(label.get(3, 0))
                labels.setdefault(text(label.get(1, 0)), []).append(content)
        samples.append(Sample(stack, values, labels))

    return Profile(
        types=[value_type(body) for body in top.get(1, [])], samples=samples,
        mappings=[mappings[key] for key in sorted(mappings) if key in used],
        period=scalar(12), period_type=value_type(top[11][-1]) if 11 in top else ("", ""),
        time_ns=scalar(9), duration_ns=scalar(10), default_type=text(scalar(14)),
        comments=[text(index) for value in top.get(13, []) for index in _repeated(value)],
        drop_frames=text(scalar(7)))


def _field(number, content):
    """A field of a message: a number, or bytes."""
    def varint(value):
        out = bytearray()
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)
        return bytes(out)

    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def encode(samples, types=(("cpu", "nanoseconds"),), time_ns=0, duration_ns=0):
    """The bytes of a profile. A sample is (names of functions, leaf first; values; labels, texts or numbers)."""
    strings = {"": 0}
    functions = {}

    def text(value):
        return strings.setdefault(value, len(strings))

    out = bytearray()
    for kind, unit in types:
        out += _field(1, _field(1, text(kind)) + _field(2, text(unit)))
    for stack, values, labels in samples:
        sample = bytearray()
        for name in stack:
            sample += _field(1, functions.setdefault(name, len(functions) + 1))
        for value in values:
            sample += _field(2, value)
        for key, value in labels.items():
            sample += _field(3, _field(1, text(key)) + (_field(3, value) if isinstance(value, int) else _field(2, text(value))))
        out += _field(2, bytes(sample))
    for name, number in functions.items():
        out += _field(4, _field(1, number) + _field(4, _field(1, number)))
        out += _field(5, _field(1, number) + _field(2, text(name)))
    for value in strings:
        out += _field(6, value.encode())
    return bytes(out + _field(9, time_ns) + _field(10, duration_ns))
