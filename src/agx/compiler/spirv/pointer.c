/* SPDX-License-Identifier: MIT
 *
 * Pointers as values. Addresses (PhysicalStorageBuffer) are 64 bits. A pointer into a bound
 * buffer is its address, an offset and its size (for robust code, and lengths): while only one
 * buffer is in question the first and last become uniforms again. A pointer to workgroup memory is
 * an offset. Pointers whose origin is known stay as they are until code needs a value.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"

static void need_no_matrix(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   bool is_part =
      p->type->kind == AGXC_SPV_MATRIX || (p->type->kind == AGXC_SPV_VECTOR && p->row_major);
   if (agxc_spv_has_layout(p) && p->matrix_stride_B && is_part)
      agxc_spv_missing(s, "variable pointer into a matrix is not supported: point to the whole "
                          "matrix or its buffer");
}

/* ---- known to value ---------------------------------------------------- */

/* The binding, from now on one that pointers lead to. */
static uint32_t point_at(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   bool writes = !p->var->is_uniform && !p->not_writable;
   uint32_t access = AGX_BINDING_READS | (writes ? AGX_BINDING_WRITES : 0u);
   uint32_t binding = agxc_spv_use_binding(s, p, access);
   s->binding_pointed[binding] = true;
   return binding;
}

static void bound_refs(struct agxc_spv *s, const struct agxc_spv_pointer *p, struct agxc_ref *out)
{
   uint32_t binding = point_at(s, p);
   out[AGXC_SPV_POINTER_BASE] = agxc_build_buffer_address(&s->b, binding);
   out[AGXC_SPV_POINTER_OFFSET] = agxc_spv_offset(s, p, 0);
   out[AGXC_SPV_POINTER_SIZE] = agxc_build_buffer_size(&s->b, binding);
}

/* The address or size of one of the buffers from..to - 1 of an array, by a tree of selects. */
static struct agxc_ref choose(struct agxc_spv *s, const struct agxc_ref *parts, uint32_t from,
                              uint32_t to, struct agxc_ref index)
{
   if (to - from == 1)
      return parts[from];
   uint32_t middle = from + (to - from) / 2;
   struct agxc_ref low = choose(s, parts, from, middle, index);
   struct agxc_ref high = choose(s, parts, middle, to, index);
   return agxc_spv_select(s, agxc_spv_build2(s, AGXC_OP_ULT, index, agxc_spv_u32(middle)), low,
                          high);
}

/* From now on it leads to one of its variable's buffers, whose address and size are these. */
static void lead_to(struct agxc_spv_pointer *p, struct agxc_ref base, struct agxc_ref size)
{
   p->is_constant = p->var->is_uniform || (p->var->restricted && p->not_writable);
   p->not_writable |= p->var->is_uniform;
   p->place = AGXC_SPV_PLACE_GLOBAL;
   p->base = base;
   p->size = size;
   p->var = NULL;
}

void agxc_spv_choose_buffer(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index)
{
   struct agxc_ref bases[AGXC_SPV_MAX_CHOICES], sizes[AGXC_SPV_MAX_CHOICES];
   uint32_t count = p->var->elements;
   agx_assert(count <= AGXC_SPV_MAX_CHOICES); /* else it is in the heap */
   p->is_array = false;
   for (p->element = 0; p->element < count; p->element++) {
      uint32_t binding = point_at(s, p);
      bases[p->element] = agxc_build_buffer_address(&s->b, binding);
      sizes[p->element] = agxc_build_buffer_size(&s->b, binding);
   }
   p->element = 0;
   lead_to(p, choose(s, bases, 0, count, index), choose(s, sizes, 0, count, index));
}

struct agxc_ref agxc_spv_clamp_element(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                       struct agxc_ref index)
{
   if (s->shader->options->robustness == AGXC_ROBUST_NONE)
      return index;
   struct agxc_ref count = agxc_spv_u32(p->var->elements);
   if (p->var->elements == AGX_PROGRAM_UNSIZED)
      count = agxc_spv_image_info(s, p, AGX_IMAGE_ELEMENTS);
   count = agxc_spv_build2(s, AGXC_OP_ISUB, count, agxc_spv_u32(1));
   return agxc_spv_build2(s, AGXC_OP_UMIN, index, count);
}

void agxc_spv_look_up_buffer(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index)
{
   struct agxc_ref words[3];
   p->is_array = false;
   if (p->var->elements)
      index = agxc_spv_clamp_element(s, p, index);
   struct agxc_ref heap = agxc_build_heap_address(&s->b, point_at(s, p), AGX_HEAP_BUFFERS);
   struct agxc_ref place = agxc_spv_build2(s, AGXC_OP_IMUL, index, agxc_spv_u32(AGX_HEAP_BUFFER_B));
   agxc_split(
      &s->b,
      agxc_build_load_global(&s->b, 32, 3, heap, place, AGXC_ACCESS_CONST | AGXC_ACCESS_RESTRICT),
      words);
   lead_to(p, agxc_spv_build2(s, AGXC_OP_PACK64, words[0], words[1]), words[2]);
}

