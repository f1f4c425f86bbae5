/* SPDX-License-Identifier: MIT
 *
 * Runs the front end over a module that a test makes or changes, with a check of the IR that comes
 * out.
 */
#include "spirv_support.h"

#include <stdlib.h>
#include <string.h>

#include "agx/compiler/spirv/frontend.h"
#include "base/status.h"

#define LIMIT_BYTES ((size_t)64 << 20)

agx_status spirv_front_run(struct spirv_front *front, const void *words, size_t word_count,
                           const struct agxc_options *options)
{
   static const struct agxc_options plain;
   *front = (struct spirv_front){0};
   agx_arena_init(&front->arena, NULL, LIMIT_BYTES, &front->exhausted);
   if (setjmp(front->exhausted)) {
      if (front->shader && front->shader->status != AGX_OK)
         return front->shader->status;
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "arena");
   }
   front->shader = agxc_shader_create(&front->arena, options ? options : &plain);
   agxc_spirv_to_ir(front->shader, words, word_count);
   return AGX_OK;
}

void spirv_front_fini(struct spirv_front *front)
{
   agx_arena_fini(&front->arena);
}

/* ---- single definitions that dominate their uses ------------------------ */

/* Immediate dominators by block index; program order is a reverse postorder. Blocks that
 * nothing reaches keep UINT32_MAX. */
static uint32_t *find_dominators(const struct agxc_shader *shader)
{
   uint32_t *idom = malloc(shader->block_count * sizeof(*idom));
   memset(idom, 0xff, shader->block_count * sizeof(*idom));
   idom[0] = 0;
   for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b = 1; b < shader->block_count; b++) {
         const struct agxc_block *block = shader->blocks[b];
         uint32_t common = UINT32_MAX;
         for (uint32_t p = 0; p < block->pred_count; p++) {
            uint32_t other = block->preds[p]->index;
            if (idom[other] == UINT32_MAX)
               continue;
            while (common != UINT32_MAX && common != other) {
               if (common > other)
                  common = idom[common];
               else
                  other = idom[other];
            }
            common = other;
         }
         changed |= idom[b] != common;
         idom[b] = common;
      }
   }
   return idom;
}

static bool dominates(const uint32_t *idom, uint32_t a, uint32_t b)
{
   while (b > a)
      b = idom[b];
   return a == b;
}

/* Whether ref, read at the end of block (or by instr inside of it), is defined by then. */
static bool is_defined(const uint32_t *idom, const struct agxc_ref *ref,
                       const struct agxc_block *block, const struct agxc_instr *instr)
{
   if (ref->kind != AGXC_VALUE)
      return ref->kind == AGXC_IMM || ref->kind == AGXC_NONE || ref->kind == AGXC_UNIFORM;
   const struct agxc_instr *def = ref->value->def;
   if (!def || !def->block || ref->bits != ref->value->bits || ref->count != ref->value->count)
      return false;
   if (instr && def->block == block)
      return def->index < instr->index;
   return dominates(idom, def->block->index, block->index);
}

static void check_instr(const uint32_t *idom, const struct agxc_instr *instr)
{
   const struct agxc_block *block = instr->block;
   bool is_phi = instr->op == AGXC_OP_PHI;
   if (is_phi)
      assert_int_equal(instr->src_count, block->pred_count);
   for (unsigned i = 0; i < instr->src_count; i++) {
      const struct agxc_ref *src = &agxc_srcs(instr)[i];
      if (!is_defined(idom, src, is_phi ? block->preds[i] : block, is_phi ? NULL : instr))
         fail_msg("%s at %u reads what is not defined there", agxc_op_info(instr->op)->name,
                  instr->index);
      assert_true(!is_phi || src->bits == agxc_dests(instr)->bits);
   }
   for (unsigned i = 0; i < instr->dest_count; i++)
      assert_ptr_equal(agxc_dests(instr)[i].value->def, instr);
   if (agxc_op_info(instr->op)->flags & AGXC_TERMINATOR)
      assert_ptr_equal(instr->link.next, &block->instrs);
}

void spirv_front_check(const struct spirv_front *front)
{
   const struct agxc_shader *shader = front->shader;
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   uint32_t *idom = find_dominators(shader);
   agxc_foreach_block (block, shader)
      if (idom[block->index] != UINT32_MAX)
         agxc_foreach_instr (instr, block)
            check_instr(idom, instr);
   free(idom);
}
