/* SPDX-License-Identifier: MIT
 *
 * One thread runs until a barrier or its end, then the next one does. Values are kept
 * per thread, four elements of up to 64 bits each.
 */
#include "ir_eval.h"

#include <math.h>
#include <stdlib.h>

#include "base/half.h"

#define ELEMENTS  4    /* of a value */
#define MAX_PHIS  4096 /* of a block */
#define UNDEFINED 0xa5a5a5a5a5a5a5a5ull

struct thread {
   struct agxc_block *block;
   struct agx_link *at; /* next instruction, or the block's list head */
   uint64_t *values;
   uint32_t local[3], index;
   bool done;
   uint8_t *memory; /* of PRIVATE variables */
   const uint16_t *uniforms;
};

struct group {
   struct ir_eval *eval;
   uint32_t id[3];
   uint8_t *shared;
   uint32_t *private_at; /* by variable, and the end behind the last */
   uint64_t steps;
};

static uint64_t *elements(const struct thread *t, const struct agxc_ref *ref)
{
   return t->values + (size_t)ref->value->id * ELEMENTS;
}

static uint64_t read_uniform(const struct thread *t, const struct agxc_ref *ref)
{
   uint64_t word = 0;
   for (unsigned half = 0; half < AGX_MAX(ref->bits / 16u, 1u); half++)
      word |= (uint64_t)t->uniforms[ref->half + half] << 16 * half;
   return word;
}

static uint64_t read_element(const struct thread *t, const struct agxc_ref *ref, unsigned i)
{
   if (ref->kind == AGXC_UNIFORM)
      return read_uniform(t, ref);
   return ref->kind == AGXC_IMM ? (uint64_t)ref->imm : elements(t, ref)[i];
}

static float as_float(uint32_t bits)
{
   float f;
   memcpy(&f, &bits, sizeof(f));
   return f;
}

static uint32_t as_bits(float f)
{
   uint32_t bits;
   memcpy(&bits, &f, sizeof(bits));
   return bits;
}

/* ---- arithmetic -------------------------------------------------------- */

static int64_t as_signed(uint64_t x, unsigned bits)
{
   bool negative = x >> (bits - 1) & 1;
   return negative ? (int64_t)(x | ~agx_bits(bits)) : (int64_t)x;
}

static int64_t divide(int64_t a, int64_t b, int64_t *rest)
{
   *rest = 0;
   if (b == 0)
      return 0;
   if (b == -1)
      return (int64_t)(0 - (uint64_t)a);
   *rest = a % b;
   return a / b;
}

static uint64_t reversed(uint64_t x, unsigned bits)
{
   uint64_t r = 0;
   for (; bits-- > 0; x >>= 1)
      r = r << 1 | (x & 1);
   return r;
}

static uint64_t highest(uint64_t x)
{
   uint64_t i = 0;
   if (!x)
      return ~0ull;
   while (x >>= 1)
      i++;
   return i;
}

static uint64_t field_mask(uint64_t count)
{
   return count > 63 ? ~0ull : (1ull << count) - 1;
}

