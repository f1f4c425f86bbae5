/* SPDX-License-Identifier: MIT
 *
 * Building, taking apart and rearranging vectors, matrices, arrays and structs, which moves scalars
 * about and emits nothing; and products of matrices. handler.c calls the functions, for constants
 * too.
 */
#include "agx/compiler/spirv/handler_impl.h"

/* ---- parts ------------------------------------------------------------- */

/* Vectors may be made of scalars and shorter vectors; all else of its parts. */
void agxc_spv_op_construct(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   agxc_spv_check_value_type(s, type);
   if (agxc_spv_type_is_scalar(type))
      agxc_spv_invalid(s, "composite of scalar type %u", type->id);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   uint32_t filled = 0, count = agxc_spv_operand_count(in);
   if (type->kind == AGXC_SPV_COOPERATIVE) { /* all elements are its one part */
      struct agxc_ref part = agxc_spv_value_like(s, agxc_spv_operand(s, in, 0), type->elem)[0];
      for (uint32_t i = 0; i < type->scalars; i++)
         out[i] = part;
      agxc_spv_define(s, in, out);
      return;
   }
   if (type->kind != AGXC_SPV_VECTOR && count != type->count)
      agxc_spv_invalid(s, "%u parts for type %u with %u", count, type->id, type->count);
   for (uint32_t i = 0; i < count; i++) {
      struct agxc_spv_type *part;
      const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, i), &part);
      bool fits = type->kind == AGXC_SPV_VECTOR
                     ? agxc_spv_component(part) == type->elem
                     : agxc_spv_same_shape(part, agxc_spv_part_type(s, type, i));
      if (!fits || part->scalars > type->scalars - filled)
         agxc_spv_invalid(s, "part %u of type %u for type %u", i, part->id, type->id);
      for (uint32_t j = 0; j < part->scalars; j++)
         out[filled++] = refs[j];
   }
   if (filled != type->scalars)
      agxc_spv_invalid(s, "%u scalars for type %u with %u", filled, type->id, type->scalars);
   agxc_spv_define(s, in, out);
}

/* All parts are one value; so are the elements of a cooperative matrix. */
void agxc_spv_op_replicate(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   agxc_spv_check_value_type(s, type);
   if (agxc_spv_type_is_scalar(type) || type->kind == AGXC_SPV_POINTER)
      agxc_spv_invalid(s, "composite of type %u, which has no parts", type->id);
   struct agxc_spv_type *part;
   const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &part);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   uint32_t filled = 0;
   for (uint32_t i = 0; i < type->count; i++) {
      if (!agxc_spv_same_shape(part, agxc_spv_part_type(s, type, i)))
         agxc_spv_invalid(s, "part %u of type %u for type %u", i, part->id, type->id);
      for (uint32_t j = 0; j < part->scalars; j++)
         out[filled++] = refs[j];
   }
   agxc_spv_define(s, in, out);
}

/* Follows literal indices from operand first on; returns the scalar they lead to. */
static uint32_t follow(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t first,
                       struct agxc_spv_type **type)
{
   uint32_t offset = 0;
   for (uint32_t i = first; i < agxc_spv_operand_count(in); i++) {
      uint32_t index = agxc_spv_operand(s, in, i);
      struct agxc_spv_type *part = agxc_spv_part_type(s, *type, index);
      offset += agxc_spv_scalar_offset(*type, index);
      *type = part;
   }
   return offset;
}

void agxc_spv_op_extract(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type;
   struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &type);
   uint32_t offset = follow(s, in, 1, &type);
   if (agxc_spv_type_of(s, in->type_id) != type)
      agxc_spv_invalid(s, "result type %u, part of type %u", in->type_id, type->id);
   agxc_spv_define(s, in, refs + offset);
}

