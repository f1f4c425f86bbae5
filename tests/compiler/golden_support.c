/* SPDX-License-Identifier: MIT */
#include "agx/compiler/opt/opt.h"
#include "golden_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(struct pass_golden *golden, const char *text)
{
   size_t more = strlen(text);
   golden->text = realloc(golden->text, golden->length + more + 1);
   assert_non_null(golden->text);
   memcpy(golden->text + golden->length, text, more + 1);
   golden->length += more;
}

static const char *without_header(const char *text)
{
   const char *end = strchr(text, '\n');
   return end ? end + 1 : text;
}

static void run_case(struct pass_golden *golden, const char *title, const char *body, bool same)
{
   struct agx_arena arena;
   jmp_buf failed;
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agxc_shader *shader = NULL;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   const char *text = agx_arena_printf(&arena, "shader main local 32x2x1 shared %u push 0\n%s",
                                       golden->shared_B, body);
   assert_ok(agxc_parse(&arena, &options, text, &shader));
   shader->binding_count = 4;
   if (setjmp(failed))
      fail_msg("%s: %s", title, agx_error_peek());
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   const char *before = agxc_print(shader, &arena);
   for (size_t i = 0; i < golden->pass_count; i++)
      golden->passes[i](shader);
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   agxc_opt_copy_prop(shader);
   agxc_opt_dce(shader);
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   const char *after = agxc_print(shader, &arena);
   if (same && strcmp(before, after) != 0)
      fail_msg("%s: changed\nbefore:\n%safter:\n%s", title, before, after);
   if (!same && strcmp(before, after) == 0)
      fail_msg("%s: nothing changed\n%s", title, before);
   append(golden, "==== ");
   append(golden, title);
   append(golden, same ? ": stays\n" : "\n");
   append(golden, without_header(before));
   if (!same) {
      append(golden, "----\n");
      append(golden, without_header(after));
   }
   append(golden, "\n");
   agx_arena_fini(&arena);
}

void pass_case(struct pass_golden *golden, const char *title, const char *body)
{
   run_case(golden, title, body, false);
}

void pass_case_same(struct pass_golden *golden, const char *title, const char *body)
{
   run_case(golden, title, body, true);
}

void pass_golden_check(struct pass_golden *golden, const char *name)
{
   if (name)
      agx_test_golden(name, golden->text);
   free(golden->text);
   golden->text = NULL;
}
