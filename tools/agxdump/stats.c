/* SPDX-License-Identifier: MIT
 *
 * agxdump stats: replays a capture on a virtual AGX that counts, and prints what each dispatch
 * executed and what it adds up to for each kernel.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agxdump.h"
#include "base/json.h"
#include "base/table.h"
#include "base/util.h"
#include "replay.h"
#include "stats.h"
#include "winsys/virtual/virtual.h"

static const char help[] =
   "usage: agxdump stats [--json|--csv] [--sort KEY] [--kernels] [--until N]\n"
   "                     [--device virtual:CHIP] FILE\n"
   "\n"
   "Replays FILE on a virtual AGX that counts. A row for each dispatch:\n"
   "submission.command.dispatch, the kernel (a hash of its code), threads, instructions that\n"
   "SIMD-groups executed by class, lanes that were active, bytes named in memory, waits that met\n"
   "something outstanding, SIMD-groups resident on a core, modelled cycles, what binds them, and\n"
   "each term (docs/hw/performance.md). Then the sums of each kernel.\n"
   "\n"
   "  --sort KEY  order (submission without it), instructions, cycles, bytes, waits or\n"
   "              divergence, largest first\n"
   "  --kernels   sums only\n"
   "  --json      an object: {\"dispatches\": [...], \"kernels\": [...]}\n"
   "  --csv       dispatches, or with --kernels sums, with names in the first line\n";

enum form {
   FORM_TABLE,
   FORM_JSON,
   FORM_CSV
};

struct stats {
   struct replay replay;
   enum form form;
   const char *sort;
   bool kernels_only;
   struct stat_row *rows;
   size_t count, capacity;
   bool is_short;         /* of memory */
   stats_watch_fn *watch; /* takes the rows instead of `rows` */
   void *user;
};

/* ---- counting ---- */

static void add_row(struct stats *stats, const struct stat_row *row)
{
   if (stats->count == stats->capacity) {
      size_t capacity = AGX_MAX(2 * stats->capacity, 256);
      struct stat_row *rows = realloc(stats->rows, capacity * sizeof(*rows));
      if (!rows) {
         stats->is_short = true;
         return;
      }
      stats->rows = rows;
      stats->capacity = capacity;
   }
   stats->rows[stats->count++] = *row;
}

/* On a thread of the node; replays wait for each submission before they look. */
static void take_counters(void *user, const struct agx_virtual_counters *counters)
{
   const struct agxs_dispatch_stats *it = counters->stats;
   const struct agxs_model model = agxs_model(&it->counts, it->chip, 1);
   struct stats *stats = user;
   struct stat_row row = {
      .submission = stats->replay.submissions,
      .count = 1,
      .command = counters->command,
      .dispatch = it->index,
      .kernel = it->code_hash,
      .threads = it->counts.threads,
      .instructions = it->counts.issue,
      .waits_met = it->waits_met,
      .bytes = it->requested_B,
      .lanes_active = it->lanes_active,
      .lanes_existing = it->lanes_existing,
      .gpr_halves = it->counts.gpr_halves,
      .shared_B = it->counts.shared_B,
      .occupancy = model.occupancy,
      .cycles = model.total,
      .bound = model.bound,
   };
   memcpy(row.grid, it->grid, sizeof(row.grid));
   memcpy(row.local, it->local, sizeof(row.local));
   memcpy(row.classes, it->classes, sizeof(row.classes));
   memcpy(row.term, model.term, sizeof(row.term));
   if (stats->watch)
      stats->watch(stats->user, &row, it);
   else
      add_row(stats, &row);
}

/* ---- sums ---- */

void stats_add(struct stat_row *sum, const struct stat_row *row)
{
   sum->count += row->count;
   sum->threads += row->threads;
   sum->instructions += row->instructions;
   sum->waits_met += row->waits_met;
   sum->bytes += row->bytes;
   sum->lanes_active += row->lanes_active;
   sum->lanes_existing += row->lanes_existing;
   sum->cycles += row->cycles;
   for (unsigned i = 0; i < AGXS_CLASS_COUNT; i++)
      sum->classes[i] += row->classes[i];
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++) {
      sum->term[i] += row->term[i];
      if (sum->term[i] > sum->term[sum->bound])
         sum->bound = (enum agxs_term)i;
   }
}

