/* SPDX-License-Identifier: MIT
 *
 * The kernel interface as this project speaks it: our own declarations of the
 * merged Asahi DRM uAPI (as of Linux 7.2) and of the DRM core requests beside it.
 * Layouts hold on every 64-bit little-endian host; pointers are carried as 64-bit
 * numbers. tests/winsys/uapi_test.c compares them with the system's header, where
 * there is one, and with recorded sizes and offsets. Source: docs/hw/cmdstream.md.
 *
 * The DRM core looks a request up by its number alone and copies the smaller of the
 * caller's and its own size, the rest being zero: so structs may grow at their end.
 */
#pragma once

#include <stdint.h>

#define AGX_UAPI_PAGE_BYTES   16384u /* unit of every GPU address, range and offset */
#define AGX_UAPI_MAX_CLUSTERS 64
#define AGX_UAPI_BARRIER_NONE 0xffffu

/* Request codes: direction, argument bytes, letter 'd', number. */
#define AGX_UAPI_REQUEST(direction, nr, bytes)                                                     \
   ((uint32_t)(direction) << 30 | (uint32_t)(bytes) << 16 | 0x64u << 8 | (uint32_t)(nr))
#define AGX_UAPI_IN(nr, type)       AGX_UAPI_REQUEST(1, nr, sizeof(type))
#define AGX_UAPI_INOUT(nr, type)    AGX_UAPI_REQUEST(3, nr, sizeof(type))
#define AGX_UAPI_NR(request)        ((uint32_t)(request)&0xffu)
#define AGX_UAPI_LETTER(request)    ((uint32_t)(request) >> 8 & 0xffu)
#define AGX_UAPI_BYTES(request)     ((uint32_t)(request) >> 16 & 0x3fffu)
#define AGX_UAPI_DIRECTION(request) ((uint32_t)(request) >> 30)

enum agx_uapi_cap {
   AGX_UAPI_CAP_PRIME = 0x05,
   AGX_UAPI_CAP_TIMESTAMP_MONOTONIC = 0x06,
   AGX_UAPI_CAP_SYNCOBJ = 0x13,
   AGX_UAPI_CAP_SYNCOBJ_TIMELINE = 0x14,
};

enum agx_uapi_feature {
   AGX_UAPI_FEATURE_SOFT_FAULTS = 1 << 0,
};

enum agx_uapi_prime_flags { /* those of open(2) */
   AGX_UAPI_PRIME_RDWR = 02,
   AGX_UAPI_PRIME_CLOEXEC = 02000000,
};

enum agx_uapi_syncobj_flags {
   AGX_UAPI_SYNCOBJ_CREATE_SIGNALED = 1 << 0,
   AGX_UAPI_SYNCOBJ_SYNC_FILE = 1 << 0, /* HANDLE_TO_FD and FD_TO_HANDLE */
   AGX_UAPI_SYNCOBJ_TIMELINE = 1 << 1,  /* with it: the point in point */
   AGX_UAPI_SYNCOBJ_WAIT_ALL = 1 << 0,
   AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT = 1 << 1,
   AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE = 1 << 2,
   AGX_UAPI_SYNCOBJ_WAIT_DEADLINE = 1 << 3,
   AGX_UAPI_SYNCOBJ_QUERY_LAST_SUBMITTED = 1 << 0,
};

enum agx_uapi_gem_flags {
   AGX_UAPI_GEM_WRITEBACK = 1 << 0,
   AGX_UAPI_GEM_VM_PRIVATE = 1 << 1,
};

enum agx_uapi_bind_flags {
   AGX_UAPI_BIND_UNBIND = 1 << 0,
   AGX_UAPI_BIND_READ = 1 << 1,
   AGX_UAPI_BIND_WRITE = 1 << 2,
   AGX_UAPI_BIND_SINGLE_PAGE = 1 << 3,
};

enum agx_uapi_bind_object_op {
   AGX_UAPI_BIND_OBJECT_OP_BIND = 0,
   AGX_UAPI_BIND_OBJECT_OP_UNBIND = 1,
};

enum agx_uapi_bind_object_flags {
   AGX_UAPI_BIND_OBJECT_USAGE_TIMESTAMPS = 1 << 0,
};

enum agx_uapi_priority {
   AGX_UAPI_PRIORITY_LOW = 0,
   AGX_UAPI_PRIORITY_MEDIUM = 1,
   AGX_UAPI_PRIORITY_HIGH = 2,
   AGX_UAPI_PRIORITY_REALTIME = 3,
};

