/* SPDX-License-Identifier: MIT
 *
 * Makes instructions and puts them where the builder stands.
 */
#pragma once

#include "agx/compiler/ir/operand.h"
#include "agx/compiler/ir/shader.h"

/* Where new instructions go: before `before`, or at the end of block when it is NULL. */
struct agxc_builder {
   struct agxc_shader *shader;
   struct agxc_block *block;
   struct agxc_instr *before;
   uint32_t line; /* of new instructions; 0: agxc_insert chooses */
};

/* At the end of the block. */
static inline struct agxc_builder agxc_at_end(struct agxc_shader *shader, struct agxc_block *block)
{
   return (struct agxc_builder){.shader = shader, .block = block};
}

/* In front of the instruction, whose source line new ones get: most replace it or work for it. */
static inline struct agxc_builder agxc_before(struct agxc_shader *shader, struct agxc_instr *instr)
{
   return (struct agxc_builder){shader, instr->block, instr, instr->line};
}

/* In front of the block's first instruction, where there is one. */
static inline struct agxc_builder agxc_at_start(struct agxc_shader *shader,
                                                struct agxc_block *block)
{
   return (struct agxc_builder){shader, block, agxc_first_instr(block)};
}

/* Where control leaves the block: in front of its terminator, or at its end. */
static inline struct agxc_builder agxc_at_exit(struct agxc_shader *shader, struct agxc_block *block)
{
   return (struct agxc_builder){shader, block, agxc_terminator(block)};
}

/* Puts an unlinked instruction where the builder stands. One without a source line gets the
 * builder's, or else that of the module's instruction that is being read, or else its neighbour's.
 */
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
/* A vector of scalars of equal bits; one scalar is itself. */
struct agxc_ref agxc_collect(struct agxc_builder *b, unsigned count, const struct agxc_ref *srcs);
/* All elements of a vector; the one of a scalar is itself. */
void agxc_split(struct agxc_builder *b, struct agxc_ref vector, struct agxc_ref *out_elements);
/* index * by, as a shift where that does. */
struct agxc_ref agxc_build_times(struct agxc_builder *b, struct agxc_ref index, uint32_t by);
/* Gives dest's value a new definition: a MOV of one element or a COLLECT of several, which it
 * returns. The old definition is the caller's to remove. */
struct agxc_instr *agxc_redefine(struct agxc_builder *b, struct agxc_ref dest,
                                 const struct agxc_ref *elements);
/* Makes the operation whose only result is `made`, which nothing uses yet, the definition of dest's
 * value instead. */
void agxc_define_as(struct agxc_ref made, struct agxc_ref dest);
/* A phi with a new destination of that shape, whose sources the caller fills in. */
struct agxc_instr *agxc_build_phi(struct agxc_builder *b, unsigned bits, unsigned count,
                                  unsigned src_count);

/* Ends the builder's block with a branch on the condition, and puts an if with two empty arms
 * behind it and a new block, which *out_behind receives. What stood behind the builder moves there,
 * where it counts as being in the same place of program order until the next agxc_index; the
 * builder is then at the end of its block. */
struct agxc_if *agxc_build_if(struct agxc_builder *b, struct agxc_ref condition,
                              struct agxc_block **out_behind);
