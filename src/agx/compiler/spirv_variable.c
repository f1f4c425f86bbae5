/* SPDX-License-Identifier: MIT
 *
 * Variables, the bindings behind them, and access chains. A pointer is known at
 * compile time but for its dynamic part: which variable, which type, which offset.
 */
#include "agx/compiler/spirv_impl.h"

#include <stdlib.h>

static const struct {
   uint32_t storage;
   enum agxc_spv_place place;
} places[] = {
   {SpvStorageClassStorageBuffer, AGXC_SPV_PLACE_BUFFER},
   {SpvStorageClassUniform, AGXC_SPV_PLACE_BUFFER},
   {SpvStorageClassPushConstant, AGXC_SPV_PLACE_PUSH},
   {SpvStorageClassWorkgroup, AGXC_SPV_PLACE_SHARED},
   {SpvStorageClassPrivate, AGXC_SPV_PLACE_SLOTS},
   {SpvStorageClassFunction, AGXC_SPV_PLACE_SLOTS},
   {SpvStorageClassInput, AGXC_SPV_PLACE_BUILTIN},
};

static const uint32_t builtins[] = {
   SpvBuiltInNumWorkgroups,      SpvBuiltInWorkgroupSize,
   SpvBuiltInWorkgroupId,        SpvBuiltInLocalInvocationId,
   SpvBuiltInGlobalInvocationId, SpvBuiltInLocalInvocationIndex,
   SpvBuiltInSubgroupSize,       SpvBuiltInNumSubgroups,
   SpvBuiltInSubgroupId,         SpvBuiltInSubgroupLocalInvocationId,
   SpvBuiltInSubgroupEqMask,     SpvBuiltInSubgroupGeMask,
   SpvBuiltInSubgroupGtMask,     SpvBuiltInSubgroupLeMask,
   SpvBuiltInSubgroupLtMask,
};

/* ---- reading ----------------------------------------------------------- */

static bool is_decorated(const struct agxc_spv_id *id, uint32_t kind)
{
   return agxc_spv_find_decoration(id, AGXC_SPV_NO_MEMBER, kind);
}

static void read_buffer(struct agxc_spv *s, struct agxc_spv_variable *var,
                        const struct agxc_spv_id *id)
{
   if (var->type->kind == AGXC_SPV_ARRAY || var->type->kind == AGXC_SPV_RUNTIME_ARRAY)
      agxc_spv_missing(s, "array of buffer bindings");
   if (var->type->kind != AGXC_SPV_STRUCT || !var->type->is_block)
      agxc_spv_invalid(s, "buffer whose type %u is no Block", var->type->id);
   const struct agxc_spv_decoration *set =
      agxc_spv_find_decoration(id, AGXC_SPV_NO_MEMBER, SpvDecorationDescriptorSet);
   const struct agxc_spv_decoration *binding =
      agxc_spv_find_decoration(id, AGXC_SPV_NO_MEMBER, SpvDecorationBinding);
   if (!set || !binding)
      agxc_spv_invalid(s, "buffer without DescriptorSet and Binding");
   var->set = set->value;
   var->binding = binding->value;
   var->is_uniform = var->storage == SpvStorageClassUniform && !var->type->is_old_buffer;
   /* Only what is decorated Aliased may share memory. Source: SPIR-V specification, 2.18.2. */
   var->restricted = !is_decorated(id, SpvDecorationAliased);
   var->not_writable = is_decorated(id, SpvDecorationNonWritable);
   var->coherent =
      is_decorated(id, SpvDecorationCoherent) || is_decorated(id, SpvDecorationVolatile);
   s->binding_count++;
}

static void read_builtin(struct agxc_spv *s, struct agxc_spv_variable *var,
                         const struct agxc_spv_id *id)
{
   const struct agxc_spv_decoration *d =
      agxc_spv_find_decoration(id, AGXC_SPV_NO_MEMBER, SpvDecorationBuiltIn);
   if (!d)
      agxc_spv_invalid(s, "input that is no builtin");
   bool is_mask = d->value >= SpvBuiltInSubgroupEqMask && d->value <= SpvBuiltInSubgroupLtMask;
   bool is_vector = var->type->kind == AGXC_SPV_VECTOR && var->type->count == (is_mask ? 4 : 3) &&
                    var->type->elem->kind == AGXC_SPV_INT && var->type->elem->bits == 32;
   if (!is_vector && (var->type->kind != AGXC_SPV_INT || var->type->bits != 32))
      agxc_spv_invalid(s, "builtin %s of type %u", agxc_spv_builtin_name(d->value), var->type->id);
   for (size_t i = 0; i < AGX_COUNT(builtins); i++)
      if (builtins[i] == d->value) {
         var->builtin = d->value;
         return;
      }
   agxc_spv_missing(s, "builtin %s (%u)", agxc_spv_builtin_name(d->value), d->value);
}

