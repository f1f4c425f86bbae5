/* SPDX-License-Identifier: MIT
 *
 * The inside of the winsys' objects, for this folder only.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "winsys/va_heap_impl.h"
#include "winsys/asahi_uapi.h"
#include "winsys/winsys.h"

#define AGXW_GONE_BOS 64 /* whose places are remembered */

struct agxw_device {
   const struct agx_host_alloc *alloc;
   struct agx_kmd *kmd;
   struct agxw_device_info info;
   struct agxw_address_map address_map;
   uint32_t vm_id;
   uint32_t page_bytes;  /* CPU mappings: the larger of GPU's and host's page */
   pthread_mutex_t lock; /* of the heaps, and of making CPU mappings */
   struct agxw_va_heap usc, user;
   pthread_mutex_t split_lock; /* of splits and what timelines know of them */
   pthread_mutex_t share_lock; /* of shared, and of what imports do to handles */
   struct agx_link shared;     /* agxw_bo, those whose object others may have too */
   struct agxw_bo *zero_page, *waste_page;
   _Atomic uint64_t mapped_B; /* on the CPU */
   struct agx_link bos;       /* all agxw_bo; under the lock, as are gone and gone_count (bo.c) */
   struct agxw_place gone[AGXW_GONE_BOS];
   uint64_t gone_count;
   agxw_observe_fn *observe; /* or NULL */
   void *observer;
   uint64_t sinks_bound[AGXW_ADDRESS_BYTES / AGXW_WINDOW_BYTES / 64]; /* a bit for each window */
};

struct agxw_bo {
   struct agxw_device *device;
   struct agx_link place; /* in the device's bos */
   uint64_t va, size;
   uint64_t bytes;  /* that the buffer was made for; size is in pages */
   uint64_t heap_B; /* bytes that the heap was asked for */
   uint32_t handle;
   uint32_t stamps; /* the kernel's handle for it as memory of timestamps; 0: it is none */
   uint32_t flags;
   void *map; /* NULL until asked for; under the device's lock */
   struct agx_link link;
   bool is_range;  /* reserved: no object */
   bool is_listed; /* in the device's shared ones */
   char label[AGXW_LABEL_BYTES];
};

struct agxw_timeline {
   struct agxw_device *device;
   uint32_t handle;
   struct agxw_split *split; /* the submission that signals split_value; NULL: it was whole */
   uint64_t split_value;
};

struct agxw_queue {
   struct agxw_device *device;
   uint32_t id;
};

/* One request to the kernel: 0 or a negative errno. */
static inline int agxw_ioctl(const struct agxw_device *device, unsigned long request,
                             void *argument)
{
   return device->kmd->ops->ioctl(device->kmd, request, argument);
}

/* Binds bytes of bo at va, or with bo NULL unbinds them. */
AGX_MUST_CHECK agx_status agxw_vm_bind(struct agxw_device *device, const struct agxw_bo *bo,
                                       uint64_t va, uint64_t bytes, uint32_t bind_flags);

/* A buffer at a fixed address outside the heaps (the zero page). */
AGX_MUST_CHECK agx_status agxw_bo_create_fixed(struct agxw_device *device, uint64_t size,
                                               uint64_t va, uint32_t flags, const char *label,
                                               struct agxw_bo **out_bo);

/* For the files of buffers only: a buffer that is nothing but its fields. */
AGX_MUST_CHECK agx_status agxw_bo_new(struct agxw_device *device, uint64_t size, uint32_t flags,
                                      const char *label, struct agxw_bo **out_bo);
/* Takes an address in the heap that the buffer's flags ask for; align is a power of two, or 0. */
AGX_MUST_CHECK agx_status agxw_bo_take_address(struct agxw_bo *bo, uint64_t align);
/* Binds the whole buffer at its address. */
AGX_MUST_CHECK agx_status agxw_bo_bind_whole(struct agxw_bo *bo);
/* Enters a buffer whose handle others may come to use too. */
void agxw_share_enter(struct agxw_bo *bo);
/* Undoes agxw_share_enter. False when the kernel kept the object, and with it maybe the binding. */
bool agxw_share_leave(struct agxw_bo *bo);

