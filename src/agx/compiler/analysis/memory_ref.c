/* SPDX-License-Identifier: MIT
 *
 * Describes accesses to memory for the passes that join, forward, move and check them
 * (opt/vectorize.c, opt/memory.c, opt/licm.c, opt/address.c, lower/robust.c, opt/loads/).
 *
 * Why constants may be compared although offsets are sums modulo 2^32: a binding shows less than
 * 2^32 bytes (AGX_MAX_BINDING_B), workgroup and scratch memory still less. Let two instructions
 * that both run use offsets v + c and v + d (mod 2^32) with |c - d| < 2^31. Both offsets are in
 * bounds, so their difference as numbers lies strictly between -2^32 and 2^32, and it is congruent
 * to c - d: it is c - d, or more than 2^31 away from 0, so that bytes that the constants keep apart
 * are apart. Where d is c plus an element's size, it is c - d: the first element's last byte is in
 * bounds, so the byte behind it is below 2^32, too. Elements that the constants put next to each
 * other are next to each other. (Robust clamps hide v behind a umin; such offsets have other
 * terms.) Where code has computed a 64-bit address, the offset is a constant (spirv/address.c).
 */
#include "agx/compiler/analysis/memory_ref.h"

#include <string.h>

#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/ir/launch_slots.h"

/* Deep enough for sums that front ends make; bounds the work for one address. */
#define MAX_DEPTH 6

struct sum {
   struct agxc_term terms[AGXC_MAX_TERMS];
   uint32_t count;
   uint64_t constant;
   uint32_t stride; /* of the last ELEMENT */
   bool overflow;   /* more terms than there is room for */
};

static void add_term(struct sum *sum, uint32_t value, uint64_t factor)
{
   uint32_t at = 0;
   while (at < sum->count && sum->terms[at].value < value)
      at++;
   if (at < sum->count && sum->terms[at].value == value) {
      sum->terms[at].factor += factor;
      return;
   }
   if (sum->count == AGXC_MAX_TERMS) {
      sum->overflow = true;
      return;
   }
   memmove(&sum->terms[at + 1], &sum->terms[at], (sum->count - at) * sizeof(sum->terms[0]));
   sum->terms[at] = (struct agxc_term){value, factor};
   sum->count++;
}

static void add_offset(struct sum *sum, struct agxc_ref offset, uint64_t factor, unsigned depth);

/* Robust code tells outside from inside, so that offsets that differ by 2^32 are not the same:
 * an index counts as a sum only where no factor or constant comes near that. */
static void add_element(struct sum *sum, const struct agxc_instr *element, uint64_t factor,
                        unsigned depth)
{
   struct sum inner = {0};
   uint32_t stride = (uint32_t)agxc_src_stride(element)->imm;
   sum->stride = stride;
   add_offset(&inner, *agxc_src_index(element), 1, depth);
   bool fits = !inner.overflow && (inner.constant + (1u << 20)) * stride < 1ull << 31;
   for (uint32_t i = 0; i < inner.count && fits; i++)
      fits = inner.terms[i].factor < 1u << 16;
   if (!fits || (uint64_t)stride * factor >= 1u << 15) {
      add_term(sum, agxc_dest(element)->value->id, factor);
      return;
   }
   sum->constant += factor * stride * inner.constant;
   for (uint32_t i = 0; i < inner.count; i++)
      add_term(sum, inner.terms[i].value, factor * stride * inner.terms[i].factor);
   sum->overflow |= inner.overflow;
}

/* Adds factor * offset. */
static void add_offset(struct sum *sum, struct agxc_ref offset, uint64_t factor, unsigned depth)
{
   struct agxc_offset parts = agxc_offset_split(offset, AGXC_OFFSET_LINEAR, depth);
   sum->constant += factor * parts.constant;
   for (uint32_t i = 0; i < parts.count; i++) {
      struct agxc_ref ref = parts.terms[i].ref;
      const struct agxc_instr *element = agxc_def_as(ref, AGXC_OP_ELEMENT);
      uint64_t by = factor * parts.terms[i].factor;
      if (element)
         add_element(sum, element, by, depth);
      else /* ids of values stay below those of uniforms */
         add_term(sum, ref.kind == AGXC_UNIFORM ? 0x80000000u + ref.half : ref.value->id, by);
   }
}

/* The offset modulo 2^32; terms that cancel out are dropped. */
static void take_apart(struct agxc_ref offset, struct agxc_memory_ref *memory)
{
   struct sum sum = {0};
   add_offset(&sum, offset, 1, MAX_DEPTH);
   if (sum.overflow) {
      sum = (struct sum){0};
      add_offset(&sum, offset, 1, 1);
   }
   memory->stride = sum.stride;
   for (uint32_t i = 0; i < sum.count; i++) {
      uint32_t factor = (uint32_t)sum.terms[i].factor;
      if (factor)
         memory->terms[memory->term_count++] = (struct agxc_term){sum.terms[i].value, factor};
   }
   memory->constant = (int32_t)(uint32_t)sum.constant;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
   hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
   return hash ^ hash >> 29;
}

static uint64_t base_identity(const struct agxc_memory_ref *memory)
{
   const struct agxc_ref *base = &memory->base;
   if (memory->is_binding)
      return memory->binding * 8ull + 7;
   uint64_t which = base->kind == AGXC_VALUE     ? base->value->id
                    : base->kind == AGXC_NONE    ? 0
                    : base->kind == AGXC_UNIFORM ? base->half
                                                 : (uint64_t)base->imm;
   return which * 8 + base->kind;
}

