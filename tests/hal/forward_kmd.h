/* SPDX-License-Identifier: MIT
 *
 * A kmd in front of the virtual one, which sees all its requests and may fail them. Any thread.
 */
#pragma once

#include <stdatomic.h>

#include "support.h"
#include "winsys/kmd.h"

/* Low bytes of requests. */
#define NR_VM_BIND         0x44
#define NR_GEM_CREATE      0x45
#define NR_SUBMIT          0x4a
#define NR_SYNCOBJ_CREATE  0xbf
#define NR_SYNCOBJ_TO_FD   0xc1
#define NR_TIMELINE_WAIT   0xca
#define NR_TIMELINE_QUERY  0xcb
#define NR_TRANSFER        0xcc
#define NR_TIMELINE_SIGNAL 0xcd

#define FORWARD_UDMABUF 0x142u /* the number that stands for UDMABUF_CREATE */

struct forward_kmd {
   struct agx_kmd base;
   struct agx_kmd *inner;
   /* Before a request whose low byte is nr: what it fails with, a negative errno, or 0. May be
    * NULL, as after may, which sees what became of it and may come and go. */
   int (*before)(struct forward_kmd *kmd, uint32_t nr, const void *argument);
   void (*_Atomic after)(struct forward_kmd *kmd, uint32_t nr, const void *argument, int error);
   _Atomic bool closed;
};

/* With a virtual node behind it. Owned by the test, which may look at it after the device has
 * closed it; only once. before and after are the caller's to set then. */
void forward_kmd_open(struct forward_kmd *kmd);
