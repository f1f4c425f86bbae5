/* SPDX-License-Identifier: MIT
 *
 * Reading: failures, names for messages, words, ids, what op.def says of opcodes, and types. These
 * are the lowest modules of the room.
 */
#pragma once

#include "agx/compiler/spirv/state_impl.h"

/* ---- failures ---------------------------------------------------------- */

/* The tables of name.def. */
enum agxc_spv_name_table {
   AGXC_SPV_NAME_OPCODE,
   AGXC_SPV_NAME_CAPABILITY,
   AGXC_SPV_NAME_STORAGE,
   AGXC_SPV_NAME_BUILTIN,
   AGXC_SPV_NAME_DECORATION,
   AGXC_SPV_NAME_MODE,
   AGXC_SPV_NAME_GLSL,
};

/* The name of an opcode or enumerant for messages, without "Op" or the enumeration's prefix; "?"
 * for unknown numbers. */
const char *agxc_spv_name(enum agxc_spv_name_table table, uint32_t number);
/* Whether modules of this stage may use a capability, decoration or builtin (name.def). */
bool agxc_spv_takes(const struct agxc_spv *s, enum agxc_spv_name_table table, uint32_t number);
/* The name of a storage class, as agxc_spv_name() gives it. */
static inline const char *agxc_spv_storage_name(uint32_t storage)
{
   return agxc_spv_name(AGXC_SPV_NAME_STORAGE, storage);
}

/* The module breaks a rule: says at which word, in which instruction. */
#define agxc_spv_invalid(s, ...) agxc_spv_leave((s), AGX_INVALID_ARGUMENT, __VA_ARGS__)
/* The module is right, but asks for what the compiler lacks. */
#define agxc_spv_missing(s, ...) agxc_spv_leave((s), AGX_UNIMPLEMENTED, __VA_ARGS__)
/* What agxc_spv_invalid and agxc_spv_missing call: adds word and opcode to the text and ends the
 * compilation. */
void agxc_spv_leave(struct agxc_spv *s, agx_status code, const char *format, ...)
   __attribute__((noreturn, cold, format(printf, 3, 4)));

/* ---- words and ids ----------------------------------------------------- */

