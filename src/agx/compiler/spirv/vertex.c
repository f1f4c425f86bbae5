/* SPDX-License-Identifier: MIT
 *
 * Vertex stages as kernels: one thread for each vertex (x) and instance (y) of a draw. Inputs are
 * variables that are filled when the entry point begins; what nothing reads is never loaded.
 * Outputs are variables too. When the entry point has ended, those that are captured go to
 * feedback buffers, record by record in the order of instances and vertices.
 */
#include "agx/compiler/spirv/vertex_impl.h"

#include <stdlib.h>

#define LANES_ACROSS 64 /* threads of a workgroup: vertices of one instance */
#define MAX_RECORD_B 2048

/* ---- interface ---------------------------------------------------------- */

/* Only what the entry point names is its own: a module may have others. */
static bool is_interface(struct agxc_spv *s, uint32_t id)
{
   struct agxc_spv_instr in = agxc_spv_instr_at(s, s->entry_word);
   uint32_t i = 2, last;
   do
      last = agxc_spv_operand(s, &in, i++);
   while (last >> 24 && (last & 0xff) && (last >> 8 & 0xff) && (last >> 16 & 0xff));
   for (; i < agxc_spv_operand_count(&in); i++)
      if (agxc_spv_operand(s, &in, i) == id)
         return true;
   return false;
}

bool agxc_spv_is_builtin_input(const struct agxc_spv_id *id)
{
   return agxc_spv_decoration(id, SpvDecorationBuiltIn) != NULL;
}

/* ---- what is drawn ------------------------------------------------------ */

static struct agxc_ref position_in_grid(struct agxc_spv *s, uint32_t component)
{
   return agxc_build_sysval(&s->b, (enum agxc_sysval)(AGXC_SYSVAL_GLOBAL_ID + component));
}

/* The position in the index buffer never leaves it, whatever the mode. */
static struct agxc_ref fetch_index(struct agxc_spv *s, struct agxc_ref position)
{
   static const enum agx_isa_format formats[] = {
      [1] = AGX_ISA_FORMAT_I8, [2] = AGX_ISA_FORMAT_I16, [4] = AGX_ISA_FORMAT_I32};
   uint32_t binding = s->vertex->first_binding + AGX_PROGRAM_MAX_ATTRIBUTES;
   struct agxc_ref address = agxc_spv_fetch_base(s, binding, &position);
   return agxc_build_load_format(&s->b, 32, 1, address, position,
                                 formats[s->shader->options->index_B], 0);
}

static void find_vertex(struct agxc_spv *s)
{
   struct agxc_spv_vertex *v = s->vertex;
   struct agxc_ref at = agxc_spv_draw_value(s, AGX_DRAW_FIRST);
   at = agxc_spv_build2(s, AGXC_OP_IADD, position_in_grid(s, 0), at);
   v->instance = position_in_grid(s, 1);
   v->id = at;
   if (!s->shader->options->index_B)
      return;
   struct agxc_ref base = agxc_spv_draw_value(s, AGX_DRAW_BASE_VERTEX);
   v->id = agxc_spv_build2(s, AGXC_OP_IADD, fetch_index(s, at), base);
}

/* ---- bindings ----------------------------------------------------------- */

uint32_t agxc_spv_vertex_binding_count(const struct agxc_spv *s)
{
   return s->shader->is_vertex ? AGX_PROGRAM_MAX_ATTRIBUTES + 1 + AGX_PROGRAM_MAX_FEEDBACKS : 0;
}

void agxc_spv_assign_vertex_bindings(struct agxc_spv *s)
{
   const struct agxc_options *options = s->shader->options;
   if (!s->shader->is_vertex)
      return;
   s->vertex->first_binding = s->binding_count;
   for (uint32_t i = 0; i < agxc_spv_vertex_binding_count(s); i++) {
      struct agx_program_binding *binding = &s->bindings[s->binding_count++];
      *binding = (struct agx_program_binding){
         .set = AGX_PROGRAM_VERTEX_SET,
         .binding = i,
         .kind = AGX_BINDING_VERTEX_BUFFER,
         .robustness = agxc_spv_asked_robustness(
            options, AGX_PROGRAM_VERTEX_SET,
            i < AGX_PROGRAM_MAX_ATTRIBUTES ? i : AGX_PROGRAM_INDEX_BINDING),
      };
      if (i == AGX_PROGRAM_MAX_ATTRIBUTES) {
         binding->kind = AGX_BINDING_INDEX_BUFFER;
         binding->binding = AGX_PROGRAM_INDEX_BINDING;
         binding->stride_B = binding->element_B = options->index_B;
         binding->dim = options->index_B ? (uint32_t)__builtin_ctz(options->index_B) : 0;
         binding->robustness = AGX_MAX(binding->robustness, (uint32_t)AGX_PROGRAM_ROBUST_CLAMP);
      } else if (i > AGX_PROGRAM_MAX_ATTRIBUTES) {
         binding->kind = AGX_BINDING_FEEDBACK_BUFFER;
         binding->binding = AGX_PROGRAM_FEEDBACK_BINDING + i - AGX_PROGRAM_MAX_ATTRIBUTES - 1;
         binding->dim = 2;
         binding->robustness = AGX_PROGRAM_ROBUST_OFF; /* recording a draw checks its size */
      }
   }
}