struct agxc_spv_pointer *agxc_spv_pointer_in_heap(struct agxc_spv *s, struct agxc_spv_pointer *p)
{
   const bool is_handle = p->place == AGXC_SPV_PLACE_HANDLE;
   if (!(is_handle || p->place == AGXC_SPV_PLACE_BUFFER) || !p->var->in_heap || p->is_array ||
       !s->b.block || p->dynamic.kind != AGXC_NONE)
      return p;
   p = agxc_spv_pointer_copy(s, p);
   if (is_handle)
      p->dynamic = agxc_spv_u32(0);
   else
      agxc_spv_look_up_buffer(s, p, agxc_spv_u32(0));
   return p;
}

/* Of an address there is no offset left. */
static struct agxc_ref whole_address(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   struct agxc_ref offset = agxc_spv_offset(s, p, 0);
   return agxc_spv_build2(s, AGXC_OP_IADD, p->base, agxc_spv_resize(s, offset, 64, false));
}

/* Also of pointers into matrices, which say where, but not how the parts lie. */
static struct agxc_ref *place_refs(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   struct agxc_ref *out = agxc_spv_refs(s, AGXC_SPV_POINTER_PARTS);
   if (!s->b.block)
      agxc_spv_missing(
         s, "pointer in a constant expression is not supported: compute it in a function");
   switch (p->place) {
   case AGXC_SPV_PLACE_BUFFER:
      bound_refs(s, p, out);
      break;
   case AGXC_SPV_PLACE_SHARED:
      out[0] = agxc_spv_offset(s, p, 0);
      break;
   case AGXC_SPV_PLACE_GLOBAL:
      if (p->is_address) {
         out[0] = whole_address(s, p);
         break;
      }
      out[AGXC_SPV_POINTER_BASE] = p->base;
      out[AGXC_SPV_POINTER_OFFSET] = agxc_spv_offset(s, p, 0);
      out[AGXC_SPV_POINTER_SIZE] = p->size;
      break;
   default:
      agxc_spv_missing(s,
                       "pointer of storage class %s as a value is not supported: use its variable "
                       "where it is needed",
                       agxc_spv_storage_name(p->var->storage));
   }
   return out;
}

struct agxc_ref *agxc_spv_pointer_refs(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   need_no_matrix(s, p);
   return place_refs(s, p);
}

/* ---- value to known ---------------------------------------------------- */

struct agxc_spv_pointer *agxc_spv_pointer_from(struct agxc_spv *s, const struct agxc_spv_type *type,
                                               const struct agxc_ref *refs)
{
   struct agxc_spv_pointer *p = AGX_ARENA_NEW(s->arena, struct agxc_spv_pointer);
   if (!type->scalars)
      agxc_spv_missing(s,
                       "pointer of storage class %s as a value is not supported: use its variable "
                       "where it is needed",
                       agxc_spv_storage_name(type->storage));
   if (!type->elem)
      agxc_spv_invalid(s, "pointer type %u, which is only announced", type->id);
   p->type = type->elem;
   p->coherent = s->any_coherent;
   p->place = AGXC_SPV_PLACE_GLOBAL;
   if (type->storage == SpvStorageClassWorkgroup) {
      p->place = AGXC_SPV_PLACE_SHARED;
      p->is_block = s->shared_blocks;
      p->dynamic = refs[0];
   } else if (agxc_spv_type_is_address(type)) {
      p->base = refs[0];
      p->is_address = true;
   } else {
      p->base = refs[AGXC_SPV_POINTER_BASE];
      p->dynamic = refs[AGXC_SPV_POINTER_OFFSET];
      p->size = refs[AGXC_SPV_POINTER_SIZE];
   }
   return p;
}

/* ---- instructions ------------------------------------------------------ */

/* A value that is only compared: of a known pointer, also of one into a matrix. */
static const struct agxc_ref *refs_of(struct agxc_spv *s, uint32_t id,
                                      struct agxc_spv_type **out_type)
{
   const struct agxc_spv_id *entry = agxc_spv_id(s, id);
   if (entry->kind != AGXC_SPV_ID_POINTER || entry->type->kind != AGXC_SPV_POINTER)
      return agxc_spv_value(s, id, out_type);
   *out_type = entry->type;
   return place_refs(s, agxc_spv_pointer_of(s, id));
}

/* Both operands of a comparison or difference, which have one type. */
static const struct agxc_spv_type *two_pointers(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                                const struct agxc_ref **out_a,
                                                const struct agxc_ref **out_b)
{
   uint32_t a = agxc_spv_operand(s, in, 0), b = agxc_spv_operand(s, in, 1);
   struct agxc_spv_type *type, *other;
   *out_a = refs_of(s, a, &type);
   *out_b = refs_of(s, b, &other);
   if (type->kind != AGXC_SPV_POINTER || other != type)
      agxc_spv_invalid(s, "of types %u and %u", type->id, other->id);
   return type;
}

