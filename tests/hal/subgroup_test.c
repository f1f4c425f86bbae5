/* SPDX-License-Identifier: MIT
 *
 * Every operation between lanes, on every type, in four kinds of control flow, through all
 * layers on the virtual device in check mode: what each lane gets must be what plain loops
 * over the lanes that run say, and what another GPU gave (recorded.h). The kernels are
 * tests/kernels/subgroup.comp.
 */
#include "fixture.h"
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

#define LANES     32u
#define MAX_N     96u
#define UNTOUCHED 0x5a5a5a5a5a5a5a5aull

enum kind {
   BOOLEAN,
   UNSIGNED,
   SIGNED,
   REAL,
};

static const struct type {
   const char *name;
   enum kind kind;
   unsigned bits;
} types[] = {
   {"bool", BOOLEAN, 1},       {"uint", UNSIGNED, 32},   {"int", SIGNED, 32},
   {"float", REAL, 32},        {"float16_t", REAL, 16},  {"uint64_t", UNSIGNED, 64},
   {"int64_t", SIGNED, 64},    {"uint8_t", UNSIGNED, 8}, {"int8_t", SIGNED, 8},
   {"uint16_t", UNSIGNED, 16}, {"int16_t", SIGNED, 16},
};

/* One run: a kernel, its inputs, and where lanes are. */
struct run {
   const struct type *type;
   unsigned n, op, mode, k;
   unsigned local_size[3]; /* their product is n */
   bool rotates;           /* the kernel of rotations */
   bool is_recorded;
   uint64_t x[MAX_N];
   uint32_t lane[MAX_N + LANES + 1], mask[MAX_N];
   uint32_t votes; /* the last word of lane */
};

/* What one SIMD-group does at once. */
struct group {
   const struct run *run;
   unsigned first;  /* thread */
   uint32_t active; /* lanes */
};

/* ---- numbers ----------------------------------------------------------- */

static uint64_t low(uint64_t x, unsigned bits)
{
   return bits == 64 ? x : x & ((1ull << bits) - 1);
}

static int64_t extended(uint64_t x, unsigned bits)
{
   return (int64_t)(x << (64 - bits)) >> (64 - bits);
}

/* Normal numbers and zero only. */
static double real_of(uint64_t raw, unsigned bits)
{
   unsigned fraction = bits == 16 ? 10 : 23, bias = bits == 16 ? 15 : 127;
   uint64_t exponent = raw >> fraction & (2 * bias + 1);
   if (exponent == 0)
      return raw >> (bits - 1) ? -0.0 : 0.0;
   double value = (double)(low(raw, fraction) | 1ull << fraction);
   for (unsigned e = (unsigned)exponent; e < bias + fraction; e++)
      value /= 2;
   for (unsigned e = bias + fraction; e < exponent; e++)
      value *= 2;
   return raw >> (bits - 1) ? -value : value;
}

static uint64_t raw_of(double value, unsigned bits)
{
   unsigned fraction = bits == 16 ? 10 : 23, exponent = bits == 16 ? 15 : 127;
   uint64_t sign = value < 0 ? 1ull << (bits - 1) : 0;
   value = value < 0 ? -value : value;
   if (value == 0)
      return 0;
   for (; value >= 2; exponent++)
      value /= 2;
   for (; value < 1; exponent--)
      value *= 2;
   return sign | (uint64_t)exponent << fraction |
          low((uint64_t)(value * (double)(1ull << fraction)), fraction);
}

enum with {
   ADD,
   MUL,
   MIN,
   MAX,
   AND,
   OR,
   XOR,
};

