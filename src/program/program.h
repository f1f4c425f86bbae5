/* SPDX-License-Identifier: MIT
 *
 * A compiled kernel and its container. The compiler makes a struct agx_program,
 * the ELF writer puts it into a file that readelf understands, the HAL reads it
 * back and never sees the compiler. container.h describes the file's sections.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

#define AGX_PROGRAM_ABI_VERSION       7
#define AGX_PROGRAM_MAX_ENTRIES       64 /* programs of a module */
#define AGX_PROGRAM_MAX_BINDINGS      64
#define AGX_PROGRAM_MAX_ELEMENTS      65536      /* of an array of buffers, but in the heap */
#define AGX_PROGRAM_MAX_HEAP_ELEMENTS (1u << 20) /* of other arrays */
#define AGX_PROGRAM_MAX_UNIFORMS      256        /* slots */
#define AGX_PROGRAM_MAX_TEXTURES      64         /* texture state registers */
#define AGX_PROGRAM_MAX_SAMPLERS      16 /* sampler state registers; others are in the heap */
#define AGX_PROGRAM_MAX_STATES        (AGX_PROGRAM_MAX_TEXTURES + AGX_PROGRAM_MAX_SAMPLERS)
#define AGX_PROGRAM_MAX_PUSH_B        256
#define AGX_PROGRAM_LAST_DIM          8          /* of a texture descriptor */
#define AGX_PROGRAM_UNSIZED           UINT32_MAX /* elements of an array: as many as are bound */
#define AGX_PROGRAM_NAME_BYTES        64
#define AGX_PROGRAM_MAX_NAME_B        (256u << 10) /* an instruction of SPIR-V has no room for more */
#define AGX_PROGRAM_VERTEX_SET        0xffffffffu /* not a module's */
#define AGX_PROGRAM_MAX_ATTRIBUTES    32          /* locations */
#define AGX_PROGRAM_MAX_FEEDBACKS     4           /* buffers */
#define AGX_PROGRAM_INDEX_BINDING     0x100u
#define AGX_PROGRAM_FEEDBACK_BINDING  0x200u
/* Scratch memory that code may use per thread. Hardware ends at 512 KiB; with all cores
 * full this much is 256 MiB for each of them already. */
#define AGX_PROGRAM_SHARED_ALIGN  16u /* of threadgroup memory that launches add */
#define AGX_PROGRAM_MAX_SCRATCH_B (64u << 10)
#define AGX_PROGRAM_MAX_DATA_B    (1u << 20)
#define AGX_PROGRAM_MAX_LINES_B   (16u << 20)
#define AGX_PROGRAM_MAX_TEXTS_B   (512u << 10)
#define AGX_PROGRAM_MAX_FILES     1024 /* of source */

enum agx_binding_kind {
   AGX_BINDING_STORAGE_BUFFER = 0,
   AGX_BINDING_UNIFORM_BUFFER = 1,
   AGX_BINDING_KIND_STORAGE_IMAGE = 2,
   AGX_BINDING_KIND_TEXTURE = 3,
   AGX_BINDING_KIND_SAMPLER = 4,
   AGX_BINDING_KIND_TEXTURE_SAMPLER = 5, /* both in one */
   /* Of a vertex stage; all in AGX_PROGRAM_VERTEX_SET. */
   AGX_BINDING_VERTEX_BUFFER = 6,     /* binding: the location that reads it */
   AGX_BINDING_INDEX_BUFFER = 7,      /* binding: AGX_PROGRAM_INDEX_BINDING */
   AGX_BINDING_FEEDBACK_BUFFER = 8,   /* binding: AGX_PROGRAM_FEEDBACK_BINDING + XfbBuffer */
   AGX_BINDING_KIND_TEXEL_BUFFER = 9, /* a buffer with a format, to read */
   AGX_BINDING_KIND_STORAGE_TEXEL_BUFFER = 10,
   AGX_BINDING_KIND_COUNT,
};

