/* SPDX-License-Identifier: MIT
 *
 * Removes stores to private variables that later ones cover. A constant table that a function
 * indexes is written anew by each inlined copy of the function, whole, though it still stands
 * there; such tables have hundreds of elements, and what is to be written twice lives in between.
 *
 *    before   store_private #0, %1   store_private #4, %2   store_private #0, %1   load_private #0
 *    after                           store_private #4, %2   store_private #0, %1   load_private #0
 *
 * Each block is walked backwards by itself: a store is dead when others behind it write all of its
 * bytes before anything reads one. A load at a dynamic offset reads all bytes.
 *
 * Before and after: generic SSA. Stands behind opt_unroll and opt_algebraic, which make offsets
 * constant, and in front of lower_private, which counts accesses to choose places for variables.
 */
#include "agx/compiler/opt/opt.h"

#define MAX_VARIABLES 4096u

/* Bytes that are written later in the block, and not read before: those of the number `epoch`. */
struct variable {
   uint32_t bytes;
   uint32_t *written; /* by byte: a number */
   uint32_t epoch;
   const struct agxc_block *block; /* that the epoch belongs to */
};

struct walk {
   struct agxc_shader *shader;
   struct variable variables[MAX_VARIABLES];
   uint32_t last_epoch;
};

static void note_size(struct walk *walk, const struct agxc_instr *instr)
{
   uint64_t size_B = agxc_imm_size_B(instr);
   if (agxc_imm_variable(instr) >= MAX_VARIABLES || size_B > AGX_PROGRAM_MAX_SCRATCH_B)
      return;
   struct variable *var = &walk->variables[agxc_imm_variable(instr)];
   var->bytes = AGX_MAX(var->bytes, (uint32_t)size_B);
}

/* The variable with what is known behind the instruction; NULL when it isn't followed. */
static struct variable *variable_of(struct walk *walk, const struct agxc_instr *instr)
{
   if (agxc_imm_variable(instr) >= MAX_VARIABLES)
      return NULL;
   struct variable *var = &walk->variables[agxc_imm_variable(instr)];
   if (!var->bytes)
      return NULL;
   if (!var->written)
      var->written = AGX_ARENA_ARRAY(walk->shader->arena, uint32_t, var->bytes);
   if (var->block != instr->block) {
      var->block = instr->block;
      var->epoch = ++walk->last_epoch;
   }
   return var;
}

/* The bytes of an access at a constant offset, as far as they are in the variable. False for one
 * at any other offset. */
static bool find_bytes(const struct variable *var, const struct agxc_ref *offset,
                       const struct agxc_ref *data, uint32_t *out_first, uint32_t *out_end)
{
   uint32_t bytes = AGX_MAX(data->bits, 8) / 8u * AGX_MAX(data->count, 1);
   if (offset->kind != AGXC_IMM)
      return false;
   *out_first = (uint32_t)AGX_MIN((uint64_t)(uint32_t)offset->imm, var->bytes);
   *out_end = AGX_MIN(*out_first + bytes, var->bytes);
   return true;
}

static void visit_load(struct walk *walk, const struct agxc_instr *load)
{
   struct variable *var = variable_of(walk, load);
   uint32_t first, end;
   if (!var)
      return;
   if (!find_bytes(var, agxc_src_offset(load), agxc_dest(load), &first, &end)) {
      var->epoch = ++walk->last_epoch;
      return;
   }
   for (; first < end; first++)
      var->written[first] = 0;
}

/* True when the store was dead, and is gone. */
static bool visit_store(struct walk *walk, struct agxc_instr *store)
{
   struct variable *var = variable_of(walk, store);
   uint32_t first, end, unwritten = 0;
   if (!var || !find_bytes(var, agxc_src_offset(store), agxc_src_data(store), &first, &end))
      return false;
   for (; first < end; first++) {
      unwritten += var->written[first] != var->epoch;
      var->written[first] = var->epoch;
   }
   if (unwritten)
      return false;
   agxc_instr_remove(store);
   return true;
}

bool agxc_opt_private_stores(struct agxc_shader *shader)
{
   struct walk *walk = NULL;
   bool progress = false;
   agxc_foreach_instr_of (instr, shader) {
      if (instr->op != AGXC_OP_PRIVATE)
         continue;
      if (!walk)
         walk = AGX_ARENA_NEW(shader->arena, struct walk);
      walk->shader = shader;
      note_size(walk, instr);
   }
   if (!walk)
      return false;
   agxc_foreach_block (block, shader)
      agxc_foreach_instr_rev (instr, block) {
         if (instr->op == AGXC_OP_LOAD_PRIVATE)
            visit_load(walk, instr);
         else if (instr->op == AGXC_OP_STORE_PRIVATE)
            progress |= visit_store(walk, instr);
      }
   return progress;
}
