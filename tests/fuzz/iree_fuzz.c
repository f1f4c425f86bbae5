/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the reader of IREE's containers: whatever is taken is read to its end, names and modules
 * byte by byte. Nothing may leave the data.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "iree/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint32_t sink; /* so that no read is dropped */

static void read_text(const char *text)
{
   sink += text ? (uint32_t)strlen(text) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   struct agx_iree_container container;
   struct agx_iree_error error;
   struct agx_iree_export found;
   struct agx_iree_binding binding;
   uint8_t *copy = malloc(size + !size); /* as long as its memory, so that a sanitizer sees more */
   if (!copy)
      return 0;
   memcpy(copy, data, size);
   uint64_t content_B = size > AGX_IREE_HEADER_B ? size - AGX_IREE_HEADER_B : 0;
   if (content_B)
      memcpy(copy + 8, &content_B, 8);
   agx_status status = agx_iree_container_open(copy, size, &container, &error);
   for (uint32_t i = 0; status == AGX_OK && i < container.export_count && i < 64; i++) {
      if (agx_iree_container_get_export(&container, i, &found, &error) != AGX_OK)
         continue;
      read_text(found.name);
      read_text(found.debug_name);
      read_text(found.source_file);
      sink += agx_iree_visible_lanes(found.spirv, found.spirv_B);
      for (uint32_t j = 0; j < found.binding_count; j++)
         (void)agx_iree_export_get_binding(&container, &found, j, &binding, &error);
   }
   sink += agx_iree_visible_lanes(copy, size);
   free(copy);
   return 0;
}
