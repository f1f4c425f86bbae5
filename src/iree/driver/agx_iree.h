/* SPDX-License-Identifier: MIT
 *
 * The objects of the IREE driver: each is IREE's base struct and the handle of an object of
 * <agx/hal.h>. Functions that create something give one reference, as everywhere in IREE.
 */
#pragma once

#include <agx/hal.h>

#include "iree/async/api.h"
#include "iree/async/frontier_tracker.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/api.h"
#include "iree/hal/api.h"

#include "container.h"
#include "path.h"

#define AGX_IREE_MAX_QUEUES 8

/* ---- status ---------------------------------------------------------------- */

/* AGX_OK, or a failed call's code with the text that it left on this thread. */
iree_status_t agx_iree_status(agx_status status);

/* A code with a text of the caller's. */
iree_status_t agx_iree_status_of(agx_status status, const char *text);

/* Writes a status in words, without its stack trace, and returns text. */
const char *agx_iree_status_text(iree_status_t status, char *text, size_t capacity);

/* ---- driver ---------------------------------------------------------------- */

/* What flags say for all devices that a driver opens. */
struct agx_iree_driver_options {
   const char *capture_path; /* NULL: none */
   const char *profile_path; /* NULL: none */
};

/* A driver of that name, with an instance of the library; options are copied, their texts are not.
 */
iree_status_t agx_iree_driver_create(iree_string_view_t identifier,
                                     const struct agx_iree_driver_options *options,
                                     iree_allocator_t host_allocator,
                                     iree_hal_driver_t **out_driver);

/* Enters the driver "agx" into a registry; IREE's generated code calls it. */
iree_status_t agx_iree_driver_module_register(iree_hal_driver_registry_t *registry);

/* ---- device ---------------------------------------------------------------- */

struct agx_iree_profile;
struct agx_iree_slabs;

struct agx_iree_device {
   iree_hal_resource_t resource;
   iree_string_view_t identifier;
   iree_allocator_t host_allocator;
   struct agx_device *core;
   struct agx_device_info info;
   uint32_t robustness;     /* enum agx_robustness, of its executables */
   struct agx_pool *tables; /* of addresses, for kernels that take them */
   iree_hal_allocator_t *allocator;
   iree_hal_channel_provider_t *channel_provider;
   iree_async_proactor_pool_t *proactor_pool;
   iree_async_proactor_t *proactor;
   iree_hal_device_topology_info_t topology;
   /* Of iree_hal_pool_t over this device's memory: made when first asked for. */
   iree_slim_mutex_t pools_mutex;
   struct agx_iree_slabs *slabs;
   iree_async_notification_t *notification;
   iree_atomic_int64_t epochs[AGX_IREE_MAX_QUEUES]; /* deallocations out of such pools that ended */
   struct agx_iree_profile *profile;                /* of the session; NULL: there is none */
};

/* Opens a core device by desc, and wraps it. profile_path as in agx_profile_desc. */
iree_status_t agx_iree_device_create(iree_string_view_t identifier, struct agx_instance *instance,
                                     const struct agx_device_desc *desc, uint32_t robustness,
                                     const char *profile_path,
                                     const iree_hal_device_create_params_t *create_params,
                                     iree_allocator_t host_allocator,
                                     iree_hal_device_t **out_device);

/* The bits of the device's queues in affinity; 0: none of them. */
uint64_t agx_iree_device_queues(const struct agx_iree_device *device,
                                iree_hal_queue_affinity_t affinity);

/* ---- memory ---------------------------------------------------------------- */

/* The allocator of a device, which holds no reference to it. */
iree_status_t agx_iree_allocator_create(struct agx_iree_device *device,
                                        iree_allocator_t host_allocator,
                                        iree_hal_allocator_t **out_allocator);

struct agx_iree_pooled;

struct agx_iree_buffer {
   iree_hal_buffer_t base;
   iree_allocator_t host_allocator;
   struct agx_buffer *core;                    /* NULL: it has no memory yet (pool.c) */
   uint64_t core_offset_B;                     /* of the buffer in core's */
   iree_hal_buffer_release_callback_t release; /* when the IREE object goes */
   struct agx_iree_pooled *pooled;             /* out of an IREE pool (pool.c); else NULL */
};

/* What agx_iree_buffer_wrap needs besides the core's buffer. */
struct agx_iree_buffer_desc {
   iree_hal_buffer_placement_t placement;
   iree_hal_buffer_params_t params; /* canonical */
   iree_device_size_t size_B;
   uint64_t core_offset_B;
   iree_hal_buffer_release_callback_t release;
};

