/* SPDX-License-Identifier: MIT
 *
 * Every operation at every width: what the evaluator of generic IR computes over random
 * inputs, the simulator must compute too, with and without optimisation.
 */
#include "backend_support.h"

#include <stdlib.h>
#include <string.h>

#include "agx/compiler/lower/lower.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/select/select.h"
#include "ir_eval.h"

#define LANES   32
#define WORDS   4                              /* that a lane loads */
#define RESULTS (BACKEND_BUFFER_B / 4 / LANES) /* that it may store */

struct kernel {
   struct agxc_builder b;
   struct agxc_ref words[WORDS], out;
   unsigned stored;
};

/* What a kernel tries: one operation between operands of those bits. */
struct trial {
   enum agxc_op op;
   uint8_t bits, from_bits; /* of destination and sources */
   uint8_t sources;
   bool shifts;      /* the second source is an amount */
   int64_t constant; /* for the second source, where not 0 */
};

/* ---- building ---------------------------------------------------------- */

static struct agxc_ref imm(uint32_t value)
{
   return agxc_imm(value, 32);
}

static void store_word(struct kernel *k, struct agxc_ref value)
{
   agx_assert(k->stored < RESULTS);
   struct agxc_ref offset = agxc_build_iadd(&k->b, k->out, imm(4 * k->stored++));
   agxc_build_store_buffer(&k->b, offset, value, 1, 0);
}

static void store(struct kernel *k, struct agxc_ref value)
{
   if (value.bits == 32) {
      store_word(k, value);
      return;
   }
   if (value.bits < 32) {
      store_word(k, agxc_build1(&k->b, AGXC_OP_ZEXT, 32, value));
      return;
   }
   store_word(k, agxc_build1(&k->b, AGXC_OP_TRUNC, 32, value));
   struct agxc_ref high = agxc_build2(&k->b, AGXC_OP_USHR, 64, value, imm(32));
   store_word(k, agxc_build1(&k->b, AGXC_OP_TRUNC, 32, high));
}

/* Number i of those bits out of the words that the lane loaded. */
static struct agxc_ref input(struct kernel *k, unsigned i, unsigned bits)
{
   if (bits == 64)
      return agxc_build2(&k->b, AGXC_OP_PACK64, 64, k->words[2 * i % WORDS],
                         k->words[(2 * i + 1) % WORDS]);
   if (bits == 32)
      return k->words[i];
   if (bits == 1)
      return agxc_build2(&k->b, AGXC_OP_SLT, 1, k->words[i], imm(0));
   return agxc_build1(&k->b, AGXC_OP_TRUNC, bits, k->words[i]);
}

static bool is_float(const struct trial *t)
{
   return (t->op >= AGXC_OP_FADD && t->op <= AGXC_OP_FFRACT) || t->op == AGXC_OP_F2F ||
          t->op == AGXC_OP_U2F || t->op == AGXC_OP_S2F;
}

/* The hardware's NaNs are all the same, and it knows no 32-bit denormals. */
static struct agxc_ref canonical(struct kernel *k, struct agxc_ref x)
{
   struct agxc_ref is_number = agxc_build2(&k->b, AGXC_OP_FEQ, 1, x, x);
   x = agxc_build3(&k->b, AGXC_OP_SELECT, x.bits, is_number, x, agxc_imm(0x7e00, x.bits));
   if (x.bits == 16)
      return x;
   struct agxc_ref size = agxc_build2(&k->b, AGXC_OP_IAND, 32, x, imm(0x7fffffff));
   struct agxc_ref tiny = agxc_build2(&k->b, AGXC_OP_ULT, 1, size, imm(0x00800000));
   return agxc_build3(&k->b, AGXC_OP_SELECT, 32, tiny, imm(0), x);
}

static void fill(struct kernel *k, const struct trial *t)
{
   struct agxc_ref srcs[4];
   for (unsigned i = 0; i < t->sources; i++)
      srcs[i] = input(k, i, t->from_bits);
   if (t->shifts)
      srcs[1] = agxc_build2(&k->b, AGXC_OP_IAND, 32, k->words[3], imm(t->bits - 1u));
   if (t->op == AGXC_OP_SELECT)
      srcs[0] = input(k, 3, 1);
   if (t->op == AGXC_OP_UBFE || t->op == AGXC_OP_SBFE || t->op == AGXC_OP_BFI) {
      /* offset + count stay within the width */
      struct agxc_ref offset =
         agxc_build2(&k->b, AGXC_OP_IAND, 32, k->words[3], imm(t->bits / 2u - 1));
      struct agxc_ref count = agxc_build2(&k->b, AGXC_OP_USHR, 32, k->words[3], imm(27));
      count = agxc_build2(&k->b, AGXC_OP_UMIN, 32, count, imm(t->bits / 2u + 1));
      srcs[t->sources - 2] = offset;
      srcs[t->sources - 1] = count;
   }
   if (t->constant)
      srcs[1] = agxc_imm((uint64_t)t->constant, t->shifts ? 32 : t->from_bits);
   struct agxc_ref out = agxc_build(&k->b, t->op, t->bits, 1, t->sources, srcs);
   store(k, is_float(t) ? canonical(k, out) : out);
}

