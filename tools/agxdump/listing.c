/* SPDX-License-Identifier: MIT
 *
 * A program as it is launched: uniforms, with what the kernel means by them where that is known,
 * descriptors, and the code with waits, jumps and source lines beside it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/check/statistics.h"
#include "base/util.h"
#include "stream.h"

#define MAX_STATES 256 /* state registers that a kernel can have, at most */

static void put(struct stream *stream, const char *indent, const struct agx_hw_text *text)
{
   stream_put(stream, PRINT_PLAIN, indent, text->text);
}

/* "sections" without a name in JSON are arrays of lines. */
static void begin_lines(struct stream *stream, const char *name)
{
   if (stream->dump->is_json)
      agx_json_open(&stream->dump->json, name, '[');
   else
      printf("    %s\n", name);
}

static void end_lines(struct stream *stream)
{
   if (stream->dump->is_json)
      agx_json_close(&stream->dump->json, ']');
}

/* ---- uniforms ---------------------------------------------------------------- */

static void add_place(struct stream *stream, uint64_t va, struct agx_hw_text *text)
{
   struct agxw_capture_mapping mapping;
   char label[64];
   if (!dump_label(stream->dump, stream->queue->vm_id, va, label, sizeof(label), &mapping))
      return;
   agx_hw_text_add(text, " -> \"%s\" + 0x%" PRIx64, label, va - mapping.va + mapping.offset);
}

static bool read_half(struct stream *stream, const struct agx_hw_usc_load *load, uint32_t half,
                      void *out, uint32_t halves)
{
   return stream_read(stream, load->address + 2 * (uint64_t)half, out, 2 * (size_t)halves);
}

/* One uniform that the kernel's reflection names, at half `at` of the load; returns its halves, 0:
 * none begins there. */
static uint32_t put_known(struct stream *stream, const struct known_program *known,
                          const struct agx_hw_usc_load *load, uint32_t at)
{
   char line[LINE_BYTES] = "", name[LINE_BYTES / 2] = "";
   struct agx_hw_text text = {line, sizeof(line), 0}, says = {name, sizeof(name), 0};
   uint32_t halves = 0, first = load->start + at;
   if (!known || !programs_name_uniform(known, first, &halves, &says) || at + halves > load->halves)
      return 0;
   agx_hw_text_add(&text, "u%u%c ", first / 2, first % 2 ? 'h' : 'l');
   for (uint32_t i = 0; i < halves; i += 2) {
      uint32_t word = 0, take = AGX_MIN(halves - i, 2u);
      if (read_half(stream, load, at + i, &word, take))
         agx_hw_text_add(&text, " %0*x", (int)(4 * take), word);
      else
         agx_hw_text_add(&text, " not bound");
   }
   agx_hw_text_add(&text, "  %s", name);
   uint64_t value = 0;
   if (halves == 4 && read_half(stream, load, at, &value, 4))
      add_place(stream, value, &text);
   put(stream, "        ", &text);
   return halves;
}

/* "u0l, 8 halves from 0x...: 00000001 00000002" as 32-bit registers. */
static void put_words(struct stream *stream, const struct agx_hw_usc_load *load)
{
   char line[8 * LINE_BYTES];
   struct agx_hw_text text = {line, sizeof(line), 0};
   agx_hw_text_add(&text, "u%u%c, %u halves from 0x%" PRIx64 ":", load->start / 2,
                   load->start % 2 ? 'h' : 'l', load->halves, load->address);
   for (uint32_t i = 0; i < load->halves; i += 2) {
      uint32_t word = 0, take = AGX_MIN(load->halves - i, 2u);
      if (!read_half(stream, load, i, &word, take)) {
         agx_hw_text_add(&text, " not bound");
         break;
      }
      agx_hw_text_add(&text, " %0*x", (int)(4 * take), word);
   }
   put(stream, "      ", &text);
}

/* 64 bits that are the address of something bound, where nobody says what uniforms are. */
static void put_addresses(struct stream *stream, const struct agx_hw_usc_load *load)
{
   for (uint32_t at = load->start % 4 ? 4 - load->start % 4 : 0; at + 4 <= load->halves; at += 4) {
      char line[LINE_BYTES] = "";
      struct agx_hw_text text = {line, sizeof(line), 0};
      uint64_t value;
      uint32_t first = load->start + at;
      if (!read_half(stream, load, at, &value, 4))
         return;
      add_place(stream, value, &text);
      if (!line[0])
         continue;
      char full[LINE_BYTES + 64];
      snprintf(full, sizeof(full), "u%ul  0x%" PRIx64 "%s", first / 2, value, line);
      stream_put(stream, PRINT_ASIDE, "        ", full);
   }
}

