/* SPDX-License-Identifier: MIT
 *
 * The one status type of agxhal. Every fallible function returns an
 * agx_status; the sentence that names the object and the offending value goes
 * to a fixed buffer of the calling thread (agx_error_text). The codes are the
 * 18 canonical ones, so that adapters (IREE's among them) convert by identity.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t agx_status;

enum {
   AGX_OK = 0,
   AGX_CANCELLED = 1,
   AGX_UNKNOWN = 2,
   AGX_INVALID_ARGUMENT = 3,
   AGX_DEADLINE_EXCEEDED = 4,
   AGX_NOT_FOUND = 5,
   AGX_ALREADY_EXISTS = 6,
   AGX_PERMISSION_DENIED = 7,
   AGX_RESOURCE_EXHAUSTED = 8,
   AGX_FAILED_PRECONDITION = 9,
   AGX_ABORTED = 10,
   AGX_OUT_OF_RANGE = 11,
   AGX_UNIMPLEMENTED = 12,
   AGX_INTERNAL = 13,
   AGX_UNAVAILABLE = 14,
   AGX_DATA_LOSS = 15,
   AGX_UNAUTHENTICATED = 16,
   AGX_DEFERRED = 17,
   AGX_INCOMPATIBLE = 18,
};

#if defined(__GNUC__)
#define AGX_API __attribute__((visibility("default")))
#else
#define AGX_API
#endif

#define AGX_MUST_CHECK __attribute__((warn_unused_result))

/* Returns the name of a status code, such as "INVALID_ARGUMENT"; "?" for a
 * number that is no code. The string is static. */
AGX_API const char *agx_status_name(agx_status status);

/* Copies the text of this thread's last failed call into buffer (always
 * terminated when capacity > 0; else it may be NULL) and returns the text's
 * full length in bytes without the terminator, 511 at most. Ask before the
 * thread's next call: one that succeeds may have met a failure of its own, and
 * leave its text. "" before the first. */
AGX_API size_t agx_error_text(char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif
