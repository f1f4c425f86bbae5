/* SPDX-License-Identifier: MIT
 *
 * Formats one line of the log; every room of the HAL calls it.
 */
#include "hal/core/log.h"

#include <stdarg.h>
#include <stdio.h>

void agx_log(const struct agx_log *log, enum agx_log_level level, const char *format, ...)
{
   char line[AGX_LOG_LINE_B];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(line, sizeof(line), format, arguments);
   va_end(arguments);
   if (log && log->fn)
      log->fn(log->user, level, line);
   else
      fprintf(stderr, "agx: %s\n", line);
}
