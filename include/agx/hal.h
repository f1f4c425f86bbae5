/* SPDX-License-Identifier: MIT
 *
 * agxhal: compute on Apple AGX GPUs.
 *
 * Objects are opaque and counted: a create function gives one reference, agx_retain adds
 * one, agx_release takes one back (NULL is fine). An object keeps what it needs alive: a
 * buffer its device, a command buffer the executables and buffers that it uses, a
 * submission everything until it has run.
 *
 * Descriptors start with their own size, so that old programs run with newer libraries:
 * `struct agx_x_desc desc = {.size = sizeof(desc), ...}`; fields that a smaller size leaves
 * out count as zero. Pointers in a descriptor are borrowed for the call. `next` is for
 * later extensions and must be NULL.
 *
 * Functions that can fail return an agx_status; agx_error_text (agx/status.h) then tells
 * what failed, with the object and the value. Sizes and offsets end in _B: bytes.
 *
 * Threads: everything may be called from any thread; a command buffer only from one at a
 * time while it is recorded. Recording a dispatch neither allocates from the heap nor takes
 * a lock nor enters the kernel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AGX_VERSION_MAJOR 0
#define AGX_VERSION_MINOR 1

#define AGX_DEADLINE_NEVER INT64_MAX  /* wait as long as it takes */
#define AGX_WHOLE_LENGTH   UINT64_MAX /* to the end of the buffer */

#define AGX_MAX_BINDINGS 64  /* of an executable and a dispatch */
#define AGX_MAX_PUSH_B   256 /* bytes of push constants */
#define AGX_NAME_BYTES   64

struct agx_instance;
struct agx_device;
struct agx_buffer;
struct agx_image;
struct agx_sampler;
struct agx_executable;
struct agx_command_buffer;
struct agx_semaphore;

/* (major << 16) | minor of the library that is loaded. */
AGX_API uint32_t agx_version(void);

/* For any object of this header. Return nothing and never fail; NULL is ignored. */
AGX_API void agx_retain(void *object);
AGX_API void agx_release(void *object);

/* ---- instance and devices --------------------------------------------- */

/* Host memory for the library's objects. alloc gives memory aligned for any type or NULL;
 * free gets the size that alloc was asked for. Called from any thread; the last calls come a
 * moment after the last release where a submission has only just ended. */
struct agx_alloc_callbacks {
   void *user;
   void *(*alloc)(void *user, size_t size);
   void (*free)(void *user, void *memory, size_t size);
};

struct agx_instance_desc {
   uint32_t size;
   const void *next;
   const struct agx_alloc_callbacks *alloc; /* NULL: malloc. Copied; user must outlive all */
};

/* desc may be NULL. */
AGX_API AGX_MUST_CHECK agx_status agx_instance_create(const struct agx_instance_desc *desc,
                                                      struct agx_instance **out_instance);

/* A render node of the system, usable or not. */
struct agx_node {
   char path[64];     /* what agx_device_open takes */
   char driver[32];   /* the kernel driver's name; "" when it could not be asked */
   agx_status status; /* AGX_OK when the node can be used */
   char reason[128];  /* why not, and what to do about it */
};

/* Fills up to *count nodes (NULL: none) and sets *count to how many there are. The virtual
 * device is not among them: it is always there. */
AGX_API AGX_MUST_CHECK agx_status agx_instance_enumerate(struct agx_instance *instance,
                                                         uint32_t *count, struct agx_node *nodes);

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
};

/* desc may be NULL. AGX_NOT_FOUND tells of each node why it is not usable. */
AGX_API AGX_MUST_CHECK agx_status agx_device_open(struct agx_instance *instance,
                                                  const struct agx_device_desc *desc,
                                                  struct agx_device **out_device);

struct agx_device_info {
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
};
AGX_API void agx_device_get_info(struct agx_device *device, struct agx_device_info *out_info);

/* AGX_OK, or the first failure that took the device away (sticky), with its text. */
AGX_API AGX_MUST_CHECK agx_status agx_device_status(struct agx_device *device);

/* Fails every operation that still waits for a value nobody has submitted, with
 * AGX_CANCELLED. Parked operations keep the device alive: call this before letting it go
 * when some may be left. */
AGX_API void agx_device_cancel(struct agx_device *device);

/* ---- buffers ---------------------------------------------------------- */

