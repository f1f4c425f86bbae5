# SPDX-License-Identifier: MIT
"""The representative launch of a module that comes without inputs.

The rule, which docs/decisions/0036 explains; it was fixed before anything was tuned with it:

- Four workgroups in a row. Where the workgroup's size is left to specialization constants whose
  defaults make fewer than 32 threads, x is the default of another constant of the same number, or
  else the workgroup has 64 threads: x of them, or 8 by 8 where x and y are both 0.
- Each storage buffer has 1 MiB. In an array without a length, and in arrays and structures of a
  storage buffer, floats are in [0.25, 1.25), bytes any, 16-bit integers below 256, wider ones below
  16. Where a module has several views of one binding, the one with the most kinds of numbers counts,
  floats before integers.
- What stands alone is taken for a parameter: push constants, uniform buffers (64 KiB), and members
  that lie before a storage buffer's array without a length. All their integers have the value of
  the level, floats are 0.5, and addresses are those of a buffer of 1 MiB.
- Levels are 1024, 256, 64, 16, 4 and 1; where push constants have arrays of integers, at most the
  last index of the shortest, since they may be indices into it. The first counts at which the
  launch under Honeykrisp ends, within 200,000 instructions of each SIMD-group and without an access
  to memory that isn't mapped, and changes an output; or the first that ends, where none changes one.
- Each image has one level of 256 by 256 texels, or 256 by 16 by 16 where it has three dimensions:
  1 MiB at 16 bytes a texel. Its format is the one that the module declares, else four channels of
  32 bits of the type that the module reads. Floats and wider integers are as in buffers, bytes and
  normalised channels any. Samplers take the nearest texel and the edge's beyond the edge.
- Modules with other images, arrays of bindings or the like aren't launched: slots make them compile.
"""
from reflect import NON_WRITABLE, UDIV, Unsupported, float_bits
from spirv import OP

LEVELS = [1024, 256, 64, 16, 4, 1]
STORAGE_BYTES, UNIFORM_BYTES = 1 << 20, 1 << 16
GRID = (4, 1, 1)
MOST_FIELDS, MOST_PUSH_BYTES = 32, 256
IMAGE_2D, IMAGE_3D = (256, 256, 1), (256, 16, 16)
DIM_2D, DIM_3D = 1, 2
# By SPIR-V's number of the format: the manifest's name, and the kind of number in a channel.
IMAGE_FORMATS = {1: ("rgba32f", "f32"), 2: ("rgba16f", "f16"), 3: ("r32f", "f32"),
                 4: ("rgba8", "u8"), 7: ("rg16f", "f16"), 11: ("rgb10_a2", "any"), 15: ("r8", "u8"),
                 21: ("rgba32i", "u32"), 23: ("rgba8i", "u8"), 30: ("rgba32ui", "u32"),
                 32: ("rgba8ui", "u8"), 33: ("r32ui", "u32"), 38: ("r16ui", "u16"),
                 39: ("r8ui", "u8")}
IMAGE_CONTENTS = {"f32": "rand_f32 {seed} 0.25 1.25", "f16": "rand_f16 {seed} 0.25 1.25",
                  "u8": "rand_u8 {seed}", "any": "rand_u32 {seed}",
                  "u16": "records {seed} 0 2 0:u16:1", "u32": "records {seed} 0 4 0:u32:1"}
TYPE_NAMES = {("int", 1): "u8", ("int", 2): "u16", ("int", 4): "u32", ("int", 8): "u64",
              ("float", 2): "f16", ("float", 4): "f32", ("float", 8): "f64",
              ("pointer", 8): "u64"}


def merged(leaves):
    """[offset, type, count] of runs of equal scalars behind one another."""
    fields = []
    for offset, kind, size in sorted(leaves):
        name = TYPE_NAMES.get((kind, size))
        if not name:
            raise Unsupported(f"a {kind} of {size} bytes")
        if fields and fields[-1][1] == name and fields[-1][0] + fields[-1][2] * size == offset:
            fields[-1][2] += 1
        elif not fields or offset > fields[-1][0]:  # members may overlap
            fields.append([offset, name, 1])
    return fields


def parameter(kind, level):
    """Of a scalar that stands alone."""
    return 0.5 if kind.startswith("f") else min(level, 255 if kind == "u8" else 65535)


