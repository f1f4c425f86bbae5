/* SPDX-License-Identifier: MIT
 *
 * Check mode: what real hardware leaves undefined becomes an error. A register
 * that an unfinished load will write must not be touched before a wait; at most
 * eight operations may be outstanding in a group; barriers need both groups
 * empty; a discarded source is poisoned. Source: docs/hw/machine.md 2 and 6.
 */
#include "agx/sim/check/check.h"

#include "agx/sim/machine/exec_set.h"
#include "agx/sim/check/shadow.h"

#define MAX_OUTSTANDING 8u

/* The first half of a set, or -1. */
static int first_half(const uint64_t *a, const uint64_t *b)
{
   for (int i = 0; i < 4; i++) {
      if (a[i] & b[i])
         return i * 64 + __builtin_ctzll(a[i] & b[i]);
   }
   return -1;
}

static bool check_pending(struct agxs_group *group, const struct agxs_uop *uop,
                          const struct agxs_uop_regs *regs)
{
   for (unsigned g = 0; g < 2; g++) {
      int read = first_half(regs->reads, group->pending[g]);
      int half = read >= 0 ? read : first_half(regs->writes, group->pending[g]);
      if (half < 0)
         continue;
      agxs_group_fail(group, uop, AGX_FAILED_PRECONDITION,
                      "check: r%d%c is %s while an operation of group %c will write it", half / 2,
                      half & 1 ? 'h' : 'l', read >= 0 ? "read" : "written", 'a' + (char)g);
      return false;
   }
   return true;
}

bool agxs_check_before(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_kernel *kernel = group->kernel;
   uint32_t index = (uint32_t)(uop - kernel->uops);
   uint8_t async_group = kernel->info[index].async_group;
   bool is_barrier = uop->exec_index == AGXS_X_barrier || uop->exec_index == AGXS_X_membar;
   if (is_barrier && group->outstanding[0] + group->outstanding[1]) {
      agxs_group_fail(group, uop, AGX_FAILED_PRECONDITION,
                      "check: %u operations of group a and %u of b are outstanding",
                      group->outstanding[0], group->outstanding[1]);
      return false;
   }
   if (uop->exec_index == AGXS_X_wait) {
      memset(group->pending[uop->group], 0, sizeof(group->pending[0]));
      group->outstanding[uop->group] = 0;
   }
   if (!check_pending(group, uop, &kernel->regs[index]))
      return false;
   if (async_group && group->outstanding[async_group - 1] == MAX_OUTSTANDING) {
      agxs_group_fail(group, uop, AGX_FAILED_PRECONDITION,
                      "check: a ninth operation outstanding in group %c", 'a' + async_group - 1);
      return false;
   }
   return agxs_shadow_before(group, uop);
}

void agxs_check_after(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_kernel *kernel = group->kernel;
   uint32_t index = (uint32_t)(uop - kernel->uops);
   const struct agxs_uop_regs *regs = &kernel->regs[index];
   uint8_t async_group = kernel->info[index].async_group;
   if (group->state == AGXS_GROUP_FAILED)
      return;
   if (async_group) {
      group->outstanding[async_group - 1]++;
      for (unsigned i = 0; i < 4; i++)
         group->pending[async_group - 1][i] |= regs->writes[i];
   }
   agxs_shadow_after(group, uop);
}
