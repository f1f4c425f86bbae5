/* SPDX-License-Identifier: MIT
 *
 * What callers may ask of a kernel: which bindings, push constants and specialization constants it
 * takes, and what the module calls them. Names are debug information and may be missing.
 */
#include "agx/compiler/spirv/module_impl.h"

void agxc_spv_note_name(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   bool of_member = in->opcode == SpvOpMemberName;
   struct agxc_spv_name *name = AGX_ARENA_NEW(s->arena, struct agxc_spv_name);
   name->next = s->names;
   name->id = agxc_spv_operand(s, in, 0);
   name->member = of_member ? agxc_spv_operand(s, in, 1) : AGXC_SPV_NO_MEMBER;
   name->word = in->at;
   s->names = name;
}

/* Where the name is among the shader's; 0: there is none, or no room for it. */
static uint32_t add_name(struct agxc_spv *s, uint32_t id, uint32_t member)
{
   struct agxc_shader *shader = s->shader;
   char text[AGX_PROGRAM_NAME_BYTES];
   const struct agxc_spv_name *name = s->names;
   if (!shader->names) {
      shader->names = agx_arena_alloc(s->arena, AGX_PROGRAM_MAX_NAMES_B);
      shader->names_B = 1;
   }
   while (name && (name->id != id || name->member != member))
      name = name->next;
   if (!name)
      return 0;
   const struct agxc_spv_instr in = {.words = s->words + name->word,
                                     .at = name->word,
                                     .length = s->words[name->word] >> 16,
                                     .first = 1};
   if (!agxc_spv_string(&in, member == AGXC_SPV_NO_MEMBER ? 1 : 2, text, sizeof(text)))
      return 0;
   for (char *at = text; *at; at++)
      if ((unsigned char)*at < ' ' || *at == 0x7f)
         *at = '?';
   uint32_t bytes = (uint32_t)strlen(text) + 1, at = shader->names_B;
   if (bytes == 1 || bytes > AGX_PROGRAM_MAX_NAMES_B - at)
      return 0;
   memcpy(shader->names + at, text, bytes);
   shader->names_B += bytes;
   return at;
}

void agxc_spv_note_constant(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t spec_id,
                            uint64_t value)
{
   struct agxc_shader *shader = s->shader;
   const struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (!shader->constants)
      shader->constants =
         AGX_ARENA_ARRAY(s->arena, struct agx_program_constant, AGX_PROGRAM_MAX_CONSTANTS);
   if (shader->constant_count == AGX_PROGRAM_MAX_CONSTANTS)
      return;
   shader->constants[shader->constant_count++] = (struct agx_program_constant){
      .id = spec_id,
      .type = type->kind == AGXC_SPV_BOOL    ? AGX_CONSTANT_TYPE_BOOL
              : type->kind == AGXC_SPV_FLOAT ? AGX_CONSTANT_TYPE_FLOAT
              : type->is_signed              ? AGX_CONSTANT_TYPE_INT
                                             : AGX_CONSTANT_TYPE_UINT,
      .bytes = AGX_MAX(type->bits / 8u, 1u),
      .name = add_name(s, in->id, AGXC_SPV_NO_MEMBER),
      .value = value & agx_bits(AGX_MAX(type->bits, 1)),
   };
}

static void add(struct agxc_spv *s, struct agx_program_parameter parameter)
{
   struct agxc_shader *shader = s->shader;
   if (shader->parameter_count == AGX_PROGRAM_MAX_PARAMETERS)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED, "%s: more than %u parameters", shader->name,
                AGX_PROGRAM_MAX_PARAMETERS);
   shader->parameters[shader->parameter_count++] = parameter;
}

/* A block without a name of its own goes by its type's. */
static uint32_t name_of_binding(struct agxc_spv *s, uint32_t set, uint32_t binding)
{
   const struct agxc_spv_variable *var = s->variables;
   while (var && (!(var->place == AGXC_SPV_PLACE_BUFFER || var->place == AGXC_SPV_PLACE_HANDLE) ||
                  var->set != set || var->binding != binding))
      var = var->next;
   if (!var)
      return 0;
   const struct agxc_spv_type *block = var->elements ? var->type->elem : var->type;
   uint32_t name = add_name(s, var->id, AGXC_SPV_NO_MEMBER);
   return name || block->kind != AGXC_SPV_STRUCT ? name
                                                 : add_name(s, block->id, AGXC_SPV_NO_MEMBER);
}

