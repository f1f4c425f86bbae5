/* SPDX-License-Identifier: MIT
 *
 * Values and pointers behind ids, with the checks that make an id safe to use. All handlers call
 * it.
 *
 * A value may be used directly while the list of IR nodes that holds its definition
 * is still open: then control has come through it. Any other use goes through slots,
 * which ir/ssa.c joins with phis; so even a module that breaks the rules of
 * dominance gives valid IR.
 */
#include "agx/compiler/spirv/value_impl.h"

/* ---- definition -------------------------------------------------------- */

static struct agxc_spv_id *define(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                  enum agxc_spv_id_kind kind)
{
   struct agxc_spv_id *id = s->b.block ? agxc_spv_id(s, in->id) : agxc_spv_result(s, in);
   id->kind = kind;
   id->type = agxc_spv_type_of(s, in->type_id);
   id->region = s->region;
   id->def_block = s->b.block;
   id->instance = s->instance;
   id->slots = 0;
   return id;
}

void agxc_spv_define(struct agxc_spv *s, const struct agxc_spv_instr *in, struct agxc_ref *refs)
{
   define(s, in, AGXC_SPV_ID_VALUE)->refs = refs;
}

void agxc_spv_define_scalar(struct agxc_spv *s, const struct agxc_spv_instr *in,
                            enum agxc_spv_kind kind, struct agxc_ref value)
{
   const struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (type->kind != kind || type->bits != value.bits)
      agxc_spv_invalid(s, "result type %u, result of another kind with %u bits", type->id,
                       value.bits);
   struct agxc_ref *out = agxc_spv_refs(s, 1);
   out[0] = value;
   agxc_spv_define(s, in, out);
}

/* What a pointer's type says of it as a value must be true of the place that it leads to. Texels of
 * images have no such values. */
static void check_storage(struct agxc_spv *s, const struct agxc_spv_type *type,
                          const struct agxc_spv_pointer *p)
{
   bool is_shared = p->place == AGXC_SPV_PLACE_SHARED, is_single = is_shared || p->is_address;
   bool is_bound = p->place == AGXC_SPV_PLACE_BUFFER || p->place == AGXC_SPV_PLACE_GLOBAL;
   uint32_t scalars = is_single ? 1 : is_bound ? AGXC_SPV_POINTER_PARTS : 0;
   if (type->kind != AGXC_SPV_POINTER || type->storage == SpvStorageClassImage)
      return;
   if (type->scalars != scalars || (is_single && type->bits != (is_shared ? 32 : 64)))
      agxc_spv_invalid(s, "pointer type %u is of another storage class than what it points to",
                       type->id);
}

void agxc_spv_define_pointer(struct agxc_spv *s, const struct agxc_spv_instr *in,
                             struct agxc_spv_pointer *pointer)
{
   check_storage(s, agxc_spv_type_of(s, in->type_id), pointer);
   define(s, in, AGXC_SPV_ID_POINTER)->pointer = pointer;
}

/* ---- use --------------------------------------------------------------- */

/* The scalars as they arrive here, where they may not be used directly. */
static void read_through_slots(struct agxc_spv *s, struct agxc_spv_id *id,
                               const struct agxc_ref *refs, uint32_t count, struct agxc_ref *out)
{
   if (!id->slots) {
      uint8_t *bits = AGX_ARENA_ARRAY(s->arena, uint8_t, AGX_MAX(count, 1u));
      for (uint32_t i = 0; i < count; i++)
         bits[i] = refs[i].bits;
      uint32_t first = agxc_slots_new(s->ssa, count, bits);
      for (uint32_t i = 0; i < count; i++)
         agxc_slot_write(s->ssa, id->def_block, first + i, refs[i]);
      id->slots = first + 1;
   }
   for (uint32_t i = 0; i < count; i++)
      out[i] = refs[i].kind == AGXC_IMM ? refs[i] : agxc_spv_slot_read(s, id->slots - 1 + i);
}

/* A known pointer may stand for its value, and a value may be a pointer. */
static struct agxc_spv_id *defined(struct agxc_spv *s, uint32_t id, enum agxc_spv_id_kind kind)
{
   struct agxc_spv_id *entry = agxc_spv_id(s, id);
   if (entry->kind == AGXC_SPV_ID_PENDING)
      agxc_spv_invalid(s, "id %u is used before its definition", id);
   if (entry->kind == AGXC_SPV_ID_ZEROS)
      agxc_spv_check_value_type(s, entry->type);
   bool is_value = entry->kind == AGXC_SPV_ID_VALUE, is_known = entry->kind == AGXC_SPV_ID_POINTER;
   if (is_known && agxc_spv_type_is_handle(entry->type) && kind != AGXC_SPV_ID_POINTER)
      agxc_spv_missing(
         s, "image or sampler %u as a value is not supported: use its variable where it is needed",
         id);
   bool is_pointer = is_known || (is_value && entry->type->kind == AGXC_SPV_POINTER);
   if (kind == AGXC_SPV_ID_POINTER ? !is_pointer : !is_value && !is_known)
      agxc_spv_invalid(s, "id %u is no %s", id, kind == AGXC_SPV_ID_POINTER ? "pointer" : "value");
   if (entry->region && entry->instance != s->instance)
      agxc_spv_invalid(s, "id %u is not of this function, or used before its definition", id);
   return entry;
}