/* x: sources, zero-extended from bits, which are those of the first one. */
static bool eval_int(unsigned op, const uint64_t *x, unsigned bits, uint64_t *r)
{
   int64_t a = as_signed(x[0], bits), b = as_signed(x[1] & agx_bits(bits), bits), rest;
   uint64_t amount = x[1] % bits;
   switch (op) {
#define CASE(name, ...)                                                                            \
   case AGXC_OP_##name:                                                                            \
      *r = (uint64_t)(__VA_ARGS__);                                                                \
      return true;
      CASE(MOV, x[0])
      CASE(ZEXT, x[0])
      CASE(TRUNC, x[0])
      CASE(SEXT, a)
      CASE(PACK64, x[0] | x[1] << 32)
      CASE(PACK32, x[0] | x[1] << 16)
      CASE(IADD, x[0] + x[1])
      CASE(ISUB, x[0] - x[1])
      CASE(IMUL, x[0] * x[1])
      CASE(UMUL64, x[0] * x[1])
      CASE(SMUL64, a * b)
      CASE(UMULH, (unsigned __int128)x[0] * x[1] >> bits)
      CASE(SMULH, (__int128)a * b >> bits)
      CASE(UDIV, x[1] ? x[0] / x[1] : 0)
      CASE(UMOD, x[1] ? x[0] % x[1] : 0)
      CASE(SDIV, divide(a, b, &rest))
      CASE(SREM, (divide(a, b, &rest), rest))
      CASE(SMOD, (divide(a, b, &rest), rest && (rest < 0) != (b < 0) ? rest + b : rest))
      CASE(INEG, 0 - x[0])
      CASE(IAND, x[0] & x[1])
      CASE(IOR, x[0] | x[1])
      CASE(IXOR, x[0] ^ x[1])
      CASE(INOT, ~x[0])
      CASE(ISHL, x[0] << amount)
      CASE(USHR, x[0] >> amount)
      CASE(ASHR, a >> amount)
      CASE(IMIN, AGX_MIN(a, b))
      CASE(IMAX, AGX_MAX(a, b))
      CASE(UMIN, AGX_MIN(x[0], x[1]))
      CASE(UMAX, AGX_MAX(x[0], x[1]))
      CASE(BITCOUNT, __builtin_popcountll(x[0]))
      CASE(BITREV, reversed(x[0], bits))
      CASE(FIND_UMSB, highest(x[0]))
      CASE(UBFE, x[1] >= bits ? 0 : x[0] >> x[1] & field_mask(x[2]))
      CASE(BFI, x[2] >= bits
                   ? x[0]
                   : (x[0] & ~(field_mask(x[3]) << x[2])) | (x[1] & field_mask(x[3])) << x[2])
      CASE(SBFE, x[2] == 0 || x[1] >= bits
                    ? 0
                    : as_signed(x[0] >> x[1] & field_mask(x[2]), (unsigned)AGX_MIN(x[2], 64u)))
      CASE(IEQ, x[0] == x[1])
      CASE(INE, x[0] != x[1])
      CASE(ULT, x[0] < x[1])
      CASE(UGE, x[0] >= x[1])
      CASE(SLT, a < b)
      CASE(SGE, a >= b)
      CASE(SELECT, x[0] ? x[1] : x[2])
#undef CASE
   default:
      return false;
   }
}

static uint32_t multiply_add_high(const struct agxc_instr *instr, const uint64_t *x)
{
   int64_t a = agxc_imm_is_signed(instr) ? (int64_t)(int32_t)x[0] : (int64_t)x[0];
   return (uint32_t)(((__int128)a * x[1] + x[2]) >> 32);
}

static bool eval_compare(unsigned op, float a, float b, uint64_t *r)
{
   switch (op) {
   case AGXC_OP_FEQ:
      *r = a == b;
      return true;
   case AGXC_OP_FNE:
      *r = a != b;
      return true;
   case AGXC_OP_FLT:
      *r = a < b;
      return true;
   case AGXC_OP_FGE:
      *r = a >= b;
      return true;
   default:
      return false;
   }
}

static uint64_t to_unsigned(float a, unsigned bits)
{
   if (!(a > 0))
      return 0;
   return a >= ldexpf(1, (int)bits) ? agx_bits(bits) : (uint64_t)a;
}

static uint64_t to_signed(float a, unsigned bits)
{
   if (a != a)
      return 0;
   if (a >= ldexpf(1, (int)bits - 1))
      return agx_bits(bits - 1);
   return a < -ldexpf(1, (int)bits - 1) ? 1ull << (bits - 1) : (uint64_t)(int64_t)a;
}

static float load_float(uint64_t x, unsigned bits)
{
   return bits == 16 ? agx_half_to_float((uint16_t)x) : as_float((uint32_t)x);
}

/* To float in such a way that a second rounding does no harm: odd where inexact. */
static float to_odd(double d)
{
   float f = (float)d;
   if (!isfinite(f) || (double)f == d)
      return f;
   if (fabs((double)f) > fabs(d))
      f = nextafterf(f, 0);
   return as_float(as_bits(f) | 1);
}

static uint64_t store_float(double d, unsigned bits)
{
   return bits == 16 ? agx_half_from_float(to_odd(d)) : as_bits((float)d);
}

static bool eval_convert(unsigned op, uint64_t x, unsigned from_bits, unsigned bits, uint64_t *r)
{
   switch (op) {
   case AGXC_OP_F2F:
      *r = from_bits == bits ? x : store_float((double)load_float(x, from_bits), bits);
      return true;
   case AGXC_OP_F2U:
      *r = to_unsigned(load_float(x, from_bits), bits);
      return true;
   case AGXC_OP_F2S:
      *r = to_signed(load_float(x, from_bits), bits);
      return true;
   case AGXC_OP_U2F:
      *r = bits == 32 ? as_bits((float)x) : store_float((double)x, bits);
      return true;
   case AGXC_OP_S2F:
      *r = bits == 32 ? as_bits((float)as_signed(x, from_bits))
                      : store_float((double)as_signed(x, from_bits), bits);
      return true;
   default:
      return false;
   }
}

