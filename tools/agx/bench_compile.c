/* SPDX-License-Identifier: MIT
 *
 * agx bench, first half: what the compiler makes of the corpus, beside
 * recorded figures of Honeykrisp (Mesa's driver, robustness off).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/util.h"
#include "bench.h"
#include "session.h"

#define MAX_COLUMNS 40

/* One row of a table with named columns. */
struct row {
   char *cells[MAX_COLUMNS];
   unsigned count;
};

static void split(char *line, struct row *out_row)
{
   out_row->count = 0;
   line[strcspn(line, "\r\n")] = 0;
   for (char *cell; out_row->count < MAX_COLUMNS && (cell = agx_split(&line, "\t"));)
      out_row->cells[out_row->count++] = cell;
}

/* The cell of the row that starts with key in a TSV text, in the named column; "-" when
 * there is none. Lines of the text are cut. */
struct table {
   char *text;
   struct row header, rows[128];
   unsigned row_count;
};

static agx_status load_table(const char *folder, const char *name, struct table *out_table)
{
   char path[1024];
   size_t size;
   snprintf(path, sizeof(path), "%s/%s", folder, name);
   AGX_TRY(agx_tool_read(path, (uint8_t **)&out_table->text, &size));
   char *rest = out_table->text;
   char *header = agx_split(&rest, "\n");
   split(header, &out_table->header);
   out_table->row_count = 0;
   for (char *line;
        out_table->row_count < AGX_COUNT(out_table->rows) && (line = agx_split(&rest, "\n"));)
      if (*line)
         split(line, &out_table->rows[out_table->row_count++]);
   return AGX_OK;
}

static const char *cell(const struct table *table, const struct row *row, const char *column)
{
   for (unsigned i = 0; i < AGX_MIN(table->header.count, row->count); i++)
      if (strcmp(table->header.cells[i], column) == 0)
         return row->cells[i];
   return "-";
}

static const char *lookup(const struct table *table, const char *kernel, const char *column)
{
   for (unsigned i = 0; i < table->row_count; i++)
      if (strcmp(cell(table, &table->rows[i], "kernel"), kernel) == 0)
         return cell(table, &table->rows[i], column);
   return "-";
}

/* Compiles `best` times; *out_ms is the quickest. No file, no validator: SPIR-V in memory to
 * code in memory. */
static agx_status compile(const struct bench_options *options, const char *kernel,
                          struct agx_program **out_program, double *out_ms)
{
   static struct agx_manifest manifest;
   struct agxc_spec specs[AGX_MANIFEST_MAX_SPECS];
   char path[1024];
   uint8_t *spirv;
   size_t size;
   snprintf(path, sizeof(path), "%s/%s.txt", options->folder, kernel);
   AGX_TRY(agx_manifest_load(path, &manifest));
   snprintf(path, sizeof(path), "%s/%s.spv", options->folder, kernel);
   AGX_TRY(agx_tool_read(path, &spirv, &size));
   for (uint32_t i = 0; i < manifest.spec_count; i++)
      specs[i] = (struct agxc_spec){manifest.specs[i].id, 4, manifest.specs[i].value};
   struct agxc_options compiler = {
      .chip = options->chip, .specs = specs, .spec_count = manifest.spec_count};
   agx_status status = AGX_OK;
   *out_ms = 1e9;
   for (uint32_t i = 0; i < options->best && status == AGX_OK; i++) {
      agx_program_free(*out_program);
      *out_program = NULL;
      const int64_t start = agx_now_ns();
      status = agxc_compile(spirv, size, &compiler, out_program);
      *out_ms = AGX_MIN(*out_ms, (double)(agx_now_ns() - start) / 1e6);
   }
   free(spirv);
   return status;
}

static void print_pair(unsigned ours, const char *theirs)
{
   printf(" %6u %5s", ours, theirs);
}

