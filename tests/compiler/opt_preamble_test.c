/* SPDX-License-Identifier: MIT
 *
 * What moves to the preamble, and what stays.
 */
#include <string.h>

#include "agx/compiler/opt/opt.h"
#include "uniform_support.h"

static void check(const char *before, const char *after, const char *preamble)
{
   uniform_check(&(struct uniform_case){
      .pass = agxc_opt_preamble, .before = before, .after = after, .preamble = preamble});
}

#define X        "%0:32 = sysval #6:32\n"
#define USE(ref) "store_global u2l:64, %0:32, " ref ", #0:64\n"

static void costly_results_move(void **state)
{
   check(X "%1:32 = imul u4l:32, u5l:32\n%2:32 = iadd %0:32, %1:32\n" USE("%2:32"),
         X "%2:32 = iadd %0:32, u8l:32\n" USE("%2:32"),
         "%0:32 = imul u4l:32, u5l:32\nstore_uniform %0:32, #0x10:32\n");
}

static void one_result_may_need_another(void **state)
{
   check(X "%1:32 = imul u4l:32, u5l:32\n%2:32 = iadd %0:32, %1:32\n%3:32 = frcp %1:32\n"
           "%4:32 = fadd %2:32, %3:32\n" USE("%4:32"),
         X "%2:32 = iadd %0:32, u8l:32\n%4:32 = fadd %2:32, u9l:32\n" USE("%4:32"),
         "%0:32 = imul u4l:32, u5l:32\nstore_uniform %0:32, #0x10:32\n%1:32 = frcp %0:32\n"
         "store_uniform %1:32, #0x12:32\n");
}

/* A byte can't be a uniform, so the main code keeps it; the result needs it all the same. */
static void what_stays_may_be_needed_too(void **state)
{
#define BYTE "%1:8 = trunc u4l:32\n"
   check(X BYTE "store_global u2l:64, %0:32, %1:8, #0:64\n%2:32 = zext %1:8\n"
                "%3:32 = imul %2:32, u5l:32\n%4:32 = iadd %0:32, %3:32\n" USE("%4:32"),
         X BYTE
         "store_global u2l:64, %0:32, %1:8, #0:64\n%4:32 = iadd %0:32, u8l:32\n" USE("%4:32"),
         "%0:8 = trunc u4l:32\n%1:32 = zext %0:8\n%2:32 = imul %1:32, u5l:32\n"
         "store_uniform %2:32, #0x10:32\n");
}

static void cheap_results_move_out_of_loops_only(void **state)
{
#define SUM "%1:32 = iadd u4l:32, u5l:32\n"
#define LOOP(value)                                                                                \
   "loop\n   %2:32 = phi #0:32, %3:32\n   %4:1 = uge %2:32, u6l:32\n   branch %4:1\n"              \
   "   if\n      break\n   else\n   end\ncontinuing\n   %3:32 = iadd %2:32, " value "\nend\n"
   check(X SUM "%2:32 = iadd %0:32, %1:32\n" USE("%2:32"), NULL, NULL);
   check(X "loop\n   %2:32 = phi #0:32, %3:32\n   %4:1 = uge %2:32, u6l:32\n   branch %4:1\n"
           "   if\n      break\n   else\n   end\ncontinuing\n   " SUM
           "   %3:32 = iadd %2:32, %1:32\nend\n" USE("%2:32"),
         X LOOP("u8l:32") USE("%2:32"),
         "%0:32 = iadd u4l:32, u5l:32\nstore_uniform %0:32, #0x10:32\n");
}

static void what_folds_stays(void **state)
{
   /* The compare is part of the branch, the shift of the addition. */
   check(X "%1:1 = ult u4l:32, u5l:32\nbranch %1:1\nif\n   " USE("#1:32") "else\nend\n", NULL,
         NULL);
   check(X "%1:32 = ishl u4l:32, #2:32\n%2:32 = iadd %0:32, %1:32\n" USE("%2:32"), NULL, NULL);
   check(X "%1:32 = ishl u4l:32, #5:32\n%2:32 = iadd %0:32, %1:32\n" USE("%2:32"),
         X "%2:32 = iadd %0:32, u8l:32\n" USE("%2:32"),
         "%0:32 = ishl u4l:32, #5:32\nstore_uniform %0:32, #0x10:32\n");
}