/* Returns whether a binding of the kind is bound to a buffer by address. */
static inline bool agx_binding_is_buffer(uint32_t kind)
{
   return kind <= AGX_BINDING_UNIFORM_BUFFER ||
          (kind >= AGX_BINDING_VERTEX_BUFFER && kind <= AGX_BINDING_FEEDBACK_BUFFER);
}

/* Returns whether a draw names the buffer of a binding of the kind. */
static inline bool agx_binding_is_vertex(uint32_t kind)
{
   return kind >= AGX_BINDING_VERTEX_BUFFER && kind <= AGX_BINDING_FEEDBACK_BUFFER;
}

/* Returns whether a binding of the kind is bound to a buffer of texels. */
static inline bool agx_binding_is_texels(uint32_t kind)
{
   return kind == AGX_BINDING_KIND_TEXEL_BUFFER || kind == AGX_BINDING_KIND_STORAGE_TEXEL_BUFFER;
}

/* There is a texture descriptor of it. */
static inline bool agx_binding_has_image(uint32_t kind)
{
   return kind == AGX_BINDING_KIND_STORAGE_IMAGE || kind == AGX_BINDING_KIND_TEXTURE ||
          kind == AGX_BINDING_KIND_TEXTURE_SAMPLER || agx_binding_is_texels(kind);
}

/* Returns whether a binding of the kind needs a sampler. */
static inline bool agx_binding_has_sampler(uint32_t kind)
{
   return kind == AGX_BINDING_KIND_SAMPLER || kind == AGX_BINDING_KIND_TEXTURE_SAMPLER;
}

enum agx_binding_access {
   AGX_BINDING_READS = 1,
   AGX_BINDING_WRITES = 2,
   AGX_BINDING_ATOMICS = 4, /* on an image, by address: it must be linear */
   AGX_BINDING_BYTES = 8,   /* a storage buffer that may begin anywhere, not at 4 bytes only */
   /* The code finds descriptors in memory alone: an array (of one, where it is none) whose elements
    * no launch reads. Of buffers, what has `elements`. */
   AGX_BINDING_HEAP = 16,
};

/* Returns whether a binding may be an array: of buffers, those that code finds in memory; other
 * arrays of buffers have a binding for each element. */
static inline bool agx_binding_is_array(uint32_t kind, uint32_t access)
{
   return agx_binding_is_buffer(kind) ? access & AGX_BINDING_HEAP : true;
}

/* What happens to accesses that leave a buffer. */
enum agx_program_robustness {
   AGX_PROGRAM_ROBUST_OFF = 0,   /* the application's affair */
   AGX_PROGRAM_ROBUST_CLAMP = 1, /* they stay inside the buffer, somewhere */
   AGX_PROGRAM_ROBUST_ZERO = 2,  /* loads give 0, stores and atomics do nothing */
   AGX_PROGRAM_ROBUST_COUNT,
};

/* One buffer, image or sampler that the kernel names; sorted by set, binding, element. Of an
 * array of buffers only the elements that the code may reach are here; of an array of images or
 * samplers there is one entry, and of one whose descriptors are in memory. */
struct agx_program_binding {
   uint32_t set, binding;
   uint32_t kind;       /* enum agx_binding_kind */
   uint32_t access;     /* enum agx_binding_access bits the code really uses */
   uint64_t min_size_B; /* to be bound at least: the block's fixed part, or 1; robust code: 0 */
   uint32_t element;    /* of an array of buffers, else 0 */
   uint32_t dim;        /* of images: a texture descriptor's code; of a vertex stage's buffers: the
                           logarithm of what addresses are multiples of */
   uint32_t robustness; /* enum agx_program_robustness, of buffers and texel buffers */
   /* Of a vertex stage's: from element to element (feedback: from vertex to vertex), bytes of an
    * element, and of vertex buffers how elements are counted. */
   uint32_t stride_B, element_B;
   uint32_t per_instance, divisor;
   uint32_t elements; /* of an array; AGX_PROGRAM_UNSIZED; 0: no array */
};