/* The instruction at a word, its length checked against the module's and op.def's. */
struct agxc_spv_instr agxc_spv_instr_at(struct agxc_spv *s, uint32_t at);
/* Operand i behind type and result; checked. */
uint32_t agxc_spv_operand(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i);
/* How many operands stand behind type and result. */
uint32_t agxc_spv_operand_count(const struct agxc_spv_instr *in);
/* The entry of an id, made on first mention; checks the bound. */
struct agxc_spv_id *agxc_spv_id(struct agxc_spv *s, uint32_t id);
/* The entry of in's result, which must be new (or pending, in functions). */
struct agxc_spv_id *agxc_spv_result(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* The last decoration of a kind that an id or its member has, or NULL. */
const struct agxc_spv_decoration *agxc_spv_find_decoration(const struct agxc_spv_id *id,
                                                           uint32_t member, uint32_t kind);

/* The last decoration of a kind that an id has itself, or NULL. */
static inline const struct agxc_spv_decoration *agxc_spv_decoration(const struct agxc_spv_id *id,
                                                                    uint32_t kind)
{
   return agxc_spv_find_decoration(id, AGXC_SPV_NO_MEMBER, kind);
}

/* The literal string at operand i, cut to capacity; false when it has no end. */
bool agxc_spv_string(const struct agxc_spv_instr *in, uint32_t i, char *text, size_t capacity);
/* A constant's value as a 32-bit number; the id must be an integer constant. */
uint32_t agxc_spv_constant_u32(struct agxc_spv *s, uint32_t id);

/* ---- opcodes ----------------------------------------------------------- */

enum agxc_spv_op_flags {
   AGXC_SPV_HAS_TYPE = 1,
   AGXC_SPV_HAS_RESULT = 2,
   AGXC_SPV_TERMINATOR = 4,
   AGXC_SPV_NO_EFFECT = 8, /* debug information: skipped wherever it stands */
   AGXC_SPV_SPEC = 16,     /* OpSpecConstantOp takes it; operands are constants */
   AGXC_SPV_IN_BODY = 32,  /* emits code in function bodies: handler.c has its function */
};

/* Opcodes that are one IR operation per component: what it takes and gives. */
struct agxc_spv_alu {
   uint16_t op; /* enum agxc_op */
   uint8_t sources;
   uint8_t takes, gives; /* enum agxc_spv_kind of components */
   bool swap, negate;
};

/* Variants of integer dot products, and of instructions that sample images. */
enum agxc_spv_dot_variant {
   AGXC_SPV_DOT_FIRST_SIGNED = 1,
   AGXC_SPV_DOT_SECOND_SIGNED = 2,
   AGXC_SPV_DOT_SATURATES = 4,
};
/* Variants of atomics that are no AGX_ISA_ATOMIC_*. */
enum agxc_spv_atomic_variant {
   AGXC_SPV_ATOMIC_FADD = 0x80,
   AGXC_SPV_ATOMIC_FMIN,
   AGXC_SPV_ATOMIC_FMAX,
};
enum agxc_spv_quad_variant { /* of derivatives: the axis, or both */
   AGXC_SPV_QUAD_WIDTH = 2,
};
enum agxc_spv_sample_variant {
   AGXC_SPV_SAMPLE_GATHERS = 1,
   AGXC_SPV_SAMPLE_PROJECTS = 2,
   AGXC_SPV_SAMPLE_COMPARES = 4,
   AGXC_SPV_SAMPLE_IMPLIES = 8, /* the level of detail */
};

struct agxc_spv_op {
   uint8_t words; /* least length; 0: the front end does not take the opcode */
   uint8_t flags; /* enum agxc_spv_op_flags */
   uint8_t variant;
   struct agxc_spv_alu alu;
};
/* What op.def says of an opcode, or NULL when the front end does not take it. */
const struct agxc_spv_op *agxc_spv_op_find(uint32_t opcode);

/* Tables have an element for each opcode below CORE_COUNT, and for four ranges of later ones. */
#define AGXC_SPV_CORE_COUNT   512
#define AGXC_SPV_LATER_FIRST  4416
#define AGXC_SPV_LATER_COUNT  64
#define AGXC_SPV_TEXT_FIRST   5614 /* atomics, hints, and decorations with text */
#define AGXC_SPV_TEXT_COUNT   20
#define AGXC_SPV_LAST_FIRST   6035 /* atomics and split barriers */
#define AGXC_SPV_LAST_COUNT   109
#define AGXC_SPV_FDOT_FIRST   6916 /* dot products of floats */
#define AGXC_SPV_FDOT_COUNT   3
#define AGXC_SPV_BEHIND_LATER (AGXC_SPV_CORE_COUNT + AGXC_SPV_LATER_COUNT)
#define AGXC_SPV_BEHIND_TEXT  (AGXC_SPV_BEHIND_LATER + AGXC_SPV_TEXT_COUNT)
#define AGXC_SPV_BEHIND_LAST  (AGXC_SPV_BEHIND_TEXT + AGXC_SPV_LAST_COUNT)
#define AGXC_SPV_OP_COUNT     (AGXC_SPV_BEHIND_LAST + AGXC_SPV_FDOT_COUNT)
#define AGXC_SPV_OP_INDEX(opcode)                                                                  \
   ((opcode) < AGXC_SPV_CORE_COUNT   ? (opcode)                                                    \
    : (opcode) < AGXC_SPV_TEXT_FIRST ? (opcode)-AGXC_SPV_LATER_FIRST + AGXC_SPV_CORE_COUNT         \
    : (opcode) < AGXC_SPV_LAST_FIRST ? (opcode)-AGXC_SPV_TEXT_FIRST + AGXC_SPV_BEHIND_LATER        \
    : (opcode) < AGXC_SPV_FDOT_FIRST ? (opcode)-AGXC_SPV_LAST_FIRST + AGXC_SPV_BEHIND_TEXT         \
                                     : (opcode)-AGXC_SPV_FDOT_FIRST + AGXC_SPV_BEHIND_LAST)

/* ---- types ------------------------------------------------------------- */

/* The type that an id names; fails for other ids. */
struct agxc_spv_type *agxc_spv_type_of(struct agxc_spv *s, uint32_t id);
/* Whether a float of that FPEncoding and as many bits may be stored and converted. */
bool agxc_spv_is_small_float(uint32_t encoding, uint32_t bits);
/* Whether values of the type are one boolean or number. */
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
/* The scalar type that numbers and vectors of numbers consist of, or NULL. */
const struct agxc_spv_type *agxc_spv_component(const struct agxc_spv_type *type);
/* Whether values of two types may be copied into each other. */
bool agxc_spv_same_shape(const struct agxc_spv_type *a, const struct agxc_spv_type *b);
/* Bits of each scalar of a type; the array belongs to the arena. */
uint8_t *agxc_spv_scalar_bits(struct agxc_spv *s, const struct agxc_spv_type *type);
/* The scalar that starts member or element i. */
uint32_t agxc_spv_scalar_offset(const struct agxc_spv_type *type, uint32_t i);
/* The type of member or element i, which must be below count. */
struct agxc_spv_type *agxc_spv_part_type(struct agxc_spv *s, const struct agxc_spv_type *type,
                                         uint32_t i);
/* A stride that the module gives an array or matrix, or the offset of a struct's member; fail where
 * it has none or a bad one. Where the module has no say in the layout nobody asks. */
uint32_t agxc_spv_stride(struct agxc_spv *s, const struct agxc_spv_type *type, uint32_t stride_B);
uint32_t agxc_spv_member_offset(struct agxc_spv *s, const struct agxc_spv_type *type, uint32_t i);
/* Bytes from one element to the next where the module gives no layout. */
static inline uint32_t agxc_spv_packed_stride(const struct agxc_spv_type *type)
{
   return (uint32_t)agx_align_up((uint64_t)type->packed_B, AGX_MAX(type->align_B, 1u));
}
/* Whether the type is one of values: no image, function, runtime array or pointer of no bits. */
bool agxc_spv_has_values(const struct agxc_spv_type *type);
/* Fails unless values of the type fit into registers. */
void agxc_spv_check_value_type(struct agxc_spv *s, const struct agxc_spv_type *type);
/* Images, samplers and both together, which are no values. */
static inline bool agxc_spv_type_is_handle(const struct agxc_spv_type *type)
{
   return type->kind >= AGXC_SPV_IMAGE;
}
