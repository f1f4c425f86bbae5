# SPDX-License-Identifier: MIT
"""Changes of a module that keep its meaning.

Each mutation takes the context, a function of the module and picks a place at random; it returns
False when it found none. Values that compilers can't know come from a uniform buffer of zeros,
which the context adds to the module.
"""
from module import Block, Function, Instruction

TRIES = 24
RUN = 12  # instructions that are moved at once, at most
COMMUTATIVE = {"OpIAdd", "OpFAdd", "OpIMul", "OpFMul", "OpBitwiseAnd", "OpBitwiseOr",
               "OpBitwiseXor", "OpLogicalAnd", "OpLogicalOr", "OpLogicalEqual",
               "OpLogicalNotEqual", "OpIEqual", "OpINotEqual", "OpFOrdEqual", "OpFUnordNotEqual",
               "OpDot", "OpIAddCarry", "OpUMulExtended", "OpSMulExtended"}
SWAPPED = {"OpFOrdLessThan": "OpFOrdGreaterThan", "OpFOrdLessThanEqual": "OpFOrdGreaterThanEqual",
           "OpFUnordLessThan": "OpFUnordGreaterThan",
           "OpFUnordLessThanEqual": "OpFUnordGreaterThanEqual",
           "OpSLessThan": "OpSGreaterThan", "OpSLessThanEqual": "OpSGreaterThanEqual",
           "OpULessThan": "OpUGreaterThan", "OpULessThanEqual": "OpUGreaterThanEqual"}
SWAPPED.update({new: old for old, new in SWAPPED.items()})
# What computes each component for itself, of operands that are all vectors.
BY_COMPONENT = {"OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpFNegate", "OpIAdd", "OpISub", "OpIMul",
                "OpUDiv", "OpSDiv", "OpUMod", "OpSNegate", "OpNot", "OpBitwiseAnd", "OpBitwiseOr",
                "OpBitwiseXor", "OpShiftLeftLogical", "OpShiftRightLogical",
                "OpShiftRightArithmetic", "OpConvertFToU", "OpConvertFToS", "OpConvertSToF",
                "OpConvertUToF", "OpUConvert", "OpSConvert", "OpFConvert", "OpSelect",
                "OpLogicalAnd", "OpLogicalOr", "OpLogicalNot", "OpIEqual", "OpINotEqual",
                "OpFOrdEqual", "OpULessThan", "OpSLessThan"} | set(SWAPPED)
PURE = BY_COMPONENT | COMMUTATIVE | {
    "OpVectorTimesScalar", "OpDot", "OpExtInst", "OpCompositeConstruct", "OpCompositeExtract",
    "OpVectorShuffle", "OpBitcast", "OpCompositeInsert", "OpSMod", "OpSRem", "OpBitFieldUExtract",
    "OpBitFieldSExtract", "OpBitFieldInsert", "OpBitCount", "OpBitReverse", "OpIsNan", "OpIsInf",
    "OpMatrixTimesVector", "OpVectorTimesMatrix", "OpTranspose", "OpAny", "OpAll",
    "OpVectorExtractDynamic"}
# Where an integer constant may be computed instead.
OPEN_CONSTANTS = {"OpIAdd", "OpISub", "OpIMul", "OpUDiv", "OpUMod", "OpSDiv", "OpShiftLeftLogical",
                  "OpShiftRightLogical", "OpShiftRightArithmetic", "OpBitwiseAnd", "OpBitwiseOr",
                  "OpBitwiseXor", "OpIEqual", "OpINotEqual", "OpSelect", "OpFAdd", "OpFSub",
                  "OpFMul", "OpFDiv", "OpStore", "OpConvertUToF", "OpConvertSToF",
                  "OpCompositeConstruct"} | set(SWAPPED)


