/* SPDX-License-Identifier: MIT
 *
 * Types: made once from their instructions, with flat lengths and explicit layouts. A type names
 * only types defined before it, so that types can't be recursive; depth is limited all the same,
 * because other files recurse over types. module.c calls the readers, all files the queries.
 */
#include "agx/compiler/spirv/module_impl.h"

/* Cooperative matrices: what rows and columns are multiples of, and how many there may be. */
#define MATRIX_BLOCK 8u
#define MATRIX_MOST  64u

bool agxc_spv_type_is_scalar(const struct agxc_spv_type *type)
{
   return type->kind >= AGXC_SPV_BOOL && type->kind <= AGXC_SPV_SMALL_FLOAT;
}

const struct agxc_spv_type *agxc_spv_component(const struct agxc_spv_type *type)
{
   if (type->kind == AGXC_SPV_VECTOR || type->kind == AGXC_SPV_COOPERATIVE)
      return type->elem;
   return agxc_spv_type_is_scalar(type) ? type : NULL;
}

struct agxc_spv_type *agxc_spv_type_of(struct agxc_spv *s, uint32_t id)
{
   struct agxc_spv_id *entry = agxc_spv_id(s, id);
   if (entry->kind != AGXC_SPV_ID_TYPE)
      agxc_spv_invalid(s, "id %u is no type", id);
   return entry->type;
}

static bool is_composite(const struct agxc_spv_type *type)
{
   return type->kind >= AGXC_SPV_VECTOR && type->kind <= AGXC_SPV_STRUCT;
}

uint32_t agxc_spv_scalar_offset(const struct agxc_spv_type *type, uint32_t i)
{
   return type->kind == AGXC_SPV_STRUCT ? type->members[i].first_scalar : type->elem->scalars * i;
}

struct agxc_spv_type *agxc_spv_part_type(struct agxc_spv *s, const struct agxc_spv_type *type,
                                         uint32_t i)
{
   if (!is_composite(type))
      agxc_spv_invalid(s, "type %u has no parts", type->id);
   if (type->kind != AGXC_SPV_RUNTIME_ARRAY && i >= type->count)
      agxc_spv_invalid(s, "index %u into type %u with %u parts", i, type->id, type->count);
   return type->kind == AGXC_SPV_STRUCT ? type->members[i].type : type->elem;
}

bool agxc_spv_has_values(const struct agxc_spv_type *type)
{
   if (type->kind == AGXC_SPV_POINTER)
      return type->scalars > 0;
   return agxc_spv_type_is_scalar(type) ||
          (is_composite(type) && type->kind != AGXC_SPV_RUNTIME_ARRAY);
}

void agxc_spv_check_value_type(struct agxc_spv *s, const struct agxc_spv_type *type)
{
   if (type->kind == AGXC_SPV_POINTER && !type->scalars)
      agxc_spv_missing(s,
                       "pointer of storage class %s as a value is not supported: use its variable "
                       "where it is needed",
                       agxc_spv_storage_name(type->storage));
   if (!agxc_spv_has_values(type))
      agxc_spv_invalid(s, "type %u has no values", type->id);
   if (type->scalars > AGXC_SPV_MAX_SCALARS)
      agxc_spv_missing(s, "value of %u scalars, at most %u: read and write its elements instead",
                       type->scalars, AGXC_SPV_MAX_SCALARS);
}

/* Parts without scalars are skipped: there may be exponentially many. */
static uint8_t *fill_bits(const struct agxc_spv_type *type, uint8_t *at)
{
   static const uint8_t parts[] = {
      [AGXC_SPV_POINTER_BASE] = 64,
      [AGXC_SPV_POINTER_OFFSET] = 32,
      [AGXC_SPV_POINTER_SIZE] = 32,
   };
   if (type->kind == AGXC_SPV_POINTER) {
      memcpy(at, type->scalars == 1 ? &type->bits : parts, type->scalars);
      return at + type->scalars;
   }
   if (agxc_spv_type_is_scalar(type)) {
      *at = type->bits;
      return at + 1;
   }
   for (uint32_t i = 0; i < type->count && type->scalars; i++) {
      const struct agxc_spv_type *part =
         type->kind == AGXC_SPV_STRUCT ? type->members[i].type : type->elem;
      if (part->scalars)
         at = fill_bits(part, at);
   }
   return at;
}

