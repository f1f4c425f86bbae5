/* SPDX-License-Identifier: MIT
 *
 * Runs passes over a kernel and compares what the evaluator says of it before and after.
 */
#include "uniform_support.h"
#include "agx/compiler/ir/launch_slots.h"

#include <string.h>

static struct agxc_shader *read(struct agx_arena *arena, const struct agxc_options *options,
                                const struct uniform_case *c)
{
   struct agxc_shader *shader = NULL;
   const char *local = c->local ? c->local : "64x1x1";
   assert_ok(agxc_parse(
      arena, options,
      agx_arena_printf(arena, "shader main local %s shared 64 push 16\n%s", local, c->before),
      &shader));
   shader->binding_count = 2;
   shader->bindings[0].min_size_B = c->robustness ? 0 : 16;
   for (uint32_t i = 0; i < 2; i++)
      shader->bindings[i].robustness = c->robustness;
   for (uint32_t i = 0; i < 2; i++)
      agxc_uniform_slot(shader, AGX_UNIFORM_BUFFER_ADDRESS, i, 0, 64);
   for (uint32_t i = 0; i < 4; i++)
      agxc_uniform_slot(shader, AGX_UNIFORM_PUSH, 4 * i, 0, 32);
   assert_ok(agxc_validate(shader, c->stage));
   return shader;
}

static void compare(const char *what, const struct agxc_shader *shader, struct agx_arena *arena,
                    const char *want)
{
   const char *got = strchr(agxc_print(shader, arena), '\n') + 1;
   if (strcmp(got, want) != 0)
      fail_msg("%s:\n%swant:\n%s", what, got, want);
}

void uniform_check(const struct uniform_case *c)
{
   struct agx_arena arena;
   jmp_buf failed;
   struct agxc_options options = {.chip = agx_chip_find("g13g"), .robustness = c->robustness};
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = read(&arena, &options, c);
   bool progress = c->pass(shader);
   assert_ok(agxc_validate(shader, c->stage));
   compare("code", shader, &arena, c->after ? c->after : c->before);
   assert_int_equal(progress, c->after != NULL);
   assert_int_equal(shader->preamble != NULL, c->preamble != NULL);
   if (c->preamble) {
      assert_ok(agxc_validate(shader->preamble, AGXC_STAGE_GENERIC));
      compare("preamble", shader->preamble, &arena, c->preamble);
   }
   agx_arena_fini(&arena);
}
