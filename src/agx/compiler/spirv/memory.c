/* SPDX-License-Identifier: MIT
 *
 * Loads and stores. A value in memory is a list of scalars with byte offsets; runs of
 * up to four that follow each other become one access. Dynamic indices into slots and
 * push constants choose with selects, as long as there is little to choose from.
 *
 * Loads are marked constant for uniform buffers and for buffers that no instruction of the kernel
 * writes, unless they are decorated Aliased: only such buffers may share memory. Memory operands
 * of the Vulkan memory model make an access coherent where their scope goes beyond the workgroup.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"

#define MAX_VECTOR 4

/* ---- layout ------------------------------------------------------------ */

struct layout {
   uint32_t *offsets_B; /* per scalar */
   uint8_t *bits;       /* 1: a boolean, which takes a word */
   uint32_t count;
   bool coherent; /* a member says so */
};

static uint32_t memory_bits(uint8_t bits)
{
   return bits == 1 ? 32 : bits;
}

/* Bytes from one part to the next, where in says how matrices lie. */
static uint32_t part_step(struct agxc_spv *s, const struct agxc_spv_type *type,
                          const struct agxc_spv_member *in)
{
   if (type->kind == AGXC_SPV_ARRAY)
      return agxc_spv_stride(s, type, type->stride_B);
   if ((type->kind == AGXC_SPV_MATRIX) != in->row_major)
      return agxc_spv_stride(s, type, in->matrix_stride_B);
   return type->align_B;
}

/* Where part i of a composite begins in it; *inner becomes how matrices in it lie. in is NULL in
 * memory without a layout of the module's. */
static uint64_t part_offset(struct agxc_spv *s, struct layout *l, const struct agxc_spv_type *type,
                            uint32_t i, const struct agxc_spv_member *in,
                            struct agxc_spv_member *inner)
{
   bool is_struct = type->kind == AGXC_SPV_STRUCT;
   if (!in)
      return is_struct ? type->members[i].packed_offset_B : (uint64_t)type->elem->packed_B * i;
   *inner = is_struct ? type->members[i] : *in;
   if (!is_struct)
      return (uint64_t)part_step(s, type, in) * i;
   l->coherent |= inner->coherent;
   return agxc_spv_member_offset(s, type, i);
}

/* The offsets of all scalars of a type that stands at offset_B; in as above. */
static void lay_out(struct agxc_spv *s, struct layout *l, const struct agxc_spv_type *type,
                    const struct agxc_spv_member *in, uint32_t offset_B)
{
   static const uint32_t pointer_parts_B[AGXC_SPV_POINTER_PARTS] = {0, 8, 12};
   bool is_pointer = type->kind == AGXC_SPV_POINTER;
   if (in && type->kind == AGXC_SPV_BOOL)
      agxc_spv_invalid(s, "boolean in a block");
   if (in && is_pointer && !agxc_spv_type_is_address(type))
      agxc_spv_invalid(s, "pointer of storage class %s in a block",
                       agxc_spv_storage_name(type->storage));
   if (is_pointer || agxc_spv_type_is_scalar(type)) {
      for (uint32_t i = 0; i < type->scalars; i++)
         l->offsets_B[l->count++] = offset_B + pointer_parts_B[i];
      return;
   }
   for (uint32_t i = 0; i < type->count && type->scalars; i++) {
      const struct agxc_spv_type *part =
         type->kind == AGXC_SPV_STRUCT ? type->members[i].type : type->elem;
      struct agxc_spv_member inner;
      if (!part->scalars)
         continue;
      uint64_t at_B = offset_B + part_offset(s, l, type, i, in, &inner);
      if (at_B > UINT32_MAX)
         agxc_spv_missing(s,
                          "part %u of type %u lies more than 4 GiB behind the start of the value: "
                          "access the part by itself",
                          i, type->id);
      lay_out(s, l, part, in ? &inner : NULL, (uint32_t)at_B);
   }
}

