/* SPDX-License-Identifier: MIT
 *
 * Which accesses have a bound that the driver can compute, and what it is; accesses without one
 * stay as they are. u0 is the address of binding 0, u4 and u5 are the first push constants.
 */
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/ir/launch_slots.h"
#include "support.h"

#include <string.h>

#define OUT "store_shared #0:32, "
#define X   "%0:32 = sysval global_id_x\n"
#define LOAD(index)                                                                                \
   "%90:32 = element " index ", #4:32\n%91:32 = load_global u0l:64, %90:32, access=0\n" OUT "%91:" \
   "32\n"

static const char *const names[] = {
   [AGX_STEP_CONSTANT] = "",   [AGX_STEP_PUSH] = "push",       [AGX_STEP_LAST_THREAD] = "thread",
   [AGX_STEP_ADD] = "+",       [AGX_STEP_MUL] = "*",           [AGX_STEP_MIN] = "min",
   [AGX_STEP_BELOW] = "<",     [AGX_STEP_BELOW_SIGNED] = "<s", [AGX_STEP_COUNT_SIGNED] = "count",
   [AGX_STEP_UMOD] = "%",      [AGX_STEP_IMIN] = "imin",       [AGX_STEP_IMAX] = "imax",
   [AGX_STEP_WIDE_ADD] = "++", [AGX_STEP_WIDE_MUL] = "**",     [AGX_STEP_EXACT_ADD] = "=+",
   [AGX_STEP_COUNT] = NULL,
};

static char *describe(const struct agxc_shader *shader, struct agx_arena *arena)
{
   char *text = agx_arena_printf(arena, "%s", "");
   for (uint32_t i = 0; i < shader->guard_count; i++) {
      const struct agx_program_guard *c = &shader->guards[i];
      for (uint32_t k = 0; k < c->step_count; k++) {
         const char *name = names[c->steps[k].op];
         assert_non_null(name);
         bool has_value = c->steps[k].op <= AGX_STEP_LAST_THREAD;
         text = has_value ? agx_arena_printf(arena, "%s%s%u ", text, name, c->steps[k].value)
                          : agx_arena_printf(arena, "%s%s ", text, name);
      }
      text = agx_arena_printf(arena, "%s: %u of %u\n", text, c->bytes, c->binding);
   }
   return text;
}

/* guards: "" where nothing is proved. */
static void check(const char *body, const char *guards)
{
   struct agx_arena arena;
   jmp_buf failed;
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agxc_shader *shader = NULL;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   assert_ok(agxc_parse(
      &arena, &options,
      agx_arena_printf(&arena, "shader main local 64x1x1 shared 64 push 16\n%s", body), &shader));
   shader->binding_count = 2;
   for (uint32_t i = 0; i < 2; i++) {
      shader->bindings[i].robustness = AGX_PROGRAM_ROBUST_ZERO;
      agxc_uniform_slot(shader, AGX_UNIFORM_BUFFER_ADDRESS, i, 0, 64);
   }
   for (uint32_t i = 0; i < 4; i++)
      agxc_uniform_slot(shader, AGX_UNIFORM_PUSH, 4 * i, 0, 32);
   shader->is_unchecked = true;
   agxc_elide_bounds_checks(shader);
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   const char *got = describe(shader, &arena), *text = agxc_print(shader, &arena);
   if (strcmp(got, guards) != 0)
      fail_msg("%sgives:\n%swant:\n%s", body, got, guards);
   /* What is proved has neither ELEMENT nor a check to come. */
   assert_int_equal(strstr(text, "access=unchecked\n") != NULL, *guards != 0);
   agx_arena_fini(&arena);
}

static void grids_bound_indices(void **state)
{
   check(X LOAD("%0:32"), "thread0 4 ** : 4 of 0\n");
   check(X "%1:32 = imul %0:32, u4l:32\n%2:32 = iadd %1:32, u5l:32\n" LOAD("%2:32"),
         "thread0 push0 * push4 + 4 ** : 4 of 0\n");
   check(X "%1:32 = umod %0:32, u4l:32\n" LOAD("%1:32"), "thread0 push0 % 4 ** : 4 of 0\n");
   check(X "%1:32 = element %0:32, #8:32\n%2:32 = iadd %1:32, #4:32\n"
           "store_global u2l:64, %2:32, %0:32, access=0\n",
         "thread0 8 ** : 8 of 1\n");
   check("store_global u2l:64, #12:32, #0:32, access=0\n", "0 : 16 of 1\n");
}

