/* SPDX-License-Identifier: MIT
 *
 * A page of tags is two buffers: the words that the host reads, and in the USC window the code,
 * followed by the launch words of each slot and the one uniform that they load.
 */
#include "hal/tag.h"

#include <string.h>

#include "agx/hw/usc.h"
#include "agx/isa/isa.h"
#include "base/util.h"
#include "hal/device.h"

#define SLOT_B    64u /* a cache line of the host, and what launch words are aligned to */
#define ADDRESS_B 40u /* in a slot of the USC window: where its uniform lies */
#define CODE_B    256u
#define SLOTS     (AGX_PAGE_BYTES / SLOT_B)
#define FIRST     (CODE_B / SLOT_B) /* before it is the code */
#define TRAPS     8u

struct agx_tag_page {
   struct agx_tag_page *next;
   struct agxw_bo *counts; /* cached: the host reads them */
   struct agxw_bo *words;
   uint8_t *memory; /* of counts */
   uint64_t taken[SLOTS / 64];
};

/* Source: reference/isa: the coherency of atomics differs by chip. */
static const char *const code_single[] = {
   "mov d=r1 a=1",
   "atomic r=none s=r1 base=du0 index=0 op=add coherency=coherent1 group=a",
   "stop",
};
static const char *const code_clusters[] = {
   "mov d=r1 a=1",
   "atomic r=none s=r1 base=du0 index=0 op=add coherency=coherent group=a",
   "stop",
};

static agx_status append(uint8_t *code, size_t *used, const char *text)
{
   struct agx_isa_instr instr;
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   size_t length = 0;
   AGX_TRY(agx_isa_parse(text, strlen(text), &instr));
   AGX_TRY(agx_isa_encode(&instr, bytes, &length));
   agx_assert(*used + length <= CODE_B);
   memcpy(code + *used, bytes, length);
   *used += length;
   return AGX_OK;
}

static agx_status write_code(const struct agx_chip *chip, uint8_t *out)
{
   const char *const *code = chip->atomic_coherency_3 ? code_clusters : code_single;
   size_t used = 0;
   for (unsigned i = 0; i < AGX_COUNT(code_single); i++)
      AGX_TRY(append(out, &used, code[i]));
   for (unsigned i = 0; i < TRAPS; i++)
      AGX_TRY(append(out, &used, "trap"));
   return AGX_OK;
}

static agx_status write_slot(const struct agxw_device_info *info, const struct agx_tag_page *page,
                             uint32_t slot, uint8_t *out)
{
   const uint64_t words_va = agxw_bo_va(page->words), slot_va = words_va + slot * SLOT_B;
   const uint64_t count_va = agxw_bo_va(page->counts) + slot * SLOT_B;
   const struct agx_hw_usc_program program = {
      .code_offset = (uint32_t)(words_va - info->usc_base),
      .gpr_halves = 4,
   };
   struct agx_hw_buffer words = {out, ADDRESS_B, 0};
   AGX_TRY(agx_hw_usc_uniforms(&words, 0, 4, slot_va + ADDRESS_B));
   AGX_TRY(agx_hw_usc_compute(&words, &program));
   memcpy(out + ADDRESS_B, &count_va, sizeof(count_va)); /* hosts are little-endian */
   return AGX_OK;
}

static agx_status fill_page(struct agx_device *device, struct agx_tag_page *page)
{
   const struct agxw_device_info *info = agxw_device_info(device->winsys);
   void *memory, *words;
   AGX_TRY(
      agxw_bo_create(device->winsys, AGX_PAGE_BYTES, 0, AGXW_BO_CACHED, "tags", &page->counts));
   AGX_TRY(agxw_bo_create(device->winsys, AGX_PAGE_BYTES, 0, AGXW_BO_USC | AGXW_BO_READ_ONLY,
                          "tag kernel", &page->words));
   AGX_TRY(agxw_bo_map(page->counts, &memory));
   AGX_TRY(agxw_bo_map(page->words, &words));
   AGX_TRY(write_code(info->chip, words));
   for (uint32_t slot = FIRST; slot < SLOTS; slot++)
      AGX_TRY(write_slot(info, page, slot, (uint8_t *)words + slot * SLOT_B));
   page->memory = memory;
   page->taken[0] = agx_bits(FIRST);
   return AGX_OK;
}

