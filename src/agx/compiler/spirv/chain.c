/* SPDX-License-Identifier: MIT
 *
 * Access chains: from a pointer to a part of what it points to. A constant index moves the
 * constant part of the offset, any other one the dynamic part.
 *
 * A byte offset is `(index << shift or index * stride) + constant`, which selection can match. A
 * constant index into an array of buffers names one more binding; a dynamic one chooses address
 * and size by a tree of selects, or, of many, loads them from the heap.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"

static bool is_packed(const struct agxc_spv_pointer *p)
{
   return !p->is_block && (p->place == AGXC_SPV_PLACE_SHARED || p->place == AGXC_SPV_PLACE_PRIVATE);
}

/* Function and Private variables. */
static bool is_invocations(const struct agxc_spv_pointer *p)
{
   return p->place == AGXC_SPV_PLACE_SLOTS || p->place == AGXC_SPV_PLACE_PRIVATE;
}

/* Bytes from one part of an indexed type to the next. */
static uint32_t stride_of(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   const struct agxc_spv_type *type = p->type;
   if (is_packed(p))
      return type->elem->packed_B;
   if (!agxc_spv_has_layout(p))
      return 4 * type->elem->scalars;
   uint32_t stride = type->align_B;
   if (type->kind == AGXC_SPV_ARRAY || type->kind == AGXC_SPV_RUNTIME_ARRAY)
      stride = type->stride_B;
   else if ((type->kind == AGXC_SPV_MATRIX) != p->row_major)
      stride = p->matrix_stride_B;
   return agxc_spv_stride(s, type, stride);
}

static void add_dynamic(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                        uint32_t stride_B)
{
   if (!agxc_spv_in_memory(p)) {
      if (p->dynamic_count == AGXC_SPV_MAX_DYNAMIC)
         agxc_spv_missing(
            s, "indexable private array: more than %u dynamic indices: use fewer, or constants",
            AGXC_SPV_MAX_DYNAMIC);
      p->dynamics[p->dynamic_count].index = index;
      p->dynamics[p->dynamic_count].stride_B = stride_B;
      p->dynamics[p->dynamic_count++].count = p->type->count;
      return;
   }
   agxc_spv_add_dynamic(s, p, index, stride_B);
}

static void add_constant(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t index,
                         uint32_t stride_B)
{
   uint64_t by_B = (uint64_t)index * stride_B;
   if (p->const_B + by_B > INT32_MAX && agxc_spv_robustness(s, p))
      agxc_spv_add_dynamic(s, p, agxc_spv_u32(index), stride_B);
   else
      agxc_spv_add_constant(s, p, (int64_t)by_B);
}

void agxc_spv_step_into_member(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t i)
{
   struct agxc_spv_type *part = agxc_spv_part_type(s, p->type, i);
   const struct agxc_spv_member *member = &p->type->members[i];
   uint32_t offset_B = agxc_spv_has_layout(p) ? agxc_spv_member_offset(s, p->type, i)
                       : is_packed(p)         ? member->packed_offset_B
                                              : 4 * member->first_scalar;
   uint64_t at_B = (uint64_t)p->const_B + offset_B;
   if (at_B > UINT32_MAX && agxc_spv_robustness(s, p))
      agxc_spv_missing(s,
                       "member %u of type %u at byte %llu: a binding shows at most %u bytes, use "
                       "the address of what lies behind",
                       i, p->type->id, (unsigned long long)at_B, UINT32_MAX);
   agxc_spv_add_constant(s, p, offset_B);
   p->matrix_stride_B = member->matrix_stride_B;
   p->row_major = member->row_major;
   p->not_writable |= member->not_writable;
   p->coherent |= member->coherent;
   p->type = part;
}

static void step_into_buffer(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t id)
{
   struct agxc_ref index = agxc_spv_index(s, id);
   struct agxc_spv_type *block = p->type->elem;
   if (p->var->in_heap) {
      agxc_spv_look_up_buffer(s, p, index);
   } else if (index.kind == AGXC_IMM) {
      p->element = (uint32_t)AGX_MIN((uint64_t)index.imm, p->var->elements - 1);
      p->is_array = false;
   } else {
      agxc_spv_choose_buffer(s, p, index);
   }
   p->type = block;
}

static void step_into_handle(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t id)
{
   struct agxc_ref index = agxc_spv_index(s, id);
   bool is_sized = p->var->elements != AGX_PROGRAM_UNSIZED;
   p->type = p->type->elem;
   p->is_array = false;
   if (index.kind == AGXC_IMM && index.imm < AGX_PROGRAM_MAX_ELEMENTS && !p->var->in_heap)
      p->element =
         is_sized ? AGX_MIN((uint32_t)index.imm, p->var->elements - 1) : (uint32_t)index.imm;
   else
      p->dynamic = agxc_spv_clamp_element(s, p, index);
}

/* Of memory behind an address, which an index of any width reaches. */
static void step_by_address(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t id,
                            uint32_t stride_B)
{
   struct agxc_spv_type *index;
   struct agxc_ref ref = agxc_spv_value(s, id, &index)[0];
   if (index->kind != AGXC_SPV_INT)
      agxc_spv_invalid(s, "index of type %u", index->id);
   struct agxc_ref wide = agxc_spv_resize(s, ref, 64, index->is_signed);
   if (wide.kind == AGXC_IMM)
      agxc_spv_add_constant(s, p, (int64_t)((uint64_t)wide.imm * stride_B));
   else
      agxc_spv_move_address(s, p, ref, index->is_signed, stride_B);
}