/* One row for each kernel, in the order in which they were first dispatched. */
static agx_status sum_kernels(const struct stats *stats, struct stats *out_kernels)
{
   struct agx_table places = {0};
   *out_kernels = (struct stats){.form = stats->form, .sort = stats->sort};
   for (size_t i = 0; i < stats->count; i++) {
      const struct stat_row *row = &stats->rows[i];
      struct agx_table_entry *entry = agx_table_get(&places, 1, row->kernel);
      if (entry && entry->value == 0) {
         add_row(out_kernels, row);
         entry->value = out_kernels->count;
      } else if (entry) {
         stats_add(&out_kernels->rows[entry->value - 1], row);
      }
      out_kernels->is_short = out_kernels->is_short || !entry;
   }
   agx_table_fini(&places);
   return out_kernels->is_short ? AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the sums")
                                : AGX_OK;
}

/* ---- order ---- */

/* Lanes of executed instructions that had a thread and did nothing, of all that had one. */
static double divergence(const struct stat_row *row)
{
   return row->lanes_existing ? 1 - (double)row->lanes_active / (double)row->lanes_existing : 0;
}

static double instructions_of(const struct stat_row *row)
{
   return (double)row->instructions;
}
static double cycles_of(const struct stat_row *row)
{
   return row->cycles;
}
static double bytes_of(const struct stat_row *row)
{
   return (double)row->bytes;
}
static double waits_of(const struct stat_row *row)
{
   return (double)row->waits_met;
}
static double order_of(const struct stat_row *row)
{
   return 0;
}

static const struct key {
   const char *name;
   double (*value)(const struct stat_row *row);
} keys[] = {{"order", order_of},   {"instructions", instructions_of},
            {"cycles", cycles_of}, {"bytes", bytes_of},
            {"waits", waits_of},   {"divergence", divergence}};

static const struct key *find_key(const char *name)
{
   for (size_t i = 0; i < AGX_COUNT(keys); i++)
      if (strcmp(keys[i].name, name) == 0)
         return &keys[i];
   return NULL;
}

static int compare_rows(const void *a, const void *b, void *user)
{
   const struct stat_row *left = a, *right = b;
   const struct key *key = user;
   double x = key->value(left), y = key->value(right);
   if (x != y)
      return x < y ? 1 : -1;
   const uint64_t numbers[][2] = {{left->submission, right->submission},
                                  {left->command, right->command},
                                  {left->dispatch, right->dispatch}};
   for (size_t i = 0; i < AGX_COUNT(numbers); i++)
      if (numbers[i][0] != numbers[i][1])
         return numbers[i][0] < numbers[i][1] ? -1 : 1;
   return 0;
}

/* ---- printing ---- */

/* What is printed of a row, in this order, in every form. */
struct column {
   const char *name;
   int width;
   enum {
      COLUMN_ALWAYS,
      COLUMN_DISPATCH,
      COLUMN_KERNEL
   } where;
   void (*text)(const struct stat_row *row, char *out, size_t size);
   bool is_text; /* quoted in JSON */
};

static void text_launch(const struct stat_row *row, char *out, size_t size)
{
   snprintf(out, size, "%" PRIu64 ".%u.%u", row->submission, row->command, row->dispatch);
}

static void text_kernel(const struct stat_row *row, char *out, size_t size)
{
   snprintf(out, size, "%016" PRIx64, row->kernel);
}

static void text_grid(const struct stat_row *row, char *out, size_t size)
{
   snprintf(out, size, "%ux%ux%u/%ux%ux%u", row->grid[0], row->grid[1], row->grid[2], row->local[0],
            row->local[1], row->local[2]);
}

static void text_bound(const struct stat_row *row, char *out, size_t size)
{
   snprintf(out, size, "%s", agxs_term_name(row->bound));
}

static void text_divergence(const struct stat_row *row, char *out, size_t size)
{
   unsigned thousandths = (unsigned)(divergence(row) * 1000 + 0.5);
   snprintf(out, size, "%u.%03u", thousandths / 1000, thousandths % 1000);
}

#define NUMBER_COLUMN(name, value)                                                                 \
   static void text_##name(const struct stat_row *row, char *out, size_t size)                     \
   {                                                                                               \
      snprintf(out, size, "%" PRIu64, (uint64_t)(value));                                          \
   }
NUMBER_COLUMN(dispatches, row->count)
NUMBER_COLUMN(threads, row->threads)
NUMBER_COLUMN(instructions, row->instructions)
NUMBER_COLUMN(waits, row->waits_met)
NUMBER_COLUMN(bytes, row->bytes)
NUMBER_COLUMN(registers, row->gpr_halves)
NUMBER_COLUMN(occupancy, row->occupancy)
NUMBER_COLUMN(cycles, row->cycles + 0.5)

