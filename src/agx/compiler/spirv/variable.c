/* SPDX-License-Identifier: MIT
 *
 * Variables: where each lives (slots, buffers, workgroup memory, push constants, builtins, private
 * memory), which binding a buffer or image has, and initializers. Variables that something indexes
 * dynamically, and those of more than AGXC_SPV_MAX_SCALARS scalars, are private memory, whose place
 * lower/private.c chooses. module.c and call.c call it.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/module_impl.h"
#include "agx/compiler/spirv/vertex_impl.h"

#include <stdlib.h>

#define MAX_BUFFERS (1u << 21) /* elements of all arrays; few of them may be used */

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
   {SpvStorageClassInput, AGXC_SPV_PLACE_BUILTIN}, /* those with a location: SLOTS */
   {SpvStorageClassUniformConstant, AGXC_SPV_PLACE_HANDLE},
};

/* ---- reading ----------------------------------------------------------- */

/* What a variable is an image or sampler of, or an array of them. */
static const struct agxc_spv_type *handle_type(const struct agxc_spv_variable *var)
{
   return var->elements ? var->type->elem : var->type;
}

static void count_bindings(struct agxc_spv *s, uint32_t more)
{
   if (more > MAX_BUFFERS - s->binding_count)
      agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "more than %u buffers in arrays: use shorter ones",
                     MAX_BUFFERS);
   s->binding_count += more;
}

static void read_binding(struct agxc_spv *s, struct agxc_spv_variable *var,
                         const struct agxc_spv_id *id)
{
   const struct agxc_spv_type *block = var->type;
   bool is_handle = var->place == AGXC_SPV_PLACE_HANDLE;
   var->is_unsized = block->kind == AGXC_SPV_RUNTIME_ARRAY && !is_handle;
   if (block->kind == AGXC_SPV_ARRAY || block->kind == AGXC_SPV_RUNTIME_ARRAY) {
      /* An empty one counts as one of one, which nothing uses. */
      var->elements =
         block->kind == AGXC_SPV_ARRAY ? AGX_MAX(block->count, 1u) : AGX_PROGRAM_UNSIZED;
      block = block->elem;
   }
   if (var->elements > AGX_PROGRAM_MAX_HEAP_ELEMENTS && var->elements != AGX_PROGRAM_UNSIZED)
      agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "array of %u %s, at most %u", var->elements,
                     is_handle ? "images or samplers" : "buffers", AGX_PROGRAM_MAX_HEAP_ELEMENTS);
   if (block->kind == AGXC_SPV_ARRAY)
      agxc_spv_missing(s, "array of arrays of %s is not supported: use one array",
                       is_handle ? "images or samplers" : "buffers");
   if (is_handle && !agxc_spv_type_is_handle(block))
      agxc_spv_invalid(s, "UniformConstant of type %u", var->type->id);
   if (!is_handle && (block->kind != AGXC_SPV_STRUCT || !block->is_block))
      agxc_spv_invalid(s, "buffer whose type %u is no Block", block->id);
   const struct agxc_spv_decoration *set = agxc_spv_decoration(id, SpvDecorationDescriptorSet);
   const struct agxc_spv_decoration *binding = agxc_spv_decoration(id, SpvDecorationBinding);
   if (!set || !binding)
      agxc_spv_invalid(s, "without DescriptorSet and Binding");
   var->set = set->value;
   var->binding = binding->value;
   var->is_uniform = var->storage == SpvStorageClassUniform && !block->is_old_buffer;
   /* Only what is decorated Aliased may share memory. Source: SPIR-V specification, 2.18.2. */
   var->restricted = !agxc_spv_decoration(id, SpvDecorationAliased);
   var->not_writable = agxc_spv_decoration(id, SpvDecorationNonWritable);
   var->coherent = agxc_spv_decoration(id, SpvDecorationCoherent) ||
                   agxc_spv_decoration(id, SpvDecorationVolatile);
   s->any_aliased_image |= is_handle && !var->restricted;
   if (!var->is_unsized)
      count_bindings(s, is_handle ? 1 : AGX_MAX(var->elements, 1u));
}

/* Source: the SPIR-V specification, 3.21. */
static uint32_t builtin_components(uint32_t builtin)
{
   if (builtin >= SpvBuiltInSubgroupEqMask && builtin <= SpvBuiltInSubgroupLtMask)
      return 4;
   return builtin >= SpvBuiltInNumWorkgroups && builtin <= SpvBuiltInGlobalInvocationId ? 3 : 1;
}

