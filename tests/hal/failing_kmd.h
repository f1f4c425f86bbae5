/* SPDX-License-Identifier: MIT
 *
 * A kmd in front of the virtual one that fails requests on demand. Any thread.
 */
#pragma once

#include <stdatomic.h>

#include "support.h"
#include "winsys/kmd.h"

#define FAILING_UDMABUF 0x142u /* the number that stands for UDMABUF_CREATE */

struct failing_kmd {
   struct agx_kmd base;
   struct agx_kmd *inner;
   _Atomic int countdown;   /* requests (of number nr) that still succeed; < 0: all do */
   _Atomic uint32_t nr;     /* low byte of the request; 0: any */
   _Atomic int error;       /* positive errno */
   _Atomic bool once;       /* only the first of them; set after arming */
   _Atomic uint32_t failed; /* requests that were failed */
   _Atomic bool closed;
};

/* Owned by the test, which may look at it after the device has closed it. */
void failing_kmd_open(struct failing_kmd *kmd);
/* The nth request from now on (0: the next) of number nr and all later ones fail. */
void failing_kmd_arm(struct failing_kmd *kmd, int nth, uint32_t nr, int error);
/* Until the device is gone: its last reference may go in its own worker. */
void failing_kmd_await_close(const struct failing_kmd *kmd);
void failing_kmd_disarm(struct failing_kmd *kmd);
