/* SPDX-License-Identifier: MIT
 *
 * Divergence: what the analysis says of each value. One letter a value, in the order of ids:
 * d the whole dispatch, w a workgroup, s a SIMD-group, t a thread, - no such value.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "agx/compiler/analysis/divergence.h"
#include "ir_text.h"

static void check(const char *local, const char *body, const char *want)
{
   struct ir_text text;
   ir_text_begin(&text, local, body);
   struct agxc_shader *shader = text.shader;
   const struct agxc_divergence *divergence = agxc_divergence(shader);
   char got[64] = "";
   assert_true(shader->value_count < sizeof(got));
   for (uint32_t i = 0; i < shader->value_count; i++)
      got[i] = shader->values[i]->def ? "dwst"[divergence->value[i]] : '-';
   if (strcmp(got, want) != 0)
      fail_msg("%sgot %s, want %s", body, got, want);
   ir_text_end(&text);
}

static void values_take_the_scope_of_their_sources(void **state)
{
   check("64x1x1",
         "%0:32 = sysval workgroup_count_x\n" /* workgroup count */
         "%1:32 = sysval workgroup_id_x\n"    /* workgroup */
         "%2:32 = sysval global_id_x\n"       /* position in the grid */
         "%3:32 = sysval subgroup_id\n"
         "%4:32 = iadd %0:32, u4l:32\n"
         "%5:32 = iadd %4:32, %1:32\n"
         "%6:32 = iadd %5:32, %3:32\n"
         "%7:32 = iadd %6:32, %2:32\n"
         "%8:32 = sysval local_id_z\n",
         "dwtsdwstd");
}

static void positions_follow_the_shape_of_the_workgroup(void **state)
{
   static const char text[] =
      "%0:32 = sysval local_id_x\n%1:32 = sysval local_id_y\n%2:32 = sysval global_id_y\n";
   check("32x4x1", text, "tss");
   check("16x4x1", text, "ttt");
   check("16x1x4", text, "tdw");
}

static void loads_are_as_uniform_as_their_address_and_memory(void **state)
{
   check("32x1x1",
         "%0:32 = load_global u0l:64, #4:32, access=const\n"    /* const */
         "%1:32 = load_global u0l:64, #4:32, access=0\n"        /* may change between SIMD-groups */
         "%2:32 = load_global u0l:64, #4:32, access=coherent\n" /* coherent */
         "%3:32 = load_global u0l:64, %0:32, access=const\n"
         "%4:32 = load_global u0l:64, %1:32, access=const\n"
         "%5:32 = load_shared #0:32\n"
         "%6:32 = atomic_shared #0:32, #1:32, _, atomic=add\n"
         "%7:32 = load_scratch #0:32\n",
         "dstdsstt");
}

static void lanes_unite_and_part(void **state)
{
   check("32x1x1",
         "%0:32 = sysval global_id_x\n%1:1 = ieq %0:32, #3:32\n%2:32 = ballot %1:1\n"
         "%3:32 = broadcast_first %0:32\n%4:32 = reduce %0:32, with=and, lanes=0x20\n"
         "%5:32 = reduce %0:32, with=and, lanes=4\n%6:32 = scan #1:32, with=and, inclusive=1\n",
         "ttssstt");
}

static void phis_behind_an_if_follow_its_condition(void **state)
{
   static const char form[] = "%%0:32 = sysval %d\n%%1:1 = ieq %%0:32, #0:32\nbranch %%1:1\nif\n"
                              "   %%2:32 = iadd u0l:32, #1:32\nelse\nend\n"
                              "%%3:32 = phi %%2:32, #7:32\n";
   char text[256];
   snprintf(text, sizeof(text), form, 6);
   check("32x1x1", text, "ttdt");
   snprintf(text, sizeof(text), form, 0);
   check("32x1x1", text, "wwdw");
}

#define COUNT(bound)                                                                               \
   "%0:32 = sysval global_id_x\n"                                                                  \
   "loop\n"                                                                                        \
   "   %1:32 = phi #0:32, %3:32\n"                                                                 \
   "   %2:1 = uge %1:32, " bound "\n"                                                              \
   "   branch %2:1\n"                                                                              \
   "   if\n      break\n   else\n   end\n"                                                         \
   "continuing\n"                                                                                  \
   "   %3:32 = iadd %1:32, #1:32\n"                                                                \
   "end\n"                                                                                         \
   "%4:32 = iadd %1:32, #0:32\n"

