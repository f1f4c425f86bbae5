/* SPDX-License-Identifier: MIT
 *
 * Streams of a command: their packets and launch words by name, what each launch or program loads
 * into uniforms, and the code that it runs, each program once per command.
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
   uint64_t scissors, depth_biases; /* arrays that records of the vertex stream index */
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

static void put_program(struct stream *stream, const struct agx_hw_usc_info *program)
{
   put_loads(stream, program);
   if (program->has_preamble)
      put_code(stream, "preamble", program->preamble_offset);
   if (program->has_shader)
      put_code(stream, "code", program->code_offset);
}

/* Ends the packets so far and opens what they led to. */
static void open_block(struct stream *stream, const char *name)
{
   if (!stream->dump->is_json)
      return;
   agx_json_close(&stream->dump->json, ']');
   agx_json_open(&stream->dump->json, name, '{');
}

static void close_block(struct stream *stream)
{
   struct agx_json *json = &stream->dump->json;
   if (!stream->dump->is_json)
      return;
   agx_json_close(json, '}');
   agx_json_close(json, '}');
   agx_json_open(json, NULL, '{');
   agx_json_open(json, "packets", '[');
}

static agx_status visit_launch(void *user, const struct agx_hw_launch *launch,
                               const struct agx_hw_usc_info *program)
{
   struct stream *stream = user;
   struct agx_json *json = &stream->dump->json;
   open_block(stream, "launch");
   if (stream->dump->is_json) {
      put_sizes(json, "threads", launch->global);
      put_sizes(json, "workgroup", launch->local);
      agx_json_number(json, "shared_bytes", program->shared_B);
      agx_json_number(json, "gpr_halves", program->gpr_halves);
   }
   put_program(stream, program);
   close_block(stream);
   return AGX_OK;
}

static agx_status visit_program(void *user, enum agx_hw_stage stage,
                                const struct agx_hw_usc_info *program)
{
   static const char *const names[] = {"vertex shader", "fragment shader"};
   struct stream *stream = user;
   open_block(stream, "program");
   if (stream->dump->is_json)
      agx_json_text(&stream->dump->json, "stage", names[stage]);
   else
      printf("    %s\n", names[stage]);
   put_program(stream, program);
   close_block(stream);
   return AGX_OK;
}

/* ---- packets ----------------------------------------------------------- */

static void put_packet(struct stream *stream, const struct agx_hw_packet *packet, uint64_t va,
                       const void *values)
{
   char line[LINE_BYTES];
   struct agx_hw_text text = {line, sizeof(line), 0};
   agx_hw_text_add(&text, "0x%010" PRIx64 "  ", va);
   agx_hw_print(packet, values, &text);
   put_line(stream->dump, strncmp(packet->name, "USC", 3) == 0 ? "      " : "    ", line);
}

/* An entry of an array that a record names by its number. */
static void put_entry(struct stream *stream, const struct agx_hw_packet *packet, uint64_t array,
                      uint32_t index)
{
   uint8_t bytes[AGX_HW_MAX_PACKET_BYTES], values[AGX_HW_MAX_STRUCT_BYTES];
   uint64_t va = array + (uint64_t)index * packet->size_B;
   if (array && read_memory(stream, va, bytes, packet->size_B) &&
       agx_hw_unpack(packet, bytes, values) == AGX_OK)
      put_packet(stream, packet, va, values);
}

