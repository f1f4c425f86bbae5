/* SPDX-License-Identifier: MIT
 *
 * Reads a shader from IR text, for tests in the rooms' own programs.
 */
#include "support.h"

#include "ir_text.h"

void ir_text_begin(struct ir_text *text, const char *local, const char *body)
{
   *text = (struct ir_text){.options = {.chip = agx_chip_find("g13g")}};
   agx_arena_init(&text->arena, NULL, SIZE_MAX, &text->failed);
   const char *whole =
      agx_arena_printf(&text->arena, "shader main local %s shared 4 push 8\n%s", local, body);
   assert_ok(agxc_parse(&text->arena, &text->options, whole, &text->shader));
   agxc_index(text->shader);
}

void ir_text_end(struct ir_text *text)
{
   agx_arena_fini(&text->arena);
}

struct agxc_instr *ir_text_last(const struct ir_text *text, enum agxc_op op)
{
   struct agxc_instr *last = NULL;
   agxc_foreach_block (block, text->shader)
      agxc_foreach_instr (instr, block)
         if (instr->op == op)
            last = instr;
   if (!last)
      fail_msg("no %s", agxc_op_info(op)->name);
   return last;
}
