/* SPDX-License-Identifier: MIT
 *
 * What a kernel of a chaos run does otherwise: coherent loads and stores go past the
 * core's caches, and memory barriers act on them. Source of what a barrier is used
 * for: docs/hw/machine.md 9; that its codes mean just that is a reading [U].
 */
#include "agx/sim/check/chaos_exec.h"

#include "agx/sim/machine/address.h"
#include "agx/sim/memory/cache.h"

#define VECTOR_BYTES 20u /* of a lane at most, wherever in a word it begins */

/* What a coherent access touches is the same in memory and in the core's copy. */
static void sync(struct agxs_group *group, const struct agxs_uop *uop)
{
   uint64_t va[AGXS_LANES];
   agxs_get_addresses(group, uop, agxs_scale_log2(uop, agxs_formats[uop->format].bytes), va);
   for (unsigned i = 0; i < AGXS_LANES; i++)
      if (group->active >> i & 1)
         agxs_cache_sync(&group->worker->tlb, va[i] & ~3ull, VECTOR_BYTES);
}

static const struct agxs_uop *load(struct agxs_group *group, const struct agxs_uop *uop)
{
   if (uop->is_coherent)
      sync(group, uop);
   return group->worker->plain_set->exec[AGXS_X_load](group, uop);
}

static const struct agxs_uop *store(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_uop *next = group->worker->plain_set->exec[AGXS_X_store](group, uop);
   if (uop->is_coherent)
      sync(group, uop);
   return next;
}

static const struct agxs_uop *membar(struct agxs_group *group, const struct agxs_uop *uop)
{
   agxs_cache_barrier(&group->worker->tlb, (enum agxs_membar)uop->mode);
   return uop + 1;
}

void agxs_chaos_exec_set(const struct agxs_exec_set *base, struct agxs_exec_set *out_set)
{
   *out_set = *base;
   out_set->name = "chaos";
   out_set->exec[AGXS_X_load] = load;
   out_set->exec[AGXS_X_store] = store;
   out_set->exec[AGXS_X_membar] = membar;
}