static void read_builtin(struct agxc_spv *s, struct agxc_spv_variable *var,
                         const struct agxc_spv_id *id)
{
   const struct agxc_spv_decoration *d = agxc_spv_decoration(id, SpvDecorationBuiltIn);
   if (!d)
      agxc_spv_invalid(s, "input that is no builtin");
   const char *name = agxc_spv_name(AGXC_SPV_NAME_BUILTIN, d->value);
   if (!agxc_spv_takes(s, AGXC_SPV_NAME_BUILTIN, d->value))
      agxc_spv_missing(s, "builtin %s (%u) is not supported in this stage: do without it", name,
                       d->value);
   uint32_t components = builtin_components(d->value);
   const struct agxc_spv_type *component = agxc_spv_component(var->type);
   bool has_count = var->type->kind == AGXC_SPV_VECTOR
                       ? var->type->count == components
                       : components == 1 && agxc_spv_type_is_scalar(var->type);
   if (!has_count || component->kind != AGXC_SPV_INT || component->bits != 32)
      agxc_spv_invalid(s, "builtin %s of type %u: declare it with %u 32-bit integer%s", name,
                       var->type->id, components, components == 1 ? "" : "s");
   var->builtin = d->value;
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
         if (s->shader->is_vertex && storage == SpvStorageClassInput &&
             !agxc_spv_is_builtin_input(agxc_spv_id(s, in->id)))
            var->place = AGXC_SPV_PLACE_SLOTS;
         return var;
      }
   if (storage == SpvStorageClassOutput && s->shader->is_vertex) {
      var->place = AGXC_SPV_PLACE_SLOTS;
      return var;
   }
   agxc_spv_missing(s, "storage class %s (%u) is not supported in this stage: do without it",
                    agxc_spv_storage_name(storage), storage);
}

static struct agxc_spv_pointer *pointer_to(struct agxc_spv *s, struct agxc_spv_variable *var)
{
   struct agxc_spv_pointer *p = AGX_ARENA_NEW(s->arena, struct agxc_spv_pointer);
   p->place = var->place;
   p->type = var->type;
   p->var = var;
   p->not_writable = var->not_writable;
   p->coherent = var->coherent;
   p->is_array = var->elements > 0;
   p->is_block = var->place == AGXC_SPV_PLACE_SHARED && var->type->is_block;
   return p;
}

/* Blocks all begin at one address, so there must be nothing else. */
static void read_shared(struct agxc_spv *s, const struct agxc_spv_variable *var)
{
   for (const struct agxc_spv_variable *other = s->variables; other; other = other->next)
      if (other->place == AGXC_SPV_PLACE_SHARED && other->type->is_block != var->type->is_block)
         agxc_spv_invalid(s, "workgroup variables %u and %u: one is a Block, one is none",
                          other->id, var->id);
   s->shared_blocks |= var->type->is_block;
}

static bool is_zero(const struct agxc_ref *refs, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++)
      if (refs[i].kind != AGXC_IMM || refs[i].imm != 0)
         return false;
   return true;
}

void agxc_spv_read_variable(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_variable *var = make_variable(s, in);
   const struct agxc_spv_id *id = agxc_spv_id(s, in->id);
   if (var->storage == SpvStorageClassFunction)
      agxc_spv_invalid(s, "Function variable outside functions");
   if (var->initializer && var->place != AGXC_SPV_PLACE_SLOTS &&
       var->place != AGXC_SPV_PLACE_SHARED)
      agxc_spv_missing(
         s, "initializer in storage class %s is not supported: store the value in the kernel",
         agxc_spv_storage_name(var->storage));
   if (var->place == AGXC_SPV_PLACE_SHARED)
      read_shared(s, var);
   if (var->place == AGXC_SPV_PLACE_BUFFER || var->place == AGXC_SPV_PLACE_HANDLE)
      read_binding(s, var, id);
   if (var->place == AGXC_SPV_PLACE_BUILTIN)
      read_builtin(s, var, id);
   if (var->place == AGXC_SPV_PLACE_PUSH &&
       (var->type->kind != AGXC_SPV_STRUCT || !var->type->is_block))
      agxc_spv_invalid(s, "push constants whose type %u is no Block", var->type->id);
   if (var->initializer && !agxc_spv_is_zeros(s, var->initializer, var->type)) {
      struct agxc_spv_type *type;
      const struct agxc_ref *refs = agxc_spv_value(s, var->initializer, &type);
      if (!agxc_spv_same_shape(type, var->type))
         agxc_spv_invalid(s, "initializer of type %u", type->id);
      if (var->place == AGXC_SPV_PLACE_SHARED && !is_zero(refs, type->scalars))
         agxc_spv_missing(s, "workgroup memory that begins with other values than 0 is not "
                             "supported: store them in the kernel");
   }
   *s->variables_tail = var;
   s->variables_tail = &var->next;
   agxc_spv_define_pointer(s, in, pointer_to(s, var));
}

