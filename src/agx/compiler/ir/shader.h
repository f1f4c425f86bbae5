/* SPDX-License-Identifier: MIT
 *
 * A shader: its code, what its module declares, what each launch has to bring, and what passes
 * found out. Everything lives in its arena; running out leaves through the arena.
 */
#pragma once

#include "agx/compiler/ir/node.h"
#include "agx/compiler/ir/options.h"
#include "base/arena.h"
#include "base/bitset.h"
#include "program/lines.h"

struct agxc_shader {
   struct agx_arena *arena; /* everything that outlives a pass */
   const struct agxc_options *options;
   const struct agx_chip *chip;
   char name[AGX_PROGRAM_NAME_BYTES]; /* for messages; a longer one ends in "..." */
   const char *long_name;             /* all of it where it is longer, else NULL */

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
   uint8_t *data;          /* constants for memory; see agxc_data_add */
   uint32_t data_B;
   struct agx_program_binding bindings[AGX_PROGRAM_MAX_BINDINGS];
   uint32_t binding_count;

   /* What the module calls them (spirv/reflect.c). */
   struct agx_program_parameter *parameters;
   struct agx_program_constant *constants;
   char *names;
   uint32_t parameter_count, constant_count, names_B;

   /* Source lines (spirv/line.c); a preamble has the same. Without any, all of it is 0. The first
    * two lines stand for 0 and AGXC_NO_LINE. */
   const struct agxc_line *lines;
   const struct agx_line_file *files;
   uint32_t line_count, file_count;
   uint32_t line; /* of the module's instruction that is being read, else 0 */

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
   struct agxc_line_row { /* code from that byte on has that line */
      uint32_t at, line;
   } * line_rows;
   uint32_t line_row_count;
   struct agx_program_stats stats;

   /* First failure, raised by agxc_fail. */
   agx_status status;
};

/* Ends the compilation: formats the error text and leaves through the arena's jump
 * buffer (passes own nothing but arena memory). */
#define agxc_fail(shader, code, ...) agxc_leave((shader), agx_status_fail((code), __VA_ARGS__))
/* The same where the error text is already there. */
void agxc_leave(struct agxc_shader *shader, agx_status status) __attribute__((noreturn, cold));

/* Levels of control flow that any thread's stack has room for. */
#define AGXC_SHALLOW_NESTING 96
/* The hardware counts the levels that a lane must leave in 16 bits; half of them are for lanes
 * that have returned. See emit/control.c. */
#define AGXC_MOST_NESTING 32767

/* An empty shader in the arena, with one block; options stay the caller's and outlive it. */
struct agxc_shader *agxc_shader_create(struct agx_arena *arena, const struct agxc_options *options);

/* A new value of the shader, without a definition. */
struct agxc_value *agxc_value_new(struct agxc_shader *shader, unsigned bits, unsigned count);

/* The shader whose uniforms these are. */
static inline struct agxc_shader *agxc_uniform_owner(struct agxc_shader *shader)
{
   return shader->main ? shader->main : shader;
}

/* An unlinked instruction; operands are zeroed (AGXC_NONE). Counts of a fixed-shape
 * operation or opcode come from its table; pass them for variadic ones. */
struct agxc_instr *agxc_instr_new(struct agxc_shader *shader, unsigned op);
struct agxc_instr *agxc_instr_new_n(struct agxc_shader *shader, unsigned op, unsigned dests,
                                    unsigned srcs);
/* Takes an instruction out of its block; its values keep their definitions. */
void agxc_instr_remove(struct agxc_instr *instr);
/* Makes an instruction with one destination a MOV of source to that destination. */
void agxc_become_mov(struct agxc_shader *shader, struct agxc_instr *instr, struct agxc_ref source);

/* Numbers blocks and instructions in program order and computes shader->blocks, succs,
 * preds and loop depths. Blocks that nothing reaches keep pred_count 0. */
void agxc_index(struct agxc_shader *shader);
/* Empties the blocks that nothing reaches and removes what follows them in their lists, ifs and
 * loops too. After agxc_index, and calls it again. */
void agxc_remove_unreached(struct agxc_shader *shader);

/* By value id: how many operands name the value. In the shader's arena. */
uint32_t *agxc_count_uses(struct agxc_shader *shader);

/* An empty set of so many bits, in the shader's arena. */
static inline agx_bitset_word *agxc_bitset_new(const struct agxc_shader *shader, size_t bits)
{
   return AGX_ARENA_ARRAY(shader->arena, agx_bitset_word, agx_bitset_words(bits));
}

/* The threads of a workgroup whose size no launch chooses. */
static inline uint32_t agxc_threads_of(const struct agxc_shader *shader)
{
   const uint32_t *size = shader->local_size;
   return AGX_MAX(size[0], 1u) * AGX_MAX(size[1], 1u) * AGX_MAX(size[2], 1u);
}

/* In program order, after agxc_index. */
#define agxc_foreach_block(it, shader)                                                             \
   for (struct agxc_block **it##_at = (shader)->blocks, *it = NULL;                                \
        it##_at < (shader)->blocks + (shader)->block_count && ((it = *it##_at), true); it##_at++)
/* Every instruction of the shader; a `break` leaves its block only. */
#define agxc_foreach_instr_of(it, shader)                                                          \
   agxc_foreach_block (it##_block, shader)                                                         \
      agxc_foreach_instr (it, it##_block)
#define agxc_foreach_instr_of_safe(it, shader)                                                     \
   agxc_foreach_block (it##_block, shader)                                                         \
      agxc_foreach_instr_safe (it, it##_block)
/* The blocks of a loop, in program order, after agxc_index. */
#define agxc_foreach_loop_block(it, shader, loop)                                                  \
   for (struct agxc_block **it##_at = (shader)->blocks + agxc_first_block(&(loop)->body)->index,   \
                          *it = *it##_at;                                                          \
        it->index <= agxc_last_block(&(loop)->continuing)->index; it = *++it##_at)
