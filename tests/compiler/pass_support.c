/* SPDX-License-Identifier: MIT */
#include "pass_support.h"

#include <string.h>

static struct agxc_shader *parse(struct agx_arena *arena, const struct agxc_options *options,
                                 const char *body)
{
   struct agxc_shader *shader = NULL;
   const char *text = agx_arena_printf(arena, PASS_HEADER "%s", body);
   assert_ok(agxc_parse(arena, options, text, &shader));
   shader->binding_count = 2;
   return shader;
}

void check_passes(const pass_fn *passes, size_t count, const char *before, const char *after)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = parse(&arena, &options, before);
   for (size_t i = 0; i < count; i++)
      passes[i](shader);
   agxc_opt_dce(shader);
   const char *got = agxc_print(shader, &arena) + strlen(PASS_HEADER);
   if (strcmp(got, after) != 0)
      fail_msg("before:\n%safter:\n%swant:\n%s", before, got, after);
   bool is_machine =
      count && (passes[count - 1] == agxc_select || passes[count - 1] == agxc_schedule);
   assert_ok(agxc_validate(shader, is_machine ? AGXC_STAGE_MACHINE : AGXC_STAGE_GENERIC));
   agx_arena_fini(&arena);
}
