/* SPDX-License-Identifier: MIT
 *
 * The text of agxc_print, read back. For tests, which write IR as text; still, every word is
 * checked.
 */
#include "agx/compiler/ir/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_OPERANDS 64
#define MAX_VALUES   (1u << 20)
#define MAX_DEPTH    64

struct parser {
   struct agxc_shader *shader;
   const char *at; /* the rest of the text */
   unsigned line;
   struct agx_link *lists[MAX_DEPTH]; /* innermost last */
   struct agxc_node *parents[MAX_DEPTH];
   unsigned depth;
};

#define PARSE_FAIL(p, ...)                                                                         \
   (agx_status_fail(AGX_INVALID_ARGUMENT, __VA_ARGS__), agx_error_prefix("line %u", (p)->line),    \
    agxc_leave((p)->shader, AGX_INVALID_ARGUMENT))

/* ---- words ------------------------------------------------------------ */

static void skip_blanks(struct parser *p)
{
   while (*p->at == ' ')
      p->at++;
}

static bool take(struct parser *p, const char *text)
{
   size_t length = strlen(text);
   if (strncmp(p->at, text, length) != 0)
      return false;
   p->at += length;
   return true;
}

static int64_t take_number(struct parser *p)
{
   char *end;
   bool negative = take(p, "-");
   if (!isdigit((unsigned char)*p->at))
      PARSE_FAIL(p, "a number is missing at \"%.10s\"", p->at);
   uint64_t value = strtoull(p->at, &end, 0);
   p->at = end;
   return (int64_t)(negative ? 0 - value : value);
}

static unsigned take_small(struct parser *p, unsigned max)
{
   int64_t value = take_number(p);
   if (value < 0 || value > max)
      PARSE_FAIL(p, "%" PRIi64 " is not in 0 to %u", value, max);
   return (unsigned)value;
}

static bool same_name(const char *name, const char *word, size_t length)
{
   return strlen(name) == length && memcmp(name, word, length) == 0;
}

/* ---- operands --------------------------------------------------------- */

static void take_shape(struct parser *p, struct agxc_ref *ref)
{
   ref->bits = 64;
   ref->count = 1;
   if (take(p, ":"))
      ref->bits = (uint8_t)take_small(p, 64);
   if (take(p, "x"))
      ref->count = (uint8_t)take_small(p, 8);
   /* Modifiers of machine instructions have no width. */
   static const uint8_t widths[] = {0, 1, 8, 16, 32, 64};
   bool sized = ref->bits && ref->count;
   if (!memchr(widths, ref->bits, sizeof(widths)) || (!sized && ref->kind == AGXC_VALUE))
      PARSE_FAIL(p, "%u bits times %u", ref->bits, ref->count);
}

static uint32_t take_half(struct parser *p)
{
   uint32_t half = 2 * take_small(p, 255);
   if (take(p, "h"))
      return half + 1;
   if (!take(p, "l"))
      PARSE_FAIL(p, "l or h is missing at \"%.10s\"", p->at);
   return half;
}

/* A value by number; it comes into being where it is named first. */
static struct agxc_value *value_at(struct parser *p, uint32_t id)
{
   while (p->shader->value_count <= id)
      agxc_value_new(p->shader, 0, 0);
   return p->shader->values[id];
}

static void take_value(struct parser *p, struct agxc_ref *ref)
{
   ref->kind = AGXC_VALUE;
   ref->value = value_at(p, take_small(p, MAX_VALUES));
   take_shape(p, ref);
   if (ref->value->bits == 0) {
      ref->value->bits = ref->bits;
      ref->value->count = ref->count;
   }
   if (ref->value->bits != ref->bits || ref->value->count != ref->count)
      PARSE_FAIL(p, "value %u had another shape before", ref->value->id);
}

