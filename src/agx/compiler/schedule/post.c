/* SPDX-License-Identifier: MIT
 *
 * A list scheduler for each block behind register allocation. The first one (schedule.c)
 * saw values; the registers they got and the copies between them are known only now, and a
 * copy between a result and its user, or another chain in front of it, decides how long the
 * user waits. Here an instruction whose operands aren't there yet lets later ones pass.
 *
 * Kept: reads and writes of each register half; the order of everything that touches memory
 * or other lanes, and of what first touches a register that an asynchronous operation may
 * still have to write, so that waits come out as they did. Nothing passes a load upwards.
 * A block whose modelled stall doesn't fall keeps its order.
 *
 * Before and after: machine instructions over registers, structured control flow.
 *
 *    before   r1 = a   r2 = r1 + b   r3 = c     (r2 waits for r1)
 *    after    r1 = a   r3 = c   r2 = r1 + b
 *
 * Stands behind register allocation and in front of lower_control, whose jumps and mask
 * instructions nothing may cross, and of insert_waits. Two orders are tried: the old one with gaps
 * filled, and the longest way first.
 */
#include "agx/compiler/analysis/register_set.h"
#include "agx/compiler/schedule/schedule.h"
#include "agx/compiler/schedule/schedule_impl.h"

#define NONE UINT32_MAX
/* Cycles; results that come later are awaited by `wait`. */
#define MOST_SYNCHRONOUS 30

struct reader {
   struct reader *next;
   uint32_t number;
};

/* Per register half, along the block. */
struct half {
   uint32_t writer; /* or NONE */
   struct reader *readers;
};

struct posting {
   struct agxc_shader *shader;
   struct agxc_halves asynchronous; /* written so by any block of the shader */
   struct agxc_halves seen;         /* or by the blocks up to here */

   /* Of the block in hand. */
   struct agxc_block *block;
   uint32_t count; /* the terminator, if there is one, is the last */
   struct agxc_sched_node *nodes;
   uint32_t *waiting, *earliest;          /* as the nodes have them before any is issued */
   struct agxc_halves inherited, pending; /* not written yet perhaps: of blocks before, of here */
   uint32_t last_event, last_load;
   struct half halves[AGX_GPR_HALVES];

   /* Of the order that is tried. */
   struct agxc_heap ready, later;
   bool by_height;
   uint32_t clock, stall, end;
   uint32_t *order, issued;
};

/* ---- what must stay before what ---------------------------------------- */

static void add_edge(struct posting *p, uint32_t from, uint32_t to, uint32_t latency)
{
   if (from == NONE || from == to)
      return;
   struct agxc_edge *last = p->nodes[from].edges;
   if (last && last->to == to) { /* by another half */
      last->latency = AGX_MAX(last->latency, latency);
      return;
   }
   struct agxc_edge *edge = AGX_ARENA_NEW(p->shader->arena, struct agxc_edge);
   *edge = (struct agxc_edge){last, to, latency};
   p->nodes[from].edges = edge;
   p->waiting[to]++;
}

static bool touches_memory(const struct agxc_instr *instr)
{
   return agxc_isa_info(instr)->unit == AGX_ISA_UNIT_MEM;
}

static bool is_load(const struct agxc_instr *instr)
{
   return touches_memory(instr) && agxc_writes_register(instr);
}

/* `wait` is what stands between such an operation and the first use. */
static bool is_asynchronous(const struct agxc_sched_node *node)
{
   return is_load(node->instr) && node->latency > MOST_SYNCHRONOUS;
}

static void order_registers(struct posting *p, uint32_t number)
{
   const struct agxc_instr *instr = p->nodes[number].instr;
   struct agxc_halves read = agxc_halves_read(instr), written = agxc_halves_written(instr);
   agx_bitset_for_each (i, read.word, AGX_GPR_HALVES) {
      struct half *half = &p->halves[i];
      if (half->writer != NONE)
         add_edge(p, half->writer, number, p->nodes[half->writer].latency);
      struct reader *reader = AGX_ARENA_NEW(p->shader->arena, struct reader);
      *reader = (struct reader){half->readers, number};
      half->readers = reader;
   }
   agx_bitset_for_each (i, written.word, AGX_GPR_HALVES) {
      struct half *half = &p->halves[i];
      for (const struct reader *reader = half->readers; reader; reader = reader->next)
         add_edge(p, reader->number, number, 0);
      if (half->writer != NONE) {
         const struct agxc_sched_node *writer = &p->nodes[half->writer];
         add_edge(p, half->writer, number, is_asynchronous(writer) ? writer->latency : 0);
      }
      *half = (struct half){number, NULL};
   }
}

