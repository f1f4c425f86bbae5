/* SPDX-License-Identifier: MIT
 *
 * Edges between a block's instructions: from a value's definition to its uses, between
 * accesses of memory that may meet, and from the readers of a loop's variable to what
 * makes its next value, so that both can have one register.
 *
 * Stores of one kind of memory form a chain. A load looks back through the last few of it
 * for the one it may meet; loads that a store does not pass remember it.
 *
 * schedule.c and pressure.c call it, for each block.
 */
#include "agx/compiler/schedule/schedule_impl.h"

#include "agx/compiler/analysis/op_cost.h"

/* How many accesses of each kind are kept for comparing; older ones count as meeting. */
#define WINDOW 16
#define KINDS  3

struct forgotten {
   struct forgotten *next;
   uint32_t number;
};

struct chain {
   uint32_t stores[WINDOW]; /* the newest at count - 1, round */
   uint32_t store_count;
   uint32_t loads[WINDOW]; /* the oldest first */
   uint32_t load_count;
   struct forgotten *forgotten; /* loads that the next store stays behind, wherever it goes */
};

struct building {
   struct agxc_sched_graph *graph;
   struct agx_arena *arena;
   struct chain chains[KINDS];
   uint32_t fence; /* number of the last fence + 1 */
};

static void add_edge(struct building *building, uint32_t from, uint32_t to, uint32_t latency)
{
   agx_assert(from < to);
   struct agxc_sched_node *nodes = building->graph->nodes;
   struct agxc_edge *edge = AGX_ARENA_NEW(building->arena, struct agxc_edge);
   *edge = (struct agxc_edge){nodes[from].edges, to, latency};
   nodes[from].edges = edge;
   nodes[to].waiting++;
}

/* ---- latencies --------------------------------------------------------- */

uint32_t agxc_sched_latency(const struct agxc_instr *instr)
{
   return agxc_is_machine(instr) ? agxc_machine_cost(instr).latency : 0;
}

static bool has_result(const struct agxc_instr *instr)
{
   agxc_foreach_dest (dest, instr)
      if (dest->kind == AGXC_VALUE)
         return true;
   return false;
}

static bool is_async(const struct agxc_instr *instr)
{
   return agxc_isa_info(instr)->is_async && has_result(instr);
}

/* ---- memory ------------------------------------------------------------ */

static uint32_t *store_at(struct chain *chain, uint32_t i)
{
   return &chain->stores[i % WINDOW];
}

static void order_load(struct building *building, struct chain *chain, uint32_t number)
{
   const struct agxc_sched_node *nodes = building->graph->nodes;
   uint32_t oldest = chain->store_count > WINDOW ? chain->store_count - WINDOW : 0;
   for (uint32_t i = chain->store_count; i-- > oldest;) {
      uint32_t store = *store_at(chain, i);
      if (i == oldest && oldest > 0) {
         add_edge(building, store, number, 1); /* older ones stand before it */
         break;
      }
      if (agxc_memory_apart(nodes[store].instr, nodes[number].instr))
         continue;
      add_edge(building, store, number, 1);
      break;
   }
   if (chain->load_count == WINDOW) {
      struct forgotten *forgotten = AGX_ARENA_NEW(building->arena, struct forgotten);
      *forgotten = (struct forgotten){chain->forgotten, chain->loads[0]};
      chain->forgotten = forgotten;
      chain->load_count--;
      memmove(chain->loads, chain->loads + 1, chain->load_count * sizeof(chain->loads[0]));
   }
   chain->loads[chain->load_count++] = number;
}

static void order_store(struct building *building, struct chain *chain, uint32_t number)
{
   const struct agxc_sched_node *nodes = building->graph->nodes;
   if (chain->store_count)
      add_edge(building, *store_at(chain, chain->store_count - 1), number, 1);
   for (; chain->forgotten; chain->forgotten = chain->forgotten->next)
      add_edge(building, chain->forgotten->number, number, 0);
   uint32_t kept = 0;
   for (uint32_t i = 0; i < chain->load_count; i++) {
      uint32_t load = chain->loads[i];
      bool is_apart = agxc_memory_apart(nodes[load].instr, nodes[number].instr);
      if (is_apart)
         chain->loads[kept++] = load;
      else
         add_edge(building, load, number, 0);
   }
   chain->load_count = kept;
   *store_at(chain, chain->store_count++) = number;
}

/* Everything that touches memory stays on its side. */
static void order_fence(struct building *building, uint32_t number)
{
   const struct agxc_sched_node *nodes = building->graph->nodes;
   for (uint32_t i = building->fence ? building->fence - 1 : 0; i < number; i++)
      if (agxc_memory_of(nodes[i].instr))
         add_edge(building, i, number, 0);
   memset(building->chains, 0, sizeof(building->chains));
   building->fence = number + 1;
}

static void order_memory(struct building *building, uint32_t number)
{
   unsigned memory = agxc_memory_of(building->graph->nodes[number].instr);
   if ((memory & AGXC_MEMORY_ALL) == AGXC_MEMORY_ALL) {
      order_fence(building, number);
      return;
   }
   if (memory && building->fence)
      add_edge(building, building->fence - 1, number, 1);
   for (unsigned kind = 0; kind < KINDS; kind++) {
      if (!(memory >> kind & 1))
         continue;
      if (memory & AGXC_MEMORY_WRITES)
         order_store(building, &building->chains[kind], number);
      else
         order_load(building, &building->chains[kind], number);
   }
}

