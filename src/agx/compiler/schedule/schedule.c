/* SPDX-License-Identifier: MIT
 *
 * A list scheduler for each block, before registers are handed out. What leads to long
 * latencies (loads of memory, reductions) goes first, the rest keeps its order except that
 * an instruction whose operands aren't there yet lets others pass: so loads stand
 * together, one wait serves many, and independent chains interleave.
 *
 * Registers bound it. Up to the end of the step of occupancy that the shader needs anyway
 * nothing is lost; beyond that only what lowers the pressure goes, or what is next in the
 * old order. A schedule that comes out above both the step and the old pressure is made
 * again with less room, and dropped when that doesn't help.
 *
 * Before and after: machine instructions, SSA.
 *
 *    before   load a   use a   load b   use b
 *    after    load a   load b   use a   use b      one wait for both
 *
 * Stands behind selection, which decides what instructions there are, and in front of spilling, so
 * that loads are together before it is known what must leave registers. Where spilling added
 * reloads it runs again, to issue those early. The last halves of a step of occupancy are for
 * loads from device memory, whose latency is worth the copies that a full register file costs.
 */
#include "agx/compiler/schedule/schedule_impl.h"

#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/schedule/schedule.h"

/* Halves below the step that are left to the allocator: vectors leave gaps. */
#define MARGIN 20
/* Of these, what a load from device memory may take: its latency is worth a few copies. */
#define FOR_LOADS 16
/* Operations of device memory in flight: eight for each scoreboard group. */
#define MAX_IN_FLIGHT 16
/* A schedule that needs too much is made again with a lower limit: how often, and by how much
 * lower at the least. */
#define MAX_RETRIES 3
#define RETRY_STEP  4
/* How many candidates are looked at when registers run short, and when the scoreboard is full. */
#define MAX_LOOKED_AT 48

struct scheduling {
   struct agxc_shader *shader;
   struct agxc_liveness *liveness;
   uint32_t limit;     /* halves */
   uint32_t for_loads; /* halves above it */

   /* Of the block in hand. */
   struct agxc_sched_graph graph;
   struct agxc_live_set live_out;
   uint32_t *uses; /* by value: uses in the block that are not issued; 0 between blocks */
   struct agxc_value *const *next_value;
   struct agxc_heap ready[2]; /* of what takes no scoreboard entry, and of what does */
   struct agxc_heap pending, in_order;
   struct agxc_heap parked; /* of ready[1], until then, many at once */
   uint32_t parked_until;
   uint32_t clock, pressure, peak;
   uint32_t completion[MAX_IN_FLIGHT], issued_async;
   uint32_t *order, issued;
};

/* ---- heaps ------------------------------------------------------------- */

/* Drops what was issued through another heap; false when nothing is left. */
static bool heap_clean(const struct scheduling *s, struct agxc_heap *heap)
{
   while (heap->count > 0 && s->graph.nodes[agxc_heap_number(heap, 0)].is_done)
      agxc_heap_take(heap, 0);
   return heap->count > 0;
}

/* The heap of what goes next; NULL when nothing is ready. */
static struct agxc_heap *first_ready(const struct scheduling *s, struct agxc_heap ready[2])
{
   bool has_other = heap_clean(s, &ready[0]), has_async = heap_clean(s, &ready[1]);
   if (has_other && has_async)
      return &ready[ready[1].keys[0] < ready[0].keys[0]];
   return has_other ? &ready[0] : has_async ? &ready[1] : NULL;
}

/* Moves all from one heap to the other; the fewer entries are what it costs. */
static void heap_merge(struct agxc_heap *to, struct agxc_heap *from)
{
   struct agxc_heap larger = to->count < from->count ? *from : *to;
   *from = to->count < from->count ? *to : *from;
   *to = larger;
   while (from->count > 0) {
      from->count--;
      agxc_heap_push(to, agxc_heap_key(from, from->count), agxc_heap_number(from, from->count));
   }
}

/* ---- registers --------------------------------------------------------- */

static bool is_last_use(const struct scheduling *s, const struct agxc_ref *src, uint32_t uses)
{
   return src->kind == AGXC_VALUE && s->uses[src->value->id] == uses &&
          !agx_bitset_test(s->live_out.bits, src->value->id);
}

/* By how many halves the pressure grows when the instruction goes next. */
static int32_t growth(const struct scheduling *s, const struct agxc_instr *instr)
{
   int32_t halves = 0;
   agxc_foreach_dest (dest, instr)
      if (dest->kind == AGXC_VALUE)
         halves += (int32_t)agxc_halves(dest->value);
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && is_last_use(s, src, agxc_sched_times_named(instr, src)))
         halves -= (int32_t)agxc_halves(src->value);
   return halves;
}

