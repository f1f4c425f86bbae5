/* SPDX-License-Identifier: MIT
 *
 * Words and ids of a module: instructions with their length checked, operands, strings, entries of
 * ids, decorations, and the failure that names the word. Every other file reads modules through
 * these functions, so that no unchecked word is used as an index.
 */
#include "agx/compiler/spirv/reader_impl.h"

#include <stdarg.h>
#include <stdio.h>

void agxc_spv_leave(struct agxc_spv *s, agx_status code, const char *format, ...)
{
   char text[256];
   va_list args;
   va_start(args, format);
   vsnprintf(text, sizeof(text), format, args);
   va_end(args);
   agxc_fail(s->shader, code, "SPIR-V word %u, opcode %u (Op%s): %s", s->now.at, s->now.opcode,
             agxc_spv_name(AGXC_SPV_NAME_OPCODE, s->now.opcode), text);
}

struct agxc_spv_instr agxc_spv_instr_at(struct agxc_spv *s, uint32_t at)
{
   struct agxc_spv_instr in = {
      .words = s->words + at,
      .at = at,
      .opcode = s->words[at] & 0xffff,
      .length = s->words[at] >> 16,
      .first = 1,
   };
   s->now = in;
   if (in.length == 0 || in.length > s->word_count - at)
      agxc_spv_invalid(s, "length %u with %u words left", in.length, s->word_count - at);
   const struct agxc_spv_op *row = agxc_spv_op_find(in.opcode);
   if (!row)
      agxc_spv_missing(s, "the instruction is not supported: compile without what needs it");
   if (in.length < row->words)
      agxc_spv_invalid(s, "length %u, at least %u needed", in.length, row->words);
   if (row->flags & AGXC_SPV_HAS_TYPE)
      in.type_id = in.words[in.first++];
   if (row->flags & AGXC_SPV_HAS_RESULT)
      in.id = in.words[in.first++];
   s->now = in;
   return in;
}

uint32_t agxc_spv_operand_count(const struct agxc_spv_instr *in)
{
   return in->length - in->first;
}

uint32_t agxc_spv_operand(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i)
{
   if (i >= agxc_spv_operand_count(in))
      agxc_spv_invalid(s, "operand %u of %u", i, agxc_spv_operand_count(in));
   return in->words[in->first + i];
}

struct agxc_spv_id *agxc_spv_id(struct agxc_spv *s, uint32_t id)
{
   if (id == 0 || id >= s->bound)
      agxc_spv_invalid(s, "id %u outside the bound %u", id, s->bound);
   if (!s->ids[id])
      s->ids[id] = AGX_ARENA_NEW(s->arena, struct agxc_spv_id);
   return s->ids[id];
}

struct agxc_spv_id *agxc_spv_result(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_id *id = agxc_spv_id(s, in->id);
   if (id->kind != AGXC_SPV_ID_NONE)
      agxc_spv_invalid(s, "id %u is defined twice, first at word %u", in->id, id->word);
   id->word = in->at;
   return id;
}

const struct agxc_spv_decoration *agxc_spv_find_decoration(const struct agxc_spv_id *id,
                                                           uint32_t member, uint32_t kind)
{
   for (const struct agxc_spv_decoration *d = id->decorations; d; d = d->next)
      if (d->member == member && d->kind == kind)
         return d;
   return NULL;
}

bool agxc_spv_string(const struct agxc_spv_instr *in, uint32_t i, char *text, size_t capacity)
{
   size_t length = 0;
   for (uint32_t w = in->first + i; w < in->length; w++)
      for (unsigned byte = 0; byte < 4; byte++) {
         char c = (char)(in->words[w] >> (8 * byte) & 0xff);
         if (length < capacity)
            text[length++] = c;
         if (!c) {
            text[capacity - 1] = 0;
            return true;
         }
      }
   return false;
}

uint32_t agxc_spv_constant_u32(struct agxc_spv *s, uint32_t id)
{
   struct agxc_spv_id *entry = agxc_spv_id(s, id);
   if (entry->kind != AGXC_SPV_ID_VALUE || entry->region || entry->type->kind != AGXC_SPV_INT)
      agxc_spv_invalid(s, "id %u is no integer constant", id);
   if (entry->refs[0].kind != AGXC_IMM)
      agxc_spv_missing(s,
                       "constant %u depends on the size of a workgroup of dynamic size: fix the "
                       "size, or use a constant",
                       id);
   if ((uint64_t)entry->refs[0].imm > UINT32_MAX)
      agxc_spv_missing(
         s,
         "constant %u of more than 32 bits is too large for an index or size: at most 4294967295",
         id);
   return (uint32_t)entry->refs[0].imm;
}
