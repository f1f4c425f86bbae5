/* SPDX-License-Identifier: MIT
 *
 * The thread's error text. It is written only on failure, into a fixed
 * buffer, so that the paths that succeed never pay for it.
 */
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char error_text[AGX_ERROR_TEXT_BYTES];

static const char *const status_names[] = {
   [AGX_OK] = "OK",
   [AGX_CANCELLED] = "CANCELLED",
   [AGX_UNKNOWN] = "UNKNOWN",
   [AGX_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
   [AGX_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
   [AGX_NOT_FOUND] = "NOT_FOUND",
   [AGX_ALREADY_EXISTS] = "ALREADY_EXISTS",
   [AGX_PERMISSION_DENIED] = "PERMISSION_DENIED",
   [AGX_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
   [AGX_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
   [AGX_ABORTED] = "ABORTED",
   [AGX_OUT_OF_RANGE] = "OUT_OF_RANGE",
   [AGX_UNIMPLEMENTED] = "UNIMPLEMENTED",
   [AGX_INTERNAL] = "INTERNAL",
   [AGX_UNAVAILABLE] = "UNAVAILABLE",
   [AGX_DATA_LOSS] = "DATA_LOSS",
   [AGX_UNAUTHENTICATED] = "UNAUTHENTICATED",
   [AGX_DEFERRED] = "DEFERRED",
   [AGX_INCOMPATIBLE] = "INCOMPATIBLE",
};

/* What the caller named is INVALID_ARGUMENT, NOT_FOUND or PERMISSION_DENIED; what the system lacks
 * is RESOURCE_EXHAUSTED or UNAVAILABLE; what it never does is UNIMPLEMENTED. */
static const struct {
   int error;
   agx_status code;
} errno_codes[] = {
   {EINVAL, AGX_INVALID_ARGUMENT},
   {E2BIG, AGX_INVALID_ARGUMENT},
   {EFAULT, AGX_INVALID_ARGUMENT},
   {EBADF, AGX_INVALID_ARGUMENT},
   {ESPIPE, AGX_INVALID_ARGUMENT},
   {EISDIR, AGX_INVALID_ARGUMENT},
   {ENOTDIR, AGX_INVALID_ARGUMENT},
   {ELOOP, AGX_INVALID_ARGUMENT},
   {ENAMETOOLONG, AGX_INVALID_ARGUMENT},
   {EILSEQ, AGX_INVALID_ARGUMENT},
   {ENOTSOCK, AGX_INVALID_ARGUMENT},
   {EDOM, AGX_INVALID_ARGUMENT},
   {ENOENT, AGX_NOT_FOUND},
   {ESRCH, AGX_NOT_FOUND},
   {ENODATA, AGX_NOT_FOUND},
   {EEXIST, AGX_ALREADY_EXISTS},
   {EACCES, AGX_PERMISSION_DENIED},
   {EPERM, AGX_PERMISSION_DENIED},
   {EROFS, AGX_PERMISSION_DENIED},
   {ENOMEM, AGX_RESOURCE_EXHAUSTED},
   {ENOSPC, AGX_RESOURCE_EXHAUSTED},
   {EDQUOT, AGX_RESOURCE_EXHAUSTED},
   {EMFILE, AGX_RESOURCE_EXHAUSTED},
   {ENFILE, AGX_RESOURCE_EXHAUSTED},
   {ENOBUFS, AGX_RESOURCE_EXHAUSTED},
   {EMLINK, AGX_RESOURCE_EXHAUSTED},
   {ENOLCK, AGX_RESOURCE_EXHAUSTED},
   {EUSERS, AGX_RESOURCE_EXHAUSTED},
   {EBUSY, AGX_FAILED_PRECONDITION},
   {ETXTBSY, AGX_FAILED_PRECONDITION},
   {ENOTEMPTY, AGX_FAILED_PRECONDITION},
   {EPIPE, AGX_FAILED_PRECONDITION},
   {EDEADLK, AGX_ABORTED},
   {ESTALE, AGX_ABORTED},
   {ERANGE, AGX_OUT_OF_RANGE},
   {EFBIG, AGX_OUT_OF_RANGE},
   {EOVERFLOW, AGX_OUT_OF_RANGE},
   {ETIME, AGX_DEADLINE_EXCEEDED},
   {ETIMEDOUT, AGX_UNAVAILABLE}, /* a device or a server, not the deadline of a wait of ours */
   {ECANCELED, AGX_CANCELLED},
   {ENODEV, AGX_UNAVAILABLE},
   {ENXIO, AGX_UNAVAILABLE},
   {EIO, AGX_UNAVAILABLE},
   {EREMOTEIO, AGX_UNAVAILABLE},
   {EAGAIN, AGX_UNAVAILABLE},
   {EINTR, AGX_UNAVAILABLE},
   {ECONNREFUSED, AGX_UNAVAILABLE},
   {ECONNRESET, AGX_UNAVAILABLE},
   {ENOMEDIUM, AGX_UNAVAILABLE},
   {EBADMSG, AGX_DATA_LOSS},
   {EUCLEAN, AGX_DATA_LOSS},
   {ENOTTY, AGX_UNIMPLEMENTED},
   {EOPNOTSUPP, AGX_UNIMPLEMENTED},
   {ENOSYS, AGX_UNIMPLEMENTED},
   {EXDEV, AGX_UNIMPLEMENTED},
};

const char *agx_status_name(agx_status status)
{
   if (status < 0 || (size_t)status >= sizeof(status_names) / sizeof(status_names[0]))
      return "?";
   return status_names[status];
}

size_t agx_error_text(char *buffer, size_t capacity)
{
   size_t length = strlen(error_text);
   if (capacity > 0) {
      size_t copied = length < capacity ? length : capacity - 1;
      memcpy(buffer, error_text, copied);
      buffer[copied] = 0;
   }
   return length;
}

const char *agx_error_peek(void)
{
   return error_text;
}

void agx_error_save(char text[AGX_ERROR_TEXT_BYTES])
{
   memcpy(text, error_text, strlen(error_text) + 1);
}

void agx_error_restore(const char text[AGX_ERROR_TEXT_BYTES])
{
   memcpy(error_text, text, strlen(text) + 1);
}

/* Formats through a temporary, because arguments may point into error_text. */
static void format_text(const char *format, va_list args, const char *tail)
{
   char text[AGX_ERROR_TEXT_BYTES];
   int length = vsnprintf(text, sizeof(text), format, args);
   if (length < 0)
      length = 0;
   if ((size_t)length < sizeof(text) && tail)
      snprintf(text + length, sizeof(text) - (size_t)length, ": %s", tail);
   memcpy(error_text, text, sizeof(text));
}

agx_status agx_status_fail(agx_status code, const char *format, ...)
{
   va_list args;
   va_start(args, format);
   format_text(format, args, NULL);
   va_end(args);
   return code;
}

agx_status agx_status_fail_errno(int error, const char *format, ...)
{
   error = error < 0 ? -error : error;
   va_list args;
   va_start(args, format);
   format_text(format, args, strerror(error));
   va_end(args);
   for (size_t i = 0; i < sizeof(errno_codes) / sizeof(errno_codes[0]); i++)
      if (errno_codes[i].error == error)
         return errno_codes[i].code;
   return AGX_UNKNOWN;
}

void agx_error_prefix(const char *format, ...)
{
   char tail[AGX_ERROR_TEXT_BYTES];
   memcpy(tail, error_text, sizeof(tail));
   va_list args;
   va_start(args, format);
   format_text(format, args, tail);
   va_end(args);
}

void agx_assert_failed(const char *condition, const char *file, int line)
{
   fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
   abort();
}
