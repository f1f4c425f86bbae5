/* SPDX-License-Identifier: MIT
 *
 * Functions of GLSL.std.450 over whole vectors and matrices, functions with two
 * results, and packing. Halves are widened on the way in and rounded on the way out; what has 64
 * bits keeps them.
 */
#include "agx/compiler/spirv/glsl_impl.h"
#include "agx/compiler/spirv/memory_impl.h"

/* A vector (or scalar) of floats of 32 or 64 bits. */
struct floats {
   const struct agxc_ref *at;
   uint32_t count;
};

static struct floats widened(struct agxc_spv *s, const struct agxc_ref *refs, uint32_t count)
{
   struct agxc_ref *wide = agxc_spv_refs(s, count);
   for (uint32_t i = 0; i < count; i++)
      wide[i] = agxc_spv_glsl_to_bits(s, refs[i], AGX_MAX(refs[i].bits, 32u));
   return (struct floats){wide, count};
}

static struct floats operand(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i)
{
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, i), &type);
   const struct agxc_spv_type *component = agxc_spv_component(type);
   if (!component || component->kind != AGXC_SPV_FLOAT)
      agxc_spv_invalid(s, "operand %u of type %u", i, type->id);
   return widened(s, refs, type->scalars);
}

/* Operand i, of that many components, which have as many bits as those of operand 0: 32 where that
 * has fewer. */
static struct floats operand_of(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i,
                                uint32_t count)
{
   struct floats v = operand(s, in, i);
   if (v.count != count)
      agxc_spv_invalid(s, "operand %u has %u components, %u expected", i, v.count, count);
   struct agxc_spv_type *first;
   agxc_spv_value(s, agxc_spv_operand(s, in, 0), &first);
   const struct agxc_spv_type *component = agxc_spv_component(first);
   unsigned bits = component ? AGX_MAX(component->bits, 32u) : 0;
   if (v.at[0].bits != bits)
      agxc_spv_invalid(s, "operand %u has %u bits, operand 0 %u", i, v.at[0].bits, bits);
   return v;
}

/* Room for the result, which must consist of that many floats. */
static struct agxc_ref *result(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t count)
{
   if (agxc_spv_result_type(s, in, AGXC_SPV_FLOAT)->scalars != count)
      agxc_spv_invalid(s, "result type %u", in->type_id);
   return agxc_spv_refs(s, count);
}

/* Publishes the result, rounded to its type. */
static void define(struct agxc_spv *s, const struct agxc_spv_instr *in, struct agxc_ref *out)
{
   const struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   const uint8_t *bits = agxc_spv_scalar_bits(s, type);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] = agxc_spv_glsl_to_bits(s, out[i], bits[i]);
   agxc_spv_define(s, in, out);
}

/* A constant as wide as they are. */
static struct agxc_ref number_like(struct floats v, float value)
{
   return agxc_spv_glsl_float(value, v.at[0].bits);
}

static struct agxc_ref dot(struct agxc_spv *s, struct floats a, struct floats b)
{
   struct agxc_ref sum = agxc_spv_fmul(s, a.at[0], b.at[0]);
   for (uint32_t i = 1; i < a.count; i++)
      sum = agxc_spv_ffma(s, a.at[i], b.at[i], sum);
   return sum;
}

/* ---- geometry ---------------------------------------------------------- */

void agxc_spv_glsl_length(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   struct floats v = operand(s, in, 0);
   struct agxc_ref *out = result(s, in, 1);
   if (number == GLSLstd450Distance) {
      struct floats to = operand_of(s, in, 1, v.count);
      struct agxc_ref *difference = agxc_spv_refs(s, v.count);
      for (uint32_t i = 0; i < v.count; i++)
         difference[i] = agxc_spv_fsub(s, v.at[i], to.at[i]);
      v.at = difference;
   }
   out[0] = v.count == 1 ? agxc_spv_fop(s, AGXC_OP_FABS, v.at[0])
                         : agxc_spv_fop(s, AGXC_OP_FSQRT, dot(s, v, v));
   define(s, in, out);
}

void agxc_spv_glsl_cross(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   struct floats a = operand_of(s, in, 0, 3), b = operand_of(s, in, 1, 3);
   struct agxc_ref *out = result(s, in, 3);
   for (uint32_t i = 0; i < 3; i++) {
      uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
      struct agxc_ref first = agxc_spv_fmul(s, a.at[j], b.at[k]);
      out[i] = agxc_spv_fsub(s, first, agxc_spv_fmul(s, b.at[j], a.at[k]));
   }
   define(s, in, out);
}

