/* SPDX-License-Identifier: MIT
 *
 * Loads, stores and atomics of device memory are asynchronous. Each counts in one of two
 * scoreboard groups, and `wait` blocks until a group is empty. What may be pending at the
 * start of a block comes from a forward dataflow over the code as it lies in memory (all
 * lanes of a SIMD-group share the scoreboard), so that nothing waits only because a block
 * ends.
 *
 * Waits stand: before a register is read or overwritten that a pending operation will
 * write; before the ninth operation of a group; before barriers, for both groups. Sources
 * of a pending operation may be overwritten at once. Source: docs/hw/machine.md, 6.
 *
 *    before   agx.load r2 ..   agx.load r3 ..   agx.ffma r2, r2, r3
 *    after    agx.load r2 ..   agx.load r3 ..   agx.wait   agx.ffma r2, r2, r3
 *
 * A load joins the group under way unless it is used much later than what is there; a store takes
 * the group that the next loads will take, so that their wait finds it done. What a loop needs but
 * does not load is waited for in front of the loop.
 *
 * Stands behind all passes that move instructions or add jumps, since it follows the code as it
 * will lie in memory.
 */
#include "agx/compiler/analysis/register_set.h"
#include "agx/compiler/emit/jump_impl.h"
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/emit/emit.h"

#define MAX_OUTSTANDING 8
/* Instructions between two loads that may share a group although the earlier one is used
 * first: waiting for both at once costs no more than these. */
#define CLUSTER_DISTANCE 24
/* Loops inside a loop that waits in front of it are weighed for, and rounds of that: every
 * instruction is looked at a bounded number of times. */
#define MAX_LEVELS 8u
#define MAX_ROUNDS 8u

struct scoreboard {
   struct agxc_halves pending[AGXC_WAIT_GROUPS];
   uint32_t count[AGXC_WAIT_GROUPS];
};

static bool is_async(const struct agxc_instr *instr)
{
   return agxc_isa_info(instr)->is_async;
}

static bool is_barrier(const struct agxc_instr *instr)
{
   return agxc_isa_info(instr)->is_fence;
}

/* Bit g: the instruction must wait for group g. */
static unsigned groups_to_wait(const struct scoreboard *board, const struct agxc_instr *instr)
{
   struct agxc_halves touched = agxc_halves_read(instr), written = agxc_halves_written(instr);
   agx_bitset_union(touched.word, written.word, AGX_COUNT(touched.word));
   unsigned groups = 0;
   for (unsigned g = 0; g < AGXC_WAIT_GROUPS; g++) {
      bool is_full = board->count[g] >= MAX_OUTSTANDING && is_async(instr) &&
                     agxc_machine_group(instr)->imm == g;
      if (is_full || (board->count[g] > 0 && is_barrier(instr)) ||
          agxc_halves_meet(&board->pending[g], &touched))
         groups |= 1u << g;
   }
   return groups;
}

static void clear(struct scoreboard *board, unsigned groups)
{
   for (unsigned g = 0; g < AGXC_WAIT_GROUPS; g++) {
      if (!(groups >> g & 1))
         continue;
      board->pending[g] = (struct agxc_halves){0};
      board->count[g] = 0;
   }
}

static void issue(struct scoreboard *board, const struct agxc_instr *instr)
{
   if (agxc_has_opcode(instr, AGX_ISA_OP_WAIT))
      clear(board, 1u << agxc_machine_group(instr)->imm);
   if (!is_async(instr))
      return;
   int64_t g = agxc_machine_group(instr)->imm;
   struct agxc_halves written = agxc_halves_written(instr);
   agx_bitset_union(board->pending[g].word, written.word, AGX_COUNT(written.word));
   board->count[g]++;
}

/* Adds what a path brings; true when that is news. */
static bool merge(struct scoreboard *board, const struct scoreboard *from)
{
   bool grew = false;
   for (unsigned g = 0; g < AGXC_WAIT_GROUPS; g++) {
      grew |= agx_bitset_union(board->pending[g].word, from->pending[g].word,
                               AGX_COUNT(from->pending[g].word));
      grew |= from->count[g] > board->count[g];
      board->count[g] = AGX_MAX(board->count[g], from->count[g]);
   }
   return grew;
}

/* ---- groups ------------------------------------------------------------ */

/* What is under way in a group, along the code as it lies in memory. */
struct cluster {
   uint32_t loads, stores;
   uint32_t last_issue; /* of its loads */
   uint32_t first_use;  /* of a result; UINT32_MAX without loads */
};

struct choosing {
   struct agxc_shader *shader;
   uint32_t *use; /* by instruction: where its result is touched first, or the loop's end */
   struct cluster clusters[AGXC_WAIT_GROUPS];
   unsigned last; /* group of the last load */
};

/* The loop that ends with this block: where it starts, or UINT32_MAX when none does. */
static uint32_t loop_start(const struct agxc_shader *shader, const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block) {
      const struct agxc_block *target = agxc_jump_target(shader, instr);
      if (target && target->index <= block->index)
         return agxc_first_block(&block->loop->body)->index;
   }
   return UINT32_MAX;
}

