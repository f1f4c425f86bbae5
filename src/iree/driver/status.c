/* SPDX-License-Identifier: MIT
 *
 * Failures across the border: the core's 18 codes are IREE's, and its texts become messages. All
 * files of the driver call this.
 */
#include <stdio.h>

#include "agx_iree.h"

/* IREE keeps no copy of a text that it is given without a format. */
iree_status_t agx_iree_status_of(agx_status status, const char *text)
{
   if (status == AGX_OK)
      return iree_ok_status();
   return iree_status_allocate_f((iree_status_code_t)status, "agx", 0, "%s", text);
}

iree_status_t agx_iree_status(agx_status status)
{
   if (status == AGX_OK)
      return iree_ok_status();
   char text[512];
   agx_error_text(text, sizeof(text));
   return agx_iree_status_of(status, text);
}

const char *agx_iree_status_text(iree_status_t status, char *text, size_t capacity)
{
   const iree_string_view_t message = iree_status_message(status);
   snprintf(text, capacity, "%.*s", (int)message.size, message.data ? message.data : "");
   return text;
}
