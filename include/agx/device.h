/* SPDX-License-Identifier: MIT
 *
 * Instances, nodes and devices.
 */
#pragma once

#include "agx/object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Host memory for the library's objects. alloc gives memory aligned for any type or NULL;
 * free gets the size that alloc was asked for. Called from any thread, also with locks of the
 * library held: they must not call the library. The last calls to free may come after the last
 * release has returned, since a thread of the library may be the one that closes the device; they
 * are over, for functions and user, when free has got back all that alloc gave. */
struct agx_alloc_callbacks {
   void *user;
   void *(*alloc)(void *user, size_t size);
   void (*free)(void *user, void *memory, size_t size);
};

enum agx_log_level {
   AGX_LOG_WARNING = 0, /* something went wrong that fails no call */
   AGX_LOG_DEBUG = 1,   /* what AGX_DEBUG asks for */
};

/* One line, without its end, borrowed for the call. On any thread, also with locks of the library
 * held: it must not call the library. */
typedef void (*agx_log_fn)(void *user, enum agx_log_level level, const char *line);

struct agx_instance_desc {
   uint32_t size;
   const void *next;
   const struct agx_alloc_callbacks *alloc; /* NULL: malloc. Copied; user must outlive all */
   agx_log_fn log;                          /* NULL: standard error */
   void *log_user;                          /* must outlive all, too */
};

/* desc may be NULL. AGX_INVALID_ARGUMENT: callbacks that lack a function. */
AGX_API AGX_MUST_CHECK agx_status agx_instance_create(const struct agx_instance_desc *desc,
                                                      struct agx_instance **out_instance);

/* A render node of the system, usable or not. */
struct agx_node {
   char path[64];     /* what agx_device_open takes */
   char driver[32];   /* the kernel driver's name; "" when it could not be asked */
   agx_status status; /* AGX_OK when the node can be used */
   char reason[128];  /* why not, and what to do about it */
};

/* Fills up to *count nodes (NULL: none) and sets *count to how many there are, which may be more.
 * The virtual device, which is always there, is the first of them where the environment's
 * AGX_DEVICE names it ("virtual", "virtual:g14s"), and else not among them. A system without any is
 * no failure.
 */
AGX_API AGX_MUST_CHECK agx_status agx_instance_enumerate(struct agx_instance *instance,
                                                         uint32_t *count, struct agx_node *nodes);

enum agx_queue_priority {
   AGX_QUEUE_LOW = 0,
   AGX_QUEUE_MEDIUM = 1, /* goes first */
};

enum agx_device_flags {
   /* A semaphore's failure wins over values that it reached before: waits, operations and watches
    * that come to it afterwards fail, whatever value they name. Without it they find their value
    * reached (agx/semaphore.h). */
   AGX_DEVICE_FAILURE_WINS = 1,
   /* A capture has the memory of submissions only where agx_device_begin_capture says so. */
   AGX_DEVICE_CAPTURE_RANGES = 2,
   /* A virtual device is another file of the one that devices of this process with this flag and
    * the same chip have open, as of a render node: semaphores pass from one to the other, and what
    * loses one loses all. Without it each has one of its own. Real nodes are shared anyway. */
   AGX_DEVICE_COMMON_NODE = 4,
};

struct agx_device_desc {
   uint32_t size;
   const void *next;
   /* "auto" or NULL: the environment's AGX_DEVICE if set, else the first usable node of the
    * system, else the virtual device. "drm": the first usable node. "/dev/dri/renderD128": that
    * one. "virtual" or "virtual:g14s": the virtual AGX, of that chip. */
   const char *name;
   /* Record what passes between driver and kernel to this file; NULL: the environment's
    * AGX_CAPTURE if set. docs/capture.md. */
   const char *capture_path;
   /* 1 to 8; 0: two. Their priorities, or NULL: all medium. */
   uint32_t queue_count;
   const uint32_t *queue_priorities; /* enum agx_queue_priority */
   /* Operations that may wait for a value not submitted yet, or for memory of a pool at its limit;
    * 0: 16384. agx_submit refuses one more (AGX_RESOURCE_EXHAUSTED), but none that need not wait.
    */
   uint32_t max_parked;
   /* Most memory for buffers, pools and pages, which are refused beyond that
    * (AGX_RESOURCE_EXHAUSTED, with numbers); images, imported memory and the library's own don't
    * count. 0: what the system has. */
   uint64_t memory_limit_B;
   uint64_t cache_limit_B; /* of memory that is kept for the next buffers; 0: 256 MiB */
   uint64_t flags;         /* enum agx_device_flags */
};