enum agx_buffer_flags {
   /* The host reads it: mapped with write-back caching instead of write-combining. */
   AGX_BUFFER_HOST_READ = 1,
   /* Kernels may only read it; a store to it is a fault. */
   AGX_BUFFER_GPU_READ_ONLY = 2,
};

struct agx_buffer_desc {
   uint32_t size;
   const void *next;
   uint64_t size_B;   /* 1 to 2^37 */
   uint32_t flags;    /* enum agx_buffer_flags */
   const char *label; /* for messages and captures; NULL: none */
};

/* GPU memory, zeroed, aligned to a page. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_create(struct agx_device *device,
                                                    const struct agx_buffer_desc *desc,
                                                    struct agx_buffer **out_buffer);

/* The whole buffer in host memory: the same address each time, until the buffer goes.
 * Coherent; the caller orders its accesses with the GPU's by semaphores. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_map(struct agx_buffer *buffer, void **out_memory);

struct agx_buffer_info {
   uint64_t size_B;  /* as asked for */
   uint64_t address; /* on the GPU, for kernels that take addresses */
};
AGX_API void agx_buffer_get_info(struct agx_buffer *buffer, struct agx_buffer_info *out_info);

/* A part of a buffer. offset_B must be a multiple of 4 where it is bound to a kernel. */
struct agx_buffer_ref {
   struct agx_buffer *buffer;
   uint64_t offset_B;
   uint64_t length_B; /* AGX_WHOLE_LENGTH: to the end */
};

/* ---- images and samplers ---------------------------------------------- */

enum agx_image_type {
   AGX_IMAGE_1D = 0,
   AGX_IMAGE_2D = 1,
   AGX_IMAGE_3D = 2,
   AGX_IMAGE_CUBE = 3, /* six layers for each cube */
};

/* The name of a format for struct agx_image_desc, by the number that GL's headers give an internal
 * format: GL_RGBA8. NULL when there is none. */
AGX_API const char *agx_format_from_gl(uint32_t internal);

/* Likewise for struct agx_vertex_attribute, by what glVertexAttribPointer takes: size 1 to 4 or
 * GL_BGRA, type GL_SHORT and so on; integer: by what glVertexAttribIPointer does. */
AGX_API const char *agx_vertex_format_from_gl(uint32_t size, uint32_t type, bool normalized,
                                              bool integer);

enum agx_image_flags {
   AGX_IMAGE_LINEAR = 1,        /* rows one behind the other: one level only */
   AGX_IMAGE_ATOMICS = 2,       /* kernels may use atomics on it: linear, texels of 4 bytes */
   AGX_IMAGE_HOST_READ = 4,     /* the host reads it: mapped with write-back caching */
   AGX_IMAGE_GPU_READ_ONLY = 8, /* kernels may only read it */
};

struct agx_image_desc {
   uint32_t size;
   const void *next;
   uint32_t type; /* enum agx_image_type */
   /* By the name that Vulkan, OpenGL or GLSL has for it: "R8G8B8A8_UNORM", "GL_RGBA8", "rgba8". */
   const char *format;
   uint32_t width, height;
   uint32_t depth;  /* slices of a 3D image, else layers; 0 counts as 1 (cubes: 6) */
   uint32_t levels; /* 0 counts as 1 */
   uint32_t flags;  /* enum agx_image_flags */
   const char *label;
   uint32_t samples; /* of each texel: 1, 2 or 4; 0 counts as 1; of 2D images of one level */
};

/* GPU memory, zeroed. AGX_UNIMPLEMENTED for formats that are not known. */
AGX_API AGX_MUST_CHECK agx_status agx_image_create(struct agx_device *device,
                                                   const struct agx_image_desc *desc,
                                                   struct agx_image **out_image);

struct agx_image_info {
   uint32_t type, width, height, depth, levels; /* of level 0 */
   uint32_t texel_B;
   uint64_t size_B; /* of its memory */
   bool is_linear;
   uint32_t samples;
};
AGX_API void agx_image_get_info(struct agx_image *image, struct agx_image_info *out_info);

/* A part of one level. */
struct agx_image_region {
   uint32_t level;
   uint32_t x, y, z; /* z: the first slice or layer */
   uint32_t width, height, depth;
   uint32_t sample; /* of a multisampled image: which one of each texel */
};