def records(seed, head, stride, fields, level):
    """The manifest's words for a buffer: parameters before the head, data behind it."""
    if len(fields) > MOST_FIELDS:  # of the commonest type alone
        sizes = {name: sum(count for _, kind, count in fields if kind == name)
                 for _, name, _ in fields}
        name = max(sorted(sizes), key=sizes.get)
        value = f"={parameter(name, level)}" if head else ""
        return f"records {seed} 0 8 0:{name}:{8 // (int(name[1:]) // 8)}{value}"
    words = []
    for offset, name, count in fields:
        value = f"={parameter(name, level)}" if offset < head else ""
        words.append(f"{offset}:{name}:{count}{value}")
    return f"records {seed} {head} {stride} " + " ".join(words)


def block_records(module, block, is_uniform, seed, level):
    """Words for a uniform or storage block."""
    array = module.runtime_array(block)
    leaves = list(module.leaves(block))
    if is_uniform:
        size = max(module.size_of(block), 4)
        return records(seed, size, 4, merged(leaves) or [[0, "u32", 1]], level)
    if array:
        offset, stride, element = array
        leaves += [(offset + at, kind, size) for at, kind, size in module.leaves(element)]
        return records(seed, offset, max(stride, 1), merged(leaves), level)
    size = max(module.size_of(block), 4)
    return records(seed, 0, size, merged(leaves) or [[0, "u32", 1]], level)


def richness(module, block):
    """Orders the views of a binding."""
    array = module.runtime_array(block)
    leaves = list(module.leaves(block)) + (list(module.leaves(array[2])) if array else [])
    kinds = {(kind, size) for _, kind, size in leaves}
    return len(kinds), any(kind == "float" for kind, _ in kinds)


def specialization(module):
    """Values of the constants that give the workgroup its size, where it has none by default."""
    ids = module.workgroup_ids()
    if not ids:
        return {}
    size = module.workgroup()
    if size[0] * size[1] * size[2] >= 32:
        return {}
    wanted = [8, 8, 1] if size[0] == 0 and size[1] == 0 else [64, 1, 1]
    own = max((module.constants[constant]
               for constant in module.specs.get(module.spec_of(ids[0]), [])), default=0)
    if 32 <= own <= 1024:
        wanted = [own, 1, 1]
    return {module.spec_of(constant): want for constant, want in zip(ids, wanted)
            if module.spec_of(constant) is not None}


def divides_to_nothing(module):
    """Whether a quotient of specialization constants is 0 with the workgroup's size of the launch.
    Where it is the step of a loop, the loop has no end, and what compilers make of it is free."""
    values = specialization(module)
    return any(operation == UDIV and module.value_of(constant, values) == 0
               for constant, (operation, _) in module.expressions.items())


def is_written(module, variable, block):
    """Unless the module says that it is read only."""
    if NON_WRITABLE in module.decorations.get(variable, {}):
        return False
    members = len(module.types[block][1])
    return not all(NON_WRITABLE in module.members.get((block, i), {}) for i in range(members))


