/* SPDX-License-Identifier: MIT
 *
 * What op.def says of each opcode that the front end takes: least length, flags, and the IR
 * operation where there is one per component. The functions that emit code stand in handler.c,
 * above.
 */
#include "agx/compiler/spirv/reader_impl.h"

#define TR (AGXC_SPV_HAS_TYPE | AGXC_SPV_HAS_RESULT)
#define R  AGXC_SPV_HAS_RESULT
#define T  AGXC_SPV_TERMINATOR
#define S  AGXC_SPV_SPEC
#define X  AGXC_SPV_NO_EFFECT

/* Variants, as the handlers' files name them. */
#define FIRST_SIGNED  AGXC_SPV_DOT_FIRST_SIGNED
#define SECOND_SIGNED AGXC_SPV_DOT_SECOND_SIGNED
#define SATURATES     AGXC_SPV_DOT_SATURATES
#define GATHERS       AGXC_SPV_SAMPLE_GATHERS
#define PROJECTS      AGXC_SPV_SAMPLE_PROJECTS
#define COMPARES      AGXC_SPV_SAMPLE_COMPARES
#define IMPLIES       AGXC_SPV_SAMPLE_IMPLIES

#define LINE(name, least, bits, ...)                                                               \
   [AGXC_SPV_OP_INDEX(SpvOp##name)] = {.words = (least), .flags = (bits), __VA_ARGS__},

static const struct agxc_spv_op rows[AGXC_SPV_OP_COUNT] = {
#define ROW(name, least, bits)         LINE(name, least, bits, .variant = 0)
#define OP(name, least, bits, handler) FAMILY(name, least, bits, handler, 0)
#define FAMILY(name, least, bits, handler, which)                                                  \
   LINE(name, least, (bits) | AGXC_SPV_IN_BODY, .variant = (which))
#define REDUCE(name, which, kind)                                                                  \
   LINE(name, 6, TR | AGXC_SPV_IN_BODY, .variant = (which), .alu = {.takes = AGXC_SPV_##kind})
/* Spare bits of comparisons and arithmetic in OpSpecConstantOp: agxc_fold decides. */
#define ALU(name, ir, count, from, to, exchanged, inverted)                                        \
   LINE(name, 3 + (count), TR | S | AGXC_SPV_IN_BODY,                                              \
        .alu = {.op = AGXC_OP_##ir,                                                                \
                .sources = (count),                                                                \
                .takes = AGXC_SPV_##from,                                                          \
                .gives = AGXC_SPV_##to,                                                            \
                .swap = (exchanged),                                                               \
                .negate = (inverted)})
#include "agx/compiler/spirv/op.def"
};

const struct agxc_spv_op *agxc_spv_op_find(uint32_t opcode)
{
   bool is_later = opcode - AGXC_SPV_LATER_FIRST < AGXC_SPV_LATER_COUNT;
   bool is_text = opcode - AGXC_SPV_TEXT_FIRST < AGXC_SPV_TEXT_COUNT;
   bool is_last = opcode - AGXC_SPV_LAST_FIRST < AGXC_SPV_LAST_COUNT;
   bool is_dot = opcode - AGXC_SPV_FDOT_FIRST < AGXC_SPV_FDOT_COUNT;
   if (opcode >= AGXC_SPV_CORE_COUNT && !is_later && !is_text && !is_last && !is_dot)
      return NULL;
   return rows[AGXC_SPV_OP_INDEX(opcode)].words ? &rows[AGXC_SPV_OP_INDEX(opcode)] : NULL;
}
