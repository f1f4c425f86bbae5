/* SPDX-License-Identifier: MIT
 *
 * The state of one translation: types, ids, pointers, variables, functions. A module is read twice:
 * module.c walks all words once, checks the shape of every instruction and makes types, constants,
 * variables and functions; then call.c emits the entry point, inlining calls.
 *
 * Values are flat: an id of type T stands for an array of T's scalars, in order. What changes over
 * time (variables, phis, flags) lives in slots, one scalar each, which ir/ssa.c turns into SSA at
 * the end.
 *
 * Everything is read from untrusted words: ids go through the agxc_spv_*_of functions, which check
 * them, and every failure leaves through agxc_spv_invalid or agxc_spv_missing.
 */
#pragma once

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "agx/compiler/ir/ir.h"
#include "agx/compiler/ir/ssa.h"

/* Newer than some headers. Source: the SPIR-V registry. */
#define SpvDecorationSaturatedToLargestFloat8NormalConversionEXT 4216
#define SpvOpFDot2MixAcc32VALVE                                  6916
#define SpvOpFDot2MixAcc16VALVE                                  6917
#define SpvCapabilityCooperativeMatrixKHR                        6022
#define SpvOpExtInstWithForwardRefsKHR                           4433
#define SpvOpTypeCooperativeMatrixKHR                            4456
#define SpvOpCooperativeMatrixLoadKHR                            4457
#define SpvOpCooperativeMatrixStoreKHR                           4458
#define SpvOpCooperativeMatrixMulAddKHR                          4459
#define SpvOpCooperativeMatrixLengthKHR                          4460
#define SpvOpConstantCompositeReplicateEXT                       4461
#define SpvOpSpecConstantCompositeReplicateEXT                   4462
#define SpvOpCompositeConstructReplicateEXT                      4463

#define AGXC_SPV_HEADER_WORDS   5           /* in front of the first instruction */
#define AGXC_SPV_MAX_IDS        4194303u    /* the specification's */
#define AGXC_SPV_MAX_TYPE_DEPTH 512         /* 255 structs and the arrays in between */
#define AGXC_SPV_MAX_SCALARS    8192u       /* of one value in registers */
#define AGXC_SPV_HUGE_SCALARS   0x7fffffffu /* more than counts: saturated */
#define AGXC_SPV_MAX_CALL_DEPTH 32
#define AGXC_SPV_MAX_EMITTED    (4u << 20) /* instructions after inlining */
#define AGXC_SPV_MAX_SELECTS    64u        /* scalars that one dynamic index may choose from */
#define AGXC_SPV_MAX_DYNAMIC    4          /* dynamic indices in one register pointer */
/* Buffers of an array that an index may choose from without the heap: each takes six uniform
 * halves. */
#define AGXC_SPV_MAX_CHOICES 32

/* ---- types ------------------------------------------------------------- */

enum agxc_spv_kind {
   AGXC_SPV_VOID,
   AGXC_SPV_BOOL,
   AGXC_SPV_INT,
   AGXC_SPV_FLOAT,
   AGXC_SPV_SMALL_FLOAT, /* only stored and converted: bfloat16, and 8 bits */
   AGXC_SPV_VECTOR,
   AGXC_SPV_MATRIX,
   AGXC_SPV_COOPERATIVE, /* matrix of a subgroup: what one lane holds, like an array */
   AGXC_SPV_ARRAY,
   AGXC_SPV_RUNTIME_ARRAY,
   AGXC_SPV_STRUCT,
   AGXC_SPV_POINTER,
   AGXC_SPV_FUNCTION,
   AGXC_SPV_IMAGE,
   AGXC_SPV_SAMPLER,
   AGXC_SPV_SAMPLED_IMAGE, /* elem is the image's type */
};

/* As the CooperativeMatrixUse operand counts them. */
enum agxc_spv_use {
   AGXC_SPV_USE_A,
   AGXC_SPV_USE_B,
   AGXC_SPV_USE_ACCUMULATOR,
};

struct agxc_spv_member {
   struct agxc_spv_type *type;
   uint32_t first_scalar, offset_B, matrix_stride_B;
   uint32_t packed_offset_B; /* without a layout of the module's */
   bool has_offset, row_major, not_writable, coherent;
};

