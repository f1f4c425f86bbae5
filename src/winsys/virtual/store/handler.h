/* SPDX-License-Identifier: MIT
 *
 * How rooms declare the handlers of requests (handlers.h in each). A handler gets the argument as
 * a copy in the kernel's own size, takes the lock itself, and returns 0 or a negative errno; what
 * it leaves in the argument is copied out in either case. node/dispatch.c calls them.
 */
#pragma once

#include "winsys/asahi_uapi.h"
#include "winsys/virtual/virtual.h"

#define AGXV_HANDLER(name) int agxv_##name(struct agx_virtual_file *file, void *argument)
