/* SPDX-License-Identifier: MIT
 *
 * Finds the bytes of an element of an image: through the page table of a sparse image, and by the
 * metadata of a compressed one, which says of each part of 8x4 samples how it is stored. sample.c
 * calls it for every texel. source: docs/hw/layouts.md 6
 */
#include <pthread.h>

#include "agx/sim/image/image.h"
#include "base/util.h"

/* What a byte of metadata says of its part. */
enum part_kind {
   PART_PLAIN,
   PART_SOLID, /* one colour, which lies at the start of the tile of 16x16 samples */
   PART_UNWRITTEN,
   PART_UNKNOWN, /* [U] */
};

static const uint8_t zeros[AGXS_TEXEL_MAX_BYTES];

static uint32_t sample_bytes(const struct agxs_texture *texture)
{
   return texture->layout.element_B / texture->layout.samples;
}

/* The bytes of a part less 1, as far as a byte holds them. */
static uint8_t plain_code(uint32_t sample_B)
{
   return sample_B >= 8 ? 0xff : sample_B == 4 ? 0x7f : sample_B == 2 ? 0x3f : 0x1f;
}

static uint8_t solid_code(uint32_t sample_B)
{
   return sample_B >= 8 ? 0x07 : sample_B == 4 ? 0x03 : sample_B == 2 ? 0x01 : 0x60;
}

static enum part_kind kind_of(const struct agxs_texture *texture, uint8_t code)
{
   uint32_t sample_B = sample_bytes(texture);
   if (code == plain_code(sample_B))
      return PART_PLAIN;
   if (code == solid_code(sample_B))
      return PART_SOLID;
   return code ? PART_UNKNOWN : PART_UNWRITTEN;
}

/* Samples of a texel lie side by side and below each other. */
static uint32_t samples_across(const struct agxs_texture *texture)
{
   return texture->layout.samples == 4 ? 2 : 1;
}

static uint32_t samples_down(const struct agxs_texture *texture)
{
   return texture->layout.samples >= 2 ? 2 : 1;
}

/* Which of the eight parts of its tile a sample is in: they follow the order of the tile's samples
 * in memory. [U] */
static unsigned part_of(const struct agxs_texture *texture, const struct agxs_texel_place *place)
{
   uint32_t across = samples_across(texture);
   uint32_t x = place->x * across + place->sample % across;
   uint32_t y = place->y * samples_down(texture) + place->sample / across;
   return (y >> 2 & 1) | (x >> 3 & 1) << 1 | (y >> 3 & 1) << 2;
}

/* The first sample of the tile around one. */
static struct agxs_texel_place tile_start(const struct agxs_texture *texture,
                                          const struct agxs_texel_place *place)
{
   struct agxs_texel_place start = *place;
   start.x &= ~(AGX_LAYOUT_META_TILE / samples_across(texture) - 1);
   start.y &= ~(AGX_LAYOUT_META_TILE / samples_down(texture) - 1);
   start.sample = 0;
   return start;
}

static bool has_metadata(const struct agxs_texture *texture, const struct agxs_texel_place *place)
{
   return place->level < texture->layout.meta_level_count;
}

/* The eight bytes of the tile's parts. NULL: not mapped so. */
static uint8_t *find_metadata(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                              const struct agxs_texel_place *place, enum agxs_access access,
                              struct agxs_image_error *error)
{
   uint64_t va = texture->address + agx_layout_meta_offset(&texture->layout, place->level,
                                                           place->layer, place->x, place->y);
   *error = (struct agxs_image_error){AGX_DATA_LOSS, va, "compression metadata is not mapped so"};
   return access == AGXS_READ ? agxs_tlb_find_texture(tlb, va) : agxs_tlb_find(tlb, va, access);
}

