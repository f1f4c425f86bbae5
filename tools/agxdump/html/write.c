/* SPDX-License-Identifier: MIT
 *
 * The page's data as JSON: what the scripts read. Rows are arrays, in the order that the scripts
 * take apart; each list ends at its bound, and "left_out" says so in words.
 */
#include "html.h"

#include <stdlib.h>
#include <string.h>

#include "agxdump/match.h"
#include "base/util.h"

#define MAX_TEXT_B 512
#define MAX_PAIRED 1000000u /* instructions of compared kernels, about */

static void number(struct agx_json *json, uint64_t value)
{
   agx_json_number(json, NULL, value);
}

/* ---- kernels ---- */

static void write_sum(struct agx_json *json, const char *name, const struct stat_row *row)
{
   double existing = (double)row->lanes_existing;
   agx_json_open(json, name, '{');
   agx_json_number(json, "count", row->count);
   agx_json_fixed(json, "cycles", row->cycles);
   agx_json_number(json, "instructions", row->instructions);
   agx_json_number(json, "threads", row->threads);
   agx_json_number(json, "waits", row->waits_met);
   agx_json_number(json, "bytes", row->bytes);
   agx_json_number(json, "occupancy", row->occupancy);
   agx_json_number(json, "registers", row->gpr_halves);
   agx_json_number(json, "shared", row->shared_B);
   agx_json_fixed(json, "divergence", existing > 0 ? 1 - (double)row->lanes_active / existing : 0);
   agx_json_number(json, "bound", row->bound);
   agx_json_open(json, "terms", '[');
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++)
      agx_json_fixed(json, NULL, row->term[i]);
   agx_json_close(json, ']');
   agx_json_open(json, "classes", '[');
   for (unsigned i = 0; i < AGXS_CLASS_COUNT; i++)
      number(json, row->classes[i]);
   agx_json_close(json, ']');
   agx_json_close(json, '}');
}

/* What a wait waits for, in the order of the code; 0 for other instructions. */
static void write_waits(struct agx_json *json, const struct code_note *notes, size_t at)
{
   if (notes[at].met_count == 0) {
      number(json, 0);
      return;
   }
   agx_json_open(json, NULL, '[');
   for (size_t i = notes[at].first_met; i < at; i++)
      if (notes[i].wait == at)
         number(json, i);
   agx_json_close(json, ']');
}

static void write_place(struct agx_json *json, const struct html_sources *sources,
                        const struct html_kernel *kernel, int part, uint32_t offset)
{
   struct agx_source_line line;
   uint32_t file;
   if (kernel->program == HTML_NO_PROGRAM ||
       !html_find_line(&sources->used[kernel->program], part == 1, offset, &file, &line)) {
      number(json, 0);
      return;
   }
   agx_json_open(json, NULL, '[');
   number(json, file);
   number(json, line.line);
   number(json, line.column);
   agx_json_close(json, ']');
}

static void write_instr(struct agx_json *json, const struct html_sources *sources,
                        const struct html_kernel *kernel, int part, size_t at,
                        const struct code_note *notes)
{
   static const struct html_heat cold;
   const struct dump_instr *it = &kernel->code[part].instrs[at];
   const struct html_heat *heat = kernel->heat[part] ? &kernel->heat[part][at] : &cold;
   char text[MAX_TEXT_B] = "?", hex[2 * AGX_ISA_MAX_BYTES + 1] = "";
   struct agx_isa_instr instr;
   if (agx_isa_decode(it->bytes, it->length, &instr) == AGX_OK)
      agx_isa_print(&instr, text, sizeof(text));
   for (unsigned i = 0; i < it->length; i++)
      snprintf(hex + 2 * (size_t)i, 3, "%02x", it->bytes[i]);
   agx_json_open(json, NULL, '[');
   number(json, it->offset);
   agx_json_text(json, NULL, hex);
   html_string(json, NULL, text);
   const uint64_t figures[] = {heat->executed, heat->stall,   heat->lanes,
                               heat->lsu,      heat->refetch, heat->complex_pipe};
   for (size_t i = 0; i < AGX_COUNT(figures); i++)
      number(json, figures[i]);
   write_place(json, sources, kernel, part, it->offset);
   write_waits(json, notes, at);
   number(json, notes[at].depth);
   agx_json_signed(json, NULL, notes[at].target == CODE_NONE ? -1 : (int64_t)notes[at].target);
   agx_json_close(json, ']');
}