void agxc_spv_glsl_normalize(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   struct floats v = operand(s, in, 0);
   struct agxc_ref *out = result(s, in, v.count);
   struct agxc_ref scale = agxc_spv_fop(s, AGXC_OP_FRSQRT, dot(s, v, v));
   for (uint32_t i = 0; i < v.count; i++)
      out[i] = agxc_spv_fmul(s, v.at[i], scale);
   define(s, in, out);
}

void agxc_spv_glsl_face_forward(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                uint32_t number)
{
   struct floats n = operand(s, in, 0);
   struct floats i = operand_of(s, in, 1, n.count), reference = operand_of(s, in, 2, n.count);
   struct agxc_ref *out = result(s, in, n.count);
   struct agxc_ref away = agxc_spv_build2(s, AGXC_OP_FLT, dot(s, reference, i), number_like(n, 0));
   for (uint32_t c = 0; c < n.count; c++)
      out[c] = agxc_spv_select(s, away, n.at[c], agxc_spv_fop(s, AGXC_OP_FNEG, n.at[c]));
   define(s, in, out);
}

void agxc_spv_glsl_reflect(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   struct floats i = operand(s, in, 0), n = operand_of(s, in, 1, i.count);
   struct agxc_ref *out = result(s, in, i.count);
   struct agxc_ref scale = agxc_spv_fmul(s, dot(s, n, i), number_like(n, -2));
   for (uint32_t c = 0; c < i.count; c++)
      out[c] = agxc_spv_ffma(s, scale, n.at[c], i.at[c]);
   define(s, in, out);
}

void agxc_spv_glsl_refract(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   struct floats i = operand(s, in, 0), n = operand_of(s, in, 1, i.count);
   struct floats ratio = operand(s, in, 2); /* may be narrower */
   struct agxc_ref eta = agxc_spv_glsl_to_bits(s, ratio.at[0], i.at[0].bits);
   struct agxc_ref *out = result(s, in, i.count);
   if (ratio.count != 1)
      agxc_spv_invalid(s, "operand 2 has %u components, 1 expected", ratio.count);
   struct agxc_ref d = dot(s, n, i), one = number_like(i, 1), zero = number_like(i, 0);
   struct agxc_ref rest = agxc_spv_fsub(s, one, agxc_spv_fmul(s, d, d));
   struct agxc_ref k = agxc_spv_fsub(s, one, agxc_spv_fmul(s, agxc_spv_fmul(s, eta, eta), rest));
   struct agxc_ref total = agxc_spv_build2(s, AGXC_OP_FLT, k, zero);
   struct agxc_ref scale = agxc_spv_ffma(s, eta, d, agxc_spv_fop(s, AGXC_OP_FSQRT, k));
   for (uint32_t c = 0; c < i.count; c++) {
      struct agxc_ref bent = agxc_spv_fmul(s, eta, i.at[c]);
      bent = agxc_spv_fsub(s, bent, agxc_spv_fmul(s, scale, n.at[c]));
      out[c] = agxc_spv_select(s, total, zero, bent);
   }
   define(s, in, out);
}

/* ---- two results ------------------------------------------------------- */

static void modf_of(struct agxc_spv *s, struct agxc_ref x, struct agxc_ref *part,
                    struct agxc_ref *whole)
{
   *whole = agxc_spv_fop(s, AGXC_OP_FTRUNC, x);
   *part = agxc_spv_fsub(s, x, *whole);
}

/* The mantissa in 1/2 .. 1 and the power of two; both 0 for zeros and denormals. */
static void frexp_of(struct agxc_spv *s, struct agxc_ref x, struct agxc_ref *mantissa,
                     struct agxc_ref *exponent)
{
   struct agxc_ref size = agxc_spv_build2(s, AGXC_OP_IAND, x, agxc_spv_u32(0x7fffffffu));
   struct agxc_ref tiny = agxc_spv_build2(s, AGXC_OP_ULT, size, agxc_spv_u32(0x00800000u));
   struct agxc_ref power = agxc_spv_build2(s, AGXC_OP_USHR, size, agxc_spv_u32(23));
   power = agxc_spv_build2(s, AGXC_OP_ISUB, power, agxc_spv_u32(126));
   struct agxc_ref bits = agxc_spv_build2(s, AGXC_OP_IAND, x, agxc_spv_u32(0x807fffffu));
   bits = agxc_spv_build2(s, AGXC_OP_IOR, bits, agxc_spv_u32(0x3f000000u));
   struct agxc_ref zero = agxc_spv_build2(s, AGXC_OP_IAND, x, agxc_spv_u32(0x80000000u));
   *mantissa = agxc_spv_select(s, tiny, zero, bits);
   *exponent = agxc_spv_select(s, tiny, agxc_spv_u32(0), power);
}

