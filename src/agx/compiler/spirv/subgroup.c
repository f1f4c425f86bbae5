/* SPDX-License-Identifier: MIT
 *
 * Operations between the invocations of a subgroup (GroupNonUniform*, and what the older
 * extensions SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote have of them), component by
 * component. A ballot's 32 bits are the first word of its four; the others are 0.
 *
 * What reads other lanes, or depends on which lanes run, is AGXC_CROSS_LANE in the IR: it may be
 * removed, but never leaves its block.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"

/* ---- operands ---------------------------------------------------------- */

static void check_scope(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t scope = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 0));
   if (scope != SpvScopeSubgroup)
      agxc_spv_missing(s, "execution scope %u: Subgroup (3) only", scope);
}

/* Operand i of the result's type: numbers or booleans. */
static const struct agxc_ref *like_result(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                          uint32_t i, struct agxc_spv_type **out_type)
{
   *out_type = agxc_spv_type_of(s, in->type_id);
   if (!agxc_spv_component(*out_type))
      agxc_spv_invalid(s, "result type %u", in->type_id);
   return agxc_spv_value_like(s, agxc_spv_operand(s, in, i), *out_type);
}

/* A lane number, delta or mask, in 32 bits. */
static struct agxc_ref number(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i)
{
   struct agxc_ref ref = agxc_spv_scalar(s, agxc_spv_operand(s, in, i), AGXC_SPV_INT);
   return agxc_spv_resize(s, ref, 32, false);
}

static struct agxc_ref lane_number(struct agxc_spv *s)
{
   return agxc_build_sysval(&s->b, AGXC_SYSVAL_SUBGROUP_LANE);
}

/* The word of a ballot that counts. */
static struct agxc_ref ballot_word(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i)
{
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, i), &type);
   if (type->kind != AGXC_SPV_VECTOR || type->count != 4 || type->elem->kind != AGXC_SPV_INT ||
       type->elem->bits != 32)
      agxc_spv_invalid(s, "ballot of type %u", type->id);
   return refs[0];
}

/* ---- building ---------------------------------------------------------- */

/* Bit `at` of the ballot. */
static struct agxc_ref test_bit(struct agxc_spv *s, struct agxc_ref word, struct agxc_ref at)
{
   struct agxc_ref bit =
      agxc_spv_build2(s, AGXC_OP_IAND, agxc_spv_build2(s, AGXC_OP_USHR, word, at), agxc_spv_u32(1));
   return agxc_spv_build2(s, AGXC_OP_INE, bit, agxc_spv_u32(0));
}

struct agxc_ref agxc_spv_subgroup_mask(struct agxc_spv *s, uint32_t builtin)
{
   struct agxc_ref one = agxc_spv_u32(1),
                   eq = agxc_spv_build2(s, AGXC_OP_ISHL, one, lane_number(s));
   switch (builtin) {
   case SpvBuiltInSubgroupEqMask:
      return eq;
   case SpvBuiltInSubgroupGeMask:
      return agxc_spv_build2(s, AGXC_OP_ISUB, agxc_spv_u32(0), eq);
   case SpvBuiltInSubgroupGtMask:
      return agxc_spv_build2(s, AGXC_OP_ISUB, agxc_spv_u32(0),
                             agxc_spv_build2(s, AGXC_OP_ISHL, eq, one));
   case SpvBuiltInSubgroupLeMask:
      return agxc_spv_build2(s, AGXC_OP_ISUB, agxc_spv_build2(s, AGXC_OP_ISHL, eq, one), one);
   default:
      return agxc_spv_build2(s, AGXC_OP_ISUB, eq, one);
   }
}

/* ---- votes ------------------------------------------------------------- */

void agxc_spv_op_elect(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   check_scope(s, in);
   struct agxc_ref rank = agxc_build_active_rank(&s->b);
   agxc_spv_define_scalar(s, in, AGXC_SPV_BOOL,
                          agxc_spv_build2(s, AGXC_OP_IEQ, rank, agxc_spv_u32(0)));
}

/* The KHR forms lack the scope. */
static bool is_old(const struct agxc_spv_instr *in)
{
   return in->opcode >= SpvOpSubgroupBallotKHR && in->opcode <= SpvOpSubgroupReadInvocationKHR &&
          in->opcode != SpvOpGroupNonUniformRotateKHR;
}

/* Skips the scope, where there is one; returns the operand behind it. */
static uint32_t skip_scope(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   if (is_old(in))
      return 0;
   check_scope(s, in);
   return 1;
}