uint8_t *agxc_spv_scalar_bits(struct agxc_spv *s, const struct agxc_spv_type *type)
{
   agxc_spv_check_value_type(s, type);
   uint8_t *bits = AGX_ARENA_ARRAY(s->arena, uint8_t, AGX_MAX(type->scalars, 1u));
   fill_bits(type, bits);
   return bits;
}

bool agxc_spv_same_shape(const struct agxc_spv_type *a, const struct agxc_spv_type *b)
{
   if (a == b)
      return true;
   if (a->kind != b->kind || a->count != b->count || a->scalars != b->scalars ||
       a->scalars > AGXC_SPV_MAX_SCALARS || a->kind == AGXC_SPV_POINTER || a->rows != b->rows ||
       a->columns != b->columns || a->use != b->use)
      return false;
   uint8_t bits_a[AGXC_SPV_MAX_SCALARS], bits_b[AGXC_SPV_MAX_SCALARS];
   fill_bits(a, bits_a);
   fill_bits(b, bits_b);
   return memcmp(bits_a, bits_b, a->scalars) == 0;
}

/* ---- layouts of the module's ------------------------------------------- */

uint32_t agxc_spv_stride(struct agxc_spv *s, const struct agxc_spv_type *type, uint32_t stride_B)
{
   if (stride_B == 0)
      agxc_spv_invalid(s, "type %u has no layout: its stride is 0 or missing", type->id);
   if (stride_B % AGX_MAX(type->align_B, 1u))
      agxc_spv_invalid(s, "type %u: stride %u, parts aligned to %u", type->id, stride_B,
                       type->align_B);
   return stride_B;
}

uint32_t agxc_spv_member_offset(struct agxc_spv *s, const struct agxc_spv_type *type, uint32_t i)
{
   const struct agxc_spv_member *member = &type->members[i];
   if (!member->has_offset)
      agxc_spv_invalid(s, "member %u of type %u has no Offset", i, type->id);
   if (member->offset_B % AGX_MAX(member->type->align_B, 1u))
      agxc_spv_invalid(s, "member %u of type %u at offset %u, aligned to %u", i, type->id,
                       member->offset_B, member->type->align_B);
   return member->offset_B;
}

/* ---- reading ----------------------------------------------------------- */

static uint32_t saturated(uint64_t scalars)
{
   return (uint32_t)AGX_MIN(scalars, (uint64_t)AGXC_SPV_HUGE_SCALARS);
}

static void nest(struct agxc_spv *s, struct agxc_spv_type *type, const struct agxc_spv_type *inner)
{
   type->depth = AGX_MAX(type->depth, inner->depth + 1);
   if (type->depth > AGXC_SPV_MAX_TYPE_DEPTH)
      agxc_spv_missing(s, "type is nested more than %u deep: nest fewer structs and arrays",
                       AGXC_SPV_MAX_TYPE_DEPTH);
}

static void check_stored(struct agxc_spv *s, const struct agxc_spv_type *type)
{
   if (!agxc_spv_type_is_scalar(type) && !is_composite(type) && type->kind != AGXC_SPV_POINTER)
      agxc_spv_invalid(s, "type %u can't be part of a composite", type->id);
}

static void read_number(struct agxc_spv *s, const struct agxc_spv_instr *in,
                        struct agxc_spv_type *type)
{
   bool is_int = in->opcode == SpvOpTypeInt;
   uint32_t bits = agxc_spv_operand(s, in, 0);
   if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
      agxc_spv_invalid(s, "%u bits", bits);
   bool is_encoded = !is_int && agxc_spv_operand_count(in) > 1;
   uint32_t encoding = is_encoded ? agxc_spv_operand(s, in, 1) : 0;
   if (is_encoded ? !agxc_spv_is_small_float(encoding, bits) : !is_int && bits == 8)
      agxc_spv_missing(s,
                       "Float%u%s is not supported: use floats of 16, 32 or 64 bits, BFloat16KHR, "
                       "Float8E4M3EXT or Float8E5M2EXT",
                       bits, is_encoded ? " of that encoding" : " without an encoding");
   type->kind = is_int ? AGXC_SPV_INT : is_encoded ? AGXC_SPV_SMALL_FLOAT : AGXC_SPV_FLOAT;
   type->encoding = (uint16_t)encoding;
   type->bits = (uint8_t)bits;
   type->is_signed = is_int && agxc_spv_operand(s, in, 1) != 0;
   type->scalars = 1;
   type->packed_B = type->align_B = bits / 8;
}