static void put_uniforms(struct stream *stream, const struct agx_hw_usc_info *program,
                         const struct known_program *known)
{
   if (!program->load_count && !stream->dump->is_json)
      return;
   begin_lines(stream, "uniforms");
   for (uint32_t i = 0; i < program->load_count; i++) {
      const struct agx_hw_usc_load *load = &program->loads[i];
      put_words(stream, load);
      if (!known)
         put_addresses(stream, load);
      for (uint32_t at = 0; known && at < load->halves;) {
         uint32_t halves = put_known(stream, known, load, at);
         at += AGX_MAX(halves, 1u);
      }
   }
   end_lines(stream);
}

/* ---- descriptors ---------------------------------------------------------------- */

/* Marks texture registers that instructions write to: those hold descriptors of another kind. */
static void find_written(const struct dump_code *code, bool written[MAX_STATES])
{
   for (size_t i = 0; i < code->count; i++) {
      struct agx_isa_instr instr;
      const struct agx_isa_info *info = agx_isa_info(code->instrs[i].op);
      if (info->writes != AGX_ISA_SPACE_TEXTURE ||
          agx_isa_decode(code->instrs[i].bytes, code->instrs[i].length, &instr) != AGX_OK)
         continue;
      for (unsigned k = 0; k < info->operand_count; k++)
         if (instr.operand[k].kind == AGX_ISA_TS && instr.operand[k].value >= 0 &&
             instr.operand[k].value < MAX_STATES)
            written[instr.operand[k].value] = true;
   }
}

static void put_descriptor(struct stream *stream, const struct agx_hw_packet *packet, char prefix,
                           uint32_t number, uint64_t va)
{
   uint8_t bytes[AGX_HW_MAX_PACKET_BYTES], values[AGX_HW_MAX_STRUCT_BYTES];
   char line[2 * LINE_BYTES];
   struct agx_hw_text text = {line, sizeof(line), 0};
   agx_hw_text_add(&text, "%cs%-3u 0x%010" PRIx64 "  ", prefix, number, va);
   if (!stream_read(stream, va, bytes, packet->size_B)) {
      agx_hw_text_add(&text, "! not bound");
   } else {
      agx_status status = agx_hw_unpack(packet, bytes, values);
      agx_hw_print(packet, values, &text);
      if (status != AGX_OK)
         agx_hw_text_add(&text, "  ! %.300s", agx_error_peek());
   }
   put(stream, "      ", &text);
}

static void put_states(struct stream *stream, const struct agx_hw_usc_info *program,
                       const struct dump_code *code)
{
   bool written[MAX_STATES] = {false};
   if (!program->texture_count && !program->sampler_count)
      return;
   find_written(code, written);
   begin_lines(stream, "descriptors");
   for (uint32_t i = 0; i < program->texture_count; i++) {
      const struct agx_hw_usc_state *it = &program->textures[i];
      for (uint32_t k = 0; k < it->count; k++) {
         uint32_t number = it->start + k;
         put_descriptor(stream,
                        number < MAX_STATES && written[number] ? &agx_hw_pbe_packet
                                                               : &agx_hw_texture_packet,
                        't', number, it->address + (uint64_t)k * agx_hw_texture_packet.size_B);
      }
   }
   for (uint32_t i = 0; i < program->sampler_count; i++) {
      const struct agx_hw_usc_state *it = &program->samplers[i];
      for (uint32_t k = 0; k < it->count; k++)
         put_descriptor(stream, &agx_hw_sampler_packet, 's', it->start + k,
                        it->address + (uint64_t)k * agx_hw_sampler_packet.size_B);
   }
   end_lines(stream);
}

/* Slots that hold nothing are passed over. */
void listing_put_heap(struct stream *stream, uint64_t va, uint32_t count)
{
   begin_lines(stream, "sampler heap");
   for (uint32_t i = 0; i < count; i++) {
      uint64_t at = va + (uint64_t)i * agx_hw_sampler_packet.size_B, words = 0;
      if (!stream_read(stream, at, &words, sizeof(words)) || words)
         put_descriptor(stream, &agx_hw_sampler_packet, 's', i, at);
   }
   end_lines(stream);
}

