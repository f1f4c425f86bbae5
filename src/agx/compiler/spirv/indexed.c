/* SPDX-License-Identifier: MIT
 *
 * Which variables are indexed dynamically, from one look at all access chains before any
 * code is emitted. A chain belongs to the variable or parameter that it starts from; a
 * parameter that is indexed makes what callers pass for it indexed.
 *
 * Such variables are not slots but PRIVATE, memory whose place lower/private.c chooses; so are
 * very long ones.
 */
#include "agx/compiler/spirv/module_impl.h"

/* A pointer passed as argument i of a call. */
struct agxc_spv_passing {
   struct agxc_spv_passing *next;
   uint32_t root, function, i;
};

static uint32_t root_of(struct agxc_spv *s, uint32_t id)
{
   uint32_t root = agxc_spv_id(s, id)->root;
   return root ? root : id;
}

/* Constants of the module are known before functions begin. */
static bool is_constant(struct agxc_spv *s, uint32_t id)
{
   const struct agxc_spv_id *entry = agxc_spv_id(s, id);
   return entry->kind == AGXC_SPV_ID_VALUE && !entry->depends_on_size;
}

static void scan_chain(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t root = root_of(s, agxc_spv_operand(s, in, 0));
   agxc_spv_id(s, in->id)->root = root;
   for (uint32_t i = 1; i < agxc_spv_operand_count(in); i++)
      if (!is_constant(s, agxc_spv_operand(s, in, i)))
         agxc_spv_id(s, root)->is_indexed = true;
   if (agxc_spv_operand_count(in) < 2)
      return;
   if (!is_constant(s, agxc_spv_operand(s, in, 1))) {
      agxc_spv_id(s, root)->is_array_indexed = true;
      return;
   }
   const struct agxc_spv_id *index = agxc_spv_id(s, agxc_spv_operand(s, in, 1));
   uint64_t first = index->type->kind == AGXC_SPV_INT ? (uint64_t)index->refs[0].imm : 0;
   agxc_spv_id(s, root)->elements =
      AGX_MAX(agxc_spv_id(s, root)->elements, (uint32_t)AGX_MIN(first, UINT32_MAX - 1ull) + 1);
}

static void scan_call(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   for (uint32_t i = 1; i < agxc_spv_operand_count(in); i++) {
      struct agxc_spv_passing *passing = AGX_ARENA_NEW(s->arena, struct agxc_spv_passing);
      *passing = (struct agxc_spv_passing){
         .next = s->passings,
         .root = root_of(s, agxc_spv_operand(s, in, i)),
         .function = agxc_spv_operand(s, in, 0),
         .i = i - 1,
      };
      s->passings = passing;
   }
}

void agxc_spv_scan_pointers(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   switch (in->opcode) {
   case SpvOpAccessChain:
   case SpvOpInBoundsAccessChain:
   case SpvOpPtrAccessChain:
   case SpvOpInBoundsPtrAccessChain:
      scan_chain(s, in);
      break;
   case SpvOpCopyObject:
      agxc_spv_id(s, in->id)->root = root_of(s, agxc_spv_operand(s, in, 0));
      break;
   case SpvOpFunctionCall:
      scan_call(s, in);
      break;
   default:
      break;
   }
}

/* Returns whether the root learns something of the parameter that it is passed for. */
static bool learn(struct agxc_spv *s, const struct agxc_spv_passing *passing,
                  struct agxc_spv_id *root)
{
   const struct agxc_spv_id *function = agxc_spv_id(s, passing->function);
   if (function->kind != AGXC_SPV_ID_FUNCTION || passing->i >= function->function->param_count)
      return false;
   const struct agxc_spv_id *parameter = agxc_spv_id(s, function->function->params[passing->i]);
   const bool learns = (parameter->is_indexed && !root->is_indexed) ||
                       (parameter->is_array_indexed && !root->is_array_indexed);
   root->is_indexed |= parameter->is_indexed;
   root->is_array_indexed |= parameter->is_array_indexed;
   return learns;
}

/* Each round goes up one call; calls nest only so deep. */
void agxc_spv_propagate_indexed(struct agxc_spv *s)
{
   bool grew = true;
   for (uint32_t round = 0; grew && round <= AGXC_SPV_MAX_CALL_DEPTH; round++) {
      grew = false;
      for (const struct agxc_spv_passing *p = s->passings; p; p = p->next)
         grew |= learn(s, p, agxc_spv_id(s, p->root));
   }
}
