/* SPDX-License-Identifier: MIT
 *
 * OpExtInst: finds the entry of an instruction in the table of GLSL.std.450 (glsl.def) and checks
 * its operands. What the IR has no operation for is made by glsl_math.c and glsl_vector.c.
 */
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/spirv/glsl_impl.h"
#include "agx/compiler/spirv/handler_impl.h"

struct glsl_row {
   uint16_t number;
   uint16_t op;
   const char *kinds;
   struct agxc_ref (*each)(struct agxc_spv *s, const struct agxc_ref *x);
   void (*whole)(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number);
   bool may_be_long; /* defined for floats of 64 bits */
};

static const struct glsl_row rows[] = {
#define DIRECT(name, signature, ir)                                                                \
   {.number = GLSLstd450##name, .kinds = (signature), .op = AGXC_OP_##ir, .may_be_long = true},
#define DIRECT32(name, signature, ir)                                                              \
   {.number = GLSLstd450##name, .kinds = (signature), .op = AGXC_OP_##ir},
#define EACH(name, signature, function)                                                            \
   {.number = GLSLstd450##name, .kinds = (signature), .each = (function), .may_be_long = true},
#define EACH32(name, signature, function)                                                          \
   {.number = GLSLstd450##name, .kinds = (signature), .each = (function)},
#define WHOLE(name, function) {.number = GLSLstd450##name, .whole = (function)},
#include "agx/compiler/spirv/glsl.def"
#undef DIRECT
#undef EACH
#undef DIRECT32
#undef EACH32
#undef WHOLE
};

#define MAX_OPERANDS 3
#define FAR_EXPONENT 100000ll

static const struct glsl_row *find_row(struct agxc_spv *s, uint32_t number)
{
   for (size_t i = 0; i < AGX_COUNT(rows); i++)
      if (rows[i].number == number)
         return &rows[i];
   agxc_spv_missing(s, "extended instruction GLSL.std.450 %s (%u) is not supported: do without it",
                    agxc_spv_name(AGXC_SPV_NAME_GLSL, number), number);
}

static enum agxc_spv_kind kind_of(char kind)
{
   return kind == 'i' ? AGXC_SPV_INT : AGXC_SPV_FLOAT;
}

struct agxc_ref agxc_spv_glsl_to_bits(struct agxc_spv *s, struct agxc_ref ref, unsigned bits)
{
   return ref.bits == bits ? ref : agxc_spv_build1(s, AGXC_OP_F2F, bits, ref);
}

struct agxc_ref agxc_spv_glsl_float(float value, unsigned bits)
{
   struct agxc_ref single = agxc_spv_f32(value);
   return bits == 32 ? single : agxc_fold(AGXC_OP_F2F, bits, single, agxc_none());
}

/* An exponent of 32 bits. Of a wider one beyond all that floats have, the sign alone counts. */
static struct agxc_ref exponent(struct agxc_spv *s, struct agxc_ref x)
{
   if (x.bits > 32) {
      struct agxc_ref range[] = {x, agxc_imm((uint64_t)-FAR_EXPONENT, 64),
                                 agxc_imm(FAR_EXPONENT, 64)};
      x = agxc_spv_glsl_sclamp(s, range);
   }
   return agxc_spv_resize(s, x, 32, true);
}

/* One component of bits. Functions of floats are made for 32 bits; halves are widened, which
 * is exact, and rounded at the end. */
static struct agxc_ref component(struct agxc_spv *s, const struct glsl_row *row, unsigned bits,
                                 struct agxc_ref *x)
{
   unsigned count = (unsigned)strlen(row->kinds) - 1;
   if (!row->each)
      return agxc_spv_build_alu(s, row->op, bits, count, x);
   for (unsigned i = 0; i < count && row->kinds[0] == 'f'; i++)
      x[i] = row->kinds[1 + i] == 'f' ? agxc_spv_glsl_to_bits(s, x[i], AGX_MAX(bits, 32u))
                                      : exponent(s, x[i]);
   s->rounds_to_half = bits == 16;
   struct agxc_ref out = row->each(s, x);
   return row->kinds[0] == 'f' ? agxc_spv_glsl_to_bits(s, out, bits) : out;
}

static void each_component(struct agxc_spv *s, const struct agxc_spv_instr *in,
                           const struct glsl_row *row)
{
   struct agxc_spv_type *type = agxc_spv_result_type(s, in, kind_of(row->kinds[0]));
   unsigned count = (unsigned)strlen(row->kinds) - 1;
   const struct agxc_ref *args[MAX_OPERANDS];
   unsigned bits = agxc_spv_component(type)->bits;
   for (unsigned i = 0; i < count; i++) {
      args[i] = agxc_spv_components(s, in, i, kind_of(row->kinds[1 + i]), type->scalars);
      if (args[i][0].bits != bits && row->kinds[1 + i] == row->kinds[0])
         agxc_spv_invalid(s, "operand %u of %u bits, result of %u", i, args[i][0].bits, bits);
   }
   if (row->kinds[0] != 'i' && bits == 64 && !row->may_be_long)
      agxc_spv_missing(s,
                       "GLSL.std.450 %s of 64-bit floats is not supported: convert its operands to "
                       "32 bits",
                       agxc_spv_name(AGXC_SPV_NAME_GLSL, row->number));
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t c = 0; c < type->scalars; c++) {
      struct agxc_ref x[MAX_OPERANDS];
      for (unsigned i = 0; i < count; i++)
         x[i] = args[i][c];
      out[c] = component(s, row, bits, x);
   }
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_ext_inst(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_id *set = agxc_spv_id(s, agxc_spv_operand(s, in, 0));
   uint32_t number = agxc_spv_operand(s, in, 1);
   if (set->kind != AGXC_SPV_ID_IMPORT)
      agxc_spv_invalid(s, "id %u is no extended instruction set", agxc_spv_operand(s, in, 0));
   if (!set->instance)
      return; /* NonSemantic.* */
   const struct glsl_row *row = find_row(s, number);
   struct agxc_spv_instr inner = *in;
   inner.first += 2;
   if (row->whole)
      row->whole(s, &inner, number);
   else
      each_component(s, &inner, row);
}