static void destroy_page(struct agx_device *device, struct agx_tag_page *page)
{
   agxw_bo_destroy(page->counts);
   agxw_bo_destroy(page->words);
   agx_host_free(device->alloc, page, sizeof(*page));
}

static agx_status new_page(struct agx_device *device, struct agx_tag_page **out_page)
{
   struct agx_tag_page *page = agx_host_zalloc(device->alloc, sizeof(*page));
   *out_page = NULL;
   if (!page)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "tags: out of host memory");
   agx_status status = fill_page(device, page);
   if (status != AGX_OK)
      destroy_page(device, page);
   else
      *out_page = page;
   return status;
}

/* False: the page is full. */
static bool take_slot(struct agx_tag_page *page, uint32_t *out_slot)
{
   for (uint32_t i = 0; i < AGX_COUNT(page->taken); i++) {
      if (page->taken[i] == UINT64_MAX)
         continue;
      uint32_t bit = (uint32_t)__builtin_ctzll(~page->taken[i]);
      page->taken[i] |= 1ull << bit;
      *out_slot = 64 * i + bit;
      return true;
   }
   return false;
}

static agx_status find_slot(struct agx_device *device, struct agx_tag_page **out_page,
                            uint32_t *out_slot)
{
   struct agx_tag_page *page = device->tags.pages;
   while (page && !take_slot(page, out_slot))
      page = page->next;
   if (!page) {
      AGX_TRY(new_page(device, &page));
      page->next = device->tags.pages;
      device->tags.pages = page;
      (void)take_slot(page, out_slot);
   }
   *out_page = page;
   return AGX_OK;
}

static agx_status pack_end(const struct agx_device *device, const struct agx_tag_page *page,
                           uint32_t slot, struct agx_tag *tag)
{
   const struct agxw_device_info *info = agxw_device_info(device->winsys);
   const uint64_t words_va = agxw_bo_va(page->words) + slot * SLOT_B;
   const struct agx_hw_launch launch = {
      .uniform_halves = 4,
      .usc_offset = (uint32_t)(words_va - info->usc_base),
      .mode = AGX_HW_CDM_MODE_DIRECT,
      .global = {1, 1, 1},
      .local = {1, 1, 1},
   };
   struct agx_hw_buffer words = {tag->end, sizeof(tag->end), 0};
   AGX_TRY(agx_hw_cdm_barrier(&words));
   AGX_TRY(agx_hw_cdm_launch(&words, info->chip, &launch));
   AGX_TRY(agx_hw_cdm_barrier(&words));
   AGX_TRY(agx_hw_cdm_terminate(&words));
   tag->end_B = (uint32_t)words.used;
   return AGX_OK;
}

agx_status agx_tag_take(struct agx_device *device, struct agx_tag *out_tag)
{
   struct agx_tag_page *page = NULL;
   uint32_t slot = 0;
   *out_tag = (struct agx_tag){0};
   pthread_mutex_lock(&device->tags.lock);
   agx_status status = find_slot(device, &page, &slot);
   pthread_mutex_unlock(&device->tags.lock);
   if (status != AGX_OK)
      return status;
   *out_tag = (struct agx_tag){
      .page = page,
      .slot = slot,
      .count = (_Atomic uint32_t *)(page->memory + slot * SLOT_B),
      .count_va = agxw_bo_va(page->counts) + slot * SLOT_B,
   };
   atomic_store_explicit(out_tag->count, 0, memory_order_relaxed);
   status = pack_end(device, page, slot, out_tag);
   if (status != AGX_OK)
      agx_tag_give(device, out_tag);
   return status;
}

void agx_tag_give(struct agx_device *device, struct agx_tag *tag)
{
   if (!tag->page)
      return;
   pthread_mutex_lock(&device->tags.lock);
   tag->page->taken[tag->slot / 64] &= ~(1ull << tag->slot % 64);
   pthread_mutex_unlock(&device->tags.lock);
   *tag = (struct agx_tag){0};
}

void agx_tags_init(struct agx_tags *tags)
{
   pthread_mutex_init(&tags->lock, NULL);
   tags->pages = NULL;
}

void agx_tags_fini(struct agx_device *device)
{
   while (device->tags.pages) {
      struct agx_tag_page *page = device->tags.pages;
      device->tags.pages = page->next;
      destroy_page(device, page);
   }
   pthread_mutex_destroy(&device->tags.lock);
}
