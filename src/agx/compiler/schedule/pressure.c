/* SPDX-License-Identifier: MIT
 *
 * Orders blocks whose values cost threads so that fewer live at once: producers that read
 * everything first and compute afterwards (as libraries' matrix products do between two
 * barriers) leave far more alive than their sums need.
 *
 * From a block's end backwards: next (that is, in front of what was taken) goes what frees
 * most, so that all users of a value stand together and its definition directly in front of
 * them. Latencies are schedule.c's affair, which comes behind and has the registers to place
 * loads early. A block that doesn't gain keeps its order.
 *
 * Before and after: machine instructions, SSA.
 *
 *    before   load a0 .. a7   load b0 .. b7   s += a0 b0 .. s += a7 b7
 *    after    load a0   load b0   s += a0 b0   load a1   load b1   s += a1 b1 ..
 *
 * Stands in front of schedule.c, which spends what registers are then left on latencies. Each side
 * of a barrier is ordered by itself. The order is tried with and without all of the block's writes
 * at its end, and the one with fewer halves alive is kept.
 */
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/schedule/schedule.h"
#include "agx/compiler/schedule/schedule_impl.h"

/* How many candidates are looked at for each place. */
#define MAX_LOOKED_AT 64

struct ordering {
   struct agxc_shader *shader;
   struct agxc_liveness *liveness;
   struct agxc_value *const *next_value;

   /* Of the block in hand. */
   struct agxc_sched_graph graph;
   struct agxc_edge **before; /* by node: whom it stands behind */
   uint32_t *below;           /* by node: edges to nodes that are not taken */
   uint32_t *barriers;        /* by node: how many must stand in front of it */
   struct agxc_live_set live;
   struct agxc_heap available; /* the latest first */
   bool writes_first, whole_vectors;
   uint32_t free;   /* halves that cost no threads */
   uint32_t *order; /* filled from its end */
   uint32_t halves, peak;
};

/* ---- registers --------------------------------------------------------- */

static uint32_t halves_of(const struct agxc_ref *ref)
{
   return ref->kind == AGXC_VALUE ? agxc_halves(ref->value) : 0;
}

static bool is_live(const struct ordering *o, const struct agxc_ref *ref)
{
   return ref->kind == AGXC_VALUE && agx_bitset_test(o->live.bits, ref->value->id);
}

/* What a source adds. Elements that a split makes live together from there on, so that where whole
 * vectors count, the first one that is wanted adds all of them. */
static uint32_t added_by(const struct ordering *o, const struct agxc_ref *src)
{
   const struct agxc_instr *split = o->whole_vectors ? agxc_def_as(*src, AGXC_OP_SPLIT) : NULL;
   if (!split)
      return halves_of(src);
   uint32_t halves = 0;
   agxc_foreach_dest (dest, split) {
      if (is_live(o, dest))
         return 0;
      halves += halves_of(dest);
   }
   return halves;
}

/* By how many halves more live in front of the instruction than behind it. */
static int32_t growth(const struct ordering *o, const struct agxc_instr *instr)
{
   int32_t halves = 0;
   agxc_foreach_dest (dest, instr)
      halves -= is_live(o, dest) ? (int32_t)halves_of(dest) : 0;
   agxc_foreach_src (src, instr)
      if (!is_live(o, src) && agxc_sched_times_named(instr, src) == 1)
         halves += (int32_t)added_by(o, src);
   return halves;
}

static void make_live(struct ordering *o, const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr) {
      if (src->kind != AGXC_VALUE || is_live(o, src))
         continue;
      agx_bitset_set(o->live.bits, src->value->id);
      o->halves += halves_of(src);
   }
}

/* Results that nothing reads have a register for a moment. */
static void account(struct ordering *o, const struct agxc_instr *instr)
{
   uint32_t dead = 0;
   agxc_foreach_dest (dest, instr) {
      dead += is_live(o, dest) ? 0 : halves_of(dest);
      if (!is_live(o, dest))
         continue;
      agx_bitset_clear(o->live.bits, dest->value->id);
      o->halves -= halves_of(dest);
   }
   o->peak = AGX_MAX(o->peak, o->halves + dead);
   make_live(o, instr);
   o->peak = AGX_MAX(o->peak, o->halves);
}

static void begin(struct ordering *o)
{
   agxc_liveness_at_end(o->liveness, o->graph.block, &o->live);
   o->halves = 0;
   for (uint32_t i = 0; i < o->live.count; i++)
      o->halves += agxc_halves(o->shader->values[o->live.ids[i]]);
   const struct agxc_instr *last = agxc_terminator(o->graph.block);
   if (last)
      make_live(o, last);
   o->peak = o->halves;
}

/* Empties the set: what is left in it lives at the block's start. */
static uint32_t end(struct ordering *o)
{
   agxc_foreach_live_in (id, o->liveness, o->graph.block)
      agx_bitset_clear(o->live.bits, *id);
   agxc_foreach_phi (phi, o->graph.block)
      agx_bitset_clear(o->live.bits, agxc_dest(phi)->value->id);
   return o->peak;
}

/* ---- order ------------------------------------------------------------- */

