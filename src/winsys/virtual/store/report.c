/* SPDX-License-Identifier: MIT
 *
 * What the node has to say: on standard error when tracing, and the last sentence for
 * those who ask.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "winsys/virtual/store/node.h"

void agxv_trace(const struct agx_virtual_node *node, const char *format, ...)
{
   if (!node->options.trace)
      return;
   char text[AGXV_ERROR_BYTES];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(text, sizeof(text), format, arguments);
   va_end(arguments);
   fprintf(stderr, "agx virtual: %s\n", text);
}

void agxv_report(struct agx_virtual_node *node, const char *format, ...)
{
   char text[AGXV_ERROR_BYTES];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(text, sizeof(text), format, arguments);
   va_end(arguments);
   agxv_lock(node);
   memcpy(node->shared->last_error, text, sizeof(text));
   agxv_unlock(node);
   if (node->options.trace)
      fprintf(stderr, "agx virtual: %s\n", text);
}

size_t agx_virtual_last_error(struct agx_virtual_node *node, char *text, size_t capacity)
{
   agxv_lock(node);
   size_t length = strnlen(node->shared->last_error, AGXV_ERROR_BYTES - 1);
   if (capacity) {
      size_t copied = AGX_MIN(length, capacity - 1);
      memcpy(text, node->shared->last_error, copied);
      text[copied] = 0;
   }
   agxv_unlock(node);
   return length;
}