/* ---- code ------------------------------------------------------------------------- */

struct listing {
   struct stream *stream;
   const struct dump_code *code;
   const struct code_note *notes;
   const struct known_program *known;
   bool is_preamble;
   struct agx_source_line line; /* the last that was printed */
};

static void put_source(struct listing *listing, uint32_t at)
{
   struct agx_source_line line;
   char name[256], text[512] = "", full[LINE_BYTES];
   if (!listing->known || !programs_find_line(listing->known, listing->is_preamble, at, &line) ||
       (line.file == listing->line.file && line.line == listing->line.line))
      return;
   listing->line = line;
   print_clean(line.file, name, sizeof(name));
   if (line.text)
      print_clean_bytes(line.text, line.text_B, text, sizeof(text));
   snprintf(full, sizeof(full), "; %s:%u%s%s", name, line.line, line.text ? "  " : "", text);
   stream_put(listing->stream, PRINT_ASIDE, "            ", full);
}

static void put_instr(struct listing *listing, size_t index)
{
   const struct dump_instr *it = &listing->code->instrs[index];
   struct dump *dump = listing->stream->dump;
   char hex[2 * AGX_ISA_MAX_BYTES + 1], text[LINE_BYTES], note[LINE_BYTES], line[3 * LINE_BYTES];
   struct agx_isa_instr instr;
   put_source(listing, it->offset);
   if (agx_isa_decode(it->bytes, it->length, &instr) != AGX_OK)
      return; /* it was decoded when it was copied */
   for (unsigned i = 0; i < it->length; i++)
      snprintf(hex + 2 * i, 3, "%02x", it->bytes[i]);
   agx_isa_print(&instr, text, sizeof(text));
   code_print_note(listing->code, listing->notes, index, note, sizeof(note));
   unsigned depth = AGX_MIN(2u * listing->notes[index].depth, 40u);
   bool aside = note[0] && !dump->is_json;
   snprintf(line, sizeof(line), "%c%5x: %-24s  %*s%s%s%s%s%s",
            listing->notes[index].is_target && dump->sections != SHOW_SHADERS ? '>' : ' ',
            it->offset, hex, (int)depth, "", text,
            aside ? print_begin(dump->has_colours, PRINT_ASIDE) : "", note[0] ? "  ; " : "", note,
            aside ? print_end(dump->has_colours) : "");
   stream_put(listing->stream, PRINT_CODE, "      ", line);
}

static bool was_shown(struct dump *dump, uint64_t va)
{
   for (uint32_t i = 0; i < dump->seen_count; i++)
      if (dump->seen[i] == va)
         return true;
   if (dump->seen_count < DUMP_MAX_SEEN)
      dump->seen[dump->seen_count++] = va;
   return false;
}

static void put_head(struct stream *stream, const char *name, const struct dump_code *code,
                     const struct known_program *known, bool is_new)
{
   struct dump *dump = stream->dump;
   struct agxw_capture_mapping mapping;
   char label[64], line[LINE_BYTES], kernel[2 * AGX_PROGRAM_NAME_BYTES];
   struct agx_hw_text text = {line, sizeof(line), 0};
   const bool has_label =
      dump_label(dump, stream->queue->vm_id, code->va, label, sizeof(label), &mapping);
   agx_hw_text_add(&text, "%s at 0x%" PRIx64 " in \"%s\"", name, code->va, has_label ? label : "");
   if (known) {
      print_clean(agx_program_name(known->program), kernel, sizeof(kernel));
      agx_hw_text_add(&text, ", %s of %s", kernel, known->file);
   }
   agx_hw_text_add(&text, ", %zu instructions, %u bytes%s", code->count, code->bytes,
                   is_new ? "" : ", shown above");
   stream_put(stream, PRINT_HEAD, "    ", line);
}

static void put_listing(struct listing *listing)
{
   const struct dump_code *code = listing->code;
   for (size_t i = 0; i < code->count; i++)
      put_instr(listing, i);
   if (!code->is_cut)
      return;
   char line[LINE_BYTES];
   snprintf(line, sizeof(line), "! %5x: no instruction that is known stands here", code->bytes);
   stream_put(listing->stream, PRINT_TROUBLE, "      ", line);
}