static agx_status write_code(struct agx_json *json, const struct html_sources *sources,
                             const struct html_kernel *kernel, int part)
{
   struct code_note *notes = NULL;
   AGX_TRY(code_annotate(&kernel->code[part], &notes));
   agx_json_open(json, part ? "preamble" : "code", '[');
   for (size_t i = 0; kernel->has_code && i < kernel->code[part].count; i++)
      write_instr(json, sources, kernel, part, i, notes);
   agx_json_close(json, ']');
   free(notes);
   return AGX_OK;
}

static agx_status write_kernels(struct agx_json *json, const struct html_capture *capture,
                                const struct html_sources *sources)
{
   const struct html_kernel *kernels = capture->kernels.data;
   agx_json_open(json, "kernels", '[');
   for (size_t i = 0; i < capture->kernels.count; i++) {
      const struct html_kernel *it = &kernels[i];
      char hash[17];
      snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)it->sum.kernel);
      agx_json_open(json, NULL, '{');
      agx_json_text(json, "hash", it->sum.count ? hash : "");
      html_string(json, "name",
                  it->program == HTML_NO_PROGRAM
                     ? ""
                     : agx_program_name(sources->used[it->program].known->program));
      html_string(json, "label", it->label);
      agx_json_number(json, "dispatches", it->dispatches);
      agx_json_number(json, "instrs", it->code[0].count);
      agx_json_number(json, "preamble_instrs", it->code[1].count);
      agx_json_number(json, "elsewhere", it->elsewhere);
      agx_json_bool(json, "cut", it->code[0].is_cut || it->code[1].is_cut);
      write_sum(json, "sum", &it->sum);
      AGX_TRY(write_code(json, sources, it, 0));
      AGX_TRY(write_code(json, sources, it, 1));
      agx_json_close(json, '}');
   }
   agx_json_close(json, ']');
   return AGX_OK;
}

/* ---- dispatches and submissions ---- */

static void write_dispatch(struct agx_json *json, const struct dump_dispatch *it,
                           const struct html_dispatch *detail)
{
   agx_json_open(json, NULL, '[');
   number(json, it->submission);
   number(json, it->command);
   number(json, it->index);
   number(json, detail->kernel);
   for (int i = 0; i < 3; i++)
      number(json, it->launch.global[i]);
   for (int i = 0; i < 3; i++)
      number(json, it->launch.local[i]);
   if (detail->is_counted)
      write_sum(json, NULL, &detail->row);
   agx_json_close(json, ']');
}

static void write_dispatches(struct agx_json *json, const struct html_capture *capture)
{
   const struct html_dispatch *details = capture->details.data;
   agx_json_open(json, "dispatches", '[');
   for (size_t i = 0; i < AGX_MIN(capture->dispatches.count, HTML_MAX_ROWS); i++)
      write_dispatch(json, &capture->dispatches.items[i], &details[i]);
   agx_json_close(json, ']');
}

static void write_submissions(struct agx_json *json, const struct html_capture *capture)
{
   const struct html_submission *submissions = capture->submissions.data;
   const struct html_dispatch *details = capture->details.data;
   agx_json_open(json, "submissions", '[');
   for (size_t i = 0; i < AGX_MIN(capture->submissions.count, HTML_MAX_ROWS); i++) {
      const struct html_submission *it = &submissions[i];
      double cycles = 0;
      for (size_t j = it->first; j < it->first + it->count; j++)
         cycles += details[j].is_counted ? details[j].row.cycles : 0;
      agx_json_open(json, NULL, '[');
      number(json, it->number);
      number(json, it->queue);
      agx_json_signed(json, NULL, it->result);
      number(json, it->first);
      number(json, it->count);
      agx_json_fixed(json, NULL, cycles);
      number(json, it->commands);
      number(json, it->renders);
      agx_json_fixed(json, NULL, (double)(it->time_ns - submissions[0].time_ns) / 1000);
      agx_json_close(json, ']');
   }
   agx_json_close(json, ']');
   const struct html_queue *queues = capture->queues.data;
   agx_json_open(json, "queues", '[');
   for (size_t i = 0; i < capture->queues.count; i++) {
      agx_json_open(json, NULL, '[');
      number(json, queues[i].process);
      number(json, queues[i].file);
      number(json, queues[i].id);
      agx_json_close(json, ']');
   }
   agx_json_close(json, ']');
}

/* ---- buffers ---- */

