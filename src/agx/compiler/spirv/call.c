/* SPDX-License-Identifier: MIT
 *
 * Functions: the entry point, and calls, which are inlined. Each inlined body is an instance with a
 * number, so that ids of other instances are not mistaken for its own. frontend.c has the entry
 * point emitted; what must stand in front of its code and behind it is called from here.
 */
#include "agx/compiler/spirv/flow_impl.h"
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/module_impl.h"
#include "agx/compiler/spirv/vertex_impl.h"

static struct agxc_spv_function *function_of(struct agxc_spv *s, uint32_t id)
{
   struct agxc_spv_id *entry = agxc_spv_id(s, id);
   if (entry->kind != AGXC_SPV_ID_FUNCTION)
      agxc_spv_invalid(s, "id %u is no function", id);
   if (!entry->function->entry)
      agxc_spv_invalid(s, "function %u has no body", id);
   return entry->function;
}

/* Makes parameter i what the caller's argument is; the argument is read as the caller. */
static void pass_argument(struct agxc_spv *s, struct agxc_spv_function *function, uint32_t i,
                          uint32_t argument, uint32_t caller)
{
   uint32_t callee = s->instance;
   const struct agxc_spv_type *type = function->type->params[i];
   struct agxc_spv_instr param = {.id = function->params[i], .type_id = type->id};
   s->instance = caller;
   bool is_handle = agxc_spv_type_is_handle(type);
   if (type->kind == AGXC_SPV_POINTER || is_handle) {
      struct agxc_spv_pointer *p = agxc_spv_pointer_of(s, argument);
      s->instance = callee;
      if (p->type != (is_handle ? type : type->elem))
         agxc_spv_invalid(s, "argument %u points to type %u", i, p->type->id);
      agxc_spv_define_pointer(s, &param, p);
   } else {
      struct agxc_ref *refs = agxc_spv_value_like(s, argument, type);
      s->instance = callee;
      agxc_spv_define(s, &param, refs);
   }
}

/* They hold 0 at first. Flags tell which path has returned, but SSA construction sees a path that
 * has not, on which a slot without that value would live all around a loop. */
static uint32_t new_return_slots(struct agxc_spv *s, const struct agxc_spv_type *type)
{
   const uint8_t *bits = agxc_spv_scalar_bits(s, type);
   uint32_t first = agxc_slots_new(s->ssa, type->scalars, bits);
   for (uint32_t i = 0; i < type->scalars; i++)
      agxc_spv_slot_write(s, first + i, agxc_imm(0, bits[i]));
   return first;
}

void agxc_spv_emit_call(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_function *function = function_of(s, agxc_spv_operand(s, in, 0));
   uint32_t count = agxc_spv_operand_count(in) - 1, caller = s->instance;
   const uint32_t line = s->shader->line;
   if (function->active)
      agxc_spv_invalid(s, "recursive call of function %u", function->id);
   if (count != function->type->count || agxc_spv_type_of(s, in->type_id) != function->returns)
      agxc_spv_invalid(s, "call does not fit the type of function %u", function->id);
   if (++s->call_depth > AGXC_SPV_MAX_CALL_DEPTH)
      agxc_spv_missing(s, "calls are nested more than %u deep: call fewer functions in functions",
                       AGXC_SPV_MAX_CALL_DEPTH);
   s->instance = ++s->instance_count;
   for (uint32_t i = 0; i < count; i++)
      pass_argument(s, function, i, agxc_spv_operand(s, in, 1 + i), caller);
   uint32_t scalars = function->returns->scalars, first_slot = 0;
   if (scalars)
      first_slot = new_return_slots(s, function->returns);
   struct agxc_spv_construct *c = agxc_spv_push(s, AGXC_SPV_CALL, true);
   c->header = function->entry;
   c->return_slot = first_slot;
   function->active = true;
   agxc_spv_emit_region(s, function->entry, NULL);
   function->active = false;
   agxc_spv_pop(s);
   s->instance = caller;
   s->shader->line = line;
   s->call_depth--;
   s->now = *in;
   if (function->returns->kind == AGXC_SPV_VOID)
      return;
   struct agxc_ref *refs = agxc_spv_refs(s, scalars);
   for (uint32_t i = 0; i < scalars; i++)
      refs[i] = agxc_spv_slot_read(s, first_slot + i);
   agxc_spv_define(s, in, refs);
}

/* Of a vertex stage like a call: what follows comes behind each return. */
static void emit_main(struct agxc_spv *s, struct agxc_spv_function *function)
{
   if (s->shader->is_vertex)
      agxc_spv_push(s, AGXC_SPV_CALL, true)->header = function->entry;
   function->active = true;
   agxc_spv_emit_region(s, function->entry, NULL);
   if (s->shader->is_vertex)
      agxc_spv_pop(s);
}

void agxc_spv_emit_entry(struct agxc_spv *s)
{
   struct agxc_spv_function *function = function_of(s, s->entry_function);
   if (function->returns->kind != AGXC_SPV_VOID || function->type->count != 0)
      agxc_spv_invalid(s, "entry point takes or returns something");
   s->flow = AGX_ARENA_NEW(s->arena, struct agxc_spv_flow);
   s->ssa = agxc_ssa_begin(s->shader);
   s->instance = ++s->instance_count;
   s->flow->list = &s->shader->body;
   s->shader->lines = s->lines;
   s->shader->line_count = s->line_count;
   s->shader->files = s->files;
   s->shader->file_count = s->file_count;
   s->b = agxc_at_end(s->shader, agxc_last_block(&s->shader->body));
   s->region = AGX_ARENA_NEW(s->arena, struct agxc_spv_region);
   s->region->open = true;
   agxc_spv_begin_dynamic_size(s);
   agxc_spv_init_shared(s);
   agxc_spv_init_privates(s);
   if (s->shader->is_vertex)
      agxc_spv_begin_vertex(s);
   emit_main(s, function);
   s->shader->line = 0;
   if (s->shader->is_vertex)
      agxc_spv_end_vertex(s);
   agxc_ssa_finish(s->ssa);
}