/* True when it may be the first to touch a register of the set; takes them out. */
static bool takes_from(struct agxc_halves *set, const struct agxc_halves *touched)
{
   bool meets = agxc_halves_meet(set, touched);
   for (unsigned i = 0; i < AGX_COUNT(set->word); i++)
      set->word[i] &= ~touched->word[i];
   return meets;
}

static bool keeps_order(const struct agxc_instr *instr)
{
   return touches_memory(instr) || !agxc_is_machine(instr) ||
          (agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_READS_MEMORY | AGXC_CROSS_LANE));
}

/* `started`: when it starts in the old order; work that hides what was issued in front of
 * the block must go on doing so. */
static void order_events(struct posting *p, uint32_t number, uint32_t started)
{
   const struct agxc_sched_node *node = &p->nodes[number];
   struct agxc_halves touched = agxc_halves_read(node->instr);
   struct agxc_halves written = agxc_halves_written(node->instr);
   agx_bitset_union(touched.word, written.word, AGX_COUNT(touched.word));
   bool is_first_touch = takes_from(&p->pending, &touched);
   if (takes_from(&p->inherited, &touched)) {
      p->earliest[number] = started;
      is_first_touch = true;
   }
   add_edge(p, p->last_load, number, 0);
   if (is_first_touch || keeps_order(node->instr)) {
      add_edge(p, p->last_event, number, 0);
      p->last_event = number;
   }
   /* Nor does anything go in front of the frame, which a program takes first of all. */
   if (is_load(node->instr) || agxc_has_opcode(node->instr, AGX_ISA_OP_STACK_ADJUST))
      p->last_load = number;
   if (is_asynchronous(node))
      agx_bitset_union(p->pending.word, written.word, AGX_COUNT(written.word));
}

static void set_heights(struct posting *p)
{
   for (uint32_t i = p->count; i-- > 0;) {
      struct agxc_sched_node *node = &p->nodes[i];
      node->height = 0;
      for (const struct agxc_edge *edge = node->edges; edge; edge = edge->next)
         node->height = AGX_MAX(node->height, p->nodes[edge->to].height + edge->latency);
   }
}

/* ---- issuing ----------------------------------------------------------- */

static void make_available(struct posting *p, uint32_t number)
{
   const struct agxc_sched_node *node = &p->nodes[number];
   if (node->ready > p->clock)
      agxc_heap_push(&p->later, node->ready, number);
   else
      agxc_heap_push(&p->ready, p->by_height ? UINT32_MAX - node->height : number, number);
}

/* The clock is that of docs/hw/performance.md: one instruction a cycle, and operands are awaited.
 */
static void start(struct posting *p, uint32_t number)
{
   const struct agxc_sched_node *node = &p->nodes[number];
   uint32_t at = AGX_MAX(p->clock, node->ready);
   p->stall += at - p->clock;
   p->clock = at + 1;
   if (agxc_writes_register(node->instr) && !is_asynchronous(node))
      p->end = AGX_MAX(p->end, at + node->latency);
   for (const struct agxc_edge *edge = node->edges; edge; edge = edge->next)
      p->nodes[edge->to].ready = AGX_MAX(p->nodes[edge->to].ready, at + edge->latency);
}

static void begin(struct posting *p, bool by_height)
{
   p->by_height = by_height;
   p->clock = p->stall = p->end = p->issued = 0;
   p->ready.count = p->later.count = 0;
   for (uint32_t i = 0; i < p->count; i++) {
      p->nodes[i].ready = p->earliest[i];
      p->nodes[i].waiting = p->waiting[i];
   }
}

/* Stall, with what the last results leave to the block behind. */
static uint32_t cost(const struct posting *p)
{
   return p->stall + (p->end > p->clock ? p->end - p->clock : 0);
}

static uint32_t choose(struct posting *p)
{
   if (p->ready.count == 0)
      p->clock = AGX_MAX(p->clock, agxc_heap_key(&p->later, 0));
   while (p->later.count > 0 && agxc_heap_key(&p->later, 0) <= p->clock)
      make_available(p, agxc_heap_take(&p->later, 0));
   return agxc_heap_take(&p->ready, 0);
}

