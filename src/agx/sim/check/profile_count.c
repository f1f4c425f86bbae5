/* SPDX-License-Identifier: MIT
 *
 * What one executed instruction adds to the counts: a clock per SIMD-group that knows
 * when registers and outstanding operations are ready, lines of code in an LRU, lines
 * of data, banks of threadgroup memory. Addresses are computed before the instruction
 * executes, since it may overwrite the registers they come from.
 * Source: docs/hw/performance.md, "Modelled cycles".
 */
#include <stdlib.h>

#include "agx/sim/machine/lanes.h"
#include "agx/sim/machine/exec_set.h"
#include "agx/sim/check/profile_impl.h"
#include "base/util.h"

#define BANKS       32u
#define LOCAL_WORDS (65536u / 4)
#define FIRST_LINES 1024u
#define STACK_KEY   (1ull << 63) /* keys of device memory are va / 128 */

static enum agxs_class class_of(enum agx_isa_op op)
{
   const struct agx_isa_info *info = agx_isa_info(op);
   switch (info->reads ? info->reads : info->writes) {
   case AGX_ISA_SPACE_DEVICE:
      return !info->writes ? AGXS_CLASS_LOAD : !info->reads ? AGXS_CLASS_STORE : AGXS_CLASS_ATOMIC;
   case AGX_ISA_SPACE_LOCAL:
      return AGXS_CLASS_LOCAL;
   case AGX_ISA_SPACE_STACK:
      return AGXS_CLASS_STACK;
   case AGX_ISA_SPACE_TEXTURE:
      return AGXS_CLASS_TEXTURE;
   default:
      return op == AGX_ISA_OP_WAIT      ? AGXS_CLASS_WAIT
             : op == AGX_ISA_OP_BARRIER ? AGXS_CLASS_BARRIER
                                        : AGXS_CLASS_OTHER;
   }
}

/* ---- lines of data ------------------------------------------------------ */

static struct agxs_line *find_line(const struct agxs_line_set *set, uint64_t key)
{
   uint32_t mask = set->capacity - 1, at = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & mask;
   while (set->entries[at].stamp > set->floor && set->entries[at].key != key)
      at = (at + 1) & mask;
   return &set->entries[at];
}

static bool grow_lines(struct agxs_line_set *set)
{
   struct agxs_line_set larger = *set;
   larger.capacity = set->capacity ? set->capacity * 2 : FIRST_LINES;
   larger.entries = larger.capacity ? calloc(larger.capacity, sizeof(*larger.entries)) : NULL;
   if (!larger.entries)
      return false;
   for (uint32_t i = 0; i < set->capacity; i++) {
      if (set->entries[i].stamp > set->floor)
         *find_line(&larger, set->entries[i].key) = set->entries[i];
   }
   free(set->entries);
   *set = larger;
   return true;
}

static void touch(struct agxs_profile *profile, uint64_t key)
{
   struct agxs_line_set *set = &profile->lines;
   if (2 * set->count >= set->capacity && !grow_lines(set)) {
      profile->exhausted = true;
      return;
   }
   struct agxs_line *line = find_line(set, key);
   if (line->stamp == profile->stamp)
      return;
   set->count += line->stamp <= set->floor;
   *line = (struct agxs_line){key, profile->stamp};
   profile->touched++;
}

static void touch_bytes(struct agxs_profile *profile, uint64_t va, uint32_t bytes)
{
   profile->sum.requested_B += bytes;
   for (uint64_t key = va / AGXS_LINE_BYTES; key <= (va + bytes - 1) / AGXS_LINE_BYTES; key++)
      touch(profile, key);
}

void agxs_profile_touch(struct agxs_group *group, uint64_t va, uint32_t bytes)
{
   if (group->worker->profile && bytes)
      touch_bytes(group->worker->profile, va, bytes);
}

static void touch_device(struct agxs_profile *profile, const struct agxs_group *group,
                         const struct agxs_uop *uop, bool is_atomic)
{
   const struct agxs_format *format = &agxs_formats[uop->format];
   unsigned bytes = is_atomic ? 4 : format->bytes;
   /* An atomic and a packed format are one element. */
   unsigned mask = is_atomic || format->channels ? 1 : uop->mask;
   uint64_t va[AGXS_LANES];
   agxs_get_addresses(group, uop, is_atomic ? 2 : agxs_scale_log2(uop, bytes), va);
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < 4 && group->active >> i & 1; e++) {
         if (mask >> e & 1)
            touch_bytes(profile, (va[i] + e * bytes) & ~(uint64_t)(bytes - 1), bytes);
      }
   }
}

