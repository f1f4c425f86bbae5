/* SPDX-License-Identifier: MIT
 *
 * Everything between the HAL and the seam: devices, address space, buffers, a
 * queue, submission, and timelines. Nothing above this header says ioctl.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/chip.h"
#include "base/alloc.h"
#include "base/status.h"
#include "winsys/kmd.h"

struct agxw_device;
struct agxw_bo;
struct agxw_queue;
struct agxw_timeline;

/* ---- discovery -------------------------------------------------------- */

#define AGXW_MAX_NODES 64

struct agxw_node_info {
   char path[64];   /* "/dev/dri/renderD128", or "virtual:g13g" */
   char driver[32]; /* kernel driver's name as VERSION reports it; "" when it can't be opened */
   agx_status
      status; /* AGX_OK: usable; AGX_INCOMPATIBLE: another driver; AGX_PERMISSION_DENIED; ... */
   char reason[128]; /* why it is not usable, and what to do; "" when it is */
};

/* All render nodes of the system with the verdict on each; *out_count may be 0. */
AGX_MUST_CHECK agx_status agxw_enumerate(struct agxw_node_info nodes[AGXW_MAX_NODES],
                                         uint32_t *out_count);

/* name: "auto" (the first usable node, else the virtual device), "drm" (the first
 * usable node, or AGX_NOT_FOUND with every node's reason), a path, "virtual" or
 * "virtual:CHIP". capture_path: record at the seam (AGX_CAPTURE), or NULL. */
AGX_MUST_CHECK agx_status agxw_kmd_open(const char *name, const char *capture_path,
                                        struct agx_kmd **out_kmd);
/* The same, but virtual ones of a chip are one node in this process. */
AGX_MUST_CHECK agx_status agxw_kmd_open_common(const char *name, const char *capture_path,
                                               struct agx_kmd **out_kmd);

/* ---- device ----------------------------------------------------------- */

#define AGXW_MAX_CLUSTERS 64

struct agxw_device_info {
   char name[64]; /* "Apple M1 (G13G B1)" */
   char node[64]; /* kmd name */
   bool is_virtual;
   const struct agx_chip *chip;
   uint32_t core_count; /* enabled */
   uint32_t cluster_count, cores_per_cluster;
   uint64_t core_masks[AGXW_MAX_CLUSTERS]; /* which are enabled, of each cluster */
   uint32_t max_khz;
   bool soft_faults;
   uint32_t max_commands; /* per submission */
   uint64_t timestamp_hz;
   uint64_t usc_base; /* start of the 4 GiB window for code and launch words */
};

/* Takes the kmd over (also on failure): reads parameters, plans the address space,
 * makes the VM. */
AGX_MUST_CHECK agx_status agxw_device_create(struct agx_kmd *kmd,
                                             const struct agx_host_alloc *alloc,
                                             struct agxw_device **out_device);
/* A device that has timelines and nothing else: no address space, buffers or queues, and no chip
 * in its info. For tests on nodes of any driver. */
AGX_MUST_CHECK agx_status agxw_device_create_syncs(struct agx_kmd *kmd,
                                                   const struct agx_host_alloc *alloc,
                                                   struct agxw_device **out_device);
/* All objects made from the device must be gone. */
void agxw_device_destroy(struct agxw_device *device);
/* What the device is; valid as long as the device. */
const struct agxw_device_info *agxw_device_info(const struct agxw_device *device);
/* What the device itself can say of the last fault: address, access, dispatch on the
 * virtual device; "" on a real kernel, which says no more than that a fence failed. */
size_t agxw_device_fault_text(struct agxw_device *device, char *text, size_t capacity);

/* How a command failed whose stream begins from first_va to last_va: the oldest one that was
 * not told yet. False when the device tells nothing (a real kernel) or no more. */
bool agxw_device_take_fault(struct agxw_device *device, uint64_t first_va, uint64_t last_va,
                            struct agx_kmd_fault *out_fault);