static void take_modifiers(struct parser *p, struct agxc_ref *ref)
{
   while (*p->at == '.') {
      if (take(p, ".abs"))
         ref->abs = true;
      else if (take(p, ".neg"))
         ref->neg = true;
      else if (take(p, ".sx"))
         ref->sx = true;
      else if (take(p, ".u"))
         ref->is_unsigned = true;
      else
         PARSE_FAIL(p, "unknown modifier \"%.6s\"", p->at);
   }
}

static struct agxc_ref take_ref(struct parser *p)
{
   struct agxc_ref ref = {0};
   if (take(p, "$"))
      ref.hint = AGX_ISA_HINT_CACHE;
   else if (take(p, "^"))
      ref.hint = AGX_ISA_HINT_DISCARD;
   if (take(p, "_"))
      return ref;
   if (take(p, "%")) {
      take_value(p, &ref);
   } else if (take(p, "#")) {
      ref.kind = AGXC_IMM;
      ref.imm = take_number(p);
      take_shape(p, &ref);
   } else if (take(p, "f")) {
      ref.kind = AGXC_FIMM;
      ref.imm = take_small(p, 255);
      take_shape(p, &ref);
   } else if (*p->at == 'u' || *p->at == 'r') {
      ref.kind = *p->at++ == 'u' ? AGXC_UNIFORM : AGXC_REG;
      ref.half = take_half(p);
      take_shape(p, &ref);
   } else {
      PARSE_FAIL(p, "an operand is missing at \"%.10s\"", p->at);
   }
   take_modifiers(p, &ref);
   return ref;
}

/* One word of a value, or a number. */
static uint64_t take_value_word(struct parser *p, const struct agxc_imm_words *words)
{
   size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyz_0123456789");
   for (size_t i = 0; i < words->count; i++)
      if (same_name(words->words[i].name, p->at, length)) {
         p->at += length;
         return words->words[i].value;
      }
   return (uint64_t)take_number(p);
}

static struct agxc_ref take_imm(struct parser *p, const struct agxc_imm_words *words)
{
   if (take(p, words->name) && !take(p, "="))
      PARSE_FAIL(p, "= is missing behind %s", words->name);
   uint64_t value = take_value_word(p, words);
   while (words->are_flags && take(p, "|"))
      value |= take_value_word(p, words);
   return agxc_imm(value, 64);
}

/* Whether text leaves operand i out: a modifier that is 0, and another one's name, or nothing,
 * stands there. */
static bool is_left_out(struct parser *p, unsigned op, const char *name, unsigned i)
{
   if (op < AGXC_OP_ISA || !name)
      return false;
   size_t length = strlen(name);
   bool is_there = strncmp(p->at, name, length) == 0 && p->at[length] == '=';
   return !is_there && agx_isa_info((enum agx_isa_op)(op - AGXC_OP_ISA))->operand[i].is_optional;
}

/* Operands of op behind the first, which are destinations: refs has `dests` of them. */
static unsigned take_operands(struct parser *p, unsigned op, struct agxc_ref *refs, unsigned dests)
{
   unsigned count = dests;
   bool goes_on = *p->at && *p->at != '\n';
   for (;;) {
      skip_blanks(p);
      if (count == MAX_OPERANDS)
         PARSE_FAIL(p, "more than %u operands", MAX_OPERANDS);
      struct agxc_imm_words words = agxc_imm_words(op, dests, count);
      if (is_left_out(p, op, words.name, count)) {
         refs[count++] = agxc_imm(0, 64);
         continue;
      }
      if (!goes_on)
         break;
      refs[count++] = words.name ? take_imm(p, &words) : take_ref(p);
      goes_on = take(p, ",");
   }
   return count;
}

static unsigned take_dests(struct parser *p, struct agxc_ref *refs)
{
   unsigned count = 0;
   do {
      skip_blanks(p);
      if (count == MAX_OPERANDS)
         PARSE_FAIL(p, "more than %u operands", MAX_OPERANDS);
      refs[count++] = take_ref(p);
   } while (take(p, ","));
   skip_blanks(p);
   return count;
}