static void reverse_edges(struct ordering *o)
{
   uint32_t count = o->graph.count;
   o->before = AGX_ARENA_ARRAY(o->shader->arena, struct agxc_edge *, count);
   o->below = AGX_ARENA_ARRAY(o->shader->arena, uint32_t, count);
   o->barriers = AGX_ARENA_ARRAY(o->shader->arena, uint32_t, count);
   for (uint32_t i = 0; i < count; i++) {
      unsigned memory = agxc_memory_of(o->graph.nodes[i].instr) & AGXC_MEMORY_ALL;
      o->barriers[i] += memory == AGXC_MEMORY_ALL;
      for (const struct agxc_edge *edge = o->graph.nodes[i].edges; edge; edge = edge->next) {
         o->barriers[edge->to] = AGX_MAX(o->barriers[edge->to], o->barriers[i]);
         struct agxc_edge *reversed = AGX_ARENA_NEW(o->shader->arena, struct agxc_edge);
         *reversed = (struct agxc_edge){o->before[edge->to], i, edge->latency};
         o->before[edge->to] = reversed;
         o->below[i]++;
      }
   }
}

static bool is_write(const struct agxc_instr *instr)
{
   return agxc_memory_of(instr) & AGXC_MEMORY_WRITES;
}

/* The last barrier's side first, then the latest. */
static void make_available(struct ordering *o, uint32_t number)
{
   bool is_early = o->writes_first && is_write(o->graph.nodes[number].instr);
   agxc_heap_push(&o->available, UINT32_MAX - (2 * o->barriers[number] + is_early),
                  o->graph.count - 1 - number);
}

/* Place in the heap: what frees most on this side of a barrier; of equals the latest, as it was. */
static uint32_t choose(const struct ordering *o)
{
   uint32_t best = 0, side = agxc_heap_key(&o->available, 0);
   int32_t least = INT32_MAX;
   for (uint32_t i = 0; i < MAX_LOOKED_AT && i < o->available.count; i++) {
      uint32_t back = agxc_heap_number(&o->available, i);
      if (agxc_heap_key(&o->available, i) != side)
         continue;
      int32_t halves = growth(o, o->graph.nodes[o->graph.count - 1 - back].instr);
      if (halves > least || (halves == least && back > agxc_heap_number(&o->available, best)))
         continue;
      least = halves;
      best = i;
   }
   return best;
}

static uint32_t take(struct ordering *o)
{
   uint32_t number = o->graph.count - 1 - agxc_heap_take(&o->available, choose(o));
   account(o, o->graph.nodes[number].instr);
   for (const struct agxc_edge *edge = o->before[number]; edge; edge = edge->next)
      if (--o->below[edge->to] == 0)
         make_available(o, edge->to);
   return number;
}

static uint32_t old_peak(struct ordering *o)
{
   begin(o);
   for (uint32_t i = o->graph.count; i-- > 0;)
      account(o, o->graph.nodes[i].instr);
   return end(o);
}

/* Fills o->order. */
static uint32_t new_peak(struct ordering *o, bool writes_first, bool whole_vectors)
{
   uint32_t count = o->graph.count;
   o->writes_first = writes_first;
   o->whole_vectors = whole_vectors;
   reverse_edges(o);
   o->available = (struct agxc_heap){.keys = AGX_ARENA_ARRAY(o->shader->arena, uint64_t, count)};
   o->order = AGX_ARENA_ARRAY(o->shader->arena, uint32_t, count);
   begin(o);
   for (uint32_t i = 0; i < count; i++)
      if (o->below[i] == 0)
         make_available(o, i);
   for (uint32_t left = count; left-- > 0;)
      o->order[left] = take(o);
   return end(o);
}

/* ---- blocks ------------------------------------------------------------ */

static bool has_loads(const struct ordering *o)
{
   for (uint32_t i = 0; i < o->graph.count; i++)
      if (o->graph.nodes[i].is_async)
         return true;
   return false;
}

/* What frees most may be one sum's whole chain, up to all it reads, as long as others' results
 * aren't wanted yet; so it is tried with all of them wanted at the end, too. And of products of
 * vectors it may be the same element of all, where vector after vector needs fewer at once; each
 * then waits for its own loads, which only as many threads as there can be make up for. */
static bool order_block(struct ordering *o, struct agxc_block *block)
{
   agxc_sched_graph_build(&o->graph, o->shader, block, o->next_value);
   if (o->graph.count < 3)
      return false;
   uint32_t least = old_peak(o);
   const uint32_t *best = NULL;
   for (unsigned way = 0; way < 3; way++) {
      uint32_t peak = new_peak(o, way == 1, way == 2);
      bool costs_waits = way == 2 && has_loads(o) && agxc_needed_halves(o->shader, peak) > o->free;
      if (peak >= least || costs_waits)
         continue;
      least = peak;
      best = o->order;
   }
   return best && agxc_sched_apply(block, o->graph.nodes, best, o->graph.count);
}

bool agxc_schedule_pressure(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct agx_arena *arena = shader->arena;
   struct agx_arena_mark mark = agx_arena_mark(arena);
   struct ordering o = {
      .shader = shader,
      .liveness = agxc_liveness_compute(shader),
      .next_value = agxc_sched_prepare(shader),
   };
   o.live = agxc_live_set_new(shader);
   o.free = agxc_end_of_step(shader, 1);
   bool progress = false;
   agxc_foreach_block (block, shader) {
      if (agxc_needed_halves(shader, o.liveness->halves[block->index]) <= o.free)
         continue;
      struct agx_arena_mark block_mark = agx_arena_mark(arena);
      progress |= order_block(&o, block);
      agx_arena_release(arena, block_mark);
   }
   agx_arena_release(arena, mark);
   return progress;
}
