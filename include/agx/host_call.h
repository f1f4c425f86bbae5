/* SPDX-License-Identifier: MIT
 *
 * Functions of the application as operations (AGX_OP_HOST_CALL in agx/queue.h).
 */
#pragma once

#include "agx/semaphore.h"

#ifdef __cplusplus
extern "C" {
#endif

struct agx_host_call;

enum agx_host_call_flags {
   /* The operation's signals are published when its waits are reached, without regard to the
    * function: it runs some time after, or at the same time, and what it returns is dropped. */
   AGX_HOST_CALL_NON_BLOCKING = 1,
   AGX_HOST_CALL_WAIT_ACTIVE = 2, /* a hint: it is worth spinning for what the function does */
   AGX_HOST_CALL_RELAXED = 4,     /* a hint: it touches no memory that the GPU does */
};

/* Calls fn once all waits of the operation are reached, on a thread of the library that takes no
 * signals, without any lock held. What fn returns decides:
 *
 *    AGX_OK         the operation's signals are reached
 *    AGX_DEFERRED   fn, or code that it called, calls agx_host_call_finish, once; that may be long
 *                   after, and before fn has returned, too. No thread is kept meanwhile,
 *                   and AGX_DEBUG=serial waits for fn only.
 *    anything else  its signals fail with that status, and with the text of the library's call
 *                   that failed in fn last, if one did
 *
 * fn is not called when a wait fails, or when the device is cancelled before its turn came.
 *
 * fn may use the whole library: query, signal and fail semaphores, submit, release the last
 * reference of anything. It must not block: the device has AGX_HOST_CALL_THREADS threads for
 * this, and a function that waits for what another call would have to do may wait forever.
 * Functions of different operations may run at the same time unless semaphores order them. */
struct agx_op_host_call {
   agx_status (*fn)(void *user, const uint64_t args[4], struct agx_host_call *call);
   void *user;
   uint64_t args[4]; /* copied */
   uint64_t flags;   /* enum agx_host_call_flags */
};

#define AGX_HOST_CALL_THREADS 4

/* The end of a call that returned, or will return, AGX_DEFERRED; from any thread. AGX_OK, or why
 * it failed; text may be NULL. The call keeps its device alive until then, so this may be the
 * last of it; call is not valid afterwards. */
AGX_API void agx_host_call_finish(struct agx_host_call *call, agx_status status, const char *text);

/* What the end of the call will signal: writes up to capacity points, returns how many there
 * are (0: AGX_HOST_CALL_NON_BLOCKING); of more than 32 the first 31, and one that the others wait
 * for. Valid until the call has ended; retain what you keep. */
AGX_API uint32_t agx_host_call_get_signals(const struct agx_host_call *call, uint32_t capacity,
                                           struct agx_point *points);

#ifdef __cplusplus
}
#endif