struct agxc_spv_type {
   enum agxc_spv_kind kind;
   uint8_t bits;       /* of a scalar: 1, 8, 16, 32 or 64 */
   bool is_signed;     /* integers */
   uint16_t encoding;  /* small floats: FPEncoding */
   bool is_block;      /* structs: decorated Block or BufferBlock */
   bool is_old_buffer; /* structs: BufferBlock */
   uint32_t id, depth;
   uint32_t scalars; /* flat length; 0 for void, runtime arrays, and pointers without values */
   uint32_t count;   /* components, columns, elements, members, parameters */
   struct agxc_spv_type *elem; /* component, column, element, pointee, return type */
   uint32_t stride_B;          /* arrays; 0 when there is no ArrayStride */
   uint64_t size_B;            /* structs: bytes of the fixed part, by the offsets */
   /* Where the module gives no layout (workgroup memory): packed by alignment; booleans are
    * words. Saturated at AGXC_SPV_HUGE_SCALARS. */
   uint32_t packed_B, align_B;
   /* Pointers: SpvStorageClass. elem is NULL while a pointer is only announced, stride_B is
    * that of OpPtrAccessChain. */
   uint32_t storage;
   uint32_t rows, columns, use; /* cooperative matrices: of the whole; enum agxc_spv_use */
   struct {
      uint8_t dim; /* SpvDim */
      bool is_array, is_storage, is_multisampled;
   } image;
   struct agxc_spv_member *members;
   struct agxc_spv_type **params;
};

/* ---- ids --------------------------------------------------------------- */

enum agxc_spv_id_kind {
   AGXC_SPV_ID_NONE = 0, /* only decorated or named so far */
   AGXC_SPV_ID_TYPE,
   AGXC_SPV_ID_VALUE, /* refs: constants, and results of the function being emitted */
   AGXC_SPV_ID_ZEROS, /* OpConstantNull of more scalars than values have; no refs */
   AGXC_SPV_ID_POINTER,
   AGXC_SPV_ID_FUNCTION,
   AGXC_SPV_ID_LABEL,
   AGXC_SPV_ID_IMPORT,
   AGXC_SPV_ID_OTHER,   /* strings, debug data */
   AGXC_SPV_ID_PENDING, /* result of a function body, not emitted (yet) */
};

struct agxc_spv_decoration {
   struct agxc_spv_decoration *next;
   uint32_t member; /* AGXC_SPV_NO_MEMBER for the id itself */
   uint32_t kind;   /* SpvDecoration */
   uint32_t value;  /* first operand, or 0 */
};
#define AGXC_SPV_NO_MEMBER 0xffffffffu

/* A list of IR nodes being filled; what is defined in it may be used while it is open. */
struct agxc_spv_region {
   bool open;
};

struct agxc_spv_id {
   enum agxc_spv_id_kind kind;
   uint32_t word; /* where it is defined */
   struct agxc_spv_type *type;
   union {
      struct agxc_ref *refs;
      struct agxc_spv_pointer *pointer;
      struct agxc_spv_function *function;
      struct agxc_spv_block *block;
   };
   struct agxc_spv_decoration *decorations;
   /* Values of functions: where they were emitted, and as part of which call. */
   struct agxc_spv_region *region;
   struct agxc_block *def_block;
   uint32_t instance;
   uint32_t slots;        /* first slot + 1 when a use outside the region needed slots */
   bool depends_on_size;  /* a constant that becomes a value: see dynamic_size.c */
   uint32_t root;         /* pointers: the variable or parameter that a chain starts from, or 0 */
   bool is_indexed;       /* of such a root: something indexes it dynamically, */
   bool is_array_indexed; /* and by its first index */
   uint32_t elements;     /* of such a root: no constant is its first index from here on */
};

/* ---- pointers ---------------------------------------------------------- */