static struct layout layout_of(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   struct layout l = {.bits = agxc_spv_scalar_bits(s, p->type)};
   uint32_t scalars = p->type->scalars;
   l.offsets_B = AGX_ARENA_ARRAY(s->arena, uint32_t, AGX_MAX(scalars, 1u));
   if (agxc_spv_has_layout(p)) {
      struct agxc_spv_member in = {.matrix_stride_B = p->matrix_stride_B,
                                   .row_major = p->row_major};
      lay_out(s, &l, p->type, &in, 0);
   } else if (agxc_spv_in_memory(p)) {
      lay_out(s, &l, p->type, NULL, 0);
   } else {
      for (uint32_t i = 0; i < scalars; i++)
         l.offsets_B[i] = 4 * i;
      l.count = scalars;
   }
   return l;
}

/* Behind a pointer each element is checked by itself, where that makes a difference. */
static bool is_split(const struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   return p->place == AGXC_SPV_PLACE_GLOBAL && agxc_spv_robustness(s, p) == AGXC_ROBUST_ZERO;
}

/* How many scalars from i on one access may move. */
static uint32_t run_length(const struct agxc_spv *s, const struct agxc_spv_pointer *p,
                           const struct layout *l, uint32_t i)
{
   uint32_t n = 1, bits = memory_bits(l->bits[i]);
   uint32_t most = bits == 64 ? MAX_VECTOR / 2 : MAX_VECTOR;
   if (is_split(s, p))
      return 1;
   while (n < most && i + n < l->count && memory_bits(l->bits[i + n]) == bits &&
          l->offsets_B[i + n] == l->offsets_B[i] + bits / 8 * n)
      n++;
   return n;
}

/* ---- memory ------------------------------------------------------------ */

static uint32_t access_bits(const struct agxc_spv_pointer *p, bool is_volatile)
{
   uint32_t restricted = p->var && p->var->restricted ? AGXC_ACCESS_RESTRICT : 0;
   if (p->coherent || is_volatile)
      return AGXC_ACCESS_COHERENT | restricted;
   /* Where aliases are allowed, NonWritable leaves other bindings free to write. */
   if (p->is_constant)
      return AGXC_ACCESS_CONST;
   if (p->var && (p->var->is_uniform || (p->var->restricted && p->not_writable)))
      return AGXC_ACCESS_CONST | restricted;
   return restricted;
}

static struct agxc_ref emit_load(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                 struct agxc_ref offset, uint32_t bits, uint32_t count,
                                 uint32_t access)
{
   if (p->place == AGXC_SPV_PLACE_SHARED) {
      struct agxc_ref data = agxc_build_load_shared(&s->b, bits, count, offset);
      if (access & AGXC_ACCESS_COHERENT)
         data.value->def->flags |= AGXC_INSTR_VOLATILE;
      return data;
   }
   if (p->place == AGXC_SPV_PLACE_PRIVATE)
      return agxc_build_load_private(&s->b, bits, count, offset, p->var->index);
   if (p->place == AGXC_SPV_PLACE_GLOBAL) {
      struct agxc_ref base;
      agxc_spv_check_access(s, p, bits / 8 * count, false, &base, &offset);
      return agxc_build_load_global(&s->b, bits, count, base, offset, access);
   }
   uint32_t binding = agxc_spv_use_binding(s, p, AGX_BINDING_READS);
   return agxc_build_load_buffer(&s->b, bits, count, offset, binding, access);
}

static void emit_store(struct agxc_spv *s, const struct agxc_spv_pointer *p, struct agxc_ref offset,
                       struct agxc_ref data, uint32_t access)
{
   if (p->place == AGXC_SPV_PLACE_SHARED) {
      agxc_build_store_shared(&s->b, offset, data);
   } else if (p->place == AGXC_SPV_PLACE_PRIVATE) {
      agxc_build_store_private(&s->b, offset, data, p->var->index);
   } else if (p->place == AGXC_SPV_PLACE_GLOBAL) {
      if (p->not_writable)
         agxc_spv_invalid(s, "write to read-only memory");
      struct agxc_ref base;
      agxc_spv_check_access(s, p, data.bits / 8u * data.count, true, &base, &offset);
      agxc_build_store_global(&s->b, base, offset, data, access);
   } else {
      uint32_t binding = agxc_spv_use_binding(s, p, AGX_BINDING_WRITES);
      agxc_build_store_buffer(&s->b, offset, data, binding, access);
   }
}