/* ---- instructions ----------------------------------------------------- */

static unsigned take_op(struct parser *p)
{
   bool is_machine = take(p, "agx.");
   const char *word = p->at;
   size_t length = strcspn(word, ". \n");
   p->at += length;
   for (unsigned op = 0; !is_machine && op < AGXC_OP_ISA; op++)
      if (same_name(agxc_op_info((enum agxc_op)op)->name, word, length))
         return op;
   for (unsigned opcode = 0; is_machine && opcode < AGX_ISA_OP_COUNT; opcode++)
      if (same_name(agx_isa_info((enum agx_isa_op)opcode)->name, word, length))
         return AGXC_OP_ISA + opcode;
   PARSE_FAIL(p, "unknown operation \"%.*s\"", (int)AGX_MIN(length, 40), word);
}

static struct agxc_instr *make_instr(struct parser *p, unsigned op, unsigned dests,
                                     unsigned operands)
{
   if (op >= AGXC_OP_ISA) {
      struct agxc_instr *machine = agxc_instr_new(p->shader, op);
      if (machine->dest_count != dests || machine->operand_count != operands)
         PARSE_FAIL(p, "%u destinations and %u operands; it takes %u and %u", dests, operands,
                    machine->dest_count, machine->operand_count);
      return machine;
   }
   const struct agxc_op_info *info = agxc_op_info((enum agxc_op)op);
   unsigned fixed = dests + (unsigned)info->imms;
   if ((info->dests >= 0 && dests != (unsigned)info->dests) || operands < fixed ||
       (info->srcs >= 0 && operands - fixed != (unsigned)info->srcs))
      PARSE_FAIL(p, "%u destinations and %u operands for %s", dests, operands, info->name);
   return agxc_instr_new_n(p->shader, op, dests, operands - fixed);
}

static unsigned take_flags(struct parser *p)
{
   unsigned flags = 0;
   while (take(p, ".")) {
      size_t length = strcspn(p->at, ". \n");
      unsigned i = 0;
      while (i < AGX_COUNT(agxc_instr_flag_words) &&
             !same_name(agxc_instr_flag_words[i], p->at, length))
         i++;
      if (i == AGX_COUNT(agxc_instr_flag_words))
         PARSE_FAIL(p, "unknown flag \"%.*s\"", (int)AGX_MIN(length, 40), p->at);
      p->at += length;
      flags |= 1u << i;
   }
   return flags;
}

static void parse_instr(struct parser *p)
{
   struct agxc_ref refs[MAX_OPERANDS];
   unsigned dests = 0, operands;
   if (strchr("%$^_#ufr", *p->at) && memchr(p->at, '=', strcspn(p->at, "\n"))) {
      dests = take_dests(p, refs);
      if (!take(p, "= "))
         PARSE_FAIL(p, "\"=\" is missing at \"%.10s\"", p->at);
   }
   unsigned op = take_op(p);
   unsigned flags = take_flags(p);
   skip_blanks(p);
   operands = take_operands(p, op, refs, dests);
   struct agxc_instr *instr = make_instr(p, op, dests, operands);
   instr->flags = (uint8_t)flags;
   for (unsigned i = 0; i < operands; i++)
      instr->operand[i] = refs[i];
   for (unsigned i = 0; i < dests; i++)
      if (refs[i].kind == AGXC_VALUE)
         refs[i].value->def = instr;
   struct agxc_builder b = agxc_at_end(p->shader, agxc_last_block(p->lists[p->depth]));
   agxc_insert(&b, instr);
}

/* ---- control flow ----------------------------------------------------- */

/* Starts a list. A list is never empty, so one with blocks was begun before. */
static void enter(struct parser *p, struct agx_link *list, struct agxc_node *parent)
{
   if (!agx_list_empty(list))
      PARSE_FAIL(p, "a second else or continuing");
   p->lists[p->depth] = list;
   p->parents[p->depth] = parent;
   agxc_block_append(p->shader, list, parent);
}

