/* SPDX-License-Identifier: MIT
 *
 * Instructions, what their operations are like, and the constants that stand in their immediates.
 */
#pragma once

#include "agx/compiler/ir/op_enum.h"
#include "agx/compiler/ir/ref.h"
#include "agx/isa/isa.h"
#include "base/list.h"
#include "program/program.h"

struct agxc_block;

enum agxc_op_flags {
   AGXC_COMMUTATIVE = 1,
   AGXC_SIDE_EFFECT = 2,
   AGXC_READS_MEMORY = 4,
   AGXC_TERMINATOR = 8,
   AGXC_CROSS_LANE = 16, /* depends on which lanes run: never leaves its block */
};

enum agxc_access {
   AGXC_ACCESS_COHERENT = 1,   /* volatile or coherent: other workgroups see it */
   AGXC_ACCESS_CONST = 2,      /* memory that nothing writes during the dispatch */
   AGXC_ACCESS_RESTRICT = 4,   /* no other binding names this memory */
   AGXC_ACCESS_PAIRS = 8,      /* of 64 bits: two elements are in bounds, or none */
   AGXC_ACCESS_UNCHECKED = 16, /* of a robust binding, proved to be in bounds */
};
/* Elements of memory, 0 to 3, in front of those that are accessed. */
#define AGXC_ACCESS_SKIP_SHIFT 8

enum agxc_sysval {
   AGXC_SYSVAL_WORKGROUP_ID,        /* + component 0..2 */
   AGXC_SYSVAL_LOCAL_ID = 3,        /* + component */
   AGXC_SYSVAL_GLOBAL_ID = 6,       /* + component */
   AGXC_SYSVAL_WORKGROUP_COUNT = 9, /* + component: a uniform */
   AGXC_SYSVAL_LOCAL_INDEX = 12,
   AGXC_SYSVAL_SUBGROUP_LANE,
   AGXC_SYSVAL_SUBGROUP_ID,
   AGXC_SYSVAL_DRAW, /* + enum agx_draw_value: a uniform */
   AGXC_SYSVAL_DRAW_LAST = AGXC_SYSVAL_DRAW + AGX_DRAW_VALUE_COUNT - 1,
   AGXC_SYSVAL_LOCAL_SIZE, /* + component: a uniform, where launches choose it */
   AGXC_SYSVAL_SHARED_END = AGXC_SYSVAL_LOCAL_SIZE + 3, /* where launches add memory: a uniform */
   AGXC_SYSVAL_COUNT,
};

/* How SHUFFLE reads its operand. */
enum agxc_shuffle {
   AGXC_SHUFFLE_INDEX,  /* the lane itself */
   AGXC_SHUFFLE_XOR,    /* lane ^ operand */
   AGXC_SHUFFLE_UP,     /* lane - operand; undefined below 0 */
   AGXC_SHUFFLE_DOWN,   /* lane + operand; undefined above 31 */
   AGXC_SHUFFLE_ROTATE, /* (lane - operand) & 31 */
   AGXC_SHUFFLE_QUAD,   /* lane `operand` of the own quad */
};

/* What an IMAGE_SAMPLE gathers, behind the channels: the level that it would sample, and that level
 * before it is clamped. */
#define AGXC_GATHER_LEVELS 5

/* What REDUCE and SCAN combine with: enum agx_isa_subop, and what no machine instruction has. */
#define AGXC_COMBINE_IMUL 32

enum agxc_barrier {
   AGXC_BARRIER_EXECUTION = 1,   /* threads of the workgroup wait for each other */
   AGXC_BARRIER_SHARED = 2,      /* orders threadgroup memory */
   AGXC_BARRIER_DEVICE = 4,      /* orders device memory, workgroup scope */
   AGXC_BARRIER_DEVICE_WIDE = 8, /* orders device memory beyond the workgroup */
   AGXC_BARRIER_IMAGE = 16,      /* orders images, and device memory with what textures read */
};

/* Of one instruction; what follows from its operation, agxc_flags tells. */
enum agxc_instr_flags {
   /* Float operations: computed as written, with all roundings, signs of zeros and special values
    * (NoContraction, SignedZeroInfNanPreserve). */
   AGXC_INSTR_PRECISE = 1,
   /* Loads of workgroup memory: atomic or volatile. */
   AGXC_INSTR_VOLATILE = 2,
   /* Integer products and shifts: modulo 2^n. Without it they are strides, which don't wrap in
    * bounds. */
   AGXC_INSTR_WRAPS = 4,
   /* Atomics: of a robust binding, proved to be in bounds (AGXC_ACCESS_UNCHECKED of the others). */
   AGXC_INSTR_UNCHECKED = 8,
   /* Machine ifs: where code gets there at all, a lane takes them. */
   AGXC_INSTR_SOME_LANE = 16,
};

/* Operands stand in order: destinations, sources, immediates (and modifiers), as isa.def and
 * ir_op.def have them. Loops over all of them go by position; one of a known operation is reached
 * by its name (operand.h, machine_operand.h). */
struct agxc_instr {
   struct agx_link link;
   struct agxc_block *block;
   uint16_t op; /* enum agxc_op, or AGXC_OP_ISA + enum agx_isa_op */
   uint16_t dest_count, src_count, operand_count;
   uint8_t flags;  /* enum agxc_instr_flags */
   uint32_t index; /* position in program order, set by agxc_index */
   uint32_t line;  /* where the module has it from: in agxc_shader's lines; 0: not said */
   struct agxc_ref *operand;
   /* The one AGXC_AHEAD places behind it when agxc_index came here last, or NULL: a hint for walks,
    * which would have to wait for each link's memory otherwise. */
   struct agxc_instr *ahead;
};
#define AGXC_AHEAD 8u
_Static_assert(sizeof(struct agxc_instr) <= 64, "an instruction is a cache line at most");

