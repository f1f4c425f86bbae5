/* SPDX-License-Identifier: MIT
 *
 * Fault scripts for nodes that tests have made.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "winsys/virtual/node/node_impl.h"

/* The script in place of the one that AGX_VIRTUAL_INJECT gave; before the first file is opened. */
static inline agx_status set_script(struct agx_virtual_node *node, const char *script)
{
   struct agxv_inject *inject = calloc(1, sizeof(*inject));
   if (!inject)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual node: no memory for a fault script");
   agx_status status = agxv_inject_parse(script, strlen(script), inject);
   if (status != AGX_OK) {
      free(inject);
      return status;
   }
   free(node->inject);
   node->inject = inject;
   return AGX_OK;
}
