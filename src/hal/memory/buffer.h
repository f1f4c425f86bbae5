/* SPDX-License-Identifier: MIT
 *
 * A buffer: a range of a winsys buffer, which it owns, or which it shares as a view of
 * another buffer.
 */
#pragma once

#include "agx/memory.h"
#include "hal/core/context.h"
#include "winsys/winsys.h"

#define AGX_BUFFER_LABEL_BYTES 32

/* The largest there is. Source: docs/hw/access.md 2. */
#define AGX_MAX_BUFFER_B (1ull << 37)

struct agx_buffer;

/* Of buffers whose memory comes after they were made, and goes before they do. */
struct agx_buffer_storage {
   /* Where the host finds the memory: AGX_FAILED_PRECONDITION while there is none. */
   agx_status (*host_memory)(struct agx_buffer *buffer, void **out_memory);
   /* The queue that it was allocated on, as a bit. */
   uint64_t (*queues)(const struct agx_buffer *buffer);
};

struct agx_buffer {
   struct agx_object object;
   struct agx_device *device; /* a view's is kept alive by its parent */
   struct agxw_bo *bo;        /* a view's is its parent's */
   struct agx_buffer *parent; /* what it is a view of, retained; NULL: it owns bo and device */
   uint64_t serial;           /* of the device's buffers, from 1 */
   uint64_t offset_B;         /* of its first byte in bo */
   uint64_t size_B;
   uint64_t address;                 /* of its first byte */
   uint32_t flags;                   /* enum agx_buffer_flags */
   uint32_t memory, usage, access;   /* enum agx_memory_type, agx_buffer_usage, agx_access */
   _Atomic uint32_t state;           /* enum agx_buffer_state */
   _Atomic uint32_t mappings;        /* agx_buffer_map_range without its agx_buffer_unmap */
   bool is_imported, is_reservation; /* agx_vmem_reserve */
   /* While it is AGX_BUFFER_RESERVED there are no addresses, nor bo (AGX_POOL_CALLER). */
   bool has_late_address;
   /* Imported, and `host` is all of it: its addresses have no memory behind them, so that what gets
    * there by mistake faults. */
   bool is_host_only;
   uint8_t *host; /* bo's memory where its owner has mapped it; else NULL */
   const struct agx_buffer_storage *storage; /* NULL: bo is its memory from first to last */
   char label[AGX_BUFFER_LABEL_BYTES];
};

/* Whether other buffers may show the same memory: views of pools never do. */
static inline bool agx_buffer_may_alias(const struct agx_buffer *buffer)
{
   return buffer->is_imported || buffer->is_reservation || buffer->usage & AGX_USAGE_SHARING_EXPORT;
}

/* Makes *view, zeroed memory of the caller's, a buffer that shows size_B bytes of parent from
 * offset_B on, with one reference. It keeps parent alive until agx_buffer_fini_view, which the
 * type's destroy calls before it frees the memory. flags beyond the parent's restrict the view
 * further. AGX_OUT_OF_RANGE where the parent is shorter. label is copied, NULL: the parent's. */
AGX_MUST_CHECK agx_status agx_buffer_init_view(struct agx_buffer *view,
                                               const struct agx_object_type *type,
                                               struct agx_buffer *parent, uint64_t offset_B,
                                               uint64_t size_B, uint32_t flags, const char *label);
void agx_buffer_fini_view(struct agx_buffer *view);

/* The heap that memory of such types is of (heap.c). */
uint32_t agx_heap_of(uint32_t memory);
/* Whether nothing is bound in a reservation (vmem.c). */
bool agx_vmem_is_empty(struct agx_buffer *buffer);

/* Refuses a usage that only agx_buffer_create can provide (heap.c). */
AGX_MUST_CHECK agx_status agx_refuse_timestamps(uint32_t usage, const char *what);

/* Checks what a description asks for, and fills in what it leaves open or implies (heap.c). */
AGX_MUST_CHECK agx_status agx_buffer_resolve(struct agx_buffer_desc *desc, const char *what);

/* Fills a zeroed buffer over all of bo, which it takes over on success, as a resolved description
 * says; retains the device. */
void agx_buffer_init(struct agx_buffer *buffer, const struct agx_object_type *type,
                     struct agx_device *device, struct agxw_bo *bo,
                     const struct agx_buffer_desc *desc, const char *label);
/* agx_set_label of any type of buffer. */
void agx_buffer_set_label(struct agx_object *object, const char *label);
/* Destroys bo and releases the device; agx_buffer_init undone. */
void agx_buffer_fini(struct agx_buffer *buffer);

/* Its memory for the library itself, whatever it is allowed to others. */
AGX_MUST_CHECK agx_status agx_buffer_host_memory(struct agx_buffer *buffer, void **out_memory);

/* Whether it has addresses, which then stay. Asked before `address` or `bo` of a buffer is read
 * that may lack them. */
static inline bool agx_buffer_is_placed(const struct agx_buffer *buffer)
{
   return !buffer->has_late_address ||
          atomic_load_explicit(&buffer->state, memory_order_acquire) != AGX_BUFFER_RESERVED;
}

/* That what is reserved in it is 0, as it must be where a later version gives it a meaning. */
static inline AGX_MUST_CHECK agx_status agx_ref_check(const struct agx_buffer_ref *ref,
                                                      const char *what)
{
   return ref->reserved ? AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: reserved is %u; it must be 0", what,
                                   ref->reserved)
                        : AGX_OK;
}

/* The same for the GPU, which has to find it: AGX_FAILED_PRECONDITION while its buffer has no
 * address. */
static inline AGX_MUST_CHECK agx_status agx_ref_check_placed(const struct agx_buffer_ref *ref,
                                                             const char *what)
{
   AGX_TRY(agx_ref_check(ref, what));
   if (ref->buffer && !agx_buffer_is_placed(ref->buffer))
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "%s: %s has no address yet, since its pool gives blocks of less than a page: "
                      "wait for its allocation",
                      what, ref->buffer->label);
   return AGX_OK;
}

/* offset_B and *length_B (AGX_WHOLE_LENGTH is made exact) lie in the buffer. */
AGX_MUST_CHECK agx_status agx_buffer_check_range(const struct agx_buffer *buffer, uint64_t offset_B,
                                                 uint64_t *length_B);
/* Whether it has memory now: AGX_FAILED_PRECONDITION says why not. */
AGX_MUST_CHECK agx_status agx_buffer_check_live(const struct agx_buffer *buffer);

/* Checks a fill's pattern of 1, 2 or 4 bytes against its target, whose range the caller has
 * checked; *out_word is the pattern, repeated. */
AGX_MUST_CHECK agx_status agx_pattern_check(const struct agx_buffer_ref *target,
                                            const void *pattern, uint32_t pattern_B,
                                            uint32_t *out_word);

/* The winsys's flags (AGXW_BO_) for a buffer's flags and usage. */
static inline uint32_t agx_buffer_bo_flags(uint32_t flags, uint32_t usage)
{
   return (flags & AGX_BUFFER_HOST_READ ? AGXW_BO_CACHED : 0u) |
          (flags & AGX_BUFFER_GPU_READ_ONLY ? AGXW_BO_READ_ONLY : 0u) |
          (usage & (AGX_USAGE_SHARING_EXPORT | AGX_USAGE_TIMESTAMPS) ? AGXW_BO_SHAREABLE : 0u);
}