static void read_vector(struct agxc_spv *s, const struct agxc_spv_instr *in,
                        struct agxc_spv_type *type)
{
   bool is_matrix = in->opcode == SpvOpTypeMatrix;
   type->kind = is_matrix ? AGXC_SPV_MATRIX : AGXC_SPV_VECTOR;
   type->elem = agxc_spv_type_of(s, agxc_spv_operand(s, in, 0));
   type->count = agxc_spv_operand(s, in, 1);
   if (type->count < 2 || type->count > 4)
      agxc_spv_invalid(s, "%u components", type->count);
   bool fits = is_matrix
                  ? type->elem->kind == AGXC_SPV_VECTOR && type->elem->elem->kind == AGXC_SPV_FLOAT
                  : agxc_spv_type_is_scalar(type->elem);
   if (!fits)
      agxc_spv_invalid(s, "components of type %u", type->elem->id);
   nest(s, type, type->elem);
   type->scalars = type->count * type->elem->scalars;
   type->packed_B = type->count * type->elem->packed_B;
   type->align_B = type->elem->align_B;
}

/* Whether a constant is one for callers to choose, or is computed from such. */
static bool is_specialized(const struct agxc_spv *s, uint32_t id)
{
   uint32_t opcode = s->words[s->ids[id]->word] & 0xffff;
   return opcode >= SpvOpSpecConstantTrue && opcode <= SpvOpSpecConstantOp;
}

/* An array may be empty where its length is a specialization constant: nothing is in it then. */
static void read_array(struct agxc_spv *s, const struct agxc_spv_instr *in,
                       struct agxc_spv_type *type)
{
   const struct agxc_spv_id *id = agxc_spv_id(s, in->id);
   type->kind = in->opcode == SpvOpTypeArray ? AGXC_SPV_ARRAY : AGXC_SPV_RUNTIME_ARRAY;
   type->elem = agxc_spv_type_of(s, agxc_spv_operand(s, in, 0));
   if (!agxc_spv_type_is_handle(type->elem))
      check_stored(s, type->elem);
   if (type->elem->kind == AGXC_SPV_RUNTIME_ARRAY)
      agxc_spv_invalid(s, "array of runtime arrays");
   nest(s, type, type->elem);
   if (type->kind == AGXC_SPV_ARRAY) {
      uint32_t length = agxc_spv_operand(s, in, 1);
      type->count = agxc_spv_constant_u32(s, length);
      if (type->count == 0 && !is_specialized(s, length))
         agxc_spv_invalid(s, "array without elements");
      type->scalars = saturated((uint64_t)type->count * type->elem->scalars);
      type->packed_B = saturated((uint64_t)type->count * type->elem->packed_B);
   }
   type->align_B = type->elem->align_B;
   const struct agxc_spv_decoration *stride = agxc_spv_decoration(id, SpvDecorationArrayStride);
   type->stride_B = stride ? stride->value : 0;
}

static void read_member(struct agxc_spv *s, const struct agxc_spv_instr *in,
                        struct agxc_spv_type *type, uint32_t i)
{
   struct agxc_spv_member *member = &type->members[i];
   member->type = agxc_spv_type_of(s, agxc_spv_operand(s, in, i));
   check_stored(s, member->type);
   if (member->type->kind == AGXC_SPV_RUNTIME_ARRAY && i + 1 != type->count)
      agxc_spv_invalid(s, "runtime array before the last member");
   nest(s, type, member->type);
   member->first_scalar = type->scalars;
   type->scalars = saturated((uint64_t)type->scalars + member->type->scalars);
   member->packed_offset_B =
      saturated(agx_align_up((uint64_t)type->packed_B, AGX_MAX(member->type->align_B, 1u)));
   type->packed_B = saturated((uint64_t)member->packed_offset_B + member->type->packed_B);
   type->align_B = AGX_MAX(type->align_B, member->type->align_B);
}

