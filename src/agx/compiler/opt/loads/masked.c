/* SPDX-License-Identifier: MIT
 *
 * Puts the code of several iterations of a loop together, for opt_unroll_predicated, so that their
 * loads wait together and lanes load for true iterations only:
 *
 *    a = load i                        a = load i
 *    s += a                            if (i + 1 < n) b = load i + 1
 *    b = load i + 1              =>    if (i + 2 < n) c = load i + 2
 *    t = s + b, s = true ? t : s       s += a
 *    c = load i + 2                    t = s + b, s = true ? t : s
 *    ..                                ..
 *
 * Where a load needs another one, there are two such rows of ifs. What lanes without the iteration
 * compute is of no account: it is not chosen.
 */
#include <stdlib.h>

#include "agx/compiler/opt/loads/loads_impl.h"

#define REST UINT8_MAX /* the stage of what does not come before the last loads */

struct stages {
   struct agxc_masked *masked;
   struct agxc_block *at;
};

static const struct agxc_masked_note *find_note(const struct stages *s, const struct agxc_ref *src)
{
   const struct agxc_masked_notes *notes = s->masked->notes;
   if (src->kind != AGXC_VALUE || src->value->id >= notes->capacity ||
       notes->of[src->value->id].loop != notes->loop)
      return NULL;
   return &notes->of[src->value->id];
}

static void take_note(struct stages *s, const struct agxc_value *value, uint8_t stage, bool varies)
{
   struct agxc_masked_notes *notes = s->masked->notes;
   notes->of[value->id] = (struct agxc_masked_note){notes->loop, stage, varies};
}

static void begin_notes(struct stages *s)
{
   struct agxc_masked_notes *notes = s->masked->notes;
   struct agxc_shader *shader = s->masked->shader;
   notes->loop++;
   if (notes->capacity >= shader->value_count)
      return;
   notes->capacity = 2 * shader->value_count;
   notes->of = AGX_ARENA_ARRAY(shader->arena, struct agxc_masked_note, notes->capacity);
}

static bool varies(const struct stages *s, const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr) {
      const struct agxc_masked_note *note = find_note(s, src);
      if (note && note->varies)
         return true;
   }
   return false;
}

/* What is the same in all iterations is as valid in each: opt_cse joins it. */
static bool loads(const struct stages *s, const struct agxc_instr *instr)
{
   return (agxc_flags(instr) & AGXC_READS_MEMORY || agxc_waits_for(instr)) && varies(s, instr);
}

/* Behind the loads that it needs. */
static uint8_t stage_of(const struct stages *s, const struct agxc_instr *instr)
{
   uint8_t stage = 0;
   agxc_foreach_src (src, instr) {
      const struct agxc_masked_note *note = find_note(s, src);
      stage = note ? AGX_MAX(stage, note->stage) : stage;
   }
   return stage;
}

/* Returns how many rows of loads there are. */
static uint32_t find_stages(struct stages *s, const struct agxc_block *block)
{
   uint32_t rows = 0;
   agxc_foreach_instr (instr, block) {
      uint8_t stage = stage_of(s, instr);
      if (instr->op == AGXC_OP_PHI)
         continue;
      if (loads(s, instr)) {
         stage += stage < REST - 1;
         rows = AGX_MAX(rows, stage);
      }
      bool is_varying = varies(s, instr);
      agxc_foreach_dest (dest, instr)
         take_note(s, dest->value, stage, is_varying);
   }
   return rows;
}

static void move(struct agxc_instr *instr, struct agxc_block *to)
{
   agx_list_remove(&instr->link);
   agx_list_append(&to->instrs, &instr->link);
   instr->block = to;
}

static void move_arithmetic(struct stages *s, struct agxc_block *from, uint32_t row)
{
   agxc_foreach_instr_safe (instr, from)
      if (!loads(s, instr) && stage_of(s, instr) <= row)
         move(instr, s->at);
}

/* Behind the if, what was loaded has its name; lanes that did not load have anything. */
static void move_to_arm(struct stages *s, struct agxc_instr *load, const struct agxc_if *branch)
{
   struct agxc_shader *shader = s->masked->shader;
   struct agxc_block *arm = agxc_first_block(&branch->then_list);
   struct agxc_ref name = *agxc_dest(load), ways[2];
   struct agxc_builder undef = agxc_at_exit(shader, agxc_block_before(&branch->node));
   struct agxc_builder b = agxc_at_end(shader, s->at);
   move(load, arm);
   agxc_define(load, agxc_use(agxc_value_new(shader, name.bits, name.count)));
   ways[0] = agxc_use(agxc_dest(load)->value);
   ways[1] = agxc_build_undef(&undef, name.bits, name.count);
   agxc_define_as(agxc_build(&b, AGXC_OP_PHI, name.bits, name.count, 2, ways), name);
}

static void move_loads(struct stages *s, uint32_t k, uint32_t row)
{
   const struct agxc_if *branch = NULL;
   agxc_foreach_instr_safe (instr, s->masked->iteration[k]) {
      if (!loads(s, instr) || stage_of(s, instr) > row)
         continue;
      if (k == 0) {
         move(instr, s->at);
         continue;
      }
      if (!branch) {
         struct agxc_builder b = agxc_at_end(s->masked->shader, s->at);
         branch = agxc_build_if(&b, s->masked->condition[k], &s->at);
      }
      move_to_arm(s, instr, branch);
   }
}

struct agxc_block *agxc_put_masked(struct agxc_masked *masked, const struct agxc_block *header,
                                   struct agxc_instr *const *held, uint32_t held_count)
{
   struct stages s = {.masked = masked, .at = masked->to};
   uint32_t rows = 0;
   begin_notes(&s);
   agxc_foreach_phi (phi, header)
      take_note(&s, agxc_dest(phi)->value, 0, true);
   for (uint32_t i = 0; i < held_count; i++)
      take_note(&s, agxc_dest(held[i])->value, REST, true);
   find_stages(&s, header);
   for (uint32_t k = 0; k < masked->count; k++)
      rows = AGX_MAX(rows, find_stages(&s, masked->iteration[k]));
   for (uint32_t row = 0; row < rows; row++) {
      for (uint32_t k = 0; k < masked->count; k++)
         move_arithmetic(&s, masked->iteration[k], row);
      for (uint32_t k = 0; k < masked->count; k++)
         move_loads(&s, k, row);
   }
   for (uint32_t k = 0; k < masked->count; k++)
      agxc_foreach_instr_safe (instr, masked->iteration[k])
         move(instr, s.at);
   return s.at;
}