/* Calls fn for each launch that this device runs from now on, with what it executed, before its
 * submission is over; from threads of the device, never two at a time, and fn must not call the
 * winsys. fn NULL: no more. AGX_UNAVAILABLE where a device counts nothing, as real ones do. */
AGX_MUST_CHECK agx_status agxw_device_watch_counters(
   struct agxw_device *device, void (*fn)(void *user, const struct agx_kmd_counters *counters),
   void *user);

#define AGXW_LABEL_BYTES 32

enum agxw_place_kind {
   AGXW_PLACE_NOWHERE, /* the device has no buffers */
   AGXW_PLACE_INSIDE,  /* distance bytes from the buffer's start */
   AGXW_PLACE_BEHIND,  /* ... from its end; no buffer is nearer */
   AGXW_PLACE_BEFORE,  /* ... before its start; no buffer is nearer */
   AGXW_PLACE_FREED,   /* inside of one that was freed not long ago */
};

struct agxw_place {
   enum agxw_place_kind kind;
   uint64_t va, bytes; /* of the buffer */
   uint64_t distance;
   char label[AGXW_LABEL_BYTES];
};

typedef void agxw_observe_fn(void *user, const struct agxw_place *place, bool is_new);
/* Calls fn with each buffer that has memory as it is made and before it goes, and at once with all
 * there are; from any thread, with a lock of the winsys held, which fn must not call. fn NULL: no
 * more, and no call is left. */
void agxw_device_observe(struct agxw_device *device, agxw_observe_fn *fn, void *user);

/* Copies what a device reads at a GPU address; false where that is not wholly in a buffer that the
 * host can map. Slow. */
bool agxw_device_read(struct agxw_device *device, uint64_t va, void *out, size_t bytes);

/* What a GPU address belongs to. Slow: for messages. */
void agxw_device_find_place(struct agxw_device *device, uint64_t va, struct agxw_place *out_place);

/* Whether the memory of submissions is recorded from now on, where a recorder stands before the
 * device; label, which may be NULL, stands in its file. 0; -EALREADY; -EOPNOTSUPP: none does. */
int agxw_device_record(struct agxw_device *device, bool is_recorded, const char *label);

/* Whether the device watches what shaders access; then, what the launches of the stream at
 * stream_va may, by ascending dispatch. Every other access fails their submission with a text that
 * names it. Replaces what was declared for that stream before; count 0 forgets it. */
bool agxw_device_watches(const struct agxw_device *device);
/* Declares the bounds of a stream; AGX_UNIMPLEMENTED where the device doesn't watch. */
AGX_MUST_CHECK agx_status agxw_device_declare_bounds(struct agxw_device *device, uint64_t stream_va,
                                                     const struct agx_kmd_range *ranges,
                                                     uint32_t count);

/* ---- buffers ---------------------------------------------------------- */

enum agxw_bo_flags {
   AGXW_BO_USC = 1,       /* address inside the USC window: code and launch words */
   AGXW_BO_READ_ONLY = 2, /* the GPU may only read it */
   AGXW_BO_CACHED = 4,    /* write-back on the CPU: for read-back and snooped data */
   AGXW_BO_SHAREABLE = 8, /* may be exported, or hold timestamps */
   AGXW_BO_IMPORTED = 16, /* not asked for: of agxw_bo_import */
};

/* Sizes are rounded up to 16 KiB pages; memory is zero; one guard page follows. align
 * is a power of two, 0 = 16 KiB. label names the buffer in messages and captures. */
AGX_MUST_CHECK agx_status agxw_bo_create(struct agxw_device *device, uint64_t size, uint64_t align,
                                         uint32_t flags, const char *label,
                                         struct agxw_bo **out_bo);
