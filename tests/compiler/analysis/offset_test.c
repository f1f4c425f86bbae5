/* SPDX-License-Identifier: MIT
 *
 * What offsets are sums of, and what two accesses have in common.
 */
#include "support.h"

#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/analysis/offset.h"
#include "ir_text.h"

#define X "%0:32 = load_push offset=0\n%1:32 = load_push offset=4\n"

/* The parts of the offset that the text stores to. */
static struct agxc_offset parts_of(const char *body, enum agxc_offset_mode mode, unsigned depth)
{
   struct ir_text text;
   ir_text_begin(&text, "1x1x1", body);
   struct agxc_ref offset = *agxc_src_offset(ir_text_last(&text, AGXC_OP_STORE_SHARED));
   struct agxc_offset parts = agxc_offset_split(offset, mode, depth);
   for (uint32_t i = 0; i < parts.count; i++) /* of which the ids outlive the text */
      parts.terms[i].ref = agxc_imm(parts.terms[i].ref.value->id, 32);
   ir_text_end(&text);
   return parts;
}

static void sums_are_taken_apart(void **state)
{
   const char *body = X "%2:32 = iadd %0:32, #4:32\n%3:32 = mov %2:32\n%4:32 = iadd %3:32, %1:32\n"
                        "%5:32 = iadd %4:32, #8:32\nstore_shared %5:32, #0:32\n";
   struct agxc_offset parts = parts_of(body, AGXC_OFFSET_SUMS, 8);
   assert_int_equal(parts.count, 2);
   assert_int_equal(parts.terms[0].ref.imm, 0);
   assert_int_equal(parts.terms[1].ref.imm, 1);
   assert_int_equal(parts.constant, 12);
   /* Constants don't count. */
   parts = parts_of(body, AGXC_OFFSET_SUMS, 1);
   assert_int_equal(parts.count, 2);
   assert_int_equal(parts.constant, 12);
   /* No deeper than that. */
   parts = parts_of(body, AGXC_OFFSET_SUMS, 0);
   assert_int_equal(parts.count, 1);
   assert_int_equal(parts.terms[0].ref.imm, 4);
   assert_int_equal(parts.constant, 8);
}

static void products_have_factors(void **state)
{
   const char *body = X "%2:32 = iadd %0:32, #3:32\n%3:32 = ishl %2:32, #4:32\n"
                        "%4:32 = imul %1:32, #5:32\n%5:32 = isub %3:32, %4:32\n"
                        "store_shared %5:32, #0:32\n";
   struct agxc_offset parts = parts_of(body, AGXC_OFFSET_LINEAR, 8);
   assert_int_equal(parts.count, 2);
   assert_int_equal(parts.terms[0].factor, 16);
   assert_int_equal((uint32_t)parts.terms[1].factor, (uint32_t)-5);
   assert_int_equal(parts.constant, 48);
   parts = parts_of(body, AGXC_OFFSET_SUMS, 8);
   assert_int_equal(parts.count, 1);
   assert_int_equal(parts.terms[0].ref.imm, 5);
}

/* A sum of more terms than there is room for: those that are left stay together. */
static void long_sums_end(void **state)
{
   struct agx_arena arena;
   agx_arena_init(&arena, NULL, SIZE_MAX, NULL);
   const char *body = X;
   for (unsigned i = 2; i < 60; i++)
      body = agx_arena_printf(&arena, "%s%%%u:32 = iadd %%%u:32, %%%u:32\n", body, i, i - 1, i % 2);
   body = agx_arena_printf(&arena, "%sstore_shared %%59:32, #0:32\n", body);
   struct agxc_offset parts = parts_of(body, AGXC_OFFSET_SUMS, 100);
   assert_int_equal(parts.count, AGXC_OFFSET_MAX_TERMS);
   agx_arena_fini(&arena);
}

static bool overlap(const char *body)
{
   struct ir_text text;
   struct agxc_memory_ref load, store;
   ir_text_begin(&text, "1x1x1", body);
   assert_true(agxc_memory_ref_find(text.shader, ir_text_last(&text, AGXC_OP_LOAD_SHARED), &load));
   assert_true(
      agxc_memory_ref_find(text.shader, ir_text_last(&text, AGXC_OP_STORE_SHARED), &store));
   assert_true(load.reads && !load.writes && store.writes && !store.reads);
   bool result = agxc_memory_ref_may_overlap(&load, &store);
   ir_text_end(&text);
   return result;
}

static void accesses_a_known_distance_apart_do_not_overlap(void **state)
{
   assert_true(overlap(X "%2:32 = load_shared %0:32\nstore_shared %0:32, %2:32\n"));
   assert_true(overlap(X "%2:32 = load_shared %0:32\nstore_shared %1:32, %2:32\n"));
   assert_false(overlap(X "%2:32 = load_shared %0:32\n%3:32 = iadd %0:32, #4:32\n"
                          "store_shared %3:32, %2:32\n"));
   assert_true(overlap(X "%2:32x2 = load_shared %0:32\n%3:32 = iadd %0:32, #4:32\n"
                         "store_shared %3:32, %1:32\n"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_taken_apart),
      cmocka_unit_test(products_have_factors),
      cmocka_unit_test(long_sums_end),
      cmocka_unit_test(accesses_a_known_distance_apart_do_not_overlap),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
