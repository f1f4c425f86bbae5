/* SPDX-License-Identifier: MIT
 *
 * Streams of a command: their packets and launch words by name, what each launch or program loads
 * into uniforms, and the code that it runs, each program once per submission.
 */
#include "stream.h"

#include <inttypes.h>
#include <string.h>

#include "agx/hw/usc.h"
#include "base/util.h"

bool stream_read(void *user, uint64_t va, void *out, size_t size)
{
   struct stream *stream = user;
   return agxw_capture_device_read(stream->dump->device, stream->queue->vm_id, va, out, size);
}

void stream_put(struct stream *stream, enum print_style style, const char *indent, const char *line)
{
   struct dump *dump = stream->dump;
   if (dump->is_json)
      agx_json_text(&dump->json, NULL, line);
   else /* code alone can be assembled again: the rest is a comment */
      printf("%s%s%s%s%s\n", dump->sections == SHOW_SHADERS && style != PRINT_CODE ? ";" : "",
             indent, print_begin(dump->has_colours, style), line, print_end(dump->has_colours));
}

static bool shows_streams(const struct stream *stream)
{
   return stream->dump->sections & SHOW_STREAM;
}

static void put_sizes(struct agx_json *json, const char *name, const uint32_t sizes[3])
{
   agx_json_open(json, name, '[');
   for (int i = 0; i < 3; i++)
      agx_json_number(json, NULL, sizes[i]);
   agx_json_close(json, ']');
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
   listing_put_figures(stream, launch, program);
   listing_put_program(stream, program);
   close_block(stream);
   stream->dispatch++;
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
      stream_put(stream, PRINT_HEAD, "    ", names[stage]);
   listing_put_program(stream, program);
   close_block(stream);
   return AGX_OK;
}

/* ---- packets ----------------------------------------------------------- */

static void put_packet(struct stream *stream, const struct agx_hw_packet *packet, uint64_t va,
                       const void *values)
{
   char line[LINE_BYTES];
   struct agx_hw_text text = {line, sizeof(line), 0};
   if (!shows_streams(stream))
      return;
   agx_hw_text_add(&text, "0x%010" PRIx64 "  ", va);
   agx_hw_print(packet, values, &text);
   stream_put(stream, PRINT_PACKET, strncmp(packet->name, "USC", 3) == 0 ? "      " : "    ", line);
}

/* An entry of an array that a record names by its number. */
static void put_entry(struct stream *stream, const struct agx_hw_packet *packet, uint64_t array,
                      uint32_t index)
{
   uint8_t bytes[AGX_HW_MAX_PACKET_BYTES], values[AGX_HW_MAX_STRUCT_BYTES];
   uint64_t va = array + (uint64_t)index * packet->size_B;
   if (array && stream_read(stream, va, bytes, packet->size_B) &&
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
   stream_put(stream, PRINT_TROUBLE, "    ", line);
   return AGX_OK;
}

static agx_status visit_words(void *user, uint64_t va, uint32_t count, bool is_padding)
{
   struct stream *stream = user;
   for (uint32_t i = 0; i < count && shows_streams(stream); i++, va += 4) {
      char line[LINE_BYTES];
      uint32_t word;
      if (!stream_read(stream, va, &word, sizeof(word)))
         return AGX_FAIL(AGX_DATA_LOSS, "word at 0x%" PRIx64 ": no memory is there", va);
      snprintf(line, sizeof(line), "%s0x%010" PRIx64 "  %s %08x", is_padding ? "" : "! ", va,
               is_padding ? "padding" : "unknown word", word);
      stream_put(stream, is_padding ? PRINT_PACKET : PRINT_TROUBLE, "    ", line);
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
   stream->reader = (struct agx_hw_reader){stream, stream_read};
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
   if (status != AGX_OK && !dump->is_json) {
      char line[LINE_BYTES];
      snprintf(line, sizeof(line), "! %.900s", agx_error_peek());
      stream_put(stream, PRINT_TROUBLE, "    ", line);
   }
   if (!dump->is_json)
      return;
   agx_json_close(&dump->json, ']');
   if (status != AGX_OK)
      agx_json_text(&dump->json, "error", agx_error_peek());
   agx_json_close(&dump->json, '}');
   agx_json_close(&dump->json, ']');
}

void dump_stream(struct dump *dump, const struct agxw_capture_queue *queue, uint32_t command,
                 uint64_t stream_va)
{
   struct stream stream = {.dump = dump, .queue = queue, .command = command};
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
   listing_put_program(stream, &program);
   close_block(stream);
   return AGX_OK;
}

void dump_program(struct dump *dump, const struct agxw_capture_queue *queue, const char *name,
                  uint32_t usc_offset)
{
   struct stream stream = {.dump = dump, .queue = queue};
   if (!dump->is_json)
      stream_put(&stream, PRINT_HEAD, "    ", name);
   const struct agx_hw_visitor visitor = begin_blocks(&stream, name);
   end_blocks(&stream, walk_program(&stream, &visitor, usc_offset));
}

void dump_sampler_heap(struct dump *dump, const struct agxw_capture_queue *queue, uint64_t va,
                       uint32_t count)
{
   struct stream stream = {.dump = dump, .queue = queue};
   if (dump->sections & SHOW_STREAM)
      listing_put_heap(&stream, va, AGX_MIN(count, AGX_HW_SAMPLER_HEAP_SLOTS));
}

void dump_helper(struct dump *dump, const struct agxw_capture_queue *queue, const char *name,
                 uint32_t code_offset)
{
   struct stream stream = {.dump = dump, .queue = queue};
   bool is_object = dump->is_json && dump->sections & SHOW_SHADERS;
   stream.reader = (struct agx_hw_reader){&stream, stream_read};
   if (is_object)
      agx_json_open(&dump->json, name, '{');
   listing_put_code(&stream, is_object ? "code" : name, code_offset);
   if (is_object)
      agx_json_close(&dump->json, '}');
}
