/* SPDX-License-Identifier: MIT
 *
 * The frame that scratch memory needs: first of all, once, and only then.
 */
#include "agx/compiler/emit/emit.h"
#include "uniform_support.h"

#define ADD   "r0l:32 = agx.iadd r0l:32, #1:32\n"
#define FRAME "agx.stack_adjust #0x1c:32\n"
#define IF    "agx.if_icmp r0l:32, #9:32, #0:64, cond=ugt\nif\n   " ADD "else\nend\n"

static bool with_70_bytes(struct agxc_shader *shader)
{
   shader->scratch_B = 70;
   return agxc_insert_stack(shader);
}

static void check(bool (*pass)(struct agxc_shader *), const char *before, const char *after)
{
   uniform_check(&(struct uniform_case){
      .pass = pass, .before = before, .after = after, .stage = AGXC_STAGE_REGISTERS});
}

static void scratch_memory_takes_a_frame(void **state)
{
   check(with_70_bytes, ADD, FRAME ADD);
   check(with_70_bytes, IF ADD, FRAME IF ADD);
   check(with_70_bytes, "", FRAME);
}

static void without_there_is_none(void **state)
{
   check(agxc_insert_stack, ADD, NULL);
   check(agxc_insert_stack, IF ADD, NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(scratch_memory_takes_a_frame),
      cmocka_unit_test(without_there_is_none),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