static void print_kernel(const char *kernel, const struct agx_program *program, double ms,
                         const struct table *peer)
{
   printf("%-20s", kernel);
   print_pair(program->stats.instructions, lookup(peer, kernel, "instr_r0"));
   print_pair(program->text_B, lookup(peer, kernel, "bytes_r0"));
   print_pair(program->stats.preamble_instructions, lookup(peer, kernel, "pre_instr_r0"));
   print_pair(program->gpr_halves, lookup(peer, kernel, "gprs16_r0"));
   print_pair(program->uniform_halves, lookup(peer, kernel, "unif16_r0"));
   print_pair(program->stats.threads, lookup(peer, kernel, "threads_r0"));
   print_pair(program->stats.spills, lookup(peer, kernel, "spills_r0"));
   print_pair(program->stats.fills, lookup(peer, kernel, "fills_r0"));
   printf(" %5u %5u %7u %8.3f %6s\n", program->stats.loads, program->stats.waits,
          program->stats.cycles, ms, lookup(peer, kernel, "best_ms_r0"));
}

static void print_header(void)
{
   static const char *const columns[] = {"instr",  "bytes", "pre",    "gprs16",
                                         "unif16", "thrds", "spills", "fills"};
   printf("%-20s", "kernel");
   for (size_t i = 0; i < AGX_COUNT(columns); i++)
      printf(" %6s %5s", columns[i], "hk");
   printf(" %5s %5s %7s %8s %6s\n", "loads", "waits", "cycles", "ms", "hk");
}

static void print_object(struct agx_json *json, const char *kernel,
                         const struct agx_program *program, double ms)
{
   const struct {
      const char *name;
      uint64_t value;
   } members[] = {
      {"instructions", program->stats.instructions},
      {"bytes", program->text_B},
      {"preamble_instructions", program->stats.preamble_instructions},
      {"register_halves", program->gpr_halves},
      {"uniform_halves", program->uniform_halves},
      {"threads", program->stats.threads},
      {"spills", program->stats.spills},
      {"fills", program->stats.fills},
      {"loads", program->stats.loads},
      {"waits", program->stats.waits},
      {"cycles", program->stats.cycles},
   };
   agx_json_open(json, NULL, '{');
   agx_json_text(json, "kernel", kernel);
   for (size_t i = 0; i < AGX_COUNT(members); i++)
      agx_json_number(json, members[i].name, members[i].value);
   agx_json_number(json, "compile_ns", (uint64_t)(ms * 1e6));
   agx_json_close(json, '}');
}

static void print_failure(struct agx_json *json, const char *kernel)
{
   if (!json) {
      printf("%-20s not compiled: %s\n", kernel, agx_error_peek());
      return;
   }
   agx_json_open(json, NULL, '{');
   agx_json_text(json, "kernel", kernel);
   agx_json_text(json, "error", agx_error_peek());
   agx_json_close(json, '}');
}

agx_status bench_compile(const struct bench_options *options, struct agx_json *json,
                         uint32_t *out_failed)
{
   static struct table tiers, peer;
   *out_failed = 0;
   AGX_TRY(load_table(options->folder, "tiers.tsv", &tiers));
   AGX_TRY(load_table(options->folder, "honeykrisp.tsv", &peer));
   if (json)
      agx_json_open(json, "kernels", '[');
   else
      print_header();
   for (unsigned i = 0; i < tiers.row_count; i++) {
      const char *kernel = cell(&tiers, &tiers.rows[i], "kernel");
      struct agx_program *program = NULL;
      double ms;
      if (compile(options, kernel, &program, &ms) != AGX_OK) {
         print_failure(json, kernel);
         (*out_failed)++;
      } else if (json) {
         print_object(json, kernel, program, ms);
      } else {
         print_kernel(kernel, program, ms, &peer);
      }
      agx_program_free(program);
   }
   if (json)
      agx_json_close(json, ']');
   free(tiers.text);
   free(peer.text);
   return AGX_OK;
}
