/* SPDX-License-Identifier: MIT
 *
 * Computes again what is cheap and used far apart, where its registers cost threads: equal
 * expressions that opt_cse joined live from the first to the last of their uses.
 *
 * An operation is copied to each later block that uses it, if all that it reads lives there anyway:
 * then the way between has its halves less, and nothing more. It takes place only where the most
 * crowded blocks all come down to a number of halves with which more workgroups are resident; no
 * copy goes into a loop that the operation isn't in.
 *
 * Before and after: machine instructions, SSA.
 *
 *    before   %1 = bfeil %0   use %1   ..            use %1   use %0
 *    after    %1 = bfeil %0   use %1   ..   %2 = bfeil %0   use %2   use %0
 *
 * Stands behind sink.c, which moves what is used at one place only, and in front of pressure.c,
 * which orders the blocks.
 */
#include <string.h>

#include "agx/chip.h"
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/schedule/schedule.h"
#include "agx/compiler/schedule/schedule_impl.h"

#define MAX_PLACES  2u /* blocks that it is computed in again */
#define MAX_LATENCY 5u /* cycles: simple operations */

/* Of a value that may be computed again: where. */
struct again {
   struct agxc_instr *def; /* NULL: not this one */
   uint32_t places[MAX_PLACES], place_count;
   struct agxc_value *copies[MAX_PLACES];
};

struct recomputing {
   struct agxc_shader *shader;
   const struct agxc_liveness *liveness;
   struct again *again;     /* by value */
   agx_bitset_word *pinned; /* values that copies read */
   agx_bitset_word *wanted; /* values that live through a crowded block, or to its end */
   uint32_t limit;          /* halves with which more workgroups are resident */
};

/* ---- choosing ---------------------------------------------------------- */

static bool is_cheap(const struct agxc_instr *instr)
{
   return agxc_is_machine(instr) && instr->dest_count == 1 &&
          agxc_dests(instr)->kind == AGXC_VALUE &&
          !(agxc_flags(instr) & ~(unsigned)AGXC_COMMUTATIVE) &&
          agxc_isa_info(instr)->unit != AGX_ISA_UNIT_MEM &&
          agxc_sched_latency(instr) <= MAX_LATENCY;
}

static bool is_in_loop(const struct agxc_loop *loop, const struct agxc_block *block)
{
   return !loop || (agxc_first_block(&loop->body)->index <= block->index &&
                    block->index <= agxc_last_block(&loop->continuing)->index);
}

static bool all_live_in(const struct recomputing *r, const struct agxc_instr *instr,
                        const struct agxc_block *block)
{
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && !agxc_is_live_in(r->liveness, block, src->value))
         return false;
   return true;
}

/* Another use: it joins the places, or the value stays as it is. */
static void note_use(struct recomputing *r, const struct agxc_ref *src,
                     const struct agxc_block *block, bool is_phi)
{
   struct again *again = src->kind == AGXC_VALUE ? &r->again[src->value->id] : NULL;
   if (!again || !again->def || (again->def->block == block && !is_phi))
      return;
   for (uint32_t i = 0; i < again->place_count; i++)
      if (again->places[i] == block->index && !is_phi)
         return;
   if (is_phi || again->place_count == MAX_PLACES || !is_in_loop(block->loop, again->def->block) ||
       !all_live_in(r, again->def, block))
      again->def = NULL;
   else
      again->places[again->place_count++] = block->index;
}

static void find_places(struct recomputing *r)
{
   agxc_foreach_block (block, r->shader)
      agxc_foreach_instr (instr, block)
         if (is_cheap(instr))
            r->again[agxc_dest(instr)->value->id].def = instr;
   agxc_foreach_block (block, r->shader)
      agxc_foreach_instr (instr, block)
         agxc_foreach_src (src, instr)
            note_use(r, src, block, instr->op == AGXC_OP_PHI);
}

/* Backwards: what a copy reads must not be one itself. */
static void pin_sources(struct recomputing *r)
{
   for (uint32_t i = r->shader->block_count; i-- > 0;)
      agxc_foreach_instr_rev (instr, r->shader->blocks[i]) {
         const struct agxc_ref *dest = agxc_dests(instr);
         if (instr->dest_count != 1 || dest->kind != AGXC_VALUE)
            continue;
         struct again *again = &r->again[dest->value->id];
         if (again->place_count == 0 || agx_bitset_test(r->pinned, dest->value->id))
            again->def = NULL;
         if (!again->def)
            continue;
         agxc_foreach_src (src, instr)
            if (src->kind == AGXC_VALUE)
               agx_bitset_set(r->pinned, src->value->id);
      }
}