static bool eval_float(unsigned op, float a, float b, float c, double *r)
{
   switch (op) {
#define CASE(name, expr)                                                                           \
   case AGXC_OP_##name:                                                                            \
      *r = (double)(expr);                                                                         \
      return true;
      CASE(FADD, a + b)
      CASE(FSUB, a - b)
      CASE(FMUL, a * b)
      CASE(FFMA, fmaf(a, b, c))
      CASE(FDIV, a / b)
      CASE(FREM, fmodf(a, b))
      CASE(FMOD, a - b * floorf(a / b))
      CASE(FNEG, -a)
      CASE(FABS, fabsf(a))
      CASE(FMIN, fminf(a, b))
      CASE(FMAX, fmaxf(a, b))
      CASE(FSAT, a > 0 ? fminf(a, 1) : 0.0f)
      CASE(FFLOOR, floorf(a))
      CASE(FCEIL, ceilf(a))
      CASE(FTRUNC, truncf(a))
      CASE(FRINT, rintf(a))
      CASE(FFRACT, a - floorf(a))
      CASE(FRCP, 1 / a)
      CASE(FRSQRT, 1 / sqrtf(a))
      CASE(FSQRT, sqrtf(a))
      CASE(FEXP2, exp2f(a))
      CASE(FLOG2, log2f(a))
      CASE(FSIN, sinf(a))
      CASE(FCOS, cosf(a))
#undef CASE
   default:
      return false;
   }
}

static agx_status eval_alu(struct thread *t, const struct agxc_instr *instr)
{
   uint64_t x[4] = {0}, r;
   double d;
   const struct agxc_ref *dest = agxc_dests(instr), *srcs = agxc_srcs(instr);
   unsigned bits = srcs[0].bits;
   for (unsigned i = 0; i < instr->src_count && i < 4; i++)
      x[i] = read_element(t, &srcs[i], 0);
   if (instr->op == AGXC_OP_UNDEF) {
      for (unsigned i = 0; i < dest->count; i++)
         elements(t, dest)[i] = UNDEFINED & agx_bits(dest->bits);
      return AGX_OK;
   }
   if (instr->op == AGXC_OP_UNPACK64 || instr->op == AGXC_OP_UNPACK32) {
      elements(t, &dest[0])[0] = x[0] & agx_bits(bits / 2u);
      elements(t, &dest[1])[0] = x[0] >> bits / 2u;
      return AGX_OK;
   }
   if (instr->op == AGXC_OP_IMADH) {
      r = multiply_add_high(instr, x);
   } else if (!eval_int(instr->op, x, bits, &r) &&
              !eval_convert(instr->op, x[0], bits, dest->bits, &r)) {
      float a = load_float(x[0], bits), b = load_float(x[1], bits), c = load_float(x[2], bits);
      if (!eval_compare(instr->op, a, b, &r)) {
         if (!eval_float(instr->op, a, b, c, &d))
            return AGX_FAIL(AGX_UNIMPLEMENTED, "evaluator: %s", agxc_op_info(instr->op)->name);
         if (bits == 16 && instr->op == AGXC_OP_FFMA)
            d = (double)a * (double)b + (double)c;
         r = store_float(d, bits);
      }
   }
   elements(t, dest)[0] = r & agx_bits(dest->bits);
   return AGX_OK;
}

/* ---- memory ------------------------------------------------------------ */

static agx_status find_private(struct group *g, struct thread *t, const struct agxc_instr *instr,
                               uint32_t offset_B, uint32_t size_B, uint32_t element_B,
                               uint8_t **out_data)
{
   uint32_t variable = (uint32_t)agxc_imm_variable(instr);
   uint32_t bytes = g->private_at[variable + 1] - g->private_at[variable];
   if (!agx_range_fits(offset_B, size_B, bytes) || offset_B % element_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "evaluator: %u bytes at %u of %u in variable %u", size_B,
                      offset_B, bytes, variable);
   *out_data = t->memory + g->private_at[variable] + offset_B;
   return AGX_OK;
}

