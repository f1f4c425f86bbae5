/* SPDX-License-Identifier: MIT
 *
 * The memory of breadcrumbs, and what the GPU runs of them. A page of breadcrumbs is two buffers:
 * the words that the host reads, and in the USC window the code, followed by the launch words of
 * each line and the one uniform that they load. Once a command buffer is in flight twice there is a
 * third, with the prologues of all lines: each is its launch words, its uniforms and its stream.
 */
#include "hal/record/breadcrumb.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agx/hw/usc.h"
#include "base/util.h"
#include "hal/memory/chunk.h"
#include "hal/record/state.h"

#define LINE_B    64u /* a cache line of the host, and what launch words are aligned to */
#define ADDRESS_B 40u /* in a line or prologue of the USC window: where its uniforms lie */
#define STREAM_B  64u /* in a prologue: where its stream lies */
#define PROLOGUES_B                                                                                \
   (AGX_BREADCRUMB_SLOTS * AGX_BREADCRUMB_PROLOGUE_BYTES) /* of a line; the first one is not used  \
                                                           */
#define CODE_B        256u /* of the end's kernel, then the prologues' */
#define PROLOGUE_CODE (CODE_B / 2)
#define LINES         (AGX_PAGE_BYTES / LINE_B)
#define FIRST         (CODE_B / LINE_B) /* before it is the code */

struct agx_breadcrumb_page {
   struct agx_breadcrumb_page *next;
   struct agxw_bo *counts; /* cached: the host reads them */
   struct agxw_bo *words;
   struct agxw_bo *prologues;         /* NULL: not needed yet */
   uint8_t *memory, *prologue_memory; /* of counts, of prologues */
   uint64_t taken[LINES / 64];
};

_Static_assert(sizeof(struct agx_breadcrumb_words) <= LINE_B, "a line's words fit");
_Static_assert((AGX_BREADCRUMB_SLOTS & (AGX_BREADCRUMB_SLOTS - 1)) == 0,
               "a mask cuts to a count's number");

/* breadcrumb_kernels/end.txt and prologue.txt, by agx_chip.atomic_coherency_3: the coherency of
 * atomics differs by chip. The end adds 1 to counts[current % AGX_BREADCRUMB_SLOTS], so that
 * nothing else is hit whatever stands there; a prologue sets current to the third uniform. All by
 * atomics, which no cache of a core keeps from each other. Indices are in words. */
static const uint8_t kernels[2][2][PROLOGUE_CODE] = {
#include "breadcrumb_kernels.inc"
};
_Static_assert(offsetof(struct agx_breadcrumb_words, current) == 8 * sizeof(uint32_t) &&
                  AGX_BREADCRUMB_SLOTS == 8,
               "the kernels name it by number");

static void write_code(const struct agx_chip *chip, uint8_t *out)
{
   memcpy(out, kernels[chip->atomic_coherency_3], CODE_B);
}

static agx_status write_line(const struct agxw_device_info *info,
                             const struct agx_breadcrumb_page *page, uint32_t line, uint8_t *out)
{
   const uint64_t words_va = agxw_bo_va(page->words), line_va = words_va + line * LINE_B;
   const uint64_t count_va = agxw_bo_va(page->counts) + line * LINE_B;
   const struct agx_hw_usc_program program = {
      .code_offset = (uint32_t)(words_va - info->usc_base),
      .gpr_halves = 4,
   };
   struct agx_hw_buffer words = {out, ADDRESS_B, 0};
   AGX_TRY(agx_hw_usc_uniforms(&words, 0, 4, line_va + ADDRESS_B));
   AGX_TRY(agx_hw_usc_compute(&words, &program));
   memcpy(out + ADDRESS_B, &count_va, sizeof(count_va)); /* hosts are little-endian */
   return AGX_OK;
}

static agx_status fill_page(struct agx_device *device, struct agx_breadcrumb_page *page)
{
   const struct agxw_device_info *info = agxw_device_info(agx_context_of(device)->winsys);
   void *memory, *words;
   AGX_TRY(agxw_bo_create(agx_context_of(device)->winsys, AGX_PAGE_BYTES, 0, AGXW_BO_CACHED,
                          "breadcrumbs", &page->counts));
   AGX_TRY(agxw_bo_create(agx_context_of(device)->winsys, AGX_PAGE_BYTES, 0,
                          AGXW_BO_USC | AGXW_BO_READ_ONLY, "breadcrumb kernel", &page->words));
   AGX_TRY(agxw_bo_map(page->counts, &memory));
   AGX_TRY(agxw_bo_map(page->words, &words));
   write_code(info->chip, words);
   for (uint32_t line = FIRST; line < LINES; line++)
      AGX_TRY(write_line(info, page, line, (uint8_t *)words + line * LINE_B));
   page->memory = memory;
   page->taken[0] = agx_bits(FIRST);
   return AGX_OK;
}

