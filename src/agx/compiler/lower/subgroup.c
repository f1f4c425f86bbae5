/* SPDX-License-Identifier: MIT
 *
 * Operations between lanes become what the machine has. Before: any width, any operand. After: no
 * BROADCAST; SHUFFLE of 16 or 32 bits whose operand is an immediate, a uniform, or the same in all
 * lanes of each quad, with no lane of the quad away; REDUCE over 4 or 32 lanes and exclusive SCAN
 * over 32, with an operation that the machine combines with.
 *
 * Why quads matter: a shuffle takes the low two bits of its operand from the OR over the four lanes
 * of the quad it reads from, and lanes that are away take part in that with whatever their register
 * holds (docs/hw/semantics.md 11). So where lanes may be away, an operand in a register can't be
 * trusted, and values go through threadgroup memory.
 *
 * The pass stands in front of lower_narrow and lower_int64, which lower the conversions and the
 * halves of 64-bit values that it leaves.
 */
#include "agx/compiler/lower/subgroup_impl.h"

#include "agx/compiler/lower/lower.h"

/* ---- shuffles ---------------------------------------------------------- */

/* Bit `at` of the ballot of value. */
static struct agxc_ref shuffle_boolean(struct agxc_subgroup *l, struct agxc_ref value,
                                       struct agxc_ref at)
{
   struct agxc_ref votes = agxc_build_ballot(&l->b, value);
   struct agxc_ref bit = agxc_build_iand(&l->b, agxc_build_ushr(&l->b, votes, at), agxc_u32(1));
   return agxc_build_ine(&l->b, bit, agxc_u32(0));
}

/* The lane that a shuffle reads from; anything where that is undefined. */
static struct agxc_ref lane_read(struct agxc_subgroup *l, struct agxc_ref operand,
                                 enum agxc_shuffle mode)
{
   static const uint8_t ops[] = {
      [AGXC_SHUFFLE_XOR] = AGXC_OP_IXOR,
      [AGXC_SHUFFLE_UP] = AGXC_OP_ISUB,
      [AGXC_SHUFFLE_DOWN] = AGXC_OP_IADD,
      [AGXC_SHUFFLE_ROTATE] = AGXC_OP_ISUB,
   };
   struct agxc_ref at = operand;
   if (mode == AGXC_SHUFFLE_QUAD) {
      struct agxc_ref lane = agxc_build_sysval(&l->b, AGXC_SYSVAL_SUBGROUP_LANE);
      struct agxc_ref quad = agxc_build_iand(&l->b, lane, agxc_u32(28));
      at = agxc_build_iand(&l->b, operand, agxc_u32(3));
      return agxc_build_ior(&l->b, quad, at);
   }
   if (mode != AGXC_SHUFFLE_INDEX)
      at = agxc_build2(&l->b, (enum agxc_op)ops[mode], 32,
                       agxc_build_sysval(&l->b, AGXC_SYSVAL_SUBGROUP_LANE), operand);
   return at;
}

/* Any lane, where no lane of a quad is away: one shuffle for each lane that a quad may be
 * read at, of which each lane takes the one it asked for. */
static struct agxc_ref shuffle_by_quads(struct agxc_subgroup *l, struct agxc_ref value,
                                        struct agxc_ref at)
{
   struct agxc_ref quad = agxc_build_iand(&l->b, at, agxc_u32(28));
   struct agxc_ref result = agxc_none();
   for (uint32_t i = 0; i < 4; i++) {
      struct agxc_ref from = i ? agxc_build_iadd(&l->b, quad, agxc_u32(i)) : quad;
      struct agxc_ref got = agxc_build_shuffle(&l->b, value, from, AGXC_SHUFFLE_INDEX);
      result = i ? agxc_build_select(&l->b, agxc_build_ieq(&l->b, at, from), got, result) : got;
   }
   return result;
}

static void take_slot(struct agxc_subgroup *l)
{
   struct agxc_shader *shader = l->shader;
   uint32_t threads = agxc_threads_of(shader);
   if (shader->has_dynamic_local_size)
      threads = AGX_MAX_WORKGROUP_THREADS;
   l->slot_B = (uint32_t)agx_align_up(shader->shared_B, 4);
   shader->shared_B = l->slot_B + 4 * (uint32_t)agx_align_up(threads, AGX_SIMD_LANES);
   if (shader->shared_B > AGX_MAX_SHARED_BYTES)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED,
                "%s: %u bytes of workgroup memory with those for shuffles in divergent code, at "
                "most %u",
                shader->name, shader->shared_B, AGX_MAX_SHARED_BYTES);
}

/* Any lane, whichever lanes run: each leaves its value in threadgroup memory. A SIMD-group
 * runs in step and its accesses are done in order, so nothing need be waited for. */
