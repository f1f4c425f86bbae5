/* SPDX-License-Identifier: MIT
 *
 * Expressions over what 32 lanes load: the evaluator of generic IR, and the simulator after
 * optimisation, lowering and selection, must agree. Divisions of every kind, and random
 * graphs of integer, boolean and float operations.
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

/* Builds the body of a kernel from four words; results go to `store`. */
struct kernel {
   struct agxc_builder b;
   struct agxc_ref words[WORDS], out;
   uint64_t random;
   unsigned stored;
};
typedef void (*build_fn)(struct kernel *k);

/* ---- building ---------------------------------------------------------- */

static uint32_t next(uint64_t *random, uint32_t below)
{
   *random = *random * 6364136223846793005ull + 1442695040888963407ull;
   return (uint32_t)((*random >> 33) % below);
}

static struct agxc_ref imm(uint32_t value)
{
   return agxc_imm(value, 32);
}

static struct agxc_ref load(struct agxc_builder *b, struct agxc_ref offset, unsigned count,
                            uint32_t access)
{
   return agxc_build_load_buffer(b, 32, count, offset, 0, access);
}

static void store(struct kernel *k, struct agxc_ref value)
{
   agx_assert(k->stored < RESULTS);
   struct agxc_ref offset = agxc_build_iadd(&k->b, k->out, imm(4 * k->stored++));
   agxc_build_store_buffer(&k->b, offset, value, 1, 0);
}

static void build(struct agxc_shader *shader, build_fn fill, uint64_t seed)
{
   struct kernel k = {.b = agxc_at_end(shader, agxc_first_block(&shader->body)), .random = seed};
   struct agxc_ref lane = agxc_build_sysval(&k.b, AGXC_SYSVAL_LOCAL_INDEX);
   struct agxc_ref offset = agxc_build2(&k.b, AGXC_OP_ISHL, 32, lane, imm(4));
   agxc_split(&k.b, load(&k.b, offset, WORDS, 0), k.words);
   k.out = agxc_build2(&k.b, AGXC_OP_IMUL, 32, lane, imm(4 * RESULTS));
   fill(&k);
   shader->binding_count = 2;
}

/* ---- comparing --------------------------------------------------------- */

static agx_status run_passes(struct backend *backend)
{
   static bool (*const passes[])(struct agxc_shader *) = {
      agxc_opt_copy_prop, agxc_lower_buffer,    agxc_opt_algebraic, agxc_lower_division,
      agxc_lower_math,    agxc_opt_algebraic,   agxc_opt_copy_prop, agxc_opt_cse,
      agxc_opt_dce,       agxc_opt_contraction, agxc_select,        agxc_opt_dce,
   };
   struct agxc_shader *shader = backend->shader;
   if (setjmp(backend->exhausted))
      return shader->status;
   for (size_t i = 0; i < AGX_COUNT(passes); i++) {
      passes[i](shader);
      bool is_machine = i >= AGX_COUNT(passes) - 2;
      AGX_TRY(agxc_validate(shader, is_machine ? AGXC_STAGE_MACHINE : AGXC_STAGE_GENERIC));
   }
   return AGX_OK;
}

static void evaluate(build_fn fill, uint64_t seed, uint8_t *memory)
{
   struct backend backend;
   backend_init(&backend);
   build(backend.shader, fill, seed);
   agxc_index(backend.shader);
   struct ir_eval eval = {
      .shader = backend.shader,
      .buffers = {{memory, BACKEND_BUFFER_B}, {memory + BACKEND_BUFFER_B, BACKEND_BUFFER_B}},
      .workgroups = {1, 1, 1},
      .max_steps = 1u << 20};
   assert_ok(ir_eval_run(&eval));
   backend_fini(&backend);
}