/* The slot of a binding's address, or NULL. */
static const struct agx_program_uniform *find_binding(const struct agxc_shader *shader,
                                                      const struct agxc_ref *base)
{
   const struct agx_program_uniform *slot =
      base->kind == AGXC_UNIFORM ? agxc_slot_at(shader, base->half) : NULL;
   bool is_address =
      slot && (slot->kind == AGX_UNIFORM_BUFFER_ADDRESS || slot->kind == AGX_UNIFORM_BUFFER_GUARD);
   return is_address ? slot : NULL;
}

bool agxc_memory_ref_is_bound(const struct agxc_shader *shader,
                              const struct agxc_memory_ref *memory)
{
   const struct agx_program_uniform *slot = find_binding(shader, &memory->base);
   return slot && slot->kind == AGX_UNIFORM_BUFFER_ADDRESS;
}

/* The binding itself is the base, however far inside the uniform points. */
static void take_binding(const struct agxc_shader *shader, struct agxc_memory_ref *memory)
{
   const struct agx_program_uniform *slot = find_binding(shader, &memory->base);
   if (!slot)
      return;
   memory->is_binding = true;
   memory->binding = slot->index;
   bool is_guard = slot->kind == AGX_UNIFORM_BUFFER_GUARD;
   memory->constant += is_guard ? agx_program_access_unpack(slot->value).constant : slot->value;
   if (!(memory->access & AGXC_ACCESS_UNCHECKED) && !is_guard)
      memory->robustness = (uint8_t)shader->bindings[slot->index].robustness;
}

static const struct {
   uint16_t op;
   uint8_t space;
   bool reads, writes;
} kinds[] = {
   {AGXC_OP_LOAD_GLOBAL, AGXC_SPACE_DEVICE, true, false},
   {AGXC_OP_STORE_GLOBAL, AGXC_SPACE_DEVICE, false, true},
   {AGXC_OP_ATOMIC_GLOBAL, AGXC_SPACE_DEVICE, true, true},
   {AGXC_OP_LOAD_SHARED, AGXC_SPACE_SHARED, true, false},
   {AGXC_OP_STORE_SHARED, AGXC_SPACE_SHARED, false, true},
   {AGXC_OP_ATOMIC_SHARED, AGXC_SPACE_SHARED, true, true},
   {AGXC_OP_LOAD_SCRATCH, AGXC_SPACE_SCRATCH, true, false},
   {AGXC_OP_STORE_SCRATCH, AGXC_SPACE_SCRATCH, false, true},
};

static uint32_t access_of(const struct agxc_instr *instr)
{
   if (agxc_has_imm(instr, AGXC_IMM_ACCESS))
      return agxc_imm_access(instr);
   if (instr->op == AGXC_OP_ATOMIC_GLOBAL && instr->flags & AGXC_INSTR_UNCHECKED)
      return AGXC_ACCESS_UNCHECKED;
   return instr->flags & AGXC_INSTR_VOLATILE ? AGXC_ACCESS_COHERENT : 0;
}

bool agxc_memory_ref_find(const struct agxc_shader *shader, const struct agxc_instr *instr,
                          struct agxc_memory_ref *out_memory)
{
   size_t i = 0;
   while (i < AGX_COUNT(kinds) && kinds[i].op != instr->op)
      i++;
   if (i == AGX_COUNT(kinds))
      return false;
   const struct agxc_ref *data = kinds[i].reads ? agxc_dest(instr) : agxc_src_data(instr);
   struct agxc_memory_ref memory = {
      .space = kinds[i].space,
      .reads = kinds[i].reads,
      .writes = kinds[i].writes,
      .bits = data->bits,
      .count = data->count,
      .access = access_of(instr),
   };
   take_apart(*agxc_src_offset(instr), &memory);
   if (memory.space == AGXC_SPACE_DEVICE) {
      memory.base = *agxc_src_address(instr);
      take_binding(shader, &memory);
   }
   memory.constant += (memory.access >> AGXC_ACCESS_SKIP_SHIFT & 3) * (memory.bits / 8u);
   memory.key = mix(mix(memory.space, memory.stride), base_identity(&memory));
   for (uint32_t t = 0; t < memory.term_count; t++)
      memory.key = mix(mix(memory.key, memory.terms[t].value), memory.terms[t].factor);
   *out_memory = memory;
   return true;
}

bool agxc_memory_ref_same_key(const struct agxc_memory_ref *a, const struct agxc_memory_ref *b)
{
   if (a->key != b->key || a->space != b->space || a->stride != b->stride ||
       a->term_count != b->term_count || base_identity(a) != base_identity(b))
      return false;
   for (uint32_t i = 0; i < a->term_count; i++)
      if (a->terms[i].value != b->terms[i].value || a->terms[i].factor != b->terms[i].factor)
         return false;
   int64_t distance = a->constant - b->constant;
   return distance < INT32_MAX && distance > -INT32_MAX;
}

static bool promises(const struct agxc_memory_ref *memory)
{
   return memory->access & AGXC_ACCESS_RESTRICT && memory->is_binding;
}

bool agxc_memory_ref_may_overlap(const struct agxc_memory_ref *a, const struct agxc_memory_ref *b)
{
   if (a->space != b->space || ((a->access | b->access) & AGXC_ACCESS_CONST))
      return false;
   if (agxc_memory_ref_same_key(a, b))
      return a->constant < b->constant + agxc_memory_ref_bytes(b) &&
             b->constant < a->constant + agxc_memory_ref_bytes(a);
   /* One binding is not another's memory when either promises so. */
   return base_identity(a) == base_identity(b) || !(promises(a) || promises(b));
}