/* desc may be NULL. AGX_NOT_FOUND tells of each node why it is not usable, or that there is no such
 * chip; AGX_INVALID_ARGUMENT: no such name, priority, or AGX_DEBUG; AGX_OUT_OF_RANGE: more queues
 * than 8. Else what the system says of the node. */
AGX_API AGX_MUST_CHECK agx_status agx_device_open(struct agx_instance *instance,
                                                  const struct agx_device_desc *desc,
                                                  struct agx_device **out_device);

struct agx_device_info {
   uint32_t size;             /* set by the caller */
   char name[AGX_NAME_BYTES]; /* "Apple M1 (G13G B1)" */
   char node[AGX_NAME_BYTES]; /* "renderD128", "virtual:g13g" */
   char chip[16];             /* "g13g" */
   bool is_virtual;
   uint32_t core_count;
   uint32_t max_khz; /* of the GPU's clock; 0 when not known */
   uint32_t max_workgroup_threads;
   uint32_t max_shared_B; /* threadgroup memory of a workgroup */
   uint32_t simd_lanes;
   uint32_t page_B; /* granularity of GPU memory */
   uint32_t max_push_B;
   uint32_t max_bindings;
   uint64_t max_workgroups[3];
   uint32_t queue_count;
   uint64_t max_binding_B; /* of a buffer that a binding shows a kernel (AGX_MAX_BINDING_B) */
   /* The same for each process and boot: of the chip and its cores; other for a virtual device, and
    * the same for all of these that have the chip. An RFC 9562 UUID, version 8. */
   uint8_t uuid[16];
   uint64_t timestamp_hz; /* ticks of the GPU's clock in a second (agx_cmd_timestamp) */
};
/* What never changes. */
AGX_API void agx_device_get_info(struct agx_device *device, struct agx_device_info *out_info);

/* The same moment by two clocks. */
struct agx_device_time {
   uint32_t size;         /* set by the caller */
   uint64_t gpu;          /* of the GPU, in ticks of agx_device_info.timestamp_hz */
   uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
   uint64_t deviation_ns; /* how far from each other the moments are at most */
};
/* Asks for the time now, a few times, and gives the closest answer. Timestamps of commands are of
 * the same clock. AGX_UNAVAILABLE and others: what the system says of the device. */
AGX_API AGX_MUST_CHECK agx_status agx_device_get_time(struct agx_device *device,
                                                      struct agx_device_time *out_time);

/* agx_device_get_info of what agx_device_open would open by the name (agx_device_desc.name,
 * agx_node.path), which is opened for it and closed again; queue_count is 0. Fails as
 * agx_device_open does. */
AGX_API AGX_MUST_CHECK agx_status agx_instance_get_device_info(struct agx_instance *instance,
                                                               const char *name,
                                                               struct agx_device_info *out_info);

/* The capture that the device was opened with has the memory of what comes to the GPU from here on,
 * until agx_device_end_capture: of one without AGX_DEVICE_CAPTURE_RANGES that begins with the
 * device. Requests are in the file all the time, so that it can be replayed. What earlier
 * submissions still write may be half there: wait for them. label, which stands in the file, may be
 * NULL. AGX_FAILED_PRECONDITION: the device has no capture, or that is so already. Any thread. */
AGX_API AGX_MUST_CHECK agx_status agx_device_begin_capture(struct agx_device *device,
                                                           const char *label);
AGX_API AGX_MUST_CHECK agx_status agx_device_end_capture(struct agx_device *device);

/* AGX_OK, or the first failure that took the device away (sticky), with its text. */
AGX_API AGX_MUST_CHECK agx_status agx_device_status(struct agx_device *device);

/* A failure on the GPU takes its queue away: whatever is outstanding there fails with its text, and
 * so does all that comes later, until this makes the queue anew. Waits for what the kernel still
 * has of the old one. AGX_FAILED_PRECONDITION: the queue is not lost; AGX_OUT_OF_RANGE: there is no
 * such queue; the device's failure when it is gone as a whole. */
AGX_API AGX_MUST_CHECK agx_status agx_queue_recreate(struct agx_device *device, uint32_t queue);

/* Fails with AGX_CANCELLED every operation that still waits for a value not submitted yet, for
 * memory of a pool (AGX_OP_ALLOCA), or for a thread of the host, and every semaphore that waits for
 * a file (agx_semaphore_import_point). Parked operations keep the device alive: call this before
 * letting it go when some may be left. What has begun ends as it would have. */
AGX_API void agx_device_cancel(struct agx_device *device);

#ifdef __cplusplus
}
#endif