class Context:
    def __init__(self, module, rng, place):
        self.module, self.rng = module, rng
        m = module
        self.uint = m.type_id("OpTypeInt", 32, 0)
        self.bool = m.type_id("OpTypeBool")
        self.zero = m.constant(self.uint, 0)
        struct = m.add_global("OpTypeStruct", self.uint)
        m.decorate("OpMemberDecorate", struct, 0, "Offset", 0)
        m.decorate("OpDecorate", struct, "Block")
        pointer = m.add_global("OpTypePointer", "Uniform", struct)
        self.buffer = m.add_global("OpVariable", pointer, "Uniform")
        m.decorate("OpDecorate", self.buffer, "DescriptorSet", place[0])
        m.decorate("OpDecorate", self.buffer, "Binding", place[1])
        self.member = m.type_id("OpTypePointer", "Uniform", self.uint)
        if m.version >= (1, 4):
            for inst in m.globals:
                if inst.op == "OpEntryPoint":
                    inst.args.append(self.buffer)

    def opaque(self):
        """Instructions that load a zero, and its id."""
        chain = self.module.new("OpAccessChain", self.member, self.buffer, self.zero)
        load = self.module.new("OpLoad", self.uint, chain.result)
        return [chain, load], load.result

    def condition(self, truth):
        """Instructions that make an opaque condition, and its id."""
        code, zero = self.opaque()
        test = self.module.new("OpIEqual" if truth else "OpINotEqual", self.bool, zero, self.zero)
        return code + [test], test.result

    def variable(self, function, which):
        """A new variable of the function."""
        pointer = self.module.type_id("OpTypePointer", "Function", which)
        inst = self.module.new("OpVariable", pointer, "Function")
        function.blocks[0].body.insert(0, inst)
        return inst.result


def pick(context, function, fits):
    """A block and the index of an instruction in it for which `fits` holds, or None."""
    places = [(block, at) for block in function.blocks for at, inst in enumerate(block.body)
              if inst.op not in ("OpPhi", "OpVariable") and fits(inst)]
    return context.rng.choice(places) if places else None


def detach(context, inst):
    """The instruction with a new result, whose old id something else shall define."""
    new = context.module.fresh()
    copy = Instruction(inst.op, new, inst.args)
    context.module.defined[new] = copy
    context.module.copy_decorations(inst.result, new)
    context.module.globals = [other for other in context.module.globals
                              if other.op != "OpDecorate" or other.args[0] != inst.result]
    return copy


def split_at(context, function, block, at):
    """Moves what follows index `at` into a block of its own, which it returns; `block` is left
    without a terminator."""
    successors = block.successors()
    new = Block(context.module.fresh(), block.body[at:])
    block.body = block.body[:at]
    function.rename_predecessor(successors, block.label, new.label)
    function.blocks.insert(function.blocks.index(block) + 1, new)
    return new


def branch(target):
    return Instruction("OpBranch", None, [target])


def is_header(block):
    return block.merge() is not None and block.merge().op == "OpLoopMerge"


# ---- control flow


def split(context, function):
    blocks = [block for block in function.blocks if not is_header(block)]
    if not blocks:
        return False
    block = context.rng.choice(blocks)
    new = split_at(context, function, block, context.rng.randint(block.head(), block.tail()))
    block.body.append(branch(new.label))
    return True


def choose_run(context, function):
    """(block, first, last, results that are used elsewhere) of instructions that can be moved into
    a construct of their own, or None."""
    module = context.module
    for _ in range(TRIES):
        block = context.rng.choice(function.blocks)
        low, high = block.head(), block.tail()
        if is_header(block) or low == high:
            continue
        first = context.rng.randint(low, high - 1)
        last = min(high, first + context.rng.randint(1, RUN))
        inside = block.body[first:last]
        outside = [inst for other in function.blocks for inst in other.body
                   if not any(inst is own for own in inside)]
        used = [inst for inst in inside if inst.result and
                any(inst.result in user.args for user in outside)]
        if all(inst.type and module.is_value(inst.type) for inst in used):
            return block, first, last, used
    return None


