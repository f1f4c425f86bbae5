/* SPDX-License-Identifier: MIT
 *
 * Rules about changes of width, which front ends put around everything narrow: one change of
 * another is one change, and what goes there and back is nothing.
 */
#include "agx/compiler/opt/algebraic.h"

static const struct agxc_instr *change_of(const struct agxc_ref *ref)
{
   const struct agxc_instr *def = ref->kind == AGXC_VALUE ? ref->value->def : NULL;
   bool changes = def && (def->op == AGXC_OP_ZEXT || def->op == AGXC_OP_SEXT ||
                          def->op == AGXC_OP_TRUNC || def->op == AGXC_OP_F2F);
   return changes && agxc_src_a(def)->bits != 1 ? def : NULL;
}

static struct agxc_ref change(struct agxc_algebra *algebra, enum agxc_op op, unsigned bits,
                              struct agxc_ref src)
{
   return agxc_algebra_build(algebra, op, bits, 1, &src);
}

static struct agxc_ref cut(struct agxc_algebra *algebra, unsigned bits,
                           const struct agxc_instr *inner)
{
   struct agxc_ref src = *agxc_src_a(inner);
   if (inner->op == AGXC_OP_F2F)
      return agxc_none();
   if (src.bits == bits)
      return src;
   return change(algebra, src.bits > bits ? AGXC_OP_TRUNC : (enum agxc_op)inner->op, bits, src);
}

static struct agxc_ref extend(struct agxc_algebra *algebra, const struct agxc_instr *outer,
                              const struct agxc_instr *inner)
{
   bool same = inner->op == outer->op || inner->op == AGXC_OP_ZEXT;
   if (!same || inner->op == AGXC_OP_TRUNC || inner->op == AGXC_OP_F2F)
      return agxc_none();
   return change(algebra, (enum agxc_op)inner->op, agxc_dest(outer)->bits, *agxc_src_a(inner));
}

struct agxc_ref agxc_algebra_width(struct agxc_algebra *algebra, const struct agxc_instr *instr)
{
   const struct agxc_instr *inner =
      agxc_has_src(instr, AGXC_SRC_A) ? change_of(agxc_src_a(instr)) : NULL;
   unsigned bits = agxc_dest(instr)->bits;
   if (!inner)
      return agxc_none();
   const struct agxc_ref *src = agxc_src_a(inner);
   switch (instr->op) {
   case AGXC_OP_TRUNC:
      return cut(algebra, bits, inner);
   case AGXC_OP_ZEXT:
   case AGXC_OP_SEXT:
      return extend(algebra, instr, inner);
   case AGXC_OP_F2F: /* through more bits and back */
      return inner->op == AGXC_OP_F2F && src->bits == bits && src->bits < agxc_dest(inner)->bits
                ? *src
                : agxc_none();
   case AGXC_OP_IAND: { /* a mask of bits that the extension left 0 anyway */
      const struct agxc_ref *mask = agxc_src_b(instr);
      bool is_all = inner->op == AGXC_OP_ZEXT && mask->kind == AGXC_IMM &&
                    ((uint64_t)mask->imm & agx_bits(src->bits)) == agx_bits(src->bits);
      return is_all ? *agxc_src_a(instr) : agxc_none();
   }
   default:
      return agxc_none();
   }
}
