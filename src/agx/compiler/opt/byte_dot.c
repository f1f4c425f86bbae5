/* SPDX-License-Identifier: MIT
 *
 * Computes sums of products of signed bytes in pairs. Each byte by itself costs two instructions to
 * extend, while factors that are halves extend for free. So neighbouring bytes of a load, which are
 * the halves of a word with zeros above them, move up together: word << 8 holds 256 x in either
 * half. With a word of the other load's bytes y made likewise, two products are
 *
 *    p = 256 x0 * 256 y0 + 256 x1 * 256 y1 - 2^16
 *
 * and the high half of p, as a signed number, is x0 y0 + x1 y1 - 1: that sum lies in -32512 to
 * 32768, so that it fits when it is one less. The ones are added once for all pairs.
 *
 * Stands behind opt_algebraic, which would take constants out of the sums again. What pairs
 * replace is removed, so that opt_unroll_predicated counts what there will be.
 *
 * Before and after: generic SSA.
 */
#include "agx/compiler/opt/opt.h"

#define MAX_LEAVES 16u

struct dots {
   struct agxc_shader *shader;
   uint32_t *uses;             /* by value id */
   agx_bitset_word *is_inside; /* sums that belong to another one's tree */
   struct agxc_ref leaves[MAX_LEAVES];
   struct agxc_instr *product[MAX_LEAVES]; /* the leaf, if it is one of bytes */
   uint32_t count;
};

static struct agxc_instr *sole_def(const struct dots *d, const struct agxc_ref *ref,
                                   enum agxc_op op)
{
   struct agxc_instr *def = agxc_def_as(*ref, op);
   return def && d->uses[ref->value->id] == 1 ? def : NULL;
}

/* The byte that a word extends, if it is an element of a loaded vector. */
static const struct agxc_ref *loaded_byte(const struct agxc_ref *ref)
{
   const struct agxc_instr *sext = agxc_def_as(*ref, AGXC_OP_SEXT);
   const struct agxc_ref *byte = sext ? agxc_src_a(sext) : NULL;
   const struct agxc_instr *split =
      byte && byte->bits == 8 ? agxc_def_as(*byte, AGXC_OP_SPLIT) : NULL;
   const struct agxc_ref *vector = split ? agxc_src_vector(split) : NULL;
   bool is_loaded = vector && (agxc_def_as(*vector, AGXC_OP_LOAD_GLOBAL) ||
                               agxc_def_as(*vector, AGXC_OP_LOAD_BUFFER) ||
                               agxc_def_as(*vector, AGXC_OP_LOAD_SHARED));
   return is_loaded ? byte : NULL;
}

static struct agxc_instr *byte_product(const struct dots *d, const struct agxc_ref *ref)
{
   struct agxc_instr *product = sole_def(d, ref, AGXC_OP_IMUL);
   bool fits = product && loaded_byte(agxc_src_a(product)) && loaded_byte(agxc_src_b(product));
   return fits ? product : NULL;
}

/* The leaves of a tree of sums; what does not fit stays a sum of its own. */
static void gather(struct dots *d, struct agxc_instr *root)
{
   d->count = 0;
   for (unsigned i = 0; i < 2; i++)
      d->leaves[d->count++] = *agxc_side(root, i);
   for (uint32_t i = 0; i < d->count;) {
      const struct agxc_instr *sum = sole_def(d, &d->leaves[i], AGXC_OP_IADD);
      if (!sum || sum->block != root->block || d->count == MAX_LEAVES) {
         d->product[i] = byte_product(d, &d->leaves[i]);
         i++;
         continue;
      }
      agx_bitset_set(d->is_inside, agxc_dest(sum)->value->id);
      d->leaves[i] = *agxc_src_a(sum);
      d->leaves[d->count++] = *agxc_src_b(sum);
   }
}

/* ---- pairs ---------------------------------------------------------------- */

/* Which word of a vector a byte is in, and which half of it; its split in both cases. */
static unsigned place_of(const struct agxc_ref *byte)
{
   const struct agxc_instr *split = byte->value->def;
   unsigned place = 0;
   while (agxc_element(split, place)->value != byte->value)
      place++;
   return place;
}

static bool same_word(const struct agxc_ref *a, const struct agxc_ref *b)
{
   return a->value->def == b->value->def && (place_of(a) ^ place_of(b)) == 1;
}

/* Neighbours, with their factors in either order; `swapped` says that q's differ from p's. */
static bool is_pair(const struct agxc_instr *p, const struct agxc_instr *q, bool *swapped)
{
   const struct agxc_ref *p1 = loaded_byte(agxc_src_a(p)), *p2 = loaded_byte(agxc_src_b(p));
   const struct agxc_ref *q1 = loaded_byte(agxc_src_a(q)), *q2 = loaded_byte(agxc_src_b(q));
   *swapped = same_word(p1, q2) && same_word(p2, q1);
   return *swapped || (same_word(p1, q1) && same_word(p2, q2));
}