/* ---- inputs ------------------------------------------------------------- */

/* One location each; out is NULL where they are only counted. Returns the scalars. */
static uint32_t visit_input(struct agxc_spv *s, const struct agxc_spv_type *type,
                            uint32_t *location, uint32_t component, struct agxc_ref *out)
{
   if (type->kind == AGXC_SPV_ARRAY || type->kind == AGXC_SPV_MATRIX) {
      uint32_t n = 0;
      for (uint32_t i = 0; i < type->count; i++)
         n += visit_input(s, type->elem, location, component, out ? out + n : NULL);
      return n;
   }
   const struct agxc_spv_type *scalar = agxc_spv_component(type);
   uint32_t count = type->kind == AGXC_SPV_VECTOR ? type->count : 1;
   bool is_number = scalar && (scalar->kind == AGXC_SPV_INT || scalar->kind == AGXC_SPV_FLOAT);
   if (!is_number || type->kind == AGXC_SPV_COOPERATIVE)
      agxc_spv_missing(
         s, "vertex input of type %u, which is no number, is not supported: use integers or floats",
         type->id);
   if (scalar->bits != 32)
      agxc_spv_missing(s, "vertex input of %u bits is not supported: use 32", scalar->bits);
   if (*location >= AGX_PROGRAM_MAX_ATTRIBUTES)
      agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "input location %u, at most %u", *location,
                     AGX_PROGRAM_MAX_ATTRIBUTES - 1);
   if (component + count > 4)
      agxc_spv_invalid(s, "input location %u: components %u to %u", *location, component,
                       component + count - 1);
   struct agxc_spv_location *at = &s->vertex->locations[(*location)++];
   if (!out) {
      if (at->component && at->component->kind != scalar->kind)
         agxc_spv_invalid(s, "input location %u is both integer and float", *location - 1);
      at->component = scalar;
      at->channels = AGX_MAX(at->channels, component + count);
      return count;
   }
   const struct agxc_ref *values = agxc_spv_fetch(s, *location - 1);
   for (uint32_t i = 0; i < count; i++)
      out[i] = values[component + i];
   return count;
}

static void visit_variable(struct agxc_spv *s, const struct agxc_spv_variable *var,
                           struct agxc_ref *out)
{
   const struct agxc_spv_id *id = agxc_spv_id(s, var->id);
   const struct agxc_spv_decoration *location = agxc_spv_decoration(id, SpvDecorationLocation);
   const struct agxc_spv_decoration *component = agxc_spv_decoration(id, SpvDecorationComponent);
   if (!location)
      agxc_spv_invalid(s, "vertex input %u without Location", var->id);
   uint32_t at = location->value;
   visit_input(s, var->type, &at, component ? AGX_MIN(component->value, 4u) : 0, out);
}

static void fill_inputs(struct agxc_spv *s)
{
   for (int counts = 1; counts >= 0; counts--)
      for (struct agxc_spv_variable *var = s->variables; var; var = var->next) {
         if (var->storage != SpvStorageClassInput || var->place == AGXC_SPV_PLACE_BUILTIN ||
             !is_interface(s, var->id))
            continue;
         agxc_spv_check_value_type(s, var->type);
         struct agxc_ref *refs = agxc_spv_refs(s, AGX_MAX(var->type->scalars, 1u));
         visit_variable(s, var, counts ? NULL : refs);
         if (!counts)
            agxc_spv_store(s, agxc_spv_id(s, var->id)->pointer, refs, false);
      }
}

/* ---- outputs ------------------------------------------------------------ */

/* Where a variable, or a member of its block, stands in the interface. */
struct output {
   struct agxc_spv_variable *var;
   const struct agxc_spv_type *type;
   uint32_t first_scalar;
   const struct agxc_spv_decoration *builtin, *location, *component, *buffer, *stride, *offset;
};