/* Copies between an image and host memory at once, whatever the image's layout: texels in the
 * image's format, rows row_B apart, slices slice_B (0: one right behind the other). The caller
 * orders this with the GPU's work by semaphores. */
AGX_API AGX_MUST_CHECK agx_status agx_image_write(struct agx_image *image,
                                                  const struct agx_image_region *region,
                                                  const void *texels, uint64_t row_B,
                                                  uint64_t slice_B);
AGX_API AGX_MUST_CHECK agx_status agx_image_read(struct agx_image *image,
                                                 const struct agx_image_region *region,
                                                 void *texels, uint64_t row_B, uint64_t slice_B);

enum agx_filter {
   AGX_FILTER_NEAREST = 0,
   AGX_FILTER_LINEAR = 1,
   AGX_FILTER_NONE = 2, /* between levels: the first one only */
};

enum agx_wrap {
   AGX_WRAP_REPEAT = 0,
   AGX_WRAP_MIRROR = 1,
   AGX_WRAP_EDGE = 2,
   AGX_WRAP_BORDER = 3,
   AGX_WRAP_MIRROR_ONCE = 4,
};

enum agx_border {
   AGX_BORDER_TRANSPARENT_BLACK = 0,
   AGX_BORDER_OPAQUE_BLACK = 1,
   AGX_BORDER_OPAQUE_WHITE = 2,
};

/* What passes gives 1, the rest 0: reference OP texel. */
enum agx_compare {
   AGX_COMPARE_OFF = 0,
   AGX_COMPARE_NEVER = 1,
   AGX_COMPARE_LESS = 2,
   AGX_COMPARE_EQUAL = 3,
   AGX_COMPARE_LESS_OR_EQUAL = 4,
   AGX_COMPARE_GREATER = 5,
   AGX_COMPARE_NOT_EQUAL = 6,
   AGX_COMPARE_GREATER_OR_EQUAL = 7,
   AGX_COMPARE_ALWAYS = 8,
};

struct agx_sampler_desc {
   uint32_t size;
   const void *next;
   uint32_t magnify, minify, between_levels; /* enum agx_filter */
   uint32_t wrap[3];                         /* enum agx_wrap, along x, y, z */
   uint32_t border;                          /* enum agx_border */
   uint32_t max_anisotropy;                  /* 1, 2, 4, 8, 16; 0 counts as 1 */
   float min_lod, max_lod;                   /* max_lod 0 counts as no limit */
   bool texel_coordinates;                   /* in texels, not 0 to 1 */
   uint32_t compare; /* enum agx_compare: for what is sampled with a reference */
};

/* desc may be NULL: nearest texels of the nearest level, repeated. */
AGX_API AGX_MUST_CHECK agx_status agx_sampler_create(struct agx_device *device,
                                                     const struct agx_sampler_desc *desc,
                                                     struct agx_sampler **out_sampler);

/* ---- executables ------------------------------------------------------ */

struct agx_specialization {
   uint32_t id;
   uint32_t bytes; /* of value that count: 1, 2, 4 or 8; a bool has 4 */
   uint64_t value; /* bits */
};

/* docs/robustness.md */
enum agx_robustness {
   AGX_ROBUST_OFF = 0,   /* the application sees to it that there are none */
   AGX_ROBUST_CLAMP = 1, /* they stay inside, at places that mean nothing; or do nothing */
   AGX_ROBUST_ZERO = 2,  /* loads give 0 and stores do nothing, to the byte */
};

/* The set of a vertex stage's own buffers: binding is an input location, or AGX_INDEX_BINDING. */
#define AGX_VERTEX_SET    0xffffffffu
#define AGX_INDEX_BINDING 0x100u

/* Of one binding; of an array of buffers, all. */
struct agx_binding_robustness {
   uint32_t set, binding;
   uint32_t robustness; /* enum agx_robustness */
};

/* What an input location of a vertex stage reads. */
struct agx_vertex_attribute {
   uint32_t location;
   /* By our name or Vulkan's: "R8G8B8A8_UNORM", "R10G10B10A2_SSCALED". */
   const char *format;
   uint32_t stride_B; /* between elements: a multiple of a component's size, at most 8192 */
   bool per_instance; /* elements are counted by base_instance + instance / divisor */
   uint32_t divisor;  /* 0: all instances read the element of base_instance */
};