static void halves_of(struct agxc_builder *b, struct agxc_ref word, struct agxc_ref out[2])
{
   const struct agxc_instr *instr = agxc_build_unpack32(b, word);
   out[0] = *agxc_dest_low(instr);
   out[1] = *agxc_dest_high(instr);
}

/* 256 times each byte of the word that holds both, as halves in the order asked for. */
static void scale(struct agxc_builder *b, const struct agxc_ref *first,
                  const struct agxc_ref *second, struct agxc_ref out[2])
{
   bool turned = place_of(first) > place_of(second);
   const struct agxc_ref *low = turned ? second : first, *high = turned ? first : second;
   struct agxc_ref low_half = agxc_build_zext(b, 16, *low);
   struct agxc_ref high_half = agxc_build_zext(b, 16, *high);
   struct agxc_ref word = agxc_build_pack32(b, low_half, high_half);
   word = agxc_build_ishl(b, word, agxc_u32(8));
   struct agxc_ref halves[2];
   halves_of(b, word, halves);
   out[0] = agxc_build_sext(b, 32, halves[turned]);
   out[1] = agxc_build_sext(b, 32, halves[!turned]);
}

/* x0 y0 + x1 y1 - 1 */
static struct agxc_ref build_pair(struct agxc_builder *b, const struct agxc_instr *p,
                                  const struct agxc_instr *q, bool swapped)
{
   struct agxc_ref x[2], y[2], halves[2];
   const struct agxc_ref *q_of[] = {agxc_side(q, swapped), agxc_side(q, !swapped)};
   scale(b, loaded_byte(agxc_src_a(p)), loaded_byte(q_of[0]), x);
   scale(b, loaded_byte(agxc_src_b(p)), loaded_byte(q_of[1]), y);
   struct agxc_ref sum = agxc_u32(0xffff0000u);
   for (unsigned i = 0; i < 2; i++) {
      struct agxc_ref product = agxc_build_imul(b, x[i], y[i]);
      sum = agxc_build_iadd(b, product, sum);
   }
   halves_of(b, sum, halves);
   return agxc_build_sext(b, 32, halves[1]);
}

/* Leaf i with a later one, in its place; that one becomes 0. */
static bool join_leaf(struct dots *d, struct agxc_builder *b, uint32_t i)
{
   for (uint32_t j = i + 1; d->product[i] && j < d->count; j++) {
      bool swapped;
      if (!d->product[j] || !is_pair(d->product[i], d->product[j], &swapped))
         continue;
      d->leaves[i] = build_pair(b, d->product[i], d->product[j], swapped);
      d->leaves[j] = agxc_none();
      d->product[j] = NULL;
      return true;
   }
   return false;
}

/* ---- pass ---------------------------------------------------------------- */

/* What is loaded is summed up first, then comes what is there already. */
static bool visit_sum(struct dots *d, struct agxc_instr *root)
{
   struct agxc_builder b = agxc_before(d->shader, root);
   struct agxc_ref pairs = agxc_none();
   uint32_t ones = 0;
   gather(d, root);
   for (uint32_t i = 0; i < d->count; i++) {
      if (!join_leaf(d, &b, i))
         continue;
      pairs = ones++ ? agxc_build_iadd(&b, pairs, d->leaves[i]) : d->leaves[i];
      d->leaves[i] = agxc_none();
   }
   if (ones == 0)
      return false;
   struct agxc_ref sum = agxc_build_iadd(&b, pairs, agxc_u32(ones));
   for (uint32_t i = 0; i < d->count; i++)
      if (d->leaves[i].kind != AGXC_NONE)
         sum = agxc_build_iadd(&b, sum, d->leaves[i]);
   agxc_become_mov(d->shader, root, sum);
   return true;
}

bool agxc_opt_byte_dot(struct agxc_shader *shader)
{
   bool progress = false;
   struct dots d = {
      .shader = shader,
      .is_inside = agxc_bitset_new(shader, shader->value_count + 1ull),
   };
   agxc_index(shader);
   d.uses = agxc_count_uses(shader);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr_rev (instr, block) {
         if (instr->op == AGXC_OP_IADD && agxc_dest(instr)->bits == 32 &&
             !agx_bitset_test(d.is_inside, agxc_dest(instr)->value->id))
            progress |= visit_sum(&d, instr);
      }
   if (progress)
      agxc_opt_dce(shader);
   return progress;
}