/* The address of an element's bytes. An entry that is not enabled is a page that is not there. */
static bool find_address(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                         const struct agxs_texel_place *place, uint64_t *out_va,
                         bool *out_is_absent, struct agxs_image_error *error)
{
   const struct agx_layout *layout = &texture->layout;
   uint64_t at =
      agx_layout_offset(layout, place->level, place->layer, place->x, place->y, place->sample);
   *out_is_absent = false;
   *out_va = texture->address + at;
   if (!texture->is_sparse)
      return true;
   at -= place->layer * layout->layer_stride_B;
   uint64_t entry_va = texture->address + agx_layout_sparse_offset(layout, place->layer, at);
   *error = (struct agxs_image_error){AGX_DATA_LOSS, entry_va,
                                      "a sparse image's page table is not mapped"};
   const uint8_t *bytes = agxs_tlb_find_texture(tlb, entry_va);
   struct agx_hw_sparse_block entry;
   if (!bytes)
      return false;
   error->status = agx_hw_sparse_block_unpack(bytes, &entry);
   error->reason = "an entry of a sparse image's page table has bits that are not known";
   *out_is_absent = !entry.enabled;
   *out_va = entry.enabled ? entry.address + at % AGX_PAGE_BYTES : entry_va;
   return error->status == AGX_OK;
}

static bool is_emulated(const struct agxs_texture *texture, struct agxs_image_error *error)
{
   *error = (struct agxs_image_error){AGX_UNIMPLEMENTED, texture->address,
                                      "texels of 12 bytes are not the texture unit's"};
   return texture->format.bytes == AGXS_TEXEL_EMULATED_BYTES;
}

/* Zeros where there is no memory. */
static const uint8_t *read_plain(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                                 const struct agxs_texel_place *place,
                                 struct agxs_texel_notes *notes, struct agxs_image_error *error)
{
   uint64_t va;
   bool is_absent;
   if (!find_address(texture, tlb, place, &va, &is_absent, error))
      return NULL;
   *error = (struct agxs_image_error){AGX_DATA_LOSS, va, "a texel is not mapped so"};
   notes->is_absent |= is_absent;
   return is_absent ? zeros : agxs_tlb_find_texture(tlb, va);
}

const uint8_t *agxs_texture_read(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                                 const struct agxs_texel_place *place,
                                 struct agxs_texel_notes *notes, struct agxs_image_error *error)
{
   struct agxs_texel_place start;
   if (is_emulated(texture, error))
      return NULL;
   if (!has_metadata(texture, place))
      return read_plain(texture, tlb, place, notes, error);
   const uint8_t *meta = find_metadata(texture, tlb, place, AGXS_READ, error);
   if (!meta)
      return NULL;
   switch (kind_of(texture, __atomic_load_n(meta + part_of(texture, place), __ATOMIC_ACQUIRE))) {
   case PART_PLAIN:
      return read_plain(texture, tlb, place, notes, error);
   case PART_SOLID:
      start = tile_start(texture, place);
      return read_plain(texture, tlb, &start, notes, error);
   case PART_UNKNOWN:
      notes->unknown_va = error->va + part_of(texture, place);
      return zeros;
   case PART_UNWRITTEN:
      break;
   }
   return zeros;
}

static uint8_t *write_plain(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                            const struct agxs_texel_place *place, struct agxs_image_error *error)
{
   uint64_t va;
   bool is_absent;
   if (!find_address(texture, tlb, place, &va, &is_absent, error))
      return NULL;
   *error =
      (struct agxs_image_error){is_absent ? AGX_OK : AGX_DATA_LOSS, va, "a texel is not mapped so"};
   return is_absent ? NULL : agxs_tlb_find(tlb, va, AGXS_WRITE);
}

