/* SPDX-License-Identifier: MIT
 *
 * The compiler's one intermediate representation, from the front end to the
 * emitter. A shader is a tree of control flow (blocks, ifs, loops) whose blocks
 * hold instructions in SSA form. Before selection instructions are generic
 * (ir_op.def); selection replaces them by machine instructions (isa.def), with
 * exactly the opcode's operands; register allocation replaces values by registers.
 *
 * Everything lives in the shader's arena; running out leaves through the arena.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/compiler/ir/options.h"
#include "agx/compiler/ir/op_enum.h"
#include "agx/isa/isa.h"
#include "base/arena.h"
#include "base/bitset.h"
#include "base/list.h"
#include "base/util.h"

struct agxc_block;
struct agxc_instr;
struct agxc_shader;

/* ---- operands --------------------------------------------------------- */

/* An SSA value. bits of an element are 1 (boolean), 8, 16, 32 or 64; count is 1
 * for a scalar, else the length of a vector in consecutive registers. From selection on
 * booleans are 16-bit 0 or 1, and 8-bit elements 16-bit ones whose upper 8 bits are
 * undefined: only operations whose low bits don't depend on higher ones work on 8 bits
 * (moves, sums, products, bitwise ones, left shifts, stores); the others extend first. */
struct agxc_value {
   uint32_t id; /* index in shader->values */
   uint8_t bits, count;
   struct agxc_instr *def;
};

enum agxc_ref_kind {
   AGXC_NONE = 0, /* the operand is absent */
   AGXC_VALUE,
   AGXC_IMM,     /* any constant of `bits` bits, in generic code; what the opcode takes, in machine
                    code. Float constants of generic code are IMM with the float's bits. */
   AGXC_FIMM,    /* machine code only: an 8-bit minifloat in imm */
   AGXC_UNIFORM, /* half = first uniform half */
   AGXC_REG,     /* half = first register half; after register allocation */
};

struct agxc_ref {
   uint8_t kind;  /* enum agxc_ref_kind */
   uint8_t bits;  /* of one element */
   uint8_t count; /* elements */
   uint8_t hint;  /* enum agx_isa_hint */
   bool abs : 1;  /* float modifiers and sign extension: machine code only */
   bool neg : 1;
   bool sx : 1;
   bool is_unsigned : 1;
   union {
      struct agxc_value *value;
      int64_t imm; /* zero-extended from bits in generic code */
      uint32_t half;
   };
};

/* No operand. */
static inline struct agxc_ref agxc_none(void)
{
   return (struct agxc_ref){.kind = AGXC_NONE};
}

/* A constant; what goes beyond its bits is cut off. */
static inline struct agxc_ref agxc_imm(uint64_t imm, unsigned bits)
{
   return (struct agxc_ref){
      .kind = AGXC_IMM, .bits = (uint8_t)bits, .count = 1, .imm = (int64_t)(imm & agx_bits(bits))};
}

/* A whole value, read or defined. */
static inline struct agxc_ref agxc_use(struct agxc_value *value)
{
   return (struct agxc_ref){
      .kind = AGXC_VALUE, .bits = value->bits, .count = value->count, .value = value};
}

/* Uniform registers from a half on: count elements of so many bits. */
static inline struct agxc_ref agxc_uniform(uint32_t half, unsigned bits, unsigned count)
{
   return (struct agxc_ref){
      .kind = AGXC_UNIFORM, .bits = (uint8_t)bits, .count = (uint8_t)count, .half = half};
}

/* General registers from a half on: count elements of so many bits. */
static inline struct agxc_ref agxc_reg(uint32_t half, unsigned bits, unsigned count)
{
   return (struct agxc_ref){
      .kind = AGXC_REG, .bits = (uint8_t)bits, .count = (uint8_t)count, .half = half};
}

/* ---- instructions ----------------------------------------------------- */

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
};

/* Operands stand in order: destinations, sources, immediates (and modifiers), as isa.def and
 * ir_op.def have them. Loops over all of them go by position; one of a known operation is reached
 * by its name ("operands by name" below, machine_operand.h). */