/* n and 32 - n make a single instruction, which takes n alone, so the loop keeps the latter. */
static void complements_of_shifts_stay(void **state)
{
   check(X "loop\n   %2:32 = phi #0:32, %3:32\n   %4:1 = uge %2:32, u6l:32\n   branch %4:1\n"
           "   if\n      break\n   else\n   end\ncontinuing\n   %1:32 = isub #0x20:32, u4l:32\n"
           "   %5:32 = ishl %2:32, %1:32\n   %6:32 = ushr %2:32, u4l:32\n"
           "   %3:32 = ior %5:32, %6:32\nend\n" USE("%2:32"),
         NULL, NULL);
}

static void operands_of_what_stays_become_results(void **state)
{
   check(X "%1:32 = imul u4l:32, u5l:32\n%2:1 = ult %1:32, u6l:32\nbranch %2:1\nif\n   " USE(
            "#1:32") "else\nend\n",
         X "%2:1 = ult u8l:32, u6l:32\nbranch %2:1\nif\n   " USE("#1:32") "else\nend\n",
         "%0:32 = imul u4l:32, u5l:32\nstore_uniform %0:32, #0x10:32\n");
}

static void threads_and_lanes_stay(void **state)
{
   check(X "%1:32 = imul %0:32, u5l:32\n" USE("%1:32"), NULL, NULL);
   check(X "%1:32 = reduce u4l:32, #0:64, #0x20:64\n%2:32 = imul %1:32, #3:32\n" USE("%2:32"), NULL,
         NULL);
   check("%0:32 = sysval #0:32\n%1:32 = imul %0:32, %0:32\n" USE("%1:32"), NULL, NULL);
}

/* Three loads are worth the wait, and the fourth comes along. */
#define LOADS(a, b, c)                                                                             \
   "%1:32 = load_global u0l:64, " a "\n%2:32 = load_global u0l:64, " b                             \
   "\n%3:32 = load_global u0l:64, " c "\n"
#define SUMS(a, b, c)                                                                              \
   "%4:32 = fadd %0:32, " a "\n%5:32 = fadd %4:32, " b "\n%6:32 = fadd %5:32, " c "\n" USE("%6:"   \
                                                                                           "32")

/* What the preamble makes of them. */
#define RESULTS(a, b, c)                                                                           \
   "%0:32 = load_global u0l:64, " a "\nstore_uniform %0:32, #0x10:32\n"                            \
   "%1:32 = load_global u0l:64, " b "\nstore_uniform %1:32, #0x12:32\n"                            \
   "%2:32 = load_global u0l:64, " c "\nstore_uniform %2:32, #0x14:32\n"

static void loads_of_constant_memory_move(void **state)
{
   check(X LOADS("#0:32, #2:64", "#4:32, #2:64", "#0xc:32, #2:64") SUMS("%1:32", "%2:32", "%3:32"),
         X SUMS("u8l:32", "u9l:32", "u10l:32"),
         RESULTS("#0:32, #2:64", "#4:32, #2:64", "#0xc:32, #2:64"));
   /* Memory that may be written. */
   check(X LOADS("#0:32, #0:64", "#4:32, #0:64", "#0xc:32, #1:64") SUMS("%1:32", "%2:32", "%3:32"),
         NULL, NULL);
   /* A single load is not worth the wait. */
   check(X "%1:32 = load_global u0l:64, #0:32, #2:64\n%2:32 = fadd %0:32, %1:32\n" USE("%2:32"),
         NULL, NULL);
}

static void loads_that_may_fault_move_when_all_threads_run_them(void **state)
{
#define FAR LOADS("u4l:32, #2:64", "u5l:32, #2:64", "#0xd:32, #2:64")
   check(X FAR SUMS("%1:32", "%2:32", "%3:32"), X SUMS("u8l:32", "u9l:32", "u10l:32"),
         RESULTS("u4l:32, #2:64", "u5l:32, #2:64", "#0xd:32, #2:64"));
   check(X "%7:1 = ieq %0:32, #0:32\nbranch %7:1\nif\n   return\nelse\nend\n" FAR SUMS(
            "%1:32", "%2:32", "%3:32"),
         NULL, NULL);
}

