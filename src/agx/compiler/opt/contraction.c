/* SPDX-License-Identifier: MIT
 *
 * Contracts a product that only goes into sums with them. Stands behind the passes that join, move
 * or drop operations, since a contracted product can't be shared any more.
 *
 * Before: %p = fmul a, b; fadd %p, c (or fsub, either way round). After: ffma a, b, c.
 * Only where neither operation is precise (NoContraction), and only where every use of the
 * product goes away, so that no multiplication is done twice.
 * Generic SSA before and after; the products stay, unused, for opt_dce.
 */
#include "agx/compiler/opt/opt.h"

/* By value id: uses of any kind, and those that a sum could take over. */
struct uses {
   uint32_t all, in_sums;
};

static bool is_sum(const struct agxc_instr *instr)
{
   return (instr->op == AGXC_OP_FADD || instr->op == AGXC_OP_FSUB) &&
          !(instr->flags & AGXC_INSTR_PRECISE);
}

static struct uses *count_uses(struct agxc_shader *shader)
{
   struct uses *uses = AGX_ARENA_ARRAY(shader->arena, struct uses, shader->value_count);
   agxc_foreach_instr_of (instr, shader) {
      agxc_foreach_src (src, instr) {
         if (src->kind != AGXC_VALUE)
            continue;
         uses[src->value->id].all++;
         uses[src->value->id].in_sums += is_sum(instr);
      }
   }
   return uses;
}

/* The product that ref is, when sums alone use it. */
static const struct agxc_instr *product_of(const struct agxc_ref *ref, const struct uses *uses)
{
   const struct agxc_instr *def = agxc_def_as(*ref, AGXC_OP_FMUL);
   if (!def || (def->flags & AGXC_INSTR_PRECISE))
      return NULL;
   const struct uses *u = &uses[ref->value->id];
   return u->all == u->in_sums ? def : NULL;
}

static struct agxc_ref negated(struct agxc_builder *b, struct agxc_ref ref)
{
   if (ref.kind == AGXC_IMM)
      return agxc_imm((uint64_t)ref.imm ^ 1ull << (ref.bits - 1), ref.bits);
   return agxc_build_fneg(b, ref);
}

static bool contract(struct agxc_shader *shader, struct agxc_instr *sum, struct uses *uses)
{
   unsigned side = product_of(agxc_side(sum, 1), uses) ? 1 : 0;
   const struct agxc_instr *product = product_of(agxc_side(sum, side), uses);
   if (!product)
      return false;
   struct agxc_ref a = *agxc_src_a(product), b = *agxc_src_b(product),
                   c = *agxc_side(sum, 1 - side);
   bool subtracts = sum->op == AGXC_OP_FSUB;
   struct agxc_builder before = agxc_before(shader, sum);
   if (subtracts && side == 1)
      a = negated(&before, a);
   if (subtracts && side == 0)
      c = negated(&before, c);
   /* What stays an addend must not look as if sums alone used it still. */
   const struct agxc_ref *addend = agxc_side(sum, 1 - side);
   if (addend->kind == AGXC_VALUE)
      uses[addend->value->id].in_sums--;
   agxc_define_as(agxc_build_ffma(&before, a, b, c), *agxc_dest(sum));
   agxc_instr_remove(sum);
   return true;
}

bool agxc_opt_contraction(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   struct uses *uses = count_uses(shader);
   agxc_foreach_instr_of_safe (instr, shader)
      if (is_sum(instr))
         progress |= contract(shader, instr, uses);
   return progress;
}
