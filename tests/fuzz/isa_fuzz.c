/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the instruction table from both sides. The first byte chooses: the
 * rest is machine code, which must decode, print, parse and encode in a circle;
 * or it is text, of which whatever parses and encodes must do the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/isa/cost.h"
#include "base/status.h"

#define MAX_TEXT 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, also in release builds. */
static void require(bool holds, const char *what)
{
   if (holds)
      return;
   fprintf(stderr, "broken promise: %s (%s)\n", what, agx_error_peek());
   abort();
}

/* A decoded instruction gives its bytes again, by itself and by its text. */
static void check_decoded(const struct agx_isa_instr *instr, const uint8_t *bytes)
{
   uint8_t code[AGX_ISA_MAX_BYTES];
   char text[MAX_TEXT];
   struct agx_isa_instr parsed;
   size_t length, text_length = agx_isa_print(instr, text, sizeof(text));
   require(agx_isa_encode(instr, code, &length) == AGX_OK, "what decodes encodes");
   require(length == instr->length && memcmp(code, bytes, length) == 0, "to the same bytes");
   require(text_length < sizeof(text), "the text is short");
   require(agx_isa_parse(text, text_length, &parsed) == AGX_OK, "what is printed parses");
   require(agx_isa_encode(&parsed, code, &length) == AGX_OK, "what is printed encodes");
   require(length == instr->length && memcmp(code, bytes, length) == 0, "to the same bytes again");
   require(agx_isa_cost(instr).throughput > 0, "nothing is free");
}

static void fuzz_code(const uint8_t *bytes, size_t size)
{
   struct agx_isa_instr instr;
   for (size_t at = 0; at < size;) {
      if (agx_isa_decode(bytes + at, size - at, &instr) == AGX_OK) {
         check_decoded(&instr, bytes + at);
         at += instr.length;
      } else {
         require(strncmp(agx_error_peek(), "byte ", 5) == 0, "errors name the byte");
         at += 2;
      }
   }
}

static void fuzz_text(const uint8_t *text, size_t size)
{
   struct agx_isa_instr instr, decoded;
   uint8_t code[AGX_ISA_MAX_BYTES];
   char printed[MAX_TEXT];
   size_t length;
   if (agx_isa_parse((const char *)text, size, &instr) != AGX_OK)
      return;
   agx_isa_print(&instr, printed, sizeof(printed));
   if (agx_isa_encode(&instr, code, &length) != AGX_OK)
      return;
   require(agx_isa_decode(code, length, &decoded) == AGX_OK, "what encodes decodes");
   check_decoded(&decoded, code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   if (size == 0)
      return 0;
   if (data[0] & 1)
      fuzz_text(data + 1, size - 1);
   else
      fuzz_code(data + 1, size - 1);
   return 0;
}