/* Walks the list once: structs may have thousands of members. */
static void decorate_members(struct agxc_spv *s, struct agxc_spv_type *type,
                             const struct agxc_spv_id *id)
{
   for (const struct agxc_spv_decoration *d = id->decorations; d; d = d->next) {
      if (d->member == AGXC_SPV_NO_MEMBER)
         continue;
      if (d->member >= type->count)
         agxc_spv_invalid(s, "decoration of member %u of %u", d->member, type->count);
      struct agxc_spv_member *member = &type->members[d->member];
      if (d->kind == SpvDecorationOffset) {
         member->offset_B = d->value;
         member->has_offset = true;
      } else if (d->kind == SpvDecorationMatrixStride) {
         member->matrix_stride_B = d->value;
      }
      member->row_major |= d->kind == SpvDecorationRowMajor;
      member->not_writable |= d->kind == SpvDecorationNonWritable;
      member->coherent |= d->kind == SpvDecorationCoherent || d->kind == SpvDecorationVolatile;
   }
}

/* Bytes of the fixed part, saturated; stride and majorness are a matrix' own. */
static uint64_t size_of(const struct agxc_spv_type *type, const struct agxc_spv_member *member)
{
   const uint64_t most = 1ull << 40;
   uint64_t rows, columns, scalar_B = type->align_B;
   switch (type->kind) {
   case AGXC_SPV_VECTOR:
      return type->packed_B;
   case AGXC_SPV_MATRIX:
      rows = type->elem->count;
      columns = type->count;
      return member->row_major ? (rows - 1) * member->matrix_stride_B + scalar_B * columns
                               : (columns - 1) * member->matrix_stride_B + scalar_B * rows;
   case AGXC_SPV_ARRAY:
      if (type->count == 0)
         return 0;
      return AGX_MIN((type->count - 1) * (uint64_t)type->stride_B, most) +
             size_of(type->elem, member);
   case AGXC_SPV_STRUCT:
      return type->size_B;
   default:
      return type->packed_B;
   }
}

static void read_struct(struct agxc_spv *s, const struct agxc_spv_instr *in,
                        struct agxc_spv_type *type)
{
   const struct agxc_spv_id *id = agxc_spv_id(s, in->id);
   type->kind = AGXC_SPV_STRUCT;
   type->count = agxc_spv_operand_count(in);
   type->members = AGX_ARENA_ARRAY(s->arena, struct agxc_spv_member, AGX_MAX(type->count, 1u));
   for (uint32_t i = 0; i < type->count; i++)
      read_member(s, in, type, i);
   decorate_members(s, type, id);
   /* Arrays of structs step by whole alignments. */
   type->packed_B = saturated(agx_align_up((uint64_t)type->packed_B, AGX_MAX(type->align_B, 1u)));
   for (uint32_t i = 0; i < type->count; i++)
      type->size_B = AGX_MAX(type->size_B, type->members[i].offset_B +
                                              size_of(type->members[i].type, &type->members[i]));
   type->is_old_buffer = agxc_spv_decoration(id, SpvDecorationBufferBlock);
   type->is_block = type->is_old_buffer || agxc_spv_decoration(id, SpvDecorationBlock);
}

/* What a pointer is as a value, by storage class; others have none. */
static void shape_pointer(struct agxc_spv_type *type)
{
   switch (type->storage) {
   case SpvStorageClassPhysicalStorageBuffer:
      type->bits = 64;
      type->scalars = 1;
      type->packed_B = type->align_B = 8;
      break;
   case SpvStorageClassWorkgroup:
      type->bits = 32;
      type->scalars = 1;
      type->packed_B = type->align_B = 4;
      break;
   case SpvStorageClassStorageBuffer:
   case SpvStorageClassUniform:
      type->scalars = AGXC_SPV_POINTER_PARTS;
      type->packed_B = 16;
      type->align_B = 8;
      break;
   default:
      break;
   }
}

static void read_pointer(struct agxc_spv *s, const struct agxc_spv_instr *in,
                         struct agxc_spv_type *type)
{
   const struct agxc_spv_id *id = agxc_spv_id(s, in->id);
   const struct agxc_spv_decoration *stride = agxc_spv_decoration(id, SpvDecorationArrayStride);
   type->kind = AGXC_SPV_POINTER;
   type->storage = agxc_spv_operand(s, in, 0);
   type->elem = agxc_spv_type_of(s, agxc_spv_operand(s, in, 1));
   type->stride_B = stride ? stride->value : 0;
   shape_pointer(type);
   nest(s, type, type->elem);
}