struct agxc_ref *agxc_spv_value(struct agxc_spv *s, uint32_t id, struct agxc_spv_type **out_type)
{
   struct agxc_spv_id *entry = defined(s, id, AGXC_SPV_ID_VALUE);
   *out_type = entry->type;
   if (entry->kind == AGXC_SPV_ID_POINTER)
      return agxc_spv_pointer_refs(s, agxc_spv_pointer_of(s, id));
   if (!entry->region || entry->region->open)
      return entry->refs;
   struct agxc_ref *refs = agxc_spv_refs(s, entry->type->scalars);
   read_through_slots(s, entry, entry->refs, entry->type->scalars, refs);
   return refs;
}

struct agxc_ref *agxc_spv_value_like(struct agxc_spv *s, uint32_t id,
                                     const struct agxc_spv_type *type)
{
   struct agxc_spv_type *actual;
   struct agxc_ref *refs = agxc_spv_value(s, id, &actual);
   if (!agxc_spv_same_shape(actual, type))
      agxc_spv_invalid(s, "id %u has type %u, type %u expected", id, actual->id, type->id);
   return refs;
}

static bool has_kind(struct agxc_spv *s, const struct agxc_spv_type *type, enum agxc_spv_kind kind)
{
   const struct agxc_spv_type *component = agxc_spv_component(type);
   if (component && component->kind == AGXC_SPV_SMALL_FLOAT && kind == AGXC_SPV_FLOAT)
      agxc_spv_missing(s,
                       "arithmetic on type %u, bfloat16 or a float of 8 bits, is not supported: "
                       "convert it to 32 bits first",
                       type->id);
   return component && component->kind == kind;
}

struct agxc_spv_type *agxc_spv_result_type(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                           enum agxc_spv_kind kind)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (!has_kind(s, type, kind))
      agxc_spv_invalid(s, "result type %u has another kind of component", type->id);
   return type;
}

struct agxc_ref *agxc_spv_components(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                     uint32_t i, enum agxc_spv_kind kind, uint32_t count)
{
   struct agxc_spv_type *type;
   struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, i), &type);
   if (!has_kind(s, type, kind) || type->scalars != count)
      agxc_spv_invalid(s, "operand %u has type %u: %u components of another kind expected", i,
                       type->id, count);
   return refs;
}

struct agxc_ref agxc_spv_scalar(struct agxc_spv *s, uint32_t id, enum agxc_spv_kind kind)
{
   struct agxc_spv_type *type;
   struct agxc_ref *refs = agxc_spv_value(s, id, &type);
   if (type->kind != kind)
      agxc_spv_invalid(s, "id %u has type %u, a scalar of another kind expected", id, type->id);
   return refs[0];
}

struct agxc_ref agxc_spv_index(struct agxc_spv *s, uint32_t id)
{
   struct agxc_spv_type *type;
   struct agxc_ref *refs = agxc_spv_value(s, id, &type);
   if (type->kind != AGXC_SPV_INT)
      agxc_spv_invalid(s, "id %u has type %u, an integer expected", id, type->id);
   return agxc_spv_resize(s, refs[0], 32, type->is_signed);
}

struct agxc_spv_pointer *agxc_spv_pointer_copy(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   struct agxc_spv_pointer *copy = AGX_ARENA_NEW(s->arena, struct agxc_spv_pointer);
   *copy = *p;
   return copy;
}

struct agxc_spv_pointer *agxc_spv_pointer_of(struct agxc_spv *s, uint32_t id)
{
   struct agxc_spv_id *entry = defined(s, id, AGXC_SPV_ID_POINTER);
   struct agxc_spv_type *type;
   if (entry->kind == AGXC_SPV_ID_VALUE) {
      const struct agxc_ref *value = agxc_spv_value(s, id, &type);
      return agxc_spv_pointer_from(s, type, value);
   }
   if (!entry->region || entry->region->open)
      return agxc_spv_pointer_in_heap(s, entry->pointer);
   struct agxc_spv_pointer *p = agxc_spv_pointer_copy(s, entry->pointer);
   struct agxc_ref *refs[3 + AGXC_SPV_MAX_DYNAMIC] = {&p->dynamic, &p->base, &p->size};
   struct agxc_ref from[AGX_COUNT(refs)] = {0}, to[AGX_COUNT(refs)];
   uint32_t count = 3 + p->dynamic_count;
   for (uint32_t i = 0; i < p->dynamic_count; i++)
      refs[3 + i] = &p->dynamics[i].index;
   for (uint32_t i = 0; i < count; i++)
      from[i] = refs[i]->kind == AGXC_NONE ? agxc_spv_u32(0) : *refs[i];
   read_through_slots(s, entry, from, count, to);
   for (uint32_t i = 0; i < count; i++)
      if (refs[i]->kind != AGXC_NONE)
         *refs[i] = to[i];
   return p;
}