static agx_status find_memory(struct group *g, struct thread *t, const struct agxc_instr *instr,
                              uint32_t offset_B, uint32_t size_B, uint32_t element_B,
                              uint8_t **out_data)
{
   if (instr->op == AGXC_OP_LOAD_PRIVATE || instr->op == AGXC_OP_STORE_PRIVATE)
      return find_private(g, t, instr, offset_B, size_B, element_B, out_data);
   bool shared = instr->op == AGXC_OP_LOAD_SHARED || instr->op == AGXC_OP_STORE_SHARED ||
                 instr->op == AGXC_OP_ATOMIC_SHARED;
   bool global = instr->op == AGXC_OP_LOAD_GLOBAL || instr->op == AGXC_OP_STORE_GLOBAL;
   uint32_t binding = shared   ? 0
                      : global ? (uint16_t)read_element(t, agxc_srcs(instr), 0)
                               : agxc_imm_binding(instr);
   if (binding >= AGX_PROGRAM_MAX_BINDINGS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "evaluator: binding %u", binding);
   uint8_t *data = shared ? g->shared : g->eval->buffers[binding].data;
   uint64_t limit_B = shared ? g->eval->shader->shared_B : g->eval->buffers[binding].size_B;
   if (!agx_range_fits(offset_B, size_B, limit_B) || offset_B % element_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "evaluator: %s of %u bytes at %u of %llu in %s %u",
                      agxc_op_info(instr->op)->name, size_B, offset_B, (unsigned long long)limit_B,
                      shared ? "shared memory" : "binding", binding);
   *out_data = data + offset_B;
   return AGX_OK;
}

static uint32_t atomic_result(uint32_t op, uint32_t old, uint32_t data, uint32_t compare)
{
   int32_t a = (int32_t)old, b = (int32_t)data;
   switch (op) {
   case AGX_ISA_ATOMIC_ADD:
      return old + data;
   case AGX_ISA_ATOMIC_SUB:
      return old - data;
   case AGX_ISA_ATOMIC_XCHG:
      return data;
   case AGX_ISA_ATOMIC_CMPXCHG:
      return old == compare ? data : old;
   case AGX_ISA_ATOMIC_UMIN:
      return AGX_MIN(old, data);
   case AGX_ISA_ATOMIC_IMIN:
      return (uint32_t)AGX_MIN(a, b);
   case AGX_ISA_ATOMIC_UMAX:
      return AGX_MAX(old, data);
   case AGX_ISA_ATOMIC_IMAX:
      return (uint32_t)AGX_MAX(a, b);
   case AGX_ISA_ATOMIC_AND:
      return old & data;
   case AGX_ISA_ATOMIC_OR:
      return old | data;
   default:
      return old ^ data;
   }
}

static agx_status eval_memory(struct group *g, struct thread *t, const struct agxc_instr *instr)
{
   bool global = instr->op == AGXC_OP_LOAD_GLOBAL || instr->op == AGXC_OP_STORE_GLOBAL;
   const struct agxc_ref *srcs = agxc_srcs(instr) + global;
   bool stores = instr->op == AGXC_OP_STORE_GLOBAL || instr->op == AGXC_OP_STORE_BUFFER ||
                 instr->op == AGXC_OP_STORE_SHARED || instr->op == AGXC_OP_STORE_PRIVATE;
   bool loads = instr->op == AGXC_OP_LOAD_GLOBAL || instr->op == AGXC_OP_LOAD_BUFFER ||
                instr->op == AGXC_OP_LOAD_SHARED || instr->op == AGXC_OP_LOAD_PRIVATE;
   const struct agxc_ref *moved = stores ? &srcs[1] : agxc_dests(instr);
   unsigned bytes = moved->bits / 8u;
   uint8_t *data = NULL;
   AGX_TRY(find_memory(g, t, instr, (uint32_t)read_element(t, &srcs[0], 0), bytes * moved->count,
                       bytes, &data));
   for (unsigned i = 0; i < moved->count; i++) {
      uint64_t element = 0;
      for (unsigned byte = 0; byte < bytes; byte++)
         element |= (uint64_t)data[bytes * i + byte] << 8 * byte;
      if (!stores)
         elements(t, agxc_dests(instr))[i] = element;
      if (stores)
         element = read_element(t, &srcs[1], i);
      else if (!loads)
         element = atomic_result(
            agxc_imm_atomic(instr), (uint32_t)element, (uint32_t)read_element(t, &srcs[1], 0),
            srcs[2].kind == AGXC_NONE ? 0 : (uint32_t)read_element(t, &srcs[2], 0));
      for (unsigned byte = 0; byte < bytes; byte++)
         data[bytes * i + byte] = (uint8_t)(element >> 8 * byte);
   }
   return AGX_OK;
}