static struct agxc_ref exchange(struct agxc_subgroup *l, struct agxc_ref value, struct agxc_ref at)
{
   if (l->slot_B == AGXC_NO_SLOT)
      take_slot(l);
   struct agxc_ref two = agxc_u32(2), slot = agxc_u32(l->slot_B);
   struct agxc_ref own = agxc_build_sysval(&l->b, AGXC_SYSVAL_LOCAL_INDEX);
   struct agxc_ref first = agxc_build_iand(&l->b, own, agxc_u32(~31u));
   at = agxc_build_iand(&l->b, at, agxc_u32(31));
   struct agxc_ref other = agxc_build_ior(&l->b, first, at);
   struct agxc_ref to = agxc_build_iadd(&l->b, agxc_build_ishl(&l->b, own, two), slot);
   agxc_build_store_shared(&l->b, to, value);
   struct agxc_ref from = agxc_build_iadd(&l->b, agxc_build_ishl(&l->b, other, two), slot);
   return agxc_build_load_shared(&l->b, 32, 1, from);
}

/* Through a wider value, of which the low bits count. */
static struct agxc_ref shuffle_wider(struct agxc_subgroup *l, struct agxc_ref value,
                                     struct agxc_ref operand, enum agxc_shuffle mode)
{
   struct agxc_ref wide = agxc_build_zext(&l->b, 32, value);
   wide = agxc_sg_shuffle(l, wide, operand, mode);
   if (value.bits == 1)
      return agxc_build_ine(&l->b, wide, agxc_u32(0));
   return agxc_build_trunc(&l->b, value.bits, wide);
}

/* In lanes that are away too. */
static bool is_same_everywhere(const struct agxc_ref *operand)
{
   return operand->kind == AGXC_IMM || operand->kind == AGXC_UNIFORM;
}

/* In all lanes that run. */
static bool is_same_in_lanes(const struct agxc_subgroup *l, const struct agxc_ref *ref)
{
   if (is_same_everywhere(ref))
      return true;
   return ref->kind == AGXC_VALUE && ref->value->id < l->value_count &&
          agxc_scope_of(l->divergence, ref, l->block) <= AGXC_SCOPE_SUBGROUP;
}

static uint32_t last_operand(enum agxc_shuffle mode)
{
   return mode == AGXC_SHUFFLE_QUAD ? 3 : AGX_SIMD_LANES - 1;
}

struct agxc_ref agxc_sg_shuffle(struct agxc_subgroup *l, struct agxc_ref value,
                                struct agxc_ref operand, enum agxc_shuffle mode)
{
   /* The amount of a rotation is the same in all lanes by SPIR-V's rules. */
   bool direct = is_same_everywhere(&operand) ||
                 (l->whole && (mode == AGXC_SHUFFLE_ROTATE || is_same_in_lanes(l, &operand)));
   if (is_same_in_lanes(l, &value))
      return value;
   if (value.bits == 64) {
      struct agxc_ref half[2];
      agxc_sg_unpack(l, value, half);
      for (unsigned i = 0; i < 2; i++)
         half[i] = agxc_sg_shuffle(l, half[i], operand, mode);
      return agxc_build_pack64(&l->b, half[0], half[1]);
   }
   if (value.bits == 1 && !direct)
      return shuffle_boolean(l, value, lane_read(l, operand, mode));
   if (value.bits < 16 || (value.bits < 32 && !direct && !l->whole))
      return shuffle_wider(l, value, operand, mode);
   if (direct) {
      uint32_t limit = last_operand(mode);
      if (operand.kind == AGXC_IMM && operand.imm > limit &&
          (mode == AGXC_SHUFFLE_UP || mode == AGXC_SHUFFLE_DOWN))
         return value; /* undefined: there is no such lane */
      if (operand.kind == AGXC_IMM)
         operand = agxc_u32((uint32_t)operand.imm & limit);
      return agxc_build_shuffle(&l->b, value, operand, mode);
   }
   struct agxc_ref at = lane_read(l, operand, mode);
   return l->whole ? shuffle_by_quads(l, value, at) : exchange(l, value, at);
}

/* ---- broadcasts -------------------------------------------------------- */

/* The value of the one lane that `chosen` holds for. */
static struct agxc_ref value_where(struct agxc_subgroup *l, struct agxc_ref value,
                                   struct agxc_ref chosen)
{
   if (value.bits == 1) {
      struct agxc_ref votes = agxc_build_ballot(&l->b, agxc_build_iand(&l->b, value, chosen));
      return agxc_build_ine(&l->b, votes, agxc_u32(0));
   }
   struct agxc_ref zero = agxc_imm(0, value.bits);
   return agxc_sg_reduce(l, agxc_build_select(&l->b, chosen, value, zero), AGX_ISA_SUBOP_OR,
                         AGX_SIMD_LANES);
}