/* A source line that the module names. */
struct agxc_line {
   uint32_t word;         /* of the module's instruction that says so */
   uint32_t file;         /* in agxc_shader's files */
   uint32_t line, column; /* 0: not known */
};
/* The index of what has no line because the module says so. */
#define AGXC_NO_LINE 1u

/* Asks for the memory of the instruction that a walk comes to soon; true. */
static inline bool agxc_prefetch(const struct agxc_instr *instr)
{
   const uintptr_t ahead = (uintptr_t)instr->ahead; /* no pointer: NULL has nothing behind it */
   __builtin_prefetch((const void *)ahead);
   __builtin_prefetch((const void *)(ahead + 64)); /* its operands */
   return true;
}

/* Whether it is one of isa.def; else it is one of ir_op.def. */
static inline bool agxc_is_machine(const struct agxc_instr *instr)
{
   return instr->op >= AGXC_OP_ISA;
}

/* Whether it is a machine instruction of this opcode. */
static inline bool agxc_has_opcode(const struct agxc_instr *instr, enum agx_isa_op opcode)
{
   return instr->op == AGXC_OP_ISA + opcode;
}

/* The opcode of a machine instruction. */
static inline enum agx_isa_op agxc_opcode(const struct agxc_instr *instr)
{
   return (enum agx_isa_op)(instr->op - AGXC_OP_ISA);
}

/* All its destinations, dest_count of them. */
static inline struct agxc_ref *agxc_dests(const struct agxc_instr *instr)
{
   return instr->operand;
}

/* All its sources, src_count of them. */
static inline struct agxc_ref *agxc_srcs(const struct agxc_instr *instr)
{
   return instr->operand + instr->dest_count;
}

/* The instruction that defines a reference's value; NULL for what isn't a value. */
static inline struct agxc_instr *agxc_def_of(struct agxc_ref ref)
{
   return ref.kind == AGXC_VALUE ? ref.value->def : NULL;
}

/* The same if it is that operation, else NULL. */
static inline struct agxc_instr *agxc_def_as(struct agxc_ref ref, enum agxc_op op)
{
   struct agxc_instr *def = agxc_def_of(ref);
   return def && def->op == op ? def : NULL;
}

/* What a reference is a copy of: the source of the first of the MOVs that lead to it. */
static inline struct agxc_ref agxc_skip_moves(struct agxc_ref ref)
{
   while (agxc_def_as(ref, AGXC_OP_MOV))
      ref = agxc_srcs(ref.value->def)[0];
   return ref;
}

/* The same operand: of equal shape and modifiers, and the same value, number or register. Hints
 * don't count. */
static inline bool agxc_same_ref(const struct agxc_ref *a, const struct agxc_ref *b)
{
   if (a->kind != b->kind || a->bits != b->bits || a->count != b->count || a->abs != b->abs ||
       a->neg != b->neg || a->sx != b->sx || a->is_unsigned != b->is_unsigned)
      return false;
   switch ((enum agxc_ref_kind)a->kind) {
   case AGXC_NONE:
      return true;
   case AGXC_VALUE:
      return a->value == b->value;
   case AGXC_IMM:
   case AGXC_FIMM:
      return a->imm == b->imm;
   case AGXC_UNIFORM:
   case AGXC_REG:
      return a->half == b->half;
   }
   agx_unreachable();
}

/* The same operand behind the MOVs that lead to both. */
static inline bool agxc_same_source(struct agxc_ref a, struct agxc_ref b)
{
   a = agxc_skip_moves(a);
   b = agxc_skip_moves(b);
   return agxc_same_ref(&a, &b);
}

struct agxc_op_info {
   const char *name;
   int8_t dests, srcs, imms;
   uint8_t flags;            /* enum agxc_op_flags */
   uint8_t optional_sources; /* bit i: source i may be AGXC_NONE */
};
/* Of a generic operation. */
const struct agxc_op_info *agxc_op_info(enum agxc_op op);
/* What text calls the operation, without the prefix of a machine one. */
const char *agxc_name_of(const struct agxc_instr *instr);
/* A generic load of memory that nothing writes during the dispatch. */
bool agxc_reads_constant(const struct agxc_instr *instr);
/* enum agxc_op_flags of any instruction, machine instructions included. */
unsigned agxc_flags(const struct agxc_instr *instr);
/* What isa.def says of a machine instruction; for a generic one all of it is 0. */
const struct agx_isa_info *agxc_isa_info(const struct agxc_instr *instr);
/* Of a generic operation: it may stand wherever its sources are known. Fetches of images that
 * nothing writes among them. */
bool agxc_is_pure(const struct agxc_instr *instr);
/* Of a generic operation: as far as it goes itself, it may run elsewhere, and more often. What it
 * reads must be the same there. */
bool agxc_is_movable(const struct agxc_instr *instr);
/* The same, without images. */
bool agxc_is_arithmetic(const struct agxc_instr *instr);

/* The destinations, or the sources, of an instruction. */
#define agxc_foreach_dest(it, instr)                                                               \
   for (struct agxc_ref *it = agxc_dests(instr), *it##_end = it + (instr)->dest_count;             \
        it < it##_end; it++)
#define agxc_foreach_src(it, instr)                                                                \
   for (struct agxc_ref *it = agxc_srcs(instr), *it##_end = it + (instr)->src_count;               \
        it < it##_end; it++)
