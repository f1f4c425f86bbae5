/* SPDX-License-Identifier: MIT
 *
 * Cutting a stream into commands. The kernel times commands and nothing smaller, so what is to be
 * timed alone has to be a command of its own. The launches are read back from the stream, which
 * is what the GPU would run, and written to one that belongs to the entry; all that they refer to
 * stays where it is.
 */
#include <string.h>

#include "agx/hw/decode.h"
#include "base/util.h"
#include "hal/profile/profile_session.h"

#define STREAM_ALIGN 1024u
#define PREFETCH_B   2048u /* mapped bytes that must lie behind a stream */
#define FIRST_ROOM   64u

/* A launch, and whether a barrier stands before it. */
struct piece {
   struct agx_hw_launch launch;
   bool is_ordered;
};

struct reading {
   struct agx_device *device;
   struct piece *pieces;
   uint32_t count, capacity;
   bool met_barrier;
   /* The buffer that was read last, copied page by page. */
   uint64_t page_va;
   uint8_t page[4096];
};

/* Pages of the host's least size, so that a page lies in one buffer. */
static bool read_memory(void *user, uint64_t va, void *out, size_t size)
{
   struct reading *reading = user;
   uint64_t page_va = va & ~(uint64_t)(sizeof(reading->page) - 1);
   if (!agx_range_fits(va - page_va, size, sizeof(reading->page)))
      return agxw_device_read(agx_context_of(reading->device)->winsys, va, out, size);
   if (reading->page_va != page_va) {
      reading->page_va = 0;
      if (!agxw_device_read(agx_context_of(reading->device)->winsys, page_va, reading->page,
                            sizeof(reading->page)))
         return false;
      reading->page_va = page_va;
   }
   memcpy(out, reading->page + (va - page_va), size);
   return true;
}

static agx_status see_packet(void *user, const struct agx_hw_packet *packet, uint64_t va,
                             const void *values)
{
   struct reading *reading = user;
   reading->met_barrier |= packet == &agx_hw_cdm_barrier_packet;
   return AGX_OK;
}

static agx_status grow(struct reading *reading)
{
   const struct agx_host_alloc *alloc = agx_context_of(reading->device)->alloc;
   size_t bytes = sizeof(reading->pieces[0]);
   uint32_t capacity = reading->capacity ? 2 * reading->capacity : FIRST_ROOM;
   struct piece *larger = agx_host_zalloc(alloc, capacity * bytes);
   if (!larger)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "submit: no host memory to profile %u dispatches",
                      reading->count);
   if (reading->pieces) {
      memcpy(larger, reading->pieces, reading->count * bytes);
      agx_host_free(alloc, reading->pieces, reading->capacity * bytes);
   }
   reading->pieces = larger;
   reading->capacity = capacity;
   return AGX_OK;
}

static agx_status see_launch(void *user, const struct agx_hw_launch *launch,
                             const struct agx_hw_usc_info *program)
{
   struct reading *reading = user;
   if (reading->count == reading->capacity)
      AGX_TRY(grow(reading));
   reading->pieces[reading->count++] = (struct piece){*launch, reading->met_barrier};
   reading->met_barrier = false;
   return AGX_OK;
}

/* ---- spans ---------------------------------------------------------------- */

static uint32_t count_groups(const struct reading *reading, uint32_t dispatches)
{
   uint32_t groups = dispatches > 0;
   for (uint32_t i = 1; i < dispatches; i++)
      groups += reading->pieces[i].is_ordered;
   return groups;
}

/* Spans of `group` consecutive units each, which are dispatches, or what stands between barriers.
 */
static void plan(struct agx_profile_entry *entry, const struct reading *reading,
                 uint32_t dispatches, bool keeps_overlap, uint32_t limit)
{
   uint32_t units = keeps_overlap ? count_groups(reading, dispatches) : dispatches;
   uint32_t group = (uint32_t)agx_div_up(units, AGX_MAX(limit, 1u)), unit = 0;
   entry->span_count = 0;
   for (uint32_t i = 0; i < dispatches; i++) {
      bool is_new = i == 0 || !keeps_overlap || reading->pieces[i].is_ordered;
      if (is_new && unit++ % group == 0)
         entry->spans[entry->span_count++] = (struct agx_profile_span){.first = i};
      entry->spans[entry->span_count - 1].count++;
   }
}

/* ---- writing -------------------------------------------------------------- */

struct writing {
   struct agx_hw_buffer bytes;
   uint64_t va;
   const struct agx_chip *chip;
};

