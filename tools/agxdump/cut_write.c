/* SPDX-License-Identifier: MIT
 *
 * Writes a cut: the records once more, without what is not kept. Contents are written when a kept
 * submission is about to find them, as they are then, whichever submission left them. A dispatch
 * that is not kept becomes a link to what stands behind it, in the page of its stream that this
 * submission finds.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agx/hw/cdm.h"
#include "base/util.h"
#include "cut_impl.h"
#include "winsys/asahi_uapi.h"

#define PAGE_BYTES AGXW_CAPTURE_PAGE_BYTES
#define LINK_BYTES 8u

/* Some bytes of a page that a submission finds otherwise. */
struct patch {
   uint32_t object;
   uint64_t page;
   uint32_t at, bytes;
   uint8_t data[LINK_BYTES];
};

struct writing {
   struct cut *cut;
   struct agxw_capture_writer *writer;
   struct agxw_capture_state *state;
   struct cut_names names;
   struct agx_table places;  /* (1 + object, page): where its contents are recorded */
   struct agx_table dropped; /* (1 + object, page): 1: zero */
   struct cut_page *dirty;   /* recorded, and not written as such */
   size_t dirty_count, dirty_capacity;
   struct patch *patches; /* of one submission */
   size_t patch_count, patch_capacity;
   size_t submission; /* the next SUBMIT's index */
   bool is_behind;    /* a kept submission, whose results may follow */
   uint8_t run[AGXW_CAPTURE_RUN_PAGES * PAGE_BYTES];
};

/* ---- pages ---- */

/* Beside the page's number in its record. */
#define IS_DIRTY   (UINT64_C(1) << 63)
#define IS_WRITTEN (UINT64_C(1) << 62) /* it may be other than zero in what was written */
#define MARKS      (IS_DIRTY | IS_WRITTEN)

static agx_status mark_dirty(struct writing *writing, uint32_t object, uint64_t page)
{
   struct agx_table_entry *entry = agx_table_get(&writing->places, 1 + (uint64_t)object, page);
   if (!entry)
      return cut_no_memory();
   if (entry->more & IS_DIRTY)
      return AGX_OK;
   struct cut_page *grown =
      cut_grow(writing->dirty, writing->dirty_count, &writing->dirty_capacity, sizeof(*grown));
   if (!grown)
      return cut_no_memory();
   writing->dirty = grown;
   grown[writing->dirty_count++] = (struct cut_page){object, page, true};
   entry->more |= IS_DIRTY;
   return AGX_OK;
}

static agx_status take_pages(struct writing *writing, const struct agxw_capture_record *record)
{
   uint32_t object = cut_find_object(&writing->names, record, record->handle);
   for (uint64_t i = 0; object && i < record->page_count; i++) {
      uint64_t page = record->offset / PAGE_BYTES + i;
      struct agx_table_entry *entry = agx_table_get(&writing->places, object, page);
      if (!entry)
         return cut_no_memory();
      entry->value = record->file_offset;
      entry->more = i | (entry->more & MARKS);
      if (record->moment == AGXW_CAPTURE_AFTER)
         entry->more |= IS_WRITTEN; /* by the GPU, of a replay, too */
      AGX_TRY(mark_dirty(writing, object - 1, page));
   }
   return AGX_OK;
}

/* What the next submission finds of a page, patches aside. */
static agx_status read_page(struct writing *writing, uint32_t object, uint64_t page, uint8_t *out)
{
   const struct agx_table_entry *entry =
      agx_table_find(&writing->places, 1 + (uint64_t)object, page);
   const struct cut_image *image = writing->cut->before;
   const uint8_t *taken = image ? cut_image_page(image, object, page) : NULL;
   bool is_dropped = agx_table_find(&writing->dropped, 1 + (uint64_t)object, page);
   if (taken && !is_dropped) {
      memcpy(out, taken, PAGE_BYTES);
      return AGX_OK;
   }
   if (is_dropped || image || !entry || entry->value == 0) {
      memset(out, 0, PAGE_BYTES);
      return AGX_OK;
   }
   const struct agxw_capture_place place = {entry->value, entry->more & ~MARKS};
   return agxw_capture_page(writing->cut->reader, &place, 0, out, PAGE_BYTES);
}

