/* SPDX-License-Identifier: MIT
 *
 * The rows of spirv_op.def by opcode, and names for messages.
 */
#include "agx/compiler/spirv/impl.h"

#define TR (AGXC_SPV_HAS_TYPE | AGXC_SPV_HAS_RESULT)
#define R  AGXC_SPV_HAS_RESULT
#define T  AGXC_SPV_TERMINATOR
#define S  AGXC_SPV_SPEC
#define X  AGXC_SPV_NO_EFFECT

/* Direct index: opcodes that are taken lie below CORE_COUNT, or in one range of later ones. */
#define CORE_COUNT    512
#define LATER_FIRST   4416
#define LATER_COUNT   64
#define INDEX(opcode) ((opcode) < CORE_COUNT ? (opcode) : (opcode)-LATER_FIRST + CORE_COUNT)

static const struct agxc_spv_op rows[CORE_COUNT + LATER_COUNT] = {
#define ROW(name, least, bits)                                                                     \
   [INDEX(SpvOp##name)] = {.opcode = SpvOp##name, .words = (least), .flags = (bits)},
#define OP(name, least, bits, function)                                                            \
   [INDEX(SpvOp##name)] = {                                                                        \
      .opcode = SpvOp##name, .words = (least), .flags = (bits), .handler = (function)},
/* Spare bits of comparisons and arithmetic in OpSpecConstantOp: agxc_fold decides. */
#define ALU(name, ir, count, from, to, exchanged, inverted)                                        \
   [INDEX(SpvOp##name)] = {.opcode = SpvOp##name,                                                  \
                           .words = 3 + (count),                                                   \
                           .flags = TR | S,                                                        \
                           .handler = agxc_spv_op_alu,                                             \
                           .alu = {.op = AGXC_OP_##ir,                                             \
                                   .sources = (count),                                             \
                                   .takes = AGXC_SPV_##from,                                       \
                                   .gives = AGXC_SPV_##to,                                         \
                                   .swap = (exchanged),                                            \
                                   .negate = (inverted)}},
#include "agx/compiler/spirv/op.def"
#undef ROW
#undef OP
#undef ALU
};

const struct agxc_spv_op *agxc_spv_op_find(uint32_t opcode)
{
   if (opcode >= CORE_COUNT && (opcode < LATER_FIRST || opcode >= LATER_FIRST + LATER_COUNT))
      return NULL;
   return rows[INDEX(opcode)].words ? &rows[INDEX(opcode)] : NULL;
}

enum name_table {
   OPCODE,
   CAPABILITY,
   STORAGE,
   BUILTIN,
   DECORATION,
   MODE,
   GLSL,
};

static const struct {
   uint16_t table, number;
   const char *text;
} names[] = {
#define NAME(table, number, text) {table, number, #text},
#include "agx/compiler/spirv/name.def"
#undef NAME
};

static const char *find_name(enum name_table table, uint32_t number)
{
   size_t low = 0, high = AGX_COUNT(names);
   while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (names[middle].table == table && names[middle].number == number)
         return names[middle].text;
      if (names[middle].table < table ||
          (names[middle].table == table && names[middle].number < number))
         low = middle + 1;
      else
         high = middle;
   }
   return "?";
}

const char *agxc_spv_opcode_name(uint32_t opcode)
{
   return find_name(OPCODE, opcode);
}

const char *agxc_spv_capability_name(uint32_t value)
{
   return find_name(CAPABILITY, value);
}

const char *agxc_spv_storage_name(uint32_t value)
{
   return find_name(STORAGE, value);
}

const char *agxc_spv_builtin_name(uint32_t value)
{
   return find_name(BUILTIN, value);
}

const char *agxc_spv_decoration_name(uint32_t value)
{
   return find_name(DECORATION, value);
}

const char *agxc_spv_mode_name(uint32_t value)
{
   return find_name(MODE, value);
}

const char *agxc_spv_glsl_name(uint32_t value)
{
   return find_name(GLSL, value);
}
