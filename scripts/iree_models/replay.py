# SPDX-License-Identifier: MIT
"""Turns a recording of IREE's tools (--device_replay_output) into the lines that tests/iree/models_test.c reads.

Everything happens in the order in which the host asked for it; semaphores say no more in what a function of one
device records. A command buffer's commands stand where it was executed, with its binding table put in.
"""
import json
import struct
import subprocess


class Recording:
    def __init__(self, tool, path):
        with open(path, "rb") as file:
            self.data = file.read()
        text = subprocess.run([tool, "--format=jsonl", path], check=True, capture_output=True, text=True).stdout
        self.records = [json.loads(line) for line in text.splitlines()]

    def bytes_of(self, payload, name):
        span = payload[name + "_range"]
        return self.data[span["offset"]:span["offset"] + span["length"]]


    def references(self, payload):
        """The bindings of a dispatch: buffer, offset, length, slot, 32 bytes each."""
        fields = "buffer_id", "offset", "length", "buffer_slot"
        return [dict(zip(fields, row)) for row in struct.iter_unpack("<QQQI4x", self.bytes_of(payload, "bindings"))]


class Converter:
    """contents: what the caller's arguments hold, in order; each goes with the buffer that gets these bytes."""

    def __init__(self, recording, contents):
        self.recording, self.contents = recording, list(contents)
        self.codes, self.code_of = [], {}          # executables as bytes; by object
        self.sizes, self.commands, self.now = {}, {}, {}
        self.arguments = []                         # buffers, in order
        self.lines, self.used = [], set()

    def convert(self):
        for record in self.recording.records:
            if record["kind"] == "operation":
                self.convert_operation(record["operation"], record)
        if len(self.arguments) != len(self.contents):
            raise SystemExit(f"replay: {len(self.arguments)} of {len(self.contents)} arguments are recorded")

    def convert_operation(self, name, record):
        handler = getattr(self, "on_" + name.split(".")[1], None)
        if record["status"] != "OK":
            raise SystemExit(f"replay: {name}: {record['status']}")
        if handler:
            handler(record.get("payload", {}), record)
        elif name.split(".")[1] not in ("scope_begin", "scope_end", "assign_topology_info", "create_executable_cache",
                                        "query_i64", "lookup_function_by_name", "end", "create_semaphore", "map_range",
                                        "queue_dealloca", "begin"):
            raise SystemExit(f"replay: {name} is not known")

    # ---- memory

    def on_allocate_buffer(self, payload, record):
        self.sizes[record["related_object_id"]] = payload["allocation_size"]

    on_queue_alloca = on_allocate_buffer

    def on_unmap_range(self, payload, record):
        if "data_range" not in payload:
            return
        written, buffer = self.recording.bytes_of(payload, "data"), record["object_id"]
        at = len(self.arguments)
        if at < len(self.contents) and payload["byte_offset"] == 0 and written == self.contents[at]:
            self.arguments.append(buffer)
        else:
            self.lines.append(f"bytes {self.whole(buffer, payload['byte_offset'])} {written.hex()}")

    # ---- code and commands

    def on_prepare_executable(self, payload, record):
        code = self.recording.bytes_of(payload, "data")
        if code not in self.codes:
            self.codes.append(code)
        self.code_of[record["related_object_id"]] = self.codes.index(code)

    def on_create_command_buffer(self, _, record):
        self.commands[record["related_object_id"]] = []

    def on_dispatch(self, payload, record):
        if any(payload["workgroup_size"]) or payload["flags"] or payload["workgroup_count_ref"]["buffer_id"]:
            raise SystemExit("replay: a dispatch with more than counts, constants and bindings")
        constants = self.recording.bytes_of(payload, "constants")
        head = f"dispatch {self.code_of[payload['executable_id']]} {payload['function_ordinal']} " + \
            " ".join(map(str, payload["workgroup_count"])) + f" {constants.hex() or '-'}"
        self.commands[record["object_id"]].append((head, self.recording.references(payload), ""))

    def on_execution_barrier(self, _, record):
        self.commands[record["object_id"]].append(("barrier", [], ""))

    def on_fill_buffer(self, payload, record):
        pattern = self.recording.bytes_of(payload, "pattern").hex()
        self.commands[record["object_id"]].append(("fill", [payload["target"]], " " + pattern))

    def on_update_buffer(self, payload, record):
        data = self.recording.bytes_of(payload, "data").hex()
        self.commands[record["object_id"]].append(("update", [payload["target"]], " " + data))

    def on_copy_buffer(self, payload, record):
        self.commands[record["object_id"]].append(("copy", [payload["source"], payload["target"]], ""))

    def on_queue_execute(self, payload, _):
        for head, references, tail in self.commands.get(payload["command_buffer_id"], []):
            spans = [self.span(self.resolved(reference, payload["bindings"])) for reference in references]
            self.lines.append(" ".join([head] + spans) + tail)
        self.lines.append("barrier")

    @staticmethod
    def resolved(reference, table):
        if reference["buffer_id"]:
            return reference
        slot = table[reference["buffer_slot"]]
        length = min(reference["length"], slot["length"] - reference["offset"])
        return {"buffer_id": slot["buffer_id"], "offset": slot["offset"] + reference["offset"], "length": length}

    def span(self, reference):
        buffer = reference["buffer_id"]
        self.used.add(buffer)
        length = min(reference["length"], self.sizes[buffer] - reference["offset"])
        return f"{buffer}:{reference['offset']}:{length}"

    def whole(self, buffer, offset):
        self.used.add(buffer)
        return f"{buffer}:{offset}:{self.sizes[buffer] - offset}"
