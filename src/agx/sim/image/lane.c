/* SPDX-License-Identifier: MIT
 *
 * Reads what one lane of an image instruction names: register values, descriptors from
 * state registers or the heap, coordinates. load.c, store.c and the bounds checks call it.
 * Unpacked descriptors stay in a cache of the worker.
 */
#include "agx/sim/image/image.h"

#include <inttypes.h>
#include <stdlib.h>

#include "agx/sim/machine/lanes.h"
#include "base/util.h"

#define CACHE_ENTRIES 64u

/* Descriptors as they were unpacked, by their bytes. */
struct agxs_image_cache {
   bool has_texture[2][CACHE_ENTRIES]; /* [1]: PBE */
   struct agxs_texture texture[2][CACHE_ENTRIES];
   bool has_sampler[CACHE_ENTRIES];
   uint8_t sampler_bytes[CACHE_ENTRIES][AGXS_SAMPLER_MAX_BYTES];
   struct agxs_sampler sampler[CACHE_ENTRIES];
};

void agxs_image_cache_free(struct agxs_image_cache *cache)
{
   free(cache);
}

bool agxs_lane_begin(struct agxs_image_lane *lane, struct agxs_group *group,
                     const struct agxs_uop *uop)
{
   struct agxs_worker *worker = group->worker;
   if (!worker->images)
      worker->images = calloc(1, sizeof(*worker->images));
   *lane = (struct agxs_image_lane){group, uop, uop->image, worker->images};
   if (lane->cache)
      return true;
   agxs_group_fail(group, uop, AGX_RESOURCE_EXHAUSTED, "out of memory");
   return false;
}

uint32_t agxs_lane_value(const struct agxs_image_lane *lane, const struct agxs_source *source,
                         unsigned element)
{
   return agxs_get_lane(lane->group, source, element, lane->index);
}

/* A 64-bit address in two registers, in this lane. */
static uint64_t address_of(const struct agxs_image_lane *lane, const struct agxs_source *source)
{
   const struct agxs_row *row = agxs_source_row(lane->group, source);
   return row[0].lane[lane->index] | (uint64_t)row[1].lane[lane->index] << 32;
}

bool agxs_lane_fail(const struct agxs_image_lane *lane, const struct agxs_image_error *error)
{
   agxs_group_fail(lane->group, lane->uop, error->status, "lane %u: %s: 0x%" PRIx64, lane->index,
                   error->reason, error->va);
   return false;
}

/* A soft fault: memory that had another use before has such codes until the image is written, and
 * programs may read it. */
bool agxs_lane_note(const struct agxs_image_lane *lane, const struct agxs_texel_notes *notes)
{
   static const char what[] = "a block that is stored compressed, in a way that is not modelled";
   const struct agxs_options *options = lane->group->worker->dispatch->options;
   if (!notes->unknown_va)
      return true;
   if (options->strict || options->check)
      return agxs_lane_fail(lane,
                            &(struct agxs_image_error){AGX_UNIMPLEMENTED, notes->unknown_va, what});
   lane->group->worker->stats.soft_faults++;
   agxs_group_report(lane->group, lane->uop, AGXS_FAULT_SOFT_LOAD, notes->unknown_va, 1,
                     lane->index, what);
   return true;
}

/* The thread's error text, as the instruction's: a descriptor is not modelled, or none. */
static bool fail_with(const struct agxs_image_lane *lane, agx_status status)
{
   char text[160];
   agx_error_text(text, sizeof(text));
   status = status == AGX_UNIMPLEMENTED ? status : AGX_INVALID_ARGUMENT;
   agxs_group_fail(lane->group, lane->uop, status, "%s", text);
   return false;
}

/* For statistics, where they are wanted. */
static void note_touch(void *user, uint64_t va, unsigned bytes)
{
   struct agxs_group *group = user;
   group->worker->image_observer->touch(group, va, bytes);
}

struct agxs_lookup agxs_lane_lookup(const struct agxs_image_lane *lane)
{
   struct agxs_worker *worker = lane->group->worker;
   return (struct agxs_lookup){.tlb = &worker->tlb,
                               .touch = worker->image_observer ? note_touch : NULL,
                               .user = lane->group};
}

static unsigned hash(const uint8_t *bytes, unsigned size)
{
   uint32_t sum = 0;
   for (unsigned i = 0; i + 4 <= size; i += 4)
      sum = (sum ^ agxs_get_le32(bytes + i)) * 0x9e3779b1u;
   return sum >> 26; /* CACHE_ENTRIES */
}

