/* SPDX-License-Identifier: MIT
 *
 * OpExtInst: finds the row in the table of GLSL.std.450 and checks its operands.
 */
#include "agx/compiler/spirv_glsl.h"

struct glsl_row {
   uint16_t number;
   uint16_t op;
   const char *kinds;
   struct agxc_ref (*each)(struct agxc_spv *s, const struct agxc_ref *x);
   void (*whole)(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number);
};

static const struct glsl_row rows[] = {
#define DIRECT(name, signature, ir)                                                                \
   {.number = GLSLstd450##name, .kinds = (signature), .op = AGXC_OP_##ir},
#define EACH(name, signature, function)                                                            \
   {.number = GLSLstd450##name, .kinds = (signature), .each = (function)},
#define WHOLE(name, function) {.number = GLSLstd450##name, .whole = (function)},
#include "agx/compiler/spirv_glsl.def"
#undef DIRECT
#undef EACH
#undef WHOLE
};

#define MAX_OPERANDS 3

static const struct glsl_row *find_row(struct agxc_spv *s, uint32_t number)
{
   for (size_t i = 0; i < AGX_COUNT(rows); i++)
      if (rows[i].number == number)
         return &rows[i];
   agxc_spv_missing(s, "extended instruction GLSL.std.450 %s (%u)", agxc_spv_glsl_name(number),
                    number);
}

static void check_kind(struct agxc_spv *s, const struct agxc_spv_type *type, char kind,
                       uint32_t scalars)
{
   const struct agxc_spv_type *component = agxc_spv_component(type);
   if (!component || component->kind != (kind == 'f' ? AGXC_SPV_FLOAT : AGXC_SPV_INT) ||
       type->scalars != scalars)
      agxc_spv_invalid(s, "type %u: %u %s expected", type->id, scalars,
                       kind == 'f' ? "floats" : "integers");
}

static void each_component(struct agxc_spv *s, const struct agxc_spv_instr *in,
                           const struct glsl_row *row)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   unsigned count = (unsigned)strlen(row->kinds) - 1;
   const struct agxc_ref *args[MAX_OPERANDS];
   check_kind(s, type, row->kinds[0], type->scalars);
   for (unsigned i = 0; i < count; i++) {
      struct agxc_spv_type *arg;
      args[i] = agxc_spv_value(s, agxc_spv_operand(s, in, i), &arg);
      check_kind(s, arg, row->kinds[1 + i], type->scalars);
   }
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t c = 0; c < type->scalars; c++) {
      struct agxc_ref x[MAX_OPERANDS];
      for (unsigned i = 0; i < count; i++)
         x[i] = args[i][c];
      if (row->each)
         out[c] = row->each(s, x);
      else
         out[c] = agxc_spv_emit(s, row->op, 32, 1, count, x, 0, NULL);
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