static void write_buffers(struct agx_json *json, const struct html_capture *capture)
{
   const struct html_buffer *buffers = capture->buffers.data;
   uint64_t room = HTML_MAX_CONTENTS;
   agx_json_open(json, "buffers", '[');
   for (size_t i = 0; i < AGX_MIN(capture->buffers.count, HTML_MAX_BUFFERS); i++) {
      const struct html_buffer *it = &buffers[i];
      char va[24];
      snprintf(va, sizeof(va), "0x%llx", (unsigned long long)it->va);
      agx_json_open(json, NULL, '{');
      agx_json_number(json, "handle", it->handle);
      agx_json_number(json, "process", it->process);
      agx_json_number(json, "bytes", it->bytes);
      html_text(json, "label", it->label, strnlen(it->label, sizeof(it->label)));
      agx_json_text(json, "va", it->va ? va : "");
      agx_json_bool(json, "closed", it->is_closed);
      if (it->data && it->kept <= room) {
         agx_json_number(json, "submission", it->submission);
         agx_json_bool(json, "after", it->moment == AGXW_CAPTURE_AFTER);
         agx_json_number(json, "looked", AGX_MIN(it->bytes, capture->contents));
         html_bytes(json, "data", it->data, it->kept);
         room -= it->kept;
      }
      agx_json_close(json, '}');
   }
   agx_json_close(json, ']');
}

/* ---- the whole ---- */

static void write_texts(struct agx_json *json, const char *name, const struct html_list *list)
{
   char **texts = list->data;
   agx_json_open(json, name, '[');
   for (size_t i = 0; i < list->count; i++)
      html_string(json, NULL, texts[i]);
   agx_json_close(json, ']');
}

static void leave_out(struct agx_json *json, const char *what, uint64_t shown, uint64_t all)
{
   char text[200];
   if (shown >= all)
      return;
   snprintf(text, sizeof(text), "%llu of %llu %s", (unsigned long long)shown,
            (unsigned long long)all, what);
   html_string(json, NULL, text);
}

static void write_bounds(struct agx_json *json, const struct html_capture *capture)
{
   const struct html_kernel *kernels = capture->kernels.data;
   const struct html_buffer *buffers = capture->buffers.data;
   uint64_t with_code = 0, kept = 0, shown = 0, room = HTML_MAX_CONTENTS;
   for (size_t i = 0; i < capture->kernels.count; i++)
      with_code += kernels[i].has_code;
   for (size_t i = 0; i < AGX_MIN(capture->buffers.count, HTML_MAX_BUFFERS); i++) {
      bool fits = buffers[i].data && buffers[i].kept <= room;
      kept += buffers[i].data != NULL;
      shown += fits;
      room -= fits ? buffers[i].kept : 0;
   }
   agx_json_open(json, "left_out", '[');
   leave_out(json, "dispatches have a row; the sums of kernels count all", HTML_MAX_ROWS,
             capture->dispatches.count);
   leave_out(json, "submissions are in the timeline", HTML_MAX_ROWS, capture->submissions.count);
   leave_out(json, "kernels have their code here, those that take most cycles", with_code,
             capture->kernels.count);
   leave_out(json, "buffers are listed", HTML_MAX_BUFFERS, capture->buffers.count);
   leave_out(json, "buffers with contents have them here", shown, kept);
   leave_out(json, "notes and processes are listed",
             capture->notes.count + capture->processes.count,
             capture->notes.count + capture->processes.count + capture->notes_left_out);
   agx_json_close(json, ']');
}

static uint64_t cores_of(const struct agx_chip *chip)
{
   return chip ? (uint64_t)chip->dies * chip->clusters * chip->cores_per_cluster : 0;
}

static agx_status write_capture(struct agx_json *json, const struct html_capture *capture,
                                const struct html_sources *sources)
{
   const char *slash = strrchr(capture->path, '/');
   agx_json_open(json, NULL, '{');
   html_string(json, "file", slash ? slash + 1 : capture->path);
   html_text(json, "node", capture->node, strnlen(capture->node, sizeof(capture->node)));
   html_string(json, "chip", capture->chip ? capture->chip->name : "");
   agx_json_number(json, "cores", cores_of(capture->chip));
   html_string(json, "trouble", capture->trouble);
   agx_json_number(json, "submission_count", capture->submission_count);
   agx_json_number(json, "dispatch_count", capture->dispatches.count);
   agx_json_number(json, "counted", capture->counted);
   agx_json_number(json, "buffer_count", capture->buffers.count);
   agx_json_number(json, "buffer_bytes", capture->buffer_bytes);
   agx_json_number(json, "contents", capture->contents);
   write_texts(json, "notes", &capture->notes);
   write_texts(json, "processes", &capture->processes);
   write_bounds(json, capture);
   write_submissions(json, capture);
   write_dispatches(json, capture);
   AGX_TRY(write_kernels(json, capture, sources));
   write_buffers(json, capture);
   agx_json_close(json, '}');
   return AGX_OK;
}