/* What the state registers hold when the kernel starts. Texture registers are numbered in the
 * order of the entries of the first two kinds, sampler registers in that of the others. */
enum agx_state_kind {
   AGX_STATE_TEXTURE = 0,       /* the image of bindings[index], to read */
   AGX_STATE_IMAGE = 1,         /* the image of bindings[index], to write */
   AGX_STATE_SAMPLER = 2,       /* the sampler of bindings[index] */
   AGX_STATE_FETCH_SAMPLER = 3, /* the driver's own for texel fetches: zeros outside */
   AGX_STATE_KIND_COUNT,
};

struct agx_program_state {
   uint32_t kind;    /* enum agx_state_kind */
   uint32_t index;   /* into bindings; 0 for the driver's own */
   uint32_t element; /* of an array */
};

/* Returns whether a state register of the kind holds a texture; it holds a sampler else. */
static inline bool agx_state_is_texture(uint32_t kind)
{
   return kind <= AGX_STATE_IMAGE;
}

/* What a run of uniform registers holds when the kernel starts. */
enum agx_uniform_kind {
   AGX_UNIFORM_BUFFER_ADDRESS = 0,  /* 4 halves: GPU address of bindings[index], plus value */
   AGX_UNIFORM_BUFFER_SIZE = 1,     /* 2 halves: bytes of bindings[index], clamped to 2^32 - 1 */
   AGX_UNIFORM_PUSH = 2,            /* push-constant bytes from byte offset `index` */
   AGX_UNIFORM_WORKGROUP_COUNT = 3, /* 2 halves: grid size in workgroups, component `index` */
   AGX_UNIFORM_CONSTANT = 4,        /* value, low bits first */
   AGX_UNIFORM_IMAGE = 5,           /* of the image of bindings[index]: enum agx_image_property */
   /* For robust accesses to bindings[index]; value is a packed struct agx_program_access, and
    * robustness/buffer.h has the arithmetic. */
   AGX_UNIFORM_BUFFER_COUNT = 6, /* 2 halves: agxr_buffer_count: how many indices are inside */
   AGX_UNIFORM_BUFFER_LAST = 7,  /* 2 halves: agxr_buffer_last: the last of them, or 0 */
   AGX_UNIFORM_BUFFER_SINK = 8,  /* 2 halves: agxr_buffer_sink: an index that leads to a sink */
   AGX_UNIFORM_BUFFER_GUARD = 9, /* 4 halves: agxr_buffer_guard: address + constant, or a sink's */
   AGX_UNIFORM_DRAW = 10,        /* 2 halves: enum agx_draw_value `index` */
   /* 4 halves: where descriptors of the array bindings[index] lie, one behind the other; value is
    * an enum agx_heap_part. Of textures and images, a multiple of four below half 128. */
   AGX_UNIFORM_HEAP = 11,
   AGX_UNIFORM_LOCAL_SIZE = 12, /* 2 halves: threads of a workgroup, component `index` */
   /* Inside the compiler only, which makes a constant of it: the workgroup's memory that launches
    * add begins there. */
   AGX_UNIFORM_SHARED_END = 13,
   AGX_UNIFORM_DATA_ADDRESS = 14, /* 4 halves: GPU address of the program's data, plus value */
   /* 1 half: the number under which the device's heap has the sampler of bindings[index], of its
    * element `value`. */
   AGX_UNIFORM_SAMPLER = 15,
   AGX_UNIFORM_KIND_COUNT,
};

/* Of a draw, for vertex stages. Its grid is one thread a vertex along x, one an instance along y.
 */
enum agx_draw_value {
   AGX_DRAW_FIRST = 0,        /* vertex or index */
   AGX_DRAW_VERTEX_COUNT = 1, /* of one instance */
   AGX_DRAW_BASE_VERTEX = 2,  /* added to indices; without them, the same as FIRST */
   AGX_DRAW_BASE_INSTANCE = 3,
   AGX_DRAW_INDEX = 4, /* what gl_DrawID reads */
   AGX_DRAW_VALUE_COUNT,
};