/* ---- measuring ----------------------------------------------------------- */

/* Halves that the crowded block has less without the value. */
static uint32_t relief(struct recomputing *r, uint32_t id)
{
   agx_bitset_set(r->wanted, id);
   return r->again[id].def ? agxc_halves(r->shader->values[id]) : 0;
}

/* Halves that don't live through the block, or to its end, any more. */
static uint32_t relieved(struct recomputing *r, const struct agxc_block *block)
{
   uint32_t halves = 0;
   agxc_foreach_live_in (id, r->liveness, block)
      halves += relief(r, *id);
   for (unsigned i = 0; i < 2; i++) {
      if (!block->succs[i])
         continue;
      agxc_foreach_live_in (id, r->liveness, block->succs[i]) {
         const struct agxc_value *value = r->shader->values[*id];
         bool is_seen = i == 1 && agxc_is_live_in(r->liveness, block->succs[0], value);
         if (value->def->block == block && !is_seen)
            halves += relief(r, *id);
      }
   }
   return halves;
}

static bool reaches_limit(struct recomputing *r)
{
   agxc_foreach_block (block, r->shader) {
      uint32_t halves = r->liveness->halves[block->index];
      if (agxc_needed_halves(r->shader, halves) <= r->limit)
         continue;
      uint32_t less = relieved(r, block);
      if (agxc_needed_halves(r->shader, halves - AGX_MIN(less, halves)) > r->limit)
         return false;
   }
   return true;
}

/* The least of the limits at which more workgroups are resident that all blocks reach. */
static bool find_limit(struct recomputing *r)
{
   uint32_t needed = agxc_needed_halves(r->shader, r->liveness->max_halves);
   for (uint32_t end = 0; end < AGX_MIN(needed, AGX_GPR_HALVES);) {
      r->limit = end = agxc_end_of_step(r->shader, end + 1);
      memset(r->wanted, 0, agx_bitset_words(r->shader->value_count + 1ull) * sizeof(*r->wanted));
      if (end < needed && reaches_limit(r))
         return true;
   }
   return false;
}

/* ---- copying ----------------------------------------------------------- */

static struct agxc_value *copy(struct recomputing *r, struct agxc_instr *before,
                               const struct agxc_instr *def)
{
   struct agxc_shader *shader = r->shader;
   struct agxc_instr *instr = agxc_instr_new_n(shader, def->op, def->dest_count, def->src_count);
   struct agxc_value *value = agxc_value_new(shader, agxc_dests(def)->bits, agxc_dests(def)->count);
   memcpy(instr->operand, def->operand, def->operand_count * sizeof(*def->operand));
   instr->flags = def->flags;
   agxc_dests(instr)->value = value;
   value->def = instr;
   struct agxc_builder b = agxc_before(shader, before);
   agxc_insert(&b, instr);
   return value;
}

/* A source of an instruction, in a block that isn't that of the definition. */
static void redirect(struct recomputing *r, struct agxc_instr *instr, struct agxc_ref *src,
                     uint32_t block)
{
   struct again *again = &r->again[src->value->id];
   if (!again->def || again->def->block->index == block ||
       !agx_bitset_test(r->wanted, src->value->id))
      return;
   for (uint32_t i = 0; i < again->place_count; i++) {
      if (again->places[i] != block)
         continue;
      if (!again->copies[i])
         again->copies[i] = copy(r, instr, again->def);
      src->value = again->copies[i];
   }
}

bool agxc_schedule_recompute(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct recomputing r = {.shader = shader, .liveness = agxc_liveness_compute(shader)};
   if (agxc_needed_halves(shader, r.liveness->max_halves) <= agxc_end_of_step(shader, 1))
      return false;
   uint32_t count = shader->value_count;
   r.again = AGX_ARENA_ARRAY(shader->arena, struct again, count + 1ull);
   r.pinned = agxc_bitset_new(shader, count + 1ull);
   r.wanted = agxc_bitset_new(shader, count + 1ull);
   find_places(&r);
   pin_sources(&r);
   if (!find_limit(&r))
      return false;
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         agxc_foreach_src (src, instr)
            if (src->kind == AGXC_VALUE && src->value->id < count && instr->op != AGXC_OP_PHI)
               redirect(&r, instr, src, block->index);
   return true;
}