static const struct column columns[] = {
   {"launch", 10, COLUMN_DISPATCH, text_launch, true},
   {"kernel", 16, COLUMN_ALWAYS, text_kernel, true},
   {"grid", 22, COLUMN_DISPATCH, text_grid, true},
   {"dispatches", 10, COLUMN_KERNEL, text_dispatches, false},
   {"threads", 9, COLUMN_ALWAYS, text_threads, false},
   {"instructions", 12, COLUMN_ALWAYS, text_instructions, false},
   {"divergence", 10, COLUMN_ALWAYS, text_divergence, false},
   {"bytes", 11, COLUMN_ALWAYS, text_bytes, false},
   {"waits", 9, COLUMN_ALWAYS, text_waits, false},
   {"registers", 9, COLUMN_ALWAYS, text_registers, false},
   {"occupancy", 9, COLUMN_ALWAYS, text_occupancy, false},
   {"cycles", 11, COLUMN_ALWAYS, text_cycles, false},
   {"bound", 8, COLUMN_ALWAYS, text_bound, true},
};

static bool is_shown(const struct column *column, bool of_kernels)
{
   return column->where == COLUMN_ALWAYS ||
          column->where == (of_kernels ? COLUMN_KERNEL : COLUMN_DISPATCH);
}

/* The names of terms and classes stand behind the columns. */
static void print_names(enum form form, bool of_kernels)
{
   const char *between = "";
   for (size_t i = 0; i < AGX_COUNT(columns); i++) {
      if (!is_shown(&columns[i], of_kernels))
         continue;
      if (form == FORM_CSV)
         printf("%s%s", between, columns[i].name);
      else
         printf("%s%*s", between, columns[i].width, columns[i].name);
      between = form == FORM_CSV ? "," : "  ";
   }
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++)
      printf(form == FORM_CSV ? ",%s_cycles" : "  %10s", agxs_term_name((enum agxs_term)i));
   for (unsigned i = 0; form == FORM_CSV && i < AGXS_CLASS_COUNT; i++)
      printf(",%s_instructions", agxs_class_name((enum agxs_class)i));
   printf("\n");
}

static void print_row(enum form form, bool of_kernels, const struct stat_row *row)
{
   const char *between = "";
   char text[80];
   for (size_t i = 0; i < AGX_COUNT(columns); i++) {
      if (!is_shown(&columns[i], of_kernels))
         continue;
      columns[i].text(row, text, sizeof(text));
      if (form == FORM_CSV)
         printf("%s%s", between, text);
      else
         printf("%s%*s", between, columns[i].width, text);
      between = form == FORM_CSV ? "," : "  ";
   }
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++)
      printf(form == FORM_CSV ? ",%" PRIu64 : "  %10" PRIu64, (uint64_t)(row->term[i] + 0.5));
   for (unsigned i = 0; form == FORM_CSV && i < AGXS_CLASS_COUNT; i++)
      printf(",%" PRIu64, row->classes[i]);
   printf("\n");
}

static void print_json(struct agx_json *json, bool of_kernels, const struct stat_row *row)
{
   char text[80];
   agx_json_open(json, NULL, '{');
   for (size_t i = 0; i < AGX_COUNT(columns); i++) {
      if (!is_shown(&columns[i], of_kernels))
         continue;
      columns[i].text(row, text, sizeof(text));
      agx_json_name(json, columns[i].name);
      if (columns[i].is_text)
         agx_json_quote(json, text);
      else
         fputs(text, json->file);
   }
   agx_json_open(json, "terms", '{');
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++)
      agx_json_fixed(json, agxs_term_name((enum agxs_term)i), row->term[i]);
   agx_json_close(json, '}');
   agx_json_open(json, "classes", '{');
   for (unsigned i = 0; i < AGXS_CLASS_COUNT; i++)
      agx_json_number(json, agxs_class_name((enum agxs_class)i), row->classes[i]);
   agx_json_close(json, '}');
   agx_json_close(json, '}');
}

static void print_rows(struct stats *stats, bool of_kernels, struct agx_json *json)
{
   const struct key *key = find_key(stats->sort);
   if (stats->count > 0)
      qsort_r(stats->rows, stats->count, sizeof(*stats->rows), compare_rows, (void *)key);
   if (stats->form == FORM_JSON)
      agx_json_open(json, of_kernels ? "kernels" : "dispatches", '[');
   else
      print_names(stats->form, of_kernels);
   for (size_t i = 0; i < stats->count; i++) {
      if (stats->form == FORM_JSON)
         print_json(json, of_kernels, &stats->rows[i]);
      else
         print_row(stats->form, of_kernels, &stats->rows[i]);
   }
   if (stats->form == FORM_JSON)
      agx_json_close(json, ']');
}