static struct agxc_ref load(struct agxc_builder *b, struct agxc_ref offset)
{
   return agxc_build_load_buffer(b, 32, WORDS, offset, 0, 0);
}

static void build(struct agxc_shader *shader, const struct trial *trials, unsigned count)
{
   struct kernel k = {.b = agxc_at_end(shader, agxc_first_block(&shader->body))};
   struct agxc_ref lane = agxc_build_sysval(&k.b, AGXC_SYSVAL_LOCAL_INDEX);
   agxc_split(&k.b, load(&k.b, agxc_build_ishl(&k.b, lane, imm(4))), k.words);
   k.out = agxc_build2(&k.b, AGXC_OP_IMUL, 32, lane, imm(4 * RESULTS));
   for (unsigned i = 0; i < count; i++)
      fill(&k, &trials[i]);
   shader->binding_count = 2;
}

/* ---- comparing --------------------------------------------------------- */

typedef bool (*pass)(struct agxc_shader *);

static const pass all[] = {
   agxc_opt_copy_prop,  agxc_lower_buffer, agxc_opt_algebraic, agxc_lower_narrow,  agxc_lower_int64,
   agxc_lower_division, agxc_lower_math,   agxc_opt_algebraic, agxc_opt_copy_prop, agxc_opt_cse,
   agxc_opt_dce,        agxc_select,       agxc_opt_dce,
};
static const pass few[] = {
   agxc_lower_buffer, agxc_lower_narrow, agxc_lower_int64, agxc_lower_division,
   agxc_lower_math,   agxc_select,       agxc_opt_dce,
};

static agx_status run_passes(struct backend *backend, const pass *passes, size_t count)
{
   struct agxc_shader *shader = backend->shader;
   if (setjmp(backend->exhausted))
      return shader->status;
   for (size_t i = 0; i < count; i++) {
      passes[i](shader);
      AGX_TRY(agxc_validate(shader, i + 2 >= count ? AGXC_STAGE_MACHINE : AGXC_STAGE_GENERIC));
   }
   return AGX_OK;
}

static void evaluate(const struct trial *trials, unsigned count, uint8_t *memory)
{
   struct backend backend;
   backend_init(&backend);
   build(backend.shader, trials, count);
   agxc_index(backend.shader);
   struct ir_eval eval = {
      .shader = backend.shader,
      .buffers = {{memory, BACKEND_BUFFER_B}, {memory + BACKEND_BUFFER_B, BACKEND_BUFFER_B}},
      .workgroups = {1, 1, 1},
      .max_steps = 1u << 20};
   assert_ok(ir_eval_run(&eval));
   backend_fini(&backend);
}

static void compare(const struct trial *trials, unsigned count, const uint32_t *inputs)
{
   uint32_t size = 2 * BACKEND_BUFFER_B;
   uint8_t *want = calloc(1, size), *got = calloc(1, size);
   memcpy(want, inputs, 4 * LANES * WORDS);
   evaluate(trials, count, want);
   for (unsigned mode = 0; mode < 2; mode++) {
      memset(got, 0, size);
      memcpy(got, inputs, 4 * LANES * WORDS);
      struct backend backend;
      backend_init(&backend);
      build(backend.shader, trials, count);
      assert_ok(mode ? run_passes(&backend, few, AGX_COUNT(few))
                     : run_passes(&backend, all, AGX_COUNT(all)));
      assert_ok(backend_compile(&backend));
      backend_run(&backend, got, size);
      for (uint32_t i = 0; i < BACKEND_BUFFER_B; i += 4) {
         uint32_t a = agx_load_u32(want + BACKEND_BUFFER_B + i);
         uint32_t b = agx_load_u32(got + BACKEND_BUFFER_B + i);
         const uint32_t *in = inputs + i / 4 / RESULTS * WORDS;
         if (a != b)
            fail_msg("%s %u <- %u (%lld), mode %u, %#x %#x %#x %#x: result %u is %#x, not %#x\n%s",
                     agxc_op_info(trials[0].op)->name, trials[0].bits, trials[0].from_bits,
                     (long long)trials[0].constant, mode, in[0], in[1], in[2], in[3],
                     i / 4 % RESULTS, b, a, backend.text);
      }
      backend_fini(&backend);
   }
   free(want);
   free(got);
}