/* ---- slots ------------------------------------------------------------- */

/* Makes a variable PRIVATE: lower/private.c chooses its place later. */
static void begin_private(struct agxc_spv *s, struct agxc_spv_variable *var)
{
   uint64_t bytes = var->type->packed_B;
   if (bytes > AGX_PROGRAM_MAX_SCRATCH_B)
      agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED,
                     "variable of %llu bytes with dynamic indices; a thread may have %u",
                     (unsigned long long)bytes, AGX_PROGRAM_MAX_SCRATCH_B);
   var->place = AGXC_SPV_PLACE_PRIVATE;
   var->index = s->shader->private_count++;
   agxc_build_private(&s->b, var->index, bytes);
}

static void make_private(struct agxc_spv *s, struct agxc_spv_variable *var)
{
   struct agxc_spv_pointer *p = pointer_to(s, var);
   begin_private(s, var);
   p->place = var->place;
   if (agxc_spv_id(s, var->id)->kind == AGXC_SPV_ID_POINTER)
      agxc_spv_id(s, var->id)->pointer->place = var->place; /* of the module */
   if (var->initializer && agxc_spv_is_zeros(s, var->initializer, var->type))
      agxc_spv_clear(s, p);
   else if (var->initializer)
      agxc_spv_store(s, p, agxc_spv_value_like(s, var->initializer, var->type), false);
}

static void make_slots(struct agxc_spv *s, struct agxc_spv_variable *var)
{
   bool is_indexed = agxc_spv_id(s, var->id)->is_indexed && var->type->scalars > 0;
   if (is_indexed || var->type->scalars > AGXC_SPV_MAX_SCALARS) {
      make_private(s, var);
      return;
   }
   const uint8_t *bits = agxc_spv_scalar_bits(s, var->type);
   var->first_slot = agxc_slots_new(s->ssa, var->type->scalars, bits);
   const struct agxc_ref *initial =
      var->initializer ? agxc_spv_value_like(s, var->initializer, var->type) : NULL;
   /* Undefined counts as 0, so that nothing lives across iterations of a loop. */
   for (uint32_t i = 0; i < var->type->scalars; i++)
      agxc_spv_slot_write(s, var->first_slot + i, initial ? initial[i] : agxc_imm(0, bits[i]));
}

void agxc_spv_point_nowhere(struct agxc_spv *s, struct agxc_spv_pointer *p,
                            struct agxc_spv_type *type)
{
   struct agxc_spv_variable *var = AGX_ARENA_NEW(s->arena, struct agxc_spv_variable);
   var->id = p->var->id;
   var->storage = p->var->storage;
   var->type = type;
   begin_private(s, var);
   *p = *pointer_to(s, var);
}

void agxc_spv_init_privates(struct agxc_spv *s)
{
   for (struct agxc_spv_variable *var = s->variables; var; var = var->next)
      if (var->place == AGXC_SPV_PLACE_SLOTS)
         make_slots(s, var);
}