def around(context, function):
    """An if around some instructions, whose condition is always true."""
    found = choose_run(context, function)
    if not found:
        return False
    block, first, last, used = found
    rest = split_at(context, function, block, last)
    inner = split_at(context, function, block, first)
    truth = context.rng.random() < 0.5
    code, condition = context.condition(truth)
    targets = [inner.label, rest.label] if truth else [rest.label, inner.label]
    block.body += code + [Instruction("OpSelectionMerge", None, [rest.label, "None"]),
                          Instruction("OpBranchConditional", None, [condition] + targets)]
    inner.body.append(branch(rest.label))
    for inst in used:
        new = detach(context, inst)
        for at, own in enumerate(inner.body):
            if own is inst:
                inner.body[at] = new
            own.args = own.args[:1] * bool(own.type) + [new.result if arg == inst.result else arg
                                                        for arg in own.operands()]
        phi = Instruction("OpPhi", inst.result, [inst.type, new.result, inner.label,
                                                 context.module.null(inst.type), block.label])
        context.module.defined[inst.result] = phi
        rest.body.insert(0, phi)
    return True


def once(context, function):
    """A loop around some instructions, which ends after its first iteration."""
    found = choose_run(context, function)
    if not found:
        return False
    block, first, last, _ = found
    rest = split_at(context, function, block, last)
    inner = split_at(context, function, block, first)
    module, at = context.module, function.blocks.index(inner)
    header, latch = Block(module.fresh(), []), Block(module.fresh(), [])
    block.body.append(branch(header.label))
    header.body = [Instruction("OpLoopMerge", None, [rest.label, latch.label, "None"]),
                   branch(inner.label)]
    inner.body.append(branch(latch.label))
    code, condition = context.condition(False)
    latch.body = code + [Instruction("OpBranchConditional", None,
                                     [condition, header.label, rest.label])]
    function.blocks[at:at + 1] = [header, inner, latch]
    return True


def conditional(context, function):
    """A block that ends in a conditional branch, or None."""
    blocks = [block for block in function.blocks if block.body[-1].op == "OpBranchConditional"]
    return context.rng.choice(blocks) if blocks else None


def invert(context, function):
    block = conditional(context, function)
    if not block:
        return False
    last = block.body[-1]
    test = context.module.new("OpLogicalNot", context.bool, last.args[0])
    block.body.insert(block.tail(), test)
    last.args = [test.result, last.args[2], last.args[1]]
    return True


def to_switch(context, function):
    """An if becomes a switch."""
    block = conditional(context, function)
    if not block or not block.merge() or is_header(block):
        return False
    last = block.body[-1]
    condition, yes, no = last.args[:3]
    if yes == no:
        return False
    module = context.module
    one = module.constant(context.uint, context.rng.choice([1, 7, 4294967295]))
    number = module.defined[one].args[1]
    select = module.new("OpSelect", context.uint, condition, one, context.zero)
    block.body.insert(block.tail(), select)
    cases = [no, number, yes] if context.rng.random() < 0.5 else [yes, "0", no]
    block.body[-1] = Instruction("OpSwitch", None, [select.result] + cases)
    return True


def to_ifs(context, function):
    """A switch whose cases are single blocks becomes ifs, one in the other's else."""
    blocks = [block for block in function.blocks if block.body[-1].op == "OpSwitch" and
              ifs_fit(context, function, block)]
    if not blocks:
        return False
    block = context.rng.choice(blocks)
    module, args = context.module, block.body[-1].args
    selector, default, merge = args[0], args[1], block.merge().args[0]
    which = module.type_of(selector)
    by_label = {other.label: other for other in function.blocks}
    body, block.body, at = block.body, None, block
    block.body = body[:-2]
    merges, last = [merge], len(args) - 2
    for index in range(2, len(args), 2):
        literal = module.constant(which, args[index])
        test = module.new("OpIEqual", context.bool, selector, literal)
        case = by_label[args[index + 1]]
        other = Block(module.fresh(), [])
        at.body += [test, Instruction("OpSelectionMerge", None, [merges[-1], "None"]),
                    Instruction("OpBranchConditional", None,
                                [test.result, case.label, default if index == last else other.label])]
        if index != last:
            join = Block(module.fresh(), [branch(merges[-1])])
            function.blocks.insert(function.blocks.index(at) + 1, other)
            merges.append(join.label)
            function.blocks.insert(function.blocks.index(by_label[merge]), join)
            at = other
    retarget(function, by_label, args, merges)
    return True


