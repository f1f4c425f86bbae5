/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the front end: any bytes are a module. What it takes must be sound IR; what it
 * refuses must be refused with one of three codes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compiler/spirv_support.h"
#include "base/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   uint32_t *words = malloc(size < 4 ? 4 : size / 4 * 4);
   struct spirv_front front;
   if (!words)
      return 0;
   memcpy(words, data, size / 4 * 4);
   agx_status status = spirv_front_run(&front, words, size / 4, NULL);
   if (status == AGX_OK) {
      spirv_front_check(&front);
   } else if (status != AGX_INVALID_ARGUMENT && status != AGX_UNIMPLEMENTED &&
              status != AGX_RESOURCE_EXHAUSTED) {
      fprintf(stderr, "refused with %s: %s\n", agx_status_name(status), agx_error_peek());
      abort();
   }
   spirv_front_fini(&front);
   free(words);
   return 0;
}
