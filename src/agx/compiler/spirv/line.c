/* SPDX-License-Identifier: MIT
 *
 * Source lines: what OpLine and OpNoLine, or DebugLine and DebugNoLine of
 * NonSemantic.Shader.DebugInfo, say of the instructions behind them. The walk over the module
 * (module.c) lists them with their files; flow.c makes the one that holds the current line, which
 * new IR instructions get. Nothing here may fail a compilation: a line whose file or number is none
 * is dropped, and what exceeds a limit, too.
 */
#include "agx/compiler/spirv/flow_impl.h"
#include "agx/compiler/spirv/module_impl.h"

/* Source: the SPIR-V registry, NonSemantic.Shader.DebugInfo. */
#define DEBUG_SOURCE           35
#define DEBUG_SOURCE_CONTINUED 102
#define DEBUG_LINE             103
#define DEBUG_NO_LINE          104

#define MAX_NAME_B 1024         /* of a file; longer ones are cut */
#define MAX_TEXT_B (256u << 10) /* of all files; what has no room is left out */
#define MAX_LINES  (1u << 22)

/* A line that does not come from the module's list. */
#define FIRST_LINE 2u

/* An instruction as it stands, none of whose words are trusted. */
struct raw {
   const uint32_t *words;
   uint32_t at, opcode, length;
};

static bool raw_at(const struct agxc_spv *s, uint32_t at, struct raw *out)
{
   if (at < AGXC_SPV_HEADER_WORDS || at >= s->word_count)
      return false;
   *out = (struct raw){s->words + at, at, s->words[at] & 0xffff, s->words[at] >> 16};
   return out->length > 0 && out->length <= s->word_count - at;
}

/* The instruction that defines an id, if it is of that opcode. */
static bool definition_of(const struct agxc_spv *s, uint32_t id, uint32_t opcode, struct raw *out)
{
   return id < s->bound && s->ids[id] && raw_at(s, s->ids[id]->word, out) && out->opcode == opcode;
}

/* The number of an instruction of the debug information's set, or 0. */
static uint32_t debug_number(const struct agxc_spv *s, const struct raw *in)
{
   if (!s->debug_import || in->opcode != SpvOpExtInst || in->length < 5 ||
       in->words[3] != s->debug_import)
      return 0;
   return in->words[4];
}

/* ---- files -------------------------------------------------------------- */

struct text {
   char *bytes;
   size_t size, capacity;
};

/* Appends the words' text up to its end; false: it has no room, or no end. */
static bool add_words(struct text *text, const struct raw *in, uint32_t first, bool is_name)
{
   for (uint32_t w = first; w < in->length; w++)
      for (unsigned byte = 0; byte < 4; byte++) {
         const unsigned char c = (unsigned char)(in->words[w] >> 8 * byte & 0xff);
         if (!c)
            return true;
         if (text->size == text->capacity)
            return false;
         const bool is_space = c >= '\t' && c <= '\r' && !is_name;
         text->bytes[text->size++] = (c < ' ' && !is_space) || c == 0x7f ? '?' : (char)c;
      }
   return false;
}

static size_t room_of(const struct raw *in)
{
   return 4 * (size_t)in->length;
}

static bool add_string(struct agxc_spv *s, struct text *text, uint32_t id)
{
   struct raw string;
   return definition_of(s, id, SpvOpString, &string) && add_words(text, &string, 2, false);
}

/* A text of DebugSource and the DebugSourceContinued behind it. */
static bool add_debug_source(struct agxc_spv *s, struct text *text, const struct raw *source)
{
   struct raw in = *source;
   if (source->length < 7 || !add_string(s, text, source->words[6]))
      return false;
   while (raw_at(s, in.at + in.length, &in) && debug_number(s, &in) == DEBUG_SOURCE_CONTINUED)
      if (in.length < 6 || !add_string(s, text, in.words[5]))
         return false;
   return true;
}

/* The text of the OpSource that names the file, and of the OpSourceContinued behind it. */
static bool add_source(struct agxc_spv *s, struct text *text, uint32_t file_id)
{
   struct raw in;
   uint32_t i = 0;
   while (i < s->source_count && s->sources[i].file_id != file_id)
      i++;
   if (i == s->source_count || !raw_at(s, s->sources[i].word, &in) || in.length < 5 ||
       !add_words(text, &in, 4, false))
      return false;
   while (raw_at(s, in.at + in.length, &in) && in.opcode == SpvOpSourceContinued)
      if (!add_words(text, &in, 1, false))
         return false;
   return true;
}

/* glslang puts comments in front of a text, and a directive that makes what follows line 1. */
static void skip_directives(struct text *text)
{
   static const char comment[] = "// OpModuleProcessed", first[] = "#line 1\n";
   size_t at = 0;
   while (text->size - at >= strlen(comment) &&
          memcmp(text->bytes + at, comment, strlen(comment)) == 0) {
      const char *end = memchr(text->bytes + at, '\n', text->size - at);
      if (!end)
         return;
      at = (size_t)(end - text->bytes) + 1;
   }
   if (text->size - at < strlen(first) || memcmp(text->bytes + at, first, strlen(first)) != 0)
      return;
   text->bytes += at + strlen(first);
   text->size -= at + strlen(first);
}

