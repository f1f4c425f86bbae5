/* SPDX-License-Identifier: MIT
 *
 * Spilling as text: what leaves registers, where it is stored and read back, and what is
 * computed again instead. tests/compiler/control_test.c runs spilled programs.
 */
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/regalloc/regalloc.h"
#include "pass_support.h"

#include <stdio.h>
#include <string.h>

#define LANE      "%0:32 = agx.mfsr #0x34:64\n"
#define LOAD4(d)  d ":32x4 = agx.load u0l:64, %0:32, #0:64, #2:64, #0xf:64, #0:64, #0:64\n"
#define STORE4(d) "agx.store " d ":32x4, u0l:64, %0:32, #0:64, #2:64, #0xf:64, #0:64, #0:64\n"
#define PUSH4(d, offset)                                                                           \
   "agx.stack_store " d ":32x4, #" offset ":32, #0:64, #2:64, #0xf:64, #0:64\n"
#define PULL4(d, offset) d ":32x4 = agx.stack_load #" offset ":32, #0:64, #2:64, #0xf:64, #0:64\n"

/* The pass with so few registers, on text. */
static void check(uint32_t most_halves, const char *before, const char *after)
{
   struct agxc_options options = {
      .chip = agx_chip_find("g13g"), .most_halves = most_halves, .debug = AGXC_DEBUG_NO_SCHEDULE};
   struct agx_arena arena;
   jmp_buf failed;
   struct agxc_shader *shader = NULL;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   const char *text = agx_arena_printf(&arena, PASS_HEADER "%s", before);
   assert_ok(agxc_parse(&arena, &options, text, &shader));
   if (agxc_spill(shader))
      agxc_opt_dce(shader);
   const char *got = agxc_print(shader, &arena) + strlen(PASS_HEADER);
   const char *body = strstr(got, "%0:32"); /* behind the header's lines */
   assert_non_null(body);
   if (strcmp(body, after) != 0)
      fail_msg("got:\n%swant:\n%s", body, after);
   assert_ok(agxc_validate(shader, AGXC_STAGE_MACHINE));
   agx_arena_fini(&arena);
}

/* Room for the lane and one vector: of those that wait, the one used last goes. */
static void the_farthest_goes(void **state)
{
   check(24, LANE LOAD4("%1") LOAD4("%2") LOAD4("%3") STORE4("%3") STORE4("%2") STORE4("%1"),
         LANE LOAD4("%1") PUSH4("%1", "0x10") LOAD4("%2") PUSH4("%2", "0") LOAD4("%3") STORE4("%3")
            PULL4("%4", "0") STORE4("%4") PULL4("%5", "0x10") STORE4("%5"));
}

/* Constants need no memory. */
static void constants_are_made_again(void **state)
{
   check(24,
         LANE "%1:32 = agx.ldimm32 #0x12345:64, #0:64\n" LOAD4("%2") LOAD4("%3") LOAD4("%4")
            STORE4("%4") STORE4("%3")
               STORE4("%2") "agx.store %1:32, u0l:64, %0:32, #0:64, #2:64, #1:64, #0:64, #0:64\n",
         LANE LOAD4("%2") PUSH4("%2", "0x10") LOAD4("%3") PUSH4("%3", "0") LOAD4("%4") STORE4("%4")
            PULL4("%5", "0") STORE4("%5") PULL4("%6", "0x10")
               STORE4("%6") "%7:32 = agx.ldimm32 #0x12345:64, #0:64\n"
                            "agx.store %7:32, u0l:64, %0:32, #0:64, #2:64, #1:64, #0:64, #0:64\n");
}

/* What fits is left alone. */
static void what_fits_stays(void **state)
{
   const char *text = LANE LOAD4("%1") LOAD4("%2") STORE4("%2") STORE4("%1");
   check(18, text, text);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_farthest_goes),
      cmocka_unit_test(constants_are_made_again),
      cmocka_unit_test(what_fits_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
