/* SPDX-License-Identifier: MIT
 *
 * What the library has to say to people: to the application's function, or to standard error.
 */
#pragma once

#include "agx/device.h"

struct agx_log {
   agx_log_fn fn; /* NULL: standard error */
   void *user;
};

#define AGX_LOG_LINE_B 512 /* with the 0 at its end */

/* One line, without its end; what is too long is cut. log NULL: standard error. Any thread. */
void agx_log(const struct agx_log *log, enum agx_log_level level, const char *format, ...)
   __attribute__((format(printf, 3, 4), cold));