static uint64_t combine(const struct type *type, enum with with, uint64_t a, uint64_t b)
{
   bool below = a < b;
   if (type->kind == SIGNED)
      below = extended(a, type->bits) < extended(b, type->bits);
   if (type->kind == REAL) {
      double x = real_of(a, type->bits), y = real_of(b, type->bits);
      if (with <= MUL)
         return raw_of(with == ADD ? x + y : x * y, type->bits);
      below = x < y;
   }
   switch (with) {
   case ADD:
      return low(a + b, type->bits);
   case MUL:
      return low(a * b, type->bits);
   case MIN:
      return below ? a : b;
   case MAX:
      return below ? b : a;
   case AND:
      return a & b;
   case OR:
      return a | b;
   default:
      return a ^ b;
   }
}

static uint64_t identity(const struct type *type, enum with with)
{
   uint64_t ones = low(~0ull, type->bits), top = 1ull << (type->bits - 1);
   if (type->kind == REAL) {
      uint64_t infinity = type->bits == 16 ? 0x7c00 : 0x7f800000;
      return with == ADD   ? 0
             : with == MUL ? raw_of(1, type->bits)
             : with == MIN ? infinity
                           : top | infinity;
   }
   if (with == MIN)
      return type->kind == SIGNED ? top - 1 : ones;
   if (with == MAX)
      return type->kind == SIGNED ? top : 0;
   return with == MUL ? 1 : with == AND ? ones : 0;
}

/* ---- what lanes get ---------------------------------------------------- */

static bool runs(const struct group *g, unsigned lane)
{
   return lane < LANES && g->active >> lane & 1;
}

static uint64_t value(const struct group *g, unsigned lane)
{
   return g->run->x[g->first + lane];
}

/* Over the lanes from..to that run; false when there is none. */
static uint64_t gather(const struct group *g, enum with with, unsigned from, unsigned to)
{
   uint64_t total = identity(g->run->type, with);
   bool any = false;
   for (unsigned i = from; i < to; i++) {
      if (!runs(g, i))
         continue;
      total = any ? combine(g->run->type, with, total, value(g, i)) : value(g, i);
      any = true;
   }
   return total;
}

static uint64_t arithmetic(const struct group *g, unsigned lane)
{
   enum with with = (enum with)(g->run->op % 10);
   unsigned cluster;
   switch (g->run->op / 10) {
   case 4:
      return gather(g, with, 0, LANES);
   case 5:
      return gather(g, with, 0, lane + 1);
   case 6:
      return gather(g, with, 0, lane);
   default:
      cluster = 1u << (g->run->op / 10 - 7);
      return gather(g, with, lane & ~(cluster - 1), (lane & ~(cluster - 1)) + cluster);
   }
}

/* The lane that a shuffle or broadcast reads; LANES when it is undefined. */
static unsigned source(const struct group *g, unsigned lane)
{
   const struct run *run = g->run;
   unsigned k = run->lane[g->first + lane];
   if (run->rotates)
      switch (run->op) {
      case 14:
         return (lane + k) % LANES;
      case 15:
         return (lane & 24) | ((lane + k) & 7);
      case 18:
         return (lane & 24) | ((lane + run->k) & 7);
      default:
         return (lane + run->k) % LANES;
      }
   switch (run->op) {
   case 4:
   case 21:
      return run->k;
   case 5:
      return (unsigned)__builtin_ctz(g->active);
   case 14:
      return k;
   case 15:
      return lane ^ k;
   case 16:
      return lane - k;
   case 17:
      return lane + k;
   case 18:
      return lane ^ run->k;
   case 19:
      return lane - run->k;
   case 20:
      return lane + run->k;
   case 22:
      return (lane & ~3u) + 2;
   case 26:
      return run->votes & 31;
   default:
      return lane ^ (run->op - 22); /* swaps in quads */
   }
}

static uint32_t odd_lanes(const struct group *g)
{
   uint32_t bits = 0;
   for (unsigned i = 0; i < LANES; i++)
      bits |= runs(g, i) ? (uint32_t)(value(g, i) & 1) << i : 0;
   return bits;
}

static bool all_equal(const struct group *g)
{
   unsigned first = (unsigned)__builtin_ctz(g->active);
   for (unsigned i = 0; i < LANES; i++)
      if (runs(g, i) && value(g, i) != value(g, first))
         return false;
   return true;
}

