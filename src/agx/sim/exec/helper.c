/* SPDX-License-Identifier: MIT
 *
 * What only a helper program executes: doorbells, by which it waits for operations and answers
 * them, and map and unmap, which install blocks of the stack of one SIMD-group and take them
 * back. launch/helper.c asks for the operations and looks at what came of them.
 * Source: docs/hw/machine.md 16.
 */
#include "agx/sim/exec/elements_impl.h"
#include "agx/sim/exec/functions_impl.h"
#include "agx/sim/machine/lanes.h"

static const char *op_name(const struct agxs_helper_talk *talk)
{
   switch (talk->op) {
   case AGXS_HELPER_ALLOC:
      return "the allocation of a stack";
   case AGXS_HELPER_FREE:
      return "the freeing of a stack";
   default:
      return "the end of the command";
   }
}

static bool is_open(const struct agxs_helper_talk *talk)
{
   return talk->op <= AGXS_HELPER_FREE && talk->answer == AGXS_DOORBELL_NONE;
}

static const struct agxs_uop *ask_next(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_helper_talk *talk = group->talk;
   if (is_open(talk))
      return agxs_group_fail(group, uop, AGX_DATA_LOSS,
                             "asks for the next operation without an answer (doorbell 48 or 49) to "
                             "%s",
                             op_name(talk));
   if (talk->op == AGXS_HELPER_END)
      return agxs_group_fail(group, uop, AGX_DATA_LOSS,
                             "asks for another operation after operation 15, where it has to stop");
   group->state = AGXS_GROUP_AT_DOORBELL;
   group->next = uop + 1;
   return NULL;
}

const struct agxs_uop *AGXS_EXEC(doorbell)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_helper_talk *talk = group->talk;
   if (uop->imm == AGXS_DOORBELL_NEXT)
      return ask_next(group, uop);
   if (uop->imm != AGXS_DOORBELL_ACK && uop->imm != AGXS_DOORBELL_NACK)
      return agxs_group_fail(group, uop, AGX_UNIMPLEMENTED,
                             "only doorbells 32 (next), 48 (done) and 49 (refused) are known");
   if (!is_open(talk))
      return agxs_group_fail(group, uop, AGX_DATA_LOSS, "answers where no operation waits for it");
   talk->answer = (uint32_t)uop->imm;
   return uop + 1;
}

/* Whether the helper program may map or unmap the block now; else the group has failed. */
static bool may_touch(struct agxs_group *group, const struct agxs_uop *uop, enum agxs_helper_op op)
{
   const struct agxs_helper_talk *talk = group->talk;
   if (uop->imm >= AGXS_STACK_BLOCKS)
      agxs_group_fail(group, uop, AGX_DATA_LOSS, "block %lld; a stack has blocks 0 to 3",
                      (long long)uop->imm);
   else if (!is_open(talk) || talk->op != op)
      agxs_group_fail(group, uop, AGX_DATA_LOSS,
                      "this belongs to %s, which is not the operation that waits for an answer",
                      op == AGXS_HELPER_ALLOC ? "an allocation" : "the freeing of a stack");
   return group->state != AGXS_GROUP_FAILED;
}

const struct agxs_uop *AGXS_EXEC(map)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row value;
   if (!group->active)
      return uop + 1;
   if (!may_touch(group, uop, AGXS_HELPER_ALLOC))
      return NULL;
   agxs_get_u32(group, &uop->src[0], &value);
   group->talk->blocks[uop->imm] = value.lane[__builtin_ctz(group->active)];
   group->talk->touched |= 1u << uop->imm;
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(unmap)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row value;
   if (!group->active)
      return uop + 1;
   if (!may_touch(group, uop, AGXS_HELPER_FREE))
      return NULL;
   AGXS_FOR_LANES (i)
      value.lane[i] = group->talk->blocks[uop->imm];
   agxs_put_u32(group, &uop->dst, &value);
   group->talk->touched |= 1u << uop->imm;
   return uop + 1;
}