/* The same of 64 bits: denormals are brought up first. */
static void frexp_of_long(struct agxc_spv *s, struct agxc_ref x, struct agxc_ref *mantissa,
                          struct agxc_ref *exponent)
{
   const uint64_t sign = 1ull << 63, fraction = (1ull << 52) - 1, most = 0x7ffull << 52;
   struct agxc_ref size = agxc_spv_build2(s, AGXC_OP_IAND, x, agxc_imm(sign - 1, 64));
   struct agxc_ref tiny = agxc_spv_build2(s, AGXC_OP_ULT, size, agxc_imm(fraction + 1, 64));
   struct agxc_ref top = agxc_spv_build1(s, AGXC_OP_FIND_UMSB, 64, size);
   struct agxc_ref up = agxc_spv_build2(s, AGXC_OP_ISUB, agxc_imm(52, 64), top);
   up = agxc_spv_build1(s, AGXC_OP_TRUNC, 32, agxc_spv_select(s, tiny, up, agxc_imm(0, 64)));
   struct agxc_ref power = agxc_spv_build2(s, AGXC_OP_USHR, size, agxc_spv_u32(52));
   power = agxc_spv_build1(s, AGXC_OP_TRUNC, 32, power);
   power = agxc_spv_build2(s, AGXC_OP_UMAX, power, agxc_spv_u32(1));
   power = agxc_spv_build2(s, AGXC_OP_ISUB, power, agxc_spv_u32(1022));
   power = agxc_spv_build2(s, AGXC_OP_ISUB, power, up);
   struct agxc_ref bits = agxc_spv_build2(s, AGXC_OP_ISHL, size, up);
   bits = agxc_spv_build2(s, AGXC_OP_IAND, bits, agxc_imm(fraction, 64));
   struct agxc_ref negative = agxc_spv_build2(s, AGXC_OP_IAND, x, agxc_imm(sign, 64));
   bits = agxc_spv_build2(s, AGXC_OP_IOR, bits, agxc_imm(1022ull << 52, 64));
   bits = agxc_spv_build2(s, AGXC_OP_IOR, bits, negative);
   struct agxc_ref zero = agxc_spv_build2(s, AGXC_OP_IEQ, size, agxc_imm(0, 64));
   struct agxc_ref same = agxc_spv_build2(s, AGXC_OP_UGE, size, agxc_imm(most, 64));
   same = agxc_spv_build2(s, AGXC_OP_IOR, same, zero);
   *mantissa = agxc_spv_select(s, same, x, bits);
   *exponent = agxc_spv_select(s, same, agxc_spv_u32(0), power);
}

/* The second result goes into a struct, or through a pointer. */
void agxc_spv_glsl_split(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   bool in_struct = number == GLSLstd450ModfStruct || number == GLSLstd450FrexpStruct;
   bool is_modf = number == GLSLstd450ModfStruct || number == GLSLstd450Modf;
   struct floats x = operand(s, in, 0);
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id), *first = type, *second;
   struct agxc_spv_pointer *p = NULL;
   if (in_struct) {
      if (type->kind != AGXC_SPV_STRUCT || type->count != 2)
         agxc_spv_invalid(s, "result type %u", type->id);
      first = type->members[0].type;
      second = type->members[1].type;
   } else {
      p = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 1));
      second = p->type;
   }
   const struct agxc_spv_type *a = agxc_spv_component(first), *b = agxc_spv_component(second);
   if (!a || !b || a->kind != AGXC_SPV_FLOAT ||
       b->kind != (is_modf ? AGXC_SPV_FLOAT : AGXC_SPV_INT) || first->scalars != x.count ||
       second->scalars != x.count)
      agxc_spv_invalid(s, "result types %u and %u", first->id, second->id);
   struct agxc_ref *out = agxc_spv_refs(s, 2 * x.count);
   for (uint32_t i = 0; i < x.count; i++) {
      struct agxc_ref *low = &out[i], *high = &out[x.count + i];
      bool is_long = x.at[i].bits == 64;
      (is_modf ? modf_of : is_long ? frexp_of_long : frexp_of)(s, x.at[i], low, high);
      *low = agxc_spv_glsl_to_bits(s, *low, a->bits);
      *high = is_modf ? agxc_spv_glsl_to_bits(s, *high, b->bits)
                      : agxc_spv_resize(s, *high, b->bits, true);
   }
   if (p)
      agxc_spv_store(s, p, out + x.count, false);
   agxc_spv_define(s, in, out);
}