static uint64_t pair(uint32_t x, uint32_t y)
{
   return x | (uint64_t)y << 32;
}

/* Operations whose result does not depend on the type. */
static uint64_t ballots(const struct group *g, unsigned lane)
{
   uint32_t votes = g->run->votes, at = 1u << lane;
   switch (g->run->op) {
   case 0:
      return lane == (unsigned)__builtin_ctz(g->active);
   case 1:
      return odd_lanes(g) == g->active;
   case 2:
      return odd_lanes(g) != 0;
   case 3:
      return all_equal(g);
   case 6:
      return odd_lanes(g);
   case 7:
      return votes >> lane & 1;
   case 8:
      return votes >> g->run->lane[g->first + lane] & 1;
   case 9:
      return (unsigned)__builtin_popcount(votes);
   case 10:
      return (unsigned)__builtin_popcount(votes & (at | (at - 1)));
   case 11:
      return (unsigned)__builtin_popcount(votes & (at - 1));
   case 12:
      return (unsigned)__builtin_ctz(votes);
   case 13:
      return 31 - (unsigned)__builtin_clz(votes);
   case 27:
      return at;
   case 28:
      return (uint32_t)-at;
   case 29:
      return (uint32_t)(-at ^ at);
   case 30:
      return at | (at - 1);
   case 31:
      return at - 1;
   case 32:
      return pair(lane, g->first / LANES);
   default:
      return pair((g->run->n + LANES - 1) / LANES, LANES);
   }
}

/* Scalars of fewer than 32 bits are stored extended. */
static uint64_t stored(const struct type *type, uint64_t x)
{
   return type->kind == SIGNED && type->bits < 32 ? (uint32_t)extended(x, type->bits) : x;
}

static bool moves_values(unsigned op)
{
   return op == 4 || op == 5 || (op >= 14 && op <= 26);
}

static bool expected(const struct group *g, unsigned lane, uint64_t *out)
{
   const struct type *type = g->run->type;
   if (g->run->op >= 40) {
      *out = stored(type, arithmetic(g, lane));
      return true;
   }
   if (!moves_values(g->run->op)) {
      *out = ballots(g, lane);
      return true;
   }
   unsigned from = source(g, lane);
   if (!runs(g, from))
      return false;
   *out = stored(type, value(g, from));
   return true;
}

static bool same(const struct run *run, uint64_t got, uint64_t want)
{
   bool is_zero = run->type->kind == REAL && run->op >= 40 && want == 0;
   return got == want || (is_zero && got == 1ull << (run->type->bits - 1));
}

/* ---- running ----------------------------------------------------------- */

static uint64_t random_value(const struct run *run, struct agx_test_rng *rng)
{
   unsigned with = run->op % 10;
   uint64_t r = agx_test_random(rng);
   if (run->op == 3)
      r = r % 16 ? 7 : 9;
   if (run->op == 1 || run->op == 2)
      r = run->op == 1 ? r | (r >> 8 & 7 ? 1 : 0) : r & ~(uint64_t)(r >> 8 & 7 ? 1 : 0);
   if (run->type->kind != REAL)
      return low(r, run->type->bits);
   if (run->op >= 40 && with == MUL)
      return raw_of(r % 8 == 0 ? 2 : r % 8 == 1 ? 0.5 : r & 16 ? 1 : -1, run->type->bits);
   return raw_of((double)(int)(r % 17) - 8, run->type->bits);
}