/* Compiled into the code. */
struct agx_vertex_input {
   const struct agx_vertex_attribute *attributes; /* without any, 32-bit components, packed */
   uint32_t attribute_count;
   uint32_t index_B; /* bytes of an index: 1, 2, 4; 0: vertices in order */
};

struct agx_executable_desc {
   uint32_t size;
   const void *next;
   const void *data; /* SPIR-V, or an ELF file that `agx compile` wrote */
   size_t data_B;
   const char *entry;                                /* entry point; NULL: the only one */
   const struct agx_specialization *specializations; /* SPIR-V only */
   uint32_t specialization_count;
   /* What becomes of accesses that leave the bound range of a buffer: enum agx_robustness, for
    * all bindings but those that overrides name. Says of an ELF file how it must have been
    * compiled; 0 without overrides takes it as it is. */
   uint32_t robustness;
   const struct agx_binding_robustness *overrides;
   uint32_t override_count; /* up to AGX_MAX_BINDINGS; of bindings that the kernel lacks no use */
   const struct agx_vertex_input *vertex; /* SPIR-V of a vertex stage only; may be NULL */
};

/* Compiles (or reads) one kernel and loads it. AGX_UNIMPLEMENTED names what the compiler
 * lacks, AGX_INCOMPATIBLE a file for another chip or ABI. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_create(struct agx_device *device,
                                                        const struct agx_executable_desc *desc,
                                                        struct agx_executable **out_executable);

enum agx_binding_type {
   AGX_BINDING_STORAGE = 0,
   AGX_BINDING_UNIFORM = 1,
   AGX_BINDING_STORAGE_IMAGE = 2,
   AGX_BINDING_TEXTURE = 3,
   AGX_BINDING_SAMPLER = 4,
   AGX_BINDING_TEXTURE_SAMPLER = 5, /* an image and a sampler */
   /* Of AGX_VERTEX_SET; `binding` is the location, AGX_INDEX_BINDING, or the number of the feedback
    * buffer. */
   AGX_BINDING_ATTRIBUTE = 6,
   AGX_BINDING_INDICES = 7,
   AGX_BINDING_FEEDBACK = 8,
   AGX_BINDING_TEXEL_BUFFER = 9, /* a buffer and a format */
   AGX_BINDING_STORAGE_TEXEL_BUFFER = 10,
};

#define AGX_UNSIZED UINT32_MAX

struct agx_binding_info {
   uint32_t set, binding;
   uint32_t type; /* enum agx_binding_type */
   bool is_written;
   uint32_t element; /* of an array of buffers, else 0 */
   bool has_atomics; /* the image must have AGX_IMAGE_ATOMICS */
   /* Of buffers, enum agx_robustness. Where it is not AGX_ROBUST_OFF the bound range may be of any
    * length, or without a buffer (ref.buffer NULL: as if it had no bytes). */
   uint32_t robustness;
   /* Of attributes, indices and feedback: bytes from element to element (feedback: from vertex to
    * vertex) and of an element, and how elements are counted. */
   uint32_t stride_B, element_B;
   bool per_instance;
   uint32_t divisor;
   /* Of an array of images, samplers or texel buffers: how many there are, AGX_UNSIZED: as many as
    * are bound; 0: no array. Elements that are not bound read as 0, and drop what is stored. */
   uint32_t elements;
};

struct agx_executable_info {
   char name[AGX_NAME_BYTES]; /* entry point */
   uint32_t local_size[3];    /* threads of a workgroup */
   uint32_t shared_B;         /* threadgroup memory */
   uint32_t push_B;           /* push constants that the kernel reads, up to */
   uint32_t binding_count;
   uint32_t instructions, preamble_instructions;
   uint32_t code_B;     /* machine code, without padding */
   uint32_t gpr_halves; /* 16-bit register halves of a thread */
   uint32_t uniform_halves;
   uint32_t resident_threads;    /* that the registers allow on a core */
   uint32_t resident_simdgroups; /* on a core, of whole workgroups, threadgroup memory counted */
   uint32_t cycles;              /* static estimate, one pass through each block */
   bool is_vertex;               /* for agx_cmd_dispatch_vertices, else for agx_cmd_dispatch */
};
AGX_API void agx_executable_get_info(struct agx_executable *executable,
                                     struct agx_executable_info *out_info);
