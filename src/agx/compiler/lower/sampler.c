/* SPDX-License-Identifier: MIT
 *
 * Samplers that state registers have no room for. A kernel has AGX_PROGRAM_MAX_SAMPLERS registers;
 * what they can't hold, long arrays with a computed index above all, is in the device's heap of
 * samplers, where a number of 16 bits names it. The launch gives those numbers: in a uniform, or in
 * a table of an array's, which the code loads from.
 *
 *    before   %3 = image_sample ..., %1:32; sampler 2        of an array of 40 samplers
 *    after    %4 = heap_address; 2, samplers
 *             %5:16 = load_global %4, %1 * 2
 *             %3 = image_sample ..., %5:16; sampler 2
 *
 * The pass stands in front of lower_buffer, which makes a uniform of the heap's address, so that
 * loads of uniform indices move to the preamble like all others. Nothing changes where everything
 * fits, but that constant elements of an array with computed indices become numbers too: selection
 * then gives the whole array neighbouring registers.
 */
#include "agx/compiler/lower/lower.h"
#include "agx/compiler/ir/launch_slots.h"

#define MAX_SLOTS                                                                                  \
   128 /* uniform slots beyond which numbers come out of tables, where there are some */

enum place {
   PLACE_ALONE,     /* elements have registers of their own, as long as there are some */
   PLACE_INDEXED,   /* the code computes indices */
   PLACE_REGISTERS, /* likewise: the whole array is in registers */
   PLACE_TABLE,     /* likewise: the whole array is in the heap */
};

struct samplers {
   struct agxc_shader *shader;
   uint8_t place[AGX_PROGRAM_MAX_BINDINGS]; /* enum place */
   /* Elements that have registers of their own; `left` registers are free. */
   struct {
      uint32_t binding, element;
   } alone[AGX_PROGRAM_MAX_SAMPLERS];
   uint32_t alone_count, left;
};

/* Whether an element has a register of its own, or gets one now. */
static bool take_register(struct samplers *s, uint32_t binding, uint32_t element)
{
   for (uint32_t i = 0; i < s->alone_count; i++)
      if (s->alone[i].binding == binding && s->alone[i].element == element)
         return true;
   if (!s->left)
      return false;
   s->alone[s->alone_count].binding = binding;
   s->alone[s->alone_count++].element = element;
   s->left--;
   return true;
}

/* Gives registers: one to texel fetches, then to elements by constant index, then to arrays. */
static void plan(struct samplers *s)
{
   struct agxc_shader *shader = s->shader;
   bool fetches = false;
   agxc_foreach_instr_of (instr, shader) {
      fetches |= instr->op == AGXC_OP_IMAGE_LOAD || instr->op == AGXC_OP_IMAGE_FETCH;
      if (instr->op == AGXC_OP_IMAGE_SAMPLE && agxc_src_number(instr)->kind != AGXC_NONE)
         s->place[agxc_imm_sampler(instr)] = PLACE_INDEXED;
   }
   s->left = AGX_PROGRAM_MAX_SAMPLERS - fetches;
   agxc_foreach_instr_of (instr, shader)
      if (instr->op == AGXC_OP_IMAGE_SAMPLE && s->place[agxc_imm_sampler(instr)] == PLACE_ALONE)
         (void)take_register(s, agxc_imm_sampler(instr), agxc_imm_which_sampler(instr));
   for (uint32_t i = 0; i < shader->binding_count; i++) {
      uint32_t elements = shader->bindings[i].elements;
      if (s->place[i] != PLACE_INDEXED)
         continue;
      elements = shader->bindings[i].access & AGX_BINDING_HEAP ? UINT32_MAX : elements;
      s->place[i] = elements <= s->left ? PLACE_REGISTERS : PLACE_TABLE;
      s->left -= elements <= s->left ? elements : 0;
   }
}

/* The number of a sampler, out of the table of its array. */
static struct agxc_ref load_number(struct agxc_shader *shader, struct agxc_instr *instr,
                                   struct agxc_ref index)
{
   struct agxc_builder b = agxc_before(shader, instr);
   struct agxc_ref heap = agxc_build_heap_address(&b, agxc_imm_sampler(instr), AGX_HEAP_SAMPLERS);
   struct agxc_ref at = index.kind == AGXC_IMM
                           ? agxc_imm((uint32_t)index.imm * AGX_HEAP_SAMPLER_B, 32)
                           : agxc_build_times(&b, index, AGX_HEAP_SAMPLER_B);
   return agxc_build_load_global(&b, 16, 1, heap, at, AGXC_ACCESS_CONST | AGXC_ACCESS_RESTRICT);
}

static bool lower(struct samplers *s, struct agxc_instr *instr)
{
   uint32_t binding = agxc_imm_sampler(instr), element = agxc_imm_which_sampler(instr);
   struct agxc_ref *number = agxc_src_number(instr);
   bool is_constant = number->kind == AGXC_NONE;
   struct agxc_ref index = is_constant ? agxc_imm(element, 32) : *number;
   switch (s->place[binding]) {
   case PLACE_REGISTERS:
      *number = index;
      return is_constant;
   case PLACE_TABLE:
      *number = load_number(s->shader, instr, index);
      return true;
   default:
      if (take_register(s, binding, element))
         return false;
      if (s->shader->bindings[binding].elements && s->shader->uniform_count >= MAX_SLOTS)
         *number = load_number(s->shader, instr, index);
      else
         *number = agxc_uniform_slot(s->shader, AGX_UNIFORM_SAMPLER, binding, element, 16);
      return true;
   }
}

bool agxc_lower_sampler(struct agxc_shader *shader)
{
   struct samplers samplers = {.shader = shader};
   bool progress = false;
   agxc_index(shader);
   plan(&samplers);
   samplers.left = 0; /* what has no register yet gets none */
   agxc_foreach_instr_of_safe (instr, shader)
      if (instr->op == AGXC_OP_IMAGE_SAMPLE)
         progress |= lower(&samplers, instr);
   return progress;
}