void agxc_spv_op_variable(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_variable *var = make_variable(s, in);
   if (var->storage != SpvStorageClassFunction)
      agxc_spv_invalid(s, "storage class %s inside a function",
                       agxc_spv_storage_name(var->storage));
   make_slots(s, var);
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

static uint32_t kind_of(struct agxc_spv *s, const struct agxc_spv_variable *var)
{
   if (var->place == AGXC_SPV_PLACE_HANDLE)
      return agxc_spv_handle_kind(handle_type(var));
   return var->is_uniform ? AGX_BINDING_UNIFORM_BUFFER : AGX_BINDING_STORAGE_BUFFER;
}

static uint32_t dim_of(const struct agxc_spv_variable *var)
{
   const struct agxc_spv_type *type = var->type;
   if (var->place == AGXC_SPV_PLACE_HANDLE)
      type = handle_type(var);
   if (type->kind == AGXC_SPV_SAMPLED_IMAGE)
      type = type->elem;
   return type->kind == AGXC_SPV_IMAGE ? agxc_spv_image_dim(type) : 0;
}

uint32_t agxc_spv_asked_robustness(const struct agxc_options *options, uint32_t set,
                                   uint32_t binding)
{
   for (uint32_t i = 0; i < options->robust_binding_count; i++)
      if (options->robust_bindings[i].set == set && options->robust_bindings[i].binding == binding)
         return options->robust_bindings[i].robustness;
   return options->robustness;
}

/* Atomics on texels of a buffer are to memory: never outside. */
static uint32_t robustness_of(struct agxc_spv *s, const struct agxc_spv_variable *var)
{
   const struct agxc_options *options = s->shader->options;
   if (var->place != AGXC_SPV_PLACE_BUFFER)
      return kind_of(s, var) == AGX_BINDING_KIND_STORAGE_TEXEL_BUFFER && !var->elements &&
                   !var->in_heap
                ? AGX_PROGRAM_ROBUST_ZERO
                : AGX_PROGRAM_ROBUST_OFF;
   return agxc_spv_asked_robustness(options, var->set, var->binding);
}

static bool is_combinable(uint32_t kind)
{
   return kind == AGX_BINDING_KIND_TEXTURE || kind == AGX_BINDING_KIND_SAMPLER ||
          kind == AGX_BINDING_KIND_TEXTURE_SAMPLER;
}

/* What the variables of a binding ask for there: an image and a sampler where some are the one and
 * some the other. */
static void combine_kinds(struct agxc_spv *s, struct agxc_spv_variable **group, uint32_t count,
                          uint32_t *out_kind, uint32_t *out_dim)
{
   const struct agxc_spv_variable *first = group[0];
   uint32_t kind = kind_of(s, first), dim = dim_of(first);
   for (uint32_t i = 1; i < count; i++) {
      uint32_t other = kind_of(s, group[i]), other_dim = dim_of(group[i]);
      const char *what = NULL;
      if (other != kind && is_combinable(other) && is_combinable(kind))
         kind = AGX_BINDING_KIND_TEXTURE_SAMPLER;
      else if (other != kind)
         what = "has two kinds";
      if (dim && other_dim && dim != other_dim)
         what = "has images of two dimensions";
      if (first->place == AGXC_SPV_PLACE_HANDLE && !group[i]->elements != !first->elements)
         what = "is an array and is none";
      if (what)
         agxc_spv_invalid(s, "set %u binding %u %s: variables %u and %u", first->set,
                          first->binding, what, first->id, group[i]->id);
      dim = AGX_MAX(dim, other_dim);
   }
   *out_kind = kind;
   *out_dim = dim;
}

/* Several variables may name one binding; the longest array decides how many there are, and one
 * that must be in the heap where all are. */
static void assign_group(struct agxc_spv *s, struct agxc_spv_variable **group, uint32_t count)
{
   uint32_t first = s->binding_count, elements = 1, kind, dim;
   bool is_handle = group[0]->place == AGXC_SPV_PLACE_HANDLE, in_heap = false;
   for (uint32_t i = 0; i < count; i++) {
      elements = AGX_MAX(elements, group[i]->elements);
      in_heap |= group[i]->in_heap;
   }
   for (uint32_t i = 0; i < count; i++)
      group[i]->in_heap = in_heap;
   combine_kinds(s, group, count, &kind, &dim);
   for (uint32_t e = 0; e < (is_handle || in_heap ? 1 : elements); e++)
      s->bindings[s->binding_count++] = (struct agx_program_binding){
         .set = group[0]->set,
         .binding = group[0]->binding,
         .kind = kind,
         .access = in_heap ? AGX_BINDING_HEAP : 0u,
         .dim = dim,
         .element = e,
         .robustness = robustness_of(s, group[0]),
         .elements = in_heap || (is_handle && group[0]->elements) ? elements : 0,
      };
   if (!is_handle)
      s->pointer_robustness =
         (enum agxc_robustness)AGX_MAX((uint32_t)s->pointer_robustness, robustness_of(s, group[0]));
   for (uint32_t i = 0; i < count; i++) {
      struct agxc_spv_variable *var = group[i];
      const struct agxc_spv_type *block = var->elements ? var->type->elem : var->type;
      var->index = first;
      var->restricted &= count == 1; /* else several names for one buffer */
      if (is_handle || in_heap)
         continue;
      for (uint32_t e = 0; e < AGX_MAX(var->elements, 1u) && !s->bindings[first].robustness; e++)
         s->bindings[first + e].min_size_B =
            AGX_MAX(s->bindings[first + e].min_size_B, AGX_MAX(block->size_B, 1));
   }
}

/* Decides where descriptors are: in memory where the caller says so, and of arrays of buffers,
 * where an index chooses from many. */
static bool is_in_heap(struct agxc_spv *s, const struct agxc_spv_variable *var)
{
   if (var->place != AGXC_SPV_PLACE_BUFFER && var->place != AGXC_SPV_PLACE_HANDLE)
      return false;
   if (var->set < 32 && s->shader->options->heap_sets >> var->set & 1)
      return true;
   return var->place == AGXC_SPV_PLACE_BUFFER && var->elements > AGXC_SPV_MAX_CHOICES &&
          agxc_spv_id(s, var->id)->is_array_indexed;
}

/* Arrays of buffers without a length end behind the last element that a constant names, but in the
 * heap. */
static void size_arrays(struct agxc_spv *s)
{
   for (struct agxc_spv_variable *var = s->variables; var; var = var->next) {
      var->in_heap = is_in_heap(s, var);
      if (var->in_heap || var->place != AGXC_SPV_PLACE_BUFFER) {
         count_bindings(s, var->is_unsized);
         continue;
      }
      if (var->is_unsized) {
         var->elements = AGX_MAX(agxc_spv_id(s, var->id)->elements, 1u);
         count_bindings(s, var->elements);
      }
      if (var->elements > AGX_PROGRAM_MAX_ELEMENTS)
         agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "element %u of array %u of buffers, at most %u",
                        var->elements - 1, var->id, AGX_PROGRAM_MAX_ELEMENTS - 1);
   }
}

