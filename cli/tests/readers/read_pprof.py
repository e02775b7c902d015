"""Prints a profile of pprof as folded stacks, and the file and line of each function.

The schema is written down here as in google/pprof's profile.proto, as far as fields matter; what has none stays unknown,
and is reported.
"""

import gzip
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

INT64, UINT64, BOOL, STRING, MESSAGE = 3, 4, 8, 9, 11

SCHEMA = {
    "ValueType": [("type", 1, INT64), ("unit", 2, INT64)],
    "Label": [("key", 1, INT64), ("str", 2, INT64), ("num", 3, INT64), ("num_unit", 4, INT64)],
    "Sample": [("location_id", 1, UINT64, True), ("value", 2, INT64, True), ("label", 3, "Label", True)],
    "Mapping": [
        ("id", 1, UINT64),
        ("memory_start", 2, UINT64),
        ("memory_limit", 3, UINT64),
        ("file_offset", 4, UINT64),
        ("filename", 5, INT64),
        ("build_id", 6, INT64),
        ("has_functions", 7, BOOL),
        ("has_filenames", 8, BOOL),
        ("has_line_numbers", 9, BOOL),
        ("has_inline_frames", 10, BOOL),
    ],
    "Line": [("function_id", 1, UINT64), ("line", 2, INT64), ("column", 3, INT64)],
    "Location": [
        ("id", 1, UINT64),
        ("mapping_id", 2, UINT64),
        ("address", 3, UINT64),
        ("line", 4, "Line", True),
        ("is_folded", 5, BOOL),
    ],
    "Function": [
        ("id", 1, UINT64),
        ("name", 2, INT64),
        ("system_name", 3, INT64),
        ("filename", 4, INT64),
        ("start_line", 5, INT64),
    ],
    "Profile": [
        ("sample_type", 1, "ValueType", True),
        ("sample", 2, "Sample", True),
        ("mapping", 3, "Mapping", True),
        ("location", 4, "Location", True),
        ("function", 5, "Function", True),
        ("string_table", 6, STRING, True),
        ("drop_frames", 7, INT64),
        ("keep_frames", 8, INT64),
        ("time_nanos", 9, INT64),
        ("duration_nanos", 10, INT64),
        ("period_type", 11, "ValueType"),
        ("period", 12, INT64),
        ("comment", 13, INT64, True),
        ("default_sample_type", 14, INT64),
    ],
}


def profile_class():
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="p", syntax="proto3")
    for name, fields in SCHEMA.items():
        message = file.message_type.add(name=name)
        for field, number, kind, *repeated in fields:
            added = message.field.add(name=field, number=number, label=3 if repeated else 1)
            if isinstance(kind, str):
                added.type, added.type_name = MESSAGE, ".p." + kind
            else:
                added.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p.Profile"))


profile = profile_class()()
with gzip.open(sys.argv[1]) as file:
    data = file.read()
profile.ParseFromString(data)
copy = profile.SerializeToString()
profile.DiscardUnknownFields()
assert profile.SerializeToString() == copy, "fields that the schema does not have"

text = profile.string_table
assert text[0] == "" and len(set(text)) == len(text)
assert [(text[t.type], text[t.unit]) for t in profile.sample_type] == [("instructions", "count")]
assert (text[profile.period_type.type], profile.period) == ("instructions", 1)
functions = {function.id: function for function in profile.function}
locations = {location.id: location for location in profile.location}
mappings = {mapping.id: mapping for mapping in profile.mapping}
assert mappings and 0 not in mappings
for location in profile.location:
    if location.mapping_id or len(mappings) == 1:
        mapping = mappings[location.mapping_id]
        assert mapping.memory_start <= location.address < mapping.memory_limit
stacks, innermost = {}, {}
for sample in profile.sample:
    (value,) = sample.value
    lines = [line for at in reversed(sample.location_id) for line in reversed(locations[at].line)]
    stack = ";".join(text[functions[line.function_id].name] for line in lines) or "unknown"
    stacks[stack] = stacks.get(stack, 0) + value
    # What is inlined in the last location, with the lines of the calls and the present one.
    last = reversed(locations[sample.location_id[0]].line if sample.location_id else [])
    chain = ";".join(f"{text[functions[line.function_id].name]}:{line.line}" for line in last)
    innermost[chain] = innermost.get(chain, 0) + value
for stack, value in stacks.items():
    print("stack", stack, value)
for chain, value in innermost.items():
    print("location", chain, value)
for function in profile.function:
    print("function", text[function.name], text[function.filename], function.start_line)
for mapping in profile.mapping:
    print("mapping", text[mapping.filename])
for key, number in sorted({(text[label.key], label.num) for s in profile.sample for label in s.label}):
    print("label", key, number)