enum agxc_spv_place {
   AGXC_SPV_PLACE_SLOTS, /* Function and Private variables without dynamic indices */
   AGXC_SPV_PLACE_BUFFER,
   AGXC_SPV_PLACE_SHARED,
   AGXC_SPV_PLACE_PUSH,
   AGXC_SPV_PLACE_BUILTIN,
   AGXC_SPV_PLACE_PRIVATE, /* Function and Private variables that something indexes */
   AGXC_SPV_PLACE_GLOBAL,  /* device memory behind an address that is computed */
   AGXC_SPV_PLACE_HANDLE,  /* images and samplers: the variable itself is the value */
};

struct agxc_spv_pointer {
   enum agxc_spv_place place;
   struct agxc_spv_type *type;             /* what it points to */
   struct agxc_spv_variable *var;          /* NULL where it is not known: GLOBAL, and some SHARED */
   const struct agxc_spv_pointer *sampler; /* HANDLE: that the image is sampled with, or NULL */
   /* GLOBAL: a 64-bit address, and for robust code the 32-bit size of what lies there, or
    * AGXC_NONE. */
   struct agxc_ref base, size;
   /* Buffers, shared and private memory: the byte offset is const_B + dynamic. HANDLE: which one
    * of an array, if that is no constant. */
   uint32_t const_B;
   struct agxc_ref dynamic;
   uint32_t element;         /* BUFFER, HANDLE: of an array of buffers, images or samplers */
   bool is_array;            /* BUFFER, HANDLE: the array as a whole */
   uint32_t matrix_stride_B; /* matrices and columns of row-major ones; 0 = none */
   bool row_major, not_writable, coherent;
   bool is_address;  /* GLOBAL: of storage class PhysicalStorageBuffer */
   bool is_block;    /* SHARED: laid out by the module */
   bool is_constant; /* GLOBAL: nothing writes there */
   /* The rest: const_B + sum of index * stride_B, index < count. Slots and builtins
    * count four bytes per scalar. */
   uint32_t dynamic_count;
   struct {
      struct agxc_ref index;
      uint32_t stride_B, count;
   } dynamics[AGXC_SPV_MAX_DYNAMIC];
};

struct agxc_spv_variable {
   struct agxc_spv_variable *next; /* of all global ones, in module order */
   enum agxc_spv_place place;
   uint32_t id, storage;
   struct agxc_spv_type *type; /* what it holds */
   uint32_t initializer;       /* id, or 0 */
   uint32_t first_slot;        /* SLOTS */
   uint32_t set, binding;      /* BUFFER, HANDLE */
   uint32_t index;             /* BUFFER, HANDLE: in s->bindings; PRIVATE: of the IR's variable */
   /* BUFFER, HANDLE: of an array of buffers, images or samplers, whose block is type->elem; else
    * 0. HANDLE: AGX_PROGRAM_UNSIZED too. */
   uint32_t elements;
   bool is_unsized; /* BUFFER: an array without a length, of which constants name elements */
   bool in_heap;    /* BUFFER, HANDLE: code finds its descriptors in memory: AGX_BINDING_HEAP */
   bool has_binding, is_uniform, restricted, not_writable, coherent;
   uint32_t offset_B; /* SHARED, once allocated */
   bool allocated;
   uint32_t builtin; /* SpvBuiltIn */
};

/* ---- functions --------------------------------------------------------- */

struct agxc_spv_block {
   uint32_t label; /* id */
   uint32_t first; /* word of the first instruction behind OpLabel */
   uint32_t merge; /* word of OpSelectionMerge or OpLoopMerge, or 0 */
   uint32_t end;   /* word of the terminator */
   struct agxc_spv_function *function;
   uint32_t visited; /* instance that emitted it last */
   /* As target of a switch: which one, which of its targets; and the search that found it. */
   struct agxc_spv_construct *case_of, *merge_of; /* merge_of: the switch that ends here */
   uint32_t case_index, scanned;
   struct agxc_spv_block *scan_next;
   uint32_t line;      /* that an instruction in front of it names, in s->lines, or 0 */
   uint32_t phi_slots; /* first slot + 1 of its phis in phi_instance */
   uint32_t phi_instance;
};