/* Where results are touched first, by a walk back along the code as it lies in memory. */
static void find_first_uses(struct choosing *c)
{
   struct agxc_shader *shader = c->shader;
   uint32_t next[AGX_GPR_HALVES], end = shader->instr_count;
   for (uint32_t i = 0; i < AGX_GPR_HALVES; i++)
      next[i] = end;
   for (uint32_t b = shader->block_count; b-- > 0;) {
      /* What follows a jump back in memory is not what runs next. */
      if (loop_start(shader, shader->blocks[b]) != UINT32_MAX)
         for (uint32_t i = 0; i < AGX_GPR_HALVES; i++)
            next[i] = end;
      agxc_foreach_instr_rev (instr, shader->blocks[b]) {
         uint32_t use = UINT32_MAX;
         struct agxc_halves written = agxc_halves_written(instr), read = agxc_halves_read(instr);
         agx_bitset_for_each (half, written.word, AGX_GPR_HALVES) {
            use = AGX_MIN(use, next[half]);
            next[half] = instr->index;
         }
         agx_bitset_for_each (half, read.word, AGX_GPR_HALVES)
            next[half] = instr->index;
         c->use[instr->index] = use;
         end = instr->index;
      }
   }
}

static unsigned emptier(const struct choosing *c)
{
   const struct cluster *a = &c->clusters[0], *b = &c->clusters[1];
   return b->loads + b->stores < a->loads + a->stores;
}

static bool is_full(const struct cluster *cluster)
{
   return cluster->loads + cluster->stores >= MAX_OUTSTANDING;
}

/* With the loads under way if its own result is needed no earlier than theirs, or they were
 * issued only just now; else in the other group, so that no wait covers an unused result. */
static unsigned group_for_load(const struct choosing *c, const struct agxc_instr *load)
{
   const struct cluster *mine = &c->clusters[c->last], *other = &c->clusters[c->last ^ 1];
   bool is_close = mine->loads == 0 || load->index - mine->last_issue <= CLUSTER_DISTANCE ||
                   c->use[load->index] <= mine->first_use;
   if (is_close && !is_full(mine))
      return c->last;
   return is_full(other) ? emptier(c) : c->last ^ 1;
}

/* Where no load is under way, at best in the group that the next loads will take: a wait for
 * them finds the store done. */
static unsigned group_for_store(const struct choosing *c)
{
   const struct cluster *mine = &c->clusters[c->last], *other = &c->clusters[c->last ^ 1];
   if (mine->loads == 0 && !is_full(mine))
      return c->last;
   if (other->loads == 0 && !is_full(other))
      return c->last ^ 1;
   return mine->first_use < other->first_use ? c->last ^ 1 : c->last;
}

static void choose_group(struct choosing *c, struct agxc_instr *instr)
{
   bool is_load = agxc_writes_register(instr);
   unsigned group = is_load ? group_for_load(c, instr) : group_for_store(c);
   struct cluster *cluster = &c->clusters[group];
   if (is_full(cluster))
      *cluster = (struct cluster){.first_use = UINT32_MAX};
   agxc_set_machine_group(instr, group);
   if (!is_load) {
      cluster->stores++;
      return;
   }
   c->last = group;
   cluster->loads++;
   cluster->last_issue = instr->index;
   cluster->first_use = AGX_MIN(cluster->first_use, c->use[instr->index]);
}

/* Greedy, in program order: what ends up in which group only decides who waits together. */
static void choose_groups(struct agxc_shader *shader)
{
   struct choosing c = {
      .shader = shader,
      .use = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->instr_count),
      .clusters = {{.first_use = UINT32_MAX}, {.first_use = UINT32_MAX}},
   };
   find_first_uses(&c);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block) {
         for (unsigned g = 0; g < AGXC_WAIT_GROUPS; g++)
            if (c.clusters[g].first_use <= instr->index || is_barrier(instr))
               c.clusters[g] = (struct cluster){.first_use = UINT32_MAX};
         if (is_async(instr))
            choose_group(&c, instr);
      }
}

/* ---- waits ------------------------------------------------------------- */

static void insert_wait(struct agxc_builder b, unsigned group)
{
   struct agxc_instr *wait = agxc_instr_new(b.shader, AGXC_OP_ISA + AGX_ISA_OP_WAIT);
   agxc_set_machine_group(wait, group);
   agxc_insert(&b, wait);
}

/* Blocks first to last: a loop, or all. */
struct region {
   struct agxc_shader *shader;
   uint32_t first, last;
   struct scoreboard *entry; /* by block, from first on */
};

static bool flow_into(struct region *region, uint32_t block, const struct scoreboard *board)
{
   return block >= region->first && block <= region->last &&
          merge(&region->entry[block - region->first], board);
}

/* One pass; true when an entry state grew. Counts waits, those in inner loops fourfold, or puts
 * them in where out_waits is NULL. */