static uint32_t next(uint64_t *random, uint32_t below)
{
   *random = *random * 6364136223846793005ull + 1442695040888963407ull;
   return (uint32_t)((*random >> 33) % below);
}

/* Words of any length, near powers of two, and their negatives. */
static uint32_t interesting(uint64_t *random)
{
   uint32_t value = next(random, 0x7fffffff) << 1 ^ next(random, 0x7fffffff);
   if (next(random, 4) == 0)
      value = (1u << next(random, 32)) + next(random, 3) - 1;
   if (next(random, 8) == 0)
      value = 0;
   value >>= next(random, 3) ? 0 : next(random, 32);
   return next(random, 4) ? value : 0u - value;
}

static uint64_t random_state = 7;

/* A dividend just below or at a multiple of the divisor, where estimates go wrong. */
static void set_multiple(uint32_t *in)
{
   uint64_t d = (uint64_t)in[3] << 32 | in[2], most = UINT64_MAX / d;
   uint64_t q = ((uint64_t)interesting(&random_state) << 32 | interesting(&random_state));
   if (next(&random_state, 2))
      q &= 0xffffffffull << 32;
   q = next(&random_state, 4) ? q >> next(&random_state, 64) : q;
   uint64_t n = (q <= most ? q : most) * d - next(&random_state, 2);
   in[0] = (uint32_t)n;
   in[1] = (uint32_t)(n >> 32);
}

static void try_one(struct trial t, unsigned rounds)
{
   for (unsigned round = 0; round < rounds; round++) {
      uint32_t inputs[LANES * WORDS];
      for (unsigned i = 0; i < LANES * WORDS; i++)
         inputs[i] = interesting(&random_state);
      bool divides = t.op >= AGXC_OP_UDIV && t.op <= AGXC_OP_SMOD && !t.constant;
      for (unsigned i = 0; i < LANES && divides; i++) { /* what it gives for 0 is undefined */
         uint32_t *in = &inputs[WORDS * i], zero = in[2] | in[3];
         if (t.bits == 64 ? !zero : !(in[1] & agx_bits(t.bits)))
            in[1] = in[2] = 1;
         /* So is the least integer by -1. */
         if (t.bits < 64 && (in[1] & agx_bits(t.bits)) == agx_bits(t.bits))
            in[1] = 3;
         if (t.bits == 64 && (in[2] & in[3]) == UINT32_MAX)
            in[2] = 5;
         if (t.bits == 64 && next(&random_state, 2))
            set_multiple(in);
      }
      compare(&t, 1, inputs);
   }
}

/* ---- the lists ----------------------------------------------------------- */

#define ROUNDS 3

static const unsigned widths[] = {8, 16, 32, 64};

static void integers(void **state)
{
   static const enum agxc_op ops[] = {
      AGXC_OP_IADD, AGXC_OP_ISUB, AGXC_OP_IMUL,     AGXC_OP_UMULH,  AGXC_OP_SMULH,
      AGXC_OP_UDIV, AGXC_OP_UMOD, AGXC_OP_SDIV,     AGXC_OP_SREM,   AGXC_OP_SMOD,
      AGXC_OP_INEG, AGXC_OP_IAND, AGXC_OP_IOR,      AGXC_OP_IXOR,   AGXC_OP_INOT,
      AGXC_OP_ISHL, AGXC_OP_USHR, AGXC_OP_ASHR,     AGXC_OP_IMIN,   AGXC_OP_IMAX,
      AGXC_OP_UMIN, AGXC_OP_UMAX, AGXC_OP_BITCOUNT, AGXC_OP_BITREV, AGXC_OP_FIND_UMSB,
      AGXC_OP_UBFE, AGXC_OP_SBFE, AGXC_OP_BFI,      AGXC_OP_SELECT,
   };
   for (size_t i = 0; i < AGX_COUNT(ops); i++)
      for (size_t w = 0; w < AGX_COUNT(widths); w++) {
         uint8_t bits = (uint8_t)widths[w];
         bool divides = ops[i] >= AGXC_OP_UDIV && ops[i] <= AGXC_OP_SMOD;
         bool shifts = ops[i] == AGXC_OP_ISHL || ops[i] == AGXC_OP_USHR || ops[i] == AGXC_OP_ASHR;
         struct trial t = {ops[i], bits, bits, (uint8_t)agxc_op_info(ops[i])->srcs, shifts, 0};
         try_one(t, divides ? 8 * ROUNDS : ROUNDS);
      }
}

static void compares(void **state)
{
   for (unsigned op = AGXC_OP_IEQ; op <= AGXC_OP_SGE; op++)
      for (size_t w = 0; w < AGX_COUNT(widths); w++)
         try_one((struct trial){(enum agxc_op)op, 1, (uint8_t)widths[w], 2, false, 0}, 2 * ROUNDS);
}

