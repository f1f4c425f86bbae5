/* SPDX-License-Identifier: MIT
 *
 * Makes one gap: of all windows where a result would fit, the one that is cheapest to
 * clear by moving what lives there into other free places.
 */
#include "agx/compiler/regalloc/ra_impl.h"

struct plan {
   struct agxc_assignment moves[AGX_GPR_HALVES];
   uint32_t count, cost; /* cost: halves that move */
};

static uint32_t first_fit(const struct agxc_ra *ra, const bool *busy,
                          const struct agxc_value *value)
{
   uint32_t step = agxc_alignment(value), halves = agxc_halves(value);
   for (uint32_t half = (uint32_t)agx_align_up(ra->first, step); half + halves <= ra->limit;
        half += step) {
      uint32_t i = 0;
      while (i < halves && !busy[half + i])
         i++;
      if (i == halves)
         return half;
   }
   return AGXC_NOWHERE;
}

/* How to clear half .. half + halves; false when it can't be done for less than limit. */
static bool plan_window(const struct agxc_ra *ra, const bool *taken, uint32_t half, uint32_t halves,
                        uint32_t limit, struct plan *plan)
{
   bool busy[AGX_GPR_HALVES];
   memcpy(busy, taken, sizeof(busy));
   memset(busy + half, true, halves);
   plan->count = plan->cost = 0;
   const struct agxc_value *last = NULL;
   for (uint32_t i = half; i < half + halves; i++) {
      struct agxc_value *value = ra->holder[i];
      if (!value || value == last)
         continue;
      last = value;
      plan->cost += agxc_halves(value);
      uint32_t to = plan->cost < limit ? first_fit(ra, busy, value) : AGXC_NOWHERE;
      if (to == AGXC_NOWHERE)
         return false;
      memset(busy + to, true, agxc_halves(value));
      plan->moves[plan->count++] = (struct agxc_assignment){value, (uint16_t)to};
   }
   return true;
}

static void apply(struct agxc_ra *ra, struct agxc_instr *instr, const struct plan *plan)
{
   for (uint32_t i = 0; i < plan->count; i++) {
      struct agxc_value *value = plan->moves[i].value;
      agxc_ra_copy(ra, plan->moves[i].half, agxc_reg(ra->place[value->id], 16, 1),
                   agxc_halves(value));
      agxc_ra_free(ra, value);
   }
   for (uint32_t i = 0; i < plan->count; i++)
      agxc_ra_put(ra, plan->moves[i].value, plan->moves[i].half);
   struct agxc_builder b = agxc_before(ra->shader, instr);
   agxc_ra_flush(ra, &b);
}

bool agxc_ra_evict(struct agxc_ra *ra, struct agxc_instr *instr, const struct agxc_value *value,
                   const struct agxc_assignment *dying, uint32_t dying_count)
{
   bool taken[AGX_GPR_HALVES];
   for (uint32_t i = 0; i < AGX_GPR_HALVES; i++)
      taken[i] = ra->holder[i] != NULL;
   /* Nothing may move over a source that the instruction still has to read. */
   for (uint32_t i = 0; i < dying_count; i++)
      memset(taken + dying[i].half, true, agxc_halves(dying[i].value));

   struct plan *best = AGX_ARENA_NEW(ra->shader->arena, struct plan);
   struct plan *plan = AGX_ARENA_NEW(ra->shader->arena, struct plan);
   best->cost = UINT32_MAX;
   uint32_t step = agxc_alignment(value), halves = agxc_halves(value);
   for (uint32_t half = (uint32_t)agx_align_up(ra->first, step); half + halves <= ra->limit;
        half += step) {
      if (!plan_window(ra, taken, half, halves, best->cost, plan))
         continue;
      struct plan *worse = best;
      best = plan;
      plan = worse;
   }
   if (best->cost == UINT32_MAX)
      return false;
   apply(ra, instr, best);
   return true;
}