/* Enters a buffer, which can be found by its address from now on. */
void agxw_places_add(struct agxw_bo *bo);
/* Undoes agxw_places_add, before the buffer goes. */
void agxw_places_remove(struct agxw_bo *bo);

/* What a command says of where its times go. */
/* Ends what agxw_bo_take_stamps began. */
void agxw_bo_drop_stamps(struct agxw_bo *bo);
void agxw_stamps_pack(const struct agxw_compute *command, struct agx_uapi_timestamps *out_stamps);

/* Makes both pages, and binds those of the null window. */
AGX_MUST_CHECK agx_status agxw_sinks_init(struct agxw_device *device);
/* A buffer takes bytes at va of the user heap: binds the sinks of its window, if they are not
 * bound, and forgets those that it covers. The lock is held. */
AGX_MUST_CHECK agx_status agxw_sinks_place(struct agxw_device *device, uint64_t va, uint64_t bytes);

/* A submission of one ioctl, checked. */
AGX_MUST_CHECK agx_status agxw_submit_whole(struct agxw_queue *queue,
                                            const struct agxw_submit *submit);
/* A submission of several ioctls (split.c), of which each takes limit commands. */
AGX_MUST_CHECK agx_status agxw_submit_split(struct agxw_queue *queue,
                                            const struct agxw_submit *submit, uint32_t limit);
/* How an earlier part of the submission that signals this point, which is reached, failed, as
 * agxw_point_error tells it; else AGX_OK, and *out_error stays as it is. */
AGX_MUST_CHECK agx_status agxw_split_error(const struct agxw_point *point, int *out_error);
/* The timeline goes: drops what is kept of split submissions that signal it. */
void agxw_split_forget(struct agxw_timeline *timeline);

/* A submission without commands, checked. */
AGX_MUST_CHECK agx_status agxw_submit_syncs(struct agxw_device *device,
                                            const struct agxw_submit *submit);

/* Opening of render nodes with a verdict that a person can act on. */

/* Opens the node at path if it is one of this driver's, or with any_driver if it has timeline
 * syncobjs. The file descriptor, which belongs to the caller, or -1; *out_info says what was found
 * in either case. */
int agxw_node_open(const char *path, bool any_driver, struct agxw_node_info *out_info);

/* Requests on DRM syncobjs by handle, for this folder only. All give 0 or a negative
 * errno; callers know what to say about it. */

/* flags: AGX_UAPI_SYNCOBJ_CREATE_SIGNALED or 0. */
int agxw_syncobj_create(const struct agxw_device *device, uint32_t flags, uint32_t *out_handle);
/* Destroys the handle. */
void agxw_syncobj_destroy(const struct agxw_device *device, uint32_t handle);
/* The fence of from's point (0: its latest) becomes to's point, or with 0 all that to holds. */
int agxw_syncobj_transfer(const struct agxw_device *device, uint32_t from, uint64_t from_value,
                          uint32_t to, uint64_t to_value);

/* The fence of a point (0: the latest) as a sync file, and such a file's fence as a point.
 * -EINVAL: the point has no fence, or the file is no sync file. Kernels before 6.16 know sync
 * files of binary syncobjs only; there the fence goes through one made for the purpose. */
int agxw_syncobj_to_sync_file(const struct agxw_device *device, uint32_t handle, uint64_t value,
                              int *out_fd);
/* The other way: the fence of a sync file becomes the point, or with value 0 all that the syncobj
 * holds. */
int agxw_syncobj_from_sync_file(const struct agxw_device *device, uint32_t handle, uint64_t value,
                                int fd);

/* The syncobj itself as a file, and back; each way back makes another handle. */
int agxw_syncobj_to_fd(const struct agxw_device *device, uint32_t handle, int *out_fd);
/* A new handle for the syncobj that a file stands for. */
int agxw_syncobj_from_fd(const struct agxw_device *device, int fd, uint32_t *out_handle);
