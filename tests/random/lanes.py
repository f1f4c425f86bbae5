# SPDX-License-Identifier: MIT
"""Operations between the lanes of a subgroup, for interpret.py: which lanes meet at one, and what each
of them gets.

Lanes meet as SPV_KHR_maximal_reconvergence has it: those that come to the same instruction by the
same calls, in the same iteration of each loop around it. Each lane that waits names such a place as
a tuple (Places.here); tuples grow along the code, so nobody else can come to the least one any more.
Inside of a switch the specification leaves open who meets, and what comes of it is unspecified."""
import math

LANES = 32


class Unspecified(Exception):
    """The specification leaves the result open."""


class Places:
    """Where one thread is in one call of a function whose blocks stand in the order in which
    structured control flow passes them."""

    def __init__(self, function, callers):
        self.function, self.callers, self.loops = function, callers, []

    def enter(self, label):
        at = self.function["labels"][label]
        while self.loops and not self.loops[-1][0] <= at < self.loops[-1][1]:
            self.loops.pop()
        if self.loops and self.loops[-1][0] == at:
            self.loops[-1][2] += 1
        elif label in self.function["loops"]:
            self.loops.append([at, self.function["labels"][self.function["loops"][label]], 0])

    def here(self, at):
        place = self.callers
        for first, _, iteration in self.loops:
            place += (first, iteration)
        return place + (at,)


def find_constructs(function):
    """Loops: header to merge block; switches: from the instruction to the merge block."""
    function["loops"], function["switches"] = {}, []
    label = merge = None
    for at, (result, op, args) in enumerate(function["code"]):
        if op == "OpLabel":
            label = result
        elif op == "OpLoopMerge":
            function["loops"][label] = args[0]
        elif op == "OpSelectionMerge":
            merge = args[0]
        elif op == "OpSwitch":
            function["switches"].append((at, function["labels"][merge]))


def in_switch(function, at):
    return any(first < at < end for first, end in function["switches"])


COMBINE = {"IAdd": "OpIAdd", "FAdd": "OpFAdd", "IMul": "OpIMul", "SMin": "SMin", "UMin": "UMin", "SMax": "SMax",
           "UMax": "UMax", "FMin": "NMin", "FMax": "NMax", "BitwiseAnd": "OpBitwiseAnd",
           "BitwiseOr": "OpBitwiseOr", "BitwiseXor": "OpBitwiseXor", "LogicalAnd": "OpLogicalAnd",
           "LogicalOr": "OpLogicalOr", "LogicalXor": "OpLogicalNotEqual"}


def identity(name, width):
    ones = (1 << width) - 1
    return {"IAdd": 0, "FAdd": 0.0, "IMul": 1, "SMin": ones >> 1, "UMin": ones, "SMax": ones - (ones >> 1), "UMax": 0,
            "FMin": math.inf, "FMax": -math.inf, "BitwiseAnd": ones, "BitwiseOr": 0, "BitwiseXor": 0,
            "LogicalAnd": True, "LogicalOr": False, "LogicalXor": False}[name]


def combined(name, how, width, combine, inputs):
    """Reductions and scans; how: the group operation, then the cluster's size."""
    def of(lanes):
        value = identity(name, width)
        for count, lane in enumerate(lanes):
            value = combine(COMBINE[name], value, inputs[lane][0]) if count else inputs[lane][0]
        return value
    kind = how[0]
    got = {}
    for lane in inputs:
        if kind == "ClusteredReduce":
            size = inputs[lane][1]
            got[lane] = of([other for other in inputs if other // size == lane // size])
        else:
            got[lane] = of([other for other in inputs if kind == "Reduce" or other < lane + (kind == "InclusiveScan")])
    return got


def from_lane(inputs, lane, other):
    if other not in inputs:
        raise Unspecified("lane %d reads from lane %d, which isn't here" % (lane, other))
    return inputs[other][0]


SOURCE = {
    "Broadcast": lambda lane, by: by,
    "Shuffle": lambda lane, by: by,
    "ShuffleXor": lambda lane, by: lane ^ by,
    "ShuffleUp": lambda lane, by: lane - by,
    "ShuffleDown": lambda lane, by: lane + by,
    "QuadBroadcast": lambda lane, by: lane & ~3 | by,
    "QuadSwap": lambda lane, by: lane ^ by + 1,
}


def ballot_count(bits, how, lane):
    seen = {"Reduce": 32, "InclusiveScan": lane + 1, "ExclusiveScan": lane}[how[0]]
    return bin(bits & (1 << seen) - 1).count("1")


def answer(name, how, width, combine, inputs):
    """name: behind OpGroupNonUniform; inputs: of each lane that is here, by number. What each gets."""
    if name in COMBINE:
        return combined(name, how, width, combine, inputs)
    if name in SOURCE:
        moved = {}
        for lane, (_, by) in inputs.items():
            other = SOURCE[name](lane, by)
            # Up and down beyond the subgroup is undefined; the generator chooses another value then.
            moved[lane] = None if not 0 <= other < LANES else from_lane(inputs, lane, other)
        return moved
    first, values = min(inputs), [given[0] if given else None for given in inputs.values()]
    whole = {
        "Elect": lambda lane: lane == first,
        "All": lambda lane: all(values),
        "Any": lambda lane: any(values),
        "AllEqual": lambda lane: all(value == values[0] for value in values),
        "BroadcastFirst": lambda lane: inputs[first][0],
        "Ballot": lambda lane: [sum(1 << other for other in inputs if inputs[other][0]), 0, 0, 0],
        "InverseBallot": lambda lane: bool(inputs[lane][0][0] >> lane & 1),
        "BallotBitExtract": lambda lane: bool(inputs[lane][0][0] >> inputs[lane][1] & 1),
        "BallotBitCount": lambda lane: ballot_count(inputs[lane][0][0], how, lane),
        "BallotFindLSB": lambda lane: (inputs[lane][0][0] & -inputs[lane][0][0]).bit_length() - 1,
        "BallotFindMSB": lambda lane: inputs[lane][0][0].bit_length() - 1,
    }[name]
    return {lane: whole(lane) for lane in inputs}


class Subgroup:
    """threads: generators that yield None at barriers and (place, name, how, width, combine, inputs) at
    operations between lanes, whose result they are sent."""

    def __init__(self, threads):
        self.threads = dict(enumerate(threads))

    def run_to_barrier(self):
        """Returns whether somebody waits there."""
        waiting = {}
        for lane in list(self.threads):
            self.resume(lane, None, waiting)
        while waiting:
            least = min(request[0] for request in waiting.values())
            here = {lane: waiting.pop(lane) for lane in sorted(waiting) if waiting[lane][0] == least}
            _, name, how, width, combine, _ = next(iter(here.values()))
            got = answer(name, how, width, combine, {lane: request[5] for lane, request in here.items()})
            for lane in here:
                self.resume(lane, got[lane], waiting)
        return bool(self.threads)

    def resume(self, lane, value, waiting):
        try:
            request = self.threads[lane].send(value)
        except StopIteration:
            del self.threads[lane]
            return
        if request:
            waiting[lane] = request