static void apply_patches(const struct writing *writing, uint32_t object, uint64_t page,
                          uint8_t *contents)
{
   for (size_t i = 0; i < writing->patch_count; i++) {
      const struct patch *it = &writing->patches[i];
      if (it->object == object && it->page == page)
         memcpy(contents + it->at, it->data, it->bytes);
   }
}

static void put_run(struct writing *writing, const struct agxw_capture_record *like,
                    enum agxw_capture_moment moment, uint32_t object, uint64_t first,
                    uint64_t count)
{
   struct agxw_capture_record pages = {.type = AGXW_CAPTURE_PAGES,
                                       .time_ns = like->time_ns,
                                       .process = like->process,
                                       .file = like->file,
                                       .handle = writing->cut->objects[object].handle,
                                       .moment = moment,
                                       .offset = first * PAGE_BYTES,
                                       .page_count = count};
   if (count > 0)
      agxw_capture_writer_put_pages(writing->writer, &pages, writing->run);
}

static int compare_pages(const void *a, const void *b)
{
   const struct cut_page *x = a, *y = b;
   if (x->object != y->object)
      return x->object < y->object ? -1 : 1;
   return x->page < y->page ? -1 : x->page > y->page;
}

static agx_status note_page(struct cut *cut, uint32_t object, uint64_t page)
{
   struct cut_page *grown =
      cut_grow(cut->pages, cut->page_count, &cut->page_capacity, sizeof(*grown));
   if (!grown)
      return cut_no_memory();
   cut->pages = grown;
   grown[cut->page_count++] = (struct cut_page){object, page, true};
   return AGX_OK;
}

static bool is_of(const struct cut_object *object, const struct agxw_capture_record *record)
{
   return object->process == record->process && object->file == record->file;
}

/* Whether a page has to be written that is read already; new buffers are zero. */
static bool is_wanted(struct writing *writing, uint32_t object, uint64_t page, const uint8_t *data)
{
   struct agx_table_entry *entry = agx_table_get(&writing->places, 1 + (uint64_t)object, page);
   if (!entry || (agxw_capture_hash(data) == 0 && !(entry->more & IS_WRITTEN)))
      return false;
   entry->more |= IS_WRITTEN;
   return true;
}

/* The pages of `list`, sorted, in runs. */
static agx_status put_pages(struct writing *writing, const struct agxw_capture_record *record,
                            const struct cut_page *list, size_t list_count)
{
   uint64_t first = 0, count = 0;
   uint32_t object = 0;
   for (size_t i = 0; i < list_count; i++) {
      const struct cut_page *it = &list[i];
      uint8_t contents[PAGE_BYTES];
      AGX_TRY(read_page(writing, it->object, it->page, contents));
      apply_patches(writing, it->object, it->page, contents);
      if (!is_wanted(writing, it->object, it->page, contents))
         continue;
      if (count == AGXW_CAPTURE_RUN_PAGES || it->object != object || it->page != first + count) {
         put_run(writing, record, AGXW_CAPTURE_BEFORE, object, first, count);
         object = it->object;
         first = it->page;
         count = 0;
      }
      memcpy(writing->run + count++ * PAGE_BYTES, contents, PAGE_BYTES);
      if (writing->cut->collects_pages)
         AGX_TRY(note_page(writing->cut, object, it->page));
   }
   put_run(writing, record, AGXW_CAPTURE_BEFORE, object, first, count);
   return AGX_OK;
}

/* Takes what this submission finds out of the dirty pages; *out_count of them stand first then. */
static void choose_dirty(struct writing *writing, const struct agxw_capture_record *record,
                         struct cut_page *out, size_t *out_count)
{
   size_t left = 0;
   *out_count = 0;
   for (size_t i = 0; i < writing->dirty_count; i++) {
      const struct cut_page it = writing->dirty[i];
      const struct cut_object *object = &writing->cut->objects[it.object];
      if (!is_of(object, record)) {
         writing->dirty[left++] = it;
         continue;
      }
      struct agx_table_entry *entry =
         agx_table_get(&writing->places, 1 + (uint64_t)it.object, it.page);
      if (entry)
         entry->more &= ~IS_DIRTY;
      bool is_alive = cut_find_object(&writing->names, record, object->handle) == it.object + 1;
      if (object->is_kept && is_alive)
         out[(*out_count)++] = it;
   }
   writing->dirty_count = left;
}