/* A pointer that structs may name before what it points to is known. */
void agxc_spv_read_forward_pointer(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_instr pointer = *in;
   pointer.id = agxc_spv_operand(s, in, 0);
   struct agxc_spv_id *id = agxc_spv_result(s, &pointer);
   struct agxc_spv_type *type = AGX_ARENA_NEW(s->arena, struct agxc_spv_type);
   type->id = pointer.id;
   type->kind = AGXC_SPV_POINTER;
   type->storage = agxc_spv_operand(s, in, 1);
   if (type->storage != SpvStorageClassPhysicalStorageBuffer)
      agxc_spv_invalid(s, "of storage class %s", agxc_spv_storage_name(type->storage));
   shape_pointer(type);
   id->kind = AGXC_SPV_ID_TYPE;
   id->type = type;
}

/* The type of an announced pointer, now that its OpTypePointer has come; or NULL. */
static struct agxc_spv_type *announced(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_id *id = agxc_spv_id(s, in->id);
   bool is_open = in->opcode == SpvOpTypePointer && id->kind == AGXC_SPV_ID_TYPE &&
                  id->type->kind == AGXC_SPV_POINTER && !id->type->elem;
   if (is_open && agxc_spv_operand(s, in, 0) != id->type->storage)
      agxc_spv_invalid(s, "storage class differs from OpTypeForwardPointer's");
   return is_open ? id->type : NULL;
}

static void read_function_type(struct agxc_spv *s, const struct agxc_spv_instr *in,
                               struct agxc_spv_type *type)
{
   type->kind = AGXC_SPV_FUNCTION;
   type->elem = agxc_spv_type_of(s, agxc_spv_operand(s, in, 0));
   type->count = agxc_spv_operand_count(in) - 1;
   type->params = AGX_ARENA_ARRAY(s->arena, struct agxc_spv_type *, AGX_MAX(type->count, 1u));
   for (uint32_t i = 0; i < type->count; i++) {
      type->params[i] = agxc_spv_type_of(s, agxc_spv_operand(s, in, 1 + i));
      if (type->params[i]->kind == AGXC_SPV_VOID || type->params[i]->kind == AGXC_SPV_FUNCTION)
         agxc_spv_invalid(s, "parameter of type %u", type->params[i]->id);
   }
}

static void check_sampled_type(struct agxc_spv *s, const struct agxc_spv_type *type)
{
   if (type->kind != AGXC_SPV_INT && type->kind != AGXC_SPV_FLOAT)
      agxc_spv_missing(
         s, "image of type %u, which is no number, is not supported: give it one of 32 bits",
         type->id);
   if (type->bits != 32)
      agxc_spv_missing(s, "image of %u-bit components is not supported: use 32", type->bits);
}

static void read_image(struct agxc_spv *s, const struct agxc_spv_instr *in,
                       struct agxc_spv_type *type)
{
   static const char *const refused[] = {
      [SpvDimRect] = "Rect", [SpvDimSubpassData] = "SubpassData"};
   uint32_t dim = agxc_spv_operand(s, in, 1), sampled = agxc_spv_operand(s, in, 5);
   type->kind = AGXC_SPV_IMAGE;
   type->elem = agxc_spv_type_of(s, agxc_spv_operand(s, in, 0));
   check_sampled_type(s, type->elem);
   if (dim > SpvDimSubpassData || (sampled != 1 && sampled != 2))
      agxc_spv_missing(s,
                       "image of dimension %u, Sampled %u is not supported: use 1D, 2D, 3D, Cube "
                       "or Buffer, and Sampled 1 or 2",
                       dim, sampled);
   if (dim > SpvDimCube && dim != SpvDimBuffer)
      agxc_spv_missing(s, "image of dimension %s is not supported: use 1D, 2D, 3D, Cube or Buffer",
                       refused[dim]);
   type->image.dim = (uint8_t)dim;
   type->image.is_array = agxc_spv_operand(s, in, 3) != 0;
   type->image.is_multisampled = agxc_spv_operand(s, in, 4) != 0;
   if (type->image.is_multisampled && dim != SpvDim2D)
      agxc_spv_invalid(s, "multisampled image of dimension %u", dim);
   if (dim == SpvDimBuffer && type->image.is_array)
      agxc_spv_invalid(s, "array of layers of texel buffers");
   type->image.is_storage = sampled == 2;
   if (dim == SpvDim3D && type->image.is_array)
      agxc_spv_invalid(s, "array of 3D images");
   s->any_storage_image |= type->image.is_storage;
}