def ifs_fit(context, function, block):
    args, merge = block.body[-1].args, block.merge()
    labels = [args[1]] + args[3::2]
    by_label = {other.label: other for other in function.blocks}
    which = context.module.type_of(args[0])
    return merge and len(args) > 2 and which and \
        context.module.shape(which).args[0] == "32" and len(set(labels)) == len(labels) and \
        not any(inst.op == "OpPhi" for inst in by_label[merge.args[0]].body) and \
        all(label != merge.args[0] and by_label[label].body[-1].op == "OpBranch" and
            by_label[label].body[-1].args[0] == merge.args[0] for label in labels) and \
        not any(inst.op == "OpPhi" for label in labels for inst in by_label[label].body)


def retarget(function, by_label, args, merges):
    """Cases end at the merge block of their own if."""
    for depth, index in enumerate(range(2, len(args), 2)):
        by_label[args[index + 1]].body[-1].args = [merges[depth]]
    by_label[args[1]].body[-1].args = [merges[-1]]


# ---- values


def through_variable(context, function):
    """A value goes through a variable, which has had another value before."""
    module = context.module
    place = pick(context, function, lambda inst: inst.type and module.shape(
        inst.type).op != "OpTypeVoid" and module.is_plain(inst.type))
    if not place:
        return False
    block, at = place
    inst = block.body[at]
    new = detach(context, inst)
    load = Instruction("OpLoad", inst.result, [inst.type, None])
    module.defined[inst.result] = load
    block.body[at:at + 1] = [new, Instruction("OpStore", None, [None, new.result]), load]
    variable = context.variable(function, inst.type)
    load.args[1] = variable
    for store in block.body:
        if store.op == "OpStore" and store.args[0] is None:
            store.args[0] = variable
    if context.rng.random() < 0.5:
        first = function.blocks[0]
        first.body.insert(first.head(), Instruction("OpStore", None,
                                                    [variable, module.null(inst.type)]))
    return True


def members_of(module, which):
    """Types of a composite's parts, or None."""
    inst = module.shape(which)
    if inst.op in ("OpTypeVector", "OpTypeMatrix"):
        return inst.args[:1] * int(inst.args[1])
    if inst.op == "OpTypeStruct":
        return inst.args if len(inst.args) <= 8 else None
    return None


def take_apart(context, function):
    """A composite is taken apart and put together."""
    module = context.module
    place = pick(context, function, lambda inst: inst.type and module.shape(
        inst.type).op != "OpTypeVoid" and module.is_value(inst.type) and
        members_of(module, inst.type))
    if not place:
        return False
    block, at = place
    inst = block.body[at]
    new = detach(context, inst)
    parts = [module.new("OpCompositeExtract", which, new.result, i)
             for i, which in enumerate(members_of(module, inst.type))]
    whole = Instruction("OpCompositeConstruct", inst.result,
                        [inst.type] + [part.result for part in parts])
    module.defined[inst.result] = whole
    context.rng.shuffle(parts)
    block.body[at:at + 1] = [new] + parts + [whole]
    return True