static agx_status put_dirty(struct writing *writing, const struct agxw_capture_record *record)
{
   struct cut_page *chosen = malloc((writing->dirty_count + 1) * sizeof(*chosen));
   size_t count;
   if (!chosen)
      return cut_no_memory();
   choose_dirty(writing, record, chosen, &count);
   qsort(chosen, count, sizeof(*chosen), compare_pages);
   agx_status status = put_pages(writing, record, chosen, count);
   free(chosen);
   return status;
}

/* Pages of images are what the submission finds and leaves, whatever was recorded. */
static agx_status mark_image(struct writing *writing, const struct cut_image *image)
{
   for (size_t i = 0; image && i < image->count; i++)
      AGX_TRY(mark_dirty(writing, image->pages[i].object, image->pages[i].page));
   return AGX_OK;
}

static agx_status put_results(struct writing *writing, const struct agxw_capture_record *record)
{
   static const uint8_t zero[PAGE_BYTES];
   const struct cut_image *sides[] = {writing->cut->after, writing->cut->before};
   for (size_t side = 0; writing->cut->after && side < 2; side++)
      for (size_t i = 0; i < sides[side]->count; i++) {
         const struct cut_image_page *it = &sides[side]->pages[i];
         const uint8_t *then = cut_image_page(writing->cut->before, it->object, it->page);
         const uint8_t *now = cut_image_page(writing->cut->after, it->object, it->page);
         bool is_twice = side == 1 && now;
         if (is_twice || memcmp(then ? then : zero, now ? now : zero, PAGE_BYTES) == 0 ||
             !writing->cut->objects[it->object].is_kept)
            continue;
         memcpy(writing->run, now ? now : zero, PAGE_BYTES);
         put_run(writing, record, AGXW_CAPTURE_AFTER, it->object, it->page, 1);
      }
   return AGX_OK;
}

/* Contents behind a kept submission; behind others they are what the next one finds. */
static agx_status copy_results(struct writing *writing, const struct agxw_capture_record *record)
{
   uint32_t object = cut_find_object(&writing->names, record, record->handle);
   if (!object || !writing->cut->objects[object - 1].is_kept)
      return AGX_OK;
   for (uint64_t i = 0; i < record->page_count; i++) {
      uint64_t page = record->offset / PAGE_BYTES + i;
      struct agx_table_entry *entry = agx_table_get(&writing->places, object, page);
      if (!entry)
         return cut_no_memory();
      entry->value = record->file_offset;
      entry->more = i | (entry->more & MARKS) | IS_WRITTEN;
      AGX_TRY(read_page(writing, object - 1, page, writing->run));
      put_run(writing, record, AGXW_CAPTURE_AFTER, object - 1, page, 1);
   }
   return AGX_OK;
}

/* ---- dispatches ---- */

static agx_status add_patch(struct writing *writing, const struct agxw_capture_record *record,
                            uint64_t va, const uint8_t *data, uint32_t bytes)
{
   const struct agxw_capture_device *device = agxw_capture_state_device(writing->state, record);
   uint32_t vm_id = writing->cut->submissions[writing->submission].vm_id;
   struct agxw_capture_mapping it;
   while (bytes > 0) {
      if (!device || !agxw_capture_device_mapping(device, vm_id, va, &it) || it.va > va)
         return AGX_FAIL(AGX_DATA_LOSS, "the stream at 0x%llx is not mapped",
                         (unsigned long long)va);
      uint64_t offset = it.offset + (it.single_page ? 0 : va - it.va);
      uint32_t part = (uint32_t)AGX_MIN(bytes, PAGE_BYTES - offset % PAGE_BYTES);
      uint32_t object = cut_find_object(&writing->names, record, it.object->handle);
      struct patch *grown =
         cut_grow(writing->patches, writing->patch_count, &writing->patch_capacity, sizeof(*grown));
      if (!grown || !object)
         return cut_no_memory();
      writing->patches = grown;
      struct patch *patch = &grown[writing->patch_count++];
      *patch = (struct patch){.object = object - 1,
                              .page = offset / PAGE_BYTES,
                              .at = (uint32_t)(offset % PAGE_BYTES),
                              .bytes = part};
      memcpy(patch->data, data, part);
      AGX_TRY(mark_dirty(writing, object - 1, patch->page));
      va += part;
      data += part;
      bytes -= part;
   }
   return AGX_OK;
}

