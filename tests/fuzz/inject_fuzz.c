/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the reader of fault scripts, which AGX_VIRTUAL_INJECT names. Nothing may crash, and only a
 * refusal with a text may come back.
 */
#include <stdlib.h>
#include <string.h>

#include "winsys/virtual/node/node_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   struct agxv_inject *inject = size ? calloc(1, sizeof(*inject)) : NULL;
   if (!inject)
      return 0;
   /* The first byte is a seed's. */
   agx_status status = agxv_inject_parse((const char *)data + 1, size - 1, inject);
   bool is_refused = status == AGX_INVALID_ARGUMENT && agx_error_peek()[0];
   if ((status != AGX_OK && !is_refused) || inject->count > AGXV_MAX_RULES)
      abort();
   free(inject);
   return 0;
}