static const struct agxs_texture *unpack_texture(const struct agxs_image_lane *lane,
                                                 const uint8_t *bytes, bool is_pbe)
{
   unsigned at = hash(bytes, AGXS_TEXTURE_BYTES);
   struct agxs_texture *texture = &lane->cache->texture[is_pbe][at];
   bool *has = &lane->cache->has_texture[is_pbe][at];
   if (*has && memcmp(texture->descriptor, bytes, AGXS_TEXTURE_BYTES) == 0)
      return texture;
   agx_status status =
      is_pbe ? agxs_texture_init_pbe(texture, bytes) : agxs_texture_init(texture, bytes);
   *has = status == AGX_OK;
   if (*has)
      return texture;
   fail_with(lane, status);
   return NULL;
}

/* A state register's content, or NULL after failing the group. */
static const uint8_t *find_state(const struct agxs_image_lane *lane, uint32_t index)
{
   const struct agxs_dispatch *dispatch = lane->group->worker->dispatch;
   const struct agxs_states *states = dispatch->states;
   if (index < AGXS_TEXTURE_STATES && states->has_texture[index]) {
      if (!dispatch->options->check || index < states->texture_count)
         return states->texture[index];
      agxs_group_fail(lane->group, lane->uop, AGX_FAILED_PRECONDITION,
                      "check: texture state %u, the launch declares %u", index,
                      states->texture_count);
      return NULL;
   }
   agxs_group_fail(lane->group, lane->uop, AGX_INVALID_ARGUMENT,
                   "nothing was loaded into texture state %u", index);
   return NULL;
}

const struct agxs_texture *agxs_lane_texture(const struct agxs_image_lane *lane, bool is_pbe)
{
   const struct agxs_image_op *op = lane->op;
   uint8_t bytes[AGXS_TEXTURE_BYTES];
   if (op->handle != AGXS_HANDLE_HEAP) {
      bool is_number = op->handle == AGXS_HANDLE_STATE;
      const uint8_t *state =
         find_state(lane, is_number ? op->texture_state : agxs_lane_value(lane, &op->texture, 0));
      return state ? unpack_texture(lane, state, is_pbe) : NULL;
   }
   uint64_t bad_va;
   uint64_t va = address_of(lane, &op->heap) + agxs_lane_value(lane, &op->texture, 0);
   if (agxs_tlb_copy_out(&lane->group->worker->tlb, va, bytes, sizeof(bytes), &bad_va))
      return unpack_texture(lane, bytes, is_pbe);
   agxs_lane_fail(lane,
                  &(struct agxs_image_error){AGX_DATA_LOSS, bad_va, "descriptor is not mapped"});
   return NULL;
}

/* A sampler of the command's heap. source: Mesa 26.2 keeps samplers of 8 bytes there and counts
 * them from 28; what hardware does with fewer or with a register below that is [U]. */
static bool read_heap(const struct agxs_image_lane *lane, uint32_t index,
                      uint8_t bytes[AGX_HW_SAMPLER_BYTES])
{
   const struct agxs_options *options = lane->group->worker->dispatch->options;
   uint64_t bad_va;
   if (index >= options->sampler_count) {
      agxs_group_fail(lane->group, lane->uop, AGX_INVALID_ARGUMENT,
                      "lane %u: sampler %u of a heap of %u", lane->index, index,
                      options->sampler_count);
      return false;
   }
   uint64_t va = options->sampler_heap + (uint64_t)index * AGX_HW_SAMPLER_BYTES;
   return agxs_tlb_copy_out(&lane->group->worker->tlb, va, bytes, AGX_HW_SAMPLER_BYTES, &bad_va) ||
          agxs_lane_fail(
             lane, &(struct agxs_image_error){AGX_DATA_LOSS, bad_va, "sampler is not mapped"});
}

static const struct agxs_sampler *unpack_sampler(const struct agxs_image_lane *lane,
                                                 const uint8_t *bytes, unsigned size)
{
   struct agxs_image_cache *cache = lane->cache;
   unsigned at = hash(bytes, size);
   struct agxs_sampler *sampler = &cache->sampler[at];
   if (cache->has_sampler[at] && sampler->has_border == (size > AGX_HW_SAMPLER_BYTES) &&
       memcmp(cache->sampler_bytes[at], bytes, size) == 0)
      return sampler;
   agx_status status = agxs_sampler_init(sampler, bytes, size);
   memcpy(cache->sampler_bytes[at], bytes, size);
   cache->has_sampler[at] = status == AGX_OK;
   if (status == AGX_OK)
      return sampler;
   fail_with(lane, status);
   return NULL;
}