struct agxc_instr {
   struct agx_link link;
   struct agxc_block *block;
   uint16_t op; /* enum agxc_op, or AGXC_OP_ISA + enum agx_isa_op */
   uint16_t dest_count, src_count, operand_count;
   uint8_t flags;  /* enum agxc_instr_flags */
   uint32_t index; /* position in program order, set by agxc_index */
   struct agxc_ref *operand;
};

/* Whether the instruction is one of isa.def. */
static inline bool agxc_is_machine(const struct agxc_instr *instr)
{
   return instr->op >= AGXC_OP_ISA;
}

/* Whether it is the machine instruction of that opcode. */
static inline bool agxc_has_opcode(const struct agxc_instr *instr, enum agx_isa_op opcode)
{
   return instr->op == AGXC_OP_ISA + opcode;
}

/* The opcode of a machine instruction. */
static inline enum agx_isa_op agxc_opcode(const struct agxc_instr *instr)
{
   return (enum agx_isa_op)(instr->op - AGXC_OP_ISA);
}

/* All destinations, dest_count of them. */
static inline struct agxc_ref *agxc_dests(const struct agxc_instr *instr)
{
   return instr->operand;
}

/* All sources, src_count of them; immediates stand behind. */
static inline struct agxc_ref *agxc_srcs(const struct agxc_instr *instr)
{
   return instr->operand + instr->dest_count;
}