static void compare(build_fn fill, uint64_t seed, const uint32_t *input)
{
   uint32_t size = 2 * BACKEND_BUFFER_B;
   uint8_t *want = calloc(1, size), *got = calloc(1, size);
   memcpy(want, input, 4 * LANES * WORDS);
   memcpy(got, input, 4 * LANES * WORDS);
   evaluate(fill, seed, want);
   struct backend backend;
   backend_init(&backend);
   build(backend.shader, fill, seed);
   assert_ok(run_passes(&backend));
   assert_ok(backend_compile(&backend));
   backend_run(&backend, got, size);
   for (uint32_t i = 0; i < BACKEND_BUFFER_B; i += 4) {
      uint32_t a = agx_load_u32(want + BACKEND_BUFFER_B + i);
      uint32_t b = agx_load_u32(got + BACKEND_BUFFER_B + i);
      uint32_t lane = i / 4 / RESULTS;
      const uint32_t *in = input + lane * WORDS;
      if (a != b)
         fail_msg("seed %llu, lane %u (%#x %#x %#x %#x), result %u: %#x, not %#x; code:\n%s",
                  (unsigned long long)seed, lane, in[0], in[1], in[2], in[3], i / 4 % RESULTS, b, a,
                  backend.text);
   }
   backend_fini(&backend);
   free(want);
   free(got);
}

/* Words of any length, near powers of two, and their negatives. */
static uint32_t interesting(uint64_t *random)
{
   uint32_t value = next(random, 0x7fffffff) << 1 ^ next(random, 0x7fffffff);
   if (next(random, 4) == 0)
      value = (1u << next(random, 32)) + next(random, 3) - 1;
   value >>= next(random, 3) ? 0 : next(random, 32);
   return next(random, 4) ? value : 0u - value;
}

/* ---- divisions ---------------------------------------------------------- */

static void divide_all(struct kernel *k, struct agxc_ref n, struct agxc_ref d)
{
   for (unsigned op = AGXC_OP_UDIV; op <= AGXC_OP_SMOD; op++)
      store(k, agxc_build2(&k->b, (enum agxc_op)op, 32, n, d));
}

static void divide_by_values(struct kernel *k)
{
   divide_all(k, k->words[0], k->words[1]);
}

/* All lanes divide by lane 0's second word, which they read as what never changes. */
static void divide_by_uniform(struct kernel *k)
{
   divide_all(k, k->words[0], load(&k->b, imm(4), 1, AGXC_ACCESS_CONST));
}

/* What a seed divides by, when that is a constant, and the length of its short dividends. */
static uint32_t divisor_of(uint64_t seed)
{
   uint32_t d = interesting(&seed) >> (seed % 3 ? 20 : 0);
   return d ? d : 7;
}

static uint32_t limit_of(uint64_t seed)
{
   return (uint32_t)agx_bits(next(&seed, 4) ? 8 + next(&seed, 12) : 31);
}

static void divide_by_constant(struct kernel *k)
{
   divide_all(k, k->words[0], imm(divisor_of(k->random)));
   divide_all(k, k->words[0], imm(2 + (uint32_t)(k->random % 20)));
}

/* Dividends that are known to be short, by each kind of divisor. */
static struct agxc_ref masked(struct kernel *k)
{
   return agxc_build2(&k->b, AGXC_OP_IAND, 32, k->words[0], imm(limit_of(k->random)));
}

static void divide_short_by_values(struct kernel *k)
{
   divide_all(k, masked(k), k->words[1]);
   struct agxc_ref positive = agxc_build2(&k->b, AGXC_OP_USHR, 32, k->words[1], imm(1));
   divide_all(k, masked(k), agxc_build2(&k->b, AGXC_OP_IOR, 32, positive, imm(1)));
}

static void divide_short_by_uniform(struct kernel *k)
{
   divide_all(k, masked(k), load(&k->b, imm(4), 1, AGXC_ACCESS_CONST));
}

static void divide_short_by_constant(struct kernel *k)
{
   divide_all(k, masked(k), imm(divisor_of(k->random)));
   divide_all(k, masked(k), imm(2 + (uint32_t)(k->random % 1000)));
}

