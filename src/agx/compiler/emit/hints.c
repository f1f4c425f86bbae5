/* SPDX-License-Identifier: MIT
 *
 * Register cache hints of ALU operands. discard drops a register without writing it back:
 * only on a last use, and only where all lanes run, since lanes that are away would lose
 * theirs as well. cache says that an ALU instruction of the same block will read the
 * register. Source: docs/hw/machine.md, 2.
 *
 * Blocks inside ifs and loops count as divergent. At top level every lane runs that has not
 * returned, and a returned lane has nothing left to lose.
 *
 *    before   agx.iadd r1, r2, r3                 (last use of r2; the block reads r3 again)
 *    after    agx.iadd r1, r2 discard, r3 cache
 *
 * Stands last, since a hint is only right for the order in which instructions are issued.
 */
#include "agx/compiler/analysis/register_set.h"
#include "agx/compiler/emit/jump_impl.h"
#include "agx/compiler/emit/emit.h"

struct hinting {
   struct agxc_shader *shader;
   struct agxc_halves *live_in; /* by block, along the code as it lies in memory */
};

static bool is_alu(const struct agxc_instr *instr)
{
   switch (agx_isa_info(agxc_opcode(instr))->unit) {
   case AGX_ISA_UNIT_F32:
   case AGX_ISA_UNIT_F16:
   case AGX_ISA_UNIT_SCIB:
   case AGX_ISA_UNIT_IC:
      return true;
   default:
      return false;
   }
}

static bool is_convergent(const struct agxc_block *block)
{
   return block->node.parent == NULL;
}

static void add(struct agxc_halves *set, const struct agxc_halves *more)
{
   agx_bitset_union(set->word, more->word, AGX_COUNT(set->word));
}

static void take(struct agxc_halves *set, const struct agxc_halves *less)
{
   for (unsigned i = 0; i < AGX_COUNT(set->word); i++)
      set->word[i] &= ~less->word[i];
}

/* What is live before instr when live is live behind it. In divergent code a write leaves
 * other lanes' values as they were, so it ends nothing. */
static void step_back(const struct hinting *hinting, const struct agxc_instr *instr,
                      struct agxc_halves *live)
{
   struct agxc_halves read = agxc_halves_read(instr), written = agxc_halves_written(instr);
   const struct agxc_block *target = agxc_jump_target(hinting->shader, instr);
   if (target)
      add(live, &hinting->live_in[target->index]);
   if (is_convergent(instr->block))
      take(live, &written);
   add(live, &read);
}

static struct agxc_halves live_at_end(const struct hinting *hinting, const struct agxc_block *block)
{
   if (block->index + 1 == hinting->shader->block_count)
      return (struct agxc_halves){0};
   return hinting->live_in[block->index + 1];
}

static void compute_liveness(struct hinting *hinting)
{
   for (bool grew = true; grew;) {
      grew = false;
      for (uint32_t i = hinting->shader->block_count; i-- > 0;) {
         struct agxc_block *block = hinting->shader->blocks[i];
         struct agxc_halves live = live_at_end(hinting, block);
         agxc_foreach_instr_rev (instr, block)
            step_back(hinting, instr, &live);
         grew |= agx_bitset_union(hinting->live_in[i].word, live.word, AGX_COUNT(live.word));
      }
   }
}

/* Sources of an ALU instruction: discard what nothing needs behind it. */
static void hint_sources(struct agxc_instr *instr, const struct agxc_halves *live,
                         const struct agxc_halves *soon)
{
   struct agxc_halves needed = *live, written = agxc_halves_written(instr);
   take(&needed, &written);
   agxc_foreach_src (src, instr) {
      struct agxc_halves own = {0};
      agxc_halves_add(&own, src);
      if (src->kind != AGXC_REG)
         continue;
      if (!agxc_halves_meet(&own, &needed) && is_convergent(instr->block))
         src->hint = AGX_ISA_HINT_DISCARD;
      else if (agxc_halves_meet(&own, soon))
         src->hint = AGX_ISA_HINT_CACHE;
   }
}

static void hint_results(struct agxc_instr *instr, const struct agxc_halves *soon)
{
   agxc_foreach_dest (dest, instr) {
      struct agxc_halves own = {0};
      agxc_halves_add(&own, dest);
      if (dest->kind == AGXC_REG && agxc_halves_meet(&own, soon))
         dest->hint = AGX_ISA_HINT_CACHE;
   }
}

static void hint_block(struct hinting *hinting, struct agxc_block *block)
{
   struct agxc_halves live = live_at_end(hinting, block), soon = {0};
   agxc_foreach_instr_rev (instr, block) {
      struct agxc_halves read = agxc_halves_read(instr), written = agxc_halves_written(instr);
      /* A jump ends the straight line that `live` describes: be careful before it. */
      const struct agxc_block *target = agxc_jump_target(hinting->shader, instr);
      if (target)
         add(&live, &hinting->live_in[target->index]);
      if (is_alu(instr)) {
         hint_results(instr, &soon);
         hint_sources(instr, &live, &soon);
      }
      step_back(hinting, instr, &live);
      take(&soon, &written);
      if (is_alu(instr))
         add(&soon, &read);
   }
}

bool agxc_hints(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct hinting hinting = {
      shader, AGX_ARENA_ARRAY(shader->arena, struct agxc_halves, shader->block_count)};
   compute_liveness(&hinting);
   agxc_foreach_block (block, shader)
      hint_block(&hinting, block);
   return true;
}