static void put_code(struct stream *stream, const char *name, const struct dump_code *code,
                     const struct known_program *known)
{
   struct dump *dump = stream->dump;
   struct code_note *notes = NULL;
   if (!(dump->sections & SHOW_SHADERS))
      return;
   bool is_preamble = strcmp(name, "preamble") == 0, is_new = !was_shown(dump, code->va);
   if (dump->is_json) {
      agx_json_number(&dump->json, is_preamble ? "preamble_address" : "code_address", code->va);
      if (known)
         agx_json_text(&dump->json, "kernel", agx_program_name(known->program));
      agx_json_open(&dump->json, name, '[');
   } else {
      put_head(stream, name, code, known, is_new);
   }
   struct listing listing = {
      .stream = stream, .code = code, .known = known, .is_preamble = is_preamble};
   if ((is_new || dump->is_json) && code_annotate(code, &notes) != AGX_OK) {
      stream_put(stream, PRINT_TROUBLE, "    ", agx_error_peek());
   } else if (is_new || dump->is_json) {
      listing.notes = notes;
      put_listing(&listing);
   }
   free(notes);
   if (dump->is_json)
      agx_json_close(&dump->json, ']');
}

static struct dump_code copy(struct stream *stream, uint32_t offset)
{
   struct dump_code code;
   if (code_copy(stream_read, stream, stream->queue->usc_base + offset, &code) != AGX_OK)
      stream_put(stream, PRINT_TROUBLE, "    ", agx_error_peek());
   return code;
}

void listing_put_code(struct stream *stream, const char *name, uint32_t code_offset)
{
   struct dump_code code = copy(stream, code_offset);
   put_code(stream, name, &code, NULL);
   code_free(&code);
}

void listing_put_program(struct stream *stream, const struct agx_hw_usc_info *program)
{
   struct dump_code code = {0}, preamble = {0};
   if (program->has_shader)
      code = copy(stream, program->code_offset);
   if (program->has_preamble)
      preamble = copy(stream, program->preamble_offset);
   const struct known_program *known = programs_find(&stream->dump->programs, &code);
   if (stream->dump->sections & SHOW_STREAM) {
      put_uniforms(stream, program, known);
      put_states(stream, program, &code);
   }
   if (program->has_preamble)
      put_code(stream, "preamble", &preamble, known);
   if (program->has_shader)
      put_code(stream, "code", &code, known);
   code_free(&code);
   code_free(&preamble);
}

/* ---- figures ---------------------------------------------------------------------- */

static const struct stat_row *find_figures(const struct stream *stream)
{
   const struct dump *dump = stream->dump;
   const struct stat_row key = {
      .submission = dump->submissions, .command = stream->command, .dispatch = stream->dispatch};
   return dump->figure_count
             ? bsearch(&key, dump->figures, dump->figure_count, sizeof(key), stats_compare_places)
             : NULL;
}

void listing_put_figures(struct stream *stream, const struct agx_hw_launch *launch,
                         const struct agx_hw_usc_info *program)
{
   struct agx_json *json = &stream->dump->json;
   uint64_t threads = (uint64_t)launch->local[0] * launch->local[1] * launch->local[2];
   uint32_t groups = agxs_occupancy(program->gpr_halves, program->shared_B,
                                    (uint32_t)AGX_MIN(AGX_MAX(threads, 1u), 1024u));
   const struct stat_row *it = find_figures(stream);
   if (stream->dump->is_json) {
      agx_json_number(json, "resident_threads", 32ull * groups);
      if (it) {
         agx_json_number(json, "instructions_executed", it->instructions);
         agx_json_fixed(json, "cycles", it->cycles);
         agx_json_text(json, "bound", agxs_term_name(it->bound));
      }
      return;
   }
   char line[LINE_BYTES];
   struct agx_hw_text text = {line, sizeof(line), 0};
   agx_hw_text_add(
      &text,
      "launch: %u halves of registers, %u bytes of threadgroup memory: a core keeps %u threads",
      program->gpr_halves, program->shared_B, 32 * groups);
   if (it)
      agx_hw_text_add(&text,
                      "; executed %" PRIu64 " instructions, %.0f cycles by the model, bound by %s",
                      it->instructions, it->cycles, agxs_term_name(it->bound));
   if (stream->dump->sections & SHOW_STREAM)
      stream_put(stream, PRINT_PLAIN, "    ", line);
}
