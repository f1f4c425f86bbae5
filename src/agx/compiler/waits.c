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
 * of a pending operation may be overwritten at once. Source: reference/isa, 6.
 */
#include "agx/compiler/machine.h"
#include "agx/compiler/passes.h"

#define GROUPS          2
#define MAX_OUTSTANDING 8
/* Loads that go together before the next ones take the other group. */
#define CLUSTER 4

struct scoreboard {
   struct agxc_halves pending[GROUPS];
   uint32_t count[GROUPS];
};

/* Rows with a group, and which operand it is. */
static const struct {
   uint16_t row;
   uint8_t group;
   bool is_store;
} rows[] = {
   {AGX_ISA_OP_LOAD, AGX_ISA_LOAD_GROUP, false},
   {AGX_ISA_OP_STORE, AGX_ISA_STORE_GROUP, true},
   {AGX_ISA_OP_ATOMIC, AGX_ISA_ATOMIC_GROUP, false},
   {AGX_ISA_OP_STACK_LOAD, AGX_ISA_STACK_LOAD_GROUP, false},
   {AGX_ISA_OP_STACK_STORE, AGX_ISA_STACK_STORE_GROUP, true},
};

static int find_row(const struct agxc_instr *instr)
{
   for (size_t i = 0; i < AGX_COUNT(rows); i++)
      if (agxc_is_row(instr, rows[i].row))
         return (int)i;
   return -1;
}

static bool is_barrier(const struct agxc_instr *instr)
{
   static const uint16_t barriers[] = {
      AGX_ISA_OP_BARRIER,
      AGX_ISA_OP_MEMORY_BARRIER,
      AGX_ISA_OP_MEMORY_BARRIER_2,
      AGX_ISA_OP_MEMORY_BARRIER_3,
      AGX_ISA_OP_DEVICE_BARRIER_1,
      AGX_ISA_OP_DEVICE_BARRIER_2,
      AGX_ISA_OP_UNKNOWN_BARRIER_1,
      AGX_ISA_OP_UNKNOWN_BARRIER_2,
      AGX_ISA_OP_IMAGE_BARRIER_1,
      AGX_ISA_OP_IMAGE_BARRIER_2,
      AGX_ISA_OP_IMAGE_BARRIER_3,
      AGX_ISA_OP_IMAGE_BARRIER_4,
      AGX_ISA_OP_MEMBAR,
      AGX_ISA_OP_FLUSH_MEMORY_TO_TEXTURE,
   };
   for (size_t i = 0; i < AGX_COUNT(barriers); i++)
      if (agxc_is_row(instr, barriers[i]))
         return true;
   return false;
}

/* Bit g: the instruction must wait for group g. */
static unsigned groups_to_wait(const struct scoreboard *board, const struct agxc_instr *instr)
{
   struct agxc_halves touched = agxc_halves_read(instr), written = agxc_halves_written(instr);
   agx_bitset_union(touched.word, written.word, AGX_COUNT(touched.word));
   int row = find_row(instr);
   unsigned groups = 0;
   for (unsigned g = 0; g < GROUPS; g++) {
      bool is_full =
         row >= 0 && instr->operand[rows[row].group].imm == g && board->count[g] >= MAX_OUTSTANDING;
      if (is_full || (board->count[g] > 0 && is_barrier(instr)) ||
          agxc_halves_meet(&board->pending[g], &touched))
         groups |= 1u << g;
   }
   return groups;
}

static void clear(struct scoreboard *board, unsigned groups)
{
   for (unsigned g = 0; g < GROUPS; g++) {
      if (!(groups >> g & 1))
         continue;
      board->pending[g] = (struct agxc_halves){0};
      board->count[g] = 0;
   }
}

static void issue(struct scoreboard *board, const struct agxc_instr *instr)
{
   int row = find_row(instr);
   if (row < 0)
      return;
   int64_t g = instr->operand[rows[row].group].imm;
   struct agxc_halves written = agxc_halves_written(instr);
   agx_bitset_union(board->pending[g].word, written.word, AGX_COUNT(written.word));
   board->count[g]++;
}

/* Adds what a path brings; true when that is news. */
static bool merge(struct scoreboard *board, const struct scoreboard *from)
{
   bool grew = false;
   for (unsigned g = 0; g < GROUPS; g++) {
      grew |= agx_bitset_union(board->pending[g].word, from->pending[g].word,
                               AGX_COUNT(from->pending[g].word));
      grew |= from->count[g] > board->count[g];
      board->count[g] = AGX_MAX(board->count[g], from->count[g]);
   }
   return grew;
}

/* Loads and their users alternate between the groups in clusters, in program order:
 * results that are used one after the other need not wait for all of them. Stores keep to
 * the group that the last loads did not take. */
static void choose_groups(struct agxc_shader *shader)
{
   unsigned group = 0, loads = 0;
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block) {
         int row = find_row(instr);
         if (row < 0)
            continue;
         if (!rows[row].is_store && loads++ == CLUSTER) {
            loads = 1;
            group ^= 1;
         }
         instr->operand[rows[row].group] = agxc_imm(rows[row].is_store ? group ^ 1 : group, 64);
      }
}

/* One pass over all blocks; true when an entry state grew. With inserting set it puts the
 * waits in as well. */
static bool flow(struct agxc_shader *shader, struct scoreboard *entry, bool inserting)
{
   bool grew = false;
   agxc_foreach_block (block, shader) {
      struct scoreboard board = entry[block->index];
      agxc_foreach_instr_safe (instr, block) {
         unsigned groups = groups_to_wait(&board, instr);
         for (unsigned g = 0; g < GROUPS && inserting; g++) {
            if (!(groups >> g & 1))
               continue;
            struct agxc_builder b = agxc_before(shader, instr);
            struct agxc_instr *wait = agxc_instr_new(shader, AGXC_OP_ISA + AGX_ISA_OP_WAIT);
            wait->operand[AGX_ISA_WAIT_GROUP] = agxc_imm(g, 64);
            agxc_insert(&b, wait);
         }
         clear(&board, groups);
         issue(&board, instr);
         struct agxc_block *target = agxc_jump_target(shader, instr);
         if (target)
            grew |= merge(&entry[target->index], &board);
      }
      if (block->index + 1 < shader->block_count)
         grew |= merge(&entry[block->index + 1], &board);
   }
   return grew;
}

bool agxc_insert_waits(struct agxc_shader *shader)
{
   agxc_index(shader);
   choose_groups(shader);
   struct scoreboard *entry =
      AGX_ARENA_ARRAY(shader->arena, struct scoreboard, shader->block_count);
   while (flow(shader, entry, false))
      ;
   flow(shader, entry, true);
   return true;
}
