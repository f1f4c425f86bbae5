/* SPDX-License-Identifier: MIT
 *
 * The room's entry: SPIR-V to IR. It checks the header, has the module read once (module.c),
 * settles the workgroup's size and the bindings, has the entry point emitted (call.c), and lists
 * the parameters. compile.c calls it, before all passes.
 */
#include "agx/compiler/spirv/frontend.h"
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/module_impl.h"
#include "agx/compiler/spirv/vertex_impl.h"

#define MAX_WORDS (1u << 24)
#define MAX_MINOR 6

/* Words in host order: the module itself, or a swapped copy. */
static const uint32_t *host_order(struct agxc_spv *s, const uint32_t *words, size_t word_count)
{
   if (words[0] == SpvMagicNumber)
      return words;
   if (words[0] != __builtin_bswap32(SpvMagicNumber))
      agxc_fail(s->shader, AGX_INVALID_ARGUMENT, "SPIR-V word 0: magic number 0x%08x", words[0]);
   uint32_t *swapped = AGX_ARENA_ARRAY(s->arena, uint32_t, word_count);
   for (size_t i = 0; i < word_count; i++)
      swapped[i] = __builtin_bswap32(words[i]);
   return swapped;
}

static void read_header(struct agxc_spv *s, const uint32_t *words, size_t word_count)
{
   if (word_count < AGXC_SPV_HEADER_WORDS || word_count > MAX_WORDS)
      agxc_fail(s->shader, AGX_INVALID_ARGUMENT, "SPIR-V: %zu words, %u to %u can be read",
                word_count, AGXC_SPV_HEADER_WORDS, MAX_WORDS);
   s->words = host_order(s, words, word_count);
   s->word_count = (uint32_t)word_count;
   uint32_t version = s->words[1];
   if (version & 0xff0000ff || version >> 16 != 1)
      agxc_fail(s->shader, AGX_INVALID_ARGUMENT, "SPIR-V word 1: version 0x%08x", version);
   if ((version >> 8 & 0xff) > MAX_MINOR)
      agxc_fail(s->shader, AGX_UNIMPLEMENTED, "SPIR-V word 1: version 1.%u, newest known is 1.%u",
                version >> 8 & 0xff, MAX_MINOR);
   s->bound = s->words[3];
   if (s->bound == 0 || s->bound > AGXC_SPV_MAX_IDS)
      agxc_fail(s->shader, AGX_INVALID_ARGUMENT, "SPIR-V word 3: bound %u, at most %u", s->bound,
                AGXC_SPV_MAX_IDS);
   if (s->words[4] != 0)
      agxc_fail(s->shader, AGX_INVALID_ARGUMENT, "SPIR-V word 4: schema %u", s->words[4]);
   s->ids = AGX_ARENA_ARRAY(s->arena, struct agxc_spv_id *, s->bound);
}

static void set_local_size(struct agxc_spv *s)
{
   uint32_t *size = s->shader->local_size;
   if (s->shader->is_vertex) {
      agxc_spv_set_vertex_size(s);
      return;
   }
   if (!s->has_size && !s->workgroup_size_id)
      agxc_spv_invalid(s, "entry point without workgroup size");
   if (s->has_size)
      for (unsigned i = 0; i < 3; i++)
         size[i] = s->size_is_ids ? agxc_spv_constant_u32(s, s->size_ids[i]) : s->size_ids[i];
   if (s->workgroup_size_id) {
      struct agxc_spv_type *type;
      struct agxc_ref *refs = agxc_spv_value(s, s->workgroup_size_id, &type);
      if (type->kind != AGXC_SPV_VECTOR || type->count != 3 || type->elem->kind != AGXC_SPV_INT)
         agxc_spv_invalid(s, "WorkgroupSize is no vector of three integers");
      for (unsigned i = 0; i < 3; i++)
         size[i] = (uint32_t)refs[i].imm;
   }
   for (unsigned i = 0; i < 3; i++)
      if (size[i] == 0)
         agxc_spv_invalid(s, "workgroup size %u x %u x %u", size[0], size[1], size[2]);
   for (unsigned i = 0; i < 3; i++)
      if (size[i] > AGX_MAX_WORKGROUP_THREADS ||
          (uint64_t)size[0] * size[1] * size[2] > AGX_MAX_WORKGROUP_THREADS)
         agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "workgroup of %u x %u x %u threads, at most %u",
                        size[0], size[1], size[2], AGX_MAX_WORKGROUP_THREADS);
}

void agxc_spirv_to_ir(struct agxc_shader *shader, const uint32_t *words, size_t word_count)
{
   struct agxc_spv *s = AGX_ARENA_NEW(shader->arena, struct agxc_spv);
   s->shader = shader;
   s->arena = shader->arena;
   s->run_instruction = agxc_spv_run_instruction;
   s->variables_tail = &s->variables;
   read_header(s, words, word_count);
   agxc_spv_read_module(s);
   agxc_spv_propagate_indexed(s);
   agxc_spv_instr_at(s, s->entry_word);
   set_local_size(s);
   agxc_spv_check_dynamic_size(s);
   agxc_spv_check_quads(s);
   agxc_spv_assign_bindings(s);
   agxc_spv_emit_entry(s);
   agxc_spv_prune_bindings(s);
   agxc_spv_reflect(s);
}
