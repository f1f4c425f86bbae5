/* SPDX-License-Identifier: MIT
 *
 * Check mode: what real hardware leaves undefined becomes an error. A register
 * that an unfinished load will write must not be touched before a wait; at most
 * eight operations may be outstanding in a group; barriers need both groups
 * empty; a discarded source is poisoned. Source: docs/hw/machine.md 2 and 6.
 *
 * Bounds: functions that stand before those that access memory, and compare what they access
 * with the launch's ranges.
 */
#include "agx/sim/check/check.h"

#include "agx/sim/check/shadow.h"
#include "agx/sim/image/image.h"
#include "agx/sim/machine/exec_set.h"
#include "agx/sim/machine/lanes.h"
#include "agx/sim/memory/memory.h"

#define MAX_OUTSTANDING 8u

/* The first half of a set, or -1. */
static int first_half(const uint64_t *a, const uint64_t *b)
{
   for (int i = 0; i < 4; i++) {
      if (a[i] & b[i])
         return i * 64 + __builtin_ctzll(a[i] & b[i]);
   }
   return -1;
}

static bool check_pending(struct agxs_group *group, const struct agxs_uop *uop,
                          const struct agxs_uop_regs *regs)
{
   for (unsigned g = 0; g < 2; g++) {
      int read = first_half(regs->reads, group->pending[g]);
      int half = read >= 0 ? read : first_half(regs->writes, group->pending[g]);
      if (half < 0)
         continue;
      agxs_group_fail(group, uop, AGX_FAILED_PRECONDITION,
                      "check: r%d%c is %s while an operation of group %c will write it", half / 2,
                      half & 1 ? 'h' : 'l', read >= 0 ? "read" : "written", 'a' + (char)g);
      return false;
   }
   return true;
}

/* A barrier orders what is outstanding only once it is done. Image barriers order writes: known
 * compilers emit them while a load is outstanding. */
static bool must_have_waited(const struct agxs_group *group, const struct agxs_uop *uop)
{
   uint32_t all = group->outstanding[0] + group->outstanding[1];
   uint32_t loads = group->outstanding_loads[0] + group->outstanding_loads[1];
   if (uop->exec_index == AGXS_X_barrier)
      return all;
   if (uop->exec_index != AGXS_X_membar)
      return false;
   bool is_image = uop->mode == AGXS_MEMBAR_RELEASE || uop->mode == AGXS_MEMBAR_ACQUIRE;
   return is_image ? all > loads : all;
}

bool agxs_check_before(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_kernel *kernel = group->kernel;
   uint32_t index = (uint32_t)(uop - kernel->uops);
   uint8_t async_group = kernel->info[index].async_group;
   if (must_have_waited(group, uop)) {
      agxs_group_fail(group, uop, AGX_FAILED_PRECONDITION,
                      "check: %u operations of group a and %u of b are outstanding",
                      group->outstanding[0], group->outstanding[1]);
      return false;
   }
   if (uop->exec_index == AGXS_X_wait) {
      memset(group->pending[uop->group], 0, sizeof(group->pending[0]));
      group->outstanding[uop->group] = group->outstanding_loads[uop->group] = 0;
   }
   if (!check_pending(group, uop, &kernel->regs[index]))
      return false;
   if (async_group && group->outstanding[async_group - 1] == MAX_OUTSTANDING) {
      agxs_group_fail(group, uop, AGX_FAILED_PRECONDITION,
                      "check: a ninth operation outstanding in group %c", 'a' + async_group - 1);
      return false;
   }
   return agxs_shadow_before(group, uop);
}

void agxs_check_after(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_kernel *kernel = group->kernel;
   uint32_t index = (uint32_t)(uop - kernel->uops);
   const struct agxs_uop_regs *regs = &kernel->regs[index];
   uint8_t async_group = kernel->info[index].async_group;
   if (group->state == AGXS_GROUP_FAILED)
      return;
   if (async_group) {
      group->outstanding[async_group - 1]++;
      group->outstanding_loads[async_group - 1] +=
         regs->writes[0] || regs->writes[1] || regs->writes[2] || regs->writes[3];
      for (unsigned i = 0; i < 4; i++)
         group->pending[async_group - 1][i] |= regs->writes[i];
   }
   agxs_shadow_after(group, uop);
}

/* ---- bounds ------------------------------------------------------------- */

/* Device memory is watched element by element, as it is accessed; of an image the whole memory
 * that its descriptor names (of linear ones at least the texel), since the texture unit keeps
 * inside of that by itself. */

void agxs_bounds_select(const struct agxs_options *options, struct agxs_dispatch *dispatch)
{
   uint32_t low = 0, high = options->range_count;
   while (low < high) { /* the first of the launch, or of a later one */
      uint32_t middle = low + (high - low) / 2;
      if (options->ranges[middle].dispatch < dispatch->index)
         low = middle + 1;
      else
         high = middle;
   }
   uint32_t end = low;
   while (end < options->range_count && options->ranges[end].dispatch == dispatch->index)
      end++;
   dispatch->ranges = end > low ? options->ranges + low : NULL;
   dispatch->range_count = end - low;
}

static bool holds(const struct agxs_range *range, uint64_t va, uint64_t bytes, unsigned access)
{
   return va >= range->va && bytes <= range->bytes && va - range->va <= range->bytes - bytes &&
          (range->access & access) == access;
}

/* *hint: where the last one was found. */
static bool is_allowed(const struct agxs_dispatch *dispatch, uint64_t va, uint64_t bytes,
                       unsigned access, uint32_t *hint)
{
   if (*hint < dispatch->range_count && holds(&dispatch->ranges[*hint], va, bytes, access))
      return true;
   for (uint32_t i = 0; i < dispatch->range_count; i++) {
      if (holds(&dispatch->ranges[i], va, bytes, access)) {
         *hint = i;
         return true;
      }
   }
   return false;
}