enum agx_uapi_sync_type {
   AGX_UAPI_SYNC_SYNCOBJ = 0,
   AGX_UAPI_SYNC_TIMELINE_SYNCOBJ = 1,
};

enum agx_uapi_cmd_type {
   AGX_UAPI_CMD_RENDER = 0,
   AGX_UAPI_CMD_COMPUTE = 1,
   AGX_UAPI_CMD_SET_VERTEX_ATTACHMENTS = 2,
   AGX_UAPI_CMD_SET_FRAGMENT_ATTACHMENTS = 3,
   AGX_UAPI_CMD_SET_COMPUTE_ATTACHMENTS = 4,
};

enum agx_uapi_render_flags {
   AGX_UAPI_RENDER_VERTEX_SCRATCH = 1 << 0,
   AGX_UAPI_RENDER_PROCESS_EMPTY_TILES = 1 << 1,
   AGX_UAPI_RENDER_NO_VERTEX_CLUSTERING = 1 << 2,
   AGX_UAPI_RENDER_DBIAS_IS_INT = 1 << 18,
};

/* DRM core. */

/* Lengths go in as capacities and come back as true lengths; no NUL is written. */
struct agx_uapi_version {
   int32_t version_major;
   int32_t version_minor;
   int32_t version_patchlevel;
   uint32_t reserved;
   uint64_t name_len;
   uint64_t name;
   uint64_t date_len;
   uint64_t date;
   uint64_t desc_len;
   uint64_t desc;
};
_Static_assert(sizeof(struct agx_uapi_version) == 64, "drm_version");

struct agx_uapi_gem_close {
   uint32_t handle;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_gem_close) == 8, "drm_gem_close");

struct agx_uapi_get_cap {
   uint64_t capability;
   uint64_t value;
};
_Static_assert(sizeof(struct agx_uapi_get_cap) == 16, "drm_get_cap");

struct agx_uapi_set_client_cap {
   uint64_t capability;
   uint64_t value;
};
_Static_assert(sizeof(struct agx_uapi_set_client_cap) == 16, "drm_set_client_cap");

struct agx_uapi_prime_handle {
   uint32_t handle;
   uint32_t flags;
   int32_t fd;
};
_Static_assert(sizeof(struct agx_uapi_prime_handle) == 12, "drm_prime_handle");

/* Synchronisation objects, in the newest layout. */

struct agx_uapi_syncobj_create {
   uint32_t handle;
   uint32_t flags;
};
_Static_assert(sizeof(struct agx_uapi_syncobj_create) == 8, "drm_syncobj_create");

struct agx_uapi_syncobj_destroy {
   uint32_t handle;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_syncobj_destroy) == 8, "drm_syncobj_destroy");

/* Older headers end before point. */
struct agx_uapi_syncobj_handle {
   uint32_t handle;
   uint32_t flags;
   int32_t fd;
   uint32_t pad;
   uint64_t point;
};
_Static_assert(sizeof(struct agx_uapi_syncobj_handle) == 24, "drm_syncobj_handle");

struct agx_uapi_syncobj_transfer {
   uint32_t src_handle;
   uint32_t dst_handle;
   uint64_t src_point;
   uint64_t dst_point;
   uint32_t flags;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_syncobj_transfer) == 32, "drm_syncobj_transfer");

/* timeout_nsec is absolute CLOCK_MONOTONIC; older headers end before deadline_nsec. */
struct agx_uapi_syncobj_wait {
   uint64_t handles;
   int64_t timeout_nsec;
   uint32_t count_handles;
   uint32_t flags;
   uint32_t first_signaled;
   uint32_t pad;
   uint64_t deadline_nsec;
};
_Static_assert(sizeof(struct agx_uapi_syncobj_wait) == 40, "drm_syncobj_wait");

/* points may be NULL, which means value 0 for all: the current fence. */
struct agx_uapi_syncobj_timeline_wait {
   uint64_t handles;
   uint64_t points;
   int64_t timeout_nsec;
   uint32_t count_handles;
   uint32_t flags;
   uint32_t first_signaled;
   uint32_t pad;
   uint64_t deadline_nsec;
};
_Static_assert(sizeof(struct agx_uapi_syncobj_timeline_wait) == 48, "drm_syncobj_timeline_wait");

struct agx_uapi_syncobj_eventfd {
   uint32_t handle;
   uint32_t flags;
   uint64_t point;
   int32_t fd;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_syncobj_eventfd) == 24, "drm_syncobj_eventfd");

