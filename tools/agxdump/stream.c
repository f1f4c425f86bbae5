/* SPDX-License-Identifier: MIT
 *
 * One compute stream: its packets and launch words by name, what each launch loads into
 * uniforms, and the code that it runs, each program once per submission.
 */
#include <inttypes.h>
#include <string.h>

#include "agx/hw/decode.h"
#include "agx/isa/isa.h"
#include "agxdump.h"
#include "base/util.h"

#define MAX_SHOWN       64
#define MAX_CODE_INSTRS 65536
#define LINE_BYTES      1024

struct stream {
   struct dump *dump;
   const struct agxw_capture_queue *queue;
   struct agx_hw_reader reader;
   uint64_t shown[MAX_SHOWN]; /* addresses of programs already printed */
   uint32_t shown_count;
};

static bool read_memory(void *user, uint64_t va, void *out, size_t size)
{
   struct stream *stream = user;
   return agxw_capture_device_read(stream->dump->device, stream->queue->vm_id, va, out, size);
}

/* A line of text, or a string in the array that is open. */
static void put_line(struct dump *dump, const char *indent, const char *line)
{
   if (dump->is_json)
      agx_json_text(&dump->json, NULL, line);
   else
      printf("%s%s\n", indent, line);
}

/* ---- code -------------------------------------------------------------- */

/* Prints one instruction; *out_length 0 when there is none. */
static bool put_instruction(struct stream *stream, uint64_t va, uint64_t offset,
                            unsigned *out_length)
{
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   char line[LINE_BYTES], hex[2 * AGX_ISA_MAX_BYTES + 1], text[LINE_BYTES / 2];
   struct agx_isa_instr instr;
   size_t size = sizeof(bytes);
   while (size > 0 && !read_memory(stream, va, bytes, size))
      size -= 2; /* the last instruction may end where memory does */
   *out_length = 0;
   if (agx_isa_decode(bytes, size, &instr) != AGX_OK) {
      snprintf(line, sizeof(line), "%6" PRIx64 ": ! %.400s", offset, agx_error_peek());
      put_line(stream->dump, "      ", line);
      return false;
   }
   for (unsigned i = 0; i < instr.length; i++)
      snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
   agx_isa_print(&instr, text, sizeof(text));
   snprintf(line, sizeof(line), "%6" PRIx64 ": %-24s  %s", offset, hex, text);
   put_line(stream->dump, "      ", line);
   *out_length = instr.length;
   return instr.op != AGX_ISA_OP_STOP;
}

/* A program to its stop. */
static void put_code(struct stream *stream, const char *name, uint32_t code_offset)
{
   struct dump *dump = stream->dump;
   struct agxw_capture_mapping mapping;
   uint64_t va = stream->queue->usc_base + code_offset;
   const char *label = dump_label(dump, stream->queue->vm_id, va, &mapping);
   bool is_new = true;
   for (uint32_t i = 0; i < stream->shown_count; i++)
      is_new = is_new && stream->shown[i] != va;
   if (dump->is_json) {
      agx_json_number(&dump->json, strcmp(name, "preamble") ? "code_address" : "preamble_address",
                      va);
      agx_json_open(&dump->json, name, '[');
   } else {
      printf("    %s at 0x%" PRIx64 " in \"%s\"%s\n", name, va, label ? label : "",
             is_new ? "" : ", shown above");
   }
   unsigned length = 0;
   uint64_t at = 0;
   for (uint32_t i = 0; (is_new || dump->is_json) && i < MAX_CODE_INSTRS; i++, at += length)
      if (!put_instruction(stream, va + at, at, &length))
         break;
   if (dump->is_json)
      agx_json_close(&dump->json, ']');
   if (is_new && stream->shown_count < MAX_SHOWN)
      stream->shown[stream->shown_count++] = va;
}

/* ---- launches ---------------------------------------------------------- */

/* "u0l..u3h from 0x...: 00000001 00000002" as 32-bit registers. */
static void put_load(struct stream *stream, const struct agx_hw_usc_load *load)
{
   char line[LINE_BYTES];
   struct agx_hw_text text = {line, sizeof(line), 0};
   agx_hw_text_add(&text, "u%u%c, %u halves from 0x%" PRIx64 ":", load->start / 2,
                   load->start % 2 ? 'h' : 'l', load->halves, load->address);
   for (uint32_t i = 0; i < load->halves; i += 2) {
      uint32_t word = 0;
      size_t bytes = load->halves - i > 1 ? 4 : 2;
      if (!read_memory(stream, load->address + 2 * (uint64_t)i, &word, bytes)) {
         agx_hw_text_add(&text, " not bound");
         break;
      }
      agx_hw_text_add(&text, " %0*x", (int)(2 * bytes), word);
   }
   put_line(stream->dump, "      ", line);
}