static void destroy_page(struct agx_device *device, struct agx_breadcrumb_page *page)
{
   agxw_bo_destroy(page->counts);
   agxw_bo_destroy(page->words);
   agxw_bo_destroy(page->prologues);
   agx_host_free(agx_context_of(device)->alloc, page, sizeof(*page));
}

static agx_status new_page(struct agx_device *device, struct agx_breadcrumb_page **out_page)
{
   struct agx_breadcrumb_page *page = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*page));
   *out_page = NULL;
   if (!page)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "breadcrumbs: out of host memory");
   agx_status status = fill_page(device, page);
   if (status != AGX_OK)
      destroy_page(device, page);
   else
      *out_page = page;
   return status;
}

/* False: the page is full. */
static bool acquire_line(struct agx_breadcrumb_page *page, uint32_t *out_line)
{
   for (uint32_t i = 0; i < AGX_COUNT(page->taken); i++) {
      if (page->taken[i] == UINT64_MAX)
         continue;
      uint32_t bit = (uint32_t)__builtin_ctzll(~page->taken[i]);
      page->taken[i] |= 1ull << bit;
      *out_line = 64 * i + bit;
      return true;
   }
   return false;
}

static agx_status find_line(struct agx_device *device, struct agx_breadcrumb_page **out_page,
                            uint32_t *out_line)
{
   struct agx_breadcrumbs *breadcrumbs = &agx_recorder_of(device)->breadcrumbs;
   struct agx_breadcrumb_page *page = breadcrumbs->pages;
   while (page && !acquire_line(page, out_line))
      page = page->next;
   if (!page) {
      AGX_TRY(new_page(device, &page));
      page->next = breadcrumbs->pages;
      breadcrumbs->pages = page;
      (void)acquire_line(page, out_line);
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
      .usc_offset =
         (uint32_t)(words_va - agxw_device_info(agx_context_of(device)->winsys)->usc_base),
      .mode = AGX_HW_CDM_MODE_DIRECT,
      .global = {1, 1, 1},
      .local = {1, 1, 1},
   };
}

static agx_status pack_end(const struct agx_device *device, const struct agx_breadcrumb_page *page,
                           uint32_t line, struct agx_breadcrumb *breadcrumb)
{
   const struct agx_chip *chip = agxw_device_info(agx_context_of(device)->winsys)->chip;
   const struct agx_hw_launch launch =
      one_thread(device, agxw_bo_va(page->words) + line * LINE_B, 4);
   struct agx_hw_buffer words = {breadcrumb->end, sizeof(breadcrumb->end), 0};
   AGX_TRY(agx_hw_cdm_barrier(&words));
   AGX_TRY(agx_hw_cdm_launch(&words, chip, &launch));
   AGX_TRY(agx_hw_cdm_barrier(&words));
   AGX_TRY(agx_hw_cdm_terminate(&words));
   breadcrumb->end_B = (uint32_t)words.used;
   return AGX_OK;
}

agx_status agx_breadcrumb_acquire(struct agx_device *device, struct agx_breadcrumb *out_breadcrumb)
{
   struct agx_breadcrumb_page *page = NULL;
   uint32_t line = 0;
   *out_breadcrumb = (struct agx_breadcrumb){0};
   pthread_mutex_lock(&agx_recorder_of(device)->breadcrumbs.lock);
   agx_status status = find_line(device, &page, &line);
   pthread_mutex_unlock(&agx_recorder_of(device)->breadcrumbs.lock);
   if (status != AGX_OK)
      return status;
   *out_breadcrumb = (struct agx_breadcrumb){
      .page = page,
      .line = line,
      .words = (struct agx_breadcrumb_words *)(page->memory + line * LINE_B),
      .words_va = agxw_bo_va(page->counts) + line * LINE_B,
   };
   agx_breadcrumb_reset(out_breadcrumb);
   status = pack_end(device, page, line, out_breadcrumb);
   if (status != AGX_OK)
      agx_breadcrumb_return(device, out_breadcrumb);
   return status;
}

void agx_breadcrumb_return(struct agx_device *device, struct agx_breadcrumb *breadcrumb)
{
   if (!breadcrumb->page)
      return;
   pthread_mutex_lock(&agx_recorder_of(device)->breadcrumbs.lock);
   breadcrumb->page->taken[breadcrumb->line / 64] &= ~(1ull << breadcrumb->line % 64);
   pthread_mutex_unlock(&agx_recorder_of(device)->breadcrumbs.lock);
   *breadcrumb = (struct agx_breadcrumb){0};
}