static agx_status patch_dispatches(struct writing *writing,
                                   const struct agxw_capture_record *record)
{
   const struct cut *cut = writing->cut;
   const struct cut_submission *submission = &cut->submissions[writing->submission];
   writing->patch_count = 0;
   for (uint32_t i = 0; i < submission->dispatch_count; i++) {
      const struct cut_dispatch *it = &cut->dispatches[submission->first_dispatch + i];
      if (it->is_kept || !cut->commands[submission->first_command + it->command].is_kept)
         continue;
      uint8_t link[LINK_BYTES];
      struct agx_hw_buffer buffer = {link, sizeof(link), 0};
      AGX_TRY(agx_hw_cdm_link(&buffer, it->va + it->bytes, false));
      AGX_TRY(add_patch(writing, record, it->va, link, (uint32_t)buffer.used));
   }
   return AGX_OK;
}

/* ---- records ---- */

static agx_status write_submit(struct writing *writing, const struct agxw_capture_record *record)
{
   struct cut *cut = writing->cut;
   bool is_kept =
      writing->submission < cut->submission_count && cut->submissions[writing->submission].is_kept;
   writing->is_behind = is_kept && record->is_awaited && !cut->drops_results && !cut->before;
   if (!is_kept) {
      writing->submission++;
      return AGX_OK;
   }
   AGX_TRY(patch_dispatches(writing, record));
   AGX_TRY(mark_image(writing, cut->before));
   AGX_TRY(put_dirty(writing, record));
   for (size_t i = 0; i < cut->alias_count; i++)
      cut_write_alias(cut, writing->writer, record, cut->submissions[writing->submission].vm_id,
                      &cut->aliases[i]);
   AGX_TRY(cut_write_request(cut, &writing->names, writing->writer, record, writing->submission));
   /* Streams are as they were for the next submission. */
   for (size_t i = 0; i < writing->patch_count; i++)
      AGX_TRY(mark_dirty(writing, writing->patches[i].object, writing->patches[i].page));
   writing->submission++;
   return cut->before ? put_results(writing, record) : AGX_OK;
}

static agx_status write_request(struct writing *writing, const struct agxw_capture_record *record)
{
   uint32_t added;
   uint64_t bytes;
   if (record->result != 0)
      return AGX_OK;
   if (agxw_capture_is_request(record, AGX_IOCTL_ASAHI_SUBMIT))
      return write_submit(writing, record);
   AGX_TRY(cut_follow_objects(&writing->names, record, &added, &bytes));
   AGX_TRY(cut_write_request(writing->cut, &writing->names, writing->writer, record, 0));
   if (agxw_capture_is_request(record, AGX_IOCTL_GEM_CLOSE))
      cut_forget_object(&writing->names, record);
   return AGX_OK;
}

/* A device without a kept submission isn't needed: what another imported of it is made there. */
static bool is_needed(const struct cut *cut, const struct agxw_capture_record *record)
{
   for (size_t i = 0; i < cut->submission_count; i++)
      if (cut->submissions[i].is_kept && cut->submissions[i].process == record->process &&
          cut->submissions[i].file == record->file)
         return true;
   return false;
}