static void choose(struct run *run, struct agx_test_rng *rng)
{
   static const unsigned sizes[][3] = {
      {32, 1, 1}, {64, 1, 1}, {40, 1, 1}, {37, 1, 1}, {96, 1, 1},
      {8, 8, 1},  {5, 7, 1},  {4, 3, 8},  {1, 37, 1}, {2, 1, 17},
   };
   const unsigned *size = sizes[agx_test_random(rng) % AGX_COUNT(sizes)];
   run->n = size[0] * size[1] * size[2];
   memcpy(run->local_size, size, sizeof(run->local_size));
   run->k = (unsigned)(agx_test_random(rng) % 32);
   run->votes = (uint32_t)agx_test_random(rng) | 1u << 11;
   bool is_uniform = run->rotates && run->op <= 15; /* as SPIR-V demands */
   uint32_t amount = (uint32_t)agx_test_random(rng) % 32, density = agx_test_random(rng) % 3;
   for (unsigned i = 0; i < run->n; i++) {
      run->x[i] = random_value(run, rng);
      run->mask[i] = (uint32_t)agx_test_random(rng);
      if (density)
         run->mask[i] =
            density == 1 ? run->mask[i] | run->mask[i] >> 8 : run->mask[i] & run->mask[i] >> 8;
      run->lane[i] = is_uniform ? amount : (uint32_t)agx_test_random(rng) % 32;
   }
   run->lane[(run->n + LANES - 1) / LANES * LANES] = run->votes;
}

#define SPECIALIZATIONS 6

static void specialize(const struct run *run, struct agx_specialization *out)
{
   const uint32_t values[SPECIALIZATIONS] = {
      run->local_size[0], run->op, run->mode, run->k, run->local_size[1], run->local_size[2]};
   for (uint32_t i = 0; i < SPECIALIZATIONS; i++)
      out[i] = (struct agx_specialization){.id = i, .bytes = 4, .value = values[i]};
}

static void compile(struct fixture *f, const struct run *run, const void *spirv, size_t size,
                    struct agx_executable **out)
{
   struct agx_specialization specializations[SPECIALIZATIONS];
   specialize(run, specializations);
   struct agx_executable_desc desc = {.size = sizeof(desc),
                                      .data = spirv,
                                      .data_B = size,
                                      .specializations = specializations,
                                      .specialization_count = SPECIALIZATIONS};
   agx_status status = agx_executable_create(f->device, &desc, out);
   if (status != AGX_OK)
      fail_msg("%s, operation %u, mode %u: %s", run->type->name, run->op, run->mode,
               agx_error_peek());
}

/* Which lanes run in pass `pass` of the kernel's loop (0 where there is none). */
static bool takes_part(const struct run *run, unsigned i, unsigned pass)
{
   if (run->mode == 0)
      return pass == 0;
   if (run->mode < 3)
      return pass == 0 && (run->mask[i] & 1);
   return run->mask[i] >> pass & 1 && !(pass == 2 && run->mask[i] & 8);
}

/* The SIMD-group of `first` in a pass. */
static struct group group_at(const struct run *run, unsigned first, unsigned pass)
{
   struct group g = {.run = run, .first = first};
   for (unsigned lane = 0; lane < LANES && first + lane < run->n; lane++)
      g.active |= (uint32_t)takes_part(run, first + lane, pass) << lane;
   return g;
}

/* What thread i stores in a pass; false: nothing, since it is away or the result undefined. */
static bool stores(const struct run *run, unsigned i, unsigned pass, uint64_t *out)
{
   struct group g = group_at(run, i & ~(LANES - 1), pass);
   return runs(&g, i % LANES) && expected(&g, i % LANES, out);
}

/* Tells the kernel what is defined: check mode takes offence at the rest. */
static void mark_defined(struct run *run)
{
   uint64_t ignored;
   for (unsigned i = 0; i < run->n; i++)
      for (unsigned pass = 0; pass < 3; pass++) {
         run->mask[i] &= ~(1u << (16 + pass));
         run->mask[i] |= (uint32_t)stores(run, i, pass, &ignored) << (16 + pass);
      }
}