/* What there is of each element of an array that code indexes. */
enum agx_heap_part {
   AGX_HEAP_TEXTURES = 0, /* descriptors to read, AGX_HEAP_DESCRIPTOR_B apart */
   AGX_HEAP_IMAGES = 1,   /* descriptors to write, likewise */
   /* AGX_HEAP_NUMBERS_B each: properties, 4 bytes each, in their order, but for ADDRESS, which has
    * the last 8 bytes. */
   AGX_HEAP_NUMBERS = 2,
   AGX_HEAP_SAMPLERS = 3, /* what AGX_UNIFORM_SAMPLER says, AGX_HEAP_SAMPLER_B each */
   /* AGX_HEAP_BUFFER_B each: the address, 8 bytes, and how many bytes it has, as
    * AGX_UNIFORM_BUFFER_SIZE says it. */
   AGX_HEAP_BUFFERS = 4,
   AGX_HEAP_PART_COUNT,
};

/* Returns whether image instructions take the part's address themselves; others are loaded from. */
static inline bool agx_heap_part_is_hardware(uint32_t part)
{
   return part == AGX_HEAP_TEXTURES || part == AGX_HEAP_IMAGES;
}

#define AGX_HEAP_DESCRIPTOR_B 24u
#define AGX_HEAP_NUMBERS_B    64u
#define AGX_HEAP_ADDRESS_B    56u /* in one of those */
#define AGX_HEAP_SAMPLER_B    2u
#define AGX_HEAP_BUFFER_B     16u
#define AGX_HEAP_LAST_HALF    124u /* that an instruction can name */

/* `value` of an image's uniform: numbers of the view that is bound, 2 halves but for ADDRESS;
 * with the element of an array in the bits from AGX_IMAGE_ELEMENT_SHIFT on. */
enum agx_image_property {
   AGX_IMAGE_ADDRESS = 0, /* 4 halves: of its first texel; of images with atomics */
   AGX_IMAGE_WIDTH = 1,   /* texels of its first level */
   AGX_IMAGE_HEIGHT = 2,
   AGX_IMAGE_DEPTH = 3,        /* slices of a 3D image, else layers; cubes count six */
   AGX_IMAGE_LEVELS = 4,       /* how many */
   AGX_IMAGE_LAST_LEVEL = 5,   /* one less */
   AGX_IMAGE_ROW_TEXELS = 6,   /* from row to row, padding included; linear images */
   AGX_IMAGE_LAYER_TEXELS = 7, /* from layer to layer, likewise; multisampled: of samples */
   AGX_IMAGE_SAMPLES = 8,
   AGX_IMAGE_ELEMENTS = 9,     /* of the array, as many as are bound */
   AGX_IMAGE_TILE_WIDTH = 10,  /* multisampled: log2 of a tile's columns of texels, */
   AGX_IMAGE_TILE_HEIGHT = 11, /* of its rows, */
   AGX_IMAGE_ROW_TILES = 12,   /* and how many tiles there are in a row of them */
   AGX_IMAGE_PROPERTY_COUNT,
};

#define AGX_IMAGE_ELEMENT_SHIFT 8

/* Accesses of `bytes` bytes at address + constant + i * stride. Sinks are a page of zeros for
 * loads, one of waste for stores and atomics. A guard has no index, its stride is 1. */
struct agx_program_access {
   uint32_t constant;
   uint32_t stride; /* 1 to AGX_PROGRAM_MAX_STRIDE_B */
   uint32_t bytes;  /* 1 to AGX_PROGRAM_MAX_ACCESS_B */
   bool writes;     /* the sink is the waste */
};

#define AGX_PROGRAM_MAX_STRIDE_B 8192 /* from index to index less than half a sink */
#define AGX_PROGRAM_MAX_ACCESS_B 16

/* An access as the value of a uniform slot. */
static inline uint64_t agx_program_access_pack(struct agx_program_access access)
{
   return access.constant | (uint64_t)access.stride << 32 | (uint64_t)access.bytes << 48 |
          (uint64_t)access.writes << 56;
}

