/* SPDX-License-Identifier: MIT
 *
 * Parses the values of --robust, for the commands that compile or run a kernel.
 */
#include "robust.h"

#include <stdlib.h>
#include <string.h>

static bool parse_mode(const char *text, uint32_t *out_mode)
{
   static const char *const names[] = {
      [AGX_ROBUST_OFF] = "off", [AGX_ROBUST_CLAMP] = "clamp", [AGX_ROBUST_ZERO] = "zero"};
   for (uint32_t i = AGX_ROBUST_OFF; i <= AGX_ROBUST_ZERO; i++) {
      if (strcmp(text, names[i]) == 0) {
         *out_mode = i;
         return true;
      }
   }
   return false;
}

/* A number, which must be followed by end; moves on behind that. */
static bool parse_number(const char **text, char end, uint32_t *out_number)
{
   char *after;
   if (**text < '0' || **text > '9')
      return false;
   unsigned long number = strtoul(*text, &after, 10);
   if (*after != end || number > UINT32_MAX)
      return false;
   *out_number = (uint32_t)number;
   *text = after + 1;
   return true;
}

bool agx_tool_robust_parse(struct agx_tool_robust *robust, const char *text)
{
   struct agx_binding_robustness one;
   if (parse_mode(text, &robust->mode))
      return true;
   if (robust->count == AGX_MAX_BINDINGS || !parse_number(&text, '.', &one.set) ||
       !parse_number(&text, '=', &one.binding) || !parse_mode(text, &one.robustness))
      return false;
   robust->overrides[robust->count++] = one;
   return true;
}