static void check(const struct run *run, const uint64_t *y)
{
   for (unsigned pass = 0; pass < 3; pass++) {
      for (unsigned i = 0; i < run->n; i++) {
         uint64_t want = UNTOUCHED, got = y[pass * run->n + i];
         bool is_stored = stores(run, i, pass, &want);
         if (is_stored ? same(run, got, want) : got == UNTOUCHED)
            continue;
         fail_msg("%s%s, operation %u, mode %u, K %u, %u threads: pass %u, thread %u with 0x%08x: "
                  "0x%llx, not 0x%llx",
                  run->rotates ? "rotate_" : "", run->type->name, run->op, run->mode, run->k,
                  run->n, pass, i, group_at(run, i & ~(LANES - 1), pass).active,
                  (unsigned long long)got, (unsigned long long)want);
      }
   }
}

/* Writes the run for another GPU, or compares with what one has recorded. */
static void compare_with_recorded(const struct run *run, const uint64_t *before, const uint64_t *y)
{
   struct agx_specialization specializations[SPECIALIZATIONS];
   char name[128], kernel[64];
   specialize(run, specializations);
   snprintf(kernel, sizeof(kernel), "%s_%s", run->rotates ? "rotate" : "subgroup", run->type->name);
   snprintf(name, sizeof(name), "%s.%u.%u.%ux%ux%u.%u", kernel, run->op, run->mode,
            run->local_size[0], run->local_size[1], run->local_size[2], run->k);
   const struct recorded_dispatch dispatch = {
      .name = name,
      .kernel = kernel,
      .specializations = specializations,
      .specialization_count = SPECIALIZATIONS,
      .buffer_count = 4,
      .buffers = {run->x, run->lane, run->mask, before},
      .sizes_B = {sizeof(run->x), sizeof(run->lane) & ~7u, sizeof(run->mask), 3 * MAX_N * 8},
      .output = 3,
      .negative_zero = run->type->kind == REAL && run->op >= 40 ? 1ull << (run->type->bits - 1) : 0,
   };
   recorded_write(&dispatch);
   recorded_check(&dispatch, "subgroup", y);
}

