/* SPDX-License-Identifier: MIT
 *
 * Syncobj requests that don't wait. Behaviour: docs/hw/kernel.md 6, kernel 7.2.
 */
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/sync/syncobj.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "winsys/virtual/store/user.h"
#include "winsys/virtual/sync/watch.h"

void agxv_syncobj_unwatch(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_syncobj *syncobj = AGXV_AT(node, agxv_syncobj, ref);
   if (--syncobj->watchers == 0 && syncobj->refs == 0)
      agxv_free(node, ref, sizeof(*syncobj));
}

void agxv_syncobj_put(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_syncobj *syncobj = AGXV_AT(node, agxv_syncobj, ref);
   if (--syncobj->refs)
      return;
   agxv_fence_put(node, syncobj->fence);
   syncobj->fence = 0;
   syncobj->watchers++; /* so that it is ours to free */
   agxv_watch_forget_syncobj(node, ref);
   agxv_syncobj_unwatch(node, ref);
}

void agxv_syncobj_replace(struct agx_virtual_node *node, uint32_t syncobj, uint32_t fence)
{
   struct agxv_syncobj *it = AGXV_AT(node, agxv_syncobj, syncobj);
   uint32_t old = it->fence;
   agxv_fence_get(node, fence);
   it->fence = fence;
   agxv_fence_put(node, old);
}

bool agxv_syncobj_add_point(struct agx_virtual_node *node, uint32_t syncobj, uint32_t fence,
                            uint64_t value)
{
   uint32_t before = AGXV_AT(node, agxv_syncobj, syncobj)->fence;
   uint32_t point = agxv_fence_create_point(node, before, fence, value);
   if (!point)
      return false;
   agxv_syncobj_replace(node, syncobj, point);
   agxv_fence_put(node, point);
   return true;
}

uint32_t agxv_syncobj_fence(struct agx_virtual_file *file, uint32_t handle, uint64_t value,
                            int *out_error)
{
   struct agx_virtual_node *node = file->node;
   uint32_t ref = agxv_object_find(file, AGXV_SYNCOBJ, handle);
   *out_error = -ENOENT;
   if (!ref)
      return 0;
   bool done;
   uint32_t fence =
      agxv_fence_at_value(node, AGXV_AT(node, agxv_syncobj, ref)->fence, value, &done);
   if (!fence && done) {
      fence = agxv_fence_create_done(node);
      *out_error = fence ? 0 : -ENOMEM;
      return fence;
   }
   *out_error = fence ? 0 : -EINVAL;
   return fence;
}

static int find_all(struct agx_virtual_file *file, struct agxv_syncobj_array *array)
{
   struct agx_virtual_node *node = file->node;
   for (uint32_t i = 0; i < array->count; i++) {
      uint32_t ref = agxv_object_find(file, AGXV_SYNCOBJ, array->refs[i]);
      if (!ref) {
         array->count = i;
         return -ENOENT;
      }
      AGXV_AT(node, agxv_syncobj, ref)->refs++;
      array->refs[i] = ref;
   }
   return 0;
}

int agxv_syncobj_array_lock(struct agx_virtual_file *file, struct agxv_syncobj_array *array,
                            uint64_t handles, uint32_t count)
{
   array->count = count;
   array->refs = array->few;
   if (count > AGXV_MAX_ARRAY)
      return -ENOMEM;
   if (count > AGX_COUNT(array->few))
      array->refs = malloc(count * sizeof(*array->refs));
   if (!array->refs)
      return -ENOMEM;
   int error = agxv_copy_in(array->refs, handles, count * sizeof(*array->refs));
   if (error) {
      array->count = 0;
      if (array->refs != array->few)
         free(array->refs);
      return error;
   }
   agxv_lock(file->node);
   error = find_all(file, array);
   if (error)
      agxv_syncobj_array_unlock(file, array);
   return error;
}

void agxv_syncobj_array_unlock(struct agx_virtual_file *file, struct agxv_syncobj_array *array)
{
   for (uint32_t i = 0; i < array->count; i++)
      agxv_syncobj_put(file->node, array->refs[i]);
   agxv_unlock(file->node);
   if (array->refs != array->few)
      free(array->refs);
}

/* A number for ref, which is taken over; 0 when there is no room. */
static uint32_t add_handle(struct agx_virtual_file *file, uint32_t ref)
{
   uint32_t handle = agxv_table_add(file->node, agxv_table_of(file, AGXV_SYNCOBJ), ref);
   if (!handle)
      agxv_syncobj_put(file->node, ref);
   return handle;
}