static void values_differ_behind_a_loop_that_is_left_in_turns(void **state)
{
   check("32x1x1", COUNT("u0l:32"), "tdddd");
   check("32x1x1", COUNT("%0:32"), "tdtdt");
}

static void continues_part_what_joins_behind_them(void **state)
{
   check("32x1x1",
         "%0:32 = sysval global_id_x\n%1:1 = ieq %0:32, #3:32\n"
         "loop\n"
         "   %2:32 = phi #0:32, %5:32\n"
         "   branch %1:1\n"
         "   if\n      continue\n   else\n   end\n"
         "   %3:1 = uge %2:32, u0l:32\n" /* lanes that continued don't see this break */
         "   branch %3:1\n"
         "   if\n      break\n   else\n   end\n"
         "continuing\n"
         "   %4:32 = phi #1:32, #2:32\n"
         "   %5:32 = iadd %2:32, #1:32\n"
         "end\n"
         "%6:32 = iadd %2:32, #0:32\n",
         "ttddtdt");
}

static void chains_of_phis_end(void **state)
{
   /* Each walk carries what differs one phi further; then the analysis gives up. */
   struct agx_arena arena;
   agx_arena_init(&arena, NULL, SIZE_MAX, NULL);
   const char *text = "%0:32 = sysval global_id_x\nloop\n";
   for (unsigned i = 1; i < 40; i++)
      text = agx_arena_printf(&arena, "%s%%%u:32 = phi #0:32, %%%u:32\n", text, i, i + 1);
   text = agx_arena_printf(&arena,
                           "%s%%40:32 = phi #0:32, %%0:32\n%%41:1 = ieq %%1:32, #9:32\n"
                           "branch %%41:1\nif\nbreak\nelse\nend\ncontinuing\nend\n",
                           text);
   char want[43];
   memset(want, 't', 42);
   want[42] = 0;
   check("32x1x1", text, want);
   agx_arena_fini(&arena);
}

static void what_all_threads_run_is_known(void **state)
{
   struct agx_arena arena;
   jmp_buf failed;
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = NULL;
   assert_ok(agxc_parse(&arena, &options,
                        "shader main local 32x1x1 shared 0 push 0\n"
                        "%0:32 = sysval global_id_x\n%1:1 = ieq %0:32, #3:32\nbranch %1:1\n" /* 0 */
                        "if\nelse\nend\n"                       /* 1 2 */
                        "loop\n"                                /* 3 */
                        "   branch %1:1\n"                      /* 4 */
                        "   if\n      break\n   else\n   end\n" /* 5 6 */
                        "continuing\n"                          /* 7, 8 */
                        "end\n"
                        "branch %1:1\n"               /* 9 */
                        "if\n   return\nelse\nend\n", /* 10 11 12 */
                        &shader));
   const struct agxc_divergence *d = agxc_divergence(shader);
   char got[16] = "", control[16] = "";
   assert_int_equal(shader->block_count, 13);
   for (uint32_t i = 0; i < 13; i++) {
      got[i] = agx_bitset_test(d->runs, i) ? '1' : '0';
      control[i] = "dwst"[d->block[i]];
   }
   assert_string_equal(got, "1001100001000");
   assert_string_equal(control, "dttdtttttdttt");
   agx_arena_fini(&arena);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_take_the_scope_of_their_sources),
      cmocka_unit_test(positions_follow_the_shape_of_the_workgroup),
      cmocka_unit_test(loads_are_as_uniform_as_their_address_and_memory),
      cmocka_unit_test(lanes_unite_and_part),
      cmocka_unit_test(phis_behind_an_if_follow_its_condition),
      cmocka_unit_test(values_differ_behind_a_loop_that_is_left_in_turns),
      cmocka_unit_test(continues_part_what_joins_behind_them),
      cmocka_unit_test(chains_of_phis_end),
      cmocka_unit_test(what_all_threads_run_is_known),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