static struct agxc_spv_variable *make_variable(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *pointer = agxc_spv_type_of(s, in->type_id);
   uint32_t storage = agxc_spv_operand(s, in, 0);
   if (pointer->kind != AGXC_SPV_POINTER || pointer->storage != storage)
      agxc_spv_invalid(s, "type %u is no pointer to storage class %u", pointer->id, storage);
   struct agxc_spv_variable *var = AGX_ARENA_NEW(s->arena, struct agxc_spv_variable);
   var->id = in->id;
   var->storage = storage;
   var->type = pointer->elem;
   var->initializer = agxc_spv_operand_count(in) > 1 ? agxc_spv_operand(s, in, 1) : 0;
   for (size_t i = 0; i < AGX_COUNT(places); i++)
      if (places[i].storage == storage) {
         var->place = places[i].place;
         return var;
      }
   agxc_spv_missing(s, "storage class %s (%u)", agxc_spv_storage_name(storage), storage);
}

static struct agxc_spv_pointer *pointer_to(struct agxc_spv *s, struct agxc_spv_variable *var)
{
   struct agxc_spv_pointer *p = AGX_ARENA_NEW(s->arena, struct agxc_spv_pointer);
   p->place = var->place;
   p->type = var->type;
   p->var = var;
   p->not_writable = var->not_writable;
   p->coherent = var->coherent;
   return p;
}

void agxc_spv_read_variable(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_variable *var = make_variable(s, in);
   const struct agxc_spv_id *id = agxc_spv_id(s, in->id);
   if (var->storage == SpvStorageClassFunction)
      agxc_spv_invalid(s, "Function variable outside functions");
   if (var->initializer && var->place != AGXC_SPV_PLACE_SLOTS)
      agxc_spv_missing(s, "initializer in storage class %s", agxc_spv_storage_name(var->storage));
   if (var->place == AGXC_SPV_PLACE_BUFFER)
      read_buffer(s, var, id);
   if (var->place == AGXC_SPV_PLACE_BUILTIN)
      read_builtin(s, var, id);
   if (var->place == AGXC_SPV_PLACE_PUSH &&
       (var->type->kind != AGXC_SPV_STRUCT || !var->type->is_block))
      agxc_spv_invalid(s, "push constants whose type %u is no Block", var->type->id);
   if (var->initializer) {
      struct agxc_spv_type *type;
      agxc_spv_value(s, var->initializer, &type);
      if (!agxc_spv_same_shape(type, var->type))
         agxc_spv_invalid(s, "initializer of type %u", type->id);
   }
   *s->variables_tail = var;
   s->variables_tail = &var->next;
   agxc_spv_define_pointer(s, in, pointer_to(s, var));
}

/* ---- slots ------------------------------------------------------------- */

static void give_private(struct agxc_spv *s, struct agxc_spv_variable *var)
{
   struct agxc_spv_pointer *p = pointer_to(s, var);
   agxc_spv_begin_private(s, var);
   p->place = var->place;
   if (agxc_spv_id(s, var->id)->kind == AGXC_SPV_ID_POINTER)
      agxc_spv_id(s, var->id)->pointer->place = var->place; /* of the module */
   if (var->initializer)
      agxc_spv_store(s, p, agxc_spv_value_like(s, var->initializer, var->type), false);
}

static void give_slots(struct agxc_spv *s, struct agxc_spv_variable *var)
{
   if (agxc_spv_id(s, var->id)->is_indexed || var->type->scalars > AGXC_SPV_MAX_SCALARS) {
      give_private(s, var);
      return;
   }
   const uint8_t *bits = agxc_spv_scalar_bits(s, var->type);
   var->first_slot = agxc_spv_slots_new(s, var->type->scalars, bits);
   const struct agxc_ref *initial =
      var->initializer ? agxc_spv_value_like(s, var->initializer, var->type) : NULL;
   /* Undefined counts as 0, so that nothing lives across iterations of a loop. */
   for (uint32_t i = 0; i < var->type->scalars; i++)
      agxc_spv_slot_write(s, var->first_slot + i, initial ? initial[i] : agxc_imm(0, bits[i]));
}

void agxc_spv_init_privates(struct agxc_spv *s)
{
   for (struct agxc_spv_variable *var = s->variables; var; var = var->next)
      if (var->place == AGXC_SPV_PLACE_SLOTS)
         give_slots(s, var);
}