struct agx_uapi_syncobj_array {
   uint64_t handles;
   uint32_t count_handles;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_syncobj_array) == 16, "drm_syncobj_array");

struct agx_uapi_syncobj_timeline_array {
   uint64_t handles;
   uint64_t points;
   uint32_t count_handles;
   uint32_t flags;
};
_Static_assert(sizeof(struct agx_uapi_syncobj_timeline_array) == 24, "drm_syncobj_timeline_array");

/* Asahi: device. */

/* What group 0 of GET_PARAMS fills. */
struct agx_uapi_params_global {
   uint64_t features;
   uint32_t gpu_generation;
   uint32_t gpu_variant;  /* ASCII: G, S, C, D */
   uint32_t gpu_revision; /* letter << 4 | digit: B1 is 0x11 */
   uint32_t chip_id;
   uint32_t num_dies;
   uint32_t num_clusters_total;
   uint32_t num_cores_per_cluster;
   uint32_t max_frequency_khz;
   uint64_t core_masks[AGX_UAPI_MAX_CLUSTERS]; /* per cluster: a bit per enabled core */
   uint64_t vm_start;
   uint64_t vm_end; /* exclusive */
   uint64_t vm_kernel_min_size;
   uint32_t max_commands_per_submission;
   uint32_t max_attachments;
   uint64_t command_timestamp_frequency_hz;
};
_Static_assert(sizeof(struct agx_uapi_params_global) == 592, "drm_asahi_params_global");

/* Writes min(size, 592) bytes at pointer; nothing here changes. */
struct agx_uapi_get_params {
   uint32_t param_group;
   uint32_t pad;
   uint64_t pointer;
   uint64_t size;
};
_Static_assert(sizeof(struct agx_uapi_get_params) == 24, "drm_asahi_get_params");

struct agx_uapi_get_time {
   uint64_t flags;
   uint64_t gpu_timestamp;
};
_Static_assert(sizeof(struct agx_uapi_get_time) == 16, "drm_asahi_get_time");

/* Asahi: address spaces and buffers. */

/* kernel_start and kernel_end bound the part that the kernel keeps for itself. */
struct agx_uapi_vm_create {
   uint64_t kernel_start;
   uint64_t kernel_end;
   uint32_t vm_id;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_vm_create) == 24, "drm_asahi_vm_create");

struct agx_uapi_vm_destroy {
   uint32_t vm_id;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_vm_destroy) == 8, "drm_asahi_vm_destroy");

/* size is rounded up to 16 KiB; vm_id only with VM_PRIVATE. */
struct agx_uapi_gem_create {
   uint64_t size;
   uint32_t flags;
   uint32_t vm_id;
   uint32_t handle;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_gem_create) == 24, "drm_asahi_gem_create");

struct agx_uapi_gem_mmap_offset {
   uint32_t handle;
   uint32_t flags;
   uint64_t offset;
};
_Static_assert(sizeof(struct agx_uapi_gem_mmap_offset) == 16, "drm_asahi_gem_mmap_offset");

/* One step of VM_BIND; all of offset, range, addr in 16 KiB pages. */
struct agx_uapi_gem_bind_op {
   uint32_t flags;
   uint32_t handle;
   uint64_t offset;
   uint64_t range;
   uint64_t addr;
};
_Static_assert(sizeof(struct agx_uapi_gem_bind_op) == 32, "drm_asahi_gem_bind_op");

/* userptr: num_binds steps, stride bytes apart. */
struct agx_uapi_vm_bind {
   uint32_t vm_id;
   uint32_t num_binds;
   uint32_t stride;
   uint32_t pad;
   uint64_t userptr;
};
_Static_assert(sizeof(struct agx_uapi_vm_bind) == 24, "drm_asahi_vm_bind");

/* Makes a buffer known as timestamp memory; object_handle names it in a submission. */
struct agx_uapi_gem_bind_object {
   uint32_t op;
   uint32_t flags;
   uint32_t handle;
   uint32_t vm_id;
   uint64_t offset;
   uint64_t range;
   uint32_t object_handle;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_gem_bind_object) == 40, "drm_asahi_gem_bind_object");

/* Asahi: queues and submission. */

/* usc_exec_base: the 4 GiB window that code and launch words are relative to. */
struct agx_uapi_queue_create {
   uint32_t flags;
   uint32_t vm_id;
   uint32_t priority;
   uint32_t queue_id;
   uint64_t usc_exec_base;
};
_Static_assert(sizeof(struct agx_uapi_queue_create) == 24, "drm_asahi_queue_create");

