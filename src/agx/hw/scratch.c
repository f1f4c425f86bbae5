/* SPDX-License-Identifier: MIT
 *
 * Plans and writes the memory that a helper program hands out. hal/record/scratch.c allocates it.
 * Source: docs/hw/cmdstream.md 5.
 */
#include "agx/hw/scratch.h"

#include <string.h>

#include "base/util.h"

#define UNIT_WORDS     8u /* of a block of the smallest size */
#define MAX_SIZE_CODE  6u
#define LIST_B         (AGX_HW_SCRATCH_GROUPS * (uint32_t)sizeof(struct list_entry))
#define ADDRESS_SHIFT  8
#define BLOCK_IS_THERE 1u

struct core_record {
   uint64_t list_va; /* 0: the core is not enabled */
   uint32_t in_use, most_in_use, refused, pad;
   uint32_t counts[16]; /* allocations, by the code of the size */
};
_Static_assert(sizeof(struct core_record) == 88, "as known helper programs have it");

struct header {
   uint32_t groups, pad;
   struct core_record cores[AGX_MAX_CORES];
};
_Static_assert(sizeof(struct header) == 11272, "as known helper programs have it");

/* Of one SIMD-group. */
struct list_entry {
   uint32_t blocks[4];
};

/* The largest power of 4 that leaves a stack of 1 to 3 blocks; 4 of the largest size. */
static void choose_blocks(uint32_t words, struct agx_hw_scratch *out)
{
   const uint32_t units = (uint32_t)agx_div_up(words, UNIT_WORDS);
   uint32_t code = (31u - (uint32_t)__builtin_clz(units)) / 2;
   code = AGX_MIN(code, MAX_SIZE_CODE);
   uint32_t count = (uint32_t)agx_div_up(words, UNIT_WORDS << 2 * code);
   if (count == 4 && code < MAX_SIZE_CODE) {
      code++;
      count = 1;
   }
   out->size_code = code;
   out->block_count = count;
   out->words = count * (UNIT_WORDS << 2 * code);
   out->block_B = (uint64_t)AGX_SIMD_LANES * sizeof(uint32_t) * (UNIT_WORDS << 2 * code);
}

static bool is_enabled(const struct agx_hw_cores *cores, uint32_t cluster, uint32_t core)
{
   return cores->masks[cluster] >> core & 1;
}

agx_status agx_hw_scratch_plan(uint32_t words, const struct agx_hw_cores *cores,
                               struct agx_hw_scratch *out_scratch)
{
   *out_scratch = (struct agx_hw_scratch){0};
   if (words == 0 || words > AGX_HW_SCRATCH_MAX_WORDS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "scratch: %u words for each thread; 1 to %u are possible",
                      words, AGX_HW_SCRATCH_MAX_WORDS);
   choose_blocks(words, out_scratch);
   for (uint32_t cluster = 0; cluster < cores->cluster_count; cluster++) {
      for (uint32_t core = 0; core < cores->cores_per_cluster && core < 64; core++) {
         uint32_t number = agx_core_number(cores->cores_per_cluster, cluster, core);
         if (!is_enabled(cores, cluster, core))
            continue;
         if (number >= AGX_MAX_CORES)
            return AGX_FAIL(AGX_OUT_OF_RANGE,
                            "scratch: core %u of cluster %u has number %u; a helper program "
                            "knows numbers below %u",
                            core, cluster, number, AGX_MAX_CORES);
         out_scratch->core_count++;
      }
   }
   const uint64_t stacks = (uint64_t)out_scratch->core_count * AGX_HW_SCRATCH_GROUPS;
   out_scratch->lists_at = sizeof(struct header);
   out_scratch->blocks_at = agx_align_up(
      out_scratch->lists_at + (uint64_t)out_scratch->core_count * LIST_B, out_scratch->block_B);
   out_scratch->total_B =
      out_scratch->blocks_at + stacks * out_scratch->block_count * out_scratch->block_B;
   return AGX_OK;
}

/* The lists of one core's stacks, whose blocks begin at va. Returns where they end. */
static uint64_t write_list(const struct agx_hw_scratch *scratch, uint64_t va, uint8_t *out)
{
   for (uint32_t i = 0; i < AGX_HW_SCRATCH_GROUPS; i++) {
      struct list_entry entry = {{0}};
      for (uint32_t block = 0; block < scratch->block_count; block++) {
         const uint32_t flags = block ? BLOCK_IS_THERE : (2u << scratch->size_code) - 1;
         entry.blocks[block] = (uint32_t)(va >> ADDRESS_SHIFT) | flags;
         va += scratch->block_B;
      }
      memcpy(out + i * sizeof(entry), &entry, sizeof(entry)); /* hosts are little-endian */
   }
   return va;
}

void agx_hw_scratch_write(const struct agx_hw_scratch *scratch, const struct agx_hw_cores *cores,
                          uint64_t va, void *out_memory)
{
   uint8_t *memory = out_memory;
   uint64_t list_at = scratch->lists_at, block_va = va + scratch->blocks_at;
   struct header header = {.groups = AGX_HW_SCRATCH_GROUPS};
   for (uint32_t cluster = 0; cluster < cores->cluster_count; cluster++) {
      for (uint32_t core = 0; core < cores->cores_per_cluster && core < 64; core++) {
         if (!is_enabled(cores, cluster, core))
            continue;
         header.cores[agx_core_number(cores->cores_per_cluster, cluster, core)].list_va =
            va + list_at;
         block_va = write_list(scratch, block_va, memory + list_at);
         list_at += LIST_B;
      }
   }
   memcpy(memory, &header, sizeof(header));
}