struct agxc_spv_function {
   uint32_t id, word; /* of OpFunction */
   struct agxc_spv_type *type, *returns;
   uint32_t *params, param_count;
   struct agxc_spv_block *entry;
   uint32_t block_count;
   bool active; /* being inlined */
};

/* ---- state ------------------------------------------------------------- */

struct agxc_spv_instr {
   const uint32_t *words; /* words[0] is opcode and length */
   uint32_t at;           /* offset of words[0] in the module */
   uint32_t opcode, length;
   uint32_t type_id, id; /* 0 where the opcode has none */
   uint32_t first;       /* index of the first operand behind them */
};

/* OpName or OpMemberName. */
struct agxc_spv_name {
   struct agxc_spv_name *next;
   uint32_t id, member; /* AGXC_SPV_NO_MEMBER: of the id itself */
   uint32_t word;       /* of the instruction */
};

/* OpSource with the text of a file. */
struct agxc_spv_source {
   uint32_t file_id, word;
};

struct agxc_spv {
   struct agxc_shader *shader;
   struct agx_arena *arena;
   const uint32_t *words;
   uint32_t word_count, bound;
   struct agxc_spv_id **ids;  /* by id; NULL until mentioned */
   struct agxc_spv_instr now; /* the instruction being read, for messages */
   /* Emits code for an instruction of a function body: agxc_spv_run_instruction() of handler.c,
    * which lies above the files that call it. */
   void (*run_instruction)(struct agxc_spv *s, const struct agxc_spv_instr *in);

   uint32_t entry_function, entry_word;
   uint32_t entry_points;          /* of all stages */
   bool *reached;                  /* by id: the entry point needs it; of types, constants,
                                    * variables and functions */
   struct agxc_spv_vertex *vertex; /* of a vertex stage, else NULL */
   uint32_t size_ids[3];           /* LocalSizeId, or the WorkgroupSize constant */
   bool has_size, size_is_ids;
   uint32_t quad_mode;         /* which invocations are quads: an SpvExecutionMode, or 0 (quad.c) */
   uint32_t workgroup_size_id; /* constant decorated BuiltIn WorkgroupSize */
   uint32_t glsl_import;
   struct agxc_spv_variable *variables, **variables_tail;
   bool shared_blocks; /* workgroup variables are Blocks, which share one piece of memory */
   bool any_storage_image, any_aliased_image;
   bool any_coherent;                       /* some variable or member is Coherent or Volatile */
   struct agxc_spv_passing *passings;       /* pointers as arguments */
   struct agx_program_binding *bindings;    /* sorted; before unused ones go */
   enum agxc_robustness pointer_robustness; /* of what a pointer may lead to: the strictest */
   bool *binding_used;
   bool *binding_pointed; /* a pointer whose buffer is known only at run time may lead there */
   uint32_t binding_count;

   struct agxc_spv_name *names;              /* the last one first */
   struct agxc_spv_variable *dynamic_shared; /* whose bytes the launch gives, or NULL */
   bool marked_dynamic_size;

   /* Source lines (line.c). */
   uint32_t debug_import;              /* NonSemantic.Shader.DebugInfo, or 0 */
   struct agxc_line *lines;            /* by word; the first two stand for none */
   uint32_t line_count, line_capacity; /* 0: the entry point's functions name none */
   uint16_t *file_of;                  /* by id: index in files + 1, or 0 */
   struct agx_line_file *files;
   struct agxc_spv_source *sources;
   uint32_t file_count, source_count;
   char *text; /* of all files, text_B bytes so far */
   uint32_t text_B;

   /* Emission. */
   struct agxc_builder b;
   struct agxc_spv_region *region;
   struct agxc_spv_flow *flow;
   struct agxc_ssa *ssa;
   uint32_t instance, instance_count, call_depth, emitted, scan_mark;
   bool is_precise;     /* the instruction being emitted is to be computed as written */
   bool rounds_to_half; /* the function being made works on 32 bits for a result of 16 */
   /* Execution modes and capabilities (float.c). */
   bool precise_halves, precise_words; /* all instructions of 16 or 32 bits are */
   bool flushes;                       /* 32-bit denormals must not survive anything */
   bool has_fast_math;                 /* instructions say themselves what may be done to them */
};