static uint32_t sysval(const struct group *g, const struct thread *t, uint32_t which)
{
   const uint32_t *size = g->eval->shader->local_size;
   uint32_t i = which % 3;
   if (which < AGXC_SYSVAL_LOCAL_ID)
      return g->id[i];
   if (which < AGXC_SYSVAL_GLOBAL_ID)
      return t->local[i];
   if (which < AGXC_SYSVAL_WORKGROUP_COUNT)
      return g->id[i] * size[i] + t->local[i];
   if (which < AGXC_SYSVAL_LOCAL_INDEX)
      return g->eval->workgroups[i];
   if (which == AGXC_SYSVAL_LOCAL_INDEX)
      return t->index;
   return which == AGXC_SYSVAL_SUBGROUP_LANE ? t->index % 32 : t->index / 32;
}

/* ---- control ----------------------------------------------------------- */

static void enter_block(struct thread *t, struct agxc_block *to)
{
   struct agxc_block *from = t->block;
   t->block = to;
   t->at = to->instrs.next;
   uint32_t edge = 0;
   while (edge < to->pred_count && to->preds[edge] != from)
      edge++;
   uint64_t words[MAX_PHIS];
   uint32_t count = 0;
   struct agx_link *at = t->at;
   for (; at != &to->instrs; at = at->next, count++) {
      struct agxc_instr *phi = agx_container_of(at, struct agxc_instr, link);
      if (phi->op != AGXC_OP_PHI || count == MAX_PHIS)
         break;
      words[count] = read_element(t, &agxc_srcs(phi)[edge], 0);
   }
   for (uint32_t i = 0; i < count; i++, t->at = t->at->next)
      elements(t, agxc_dests(agx_container_of(t->at, struct agxc_instr, link)))[0] = words[i];
}

static void leave_block(struct thread *t, unsigned which)
{
   if (t->block->succs[which])
      enter_block(t, t->block->succs[which]);
   else
      t->done = true;
}

static agx_status step(struct group *g, struct thread *t, bool *out_wait)
{
   if (t->at == &t->block->instrs) {
      leave_block(t, 0);
      return AGX_OK;
   }
   struct agxc_instr *instr = agx_container_of(t->at, struct agxc_instr, link);
   t->at = t->at->next;
   switch (instr->op) {
   case AGXC_OP_BRANCH:
      leave_block(t, read_element(t, agxc_srcs(instr), 0) ? 0 : 1);
      return AGX_OK;
   case AGXC_OP_BREAK:
   case AGXC_OP_CONTINUE:
      leave_block(t, 0);
      return AGX_OK;
   case AGXC_OP_RETURN:
      t->done = true;
      return AGX_OK;
   case AGXC_OP_BARRIER:
      *out_wait = agxc_imm_barrier(instr) & AGXC_BARRIER_EXECUTION;
      return AGX_OK;
   case AGXC_OP_COLLECT:
      for (unsigned i = 0; i < instr->src_count; i++)
         elements(t, agxc_dests(instr))[i] = read_element(t, &agxc_srcs(instr)[i], 0);
      return AGX_OK;
   case AGXC_OP_SPLIT:
      for (unsigned i = 0; i < instr->dest_count; i++)
         elements(t, &agxc_dests(instr)[i])[0] = read_element(t, agxc_srcs(instr), i);
      return AGX_OK;
   case AGXC_OP_PRIVATE:
      return AGX_OK;
   case AGXC_OP_SYSVAL:
      elements(t, agxc_dests(instr))[0] = sysval(g, t, agxc_imm_sysval(instr));
      return AGX_OK;
   case AGXC_OP_LOAD_PUSH:
      elements(t, agxc_dests(instr))[0] =
         agx_load_u32(g->eval->push + agxc_imm_offset(instr)) & agx_bits(agxc_dests(instr)->bits);
      return AGX_OK;
   case AGXC_OP_BUFFER_SIZE:
      elements(t, agxc_dests(instr))[0] =
         (uint32_t)g->eval->buffers[agxc_imm_binding(instr)].size_B;
      return AGX_OK;
   case AGXC_OP_STORE_UNIFORM: {
      const struct agxc_ref *data = agxc_srcs(instr);
      for (unsigned half = 0; half < AGX_MAX(data->bits / 16u, 1u); half++)
         g->eval->uniforms[agxc_imm_half(instr) + half] =
            (uint16_t)(read_element(t, data, 0) >> 16 * half);
      return AGX_OK;
   }
   case AGXC_OP_LOAD_GLOBAL:
   case AGXC_OP_STORE_GLOBAL: /* from bindings' addresses only */
      return agxc_srcs(instr)->kind == AGXC_UNIFORM ? eval_memory(g, t, instr) : eval_alu(t, instr);
   case AGXC_OP_LOAD_BUFFER:
   case AGXC_OP_STORE_BUFFER:
   case AGXC_OP_ATOMIC_BUFFER:
   case AGXC_OP_LOAD_SHARED:
   case AGXC_OP_STORE_SHARED:
   case AGXC_OP_ATOMIC_SHARED:
   case AGXC_OP_LOAD_PRIVATE:
   case AGXC_OP_STORE_PRIVATE:
      return eval_memory(g, t, instr);
   default:
      return eval_alu(t, instr);
   }
}

