/* SPDX-License-Identifier: MIT
 *
 * Operations between lanes become what the hardware has. Before: any width, any operand.
 * After: no BROADCAST; SHUFFLE of 16 or 32 bits whose operand is an immediate, a uniform, or
 * the same in all lanes of each quad, with no lane of the quad away; REDUCE over 4 or 32
 * lanes and exclusive SCAN over 32, with an operation that the rows have.
 *
 * Why quads matter: a shuffle takes the low two bits of its operand from the OR over the
 * four lanes of the quad it reads from, and lanes that are away take part in that with
 * whatever their register holds (docs/hw/semantics.md 11). So where lanes may be away,
 * an operand in a register can't be trusted, and values go through threadgroup memory.
 */
#include "agx/compiler/lower/subgroup.h"

#include "agx/compiler/lower/lower.h"

/* ---- building ---------------------------------------------------------- */

struct agxc_ref agxc_sg_binary(struct agxc_subgroup *l, enum agxc_op op, struct agxc_ref a,
                               struct agxc_ref b)
{
   return agxc_build2(&l->b, op, a.bits, a, b);
}

struct agxc_ref agxc_sg_compare(struct agxc_subgroup *l, enum agxc_op op, struct agxc_ref a,
                                struct agxc_ref b)
{
   return agxc_build2(&l->b, op, 1, a, b);
}

struct agxc_ref agxc_sg_select(struct agxc_subgroup *l, struct agxc_ref condition,
                               struct agxc_ref yes, struct agxc_ref no)
{
   return agxc_build_select(&l->b, condition, yes, no);
}

/* An operation with immediates; bits 0: those of the first source. */
static struct agxc_ref with_imms(struct agxc_subgroup *l, enum agxc_op op, unsigned bits,
                                 unsigned srcs, const struct agxc_ref *src, unsigned imms,
                                 const uint32_t *imm)
{
   struct agxc_instr *instr = agxc_instr_new(l->shader, op);
   struct agxc_value *value = agxc_value_new(l->shader, bits, 1);
   value->def = instr;
   instr->operand[0] = agxc_use(value);
   for (unsigned i = 0; i < srcs; i++)
      instr->operand[1 + i] = src[i];
   for (unsigned i = 0; i < imms; i++)
      instr->operand[1 + srcs + i] = agxc_imm(imm[i], 64);
   agxc_insert(&l->b, instr);
   return agxc_use(value);
}

struct agxc_ref agxc_sg_row(struct agxc_subgroup *l, enum agxc_op op, unsigned srcs,
                            const struct agxc_ref *src, uint32_t imm0, uint32_t imm1)
{
   uint32_t imm[2] = {imm0, imm1};
   return with_imms(l, op, src[0].bits, srcs, src, op == AGXC_OP_SHUFFLE ? 1 : 2, imm);
}

struct agxc_ref agxc_sg_sysval(struct agxc_subgroup *l, enum agxc_sysval which)
{
   uint32_t imm = which;
   return with_imms(l, AGXC_OP_SYSVAL, 32, 0, NULL, 1, &imm);
}

static struct agxc_ref active_rank(struct agxc_subgroup *l)
{
   return with_imms(l, AGXC_OP_ACTIVE_RANK, 32, 0, NULL, 0, NULL);
}

struct agxc_ref agxc_sg_ballot(struct agxc_subgroup *l, struct agxc_ref condition)
{
   return agxc_build_ballot(&l->b, condition);
}

void agxc_sg_unpack(struct agxc_subgroup *l, struct agxc_ref value, struct agxc_ref out[2])
{
   struct agxc_instr *instr = agxc_instr_new(l->shader, AGXC_OP_UNPACK64);
   for (unsigned i = 0; i < 2; i++) {
      struct agxc_value *half = agxc_value_new(l->shader, 32, 1);
      half->def = instr;
      instr->operand[i] = out[i] = agxc_use(half);
   }
   instr->operand[2] = value;
   agxc_insert(&l->b, instr);
}

struct agxc_ref agxc_sg_pack(struct agxc_subgroup *l, struct agxc_ref low, struct agxc_ref high)
{
   return agxc_build_pack64(&l->b, low, high);
}

/* ---- shuffles ---------------------------------------------------------- */

