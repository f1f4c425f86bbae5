/* SPDX-License-Identifier: MIT
 *
 * The handlers of requests. Each gets the argument as a copy in the kernel's own
 * size, takes the lock itself, and returns 0 or a negative errno; what it leaves in
 * the argument is copied out in either case.
 */
#pragma once

#include "winsys/virtual/virtual.h"

#define AGXV_HANDLER(name) int agxv_##name(struct agx_virtual_file *file, void *argument)

AGXV_HANDLER(version);
AGXV_HANDLER(get_cap);
AGXV_HANDLER(gem_close);
AGXV_HANDLER(prime_handle_to_fd);
AGXV_HANDLER(prime_fd_to_handle);

AGXV_HANDLER(get_params);
AGXV_HANDLER(get_time);
AGXV_HANDLER(vm_create);
AGXV_HANDLER(vm_destroy);
AGXV_HANDLER(vm_bind);
AGXV_HANDLER(gem_create);
AGXV_HANDLER(gem_mmap_offset);
AGXV_HANDLER(gem_bind_object);
AGXV_HANDLER(queue_create);
AGXV_HANDLER(queue_destroy);
AGXV_HANDLER(submit);

AGXV_HANDLER(syncobj_create);
AGXV_HANDLER(syncobj_destroy);
AGXV_HANDLER(syncobj_handle_to_fd);
AGXV_HANDLER(syncobj_fd_to_handle);
AGXV_HANDLER(syncobj_wait);
AGXV_HANDLER(syncobj_timeline_wait);
AGXV_HANDLER(syncobj_reset);
AGXV_HANDLER(syncobj_signal);
AGXV_HANDLER(syncobj_timeline_signal);
AGXV_HANDLER(syncobj_query);
AGXV_HANDLER(syncobj_transfer);
AGXV_HANDLER(syncobj_eventfd);