/* The access that agx_program_access_pack made the value of. */
static inline struct agx_program_access agx_program_access_unpack(uint64_t value)
{
   return (struct agx_program_access){
      .constant = (uint32_t)value,
      .stride = value >> 32 & 0xffff,
      .bytes = value >> 48 & 0xff,
      .writes = value >> 56 & 1,
   };
}

struct agx_program_uniform {
   uint32_t kind;   /* enum agx_uniform_kind */
   uint32_t start;  /* first uniform half; even for 32-bit and 64-bit values */
   uint32_t halves; /* length in 16-bit halves */
   uint32_t index;
   uint64_t value;
};

/* How a bound is computed, on a stack. Values are 32 bits, and what a step leaves is no less than
 * any value that the kernel may have there; EXACT ones leave the very value, modulo 2^32, of
 * operands that are exact. WIDE ones have 64 bits. */
enum agx_step_op {
   AGX_STEP_CONSTANT,    /* value; exact */
   AGX_STEP_PUSH,        /* the push constant at byte `value`; exact */
   AGX_STEP_SIZE,        /* of bindings[value]: its bytes, at most 2^32 - 1; exact */
   AGX_STEP_GROUP_COUNT, /* workgroups in dimension `value`; exact */
   AGX_STEP_LAST_GROUP,  /* the greatest workgroup id in dimension `value` */
   AGX_STEP_LAST_THREAD, /* the greatest global id in dimension `value` */
   AGX_STEP_EXACT_ADD,
   AGX_STEP_EXACT_SUB,
   AGX_STEP_EXACT_MUL,
   AGX_STEP_EXACT_SHL,
   AGX_STEP_EXACT_SHR,
   AGX_STEP_EXACT_AND,
   AGX_STEP_EXACT_UDIV,
   AGX_STEP_EXACT_UMIN,
   AGX_STEP_EXACT_UMAX,
   AGX_STEP_EXACT_IMIN,
   AGX_STEP_EXACT_IMAX,
   AGX_STEP_ADD, /* any value if that may wrap, and so on */
   AGX_STEP_MUL,
   AGX_STEP_SHR,  /* by an exact number */
   AGX_STEP_UDIV, /* by an exact number */
   AGX_STEP_UMOD, /* likewise */
   AGX_STEP_MIN,
   AGX_STEP_MAX,
   AGX_STEP_BELOW,        /* a, b: a where a < b */
   AGX_STEP_BELOW_SIGNED, /* likewise, as signed numbers */
   AGX_STEP_COUNT_SIGNED, /* a, b: counts from a, in steps of `value`, as long as it is < b */
   AGX_STEP_IMIN,
   AGX_STEP_IMAX,
   AGX_STEP_WIDE_ADD,
   AGX_STEP_WIDE_MUL,
   AGX_STEP_COUNT,
};

struct agx_program_step {
   uint32_t op; /* enum agx_step_op */
   uint32_t value;
};

#define AGX_PROGRAM_MAX_STEPS  44
#define AGX_PROGRAM_STEP_DEPTH 8
#define AGX_PROGRAM_MAX_GUARDS 64

/* Accesses to bindings[binding] are inside if the bound that the steps leave, plus `bytes`, does
 * not exceed the size. program/guards.h evaluates them. */
struct agx_program_guard {
   uint32_t binding, bytes, step_count;
   struct agx_program_step steps[AGX_PROGRAM_MAX_STEPS];
};

/* What a caller may want to know of the module, but no launch needs. */
enum agx_parameter_kind {
   AGX_PARAMETER_KIND_BINDING = 0,  /* set, binding */
   AGX_PARAMETER_KIND_CONSTANT = 1, /* push-constant bytes: offset_B, size_B */
   AGX_PARAMETER_KIND_POINTER = 2,  /* likewise, which hold an address */
   AGX_PARAMETER_KIND_UNUSED = 3,   /* set, binding: the module declares it, the kernel lacks it */
   AGX_PARAMETER_KIND_COUNT,
};