/* Bit `at` of the ballot of value. */
static struct agxc_ref shuffle_boolean(struct agxc_subgroup *l, struct agxc_ref value,
                                       struct agxc_ref at)
{
   struct agxc_ref votes = agxc_sg_ballot(l, value);
   struct agxc_ref bit =
      agxc_sg_binary(l, AGXC_OP_IAND, agxc_sg_binary(l, AGXC_OP_USHR, votes, at), agxc_sg_u32(1));
   return agxc_sg_compare(l, AGXC_OP_INE, bit, agxc_sg_u32(0));
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
      struct agxc_ref lane = agxc_sg_sysval(l, AGXC_SYSVAL_SUBGROUP_LANE);
      struct agxc_ref quad = agxc_sg_binary(l, AGXC_OP_IAND, lane, agxc_sg_u32(28));
      at = agxc_sg_binary(l, AGXC_OP_IAND, operand, agxc_sg_u32(3));
      return agxc_sg_binary(l, AGXC_OP_IOR, quad, at);
   }
   if (mode != AGXC_SHUFFLE_INDEX)
      at = agxc_sg_binary(l, (enum agxc_op)ops[mode], agxc_sg_sysval(l, AGXC_SYSVAL_SUBGROUP_LANE),
                          operand);
   return at;
}

/* Any lane, where no lane of a quad is away: one shuffle for each lane that a quad may be
 * read at, of which each lane takes the one it asked for. */
static struct agxc_ref shuffle_by_quads(struct agxc_subgroup *l, struct agxc_ref value,
                                        struct agxc_ref at)
{
   struct agxc_ref quad = agxc_sg_binary(l, AGXC_OP_IAND, at, agxc_sg_u32(28));
   struct agxc_ref result = agxc_none();
   for (uint32_t i = 0; i < 4; i++) {
      struct agxc_ref from = i ? agxc_sg_binary(l, AGXC_OP_IADD, quad, agxc_sg_u32(i)) : quad;
      struct agxc_ref srcs[2] = {value, from};
      struct agxc_ref got = agxc_sg_row(l, AGXC_OP_SHUFFLE, 2, srcs, AGXC_SHUFFLE_INDEX, 0);
      result = i ? agxc_sg_select(l, agxc_sg_compare(l, AGXC_OP_IEQ, at, from), got, result) : got;
   }
   return result;
}

static void take_slot(struct agxc_subgroup *l)
{
   struct agxc_shader *shader = l->shader;
   uint32_t threads = shader->local_size[0] * shader->local_size[1] * shader->local_size[2];
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
   struct agxc_ref two = agxc_sg_u32(2), slot = agxc_sg_u32(l->slot_B);
   struct agxc_ref own = agxc_sg_sysval(l, AGXC_SYSVAL_LOCAL_INDEX);
   struct agxc_ref first = agxc_sg_binary(l, AGXC_OP_IAND, own, agxc_sg_u32(~31u));
   at = agxc_sg_binary(l, AGXC_OP_IAND, at, agxc_sg_u32(31));
   struct agxc_ref other = agxc_sg_binary(l, AGXC_OP_IOR, first, at);
   struct agxc_instr *store = agxc_instr_new(l->shader, AGXC_OP_STORE_SHARED);
   store->operand[0] =
      agxc_sg_binary(l, AGXC_OP_IADD, agxc_sg_binary(l, AGXC_OP_ISHL, own, two), slot);
   store->operand[1] = value;
   agxc_insert(&l->b, store);
   struct agxc_ref from =
      agxc_sg_binary(l, AGXC_OP_IADD, agxc_sg_binary(l, AGXC_OP_ISHL, other, two), slot);
   return agxc_build1(&l->b, AGXC_OP_LOAD_SHARED, 32, from);
}