static void what_memory_says_has_no_bound(void **state)
{
   check("%0:32 = load_shared #0:32\n" LOAD("%0:32"), "");
   check("%0:32 = load_shared #0:32\n%1:32 = iadd %0:32, #1:32\n" LOAD("%1:32"), "");
   check("%0:32 = load_shared #0:32\n%1:32 = iand %0:32, #0xff:32\n" LOAD("%1:32"),
         "4294967295 255 min 4 ** : 4 of 0\n");
   check(X "%1:32 = iadd %0:32, #0xffffffff:32\n" LOAD("%1:32"), ""); /* 0 - 1 */
   check(X "%1:32 = isub u4l:32, %0:32\n" LOAD("%1:32"), "");
}

static void tests_bound_what_stands_behind_them(void **state)
{
   check("%0:32 = load_shared #0:32\n%1:1 = ult %0:32, u4l:32\nbranch %1:1\nif\n" LOAD(
            "%0:32") "else\nend\n",
         "4294967295 push0 < 4 ** : 4 of 0\n");
   check("%0:32 = load_shared #0:32\n%1:1 = ult %0:32, u4l:32\nbranch %1:1\nif\nelse\n" LOAD(
            "%0:32") "end\n",
         "");
   check("%0:32 = load_shared #0:32\n%1:1 = ult %0:32, u4l:32\nbranch %1:1\nif\nelse\nend\n" LOAD(
            "%0:32"),
         "");
   check("%0:32 = load_shared #0:32\n%1:1 = uge %0:32, u4l:32\nbranch %1:1\nif\n   return\n"
         "else\nend\n" LOAD("%0:32"),
         "4294967295 push0 < 4 ** : 4 of 0\n");
   /* i >= n || i >= m, as front ends have it; and what only one of two ways says. */
   check("%0:32 = load_shared #0:32\n%1:1 = uge %0:32, u4l:32\n%2:1 = inot %1:1\nbranch %2:1\nif\n"
         "   %3:1 = uge %0:32, u5l:32\nelse\nend\n%4:1 = phi %3:1, %1:1\nbranch %4:1\nif\n"
         "   return\nelse\nend\n" LOAD("%0:32"),
         "4294967295 push4 < push0 < 4 ** : 4 of 0\n");
   check("%0:32 = load_shared #0:32\n%1:1 = uge %0:32, u4l:32\nbranch %1:1\nif\n"
         "   %3:1 = uge %0:32, u5l:32\nelse\nend\n%4:1 = phi %3:1, %1:1\nbranch %4:1\nif\n"
         "   return\nelse\nend\n" LOAD("%0:32"),
         "");
   /* Signed tests say nothing about what may be negative. */
   check(X "%1:1 = slt %0:32, u4l:32\nbranch %1:1\nif\n" LOAD("%0:32") "else\nend\n",
         "thread0 push0 <s 4 ** : 4 of 0\n");
   check("%0:32 = load_shared #0:32\n%1:1 = slt %0:32, u4l:32\nbranch %1:1\nif\n" LOAD(
            "%0:32") "else\nend\n",
         "");
   /* With a lower limit one may be taken off. */
   check(X "%1:1 = ult #0:32, %0:32\nbranch %1:1\nif\n%2:32 = iadd %0:32, #0xffffffff:32\n" LOAD(
            "%2:32") "else\nend\n",
         "thread0 4 ** : 4 of 0\n");
}

#define LOOP(test, body)                                                                           \
   "loop\n   %50:32 = phi #0:32, %51:32\n" test                                                    \
   "   branch %52:1\n   if\n   else\n      break\n   end\n" body                                   \
   "   %51:32 = iadd %50:32, #2:32\ncontinuing\nend\n"

static void loops_count(void **state)
{
   check(LOOP("   %52:1 = ult %50:32, u4l:32\n", LOAD("%50:32")),
         "4294967295 push0 < 4 ** : 4 of 0\n");
   check(LOOP("   %52:1 = slt %50:32, u4l:32\n", LOAD("%50:32")),
         "0 push0 count push0 <s 4 ** : 4 of 0\n");
   check(LOOP("   %52:1 = ine %50:32, u4l:32\n", LOAD("%50:32")), "");
   /* A limit that was larger in iterations before: the counter may have wrapped. */
   check(LOOP("   %60:32 = load_shared #0:32\n   %52:1 = slt %50:32, %60:32\n",
              "   %61:1 = ult %60:32, u4l:32\n   branch %61:1\n   if\n" LOAD("%50:32") "   else\n"
                                                                                       "   end\n"),
         "");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(grids_bound_indices),
      cmocka_unit_test(what_memory_says_has_no_bound),
      cmocka_unit_test(tests_bound_what_stands_behind_them),
      cmocka_unit_test(loops_count),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