AGXV_HANDLER(syncobj_create)
{
   struct agx_uapi_syncobj_create *args = argument;
   struct agx_virtual_node *node = file->node;
   if (args->flags & ~(uint32_t)AGX_UAPI_SYNCOBJ_CREATE_SIGNALED)
      return -EINVAL;
   agxv_lock(node);
   uint32_t ref = agxv_alloc(node, sizeof(struct agxv_syncobj));
   uint32_t fence = 0;
   if (ref) {
      AGXV_AT(node, agxv_syncobj, ref)->refs = 1;
      if (args->flags)
         fence = agxv_fence_create_done(node);
      AGXV_AT(node, agxv_syncobj, ref)->fence = fence;
      if (args->flags && !fence) {
         agxv_syncobj_put(node, ref);
         ref = 0;
      }
   }
   uint32_t handle = ref ? add_handle(file, ref) : 0;
   agxv_unlock(node);
   if (!handle)
      return -ENOMEM;
   args->handle = handle;
   return 0;
}

AGXV_HANDLER(syncobj_destroy)
{
   const struct agx_uapi_syncobj_destroy *args = argument;
   if (args->pad)
      return -EINVAL;
   agxv_lock(file->node);
   uint32_t ref = agxv_table_remove(file->node, agxv_table_of(file, AGXV_SYNCOBJ), args->handle);
   if (ref)
      agxv_syncobj_put(file->node, ref);
   agxv_unlock(file->node);
   return ref ? 0 : -EINVAL;
}

AGXV_HANDLER(syncobj_reset)
{
   const struct agx_uapi_syncobj_array *args = argument;
   struct agxv_syncobj_array array;
   if (args->pad || args->count_handles == 0)
      return -EINVAL;
   int error = agxv_syncobj_array_lock(file, &array, args->handles, args->count_handles);
   if (error)
      return error;
   for (uint32_t i = 0; i < array.count; i++)
      agxv_syncobj_replace(file->node, array.refs[i], 0);
   agxv_syncobj_array_unlock(file, &array);
   return 0;
}

AGXV_HANDLER(syncobj_signal)
{
   const struct agx_uapi_syncobj_array *args = argument;
   struct agxv_syncobj_array array;
   if (args->pad || args->count_handles == 0)
      return -EINVAL;
   int error = agxv_syncobj_array_lock(file, &array, args->handles, args->count_handles);
   if (error)
      return error;
   uint32_t fence = agxv_fence_create_done(file->node);
   for (uint32_t i = 0; fence && i < array.count; i++)
      agxv_syncobj_replace(file->node, array.refs[i], fence);
   agxv_fence_put(file->node, fence);
   agxv_notify(file->node);
   agxv_syncobj_array_unlock(file, &array);
   return fence ? 0 : -ENOMEM;
}

/* Values of a request; NULL pointer: all 0. Free *out_values. */
static int copy_values(uint64_t **out_values, uint64_t points, uint32_t count)
{
   *out_values = calloc(count, sizeof(**out_values));
   if (!*out_values)
      return -ENOMEM;
   return points ? agxv_copy_in(*out_values, points, count * sizeof(**out_values)) : 0;
}

AGXV_HANDLER(syncobj_timeline_signal)
{
   const struct agx_uapi_syncobj_timeline_array *args = argument;
   struct agxv_syncobj_array array;
   if (args->flags || args->count_handles == 0)
      return -EINVAL;
   int error = agxv_syncobj_array_lock(file, &array, args->handles, args->count_handles);
   if (error)
      return error;
   uint64_t *values;
   error = copy_values(&values, args->points, array.count);
   uint32_t fence = error ? 0 : agxv_fence_create_done(file->node);
   if (!error && !fence)
      error = -ENOMEM;
   for (uint32_t i = 0; !error && i < array.count; i++)
      if (!agxv_syncobj_add_point(file->node, array.refs[i], fence, values[i]))
         error = -ENOMEM;
   agxv_fence_put(file->node, fence);
   agxv_notify(file->node);
   agxv_syncobj_array_unlock(file, &array);
   free(values);
   return error;
}

AGXV_HANDLER(syncobj_query)
{
   const struct agx_uapi_syncobj_timeline_array *args = argument;
   struct agxv_syncobj_array array;
   if (args->flags & ~(uint32_t)AGX_UAPI_SYNCOBJ_QUERY_LAST_SUBMITTED || args->count_handles == 0)
      return -EINVAL;
   int error = agxv_syncobj_array_lock(file, &array, args->handles, args->count_handles);
   if (error)
      return error;
   for (uint32_t i = 0; !error && i < array.count; i++) {
      uint32_t fence = AGXV_AT(file->node, agxv_syncobj, array.refs[i])->fence;
      uint64_t value = agxv_fence_value(file->node, fence, args->flags);
      error = args->points ? agxv_copy_out(args->points + i * sizeof(value), &value, sizeof(value))
                           : -EFAULT;
   }
   agxv_syncobj_array_unlock(file, &array);
   return error;
}

