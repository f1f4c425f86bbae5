/* SPDX-License-Identifier: MIT
 *
 * IREE's compiler bakes the number of lanes of its target into the code and mostly doesn't declare
 * it. What shows it: an execution mode; clusters and distances of more than 32 lanes, which are
 * constants; and, of a workgroup of more than 32 threads that reduces over lanes, a size that is no
 * multiple of 32, or that no barrier follows, behind which several SIMD-groups could meet. Numbers
 * are those of the SPIR-V specification.
 */
#include <string.h>

#include "container.h"

#define HEADER_WORDS   5
#define LANES          32u
#define MAX_CANDIDATES 64

enum {
   OP_ENTRY_POINT = 15,
   OP_EXECUTION_MODE = 16,
   OP_CONSTANT = 43,
   OP_CONTROL_BARRIER = 224,
   OP_SHUFFLE_XOR = 346,
   OP_SHUFFLE_DOWN = 348,
   OP_REDUCE_FIRST = 349, /* IAdd */
   OP_REDUCE_LAST = 364,  /* LogicalXor */
   OP_ROTATE = 4431,
   MODE_LOCAL_SIZE = 17,
   MODE_SUBGROUP_SIZE = 35,
   GROUP_REDUCE = 0,
   GROUP_CLUSTERED = 3,
   MAX_READ_WORDS = 7, /* of an instruction: what the cases below look at */
};

struct seen {
   uint32_t entry_points, threads, declared;
   uint32_t distances[MAX_CANDIDATES]; /* ids of constants: distances, and sizes of clusters */
   bool are_clusters[MAX_CANDIDATES];
   uint32_t candidate_count, lanes;
   bool reduces, meets; /* meets: there is a barrier behind a reduction */
};

static void add_candidate(struct seen *seen, uint32_t id, bool is_cluster)
{
   if (seen->candidate_count == MAX_CANDIDATES)
      return;
   seen->distances[seen->candidate_count] = id;
   seen->are_clusters[seen->candidate_count++] = is_cluster;
}

static void look_at(struct seen *seen, unsigned op, const uint32_t *words, unsigned count)
{
   if (op == OP_ENTRY_POINT) {
      seen->entry_points++;
   } else if (op == OP_EXECUTION_MODE && count >= 4 && words[2] == MODE_SUBGROUP_SIZE) {
      seen->declared = words[3];
   } else if (op == OP_EXECUTION_MODE && count >= 6 && words[2] == MODE_LOCAL_SIZE) {
      uint64_t threads = (uint64_t)words[3] * words[4];
      seen->threads = threads < 65536 && words[5] < 65536 ? (uint32_t)threads * words[5] : 0;
   } else if (op == OP_CONTROL_BARRIER) {
      seen->meets |= seen->reduces;
   } else if (((op >= OP_SHUFFLE_XOR && op <= OP_SHUFFLE_DOWN) || op == OP_ROTATE) && count >= 6) {
      add_candidate(seen, words[5], false);
      if (op == OP_ROTATE && count >= 7)
         add_candidate(seen, words[6], true);
   } else if (op >= OP_REDUCE_FIRST && op <= OP_REDUCE_LAST && count >= 6) {
      seen->reduces |= words[4] == GROUP_REDUCE;
      if (words[4] == GROUP_CLUSTERED && count >= 7)
         add_candidate(seen, words[6], true);
   }
}

static void look_at_constant(struct seen *seen, uint32_t id, uint32_t value)
{
   for (uint32_t i = 0; i < seen->candidate_count; i++) {
      uint32_t lanes = seen->are_clusters[i] ? value : value >= LANES ? 2 * LANES : 0;
      if (seen->distances[i] == id && lanes > LANES && lanes <= 128)
         seen->lanes = lanes > seen->lanes ? lanes : seen->lanes;
   }
}

/* Calls for each instruction of a module whose lengths hold. Constants only, or all else. */
static void walk(struct seen *seen, const uint8_t *spirv, size_t word_count, bool constants)
{
   uint32_t words[MAX_READ_WORDS];
   for (size_t at = HEADER_WORDS; at < word_count;) {
      memcpy(words, spirv + 4 * at, 4);
      unsigned op = words[0] & 0xffff, count = words[0] >> 16;
      if (count == 0 || count > word_count - at)
         return;
      unsigned read = count < MAX_READ_WORDS ? count : MAX_READ_WORDS;
      memcpy(words, spirv + 4 * at, 4 * read);
      if (!constants)
         look_at(seen, op, words, read);
      else if (op == OP_CONSTANT && count == 4)
         look_at_constant(seen, words[2], words[3]);
      at += count;
   }
}

uint32_t agx_iree_visible_lanes(const void *spirv, size_t spirv_B)
{
   struct seen seen = {0};
   walk(&seen, spirv, spirv_B / 4, false);
   if (seen.declared != 0)
      return seen.declared;
   walk(&seen, spirv, spirv_B / 4, true);
   if (seen.lanes != 0)
      return seen.lanes;
   if (seen.entry_points != 1 || !seen.reduces || seen.threads <= LANES)
      return 0;
   if (seen.threads % LANES != 0)
      return seen.threads % 16 == 0 ? 16 : 8;
   return seen.meets ? 0 : 2 * LANES;
}