const struct agxs_sampler *agxs_lane_sampler(const struct agxs_image_lane *lane)
{
   const struct agxs_states *states = lane->group->worker->dispatch->states;
   uint8_t bytes[AGX_HW_SAMPLER_BYTES];
   uint32_t index = lane->op->sampler_state;
   if (lane->op->has_sampler_register) {
      index = agxs_lane_value(lane, &lane->op->sampler, 0) & 0xffff;
      if (index >= AGX_HW_SAMPLER_HEAP_FIRST)
         return read_heap(lane, index - AGX_HW_SAMPLER_HEAP_FIRST, bytes)
                   ? unpack_sampler(lane, bytes, sizeof(bytes))
                   : NULL;
   }
   if (index >= AGXS_SAMPLER_STATES || !states->has_sampler[index]) {
      agxs_group_fail(lane->group, lane->uop, AGX_INVALID_ARGUMENT,
                      "nothing was loaded into sampler state %u", index);
      return NULL;
   }
   return unpack_sampler(lane, states->sampler[index], states->sampler_bytes);
}

static bool is_array(unsigned dim)
{
   return dim == AGX_ISA_DIM_1D_ARRAY || dim == AGX_ISA_DIM_2D_ARRAY ||
          dim == AGX_ISA_DIM_CUBE_ARRAY || dim == AGX_ISA_DIM_2D_MS_ARRAY;
}

void agxs_lane_layer(const struct agxs_image_lane *lane, uint32_t *out_layer, uint32_t *out_sample)
{
   const struct agxs_image_op *op = lane->op;
   unsigned next = op->coord_axes;
   *out_layer = *out_sample = 0;
   if (op->dim == AGX_ISA_DIM_2D_MS || op->dim == AGX_ISA_DIM_2D_MS_ARRAY) {
      uint32_t word = agxs_lane_value(lane, &op->coord, next);
      *out_sample = word & 0xffff;
      if (op->dim == AGX_ISA_DIM_2D_MS_ARRAY)
         *out_layer =
            op->coord.bits == 16 ? agxs_lane_value(lane, &op->coord, next + 1) : word >> 16;
   } else if (is_array(op->dim)) {
      *out_layer = agxs_lane_value(lane, &op->coord, next) & 0xffff;
   }
}

void agxs_lane_position(const struct agxs_image_lane *lane, struct agxs_texel_position *position)
{
   const struct agxs_image_op *op = lane->op;
   *position = (struct agxs_texel_position){0};
   for (unsigned axis = 0; axis < op->coord_axes; axis++) {
      uint32_t value = agxs_lane_value(lane, &op->coord, axis);
      position->at[axis] = op->coord.bits == 16 ? (int16_t)value : (int32_t)value;
   }
   agxs_lane_layer(lane, &position->layer, &position->sample);
   if (op->dim == AGX_ISA_DIM_CUBE || op->dim == AGX_ISA_DIM_CUBE_ARRAY) {
      position->layer = position->layer * 6 + (uint32_t)position->at[2];
      position->at[2] = 0;
   }
}

bool agxs_image_load_state(struct agxs_group *group, const struct agxs_uop *uop, bool is_sampler)
{
   struct agxs_states *states = group->worker->dispatch->states;
   struct agxs_image_lane lane = {group, uop, uop->image};
   uint32_t index = lane.op->texture_state;
   uint64_t bad_va;
   if (!group->active)
      return true;
   if (index >= (is_sampler ? AGXS_SAMPLER_STATES : AGXS_TEXTURE_STATES)) {
      agxs_group_fail(group, uop, AGX_INVALID_ARGUMENT, "there is no such state register");
      return false;
   }
   lane.index = (unsigned)__builtin_ctz(group->active);
   uint64_t va = address_of(&lane, &lane.op->heap);
   va += lane.op->has_texture_register ? agxs_lane_value(&lane, &lane.op->texture, 0)
                                       : lane.op->heap_offset;
   uint8_t *to = is_sampler ? states->sampler[index] : states->texture[index];
   if (!agxs_tlb_copy_out(&group->worker->tlb, va, to,
                          is_sampler ? states->sampler_bytes : AGXS_TEXTURE_BYTES, &bad_va))
      return agxs_lane_fail(
         &lane, &(struct agxs_image_error){AGX_DATA_LOSS, bad_va, "descriptor is not mapped"});
   *(is_sampler ? &states->has_sampler[index] : &states->has_texture[index]) = true;
   return true;
}