void agxc_spv_op_variable(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_variable *var = make_variable(s, in);
   if (var->storage != SpvStorageClassFunction)
      agxc_spv_invalid(s, "storage class %s inside a function",
                       agxc_spv_storage_name(var->storage));
   give_slots(s, var);
   agxc_spv_define_pointer(s, in, pointer_to(s, var));
}

/* ---- bindings ---------------------------------------------------------- */

static int compare_variables(const void *a, const void *b)
{
   const struct agxc_spv_variable *x = *(const struct agxc_spv_variable *const *)a;
   const struct agxc_spv_variable *y = *(const struct agxc_spv_variable *const *)b;
   if (x->set != y->set)
      return x->set < y->set ? -1 : 1;
   if (x->binding != y->binding)
      return x->binding < y->binding ? -1 : 1;
   return x->id < y->id ? -1 : x->id > y->id;
}

void agxc_spv_assign_bindings(struct agxc_spv *s)
{
   uint32_t count = AGX_MAX(s->binding_count, 1u), n = 0;
   struct agxc_spv_variable **sorted = AGX_ARENA_ARRAY(s->arena, struct agxc_spv_variable *, count);
   for (struct agxc_spv_variable *var = s->variables; var; var = var->next)
      if (var->place == AGXC_SPV_PLACE_BUFFER)
         sorted[n++] = var;
   qsort(sorted, n, sizeof(*sorted), compare_variables);
   s->bindings = AGX_ARENA_ARRAY(s->arena, struct agx_program_binding, count);
   s->binding_used = AGX_ARENA_ARRAY(s->arena, bool, count);
   s->binding_count = 0;
   for (uint32_t i = 0; i < n; i++) {
      struct agxc_spv_variable *var = sorted[i];
      uint32_t kind = var->is_uniform ? AGX_BINDING_UNIFORM_BUFFER : AGX_BINDING_STORAGE_BUFFER;
      if (i == 0 || sorted[i - 1]->set != var->set || sorted[i - 1]->binding != var->binding)
         s->bindings[s->binding_count++] =
            (struct agx_program_binding){.set = var->set, .binding = var->binding, .kind = kind};
      var->index = s->binding_count - 1;
      if (i > 0 && sorted[i - 1]->index == var->index) /* two names for one buffer */
         sorted[i - 1]->restricted = var->restricted = false;
      struct agx_program_binding *binding = &s->bindings[var->index];
      if (binding->kind != kind)
         agxc_spv_invalid(s, "set %u binding %u is a uniform and a storage buffer", var->set,
                          var->binding);
      binding->min_size_B = AGX_MAX(binding->min_size_B, var->type->size_B);
   }
}

/* Where the binding index stands among an operation's immediates. */
static bool names_binding(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_LOAD_BUFFER || instr->op == AGXC_OP_STORE_BUFFER ||
          instr->op == AGXC_OP_ATOMIC_BUFFER || instr->op == AGXC_OP_BUFFER_SIZE ||
          instr->op == AGXC_OP_BUFFER_ADDRESS;
}

void agxc_spv_prune_bindings(struct agxc_spv *s)
{
   struct agxc_shader *shader = s->shader;
   uint32_t *to = AGX_ARENA_ARRAY(s->arena, uint32_t, AGX_MAX(s->binding_count, 1u));
   for (uint32_t i = 0; i < s->binding_count; i++) {
      if (!s->binding_used[i])
         continue;
      if (shader->binding_count == AGX_PROGRAM_MAX_BINDINGS)
         agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "more than %u buffers",
                        AGX_PROGRAM_MAX_BINDINGS);
      to[i] = shader->binding_count;
      shader->bindings[shader->binding_count++] = s->bindings[i];
   }
   agxc_foreach_block (block, shader) {
      agxc_foreach_instr (instr, block) {
         if (names_binding(instr)) {
            struct agxc_ref *index = &agxc_srcs(instr)[instr->src_count];
            if (instr->op == AGXC_OP_LOAD_BUFFER && index[1].imm == AGXC_ACCESS_RESTRICT &&
                !(s->bindings[index->imm].access & AGX_BINDING_WRITES))
               index[1].imm |= AGXC_ACCESS_CONST;
            *index = agxc_imm(to[index->imm], 32);
         }
      }
   }
}

uint32_t agxc_spv_use_binding(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t access)
{
   uint32_t index = p->var->index;
   if ((access & AGX_BINDING_WRITES) && (p->var->is_uniform || p->not_writable))
      agxc_spv_invalid(s, "write to read-only variable %u", p->var->id);
   s->binding_used[index] = true;
   s->bindings[index].access |= access;
   return index;
}