static void capture(struct agxc_spv *s, const struct output *o, uint32_t buffer, uint32_t offset_B)
{
   struct agxc_spv_vertex *v = s->vertex;
   uint64_t end_B = offset_B + 4ull * o->type->scalars;
   if (buffer >= AGX_PROGRAM_MAX_FEEDBACKS || end_B > MAX_RECORD_B || offset_B % 4)
      agxc_spv_leave(s, AGX_OUT_OF_RANGE,
                     "output %u at byte %u of buffer %u; up to %u bytes in words, %u buffers",
                     o->var->id, offset_B, buffer, MAX_RECORD_B, AGX_PROGRAM_MAX_FEEDBACKS);
   const uint8_t *bits = agxc_spv_scalar_bits(s, o->type);
   for (uint32_t i = 0; i < o->type->scalars; i++)
      if (bits[i] != 32)
         agxc_spv_missing(s, "vertex output of %u bits is not supported: use 32", bits[i]);
   if (v->captured_count == v->captured_capacity) {
      uint32_t capacity = AGX_MAX(2 * v->captured_capacity, 16u);
      v->captured =
         agx_arena_grow(s->arena, v->captured, v->captured_count, capacity, sizeof(*v->captured));
      v->captured_capacity = capacity;
   }
   v->captured[v->captured_count++] = (struct agxc_spv_captured){
      .var = o->var,
      .first_scalar = o->first_scalar,
      .scalars = o->type->scalars,
      .buffer = buffer,
      .offset_B = offset_B,
   };
   uint32_t stride_B = o->stride ? o->stride->value : (uint32_t)end_B;
   if (stride_B % 4 || stride_B > MAX_RECORD_B || (o->stride && end_B > stride_B))
      agxc_spv_invalid(s, "output %u ends at byte %u of records of %u", o->var->id, (uint32_t)end_B,
                       stride_B);
   v->strides_B[buffer] = AGX_MAX(v->strides_B[buffer], stride_B);
}

/* A decoration of the member, or else of the variable as a whole. */
static const struct agxc_spv_decoration *either(const struct agxc_spv_id *block, uint32_t member,
                                                const struct agxc_spv_id *var, uint32_t kind)
{
   const struct agxc_spv_decoration *d =
      block ? agxc_spv_find_decoration(block, member, kind) : NULL;
   return d ? d : agxc_spv_decoration(var, kind);
}

static struct output output_of(struct agxc_spv *s, struct agxc_spv_variable *var, uint32_t member)
{
   const struct agxc_spv_id *id = agxc_spv_id(s, var->id);
   bool is_block = member != AGXC_SPV_NO_MEMBER;
   const struct agxc_spv_id *block = is_block ? agxc_spv_id(s, var->type->id) : NULL;
   return (struct output){
      .var = var,
      .type = is_block ? var->type->members[member].type : var->type,
      .first_scalar = is_block ? var->type->members[member].first_scalar : 0,
      .builtin = either(block, member, id, SpvDecorationBuiltIn),
      .location = either(block, member, id, SpvDecorationLocation),
      .component = either(block, member, id, SpvDecorationComponent),
      .buffer = either(block, member, id, SpvDecorationXfbBuffer),
      .stride = either(block, member, id, SpvDecorationXfbStride),
      .offset = either(block, member, id, SpvDecorationOffset),
   };
}

typedef void (*take_output)(struct agxc_spv *s, const struct output *o, void *user);

static void each_output(struct agxc_spv *s, take_output take, void *user)
{
   for (struct agxc_spv_variable *var = s->variables; var; var = var->next) {
      if (var->storage != SpvStorageClassOutput || !is_interface(s, var->id))
         continue;
      uint32_t members = var->type->kind == AGXC_SPV_STRUCT ? var->type->count : 1;
      for (uint32_t i = 0; i < members; i++) {
         bool is_block = var->type->kind == AGXC_SPV_STRUCT;
         struct output o = output_of(s, var, is_block ? i : AGXC_SPV_NO_MEMBER);
         take(s, &o, user);
      }
   }
}

static void take_decorated(struct agxc_spv *s, const struct output *o, void *user)
{
   bool *any = user;
   if (!o->offset)
      return;
   *any = true;
   capture(s, o, o->buffer ? o->buffer->value : 0, o->offset->value);
}

struct sorted {
   struct output o;
   uint32_t key; /* 0: Position */
};

struct list {
   struct sorted *outputs; /* as many as there are; counted first */
   uint32_t count;
};