/* Immediate i of a generic instruction. */
static inline int64_t agxc_imm_of(const struct agxc_instr *instr, unsigned i)
{
   return instr->operand[instr->dest_count + instr->src_count + i].imm;
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

struct agxc_op_info {
   const char *name;
   int8_t dests, srcs, imms;
   uint8_t flags; /* enum agxc_op_flags */
};
/* Of a generic operation. */
const struct agxc_op_info *agxc_op_info(enum agxc_op op);
/* A generic load of memory that nothing writes during the dispatch. */
bool agxc_reads_constant(const struct agxc_instr *instr);
/* enum agxc_op_flags of any instruction, machine instructions included. */
unsigned agxc_flags(const struct agxc_instr *instr);
/* What isa.def says of a machine instruction; for a generic one all of it is 0. */
const struct agx_isa_info *agxc_isa_info(const struct agxc_instr *instr);
/* Of a generic operation: it may stand wherever its sources are known. Fetches of images that
 * nothing writes among them. */
bool agxc_is_pure(const struct agxc_instr *instr);
/* The same, without images. */
bool agxc_is_arithmetic(const struct agxc_instr *instr);

/* ---- control flow ----------------------------------------------------- */

/* Lists of nodes start and end with a block, and no two blocks are neighbours. */
enum agxc_node_kind {
   AGXC_NODE_BLOCK,
   AGXC_NODE_IF,
   AGXC_NODE_LOOP,
};

struct agxc_node {
   struct agx_link link;
   enum agxc_node_kind kind;
   struct agxc_node *parent; /* the if or loop around it, or NULL */
   struct agx_link *list;    /* the list it is in */
};

struct agxc_block {
   struct agxc_node node;
   struct agx_link instrs;
   /* Set by agxc_index: */
   uint32_t index;              /* position in program order */
   uint32_t loop_depth;         /* loops around it */
   struct agxc_loop *loop;      /* the innermost of them, or NULL */
   struct agxc_block *succs[2]; /* of a branch: then, else; NULL where there is none */
   struct agxc_block **preds;   /* in program order; phis follow this order */
   uint32_t pred_count;
};

/* The condition is the BRANCH (or if_icmp, if_fcmp) that ends the block before. */
struct agxc_if {
   struct agxc_node node;
   struct agx_link then_list, else_list;
};

/* body runs, then continuing, then body again, until a BREAK. CONTINUE goes to the
 * start of continuing; falling out of body does too. BREAK goes to the block behind the
 * loop, and may stand in continuing as well (never CONTINUE there). Falling out of
 * continuing is the back edge. */
struct agxc_loop {
   struct agxc_node node;
   struct agx_link body, continuing;
};

/* What a node is, which its kind says. */
static inline struct agxc_block *agxc_as_block(const struct agxc_node *node)
{
   agx_assert(node->kind == AGXC_NODE_BLOCK);
   return agx_container_of(node, struct agxc_block, node);
}
static inline struct agxc_if *agxc_as_if(const struct agxc_node *node)
{
   agx_assert(node->kind == AGXC_NODE_IF);
   return agx_container_of(node, struct agxc_if, node);
}
static inline struct agxc_loop *agxc_as_loop(const struct agxc_node *node)
{
   agx_assert(node->kind == AGXC_NODE_LOOP);
   return agx_container_of(node, struct agxc_loop, node);
}

/* List i of a node, in program order: both arms of an if, body and continuing part of a loop. NULL
 * behind the last one; a block has none. */
static inline struct agx_link *agxc_list_of(const struct agxc_node *node, unsigned i)
{
   if (node->kind == AGXC_NODE_BLOCK || i > 1)
      return NULL;
   if (node->kind == AGXC_NODE_IF)
      return i ? &agxc_as_if(node)->else_list : &agxc_as_if(node)->then_list;
   return i ? &agxc_as_loop(node)->continuing : &agxc_as_loop(node)->body;
}

/* ---- shader ----------------------------------------------------------- */

struct agxc_shader {
   struct agx_arena *arena; /* everything that outlives a pass */
   const struct agxc_options *options;
   const struct agx_chip *chip;
   char name[AGX_PROGRAM_NAME_BYTES];

   /* Regions inside each other that the caller's stack allows; whether the module has more. */
   uint32_t most_nesting;
   bool is_too_deep;

   struct agx_link body; /* list of nodes */
   struct agxc_value **values;
   uint32_t value_count, value_capacity;

   /* Set by agxc_index; stale after control flow has changed. */
   struct agxc_block **blocks;
   uint32_t block_count, block_capacity, instr_count;

   /* What the module declares. */
   uint32_t local_size[3];
   bool has_dynamic_local_size; /* each launch chooses its own; local_size is what it is without */
   bool has_dynamic_shared;     /* each launch adds memory behind shared_B */
   bool is_vertex;
   uint32_t shared_B;
   uint32_t push_B;
   bool takes_addresses; /* of memory without a binding */
   /* Bytes of scratch memory in use per thread; see agxc_scratch_alloc. What the code
    * declares is agx_program_frame_B of it. */
   uint32_t scratch_B;
   uint32_t spilled_B;     /* the last bytes of it hold what registers could not */
   uint32_t private_count; /* variables of PRIVATE */
   struct agx_program_binding bindings[AGX_PROGRAM_MAX_BINDINGS];
   uint32_t binding_count;

   /* What the module calls them (spirv/reflect.c). */
   struct agx_program_parameter *parameters;
   struct agx_program_constant *constants;
   char *names;
   uint32_t parameter_count, constant_count, names_B;

   /* Uniform registers; see agxc_uniform_slot. */
   struct agx_program_uniform uniforms[AGX_PROGRAM_MAX_UNIFORMS];
   uint32_t uniform_count, uniform_halves;

   /* State registers; see agxc_state_slot. */
   struct agx_program_state states[AGX_PROGRAM_MAX_STATES];
   uint32_t state_count;

   /* Of the unchecked variant (opt/elide_bounds_checks.c): that it is one, and its guards. */
   bool is_unchecked;
   struct agx_program_guard *guards;
   uint32_t guard_count;

   struct agxc_shader *preamble; /* stores uniforms before this one runs, or NULL */
   struct agxc_shader *main;     /* of a preamble: whose uniforms it shares; else NULL */

   /* Results of the back end. */
   uint32_t gpr_halves;
   struct agx_program_stats stats;

   /* First failure, raised by agxc_fail. */
   agx_status status;
};

/* Ends the compilation: formats the error text and leaves through the arena's jump
 * buffer (passes own nothing but arena memory). */
#define agxc_fail(shader, code, ...) agxc_leave((shader), agx_status_fail((code), __VA_ARGS__))
/* What agxc_fail calls: keeps the status in the shader and does not return. */
void agxc_leave(struct agxc_shader *shader, agx_status status) __attribute__((noreturn, cold));

/* Levels of control flow that any thread's stack has room for. */
#define AGXC_SHALLOW_NESTING 96
/* The hardware counts the levels that a lane must leave in 16 bits; half of them are for lanes
 * that have returned. See emit/control.c. */
#define AGXC_MOST_NESTING 32767

/* An empty shader in the arena, which must outlive it; so must the options. */
struct agxc_shader *agxc_shader_create(struct agx_arena *arena, const struct agxc_options *options);

/* A new value of count elements; the caller sets its definition. */
struct agxc_value *agxc_value_new(struct agxc_shader *shader, unsigned bits, unsigned count);

/* New nodes in the arena, which are in no list yet. */
struct agxc_block *agxc_block_new(struct agxc_shader *shader);
struct agxc_if *agxc_if_new(struct agxc_shader *shader);
struct agxc_loop *agxc_loop_new(struct agxc_shader *shader);
/* Appends a node to a list of parent (NULL = the shader's body). */
void agxc_node_append(struct agx_link *list, struct agxc_node *parent, struct agxc_node *node);
/* Puts a node in front of another one, into the same list. */
void agxc_node_insert_before(struct agxc_node *at, struct agxc_node *node);
/* Appends a new block. */
struct agxc_block *agxc_block_append(struct agxc_shader *shader, struct agx_link *list,
                                     struct agxc_node *parent);
struct agxc_block *agxc_first_block(const struct agx_link *list);
struct agxc_block *agxc_last_block(const struct agx_link *list);
/* The blocks around an if or loop in its list. */
struct agxc_block *agxc_block_before(const struct agxc_node *node);
struct agxc_block *agxc_block_after(const struct agxc_node *node);

/* An unlinked instruction; operands are zeroed (AGXC_NONE). Counts of a fixed-shape
 * operation or opcode come from its table; pass them for variadic ones. */
struct agxc_instr *agxc_instr_new(struct agxc_shader *shader, unsigned op);
struct agxc_instr *agxc_instr_new_n(struct agxc_shader *shader, unsigned op, unsigned dests,
                                    unsigned srcs);
void agxc_instr_remove(struct agxc_instr *instr);
/* Makes an instruction with one destination a MOV of source to that destination. */
void agxc_become_mov(struct agxc_shader *shader, struct agxc_instr *instr, struct agxc_ref source);
/* The first instruction of a block, or NULL. */
static inline struct agxc_instr *agxc_first_instr(const struct agxc_block *block)
{
   return agx_list_empty(&block->instrs)
             ? NULL
             : agx_container_of(block->instrs.next, struct agxc_instr, link);
}
/* The instruction behind it in its block, or NULL. */
static inline struct agxc_instr *agxc_next_instr(const struct agxc_instr *instr)
{
   return instr->link.next == &instr->block->instrs
             ? NULL
             : agx_container_of(instr->link.next, struct agxc_instr, link);
}
/* The terminator of a block (BRANCH, BREAK, CONTINUE, RETURN or a machine one), or NULL. */
struct agxc_instr *agxc_terminator(const struct agxc_block *block);

/* Whether all threads of the dispatch decide the same, by constants and uniforms alone: one arm is
 * skipped as a whole. */
bool agxc_is_of_dispatch(const struct agxc_ref *condition);

/* Numbers blocks and instructions in program order and computes shader->blocks, succs,
 * preds and loop depths. Blocks that nothing reaches keep pred_count 0. */
void agxc_index(struct agxc_shader *shader);

/* The uniform halves that hold the described value; makes the slot on first use.
 * Addresses are kept below half 256 (memory bases). Fails the compilation when uniforms
 * run out. */
struct agxc_ref agxc_uniform_slot(struct agxc_shader *shader, enum agx_uniform_kind kind,
                                  uint32_t index, uint64_t value, unsigned bits);

/* The slot that begins at a uniform half, or NULL. */
const struct agx_program_uniform *agxc_slot_at(const struct agxc_shader *shader, uint32_t half);

/* The texture or sampler state register that holds the described descriptor, its number; made on
 * first use. Fails the compilation when they run out. */
uint32_t agxc_state_slot(struct agxc_shader *shader, enum agx_state_kind kind, uint32_t binding,
                         uint32_t element);

/* Uniform halves that the preamble stores a value of so many bits to, each call its own. */
struct agxc_ref agxc_uniform_result(struct agxc_shader *shader, unsigned bits);

/* The shader whose uniforms these are. */
static inline struct agxc_shader *agxc_uniform_owner(struct agxc_shader *shader)
{
   return shader->main ? shader->main : shader;
}

/* Takes bytes of the thread's scratch memory, aligned to 4, and gives their offset; fails
 * the compilation beyond AGX_PROGRAM_MAX_SCRATCH_B. */
uint32_t agxc_scratch_alloc(struct agxc_shader *shader, uint64_t bytes);

/* ---- building --------------------------------------------------------- */

/* Where new instructions go: before `before`, or at the end of block when it is NULL. */
struct agxc_builder {
   struct agxc_shader *shader;
   struct agxc_block *block;
   struct agxc_instr *before;
};

/* A builder that appends to the block. */
static inline struct agxc_builder agxc_at_end(struct agxc_shader *shader, struct agxc_block *block)
{
   return (struct agxc_builder){.shader = shader, .block = block};
}

/* A builder that inserts in front of an instruction. */
static inline struct agxc_builder agxc_before(struct agxc_shader *shader, struct agxc_instr *instr)
{
   return (struct agxc_builder){.shader = shader, .block = instr->block, .before = instr};
}

/* In front of the block's first instruction, where there is one. */
static inline struct agxc_builder agxc_at_start(struct agxc_shader *shader,
                                                struct agxc_block *block)
{
   return (struct agxc_builder){shader, block, agxc_first_instr(block)};
}

/* Puts an unlinked instruction where the builder stands. */
void agxc_insert(struct agxc_builder *b, struct agxc_instr *instr);

/* For an operation that is chosen at run time; where it is known, agxc_build_NAME (ops.h) says what
 * its operands are. A generic instruction with one new destination of that shape; sources follow.
 */
struct agxc_ref agxc_build(struct agxc_builder *b, enum agxc_op op, unsigned bits, unsigned count,
                           unsigned src_count, const struct agxc_ref *srcs);
/* The common shapes; bits are those of the destination. */
struct agxc_ref agxc_build1(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                            struct agxc_ref a);
struct agxc_ref agxc_build2(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                            struct agxc_ref a, struct agxc_ref c);
struct agxc_ref agxc_build3(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                            struct agxc_ref a, struct agxc_ref c, struct agxc_ref d);
/* A vector of scalars of equal bits. */
struct agxc_ref agxc_collect(struct agxc_builder *b, unsigned count, const struct agxc_ref *srcs);
/* All elements of a vector. */
void agxc_split(struct agxc_builder *b, struct agxc_ref vector, struct agxc_ref *out_elements);
/* Gives dest's value a new definition: a MOV of one element or a COLLECT of several, which it
 * returns. The old definition is the caller's to remove. */
struct agxc_instr *agxc_redefine(struct agxc_builder *b, struct agxc_ref dest,
                                 const struct agxc_ref *elements);
/* A 0 shaped like that: a constant, or a vector of them. */
struct agxc_ref agxc_build_zero(struct agxc_builder *b, const struct agxc_ref *like);
/* A phi with a new destination of that shape, whose sources the caller fills in. */
struct agxc_instr *agxc_build_phi(struct agxc_builder *b, unsigned bits, unsigned count,
                                  unsigned src_count);

/* ---- operands by name ------------------------------------------------- */

/* gen_ir.py makes accessors and builders from ir_op.def, which names each operation's operands.
 * One accessor serves every operation that has an operand of that name, and asserts that this one
 * has it, so that a pass may handle loads, stores and atomics alike:
 *
 *    agxc_src_offset(instr)         struct agxc_ref *: to read, or to put another operand there
 *    agxc_src_a(add)->bits          sources of arithmetic are a, b, c
 *    agxc_dest(instr)               the only destination, of machine instructions too
 *    agxc_dest_high(unpack)         one of several
 *    agxc_imm_access(load)          an immediate's number, in its own type
 *    agxc_set_imm_access(load, n)   sets it
 *    agxc_has_src(instr, AGXC_SRC_COMPARE), agxc_has_imm(instr, AGXC_IMM_ACCESS)
 *    agxc_side(instr, i)            a or b, for loops over both sides; 1 - i is the other one
 *    agxc_phi_entry(phi), agxc_phi_back(phi)   at the start of a loop that has two ways in
 *    agxc_phi_then(phi), agxc_phi_else(phi)    behind an if whose arms both get there
 *    agxc_element(instr, i)         of a COLLECT (a source) or a SPLIT (a destination)
 *    agxc_define(instr, ref)        makes instr the definition of ref's value
 *
 * agxc_build_NAME(b, sources, immediates) makes an operation with a new result and returns it; one
 * without a result, or with several, returns the instruction. Where the result's shape does not
 * follow from the operands, bits (and count) stand behind b: agxc_build_umin(b, x, y),
 * agxc_build_trunc(b, 16, x), agxc_build_load_global(b, 32, 4, address, offset, access).
 * Machine instructions have the same accessors in machine_operand.h. */

/* Places behind the destinations (dest: among them) plus 1, or 0 where the operation has no operand
 * of that name; an immediate's behind the sources. */
extern const uint8_t agxc_dest_places[AGXC_OP_ISA][AGXC_DEST_NAMES];
extern const uint8_t agxc_src_places[AGXC_OP_ISA][AGXC_SRC_NAMES];
extern const uint8_t agxc_imm_places[AGXC_OP_ISA][AGXC_IMM_NAMES];

/* Whether a generic operation has a source of that name. */
static inline bool agxc_has_src(const struct agxc_instr *instr, enum agxc_src_name name)
{
   return !agxc_is_machine(instr) && agxc_src_places[instr->op][name];
}

/* Whether a generic operation has an immediate of that name. */
static inline bool agxc_has_imm(const struct agxc_instr *instr, enum agxc_imm_name name)
{
   return !agxc_is_machine(instr) && agxc_imm_places[instr->op][name];
}

/* The destination of that name, of an operation with several. */
static inline struct agxc_ref *agxc_dest_by_name(const struct agxc_instr *instr,
                                                 enum agxc_dest_name name)
{
   agx_assert(!agxc_is_machine(instr) && agxc_dest_places[instr->op][name]);
   return &instr->operand[agxc_dest_places[instr->op][name] - 1];
}

/* The source of that name; for tables of names, else agxc_src_NAME says it shorter. */
static inline struct agxc_ref *agxc_src_by_name(const struct agxc_instr *instr,
                                                enum agxc_src_name name)
{
   agx_assert(agxc_has_src(instr, name));
   return &agxc_srcs(instr)[agxc_src_places[instr->op][name] - 1];
}

/* The immediate of that name, as an operand. */
static inline struct agxc_ref *agxc_imm_by_name(const struct agxc_instr *instr,
                                                enum agxc_imm_name name)
{
   agx_assert(agxc_has_imm(instr, name));
   return &agxc_srcs(instr)[instr->src_count + agxc_imm_places[instr->op][name] - 1];
}

/* The destination of an instruction that has one. */
static inline struct agxc_ref *agxc_dest(const struct agxc_instr *instr)
{
   agx_assert(instr->dest_count == 1);
   return instr->operand;
}

/* Makes instr, which has one destination, the definition of the value that dest names. */
static inline void agxc_define(struct agxc_instr *instr, struct agxc_ref dest)
{
   agx_assert(dest.kind == AGXC_VALUE);
   *agxc_dest(instr) = dest;
   dest.value->def = instr;
}

/* Sides of an operation on a and b: 0 is a, 1 is b. */
static inline struct agxc_ref *agxc_side(const struct agxc_instr *instr, unsigned side)
{
   return agxc_src_by_name(instr, side ? AGXC_SRC_B : AGXC_SRC_A);
}

/* Source 0 or 1 of a phi that has two; the functions below name them. */
static inline struct agxc_ref *agxc_phi_of_two(const struct agxc_instr *phi, unsigned source)
{
   agx_assert(phi->op == AGXC_OP_PHI && phi->src_count == 2);
   return &agxc_srcs(phi)[source];
}

/* Sources of a phi at the start of a loop: what enters it, and what comes around. */
static inline struct agxc_ref *agxc_phi_entry(const struct agxc_instr *phi)
{
   return agxc_phi_of_two(phi, 0);
}
static inline struct agxc_ref *agxc_phi_back(const struct agxc_instr *phi)
{
   return agxc_phi_of_two(phi, 1);
}

/* Sources of a phi behind an if: of the arm that the condition chooses, and of the other one. */
static inline struct agxc_ref *agxc_phi_then(const struct agxc_instr *phi)
{
   return agxc_phi_of_two(phi, 0);
}
static inline struct agxc_ref *agxc_phi_else(const struct agxc_instr *phi)
{
   return agxc_phi_of_two(phi, 1);
}

/* Element i of the vector that a COLLECT makes or a SPLIT takes apart. */
static inline struct agxc_ref *agxc_element(const struct agxc_instr *instr, unsigned i)
{
   agx_assert(instr->op == AGXC_OP_COLLECT ? i < instr->src_count
                                           : instr->op == AGXC_OP_SPLIT && i < instr->dest_count);
   return instr->op == AGXC_OP_COLLECT ? &agxc_srcs(instr)[i] : &instr->operand[i];
}

#include "agx/compiler/ir/ops.h"

/* Puts a branch on the condition where the builder stands, at its block's end, and behind that
 * block an if with two empty arms and a new block, which *out_behind receives. */
struct agxc_if *agxc_build_if(struct agxc_builder *b, struct agxc_ref condition,
                              struct agxc_block **out_behind);

/* ---- iteration -------------------------------------------------------- */

#define agxc_foreach_instr(it, blk) agx_list_for_each (struct agxc_instr, it, &(blk)->instrs, link)
#define agxc_foreach_instr_safe(it, blk)                                                           \
   agx_list_for_each_safe (struct agxc_instr, it, &(blk)->instrs, link)
#define agxc_foreach_node(it, lst)      agx_list_for_each (struct agxc_node, it, (lst), link)
#define agxc_foreach_node_safe(it, lst) agx_list_for_each_safe (struct agxc_node, it, (lst), link)
/* The lists of an if or a loop, in program order: for passes that recurse over the tree. */
#define agxc_foreach_list(it, nod)                                                                 \
   for (struct agx_link *it = agxc_list_of((nod), 0), *it##_first = it; it;                        \
        it = it == it##_first ? agxc_list_of((nod), 1) : NULL)
/* Backwards; the body may remove the current instruction. */
#define agxc_foreach_instr_rev(it, blk)                                                            \
   for (struct agxc_instr *it = agx_container_of((blk)->instrs.prev, struct agxc_instr, link),     \
                          *it##_prev = agx_container_of(it->link.prev, struct agxc_instr, link);   \
        &it->link != &(blk)->instrs;                                                               \
        it = it##_prev, it##_prev = agx_container_of(it->link.prev, struct agxc_instr, link))
/* In program order, after agxc_index. */
#define agxc_foreach_block(it, shader)                                                             \
   for (struct agxc_block **it##_at = (shader)->blocks, *it = NULL;                                \
        it##_at < (shader)->blocks + (shader)->block_count && ((it = *it##_at), true); it##_at++)
#define agxc_foreach_dest(it, instr)                                                               \
   for (struct agxc_ref *it = agxc_dests(instr), *it##_end = it + (instr)->dest_count;             \
        it < it##_end; it++)
#define agxc_foreach_src(it, instr)                                                                \
   for (struct agxc_ref *it = agxc_srcs(instr), *it##_end = it + (instr)->src_count;               \
        it < it##_end; it++)

/* ---- text and checks -------------------------------------------------- */

/* The shader as text, in the arena; stable, and agxc_parse takes it back. */
const char *agxc_print(const struct agxc_shader *shader, struct agx_arena *arena);
AGX_MUST_CHECK agx_status agxc_parse(struct agx_arena *arena, const struct agxc_options *options,
                                     const char *text, struct agxc_shader **out_shader);

/* What the IR promises at a stage. */
enum agxc_stage {
   AGXC_STAGE_GENERIC,   /* generic operations, SSA */
   AGXC_STAGE_MACHINE,   /* machine instructions (and MOV, PHI, COLLECT, SPLIT, control), SSA */
   AGXC_STAGE_REGISTERS, /* machine instructions over registers */
};
/* Checks every rule of the stage; the text says which block and instruction. */
AGX_MUST_CHECK agx_status agxc_validate(const struct agxc_shader *shader, enum agxc_stage stage);

/* Whether passes shall be checked: always with assertions, otherwise when asked to. */
static inline bool agxc_is_validated(const struct agxc_shader *shader)
{
#ifdef AGX_ASSERTIONS
   return true;
#else
   return shader->options->debug & AGXC_DEBUG_VALIDATE;
#endif
}
