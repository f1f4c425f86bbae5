/* SPDX-License-Identifier: MIT
 *
 * One thread runs until a barrier or its end, then the next one does. Values are kept
 * per thread, four words each.
 */
#include "ir_eval.h"

#include <math.h>
#include <stdlib.h>

#include "base/half.h"

#define WORDS    4    /* of a value */
#define MAX_PHIS 4096 /* of a block */

struct thread {
   struct agxc_block *block;
   struct agx_link *at; /* next instruction, or the block's list head */
   uint32_t *values;
   uint32_t local[3], index;
   bool done;
};

struct group {
   struct ir_eval *eval;
   uint32_t id[3];
   uint8_t *shared;
   uint64_t steps;
};

static uint32_t *value_words(const struct thread *t, const struct agxc_ref *ref)
{
   return t->values + (size_t)ref->value->id * WORDS;
}

static uint32_t read_word(const struct thread *t, const struct agxc_ref *ref, unsigned i)
{
   return ref->kind == AGXC_IMM ? (uint32_t)ref->imm : value_words(t, ref)[i];
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

static bool eval_int(unsigned op, const uint32_t *x, unsigned from_bits, uint32_t *r)
{
   int32_t a = (int32_t)x[0], b = (int32_t)x[1];
   uint32_t mask = (uint32_t)agx_bits(x[2] > 31 ? 32 : x[2]);
   switch (op) {
   case AGXC_OP_MOV:
   case AGXC_OP_ZEXT:
   case AGXC_OP_TRUNC:
      *r = x[0];
      return true;
   case AGXC_OP_SEXT:
      *r = from_bits == 1 ? 0u - x[0] : from_bits == 16 ? (uint32_t)(int16_t)x[0] : x[0];
      return true;
   case AGXC_OP_IADD:
      *r = x[0] + x[1];
      return true;
   case AGXC_OP_ISUB:
      *r = x[0] - x[1];
      return true;
   case AGXC_OP_IMUL:
      *r = x[0] * x[1];
      return true;
   case AGXC_OP_UMULH:
      *r = (uint32_t)((uint64_t)x[0] * x[1] >> 32);
      return true;
   case AGXC_OP_SMULH:
      *r = (uint32_t)((int64_t)a * b >> 32);
      return true;
   case AGXC_OP_UDIV:
      *r = x[1] ? x[0] / x[1] : 0;
      return true;
   case AGXC_OP_UMOD:
      *r = x[1] ? x[0] % x[1] : 0;
      return true;
   case AGXC_OP_SDIV:
      *r = b ? (uint32_t)((int64_t)a / b) : 0;
      return true;
   case AGXC_OP_SREM:
      *r = b ? (uint32_t)((int64_t)a % b) : 0;
      return true;
   case AGXC_OP_SMOD:
      *r = b ? (uint32_t)(((int64_t)a % b + b) % b) : 0;
      return true;
   case AGXC_OP_INEG:
      *r = 0u - x[0];
      return true;
   case AGXC_OP_IAND:
      *r = x[0] & x[1];
      return true;
   case AGXC_OP_IOR:
      *r = x[0] | x[1];
      return true;
   case AGXC_OP_IXOR:
      *r = x[0] ^ x[1];
      return true;
   case AGXC_OP_INOT:
      *r = ~x[0];
      return true;
   case AGXC_OP_ISHL:
      *r = x[0] << (x[1] & 31);
      return true;
   case AGXC_OP_USHR:
      *r = x[0] >> (x[1] & 31);
      return true;
   case AGXC_OP_ASHR:
      *r = (uint32_t)((int64_t)a >> (x[1] & 31));
      return true;
   case AGXC_OP_IMIN:
      *r = (uint32_t)AGX_MIN(a, b);
      return true;
   case AGXC_OP_IMAX:
      *r = (uint32_t)AGX_MAX(a, b);
      return true;
   case AGXC_OP_UMIN:
      *r = AGX_MIN(x[0], x[1]);
      return true;
   case AGXC_OP_UMAX:
      *r = AGX_MAX(x[0], x[1]);
      return true;
   case AGXC_OP_BITCOUNT:
      *r = (uint32_t)__builtin_popcount(x[0]);
      return true;
   case AGXC_OP_BITREV:
      *r = 0;
      for (unsigned i = 0; i < 32; i++)
         *r |= (x[0] >> i & 1) << (31 - i);
      return true;
   case AGXC_OP_FIND_UMSB:
      *r = x[0] ? 31u - (uint32_t)__builtin_clz(x[0]) : ~0u;
      return true;
   case AGXC_OP_UBFE:
      *r = x[1] > 31 ? 0 : x[0] >> x[1] & mask;
      return true;
   case AGXC_OP_SBFE:
      *r = x[1] > 31 ? 0 : x[0] >> x[1] & mask;
      if (x[2] > 0 && x[2] < 32 && *r >> (x[2] - 1) & 1)
         *r |= ~mask;
      return true;
   case AGXC_OP_BFI:
      mask = (uint32_t)agx_bits(x[3] > 31 ? 32 : x[3]) << (x[2] & 31);
      *r = (x[0] & ~mask) | (x[1] << (x[2] & 31) & mask);
      return true;
   case AGXC_OP_IEQ:
      *r = x[0] == x[1];
      return true;
   case AGXC_OP_INE:
      *r = x[0] != x[1];
      return true;
   case AGXC_OP_ULT:
      *r = x[0] < x[1];
      return true;
   case AGXC_OP_UGE:
      *r = x[0] >= x[1];
      return true;
   case AGXC_OP_SLT:
      *r = a < b;
      return true;
   case AGXC_OP_SGE:
      *r = a >= b;
      return true;
   case AGXC_OP_SELECT:
      *r = x[0] ? x[1] : x[2];
      return true;
   default:
      return false;
   }
}

static uint32_t multiply_add_high(const struct agxc_instr *instr, const uint32_t *x)
{
   int64_t a = agxc_imm_of(instr, 0) ? (int64_t)(int32_t)x[0] : (int64_t)x[0];
   return (uint32_t)(((__int128)a * x[1] + x[2]) >> 32);
}

static bool eval_compare(unsigned op, float a, float b, uint32_t *r)
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

static uint32_t to_unsigned(float a)
{
   if (!(a > 0))
      return 0;
   return a >= 4294967296.0f ? ~0u : (uint32_t)a;
}

static uint32_t to_signed(float a)
{
   if (a != a)
      return 0;
   if (a >= 2147483648.0f)
      return 0x7fffffffu;
   return a < -2147483648.0f ? 0x80000000u : (uint32_t)(int32_t)a;
}

static bool eval_convert(unsigned op, uint32_t x, unsigned from_bits, unsigned bits, uint32_t *r)
{
   switch (op) {
   case AGXC_OP_F2F:
      *r = from_bits == 16 && bits == 32   ? as_bits(agx_half_to_float((uint16_t)x))
           : from_bits == 32 && bits == 16 ? agx_half_from_float(as_float(x))
                                           : x;
      return true;
   case AGXC_OP_F2U:
      *r = to_unsigned(as_float(x));
      return true;
   case AGXC_OP_F2S:
      *r = to_signed(as_float(x));
      return true;
   case AGXC_OP_U2F:
      *r = as_bits((float)x);
      return true;
   case AGXC_OP_S2F:
      *r = as_bits((float)(int32_t)x);
      return true;
   default:
      return false;
   }
}

static bool eval_float(unsigned op, float a, float b, float c, float *r)
{
   switch (op) {
#define CASE(name, expr)                                                                           \
   case AGXC_OP_##name:                                                                            \
      *r = (expr);                                                                                 \
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
      CASE(FSAT, fminf(fmaxf(a, 0), 1))
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
   uint32_t x[4] = {0}, r;
   float f;
   const struct agxc_ref *dest = agxc_dests(instr), *srcs = agxc_srcs(instr);
   for (unsigned i = 0; i < instr->src_count && i < 4; i++)
      x[i] = read_word(t, &srcs[i], 0);
   if (instr->op == AGXC_OP_IMADH)
      r = multiply_add_high(instr, x);
   else if (!eval_int(instr->op, x, srcs[0].bits, &r) &&
            !eval_compare(instr->op, as_float(x[0]), as_float(x[1]), &r) &&
            !eval_convert(instr->op, x[0], srcs[0].bits, dest->bits, &r)) {
      if (!eval_float(instr->op, as_float(x[0]), as_float(x[1]), as_float(x[2]), &f))
         return AGX_FAIL(AGX_UNIMPLEMENTED, "evaluator: %s", agxc_op_info(instr->op)->name);
      r = as_bits(f);
   }
   value_words(t, dest)[0] = r & (uint32_t)agx_bits(dest->bits);
   return AGX_OK;
}

/* ---- memory ------------------------------------------------------------ */

static agx_status find_memory(struct group *g, const struct agxc_instr *instr, uint32_t offset_B,
                              uint32_t size_B, uint8_t **out_data)
{
   bool shared = instr->op == AGXC_OP_LOAD_SHARED || instr->op == AGXC_OP_STORE_SHARED ||
                 instr->op == AGXC_OP_ATOMIC_SHARED;
   uint32_t binding = shared ? 0 : (uint32_t)agxc_imm_of(instr, 0);
   uint8_t *data = shared ? g->shared : g->eval->buffers[binding].data;
   uint64_t limit_B = shared ? g->eval->shader->shared_B : g->eval->buffers[binding].size_B;
   if (!agx_range_fits(offset_B, size_B, limit_B) || offset_B % 4)
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
   const struct agxc_ref *srcs = agxc_srcs(instr);
   bool stores = instr->op == AGXC_OP_STORE_BUFFER || instr->op == AGXC_OP_STORE_SHARED;
   bool loads = instr->op == AGXC_OP_LOAD_BUFFER || instr->op == AGXC_OP_LOAD_SHARED;
   unsigned count = stores ? srcs[1].count : loads ? agxc_dests(instr)->count : 1;
   uint8_t *data = NULL;
   AGX_TRY(find_memory(g, instr, read_word(t, &srcs[0], 0), 4 * count, &data));
   for (unsigned i = 0; i < count; i++) {
      uint32_t word = agx_load_u32(data + 4 * i);
      if (!stores)
         value_words(t, agxc_dests(instr))[i] = word;
      if (stores)
         word = read_word(t, &srcs[1], i);
      else if (!loads)
         word = atomic_result((uint32_t)agxc_imm_of(instr, instr->op == AGXC_OP_ATOMIC_BUFFER),
                              word, read_word(t, &srcs[1], 0),
                              srcs[2].kind == AGXC_NONE ? 0 : read_word(t, &srcs[2], 0));
      memcpy(data + 4 * i, &word, 4);
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
   uint32_t words[MAX_PHIS], count = 0;
   struct agx_link *at = t->at;
   for (; at != &to->instrs; at = at->next, count++) {
      struct agxc_instr *phi = agx_container_of(at, struct agxc_instr, link);
      if (phi->op != AGXC_OP_PHI || count == MAX_PHIS)
         break;
      words[count] = read_word(t, &agxc_srcs(phi)[edge], 0);
   }
   for (uint32_t i = 0; i < count; i++, t->at = t->at->next)
      value_words(t, agxc_dests(agx_container_of(t->at, struct agxc_instr, link)))[0] = words[i];
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
      leave_block(t, read_word(t, agxc_srcs(instr), 0) ? 0 : 1);
      return AGX_OK;
   case AGXC_OP_BREAK:
   case AGXC_OP_CONTINUE:
      leave_block(t, 0);
      return AGX_OK;
   case AGXC_OP_RETURN:
      t->done = true;
      return AGX_OK;
   case AGXC_OP_BARRIER:
      *out_wait = agxc_imm_of(instr, 0) & AGXC_BARRIER_EXECUTION;
      return AGX_OK;
   case AGXC_OP_COLLECT:
      for (unsigned i = 0; i < instr->src_count; i++)
         value_words(t, agxc_dests(instr))[i] = read_word(t, &agxc_srcs(instr)[i], 0);
      return AGX_OK;
   case AGXC_OP_SPLIT:
      for (unsigned i = 0; i < instr->dest_count; i++)
         value_words(t, &agxc_dests(instr)[i])[0] = read_word(t, agxc_srcs(instr), i);
      return AGX_OK;
   case AGXC_OP_SYSVAL:
      value_words(t, agxc_dests(instr))[0] = sysval(g, t, (uint32_t)agxc_imm_of(instr, 0));
      return AGX_OK;
   case AGXC_OP_LOAD_PUSH:
      value_words(t, agxc_dests(instr))[0] = agx_load_u32(g->eval->push + agxc_imm_of(instr, 0));
      return AGX_OK;
   case AGXC_OP_BUFFER_SIZE:
      value_words(t, agxc_dests(instr))[0] =
         (uint32_t)g->eval->buffers[agxc_imm_of(instr, 0)].size_B;
      return AGX_OK;
   case AGXC_OP_LOAD_BUFFER:
   case AGXC_OP_STORE_BUFFER:
   case AGXC_OP_ATOMIC_BUFFER:
   case AGXC_OP_LOAD_SHARED:
   case AGXC_OP_STORE_SHARED:
   case AGXC_OP_ATOMIC_SHARED:
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

agx_status ir_eval_run(struct ir_eval *eval)
{
   const struct agxc_shader *shader = eval->shader;
   uint32_t count = shader->local_size[0] * shader->local_size[1] * shader->local_size[2];
   struct thread *threads = calloc(count, sizeof(*threads));
   uint32_t *values = calloc((size_t)count * (shader->value_count + 1), WORDS * sizeof(*values));
   struct group g = {.eval = eval, .shared = calloc(1, shader->shared_B + 1)};
   agx_status status = AGX_OK;
   for (uint32_t i = 0; i < count; i++)
      threads[i].values = values + (size_t)i * (shader->value_count + 1) * WORDS;
   for (g.id[2] = 0; g.id[2] < eval->workgroups[2] && status == AGX_OK; g.id[2]++)
      for (g.id[1] = 0; g.id[1] < eval->workgroups[1] && status == AGX_OK; g.id[1]++)
         for (g.id[0] = 0; g.id[0] < eval->workgroups[0] && status == AGX_OK; g.id[0]++)
            status = run_group(&g, threads, count);
   free(g.shared);
   free(values);
   free(threads);
   return status;
}