static void constants(void **state)
{
   static const enum agxc_op ops[] = {
      AGXC_OP_IADD, AGXC_OP_ISUB, AGXC_OP_IMUL, AGXC_OP_UDIV,  AGXC_OP_UMOD, AGXC_OP_SDIV,
      AGXC_OP_SREM, AGXC_OP_SMOD, AGXC_OP_IAND, AGXC_OP_IOR,   AGXC_OP_ISHL, AGXC_OP_USHR,
      AGXC_OP_ASHR, AGXC_OP_UMIN, AGXC_OP_IMAX, AGXC_OP_UMULH,
   };
   static const int64_t values[] = {
      1,
      2,
      3,
      5,
      7,
      8,
      10,
      64,
      100,
      127,
      -1,
      -2,
      -3,
      -7,
      -128,
      0x7fff,
      1000,
      641,
      65536,
      0x7fffffff,
      0x80000000,
      0xffffffff,
      0x100000000,
      0x100000001,
      0xfffffffffffffff,
      INT64_MIN,
      INT64_MAX,
      -1000000007,
      6700417ll << 20,
   };
   for (size_t i = 0; i < AGX_COUNT(ops); i++)
      for (size_t v = 0; v < AGX_COUNT(values); v++)
         for (size_t w = 0; w < AGX_COUNT(widths); w++) {
            uint8_t bits = (uint8_t)widths[w];
            bool shifts =
               ops[i] == AGXC_OP_ISHL || ops[i] == AGXC_OP_USHR || ops[i] == AGXC_OP_ASHR;
            int64_t value = shifts ? (int64_t)v % bits : values[v];
            bool divides = ops[i] >= AGXC_OP_UDIV && ops[i] <= AGXC_OP_SMOD;
            if (!((uint64_t)value & agx_bits(bits)) || (divides && value == -1))
               continue;
            try_one((struct trial){ops[i], bits, bits, 2, shifts, value}, divides ? 2 : 1);
         }
}

static void conversions(void **state)
{
   for (size_t to = 0; to < AGX_COUNT(widths); to++)
      for (size_t from = 0; from < AGX_COUNT(widths); from++) {
         uint8_t a = (uint8_t)widths[to], b = (uint8_t)widths[from];
         if (a > b) {
            try_one((struct trial){AGXC_OP_ZEXT, a, b, 1, false, 0}, ROUNDS);
            try_one((struct trial){AGXC_OP_SEXT, a, b, 1, false, 0}, ROUNDS);
         }
         if (a < b)
            try_one((struct trial){AGXC_OP_TRUNC, a, b, 1, false, 0}, ROUNDS);
         if (a == 16 || a == 32) {
            try_one((struct trial){AGXC_OP_U2F, a, b, 1, false, 0}, 4 * ROUNDS);
            try_one((struct trial){AGXC_OP_S2F, a, b, 1, false, 0}, 4 * ROUNDS);
         }
      }
   for (size_t w = 0; w < AGX_COUNT(widths); w++) {
      try_one((struct trial){AGXC_OP_ZEXT, (uint8_t)widths[w], 1, 1, false, 0}, 1);
      try_one((struct trial){AGXC_OP_SEXT, (uint8_t)widths[w], 1, 1, false, 0}, 1);
   }
   try_one((struct trial){AGXC_OP_F2F, 16, 32, 1, false, 0}, 4 * ROUNDS);
   try_one((struct trial){AGXC_OP_F2F, 32, 16, 1, false, 0}, 4 * ROUNDS);
}

static void halves(void **state)
{
   static const enum agxc_op ops[] = {
      AGXC_OP_FADD, AGXC_OP_FSUB,   AGXC_OP_FMUL,  AGXC_OP_FFMA,   AGXC_OP_FNEG,  AGXC_OP_FABS,
      AGXC_OP_FSAT, AGXC_OP_FFLOOR, AGXC_OP_FCEIL, AGXC_OP_FTRUNC, AGXC_OP_FRINT,
   };
   for (size_t i = 0; i < AGX_COUNT(ops); i++)
      try_one((struct trial){ops[i], 16, 16, (uint8_t)agxc_op_info(ops[i])->srcs, false, 0},
              4 * ROUNDS);
   for (unsigned op = AGXC_OP_FEQ; op <= AGXC_OP_FGE; op++)
      try_one((struct trial){(enum agxc_op)op, 1, 16, 2, false, 0}, 4 * ROUNDS);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers),    cmocka_unit_test(compares), cmocka_unit_test(constants),
      cmocka_unit_test(conversions), cmocka_unit_test(halves),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
