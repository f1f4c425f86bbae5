/* SPDX-License-Identifier: MIT
 *
 * Statistics of a launch from beginning to end: makes room when a worker takes up a launch,
 * adds up workgroups and workers, and hands the sums to options.on_dispatch. launch/ calls
 * it; profile_count.c counts single instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "agx/sim/machine/kernel.h"
#include "agx/sim/check/profile_impl.h"
#include "base/util.h"

const char *agxs_class_name(enum agxs_class class_)
{
   static const char *const names[AGXS_CLASS_COUNT] = {
      [AGXS_CLASS_OTHER] = "other",     [AGXS_CLASS_LOAD] = "load",
      [AGXS_CLASS_STORE] = "store",     [AGXS_CLASS_ATOMIC] = "atomic",
      [AGXS_CLASS_LOCAL] = "local",     [AGXS_CLASS_STACK] = "stack",
      [AGXS_CLASS_TEXTURE] = "texture", [AGXS_CLASS_WAIT] = "wait",
      [AGXS_CLASS_BARRIER] = "barrier",
   };
   return names[class_];
}

const char *agxs_unit_name(unsigned unit)
{
   static const char *const names[AGXS_UNITS] = {
      [AGX_ISA_UNIT_NONE] = "other",      [AGX_ISA_UNIT_F32] = "f32", [AGX_ISA_UNIT_F16] = "f16",
      [AGX_ISA_UNIT_SCIB] = "scib",       [AGX_ISA_UNIT_IC] = "ic",   [AGX_ISA_UNIT_MEM] = "mem",
      [AGX_ISA_UNIT_CONTROL] = "control",
   };
   return unit < AGXS_UNITS ? names[unit] : NULL;
}

/* ---- beginning and end -------------------------------------------------- */

void agxs_profile_free(struct agxs_worker *worker)
{
   struct agxs_profile *profile = worker->profile;
   if (!profile)
      return;
   free(profile->spans);
   free(profile->spots);
   free(profile->executed);
   free(profile->clocks);
   free(profile->fetched);
   free(profile->lines.entries);
   free(profile);
   worker->profile = NULL;
}

static int by_number(const void *a, const void *b)
{
   uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
   return (x > y) - (x < y);
}

static uint32_t index_of(const uint32_t *lines, uint32_t count, uint32_t line)
{
   const uint32_t *at = bsearch(&line, lines, count, sizeof(line), by_number);
   return (uint32_t)(at - lines);
}

/* Numbers the lines of code that the kernel lies in. usc_base is a multiple of lines. */
static void number_lines(struct agxs_profile *profile, const struct agxs_kernel *kernel,
                         uint32_t *lines)
{
   uint32_t count = 0, kept = 0;
   for (uint32_t i = 0; i < kernel->uop_count; i++) {
      const struct agxs_uop_info *info = &kernel->info[i];
      lines[count++] = info->pc / AGXS_LINE_BYTES;
      lines[count++] = (info->pc + AGX_MAX(info->length, 1u) - 1) / AGXS_LINE_BYTES;
   }
   qsort(lines, count, sizeof(*lines), by_number);
   for (uint32_t i = 0; i < count; i++) {
      if (i == 0 || lines[i] != lines[i - 1])
         lines[kept++] = lines[i];
   }
   profile->line_count = kept;
   for (uint32_t i = 0; i < kernel->uop_count; i++) {
      const struct agxs_uop_info *info = &kernel->info[i];
      uint32_t last = (info->pc + AGX_MAX(info->length, 1u) - 1) / AGXS_LINE_BYTES;
      profile->spans[i].first = index_of(lines, kept, info->pc / AGXS_LINE_BYTES);
      profile->spans[i].last = index_of(lines, kept, last);
   }
}