/* The GPU must be done with it. */
void agxw_bo_destroy(struct agxw_bo *bo);
/* GPU address of the first byte. */
uint64_t agxw_bo_va(const struct agxw_bo *bo);
/* Bytes, rounded up to pages. */
uint64_t agxw_bo_size(const struct agxw_bo *bo);
/* enum agxw_bo_flags, as it was made. */
uint32_t agxw_bo_flags(const struct agxw_bo *bo);
/* Renames a buffer that no other thread uses. */
void agxw_bo_set_label(struct agxw_bo *bo, const char *label);
/* Whether the CPU has it mapped. */
bool agxw_bo_is_mapped(const struct agxw_bo *bo);
/* Bytes that are mapped on the CPU. */
uint64_t agxw_device_mapped(const struct agxw_device *device);
/* Persistent CPU mapping; the same pointer each time. */
AGX_MUST_CHECK agx_status agxw_bo_map(struct agxw_bo *bo, void **out_memory);

/* Whether agxw_bo_export can work. */
bool agxw_bo_is_shareable(const struct agxw_bo *bo);
/* A new descriptor, closed on exec, of the dma-buf that is a shareable or imported buffer's memory.
 * AGX_FAILED_PRECONDITION for others. */
AGX_MUST_CHECK agx_status agxw_bo_export(struct agxw_bo *bo, int *out_fd);
/* A buffer over all the memory of a dma-buf, whose descriptor stays the caller's; flags: READ_ONLY.
 * The same dma-buf may be imported many times, also one that this device exported.
 * AGX_INVALID_ARGUMENT when it is none, AGX_OUT_OF_RANGE when it isn't whole pages. */
AGX_MUST_CHECK agx_status agxw_bo_import(struct agxw_device *device, int fd, uint32_t flags,
                                         const char *label, struct agxw_bo **out_bo);
/* A dma-buf (its new descriptor, closed on exec) of a range of a memory file: memfd_create(2) with
 * MFD_ALLOW_SEALING, sealed against shrinking; both numbers are multiples of agxw_device_page.
 * AGX_UNAVAILABLE with the reason where it can't be had. */
AGX_MUST_CHECK agx_status agxw_dmabuf_of_memory(struct agxw_device *device, int memory_file,
                                                uint64_t offset, uint64_t bytes, int *out_fd);
/* Whether the system makes dma-bufs of memory files at all. Asks it. */
bool agxw_device_takes_memory(struct agxw_device *device);
/* Bytes: the larger of the GPU's and the host's page. */
uint32_t agxw_device_page(const struct agxw_device *device);

/* A range of addresses, in which nothing is bound; what is there is bound by agxw_bo_bind. It can't
 * be mapped on the CPU. */
AGX_MUST_CHECK agx_status agxw_bo_reserve(struct agxw_device *device, uint64_t size, uint64_t align,
                                          const char *label, struct agxw_bo **out_bo);
/* Memory without an address, for agxw_bo_bind. flags: CACHED. */
AGX_MUST_CHECK agx_status agxw_bo_create_unbound(struct agxw_device *device, uint64_t size,
                                                 uint32_t flags, const char *label,
                                                 struct agxw_bo **out_bo);
struct agxw_bind {
   uint64_t offset, bytes;       /* of the range */
   const struct agxw_bo *memory; /* NULL: nothing any more */
   uint64_t memory_offset;
   bool is_readable, is_writable; /* by the GPU; one at least, where there is memory */
};
#define AGXW_MAX_BINDS 32
/* Changes what is bound in a reserved range, in order, at once: the GPU must be done with what was
 * there. Whole pages (agxw_device_page). One ioctl for each AGXW_MAX_BINDS; on failure the first
 * ones may have been done. */
AGX_MUST_CHECK agx_status agxw_bo_bind(struct agxw_bo *range, const struct agxw_bind *binds,
                                       uint32_t count);

/* A page of zeros that is read-only and a page to write to, whose contents mean nothing: for
 * accesses that must not happen. */
struct agxw_sinks {
   uint64_t zero_va, waste_va;
};

/* Those above offset bytes into a buffer, for addresses within 4 GiB. False where they are out of
 * reach: in a buffer of more than 4 GiB, and of what lies in the USC window. No lock. */
