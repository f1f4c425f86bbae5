/* SPDX-License-Identifier: MIT
 *
 * Workgroups whose size and whose last array the launch chooses. The size is a uniform then.
 * Modules know it as a constant that is decorated BuiltIn WorkgroupSize; what they compute from
 * that one is computed again, in the entry point. What they need before that, as lengths of arrays,
 * is refused. Specialization constants keep their values, also where they are the size's default.
 *
 * docs/hal/executables.md, "Dynamic local size", says what other passes may not assume then.
 * Besides, exchanges between lanes in divergent code reserve room for 1024 threads, and each thread
 * clears memory that begins with zeros.
 *
 * A last workgroup array that launches make longer begins where all other threadgroup memory ends.
 * That is known only after all passes; until then its offset is a uniform of its own kind
 * (AGXC_SYSVAL_SHARED_END).
 */
#include "agx/compiler/spirv/memory_impl.h"
#include "agx/compiler/spirv/module_impl.h"

static bool depends(const struct agxc_spv *s, const bool *set, const struct agxc_spv_instr *in,
                    uint32_t first, uint32_t end)
{
   for (uint32_t i = first; i < AGX_MIN(end, in->length); i++)
      if (in->words[i] < s->bound && set[in->words[i]])
         return true;
   return false;
}

/* Whether a constant is made of those of the set; numbers in instructions are no ids. */
static bool is_dependent(const struct agxc_spv *s, const bool *set, const struct agxc_spv_instr *in)
{
   if (in->opcode == SpvOpSpecConstantComposite || in->opcode == SpvOpConstantComposite ||
       in->opcode == SpvOpSpecConstantCompositeReplicateEXT ||
       in->opcode == SpvOpConstantCompositeReplicateEXT)
      return depends(s, set, in, in->first, in->length);
   if (in->opcode != SpvOpSpecConstantOp || in->first + 1 >= in->length)
      return false;
   uint32_t opcode = in->words[in->first], first = in->first + 1, end = in->length;
   if (opcode == SpvOpCompositeExtract)
      end = first + 1;
   else if (opcode == SpvOpCompositeInsert || opcode == SpvOpVectorShuffle)
      end = first + 2;
   return depends(s, set, in, first, end);
}

/* Calls visit for each instruction in front of the functions that depends on the size. */
static void for_each_dependent(struct agxc_spv *s,
                               void (*visit)(struct agxc_spv *s, const struct agxc_spv_instr *in))
{
   bool *set = AGX_ARENA_ARRAY(s->arena, bool, s->bound);
   const struct agxc_spv_instr now = s->now;
   set[s->workgroup_size_id] = true;
   for (uint32_t at = AGXC_SPV_HEADER_WORDS; at < s->word_count;) {
      uint32_t behind = agxc_spv_behind_unreached(s, at);
      if (behind != at) {
         at = behind;
         continue;
      }
      struct agxc_spv_instr in = agxc_spv_instr_at(s, at);
      if (in.opcode == SpvOpFunction)
         break;
      at += in.length;
      if (in.id && agxc_spv_id(s, in.id)->kind == AGXC_SPV_ID_OTHER)
         continue;
      if (in.opcode == SpvOpTypeArray && depends(s, set, &in, in.first + 1, in.length))
         agxc_spv_missing(s, "array whose length depends on the size of a workgroup of dynamic "
                             "size: give it a fixed length");
      if (in.id && in.id != s->workgroup_size_id && is_dependent(s, set, &in)) {
         set[in.id] = true;
         visit(s, &in);
      }
   }
   s->now = now;
}

static void mark(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   agxc_spv_id(s, in->id)->depends_on_size = true;
}

void agxc_spv_mark_dynamic_size(struct agxc_spv *s)
{
   if (s->shader->options->has_dynamic_local_size && s->workgroup_size_id &&
       !s->marked_dynamic_size)
      for_each_dependent(s, mark);
   s->marked_dynamic_size = true;
}

/* The last workgroup variable of the module, which must be an array. */
static void find_dynamic_shared(struct agxc_spv *s)
{
   if (s->shared_blocks)
      agxc_spv_missing(s, "workgroup memory of launches is not supported beside Blocks: declare "
                          "arrays without Block");
   for (struct agxc_spv_variable *var = s->variables; var; var = var->next)
      if (var->place == AGXC_SPV_PLACE_SHARED)
         s->dynamic_shared = var;
   if (!s->dynamic_shared || s->dynamic_shared->type->kind != AGXC_SPV_ARRAY)
      agxc_spv_invalid(s, "no array as the last workgroup variable, for memory of launches");
   if (s->dynamic_shared->initializer)
      agxc_spv_missing(s, "workgroup memory of launches that begins with 0 is not supported: clear "
                          "it in the kernel");
}

void agxc_spv_check_dynamic_size(struct agxc_spv *s)
{
   const struct agxc_options *options = s->shader->options;
   if (s->shader->is_vertex && (options->has_dynamic_local_size || options->has_dynamic_shared))
      agxc_spv_invalid(s, "a vertex stage has no workgroups to choose");
   if (options->has_dynamic_shared)
      find_dynamic_shared(s);
   s->shader->has_dynamic_local_size = options->has_dynamic_local_size;
}

/* Once more, as if it stood in the entry point. */
static void compute_again(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   agxc_spv_id(s, in->id)->kind = AGXC_SPV_ID_PENDING;
   agxc_spv_read_constant(s, in);
   agxc_spv_id(s, in->id)->region = NULL; /* it is everybody's, as constants are */
}

void agxc_spv_begin_dynamic_size(struct agxc_spv *s)
{
   if (!s->shader->has_dynamic_local_size || !s->workgroup_size_id)
      return;
   struct agxc_spv_id *size = agxc_spv_id(s, s->workgroup_size_id);
   size->refs = agxc_spv_refs(s, 3);
   for (uint32_t axis = 0; axis < 3; axis++)
      size->refs[axis] = agxc_spv_local_size(s, axis);
   for_each_dependent(s, compute_again);
}