/* count elements of that many bits; 64-bit ones are pairs of words. */
static void load_run(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t offset_B,
                     uint32_t bits, uint32_t count, uint32_t access, struct agxc_ref *out)
{
   struct agxc_ref offset = agxc_spv_offset(s, p, offset_B), parts[MAX_VECTOR];
   bool wide = bits == 64;
   uint32_t n = wide ? 2 * count : count;
   if (wide && agxc_spv_robustness(s, p))
      access |= AGXC_ACCESS_PAIRS;
   struct agxc_ref loaded = emit_load(s, p, offset, wide ? 32 : bits, n, access);
   if (n == 1)
      parts[0] = loaded;
   else
      agxc_split(&s->b, loaded, parts);
   for (uint32_t i = 0; i < count; i++)
      out[i] = wide ? agxc_spv_build2(s, AGXC_OP_PACK64, parts[2 * i], parts[2 * i + 1]) : parts[i];
}

static void load_memory(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                        const struct layout *l, uint32_t access, struct agxc_ref *out)
{
   for (uint32_t i = 0; i < l->count;) {
      uint32_t count = run_length(s, p, l, i);
      load_run(s, p, l->offsets_B[i], memory_bits(l->bits[i]), count, access, out + i);
      i += count;
   }
   for (uint32_t i = 0; i < l->count; i++)
      if (l->bits[i] == 1)
         out[i] = agxc_spv_build2(s, AGXC_OP_INE, out[i], agxc_spv_u32(0));
}

void agxc_spv_load_vector(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t bits,
                          uint32_t count, bool is_volatile, struct agxc_ref *out)
{
   uint32_t step = is_split(s, p) ? 1 : count;
   for (uint32_t i = 0; i < count; i += step)
      load_run(s, p, i * bits / 8, bits, step, access_bits(p, is_volatile), out + i);
}

void agxc_spv_store_vector(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t count,
                           const struct agxc_ref *refs, bool is_volatile)
{
   uint32_t step = is_split(s, p) ? 1 : count, access = access_bits(p, is_volatile);
   for (uint32_t i = 0; i < count; i += step) {
      struct agxc_ref value = step == 1 ? refs[i] : agxc_collect(&s->b, step, refs + i);
      emit_store(s, p, agxc_spv_offset(s, p, i * refs[0].bits / 8u), value,
                 access & ~AGXC_ACCESS_CONST);
   }
}

/* Appends what a store moves for one scalar; returns how many elements that were. */
static uint32_t stored_parts(struct agxc_spv *s, struct agxc_ref ref, struct agxc_ref *out)
{
   out[0] = ref.bits == 1 ? agxc_spv_build1(s, AGXC_OP_ZEXT, 32, ref) : ref;
   if (ref.bits != 64)
      return 1;
   agxc_spv_unpack(s, ref, &out[0], &out[1]);
   return 2;
}

static void store_memory(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                         const struct layout *l, uint32_t access, const struct agxc_ref *refs)
{
   for (uint32_t i = 0; i < l->count;) {
      uint32_t count = run_length(s, p, l, i), n = 0;
      struct agxc_ref data[MAX_VECTOR];
      for (uint32_t j = 0; j < count; j++)
         n += stored_parts(s, refs[i + j], data + n);
      struct agxc_ref offset = agxc_spv_offset(s, p, l->offsets_B[i]);
      uint32_t pairs = n > count && agxc_spv_robustness(s, p) ? AGXC_ACCESS_PAIRS : 0;
      emit_store(s, p, offset, n == 1 ? data[0] : agxc_collect(&s->b, n, data), access | pairs);
      i += count;
   }
}

/* ---- slots, push constants, builtins ----------------------------------- */

/* One combination of dynamic indices: their sum of strides, and where it leads. */
struct choice {
   uint32_t count;
   uint32_t *offsets_B;
   struct agxc_ref index_B; /* what the indices come to at run time */
};

