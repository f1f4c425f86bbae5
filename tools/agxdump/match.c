/* SPDX-License-Identifier: MIT
 *
 * Chooses what is compared with what, for `agxdump diff` and the page of `agxdump html`.
 */
#include "match.h"

#include <stdlib.h>
#include <string.h>

static uint64_t grid_hash(const struct dump_dispatch *it)
{
   uint64_t hash = it->launch.mode;
   for (int i = 0; i < 3; i++)
      hash = (hash ^ it->launch.global[i]) * 0x9e3779b97f4a7c15u;
   return hash;
}

agx_status match_dispatches(const struct dump_dispatches *a, const struct dump_dispatches *b,
                            struct align_pair **out_pairs, size_t *out_count)
{
   uint64_t *hashes = malloc((a->count + b->count + 1) * sizeof(*hashes));
   if (!hashes)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory to match %zu and %zu dispatches", a->count,
                      b->count);
   for (size_t i = 0; i < a->count; i++)
      hashes[i] = grid_hash(&a->items[i]);
   for (size_t i = 0; i < b->count; i++)
      hashes[a->count + i] = grid_hash(&b->items[i]);
   agx_status status =
      align_sequences(hashes, a->count, hashes + a->count, b->count, out_pairs, out_count);
   free(hashes);
   return status;
}

agx_status match_code(const struct dump_code *a, const struct dump_code *b,
                      struct align_pair **out_pairs, size_t *out_count)
{
   uint64_t *hashes = malloc((a->count + b->count + 1) * sizeof(*hashes));
   if (!hashes)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory to align %zu and %zu instructions",
                      a->count, b->count);
   for (size_t i = 0; i < a->count; i++)
      hashes[i] = a->instrs[i].op;
   for (size_t i = 0; i < b->count; i++)
      hashes[a->count + i] = b->instrs[i].op;
   agx_status status =
      align_sequences(hashes, a->count, hashes + a->count, b->count, out_pairs, out_count);
   free(hashes);
   return status;
}

bool match_is_equal(const struct dump_code *a, const struct dump_code *b,
                    const struct align_pair *pair)
{
   return pair->a != ALIGN_NONE && pair->b != ALIGN_NONE &&
          a->instrs[pair->a].length == b->instrs[pair->b].length &&
          memcmp(a->instrs[pair->a].bytes, b->instrs[pair->b].bytes, a->instrs[pair->a].length) ==
             0;
}