def by_component(context, function):
    """An operation on vectors becomes one for each component."""
    module = context.module

    def is_vector(which):
        return which and module.shape(which).op == "OpTypeVector"

    def fits(inst):
        return inst.op in BY_COMPONENT and is_vector(inst.type) and \
            all(is_vector(module.type_of(operand)) for operand in inst.operands())
    place = pick(context, function, fits)
    if not place:
        return False
    block, at = place
    inst = block.body[at]
    scalar, count = module.shape(inst.type).args
    code, results = [], []
    for i in range(int(count)):
        operands = [module.new("OpCompositeExtract", module.shape(module.type_of(operand)).args[0],
                               operand, i) for operand in inst.operands()]
        one = module.new(inst.op, scalar, *[operand.result for operand in operands])
        module.copy_decorations(inst.result, one.result)
        code += operands + [one]
        results.append(one.result)
    detach(context, inst)
    whole = Instruction("OpCompositeConstruct", inst.result, [inst.type] + results)
    module.defined[inst.result] = whole
    block.body[at:at + 1] = code + [whole]
    return True


def load_components(context, function):
    """A vector is loaded component by component."""
    module = context.module
    place = pick(context, function, lambda inst: inst.op == "OpLoad" and len(inst.args) == 2 and
                 module.shape(inst.type).op == "OpTypeVector")
    if not place:
        return False
    block, at = place
    inst = block.body[at]
    storage = module.shape(module.type_of(inst.args[1])).args[0]
    scalar, count = module.shape(inst.type).args
    pointer = module.type_id("OpTypePointer", storage, scalar)
    code, results = [], []
    for i in range(int(count)):
        index = module.constant(context.uint, i)
        chain = module.new("OpAccessChain", pointer, inst.args[1], index)
        code += [chain, module.new("OpLoad", scalar, chain.result)]
        results.append(code[-1].result)
    detach(context, inst)
    whole = Instruction("OpCompositeConstruct", inst.result, [inst.type] + results)
    module.defined[inst.result] = whole
    block.body[at:at + 1] = code + [whole]
    return True


def swap(context, function):
    """Operands of something commutative change places."""
    place = pick(context, function, lambda inst: inst.op in COMMUTATIVE or inst.op in SWAPPED)
    if not place:
        return False
    inst = place[0].body[place[1]]
    inst.op = SWAPPED.get(inst.op, inst.op)
    inst.args[1], inst.args[2] = inst.args[2], inst.args[1]
    return True


def open_constant(context, function):
    """A constant is computed at run time."""
    module = context.module

    def is_open(operand):
        inst = module.defined.get(operand)
        return inst is not None and inst.op == "OpConstant" and \
            module.shape(inst.type).op in ("OpTypeInt", "OpTypeFloat") and \
            module.shape(inst.type).args[0] == "32"
    place = pick(context, function, lambda inst: inst.op in OPEN_CONSTANTS and
                 any(is_open(operand) for operand in inst.operands()))
    if not place:
        return False
    block, at = place
    inst = block.body[at]
    skip = len(inst.args) - len(inst.operands())
    index = context.rng.choice([i for i in range(skip, len(inst.args)) if is_open(inst.args[i])])
    constant = inst.args[index]
    which = module.type_of(constant)
    code, zero = context.opaque()
    if which != context.uint:
        code.append(module.new("OpBitcast", context.uint, constant))
        constant = code[-1].result
    code.append(module.new(context.rng.choice(["OpIAdd", "OpBitwiseXor", "OpISub"]), context.uint,
                           constant, zero))
    if which != context.uint:
        code.append(module.new("OpBitcast", which, code[-1].result))
    inst.args[index] = code[-1].result
    block.body[at:at] = code
    return True


def dead(context, function):
    """Arithmetic whose result goes nowhere, or into a variable that is never read."""
    module = context.module
    place = pick(context, function, lambda inst: inst.op in BY_COMPONENT and
                 inst.op not in ("OpUDiv", "OpSDiv", "OpUMod"))
    if not place:
        return False
    block, at = place
    inst = block.body[at]
    copy = module.new(inst.op, *inst.args)
    other = module.new("OpSelect", inst.type, *choice_of(context, inst.type), copy.result,
                       inst.result)
    code = [copy]
    if other.args[1]:
        code.append(other)
    block.body[at + 1:at + 1] = code + [Instruction("OpStore", None, [None, code[-1].result])]
    store = block.body[at + len(code) + 1]
    store.args[0] = context.variable(function, inst.type)
    return True