/* ---- prologues ----------------------------------------------------------------- */

static agx_status make_room(struct agx_device *device, struct agx_breadcrumb_page *page)
{
   void *memory;
   if (page->prologues)
      return AGX_OK;
   AGX_TRY(
      agxw_bo_create(agx_context_of(device)->winsys, LINES * PROLOGUES_B + AGX_CHUNK_PREFETCH_B, 0,
                     AGXW_BO_USC | AGXW_BO_READ_ONLY, "breadcrumb prologues", &page->prologues));
   agx_status status = agxw_bo_map(page->prologues, &memory);
   if (status == AGX_OK) {
      page->prologue_memory = memory;
      return AGX_OK;
   }
   agxw_bo_destroy(page->prologues);
   page->prologues = NULL;
   return status;
}

static agx_status write_prologue(const struct agx_device *device, struct agx_breadcrumb *breadcrumb,
                                 uint32_t number, uint64_t stream_va)
{
   const struct agxw_device_info *info = agxw_device_info(agx_context_of(device)->winsys);
   const uint32_t at = breadcrumb->line * PROLOGUES_B + number * AGX_BREADCRUMB_PROLOGUE_BYTES;
   const uint64_t va = agxw_bo_va(breadcrumb->page->prologues) + at;
   const uint64_t code_va = agxw_bo_va(breadcrumb->page->words) + PROLOGUE_CODE;
   const struct agx_hw_usc_program program = {
      .code_offset = (uint32_t)(code_va - info->usc_base),
      .gpr_halves = 2,
   };
   const struct agx_hw_launch launch = one_thread(device, va, 6);
   uint8_t *out = breadcrumb->page->prologue_memory + at;
   struct agx_hw_buffer words = {out, ADDRESS_B, 0};
   struct agx_hw_buffer stream = {out + STREAM_B, AGX_BREADCRUMB_PROLOGUE_BYTES - STREAM_B, 0};
   AGX_TRY(agx_hw_usc_uniforms(&words, 0, 6, va + ADDRESS_B));
   AGX_TRY(agx_hw_usc_compute(&words, &program));
   memcpy(out + ADDRESS_B, &breadcrumb->words_va, sizeof(breadcrumb->words_va));
   memcpy(out + ADDRESS_B + sizeof(breadcrumb->words_va), &number, sizeof(number));
   AGX_TRY(agx_hw_cdm_launch(&stream, info->chip, &launch));
   AGX_TRY(agx_hw_cdm_barrier(&stream));
   breadcrumb->prologue_end_B = (uint32_t)stream.used;
   return agx_hw_cdm_link(&stream, stream_va, false);
}

static agx_status make_prologues(struct agx_device *device, struct agx_breadcrumb *breadcrumb,
                                 uint64_t stream_va)
{
   AGX_TRY(make_room(device, breadcrumb->page));
   for (uint32_t i = 1; i < AGX_BREADCRUMB_SLOTS; i++)
      AGX_TRY(write_prologue(device, breadcrumb, i, stream_va));
   return AGX_OK;
}

void agx_breadcrumb_make_prologues(struct agx_device *device, struct agx_breadcrumb *breadcrumb,
                                   uint64_t stream_va)
{
   if (!breadcrumb->page || atomic_load_explicit(&breadcrumb->prologues_va, memory_order_acquire))
      return;
   pthread_mutex_lock(&agx_recorder_of(device)->breadcrumbs.lock);
   if (!breadcrumb->prologues_va && !breadcrumb->lacks_prologues) {
      breadcrumb->lacks_prologues = make_prologues(device, breadcrumb, stream_va) != AGX_OK;
      if (!breadcrumb->lacks_prologues)
         atomic_store_explicit(&breadcrumb->prologues_va,
                               agxw_bo_va(breadcrumb->page->prologues) +
                                  breadcrumb->line * PROLOGUES_B + STREAM_B,
                               memory_order_release);
   }
   pthread_mutex_unlock(&agx_recorder_of(device)->breadcrumbs.lock);
}

void agx_recorder_state_init(struct agx_device *device)
{
   struct agx_recorder_state *recorder = agx_recorder_of(device);
   *recorder = (struct agx_recorder_state){0};
   pthread_mutex_init(&recorder->breadcrumbs.lock, NULL);
}

void agx_recorder_state_fini(struct agx_device *device)
{
   struct agx_breadcrumbs *breadcrumbs = &agx_recorder_of(device)->breadcrumbs;
   while (breadcrumbs->pages) {
      struct agx_breadcrumb_page *page = breadcrumbs->pages;
      breadcrumbs->pages = page->next;
      destroy_page(device, page);
   }
   pthread_mutex_destroy(&breadcrumbs->lock);
}