void agxc_spv_op_vote(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t first = skip_scope(s, in);
   struct agxc_ref x = agxc_spv_scalar(s, agxc_spv_operand(s, in, first), AGXC_SPV_BOOL);
   bool is_any = in->opcode == SpvOpGroupNonUniformAny || in->opcode == SpvOpSubgroupAnyKHR;
   struct agxc_ref votes =
      agxc_build_ballot(&s->b, is_any ? x : agxc_spv_build1(s, AGXC_OP_INOT, 1, x));
   agxc_spv_define_scalar(
      s, in, AGXC_SPV_BOOL,
      agxc_spv_build2(s, is_any ? AGXC_OP_INE : AGXC_OP_IEQ, votes, agxc_spv_u32(0)));
}

void agxc_spv_op_all_equal(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t first = skip_scope(s, in);
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, first), &type);
   const struct agxc_spv_type *component = agxc_spv_component(type);
   if (!component)
      agxc_spv_invalid(s, "operand of type %u", type->id);
   enum agxc_op unequal = component->kind == AGXC_SPV_FLOAT  ? AGXC_OP_FNE
                          : component->kind == AGXC_SPV_BOOL ? AGXC_OP_IXOR
                                                             : AGXC_OP_INE;
   struct agxc_ref differs = agxc_imm(0, 1);
   for (uint32_t i = 0; i < type->scalars; i++) {
      struct agxc_ref other =
         agxc_spv_build2(s, unequal, refs[i], agxc_build_broadcast_first(&s->b, refs[i]));
      differs = i == 0 ? other : agxc_spv_build2(s, AGXC_OP_IOR, differs, other);
   }
   struct agxc_ref votes = agxc_build_ballot(&s->b, differs);
   agxc_spv_define_scalar(s, in, AGXC_SPV_BOOL,
                          agxc_spv_build2(s, AGXC_OP_IEQ, votes, agxc_spv_u32(0)));
}

/* ---- ballots ----------------------------------------------------------- */

void agxc_spv_op_ballot(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t first = skip_scope(s, in);
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   struct agxc_ref x = agxc_spv_scalar(s, agxc_spv_operand(s, in, first), AGXC_SPV_BOOL);
   if (type->kind != AGXC_SPV_VECTOR || type->count != 4 || type->elem->kind != AGXC_SPV_INT ||
       type->elem->bits != 32)
      agxc_spv_invalid(s, "result type %u", type->id);
   struct agxc_ref *out = agxc_spv_refs(s, 4);
   out[0] = agxc_build_ballot(&s->b, x);
   out[1] = out[2] = out[3] = agxc_spv_u32(0);
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_inverse_ballot(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   check_scope(s, in);
   struct agxc_ref lane = lane_number(s);
   agxc_spv_define_scalar(s, in, AGXC_SPV_BOOL, test_bit(s, ballot_word(s, in, 1), lane));
}

void agxc_spv_op_ballot_bit(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   check_scope(s, in);
   struct agxc_ref bit = number(s, in, 2);
   agxc_spv_define_scalar(s, in, AGXC_SPV_BOOL, test_bit(s, ballot_word(s, in, 1), bit));
}

void agxc_spv_op_ballot_count(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   check_scope(s, in);
   uint32_t operation = agxc_spv_operand(s, in, 1);
   struct agxc_ref word = ballot_word(s, in, 2);
   if (operation > SpvGroupOperationExclusiveScan)
      agxc_spv_invalid(s,
                       "group operation %u is not supported: use Reduce (0) to ClusteredReduce (3)",
                       operation);
   if (operation != SpvGroupOperationReduce) {
      uint32_t mask = operation == SpvGroupOperationInclusiveScan ? SpvBuiltInSubgroupLeMask
                                                                  : SpvBuiltInSubgroupLtMask;
      word = agxc_spv_build2(s, AGXC_OP_IAND, word, agxc_spv_subgroup_mask(s, mask));
   }
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, agxc_spv_build1(s, AGXC_OP_BITCOUNT, 32, word));
}

void agxc_spv_op_ballot_find(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   check_scope(s, in);
   struct agxc_ref word = ballot_word(s, in, 1);
   if (in->opcode == SpvOpGroupNonUniformBallotFindLSB)
      word = agxc_spv_build2(s, AGXC_OP_IAND, word,
                             agxc_spv_build2(s, AGXC_OP_ISUB, agxc_spv_u32(0), word));
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, agxc_spv_build1(s, AGXC_OP_FIND_UMSB, 32, word));
}

/* ---- values of other lanes --------------------------------------------- */

void agxc_spv_op_broadcast(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t first = skip_scope(s, in);
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = like_result(s, in, first, &type);
   bool names_lane =
      in->opcode == SpvOpGroupNonUniformBroadcast || in->opcode == SpvOpSubgroupReadInvocationKHR;
   struct agxc_ref lane = names_lane ? number(s, in, first + 1) : agxc_none();
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] = names_lane ? agxc_build_broadcast(&s->b, refs[i], lane)
                          : agxc_build_broadcast_first(&s->b, refs[i]);
   agxc_spv_define(s, in, out);
}