struct agx_uapi_queue_destroy {
   uint32_t queue_id;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_queue_destroy) == 8, "drm_asahi_queue_destroy");

/* timeline_value is 0 for a binary one. */
struct agx_uapi_sync {
   uint32_t sync_type;
   uint32_t handle;
   uint64_t timeline_value;
};
_Static_assert(sizeof(struct agx_uapi_sync) == 16, "drm_asahi_sync");

/* Stands before each command's payload of size bytes; barriers count from 1, see BARRIER_NONE. */
struct agx_uapi_cmd_header {
   uint16_t cmd_type;
   uint16_t size;
   uint16_t vdm_barrier;
   uint16_t cdm_barrier;
};
_Static_assert(sizeof(struct agx_uapi_cmd_header) == 8, "drm_asahi_cmd_header");

/* syncs: in_sync_count waits, then out_sync_count signals. */
struct agx_uapi_submit {
   uint64_t syncs;
   uint64_t cmdbuf;
   uint32_t flags;
   uint32_t queue_id;
   uint32_t in_sync_count;
   uint32_t out_sync_count;
   uint32_t cmdbuf_size;
   uint32_t pad;
};
_Static_assert(sizeof(struct agx_uapi_submit) == 40, "drm_asahi_submit");

struct agx_uapi_attachment {
   uint64_t pointer;
   uint64_t size;
   uint32_t pad;
   uint32_t flags;
};
_Static_assert(sizeof(struct agx_uapi_attachment) == 24, "drm_asahi_attachment");

struct agx_uapi_zls_buffer {
   uint64_t base;
   uint64_t comp_base;
   uint32_t stride;
   uint32_t comp_stride;
};
_Static_assert(sizeof(struct agx_uapi_zls_buffer) == 24, "drm_asahi_zls_buffer");

/* handle 0: none. */
struct agx_uapi_timestamp {
   uint32_t handle;
   uint32_t offset;
};
_Static_assert(sizeof(struct agx_uapi_timestamp) == 8, "drm_asahi_timestamp");

struct agx_uapi_timestamps {
   struct agx_uapi_timestamp start;
   struct agx_uapi_timestamp end;
};
_Static_assert(sizeof(struct agx_uapi_timestamps) == 16, "drm_asahi_timestamps");

/* Scratch helper; all zero when no program spills. */
struct agx_uapi_helper_program {
   uint32_t binary;
   uint32_t cfg;
   uint64_t data;
};
_Static_assert(sizeof(struct agx_uapi_helper_program) == 16, "drm_asahi_helper_program");

struct agx_uapi_bg_eot {
   uint32_t usc;
   uint32_t rsrc_spec;
};
_Static_assert(sizeof(struct agx_uapi_bg_eot) == 8, "drm_asahi_bg_eot");

struct agx_uapi_cmd_render {
   uint32_t flags;
   uint32_t isp_zls_pixels;
   uint64_t vdm_ctrl_stream_base;
   struct agx_uapi_helper_program vertex_helper;
   struct agx_uapi_helper_program fragment_helper;
   uint64_t isp_scissor_base;
   uint64_t isp_dbias_base;
   uint64_t isp_oclqry_base;
   struct agx_uapi_zls_buffer depth;
   struct agx_uapi_zls_buffer stencil;
   uint64_t zls_ctrl;
   uint64_t ppp_multisamplectl;
   uint64_t sampler_heap;
   uint32_t ppp_ctrl;
   uint16_t width_px;
   uint16_t height_px;
   uint16_t layers;
   uint16_t sampler_count;
   uint8_t utile_width_px;
   uint8_t utile_height_px;
   uint8_t samples;
   uint8_t sample_size_B;
   uint32_t isp_merge_upper_x; /* float bits */
   uint32_t isp_merge_upper_y; /* float bits */
   struct agx_uapi_bg_eot bg;
   struct agx_uapi_bg_eot eot;
   struct agx_uapi_bg_eot partial_bg;
   struct agx_uapi_bg_eot partial_eot;
   uint32_t isp_bgobjdepth;
   uint32_t isp_bgobjvals;
   struct agx_uapi_timestamps ts_vtx;
   struct agx_uapi_timestamps ts_frag;
};
_Static_assert(sizeof(struct agx_uapi_cmd_render) == 240, "drm_asahi_cmd_render");