static uint32_t try_order(struct posting *p, bool by_height, uint32_t fixed)
{
   begin(p, by_height);
   for (uint32_t i = 0; i < p->count; i++)
      if (p->nodes[i].waiting == 0 && i < fixed)
         make_available(p, i);
   while (p->issued < fixed) {
      uint32_t before = p->clock, number = choose(p);
      p->stall += p->clock - before;
      start(p, number);
      p->order[p->issued++] = number;
      for (const struct agxc_edge *edge = p->nodes[number].edges; edge; edge = edge->next)
         if (--p->nodes[edge->to].waiting == 0 && edge->to < fixed)
            make_available(p, edge->to);
   }
   if (fixed < p->count)
      start(p, fixed);
   return cost(p);
}

/* ---- blocks ------------------------------------------------------------ */

static uint32_t *numbers(struct posting *p)
{
   return AGX_ARENA_ARRAY(p->shader->arena, uint32_t, p->count);
}

/* What may be under way where the block begins. */
static struct agxc_halves pending_before(const struct posting *p)
{
   return p->block->loop_depth ? p->asynchronous : p->seen;
}

static void collect(struct posting *p)
{
   p->count = 0;
   agxc_foreach_instr (instr, p->block)
      p->count++;
   p->nodes = AGX_ARENA_ARRAY(p->shader->arena, struct agxc_sched_node, p->count);
   uint32_t number = 0;
   agxc_foreach_instr (instr, p->block)
      p->nodes[number++] =
         (struct agxc_sched_node){.instr = instr, .latency = agxc_sched_latency(instr)};
}

/* Edges, and the cost of the order that the block has. */
static uint32_t build(struct posting *p)
{
   p->waiting = numbers(p);
   p->earliest = numbers(p);
   p->inherited = pending_before(p);
   p->pending = (struct agxc_halves){0};
   p->last_event = p->last_load = NONE;
   for (uint32_t i = 0; i < AGX_GPR_HALVES; i++)
      p->halves[i] = (struct half){NONE, NULL};
   for (uint32_t i = 0; i < p->count; i++)
      order_registers(p, i);
   begin(p, false);
   for (uint32_t i = 0; i < p->count; i++) {
      start(p, i);
      order_events(p, i, p->clock - 1);
   }
   set_heights(p);
   return cost(p);
}

static bool schedule_block(struct posting *p)
{
   if (p->count < 3)
      return false;
   uint32_t fixed = p->count - (agxc_terminator(p->block) != NULL);
   uint32_t old = build(p);
   if (old == 0)
      return false;
   p->ready.keys = AGX_ARENA_ARRAY(p->shader->arena, uint64_t, p->count);
   p->later.keys = AGX_ARENA_ARRAY(p->shader->arena, uint64_t, p->count);
   uint32_t *in_order = p->order = numbers(p);
   uint32_t by_number = try_order(p, false, fixed);
   uint32_t *by_need = p->order = numbers(p);
   uint32_t by_height = try_order(p, true, fixed);
   if (AGX_MIN(by_number, by_height) >= old)
      return false;
   agxc_sched_apply(p->block, p->nodes, by_number <= by_height ? in_order : by_need, fixed);
   return true;
}

static void note_asynchronous(const struct agxc_block *block, struct agxc_halves *set)
{
   agxc_foreach_instr (instr, block) {
      if (!is_load(instr))
         continue;
      struct agxc_sched_node node = {.instr = instr, .latency = agxc_sched_latency(instr)};
      struct agxc_halves written = agxc_halves_written(instr);
      if (is_asynchronous(&node))
         agx_bitset_union(set->word, written.word, AGX_COUNT(written.word));
   }
}

/* What is still generic ends its block: jumps out of loops. */
static bool is_plain(const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block)
      if (!agxc_is_machine(instr) && instr != agxc_terminator(block))
         return false;
   return true;
}

bool agxc_schedule_post(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct agxc_halves none = {0};
   struct posting *p = AGX_ARENA_NEW(shader->arena, struct posting);
   *p = (struct posting){.shader = shader, .asynchronous = none, .seen = none};
   agxc_foreach_block (block, shader)
      note_asynchronous(block, &p->asynchronous);
   bool progress = false;
   agxc_foreach_block (block, shader) {
      struct agx_arena_mark mark = agx_arena_mark(shader->arena);
      p->block = block;
      collect(p);
      progress |= is_plain(block) && schedule_block(p);
      note_asynchronous(block, &p->seen);
      agx_arena_release(shader->arena, mark);
   }
   return progress;
}
