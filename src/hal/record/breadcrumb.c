/* SPDX-License-Identifier: MIT
 *
 * The memory of tags, and what the GPU runs of them. A page of tags is two buffers: the words that
 * the host reads, and in the USC window the code, followed by the launch words of each slot and the
 * one uniform that they load. Once a command buffer is in flight twice there is a third, with the
 * heads of all slots: each is its launch words, its uniforms and its stream.
 */
#include "hal/record/breadcrumb.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agx/hw/usc.h"
#include "agx/isa/isa.h"
#include "base/util.h"
#include "hal/device/device.h"

#define SLOT_B    64u /* a cache line of the host, and what launch words are aligned to */
#define ADDRESS_B 40u /* in a slot or head of the USC window: where its uniforms lie */
#define STREAM_B  64u /* in a head: where its stream lies */
#define HEADS_B   (AGX_TAG_COUNTS * AGX_TAG_HEAD_BYTES) /* of a slot; the first one is not used */
#define CODE_B    256u                                  /* of the end's kernel, then the heads' */
#define HEAD_CODE (CODE_B / 2)
#define SLOTS     (AGX_PAGE_BYTES / SLOT_B)
#define FIRST     (CODE_B / SLOT_B) /* before it is the code */
#define TRAPS     8u

struct agx_tag_page {
   struct agx_tag_page *next;
   struct agxw_bo *counts; /* cached: the host reads them */
   struct agxw_bo *words;
   struct agxw_bo *heads;         /* NULL: nobody has needed one */
   uint8_t *memory, *head_memory; /* of counts, of heads */
   uint64_t taken[SLOTS / 64];
};

_Static_assert(sizeof(struct agx_tag_words) <= SLOT_B, "a slot's words fit");
_Static_assert((AGX_TAG_COUNTS & (AGX_TAG_COUNTS - 1)) == 0, "a mask cuts to a count's number");

/* The end adds 1 to counts[current % AGX_TAG_COUNTS], so that nothing else is hit whatever stands
 * there; a head sets current to the third uniform. All by atomics, which no cache of a core keeps
 * from each other. Indices are in words; the coherency follows. */
static const char *const end[] = {
   "mov d=r0 a=0", "mov d=r1 a=1",      "atomic r=r0 s=r0 base=du0 index=8 op=or group=a",
   "wait group=a", "and d=r0 a=r0 b=7", "atomic r=none s=r1 base=du0 index=r0 op=add group=a",
   "stop",
};
static const char *const head[] = {
   "mov d=r0 a=u2",
   "atomic r=none s=r0 base=du0 index=8 op=xchg group=a",
   "stop",
};
_Static_assert(offsetof(struct agx_tag_words, current) == 8 * sizeof(uint32_t) &&
                  AGX_TAG_COUNTS == 8,
               "the kernels name it by number");

/* Source: docs/hw/machine.md: the coherency of atomics differs by chip. */
static agx_status append(struct agx_hw_buffer *code, const struct agx_chip *chip, const char *line)
{
   const char *coherency = chip->atomic_coherency_3 ? "coherent" : "coherent1";
   bool is_atomic = strncmp(line, "atomic ", 7) == 0;
   struct agx_isa_instr instr;
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   size_t length = 0;
   char text[128];
   snprintf(text, sizeof(text), "%s%s%s", line, is_atomic ? " coherency=" : "",
            is_atomic ? coherency : "");
   AGX_TRY(agx_isa_parse(text, strlen(text), &instr));
   AGX_TRY(agx_isa_encode(&instr, bytes, &length));
   agx_assert(code->used + length <= code->capacity);
   memcpy(code->memory + code->used, bytes, length);
   code->used += length;
   return AGX_OK;
}

static agx_status write_kernel(const struct agx_chip *chip, const char *const *lines, size_t count,
                               uint8_t *out, size_t size)
{
   struct agx_hw_buffer code = {out, size, 0};
   for (size_t i = 0; i < count; i++)
      AGX_TRY(append(&code, chip, lines[i]));
   for (unsigned i = 0; i < TRAPS; i++)
      AGX_TRY(append(&code, chip, "trap"));
   return AGX_OK;
}

