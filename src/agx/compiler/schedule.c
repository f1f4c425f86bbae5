/* SPDX-License-Identifier: MIT
 *
 * Brings loads of device memory together, so that one wait serves several and their
 * latencies overlap. Within a block, a load moves up to just behind the load before it,
 * with the instructions that it depends on; the rest follows in its old order.
 *
 * Before and after: machine rows, SSA. Loads do not pass stores, atomics, barriers or
 * rows that depend on the execution mask; a group is bounded in number and registers.
 */
#include "agx/compiler/liveness.h"
#include "agx/compiler/passes.h"

/* What one group may hold: half of a scoreboard group, and few registers. */
#define MAX_LOADS  4
#define MAX_HALVES 24
/* Register halves that all threads of a core can have at once, and what else may come on
 * top: no schedule is worth resident threads, or a kernel that does not fit any more. */
#define FULL_OCCUPANCY 104
#define MARGIN         8
/* How far a load may move, instructions; bounds the work per load. */
#define MAX_DISTANCE 64

struct scheduling {
   struct agxc_shader *shader;
   bool *moves; /* by instruction index: goes up with the load */
};

static bool is_load(const struct agxc_instr *instr)
{
   return agxc_is_row(instr, AGX_ISA_OP_LOAD);
}

/* Nothing moves across it. */
static bool is_fence(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_PHI || (agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR));
}

static struct agxc_instr *next_of(const struct agxc_instr *instr)
{
   return agx_container_of(instr->link.next, struct agxc_instr, link);
}

static struct agxc_instr *previous_of(const struct agxc_instr *instr)
{
   return agx_container_of(instr->link.prev, struct agxc_instr, link);
}

/* Marks the instruction behind `anchor` that makes this source, if there is one. False
 * when it is a load of the group: then the two can't go together. */
static bool mark_source(struct scheduling *scheduling, const struct agxc_ref *src,
                        const struct agxc_instr *anchor, const struct agxc_instr *first)
{
   if (src->kind != AGXC_VALUE)
      return true;
   const struct agxc_instr *def = src->value->def;
   if (!def || def->block != anchor->block || def->index < first->index)
      return true;
   if (is_load(def))
      return false;
   if (def->index > anchor->index)
      scheduling->moves[def->index] = true;
   return true;
}

/* Marks what must move for load to stand right behind anchor; `first` is where the group
 * begins. Walks backwards, so that users come before what they use. */
static bool mark(struct scheduling *scheduling, struct agxc_instr *load,
                 const struct agxc_instr *anchor, const struct agxc_instr *first)
{
   scheduling->moves[load->index] = true;
   for (struct agxc_instr *at = load; at != anchor; at = previous_of(at)) {
      if (!scheduling->moves[at->index])
         continue;
      agxc_foreach_src (src, at)
         if (!mark_source(scheduling, src, anchor, first))
            return false;
   }
   return true;
}

/* Moves what is marked between anchor and load, or only clears the marks. */
static void apply(struct scheduling *scheduling, struct agxc_instr *load, struct agxc_instr *anchor,
                  bool is_possible)
{
   struct agxc_instr *to = anchor;
   for (struct agxc_instr *at = next_of(anchor), *next;; at = next) {
      next = next_of(at);
      if (scheduling->moves[at->index] && is_possible) {
         agx_list_remove(&at->link);
         agx_list_insert_after(&to->link, &at->link);
         to = at;
      }
      scheduling->moves[at->index] = false;
      if (at == load)
         return;
   }
}

static uint32_t result_halves(const struct agxc_instr *load)
{
   return agxc_halves(agxc_dests(load)[0].value);
}

/* Numbers the block again from its first instruction's number on. */
static void renumber(struct agxc_block *block, uint32_t index)
{
   agxc_foreach_instr (instr, block)
      instr->index = index++;
}

static bool schedule_block(struct scheduling *scheduling, struct agxc_block *block)
{
   struct agxc_instr *first = NULL, *anchor = NULL;
   uint32_t loads = 0, halves = 0, start = 0;
   bool progress = false, is_first = true;
   agxc_foreach_instr_safe (instr, block) {
      start = is_first ? instr->index : start;
      is_first = false;
      if (is_fence(instr))
         anchor = NULL;
      if (!is_load(instr) || agxc_dests(instr)[0].kind != AGXC_VALUE)
         continue;
      bool fits = anchor && loads < MAX_LOADS && halves + result_halves(instr) <= MAX_HALVES &&
                  instr->index - anchor->index <= MAX_DISTANCE;
      if (fits && previous_of(instr) != anchor) {
         fits = mark(scheduling, instr, anchor, first);
         apply(scheduling, instr, anchor, fits);
         progress |= fits;
         renumber(block, start);
      } else if (fits) {
         fits = mark(scheduling, instr, anchor, first);
         scheduling->moves[instr->index] = false;
      }
      first = fits ? first : instr;
      loads = fits ? loads + 1 : 1;
      halves = (fits ? halves : 0) + result_halves(instr);
      anchor = instr;
   }
   return progress;
}

/* Passes may have left what a value's definition was. */
static void find_definitions(struct agxc_shader *shader)
{
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         agxc_foreach_dest (dest, instr)
            if (dest->kind == AGXC_VALUE)
               dest->value->def = instr;
}

bool agxc_schedule(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct agx_arena_mark mark = agx_arena_mark(shader->arena);
   uint32_t pressure = agxc_liveness_compute(shader)->max_halves;
   agx_arena_release(shader->arena, mark);
   if (pressure + MAX_HALVES + MARGIN > FULL_OCCUPANCY)
      return false;
   find_definitions(shader);
   struct scheduling scheduling = {shader,
                                   AGX_ARENA_ARRAY(shader->arena, bool, shader->instr_count)};
   bool progress = false;
   agxc_foreach_block (block, shader)
      progress |= schedule_block(&scheduling, block);
   return progress;
}