/* ---- matrices ---------------------------------------------------------- */

/* A square matrix: element (row, column) is at[column * n + row]. */
static struct floats square(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t *out_n)
{
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &type);
   if (type->kind != AGXC_SPV_MATRIX || type->count != type->elem->count)
      agxc_spv_invalid(s, "operand of type %u is no square matrix", type->id);
   *out_n = type->count;
   return widened(s, refs, type->scalars);
}

/* The matrix without a row and a column. */
static void without(const struct agxc_ref *m, uint32_t n, uint32_t row, uint32_t column,
                    struct agxc_ref *out)
{
   for (uint32_t c = 0; c < n; c++)
      for (uint32_t r = 0; r < n; r++)
         if (c != column && r != row)
            *out++ = m[c * n + r];
}

static struct agxc_ref determinant(struct agxc_spv *s, const struct agxc_ref *m, uint32_t n)
{
   if (n == 1)
      return m[0];
   struct agxc_ref sum = agxc_none();
   for (uint32_t c = 0; c < n; c++) {
      struct agxc_ref minor[9];
      without(m, n, 0, c, minor);
      struct agxc_ref term = agxc_spv_fmul(s, m[c * n], determinant(s, minor, n - 1));
      if (c == 0)
         sum = term;
      else
         sum = c % 2 ? agxc_spv_fsub(s, sum, term) : agxc_spv_fadd(s, sum, term);
   }
   return sum;
}

void agxc_spv_glsl_determinant(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   uint32_t n;
   struct floats m = square(s, in, &n);
   struct agxc_ref *out = result(s, in, 1);
   out[0] = determinant(s, m.at, n);
   define(s, in, out);
}

void agxc_spv_glsl_inverse(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   uint32_t n;
   struct floats m = square(s, in, &n);
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (type->kind != AGXC_SPV_MATRIX || type->count != n || type->elem->count != n)
      agxc_spv_invalid(s, "result type %u", type->id);
   struct agxc_ref *out = agxc_spv_refs(s, m.count);
   struct agxc_ref scale = agxc_spv_fop(s, AGXC_OP_FRCP, determinant(s, m.at, n));
   for (uint32_t c = 0; c < n; c++)
      for (uint32_t r = 0; r < n; r++) {
         struct agxc_ref minor[9];
         without(m.at, n, c, r, minor); /* the adjugate is transposed */
         struct agxc_ref cofactor = agxc_spv_fmul(s, determinant(s, minor, n - 1), scale);
         out[c * n + r] = (c + r) % 2 ? agxc_spv_fop(s, AGXC_OP_FNEG, cofactor) : cofactor;
      }
   define(s, in, out);
}

/* ---- packing ----------------------------------------------------------- */

struct packing {
   uint32_t pack, unpack, count, bits;
   bool is_signed;
   float scale; /* 0: half floats */
};

static const struct packing packings[] = {
   {GLSLstd450PackSnorm4x8, GLSLstd450UnpackSnorm4x8, 4, 8, true, 127},
   {GLSLstd450PackUnorm4x8, GLSLstd450UnpackUnorm4x8, 4, 8, false, 255},
   {GLSLstd450PackSnorm2x16, GLSLstd450UnpackSnorm2x16, 2, 16, true, 32767},
   {GLSLstd450PackUnorm2x16, GLSLstd450UnpackUnorm2x16, 2, 16, false, 65535},
   {GLSLstd450PackHalf2x16, GLSLstd450UnpackHalf2x16, 2, 16, false, 0},
};

static const struct packing *find_packing(uint32_t number)
{
   size_t i = 0;
   while (packings[i].pack != number && packings[i].unpack != number)
      i++;
   return &packings[i];
}

