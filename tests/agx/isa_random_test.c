/* SPDX-License-Identifier: MIT
 *
 * The instruction table under random input: every row with random operands, and
 * random bytes of every length. The seeds are fixed.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/isa/operand_impl.h"
#include "base/status.h"
#include "base/util.h"

#define ROUNDS   400 /* instructions for each row and length form */
#define MAX_TEXT 512

/* Random bits, often few of them set: small numbers are the usual ones. */
static uint32_t sparse(struct agx_test_rng *rng)
{
   uint32_t bits = (uint32_t)agx_test_random(rng);
   switch (agx_test_random_below(rng, 3)) {
   case 0:
      return bits;
   case 1:
      return bits & (uint32_t)agx_test_random(rng);
   default:
      return (bits & 31) << agx_test_random_below(rng, 28);
   }
}

/* Replaces the slot's own bits with random ones, below limit. */
static struct agx_isa_bits shuffle_field(const struct agx_isa_field *field, unsigned limit,
                                         struct agx_isa_bits bits, struct agx_test_rng *rng)
{
   uint32_t value = sparse(rng);
   for (unsigned i = 0; i < field->count; i++) {
      const struct agx_isa_slice *slice = &field->slice[i];
      struct agx_isa_bits clear = {{0, 0}};
      uint32_t mask = (uint32_t)agx_bits(slice->length);
      if (slice->is_shared || slice->start >= limit)
         continue;
      agx_isa_bits_or(&clear, slice->start, mask);
      bits = agx_isa_bits_andnot(bits, clear);
      agx_isa_bits_or(&bits, slice->start, value & mask);
      value = (uint32_t)((uint64_t)value >> slice->length | (uint64_t)value << 7);
   }
   return bits;
}

static bool still_matches(const struct agx_isa_row *row, struct agx_isa_bits bits, unsigned limit)
{
   struct agx_isa_bits wrong =
      agx_isa_bits_and(agx_isa_bits_xor(bits, row->match_value), row->match_mask);
   return !agx_isa_bits_any(agx_isa_bits_and(wrong, agx_isa_bits_mask(limit / 8)));
}

/* Gives the operands that share bits, or the others, random valid values. */
static bool fill_operands(const struct agx_isa_row *row, bool shared, unsigned length_B,
                          struct agx_isa_bits *bits, struct agx_isa_instr *instr,
                          struct agx_test_rng *rng)
{
   for (unsigned i = 0; i < row->info.operand_count; i++) {
      const struct agx_isa_slot *slot = &row->slot[i];
      bool valid = slot->is_shared != shared;
      for (unsigned attempt = 0; attempt < 2000 && !valid; attempt++) {
         struct agx_isa_bits next = shuffle_field(&slot->field, 8 * length_B, *bits, rng);
         next = agx_isa_bits_and(next, agx_isa_bits_mask(length_B));
         uint32_t value = agx_isa_field_get(&slot->field, next);
         valid = still_matches(row, next, 8 * length_B) &&
                 !agx_isa_operand_decode(slot, value, &instr->operand[i]);
         if (valid)
            *bits = next;
      }
      if (!valid)
         return false;
   }
   return true;
}

/* A random instruction of the row and length; false where a form can't exist. */
static bool random_instr(unsigned op, unsigned length_B, struct agx_test_rng *rng,
                         struct agx_isa_instr *instr, uint8_t *bytes)
{
   const struct agx_isa_row *row = &agx_isa_rows[op];
   struct agx_isa_bits bits = {{row->match_value.word[0] | row->const_value.word[0],
                                row->match_value.word[1] | row->const_value.word[1]}};
   struct agx_isa_bits rest = agx_isa_bits_andnot(row->match_value, agx_isa_bits_mask(length_B));
   if (agx_isa_bits_any(rest))
      return false;
   bits = agx_isa_bits_and(bits, agx_isa_bits_mask(length_B));
   if (length_B == row->info.long_B)
      agx_isa_bits_or(&bits, row->length_bit, 1);
   instr->op = (uint16_t)op;
   instr->length = (uint8_t)length_B;
   if (!fill_operands(row, false, length_B, &bits, instr, rng) ||
       !fill_operands(row, true, length_B, &bits, instr, rng))
      return false;
   for (unsigned i = 0; i < length_B; i++)
      bytes[i] = (uint8_t)(bits.word[i / 8] >> (i % 8 * 8));
   return true;
}

