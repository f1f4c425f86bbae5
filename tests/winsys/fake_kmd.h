/* SPDX-License-Identifier: MIT
 *
 * A kmd for tests: answers what the winsys asks with the least that works, keeps
 * count of live objects, keeps copies of submissions, and fails the nth request on
 * demand. With an inner kmd it forwards to that one and only counts and fails.
 */
#pragma once

#include "support.h"

#include "winsys/asahi_uapi.h"
#include "winsys/kmd.h"

struct agxw_device;

#define FAKE_MAX_SUBMITS   16
#define FAKE_MAX_COMMANDS  70
#define FAKE_MAX_SYNCS     140
#define FAKE_MAX_TRANSFERS 64
#define FAKE_MAX_WAITS     256

struct fake_submit {
   struct agx_uapi_submit request;
   struct agx_uapi_sync syncs[FAKE_MAX_SYNCS];
   struct {
      struct agx_uapi_cmd_header header;
      struct agx_uapi_cmd_compute compute;
   } commands[FAKE_MAX_COMMANDS];
   uint32_t command_count;
};

struct fake_counts {
   int vms, buffers, queues, syncobjs, mappings, binds, objects;
};

/* Owned by the test; close only marks it. */
struct fake_kmd {
   struct agx_kmd base;
   struct agx_kmd *inner;
   struct agx_uapi_params_global params;
   struct fake_counts live;
   bool closed;

   int requests;     /* so far */
   int fail_at;      /* index of the request to fail, or -1 */
   int fail_times;   /* how many in a row */
   int fail_errno;   /* positive */
   uint32_t fail_nr; /* only requests of this number count and fail; 0: all */

   uint32_t next_id;
   void *memory[64]; /* of GEM objects by handle, made when mapped, freed with the node */
   struct agx_uapi_vm_create vm;
   struct agx_uapi_gem_create gem;       /* the last one */
   struct agx_uapi_gem_bind_op bind;     /* the last one */
   struct agx_uapi_gem_bind_op sinks[2]; /* the last two of one request */
   int sink_binds;                       /* such requests */
   struct agx_uapi_queue_create queue;
   struct agx_uapi_syncobj_timeline_wait wait;
   uint64_t wait_points[FAKE_MAX_WAITS];
   struct agx_uapi_syncobj_transfer transfers[FAKE_MAX_TRANSFERS];
   int transfer_count;
   struct fake_submit submits[FAKE_MAX_SUBMITS];
   int submit_count;
   void (*on_submit)(void *user); /* what the GPU does, or NULL */
   void *submit_user;
   struct agx_uapi_gem_bind_object object; /* the last one bound */
   uint64_t signalled;                     /* the last TIMELINE_SIGNAL's value */
   bool old_kernel;                        /* can't export points */
   int32_t file_status, fence_status;
   const char *last_error;
   uint32_t bind_count;  /* of the last VM_BIND */
   uint32_t imported;    /* handle that FD_TO_HANDLE gives; 0: a new one */
   int64_t dmabuf_bytes; /* of any dma-buf, or a negative errno */
   int make_dmabuf_error;
   char label[64];
};

/* Parameters of an M1. */
void fake_kmd_init(struct fake_kmd *fake);
void fake_kmd_wrap(struct fake_kmd *fake, struct agx_kmd *inner);
/* The nth request of number nr (0: of any) from now on, 0 the next, fails. */
void fake_kmd_fail(struct fake_kmd *fake, int nth, uint32_t nr, int error);
/* Nothing is left and the node is closed. */
void fake_kmd_assert_clean(const struct fake_kmd *fake);

/* A device over such a node, and what a test makes on it: fake_device_end() destroys all of it,
 * asserts that no GPU memory is left, and closes both. */
struct fake_device {
   struct fake_kmd fake;
   struct agxw_device *device;
   struct agxw_queue *queue;
   struct agxw_timeline *timeline, *second;
   struct agxw_bo *range, *memory;
};
void fake_device_begin(struct fake_device *it);
/* The same over a node that takes so many commands in one submission, with a queue and both
 * timelines, at 0. */
void fake_device_begin_queue(struct fake_device *it, uint32_t max_commands);
void fake_device_end(struct fake_device *it);
