/* SPDX-License-Identifier: MIT
 *
 * Executables: kernels, ready to run.
 */
#pragma once

#include "agx/object.h"

#ifdef __cplusplus
extern "C" {
#endif

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
   uint32_t size;
   const void *next;
   const struct agx_vertex_attribute *attributes; /* without any, 32-bit components, packed */
   uint32_t attribute_count;
   uint32_t index_B; /* bytes of an index: 1, 2, 4; 0: vertices in order */
};

struct agx_executable_desc {
   uint32_t size;
   const void *next;
   const void *data; /* SPIR-V, or an ELF file that `agx compile` wrote */
   size_t data_B;
   const char *entry; /* one entry point; NULL: all compute ones, or else all vertex ones */
   const struct agx_specialization
      *specializations; /* SPIR-V only; of ids that it declares, each once */
   uint32_t specialization_count;
   /* What becomes of accesses that leave the bound range of a buffer: enum agx_robustness, for
    * all bindings but those that overrides name. Says of an ELF file how it must have been
    * compiled; 0 without overrides takes it as it is. */
   uint32_t robustness;
   const struct agx_binding_robustness *overrides;
   uint32_t override_count; /* up to AGX_MAX_BINDINGS; of bindings that the kernel lacks no use */
   const struct agx_vertex_input *vertex; /* SPIR-V of a vertex stage only; may be NULL */
   uint32_t flags;                        /* enum agx_executable_flags */
   uint64_t tag;                          /* the application's: in the records of a profile */
   const char *label; /* as agx_set_label; NULL: kernels are known by their names */
   /* A bit for each set, below 32, whose descriptors the kernel finds in a heap when it runs, where
    * they may change until then (agx/descriptor_heap.h). SPIR-V: an ELF file is what it was
    * compiled as. Long arrays of buffers with computed indices are there in any case. */
   uint32_t heap_sets;
};

enum agx_executable_flags {
   /* Neither taken from the caches of compiled kernels nor kept there; docs/hal. */
   AGX_EXECUTABLE_TRANSIENT = 1 << 0,
   /* Dispatches may choose the workgroup size. SPIR-V: an ELF file is what it was compiled as. The
    * kernel reads the size of the dispatch where the module names it, by gl_WorkGroupSize of
    * local_size_*_id or BuiltIn WorkgroupSize; numbers that its author's compiler has made of a
    * fixed size stay as they are. */
   AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE = 1 << 1,
   /* Dispatches say how many bytes the last workgroup variable of the module has. It must be an
    * array; the length that it is declared with does not count, but no index may exceed it. */
   AGX_EXECUTABLE_DYNAMIC_SHARED = 1 << 2,
   /* agx_executable_get_text has the texts of IR, too. SPIR-V is compiled anew for that, whatever
    * is in the caches; an ELF file has none. */
   AGX_EXECUTABLE_KEEP_IR = 1 << 3,
};

/* Compiles (or reads) kernels and loads them; from any thread. AGX_UNIMPLEMENTED names what the
 * compiler lacks, AGX_INCOMPATIBLE a file for another chip or ABI, AGX_NOT_FOUND an entry point
 * that a file lacks; AGX_INVALID_ARGUMENT is for data that is neither SPIR-V nor such a file, or is
 * damaged, for an entry point that SPIR-V lacks, and for what desc says beyond that. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_create(struct agx_device *device,
                                                        const struct agx_executable_desc *desc,
                                                        struct agx_executable **out_executable);

enum agx_binding_type {
   AGX_BINDING_STORAGE = 0,
   AGX_BINDING_UNIFORM = 1,
   AGX_BINDING_STORAGE_IMAGE = 2,
   AGX_BINDING_TEXTURE = 3,
   AGX_BINDING_SAMPLER = 4,
   AGX_BINDING_TEXTURE_SAMPLER = 5, /* an image and a sampler, in one variable or in several */
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
   uint32_t size; /* set by the caller */
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
   /* Of an array of images, samplers or texel buffers, and of one of buffers in a heap: how many
    * there are, AGX_UNSIZED: as many as are bound; 0: no array. Elements that are not bound read as
    * 0, and drop what is stored. */
   uint32_t elements;
   /* agx_dispatch.heaps may give it. What is no array has 1 for elements then. */
   bool in_heap;
};