/* ---- two captures ---- */

/* -1: there is none on that side. */
static void write_index(struct agx_json *json, size_t index)
{
   agx_json_signed(json, NULL, index == ALIGN_NONE ? -1 : (int64_t)index);
}

static agx_status write_code_pairs(struct agx_json *json, const struct dump_code *a,
                                   const struct dump_code *b)
{
   struct align_pair *pairs = NULL;
   size_t count = 0;
   AGX_TRY(match_code(a, b, &pairs, &count));
   agx_json_open(json, NULL, '[');
   for (size_t i = 0; i < count; i++) {
      agx_json_open(json, NULL, '[');
      write_index(json, pairs[i].a);
      write_index(json, pairs[i].b);
      number(json, match_is_equal(a, b, &pairs[i]));
      agx_json_close(json, ']');
   }
   agx_json_close(json, ']');
   free(pairs);
   return AGX_OK;
}

/* The code of two kernels, once for all dispatches that they meet in. */
static agx_status write_kernel_pair(struct agx_json *json, struct agx_table *written,
                                    const struct html_kernel *a, const struct html_kernel *b,
                                    uint32_t index_a, uint32_t index_b)
{
   struct agx_table_entry *entry = agx_table_get(written, 1 + (uint64_t)index_a, index_b);
   const uint64_t size = a->code[0].count + b->code[0].count;
   if (!entry)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory to compare kernels");
   if (entry->value || !a->has_code || !b->has_code || written->count * size > MAX_PAIRED)
      return AGX_OK;
   entry->value = 1;
   agx_json_open(json, NULL, '[');
   number(json, index_a);
   number(json, index_b);
   AGX_TRY(write_code_pairs(json, &a->code[0], &b->code[0]));
   AGX_TRY(write_code_pairs(json, &a->code[1], &b->code[1]));
   agx_json_close(json, ']');
   return AGX_OK;
}

static agx_status write_kernel_pairs(struct agx_json *json, const struct html_capture *captures,
                                     const struct align_pair *pairs, size_t count)
{
   struct agx_table written = {0};
   const struct html_dispatch *a = captures[0].details.data, *b = captures[1].details.data;
   const struct html_kernel *kernels[] = {captures[0].kernels.data, captures[1].kernels.data};
   agx_status status = AGX_OK;
   agx_json_open(json, "codes", '[');
   for (size_t i = 0; i < count && status == AGX_OK; i++) {
      if (pairs[i].a == ALIGN_NONE || pairs[i].b == ALIGN_NONE)
         continue;
      uint32_t x = a[pairs[i].a].kernel, y = b[pairs[i].b].kernel;
      status = write_kernel_pair(json, &written, &kernels[0][x], &kernels[1][y], x, y);
   }
   agx_json_close(json, ']');
   agx_table_fini(&written);
   return status;
}

static agx_status write_comparison(struct agx_json *json, const struct html_capture *captures)
{
   struct align_pair *pairs = NULL;
   size_t count = 0;
   AGX_TRY(match_dispatches(&captures[0].dispatches, &captures[1].dispatches, &pairs, &count));
   const size_t shown = AGX_MIN(count, HTML_MAX_ROWS);
   agx_json_number(json, "pair_count", count);
   agx_json_open(json, "pairs", '[');
   for (size_t i = 0; i < shown; i++) {
      agx_json_open(json, NULL, '[');
      write_index(json, pairs[i].a);
      write_index(json, pairs[i].b);
      agx_json_close(json, ']');
   }
   agx_json_close(json, ']');
   agx_status status = write_kernel_pairs(json, captures, pairs, shown);
   free(pairs);
   return status;
}

agx_status html_write(struct agx_json *json, const struct html_capture *captures, uint32_t count,
                      const struct html_sources *sources)
{
   agx_json_open(json, NULL, '{');
   agx_json_open(json, "terms", '[');
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++)
      agx_json_text(json, NULL, agxs_term_name((enum agxs_term)i));
   agx_json_close(json, ']');
   agx_json_open(json, "classes", '[');
   for (unsigned i = 0; i < AGXS_CLASS_COUNT; i++)
      agx_json_text(json, NULL, agxs_class_name((enum agxs_class)i));
   agx_json_close(json, ']');
   html_write_files(json, sources);
   agx_json_open(json, "captures", '[');
   for (uint32_t i = 0; i < count; i++)
      AGX_TRY(write_capture(json, &captures[i], sources));
   agx_json_close(json, ']');
   if (count == 2)
      AGX_TRY(write_comparison(json, captures));
   agx_json_close(json, '}');
   return AGX_OK;
}
