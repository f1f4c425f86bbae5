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
 * Of a word with four bytes in it the first and third, or second and last, are brought to such
 * halves by a mask of both, so that opt_widen_bytes may stand in front.
 *
 * Stands behind opt_algebraic, which would take constants out of the sums again. What pairs
 * replace is removed, so that opt_unroll_predicated counts what there will be.
 *
 * Before and after: generic SSA.
 */
#include "agx/compiler/opt/opt.h"

#define MAX_LEAVES 20u
#define HIGH_BYTES 0xff00ff00u

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

/* A signed byte. */
struct byte {
   struct agxc_ref from; /* a loaded vector of bytes, or a word */
   const struct agxc_ref *element;
   uint32_t place; /* in it */
};

/* A word extends an element of a loaded vector. */
static bool find_element(const struct agxc_ref *ref, struct byte *out_byte)
{
   const struct agxc_instr *sext = agxc_def_as(*ref, AGXC_OP_SEXT);
   const struct agxc_ref *element = sext ? agxc_src_a(sext) : NULL;
   const struct agxc_instr *split =
      element && element->bits == 8 ? agxc_def_as(*element, AGXC_OP_SPLIT) : NULL;
   const struct agxc_ref *vector = split ? agxc_src_vector(split) : NULL;
   bool is_loaded = vector && (agxc_def_as(*vector, AGXC_OP_LOAD_GLOBAL) ||
                               agxc_def_as(*vector, AGXC_OP_LOAD_BUFFER) ||
                               agxc_def_as(*vector, AGXC_OP_LOAD_SHARED));
   if (!is_loaded)
      return false;
   *out_byte = (struct byte){*vector, element, 0};
   while (agxc_element(split, out_byte->place)->value != element->value)
      out_byte->place++;
   return true;
}

/* word << left >> 24, where that is one of its four bytes. */
static bool find_field(const struct agxc_ref *ref, struct byte *out_byte)
{
   const struct agxc_instr *right = agxc_def_as(*ref, AGXC_OP_ASHR);
   if (!right || agxc_src_b(right)->kind != AGXC_IMM || agxc_src_b(right)->imm != 24)
      return false;
   const struct agxc_instr *left = agxc_def_as(*agxc_src_a(right), AGXC_OP_ISHL);
   *out_byte = (struct byte){*agxc_src_a(right), NULL, 3};
   if (left && agxc_src_b(left)->kind == AGXC_IMM && agxc_src_b(left)->imm <= 24 &&
       agxc_src_b(left)->imm % 8 == 0)
      *out_byte = (struct byte){*agxc_src_a(left), NULL, 3 - (uint32_t)agxc_src_b(left)->imm / 8};
   return out_byte->from.kind == AGXC_VALUE && out_byte->from.bits == 32;
}

static bool find_byte(const struct agxc_ref *ref, struct byte *out_byte)
{
   return find_element(ref, out_byte) || find_field(ref, out_byte);
}

static struct agxc_instr *byte_product(const struct dots *d, const struct agxc_ref *ref)
{
   struct agxc_instr *product = sole_def(d, ref, AGXC_OP_IMUL);
   struct byte byte;
   bool fits =
      product && find_byte(agxc_src_a(product), &byte) && find_byte(agxc_src_b(product), &byte);
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

/* The two come to be halves of one word. */
static bool is_near(const struct byte *a, const struct byte *b)
{
   return a->from.value == b->from.value && !a->element == !b->element &&
          (a->place ^ b->place) == (a->element ? 1 : 2);
}

/* Bytes that two products take, a side of each. */
struct pair {
   struct byte x[2], y[2];
};

/* False: they are not near each other. */
static bool find_pair(const struct agxc_instr *p, const struct agxc_instr *q, struct pair *out)
{
   for (unsigned swapped = 0; swapped < 2; swapped++) {
      find_byte(agxc_src_a(p), &out->x[0]);
      find_byte(agxc_src_b(p), &out->y[0]);
      find_byte(agxc_side(q, swapped), &out->x[1]);
      find_byte(agxc_side(q, 1 - swapped), &out->y[1]);
      if (is_near(&out->x[0], &out->x[1]) && is_near(&out->y[0], &out->y[1]))
         return true;
   }
   return false;
}

static void halves_of(struct agxc_builder *b, struct agxc_ref word, struct agxc_ref out[2])
{
   const struct agxc_instr *instr = agxc_build_unpack32(b, word);
   out[0] = *agxc_dest_low(instr);
   out[1] = *agxc_dest_high(instr);
}

/* A word with 256 times both bytes in its halves. */
static struct agxc_ref scaled_word(struct agxc_builder *b, const struct byte *low,
                                   const struct byte *high)
{
   if (!low->element) {
      struct agxc_ref word = low->from;
      if (low->place == 0)
         word = agxc_build_ishl(b, word, agxc_u32(8));
      return agxc_build_iand(b, word, agxc_u32(HIGH_BYTES));
   }
   struct agxc_ref low_half = agxc_build_zext(b, 16, *low->element);
   struct agxc_ref high_half = agxc_build_zext(b, 16, *high->element);
   return agxc_build_ishl(b, agxc_build_pack32(b, low_half, high_half), agxc_u32(8));
}

/* 256 times each byte, in the order asked for. */
static void scale(struct agxc_builder *b, const struct byte bytes[2], struct agxc_ref out[2])
{
   bool turned = bytes[0].place > bytes[1].place;
   struct agxc_ref halves[2];
   halves_of(b, scaled_word(b, &bytes[turned], &bytes[!turned]), halves);
   out[0] = agxc_build_sext(b, 32, halves[turned]);
   out[1] = agxc_build_sext(b, 32, halves[!turned]);
}

/* x0 y0 + x1 y1 - 1 */
static struct agxc_ref build_pair(struct agxc_builder *b, const struct pair *pair)
{
   struct agxc_ref x[2], y[2], halves[2];
   scale(b, pair->x, x);
   scale(b, pair->y, y);
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
      struct pair pair;
      if (!d->product[j] || !find_pair(d->product[i], d->product[j], &pair))
         continue;
      d->leaves[i] = build_pair(b, &pair);
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