/* operands -> bytes -> operands -> text -> operands -> bytes. */
static void check_instr(const struct agx_isa_instr *instr, const uint8_t *bytes)
{
   uint8_t code[AGX_ISA_MAX_BYTES];
   size_t length;
   struct agx_isa_instr decoded, parsed;
   char text[MAX_TEXT], again[MAX_TEXT];
   agx_isa_print(instr, text, sizeof(text));
   assert_ok(agx_isa_encode(instr, code, &length));
   assert_int_equal(length, instr->length);
   if (memcmp(code, bytes, length) != 0)
      fail_msg("%s: other bytes", text);
   assert_ok(agx_isa_decode(bytes, length, &decoded));
   assert_true(decoded.op <= instr->op); /* itself or an alias before it */
   assert_ok(agx_isa_encode(&decoded, code, &length));
   assert_int_equal(length, instr->length);
   assert_memory_equal(code, bytes, length);
   assert_ok(agx_isa_parse(text, strlen(text), &parsed));
   assert_int_equal(parsed.op, instr->op);
   assert_ok(agx_isa_encode(&parsed, code, &length));
   assert_int_equal(length, instr->length);
   assert_memory_equal(code, bytes, length);
   if (decoded.op == instr->op) {
      agx_isa_print(&decoded, again, sizeof(again));
      assert_string_equal(again, text);
   }
}

/* Some owners' values leave nothing to those who share their bits: try again. */
static bool find_instr(unsigned op, unsigned length_B, struct agx_test_rng *rng,
                       struct agx_isa_instr *instr, uint8_t *bytes)
{
   for (unsigned attempt = 0; attempt < 30; attempt++)
      if (random_instr(op, length_B, rng, instr, bytes))
         return true;
   return false;
}

static unsigned check_form(unsigned op, unsigned length_B, struct agx_test_rng *rng)
{
   for (unsigned i = 0; i < ROUNDS; i++) {
      struct agx_isa_instr instr = {0};
      uint8_t bytes[AGX_ISA_MAX_BYTES];
      if (!find_instr(op, length_B, rng, &instr, bytes))
         return 1;
      check_instr(&instr, bytes);
   }
   return 0;
}

static void every_row_round_trips(void **state)
{
   struct agx_test_rng rng = {0x5eed0001};
   unsigned impossible = 0;
   for (unsigned op = 0; op < AGX_ISA_OP_COUNT; op++) {
      const struct agx_isa_info *info = agx_isa_info(op);
      impossible += check_form(op, info->length_B, &rng);
      if (info->long_B)
         impossible += check_form(op, info->long_B, &rng);
   }
   /* ceil, trunc and rint have opcode bits, uniform_store a mask, beyond the short form. */
   assert_int_equal(impossible, 4);
}

/* In a block of exactly their size, so that the sanitizer sees every overrun. */
static void check_bytes(const uint8_t *bytes, size_t size)
{
   uint8_t *exact = malloc(size ? size : 1), code[AGX_ISA_MAX_BYTES];
   struct agx_isa_instr instr;
   size_t length;
   char expected[16];
   assert_non_null(exact);
   memcpy(exact, bytes, size);
   agx_status status = agx_isa_decode(exact, size, &instr);
   if (status == AGX_OK) {
      assert_in_range(instr.length, 2, size);
      assert_ok(agx_isa_encode(&instr, code, &length));
      assert_int_equal(length, instr.length);
      assert_memory_equal(code, exact, length);
   } else {
      unsigned at;
      assert_true(status == AGX_OUT_OF_RANGE || status == AGX_INVALID_ARGUMENT);
      assert_int_equal(sscanf(agx_error_peek(), "byte %u: %15s", &at, expected), 2);
      assert_in_range(at, 0, size);
   }
   free(exact);
}

static void random_bytes_never_crash(void **state)
{
   struct agx_test_rng rng = {0x5eed0002};
   for (size_t size = 0; size <= 16; size++) {
      for (unsigned i = 0; i < 4000; i++) {
         uint8_t bytes[16];
         for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)(sparse(&rng) & 0xff);
         check_bytes(bytes, size);
      }
   }
}

/* All first halfwords, followed by zeros, ones and nothing. */
static void every_first_halfword(void **state)
{
   for (unsigned half = 0; half < 0x10000; half++) {
      uint8_t bytes[16] = {(uint8_t)half, (uint8_t)(half >> 8)};
      check_bytes(bytes, 2);
      check_bytes(bytes, 12);
      memset(bytes + 2, 0xff, 14);
      check_bytes(bytes, 16);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_round_trips),
      cmocka_unit_test(random_bytes_never_crash),
      cmocka_unit_test(every_first_halfword),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
