/* SPDX-License-Identifier: MIT
 *
 * Contracts a product that only goes into sums with them. Stands behind the passes that join, move
 * or drop operations, since a contracted product can't be shared any more.
 *
 * Before: %p = fmul a, b; fadd %p, c (or fsub, either way round). After: ffma a, b, c.
 * Only where neither operation is precise (NoContraction), and only where every use of the
 * product goes away, so that no multiplication is done twice.
 *
 * What is added to a sum of products, of which nothing else uses any part, comes first in it:
 *
 *    before   %1 = fmul a, b       %2 = ffma c, d, %1    %3 = fadd %2, e
 *    after    %1 = ffma a, b, e    %3 = ffma c, d, %1
 *
 * Generic SSA before and after; the products stay, unused, for opt_dce.
 */
#include "agx/compiler/opt/opt.h"

#define MAX_PRODUCTS 16u /* of a sum that what is added to it comes first in */

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

/* The definition of ref, when it is that operation in this block, and has one use. */
static struct agxc_instr *part_of_sum(const struct agxc_ref *ref, enum agxc_op op,
                                      const struct agxc_block *block, const struct uses *uses)
{
   struct agxc_instr *def = agxc_def_as(*ref, op);
   bool is_part = def && def->block == block && !(def->flags & AGXC_INSTR_PRECISE);
   return is_part && uses[ref->value->id].all == 1 ? def : NULL;
}

/* A sum of products: steps[count - 1] is the product that it begins with, the others add one. */
struct products {
   struct agxc_instr *steps[MAX_PRODUCTS];
   unsigned count;
};

static bool find_products(const struct agxc_ref *ref, const struct agxc_block *block,
                          const struct uses *uses, struct products *out)
{
   struct agxc_instr *step;
   out->count = 0;
   while (out->count < MAX_PRODUCTS - 1 && (step = part_of_sum(ref, AGXC_OP_FFMA, block, uses))) {
      out->steps[out->count++] = step;
      ref = agxc_src_c(step);
   }
   step = part_of_sum(ref, AGXC_OP_FMUL, block, uses);
   out->steps[out->count++] = step;
   return step && out->count > 1;
}

/* The products move to the sum, since what else it adds may be computed behind them. */
static bool begin_with_addend(struct agxc_shader *shader, struct agxc_instr *sum, struct uses *uses)
{
   bool subtracts = sum->op == AGXC_OP_FSUB;
   struct products products;
   unsigned side = 0;
   if (!find_products(agxc_side(sum, side), sum->block, uses, &products) &&
       (subtracts || !find_products(agxc_side(sum, ++side), sum->block, uses, &products)))
      return false;
   struct agxc_builder b = agxc_before(shader, sum);
   struct agxc_ref addend = *agxc_side(sum, 1 - side);
   struct agxc_instr *product = products.steps[--products.count];
   if (subtracts)
      addend = negated(&b, addend);
   agxc_define_as(agxc_build_ffma(&b, *agxc_src_a(product), *agxc_src_b(product), addend),
                  *agxc_dest(product));
   agxc_instr_remove(product);
   while (products.count > 0) {
      struct agxc_instr *step = products.steps[--products.count];
      agx_list_remove(&step->link);
      agx_list_insert_before(&sum->link, &step->link);
   }
   agxc_define(products.steps[0], *agxc_dest(sum));
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
         progress |= contract(shader, instr, uses) || begin_with_addend(shader, instr, uses);
   return progress;
}