static struct choice choices_of(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   uint64_t count = 1;
   for (uint32_t d = 0; d < p->dynamic_count && count <= AGXC_SPV_MAX_SELECTS; d++)
      count *= p->dynamics[d].count;
   if (p->dynamic_count && count * AGX_MAX(p->type->scalars, 1u) > AGXC_SPV_MAX_SELECTS)
      agxc_spv_missing(s,
                       "indexable private array: a dynamic index chooses from more than %u "
                       "scalars: use fewer, or a buffer",
                       AGXC_SPV_MAX_SELECTS);
   struct choice c = {.count = (uint32_t)count, .index_B = agxc_spv_u32(0)};
   c.offsets_B = AGX_ARENA_ARRAY(s->arena, uint32_t, c.count);
   uint32_t made = 1;
   for (uint32_t d = 0; d < p->dynamic_count; d++) {
      uint32_t stride_B = p->dynamics[d].stride_B;
      for (uint32_t i = 1; i < p->dynamics[d].count; i++)
         for (uint32_t j = 0; j < made; j++)
            c.offsets_B[i * made + j] = c.offsets_B[j] + i * stride_B;
      made *= p->dynamics[d].count;
      struct agxc_ref term =
         agxc_spv_build2(s, AGXC_OP_IMUL, p->dynamics[d].index, agxc_spv_u32(stride_B));
      c.index_B = d == 0 ? term : agxc_spv_build2(s, AGXC_OP_IADD, c.index_B, term);
   }
   return c;
}

static struct agxc_ref read_push_part(struct agxc_spv *s, uint32_t offset_B, uint32_t bits)
{
   if (!agx_range_fits(offset_B, bits / 8, AGX_PROGRAM_MAX_PUSH_B))
      agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "push constant at byte %u of at most %u", offset_B,
                     AGX_PROGRAM_MAX_PUSH_B);
   s->shader->push_B =
      AGX_MAX(s->shader->push_B, (uint32_t)agx_align_up((uint64_t)offset_B + bits / 8, 4));
   return agxc_build_load_push(&s->b, bits, 1, offset_B);
}

/* Uniform registers have halves, but no bytes. */
static struct agxc_ref read_push(struct agxc_spv *s, uint32_t offset_B, uint32_t bits)
{
   if (bits == 64) {
      struct agxc_ref low = read_push_part(s, offset_B, 32);
      return agxc_spv_build2(s, AGXC_OP_PACK64, low, read_push_part(s, offset_B + 4, 32));
   }
   if (bits == 8) {
      struct agxc_ref half = read_push_part(s, offset_B & ~1u, 16);
      struct agxc_ref shift = agxc_spv_u32(8 * (offset_B & 1));
      half = agxc_spv_build2(s, AGXC_OP_USHR, half, shift);
      return agxc_spv_build1(s, AGXC_OP_TRUNC, 8, half);
   }
   return read_push_part(s, offset_B, memory_bits((uint8_t)bits));
}

static struct agxc_ref read_scalar(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                   uint32_t offset_B, uint32_t bits)
{
   switch (p->place) {
   case AGXC_SPV_PLACE_SLOTS:
      return agxc_spv_slot_read(s, p->var->first_slot + offset_B / 4);
   case AGXC_SPV_PLACE_PUSH:
      return read_push(s, offset_B, bits);
   default:
      return agxc_spv_read_builtin(s, p, offset_B / 4);
   }
}

static void load_chosen(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                        const struct layout *l, struct agxc_ref *out)
{
   struct choice c = choices_of(s, p);
   for (uint32_t i = 0; i < l->count; i++)
      out[i] = read_scalar(s, p, p->const_B + l->offsets_B[i] + c.offsets_B[0], l->bits[i]);
   for (uint32_t n = 1; n < c.count; n++) {
      struct agxc_ref hit =
         agxc_spv_build2(s, AGXC_OP_IEQ, c.index_B, agxc_spv_u32(c.offsets_B[n]));
      for (uint32_t i = 0; i < l->count; i++) {
         struct agxc_ref other =
            read_scalar(s, p, p->const_B + l->offsets_B[i] + c.offsets_B[n], l->bits[i]);
         out[i] = agxc_spv_select(s, hit, other, out[i]);
      }
   }
}

