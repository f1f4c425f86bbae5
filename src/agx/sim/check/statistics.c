/* SPDX-License-Identifier: MIT
 *
 * Models a launch's cycles, and writes its statistics as a table or as JSON. The virtual device
 * (AGX_VIRTUAL_STATS) and the tools call it.
 */
#include "agx/sim/check/statistics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"

#define TEXT_BYTES 256

static void print_spot_text(const struct agxs_spot *spot, char *text, size_t capacity)
{
   struct agx_isa_instr instr;
   snprintf(text, capacity, "(no instruction)");
   if (agx_isa_decode(spot->bytes, spot->length, &instr) == AGX_OK)
      agx_isa_print(&instr, text, capacity);
}

/* What an instruction adds to the term. */
static uint64_t spot_cycles(const struct agxs_spot *spot, enum agxs_term term)
{
   switch (term) {
   case AGXS_TERM_ISSUE:
      return spot->executed;
   case AGXS_TERM_COMPLEX:
      return spot->complex_pipe;
   case AGXS_TERM_LSU:
      return spot->lsu;
   case AGXS_TERM_REFETCH:
      return spot->refetch;
   case AGXS_TERM_TRAFFIC:
      return spot->lines;
   default:
      return spot->executed + spot->stall;
   }
}

/* ---- table -------------------------------------------------------------- */

/* Hundredths, without the locale's idea of a point. */
static void put_fixed(FILE *to, int width, double value)
{
   uint64_t hundredths = value < 9e15 ? (uint64_t)(value * 100 + 0.5) : UINT64_MAX;
   fprintf(to, "%*" PRIu64 ".%02u", AGX_MAX(width - 3, 0), hundredths / 100,
           (unsigned)(hundredths % 100));
}

static void put_share(FILE *to, uint64_t part, uint64_t whole)
{
   put_fixed(to, 0, whole ? 100.0 * (double)part / (double)whole : 0.0);
   fputs(" %", to);
}

static void put_head(FILE *to, const struct agxs_dispatch_stats *stats,
                     const struct agxs_origin *origin, const struct agxs_model *own)
{
   const struct agxs_counts *counts = &stats->counts;
   fprintf(to,
           "submission %" PRIu64 ", command %u, dispatch %u: kernel at 0x%x, code %016" PRIx64
           ", %s\n",
           origin->submission, origin->command, stats->index, stats->entry, stats->code_hash,
           stats->chip->name);
   fprintf(to,
           "  grid %u x %u x %u in workgroups of %u x %u x %u: %" PRIu64 " workgroups, %" PRIu64
           " SIMD-groups, %" PRIu64 " threads\n",
           stats->grid[0], stats->grid[1], stats->grid[2], stats->local[0], stats->local[1],
           stats->local[2], counts->workgroups, counts->simd_groups, counts->threads);
   fprintf(to,
           "  occupancy %u SIMD-groups per core (%u register halves, %u bytes of threadgroup "
           "memory)\n",
           own->occupancy, counts->gpr_halves, counts->shared_B);
}

static void put_row(FILE *to, const char *name, double own, double race, bool binds_own,
                    bool binds_race)
{
   fprintf(to, "    %-9s", name);
   put_fixed(to, 16, own);
   fputs(binds_own ? " *" : "  ", to);
   put_fixed(to, 16, race);
   fputs(binds_race ? " *\n" : "\n", to);
}

static void put_model(FILE *to, const struct agxs_model *own, const struct agxs_model *race,
                      uint64_t preamble)
{
   fprintf(to, "  %-11s%16s  %13s%" PRIu64 "\n", "cycles", "own grid", "grid x ", race->repeat);
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++)
      put_row(to, agxs_term_name(i), own->term[i], race->term[i], own->bound == i,
              race->bound == i);
   put_row(to, "cold", own->cold, race->cold, false, false);
   put_row(to, "main", own->main, race->main, false, false);
   put_row(to, "preamble", (double)preamble, (double)preamble, false, false);
   put_row(to, "total", own->total, race->total, false, false);
   fprintf(to,
           "    cores %" PRIu64 " and %" PRIu64 ", SIMD-groups at a time %" PRIu64 " and %" PRIu64
           "; bound by: %s and %s\n",
           own->cores, race->cores, own->concurrency, race->concurrency, agxs_term_name(own->bound),
           agxs_term_name(race->bound));
}