void agxc_spv_step_to(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index)
{
   const struct agxc_spv_type *type = p->type;
   if (type->kind == AGXC_SPV_ARRAY && type->count == 0 && is_invocations(p)) {
      agxc_spv_point_nowhere(s, p, type->elem);
      return;
   }
   uint32_t stride_B = stride_of(s, p);
   if (p->is_address) {
      agxc_spv_move_address(s, p, index, false, stride_B);
   } else if (index.kind == AGXC_IMM) {
      uint32_t i = (uint32_t)index.imm;
      /* Beyond the end is undefined; stay inside. */
      if (type->kind != AGXC_SPV_RUNTIME_ARRAY)
         i = AGX_MIN(i, AGX_MAX(type->count, 1u) - 1);
      add_constant(s, p, i, stride_B);
   } else if (p->place == AGXC_SPV_PLACE_GLOBAL && stride_B > 0 &&
              agxc_spv_robustness(s, p) == AGXC_ROBUST_ZERO) {
      agxc_spv_add_saturated(s, p, index, stride_B);
   } else if (stride_B > 0) {
      add_dynamic(s, p, index, stride_B);
   }
   p->type = type->elem;
}

/* By an index of any width, where that makes a difference. */
static void step_into_element(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t id)
{
   struct agxc_ref index = agxc_spv_index(s, id);
   if (p->is_address) {
      step_by_address(s, p, id, stride_of(s, p));
      p->type = p->type->elem;
   } else {
      agxc_spv_step_to(s, p, index);
   }
}

/* Steps by the indices from operand i on, and defines what that leads to. */
static void follow(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i,
                   struct agxc_spv_pointer *p)
{
   for (; i < agxc_spv_operand_count(in); i++) {
      if (!p->type || p->type->kind < AGXC_SPV_VECTOR || p->type->kind > AGXC_SPV_STRUCT)
         agxc_spv_invalid(s, "index %u into type %u", i, p->type ? p->type->id : 0);
      if (p->is_array && p->place == AGXC_SPV_PLACE_HANDLE)
         step_into_handle(s, p, agxc_spv_operand(s, in, i));
      else if (p->is_array)
         step_into_buffer(s, p, agxc_spv_operand(s, in, i));
      else if (p->type->kind == AGXC_SPV_STRUCT)
         agxc_spv_step_into_member(s, p, agxc_spv_constant_u32(s, agxc_spv_operand(s, in, i)));
      else
         step_into_element(s, p, agxc_spv_operand(s, in, i));
   }
   struct agxc_spv_type *result = agxc_spv_type_of(s, in->type_id);
   if (result->kind != AGXC_SPV_POINTER || result->elem != p->type)
      agxc_spv_invalid(s, "result type %u does not point to type %u", result->id, p->type->id);
   agxc_spv_define_pointer(s, in, p);
}

void agxc_spv_op_access_chain(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *base = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0));
   follow(s, in, 1, agxc_spv_pointer_copy(s, base));
}

/* An address moves as a whole: elements may lie before it, and far away. */
static void move_address(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t id,
                         uint32_t stride_B)
{
   struct agxc_spv_type *type;
   struct agxc_ref index = agxc_spv_value(s, id, &type)[0];
   if (type->kind != AGXC_SPV_INT)
      agxc_spv_invalid(s, "element of type %u", type->id);
   agxc_spv_move_address(s, p, index, true, stride_B);
}

/* The distance between elements is the pointer type's; where the module has no say in the layout
 * (workgroup memory without Blocks), an ArrayStride counts for nothing. */
static uint32_t element_stride(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                               const struct agxc_spv_type *pointer)
{
   if (is_packed(p))
      return agxc_spv_packed_stride(p->type);
   if (!pointer->stride_B)
      agxc_spv_invalid(s, "pointer type %u has no ArrayStride", pointer->id);
   return agxc_spv_stride(s, p->type, pointer->stride_B);
}

void agxc_spv_op_ptr_access_chain(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t base = agxc_spv_operand(s, in, 0), element = agxc_spv_operand(s, in, 1);
   struct agxc_spv_pointer *p = agxc_spv_pointer_copy(s, agxc_spv_pointer_of(s, base));
   const struct agxc_spv_type *pointer = agxc_spv_id(s, base)->type;
   if (!agxc_spv_in_memory(p) || p->place == AGXC_SPV_PLACE_PRIVATE)
      agxc_spv_missing(s, "pointer of storage class %s can't step by elements: index the array",
                       agxc_spv_storage_name(pointer->storage));
   uint32_t stride_B = element_stride(s, p, pointer);
   struct agxc_ref index = agxc_spv_index(s, element);
   if (agxc_spv_type_is_address(pointer))
      move_address(s, p, element, stride_B);
   else if (index.kind == AGXC_IMM)
      add_constant(s, p, (uint32_t)index.imm, stride_B);
   else
      add_dynamic(s, p, index, stride_B);
   follow(s, in, 2, p);
}