static struct agxc_ref broadcast(struct agxc_subgroup *l, struct agxc_ref value,
                                 struct agxc_ref lane)
{
   if (is_same_in_lanes(l, &value))
      return value;
   if (is_same_everywhere(&lane))
      return agxc_sg_shuffle(l, value, lane, AGXC_SHUFFLE_INDEX);
   if (!l->whole || value.bits < 16) {
      struct agxc_ref own = agxc_build_sysval(&l->b, AGXC_SYSVAL_SUBGROUP_LANE);
      return value_where(l, value, agxc_build_ieq(&l->b, own, lane));
   }
   if (value.bits == 64) {
      struct agxc_ref half[2];
      agxc_sg_unpack(l, value, half);
      half[1] = broadcast(l, half[1], lane);
      return agxc_build_pack64(&l->b, broadcast(l, half[0], lane), half[1]);
   }
   return agxc_build_shuffle(&l->b, value, lane, AGXC_SHUFFLE_INDEX);
}

static struct agxc_ref broadcast_first(struct agxc_subgroup *l, struct agxc_ref value)
{
   if (is_same_in_lanes(l, &value))
      return value;
   /* Where no lane is away, lane 0 runs. */
   if (l->undivided)
      return agxc_sg_shuffle(l, value, agxc_u32(0), AGXC_SHUFFLE_INDEX);
   return value_where(l, value, agxc_build_ieq(&l->b, agxc_build_active_rank(&l->b), agxc_u32(0)));
}

/* ---- the pass ---------------------------------------------------------- */

/* Nothing is to be done. */
static bool is_lowered(const struct agxc_subgroup *l, const struct agxc_instr *instr)
{
   if (instr->op == AGXC_OP_REDUCE || instr->op == AGXC_OP_SCAN)
      return agxc_sg_is_native(instr);
   if (instr->op != AGXC_OP_SHUFFLE)
      return false;
   const struct agxc_ref *value = agxc_src_value(instr), *operand = agxc_src_operand(instr);
   return (value->bits == 16 || value->bits == 32) && operand->kind == AGXC_IMM &&
          operand->imm <= last_operand(agxc_imm_shuffle(instr)) && !is_same_in_lanes(l, value);
}

static bool lower(struct agxc_subgroup *l, struct agxc_instr *instr)
{
   if (!agxc_has_src(instr, AGXC_SRC_VALUE) || is_lowered(l, instr))
      return false;
   struct agxc_ref value = *agxc_src_value(instr), result;
   l->b = agxc_before(l->shader, instr);
   switch (instr->op) {
   case AGXC_OP_SHUFFLE:
      result = agxc_sg_shuffle(l, value, *agxc_src_operand(instr), agxc_imm_shuffle(instr));
      break;
   case AGXC_OP_BROADCAST:
      result = broadcast(l, value, *agxc_src_lane(instr));
      break;
   case AGXC_OP_BROADCAST_FIRST:
      result = broadcast_first(l, value);
      break;
   case AGXC_OP_REDUCE:
      result = agxc_sg_reduce(l, value, agxc_imm_with(instr), agxc_imm_lanes(instr));
      break;
   case AGXC_OP_SCAN:
      result = agxc_sg_scan(l, value, agxc_imm_with(instr), agxc_imm_inclusive(instr));
      break;
   default:
      return false;
   }
   agxc_become_mov(l->shader, instr, result);
   return true;
}

static bool has_work(const struct agxc_shader *shader)
{
   agxc_foreach_instr_of (instr, shader)
      if (agxc_flags(instr) & AGXC_CROSS_LANE)
         return true;
   return false;
}

bool agxc_lower_subgroup(struct agxc_shader *shader)
{
   struct agxc_subgroup l = {.shader = shader, .slot_B = AGXC_NO_SLOT};
   uint32_t threads = agxc_threads_of(shader);
   bool progress = false;
   agxc_index(shader);
   if (!has_work(shader))
      return false;
   l.divergence = agxc_divergence(shader);
   l.value_count = shader->value_count;
   agxc_foreach_block (block, shader) {
      l.block = block;
      l.undivided = l.divergence->block[block->index] <= AGXC_SCOPE_SUBGROUP;
      l.whole = l.undivided && threads % 4 == 0 && !shader->has_dynamic_local_size;
      l.full = l.undivided && threads % AGX_SIMD_LANES == 0 && !shader->has_dynamic_local_size;
      agxc_foreach_instr_safe (instr, block)
         progress |= lower(&l, instr);
   }
   return progress;
}