/* An array of buffers has a binding for each element that the code reaches, but is one. */
static void add_bindings(struct agxc_spv *s)
{
   const struct agxc_shader *shader = s->shader;
   for (uint32_t i = 0; i < shader->binding_count; i++) {
      const struct agx_program_binding *binding = &shader->bindings[i];
      bool is_again =
         i && binding[-1].set == binding->set && binding[-1].binding == binding->binding;
      if (is_again || binding->set == AGX_PROGRAM_VERTEX_SET)
         continue;
      add(s, (struct agx_program_parameter){.kind = AGX_PARAMETER_KIND_BINDING,
                                            .set = binding->set,
                                            .binding = binding->binding,
                                            .name =
                                               name_of_binding(s, binding->set, binding->binding)});
   }
}

static bool has_binding(const struct agxc_shader *shader, uint32_t set, uint32_t binding)
{
   for (uint32_t i = 0; i < shader->parameter_count; i++) {
      const struct agx_program_parameter *p = &shader->parameters[i];
      bool is_binding =
         p->kind == AGX_PARAMETER_KIND_BINDING || p->kind == AGX_PARAMETER_KIND_UNUSED;
      if (is_binding && p->set == set && p->binding == binding)
         return true;
   }
   return false;
}

/* What a host may give for another entry point of the module, or because the source names it: a
 * dispatch refuses all other bindings. */
static void add_unused(struct agxc_spv *s)
{
   struct agxc_shader *shader = s->shader;
   for (uint32_t i = 0; i < s->bound; i++) {
      if (!s->ids[i])
         continue;
      const struct agxc_spv_decoration *set =
         agxc_spv_decoration(s->ids[i], SpvDecorationDescriptorSet);
      const struct agxc_spv_decoration *binding =
         agxc_spv_decoration(s->ids[i], SpvDecorationBinding);
      if (!set || !binding || has_binding(shader, set->value, binding->value))
         continue;
      bool is_last = shader->parameter_count + 1 >= AGX_PROGRAM_MAX_PARAMETERS;
      if (is_last && shader->parameter_count == AGX_PROGRAM_MAX_PARAMETERS)
         shader->parameter_count--;
      add(s, (struct agx_program_parameter){
                .kind = AGX_PARAMETER_KIND_UNUSED,
                .set = is_last ? AGX_PROGRAM_ANY_BINDING : set->value,
                .binding = is_last ? AGX_PROGRAM_ANY_BINDING : binding->value,
                .name = is_last ? 0 : add_name(s, i, AGXC_SPV_NO_MEMBER)});
      if (is_last)
         return;
   }
}

static uint64_t bytes_of(const struct agxc_spv_member *member, const struct agxc_spv_type *type)
{
   switch (type->kind) {
   case AGXC_SPV_BOOL:
      return 4;
   case AGXC_SPV_VECTOR:
      return (uint64_t)type->count * bytes_of(member, type->elem);
   case AGXC_SPV_MATRIX:
      return (uint64_t)(member->row_major ? type->elem->count : type->count) *
             member->matrix_stride_B;
   case AGXC_SPV_ARRAY:
      return (uint64_t)type->count * type->stride_B;
   case AGXC_SPV_STRUCT:
      return type->size_B;
   default:
      return agxc_spv_type_is_address(type) ? 8 : type->bits / 8u;
   }
}

static void add_push(struct agxc_spv *s, const struct agxc_spv_type *block)
{
   for (uint32_t i = 0; i < block->count; i++) {
      const struct agxc_spv_member *member = &block->members[i];
      bool is_address = agxc_spv_type_is_address(member->type);
      if (member->offset_B >= AGX_PROGRAM_MAX_PUSH_B)
         continue; /* nothing can read it */
      add(s, (struct agx_program_parameter){
                .kind = is_address ? AGX_PARAMETER_KIND_POINTER : AGX_PARAMETER_KIND_CONSTANT,
                .offset_B = member->offset_B,
                .size_B = (uint32_t)AGX_MIN(bytes_of(member, member->type),
                                            (uint64_t)AGX_PROGRAM_MAX_PUSH_B),
                .name = add_name(s, block->id, i)});
   }
}

void agxc_spv_reflect(struct agxc_spv *s)
{
   s->shader->parameters =
      AGX_ARENA_ARRAY(s->arena, struct agx_program_parameter, AGX_PROGRAM_MAX_PARAMETERS);
   add_bindings(s);
   const struct agxc_spv_variable *var = s->variables;
   while (var && var->place != AGXC_SPV_PLACE_PUSH)
      var = var->next;
   if (var && s->shader->push_B)
      add_push(s, var->type);
   add_unused(s);
}
