/* SPDX-License-Identifier: MIT
 *
 * What the front end's files share. A module is read twice: spirv_module.c walks
 * all words once, checks the shape of every instruction and makes types, constants,
 * variables and functions; then spirv_call.c emits the entry point, inlining calls.
 *
 * Values are flat: an id of type T stands for an array of T's scalars, in order.
 * What changes over time (variables, phis, flags) lives in slots, one scalar each,
 * which ssa.c turns into SSA at the end.
 *
 * Everything is read from untrusted words: ids go through the agxc_spv_*_of functions, which
 * check them, and every failure leaves through agxc_spv_invalid or agxc_spv_missing.
 */
#pragma once

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "agx/compiler/ir/ir.h"

/* Newer than some headers. Source: the SPIR-V registry. */
#define SpvCapabilityCooperativeMatrixKHR 6022
#define SpvOpTypeCooperativeMatrixKHR     4456
#define SpvOpCooperativeMatrixLoadKHR     4457
#define SpvOpCooperativeMatrixStoreKHR    4458
#define SpvOpCooperativeMatrixMulAddKHR   4459
#define SpvOpCooperativeMatrixLengthKHR   4460
#include "agx/compiler/ir/ssa.h"

#define AGXC_SPV_MAX_IDS        (1u << 20)
#define AGXC_SPV_MAX_TYPE_DEPTH 32
#define AGXC_SPV_MAX_SCALARS    8192u       /* of one value in registers */
#define AGXC_SPV_HUGE_SCALARS   0x7fffffffu /* more than counts: saturated */
#define AGXC_SPV_MAX_CALL_DEPTH 32
#define AGXC_SPV_MAX_EMITTED    (4u << 20) /* instructions after inlining */
#define AGXC_SPV_MAX_SELECTS    64u        /* scalars that one dynamic index may choose from */
#define AGXC_SPV_MAX_DYNAMIC    4          /* dynamic indices in one register pointer */

/* ---- types ------------------------------------------------------------- */

enum agxc_spv_kind {
   AGXC_SPV_VOID,
   AGXC_SPV_BOOL,
   AGXC_SPV_INT,
   AGXC_SPV_FLOAT,
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
   uint32_t slots; /* first slot + 1 when a use outside the region needed slots */
   bool is_spec;
   bool depends_on_size; /* a constant that becomes a value: see spirv_any_size.c */
   uint32_t root;        /* pointers: the variable or parameter that a chain starts from, or 0 */
   bool is_indexed;      /* of such a root: something indexes it dynamically */
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
   bool is_address; /* GLOBAL: of storage class PhysicalStorageBuffer */
   bool is_block;   /* SHARED: laid out by the module */
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

struct agxc_spv {
   struct agxc_shader *shader;
   struct agx_arena *arena;
   const uint32_t *words;
   uint32_t word_count, bound;
   struct agxc_spv_id **ids;  /* by id; NULL until mentioned */
   struct agxc_spv_instr now; /* the instruction being read, for messages */

   uint32_t entry_function, entry_word;
   struct agxc_spv_vertex *vertex; /* of a vertex stage, else NULL */
   uint32_t size_ids[3];           /* LocalSizeId, or the WorkgroupSize constant */
   bool has_size, size_is_ids;
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
   bool *binding_pointed; /* a pointer that only running tells may lead there */
   uint32_t binding_count;

   struct agxc_spv_name *names;          /* the last one first */
   struct agxc_spv_variable *any_shared; /* whose bytes the launch gives, or NULL */
   bool marked_any_size;