static agx_status write_record(struct writing *writing, const struct agxw_capture_record *record)
{
   bool is_result = record->type == AGXW_CAPTURE_PAGES && record->moment == AGXW_CAPTURE_AFTER;
   AGX_TRY(agxw_capture_state_apply(writing->state, record));
   if (record->type == AGXW_CAPTURE_PROCESS) {
      agxw_capture_writer_put(writing->writer, record);
      return AGX_OK;
   }
   if (record->type == AGXW_CAPTURE_NOTE)
      return AGX_OK;
   if (!is_needed(writing->cut, record)) {
      uint32_t added;
      uint64_t bytes;
      bool is_submit = record->type == AGXW_CAPTURE_REQUEST && record->result == 0 &&
                       agxw_capture_is_request(record, AGX_IOCTL_ASAHI_SUBMIT);
      writing->submission += is_submit;
      return cut_follow_objects(&writing->names, record, &added, &bytes);
   }
   if (record->type == AGXW_CAPTURE_REQUEST)
      return write_request(writing, record);
   if (record->type == AGXW_CAPTURE_PAGES)
      return is_result && writing->is_behind ? copy_results(writing, record)
                                             : take_pages(writing, record);
   uint32_t object = cut_find_object(&writing->names, record, record->handle);
   bool is_named = record->type == AGXW_CAPTURE_LABEL || record->type == AGXW_CAPTURE_IMPORT;
   if (!is_named || !object || writing->cut->objects[object - 1].is_kept)
      agxw_capture_writer_put(writing->writer, record);
   return AGX_OK;
}

/* Nothing behind the last kept submission and its results is needed. */
static bool is_over(const struct writing *writing, const struct agxw_capture_record *record)
{
   const struct cut *cut = writing->cut;
   for (size_t i = writing->submission; i < cut->submission_count; i++)
      if (cut->submissions[i].is_kept)
         return false;
   return record->type != AGXW_CAPTURE_PAGES || record->moment != AGXW_CAPTURE_AFTER;
}

static agx_status write_records(struct writing *writing)
{
   struct cut *cut = writing->cut;
   for (size_t i = 0; i < cut->page_count; i++) {
      const struct cut_page *it = &cut->pages[i];
      struct agx_table_entry *entry =
         it->is_kept ? NULL : agx_table_get(&writing->dropped, 1 + (uint64_t)it->object, it->page);
      if (entry)
         entry->value = 1;
      else if (!it->is_kept)
         return cut_no_memory();
   }
   if (cut->collects_pages)
      cut->page_count = 0;
   agxw_capture_seek(cut->reader, cut->begin);
   for (;;) {
      struct agxw_capture_record record;
      bool more;
      AGX_TRY(agxw_capture_next(cut->reader, &record, &more));
      if (!more || is_over(writing, &record))
         return AGX_OK;
      AGX_TRY(write_record(writing, &record));
   }
}

agx_status cut_refuse_input(int fd, const char *path)
{
   struct stat in, out;
   bool is_same = fstat(fd, &in) == 0 && stat(path, &out) == 0 && S_ISREG(in.st_mode) &&
                  in.st_dev == out.st_dev && in.st_ino == out.st_ino;
   return is_same ? AGX_FAIL(AGX_INVALID_ARGUMENT,
                             "%s is the capture itself, which would be lost: name another -o", path)
                  : AGX_OK;
}

agx_status cut_write(struct cut *cut, const char *path)
{
   struct writing *writing = calloc(1, sizeof(*writing));
   if (!writing)
      return cut_no_memory();
   writing->cut = cut;
   agx_status status = agxw_capture_state_create(NULL, cut->reader, &writing->state);
   if (status == AGX_OK)
      status = agxw_capture_writer_open(path, agxw_capture_node(cut->reader), &writing->writer);
   if (status == AGX_OK)
      status = write_records(writing);
   agx_status closed = agxw_capture_writer_close(writing->writer);
   agxw_capture_state_destroy(writing->state);
   agx_table_fini(&writing->places);
   agx_table_fini(&writing->dropped);
   agx_table_fini(&writing->names.handles);
   free(writing->dirty);
   free(writing->patches);
   free(writing);
   return status != AGX_OK ? status : closed;
}