static bool make_room(struct agxs_profile *profile)
{
   const struct agxs_dispatch *dispatch = profile->dispatch;
   const struct agxs_kernel *kernel = dispatch->kernel;
   uint32_t threads = dispatch->local[0] * dispatch->local[1] * dispatch->local[2];
   profile->clock_count = (uint32_t)agx_div_up(threads, AGXS_LANES);
   profile->spans = calloc(kernel->uop_count, sizeof(*profile->spans));
   profile->spots = calloc(kernel->uop_count, sizeof(*profile->spots));
   profile->clocks = calloc(profile->clock_count, sizeof(*profile->clocks));
   uint32_t *lines = calloc(2ull * kernel->uop_count, sizeof(*lines));
   if (!profile->spans || !profile->spots || !profile->clocks || !lines) {
      free(lines);
      return false;
   }
   number_lines(profile, kernel, lines);
   free(lines);
   uint32_t words = agxs_bit_words(profile->line_count);
   profile->executed = calloc(words, sizeof(uint64_t));
   /* Code that fits the cache is never fetched again. */
   if (profile->line_count > AGXS_CODE_LINES)
      profile->fetched = calloc((size_t)words * profile->clock_count, sizeof(uint64_t));
   return profile->executed && (profile->fetched || profile->line_count <= AGXS_CODE_LINES);
}

agx_status agxs_profile_begin(struct agxs_worker *worker)
{
   agxs_profile_free(worker);
   struct agxs_profile *profile = worker->profile = calloc(1, sizeof(*profile));
   if (profile)
      profile->dispatch = worker->dispatch;
   if (profile && make_room(profile))
      return AGX_OK;
   agxs_profile_free(worker);
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "dispatch %u: no memory for statistics",
                   worker->dispatch->index);
}

/* ---- workgroups --------------------------------------------------------- */

void agxs_profile_enter(struct agxs_worker *worker)
{
   struct agxs_profile *profile = worker->profile;
   uint32_t words = agxs_bit_words(profile->line_count);
   memset(profile->clocks, 0, profile->clock_count * sizeof(*profile->clocks));
   if (profile->fetched)
      memset(profile->fetched, 0, sizeof(uint64_t) * words * profile->clock_count);
   for (uint32_t i = 0; i < profile->clock_count; i++) {
      profile->clocks[i].line = UINT32_MAX;
      profile->clocks[i].fetched = profile->fetched ? profile->fetched + (size_t)i * words : NULL;
   }
   profile->lines.floor = profile->stamp;
   profile->lines.count = 0;
}

void agxs_profile_leave(struct agxs_worker *worker)
{
   struct agxs_profile *profile = worker->profile;
   struct agxs_counts *counts = &profile->sum.counts;
   counts->workgroups++;
   counts->lines += profile->lines.count;
   for (uint32_t i = 0; i < profile->clock_count; i++) {
      uint32_t exists = worker->groups[i].exists;
      counts->simd_groups += exists != 0;
      counts->threads += (unsigned)__builtin_popcount(exists);
      counts->longest = AGX_MAX(counts->longest, profile->clocks[i].now);
   }
}

/* ---- sums --------------------------------------------------------------- */

static void add_counts(struct agxs_counts *to, const struct agxs_counts *from)
{
   to->workgroups += from->workgroups;
   to->simd_groups += from->simd_groups;
   to->threads += from->threads;
   to->issue += from->issue;
   to->complex_pipe += from->complex_pipe;
   to->lsu += from->lsu;
   to->refetch += from->refetch;
   to->stall += from->stall;
   to->longest = AGX_MAX(to->longest, from->longest);
   to->lines += from->lines;
}

static void add_sums(struct agxs_dispatch_stats *to, const struct agxs_dispatch_stats *from)
{
   add_counts(&to->counts, &from->counts);
   for (unsigned i = 0; i < AGXS_UNITS; i++)
      to->units[i] += from->units[i];
   for (unsigned i = 0; i < AGXS_CLASS_COUNT; i++)
      to->classes[i] += from->classes[i];
   to->waits_met += from->waits_met;
   to->wait_stall += from->wait_stall;
   to->line_accesses += from->line_accesses;
   to->requested_B += from->requested_B;
   to->lanes_active += from->lanes_active;
   to->lanes_existing += from->lanes_existing;
   to->partial += from->partial;
   to->empty += from->empty;
}

static void add_spot(struct agxs_spot *to, const struct agxs_spot *from)
{
   to->executed += from->executed;
   to->stall += from->stall;
   to->complex_pipe += from->complex_pipe;
   to->lsu += from->lsu;
   to->refetch += from->refetch;
   to->lines += from->lines;
   to->lanes += from->lanes;
}