#define AGX_PROGRAM_ANY_BINDING UINT32_MAX

struct agx_program_parameter {
   uint32_t kind; /* enum agx_parameter_kind */
   /* UNUSED, both AGX_PROGRAM_ANY_BINDING: the module declares more than there was room for. */
   uint32_t set, binding;
   uint32_t offset_B, size_B;
   uint32_t name; /* where it begins in names */
};

enum agx_constant_type {
   AGX_CONSTANT_TYPE_BOOL = 0,
   AGX_CONSTANT_TYPE_UINT = 1,
   AGX_CONSTANT_TYPE_INT = 2,
   AGX_CONSTANT_TYPE_FLOAT = 3,
   AGX_CONSTANT_TYPE_COUNT,
};

/* A specialization constant of the module. */
struct agx_program_constant {
   uint32_t id;
   uint32_t type;  /* enum agx_constant_type */
   uint32_t bytes; /* 1 (bool), 1, 2, 4 or 8 */
   uint32_t name;
   uint64_t value; /* bits of the module's */
};

#define AGX_PROGRAM_MAX_PARAMETERS 384
#define AGX_PROGRAM_MAX_CONSTANTS  256 /* further ones are not listed */
#define AGX_PROGRAM_MAX_NAMES_B    (32u << 10)

/* What the compiler counted; see README, `agx compile --stats`. */
struct agx_program_stats {
   uint32_t instructions, preamble_instructions;
   uint32_t spills, fills, loads, waits;
   uint32_t cycles;  /* static estimate: one pass through each block */
   uint32_t threads; /* resident limit that the register count allows */
};

struct agx_program {
   char name[AGX_PROGRAM_NAME_BYTES]; /* entry point, for messages; a longer one ends in "..." */
   const char *long_name;             /* all of it where it is longer, else NULL */
   char chip[16];                     /* agx_chip.name it was compiled for */
   const uint8_t *code;               /* main program with stop and trap padding */
   uint32_t code_B;                   /* bytes, padding included */
   uint32_t text_B;                   /* bytes up to and including stop */
   const uint8_t *preamble;           /* NULL when there is none */
   uint32_t preamble_B;
   const uint8_t *data; /* constants that the code reads from memory; NULL when there are none */
   uint32_t data_B;
   uint32_t gpr_halves; /* 16-bit halves used by the main program */
   uint32_t preamble_gpr_halves;
   uint32_t uniform_halves; /* halves in use, preamble results included */
   uint32_t local_size[3];
   uint32_t has_dynamic_local_size; /* 1: launches may have another local size */
   uint32_t has_dynamic_shared;     /* 1: the code uses what launches add behind shared_B */
   uint32_t shared_B;               /* threadgroup memory */
   uint32_t scratch_B;              /* the frame of each thread, agx_program_frame_B; 0: none */
   uint32_t push_B;                 /* bytes of push constants the kernel reads up to */
   uint32_t is_vertex;              /* 1: a vertex stage, whose grid is that of a draw */
   uint32_t takes_addresses;        /* 1: of memory without a binding (PhysicalStorageBuffer64) */
   uint32_t binding_count, uniform_count, state_count;
   const struct agx_program_binding *bindings;
   const struct agx_program_uniform *uniforms;
   const struct agx_program_state *states;
   struct agx_program_stats stats;
   /* The same kernel for dispatches of which all guards hold: accesses that these bound are
    * not checked there. NULL: there is none. It has the same bindings and push constants. */
   const struct agx_program *unchecked;
   const struct agx_program_guard *guards;
   uint32_t guard_count;
   /* Names end with a zero byte; what has none begins at one. */
   uint32_t parameter_count, constant_count, names_B;
   const struct agx_program_parameter *parameters; /* bindings first */
   const struct agx_program_constant *constants;
   const char *names;
   const uint8_t *lines; /* program/lines.h says what they are; NULL when there are none */
   uint32_t lines_B;
   const uint8_t *texts; /* of the source files that it names; NULL when there are none */
   uint32_t texts_B;
};

