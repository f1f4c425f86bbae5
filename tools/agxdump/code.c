/* SPDX-License-Identifier: MIT
 *
 * Decodes a program, follows its jumps as far as they lead forward, and pairs asynchronous
 * operations with the instructions that wait for them.
 */
#include "code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/hw/packet.h"
#include "base/util.h"

#define MAX_INSTRS 65536
#define MAX_LISTED 4 /* operations that a wait names one by one */

/* The value of the operand with that name, or `otherwise`. */
static int64_t operand_value(const struct agx_isa_instr *instr, const char *name, int64_t otherwise)
{
   const struct agx_isa_info *info = agx_isa_info(instr->op);
   for (unsigned i = 0; i < info->operand_count; i++)
      if (strcmp(info->operand[i].name, name) == 0)
         return instr->operand[i].value;
   return otherwise;
}

/* ---- copying --------------------------------------------------------------- */

static struct dump_instr *grow(struct dump_code *code)
{
   if ((code->count & (code->count - 1)) == 0) { /* a power of two: full */
      size_t capacity = AGX_MAX(2 * code->count, 16);
      struct dump_instr *instrs = realloc(code->instrs, capacity * sizeof(*instrs));
      if (!instrs)
         return NULL;
      code->instrs = instrs;
   }
   return &code->instrs[code->count++];
}

static bool is_jump(uint16_t op)
{
   return op == AGX_ISA_OP_JMP_ANY || op == AGX_ISA_OP_JMP_NONE || op == AGX_ISA_OP_CALL ||
          op == AGX_ISA_OP_JMP_INCOMPLETE;
}

/* Where a jump at `at` leads, or CODE_NONE. */
static uint32_t target_of(const struct agx_isa_instr *instr, uint32_t at)
{
   int64_t target = at + operand_value(instr, "offset", 0);
   return is_jump(instr->op) && target >= 0 && target < CODE_NONE ? (uint32_t)target : CODE_NONE;
}

agx_status code_copy(code_read_fn *read, void *user, uint64_t va, struct dump_code *out_code)
{
   uint32_t furthest = 0;
   *out_code = (struct dump_code){.va = va, .is_cut = true};
   for (uint32_t i = 0, at = 0; i < MAX_INSTRS; i++) {
      uint8_t bytes[AGX_ISA_MAX_BYTES];
      struct agx_isa_instr instr;
      size_t size = sizeof(bytes);
      while (size > 0 && !read(user, va + at, bytes, size))
         size -= 2; /* the last instruction may end where memory does */
      if (agx_isa_decode(bytes, size, &instr) != AGX_OK)
         return AGX_OK;
      struct dump_instr *slot = grow(out_code);
      if (!slot)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for code");
      *slot = (struct dump_instr){.offset = at, .op = instr.op, .length = instr.length};
      memcpy(slot->bytes, bytes, instr.length);
      uint32_t target = target_of(&instr, at);
      if (target != CODE_NONE)
         furthest = AGX_MAX(furthest, target);
      at += instr.length;
      out_code->bytes = at;
      out_code->is_cut = instr.op != AGX_ISA_OP_STOP;
      if (!out_code->is_cut && furthest < at)
         return AGX_OK;
   }
   return AGX_OK;
}

void code_free(struct dump_code *code)
{
   free(code->instrs);
   *code = (struct dump_code){0};
}

/* ---- notes ----------------------------------------------------------------- */

struct annotation {
   const struct dump_code *code;
   struct code_note *notes;
   uint32_t open[2]; /* by group: the first operation that nothing has waited for, or CODE_NONE */
   uint32_t depth;
};

static bool opens(uint16_t op)
{
   return op == AGX_ISA_OP_IF_ICMP || op == AGX_ISA_OP_IF_FCMP;
}

static bool turns(uint16_t op)
{
   return op == AGX_ISA_OP_ELSE_ICMP || op == AGX_ISA_OP_ELSE_FCMP;
}