/* Through a wider value, of which the low bits count. */
static struct agxc_ref shuffle_wider(struct agxc_subgroup *l, struct agxc_ref value,
                                     struct agxc_ref operand, enum agxc_shuffle mode)
{
   struct agxc_ref wide = agxc_build_zext(&l->b, 32, value);
   wide = agxc_sg_shuffle(l, wide, operand, mode);
   if (value.bits == 1)
      return agxc_sg_compare(l, AGXC_OP_INE, wide, agxc_sg_u32(0));
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
      return agxc_sg_pack(l, half[0], half[1]);
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
         operand = agxc_sg_u32((uint32_t)operand.imm & limit);
      struct agxc_ref srcs[2] = {value, operand};
      return agxc_sg_row(l, AGXC_OP_SHUFFLE, 2, srcs, mode, 0);
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
      struct agxc_ref votes = agxc_sg_ballot(l, agxc_sg_binary(l, AGXC_OP_IAND, value, chosen));
      return agxc_sg_compare(l, AGXC_OP_INE, votes, agxc_sg_u32(0));
   }
   struct agxc_ref zero = agxc_imm(0, value.bits);
   return agxc_sg_reduce(l, agxc_sg_select(l, chosen, value, zero), AGX_ISA_SUBOP_OR,
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
      struct agxc_ref own = agxc_sg_sysval(l, AGXC_SYSVAL_SUBGROUP_LANE);
      return value_where(l, value, agxc_sg_compare(l, AGXC_OP_IEQ, own, lane));
   }
   if (value.bits == 64) {
      struct agxc_ref half[2];
      agxc_sg_unpack(l, value, half);
      half[1] = broadcast(l, half[1], lane);
      return agxc_sg_pack(l, broadcast(l, half[0], lane), half[1]);
   }
   struct agxc_ref srcs[2] = {value, lane};
   return agxc_sg_row(l, AGXC_OP_SHUFFLE, 2, srcs, AGXC_SHUFFLE_INDEX, 0);
}

static struct agxc_ref broadcast_first(struct agxc_subgroup *l, struct agxc_ref value)
{
   if (is_same_in_lanes(l, &value))
      return value;
   /* Where no lane is away, lane 0 runs. */
   if (l->undivided)
      return agxc_sg_shuffle(l, value, agxc_sg_u32(0), AGXC_SHUFFLE_INDEX);
   return value_where(l, value, agxc_sg_compare(l, AGXC_OP_IEQ, active_rank(l), agxc_sg_u32(0)));
}

/* ---- the pass ---------------------------------------------------------- */

/* Nothing is to be done. */
static bool is_lowered(const struct agxc_subgroup *l, const struct agxc_instr *instr)
{
   const struct agxc_ref *srcs = agxc_srcs(instr);
   if (instr->op == AGXC_OP_REDUCE || instr->op == AGXC_OP_SCAN)
      return agxc_sg_is_row(instr);
   return instr->op == AGXC_OP_SHUFFLE && (srcs[0].bits == 16 || srcs[0].bits == 32) &&
          srcs[1].kind == AGXC_IMM &&
          srcs[1].imm <= last_operand((enum agxc_shuffle)agxc_imm_of(instr, 0)) &&
          !is_same_in_lanes(l, &srcs[0]);
}

static bool lower(struct agxc_subgroup *l, struct agxc_instr *instr)
{
   if (is_lowered(l, instr))
      return false;
   const struct agxc_ref *srcs = agxc_srcs(instr);
   struct agxc_ref result;
   l->b = agxc_before(l->shader, instr);
   switch (instr->op) {
   case AGXC_OP_SHUFFLE:
      result = agxc_sg_shuffle(l, srcs[0], srcs[1], (enum agxc_shuffle)agxc_imm_of(instr, 0));
      break;
   case AGXC_OP_BROADCAST:
      result = broadcast(l, srcs[0], srcs[1]);
      break;
   case AGXC_OP_BROADCAST_FIRST:
      result = broadcast_first(l, srcs[0]);
      break;
   case AGXC_OP_REDUCE:
      result = agxc_sg_reduce(l, srcs[0], (unsigned)agxc_imm_of(instr, 0),
                              (uint32_t)agxc_imm_of(instr, 1));
      break;
   case AGXC_OP_SCAN:
      result =
         agxc_sg_scan(l, srcs[0], (unsigned)agxc_imm_of(instr, 0), agxc_imm_of(instr, 1) != 0);
      break;
   default:
      return false;
   }
   agxc_become_mov(l->shader, instr, result);
   return true;
}

static bool has_work(const struct agxc_shader *shader)
{
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         if (agxc_flags(instr) & AGXC_CROSS_LANE)
            return true;
   return false;
}

bool agxc_lower_subgroup(struct agxc_shader *shader)
{
   struct agxc_subgroup l = {.shader = shader, .slot_B = AGXC_NO_SLOT};
   uint32_t threads = shader->local_size[0] * shader->local_size[1] * shader->local_size[2];
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