/* The stack is interleaved: one word of all lanes of a SIMD-group is a line [A']. */
static void touch_stack(struct agxs_profile *profile, const struct agxs_group *group,
                        const struct agxs_uop *uop)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   uint64_t base = (uint64_t)(group->stack_words - group->stack_pointer) * 4;
   int64_t offset[AGXS_LANES];
   agxs_get_stack_offsets(group, uop, offset);
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < 4 && group->active >> i & 1; e++) {
         uint64_t word = (base + (uint64_t)offset[i] + e * bytes) / 4 % AGXS_MAX_STACK_WORDS;
         if (uop->mask >> e & 1)
            touch(profile, STACK_KEY | (uint64_t)group->index << 32 | word);
      }
   }
}

/* The most different words that one bank has to serve. */
static uint32_t bank_cycles(const struct agxs_group *group, const struct agxs_uop *uop,
                            bool is_atomic)
{
   unsigned bytes = is_atomic ? 4 : agxs_formats[uop->format].bytes;
   unsigned mask = is_atomic ? 1 : uop->mask;
   uint64_t seen[LOCAL_WORDS / 64] = {0};
   uint32_t words[BANKS] = {0}, most = 1;
   struct agxs_row address;
   agxs_get_local_addresses(group, uop, bytes, &address);
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < 4 && group->active >> i & 1; e++) {
         uint32_t word = ((address.lane[i] + e * bytes) & 0xffff) / 4;
         if (!(mask >> e & 1) || seen[word / 64] >> word % 64 & 1)
            continue;
         seen[word / 64] |= 1ull << word % 64;
         words[word % BANKS]++;
         most = AGX_MAX(most, words[word % BANKS]);
      }
   }
   return most;
}

static void count_accesses(struct agxs_profile *profile, const struct agxs_group *group,
                           const struct agxs_uop *uop, enum agx_isa_op op)
{
   switch (class_of(op)) {
   case AGXS_CLASS_LOAD:
   case AGXS_CLASS_STORE:
   case AGXS_CLASS_ATOMIC:
      touch_device(profile, group, uop, op == AGX_ISA_OP_ATOMIC);
      break;
   case AGXS_CLASS_STACK:
      touch_stack(profile, group, uop);
      break;
   case AGXS_CLASS_LOCAL:
      profile->lsu = bank_cycles(group, uop, op == AGX_ISA_OP_LATOMIC);
      break;
   default: /* textures say for themselves what they touch */
      break;
   }
}

/* ---- lines of code ------------------------------------------------------ */

/* Makes a line the latest; true when it was not in the cache but had been before. */
static bool fetch_line(struct agxs_clock *clock, uint32_t line)
{
   uint32_t at = 0;
   while (at < clock->recent_count && clock->recent[at] != line)
      at++;
   bool is_miss = at == clock->recent_count;
   if (is_miss && clock->recent_count < AGXS_CODE_LINES)
      clock->recent_count++;
   else if (is_miss)
      at--; /* the oldest goes */
   memmove(clock->recent + 1, clock->recent, at * sizeof(clock->recent[0]));
   clock->recent[0] = line;
   bool is_again = clock->fetched[line / 64] >> line % 64 & 1;
   clock->fetched[line / 64] |= 1ull << line % 64;
   return is_miss && is_again;
}

/* Cycles of fetching the instruction again. */
static uint32_t fetch_code(struct agxs_profile *profile, struct agxs_clock *clock,
                           struct agxs_code_span span)
{
   uint32_t cycles = 0;
   for (uint32_t line = span.first; line <= span.last; line++) {
      if (line == clock->line)
         continue;
      clock->line = line;
      profile->executed[line / 64] |= 1ull << line % 64;
      if (clock->fetched && fetch_line(clock, line))
         cycles += AGXS_CODE_LINE_COST;
   }
   return cycles;
}

/* ---- the clock ---------------------------------------------------------- */