/* Swaps inside a quad: horizontal, vertical, diagonal. Source: docs/hw/machine.md, section 1. */
static struct agxc_ref swap_mask(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t direction = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2));
   if (direction > 2)
      agxc_spv_invalid(s, "direction %u", direction);
   return agxc_spv_u32(direction + 1);
}

void agxc_spv_op_group_shuffle(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   check_scope(s, in);
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = like_result(s, in, 1, &type);
   struct agxc_ref operand =
      in->opcode == SpvOpGroupNonUniformQuadSwap ? swap_mask(s, in) : number(s, in, 2);
   uint32_t mode = agxc_spv_op_find(in->opcode)->variant;
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] = agxc_build_shuffle(&s->b, refs[i], operand, mode);
   agxc_spv_define(s, in, out);
}

static uint32_t cluster_size(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i)
{
   uint32_t size = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, i));
   if (size == 0 || (size & (size - 1)))
      agxc_spv_invalid(s, "cluster of %u", size);
   return AGX_MIN(size, (uint32_t)AGX_SIMD_LANES);
}

/* A rotation inside clusters by a constant: what stays inside comes from above, the rest
 * from below. */
static struct agxc_ref rotate_by_constant(struct agxc_spv *s, struct agxc_ref value, uint32_t delta,
                                          uint32_t size)
{
   struct agxc_ref at = agxc_spv_build2(s, AGXC_OP_IAND, lane_number(s), agxc_spv_u32(size - 1));
   struct agxc_ref below = agxc_spv_build2(s, AGXC_OP_ULT, at, agxc_spv_u32(size - delta));
   struct agxc_ref down = agxc_build_shuffle(&s->b, value, agxc_spv_u32(delta), AGXC_SHUFFLE_DOWN);
   struct agxc_ref up =
      agxc_build_shuffle(&s->b, value, agxc_spv_u32(size - delta), AGXC_SHUFFLE_UP);
   return agxc_spv_select(s, below, down, up);
}

static struct agxc_ref rotate(struct agxc_spv *s, struct agxc_ref value, struct agxc_ref delta,
                              uint32_t size)
{
   struct agxc_ref mask = agxc_spv_u32(size - 1);
   if (size == AGX_SIMD_LANES) {
      struct agxc_ref back = agxc_spv_build2(s, AGXC_OP_ISUB, agxc_spv_u32(0), delta);
      return agxc_build_shuffle(&s->b, value, agxc_spv_build2(s, AGXC_OP_IAND, back, mask),
                                AGXC_SHUFFLE_ROTATE);
   }
   delta = agxc_spv_build2(s, AGXC_OP_IAND, delta, mask);
   if (delta.kind == AGXC_IMM)
      return delta.imm == 0 ? value : rotate_by_constant(s, value, (uint32_t)delta.imm, size);
   struct agxc_ref lane = lane_number(s);
   struct agxc_ref at =
      agxc_spv_build2(s, AGXC_OP_IAND, agxc_spv_build2(s, AGXC_OP_IADD, lane, delta), mask);
   struct agxc_ref base = agxc_spv_build2(s, AGXC_OP_IAND, lane, agxc_spv_u32(~(size - 1)));
   return agxc_build_shuffle(&s->b, value, agxc_spv_build2(s, AGXC_OP_IOR, base, at),
                             AGXC_SHUFFLE_INDEX);
}

void agxc_spv_op_rotate(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   check_scope(s, in);
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = like_result(s, in, 1, &type);
   struct agxc_ref delta = number(s, in, 2);
   uint32_t size = agxc_spv_operand_count(in) > 3 ? cluster_size(s, in, 3) : AGX_SIMD_LANES;
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] = rotate(s, refs[i], delta, size);
   agxc_spv_define(s, in, out);
}

/* ---- reductions and scans ---------------------------------------------- */

void agxc_spv_op_group_arithmetic(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   check_scope(s, in);
   uint32_t operation = agxc_spv_operand(s, in, 1);
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = like_result(s, in, 2, &type);
   const struct agxc_spv_op *row = agxc_spv_op_find(in->opcode);
   if (agxc_spv_component(type)->kind != row->alu.takes)
      agxc_spv_invalid(s, "result type %u has another kind of component", type->id);
   bool scans =
      operation == SpvGroupOperationInclusiveScan || operation == SpvGroupOperationExclusiveScan;
   uint32_t with = row->variant, lanes = AGX_SIMD_LANES;
   if (operation == SpvGroupOperationClusteredReduce)
      lanes = cluster_size(s, in, 3);
   else if (!scans && operation != SpvGroupOperationReduce)
      agxc_spv_missing(s,
                       "group operation %u is not supported: use Reduce (0) to ClusteredReduce (3)",
                       operation);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] =
         scans ? agxc_build_scan(&s->b, refs[i], with, operation == SpvGroupOperationInclusiveScan)
               : agxc_build_reduce(&s->b, refs[i], with, lanes);
   agxc_spv_define(s, in, out);
}
