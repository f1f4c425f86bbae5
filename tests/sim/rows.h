/* SPDX-License-Identifier: MIT
 *
 * Random instructions of one row of the instruction table.
 */
#pragma once

#include "agx/isa/table_impl.h"
#include "support.h"

/* Random bits around what identifies the row; often few of them set. */
static inline bool random_row_instr(enum agx_isa_op op, struct agx_test_rng *rng,
                                    struct agx_isa_instr *out)
{
   const struct agx_isa_row *row = &agx_isa_rows[op];
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   for (unsigned tries = 0; tries < 4000; tries++) {
      struct agx_isa_bits noise = {{agx_test_random(rng), agx_test_random(rng)}};
      for (unsigned i = 0; i < 2; i++)
         noise.word[i] &= tries & 1 ? agx_test_random(rng) : ~0ull;
      struct agx_isa_bits bits =
         agx_isa_bits_andnot(agx_isa_bits_andnot(noise, row->match_mask), row->const_mask);
      for (unsigned i = 0; i < 2; i++)
         bits.word[i] |= row->match_value.word[i] | row->const_value.word[i];
      /* Bits that nothing accounts for stay 0. */
      bits = agx_isa_bits_and(bits, row->known);
      for (unsigned i = 0; i < sizeof(bytes); i++)
         bytes[i] = (uint8_t)(bits.word[i / 8] >> i % 8 * 8);
      if (agx_isa_decode(bytes, sizeof(bytes), out) == AGX_OK && out->op == op)
         return true;
   }
   return false;
}