void agxc_spv_assign_bindings(struct agxc_spv *s)
{
   size_arrays(s);
   uint32_t count = AGX_MAX(s->binding_count + agxc_spv_vertex_binding_count(s), 1u), n = 0;
   struct agxc_spv_variable **sorted = AGX_ARENA_ARRAY(s->arena, struct agxc_spv_variable *, count);
   for (struct agxc_spv_variable *var = s->variables; var; var = var->next)
      if (var->place == AGXC_SPV_PLACE_BUFFER || var->place == AGXC_SPV_PLACE_HANDLE)
         sorted[n++] = var;
   qsort(sorted, n, sizeof(*sorted), compare_variables);
   s->bindings = AGX_ARENA_ARRAY(s->arena, struct agx_program_binding, count);
   s->binding_used = AGX_ARENA_ARRAY(s->arena, bool, count);
   s->binding_pointed = AGX_ARENA_ARRAY(s->arena, bool, count);
   s->binding_count = 0;
   for (uint32_t i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && sorted[end]->set == sorted[i]->set &&
                        sorted[end]->binding == sorted[i]->binding;)
         end++;
      assign_group(s, sorted + i, end - i);
   }
   agxc_spv_assign_vertex_bindings(s);
}

/* Renumbers the bindings that an instruction names, and says what is known of its access now. */
static void renumber_bindings(struct agxc_spv *s, struct agxc_instr *instr, const uint32_t *to)
{
   uint32_t binding = agxc_imm_binding(instr);
   bool is_written = s->bindings[binding].access & AGX_BINDING_WRITES;
   if (instr->op == AGXC_OP_LOAD_BUFFER || instr->op == AGXC_OP_STORE_BUFFER) {
      uint32_t access = agxc_imm_access(instr);
      if (s->binding_pointed[binding])
         access &= ~(uint32_t)AGXC_ACCESS_RESTRICT;
      if (instr->op == AGXC_OP_LOAD_BUFFER && !is_written &&
          (access & ~(uint32_t)AGXC_ACCESS_PAIRS) == AGXC_ACCESS_RESTRICT)
         access |= AGXC_ACCESS_CONST;
      agxc_set_imm_access(instr, access);
   }
   if (instr->op == AGXC_OP_IMAGE_LOAD && !is_written && !s->any_aliased_image)
      instr->op = AGXC_OP_IMAGE_FETCH;
   agxc_set_imm_binding(instr, to[binding]);
   if (instr->op == AGXC_OP_IMAGE_SAMPLE)
      agxc_set_imm_sampler(instr, to[agxc_imm_sampler(instr)]);
}

void agxc_spv_prune_bindings(struct agxc_spv *s)
{
   struct agxc_shader *shader = s->shader;
   uint32_t *to = AGX_ARENA_ARRAY(s->arena, uint32_t, AGX_MAX(s->binding_count, 1u));
   for (uint32_t i = 0; i < s->binding_count; i++) {
      if (!s->binding_used[i])
         continue;
      if (shader->binding_count == AGX_PROGRAM_MAX_BINDINGS)
         agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED,
                        "more than %u bindings are used, each element of an array of buffers "
                        "counting as one: use fewer, or pass addresses (PhysicalStorageBuffer)",
                        AGX_PROGRAM_MAX_BINDINGS);
      to[i] = shader->binding_count;
      shader->bindings[shader->binding_count++] = s->bindings[i];
   }
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         if (agxc_has_imm(instr, AGXC_IMM_BINDING))
            renumber_bindings(s, instr, to);
}