static void note_depth(struct annotation *it, struct code_note *note,
                       const struct agx_isa_instr *instr)
{
   uint32_t levels = (uint32_t)operand_value(instr, "nest", 0);
   if (instr->op == AGX_ISA_OP_POP_EXEC)
      it->depth -= AGX_MIN(levels, it->depth);
   note->depth = (uint16_t)(it->depth - (turns(instr->op) && it->depth > 0));
   if (opens(instr->op))
      it->depth = AGX_MIN(it->depth + levels, UINT16_MAX);
}

/* The instruction at `index` waits for what is open in the group. */
static void note_wait(struct annotation *it, uint32_t index, int group)
{
   if (it->open[group] == CODE_NONE)
      return;
   struct code_note *note = &it->notes[index];
   note->first_met = AGX_MIN(note->first_met, it->open[group]);
   for (uint32_t i = it->open[group]; i < index; i++) {
      struct code_note *met = &it->notes[i];
      if (met->group == group && met->wait == CODE_NONE) {
         met->wait = index;
         note->met_count++;
      }
   }
   it->open[group] = CODE_NONE;
}

static void note_group(struct annotation *it, uint32_t index, const struct agx_isa_instr *instr)
{
   const struct agx_isa_info *info = agx_isa_info(instr->op);
   struct code_note *note = &it->notes[index];
   int group = (int)operand_value(instr, "group", 0) & 1;
   if (instr->op == AGX_ISA_OP_WAIT) {
      note_wait(it, index, group);
   } else if (info->is_fence) {
      note_wait(it, index, 0);
      note_wait(it, index, 1);
   } else if (info->is_async) {
      note->group = (int8_t)group;
      it->open[group] = AGX_MIN(it->open[group], index);
   }
}

static void mark_target(const struct dump_code *code, struct code_note *notes, uint32_t target)
{
   size_t low = 0, high = code->count;
   while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (code->instrs[middle].offset < target)
         low = middle + 1;
      else
         high = middle;
   }
   if (low < code->count && code->instrs[low].offset == target)
      notes[low].is_target = true;
}

agx_status code_annotate(const struct dump_code *code, struct code_note **out_notes)
{
   struct annotation it = {.code = code, .open = {CODE_NONE, CODE_NONE}};
   *out_notes = it.notes = calloc(code->count + 1, sizeof(*it.notes));
   if (!it.notes)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for notes on code");
   for (uint32_t i = 0; i < code->count; i++) {
      struct agx_isa_instr instr;
      it.notes[i] = (struct code_note){
         .target = CODE_NONE, .wait = CODE_NONE, .first_met = CODE_NONE, .group = -1};
      AGX_TRY(agx_isa_decode(code->instrs[i].bytes, code->instrs[i].length, &instr));
      it.notes[i].target = target_of(&instr, code->instrs[i].offset);
      note_depth(&it, &it.notes[i], &instr);
      note_group(&it, i, &instr);
   }
   for (size_t i = 0; i < code->count; i++)
      if (it.notes[i].target != CODE_NONE)
         mark_target(code, it.notes, it.notes[i].target);
   return AGX_OK;
}

static void add_met(const struct dump_code *code, const struct code_note *notes, uint32_t index,
                    struct agx_hw_text *text)
{
   const struct code_note *note = &notes[index];
   uint32_t listed = 0;
   agx_hw_text_add(text, "waits for");
   for (uint32_t i = note->first_met; i < index && listed < MAX_LISTED; i++)
      if (notes[i].wait == index)
         agx_hw_text_add(text, "%s %s at %x", listed++ ? "," : "",
                         agx_isa_info(code->instrs[i].op)->name, code->instrs[i].offset);
   if (note->met_count > listed)
      agx_hw_text_add(text, " and %u more", note->met_count - listed);
}

void code_print_note(const struct dump_code *code, const struct code_note *notes, size_t index,
                     char *out, size_t capacity)
{
   const struct code_note *note = &notes[index];
   struct agx_hw_text text = {out, capacity, 0};
   out[0] = 0;
   if (note->target != CODE_NONE)
      agx_hw_text_add(&text, "to %x", note->target);
   else if (note->met_count)
      add_met(code, notes, (uint32_t)index, &text);
   else if (note->wait != CODE_NONE)
      agx_hw_text_add(&text, "waited for at %x", code->instrs[note->wait].offset);
}
