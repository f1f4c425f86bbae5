/* SPDX-License-Identifier: MIT
 *
 * A kmd in front of the virtual one that fails requests on demand. Any thread.
 */
#pragma once

#include "forward_kmd.h"

struct failing_kmd {
   union {
      struct agx_kmd base;
      struct forward_kmd forward;
   };
   _Atomic int countdown;   /* requests (of number nr) that still succeed; < 0: all do */
   _Atomic uint32_t nr;     /* low byte of the request, or FORWARD_UDMABUF; 0: any */
   _Atomic int error;       /* positive errno */
   _Atomic bool once;       /* only the first of them; set after arming */
   _Atomic uint32_t failed; /* requests that were failed */
   /* Called before each request, by who makes it, with its low byte; or NULL. */
   void (*_Atomic hook)(void *user, uint32_t nr);
   void *hook_user;
   _Atomic uint32_t asked; /* fences that were made files, to be asked how they came out */
};

/* Owned by the test, which may look at it after the device has closed it. */
void failing_kmd_open(struct failing_kmd *kmd);
/* The nth request from now on (0: the next) of number nr and all later ones fail. */
void failing_kmd_arm(struct failing_kmd *kmd, int nth, uint32_t nr, int error);
/* Until the device is gone: its last reference may go in its own worker. */
void failing_kmd_await_close(const struct failing_kmd *kmd);
void failing_kmd_disarm(struct failing_kmd *kmd);