/* Returns the whole name of the entry point, whatever its length is. */
static inline const char *agx_program_name(const struct agx_program *program)
{
   return program->long_name ? program->long_name : program->name;
}

/* Writes the name to out; one that has no room is cut at the end of a character, and ends in "..."
 * then. Returns whether it has room. */
bool agx_program_cut_name(const char *name, char out[AGX_PROGRAM_NAME_BYTES]);

/* Names the entry point; a name that is cut must live as long as the program. */
void agx_program_set_name(struct agx_program *program, const char *name);

/* Bytes of the frame that a thread takes for so many bytes of scratch memory: whole groups
 * of four words, and the ten words more that both known compilers take.
 * Source: docs/hw/machine.md, 16. */
static inline uint32_t agx_program_frame_B(uint32_t scratch_B)
{
   return scratch_B ? ((scratch_B + 3) / 4 + 10 + 3) / 4 * 16 : 0;
}

/* Serialises to an ELF image in memory from alloc (NULL = malloc); the caller
 * frees it with agx_host_free(alloc, image, size). */
AGX_MUST_CHECK agx_status agx_program_write_elf(const struct agx_program *program,
                                                const struct agx_host_alloc *alloc,
                                                void **out_image, size_t *out_size);

/* Reads an ELF image of one program that may be hostile: every field is checked, code included
 * (it must decode and end in stop). The result is one allocation, independent of
 * image; free it with agx_program_free. AGX_INCOMPATIBLE: other ABI version. */
AGX_MUST_CHECK agx_status agx_program_read_elf(const void *image, size_t size,
                                               const struct agx_host_alloc *alloc,
                                               struct agx_program **out_program);

/* Deep copy into one allocation, checked as agx_program_read_elf checks. */
AGX_MUST_CHECK agx_status agx_program_copy(const struct agx_program *program,
                                           const struct agx_host_alloc *alloc,
                                           struct agx_program **out_program);
/* Frees a program of agx_program_copy or agx_program_read_elf; NULL: nothing. */
void agx_program_free(struct agx_program *program);

/* Bytes of host memory that a program from agx_program_copy takes, with its unchecked variant. */
size_t agx_program_bytes(const struct agx_program *program);

/* The programs of one file, one for each entry point, all of one chip and with different names.
 * Counted, because those that run them share them; they never change. */
struct agx_module {
   atomic_uint references;
   struct agx_host_alloc alloc;
   size_t bytes; /* of host memory, programs included */
   uint32_t program_count;
   struct agx_program *programs[];
};

/* Takes the programs (1 to AGX_PROGRAM_MAX_ENTRIES, from agx_program_copy) over, also when it
 * fails; one reference. */
AGX_MUST_CHECK agx_status agx_module_create(struct agx_program *const *programs, uint32_t count,
                                            const struct agx_host_alloc *alloc,
                                            struct agx_module **out_module);
/* Adds a reference to the module, and returns it. */
struct agx_module *agx_module_retain(struct agx_module *module);
/* Takes a reference away; the last one frees the module. NULL: nothing. */
void agx_module_release(struct agx_module *module);

/* The index of the program with that name; program_count: there is none. */
uint32_t agx_module_find(const struct agx_module *module, const char *name);

/* As agx_program_write_elf and agx_program_read_elf, for files of any number of programs. */
AGX_MUST_CHECK agx_status agx_module_write_elf(const struct agx_module *module,
                                               const struct agx_host_alloc *alloc, void **out_image,
                                               size_t *out_size);
/* As agx_program_read_elf; the caller gets the one reference. */
AGX_MUST_CHECK agx_status agx_module_read_elf(const void *image, size_t size,
                                              const struct agx_host_alloc *alloc,
                                              struct agx_module **out_module);

/* True when bytes start like an ELF image / like SPIR-V (either byte order). */
bool agx_program_is_elf(const void *bytes, size_t size);
/* Returns whether bytes begin as a SPIR-V module does, in either byte order. */
bool agx_program_is_spirv(const void *bytes, size_t size);