/* A component as an integer with nothing above its bits. */
static struct agxc_ref quantized(struct agxc_spv *s, const struct packing *p, struct agxc_ref x)
{
   if (p->scale == 0)
      return agxc_spv_build1(s, AGXC_OP_F2F, 16, x);
   struct agxc_ref range[] = {x, agxc_spv_f32(p->is_signed ? -1 : 0), agxc_spv_f32(1)};
   struct agxc_ref scaled =
      agxc_spv_fmul(s, agxc_spv_glsl_fclamp(s, range), agxc_spv_f32(p->scale));
   struct agxc_ref whole = agxc_spv_build1(s, p->is_signed ? AGXC_OP_F2S : AGXC_OP_F2U, 32,
                                           agxc_spv_fop(s, AGXC_OP_FRINT, scaled));
   return agxc_spv_build2(s, AGXC_OP_IAND, whole, agxc_spv_u32((uint32_t)agx_bits(p->bits)));
}

void agxc_spv_glsl_pack(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   const struct packing *p = find_packing(number);
   struct floats v = operand_of(s, in, 0, p->count);
   if (v.at[0].bits != 32)
      agxc_spv_invalid(s, "operand of %u bits", v.at[0].bits);
   struct agxc_ref parts[4] = {0};
   for (uint32_t i = 0; i < p->count; i++)
      parts[i] = quantized(s, p, v.at[i]);
   if (p->scale == 0) {
      agxc_spv_define_scalar(s, in, AGXC_SPV_INT,
                             agxc_spv_build2(s, AGXC_OP_PACK32, parts[0], parts[1]));
      return;
   }
   struct agxc_ref word = parts[0];
   for (uint32_t i = 1; i < p->count; i++) {
      struct agxc_ref moved = agxc_spv_build2(s, AGXC_OP_ISHL, parts[i], agxc_spv_u32(i * p->bits));
      word = agxc_spv_build2(s, AGXC_OP_IOR, word, moved);
   }
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, word);
}

/* A 64-bit float of two words, and back. */
void agxc_spv_glsl_pack_double(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   bool packs = number == GLSLstd450PackDouble2x32;
   const struct agxc_ref *refs =
      agxc_spv_components(s, in, 0, packs ? AGXC_SPV_INT : AGXC_SPV_FLOAT, packs ? 2 : 1);
   struct agxc_spv_type *type = agxc_spv_result_type(s, in, packs ? AGXC_SPV_FLOAT : AGXC_SPV_INT);
   struct agxc_ref *out = agxc_spv_refs(s, 2);
   unsigned given = agxc_spv_component(type)->bits;
   if (refs[0].bits != (packs ? 32 : 64) || given != (packs ? 64 : 32) ||
       type->scalars != (packs ? 1 : 2))
      agxc_spv_invalid(s, "operand of %u bits, result of %u", refs[0].bits, given);
   if (packs)
      out[0] = agxc_spv_build2(s, AGXC_OP_PACK64, refs[0], refs[1]);
   else
      agxc_spv_unpack(s, refs[0], &out[0], &out[1]);
   agxc_spv_define(s, in, out);
}

void agxc_spv_glsl_unpack(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number)
{
   const struct packing *p = find_packing(number);
   struct agxc_ref word = agxc_spv_scalar(s, agxc_spv_operand(s, in, 0), AGXC_SPV_INT);
   struct agxc_ref *out = result(s, in, p->count), halves[2];
   if (word.bits != 32)
      agxc_spv_invalid(s, "operand of %u bits", word.bits);
   if (p->scale == 0)
      agxc_spv_unpack(s, word, &halves[0], &halves[1]);
   for (uint32_t i = 0; i < p->count; i++) {
      if (p->scale == 0) {
         out[i] = agxc_spv_build1(s, AGXC_OP_F2F, 32, halves[i]);
         continue;
      }
      struct agxc_ref part =
         agxc_spv_build3(s, p->is_signed ? AGXC_OP_SBFE : AGXC_OP_UBFE, 32, word,
                         agxc_spv_u32(i * p->bits), agxc_spv_u32(p->bits));
      part = agxc_spv_fop(s, p->is_signed ? AGXC_OP_S2F : AGXC_OP_U2F, part);
      out[i] = agxc_spv_build2(s, AGXC_OP_FDIV, part, agxc_spv_f32(p->scale));
      if (p->is_signed)
         out[i] = agxc_spv_build2(s, AGXC_OP_FMAX, out[i], agxc_spv_f32(-1));
   }
   define(s, in, out);
}
