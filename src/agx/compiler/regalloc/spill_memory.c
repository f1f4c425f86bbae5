/* SPDX-License-Identifier: MIT
 *
 * Code for values that leave registers: stores behind definitions, reloads, and values
 * computed again. Afterwards each use names the version that reaches it.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/regalloc/spill_impl.h"

#include "agx/compiler/ir/ssa.h"
#include "agx/compiler/ir/launch_slots.h"

#define MAX_OFFSET 0x7fff /* both readings of an immediate's sign agree */

/* The value as elements that the stack instructions take. */
static struct agxc_ref as_elements(struct agxc_value *value)
{
   struct agxc_ref ref = agxc_use(value);
   if (ref.bits == 64) {
      ref.bits = 32;
      ref.count = (uint8_t)(ref.count * 2);
   }
   ref.bits = (uint8_t)AGX_MAX(ref.bits, 16);
   return ref;
}

bool agxc_spill_is_possible(const struct agxc_value *value)
{
   return value->count * (value->bits == 64 ? 2 : 1) <= 4;
}

bool agxc_spill_is_cheap(const struct agxc_value *value)
{
   const struct agxc_instr *def = value->def;
   if (def->op == AGXC_OP_PHI || def->dest_count != 1 ||
       (def->op != AGXC_OP_MOV && !agxc_is_machine(def)) ||
       agxc_flags(def) & ~(unsigned)AGXC_COMMUTATIVE)
      return false;
   if (agxc_isa_info(def)->unit == AGX_ISA_UNIT_MEM)
      return false;
   agxc_foreach_src (src, def)
      if (src->kind == AGXC_VALUE)
         return false;
   return true;
}

static struct agxc_value *new_version(struct agxc_spilling *s, struct agxc_value *value)
{
   struct agxc_value *version = agxc_value_new(s->shader, value->bits, value->count);
   if (version->id >= s->version_capacity) {
      uint32_t capacity = 2 * version->id;
      s->version_of = agx_arena_grow(s->shader->arena, s->version_of, s->version_capacity, capacity,
                                     sizeof(*s->version_of));
      s->version_capacity = capacity;
   }
   s->version_of[version->id] = value;
   agx_bitset_set(s->reloaded, value->id);
   return version;
}

static struct agxc_instr *compute_again(struct agxc_spilling *s, struct agxc_builder b,
                                        const struct agxc_value *value)
{
   const struct agxc_instr *def = value->def;
   struct agxc_instr *instr = agxc_instr_new_n(s->shader, def->op, def->dest_count, def->src_count);
   memcpy(instr->operand, def->operand, def->operand_count * sizeof(*def->operand));
   agxc_insert(&b, instr);
   return instr;
}

static struct agxc_ref offset_of(struct agxc_spilling *s, const struct agxc_value *value)
{
   if (!s->place[value->id])
      s->place[value->id] = agxc_scratch_alloc(s->shader, agxc_halves(value) * 2) + 1;
   uint32_t offset = s->place[value->id] - 1;
   if (offset > MAX_OFFSET)
      agxc_fail(s->shader, AGX_RESOURCE_EXHAUSTED, "%s: registers: spilling takes %u bytes",
                s->shader->name, offset);
   return agxc_imm(offset, 32);
}

static int64_t format_of(const struct agxc_ref *data)
{
   return data->bits == 16 ? AGX_ISA_FORMAT_I16 : AGX_ISA_FORMAT_I32;
}

static struct agxc_instr *load(struct agxc_spilling *s, struct agxc_builder b,
                               struct agxc_value *value)
{
   struct agxc_instr *machine = agxc_instr_new(s->shader, AGXC_OP_ISA + AGX_ISA_OP_STACK_LOAD);
   struct agxc_ref data = as_elements(value);
   *agxc_machine_index(machine) = offset_of(s, value);
   agxc_set_machine_format(machine, (uint64_t)format_of(&data));
   agxc_set_machine_mask(machine, (1u << data.count) - 1);
   agxc_insert(&b, machine);
   return machine;
}

struct agxc_value *agxc_spill_reload(struct agxc_spilling *s, struct agxc_builder b,
                                     struct agxc_value *value)
{
   struct agxc_value *version = new_version(s, value);
   bool is_cheap = agxc_spill_is_cheap(value);
   struct agxc_instr *instr = is_cheap ? compute_again(s, b, value) : load(s, b, value);
   *agxc_dest(instr) = is_cheap ? agxc_use(version) : as_elements(version);
   version->def = instr;
   return version;
}

