/* SPDX-License-Identifier: MIT
 *
 * Raising and passing on failures. A callee formats the text once, with the
 * object and the value; callers pass the code on with AGX_TRY and add nothing
 * but, where it helps, a prefix (agx_error_prefix).
 */
#pragma once

#include "agx/status.h"

/* Returns from the calling function when expr fails. */
#define AGX_TRY(expr)                                                                              \
   do {                                                                                            \
      agx_status agx_try_status_ = (expr);                                                         \
      if (__builtin_expect(agx_try_status_ != AGX_OK, 0))                                          \
         return agx_try_status_;                                                                   \
   } while (0)

/* Evaluates to code after formatting the thread's error text:
 * return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: align %u", name, align); */
#define AGX_FAIL(code, ...) agx_status_fail((code), __VA_ARGS__)

/* Formats the thread's error text and returns code. */
agx_status agx_status_fail(agx_status code, const char *format, ...)
   __attribute__((format(printf, 2, 3), cold));

/* As agx_status_fail, with the code that fits a negative or positive errno
 * value; the text gets ": <strerror>" appended. */
agx_status agx_status_fail_errno(int error, const char *format, ...)
   __attribute__((format(printf, 2, 3), cold));

/* Puts a formatted prefix and ": " before the thread's error text. */
void agx_error_prefix(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* The thread's error text itself; valid until the thread's next failure. */
const char *agx_error_peek(void);

#define AGX_ERROR_TEXT_BYTES 512
/* Puts the thread's error text aside while the thread does something else. */
void agx_error_save(char text[AGX_ERROR_TEXT_BYTES]);
/* Puts a text of agx_error_save back. */
void agx_error_restore(const char text[AGX_ERROR_TEXT_BYTES]);

/* For broken invariants of the library itself, never for input. Kept in debug
 * builds and in tests. */
#ifdef AGX_ASSERTIONS
#define agx_assert(condition)                                                                      \
   do {                                                                                            \
      if (__builtin_expect(!(condition), 0))                                                       \
         agx_assert_failed(#condition, __FILE__, __LINE__);                                        \
   } while (0)
#else
#define agx_assert(condition) ((void)sizeof(!(condition)))
#endif
/* Prints what was not so, and ends the process; agx_assert calls it. */
void agx_assert_failed(const char *condition, const char *file, int line)
   __attribute__((noreturn, cold));

#define agx_unreachable() __builtin_unreachable()