static void run_one(struct fixture *f, const struct run *run, const void *spirv, size_t size)
{
   struct agx_executable *executable;
   struct agx_buffer *buffers[4];
   uint32_t *memory[4];
   uint64_t y[3 * MAX_N], before[3 * MAX_N];
   compile(f, run, spirv, size, &executable);
   uint64_t sizes[4] = {8 * MAX_N, sizeof(run->lane), sizeof(run->mask), sizeof(y)};
   for (unsigned i = 0; i < 4; i++)
      buffers[i] = fixture_buffer(f, sizes[i], &memory[i]);
   memcpy(memory[0], run->x, sizes[0]);
   memcpy(memory[1], run->lane, sizes[1]);
   memcpy(memory[2], run->mask, sizes[2]);
   memset(before, 0x5a, sizeof(before));
   memcpy(memory[3], before, sizeof(before));
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_semaphore *done = fixture_semaphore(f);
   fixture_dispatch(commands, executable, 1, buffers, 4, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   agx_status status = fixture_wait(done, 1);
   if (status != AGX_OK)
      fail_msg("%s, operation %u, mode %u, %u threads: %s", run->type->name, run->op, run->mode,
               run->n, agx_error_peek());
   memcpy(y, memory[3], sizeof(y));
   check(run, y);
   if (run->is_recorded)
      compare_with_recorded(run, before, y);
   agx_release(commands);
   agx_release(done);
   for (unsigned i = 0; i < 4; i++)
      agx_release(buffers[i]);
   agx_release(executable);
}

/* Whether the kernel of that type has the operation. */
static bool exists(const struct type *type, bool rotates, unsigned op)
{
   if (rotates)
      return op == 14 || op == 15 || op == 18 || op == 21;
   if (op < 40)
      return op < 34;
   if (op % 10 > XOR || op >= 130)
      return false;
   return type->kind == BOOLEAN ? op % 10 >= AND : type->kind == REAL ? op % 10 <= MAX : true;
}

static void run_type(struct fixture *f, const struct type *type, bool rotates, bool is_recorded,
                     struct agx_test_rng *rng)
{
   char name[64];
   size_t size;
   snprintf(name, sizeof(name), "kernels/%s_%s.spv", rotates ? "rotate" : "subgroup", type->name);
   char *path = agx_test_path(name), *spirv = agx_test_read_file(path, &size);
   struct run *run = calloc(1, sizeof(*run));
   assert_non_null(run);
   for (unsigned op = 0; op < 130; op++) {
      for (unsigned mode = 0; mode < 4 && exists(type, rotates, op); mode++) {
         *run = (struct run){
            .type = type, .op = op, .mode = mode, .rotates = rotates, .is_recorded = is_recorded};
         choose(run, rng);
         mark_defined(run);
         run_one(f, run, spirv, size);
      }
   }
   free(run);
   free(spirv);
   free(path);
}

/* The seed is that of the recording. */
static void run_all(const char *device, const char *debug)
{
   const char *given = getenv("AGX_TEST_SEED");
   struct agx_test_rng rng = {given ? strtoull(given, NULL, 0) | 1 : 0x5eed};
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", debug, 1);
   struct fixture f;
   fixture_open(&f, device);
   for (size_t i = 0; i < AGX_COUNT(types); i++)
      run_type(&f, &types[i], false, !given, &rng);
   run_type(&f, &types[1], true, !given, &rng);
   fixture_close(&f);
}

static void every_operation_on_every_type(void **state)
{
   run_all("virtual", "validate");
}

static void without_optimisation_too(void **state)
{
   run_all("virtual:g14s", "noopt,validate");
}

/* ---- the extensions that came before ----------------------------------- */

static uint32_t expected_old(const uint32_t *x, unsigned i)
{
   unsigned first = i & ~(LANES - 1);
   uint32_t ballot = 0, any = 0, all = 2, eights = 0;
   for (unsigned lane = 0; lane < LANES; lane++) {
      uint32_t v = x[first + lane];
      ballot |= (v & 1) << lane;
      any |= v & 2 && v & 4 ? 1 : 0;
      all = v ? all : 0;
      eights += v >> 3 & 1;
   }
   uint32_t r = ballot ^ x[first] ^ x[first + 5];
   r += x[i] & 2 ? any : 0;
   r += all + (eights % LANES == 0 ? 4 : 0);
   return r + (1u << i % LANES) - 1 + LANES;
}

static void older_extensions_too(void **state)
{
   struct agx_test_rng rng = {0x01d};
   struct fixture f;
   struct agx_executable *executable;
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_buffer *buffers[2];
   uint32_t *memory[2];
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", "validate", 1);
   fixture_open(&f, "virtual");
   char *path = agx_test_path("kernels/subgroup_old.spv");
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(f.device, &desc, &executable));
   for (unsigned i = 0; i < 2; i++)
      buffers[i] = fixture_buffer(&f, 64 * 4, &memory[i]);
   for (unsigned turn = 0; turn < 8; turn++) {
      struct agx_command_buffer *commands = fixture_begin(&f);
      struct agx_semaphore *done = fixture_semaphore(&f);
      for (unsigned i = 0; i < 64; i++)
         memory[0][i] = (uint32_t)agx_test_random(&rng) | (turn & 1) | (turn & 2 ? 8 : 0);
      fixture_dispatch(commands, executable, 1, buffers, 2, NULL, 0);
      assert_ok(agx_command_buffer_end(commands));
      assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
      assert_ok(fixture_wait(done, 1));
      for (unsigned i = 0; i < 64; i++)
         assert_int_equal(memory[1][i], expected_old(memory[0], i));
      agx_release(commands);
      agx_release(done);
   }
   agx_release(buffers[0]);
   agx_release(buffers[1]);
   agx_release(executable);
   fixture_close(&f);
   free(spirv);
   free(path);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_on_every_type),
      cmocka_unit_test(without_optimisation_too),
      cmocka_unit_test(older_extensions_too),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
