/* SPDX-License-Identifier: MIT
 *
 * Barriers that order nothing. A workgroup of one SIMD-group has no other to wait for: its
 * threadgroup memory is synchronous, and each instruction is done by all lanes before the
 * next. Until here the barrier kept passes from moving accesses of one lane across those of
 * another, so this pass stands behind everything that moves instructions. And a barrier
 * that follows another says nothing new, unless an access stands in between, or a fence: what that
 * orders is there for the others behind the next barrier only.
 * Source: docs/hw/machine.md, 8 and 9.
 *
 * Before and after: machine instructions over registers.
 *
 *    before   local 32x1x1:   agx.lstore ..   agx.barrier   agx.lload ..
 *    after    local 32x1x1:   agx.lstore ..   agx.lload ..
 *
 * Stands in front of insert_waits, which waits before each barrier that is left.
 */
#include "agx/compiler/emit/emit.h"

#define LANES 32

static bool touches_memory(const struct agxc_instr *instr)
{
   return agxc_isa_info(instr)->unit == AGX_ISA_UNIT_MEM;
}

/* A fence by itself: the same instruction begins sequences, of which it is not known what may be
 * missing. */
static bool is_lone_fence(const struct agxc_instr *instr)
{
   if (!agxc_has_opcode(instr, AGX_ISA_OP_MEMORY_BARRIER))
      return false;
   const struct agxc_instr *next = agxc_next_instr(instr);
   return !next || (!agxc_has_opcode(next, AGX_ISA_OP_UNKNOWN_BARRIER_1) &&
                    !agxc_has_opcode(next, AGX_ISA_OP_MEMORY_BARRIER_2));
}

bool agxc_drop_barriers(struct agxc_shader *shader)
{
   const uint32_t *size = shader->local_size;
   bool is_alone =
      !shader->has_dynamic_local_size && (uint64_t)size[0] * size[1] * size[2] <= LANES;
   bool progress = false;
   agxc_foreach_block (block, shader) {
      bool has_barrier = false, has_fence = false; /* since the last access */
      agxc_foreach_instr_safe (instr, block) {
         bool is_barrier = agxc_has_opcode(instr, AGX_ISA_OP_BARRIER);
         bool is_fence = is_lone_fence(instr);
         if (touches_memory(instr))
            has_barrier = has_fence = false;
         if ((is_barrier && (is_alone || has_barrier)) || (is_fence && has_fence)) {
            agxc_instr_remove(instr);
            progress = true;
         } else if (!is_barrier && agxc_isa_info(instr)->is_fence) {
            has_barrier = false;
         }
         has_barrier |= is_barrier;
         has_fence |= is_fence;
      }
   }
   return progress;
}