/* An IREE buffer over core, whose reference it takes over when it succeeds. */
iree_status_t agx_iree_buffer_wrap(struct agx_buffer *core, const struct agx_iree_buffer_desc *desc,
                                   iree_allocator_t host_allocator, iree_hal_buffer_t **out_buffer);

/* Lets go of what an IREE pool gave (pool.c). */
void agx_iree_pooled_release(struct agx_iree_pooled *pooled);

/* This driver's buffer that a buffer or view of it lies in; NULL: it is another driver's. */
struct agx_iree_buffer *agx_iree_buffer_of(iree_hal_buffer_t *buffer);

/* A range of an IREE buffer, or of a slot of the binding table, in the core's words. A binding of
 * no bytes has one, since kernels want an address. INVALID_ARGUMENT for another driver's buffer;
 * FAILED_PRECONDITION while one out of a pool has no memory. */
iree_status_t agx_iree_ref(iree_hal_buffer_ref_t ref, struct agx_buffer_ref *out_ref);

/* The core's words for IREE's memory types, usage and access. */
struct agx_buffer_desc agx_iree_buffer_params(const iree_hal_buffer_params_t *params,
                                              iree_device_size_t size_B);

/* IREE's for memory that the core has made. */
iree_hal_memory_type_t agx_iree_memory_type(uint32_t memory);

/* ---- semaphores ------------------------------------------------------------ */

/* A semaphore with a timeline on each side. OUT_OF_RANGE: initial is above what IREE allows. */
iree_status_t agx_iree_semaphore_create(struct agx_iree_device *device, uint64_t initial,
                                        iree_hal_semaphore_t **out_semaphore);

/* The core's semaphore, where it is one of this device; else NULL. */
struct agx_semaphore *agx_iree_semaphore_core(const struct agx_iree_device *device,
                                              iree_hal_semaphore_t *semaphore);

/* ---- executables ----------------------------------------------------------- */

struct agx_iree_executable;

struct agx_iree_entry {
   const struct agx_iree_executable *executable; /* which it is one of */
   struct agx_executable *core;
   uint32_t core_entry;
   uint32_t abi; /* enum agx_iree_abi */
   uint32_t binding_count, constant_count;
   uint32_t constants_at_B, root_at_B, push_B;
   /* Of AGX_IREE_DESCRIPTORS: what the kernel uses, ordinals of the HAL and numbers in set 0. */
   uint32_t used_count;
   uint8_t used[AGX_MAX_BINDINGS];
   uint32_t used_number[AGX_MAX_BINDINGS];
   uint32_t local_size[3];
   bool has_dynamic_local_size;
   char *name;
};

struct agx_iree_executable {
   iree_hal_resource_t resource;
   iree_allocator_t host_allocator;
   uint64_t profile_id;
   uint32_t entry_count;
   struct agx_iree_entry entries[];
};

extern const iree_hal_executable_vtable_t agx_iree_executable_vtable;

/* A cache that keeps nothing by itself; it retains its device. */
iree_status_t agx_iree_executable_cache_create(struct agx_iree_device *device,
                                               iree_string_view_t identifier,
                                               iree_hal_executable_cache_t **out_cache);
/* Whether executables of the format can be made. */
bool agx_iree_executable_format_is_known(iree_string_view_t format);
/* Compiles, or loads, all entry points of a file. Fails as agx_executable_create and
 * agx_iree_container_open do. */
iree_status_t agx_iree_executable_create(struct agx_iree_device *device,
                                         const iree_hal_executable_params_t *params,
                                         iree_hal_executable_t **out_executable);

/* The entry point that function names. OUT_OF_RANGE: there is none; INVALID_ARGUMENT: another
 * driver's executable. */
iree_status_t agx_iree_executable_entry(iree_hal_executable_t *executable,
                                        iree_hal_executable_function_t function,
                                        const struct agx_iree_entry **out_entry);

/* ---- commands -------------------------------------------------------------- */

struct agx_iree_dispatch {
   struct agx_dispatch core;
   struct agx_binding bindings[AGX_MAX_BINDINGS];
   uint8_t push[AGX_MAX_PUSH_B];
};

/* IREE's arguments of a dispatch in the core's words; out_dispatch points into itself. The root of
 * an address table is left zero. */
iree_status_t
agx_iree_dispatch_fill(const struct agx_iree_entry *entry, const iree_hal_dispatch_config_t *config,
                       iree_const_byte_span_t constants, iree_hal_buffer_ref_list_t bindings,
                       iree_hal_dispatch_flags_t flags, struct agx_iree_dispatch *out_dispatch);