static void store_chosen(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                         const struct layout *l, const struct agxc_ref *refs)
{
   struct choice c = choices_of(s, p);
   for (uint32_t n = 0; n < c.count; n++) {
      struct agxc_ref hit =
         agxc_spv_build2(s, AGXC_OP_IEQ, c.index_B, agxc_spv_u32(c.offsets_B[n]));
      for (uint32_t i = 0; i < l->count; i++) {
         uint32_t slot = p->var->first_slot + (p->const_B + l->offsets_B[i] + c.offsets_B[n]) / 4;
         struct agxc_ref value = refs[i];
         if (p->dynamic_count)
            value = agxc_spv_select(s, hit, value, agxc_spv_slot_read(s, slot));
         agxc_spv_slot_write(s, slot, value);
      }
   }
}

/* ---- instructions ------------------------------------------------------ */

/* Accesses of workgroup memory have no bits of their own: a barrier without bits, which becomes
 * no instruction, keeps passes from taking a volatile or atomic one for another. */
static void fence_volatile(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t access)
{
   if (p->place == AGXC_SPV_PLACE_SHARED && access & AGXC_ACCESS_COHERENT)
      agxc_build_barrier(&s->b, 0);
}

struct agxc_ref *agxc_spv_load(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                               bool is_volatile)
{
   struct layout l = layout_of(s, p);
   struct agxc_ref *out = agxc_spv_refs(s, l.count);
   uint32_t access = access_bits(p, l.coherent || is_volatile);
   fence_volatile(s, p, access);
   if (agxc_spv_in_memory(p))
      load_memory(s, p, &l, access, out);
   else
      load_chosen(s, p, &l, out);
   fence_volatile(s, p, access);
   return out;
}

void agxc_spv_store(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                    const struct agxc_ref *refs, bool is_volatile)
{
   struct layout l = layout_of(s, p);
   if (p->place == AGXC_SPV_PLACE_PUSH || p->place == AGXC_SPV_PLACE_BUILTIN ||
       p->place == AGXC_SPV_PLACE_HANDLE)
      agxc_spv_invalid(s, "store to storage class %s", agxc_spv_storage_name(p->var->storage));
   uint32_t access = access_bits(p, l.coherent || is_volatile) & ~AGXC_ACCESS_CONST;
   fence_volatile(s, p, access);
   if (p->place == AGXC_SPV_PLACE_SLOTS)
      store_chosen(s, p, &l, refs);
   else
      store_memory(s, p, &l, access, refs);
   fence_volatile(s, p, access);
}

/* What memory operands ask for. */
struct access {
   bool is_volatile, available, visible; /* the last two: beyond the workgroup */
   uint32_t alignment;                   /* 0: not said */
};

static bool is_wide(uint32_t scope)
{
   return scope == SpvScopeDevice || scope == SpvScopeCrossDevice || scope == SpvScopeQueueFamily;
}

/* The optional memory operands from *i on, which moves behind them. */
static struct access read_access(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t *i)
{
   const uint32_t known = SpvMemoryAccessVolatileMask | SpvMemoryAccessAlignedMask |
                          SpvMemoryAccessNontemporalMask | SpvMemoryAccessMakePointerAvailableMask |
                          SpvMemoryAccessMakePointerVisibleMask |
                          SpvMemoryAccessNonPrivatePointerMask;
   struct access access = {0};
   if (agxc_spv_operand_count(in) <= *i)
      return access;
   uint32_t mask = agxc_spv_operand(s, in, (*i)++);
   if (mask & ~known)
      agxc_spv_missing(s, "memory access 0x%x is not supported: leave out what is new in it", mask);
   access.is_volatile = mask & SpvMemoryAccessVolatileMask;
   if (mask & SpvMemoryAccessAlignedMask)
      access.alignment = agxc_spv_operand(s, in, (*i)++);
   if (mask & SpvMemoryAccessMakePointerAvailableMask)
      access.available = is_wide(agxc_spv_constant_u32(s, agxc_spv_operand(s, in, (*i)++)));
   if (mask & SpvMemoryAccessMakePointerVisibleMask)
      access.visible = is_wide(agxc_spv_constant_u32(s, agxc_spv_operand(s, in, (*i)++)));
   return access;
}

/* Memory is accessed by elements, whose addresses hardware rounds down to their size. */
static void check_alignment(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                            const struct access *access)
{
   if (access->alignment & (access->alignment - 1))
      agxc_spv_invalid(s, "alignment %u", access->alignment);
   uint32_t element_B = AGX_MIN(p->type->align_B, 4u);
   if (p->is_address && access->alignment && access->alignment < element_B)
      agxc_spv_missing(
         s, "elements of %u bytes aligned to %u: align them to their size, or load smaller ones",
         element_B, access->alignment);
}