static void note(struct agxs_group *group, const struct agxs_uop *uop, uint64_t va, uint64_t bytes,
                 unsigned lane, const char *what)
{
   group->worker->stats.outside++;
   agxs_group_report(group, uop, AGXS_FAULT_BOUNDS, va, bytes, lane, what);
}

/* Each element of each active lane. */
static void watch(struct agxs_group *group, const struct agxs_uop *uop, unsigned access,
                  const char *what)
{
   const bool is_atomic = uop->exec_index == AGXS_X_atomic;
   const struct agxs_format *format = &agxs_formats[uop->format];
   const unsigned bytes = is_atomic ? 4 : format->bytes;
   /* An atomic and a packed format are one element. */
   const unsigned mask = is_atomic || format->channels ? 1 : uop->mask;
   uint64_t va[AGXS_LANES];
   uint32_t hint = 0;
   agxs_get_addresses(group, uop, is_atomic ? 2 : agxs_scale_log2(uop, bytes), va);
   for (uint32_t left = group->active; left; left &= left - 1) {
      unsigned lane = (unsigned)__builtin_ctz(left);
      for (unsigned e = 0; e < 4; e++) {
         uint64_t at = (va[lane] + e * bytes) & ~(uint64_t)(bytes - 1);
         if (mask >> e & 1 && !is_allowed(group->worker->dispatch, at, bytes, access, &hint))
            note(group, uop, at, bytes, lane, what);
      }
   }
}

/* Of a linear image only the texel, where that is known: code itself keeps inside of rows that
 * are longer than what they describe. */
static bool is_texel_allowed(const struct agxs_image_lane *lane, const struct agxs_texture *texture,
                             unsigned access, uint32_t *hint)
{
   const struct agxs_image_op *op = lane->op;
   const struct agx_layout *layout = &texture->layout;
   struct agxs_texel_position at;
   bool is_texel = access == AGXS_WRITE || !op->is_float;
   if (layout->tiling != AGX_LAYOUT_LINEAR || texture->is_sparse || !is_texel || op->has_offset ||
       op->coord_axes != 2 || texture->dimension != AGX_HW_TEXTURE_DIMENSION_2D)
      return false;
   agxs_lane_position(lane, &at);
   if (at.at[0] < 0 || at.at[1] < 0 || at.at[0] >= layout->width || at.at[1] >= layout->height)
      return true;
   uint64_t va =
      texture->address + agx_layout_offset(layout, 0, 0, (uint32_t)at.at[0], (uint32_t)at.at[1], 0);
   return is_allowed(lane->group->worker->dispatch, va, layout->element_B, access, hint);
}

/* False: the group has failed. */
static bool watch_image(struct agxs_group *group, const struct agxs_uop *uop, unsigned access,
                        const char *what)
{
   uint32_t hint = 0;
   for (uint32_t left = group->active; left; left &= left - 1) {
      struct agxs_image_lane lane;
      if (!agxs_lane_begin(&lane, group, uop))
         return false;
      lane.index = (unsigned)__builtin_ctz(left);
      const struct agxs_texture *texture = agxs_lane_texture(&lane, access == AGXS_WRITE);
      if (!texture)
         return false;
      /* A sparse image's address is that of its page table, which is only read. */
      uint64_t bytes =
         texture->is_sparse ? agx_layout_sparse_size(&texture->layout) : texture->layout.size_B;
      if (!is_allowed(group->worker->dispatch, texture->address, bytes,
                      texture->is_sparse ? AGXS_READ : access, &hint) &&
          !is_texel_allowed(&lane, texture, access, &hint))
         note(group, uop, texture->address, bytes, lane.index, what);
   }
   return true;
}

static const struct agxs_uop *go_on(struct agxs_group *group, const struct agxs_uop *uop)
{
   return group->worker->dispatch->inner_set->exec[uop->exec_index](group, uop);
}

static const struct agxs_uop *load(struct agxs_group *group, const struct agxs_uop *uop)
{
   watch(group, uop, AGXS_READ, "load");
   return go_on(group, uop);
}

static const struct agxs_uop *store(struct agxs_group *group, const struct agxs_uop *uop)
{
   watch(group, uop, AGXS_WRITE, "store");
   return go_on(group, uop);
}

static const struct agxs_uop *atomic(struct agxs_group *group, const struct agxs_uop *uop)
{
   watch(group, uop, AGXS_READ | AGXS_WRITE, "atomic");
   return go_on(group, uop);
}

static const struct agxs_uop *sample(struct agxs_group *group, const struct agxs_uop *uop)
{
   return watch_image(group, uop, AGXS_READ, "texture") ? go_on(group, uop) : NULL;
}

static const struct agxs_uop *image_write(struct agxs_group *group, const struct agxs_uop *uop)
{
   return watch_image(group, uop, AGXS_WRITE, "image store") ? go_on(group, uop) : NULL;
}

void agxs_bounds_exec_set(const struct agxs_exec_set *base, struct agxs_exec_set *out_set)
{
   *out_set = *base;
   out_set->name = "bounds";
   out_set->exec[AGXS_X_load] = load;
   out_set->exec[AGXS_X_store] = store;
   out_set->exec[AGXS_X_atomic] = atomic;
   out_set->exec[AGXS_X_sample] = sample;
   out_set->exec[AGXS_X_image_write] = image_write;
   out_set->exec[AGXS_X_image_write_block] = image_write;
}