static void put_loads(struct stream *stream, const struct agx_hw_usc_info *program)
{
   if (stream->dump->is_json)
      agx_json_open(&stream->dump->json, "uniforms", '[');
   else if (program->load_count)
      printf("    uniforms\n");
   for (uint32_t i = 0; i < program->load_count; i++)
      put_load(stream, &program->loads[i]);
   if (stream->dump->is_json)
      agx_json_close(&stream->dump->json, ']');
}

static void put_sizes(struct agx_json *json, const char *name, const uint32_t sizes[3])
{
   agx_json_open(json, name, '[');
   for (int i = 0; i < 3; i++)
      agx_json_number(json, NULL, sizes[i]);
   agx_json_close(json, ']');
}

static agx_status visit_launch(void *user, const struct agx_hw_launch *launch,
                               const struct agx_hw_usc_info *program)
{
   struct stream *stream = user;
   struct agx_json *json = &stream->dump->json;
   if (stream->dump->is_json) {
      agx_json_close(json, ']'); /* the packets so far */
      agx_json_open(json, "launch", '{');
      put_sizes(json, "threads", launch->global);
      put_sizes(json, "workgroup", launch->local);
      agx_json_number(json, "shared_bytes", program->shared_B);
      agx_json_number(json, "gpr_halves", program->gpr_halves);
   }
   put_loads(stream, program);
   if (program->has_preamble)
      put_code(stream, "preamble", program->preamble_offset);
   if (program->has_shader)
      put_code(stream, "code", program->code_offset);
   if (stream->dump->is_json) {
      agx_json_close(json, '}');
      agx_json_close(json, '}');
      agx_json_open(json, NULL, '{');
      agx_json_open(json, "packets", '[');
   }
   return AGX_OK;
}

/* ---- packets ----------------------------------------------------------- */

static agx_status visit_packet(void *user, const struct agx_hw_packet *packet, uint64_t va,
                               const void *values)
{
   struct stream *stream = user;
   char line[LINE_BYTES];
   struct agx_hw_text text = {line, sizeof(line), 0};
   agx_hw_text_add(&text, "0x%010" PRIx64 "  ", va);
   agx_hw_print(packet, values, &text);
   put_line(stream->dump, strncmp(packet->name, "USC", 3) == 0 ? "      " : "    ", line);
   return AGX_OK;
}

static agx_status visit_trouble(void *user, const struct agx_hw_packet *packet, uint64_t va)
{
   struct stream *stream = user;
   char line[LINE_BYTES];
   snprintf(line, sizeof(line), "! 0x%010" PRIx64 "  %.600s", va, agx_error_peek());
   put_line(stream->dump, "    ", line);
   return AGX_OK;
}

/* JSON: [{"packets": [...], "launch": {...}}, ..., {"packets": [...]}]: each launch stands
 * with the packets that led to it. */
void dump_stream(struct dump *dump, const struct agxw_capture_queue *queue, uint64_t stream_va)
{
   struct stream stream = {.dump = dump, .queue = queue};
   stream.reader = (struct agx_hw_reader){&stream, read_memory};
   const struct agx_hw_visitor visitor = {
      .user = &stream, .packet = visit_packet, .trouble = visit_trouble, .launch = visit_launch};
   const struct agx_chip *chip = dump->chip ? dump->chip : agx_chip_at(0);
   if (dump->is_json) {
      agx_json_open(&dump->json, "blocks", '[');
      agx_json_open(&dump->json, NULL, '{');
      agx_json_open(&dump->json, "packets", '[');
   }
   agx_status status = agx_hw_walk_cdm(chip, &stream.reader, queue->usc_base, stream_va, &visitor);
   if (status != AGX_OK && !dump->is_json)
      printf("    ! %s\n", agx_error_peek());
   if (!dump->is_json)
      return;
   agx_json_close(&dump->json, ']');
   if (status != AGX_OK)
      agx_json_text(&dump->json, "error", agx_error_peek());
   agx_json_close(&dump->json, '}');
   agx_json_close(&dump->json, ']');
}