def choice_of(context, which):
    """[condition] that fits a type: a constant, all components alike."""
    module = context.module
    truth = module.add_global("OpConstantTrue", context.bool)
    if module.shape(which).op != "OpTypeVector":
        return [truth]
    count = module.shape(which).args[1]
    vector = module.type_id("OpTypeVector", context.bool, count)
    return [module.add_global("OpConstantComposite", vector, *[truth] * int(count))]


def outline(context, function):
    """Some arithmetic with one result becomes a function."""
    module = context.module
    own = {inst.result for inst in function.instructions()} | \
        {inst.result for inst in function.lines}
    for _ in range(TRIES):
        place = pick(context, function, lambda inst: inst.op in PURE and
                     module.is_plain(inst.type))
        if not place:
            return False
        block, last = place
        first = last
        while first > block.head() and last - first < RUN and \
                block.body[first - 1].op in PURE and module.is_plain(block.body[first - 1].type):
            first -= 1
        inside = block.body[first:last + 1]
        results = [inst.result for inst in inside]
        outside = [inst for inst in function.instructions()
                   if not any(inst is other for other in inside)]
        if any(result in inst.operands() for result in results[:-1] for inst in outside):
            first, inside, results = last, inside[-1:], results[-1:]
        inputs = sorted({operand for inst in inside for operand in inst.operands()
                         if operand in own and operand not in results})
        if all(module.is_value(module.type_of(operand)) for operand in inputs):
            make_function(context, block, first, last, inputs)
            return True
    return False


def make_function(context, block, first, last, inputs):
    module, inside = context.module, block.body[first:last + 1]
    result_type = inside[-1].type
    types = [module.type_of(operand) for operand in inputs]
    function_type = module.type_id("OpTypeFunction", result_type, *types)
    control = context.rng.choice(["None", "DontInline"])
    new = Function(module.new("OpFunction", result_type, control, function_type))
    new.lines += [module.new("OpFunctionParameter", which) for which in types]
    names = dict(zip(inputs, [inst.result for inst in new.lines[1:]]))
    body = []
    for inst in inside:
        copy = inst.copy(names)
        copy.result = names[inst.result] = module.fresh()
        module.defined[copy.result] = copy
        module.copy_decorations(inst.result, copy.result)
        body.append(copy)
    body.append(Instruction("OpReturnValue", None, [body[-1].result]))
    new.blocks.append(Block(module.fresh(), body))
    call = Instruction("OpFunctionCall", inside[-1].result,
                       [result_type, new.lines[0].result] + inputs)
    detach(context, inside[-1])
    module.defined[call.result] = call
    block.body[first:last + 1] = [call]
    module.functions.append(new)


# ---- the order of blocks


def dominators(function):
    """{label: labels that dominate it}."""
    labels = [block.label for block in function.blocks]
    predecessors = {label: [] for label in labels}
    for block in function.blocks:
        for target in block.successors():
            predecessors[target].append(block.label)
    found = {label: set(labels) for label in labels}
    found[labels[0]] = {labels[0]}
    changed = True
    while changed:
        changed = False
        for label in labels[1:]:
            sets = [found[other] for other in predecessors[label]]
            new = set.intersection(*sets) | {label} if sets else {label}
            changed |= new != found[label]
            found[label] = new
    return found


def reorder(context, function):
    """Blocks come in another order, each behind those that dominate it."""
    if not 3 < len(function.blocks) < 400:
        return False
    above = dominators(function)
    left, done, result = function.blocks[1:], {function.blocks[0].label}, function.blocks[:1]
    while left:
        ready = [block for block in left if above[block.label] - {block.label} <= done]
        block = context.rng.choice(ready)
        left.remove(block)
        done.add(block.label)
        result.append(block)
    function.blocks = result
    return True


MUTATIONS = [split, around, around, once, invert, to_switch, to_ifs, through_variable,
             through_variable, take_apart, by_component, load_components, swap, swap,
             open_constant, open_constant, dead, outline, reorder]