static void divisions_are_exact(void **state)
{
   static const build_fn kinds[] = {
      divide_by_values,       divide_by_uniform,       divide_by_constant,
      divide_short_by_values, divide_short_by_uniform, divide_short_by_constant,
   };
   uint64_t random = 1;
   for (uint64_t seed = 0; seed < 1200; seed++) {
      uint32_t input[LANES * WORDS] = {0};
      for (uint32_t i = 0; i < LANES; i++) {
         uint32_t d = interesting(&random), n = interesting(&random);
         d = i && seed % 3 == 1 ? input[1] : seed % 3 == 2 ? divisor_of(seed) : d ? d : 1;
         if (next(&random, 3) == 0)
            n = n / d * d - next(&random, 2);
         else if (next(&random, 2) == 0)
            n = ((seed % 6 < 3 ? UINT32_MAX : limit_of(seed)) / d - next(&random, 4)) * d -
                next(&random, 2);
         input[i * WORDS + 1] = d;
         input[i * WORDS] = n;
      }
      compare(kinds[seed % AGX_COUNT(kinds)], seed, input);
   }
}

/* ---- random graphs ------------------------------------------------------ */

enum kind {
   INT,
   BOOL,
   FLOAT,
};
#define POOL 24

struct pool {
   struct agxc_ref of[3][POOL];
   unsigned count[3];
};

static struct agxc_ref pick(struct kernel *k, struct pool *pool, enum kind kind)
{
   static const uint32_t floats[] = {0, 0x3f800000, 0x40000000, 0xbf000000, 0x40400000, 0xc1200000};
   if (pool->count[kind] == 0 || next(&k->random, 4) == 0) {
      if (kind == FLOAT)
         return imm(floats[next(&k->random, AGX_COUNT(floats))]);
      return kind == BOOL          ? agxc_imm(next(&k->random, 2), 1)
             : next(&k->random, 2) ? imm(interesting(&k->random))
                                   : imm(next(&k->random, 40));
   }
   return pool->of[kind][next(&k->random, pool->count[kind])];
}

static void add(struct pool *pool, enum kind kind, struct agxc_ref ref)
{
   if (pool->count[kind] < POOL)
      pool->of[kind][pool->count[kind]++] = ref;
}

/* Operations, what they take and what they give. */
static const struct shape {
   uint16_t op;
   uint8_t gives, count;
   uint8_t takes[3];
} shapes[] = {
#define INT2(op)                                                                                   \
   {                                                                                               \
      AGXC_OP_##op, INT, 2,                                                                        \
      {                                                                                            \
         INT, INT                                                                                  \
      }                                                                                            \
   }
#define INT1(op)                                                                                   \
   {                                                                                               \
      AGXC_OP_##op, INT, 1,                                                                        \
      {                                                                                            \
         INT                                                                                       \
      }                                                                                            \
   }
   INT2(IADD),
   INT2(IADD),
   INT2(ISUB),
   INT2(IMUL),
   INT2(IMUL),
   INT2(UMULH),
   INT2(SMULH),
   INT1(INEG),
   INT2(IAND),
   INT2(IOR),
   INT2(IXOR),
   INT1(INOT),
   INT2(IMIN),
   INT2(IMAX),
   INT2(UMIN),
   INT2(UMAX),
   INT1(BITCOUNT),
   INT1(FIND_UMSB),
   INT1(BITREV),
   INT2(ISHL),
   INT2(ISHL),
   INT2(USHR),
   INT2(USHR),
   INT2(ASHR),
#define CMP(op)                                                                                    \
   {                                                                                               \
      AGXC_OP_##op, BOOL, 2,                                                                       \
      {                                                                                            \
         INT, INT                                                                                  \
      }                                                                                            \
   }
   CMP(IEQ),
   CMP(INE),
   CMP(ULT),
   CMP(UGE),
   CMP(SLT),
   CMP(SGE),
   {AGXC_OP_IAND, BOOL, 2, {BOOL, BOOL}},
   {AGXC_OP_IOR, BOOL, 2, {BOOL, BOOL}},
   {AGXC_OP_IXOR, BOOL, 2, {BOOL, BOOL}},
   {AGXC_OP_INOT, BOOL, 1, {BOOL}},
   {AGXC_OP_SELECT, INT, 3, {BOOL, INT, INT}},
   {AGXC_OP_SELECT, INT, 3, {BOOL, INT, INT}},
   {AGXC_OP_SELECT, BOOL, 3, {BOOL, BOOL, BOOL}},
   {AGXC_OP_ZEXT, INT, 1, {BOOL}},
   {AGXC_OP_SEXT, INT, 1, {BOOL}},
#define FLT2(op)                                                                                   \
   {                                                                                               \
      AGXC_OP_##op, FLOAT, 2,                                                                      \
      {                                                                                            \
         FLOAT, FLOAT                                                                              \
      }                                                                                            \
   }
   FLT2(FADD),
   FLT2(FSUB),
   FLT2(FMUL),
   FLT2(FMIN),
   FLT2(FMAX),
   {AGXC_OP_FNEG, FLOAT, 1, {FLOAT}},
   {AGXC_OP_FABS, FLOAT, 1, {FLOAT}},
   {AGXC_OP_FSAT, FLOAT, 1, {FLOAT}},
   {AGXC_OP_FFLOOR, FLOAT, 1, {FLOAT}},
   {AGXC_OP_FLT, BOOL, 2, {FLOAT, FLOAT}},
   {AGXC_OP_FGE, BOOL, 2, {FLOAT, FLOAT}},
   {AGXC_OP_FEQ, BOOL, 2, {FLOAT, FLOAT}},
   {AGXC_OP_FNE, BOOL, 2, {FLOAT, FLOAT}},
   {AGXC_OP_SELECT, FLOAT, 3, {BOOL, FLOAT, FLOAT}},
};

