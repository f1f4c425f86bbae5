/* SPDX-License-Identifier: MIT
 *
 * The AGX2 instruction set: one table (isa.def), from which everything else is
 * derived. An instruction is a row number and one operand per operand of that
 * row, in the row's order; isa_enums.h (made from the table at build time) names
 * both: AGX_ISA_OP_FADD is a row, AGX_ISA_FADD_A the index of an operand in it,
 * AGX_ISA_ICOND_ULT a value of an enumerated operand.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/isa/isa_enums.h"
#include "base/status.h"

#define AGX_ISA_MAX_OPERANDS 24
#define AGX_ISA_MAX_BYTES    12

enum agx_isa_kind {
   AGX_ISA_NONE = 0, /* the operand is absent */
   AGX_ISA_REG,      /* value = number of the first 16-bit half: r3l = 6, r3h = 7, r3 = 6 */
   AGX_ISA_UNIFORM,  /* value = number of the first 16-bit half */
   AGX_ISA_IMM,      /* value = the number; also flags (0/1) and enumerated values */
   AGX_ISA_FIMM,     /* value = the 8 bits of a minifloat */
   AGX_ISA_CF,       /* coefficient register */
   AGX_ISA_TS,       /* texture state register */
   AGX_ISA_SS,       /* sampler state register */
};

enum agx_isa_hint {
   AGX_ISA_HINT_NONE = 0,
   AGX_ISA_HINT_CACHE = 1,
   AGX_ISA_HINT_DISCARD = 2, /* last use; the register is undefined afterwards */
};

struct agx_isa_operand {
   uint8_t kind;  /* enum agx_isa_kind */
   uint8_t bits;  /* size of one element of a register or uniform: 16, 32 or 64 */
   uint8_t count; /* consecutive elements, 1 for a scalar */
   uint8_t hint;  /* enum agx_isa_hint, where the operand has one */
   bool abs : 1;
   bool neg : 1;
   bool sx : 1;          /* sign-extended source or index */
   bool is_unsigned : 1; /* a memory immediate that counts as unsigned */
   int64_t value;
};

struct agx_isa_instr {
   uint16_t op;    /* enum agx_isa_op */
   uint8_t length; /* bytes; 0 for the encoder means: the shortest that holds it */
   struct agx_isa_operand operand[AGX_ISA_MAX_OPERANDS];
};

/* What an operand is to the instruction. */
enum agx_isa_role {
   AGX_ISA_ROLE_DST,
   AGX_ISA_ROLE_SRC,
   AGX_ISA_ROLE_IMM,
   AGX_ISA_ROLE_MOD,
};

/* Which pipe executes a row (docs/hw/performance.md). */
enum agx_isa_unit {
   AGX_ISA_UNIT_NONE,
   AGX_ISA_UNIT_F32,
   AGX_ISA_UNIT_F16,
   AGX_ISA_UNIT_SCIB, /* select, conditional, integer, boolean */
   AGX_ISA_UNIT_IC,   /* integer and complex: the shared pipe */
   AGX_ISA_UNIT_MEM,
   AGX_ISA_UNIT_CONTROL,
};

/* Which memory a row touches. */
enum agx_isa_space {
   AGX_ISA_SPACE_NONE,
   AGX_ISA_SPACE_DEVICE,
   AGX_ISA_SPACE_LOCAL, /* of the workgroup */
   AGX_ISA_SPACE_STACK,
   AGX_ISA_SPACE_TEXTURE,
   AGX_ISA_SPACE_UNIFORM,
   AGX_ISA_SPACE_STATE, /* registers of textures and samplers */
   AGX_ISA_SPACE_TILE,
};

/* What text calls a number of an enumerated operand. */
struct agx_isa_name {
   uint16_t value;
   const char *name;
};

struct agx_isa_operand_info {
   const char *name; /* "d", "a", "format" */
   uint8_t role;     /* enum agx_isa_role */
   bool is_flag;
   bool is_optional; /* text may leave it out: absent, or zero */
   uint8_t name_count;
   const struct agx_isa_name *names; /* of an enumerated operand's numbers, those that have one */
};

struct agx_isa_info {
   const char *name; /* "fadd": unique, used in text */
   uint8_t operand_count;
   uint8_t unit;     /* enum agx_isa_unit */
   uint8_t length_B; /* the short form */
   uint8_t long_B;   /* the long form; 0 when there is only one */
   bool is_guess;    /* no hardware-verified source for the row */

   /* The facts of isa.def, where each is described. */
   uint8_t reads, writes; /* enum agx_isa_space */
   bool is_async, is_fence, has_effect, ends_block, crosses_lanes, needs_all_lanes;
   bool is_kernel_only, is_preamble_only, is_refused;
   uint32_t late_sources; /* bit i: operand i is read late */

   const struct agx_isa_operand_info *operand;
};

/* The row; op must be below AGX_ISA_OP_COUNT. */
const struct agx_isa_info *agx_isa_info(enum agx_isa_op op);

/* How many registers the lod operand of a texture read names when it holds gradients, in elements
 * of the operand's bits; 0: instr has no gradients. The dimension decides, so that the operand's
 * own count, its form's, says only how the vector begins. */
unsigned agx_isa_gradient_count(const struct agx_isa_instr *instr);

/* Decodes the instruction at the start of bytes. Fails with AGX_OUT_OF_RANGE
 * when it is cut short and AGX_INVALID_ARGUMENT when no row matches or an
 * operand field is invalid; the text says at which byte and why. */
AGX_MUST_CHECK agx_status agx_isa_decode(const void *bytes, size_t size,
                                         struct agx_isa_instr *out_instr);

/* Encodes; out_bytes has room for AGX_ISA_MAX_BYTES. Operands that the row
 * can't hold are AGX_INVALID_ARGUMENT, named in the text; nothing is cut. */
AGX_MUST_CHECK agx_status agx_isa_encode(const struct agx_isa_instr *instr, uint8_t *out_bytes,
                                         size_t *out_length);

/* Writes the instruction's text, "fadd d=r0 a=r1 b=$u2", into text (always
 * terminated); returns the full length. agx_isa_parse takes it back. */
size_t agx_isa_print(const struct agx_isa_instr *instr, char *text, size_t capacity);

/* Parses one line as agx_isa_print writes it. AGX_INVALID_ARGUMENT names the
 * word that does not fit. */
AGX_MUST_CHECK agx_status agx_isa_parse(const char *text, size_t length,
                                        struct agx_isa_instr *out_instr);

/* Disassembles size bytes line by line ("offset: bytes  text") through sink;
 * stops and fails where agx_isa_decode fails. base is added to the offsets. */
typedef void (*agx_isa_sink)(void *user, const char *line);
AGX_MUST_CHECK agx_status agx_isa_disassemble(const void *bytes, size_t size, uint64_t base,
                                              agx_isa_sink sink, void *user); /* decoder's status */
