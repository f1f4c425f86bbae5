/* SPDX-License-Identifier: MIT */
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/schedule/schedule.h"
#include "agx/compiler/select/select.h"
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

/* Whether two texts are the same but for the blanks that lines begin with. */
static bool same_text(const char *a, const char *b)
{
   for (;; a++, b++) {
      a += strspn(a, " ");
      b += strspn(b, " ");
      size_t length = strcspn(a, "\n");
      if (strncmp(a, b, length + 1) != 0)
         return false;
      if (!a[length])
         return true;
      a += length;
      b += length;
   }
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
   bool has_registers = count && passes[count - 1] == agxc_schedule_post;
   if (!has_registers)
      agxc_opt_dce(shader);
   const char *got = agxc_print(shader, &arena) + strlen(PASS_HEADER);
   if (!same_text(got, after))
      fail_msg("before:\n%safter:\n%swant:\n%s", before, got, after);
   bool is_machine =
      count && (passes[count - 1] == agxc_select || passes[count - 1] == agxc_schedule);
   assert_ok(agxc_validate(shader, has_registers ? AGXC_STAGE_REGISTERS
                                   : is_machine  ? AGXC_STAGE_MACHINE
                                                 : AGXC_STAGE_GENERIC));
   agx_arena_fini(&arena);
}