static void open_node(struct parser *p, struct agxc_node *node)
{
   if (p->depth + 1 == MAX_DEPTH)
      PARSE_FAIL(p, "nested deeper than %u", MAX_DEPTH);
   agxc_node_append(p->lists[p->depth], p->parents[p->depth], node);
   p->depth++;
   enter(p, agxc_list_of(node, 0), node);
}

static void enter_second(struct parser *p, enum agxc_node_kind kind, const char *word)
{
   struct agxc_node *node = p->depth ? p->parents[p->depth] : NULL;
   if (!node || node->kind != kind)
      PARSE_FAIL(p, "%s where there is nothing to continue", word);
   enter(p, agxc_list_of(node, 1), node);
}

static void close_node(struct parser *p)
{
   if (p->depth == 0)
      PARSE_FAIL(p, "end where nothing is open");
   struct agxc_node *node = p->parents[p->depth];
   struct agx_link *second = agxc_list_of(node, 1);
   if (agx_list_empty(second)) /* the text may leave it out */
      agxc_block_append(p->shader, second, node);
   p->depth--;
   agxc_block_append(p->shader, p->lists[p->depth], p->parents[p->depth]);
}

static void parse_line(struct parser *p)
{
   if (take(p, "if\n")) {
      open_node(p, &agxc_if_new(p->shader)->node);
   } else if (take(p, "else\n")) {
      enter_second(p, AGXC_NODE_IF, "else");
   } else if (take(p, "loop\n")) {
      open_node(p, &agxc_loop_new(p->shader)->node);
   } else if (take(p, "continuing\n")) {
      enter_second(p, AGXC_NODE_LOOP, "continuing");
   } else if (take(p, "end\n")) {
      close_node(p);
   } else {
      parse_instr(p);
      if (!take(p, "\n"))
         PARSE_FAIL(p, "\"%.10s\" behind an instruction", p->at);
   }
}

static void parse_header(struct parser *p)
{
   struct agxc_shader *shader = p->shader;
   int taken = 0;
   if (sscanf(p->at, "shader %63s local %ux%ux%u shared %u push %u\n%n", shader->name,
              &shader->local_size[0], &shader->local_size[1], &shader->local_size[2],
              &shader->shared_B, &shader->push_B, &taken) != 6)
      PARSE_FAIL(p, "the first line is not a shader's");
   p->at += taken;
   p->line++;
}

/* Apart from the jump buffer's function, whose locals a jump would leave undefined. */
static void __attribute__((noinline)) parse_all(struct parser *p)
{
   p->lists[0] = &p->shader->body;
   parse_header(p);
   for (skip_blanks(p); *p->at; skip_blanks(p), p->line++)
      parse_line(p);
   if (p->depth)
      PARSE_FAIL(p, "%u blocks of control flow are open at the end", p->depth);
}

static agx_status __attribute__((noinline))
parse_guarded(struct agx_arena *arena, const struct agxc_options *options, struct parser *p)
{
   jmp_buf failed;
   arena->exhausted = &failed;
   if (setjmp(failed) == 0) {
      p->shader = agxc_shader_create(arena, options);
      parse_all(p);
      return AGX_OK;
   }
   if (p->shader && p->shader->status != AGX_OK)
      return p->shader->status;
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "IR text: out of memory");
}

agx_status agxc_parse(struct agx_arena *arena, const struct agxc_options *options, const char *text,
                      struct agxc_shader **out_shader)
{
   jmp_buf *outer = arena->exhausted;
   struct parser p = {.at = text, .line = 1};
   agx_status status = parse_guarded(arena, options, &p);
   arena->exhausted = outer;
   *out_shader = status == AGX_OK ? p.shader : NULL;
   return status;
}