/* Of one entry point. */
struct agx_executable_info {
   uint32_t size; /* set by the caller */
   /* Of the entry point; one of AGX_NAME_BYTES and more is cut, and ends in "..." then
    * (agx_executable_get_entry_name). */
   char name[AGX_NAME_BYTES];
   uint32_t local_size[3]; /* threads of a workgroup */
   uint32_t shared_B;      /* threadgroup memory */
   uint32_t push_B;        /* push constants that the kernel reads, up to */
   uint32_t binding_count;
   uint32_t instructions, preamble_instructions;
   uint32_t code_B;     /* machine code, without padding */
   uint32_t gpr_halves; /* 16-bit register halves of a thread */
   uint32_t uniform_halves;
   uint32_t resident_threads;    /* that the registers allow on a core */
   uint32_t resident_simdgroups; /* on a core, of whole workgroups, threadgroup memory counted */
   uint32_t cycles;              /* static estimate, one pass through each block */
   bool is_vertex;               /* for agx_cmd_dispatch_vertices, else for agx_cmd_dispatch */
   uint32_t scratch_B;           /* memory of each thread for what registers don't hold */
   uint32_t parameter_count, specialization_count;
   uint32_t max_workgroup_threads; /* that registers and hardware allow */
   bool has_dynamic_local_size;    /* dispatches may choose it */
   bool has_dynamic_shared;        /* and add to shared_B, which the code uses */
};

/* Entry points are numbered from 0 on, in the order of the module; most executables have one. */
AGX_API uint32_t agx_executable_get_entry_count(struct agx_executable *executable);
/* The whole name, of any length, which lives as long as the executable. AGX_OUT_OF_RANGE: there are
 * fewer. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_get_entry_name(struct agx_executable *executable,
                                                                uint32_t entry,
                                                                const char **out_name);
/* By the whole name. AGX_NOT_FOUND: there is none of that name. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_find_entry(struct agx_executable *executable,
                                                            const char *name, uint32_t *out_entry);
/* AGX_OUT_OF_RANGE: there are fewer. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_get_entry(struct agx_executable *executable,
                                                           uint32_t entry,
                                                           struct agx_executable_info *out_info);
/* As agx_executable_get_entry for entry point 0. */
AGX_API void agx_executable_get_info(struct agx_executable *executable,
                                     struct agx_executable_info *out_info);

/* What must be bound: AGX_OUT_OF_RANGE beyond binding_count or the entry points. */
AGX_API AGX_MUST_CHECK agx_status
agx_executable_get_entry_binding(struct agx_executable *executable, uint32_t entry, uint32_t index,
                                 struct agx_binding_info *out_info);
/* Of entry point 0. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_get_binding(struct agx_executable *executable,
                                                             uint32_t index,
                                                             struct agx_binding_info *out_info);

enum agx_parameter_kind_info {
   AGX_PARAMETER_BINDING = 0,  /* set, binding: one for each array */
   AGX_PARAMETER_CONSTANT = 1, /* a member of the push constants: offset_B, size_B */
   AGX_PARAMETER_POINTER = 2,  /* likewise, a GPU address */
};

struct agx_parameter_info {
   uint32_t size;             /* set by the caller */
   uint32_t kind;             /* enum agx_parameter_kind_info */
   char name[AGX_NAME_BYTES]; /* of the variable, block or member; "" if the module has none */
   uint32_t set, binding;
   uint32_t offset_B, size_B;
};

/* Bindings first, in the order of get_binding, then push constants in that of the module.
 * AGX_OUT_OF_RANGE beyond parameter_count or the entry points. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_get_parameter(struct agx_executable *executable,
                                                               uint32_t entry, uint32_t index,
                                                               struct agx_parameter_info *out_info);

enum agx_specialization_type {
   AGX_SPECIALIZATION_BOOL = 0,
   AGX_SPECIALIZATION_UINT = 1,
   AGX_SPECIALIZATION_INT = 2,
   AGX_SPECIALIZATION_FLOAT = 3,
};

struct agx_specialization_info {
   uint32_t size; /* set by the caller */
   uint32_t id;
   uint32_t type;             /* enum agx_specialization_type */
   uint32_t bytes;            /* 1, 2, 4 or 8; of a bool 1 */
   uint64_t value;            /* bits of the module's default, whatever was given */
   char name[AGX_NAME_BYTES]; /* "" if the module has none */
};