/* Shifts beyond the width are undefined; their amounts are masked. */
static bool is_shift(unsigned op)
{
   return op == AGXC_OP_ISHL || op == AGXC_OP_USHR || op == AGXC_OP_ASHR;
}

static struct agxc_ref random_operation(struct kernel *k, struct pool *pool,
                                        const struct shape *shape)
{
   struct agxc_ref srcs[3];
   for (unsigned i = 0; i < shape->count; i++)
      srcs[i] = pick(k, pool, (enum kind)shape->takes[i]);
   if (is_shift(shape->op))
      srcs[1] = srcs[1].kind == AGXC_IMM ? imm((uint32_t)srcs[1].imm & 31)
                                         : agxc_build2(&k->b, AGXC_OP_IAND, 32, srcs[1], imm(31));
   struct agxc_ref result = agxc_build(&k->b, (enum agxc_op)shape->op,
                                       shape->gives == BOOL ? 1 : 32, 1, shape->count, srcs);
   if (shape->gives != FLOAT)
      return result;
   /* Small whole numbers stay exact, whatever is fused; what grows is cut. */
   struct agxc_ref low = agxc_build2(&k->b, AGXC_OP_FMAX, 32, result, imm(0xc2800000));
   return agxc_build2(&k->b, AGXC_OP_FMIN, 32, low, imm(0x42800000));
}