static void put_counts(FILE *to, const struct agxs_dispatch_stats *stats)
{
   const struct agxs_counts *counts = &stats->counts;
   fprintf(to, "  instructions %" PRIu64 ":", counts->issue);
   for (unsigned i = 0; i < AGXS_UNITS; i++)
      if (agxs_unit_name(i) && stats->units[i])
         fprintf(to, " %s %" PRIu64, agxs_unit_name(i), stats->units[i]);
   fputs("; of these", to);
   for (unsigned i = 1; i < AGXS_CLASS_COUNT; i++)
      if (stats->classes[i])
         fprintf(to, " %s %" PRIu64, agxs_class_name(i), stats->classes[i]);
   fprintf(to,
           "\n  stalls %" PRIu64 " cycles; %" PRIu64 " of %" PRIu64
           " waits met an outstanding operation, %" PRIu64 " cycles\n",
           counts->stall, stats->waits_met, stats->classes[AGXS_CLASS_WAIT], stats->wait_stall);
   fprintf(to,
           "  memory: %" PRIu64 " bytes asked for, %" PRIu64 " lines accessed, %" PRIu64
           " lines = %" PRIu64 " bytes moved\n",
           stats->requested_B, stats->line_accesses, counts->lines,
           counts->lines * AGXS_LINE_BYTES);
   fprintf(to, "  code: %" PRIu64 " lines, %" PRIu64 " fetched again\n", counts->code_lines,
           counts->refetch / AGXS_CODE_LINE_COST);
   fputs("  lanes: ", to);
   put_share(to, stats->lanes_active, stats->lanes_existing);
   fprintf(to, " active; instructions with some lanes off %" PRIu64 ", with all off %" PRIu64 "\n",
           stats->partial, stats->empty);
}

/* Moves the instruction with the largest share of the term to the front; false when none
 * is left. */
static bool pick_spot(const struct agxs_spot **spots, uint32_t count, enum agxs_term term)
{
   uint32_t best = 0;
   for (uint32_t i = 1; i < count; i++)
      if (spot_cycles(spots[i], term) > spot_cycles(spots[best], term))
         best = i;
   if (!count || !spot_cycles(spots[best], term))
      return false;
   const struct agxs_spot *found = spots[best];
   memmove(spots + 1, spots, best * sizeof(*spots)); /* the others keep their order */
   spots[0] = found;
   return true;
}

static void put_spot(FILE *to, const struct agxs_spot *spot, uint64_t part, uint64_t whole)
{
   char text[TEXT_BYTES];
   print_spot_text(spot, text, sizeof(text));
   fputs("    ", to);
   put_fixed(to, 6, whole ? 100.0 * (double)part / (double)whole : 0.0);
   fprintf(to, " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "  ", spot->executed,
           spot->stall, spot->lsu, spot->lines);
   put_fixed(to, 5, (double)spot->lanes / (double)spot->executed);
   fprintf(to, "  %6x  %s\n", spot->pc, text);
}

static void put_spots(FILE *to, const struct agxs_dispatch_stats *stats, enum agxs_term term,
                      uint32_t most)
{
   const struct agxs_spot **spots = calloc(AGX_MAX(stats->spot_count, 1u), sizeof(*spots));
   uint64_t whole = 0;
   for (uint32_t i = 0; spots && i < stats->spot_count; i++) {
      spots[i] = &stats->spots[i];
      whole += spot_cycles(spots[i], term);
   }
   fprintf(to, "  %% of %-9s %6s %10s %10s %10s  %5s  %6s\n", agxs_term_name(term), "run", "stall",
           "lsu", "lines", "lanes", "pc");
   for (uint32_t i = 0; spots && i < most && i < stats->spot_count; i++) {
      if (!pick_spot(spots + i, stats->spot_count - i, term))
         break;
      put_spot(to, spots[i], spot_cycles(spots[i], term), whole);
   }
   free(spots);
}

void agxs_report_table(FILE *to, const struct agxs_dispatch_stats *stats,
                       const struct agxs_origin *origin, uint32_t spots)
{
   const struct agxs_counts *counts = &stats->counts;
   struct agxs_model own = agxs_model(counts, stats->chip, 1);
   struct agxs_model race =
      agxs_model(counts, stats->chip, agxs_model_repeats(counts, stats->chip));
   put_head(to, stats, origin, &own);
   put_model(to, &own, &race, counts->preamble);
   put_counts(to, stats);
   put_spots(to, stats, race.bound, spots);
}

/* ---- JSON --------------------------------------------------------------- */

static void json_sizes(struct agx_json *json, const char *name, const uint32_t sizes[3])
{
   agx_json_open(json, name, '[');
   for (unsigned i = 0; i < 3; i++)
      agx_json_number(json, NULL, sizes[i]);
   agx_json_close(json, ']');
}