/* Whether a dispatch of the entry point with these flags takes a table of addresses. */
bool agx_iree_dispatch_wants_table(const struct agx_iree_entry *entry,
                                   iree_hal_dispatch_flags_t flags);

/* What must live until work has ended, though the core can't see that the work uses it. */
struct agx_iree_kept_object {
   void *core;     /* an object of the core's; or NULL */
   void *resource; /* an object of IREE's; or NULL */
};

struct agx_iree_kept {
   struct agx_iree_kept_object *objects;
   uint32_t count, capacity;
};

/* Retains core, and keeps it. */
iree_status_t agx_iree_kept_add(struct agx_iree_kept *kept, void *core);
/* Keeps the core's buffers of refs; slots have none yet. */
iree_status_t agx_iree_kept_add_refs(struct agx_iree_kept *kept, iree_hal_buffer_ref_list_t refs);
/* Keeps a buffer, or view of one, whose memory goes back with the IREE object: out of a pool of
 * IREE's, or imported with a release callback. The others the core keeps itself. */
iree_status_t agx_iree_kept_add_buffer(struct agx_iree_kept *kept, iree_hal_buffer_t *buffer);
/* Keeps an object of IREE's. */
iree_status_t agx_iree_kept_add_resource(struct agx_iree_kept *kept, void *resource);
/* Lets go of all, and empties kept. */
void agx_iree_kept_free(struct agx_iree_kept *kept);

/* Memory for tables, mapped. */
struct agx_iree_table {
   struct agx_buffer *buffer;
   uint64_t address;
   void *memory;
};

/* Memory of size_B bytes, whose buffer the caller releases. */
iree_status_t agx_iree_table_allocate(struct agx_iree_device *device, uint64_t size_B,
                                      struct agx_iree_table *out_table);

/* Writes the addresses of bindings, which slots of table may stand for, to out_addresses. Each must
 * be of the device, and in its buffer. */
iree_status_t agx_iree_addresses(const struct agx_iree_device *device,
                                 iree_hal_buffer_ref_list_t bindings,
                                 iree_hal_buffer_binding_table_t table, uint64_t *out_addresses);

/* Writes the root that shows a kernel the table at table_address into push constants. */
void agx_iree_write_root(const struct agx_iree_entry *entry, uint64_t table_address, uint8_t *push);

/* A command buffer, with its slots of the binding table; it retains its device. */
iree_status_t agx_iree_command_buffer_create(struct agx_iree_device *device,
                                             iree_hal_command_buffer_mode_t mode,
                                             iree_hal_command_category_t categories,
                                             iree_hal_queue_affinity_t affinity,
                                             iree_host_size_t binding_capacity,
                                             iree_hal_command_buffer_t **out_command_buffer);

/* One submission of a command buffer of this driver. */
iree_status_t agx_iree_command_buffer_submit(struct agx_iree_device *device,
                                             iree_hal_queue_affinity_t affinity,
                                             iree_hal_semaphore_list_t waits,
                                             iree_hal_semaphore_list_t signals,
                                             iree_hal_command_buffer_t *command_buffer,
                                             iree_hal_buffer_binding_table_t table);

/* An event. */
iree_status_t agx_iree_event_create(struct agx_iree_device *device, iree_hal_event_t **out_event);
/* The core's event; NULL: it is another driver's. */
struct agx_event *agx_iree_event_core(const iree_hal_event_t *event);

/* ---- queues ---------------------------------------------------------------- */

/* agx_op's end, which is called once when an operation has ended in whatever way. */
struct agx_iree_end {
   agx_op_end_fn fn;
   void *user;
};

/* Submits op with IREE's waits and signals; op's own are ignored. end may be NULL; it is called
 * unless this fails. */
iree_status_t agx_iree_submit(struct agx_iree_device *device, iree_hal_queue_affinity_t affinity,
                              iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                              struct agx_op *op, const struct agx_iree_end *end);

/* As agx_iree_submit, and keeps what kept has until the end, or lets go of it at once when this
 * fails; kept is empty afterwards. */
iree_status_t agx_iree_submit_kept(struct agx_iree_device *device,
                                   iree_hal_queue_affinity_t affinity,
                                   iree_hal_semaphore_list_t waits,
                                   iree_hal_semaphore_list_t signals, struct agx_op *op,
                                   struct agx_iree_kept *kept);

/* The slots of iree_hal_device_vtable_t that queue work (queue.c, pool.c, host_call.c, file.c). */
iree_status_t agx_iree_queue_alloca(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                    iree_hal_semaphore_list_t waits,
                                    iree_hal_semaphore_list_t signals, iree_hal_pool_t *pool,
                                    iree_hal_buffer_params_t params, iree_device_size_t size_B,
                                    iree_hal_alloca_flags_t flags,
                                    iree_hal_buffer_t **IREE_RESTRICT out_buffer);
