/* SPDX-License-Identifier: MIT
 *
 * Recording.
 */
#pragma once

#include "agx/buffer.h"
#include "agx/executable.h"
#include "agx/image.h"

#ifdef __cplusplus
extern "C" {
#endif

enum agx_command_buffer_flags {
   /* Submitted at most once after it was recorded; again is AGX_FAILED_PRECONDITION. */
   AGX_COMMAND_BUFFER_ONE_SHOT = 1,
   /* Keeps nothing alive: the application sees to it that what is recorded lives until the last
    * submission has ended and the command buffer is recorded anew or gone. */
   AGX_COMMAND_BUFFER_UNRETAINED = 2,
   /* Leaves out checks that help to find mistakes in the application: of devices, ranges,
    * alignment, what may be written, and whether a range is as long as the kernel's block says.
    * Such a mistake may then do anything on the GPU. */
   AGX_COMMAND_BUFFER_UNCHECKED = 4,
};

/* Recorded between begin and end by one thread at a time, then submitted any number of times, also
 * while an earlier submission of it is in flight. begin discards what was recorded, and fails with
 * AGX_FAILED_PRECONDITION while the command buffer is in flight. What is recorded is kept alive
 * until then. */
struct agx_command_buffer_desc {
   uint32_t size;
   const void *next;
   const char *label; /* for messages and captures; NULL: none */
   uint32_t flags;    /* enum agx_command_buffer_flags */
   /* Slots of the binding table that each submission gives (struct agx_op_execute), up to
    * AGX_MAX_TABLE_SLOTS; 0: none. With one, commands are checked against it, and put down for the
    * GPU, when they are submitted with a table for the first time. */
   uint32_t table_slots;
};

#define AGX_MAX_TABLE_SLOTS    4096
#define AGX_MAX_TABLE_BINDINGS 4096 /* of one command in such a command buffer */

/* desc may be NULL. */
AGX_API AGX_MUST_CHECK agx_status
agx_command_buffer_create(struct agx_device *device, const struct agx_command_buffer_desc *desc,
                          struct agx_command_buffer **out_commands);
AGX_API AGX_MUST_CHECK agx_status agx_command_buffer_begin(struct agx_command_buffer *commands);
AGX_API AGX_MUST_CHECK agx_status agx_command_buffer_end(struct agx_command_buffer *commands);

/* An image of NULL, or a texel buffer of none, reads as 0 and drops what is stored. */
struct agx_binding {
   uint32_t set, binding;
   struct agx_buffer_ref ref; /* buffers; of texels at most 2^28, at a multiple of 16 bytes */
   uint32_t element;          /* of an array, else 0 */
   struct agx_image *image;   /* images; a kernel sees its levels from first_level on, */
   uint32_t first_level;      /* level_count of them (0: all that follow); stores go to the first */
   uint32_t level_count;
   struct agx_sampler *sampler;
   const char
      *format; /* of texels in a buffer; of an image: another one of the same size, or NULL */
   /* Of images that are read: what R, G, B, A are, of "rgba01", as "bgra" or "rrr1"; or NULL. */
   const char *swizzle;
   uint32_t first_layer; /* a kernel sees layers from here on, layer_count of them (0: all that */
   uint32_t layer_count; /* follow); cubes may be made of six of a 2D image's */
};

/* What an executable's set and binding find in a descriptor heap, an array's element 0 in the first
 * slot. */
struct agx_heap_range {
   uint32_t set, binding;
   struct agx_descriptor_heap *heap;
   uint32_t first_slot;
   uint32_t slot_count; /* as many as the array has elements; of what is none, 1 */
};

struct agx_dispatch {
   uint32_t size;
   const void *next;
   struct agx_executable *executable;
   uint32_t workgroups[3]; /* 0 in any: nothing runs, which is legal */
   uint32_t binding_count;
   /* Each binding of the entry point once, in any order. What the module declares and the entry
    * point does not use may stand among them; what it does not declare is refused. Kernels that are
    * not robust want at least a byte of each. */
   const struct agx_binding *bindings;
   const void *push; /* push constants; at least the executable's push_B */
   uint32_t push_B;
   uint32_t entry; /* which entry point of the executable */
   /* Threads of a workgroup; 0: as the executable has them. Others only where it has
    * AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE, and at most its max_workgroup_threads in all. */
   uint32_t local_size[3];
   /* Bytes of the workgroup array that AGX_EXECUTABLE_DYNAMIC_SHARED is about; with the
    * executable's own shared_B at most the device's max_shared_B. */
   uint32_t shared_B;
   /* Indirect: three uint32_t at a multiple of 4, workgroups along x, y, z, which the GPU reads
    * when it comes to the dispatch; workgroups are not looked at then. What an earlier command
    * writes there needs a barrier before. A number beyond agx_device_info.max_workgroups is
    * undefined. */
   struct agx_buffer_ref counts;
   /* Indirect: push constants, which the GPU reads when it comes to the dispatch, from a multiple
    * of 4; push is not looked at then, and push_B is how many there are. */
   struct agx_buffer_ref arguments;
   /* Bindings that the kernel finds in a heap (agx_binding_info.in_heap), and that bindings does
    * not give, too. The dispatch counts as one that may read and write any memory, so barriers
    * before and behind it are never free. Not in command buffers with table_slots. */
   uint32_t heap_count;
   const struct agx_heap_range *heaps;
};

/* Dispatches between two barriers are not ordered among each other. A recording error is
 * returned here and again by agx_command_buffer_end. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_dispatch(struct agx_command_buffer *commands,
                                                   const struct agx_dispatch *dispatch);

/* Where the elements of a location lie. */
struct agx_vertex_buffer {
   uint32_t location;
   struct agx_buffer_ref ref; /* what may be read; in robust modes NULL is no bytes */
   uint64_t offset_B; /* of element 0 from there; ref and it together aligned to a component */
};

/* One thread runs for each vertex of each instance. Its outputs are record
 * instance * vertex_count + vertex of the feedback buffers: where the module's Xfb decorations say,
 * else in buffer 0, the position first and then by location, without gaps. */
struct agx_vertex_dispatch {
   uint32_t size;
   const void *next;
   struct agx_executable *executable;
   uint32_t first, vertex_count; /* vertices, or positions in the index buffer */
   int32_t base_vertex;          /* added to indices; 0 for executables that take none */
   uint32_t base_instance;
   uint32_t instance_count; /* up to 65535; 0 of either count: nothing runs, which is legal */
   uint32_t draw_index;     /* what the kernel reads as gl_DrawID */
   uint32_t vertex_buffer_count;
   const struct agx_vertex_buffer *vertex_buffers; /* one for each location of the executable */
   struct agx_buffer_ref indices; /* positions behind its end read its last index, or 0; NULL, too,
                                     for executables that take none */
   uint32_t feedback_count;
   const struct agx_buffer_ref *feedback; /* by number; each must hold all records */
   uint32_t binding_count;
   const struct agx_binding *bindings; /* as in agx_dispatch */
   const void *push;
   uint32_t push_B;
};

/* Ordered as other dispatches. Elements that lie outside of ref are what the executable's
 * robustness says: any inside (of ref without any: zeros), or zeros; with AGX_ROBUST_OFF they must
 * not occur. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_dispatch_vertices(
   struct agx_command_buffer *commands, const struct agx_vertex_dispatch *dispatch);

/* Fills the target with a pattern of 1, 2 or 4 bytes, which is captured; no other byte is touched,
 * so that others may write its neighbours at the same time. Offset and length are multiples of
 * pattern_B; a length of 0 is legal. Ordered as a dispatch. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_fill(struct agx_command_buffer *commands,
                                               struct agx_buffer_ref target, const void *pattern,
                                               uint32_t pattern_B);

#define AGX_MAX_UPDATE_B 65536u

/* Fills the target with bytes of the host's, which are captured, AGX_MAX_UPDATE_B at most; no other
 * byte is touched. Ordered as a dispatch. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_update(struct agx_command_buffer *commands,
                                                 const void *data, struct agx_buffer_ref target);

/* Copies bytes between ranges of the same length, at any offset; no other byte is touched. The
 * ranges must not overlap. Ordered as a dispatch. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_copy(struct agx_command_buffer *commands,
                                               struct agx_buffer_ref source,
                                               struct agx_buffer_ref target);

/* ---- images ------------------------------------------------------------- */

/* Transfers of images, of any layout and format, are ordered as dispatches, and touch nothing but
 * the texels of the region. AGX_OUT_OF_RANGE: image or buffer have no such part;
 * AGX_INVALID_ARGUMENT: a region without texels, that cuts blocks, or overlaps its source; texels
 * of different sizes or samples; a target that is read-only; buffers as in agx_cmd_copy. */

/* Sets texels, with all their samples, to a color; region NULL: all levels and layers. Not of
 * block-compressed formats: copy to these. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_clear_image(struct agx_command_buffer *commands,
                                                      struct agx_image *image,
                                                      const struct agx_image_region *region,
                                                      const union agx_color *color);

/* Copies texels as they are, with all their samples, to where target_region begins, whose width,
 * height and depth are not looked at. Formats may differ where texels (or blocks) have the same
 * size: blocks count as texels where only one of the images has blocks. Layers and slices are the
 * same. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_copy_image(struct agx_command_buffer *commands,
                                                     struct agx_image *source,
                                                     const struct agx_image_region *source_region,
                                                     struct agx_image *target,
                                                     const struct agx_image_region *target_region);

/* Copies texels between buffers and images; of multisampled ones the sample that the region says.
 */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_copy_to_image(struct agx_command_buffer *commands,
                                                        const struct agx_texels *source,
                                                        struct agx_image *target,
                                                        const struct agx_image_region *region);
AGX_API AGX_MUST_CHECK agx_status agx_cmd_copy_from_image(struct agx_command_buffer *commands,
                                                          struct agx_image *source,
                                                          const struct agx_image_region *region,
                                                          const struct agx_texels *target);

/* ---- timestamps ---------------------------------------------------------- */

/* Writes the time, 8 bytes in ticks of the GPU's clock (agx_device_info.timestamp_hz), when all
 * commands before it are over; those behind it begin afterwards. The target is 8 bytes at a
 * multiple of 8, below 2^32, in a buffer with AGX_USAGE_TIMESTAMPS: AGX_PERMISSION_DENIED in
 * others, AGX_OUT_OF_RANGE, AGX_INVALID_ARGUMENT. Later commands read it behind a barrier, the host
 * when the submission is over; where that fails, it may not be there. Each timestamp makes a
 * command of the kernel's of what stands before it, which costs the GPU some microseconds; while
 * one is in a command buffer, profiles have no GPU times of it. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_timestamp(struct agx_command_buffer *commands,
                                                    struct agx_buffer_ref target);

/* ---- order -------------------------------------------------------------- */

/* What a barrier stands between. */
enum agx_stage {
   AGX_STAGE_ISSUE = 1, /* the device reads the counts and arguments of indirect dispatches */
   AGX_STAGE_DISPATCH = 2,
   AGX_STAGE_TRANSFER = 4, /* fill, update, copy, of images too */
   AGX_STAGE_HOST = 8,
};

/* The accesses that it orders. */
enum agx_scope {
   AGX_SCOPE_INDIRECT_READ = 1,
   AGX_SCOPE_CONSTANT_READ = 2,
   AGX_SCOPE_DISPATCH_READ = 4,
   AGX_SCOPE_DISPATCH_WRITE = 8,
   AGX_SCOPE_TRANSFER_READ = 16,
   AGX_SCOPE_TRANSFER_WRITE = 32,
   AGX_SCOPE_HOST_READ = 64,
   AGX_SCOPE_HOST_WRITE = 128,
   AGX_SCOPE_MEMORY_READ = 256, /* any */
   AGX_SCOPE_MEMORY_WRITE = 512,
};

struct agx_barrier {
   uint32_t size;
   const void *next;
   uint32_t source_stages, target_stages; /* of enum agx_stage; 0: all */
   uint32_t source_scopes, target_scopes; /* of enum agx_scope; 0: all */
   uint32_t buffer_count;                 /* 0: all memory */
   struct agx_buffer *const *buffers;     /* each as a whole */
};

/* Commands before it come before those behind it where they access the same memory and one of them
 * writes to it; what they wrote is visible then. Others may overlap all the same, as all commands
 * may that no barrier stands between. The host sees what a submission wrote when its signals are
 * reached, with or without barriers. NULL: all stages, scopes and memory. Where no command needs
 * it, a barrier costs nothing on the GPU. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_barrier(struct agx_command_buffer *commands,
                                                  const struct agx_barrier *barrier);

/* A barrier in two halves, which may stand apart: commands behind a wait come after those before
 * the signal. The halves stand in one command buffer, or in several that are submitted in order. */
AGX_API AGX_MUST_CHECK agx_status agx_event_create(struct agx_device *device,
                                                   struct agx_event **out_event);

enum agx_event_op {
   AGX_EVENT_SIGNAL = 0,
   AGX_EVENT_RESET = 1,
   AGX_EVENT_WAIT = 2,
};

/* barrier says what a wait orders, as in agx_cmd_barrier; it has no effect on the others. A wait
 * behind a reset, without a signal between them in the command buffer, would never end:
 * AGX_FAILED_PRECONDITION. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_event(struct agx_command_buffer *commands,
                                                struct agx_event *event,
                                                uint32_t op, /* enum agx_event_op */
                                                const struct agx_barrier *barrier);

/* ---- labels ------------------------------------------------------------- */

/* Commands up to the matching end belong to it, in messages about faults and in profiles. The text
 * (may be NULL: "") is copied, its first AGX_NAME_BYTES - 1 bytes. color: 0xRRGGBBAA, 0: none. What
 * is not closed at agx_command_buffer_end, and an end without a begin, is AGX_FAILED_PRECONDITION.
 */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_begin_label(struct agx_command_buffer *commands,
                                                      const char *text, uint32_t color);
AGX_API AGX_MUST_CHECK agx_status agx_cmd_end_label(struct agx_command_buffer *commands);

#ifdef __cplusplus
}
#endif