/* Builtins but Position are not captured unless the module says so. */
static void take_default(struct agxc_spv *s, const struct output *o, void *user)
{
   struct list *list = user;
   if (o->builtin ? o->builtin->value != SpvBuiltInPosition : !o->location) {
      if (!o->builtin && o->var->type->kind != AGXC_SPV_STRUCT)
         agxc_spv_invalid(s, "vertex output %u without Location", o->var->id);
      if (!o->builtin)
         agxc_spv_missing(s, "output block %u lacks a Location: decorate the block or each member",
                          o->var->id);
      return;
   }
   uint32_t location = o->builtin ? 0 : AGX_MIN(o->location->value, 1u << 20) * 4 + 1;
   if (list->outputs)
      list->outputs[list->count] = (struct sorted){
         *o, location + (o->component && !o->builtin ? AGX_MIN(o->component->value, 3u) : 0)};
   list->count++;
}

static int compare(const void *a, const void *b)
{
   const struct sorted *x = a, *y = b;
   if (x->key != y->key)
      return x->key < y->key ? -1 : 1;
   if (x->o.var != y->o.var)
      return x->o.var->id < y->o.var->id ? -1 : 1;
   return x->o.first_scalar < y->o.first_scalar ? -1 : x->o.first_scalar > y->o.first_scalar;
}

static void find_captured(struct agxc_spv *s)
{
   bool any = false;
   each_output(s, take_decorated, &any);
   if (any)
      return;
   struct list list = {0};
   each_output(s, take_default, &list);
   list.outputs = AGX_ARENA_ARRAY(s->arena, struct sorted, AGX_MAX(list.count, 1u));
   list.count = 0;
   each_output(s, take_default, &list);
   qsort(list.outputs, list.count, sizeof(*list.outputs), compare);
   uint32_t offset_B = 0;
   for (uint32_t i = 0; i < list.count; i++) {
      capture(s, &list.outputs[i].o, 0, offset_B);
      offset_B += 4 * list.outputs[i].o.type->scalars;
   }
}

static uint32_t use_feedback(struct agxc_spv *s, uint32_t buffer)
{
   uint32_t binding = s->vertex->first_binding + AGX_PROGRAM_MAX_ATTRIBUTES + 1 + buffer;
   s->binding_used[binding] = true;
   s->bindings[binding].access = AGX_BINDING_WRITES;
   s->bindings[binding].stride_B = s->vertex->strides_B[buffer];
   return binding;
}

static void store_captured(struct agxc_spv *s, const struct agxc_spv_captured *c,
                           struct agxc_ref record)
{
   const struct agxc_ref *refs = agxc_spv_load(s, agxc_spv_id(s, c->var->id)->pointer, false);
   uint32_t binding = use_feedback(s, c->buffer);
   struct agxc_ref start =
      agxc_spv_build2(s, AGXC_OP_IMUL, record, agxc_spv_u32(s->vertex->strides_B[c->buffer]));
   for (uint32_t i = 0; i < c->scalars;) {
      uint32_t count = AGX_MIN(c->scalars - i, 4u);
      const struct agxc_ref *from = refs + c->first_scalar + i;
      struct agxc_ref offset =
         agxc_spv_build2(s, AGXC_OP_IADD, start, agxc_spv_u32(c->offset_B + 4 * i));
      struct agxc_ref data = agxc_collect(&s->b, count, from);
      agxc_build_store_buffer(&s->b, offset, data, binding, 0);
      i += count;
   }
}

/* ---- the stage ---------------------------------------------------------- */

void agxc_spv_begin_vertex(struct agxc_spv *s)
{
   uint32_t index_B = s->shader->options->index_B;
   if (index_B > 4 || index_B == 3)
      agxc_spv_invalid(s, "indices of %u bytes", index_B);
   find_vertex(s);
   fill_inputs(s);
}

void agxc_spv_end_vertex(struct agxc_spv *s)
{
   find_captured(s);
   struct agxc_ref position = position_in_grid(s, 0);
   struct agxc_ref record = agxc_spv_draw_value(s, AGX_DRAW_VERTEX_COUNT);
   record = agxc_spv_build2(s, AGXC_OP_IMUL, s->vertex->instance, record);
   record = agxc_spv_build2(s, AGXC_OP_IADD, record, position);
   for (uint32_t i = 0; i < s->vertex->captured_count; i++)
      store_captured(s, &s->vertex->captured[i], record);
}

void agxc_spv_set_vertex_size(struct agxc_spv *s)
{
   s->shader->local_size[0] = LANES_ACROSS;
   s->shader->local_size[1] = s->shader->local_size[2] = 1;
}
