/* SPDX-License-Identifier: MIT
 *
 * Syncobjs: a counted holder of at most one fence, which may be the last point of a
 * timeline. The lock is held.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "winsys/virtual/store/node.h"
#include "winsys/virtual/store/object.h"

/* Puts fence (borrowed, may be 0) in place of what the syncobj holds. */
void agxv_syncobj_replace(struct agx_virtual_node *node, uint32_t syncobj, uint32_t fence);
/* Puts a point with the fence (borrowed) behind what it holds; false: segment full. */
bool agxv_syncobj_add_point(struct agx_virtual_node *node, uint32_t syncobj, uint32_t fence,
                            uint64_t value);
/* The fence that a wait for value means now, counted (one that is done, if need be a new
 * one); 0 with *out_error -ENOENT, -EINVAL or -ENOMEM. */
uint32_t agxv_syncobj_fence(struct agx_virtual_file *file, uint32_t handle, uint64_t value,
                            int *out_error);

/* Gives up a reference; the last one frees the syncobj, but for what eventfds still watch. */
void agxv_syncobj_put(struct agx_virtual_node *node, uint32_t syncobj);
/* An eventfd no longer watches the syncobj. */
void agxv_syncobj_unwatch(struct agx_virtual_node *node, uint32_t syncobj);

#define AGXV_MAX_ARRAY (1u << 20) /* handles in one request */

/* Handles of a request, looked up and counted. */
struct agxv_syncobj_array {
   uint32_t few[16];
   uint32_t *refs;
   uint32_t count;
};
/* Takes the lock where it returns 0; else -EFAULT, -ENOMEM, -ENOENT. */
int agxv_syncobj_array_lock(struct agx_virtual_file *file, struct agxv_syncobj_array *array,
                            uint64_t handles, uint32_t count);
/* Gives up the references and the lock. */
void agxv_syncobj_array_unlock(struct agx_virtual_file *file, struct agxv_syncobj_array *array);

/* The handlers of requests about syncobjs. */

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