/* Specialization constants that the module had, the first 256. AGX_OUT_OF_RANGE beyond
 * specialization_count or the entry points. */
AGX_API AGX_MUST_CHECK agx_status
agx_executable_get_specialization(struct agx_executable *executable, uint32_t entry, uint32_t index,
                                  struct agx_specialization_info *out_info);

/* ---- what they became -------------------------------------------------- */

/* The functions below fill up to *count (or *text_B, *binary_B) elements (or bytes) of what may be
 * NULL, and set it to how many there are, which may be more. AGX_OUT_OF_RANGE: there are fewer
 * entry points; AGX_NOT_FOUND: the entry point has no such variant. */

enum agx_executable_variant {
   AGX_VARIANT_CHECKED = 0,   /* any kernel; of a robust one, what has all its checks */
   AGX_VARIANT_UNCHECKED = 1, /* of robust ones: runs where a dispatch's numbers say that all
                               * accesses without a check are inside */
};

struct agx_statistic {
   const char *name, *description; /* constant texts of less than 256 bytes */
   uint64_t value;
};
/* What the compiler and the launch count. Names and their order may change between versions. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_get_statistics(struct agx_executable *executable,
                                                                uint32_t entry, uint32_t variant,
                                                                uint32_t *count,
                                                                struct agx_statistic *statistics);

enum agx_executable_text {
   AGX_TEXT_ASSEMBLY = 0, /* machine code as `agx disasm` prints it, the preamble behind it */
   /* Of an executable of AGX_EXECUTABLE_KEEP_IR, as `agx opt` takes them; line "preamble" and the
    * preamble's stand behind the main program's. */
   AGX_TEXT_IR = 1,           /* as the module says it */
   AGX_TEXT_IR_OPTIMIZED = 2, /* before machine instructions are selected */
   AGX_TEXT_IR_REGISTERS = 3, /* machine instructions with their registers */
};
/* text: enum agx_executable_text. out_text ends with a zero byte, which counts, also where it is
 * cut. AGX_NOT_FOUND, too: the text was not kept. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_get_text(struct agx_executable *executable,
                                                          uint32_t entry, uint32_t variant,
                                                          uint32_t text, size_t *text_B,
                                                          char *out_text);

/* The ELF file that agx_executable_create makes the same executable of, on any device of the chip:
 * all its entry points, with nothing left to compile. It has neither label, tag nor texts of IR.
 * *binary_B is of the whole file, which has the same bytes each time; nothing is written where it
 * was less. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_get_binary(struct agx_executable *executable,
                                                            size_t *binary_B, void *out_binary);

/* Which of the formats "agx-elf" and "spirv" data begins with (a constant text), and how many bytes
 * belong to it; of SPIR-V all whole words. AGX_INCOMPATIBLE: none of them. */
AGX_API AGX_MUST_CHECK agx_status agx_executable_infer_format(const void *data, size_t data_B,
                                                              const char **out_format,
                                                              size_t *out_used_B);
AGX_API bool agx_executable_format_is_known(const char *format);

/* What the caches of compiled kernels have done for a device so far; docs/hal. */
struct agx_cache_stats {
   uint32_t size; /* set by the caller */
   uint64_t compiles;
   uint64_t memory_hits; /* also of threads that waited for another one's compile */
   uint64_t memory_misses;
   uint64_t memory_entries, memory_B; /* now */
   uint64_t disk_hits, disk_misses;
   uint64_t disk_stored, disk_store_failures;
   uint64_t disk_dropped; /* files that were damaged, or not ours */
   uint64_t disk_evicted; /* files that had to make room */
};
AGX_API void agx_device_get_cache_stats(struct agx_device *device,
                                        struct agx_cache_stats *out_stats);

#ifdef __cplusplus
}
#endif