static agx_status write_code(const struct agx_chip *chip, uint8_t *out)
{
   AGX_TRY(write_kernel(chip, end, AGX_COUNT(end), out, HEAD_CODE));
   return write_kernel(chip, head, AGX_COUNT(head), out + HEAD_CODE, CODE_B - HEAD_CODE);
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
   agxw_bo_destroy(page->heads);
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

/* One thread of the launch words at words_va. */
static struct agx_hw_launch one_thread(const struct agx_device *device, uint64_t words_va,
                                       uint32_t uniform_halves)
{
   return (struct agx_hw_launch){
      .uniform_halves = uniform_halves,
      .usc_offset = (uint32_t)(words_va - agxw_device_info(device->winsys)->usc_base),
      .mode = AGX_HW_CDM_MODE_DIRECT,
      .global = {1, 1, 1},
      .local = {1, 1, 1},
   };
}

static agx_status pack_end(const struct agx_device *device, const struct agx_tag_page *page,
                           uint32_t slot, struct agx_tag *tag)
{
   const struct agx_chip *chip = agxw_device_info(device->winsys)->chip;
   const struct agx_hw_launch launch =
      one_thread(device, agxw_bo_va(page->words) + slot * SLOT_B, 4);
   struct agx_hw_buffer words = {tag->end, sizeof(tag->end), 0};
   AGX_TRY(agx_hw_cdm_barrier(&words));
   AGX_TRY(agx_hw_cdm_launch(&words, chip, &launch));
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
      .words = (struct agx_tag_words *)(page->memory + slot * SLOT_B),
      .words_va = agxw_bo_va(page->counts) + slot * SLOT_B,
   };
   agx_tag_reset(out_tag);
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

/* ---- heads ----------------------------------------------------------------- */

static agx_status make_room(struct agx_device *device, struct agx_tag_page *page)
{
   void *memory;
   if (page->heads)
      return AGX_OK;
   AGX_TRY(agxw_bo_create(device->winsys, SLOTS * HEADS_B + AGX_CHUNK_PREFETCH_B, 0,
                          AGXW_BO_USC | AGXW_BO_READ_ONLY, "tag heads", &page->heads));
   agx_status status = agxw_bo_map(page->heads, &memory);
   if (status == AGX_OK) {
      page->head_memory = memory;
      return AGX_OK;
   }
   agxw_bo_destroy(page->heads);
   page->heads = NULL;
   return status;
}

static agx_status write_head(const struct agx_device *device, struct agx_tag *tag, uint32_t number,
                             uint64_t stream_va)
{
   const struct agxw_device_info *info = agxw_device_info(device->winsys);
   const uint32_t at = tag->slot * HEADS_B + number * AGX_TAG_HEAD_BYTES;
   const uint64_t va = agxw_bo_va(tag->page->heads) + at;
   const uint64_t code_va = agxw_bo_va(tag->page->words) + HEAD_CODE;
   const struct agx_hw_usc_program program = {
      .code_offset = (uint32_t)(code_va - info->usc_base),
      .gpr_halves = 2,
   };
   const struct agx_hw_launch launch = one_thread(device, va, 6);
   uint8_t *out = tag->page->head_memory + at;
   struct agx_hw_buffer words = {out, ADDRESS_B, 0};
   struct agx_hw_buffer stream = {out + STREAM_B, AGX_TAG_HEAD_BYTES - STREAM_B, 0};
   AGX_TRY(agx_hw_usc_uniforms(&words, 0, 6, va + ADDRESS_B));
   AGX_TRY(agx_hw_usc_compute(&words, &program));
   memcpy(out + ADDRESS_B, &tag->words_va, sizeof(tag->words_va));
   memcpy(out + ADDRESS_B + sizeof(tag->words_va), &number, sizeof(number));
   AGX_TRY(agx_hw_cdm_launch(&stream, info->chip, &launch));
   AGX_TRY(agx_hw_cdm_barrier(&stream));
   tag->head_end_B = (uint32_t)stream.used;
   return agx_hw_cdm_link(&stream, stream_va, false);
}

static agx_status make_heads(struct agx_device *device, struct agx_tag *tag, uint64_t stream_va)
{
   AGX_TRY(make_room(device, tag->page));
   for (uint32_t i = 1; i < AGX_TAG_COUNTS; i++)
      AGX_TRY(write_head(device, tag, i, stream_va));
   return AGX_OK;
}

void agx_tag_make_heads(struct agx_device *device, struct agx_tag *tag, uint64_t stream_va)
{
   if (!tag->page || atomic_load_explicit(&tag->heads_va, memory_order_acquire))
      return;
   pthread_mutex_lock(&device->tags.lock);
   if (!tag->heads_va && !tag->lacks_heads) {
      tag->lacks_heads = make_heads(device, tag, stream_va) != AGX_OK;
      if (!tag->lacks_heads)
         atomic_store_explicit(&tag->heads_va,
                               agxw_bo_va(tag->page->heads) + tag->slot * HEADS_B + STREAM_B,
                               memory_order_release);
   }
   pthread_mutex_unlock(&device->tags.lock);
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