static void read_text(struct agxc_spv *s, struct agx_line_file *file, uint32_t file_id,
                      const struct raw *debug_source)
{
   if (debug_source ? debug_source->length < 7 : !s->source_count)
      return;
   if (!s->text)
      s->text = agx_arena_alloc(s->arena, MAX_TEXT_B);
   struct text text = {.bytes = s->text + s->text_B, .capacity = MAX_TEXT_B - s->text_B};
   const bool is_whole =
      debug_source ? add_debug_source(s, &text, debug_source) : add_source(s, &text, file_id);
   if (!is_whole || text.size == 0)
      return;
   s->text_B += (uint32_t)text.size;
   skip_directives(&text);
   file->text = text.bytes;
   file->text_B = text.size;
}

/* The file that an OpString names, or a DebugSource; false: none, or one too many. */
static bool find_file(struct agxc_spv *s, uint32_t id, uint32_t *out_file)
{
   struct raw name, source;
   const bool has_source = definition_of(s, id, SpvOpExtInst, &source) &&
                           debug_number(s, &source) == DEBUG_SOURCE && source.length >= 6;
   const uint32_t name_id = has_source ? source.words[5] : id;
   if (!definition_of(s, name_id, SpvOpString, &name))
      return false;
   if (!s->file_of)
      s->file_of = AGX_ARENA_ARRAY(s->arena, uint16_t, s->bound);
   *out_file = s->file_of[id] - 1u;
   if (s->file_of[id])
      return true;
   if (s->file_count == AGX_PROGRAM_MAX_FILES)
      return false;
   if (!s->files)
      s->files = AGX_ARENA_ARRAY(s->arena, struct agx_line_file, AGX_PROGRAM_MAX_FILES);
   struct text text = {.capacity = AGX_MIN(room_of(&name), (size_t)MAX_NAME_B)};
   text.bytes = agx_arena_alloc(s->arena, text.capacity + 1);
   add_words(&text, &name, 2, true);
   text.bytes[text.size] = 0;
   struct agx_line_file *file = &s->files[s->file_count];
   file->name = text.size ? text.bytes : "?";
   read_text(s, file, name_id, has_source ? &source : NULL);
   *out_file = s->file_count++;
   s->file_of[id] = (uint16_t)s->file_count;
   return true;
}

void agxc_spv_note_source(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   if (in->length < 5 || s->source_count == AGX_PROGRAM_MAX_FILES)
      return;
   if (!s->sources)
      s->sources = AGX_ARENA_ARRAY(s->arena, struct agxc_spv_source, AGX_PROGRAM_MAX_FILES);
   s->sources[s->source_count++] = (struct agxc_spv_source){in->words[3], in->at};
}

/* ---- lines -------------------------------------------------------------- */

static uint32_t add_line(struct agxc_spv *s, struct agxc_line line)
{
   if (s->line_count == MAX_LINES || line.line > AGX_LINE_MAX)
      return AGXC_NO_LINE;
   if (line.column > AGX_COLUMN_MAX)
      line.column = 0;
   if (s->line_count == s->line_capacity) {
      s->line_capacity = AGX_MAX(2 * s->line_capacity, 64u);
      s->lines =
         agx_arena_grow(s->arena, s->lines, s->line_count, s->line_capacity, sizeof(*s->lines));
   }
   if (s->line_count == 0)
      s->line_count = FIRST_LINE; /* both of zeros */
   s->lines[s->line_count] = line;
   return s->line_count++;
}

/* A constant of 32 bits, or 0. */
static uint32_t number_of(const struct agxc_spv *s, uint32_t id)
{
   const struct agxc_spv_id *entry = id < s->bound ? s->ids[id] : NULL;
   if (!entry || entry->kind != AGXC_SPV_ID_VALUE || !entry->type ||
       entry->type->kind != AGXC_SPV_INT || entry->refs[0].kind != AGXC_IMM ||
       (uint64_t)entry->refs[0].imm > UINT32_MAX)
      return 0;
   return (uint32_t)entry->refs[0].imm;
}

/* What an instruction says of those behind it: 0: nothing. */
static uint32_t read_line(struct agxc_spv *s, const struct raw *in)
{
   struct agxc_line line = {.word = in->at};
   const uint32_t number = debug_number(s, in);
   if (in->opcode == SpvOpNoLine || number == DEBUG_NO_LINE)
      return AGXC_NO_LINE;
   if (in->opcode == SpvOpLine && in->length >= 4) {
      line.line = in->words[2];
      line.column = in->words[3];
      return find_file(s, in->words[1], &line.file) ? add_line(s, line) : AGXC_NO_LINE;
   }
   if (number != DEBUG_LINE || in->length < 10)
      return 0;
   line.line = number_of(s, in->words[6]);
   line.column = number_of(s, in->words[8]);
   return find_file(s, in->words[5], &line.file) ? add_line(s, line) : AGXC_NO_LINE;
}

uint32_t agxc_spv_note_line(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct raw raw;
   return raw_at(s, in->at, &raw) ? read_line(s, &raw) : 0;
}

void agxc_spv_follow_line(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct raw raw;
   if (!raw_at(s, in->at, &raw))
      return;
   const uint32_t number = debug_number(s, &raw);
   if (in->opcode == SpvOpNoLine || number == DEBUG_NO_LINE)
      s->shader->line = AGXC_NO_LINE;
   else if (in->opcode == SpvOpLine || number == DEBUG_LINE)
      s->shader->line = agxc_spv_line_at(s, in->at);
}

uint32_t agxc_spv_line_at(const struct agxc_spv *s, uint32_t word)
{
   uint32_t low = FIRST_LINE, high = s->line_count;
   while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (s->lines[middle].word < word)
         low = middle + 1;
      else
         high = middle;
   }
   return low < s->line_count && s->lines[low].word == word ? low : AGXC_NO_LINE;
}