def push_lines(module, level, first_id):
    """Lines of push constants, and of the buffers whose addresses stand in them."""
    block = module.push_constants()
    if block is None:
        return []
    size = module.size_of(block)
    if size > MOST_PUSH_BYTES:
        raise Unsupported(f"{size} bytes of push constants")
    level = max(min([level] + [count - 1 for count in module.integer_arrays(block)]), 1)
    data, addresses = bytearray((size + 3) // 4 * 4), {}
    for offset, kind, width in module.leaves(block):
        if kind == "pointer" or (width == 8 and offset in module.addresses):
            addresses[offset] = first_id + len(addresses)
        elif kind == "float":
            data[offset:offset + width] = float_bits(0.5, width)
        else:
            data[offset:offset + width] = min(level, (1 << 8 * width) - 1).to_bytes(width, "little")
    lines, at = [], 0
    while at < len(data):
        if at in addresses:
            lines.append(f"push addr {addresses[at]}")
            at += 8
        else:
            lines.append(f"push u32 {int.from_bytes(data[at:at + 4], 'little')}")
            at += 4
    pointers = dict(module.pointers(block))
    for offset, buffer in addresses.items():
        which = pointers.get(offset, module.addresses.get(offset))
        lines.append(f"buf {buffer} 0 0 addr {STORAGE_BYTES} " +
                     pointed_records(module, which, buffer, level) + " out")
    return lines


def pointed_records(module, which, seed, level):
    """Words for what an address of the push constants points to."""
    if module.runtime_array(which):
        return block_records(module, which, False, seed, level)
    fields = merged(module.leaves(which)) or [[0, "f32", 1]]
    return records(seed, 0, max(module.size_of(which), 4), fields, level)


def image_format(module, image):
    """(the manifest's name, kind of number) of a format, or None."""
    sample, number = image[0], image[6]
    if number:
        return IMAGE_FORMATS.get(number)
    if module.types[sample][0] == OP["TypeFloat"]:
        return IMAGE_FORMATS[1]
    return IMAGE_FORMATS[21 if module.types[sample][1][1] else 30]


def image_line(module, number, place, kind, views):
    """Of an image or a sampled image."""
    images = {module.types[module.kind_of(which, storage)[2]][1] for _, which, storage in views}
    image = images.pop()
    if images or kind not in ("storage", "sampled"):
        raise Unsupported(f"{kind} at {place}")
    _, dim, _, arrayed, multisampled, *_ = image
    wanted = image_format(module, image)
    if dim not in (DIM_2D, DIM_3D) or arrayed or multisampled or not wanted:
        raise Unsupported(f"{kind} of another kind at {place}")
    name, channel = wanted
    directive, extent = ("volume", IMAGE_3D) if dim == DIM_3D else ("img", IMAGE_2D)
    is_out = kind == "storage" and any(NON_WRITABLE not in module.decorations.get(variable, {})
                                       for variable, _, _ in views)
    return (f"{directive} {number} {place.replace('.', ' ')} {kind} {name} {extent[0]} {extent[1]} "
            f"{extent[2]} nearest {IMAGE_CONTENTS[channel].format(seed=number + 1)}"
            f"{' out' if is_out else ''}")


def resource_lines(module, level):
    lines = []
    for number, ((group, binding), views) in enumerate(module.resources().items()):
        kinds = [module.kind_of(which, storage) for _, which, storage in views]
        kind, count, _ = kinds[0]
        if count != 1 or any(other[:2] != kinds[0][:2] for other in kinds):
            raise Unsupported(f"an array of bindings at {group}.{binding}")
        if kind not in ("ssbo", "ubo"):
            lines.append(image_line(module, number, f"{group}.{binding}", kind, views))
            continue
        block = max((which for _, _, which in kinds), key=lambda which: richness(module, which))
        written = kind == "ssbo" and any(is_written(module, variable, which)
                                         for (variable, _, _), (_, _, which) in zip(views, kinds))
        lines.append(f"buf {number} {group} {binding} {kind} "
                     f"{STORAGE_BYTES if kind == 'ssbo' else UNIFORM_BYTES} " +
                     block_records(module, block, kind == "ubo", number + 1, level) +
                     (" out" if written else ""))
    return lines


def spec_lines(module):
    return [f"spec {spec} u32 {value}" for spec, value in sorted(specialization(module).items())]


def manifest(module, level):
    """Text of the manifest with which the module is launched; Unsupported says why it isn't."""
    lines = spec_lines(module) + resource_lines(module, level)
    lines += push_lines(module, level, 60)
    if len(lines) > 48 + MOST_PUSH_BYTES // 4 or any(len(line) > 1000 for line in lines):
        raise Unsupported("more than a manifest holds")
    return "\n".join(lines + ["dispatch %d %d %d" % GRID, "cmp none"]) + "\n"


def layout(module):
    """Text of a manifest with the module's bindings alone: it is compiled, not launched."""
    lines = spec_lines(module)
    for (group, binding), views in module.resources().items():
        kind, count, _ = module.kind_of(views[0][1], views[0][2])
        lines.append(f"slot {group} {binding} {kind} {count}")
    block = module.push_constants()
    words = (module.size_of(block) + 3) // 4 if block is not None else 0
    lines += ["push u32 0"] * min(words, MOST_PUSH_BYTES // 4)
    return "\n".join(lines or ["slot 0 0 ubo 1"]) + "\n"


def element_kinds(module):
    """{resource number: "f16", "f32", "int" or "mixed"}: how outputs are compared."""
    kinds = {}
    for number, views in enumerate(module.resources().values()):
        found = set()
        for _, which, storage in views:
            kind, _, block = module.kind_of(which, storage)
            if kind not in ("ssbo", "ubo"):
                channel = (image_format(module, module.types[block][1]) or ("", ""))[1]
                found.add(channel if channel in ("f16", "f32") else "int")
                continue
            array = module.runtime_array(block)
            leaves = list(module.leaves(block)) + (list(module.leaves(array[2])) if array else [])
            found |= {TYPE_NAMES[kind, size] for _, kind, size in leaves}
        kinds[number] = found.pop() if len(found) == 1 else "mixed"
    return kinds
