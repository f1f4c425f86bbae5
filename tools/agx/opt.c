/* SPDX-License-Identifier: MIT
 *
 * agx opt: runs passes of the compiler over IR text, to see what one does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx.h"
#include "agx/compiler/compiler.h"
#include "agx/opt_request.h"
#include "base/util.h"

/* Every pass once, in the order of the pipeline. */
static int list_passes(void)
{
   const char *name;
   for (size_t i = 0; (name = agxc_pass_name(i)); i++) {
      size_t first = 0;
      while (strcmp(agxc_pass_name(first), name) != 0)
         first++;
      if (first == i)
         puts(name);
   }
   return AGX_EXIT_OK;
}

static int run(struct agx_opt_request *request, const char *path, const char *command)
{
   uint8_t *text;
   size_t size;
   char *result;
   if (agx_tool_read(path, &text, &size) != AGX_OK)
      return agx_tool_failed(command);
   agx_status status = agx_opt_run(request, (const char *)text, &result);
   free(text);
   if (status != AGX_OK) {
      agx_error_prefix("%s", agx_tool_name(path));
      return agx_tool_failed(command);
   }
   fputs(result, stdout);
   free(result);
   return AGX_EXIT_OK;
}

int agx_cmd_opt(int argc, char **argv)
{
   struct agx_opt_request request = agx_opt_request_default();
   const char *path = NULL;
   int files = 0;
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--list") == 0)
         return list_passes();
      if (agx_opt_takes_value(argv[i])) {
         if (i + 1 == argc)
            return agx_tool_usage(argv[0], "%s needs a value", argv[i]);
         if (!agx_opt_add(&request, argv[i], argv[i + 1]))
            return agx_tool_usage(argv[0], "%s doesn't take %s", argv[i], argv[i + 1]);
         i++;
      } else if (argv[i][0] == '-' && argv[i][1]) {
         if (!agx_opt_add(&request, argv[i], NULL))
            return agx_tool_usage(argv[0], "unknown option %s", argv[i]);
      } else {
         path = argv[i];
         files++;
      }
   }
   if (files > 1)
      return agx_tool_usage(argv[0], "takes one file, not %d", files);
   return run(&request, path, argv[0]);
}