static agx_status visit_packet(void *user, const struct agx_hw_packet *packet, uint64_t va,
                               const void *values)
{
   struct stream *stream = user;
   put_packet(stream, packet, va, values);
   if (packet == &agx_hw_depth_bias_scissor_packet) {
      const struct agx_hw_depth_bias_scissor *numbers = values;
      put_entry(stream, &agx_hw_scissor_packet, stream->scissors, numbers->scissor);
      put_entry(stream, &agx_hw_depth_bias_packet, stream->depth_biases, numbers->depth_bias);
   }
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

static agx_status visit_words(void *user, uint64_t va, uint32_t count, bool is_padding)
{
   struct stream *stream = user;
   for (uint32_t i = 0; i < count; i++, va += 4) {
      char line[LINE_BYTES];
      uint32_t word;
      if (!read_memory(stream, va, &word, sizeof(word)))
         return AGX_FAIL(AGX_DATA_LOSS, "word at 0x%" PRIx64 ": no memory is there", va);
      snprintf(line, sizeof(line), "%s0x%010" PRIx64 "  %s %08x", is_padding ? "" : "! ", va,
               is_padding ? "padding" : "unknown word", word);
      put_line(stream->dump, "    ", line);
   }
   return AGX_OK;
}

/* ---- streams ------------------------------------------------------------ */

static const struct agx_hw_visitor visitor_of_all = {
   .packet = visit_packet,
   .trouble = visit_trouble,
   .launch = visit_launch,
   .program = visit_program,
   .words = visit_words,
};

static struct agx_hw_visitor begin_blocks(struct stream *stream, const char *name)
{
   struct agx_hw_visitor visitor = visitor_of_all;
   visitor.user = stream;
   stream->reader = (struct agx_hw_reader){stream, read_memory};
   if (stream->dump->is_json) {
      agx_json_open(&stream->dump->json, name, '[');
      agx_json_open(&stream->dump->json, NULL, '{');
      agx_json_open(&stream->dump->json, "packets", '[');
   }
   return visitor;
}

/* JSON: [{"packets": [...], "launch": {...}}, ..., {"packets": [...]}]: each launch or program
 * stands with the packets that led to it. */
static void end_blocks(struct stream *stream, agx_status status)
{
   struct dump *dump = stream->dump;
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

void dump_stream(struct dump *dump, const struct agxw_capture_queue *queue, uint64_t stream_va)
{
   struct stream stream = {.dump = dump, .queue = queue};
   const struct agx_hw_visitor visitor = begin_blocks(&stream, "blocks");
   const struct agx_chip *chip = dump->chip ? dump->chip : agx_chip_at(0);
   end_blocks(&stream, agx_hw_walk_cdm(chip, &stream.reader, queue->usc_base, stream_va, &visitor));
}

void dump_vertex_stream(struct dump *dump, const struct agxw_capture_queue *queue,
                        const struct agx_uapi_cmd_render *render)
{
   struct stream stream = {.dump = dump,
                           .queue = queue,
                           .scissors = render->isp_scissor_base,
                           .depth_biases = render->isp_dbias_base};
   const struct agx_hw_visitor visitor = begin_blocks(&stream, "blocks");
   end_blocks(&stream, agx_hw_walk_vdm(&stream.reader, queue->usc_base,
                                       render->vdm_ctrl_stream_base, &visitor));
}

static agx_status walk_program(struct stream *stream, const struct agx_hw_visitor *visitor,
                               uint32_t offset)
{
   struct agx_hw_usc_info program;
   AGX_TRY(agx_hw_walk_usc(&stream->reader, stream->queue->usc_base + offset, visitor, &program));
   open_block(stream, "program");
   put_program(stream, &program);
   close_block(stream);
   return AGX_OK;
}

void dump_program(struct dump *dump, const struct agxw_capture_queue *queue, const char *name,
                  uint32_t usc_offset)
{
   struct stream stream = {.dump = dump, .queue = queue};
   if (!dump->is_json)
      printf("    %s\n", name);
   const struct agx_hw_visitor visitor = begin_blocks(&stream, name);
   end_blocks(&stream, walk_program(&stream, &visitor, usc_offset));
}

void dump_helper(struct dump *dump, const struct agxw_capture_queue *queue, const char *name,
                 uint32_t code_offset)
{
   struct stream stream = {.dump = dump, .queue = queue};
   stream.reader = (struct agx_hw_reader){&stream, read_memory};
   put_code(&stream, name, code_offset);
}