static agx_status print_all(struct stats *stats)
{
   struct agx_json json = {.file = stdout};
   struct stats kernels;
   agx_status status = sum_kernels(stats, &kernels);
   if (stats->form == FORM_JSON)
      agx_json_open(&json, NULL, '{');
   if (!stats->kernels_only)
      print_rows(stats, false, &json);
   if (status == AGX_OK && (stats->kernels_only || stats->form != FORM_CSV)) {
      if (stats->form == FORM_TABLE && !stats->kernels_only)
         printf("\n");
      print_rows(&kernels, true, &json);
   }
   if (stats->form == FORM_JSON) {
      agx_json_close(&json, '}');
      printf("\n");
   }
   free(kernels.rows);
   return status;
}

/* ---- the command ---- */

static agx_status parse(struct stats *stats, int argc, char **argv)
{
   struct replay *replay = &stats->replay;
   for (int i = 2; i < argc; i++) {
      const char *name = argv[i];
      if (strcmp(name, "--json") == 0 || strcmp(name, "--csv") == 0) {
         stats->form = name[2] == 'j' ? FORM_JSON : FORM_CSV;
      } else if (strcmp(name, "--kernels") == 0) {
         stats->kernels_only = true;
      } else if (strcmp(name, "--sort") == 0) {
         stats->sort = ++i < argc ? argv[i] : "";
         if (!find_key(stats->sort))
            return AGX_FAIL(
               AGX_INVALID_ARGUMENT,
               "--sort \"%s\": order, instructions, cycles, bytes, waits and divergence "
               "are possible",
               stats->sort);
      } else {
         AGX_TRY(replay_option(replay, argc, argv, &i));
      }
   }
   return replay->file ? AGX_OK : AGX_FAIL(AGX_INVALID_ARGUMENT, "there is no file");
}

int stats_compare_places(const void *a, const void *b)
{
   const struct stat_row *x = a, *y = b;
   if (x->submission != y->submission)
      return x->submission < y->submission ? -1 : 1;
   if (x->command != y->command)
      return x->command < y->command ? -1 : 1;
   return (x->dispatch > y->dispatch) - (x->dispatch < y->dispatch);
}

agx_status stats_collect(const char *file, struct stat_row **out_rows, size_t *out_count)
{
   struct stats stats = {
      .replay = {.file = file, .options.repeat = 1, .on_counters = take_counters}};
   stats.replay.counters_user = &stats;
   agx_status status = replay_run(&stats.replay);
   if (status == AGX_OK && stats.is_short)
      status = AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the rows");
   replay_end(&stats.replay);
   *out_rows = stats.rows;
   *out_count = stats.count;
   return status;
}

agx_status stats_watch(const char *file, stats_watch_fn *watch, void *user, bool *out_differs)
{
   struct stats stats = {
      .replay = {.file = file, .options.repeat = 1, .on_counters = take_counters},
      .watch = watch,
      .user = user};
   stats.replay.counters_user = &stats;
   agx_status status = replay_run(&stats.replay);
   if (out_differs)
      *out_differs = stats.replay.difference.is_there;
   replay_end(&stats.replay);
   return status;
}

int dump_stats(int argc, char **argv)
{
   struct stats stats = {.sort = "order", .replay.options.repeat = 1};
   stats.replay.on_counters = take_counters;
   stats.replay.counters_user = &stats;
   if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
      fputs(help, stdout);
      return 0;
   }
   if (parse(&stats, argc, argv) != AGX_OK) {
      fprintf(stderr, "agxdump stats: %s\n%s", agx_error_peek(), help);
      return 2;
   }
   agx_status status = replay_run(&stats.replay);
   if (status == AGX_OK && stats.is_short)
      status = AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the rows");
   if (status == AGX_OK)
      status = print_all(&stats);
   if (status == AGX_OK && stats.replay.difference.is_there)
      fprintf(stderr,
              "agxdump stats: from submission %" PRIu64
              " on, memory differs from what was recorded (agxdump replay)\n",
              stats.replay.difference.submission);
   if (status != AGX_OK)
      fprintf(stderr, "agxdump: %s: %s\n", stats.replay.file, agx_error_peek());
   replay_end(&stats.replay);
   free(stats.rows);
   return status == AGX_OK ? 0 : 1;
}