static void account(struct scheduling *s, const struct agxc_instr *instr)
{
   uint32_t dead = 0, late = 0;
   agxc_foreach_src (src, instr) {
      if (src->kind != AGXC_VALUE)
         continue;
      uint32_t ending = is_last_use(s, src, 1) ? agxc_halves(src->value) : 0;
      s->pressure -= ending;
      late += agxc_reads_late(instr, src) ? ending : 0;
      s->uses[src->value->id]--;
   }
   agxc_foreach_dest (dest, instr) {
      if (dest->kind != AGXC_VALUE)
         continue;
      bool is_used =
         s->uses[dest->value->id] > 0 || agx_bitset_test(s->live_out.bits, dest->value->id);
      s->pressure += agxc_halves(dest->value);
      dead += is_used ? 0 : agxc_halves(dest->value);
   }
   s->peak = AGX_MAX(s->peak, s->pressure + late);
   s->pressure -= dead;
}

static void count_uses(struct scheduling *s, const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE)
         s->uses[src->value->id]++;
}

/* Halves live where the nodes begin. */
static uint32_t entry_pressure(const struct scheduling *s)
{
   uint32_t halves = 0;
   agxc_foreach_live_in (id, s->liveness, s->graph.block)
      halves += agxc_halves(s->shader->values[*id]);
   agxc_foreach_phi (phi, s->graph.block)
      halves += agxc_halves(agxc_dest(phi)->value);
   return halves;
}

static void begin(struct scheduling *s)
{
   for (uint32_t i = 0; i < s->graph.count; i++)
      count_uses(s, s->graph.nodes[i].instr);
   const struct agxc_instr *last = agxc_terminator(s->graph.block);
   if (last)
      count_uses(s, last);
   s->pressure = s->peak = entry_pressure(s);
}

/* The terminator's uses are all that is left over. */
static void end(struct scheduling *s)
{
   const struct agxc_instr *last = agxc_terminator(s->graph.block);
   if (!last)
      return;
   agxc_foreach_src (src, last)
      if (src->kind == AGXC_VALUE)
         s->uses[src->value->id]--;
}

static uint32_t old_peak(struct scheduling *s)
{
   begin(s);
   for (uint32_t i = 0; i < s->graph.count; i++)
      account(s, s->graph.nodes[i].instr);
   end(s);
   return s->peak;
}

/* ---- choosing ---------------------------------------------------------- */

/* Long latencies first, then the old order. */
static void make_ready(struct scheduling *s, uint32_t number)
{
   const struct agxc_sched_node *node = &s->graph.nodes[number];
   agxc_heap_push(&s->ready[node->is_async], UINT32_MAX - node->height, number);
}

static void make_available(struct scheduling *s, uint32_t number)
{
   agxc_heap_push(&s->in_order, number, number);
   if (s->graph.nodes[number].ready > s->clock)
      agxc_heap_push(&s->pending, s->graph.nodes[number].ready, number);
   else
      make_ready(s, number);
}

static void advance(struct scheduling *s)
{
   for (;;) {
      bool has_ready = first_ready(s, s->ready);
      uint32_t pending = heap_clean(s, &s->pending) ? agxc_heap_key(&s->pending, 0) : UINT32_MAX;
      uint32_t parked = heap_clean(s, &s->parked) ? s->parked_until : UINT32_MAX;
      uint32_t next = AGX_MIN(pending, parked);
      if (next == UINT32_MAX || (next > s->clock && has_ready))
         return;
      s->clock = AGX_MAX(s->clock, next);
      if (parked == next)
         heap_merge(&s->ready[1], &s->parked);
      else
         make_ready(s, agxc_heap_take(&s->pending, 0));
   }
}

/* Registers are short: what frees most, else what comes next in the old order. */
static uint32_t choose_smallest(struct scheduling *s)
{
   int32_t least = 0;
   uint32_t best = UINT32_MAX;
   heap_clean(s, &s->in_order);
   for (uint32_t i = 0; i < s->in_order.count && i < MAX_LOOKED_AT; i++) {
      uint32_t number = agxc_heap_number(&s->in_order, i);
      const struct agxc_sched_node *node = &s->graph.nodes[number];
      if (node->is_done)
         continue;
      int32_t halves = growth(s, node->instr);
      if (halves < least || (halves == least && best != UINT32_MAX && number < best)) {
         least = halves;
         best = number;
      }
   }
   return best == UINT32_MAX ? agxc_heap_number(&s->in_order, 0) : best;
}

/* A full scoreboard makes the next load wait for the oldest one. */
static bool is_blocked(struct scheduling *s, uint32_t number)
{
   struct agxc_sched_node *node = &s->graph.nodes[number];
   uint32_t free_at = s->completion[s->issued_async % MAX_IN_FLIGHT];
   if (!node->is_async || free_at <= s->clock)
      return false;
   node->ready = free_at;
   return true;
}

/* The first of what is ready finds the scoreboard full. Others likely find it so, too: when some
 * have, all wait together, or each issue would have to look at all of them. */
static void set_aside(struct scheduling *s, uint32_t number, uint32_t looked_at)
{
   uint32_t until = s->graph.nodes[number].ready;
   if (looked_at < MAX_LOOKED_AT) {
      agxc_heap_take(&s->ready[1], 0);
      agxc_heap_push(&s->pending, until, number);
      return;
   }
   s->parked_until = s->parked.count > 0 ? AGX_MAX(s->parked_until, until) : until;
   heap_merge(&s->parked, &s->ready[1]);
}

