/* SPDX-License-Identifier: MIT
 *
 * Preambles whose results do not fit, or that would spill; opt/preamble.ir has the others.
 */
#include <string.h>

#include "agx/compiler/opt/opt.h"
#include "agx/compiler/ir/launch_slots.h"
#include "support.h"

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
   const char *text = "shader main local 64x1x1 shared 0 push 16\n%0:32 = sysval global_id_x\n"
                      "%1:32, %2:32 = unpack64 u2l:64\n";
   for (unsigned i = 0; i < COUNT; i++)
      text = agx_arena_printf(&arena,
                              "%s%%%u:32 = imul u4l:32, #0x%x:32\n"
                              "store_global u2l:64, %%0:32, %%%u:32, access=0\n",
                              text, i + 3, 2 * i + 0x12345, i + 3);
   text = agx_arena_printf(&arena,
                           "%s%%%u:32 = imul u4l:32, u5l:32\n%%%u:64 = pack64 %%%u:32, %%2:32\n"
                           "store_global %%%u:64, %%0:32, #7:32, access=0\n",
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

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_fit_the_uniforms),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
