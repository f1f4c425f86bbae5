/* SPDX-License-Identifier: MIT
 *
 * Derivatives in compute kernels: differences between the invocations of a quad, for OpDPdx and its
 * kin, and for samples whose level of detail follows from them (texture.c). The entry point's
 * execution mode says which invocations form a quad. frontend.c has the mode checked, and builtin.c
 * asks for the ids that it brings with it.
 *
 * A quad is lanes 4k to 4k + 3: bit 0 counts along x, bit 1 along y. In linear groups those are
 * four invocations in a row already. In groups of quads, pairs of rows of the workgroup are dealt
 * out to the lanes in blocks of 2x2, so local ids are no longer what the hardware counts:
 *
 *    invocations of two rows   0  1  4  5  8  9        in the order of their lanes
 *                              2  3  6  7 10 11
 *
 * Neighbours exchange values by shuffles. The machine has instructions for derivatives and levels
 * of its own, but no source tells that they work outside of fragment shaders (decision 41).
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"
#include "agx/compiler/spirv/module_impl.h"

/* ---- the execution mode ------------------------------------------------- */

void agxc_spv_read_quad_mode(struct agxc_spv *s, uint32_t mode)
{
   if (s->quad_mode && s->quad_mode != mode)
      agxc_spv_invalid(s, "execution modes DerivativeGroupQuadsKHR and DerivativeGroupLinearKHR "
                          "both: declare one of them");
   s->quad_mode = mode;
}

void agxc_spv_check_quads(struct agxc_spv *s)
{
   const uint32_t *size = s->shader->local_size;
   if (!s->quad_mode)
      return;
   if (s->shader->has_dynamic_local_size)
      agxc_spv_missing(s,
                       "execution mode %s with a workgroup size that launches choose is not "
                       "supported: give the module a fixed size",
                       agxc_spv_name(AGXC_SPV_NAME_MODE, s->quad_mode));
   if (s->quad_mode == SpvExecutionModeDerivativeGroupQuadsNV && (size[0] % 2 || size[1] % 2))
      agxc_spv_invalid(s,
                       "execution mode DerivativeGroupQuadsKHR with a workgroup of %u x %u x %u "
                       "threads: x and y must be multiples of 2",
                       size[0], size[1], size[2]);
   if (size[0] * size[1] * size[2] % 4)
      agxc_spv_invalid(s,
                       "execution mode DerivativeGroupLinearKHR with a workgroup of %u x %u x %u "
                       "threads: their number must be a multiple of 4",
                       size[0], size[1], size[2]);
}

static void need_quads(struct agxc_spv *s)
{
   if (!s->quad_mode)
      agxc_spv_invalid(s, "derivatives, which an implicit level of detail needs too, without "
                          "execution mode DerivativeGroupQuadsKHR or DerivativeGroupLinearKHR: "
                          "declare one, or give Lod or Grad");
}

/* ---- ids of 2x2 blocks -------------------------------------------------- */

static struct agxc_ref bit_of(struct agxc_spv *s, struct agxc_ref value, uint32_t bit)
{
   if (bit)
      value = agxc_spv_build2(s, AGXC_OP_USHR, value, agxc_spv_u32(bit));
   return agxc_spv_build2(s, AGXC_OP_IAND, value, agxc_spv_u32(1));
}

static struct agxc_ref hardware_id(struct agxc_spv *s, uint32_t axis)
{
   return agxc_build_sysval(&s->b, (enum agxc_sysval)(AGXC_SYSVAL_LOCAL_ID + axis));
}

/* Where the lane stands among those of its pair of rows. */
static struct agxc_ref place_in_pair(struct agxc_spv *s)
{
   struct agxc_ref row = bit_of(s, hardware_id(s, 1), 0);
   row = agxc_spv_build2(s, AGXC_OP_IMUL, row, agxc_spv_u32(s->shader->local_size[0]));
   return agxc_spv_build2(s, AGXC_OP_IADD, hardware_id(s, 0), row);
}

static struct agxc_ref local_id(struct agxc_spv *s, uint32_t axis)
{
   if (axis == 2)
      return hardware_id(s, axis);
   struct agxc_ref place = place_in_pair(s), bit = bit_of(s, place, axis);
   struct agxc_ref block =
      axis == 0 ? agxc_spv_build2(s, AGXC_OP_USHR, place, agxc_spv_u32(1)) : hardware_id(s, 1);
   block = agxc_spv_build2(s, AGXC_OP_IAND, block, agxc_spv_u32(~1u));
   return agxc_spv_build2(s, AGXC_OP_IOR, block, bit);
}

static struct agxc_ref local_index(struct agxc_spv *s)
{
   const uint32_t *size = s->shader->local_size;
   struct agxc_ref index = local_id(s, 2);
   for (uint32_t axis = 2; axis-- > 0;) {
      index = agxc_spv_build2(s, AGXC_OP_IMUL, index, agxc_spv_u32(size[axis]));
      index = agxc_spv_build2(s, AGXC_OP_IADD, index, local_id(s, axis));
   }
   return index;
}