void agxc_spv_op_insert(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id), *part = type;
   uint32_t offset = follow(s, in, 2, &part);
   const struct agxc_ref *object = agxc_spv_value_like(s, agxc_spv_operand(s, in, 0), part);
   const struct agxc_ref *base = agxc_spv_value_like(s, agxc_spv_operand(s, in, 1), type);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   memcpy(out, base, type->scalars * sizeof(*out));
   memcpy(out + offset, object, part->scalars * sizeof(*out));
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_shuffle(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id), *a_type, *b_type;
   const struct agxc_ref *a = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &a_type);
   const struct agxc_ref *b = agxc_spv_value(s, agxc_spv_operand(s, in, 1), &b_type);
   if (type->kind != AGXC_SPV_VECTOR || a_type->kind != AGXC_SPV_VECTOR ||
       b_type->kind != AGXC_SPV_VECTOR || a_type->elem != type->elem ||
       b_type->elem != type->elem || agxc_spv_operand_count(in) != 2 + type->count)
      agxc_spv_invalid(s, "of types %u and %u to type %u", a_type->id, b_type->id, type->id);
   struct agxc_ref *out = agxc_spv_refs(s, type->count);
   for (uint32_t i = 0; i < type->count; i++) {
      uint32_t from = agxc_spv_operand(s, in, 2 + i);
      if (from == 0xffffffffu)
         out[i] = agxc_imm(0, type->elem->bits);
      else if (from >= a_type->count + b_type->count)
         agxc_spv_invalid(s, "component %u", from);
      else
         out[i] = from < a_type->count ? a[from] : b[from - a_type->count];
   }
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_vector_extract(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &type);
   if (type->kind != AGXC_SPV_VECTOR || agxc_spv_type_of(s, in->type_id) != type->elem)
      agxc_spv_invalid(s, "of type %u", type->id);
   struct agxc_ref index = agxc_spv_index(s, agxc_spv_operand(s, in, 1));
   struct agxc_ref out = refs[0];
   for (uint32_t i = 1; i < type->count; i++) {
      struct agxc_ref hit = agxc_spv_build2(s, AGXC_OP_IEQ, index, agxc_spv_u32(i));
      out = agxc_spv_select(s, hit, refs[i], out);
   }
   agxc_spv_define_scalar(s, in, type->elem->kind, out);
}

void agxc_spv_op_vector_insert(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (type->kind != AGXC_SPV_VECTOR)
      agxc_spv_invalid(s, "of type %u", type->id);
   const struct agxc_ref *refs = agxc_spv_value_like(s, agxc_spv_operand(s, in, 0), type);
   struct agxc_ref object = agxc_spv_value_like(s, agxc_spv_operand(s, in, 1), type->elem)[0];
   struct agxc_ref index = agxc_spv_index(s, agxc_spv_operand(s, in, 2));
   struct agxc_ref *out = agxc_spv_refs(s, type->count);
   for (uint32_t i = 0; i < type->count; i++) {
      struct agxc_ref hit = agxc_spv_build2(s, AGXC_OP_IEQ, index, agxc_spv_u32(i));
      out[i] = agxc_spv_select(s, hit, object, refs[i]);
   }
   agxc_spv_define(s, in, out);
}

/* ---- products ---------------------------------------------------------- */

/* A matrix or vector of floats: scalar (column, row) is at[column * rows + row]. */
struct grid {
   const struct agxc_ref *at;
   uint32_t columns, rows;
};

static bool has_floats(const struct agxc_spv_type *type)
{
   return type->kind == AGXC_SPV_MATRIX ||
          (type->kind == AGXC_SPV_VECTOR && type->elem->kind == AGXC_SPV_FLOAT);
}

/* Vectors count as one column, or as one row. */
static struct grid operand_grid(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i,
                                enum agxc_spv_kind kind, bool as_row)
{
   struct agxc_spv_type *type;
   struct grid g = {.at = agxc_spv_value(s, agxc_spv_operand(s, in, i), &type)};
   if (type->kind != kind || !has_floats(type))
      agxc_spv_invalid(s, "operand %u has type %u", i, type->id);
   if (kind == AGXC_SPV_MATRIX)
      g.columns = type->count, g.rows = type->elem->count;
   else
      g.columns = as_row ? type->count : 1, g.rows = as_row ? 1 : type->count;
   return g;
}