void agxc_spv_op_ptr_compare(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_ref *a, *b;
   const struct agxc_spv_type *type = two_pointers(s, in, &a, &b);
   struct agxc_ref out = agxc_spv_build2(s, AGXC_OP_IEQ, a[0], b[0]);
   if (type->scalars == AGXC_SPV_POINTER_PARTS) {
      struct agxc_ref same =
         agxc_spv_build2(s, AGXC_OP_IEQ, a[AGXC_SPV_POINTER_OFFSET], b[AGXC_SPV_POINTER_OFFSET]);
      out = agxc_spv_build2(s, AGXC_OP_IAND, out, same);
   }
   if (in->opcode == SpvOpPtrNotEqual)
      out = agxc_spv_build1(s, AGXC_OP_INOT, 1, out);
   agxc_spv_define_scalar(s, in, AGXC_SPV_BOOL, out);
}

/* x with odd * x = 1 modulo 2^64; each round doubles the bits that are right, from three. */
static uint64_t inverse(uint64_t odd)
{
   uint64_t x = odd;
   for (int bits = 3; bits < 64; bits *= 2)
      x *= 2 - odd * x;
   return x;
}

/* bytes / stride_B without a rest, cut to result_bits: a shift, and a product with the inverse. */
static struct agxc_ref divide_exactly(struct agxc_spv *s, struct agxc_ref bytes, uint32_t stride_B,
                                      unsigned result_bits)
{
   uint32_t shift = (uint32_t)__builtin_ctz(stride_B);
   struct agxc_ref odd = agxc_spv_build2(s, AGXC_OP_ASHR, bytes, agxc_spv_u32(shift));
   if (result_bits <= 32)
      odd = agxc_spv_resize(s, odd, 32, true);
   return stride_B >> shift == 1
             ? odd
             : agxc_spv_build2(s, AGXC_OP_IMUL, odd,
                               agxc_imm(inverse(stride_B >> shift) & agx_bits(odd.bits), odd.bits));
}

/* In elements; both pointers are into one array, but in device memory may be gigabytes apart. */
void agxc_spv_op_ptr_diff(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_ref *a, *b;
   const struct agxc_spv_type *type = two_pointers(s, in, &a, &b);
   const struct agxc_spv_type *result = agxc_spv_type_of(s, in->type_id);
   uint32_t part = type->scalars == AGXC_SPV_POINTER_PARTS ? AGXC_SPV_POINTER_OFFSET : 0;
   if (agxc_spv_type_is_address(type))
      agxc_spv_invalid(s, "storage class PhysicalStorageBuffer is not allowed: subtract what "
                          "OpConvertPtrToU gives");
   if (result->kind != AGXC_SPV_INT)
      agxc_spv_invalid(s, "result type %u", result->id);
   bool is_shared = type->storage == SpvStorageClassWorkgroup;
   bool is_packed = is_shared && !s->shared_blocks;
   /* Without a stride of the pointer's, elements lie one behind the other. */
   uint32_t stride_B =
      is_packed || !type->stride_B ? agxc_spv_packed_stride(type->elem) : type->stride_B;
   if (!stride_B)
      agxc_spv_invalid(s, "pointer type %u to nothing", type->id);
   unsigned bits = is_shared ? 32 : 64;
   struct agxc_ref from = agxc_spv_resize(s, b[part], bits, false);
   struct agxc_ref to = agxc_spv_resize(s, a[part], bits, false);
   struct agxc_ref bytes = agxc_spv_build2(s, AGXC_OP_ISUB, to, from);
   struct agxc_ref elements = divide_exactly(s, bytes, stride_B, result->bits);
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, agxc_spv_resize(s, elements, result->bits, true));
}

/* OpConvertPtrToU and OpConvertUToPtr: cut, or extended with zeros. */
void agxc_spv_op_ptr_convert(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *from, *to = agxc_spv_type_of(s, in->type_id);
   const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &from);
   bool to_pointer = in->opcode == SpvOpConvertUToPtr;
   const struct agxc_spv_type *pointer = to_pointer ? to : from, *number = to_pointer ? from : to;
   if (pointer->kind != AGXC_SPV_POINTER || number->kind != AGXC_SPV_INT)
      agxc_spv_invalid(s, "from type %u to type %u", from->id, to->id);
   if (!agxc_spv_type_is_address(pointer))
      agxc_spv_missing(
         s, "pointer of storage class %s as a number is not supported: use PhysicalStorageBuffer",
         agxc_spv_storage_name(pointer->storage));
   struct agxc_ref *out = agxc_spv_refs(s, 1);
   out[0] = agxc_spv_resize(s, refs[0], to_pointer ? 64 : to->bits, false);
   agxc_spv_define(s, in, out);
}