/* ---- values ------------------------------------------------------------ */

/* Number of the node that defines the value in this block, or count. */
static uint32_t defining_node(const struct agxc_sched_graph *graph, const struct agxc_value *value)
{
   const struct agxc_instr *def = value->def;
   if (!def || def->block != graph->block || graph->count == 0)
      return graph->count;
   uint32_t first = graph->nodes[0].instr->index;
   return def->index < first || def->index - first >= graph->count ? graph->count
                                                                   : def->index - first;
}

static void order_values(struct building *building, uint32_t number)
{
   const struct agxc_sched_graph *graph = building->graph;
   agxc_foreach_src (src, graph->nodes[number].instr) {
      if (src->kind != AGXC_VALUE)
         continue;
      uint32_t def = defining_node(graph, src->value);
      if (def < number)
         add_edge(building, def, number, graph->nodes[def].latency);
   }
}

/* Readers of a loop's variable stay in front of the definition of its next value, where
 * they were: otherwise both live at once and a copy is needed. */
static void order_next_value(struct building *building, uint32_t number)
{
   const struct agxc_sched_graph *graph = building->graph;
   agxc_foreach_src (src, graph->nodes[number].instr) {
      if (src->kind != AGXC_VALUE || !graph->next_value[src->value->id])
         continue;
      uint32_t next = defining_node(graph, graph->next_value[src->value->id]);
      if (next != graph->count && next > number)
         add_edge(building, number, next, 0);
   }
}

/* ---- the shader -------------------------------------------------------- */

/* Passes may have left what a value's definition was. */
static void find_definitions(struct agxc_shader *shader)
{
   agxc_foreach_instr_of (instr, shader)
      agxc_foreach_dest (dest, instr)
         if (dest->kind == AGXC_VALUE)
            dest->value->def = instr;
}

struct agxc_value *const *agxc_sched_prepare(struct agxc_shader *shader)
{
   struct agxc_value **next_value =
      AGX_ARENA_ARRAY(shader->arena, struct agxc_value *, shader->value_count);
   find_definitions(shader);
   agxc_foreach_block (block, shader)
      agxc_foreach_phi (phi, block) {
         for (uint32_t i = 0; i < phi->src_count; i++)
            if (block->preds[i]->index >= block->index && agxc_srcs(phi)[i].kind == AGXC_VALUE)
               next_value[agxc_dest(phi)->value->id] = agxc_srcs(phi)[i].value;
      }
   return next_value;
}

/* ---- the whole --------------------------------------------------------- */

static void set_heights(struct agxc_sched_graph *graph)
{
   for (uint32_t i = graph->count; i-- > 0;) {
      struct agxc_sched_node *node = &graph->nodes[i];
      uint32_t below = 0;
      for (const struct agxc_edge *edge = node->edges; edge; edge = edge->next)
         below = AGX_MAX(below, graph->nodes[edge->to].height);
      bool is_long = node->latency >= AGXC_LONG_LATENCY && has_result(node->instr);
      node->height = below + (is_long ? node->latency : 0);
   }
}

void agxc_sched_graph_build(struct agxc_sched_graph *graph, struct agxc_shader *shader,
                            struct agxc_block *block, struct agxc_value *const *next_value)
{
   *graph = (struct agxc_sched_graph){.block = block, .next_value = next_value};
   const struct agxc_instr *last = agxc_terminator(block);
   agxc_foreach_instr (instr, block)
      graph->count += instr->op != AGXC_OP_PHI && instr != last;
   graph->nodes = AGX_ARENA_ARRAY(shader->arena, struct agxc_sched_node, graph->count);
   uint32_t number = 0;
   agxc_foreach_instr (instr, block)
      if (instr->op != AGXC_OP_PHI && instr != last)
         graph->nodes[number++] = (struct agxc_sched_node){
            .instr = instr, .latency = agxc_sched_latency(instr), .is_async = is_async(instr)};
   struct building *building = AGX_ARENA_NEW(shader->arena, struct building);
   *building = (struct building){.graph = graph, .arena = shader->arena};
   for (uint32_t i = 0; i < graph->count; i++) {
      order_values(building, i);
      order_memory(building, i);
      order_next_value(building, i);
   }
   set_heights(graph);
}

uint32_t agxc_sched_times_named(const struct agxc_instr *instr, const struct agxc_ref *src)
{
   uint32_t times = 0;
   for (const struct agxc_ref *at = agxc_srcs(instr); at <= src; at++)
      times += at->kind == AGXC_VALUE && at->value == src->value;
   return times;
}

bool agxc_sched_apply(struct agxc_block *block, const struct agxc_sched_node *nodes,
                      const uint32_t *order, uint32_t count)
{
   struct agxc_instr *last = agxc_terminator(block);
   struct agx_link *before = last ? &last->link : &block->instrs;
   bool progress = false;
   for (uint32_t i = 0; i < count; i++) {
      struct agx_link *link = &nodes[order[i]].instr->link;
      progress |= order[i] != i;
      agx_list_remove(link);
      agx_list_insert_before(before, link);
   }
   return progress;
}