struct agxc_ref agxc_spv_quad_sysval(struct agxc_spv *s, uint32_t sysval)
{
   if (s->quad_mode == SpvExecutionModeDerivativeGroupQuadsNV) {
      if (sysval == AGXC_SYSVAL_LOCAL_INDEX)
         return local_index(s);
      if (sysval - AGXC_SYSVAL_LOCAL_ID < 3)
         return local_id(s, sysval - AGXC_SYSVAL_LOCAL_ID);
      uint32_t axis = sysval - AGXC_SYSVAL_GLOBAL_ID;
      if (axis < 2) {
         struct agxc_ref first =
            agxc_build_sysval(&s->b, (enum agxc_sysval)(AGXC_SYSVAL_WORKGROUP_ID + axis));
         first = agxc_spv_build2(s, AGXC_OP_IMUL, first, agxc_spv_u32(s->shader->local_size[axis]));
         return agxc_spv_build2(s, AGXC_OP_IADD, first, local_id(s, axis));
      }
   }
   return agxc_build_sysval(&s->b, (enum agxc_sysval)sysval);
}

/* ---- derivatives -------------------------------------------------------- */

static struct agxc_ref other_of(struct agxc_spv *s, struct agxc_ref value, uint32_t axis)
{
   need_quads(s);
   return agxc_build_shuffle(&s->b, value, agxc_spv_u32(1u << axis), AGXC_SHUFFLE_XOR);
}

struct agxc_ref agxc_spv_quad_step(struct agxc_spv *s, struct agxc_ref value, uint32_t axis)
{
   bool was_precise = s->is_precise;
   struct agxc_ref other = other_of(s, value, axis);
   s->is_precise = true; /* a product is rounded in both lanes, so that equal ones cancel */
   struct agxc_ref step = agxc_spv_build2(s, AGXC_OP_FSUB, other, value);
   s->is_precise = was_precise;
   return step;
}

/* 1 in the left or upper lanes of quads, -1 in the others. */
static struct agxc_ref direction(struct agxc_spv *s, uint32_t axis, uint32_t bits)
{
   struct agxc_ref bit = bit_of(s, agxc_build_sysval(&s->b, AGXC_SYSVAL_SUBGROUP_LANE), axis);
   struct agxc_ref sign = agxc_spv_build2(s, AGXC_OP_ISHL, bit, agxc_spv_u32(bits - 1));
   uint32_t one = bits == 16 ? 0x3c00 : 0x3f800000;
   return agxc_spv_resize(s, agxc_spv_build2(s, AGXC_OP_IOR, sign, agxc_spv_u32(one)), bits, false);
}

/* The right lane's value minus the left one's, the lower minus the upper. Both products are exact,
 * and equal values give +0 in all lanes. */
static struct agxc_ref derivative(struct agxc_spv *s, struct agxc_ref value, uint32_t axis)
{
   bool was_precise = s->is_precise;
   struct agxc_ref other = other_of(s, value, axis), way = direction(s, axis, value.bits);
   s->is_precise = true;
   struct agxc_ref own = agxc_spv_build1(s, AGXC_OP_FNEG, value.bits, value);
   own = agxc_spv_build2(s, AGXC_OP_FMUL, own, way);
   struct agxc_ref result = agxc_spv_build3(s, AGXC_OP_FFMA, value.bits, other, way, own);
   s->is_precise = was_precise;
   return result;
}

static struct agxc_ref width(struct agxc_spv *s, struct agxc_ref value)
{
   struct agxc_ref steps[2];
   for (uint32_t axis = 0; axis < 2; axis++) {
      steps[axis] = agxc_spv_quad_step(s, value, axis);
      steps[axis] = agxc_spv_build1(s, AGXC_OP_FABS, value.bits, steps[axis]);
   }
   return agxc_spv_build2(s, AGXC_OP_FADD, steps[0], steps[1]);
}

void agxc_spv_op_derivative(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_type *type = agxc_spv_result_type(s, in, AGXC_SPV_FLOAT);
   const struct agxc_ref *refs = agxc_spv_value_like(s, agxc_spv_operand(s, in, 0), type);
   uint32_t variant = agxc_spv_op_find(in->opcode)->variant;
   if (type->kind == AGXC_SPV_COOPERATIVE)
      agxc_spv_invalid(s, "result type %u", type->id);
   if (agxc_spv_component(type)->bits == 64)
      agxc_spv_missing(s, "derivative of 64 bits is not supported: use 16 or 32");
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] = variant == AGXC_SPV_QUAD_WIDTH ? width(s, refs[i]) : derivative(s, refs[i], variant);
   agxc_spv_define(s, in, out);
}
