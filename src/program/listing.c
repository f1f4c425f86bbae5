/* SPDX-License-Identifier: MIT
 *
 * Lists the machine code of a program, for `agx disasm` and for applications that ask what an
 * executable became.
 */
#include "program/listing.h"

#include <stdio.h>

/* Names have any length, lines have not: a longer one is cut. */
static void add_title(const struct agx_program *program, const char *part, agx_isa_sink sink,
                      void *user)
{
   char title[1024];
   snprintf(title, sizeof(title), "# %.1000s%s", agx_program_name(program), part);
   sink(user, title);
}

agx_status agx_program_list(const struct agx_program *program, agx_isa_sink sink, void *user)
{
   add_title(program, "", sink, user);
   AGX_TRY(agx_isa_disassemble(program->code, program->code_B, 0, sink, user));
   if (program->preamble_B == 0)
      return AGX_OK;
   sink(user, "");
   add_title(program, ", preamble", sink, user);
   return agx_isa_disassemble(program->preamble, program->preamble_B, 0, sink, user);
}