static void addresses_are_results(void **state)
{
   /* The 64-bit address is a result, since memory takes it from uniforms. */
   check(X "%1:32, %2:32 = unpack64 u2l:64\n%3:32 = imul u4l:32, u5l:32\n"
           "%4:32 = iadd %1:32, %3:32\n%5:64 = pack64 %4:32, %2:32\n"
           "store_global %5:64, %0:32, #7:32, #0:64\n",
         X "store_global u8l:64, %0:32, #7:32, #0:64\n",
         "%0:32, %1:32 = unpack64 u2l:64\n%2:32 = imul u4l:32, u5l:32\n"
         "%3:32 = iadd %0:32, %2:32\n%4:64 = pack64 %3:32, %1:32\n"
         "%5:32, %6:32 = unpack64 %4:64\nstore_uniform %5:32, #0x10:32\n"
         "store_uniform %6:32, #0x12:32\n");
}

/* Uniforms run out before results do: the rest stays, and bases of memory get places first. */
static void results_fit_the_uniforms(void **state)
{
   enum {
      COUNT = 300
   };
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agxc_shader *shader = NULL;
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   const char *text = "shader main local 64x1x1 shared 0 push 16\n%0:32 = sysval #6:32\n"
                      "%1:32, %2:32 = unpack64 u2l:64\n";
   for (unsigned i = 0; i < COUNT; i++)
      text = agx_arena_printf(&arena,
                              "%s%%%u:32 = imul u4l:32, #0x%x:32\n"
                              "store_global u2l:64, %%0:32, %%%u:32, #0:64\n",
                              text, i + 3, 2 * i + 0x12345, i + 3);
   text = agx_arena_printf(&arena,
                           "%s%%%u:32 = imul u4l:32, u5l:32\n%%%u:64 = pack64 %%%u:32, %%2:32\n"
                           "store_global %%%u:64, %%0:32, #7:32, #0:64\n",
                           text, COUNT + 3, COUNT + 4, COUNT + 3, COUNT + 4);
   assert_ok(agxc_parse(&arena, &options, text, &shader));
   shader->binding_count = 2;
   for (uint32_t i = 0; i < 2; i++)
      agxc_uniform_slot(shader, AGX_UNIFORM_BUFFER_ADDRESS, i, 0, 64);
   for (uint32_t i = 0; i < 4; i++)
      agxc_uniform_slot(shader, AGX_UNIFORM_PUSH, 4 * i, 0, 32);
   if (setjmp(failed))
      fail_msg("%s", agx_error_peek());
   assert_true(agxc_opt_preamble(shader));
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   assert_in_range(shader->uniform_halves, 300, 384);
   const char *after = agxc_print(shader, &arena);
   assert_non_null(strstr(after, "store_global u8l:64, %0:32, #7:32"));
   assert_non_null(strstr(after, "imul"));
   agx_arena_fini(&arena);
}

/* All of them live at once, and a preamble has no scratch memory. */
static void what_would_spill_stays(void **state)
{
   enum {
      COUNT = 140
   };
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   const char *text = X;
   for (unsigned i = 1; i <= COUNT; i++)
      text = agx_arena_printf(&arena, "%s%%%u:32 = imul u4l:32, #0x%x:32\n", text, i, i + 0x12345);
   text = agx_arena_printf(&arena, "%s%%%u:32 = imul %%1:32, %%%u:32\n", text, COUNT + 1, COUNT);
   for (unsigned i = 1; i < COUNT; i++)
      text = agx_arena_printf(&arena, "%s%%%u:32 = imul %%%u:32, %%%u:32\n", text, COUNT + 1 + i,
                              COUNT + i, i);
   check(
      agx_arena_printf(&arena, "%sstore_global u2l:64, %%0:32, %%%u:32, #0:64\n", text, 2 * COUNT),
      NULL, NULL);
   agx_arena_fini(&arena);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(costly_results_move),
      cmocka_unit_test(one_result_may_need_another),
      cmocka_unit_test(what_stays_may_be_needed_too),
      cmocka_unit_test(cheap_results_move_out_of_loops_only),
      cmocka_unit_test(what_folds_stays),
      cmocka_unit_test(complements_of_shifts_stay),
      cmocka_unit_test(operands_of_what_stays_become_results),
      cmocka_unit_test(threads_and_lanes_stay),
      cmocka_unit_test(loads_of_constant_memory_move),
      cmocka_unit_test(loads_that_may_fault_move_when_all_threads_run_them),
      cmocka_unit_test(addresses_are_results),
      cmocka_unit_test(results_fit_the_uniforms),
      cmocka_unit_test(what_would_spill_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