void agxs_profile_merge(struct agxs_worker *into, struct agxs_worker *from)
{
   struct agxs_profile *to = into->profile, *more = from->profile;
   if (to && more && more->dispatch && more->dispatch == to->dispatch) {
      add_sums(&to->sum, &more->sum);
      for (uint32_t i = 0; i < to->dispatch->kernel->uop_count; i++)
         add_spot(&to->spots[i], &more->spots[i]);
      for (uint32_t i = 0; i < agxs_bit_words(to->line_count); i++)
         to->executed[i] |= more->executed[i];
   }
   if (more)
      more->dispatch = NULL;
}

uint64_t agxs_profile_cycles(const struct agxs_worker *worker)
{
   const struct agxs_counts *counts = &worker->profile->sum.counts;
   return counts->issue + counts->stall;
}

/* ---- the report --------------------------------------------------------- */

static uint64_t hash_code(const struct agxs_kernel *kernel)
{
   uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
   for (uint32_t i = 0; i < kernel->extent_count; i++) {
      for (uint32_t at = 0; at < kernel->extents[i].length; at++)
         hash = (hash ^ kernel->extents[i].bytes[at]) * 0x100000001b3u;
   }
   return hash;
}

static void copy_code(const struct agxs_kernel *kernel, uint32_t pc, struct agxs_spot *spot)
{
   for (uint32_t i = 0; i < kernel->extent_count; i++) {
      const struct agxs_extent *extent = &kernel->extents[i];
      if (pc < extent->pc || pc - extent->pc >= extent->length)
         continue;
      uint32_t left = extent->length - (pc - extent->pc);
      spot->length = (uint8_t)AGX_MIN(spot->length, AGX_MIN(left, AGX_ISA_MAX_BYTES));
      memcpy(spot->bytes, extent->bytes + (pc - extent->pc), spot->length);
      return;
   }
}

static int by_pc(const void *a, const void *b)
{
   const struct agxs_spot *x = a, *y = b;
   return (x->pc > y->pc) - (x->pc < y->pc);
}

/* What was executed, sorted. */
static uint32_t collect_spots(const struct agxs_profile *profile, struct agxs_spot *spots)
{
   const struct agxs_kernel *kernel = profile->dispatch->kernel;
   uint32_t count = 0;
   for (uint32_t i = 0; i < kernel->uop_count; i++) {
      if (!profile->spots[i].executed)
         continue;
      struct agxs_spot *spot = &spots[count++];
      *spot = profile->spots[i];
      spot->pc = kernel->info[i].pc;
      spot->length = kernel->info[i].length;
      copy_code(kernel, spot->pc, spot);
   }
   qsort(spots, count, sizeof(*spots), by_pc);
   return count;
}

static uint64_t count_bits(const uint64_t *words, uint32_t bits)
{
   uint64_t count = 0;
   for (uint32_t i = 0; i < agxs_bit_words(bits); i++)
      count += (unsigned)__builtin_popcountll(words[i]);
   return count;
}

agx_status agxs_profile_report(const struct agxs_worker *worker, uint64_t preamble)
{
   const struct agxs_profile *profile = worker->profile;
   const struct agxs_dispatch *dispatch = profile->dispatch;
   const struct agxs_kernel *kernel = dispatch->kernel;
   struct agxs_dispatch_stats stats = profile->sum;
   if (!dispatch->options->on_dispatch)
      return AGX_OK;
   stats.spots = calloc(kernel->uop_count, sizeof(*stats.spots));
   if (!stats.spots)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "dispatch %u: no memory for statistics",
                      dispatch->index);
   stats.spot_count = collect_spots(profile, stats.spots);
   stats.chip = dispatch->chip;
   stats.index = dispatch->index;
   stats.usc_base = kernel->request.usc_base;
   stats.entry = kernel->request.entry;
   stats.code_hash = hash_code(kernel);
   memcpy(stats.grid, dispatch->grid, sizeof(stats.grid));
   memcpy(stats.local, dispatch->local, sizeof(stats.local));
   stats.counts.code_lines = count_bits(profile->executed, profile->line_count);
   stats.counts.preamble = preamble;
   stats.counts.gpr_halves = kernel->request.halves;
   stats.counts.shared_B = dispatch->shared_bytes;
   stats.counts.workgroup_threads = dispatch->local[0] * dispatch->local[1] * dispatch->local[2];
   dispatch->options->on_dispatch(dispatch->options->user, &stats);
   free(stats.spots);
   return AGX_OK;
}
