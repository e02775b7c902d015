"""Prints the events of a Perfetto trace, read with Perfetto's own schema: type, time, track and name."""

import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

trace = perfetto_trace_pb2.Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())

tracks = {}
names = {}
for packet in trace.packet:
    if packet.HasField("track_descriptor"):
        tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
    for event_name in packet.interned_data.event_names:
        names[event_name.iid] = event_name.name
    if packet.HasField("track_event"):
        event = packet.track_event
        kind = perfetto_trace_pb2.TrackEvent.Type.Name(event.type).removeprefix("TYPE_")
        name = names[event.name_iid] if event.name_iid else event.name
        print(kind, packet.timestamp, tracks[event.track_uuid].replace(" ", "_"), name)