/* Writes a sample of a part that is not stored plainly as if it were. */
static bool expand_sample(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                          const struct agxs_texel_place *place, uint8_t code,
                          const uint8_t colour[AGXS_TEXEL_MAX_BYTES],
                          struct agxs_image_error *error)
{
   enum part_kind kind = kind_of(texture, code);
   if (kind == PART_PLAIN)
      return true;
   uint8_t *bytes = write_plain(texture, tlb, place, error);
   if (bytes)
      memcpy(bytes, kind == PART_SOLID ? colour : zeros, sample_bytes(texture));
   return bytes || error->status == AGX_OK;
}

/* The tile's samples inside of the level. The colour lies where the first sample will. */
static bool expand_tile(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                        const struct agxs_texel_place *place,
                        const uint8_t codes[AGX_LAYOUT_META_TILE_B], struct agxs_image_error *error)
{
   const struct agx_layout *layout = &texture->layout;
   uint8_t colour[AGXS_TEXEL_MAX_BYTES];
   struct agxs_texel_notes none = {0};
   struct agxs_texel_place start = tile_start(texture, place), at = start;
   const uint8_t *bytes = read_plain(texture, tlb, &start, &none, error);
   if (!bytes)
      return false;
   memcpy(colour, bytes, sample_bytes(texture));
   uint32_t width = AGX_MAX(layout->width >> place->level, 1u);
   uint32_t height = AGX_MAX(layout->height >> place->level, 1u);
   uint32_t end_x = AGX_MIN(start.x + AGX_LAYOUT_META_TILE / samples_across(texture), width);
   uint32_t end_y = AGX_MIN(start.y + AGX_LAYOUT_META_TILE / samples_down(texture), height);
   for (at.y = start.y; at.y < end_y; at.y++)
      for (at.x = start.x; at.x < end_x; at.x++)
         for (at.sample = 0; at.sample < layout->samples; at.sample++)
            if (!expand_sample(texture, tlb, &at, codes[part_of(texture, &at)], colour, error))
               return false;
   return true;
}

static void set_codes(uint8_t *meta, uint8_t code)
{
   for (unsigned i = 0; i < AGX_LAYOUT_META_TILE_B; i++)
      __atomic_store_n(meta + i, code, __ATOMIC_RELEASE);
}

/* Other workers may store to the same tile: one of them expands it. */
static bool make_plain(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                       const struct agxs_texel_place *place, struct agxs_texel_notes *notes,
                       struct agxs_image_error *error)
{
   static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
   uint8_t plain = plain_code(sample_bytes(texture)), codes[AGX_LAYOUT_META_TILE_B];
   uint8_t *meta = find_metadata(texture, tlb, place, AGXS_WRITE, error);
   if (!meta)
      return false;
   uint64_t va = error->va;
   if (__atomic_load_n(meta + part_of(texture, place), __ATOMIC_ACQUIRE) == plain)
      return true;
   pthread_mutex_lock(&lock);
   for (unsigned i = 0; i < AGX_LAYOUT_META_TILE_B; i++) {
      codes[i] = __atomic_load_n(meta + i, __ATOMIC_RELAXED);
      if (kind_of(texture, codes[i]) == PART_UNKNOWN)
         notes->unknown_va = va + i;
   }
   bool done = expand_tile(texture, tlb, place, codes, error);
   if (done)
      set_codes(meta, plain);
   pthread_mutex_unlock(&lock);
   return done;
}

uint8_t *agxs_texture_write(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                            const struct agxs_texel_place *place, struct agxs_texel_notes *notes,
                            struct agxs_image_error *error)
{
   if (is_emulated(texture, error))
      return NULL;
   if (has_metadata(texture, place) && !make_plain(texture, tlb, place, notes, error))
      return NULL;
   return write_plain(texture, tlb, place, error);
}

bool agxs_texture_set_plain(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                            const struct agxs_texel_place *place, struct agxs_image_error *error)
{
   if (!has_metadata(texture, place))
      return true;
   uint8_t *meta = find_metadata(texture, tlb, place, AGXS_WRITE, error);
   if (meta)
      set_codes(meta, plain_code(sample_bytes(texture)));
   return meta != NULL;
}