static void json_counts(struct agx_json *json, const struct agxs_counts *counts)
{
   const struct {
      const char *name;
      uint64_t value;
   } members[] = {
      {"workgroups", counts->workgroups},
      {"simd_groups", counts->simd_groups},
      {"threads", counts->threads},
      {"issue", counts->issue},
      {"complex", counts->complex_pipe},
      {"lsu", counts->lsu},
      {"refetch", counts->refetch},
      {"stall", counts->stall},
      {"longest", counts->longest},
      {"lines", counts->lines},
      {"bytes", counts->lines * AGXS_LINE_BYTES},
      {"code_lines", counts->code_lines},
      {"preamble", counts->preamble},
      {"register_halves", counts->gpr_halves},
      {"threadgroup_bytes", counts->shared_B},
      {"workgroup_threads", counts->workgroup_threads},
   };
   agx_json_open(json, "counts", '{');
   for (size_t i = 0; i < AGX_COUNT(members); i++)
      agx_json_number(json, members[i].name, members[i].value);
   agx_json_close(json, '}');
}

static void json_model(struct agx_json *json, const char *name, const struct agxs_model *model)
{
   agx_json_open(json, name, '{');
   agx_json_number(json, "repeat", model->repeat);
   agx_json_number(json, "cores", model->cores);
   agx_json_number(json, "occupancy", model->occupancy);
   agx_json_number(json, "concurrency", model->concurrency);
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++)
      agx_json_fixed(json, agxs_term_name(i), model->term[i]);
   agx_json_text(json, "bound", agxs_term_name(model->bound));
   agx_json_fixed(json, "cold", model->cold);
   agx_json_fixed(json, "main", model->main);
   agx_json_fixed(json, "total", model->total);
   agx_json_close(json, '}');
}

static void json_instructions(struct agx_json *json, const struct agxs_dispatch_stats *stats)
{
   agx_json_open(json, "units", '{');
   for (unsigned i = 0; i < AGXS_UNITS; i++)
      if (agxs_unit_name(i))
         agx_json_number(json, agxs_unit_name(i), stats->units[i]);
   agx_json_close(json, '}');
   agx_json_open(json, "classes", '{');
   for (unsigned i = 0; i < AGXS_CLASS_COUNT; i++)
      agx_json_number(json, agxs_class_name(i), stats->classes[i]);
   agx_json_close(json, '}');
   agx_json_open(json, "waits", '{');
   agx_json_number(json, "executed", stats->classes[AGXS_CLASS_WAIT]);
   agx_json_number(json, "met", stats->waits_met);
   agx_json_number(json, "stall", stats->wait_stall);
   agx_json_close(json, '}');
   agx_json_open(json, "memory", '{');
   agx_json_number(json, "requested_bytes", stats->requested_B);
   agx_json_number(json, "line_accesses", stats->line_accesses);
   agx_json_close(json, '}');
   agx_json_open(json, "divergence", '{');
   agx_json_number(json, "lanes_active", stats->lanes_active);
   agx_json_number(json, "lanes_existing", stats->lanes_existing);
   agx_json_number(json, "partial", stats->partial);
   agx_json_number(json, "empty", stats->empty);
   agx_json_close(json, '}');
}

static void json_spot(struct agx_json *json, const struct agxs_spot *spot)
{
   char text[TEXT_BYTES];
   print_spot_text(spot, text, sizeof(text));
   agx_json_open(json, NULL, '{');
   agx_json_number(json, "pc", spot->pc);
   agx_json_text(json, "text", text);
   agx_json_number(json, "executed", spot->executed);
   agx_json_number(json, "stall", spot->stall);
   agx_json_number(json, "complex", spot->complex_pipe);
   agx_json_number(json, "lsu", spot->lsu);
   agx_json_number(json, "refetch", spot->refetch);
   agx_json_number(json, "lines", spot->lines);
   agx_json_number(json, "lanes", spot->lanes);
   agx_json_close(json, '}');
}

void agxs_report_json(FILE *to, const struct agxs_dispatch_stats *stats,
                      const struct agxs_origin *origin)
{
   struct agx_json json = {.file = to};
   char hash[20];
   snprintf(hash, sizeof(hash), "%016" PRIx64, stats->code_hash);
   struct agxs_model own = agxs_model(&stats->counts, stats->chip, 1);
   struct agxs_model race =
      agxs_model(&stats->counts, stats->chip, agxs_model_repeats(&stats->counts, stats->chip));
   agx_json_open(&json, NULL, '{');
   agx_json_number(&json, "submission", origin->submission);
   agx_json_number(&json, "command", origin->command);
   agx_json_number(&json, "dispatch", stats->index);
   agx_json_text(&json, "chip", stats->chip->name);
   agx_json_number(&json, "entry", stats->entry);
   agx_json_text(&json, "code", hash);
   json_sizes(&json, "grid", stats->grid);
   json_sizes(&json, "local", stats->local);
   json_counts(&json, &stats->counts);
   json_model(&json, "own", &own);
   json_model(&json, "race", &race);
   json_instructions(&json, stats);
   agx_json_open(&json, "spots", '[');
   for (uint32_t i = 0; i < stats->spot_count; i++)
      json_spot(&json, &stats->spots[i]);
   agx_json_close(&json, ']');
   agx_json_close(&json, '}');
   fputc('\n', to);
}