/* What selection looks for in several operations: fields, rotations, inserts. */
static struct agxc_ref random_field(struct kernel *k, struct pool *pool)
{
   struct agxc_ref x = pick(k, pool, INT), y = pick(k, pool, INT), a, b;
   uint32_t at = 1 + next(&k->random, 31), n = 1 + next(&k->random, 32 - at);
   uint32_t field = (uint32_t)agx_bits(n);
   switch (next(&k->random, 8)) {
   case 0: /* x << at | y >> 32 - at */
      a = agxc_build2(&k->b, AGXC_OP_ISHL, 32, x, imm(at));
      b = agxc_build2(&k->b, AGXC_OP_USHR, 32, next(&k->random, 2) ? x : y, imm(32 - at));
      return agxc_build2(&k->b, next(&k->random, 2) ? AGXC_OP_IOR : AGXC_OP_IXOR, 32, b, a);
   case 1: /* rotation by a value */
      y = pick(k, pool, INT);
      a = agxc_build2(&k->b, AGXC_OP_IAND, 32, y, imm(31));
      b = next(&k->random, 2) ? agxc_build1(&k->b, AGXC_OP_INEG, 32, y)
                              : agxc_build2(&k->b, AGXC_OP_ISUB, 32, imm(32), y);
      b = agxc_build2(&k->b, AGXC_OP_IAND, 32, b, imm(31));
      a = agxc_build2(&k->b, AGXC_OP_ISHL, 32, x, a);
      return agxc_build2(&k->b, AGXC_OP_IOR, 32, a, agxc_build2(&k->b, AGXC_OP_USHR, 32, x, b));
   case 2:
      a = agxc_build2(&k->b, AGXC_OP_USHR, 32, x, imm(at));
      return agxc_build2(&k->b, AGXC_OP_IAND, 32, a, imm(field));
   case 3:
      a = agxc_build2(&k->b, AGXC_OP_IAND, 32, x, imm(field << at));
      return agxc_build2(&k->b, AGXC_OP_USHR, 32, a, imm(at));
   case 4:
      a = agxc_build2(&k->b, AGXC_OP_ISHL, 32, x, imm(at));
      return agxc_build2(&k->b, AGXC_OP_USHR, 32, a, imm(1 + next(&k->random, 31)));
   case 5:
      a = agxc_build2(&k->b, AGXC_OP_IAND, 32, x, imm((uint32_t)agx_bits(at)));
      b = agxc_build2(&k->b, AGXC_OP_ISHL, 32, y, imm(at));
      return agxc_build2(&k->b, AGXC_OP_IOR, 32, a, b);
   case 6:
      a = agxc_build2(&k->b, AGXC_OP_IAND, 32, x, imm(~(field << at)));
      b = agxc_build2(&k->b, AGXC_OP_ISHL, 32, y, imm(at));
      b = agxc_build2(&k->b, AGXC_OP_IAND, 32, b, imm(field << at));
      return agxc_build2(&k->b, AGXC_OP_IOR, 32, a, b);
   default:
      a = agxc_build2(&k->b, AGXC_OP_IAND, 32, x, imm(next(&k->random, 2) ? 0xff : 0xffff));
      a = agxc_build1(&k->b, AGXC_OP_U2F, 32, a);
      return agxc_build1(&k->b, AGXC_OP_F2U, 32, a);
   }
}

static void random_graph(struct kernel *k)
{
   struct pool pool = {0};
   for (unsigned i = 0; i < WORDS; i++)
      add(&pool, INT, k->words[i]);
   for (unsigned i = 0; i < 3; i++) {
      struct agxc_ref small = agxc_build2(&k->b, AGXC_OP_IAND, 32, k->words[i], imm(7));
      add(&pool, FLOAT, agxc_build1(&k->b, AGXC_OP_U2F, 32, small));
   }
   unsigned count = 4 + next(&k->random, 24);
   for (unsigned i = 0; i < count; i++) {
      if (next(&k->random, 5) == 0) {
         add(&pool, INT, random_field(k, &pool));
         continue;
      }
      const struct shape *shape = &shapes[next(&k->random, AGX_COUNT(shapes))];
      add(&pool, (enum kind)shape->gives, random_operation(k, &pool, shape));
   }
   for (unsigned i = WORDS; i < pool.count[INT] && k->stored < RESULTS - 8; i++)
      store(k, pool.of[INT][i]);
   for (unsigned i = 0; i < pool.count[BOOL] && i < 4; i++)
      store(k, agxc_build3(&k->b, AGXC_OP_SELECT, 32, pool.of[BOOL][pool.count[BOOL] - 1 - i],
                           imm(7), k->words[0]));
   /* Minus zero is as good as zero: as integers they are the same. */
   for (unsigned i = 0; i < pool.count[FLOAT] && i < 4; i++)
      store(k,
            agxc_build1(&k->b, AGXC_OP_F2S, 32,
                        agxc_build2(&k->b, AGXC_OP_FMUL, 32,
                                    pool.of[FLOAT][pool.count[FLOAT] - 1 - i], imm(0x43800000))));
}

static void random_graphs_agree(void **state)
{
   uint64_t random = 2;
   for (uint64_t seed = 0; seed < 1500; seed++) {
      uint32_t input[LANES * WORDS];
      for (uint32_t i = 0; i < AGX_COUNT(input); i++)
         input[i] = interesting(&random);
      compare(random_graph, seed * 7919 + 1, input);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(divisions_are_exact),
      cmocka_unit_test(random_graphs_agree),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