void agxc_spv_op_load(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0));
   if (agxc_spv_type_of(s, in->type_id) != p->type)
      agxc_spv_invalid(s, "result type %u, pointer to type %u", in->type_id, p->type->id);
   uint32_t i = 1;
   struct access access = read_access(s, in, &i);
   if (p->place == AGXC_SPV_PLACE_HANDLE) {
      agxc_spv_load_handle(s, in, p);
      return;
   }
   check_alignment(s, p, &access);
   agxc_spv_define(s, in, agxc_spv_load(s, p, access.is_volatile || access.visible));
}

bool agxc_spv_is_zeros(struct agxc_spv *s, uint32_t id, const struct agxc_spv_type *type)
{
   const struct agxc_spv_id *entry = agxc_spv_id(s, id);
   if (entry->kind == AGXC_SPV_ID_ZEROS && entry->type != type)
      agxc_spv_invalid(s, "id %u has type %u, type %u expected", id, entry->type->id, type->id);
   return entry->kind == AGXC_SPV_ID_ZEROS;
}

void agxc_spv_op_store(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0));
   uint32_t object = agxc_spv_operand(s, in, 1), i = 2;
   struct access access = read_access(s, in, &i);
   check_alignment(s, p, &access);
   if (agxc_spv_is_zeros(s, object, p->type)) {
      if (!agxc_spv_in_memory(p))
         agxc_spv_invalid(s, "store to storage class %s", agxc_spv_storage_name(p->var->storage));
      struct agxc_spv_pointer *to = agxc_spv_pointer_copy(s, p);
      to->coherent |= access.is_volatile || access.available;
      agxc_spv_clear(s, to);
      return;
   }
   const struct agxc_ref *refs = agxc_spv_value_like(s, object, p->type);
   agxc_spv_store(s, p, refs, access.is_volatile || access.available);
}

void agxc_spv_op_copy_memory(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *to = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0));
   struct agxc_spv_pointer *from = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 1));
   uint32_t i = 2;
   struct access to_access = read_access(s, in, &i), from_access = to_access;
   if (i < agxc_spv_operand_count(in))
      from_access = read_access(s, in, &i);
   check_alignment(s, to, &to_access);
   check_alignment(s, from, &from_access);
   if (!agxc_spv_same_shape(to->type, from->type))
      agxc_spv_invalid(s, "copy from type %u to type %u", from->type->id, to->type->id);
   const struct agxc_ref *refs =
      agxc_spv_load(s, from, from_access.is_volatile || from_access.visible);
   agxc_spv_store(s, to, refs, to_access.is_volatile || to_access.available);
}

void agxc_spv_op_array_length(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0));
   uint32_t i = agxc_spv_operand(s, in, 1);
   struct agxc_spv_type *part = agxc_spv_part_type(s, p->type, i);
   bool has_size = p->place == AGXC_SPV_PLACE_BUFFER || p->size.kind != AGXC_NONE;
   if (!has_size || p->type->kind != AGXC_SPV_STRUCT || part->kind != AGXC_SPV_RUNTIME_ARRAY)
      agxc_spv_invalid(s, "length of member %u of type %u", i, p->type->id);
   uint32_t stride_B = agxc_spv_stride(s, part, part->stride_B);
   struct agxc_ref start = agxc_spv_offset(s, p, agxc_spv_member_offset(s, p->type, i)),
                   size = p->size;
   if (p->place == AGXC_SPV_PLACE_BUFFER) {
      uint32_t binding = agxc_spv_use_binding(s, p, 0);
      size = agxc_build_buffer_size(&s->b, binding);
   }
   /* A buffer that ends before the array has no elements, not four billion. */
   struct agxc_ref end = agxc_spv_build2(s, AGXC_OP_UMAX, size, start);
   struct agxc_ref bytes = agxc_spv_build2(s, AGXC_OP_ISUB, end, start);
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT,
                          agxc_spv_build2(s, AGXC_OP_UDIV, bytes, agxc_spv_u32(stride_B)));
}
