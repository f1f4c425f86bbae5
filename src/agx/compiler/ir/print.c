/* SPDX-License-Identifier: MIT
 *
 * The IR as text. One instruction a line, `%id:bits[xcount]` for values, control flow by
 * indentation and the words if, else, loop, continuing, end. Immediates of generic operations and
 * modifiers of machine instructions are NAME=VALUE, with a word for the value where ir_op.def or
 * isa.def has one: `agx.if_icmp %1:32, #9:32, #0:64, cond=ult`. agxc_parse takes it back.
 */
#include "agx/compiler/ir/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct printer {
   struct agx_arena *arena;
   char *text;
   size_t length, capacity;
   unsigned indent;
};

static void __attribute__((format(printf, 2, 3))) add(struct printer *p, const char *format, ...)
{
   for (;;) {
      va_list args;
      va_start(args, format);
      size_t room = p->capacity - p->length;
      int written = vsnprintf(p->text + p->length, room, format, args);
      va_end(args);
      if (written >= 0 && (size_t)written < room) {
         p->length += (size_t)written;
         return;
      }
      size_t capacity = p->capacity * 2 + (size_t)AGX_MAX(written, 0);
      p->text = agx_arena_grow(p->arena, p->text, p->length + 1, capacity, 1);
      p->capacity = capacity;
   }
}

static void begin_line(struct printer *p)
{
   add(p, "%*s", (int)(p->indent * 3), "");
}

static void print_shape(struct printer *p, const struct agxc_ref *ref)
{
   add(p, ":%u", ref->bits);
   if (ref->count != 1)
      add(p, "x%u", ref->count);
}

static void print_ref(struct printer *p, const struct agxc_ref *ref)
{
   if (ref->hint != AGX_ISA_HINT_NONE)
      add(p, "%c", ref->hint == AGX_ISA_HINT_CACHE ? '$' : '^');
   switch ((enum agxc_ref_kind)ref->kind) {
   case AGXC_NONE:
      add(p, "_");
      return;
   case AGXC_VALUE:
      add(p, "%%%u", ref->value->id);
      break;
   case AGXC_IMM:
      add(p, ref->imm < 10 && ref->imm > -10 ? "#%" PRIi64 : "#0x%" PRIx64, ref->imm);
      break;
   case AGXC_FIMM:
      add(p, "f%" PRIi64, ref->imm);
      break;
   case AGXC_UNIFORM:
      add(p, "u%u%c", ref->half / 2, "lh"[ref->half & 1]);
      break;
   case AGXC_REG:
      add(p, "r%u%c", ref->half / 2, "lh"[ref->half & 1]);
      break;
   }
   print_shape(p, ref);
   if (ref->abs)
      add(p, ".abs");
   if (ref->neg)
      add(p, ".neg");
   if (ref->sx)
      add(p, ".sx");
   if (ref->is_unsigned)
      add(p, ".u");
}

/* An immediate or a modifier: NAME=VALUE, without the name where the operation says it (sysval,
 * barrier). */
static void print_imm(struct printer *p, const struct agxc_instr *instr,
                      const struct agxc_imm_words *words, uint64_t value)
{
   if (strcmp(words->name, agxc_name_of(instr)) != 0)
      add(p, "%s=", words->name);
   const char *between = "";
   for (size_t w = 0; w < words->count; w++) {
      const struct agx_isa_name *word = &words->words[w];
      if (words->are_flags ? (value & word->value) != word->value : value != word->value)
         continue;
      add(p, "%s%s", between, word->name);
      if (!words->are_flags)
         return;
      between = "|";
      value &= ~word->value;
   }
   if (value || !*between)
      add(p, value < 10 ? "%s%" PRIu64 : "%s0x%" PRIx64, between, value);
}

/* Text leaves out modifiers that are 0 where isa.def says so. */
static bool is_left_out(const struct agxc_instr *instr, unsigned i)
{
   if (!agxc_is_machine(instr) || instr->operand[i].imm)
      return false;
   const struct agx_isa_operand_info *info = &agx_isa_info(agxc_opcode(instr))->operand[i];
   return info->role == AGX_ISA_ROLE_MOD && info->is_optional;
}

static void print_instr(struct printer *p, const struct agxc_instr *instr)
{
   begin_line(p);
   for (unsigned i = 0; i < instr->dest_count; i++) {
      add(p, i ? ", " : "");
      print_ref(p, &instr->operand[i]);
   }
   add(p, instr->dest_count ? " = " : "");
   add(p, "%s%s", agxc_is_machine(instr) ? "agx." : "", agxc_name_of(instr));
   for (unsigned i = 0; i < AGX_COUNT(agxc_instr_flag_words); i++)
      if (instr->flags >> i & 1)
         add(p, ".%s", agxc_instr_flag_words[i]);
   const char *between = " ";
   for (unsigned i = instr->dest_count; i < instr->operand_count; i++) {
      if (is_left_out(instr, i))
         continue;
      add(p, "%s", between);
      between = ", ";
      struct agxc_imm_words words = agxc_imm_words(instr->op, instr->dest_count, i);
      if (words.name)
         print_imm(p, instr, &words, (uint64_t)instr->operand[i].imm);
      else
         print_ref(p, &instr->operand[i]);
   }
   add(p, "\n");
}

static void print_list(struct printer *p, const struct agx_link *list)
{
   static const char *const words[][2] = {
      [AGXC_NODE_IF] = {"if", "else"}, [AGXC_NODE_LOOP] = {"loop", "continuing"}};
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_BLOCK) {
         agxc_foreach_instr (instr, agxc_as_block(node))
            print_instr(p, instr);
         continue;
      }
      for (unsigned i = 0; i < 2; i++) {
         begin_line(p);
         add(p, "%s\n", words[node->kind][i]);
         p->indent++;
         print_list(p, agxc_list_of(node, i));
         p->indent--;
      }
      begin_line(p);
      add(p, "end\n");
   }
}

const char *agxc_print(const struct agxc_shader *shader, struct agx_arena *arena)
{
   struct printer p = {.arena = arena, .capacity = 4096};
   p.text = agx_arena_alloc(arena, p.capacity);
   add(&p, "shader %s local %ux%ux%u shared %u push %u\n", shader->name, shader->local_size[0],
       shader->local_size[1], shader->local_size[2], shader->shared_B, shader->push_B);
   print_list(&p, &shader->body);
   return p.text;
}