static agx_status write_command(struct writing *to, const struct piece *pieces, uint32_t count,
                                struct agxw_compute *out_command)
{
   to->bytes.used = agx_align_up(to->bytes.used, STREAM_ALIGN);
   *out_command = (struct agxw_compute){.stream_va = to->va + to->bytes.used};
   for (uint32_t i = 0; i < count; i++) {
      if (i > 0 && pieces[i].is_ordered)
         AGX_TRY(agx_hw_cdm_barrier(&to->bytes));
      AGX_TRY(agx_hw_cdm_launch(&to->bytes, to->chip, &pieces[i].launch));
   }
   AGX_TRY(agx_hw_cdm_barrier(&to->bytes));
   out_command->stream_end_va = to->va + to->bytes.used;
   return agx_hw_cdm_terminate(&to->bytes);
}

static agx_status make_stream(struct agx_profile_entry *entry, uint64_t bytes, struct writing *out)
{
   struct agxw_device *winsys = agx_context_of(entry->profile->device)->winsys;
   void *memory = NULL;
   if (entry->stream && agxw_bo_size(entry->stream) < bytes) {
      agxw_bo_destroy(entry->stream);
      entry->stream = NULL;
   }
   if (!entry->stream)
      AGX_TRY(
         agxw_bo_create(winsys, bytes, 0, AGXW_BO_READ_ONLY, "profiled stream", &entry->stream));
   AGX_TRY(agxw_bo_map(entry->stream, &memory));
   *out = (struct writing){
      {memory, bytes, 0}, agxw_bo_va(entry->stream), agxw_device_info(winsys)->chip};
   return AGX_OK;
}

/* Zeros where the GPU reads them from memory. */
static void count_workgroups(const struct agx_hw_launch *launch, uint32_t out_workgroups[3])
{
   bool is_direct = launch->mode == AGX_HW_CDM_MODE_DIRECT;
   for (unsigned i = 0; i < 3; i++)
      out_workgroups[i] =
         is_direct ? (uint32_t)agx_div_up(launch->global[i], AGX_MAX(launch->local[i], 1u)) : 0;
}

/* A command for each span, and one for the launches behind the dispatches. */
static agx_status write_commands(struct agx_profile_entry *entry, const struct reading *reading,
                                 uint32_t dispatches)
{
   struct writing to;
   uint64_t each = AGX_HW_CDM_LAUNCH_MAX_BYTES + AGX_HW_CDM_BARRIER_BYTES;
   uint64_t around = AGX_HW_CDM_BARRIER_BYTES + AGX_HW_CDM_STREAM_TERMINATE_BYTES + STREAM_ALIGN;
   AGX_TRY(make_stream(entry, reading->count * each + (entry->span_count + 1) * around + PREFETCH_B,
                       &to));
   for (uint32_t i = 0; i < dispatches; i++)
      count_workgroups(&reading->pieces[i].launch, entry->dispatches[i].workgroups);
   for (uint32_t i = 0; i < entry->span_count; i++) {
      struct agx_profile_span *span = &entry->spans[i];
      AGX_TRY(write_command(&to, reading->pieces + span->first, span->count, &entry->commands[i]));
      span->stream_va = entry->commands[i].stream_va;
   }
   entry->command_count = entry->span_count;
   if (reading->count == dispatches)
      return AGX_OK;
   return write_command(&to, reading->pieces + dispatches, reading->count - dispatches,
                        &entry->commands[entry->command_count++]);
}

static agx_status split(struct agx_profile_entry *entry, struct reading *reading,
                        const struct agxw_compute *stream)
{
   const struct agxw_device_info *info = agxw_device_info(agx_context_of(reading->device)->winsys);
   const struct agx_hw_reader reader = {reading, read_memory};
   const struct agx_hw_visitor visitor = {
      .user = reading, .packet = see_packet, .launch = see_launch};
   AGX_TRY(agx_hw_walk_cdm(info->chip, &reader, info->usc_base, stream->stream_va, &visitor));
   uint32_t dispatches = AGX_MIN(entry->dispatch_count, reading->count);
   uint32_t limit = AGX_MIN(info->max_commands, AGX_PROFILE_MAX_COMMANDS);
   bool is_alone = !(entry->profile->flags & AGX_PROFILE_KEEP_OVERLAP) &&
                   entry->profile->families & AGX_PROFILE_DISPATCH;
   plan(entry, reading, dispatches, !is_alone, limit - 1); /* one is left for the last launch */
   return write_commands(entry, reading, dispatches);
}

agx_status agx_profile_split(struct agx_profile_entry *entry, const struct agxw_compute *stream)
{
   const struct agx_host_alloc *alloc = agx_context_of(entry->profile->device)->alloc;
   struct reading *reading = agx_host_zalloc(alloc, sizeof(*reading));
   if (!reading)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "submit: no host memory to profile it");
   reading->device = entry->profile->device;
   agx_status status = split(entry, reading, stream);
   if (reading->pieces)
      agx_host_free(alloc, reading->pieces, reading->capacity * sizeof(reading->pieces[0]));
   agx_host_free(alloc, reading, sizeof(*reading));
   return status;
}