static void read_sampler(struct agxc_spv *s, const struct agxc_spv_instr *in,
                         struct agxc_spv_type *type)
{
   type->kind = AGXC_SPV_SAMPLER;
}

static void read_sampled_image(struct agxc_spv *s, const struct agxc_spv_instr *in,
                               struct agxc_spv_type *type)
{
   type->kind = AGXC_SPV_SAMPLED_IMAGE;
   type->elem = agxc_spv_type_of(s, agxc_spv_operand(s, in, 0));
   if (type->elem->kind != AGXC_SPV_IMAGE || type->elem->image.is_storage)
      agxc_spv_invalid(s, "type %u can't be sampled", type->elem->id);
}

static uint32_t read_size(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i)
{
   uint32_t size = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, i));
   if (size == 0 || size % MATRIX_BLOCK || size > MATRIX_MOST)
      agxc_spv_missing(s, "cooperative matrix with %u %s: multiples of 8 up to %u", size,
                       i == 2 ? "rows" : "columns", MATRIX_MOST);
   return size;
}

static void read_cooperative(struct agxc_spv *s, const struct agxc_spv_instr *in,
                             struct agxc_spv_type *type)
{
   type->kind = AGXC_SPV_COOPERATIVE;
   type->elem = agxc_spv_type_of(s, agxc_spv_operand(s, in, 0));
   uint32_t scope = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1));
   if (scope != SpvScopeSubgroup)
      agxc_spv_missing(s, "cooperative matrix of scope %u: Subgroup (3) only", scope);
   bool is_number = type->elem->kind == AGXC_SPV_INT || type->elem->kind == AGXC_SPV_FLOAT;
   if (!is_number || type->elem->bits > 32)
      agxc_spv_missing(s,
                       "cooperative matrix with components of type %u is not supported: use "
                       "integers of at most 32 bits, or floats of 16 or 32",
                       type->elem->id);
   type->rows = read_size(s, in, 2);
   type->columns = read_size(s, in, 3);
   type->use = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 4));
   if (type->use > AGXC_SPV_USE_ACCUMULATOR)
      agxc_spv_invalid(s, "use %u", type->use);
   type->count = type->scalars = type->rows * type->columns / AGX_SIMD_LANES;
   type->packed_B = type->scalars * type->elem->packed_B;
   type->align_B = type->elem->align_B;
   type->depth = 1;
}

static void read_void(struct agxc_spv *s, const struct agxc_spv_instr *in,
                      struct agxc_spv_type *type)
{
   type->kind = AGXC_SPV_VOID;
}

static void read_bool(struct agxc_spv *s, const struct agxc_spv_instr *in,
                      struct agxc_spv_type *type)
{
   type->kind = AGXC_SPV_BOOL;
   type->bits = 1;
   type->scalars = 1;
   type->packed_B = type->align_B = 4;
}

static const struct {
   uint16_t opcode;
   void (*read)(struct agxc_spv *s, const struct agxc_spv_instr *in, struct agxc_spv_type *type);
} readers[] = {
   {SpvOpTypeVoid, read_void},
   {SpvOpTypeBool, read_bool},
   {SpvOpTypeInt, read_number},
   {SpvOpTypeFloat, read_number},
   {SpvOpTypeVector, read_vector},
   {SpvOpTypeMatrix, read_vector},
   {SpvOpTypeCooperativeMatrixKHR, read_cooperative},
   {SpvOpTypeArray, read_array},
   {SpvOpTypeRuntimeArray, read_array},
   {SpvOpTypeStruct, read_struct},
   {SpvOpTypePointer, read_pointer},
   {SpvOpTypeImage, read_image},
   {SpvOpTypeSampler, read_sampler},
   {SpvOpTypeSampledImage, read_sampled_image},
   {SpvOpTypeFunction, read_function_type},
};

void agxc_spv_read_type(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = announced(s, in);
   struct agxc_spv_id *id = type ? agxc_spv_id(s, in->id) : agxc_spv_result(s, in);
   if (!type)
      type = AGX_ARENA_NEW(s->arena, struct agxc_spv_type);
   type->id = in->id;
   for (size_t i = 0; i < AGX_COUNT(readers); i++)
      if (readers[i].opcode == in->opcode)
         readers[i].read(s, in, type);
   id->kind = AGXC_SPV_ID_TYPE;
   id->type = type;
}