void agxc_spill_store(struct agxc_spilling *s, struct agxc_builder b, struct agxc_value *value,
                      struct agxc_ref data)
{
   struct agxc_instr *machine = agxc_instr_new(s->shader, AGXC_OP_ISA + AGX_ISA_OP_STACK_STORE);
   struct agxc_ref shape = as_elements(value);
   struct agxc_ref source = as_elements(data.value);
   *agxc_machine_r(machine) = source;
   *agxc_machine_index(machine) = offset_of(s, value);
   agxc_set_machine_format(machine, (uint64_t)format_of(&shape));
   agxc_set_machine_mask(machine, (1u << shape.count) - 1);
   agxc_insert(&b, machine);
}

/* ---- finishing --------------------------------------------------------- */

static struct agxc_builder behind(struct agxc_spilling *s, struct agxc_instr *instr)
{
   struct agxc_instr *next = agxc_next_instr(instr);
   while (agxc_as_phi(instr) && agxc_as_phi(next))
      next = agxc_next_instr(next);
   return (struct agxc_builder){s->shader, instr->block, next};
}

static void store_definitions(struct agxc_spilling *s)
{
   for (uint32_t id = 0; id < s->value_count; id++) {
      struct agxc_value *value = s->shader->values[id];
      if (!agx_bitset_test(s->in_memory, id) || agx_bitset_test(s->is_memory_phi, id) ||
          !agx_bitset_test(s->reloaded, id) || agxc_spill_is_cheap(value))
         continue;
      agxc_spill_store(s, behind(s, value->def), value, agxc_use(value));
   }
}

static void remove_memory_phis(struct agxc_spilling *s)
{
   agxc_foreach_block (block, s->shader)
      agxc_foreach_phi (phi, block)
         if (agx_bitset_test(s->is_memory_phi, agxc_dest(phi)->value->id))
            agxc_instr_remove(phi);
}

struct renaming {
   struct agxc_spilling *s;
   struct agxc_ssa *ssa;
   uint32_t *slot; /* by value, + 1 */
};

static uint32_t slot_of(struct renaming *r, const struct agxc_value *value)
{
   if (!r->slot[value->id])
      r->slot[value->id] = agxc_slot_new_like(r->ssa, value) + 1;
   return r->slot[value->id] - 1;
}

static bool has_versions(const struct renaming *r, const struct agxc_ref *ref)
{
   return ref->kind == AGXC_VALUE && ref->value->id < r->s->value_count &&
          agx_bitset_test(r->s->reloaded, ref->value->id);
}

static void read(struct renaming *r, struct agxc_block *block, struct agxc_ref *src)
{
   if (!has_versions(r, src))
      return;
   struct agxc_ref now = agxc_slot_read(r->ssa, block, slot_of(r, src->value));
   agx_assert(now.kind == AGXC_VALUE);
   src->value = now.value;
}

static void write(struct renaming *r, struct agxc_block *block, const struct agxc_ref *dest)
{
   if (dest->kind != AGXC_VALUE)
      return;
   const struct agxc_value *of =
      dest->value->id < r->s->version_capacity ? r->s->version_of[dest->value->id] : NULL;
   if (!of && has_versions(r, dest))
      of = dest->value;
   if (of)
      agxc_slot_write(r->ssa, block, slot_of(r, of), agxc_use(dest->value));
}

static void rename_block(struct renaming *r, struct agxc_block *block)
{
   agxc_foreach_instr (instr, block) {
      agxc_foreach_src (src, instr)
         if (instr->op != AGXC_OP_PHI)
            read(r, block, src);
      agxc_foreach_dest (dest, instr)
         write(r, block, dest);
   }
   for (unsigned i = 0; i < AGX_COUNT(block->succs); i++) {
      struct agxc_block *succ = block->succs[i];
      if (!succ)
         continue;
      uint32_t pred = agxc_pred_index(succ, block);
      agxc_foreach_phi (phi, succ)
         read(r, block, &agxc_srcs(phi)[pred]);
   }
}

void agxc_spill_finish(struct agxc_spilling *s)
{
   remove_memory_phis(s);
   store_definitions(s);
   struct renaming r = {s, agxc_ssa_begin(s->shader),
                        AGX_ARENA_ARRAY(s->shader->arena, uint32_t, s->value_count)};
   agxc_foreach_block (block, s->shader)
      rename_block(&r, block);
   agxc_ssa_finish(r.ssa);
}