bool agxw_bo_sinks(const struct agxw_bo *bo, uint64_t offset, struct agxw_sinks *out_sinks);
/* What stands for the address of a buffer that isn't there: nothing is mapped in the 4 GiB from it
 * on but these sinks. */
uint64_t agxw_device_null(const struct agxw_device *device, struct agxw_sinks *out_sinks);

/* ---- timelines -------------------------------------------------------- */

#define AGXW_MAX_SYNCS 64 /* waits, and signals, of one submission */

/* A 64-bit timeline (a DRM syncobj). Points must increase. */
AGX_MUST_CHECK agx_status agxw_timeline_create(struct agxw_device *device, uint64_t initial,
                                               struct agxw_timeline **out_timeline);
/* Nothing waits for it or signals it any more. */
void agxw_timeline_destroy(struct agxw_timeline *timeline);
/* The last point that is reached. */
AGX_MUST_CHECK agx_status agxw_timeline_query(struct agxw_timeline *timeline, uint64_t *out_value);
/* Values of count timelines of this device in one ioctl; submitted: the last points that have a
 * fence, reached or not. out_values are 0 on failure. */
AGX_MUST_CHECK agx_status agxw_timelines_query(struct agxw_device *device,
                                               struct agxw_timeline *const *timelines,
                                               uint32_t count, bool submitted,
                                               uint64_t *out_values);
/* Reaches a point from the CPU. */
AGX_MUST_CHECK agx_status agxw_timeline_signal(struct agxw_timeline *timeline, uint64_t value);

struct agxw_point {
   struct agxw_timeline *timeline;
   uint64_t value;
};

/* Waits in one ioctl until all (or any) points are reached; also for points that are not
 * submitted yet. No heap up to AGXW_MAX_SYNCS points. deadline_ns is absolute CLOCK_MONOTONIC, 0
 * polls, INT64_MAX is forever. AGX_DEADLINE_EXCEEDED when it passes. A point whose fence failed
 * counts as reached: ask agxw_point_status. */
AGX_MUST_CHECK agx_status agxw_wait(struct agxw_device *device, const struct agxw_point *points,
                                    uint32_t count, bool any, int64_t deadline_ns);
/* AGX_OK, or the fence's error as a status with text (AGX_DATA_LOSS: GPU fault or GPU hang,
 * AGX_ABORTED: stopped by the fault of another submission, AGX_UNAVAILABLE: device lost), for a
 * reached point. Never AGX_DEADLINE_EXCEEDED. Only the last submitted point of a timeline keeps its
 * error: the kernel forgets those before it as they are reached, and AGX_OK means nothing there. */
AGX_MUST_CHECK agx_status agxw_point_status(const struct agxw_point *point);
/* The same, and the error of the fence in *out_error, an errno; 0: there is none, or the kernel
 * couldn't be asked for it. */
AGX_MUST_CHECK agx_status agxw_point_error(const struct agxw_point *point, int *out_error);
/* What an error of a fence means, such as "GPU hang"; NULL for those that no kernel gives. */
const char *agxw_fence_error_text(int error);

/* ---- timelines beyond the device -------------------------------------- */

/* A file that stands for the timeline in other processes and APIs (a DRM syncobj's), closed on
 * exec, and a timeline from such a file. Both see all that the others do; the files are the
 * caller's. AGX_INVALID_ARGUMENT when it is another kind of file. */
AGX_MUST_CHECK agx_status agxw_timeline_export(struct agxw_timeline *timeline, int *out_fd);
AGX_MUST_CHECK agx_status agxw_timeline_import(struct agxw_device *device, int fd,
                                               struct agxw_timeline **out_timeline);

/* A sync file, readable (POLLIN) when the point is reached, which carries its fence with the error.
 * AGX_FAILED_PRECONDITION unless what reaches the point has been submitted. */
AGX_MUST_CHECK agx_status agxw_point_export_sync_file(const struct agxw_point *point, int *out_fd);
/* The point is reached when the sync file's fence is, and fails with it. The fence is the
 * timeline's from here on; fd stays the caller's. */