iree_status_t agx_iree_queue_dealloca(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                      iree_hal_semaphore_list_t waits,
                                      iree_hal_semaphore_list_t signals, iree_hal_buffer_t *buffer,
                                      iree_hal_dealloca_flags_t flags);
iree_status_t agx_iree_queue_fill(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                  iree_hal_semaphore_list_t waits,
                                  iree_hal_semaphore_list_t signals, iree_hal_buffer_t *target,
                                  iree_device_size_t offset_B, iree_device_size_t length_B,
                                  const void *pattern, iree_host_size_t pattern_B,
                                  iree_hal_fill_flags_t flags);
iree_status_t agx_iree_queue_update(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                    iree_hal_semaphore_list_t waits,
                                    iree_hal_semaphore_list_t signals, const void *source,
                                    iree_host_size_t source_offset_B, iree_hal_buffer_t *target,
                                    iree_device_size_t offset_B, iree_device_size_t length_B,
                                    iree_hal_update_flags_t flags);
/* A copy between buffers. */
iree_status_t agx_iree_queue_copy(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                  iree_hal_semaphore_list_t waits,
                                  iree_hal_semaphore_list_t signals, iree_hal_buffer_t *source,
                                  iree_device_size_t source_offset_B, iree_hal_buffer_t *target,
                                  iree_device_size_t target_offset_B, iree_device_size_t length_B,
                                  iree_hal_copy_flags_t flags);
/* A read of a file into a buffer. */
iree_status_t agx_iree_queue_read(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                  iree_hal_semaphore_list_t waits,
                                  iree_hal_semaphore_list_t signals, iree_hal_file_t *source,
                                  uint64_t source_offset_B, iree_hal_buffer_t *target,
                                  iree_device_size_t offset_B, iree_device_size_t length_B,
                                  iree_hal_read_flags_t flags);
/* A write of a buffer into a file. */
iree_status_t agx_iree_queue_write(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                   iree_hal_semaphore_list_t waits,
                                   iree_hal_semaphore_list_t signals, iree_hal_buffer_t *source,
                                   iree_device_size_t offset_B, iree_hal_file_t *target,
                                   uint64_t target_offset_B, iree_device_size_t length_B,
                                   iree_hal_write_flags_t flags);
/* A call of a function of the application. */
iree_status_t agx_iree_queue_host_call(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                       iree_hal_semaphore_list_t waits,
                                       iree_hal_semaphore_list_t signals, iree_hal_host_call_t call,
                                       const uint64_t args[4], iree_hal_host_call_flags_t flags);
/* A single dispatch. */
iree_status_t
agx_iree_queue_dispatch(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                        iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                        iree_hal_executable_t *executable, iree_hal_executable_function_t function,
                        const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                        const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags);
/* A command buffer; NULL: a barrier. */
iree_status_t agx_iree_queue_execute(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                     iree_hal_semaphore_list_t waits,
                                     iree_hal_semaphore_list_t signals,
                                     iree_hal_command_buffer_t *command_buffer,
                                     iree_hal_buffer_binding_table_t table,
                                     iree_hal_execute_flags_t flags);
/* As agx_flush. */
iree_status_t agx_iree_queue_flush(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity);

/* Pools of IREE's over this device's memory (slabs.c). */
iree_status_t agx_iree_query_queue_pool_backend(iree_hal_device_t *base,
                                                iree_hal_queue_affinity_t affinity,
                                                iree_hal_queue_pool_backend_t *out_backend);
void agx_iree_pools_destroy(struct agx_iree_device *device);

/* ---- profiling ------------------------------------------------------------- */

/* Begins the device's session for IREE's sink. UNIMPLEMENTED: a family that the device lacks. */
iree_status_t agx_iree_profiling_begin(iree_hal_device_t *base,
                                       const iree_hal_device_profiling_options_t *options);
/* Delivers the records of what has ended. */
iree_status_t agx_iree_profiling_flush(iree_hal_device_t *base);
/* Flushes and ends the session. */
iree_status_t agx_iree_profiling_end(iree_hal_device_t *base);

/* ---- files ----------------------------------------------------------------- */

/* A file over a handle of host memory or a descriptor, which is retained. UNAVAILABLE: another
 * kind. */
iree_status_t agx_iree_file_import(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                   iree_hal_memory_access_t access, iree_io_file_handle_t *handle,
                                   iree_hal_external_file_flags_t flags,
                                   iree_hal_file_t **out_file);