/* Turns a launch's counts into modelled cycles: how many SIMD-groups fit a core, which pipe
 * is the limit, and how much of the latency other groups hide. The report and the virtual
 * device's counters call it. */

#define SCHEDULERS      4.0  /* per core, each issues for one SIMD-group */
#define BYTES_PER_CYCLE 32.0 /* of a core from the second-level cache */

const char *agxs_term_name(enum agxs_term term)
{
   static const char *const names[AGXS_TERM_COUNT] = {
      [AGXS_TERM_ISSUE] = "issue",     [AGXS_TERM_COMPLEX] = "complex",
      [AGXS_TERM_LSU] = "lsu",         [AGXS_TERM_REFETCH] = "refetch",
      [AGXS_TERM_TRAFFIC] = "traffic", [AGXS_TERM_LATENCY] = "latency",
      [AGXS_TERM_LONGEST] = "longest",
   };
   return names[term];
}

/* Cores of the chip's GPU. */
static uint32_t chip_cores(const struct agx_chip *chip)
{
   return AGX_MAX(chip->clusters * chip->cores_per_cluster, 1u);
}

uint32_t agxs_occupancy(uint32_t gpr_halves, uint32_t shared_B, uint32_t workgroup_threads)
{
   uint32_t resident = agx_occupancy_threads(gpr_halves) / AGX_SIMD_LANES;
   uint32_t groups = (uint32_t)AGX_MAX(agx_div_up(workgroup_threads, AGX_SIMD_LANES), 1u);
   uint32_t workgroups = resident / groups;
   if (shared_B)
      workgroups = AGX_MIN(workgroups, AGXS_CORE_SHARED / shared_B);
   return AGX_MAX(workgroups, 1u) * groups;
}

uint64_t agxs_model_repeats(const struct agxs_counts *counts, const struct agx_chip *chip)
{
   uint64_t wanted = (uint64_t)AGXS_RACE_GROUPS * chip_cores(chip);
   return counts->simd_groups ? AGX_MAX(agx_div_up(wanted, counts->simd_groups), 1u) : 1;
}

struct agxs_model agxs_model(const struct agxs_counts *counts, const struct agx_chip *chip,
                             uint64_t repeat)
{
   double times = (double)repeat;
   struct agxs_model model = {.repeat = repeat};
   model.total = (double)counts->preamble;
   if (!counts->simd_groups || !repeat)
      return model;
   /* Both counts are at most 2^64 / repeat in practice; saturating keeps K and conc right. */
   uint64_t workgroups, groups;
   if (__builtin_mul_overflow(counts->workgroups, repeat, &workgroups))
      workgroups = UINT64_MAX;
   if (__builtin_mul_overflow(counts->simd_groups, repeat, &groups))
      groups = UINT64_MAX;
   model.cores = AGX_MIN(chip_cores(chip), workgroups);
   model.occupancy =
      agxs_occupancy(counts->gpr_halves, counts->shared_B, counts->workgroup_threads);
   model.concurrency = AGX_MIN(groups, model.cores * model.occupancy);
   double cores = (double)model.cores;
   double *term = model.term;
   term[AGXS_TERM_ISSUE] = (double)counts->issue * times / (SCHEDULERS * cores);
   term[AGXS_TERM_COMPLEX] = (double)counts->complex_pipe * times / (SCHEDULERS * cores);
   term[AGXS_TERM_LSU] = (double)counts->lsu * times / cores;
   term[AGXS_TERM_REFETCH] = (double)counts->refetch * times / (SCHEDULERS * cores);
   term[AGXS_TERM_TRAFFIC] =
      (double)counts->lines * AGXS_LINE_BYTES * times / (BYTES_PER_CYCLE * cores);
   term[AGXS_TERM_LATENCY] =
      (double)(counts->issue + counts->stall) * times / (double)model.concurrency;
   term[AGXS_TERM_LONGEST] = (double)counts->longest;
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++) {
      if (term[i] > term[model.bound])
         model.bound = (enum agxs_term)i;
   }
   model.cold = (double)counts->code_lines * AGXS_CODE_LINE_COST;
   model.main = term[model.bound] + model.cold;
   model.total += model.main;
   return model;
}