AGXV_HANDLER(syncobj_eventfd)
{
   const struct agx_uapi_syncobj_eventfd *args = argument;
   if (args->flags & ~(uint32_t)AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE || args->pad)
      return -EINVAL;
   agxv_lock(file->node);
   uint32_t ref = agxv_object_find(file, AGXV_SYNCOBJ, args->handle);
   int error =
      ref ? agxv_watch_eventfd(file->node, args->fd, ref, args->point, args->flags) : -ENOENT;
   agxv_unlock(file->node);
   return error;
}

/* The checks that both directions share. */
static int check_handle_args(const struct agx_uapi_syncobj_handle *args)
{
   const uint32_t known = AGX_UAPI_SYNCOBJ_SYNC_FILE | AGX_UAPI_SYNCOBJ_TIMELINE;
   if (args->pad || args->flags & ~known)
      return -EINVAL;
   return args->point && !(args->flags & AGX_UAPI_SYNCOBJ_SYNC_FILE) ? -EINVAL : 0;
}

/* A sync file's point counts with the flag only. */
static uint64_t point_of(const struct agx_uapi_syncobj_handle *args)
{
   return args->flags & AGX_UAPI_SYNCOBJ_TIMELINE ? args->point : 0;
}

static int export_sync_file(struct agx_virtual_file *file, struct agx_uapi_syncobj_handle *args)
{
   int error;
   uint32_t fence = agxv_syncobj_fence(file, args->handle, point_of(args), &error);
   if (!fence)
      return error;
   args->fd = agxv_record_create(file->node, AGXV_RECORD_SYNC_FILE, fence);
   return args->fd < 0 ? args->fd : 0;
}

static int export_syncobj(struct agx_virtual_file *file, struct agx_uapi_syncobj_handle *args)
{
   uint32_t ref = agxv_object_find(file, AGXV_SYNCOBJ, args->handle);
   if (!ref)
      return -EINVAL;
   AGXV_AT(file->node, agxv_syncobj, ref)->refs++;
   args->fd = agxv_record_create(file->node, AGXV_RECORD_SYNCOBJ, ref);
   return args->fd < 0 ? args->fd : 0;
}

AGXV_HANDLER(syncobj_handle_to_fd)
{
   struct agx_uapi_syncobj_handle *args = argument;
   int error = check_handle_args(args);
   if (error)
      return error;
   agxv_lock(file->node);
   error = args->flags & AGX_UAPI_SYNCOBJ_SYNC_FILE ? export_sync_file(file, args)
                                                    : export_syncobj(file, args);
   agxv_unlock(file->node);
   return error;
}

static int import_sync_file(struct agx_virtual_file *file,
                            const struct agx_uapi_syncobj_handle *args)
{
   struct agx_virtual_node *node = file->node;
   const struct agxv_record *record = agxv_record_find(node, args->fd);
   if (!record || record->kind != AGXV_RECORD_SYNC_FILE)
      return -EINVAL;
   uint32_t ref = agxv_object_find(file, AGXV_SYNCOBJ, args->handle);
   if (!ref)
      return -ENOENT;
   if (!point_of(args))
      agxv_syncobj_replace(node, ref, record->target);
   else if (!agxv_syncobj_add_point(node, ref, record->target, point_of(args)))
      return -ENOMEM;
   agxv_notify(node);
   return 0;
}

static int import_syncobj(struct agx_virtual_file *file, struct agx_uapi_syncobj_handle *args)
{
   const struct agxv_record *record = agxv_record_find(file->node, args->fd);
   if (!record || record->kind != AGXV_RECORD_SYNCOBJ)
      return -EINVAL;
   AGXV_AT(file->node, agxv_syncobj, record->target)->refs++;
   args->handle = add_handle(file, record->target);
   return args->handle ? 0 : -ENOMEM;
}

AGXV_HANDLER(syncobj_fd_to_handle)
{
   struct agx_uapi_syncobj_handle *args = argument;
   int error = check_handle_args(args);
   if (error)
      return error;
   agxv_lock(file->node);
   error = args->flags & AGX_UAPI_SYNCOBJ_SYNC_FILE ? import_sync_file(file, args)
                                                    : import_syncobj(file, args);
   agxv_unlock(file->node);
   return error;
}