static uint64_t latest(const struct agxs_clock *clock, const uint64_t *halves, uint64_t at_least)
{
   for (unsigned i = 0; i < 4; i++) {
      for (uint64_t left = halves[i]; left; left &= left - 1)
         at_least = AGX_MAX(at_least, clock->ready[i * 64 + (unsigned)__builtin_ctzll(left)]);
   }
   return at_least;
}

/* Issues the instruction as soon as it can be; returns the cycles that it had to wait. */
static uint64_t advance(struct agxs_clock *clock, const struct agxs_uop *uop,
                        const struct agxs_uop_info *info, const struct agxs_uop_regs *regs)
{
   uint64_t start = latest(clock, regs->reads, clock->now);
   if (info->op == AGX_ISA_OP_WAIT)
      start = AGX_MAX(start, clock->done[uop->group]);
   uint64_t stall = start - clock->now, end = start + info->cost.latency;
   clock->now = start + 1;
   clock->issue++;
   for (unsigned i = 0; i < 4; i++) {
      for (uint64_t left = regs->writes[i]; left; left &= left - 1)
         clock->ready[i * 64 + (unsigned)__builtin_ctzll(left)] = end;
   }
   if (info->async_group)
      clock->done[info->async_group - 1] = AGX_MAX(clock->done[info->async_group - 1], end);
   return stall;
}

static void count_lanes(struct agxs_dispatch_stats *sum, const struct agxs_group *group)
{
   sum->lanes_active += (unsigned)__builtin_popcount(group->active);
   sum->lanes_existing += (unsigned)__builtin_popcount(group->exists);
   sum->partial += group->active && group->active != group->exists;
   sum->empty += !group->active;
}

void agxs_profile_before(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_profile *profile = group->worker->profile;
   uint32_t index = (uint32_t)(uop - group->kernel->uops);
   const struct agxs_uop_info *info = &group->kernel->info[index];
   struct agxs_clock *clock = &profile->clocks[group->index];
   struct agxs_dispatch_stats *sum = &profile->sum;
   struct agxs_spot *spot = &profile->spots[index];
   profile->stamp++;
   profile->touched = profile->lsu = 0;
   if (info->is_link)
      return;
   uint64_t stall = advance(clock, uop, info, &group->kernel->regs[index]);
   uint32_t refetch = fetch_code(profile, clock, profile->spans[index]);
   uint32_t shared = info->cost.shared_pipe ? info->cost.throughput : 0;
   count_lanes(sum, group);
   count_accesses(profile, group, uop, info->op);
   sum->units[uop->unit % AGXS_UNITS]++;
   sum->classes[class_of(info->op)]++;
   sum->counts.issue++;
   sum->counts.stall += stall;
   sum->counts.complex_pipe += shared;
   sum->counts.refetch += refetch;
   sum->waits_met += info->op == AGX_ISA_OP_WAIT && stall;
   sum->wait_stall += info->op == AGX_ISA_OP_WAIT ? stall : 0;
   spot->executed++;
   spot->stall += stall;
   spot->complex_pipe += shared;
   spot->refetch += refetch;
   spot->lanes += (unsigned)__builtin_popcount(group->active);
}

bool agxs_profile_after(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_profile *profile = group->worker->profile;
   uint32_t index = (uint32_t)(uop - group->kernel->uops);
   struct agxs_spot *spot = &profile->spots[index];
   enum agxs_class class_ = class_of(group->kernel->info[index].op);
   bool is_memory = class_ == AGXS_CLASS_LOAD || class_ == AGXS_CLASS_STORE ||
                    class_ == AGXS_CLASS_ATOMIC || class_ == AGXS_CLASS_STACK ||
                    class_ == AGXS_CLASS_TEXTURE;
   if (is_memory)
      profile->lsu = AGXS_DATA_LINE_COST * AGX_MAX(profile->touched, 1u);
   spot->lsu += profile->lsu;
   spot->lines += profile->touched;
   profile->sum.counts.lsu += profile->lsu;
   profile->sum.line_accesses += profile->touched;
   if (!profile->exhausted || group->state == AGXS_GROUP_FAILED)
      return true;
   agxs_group_fail(group, uop, AGX_RESOURCE_EXHAUSTED, "no memory to count cache lines with");
   return false;
}