/* Runs the CDM stream at cdm_ctrl_stream_base to its Terminate. */
struct agx_uapi_cmd_compute {
   uint32_t flags;
   uint32_t sampler_count;
   uint64_t cdm_ctrl_stream_base;
   uint64_t cdm_ctrl_stream_end;
   uint64_t sampler_heap;
   struct agx_uapi_helper_program helper;
   struct agx_uapi_timestamps ts;
};
_Static_assert(sizeof(struct agx_uapi_cmd_compute) == 64, "drm_asahi_cmd_compute");

#define AGX_IOCTL_ASAHI_GET_PARAMS      AGX_UAPI_IN(0x40, struct agx_uapi_get_params)
#define AGX_IOCTL_ASAHI_GET_TIME        AGX_UAPI_INOUT(0x41, struct agx_uapi_get_time)
#define AGX_IOCTL_ASAHI_VM_CREATE       AGX_UAPI_INOUT(0x42, struct agx_uapi_vm_create)
#define AGX_IOCTL_ASAHI_VM_DESTROY      AGX_UAPI_IN(0x43, struct agx_uapi_vm_destroy)
#define AGX_IOCTL_ASAHI_VM_BIND         AGX_UAPI_IN(0x44, struct agx_uapi_vm_bind)
#define AGX_IOCTL_ASAHI_GEM_CREATE      AGX_UAPI_INOUT(0x45, struct agx_uapi_gem_create)
#define AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET AGX_UAPI_INOUT(0x46, struct agx_uapi_gem_mmap_offset)
#define AGX_IOCTL_ASAHI_GEM_BIND_OBJECT AGX_UAPI_INOUT(0x47, struct agx_uapi_gem_bind_object)
#define AGX_IOCTL_ASAHI_QUEUE_CREATE    AGX_UAPI_INOUT(0x48, struct agx_uapi_queue_create)
#define AGX_IOCTL_ASAHI_QUEUE_DESTROY   AGX_UAPI_IN(0x49, struct agx_uapi_queue_destroy)
#define AGX_IOCTL_ASAHI_SUBMIT          AGX_UAPI_IN(0x4a, struct agx_uapi_submit)
#define AGX_IOCTL_VERSION               AGX_UAPI_INOUT(0x00, struct agx_uapi_version)
#define AGX_IOCTL_GET_CAP               AGX_UAPI_INOUT(0x0c, struct agx_uapi_get_cap)
#define AGX_IOCTL_GEM_CLOSE             AGX_UAPI_IN(0x09, struct agx_uapi_gem_close)
#define AGX_IOCTL_PRIME_HANDLE_TO_FD    AGX_UAPI_INOUT(0x2d, struct agx_uapi_prime_handle)
#define AGX_IOCTL_PRIME_FD_TO_HANDLE    AGX_UAPI_INOUT(0x2e, struct agx_uapi_prime_handle)
#define AGX_IOCTL_SYNCOBJ_CREATE        AGX_UAPI_INOUT(0xbf, struct agx_uapi_syncobj_create)
#define AGX_IOCTL_SYNCOBJ_DESTROY       AGX_UAPI_INOUT(0xc0, struct agx_uapi_syncobj_destroy)
#define AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD  AGX_UAPI_INOUT(0xc1, struct agx_uapi_syncobj_handle)
#define AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE  AGX_UAPI_INOUT(0xc2, struct agx_uapi_syncobj_handle)
#define AGX_IOCTL_SYNCOBJ_WAIT          AGX_UAPI_INOUT(0xc3, struct agx_uapi_syncobj_wait)
#define AGX_IOCTL_SYNCOBJ_RESET         AGX_UAPI_INOUT(0xc4, struct agx_uapi_syncobj_array)
#define AGX_IOCTL_SYNCOBJ_SIGNAL        AGX_UAPI_INOUT(0xc5, struct agx_uapi_syncobj_array)
#define AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT AGX_UAPI_INOUT(0xca, struct agx_uapi_syncobj_timeline_wait)
#define AGX_IOCTL_SYNCOBJ_QUERY         AGX_UAPI_INOUT(0xcb, struct agx_uapi_syncobj_timeline_array)
#define AGX_IOCTL_SYNCOBJ_TRANSFER      AGX_UAPI_INOUT(0xcc, struct agx_uapi_syncobj_transfer)
#define AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL                                                          \
   AGX_UAPI_INOUT(0xcd, struct agx_uapi_syncobj_timeline_array)
#define AGX_IOCTL_SYNCOBJ_EVENTFD AGX_UAPI_INOUT(0xcf, struct agx_uapi_syncobj_eventfd)