static bool flow(struct region *region, uint32_t *out_waits)
{
   struct agxc_shader *shader = region->shader;
   uint32_t depth = shader->blocks[region->first]->loop_depth, waits = 0;
   bool grew = false;
   for (uint32_t i = region->first; i <= region->last; i++) {
      struct scoreboard board = region->entry[i - region->first];
      uint32_t inner = AGX_MIN(shader->blocks[i]->loop_depth - depth, 4);
      agxc_foreach_instr_safe (instr, shader->blocks[i]) {
         unsigned groups = groups_to_wait(&board, instr);
         waits += (uint32_t)__builtin_popcount(groups) << 2 * inner;
         for (unsigned g = 0; g < AGXC_WAIT_GROUPS && !out_waits; g++)
            if (groups >> g & 1)
               insert_wait(agxc_before(shader, instr), g);
         clear(&board, groups);
         issue(&board, instr);
         const struct agxc_block *target = agxc_jump_target(shader, instr);
         if (target)
            grew |= flow_into(region, target->index, &board);
      }
      grew |= flow_into(region, i + 1, &board);
   }
   if (out_waits)
      *out_waits = waits;
   return grew;
}

/* What is under way where each block begins, when the first one is entered like that; waits: what
 * an iteration of the loop needs then. */
static struct region compute_entries(struct agxc_shader *shader, uint32_t first, uint32_t last,
                                     const struct scoreboard *before, uint32_t *out_waits)
{
   struct region region = {shader, first, last,
                           AGX_ARENA_ARRAY(shader->arena, struct scoreboard, last - first + 1)};
   region.entry[0] = *before;
   while (flow(&region, out_waits))
      ;
   return region;
}

static struct region all_entries(struct agxc_shader *shader)
{
   uint32_t waits;
   return compute_entries(shader, 0, shader->block_count - 1, &(struct scoreboard){0}, &waits);
}

/* ---- loops ------------------------------------------------------------- */

/* Stops at the first block that is too deep, so that nests of loops are not walked anew at each
 * level. */
static bool is_shallow(const struct agxc_shader *shader, uint32_t first, uint32_t last)
{
   uint32_t most = shader->blocks[first]->loop_depth + MAX_LEVELS;
   for (uint32_t i = first; i <= last; i++)
      if (shader->blocks[i]->loop_depth > most)
         return false;
   return true;
}

/* Waits that an iteration of the loop needs when it is entered like that. */
static uint32_t waits_in_loop(struct agxc_shader *shader, uint32_t first, uint32_t last,
                              const struct scoreboard *before)
{
   struct agx_arena_mark mark = agx_arena_mark(shader->arena);
   uint32_t waits;
   compute_entries(shader, first, last, before, &waits);
   agx_arena_release(shader->arena, mark);
   return waits;
}

/* Where the code in front of a loop ends: it may jump to the loop's test. */
static struct agxc_builder at_entry(struct agxc_shader *shader, struct agxc_block *before)
{
   struct agxc_builder b = agxc_at_end(shader, before);
   struct agxc_instr *last = agx_list_empty(&before->instrs)
                                ? NULL
                                : agx_container_of(before->instrs.prev, struct agxc_instr, link);
   if (last && agxc_jump_target(shader, last))
      b.before = last;
   return b;
}

/* What is under way where a loop begins and is needed inside would be waited for in each
 * iteration, although only the first one can find it unfinished: the wait goes in front where
 * that saves one inside. */
static bool wait_before_loop(struct agxc_shader *shader, const struct scoreboard *entry,
                             uint32_t first, uint32_t last)
{
   if (first == 0)
      return false;
   struct agxc_block *before = shader->blocks[first - 1];
   struct scoreboard board = entry[before->index];
   agxc_foreach_instr (instr, before) {
      clear(&board, groups_to_wait(&board, instr));
      issue(&board, instr);
   }
   if (board.count[0] + board.count[1] == 0 || !is_shallow(shader, first, last))
      return false;
   bool progress = false;
   for (unsigned g = 0; g < AGXC_WAIT_GROUPS; g++) {
      if (board.count[g] == 0)
         continue;
      struct scoreboard without = board;
      clear(&without, 1u << g);
      if (waits_in_loop(shader, first, last, &without) >=
          waits_in_loop(shader, first, last, &board))
         continue;
      insert_wait(at_entry(shader, before), g);
      board = without;
      progress = true;
   }
   return progress;
}

/* Backwards, so that outer loops come first; one round for each level that has something. */
static void wait_before_loops(struct agxc_shader *shader)
{
   bool progress = true;
   for (uint32_t round = 0; progress && round < MAX_ROUNDS; round++) {
      progress = false;
      const struct scoreboard *entry = all_entries(shader).entry;
      for (uint32_t i = shader->block_count; i-- > 0;) {
         uint32_t start = loop_start(shader, shader->blocks[i]);
         if (start == UINT32_MAX || !wait_before_loop(shader, entry, start, i))
            continue;
         progress = true;
         i = start; /* loops inside find other things now */
      }
   }
}

bool agxc_insert_waits(struct agxc_shader *shader)
{
   agxc_index(shader);
   choose_groups(shader);
   wait_before_loops(shader);
   struct region all = all_entries(shader);
   flow(&all, NULL);
   return true;
}
