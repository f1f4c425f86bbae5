/* SPDX-License-Identifier: MIT
 *
 * Undefined bits at the execution mask, at jumps through registers, and between lanes.
 */
#include "agx/sim/check/shadow_impl.h"
#include "agx/sim/exec/compare.h"

static bool is_condition_used(const struct agxs_uop *uop, uint32_t nesting)
{
   switch (uop->exec_index) {
   case AGXS_X_if_icmp:
   case AGXS_X_if_fcmp:
      return nesting == 0;
   case AGXS_X_else_icmp:
   case AGXS_X_else_fcmp:
      return nesting == 1;
   case AGXS_X_while_icmp:
   case AGXS_X_while_fcmp:
      return nesting < uop->nest;
   default: /* pop_exec */
      return false;
   }
}

/* r0l must be defined in every lane that has a thread, the condition where it counts. */
bool agxs_shadow_mask(struct agxs_group *group, const struct agxs_uop *uop)
{
   static const struct agxs_source counter = {
      .bank = AGXS_BANK_REG, .bits = 16, .left = 16, .right = 16};
   struct agxs_row open;
   if (!agxs_shadow_demand(group, uop, &counter, group->exists, "the execution mask"))
      return false;
   agxs_shadow_condition(group, uop, &open);
   uint32_t lanes = 0;
   AGXS_FOR_LANES (i) {
      bool is_used = is_condition_used(uop, group->regs[0].lane[i] & 0xffff);
      lanes |= (uint32_t)(is_used && open.lane[i]) << i;
   }
   lanes &= group->exists;
   return agxs_shadow_demand(group, uop, &uop->src[0], lanes, "a branch") &&
          agxs_shadow_demand(group, uop, &uop->src[1], lanes, "a branch");
}

/* call_reg and ret: what lanes with different targets do is a guess of ours. What a call
 * leaves in r1 is defined. */
bool agxs_shadow_register_jump(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_row *to = agxs_source_row(group, &uop->src[0]);
   unsigned first = group->active ? (unsigned)__builtin_ctz(group->active) : 0;
   if (!agxs_shadow_demand(group, uop, &uop->src[0], group->active, "a jump"))
      return false;
   AGXS_FOR_LANES (i) {
      if (!group->exec.lane[i] || to->lane[i] == to->lane[first])
         continue;
      agxs_group_fail(group, uop, AGX_FAILED_PRECONDITION,
                      "check: lane %u goes to 0x%x, lane %u to 0x%x: what hardware does then is "
                      "not known",
                      first, to->lane[first], i, to->lane[i]);
      return false;
   }
   return agxs_shadow_defines(group, uop);
}

bool agxs_shadow_ballot(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row open, d;
   uint32_t votes = 0;
   agxs_shadow_condition(group, uop, &open);
   AGXS_FOR_LANES (i)
      votes |= open.lane[i] & group->exec.lane[i] & 1u << i;
   AGXS_FOR_LANES (i)
      d.lane[i] = uop->window ? votes : votes >> (i & ~3u) & 15;
   agxs_shadow_put(group, uop, &d);
   return true;
}

/* Moves masks with the lanes: the operation itself on them, when all of the index is
 * defined where it counts (the source quad's low bits, the lane's own number). */
bool agxs_shadow_shuffle(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row b, ua, ub, d;
   uint32_t k[AGXS_LANES / 4], open[AGXS_LANES / 4];
   uint32_t counted = uop->src[1].bank == AGXS_BANK_REG ? group->exists : ~0u;
   agxs_get_u32(group, &uop->src[1], &b);
   agxs_shadow_get(group, &uop->src[0], &ua);
   agxs_shadow_get(group, &uop->src[1], &ub);
   for (unsigned q = 0; q < AGXS_LANES / 4; q++) {
      uint32_t ones = 0, undefined = 0;
      for (unsigned i = 4 * q; i < 4 * q + 4; i++) {
         if (!(counted >> i & 1))
            continue;
         ones |= b.lane[i] & ~ub.lane[i];
         undefined |= ub.lane[i];
      }
      k[q] = ones & 3;
      open[q] = undefined & ~ones & 3;
   }
   AGXS_FOR_LANES (i) {
      uint32_t wanted = agxs_shuffle_wanted(uop, i, b.lane[i]);
      unsigned quad = wanted / 4 % 8;
      if (ub.lane[i])
         d.lane[i] = ~0u;
      else if (wanted >= AGXS_LANES)
         d.lane[i] = ua.lane[i];
      else
         d.lane[i] = open[quad] ? ~0u : ua.lane[agxs_shuffle_source(uop, 4 * quad, i & 3, k[quad])];
   }
   agxs_shadow_put(group, uop, &d);
   return true;
}

/* One more lane's value x with its mask u into a running mask; known: bits that some lane
 * has settled (a 0 for and, a 1 for or). */
static uint32_t combine(unsigned op, uint32_t total, uint32_t x, uint32_t u, uint32_t *known)
{
   switch (op) {
   case AGX_ISA_SUBOP_AND:
      *known |= ~x & ~u;
      return total | u;
   case AGX_ISA_SUBOP_OR:
      *known |= x & ~u;
      return total | u;
   case AGX_ISA_SUBOP_XOR:
      return total | u;
   case AGX_ISA_SUBOP_IADD:
      return (uint32_t)agxs_shadow_carry(total | u);
   default:
      return total | (u ? ~0u : 0);
   }
}

bool agxs_shadow_reduce(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned width = uop->window ? AGXS_LANES : 4;
   struct agxs_row x, u, d;
   agxs_get_u32(group, &uop->src[0], &x);
   agxs_shadow_get(group, &uop->src[0], &u);
   for (unsigned first = 0; first < AGXS_LANES; first += width) {
      uint32_t total = 0, known = 0;
      for (unsigned i = first; i < first + width; i++) {
         d.lane[i] = total & ~known;
         if (group->exec.lane[i])
            total = combine(uop->mode, total, x.lane[i], u.lane[i], &known);
      }
      for (unsigned i = first; i < first + width && !uop->prefix; i++)
         d.lane[i] = total & ~known;
   }
   agxs_shadow_put(group, uop, &d);
   return true;
}

/* Where lane l's first element stands in an 8x8 tile; see exec/simd.c. */
static unsigned matrix_cell(unsigned lane)
{
   unsigned q = lane >> 3;
   return ((q >> 1) * 4 + (lane >> 1 & 3)) * 8 + (q & 1) * 4 + (lane & 1) * 2;
}

/* A cell depends on a row of a, a column of b and its own cell of c. */
bool agxs_shadow_matrix(struct agxs_group *group, const struct agxs_uop *uop)
{
   uint32_t row = 0, column = 0;
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < 2; e++) {
         unsigned cell = matrix_cell(i) + e;
         row |= (uint32_t)(agxs_shadow_get_lane(group, &uop->src[0], e, i) != 0) << cell / 8;
         column |= (uint32_t)(agxs_shadow_get_lane(group, &uop->src[1], e, i) != 0) << cell % 8;
      }
   }
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < 2; e++) {
         unsigned cell = matrix_cell(i) + e;
         bool own = agxs_shadow_get_lane(group, &uop->src[2], e, i) != 0;
         bool is_open = own || (row >> cell / 8 & 1) || (column >> cell % 8 & 1);
         const struct agxs_source *from = &uop->src[own ? 2 : row >> cell / 8 & 1 ? 0 : 1];
         agxs_shadow_put_lane(group, &uop->dst, e, i, is_open ? ~0u : 0,
                              agxs_shadow_cause(group, from, 0));
      }
   }
   return true;
}
