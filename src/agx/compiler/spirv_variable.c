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
          instr->op == AGXC_OP_ATOMIC_BUFFER || instr->op == AGXC_OP_BUFFER_SIZE;
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

/* ---- access chains ----------------------------------------------------- */

/* Buffers and push constants are laid out by the module, other memory is packed, and slots
 * and builtins count four bytes for each scalar. */
static bool has_layout(const struct agxc_spv_pointer *p)
{
   return p->place == AGXC_SPV_PLACE_BUFFER || p->place == AGXC_SPV_PLACE_PUSH;
}

static bool is_packed(const struct agxc_spv_pointer *p)
{
   return p->place == AGXC_SPV_PLACE_SHARED || p->place == AGXC_SPV_PLACE_PRIVATE;
}

/* Bytes from one part of an indexed type to the next. */
static uint32_t stride_of(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   const struct agxc_spv_type *type = p->type;
   if (is_packed(p))
      return type->elem->packed_B;
   if (!has_layout(p))
      return 4 * type->elem->scalars;
   uint32_t stride = type->align_B;
   if (type->kind == AGXC_SPV_ARRAY || type->kind == AGXC_SPV_RUNTIME_ARRAY)
      stride = type->stride_B;
   else if ((type->kind == AGXC_SPV_MATRIX) != p->row_major)
      stride = p->matrix_stride_B;
   if (stride == 0)
      agxc_spv_invalid(s, "type %u has no layout", type->id);
   return stride;
}

static void add_dynamic(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                        uint32_t stride_B)
{
   if (!agxc_spv_in_memory(p)) {
      if (p->dynamic_count == AGXC_SPV_MAX_DYNAMIC)
         agxc_spv_missing(s, "indexable private array: more than %u dynamic indices",
                          AGXC_SPV_MAX_DYNAMIC);
      p->dynamics[p->dynamic_count].index = index;
      p->dynamics[p->dynamic_count].stride_B = stride_B;
      p->dynamics[p->dynamic_count++].count = p->type->count;
      return;
   }
   bool is_shift = (stride_B & (stride_B - 1)) == 0;
   struct agxc_ref term = is_shift
                             ? agxc_spv_build2(s, AGXC_OP_ISHL, 32, index,
                                               agxc_spv_u32((uint32_t)__builtin_ctz(stride_B)))
                             : agxc_spv_build2(s, AGXC_OP_IMUL, 32, index, agxc_spv_u32(stride_B));
   p->dynamic =
      p->dynamic.kind == AGXC_NONE ? term : agxc_spv_build2(s, AGXC_OP_IADD, 32, p->dynamic, term);
}

static void step_into_member(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t id)
{
   uint32_t i = agxc_spv_constant_u32(s, id);
   struct agxc_spv_type *part = agxc_spv_part_type(s, p->type, i);
   const struct agxc_spv_member *member = &p->type->members[i];
   if (has_layout(p) && !member->has_offset)
      agxc_spv_invalid(s, "member %u of type %u has no Offset", i, p->type->id);
   p->const_B += has_layout(p)  ? member->offset_B
                 : is_packed(p) ? member->packed_offset_B
                                : 4 * member->first_scalar;
   p->matrix_stride_B = member->matrix_stride_B;
   p->row_major = member->row_major;
   p->not_writable |= member->not_writable;
   p->coherent |= member->coherent;
   p->type = part;
}

static void step_into_element(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t id)
{
   struct agxc_ref index = agxc_spv_index(s, id);
   const struct agxc_spv_type *type = p->type;
   uint32_t stride_B = stride_of(s, p);
   if (index.kind == AGXC_IMM) {
      uint32_t i = (uint32_t)index.imm;
      /* Beyond the end is undefined; stay inside. */
      p->const_B +=
         stride_B * (type->kind == AGXC_SPV_RUNTIME_ARRAY ? i : AGX_MIN(i, type->count - 1));
   } else if (stride_B > 0) {
      add_dynamic(s, p, index, stride_B);
   }
   p->type = type->elem;
}

void agxc_spv_op_access_chain(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = AGX_ARENA_NEW(s->arena, struct agxc_spv_pointer);
   *p = *agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0));
   for (uint32_t i = 1; i < agxc_spv_operand_count(in); i++) {
      if (p->type->kind < AGXC_SPV_VECTOR || p->type->kind > AGXC_SPV_STRUCT)
         agxc_spv_invalid(s, "index %u into type %u", i - 1, p->type->id);
      if (p->type->kind == AGXC_SPV_STRUCT)
         step_into_member(s, p, agxc_spv_operand(s, in, i));
      else
         step_into_element(s, p, agxc_spv_operand(s, in, i));
   }
   struct agxc_spv_type *result = agxc_spv_type_of(s, in->type_id);
   if (result->kind != AGXC_SPV_POINTER || result->elem != p->type)
      agxc_spv_invalid(s, "result type %u does not point to type %u", result->id, p->type->id);
   agxc_spv_define_pointer(s, in, p);
}