static agx_status run_group(struct group *g, struct thread *threads, uint32_t count)
{
   const struct agxc_shader *shader = g->eval->shader;
   memset(g->shared, 0, shader->shared_B + 1);
   for (uint32_t i = 0; i < count; i++) {
      struct thread *t = &threads[i];
      const uint32_t *size = shader->local_size;
      t->index = i;
      t->local[0] = i % size[0];
      t->local[1] = i / size[0] % size[1];
      t->local[2] = i / size[0] / size[1];
      t->block = shader->blocks[0];
      t->at = t->block->instrs.next;
      t->done = false;
   }
   for (bool running = true; running;) {
      running = false;
      for (uint32_t i = 0; i < count; i++) {
         bool wait = false;
         while (!threads[i].done && !wait) {
            if (++g->steps > g->eval->max_steps)
               return AGX_FAIL(AGX_DEADLINE_EXCEEDED, "evaluator: more than %llu steps",
                               (unsigned long long)g->eval->max_steps);
            AGX_TRY(step(g, &threads[i], &wait));
         }
         running |= !threads[i].done;
      }
   }
   return AGX_OK;
}

/* Where each variable lies in a thread's memory; the end is its size. */
static uint32_t *place_private(const struct agxc_shader *shader)
{
   uint32_t *at = calloc(shader->private_count + 1, sizeof(*at));
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         if (instr->op == AGXC_OP_PRIVATE)
            at[agxc_imm_variable(instr) + 1] = (uint32_t)agx_align_up(agxc_imm_size_B(instr), 4);
   for (uint32_t i = 0; i < shader->private_count; i++)
      at[i + 1] += at[i];
   return at;
}

agx_status ir_eval_run(struct ir_eval *eval)
{
   const struct agxc_shader *shader = eval->shader;
   uint32_t count = shader->local_size[0] * shader->local_size[1] * shader->local_size[2];
   struct thread *threads = calloc(count, sizeof(*threads));
   uint64_t *values = calloc((size_t)count * (shader->value_count + 1), ELEMENTS * sizeof(*values));
   struct group g = {.eval = eval, .shared = calloc(1, shader->shared_B + 1)};
   agx_status status = AGX_OK;
   g.private_at = place_private(shader);
   uint32_t private_B = g.private_at[shader->private_count] + 1;
   uint8_t *memory = calloc(count, private_B);
   for (uint32_t i = 0; i < count; i++) {
      threads[i].values = values + (size_t)i * (shader->value_count + 1) * ELEMENTS;
      threads[i].memory = memory + (size_t)i * private_B;
      threads[i].uniforms = eval->uniforms;
   }
   for (g.id[2] = 0; g.id[2] < eval->workgroups[2] && status == AGX_OK; g.id[2]++)
      for (g.id[1] = 0; g.id[1] < eval->workgroups[1] && status == AGX_OK; g.id[1]++)
         for (g.id[0] = 0; g.id[0] < eval->workgroups[0] && status == AGX_OK; g.id[0]++)
            status = run_group(&g, threads, count);
   free(g.shared);
   free(g.private_at);
   free(memory);
   free(values);
   free(threads);
   return status;
}