AGX_MUST_CHECK agx_status agxw_point_import_sync_file(const struct agxw_point *point, int fd);

/* A sync file of all fences of two others (which may be the same) that are pending in them, each
 * with its error. The kernel leaves out those that are signalled, also when they have failed. */
AGX_MUST_CHECK agx_status agxw_sync_file_merge(struct agxw_device *device, int a, int b,
                                               int *out_fd);

/* to is reached when from is, which must have been submitted. Errors go along. */
AGX_MUST_CHECK agx_status agxw_point_transfer(const struct agxw_point *from,
                                              const struct agxw_point *to);

/* ---- timestamps ------------------------------------------------------- */

struct agxw_stamps;

/* Room for count timestamps, all 0. */
AGX_MUST_CHECK agx_status agxw_stamps_create(struct agxw_device *device, uint32_t count,
                                             struct agxw_stamps **out_stamps);
/* No command in flight writes to it. */
void agxw_stamps_destroy(struct agxw_stamps *stamps);
/* In ticks of timestamp_hz, of the clock that agxw_device_time reads; a command that failed may
 * leave its own as they were. */
_Atomic uint64_t *agxw_stamps_times(struct agxw_stamps *stamps);
/* Makes a buffer, which must be AGXW_BO_SHAREABLE, one that the times of commands can be written to
 * (agxw_compute.stamped), until it goes. */
AGX_MUST_CHECK agx_status agxw_bo_take_stamps(struct agxw_bo *bo);
/* The GPU's clock now, in ticks of timestamp_hz. */
AGX_MUST_CHECK agx_status agxw_device_time(struct agxw_device *device, uint64_t *out_time);

/* ---- queues ----------------------------------------------------------- */

/* priority: 0 is the lowest; the kernel refuses what this process may not have. */
AGX_MUST_CHECK agx_status agxw_queue_create(struct agxw_device *device, uint32_t priority,
                                            struct agxw_queue **out_queue);
/* Waits for nothing: the kernel finishes what was submitted. */
void agxw_queue_destroy(struct agxw_queue *queue);

/* One compute command: a CDM stream. */
struct agxw_compute {
   uint64_t stream_va;
   uint64_t stream_end_va; /* address of its Terminate */
   /* Where the times of its start and end are written to; NULL: nowhere. */
   struct agxw_stamps *stamps;
   uint32_t start_stamp, end_stamp;
   /* Without stamps, where the time of its end is written to; NULL: nowhere. */
   const struct agxw_bo *stamped;
   uint32_t stamped_offset_B;
};

/* Gives the SIMD-groups of a submission their stacks. Source: docs/hw/machine.md 16. */
struct agxw_helper {
   uint32_t code_offset; /* in the USC window */
   uint64_t data_va;     /* the program's argument */
};

/* Samplers that code names by number: 8 bytes each. */
struct agxw_samplers {
   uint64_t heap_va;
   uint32_t count; /* 0: no heap */
};

struct agxw_submit {
   const struct agxw_compute *commands; /* in order; each waits for the one before */
   uint32_t command_count;              /* 0: only waits and signals */
   const struct agxw_point *waits;      /* must have been submitted */
   const struct agxw_point *signals;
   uint32_t wait_count, signal_count;
   const struct agxw_helper *helper; /* of all commands; NULL: no kernel has a stack */
   struct agxw_samplers samplers;    /* likewise of all commands */
};

/* One ioctl (more only when command_count exceeds the device's limit, or is 0). No heap, no
 * lock that another queue holds; any thread, but for submissions of several ioctls. On failure
 * nothing is queued, but without commands some signals may have been, and of several parts the
 * first ones may have run to their end, which is waited for. When one of them fails on the GPU,
 * agxw_point_status of the signals tells so. */
AGX_MUST_CHECK agx_status agxw_submit(struct agxw_queue *queue, const struct agxw_submit *submit);