/* The sum of products of a's row and b's column. */
static struct agxc_ref row_by_column(struct agxc_spv *s, struct grid a, uint32_t row, struct grid b,
                                     uint32_t column)
{
   struct agxc_ref sum = agxc_none();
   for (uint32_t k = 0; k < a.columns; k++) {
      struct agxc_ref x = a.at[k * a.rows + row], y = b.at[column * b.rows + k];
      struct agxc_ref product = agxc_spv_build2(s, AGXC_OP_FMUL, x, y);
      sum = k ? agxc_spv_build2(s, AGXC_OP_FADD, sum, product) : product;
   }
   return sum;
}

static void define_product(struct agxc_spv *s, const struct agxc_spv_instr *in, struct grid a,
                           struct grid b)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   bool is_float = has_floats(type) || type->kind == AGXC_SPV_FLOAT;
   unsigned bits = agxc_spv_scalar_bits(s, type)[0];
   if (a.columns != b.rows || !is_float || type->scalars != a.rows * b.columns ||
       a.at[0].bits != bits || b.at[0].bits != bits)
      agxc_spv_invalid(s, "%ux%u by %ux%u to type %u", a.columns, a.rows, b.columns, b.rows,
                       type->id);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t column = 0; column < b.columns; column++)
      for (uint32_t row = 0; row < a.rows; row++)
         out[column * a.rows + row] = row_by_column(s, a, row, b, column);
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_vector_times_matrix(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct grid a = operand_grid(s, in, 0, AGXC_SPV_VECTOR, true);
   define_product(s, in, a, operand_grid(s, in, 1, AGXC_SPV_MATRIX, false));
}

void agxc_spv_op_matrix_times_vector(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct grid a = operand_grid(s, in, 0, AGXC_SPV_MATRIX, false);
   define_product(s, in, a, operand_grid(s, in, 1, AGXC_SPV_VECTOR, false));
}

void agxc_spv_op_matrix_times_matrix(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct grid a = operand_grid(s, in, 0, AGXC_SPV_MATRIX, false);
   define_product(s, in, a, operand_grid(s, in, 1, AGXC_SPV_MATRIX, false));
}

void agxc_spv_op_outer_product(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct grid a = operand_grid(s, in, 0, AGXC_SPV_VECTOR, false);
   define_product(s, in, a, operand_grid(s, in, 1, AGXC_SPV_VECTOR, true));
}

void agxc_spv_op_dot(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct grid a = operand_grid(s, in, 0, AGXC_SPV_VECTOR, true);
   define_product(s, in, a, operand_grid(s, in, 1, AGXC_SPV_VECTOR, false));
}

void agxc_spv_op_times_scalar(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (!has_floats(type) && type->kind != AGXC_SPV_COOPERATIVE)
      agxc_spv_invalid(s, "result type %u", type->id);
   const struct agxc_ref *refs = agxc_spv_value_like(s, agxc_spv_operand(s, in, 0), type);
   bool is_int = type->kind == AGXC_SPV_COOPERATIVE && type->elem->kind == AGXC_SPV_INT;
   struct agxc_ref scalar =
      agxc_spv_scalar(s, agxc_spv_operand(s, in, 1), is_int ? AGXC_SPV_INT : AGXC_SPV_FLOAT);
   if (scalar.bits != agxc_spv_scalar_bits(s, type)[0])
      agxc_spv_invalid(s, "scalar of %u bits", scalar.bits);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] = agxc_spv_as_written(
         agxc_spv_build2(s, is_int ? AGXC_OP_IMUL : AGXC_OP_FMUL, refs[i], scalar));
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_transpose(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   struct grid g = operand_grid(s, in, 0, AGXC_SPV_MATRIX, false);
   if (type->kind != AGXC_SPV_MATRIX || type->count != g.rows || type->elem->count != g.columns)
      agxc_spv_invalid(s, "result type %u", type->id);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t column = 0; column < g.columns; column++)
      for (uint32_t row = 0; row < g.rows; row++)
         out[row * g.columns + column] = g.at[column * g.rows + row];
   agxc_spv_define(s, in, out);
}