   /* Emission. */
   struct agxc_builder b;
   struct agxc_spv_region *region;
   struct agxc_spv_flow *flow;
   struct agxc_ssa *ssa;
   uint32_t instance, instance_count, call_depth, emitted, scan_mark;
   bool is_precise; /* the instruction being emitted is to be computed as written */
   /* Execution modes and capabilities (spirv_float.c). */
   bool precise_halves, precise_words; /* all instructions of 16 or 32 bits are */
   bool flushes;                       /* 32-bit denormals must not survive anything */
   bool has_fast_math;                 /* instructions say themselves what may be done to them */
};

/* ---- failures ---------------------------------------------------------- */

const char *agxc_spv_opcode_name(uint32_t opcode); /* "?" when unknown */
const char *agxc_spv_capability_name(uint32_t value);
const char *agxc_spv_storage_name(uint32_t value);
const char *agxc_spv_builtin_name(uint32_t value);
const char *agxc_spv_decoration_name(uint32_t value);
const char *agxc_spv_mode_name(uint32_t value);
const char *agxc_spv_glsl_name(uint32_t value);

/* The module breaks a rule: says at which word, in which instruction. */
#define agxc_spv_invalid(s, ...) agxc_spv_leave((s), AGX_INVALID_ARGUMENT, __VA_ARGS__)
/* The module is right, but asks for what the compiler lacks. */
#define agxc_spv_missing(s, ...) agxc_spv_leave((s), AGX_UNIMPLEMENTED, __VA_ARGS__)
void agxc_spv_leave(struct agxc_spv *s, agx_status code, const char *format, ...)
   __attribute__((noreturn, cold, format(printf, 3, 4)));

/* ---- spirv_module.c ---------------------------------------------------- */

/* The instruction at a word, its length checked against the module's and its row's. */
struct agxc_spv_instr agxc_spv_instr_at(struct agxc_spv *s, uint32_t at);
/* Operand i behind type and result; checked. */
uint32_t agxc_spv_operand(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i);
uint32_t agxc_spv_operand_count(const struct agxc_spv_instr *in);
/* The entry of an id, made on first mention; checks the bound. */
struct agxc_spv_id *agxc_spv_id(struct agxc_spv *s, uint32_t id);
/* The entry of in's result, which must be new (or pending, in functions). */
struct agxc_spv_id *agxc_spv_result(struct agxc_spv *s, const struct agxc_spv_instr *in);
const struct agxc_spv_decoration *agxc_spv_find_decoration(const struct agxc_spv_id *id,
                                                           uint32_t member, uint32_t kind);

/* The literal string at operand i, cut to capacity; false when it has no end. */
bool agxc_spv_string(const struct agxc_spv_instr *in, uint32_t i, char *text, size_t capacity);

/* ---- spirv_reflect.c --------------------------------------------------- */

/* Remembers a name, before anything else is known. */
void agxc_spv_note_name(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* Remembers a specialization constant with the module's value. */
void agxc_spv_note_constant(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t spec_id,
                            uint64_t value);
/* Lists parameters, when it is known which bindings there are. */
void agxc_spv_reflect(struct agxc_spv *s);

/* ---- spirv_any_size.c --------------------------------------------------- */

/* Finds, before functions are read, constants that are none where launches choose the size. */
void agxc_spv_mark_any_size(struct agxc_spv *s);
/* Checks, before functions are emitted, that launches may choose what the options let them. */
void agxc_spv_check_any_size(struct agxc_spv *s);
/* At the beginning of the entry point: constants that depend on the workgroup's size become
 * values. */
void agxc_spv_begin_any_size(struct agxc_spv *s);
struct agxc_ref agxc_spv_local_size(struct agxc_spv *s, uint32_t axis);
struct agxc_ref agxc_spv_subgroup_count(struct agxc_spv *s);
/* Of a pointer to any_shared. */
struct agxc_ref agxc_spv_any_shared_offset(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                           uint32_t plus_B);

/* ---- spirv_type.c ------------------------------------------------------ */

void agxc_spv_read_type(struct agxc_spv *s, const struct agxc_spv_instr *in);
struct agxc_spv_type *agxc_spv_type_of(struct agxc_spv *s, uint32_t id); /* id names a type */
bool agxc_spv_type_is_scalar(const struct agxc_spv_type *type);
/* Addresses: the only pointers that lie in memory, as one 64-bit scalar. */
static inline bool agxc_spv_type_is_address(const struct agxc_spv_type *type)
{
   return type->kind == AGXC_SPV_POINTER && type->storage == SpvStorageClassPhysicalStorageBuffer;
}
/* How a pointer of storage class StorageBuffer or Uniform looks as a value. */
enum agxc_spv_pointer_part {
   AGXC_SPV_POINTER_BASE,   /* 64 bits: where the buffer is bound */
   AGXC_SPV_POINTER_OFFSET, /* bytes */
   AGXC_SPV_POINTER_SIZE,   /* of the buffer; only robust code looks at it */
   AGXC_SPV_POINTER_PARTS,
};
void agxc_spv_read_forward_pointer(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* The scalar type that numbers and vectors of numbers consist of, or NULL. */
const struct agxc_spv_type *agxc_spv_component(const struct agxc_spv_type *type);
bool agxc_spv_same_shape(const struct agxc_spv_type *a, const struct agxc_spv_type *b);
/* Bits of each scalar of a type; the array belongs to the arena. */
uint8_t *agxc_spv_scalar_bits(struct agxc_spv *s, const struct agxc_spv_type *type);
/* The scalar that starts member or element i. */
uint32_t agxc_spv_scalar_offset(const struct agxc_spv_type *type, uint32_t i);
/* The type of member or element i, which must be below count. */
struct agxc_spv_type *agxc_spv_part_type(struct agxc_spv *s, const struct agxc_spv_type *type,
                                         uint32_t i);
/* Fails unless values of the type fit into registers. */
void agxc_spv_check_value_type(struct agxc_spv *s, const struct agxc_spv_type *type);

/* ---- spirv_constant.c -------------------------------------------------- */

void agxc_spv_read_constant(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* A constant's value as a 32-bit number; the id must be an integer constant. */
uint32_t agxc_spv_constant_u32(struct agxc_spv *s, uint32_t id);

/* ---- spirv_float.c ------------------------------------------------------ */

bool agxc_spv_is_float_mode(uint32_t mode);
void agxc_spv_read_float_mode(struct agxc_spv *s, const struct agxc_spv_instr *in);
bool agxc_spv_is_precise(struct agxc_spv *s, uint32_t id);
/* A result as the module's modes want it; the instruction that made it is marked. */
struct agxc_ref agxc_spv_controlled(struct agxc_spv *s, struct agxc_ref result);

/* ---- values ------------------------------------------------------------ */

/* The scalars of a value; the id must be a value that is in scope. */
struct agxc_ref *agxc_spv_value(struct agxc_spv *s, uint32_t id, struct agxc_spv_type **out_type);
/* As agxc_spv_value, with a check of the type's shape. */
struct agxc_ref *agxc_spv_value_like(struct agxc_spv *s, uint32_t id,
                                     const struct agxc_spv_type *type);
/* One scalar of that kind (AGXC_SPV_BOOL, AGXC_SPV_INT or AGXC_SPV_FLOAT). */
struct agxc_ref agxc_spv_scalar(struct agxc_spv *s, uint32_t id, enum agxc_spv_kind kind);
/* An integer scalar of any width as 32 bits: an index, an amount, a count. */
struct agxc_ref agxc_spv_index(struct agxc_spv *s, uint32_t id);
/* An integer cut or extended to that many bits. */
struct agxc_ref agxc_spv_resize(struct agxc_spv *s, struct agxc_ref ref, unsigned bits,
                                bool is_signed);
struct agxc_spv_pointer *agxc_spv_pointer_of(struct agxc_spv *s, uint32_t id);
/* Publishes in's result; refs are count(type) scalars and are kept. */
void agxc_spv_define(struct agxc_spv *s, const struct agxc_spv_instr *in, struct agxc_ref *refs);
void agxc_spv_define_pointer(struct agxc_spv *s, const struct agxc_spv_instr *in,
                             struct agxc_spv_pointer *pointer);
struct agxc_ref *agxc_spv_refs(struct agxc_spv *s, uint32_t count);

/* Builders that fold integer constants. */
struct agxc_ref agxc_spv_build1(struct agxc_spv *s, enum agxc_op op, unsigned bits,
                                struct agxc_ref a);
struct agxc_ref agxc_spv_build2(struct agxc_spv *s, enum agxc_op op, unsigned bits,
                                struct agxc_ref a, struct agxc_ref b);
struct agxc_ref agxc_spv_build3(struct agxc_spv *s, enum agxc_op op, unsigned bits,
                                struct agxc_ref a, struct agxc_ref b, struct agxc_ref c);
struct agxc_ref agxc_spv_select(struct agxc_spv *s, struct agxc_ref cond, struct agxc_ref yes,
                                struct agxc_ref no);
/* The words of a 64-bit value, or the halves of a 32-bit one. */
void agxc_spv_unpack(struct agxc_spv *s, struct agxc_ref wide, struct agxc_ref *low,
                     struct agxc_ref *high);
static inline struct agxc_ref agxc_spv_u32(uint32_t value)
{
   return agxc_imm(value, 32);
}
struct agxc_ref agxc_spv_f32(float value);
/* Any instruction; count 0 = no destination. Immediates are 32 bits wide. */
struct agxc_ref agxc_spv_emit(struct agxc_spv *s, enum agxc_op op, unsigned bits, unsigned count,
                              unsigned src_count, const struct agxc_ref *srcs, unsigned imm_count,
                              const uint32_t *imms);

/* ---- spirv_pointer.c --------------------------------------------------- */

/* A pointer as scalars, and back. Fails for storage classes whose pointers have no values. */
struct agxc_ref *agxc_spv_pointer_refs(struct agxc_spv *s, const struct agxc_spv_pointer *p);
/* Makes a pointer to an array of buffers one to the buffer that index tells when it runs. */
void agxc_spv_choose_buffer(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index);
struct agxc_spv_pointer *agxc_spv_pointer_from(struct agxc_spv *s, const struct agxc_spv_type *type,
                                               const struct agxc_ref *refs);

/* ---- spirv_indexed.c --------------------------------------------------- */

/* Notes what an instruction of a function body does to roots of pointers. */
void agxc_spv_scan_pointers(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* After the walk: what is indexed through parameters. */
void agxc_spv_settle_indexed(struct agxc_spv *s);

/* ---- spirv_variable.c, spirv_memory.c, spirv_atomic.c ------------------- */

void agxc_spv_read_variable(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* Sorts the buffer variables by set and binding. */
void agxc_spv_assign_bindings(struct agxc_spv *s);
/* Drops bindings that no instruction names and renumbers the others. */
void agxc_spv_prune_bindings(struct agxc_spv *s);
/* Zeros for workgroup variables that ask for them; at the entry point's start. */
void agxc_spv_init_shared(struct agxc_spv *s);
/* Slots for Private variables, and their initializers; at the entry point's start. */
void agxc_spv_init_privates(struct agxc_spv *s);
/* Makes a variable PRIVATE: its place is chosen later (lower/private.c). */
void agxc_spv_begin_private(struct agxc_spv *s, struct agxc_spv_variable *var);
/* Device memory, push constants and Blocks in workgroup memory are laid out by the module. */
static inline bool agxc_spv_has_layout(const struct agxc_spv_pointer *p)
{
   return p->place == AGXC_SPV_PLACE_BUFFER || p->place == AGXC_SPV_PLACE_PUSH ||
          p->place == AGXC_SPV_PLACE_GLOBAL || p->is_block;
}
static inline bool agxc_spv_in_memory(const struct agxc_spv_pointer *p)
{
   return p->place == AGXC_SPV_PLACE_BUFFER || p->place == AGXC_SPV_PLACE_SHARED ||
          p->place == AGXC_SPV_PLACE_PRIVATE || p->place == AGXC_SPV_PLACE_GLOBAL;
}
struct agxc_ref *agxc_spv_load(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                               bool is_volatile);
void agxc_spv_store(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                    const struct agxc_ref *refs, bool is_volatile);
/* The byte offset of a memory pointer. */
struct agxc_ref agxc_spv_offset(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                uint32_t plus_B);
/* How accesses through p are checked. */
enum agxc_robustness agxc_spv_robustness(const struct agxc_spv *s,
                                         const struct agxc_spv_pointer *p);
/* Moves the dynamic part of p, which is in memory, by index elements of stride_B bytes. */
void agxc_spv_add_dynamic(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                          uint32_t stride_B);

void agxc_spv_add_bytes(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref by_B);
void agxc_spv_add_saturated(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                            uint32_t stride_B);

/* For GLOBAL pointers: base and offset of an access of that many bytes, which robust code makes
 * sure to be inside the buffer, or a sink. */
void agxc_spv_check(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t bytes,
                    bool writes, struct agxc_ref *base, struct agxc_ref *offset);
uint32_t agxc_spv_use_binding(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                              uint32_t access);
void agxc_spv_memory_barrier(struct agxc_spv *s, uint32_t scope, uint32_t semantics, uint32_t with);

/* A vector at a memory pointer: count elements of that many bits, 16 or 32. */
void agxc_spv_load_vector(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t bits,
                          uint32_t count, bool is_volatile, struct agxc_ref *out);
void agxc_spv_store_vector(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t count,
                           const struct agxc_ref *refs, bool is_volatile);

/* ---- spirv_image.c, spirv_texture.c ------------------------------------ */

void agxc_spv_read_image_type(struct agxc_spv *s, const struct agxc_spv_instr *in,
                              struct agxc_spv_type *type);
/* enum agx_binding_kind of a variable that is a handle, and the dimension of its descriptor. */
uint32_t agxc_spv_handle_kind(struct agxc_spv *s, const struct agxc_spv_type *type);
uint32_t agxc_spv_image_dim(const struct agxc_spv_type *image);
static inline bool agxc_spv_type_is_handle(const struct agxc_spv_type *type)
{
   return type->kind >= AGXC_SPV_IMAGE;
}
/* The value that OpLoad of such a variable gives, and what is made of it. */
void agxc_spv_load_handle(struct agxc_spv *s, const struct agxc_spv_instr *in,
                          const struct agxc_spv_pointer *p);
/* The variable of an image, which must have been loaded; with a sampler where one is needed. */
const struct agxc_spv_pointer *agxc_spv_image(struct agxc_spv *s, uint32_t id, bool sampled);
const struct agxc_spv_type *agxc_spv_image_type(const struct agxc_spv_pointer *image);
struct agxc_ref agxc_spv_image_info(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                    enum agx_image_property property);

/* Which heap an element of an array is in, and where; both AGXC_NONE where a state register holds
 * the descriptor. */
void agxc_spv_heap_place(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                         enum agx_heap_part part, struct agxc_ref *out_heap,
                         struct agxc_ref *out_place);

/* ---- spirv_texel.c ----------------------------------------------------- */

/* Column and row of texel `index` of a buffer of texels; far outside where there is none. */
void agxc_spv_texel_of_buffer(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                              struct agxc_ref index, struct agxc_ref out_at[2]);
/* Likewise of one sample of a multisampled image, in the image that stores to it see: all its
 * memory, one sample a texel. */
void agxc_spv_texel_of_sample(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                              const struct agxc_ref at[2], struct agxc_ref layer,
                              struct agxc_ref sample, struct agxc_ref out_at[2]);

/* ---- spirv_vertex.c ---------------------------------------------------- */

/* Inputs that are builtins are read where they are used; others are variables. */
bool agxc_spv_is_builtin_input(const struct agxc_spv_id *id);
struct agxc_ref agxc_spv_vertex_builtin(struct agxc_spv *s, uint32_t builtin);
/* Behind the module's own: the buffers of attributes, indices and feedback. */
uint32_t agxc_spv_vertex_binding_count(const struct agxc_spv *s);
void agxc_spv_assign_vertex_bindings(struct agxc_spv *s);
void agxc_spv_set_vertex_size(struct agxc_spv *s);
/* In front of the entry point's code, and behind it. */
void agxc_spv_begin_vertex(struct agxc_spv *s);
void agxc_spv_end_vertex(struct agxc_spv *s);

/* ---- spirv_matrix.c ---------------------------------------------------- */

void agxc_spv_read_cooperative(struct agxc_spv *s, const struct agxc_spv_instr *in,
                               struct agxc_spv_type *type);

/* ---- spirv_subgroup.c -------------------------------------------------- */

/* The first word of SubgroupEqMask and its like. */
struct agxc_ref agxc_spv_subgroup_mask(struct agxc_spv *s, uint32_t builtin);

/* ---- slots (ssa.h) ----------------------------------------------------- */

static inline uint32_t agxc_spv_slots_new(struct agxc_spv *s, uint32_t count, const uint8_t *bits)
{
   return agxc_slots_new(s->ssa, count, bits);
}

static inline struct agxc_ref agxc_spv_slot_read(struct agxc_spv *s, uint32_t slot)
{
   return agxc_slot_read(s->ssa, s->b.block, slot);
}

static inline void agxc_spv_slot_write(struct agxc_spv *s, uint32_t slot, struct agxc_ref value)
{
   agxc_slot_write(s->ssa, s->b.block, slot, value);
}

/* As if block had ended with that write; for values, which are written once. */
static inline void agxc_spv_slot_write_at(struct agxc_spv *s, struct agxc_block *block,
                                          uint32_t slot, struct agxc_ref value)
{
   agxc_slot_write(s->ssa, block, slot, value);
}

/* ---- spirv_call.c ------------------------------------------------------ */

/* Emits the entry point into shader->body. */
void agxc_spv_emit_entry(struct agxc_spv *s);
void agxc_spv_emit_call(struct agxc_spv *s, const struct agxc_spv_instr *in);

/* ---- instruction rows -------------------------------------------------- */

typedef void (*agxc_spv_handler)(struct agxc_spv *s, const struct agxc_spv_instr *in);

enum agxc_spv_op_flags {
   AGXC_SPV_HAS_TYPE = 1,
   AGXC_SPV_HAS_RESULT = 2,
   AGXC_SPV_TERMINATOR = 4,
   AGXC_SPV_NO_EFFECT = 8, /* debug information: skipped wherever it stands */
   AGXC_SPV_SPEC = 16,     /* OpSpecConstantOp takes it; operands are constants */
};

/* Rows of one-to-one operations: what each takes and gives. */
struct agxc_spv_alu {
   uint16_t op; /* enum agxc_op */
   uint8_t sources;
   uint8_t takes, gives; /* enum agxc_spv_kind of components */
   bool swap, negate;
};

struct agxc_spv_op {
   uint16_t opcode;
   uint8_t words; /* least length */
   uint8_t flags;
   agxc_spv_handler handler; /* in function bodies; NULL: not there */
   struct agxc_spv_alu alu;
};
/* NULL: not taken. */
const struct agxc_spv_op *agxc_spv_op_find(uint32_t opcode);

void agxc_spv_op_alu(struct agxc_spv *s, const struct agxc_spv_instr *in);
#define OP(name, words, flags, handler)                                                            \
   void handler(struct agxc_spv *, const struct agxc_spv_instr *);
#define ROW(name, words, flags)
#define ALU(name, op, sources, takes, gives, swap, negate)
#include "agx/compiler/spirv/op.def"
#undef OP
#undef ROW
#undef ALU