/* AGX_OUT_OF_RANGE beyond binding_count. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_get_binding(struct agx_executable *executable,
                                                             uint32_t index,
                                                             struct agx_binding_info *out_info);

/* ---- semaphores ------------------------------------------------------- */

/* A timeline: a 64-bit value that only grows, or fails once and for all. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_create(struct agx_device *device, uint64_t initial,
                                                       struct agx_semaphore **out_semaphore);
/* The value reached; a failed semaphore returns its failure, with its text. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_query(struct agx_semaphore *semaphore,
                                                      uint64_t *out_value);
/* From the host. AGX_INVALID_ARGUMENT when value is not greater than the current one. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_signal(struct agx_semaphore *semaphore,
                                                       uint64_t value);
/* Fails it, and with it whatever waits for it; the first failure wins. status must not be
 * AGX_OK; text may be NULL. */
AGX_API void agx_semaphore_fail(struct agx_semaphore *semaphore, agx_status status,
                                const char *text);

struct agx_point {
   struct agx_semaphore *semaphore;
   uint64_t value;
};

/* Waits for all points, or for any. deadline_ns is absolute on CLOCK_MONOTONIC; 0 polls,
 * AGX_DEADLINE_NEVER waits forever. AGX_DEADLINE_EXCEEDED when it passes; the failure of a
 * semaphore, with its text, when one that decides the wait has failed. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_wait(const struct agx_point *points, uint32_t count,
                                                     bool any, int64_t deadline_ns);

/* ---- command buffers -------------------------------------------------- */

/* Recorded between begin and end, then submitted any number of times, also while an
 * earlier submission of it is in flight. begin discards what was recorded, and fails with
 * AGX_FAILED_PRECONDITION while the command buffer is in flight. */
AGX_API AGX_MUST_CHECK agx_status agx_command_buffer_create(
   struct agx_device *device, const char *label, struct agx_command_buffer **out_commands);
AGX_API AGX_MUST_CHECK agx_status agx_command_buffer_begin(struct agx_command_buffer *commands);
AGX_API AGX_MUST_CHECK agx_status agx_command_buffer_end(struct agx_command_buffer *commands);

/* An image of NULL, or a texel buffer of none, reads as 0 and drops what is stored. */
struct agx_binding {
   uint32_t set, binding;
   struct agx_buffer_ref ref; /* buffers; those of texels at a multiple of 16 bytes */
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

struct agx_dispatch {
   struct agx_executable *executable;
   uint32_t workgroups[3]; /* 0 in any: nothing runs, which is legal */
   uint32_t binding_count;
   const struct agx_binding *bindings; /* each binding of the executable once, any order */
   const void *push;                   /* push constants; at least the executable's push_B */
   uint32_t push_B;
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
/* What stands before it has run, and its memory is visible, before what follows starts. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_barrier(struct agx_command_buffer *commands);

/* ---- submission ------------------------------------------------------- */

enum agx_op_kind {
   AGX_OP_BARRIER = 0, /* nothing but its waits and signals */
   AGX_OP_EXECUTE = 1, /* a command buffer */
};

struct agx_op_execute {
   struct agx_command_buffer *commands;
};

/* One operation: runs when all its waits are reached, signals when it is done. A wait may
 * name a value that nobody has submitted yet. When a wait fails, all signals of the operation
 * fail with the same status and text, and it does not run, unless the GPU had it already:
 * behind work that then failed there (docs/decisions/0002-completion.md). */
struct agx_op {
   uint32_t size;
   uint32_t kind;  /* enum agx_op_kind */
   uint64_t flags; /* 0 */
   const struct agx_point *waits;
   const struct agx_point *signals;   /* values greater than any submitted before */
   uint32_t wait_count, signal_count; /* up to 32 each */
   union {
      struct agx_op_execute execute;
      uint64_t reserved[16];
   } u;
};

/* Queues the operations in order; they are ordered among each other only by their points.
 * When it fails, *out_queued (may be NULL) tells how many went through; the rest left no
 * trace. */
AGX_API AGX_MUST_CHECK agx_status agx_submit(struct agx_device *device, const struct agx_op *ops,
                                             uint32_t count, uint32_t *out_queued);

#ifdef __cplusplus
}
#endif
