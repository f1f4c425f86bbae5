/* SPDX-License-Identifier: MIT
 *
 * Bounds of values: what each operation says, and where nothing is known.
 */
#include "support.h"

#include "agx/compiler/analysis/range.h"
#include "ir_text.h"

/* The bounds of what the text stores last; x is 16 threads wide. */
static struct agxc_range last_value(const char *body)
{
   struct ir_text text;
   ir_text_begin(&text, "16x2x1", body);
   struct agxc_ranges *ranges = agxc_ranges_compute(text.shader);
   assert_ok(agxc_validate(text.shader, AGXC_STAGE_GENERIC));
   struct agxc_range range =
      agxc_range_of(ranges, agxc_src_offset(ir_text_last(&text, AGXC_OP_STORE_SHARED)));
   ir_text_end(&text);
   return range;
}

#define STORE(value) "store_shared " value ", #0:32\n"
#define ALL          0xffffffffull

/* What follows from the bounds of two sources alone. */
static void combined_bounds(void **state)
{
   static const struct {
      enum agxc_op op;
      struct agxc_range a, b, want;
   } cases[] = {
      {AGXC_OP_IADD, {1, 2}, {3, 4}, {4, 6}},
      {AGXC_OP_IADD, {0, UINT64_MAX}, {0, 1}, {0, UINT64_MAX}},
      {AGXC_OP_IMUL, {2, 3}, {4, 5}, {8, 15}},
      {AGXC_OP_IMUL, {0, 1ull << 32}, {0, 1ull << 32}, {0, UINT64_MAX}},
      {AGXC_OP_ISHL, {1, 3}, {4, 4}, {16, 48}},
      {AGXC_OP_ISHL, {1, 3}, {4, 5}, {0, UINT64_MAX}}, /* no constant amount */
      {AGXC_OP_IOR, {4, 5}, {0, 8}, {4, 15}},
      {AGXC_OP_UDIV, {10, 20}, {0, 5}, {0, UINT64_MAX}}, /* a division by 0 is undefined */
      {AGXC_OP_FADD, {1, 2}, {3, 4}, {0, UINT64_MAX}},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agxc_range got = agxc_range_combine(cases[i].op, 64, cases[i].a, cases[i].b);
      if (got.min != cases[i].want.min || got.max != cases[i].want.max)
         fail_msg("%zu is %llu..%llu", i, (unsigned long long)got.min, (unsigned long long)got.max);
   }
}

static void operations(void **state)
{
   static const struct {
      const char *body;
      uint64_t min, max;
   } cases[] = {
      {"%0:32 = sysval local_id_x\n" STORE("%0:32"), 0, 15},
      {"%0:32 = sysval local_id_y\n" STORE("%0:32"), 0, 1},
      {"%0:32 = sysval local_index\n" STORE("%0:32"), 0, 31},
      {"%0:32 = sysval global_id_x\n" STORE("%0:32"), 0, ALL},
      {"%0:32 = sysval local_id_x\n%1:32 = ishl %0:32, #4:32\n%2:32 = iadd %1:32, #7:32\n" STORE(
          "%2:32"),
       7, 247},
      {"%0:32 = sysval global_id_x\n%1:32 = iand %0:32, #255:32\n%2:32 = imul %1:32, #3:32\n" STORE(
          "%2:32"),
       0, 765},
      {"%0:32 = sysval global_id_x\n%1:32 = ushr %0:32, #30:32\n" STORE("%1:32"), 0, 3},
      {"%0:32 = sysval global_id_x\n%1:32 = umin %0:32, #9:32\n%2:32 = ixor %1:32, #16:32\n" STORE(
          "%2:32"),
       0, 31},
      {"%0:32 = sysval global_id_x\n%1:32 = iadd %0:32, #1:32\n" STORE("%1:32"), 0, ALL},
      {"%0:32 = sysval local_id_x\n%1:32 = isub %0:32, #1:32\n" STORE("%1:32"), 0, ALL},
      {"%0:32 = sysval local_id_x\n%1:32 = isub #20:32, %0:32\n" STORE("%1:32"), 5, 20},
      {"%0:32 = sysval local_id_x\n%1:32 = ishl %0:32, #28:32\n" STORE("%1:32"), 0, 15ull << 28},
      {"%0:32 = sysval local_id_x\n%1:32 = ishl %0:32, #29:32\n" STORE("%1:32"), 0, ALL},
      {"%0:32 = sysval global_id_x\n%1:32 = umod %0:32, #10:32\n" STORE("%1:32"), 0, 9},
      {"%0:8 = load_shared #0:32\n%1:32 = zext %0:8\n" STORE("%1:32"), 0, 255},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agxc_range range = last_value(cases[i].body);
      if (range.min != cases[i].min || range.max != cases[i].max)
         fail_msg("%sis %llu..%llu", cases[i].body, (unsigned long long)range.min,
                  (unsigned long long)range.max);
   }
}

#define LOOP(start, compare, step, arms)                                                           \
   "loop\n   %0:32 = phi " start ", %3:32\n   %1:1 = " compare "\n   branch %1:1\n   if\n" arms    \
   "   end\n   " STORE("%0:32") "   %3:32 = " step "\ncontinuing\nend\n"
#define STAYS  "   else\n      break\n"
#define LEAVES "      break\n   else\n"

static void counting_loops(void **state)
{
   static const struct {
      const char *body;
      uint64_t max;
   } cases[] = {
      {LOOP("#0:32", "ult %0:32, #16:32", "iadd %0:32, #1:32", STAYS), 16},
      {LOOP("#0:32", "ult %0:32, #16:32", "iadd %0:32, #3:32", STAYS), 18},
      {LOOP("#0:32", "sge %0:32, #16:32", "iadd %0:32, #1:32", LEAVES), 16},
      {LOOP("#128:32", "ieq %0:32, #0:32", "ushr %0:32, #1:32", LEAVES), 128},
      /* A start with bounds of its own, and one that is beyond the limit. */
      {"%9:32 = sysval local_id_x\n" LOOP("%9:32", "ult %0:32, #64:32", "iadd %0:32, #32:32",
                                          STAYS),
       95},
      {"%9:32 = sysval local_id_x\n" LOOP("%9:32", "slt %0:32, #4:32", "iadd %0:32, #1:32", STAYS),
       15},
      /* Not these: the wrong way round, no bound, a step down, a start below zero. */
      {LOOP("#0:32", "ult %0:32, #16:32", "iadd %0:32, #1:32", LEAVES), ALL},
      {LOOP("#0:32", "ine %0:32, #16:32", "iadd %0:32, #1:32", STAYS), ALL},
      {LOOP("#8:32", "ult %0:32, #16:32", "iadd %0:32, #0xffffffff:32", STAYS), ALL},
      {LOOP("#0xffffffff:32", "slt %0:32, #16:32", "iadd %0:32, #1:32", STAYS), ALL},
      {"%9:32 = sysval global_id_x\n" LOOP("%9:32", "slt %0:32, #16:32", "iadd %0:32, #1:32",
                                           STAYS),
       ALL},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agxc_range range = last_value(cases[i].body);
      if (range.max != cases[i].max)
         fail_msg("%sis at most %llu", cases[i].body, (unsigned long long)range.max);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(operations),
      cmocka_unit_test(combined_bounds),
      cmocka_unit_test(counting_loops),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