static uint32_t choose(struct scheduling *s)
{
   for (uint32_t looked_at = 0;; looked_at++) {
      advance(s);
      uint32_t number = agxc_heap_number(first_ready(s, s->ready), 0);
      int32_t halves = growth(s, s->graph.nodes[number].instr);
      uint32_t limit = s->limit + (s->graph.nodes[number].is_async ? s->for_loads : 0);
      if (halves > 0 && s->pressure + (uint32_t)halves > limit)
         return choose_smallest(s);
      if (!is_blocked(s, number))
         return number;
      set_aside(s, number, looked_at);
   }
}

static void issue(struct scheduling *s, uint32_t number)
{
   struct agxc_sched_node *node = &s->graph.nodes[number];
   uint32_t start = AGX_MAX(s->clock, node->ready);
   s->clock = start + (node->latency ? 1 : 0);
   node->is_done = true;
   if (node->is_async)
      s->completion[s->issued_async++ % MAX_IN_FLIGHT] = start + node->latency;
   account(s, node->instr);
   s->order[s->issued++] = number;
   for (const struct agxc_edge *edge = node->edges; edge; edge = edge->next) {
      struct agxc_sched_node *to = &s->graph.nodes[edge->to];
      to->ready = AGX_MAX(to->ready, start + edge->latency);
      if (--to->waiting == 0)
         make_available(s, edge->to);
   }
}

/* ---- blocks ------------------------------------------------------------ */

static void list_schedule(struct scheduling *s)
{
   uint32_t count = s->graph.count;
   struct agx_arena *arena = s->shader->arena;
   /* What is blocked goes round: an entry at a time in either heap, so twice is enough. */
   struct agxc_heap *const heaps[] = {&s->ready[0], &s->ready[1], &s->pending, &s->parked};
   for (size_t i = 0; i < AGX_COUNT(heaps); i++)
      *heaps[i] = (struct agxc_heap){.keys = AGX_ARENA_ARRAY(arena, uint64_t, 2ull * count)};
   s->in_order = (struct agxc_heap){0};
   s->in_order.keys = AGX_ARENA_ARRAY(arena, uint64_t, count);
   s->order = AGX_ARENA_ARRAY(arena, uint32_t, count);
   s->clock = s->issued = s->issued_async = 0;
   memset(s->completion, 0, sizeof(s->completion));
   begin(s);
   for (uint32_t i = 0; i < count; i++)
      if (s->graph.nodes[i].waiting == 0)
         make_available(s, i);
   while (s->issued < count)
      issue(s, choose(s));
   end(s);
}

/* Nodes as they were before any was issued. */
static void restart(struct agxc_sched_graph *graph)
{
   for (uint32_t i = 0; i < graph->count; i++)
      graph->nodes[i].ready = graph->nodes[i].waiting = graph->nodes[i].is_done = 0;
   for (uint32_t i = 0; i < graph->count; i++)
      for (const struct agxc_edge *edge = graph->nodes[i].edges; edge; edge = edge->next)
         graph->nodes[edge->to].waiting++;
}

static bool schedule_block(struct scheduling *s, struct agxc_block *block)
{
   agxc_sched_graph_build(&s->graph, s->shader, block, s->next_value);
   if (s->graph.count < 3)
      return false;
   agxc_liveness_at_end(s->liveness, block, &s->live_out);
   uint32_t limit = s->limit, allowed = AGX_MAX(old_peak(s), limit + s->for_loads);
   list_schedule(s);
   for (uint32_t i = 0; i < MAX_RETRIES && s->peak > allowed; i++) {
      s->limit -= AGX_MIN(s->limit, s->peak - allowed + RETRY_STEP);
      restart(&s->graph);
      list_schedule(s);
   }
   s->limit = limit;
   return s->peak <= allowed && agxc_sched_apply(block, s->graph.nodes, s->order, s->graph.count);
}

bool agxc_schedule(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct agx_arena *arena = shader->arena;
   struct agx_arena_mark mark = agx_arena_mark(arena);
   struct scheduling s = {
      .shader = shader,
      .liveness = agxc_liveness_compute(shader),
      .uses = AGX_ARENA_ARRAY(arena, uint32_t, shader->value_count),
      .next_value = agxc_sched_prepare(shader),
   };
   s.live_out = agxc_live_set_new(shader);
   s.limit = agxc_budget(shader, agxc_needed_halves(shader, s.liveness->max_halves));
   s.limit -= AGX_MIN(s.limit, MARGIN);
   s.for_loads = s.limit > 0 ? FOR_LOADS : 0;
   bool progress = false;
   agxc_foreach_block (block, shader) {
      struct agx_arena_mark block_mark = agx_arena_mark(arena);
      progress |= schedule_block(&s, block);
      agx_arena_release(arena, block_mark);
   }
   agx_arena_release(arena, mark);
   return progress;
}
