/* SPDX-License-Identifier: MIT
 *
 * Reads a capture for the page: first its records, for submissions, dispatches with their code, and
 * buffers; then a replay on a virtual AGX that counts, for figures and for the heat of each
 * instruction. Dispatches of the same code share a kernel.
 */
#include "html.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agxdump/agxdump.h"
#include "base/util.h"
#include "winsys/asahi_uapi.h"

static void *append(struct html_capture *capture, struct html_list *list, size_t element)
{
   if (list->count == list->capacity) {
      size_t capacity = AGX_MAX(2 * list->capacity, 64);
      void *data = realloc(list->data, capacity * element);
      if (!data) {
         capture->is_short = true;
         return NULL;
      }
      list->data = data;
      list->capacity = capacity;
   }
   void *slot = (uint8_t *)list->data + list->count++ * element;
   memset(slot, 0, element);
   return slot;
}

static agx_status no_memory(void)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for what the capture holds");
}

static uint64_t origin(const struct agxw_capture_record *record)
{
   return (uint64_t)record->process << 32 | record->file;
}

/* ---- kernels ---- */

static uint64_t hash_code(const struct dump_code *code, uint64_t hash)
{
   for (size_t i = 0; i < code->count; i++)
      for (unsigned j = 0; j < code->instrs[i].length; j++)
         hash = (hash ^ code->instrs[i].bytes[j]) * 0x100000001b3u;
   return hash * 3;
}

/* Moves the code into a kernel, a new one where it is the first of its kind. */
static bool find_kernel(struct html_capture *capture, struct dump_dispatch *it, const char *label,
                        uint32_t *out_kernel)
{
   uint64_t hash = hash_code(&it->preamble, hash_code(&it->main, 0xcbf29ce484222325u));
   struct agx_table_entry *entry = agx_table_get(&capture->kernel_table, 1, hash);
   if (!entry)
      return false;
   if (entry->value == 0) {
      struct html_kernel *kernel = append(capture, &capture->kernels, sizeof(*kernel));
      if (!kernel)
         return false;
      kernel->code[0] = it->main;
      kernel->code[1] = it->preamble;
      kernel->sum.gpr_halves = it->gpr_halves;
      kernel->sum.shared_B = it->shared_B;
      snprintf(kernel->label, sizeof(kernel->label), "%s", label);
      entry->value = capture->kernels.count;
   } else {
      free(it->main.instrs);
      free(it->preamble.instrs);
   }
   it->main.instrs = it->preamble.instrs = NULL;
   it->main.count = it->preamble.count = 0;
   *out_kernel = (uint32_t)entry->value - 1;
   return true;
}

static const char *label_of(const struct agxw_capture_device *device, uint32_t vm_id, uint64_t va)
{
   struct agxw_capture_mapping mapping;
   if (!agxw_capture_device_mapping(device, vm_id, va, &mapping) || mapping.va > va)
      return "";
   return mapping.object->label;
}

/* ---- submissions ---- */

static bool find_queue(struct html_capture *capture, const struct agxw_capture_record *record,
                       uint32_t id, uint32_t *out_queue)
{
   struct agx_table_entry *entry = agx_table_get(&capture->queue_table, origin(record), id);
   if (!entry)
      return false;
   if (entry->value == 0) {
      struct html_queue *queue = append(capture, &capture->queues, sizeof(*queue));
      if (!queue)
         return false;
      *queue = (struct html_queue){record->process, record->file, id};
      entry->value = capture->queues.count;
   }
   *out_queue = (uint32_t)entry->value - 1;
   return true;
}

static void count_commands(const struct agxw_capture_record *record, struct html_submission *it)
{
   uint32_t bytes;
   struct agx_uapi_cmd_header header;
   const uint8_t *commands =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_submit, cmdbuf), &bytes);
   for (uint32_t at = 0; commands && bytes - at >= sizeof(header);
        at += (uint32_t)sizeof(header) + header.size) {
      memcpy(&header, commands + at, sizeof(header));
      if (header.size > bytes - at - sizeof(header))
         return;
      it->commands++;
      it->renders += header.cmd_type == AGX_UAPI_CMD_RENDER;
   }
}

static agx_status take_submit(struct html_capture *capture,
                              const struct agxw_capture_record *record)
{
   struct agx_uapi_submit submit;
   struct dump_dispatches *all = &capture->dispatches;
   agxw_capture_argument(record, false, &submit, sizeof(submit));
   struct html_submission *it = append(capture, &capture->submissions, sizeof(*it));
   if (!it || !find_queue(capture, record, submit.queue_id, &it->queue))
      return no_memory();
   it->result = record->result;
   it->time_ns = record->time_ns;
   it->first = all->count;
   if (record->result != 0)
      return AGX_OK;
   it->number = ++capture->submission_count;
   count_commands(record, it);
   const struct agx_chip *chip = capture->chip ? capture->chip : agx_chip_at(0);
   AGX_TRY(dump_add_dispatches(all, capture->state, record, chip, it->number));
   it->count = all->count - it->first;
   struct agxw_capture_device *device = agxw_capture_state_device(capture->state, record);
   const struct agxw_capture_queue *queue =
      device ? agxw_capture_device_queue(device, submit.queue_id) : NULL;
   for (size_t i = it->first; i < all->count; i++) {
      struct dump_dispatch *dispatch = &all->items[i];
      struct html_dispatch *detail = append(capture, &capture->details, sizeof(*detail));
      const char *label = queue ? label_of(device, queue->vm_id, dispatch->main.va) : "";
      struct agx_table_entry *entry =
         agx_table_get(&capture->dispatch_table, dispatch->submission,
                       (uint64_t)dispatch->command << 32 | dispatch->index);
      if (!detail || !entry || !find_kernel(capture, dispatch, label, &detail->kernel))
         return no_memory();
      entry->value = i + 1;
      ((struct html_kernel *)capture->kernels.data)[detail->kernel].dispatches++;
   }
   return AGX_OK;
}

/* ---- buffers ---- */

static struct html_buffer *find_buffer(struct html_capture *capture,
                                       const struct agxw_capture_record *record, uint32_t handle)
{
   const struct agx_table_entry *entry =
      agx_table_find(&capture->buffer_table, origin(record), handle);
   return entry && entry->value ? (struct html_buffer *)capture->buffers.data + (entry->value - 1)
                                : NULL;
}

static agx_status add_buffer(struct html_capture *capture, const struct agxw_capture_record *record,
                             uint32_t handle, uint64_t bytes)
{
   struct html_buffer *it = append(capture, &capture->buffers, sizeof(*it));
   struct agx_table_entry *entry = agx_table_get(&capture->buffer_table, origin(record), handle);
   if (!it || !entry)
      return no_memory();
   *it = (struct html_buffer){
      .process = record->process, .file = record->file, .handle = handle, .bytes = bytes};
   entry->value = capture->buffers.count;
   capture->buffer_bytes += bytes;
   return AGX_OK;
}

static agx_status close_buffer(struct html_capture *capture,
                               const struct agxw_capture_record *record, uint32_t handle)
{
   struct html_buffer *it = find_buffer(capture, record, handle);
   struct agx_table_entry *entry = agx_table_get(&capture->buffer_table, origin(record), handle);
   if (!entry)
      return no_memory();
   if (it)
      it->is_closed = true;
   entry->value = 0;
   return AGX_OK;
}

static void take_binds(struct html_capture *capture, const struct agxw_capture_record *record)
{
   struct agx_uapi_vm_bind bind;
   uint32_t bytes;
   agxw_capture_argument(record, false, &bind, sizeof(bind));
   const uint8_t *steps =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_vm_bind, userptr), &bytes);
   for (uint64_t i = 0; steps && bind.stride > 0 && i < bind.num_binds && i < bytes / bind.stride;
        i++) {
      struct agx_uapi_gem_bind_op step = {0};
      memcpy(&step, steps + i * bind.stride, AGX_MIN(sizeof(step), bind.stride));
      struct html_buffer *it = find_buffer(capture, record, step.handle);
      if (it && !(step.flags & AGX_UAPI_BIND_UNBIND) && step.offset == 0)
         it->va = step.addr;
   }
}

static agx_status take_request(struct html_capture *capture,
                               const struct agxw_capture_record *record)
{
   union {
      struct agx_uapi_gem_create create;
      struct agx_uapi_gem_close close;
      struct agx_uapi_prime_handle import;
   } argument;
   if (agxw_capture_is_request(record, AGX_IOCTL_ASAHI_SUBMIT))
      return take_submit(capture, record);
   if (record->result != 0)
      return AGX_OK;
   agxw_capture_argument(record, true, &argument, sizeof(argument));
   switch (AGX_UAPI_NR(record->request)) {
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_GET_PARAMS):
      dump_find_chip(record, &capture->chip);
      return AGX_OK;
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_GEM_CREATE):
      return add_buffer(capture, record, argument.create.handle, argument.create.size);
   case AGX_UAPI_NR(AGX_IOCTL_PRIME_FD_TO_HANDLE):
      return find_buffer(capture, record, argument.import.handle)
                ? AGX_OK
                : add_buffer(capture, record, argument.import.handle, 0);
   case AGX_UAPI_NR(AGX_IOCTL_GEM_CLOSE):
      return close_buffer(capture, record, argument.close.handle);
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_VM_BIND):
      take_binds(capture, record);
      return AGX_OK;
   }
   return AGX_OK;
}

/* Keeps the beginning of the buffer as it was recorded last. */
static agx_status take_pages(struct html_capture *capture, const struct agxw_capture_record *record)
{
   struct html_buffer *it = find_buffer(capture, record, record->handle);
   if (!it || record->offset >= capture->contents || capture->contents == 0)
      return AGX_OK;
   if (!it->data) {
      if (capture->contents_kept + capture->contents > 16ull * HTML_MAX_CONTENTS)
         return AGX_OK;
      it->data = calloc(1, capture->contents);
      if (!it->data)
         return no_memory();
      capture->contents_kept += capture->contents;
   }
   for (uint64_t i = 0; i < record->page_count; i++) {
      const struct agxw_capture_place place = {record->file_offset, i};
      uint64_t at = record->offset + i * AGXW_CAPTURE_PAGE_BYTES;
      if (at >= capture->contents)
         break;
      uint32_t bytes = (uint32_t)AGX_MIN(AGXW_CAPTURE_PAGE_BYTES, capture->contents - at);
      AGX_TRY(agxw_capture_page(capture->reader, &place, 0, it->data + at, bytes));
   }
   it->moment = record->moment;
   it->submission = capture->submission_count + (record->moment == AGXW_CAPTURE_BEFORE);
   it->kept = (uint32_t)AGX_MIN(capture->contents, it->bytes ? it->bytes : capture->contents);
   while (it->kept > 0 && it->data[it->kept - 1] == 0)
      it->kept--;
   return AGX_OK;
}

/* ---- records ---- */

static void keep_text(struct html_capture *capture, struct html_list *list,
                      const struct agxw_capture_record *record)
{
   if (list->count >= HTML_MAX_NOTES) {
      capture->notes_left_out++;
      return;
   }
   size_t bytes = AGX_MIN(record->text_bytes, 500);
   char *copy = malloc(bytes + 1);
   char **slot = copy ? append(capture, list, sizeof(*slot)) : NULL;
   if (!slot) {
      capture->is_short = true;
      free(copy);
      return;
   }
   memcpy(copy, record->text, bytes);
   copy[bytes] = 0;
   for (size_t i = 0; i + 1 < bytes; i++) /* arguments, each with a NUL behind it */
      if (copy[i] == 0)
         copy[i] = ' ';
   *slot = copy;
}

static agx_status take_record(struct html_capture *capture,
                              const struct agxw_capture_record *record)
{
   struct html_buffer *buffer;
   AGX_TRY(agxw_capture_state_apply(capture->state, record));
   switch (record->type) {
   case AGXW_CAPTURE_REQUEST:
      return take_request(capture, record);
   case AGXW_CAPTURE_PAGES:
      return take_pages(capture, record);
   case AGXW_CAPTURE_LABEL:
      buffer = find_buffer(capture, record, record->handle);
      if (buffer)
         snprintf(buffer->label, sizeof(buffer->label), "%.*s",
                  (int)AGX_MIN(record->text_bytes, 31), record->text);
      return AGX_OK;
   case AGXW_CAPTURE_IMPORT:
      buffer = find_buffer(capture, record, record->handle);
      if (buffer && buffer->bytes == 0) {
         buffer->bytes = record->object_bytes;
         capture->buffer_bytes += record->object_bytes;
      }
      return AGX_OK;
   case AGXW_CAPTURE_NOTE:
      keep_text(capture, &capture->notes, record);
      return AGX_OK;
   case AGXW_CAPTURE_PROCESS:
      keep_text(capture, &capture->processes, record);
      return AGX_OK;
   case AGXW_CAPTURE_OPEN:
   case AGXW_CAPTURE_CLOSE:
      return AGX_OK;
   }
   return AGX_OK;
}

static agx_status take_records(struct html_capture *capture)
{
   for (;;) {
      struct agxw_capture_record record;
      bool more;
      AGX_TRY(agxw_capture_next(capture->reader, &record, &more));
      if (!more)
         return agxw_capture_state_damage(capture->state);
      AGX_TRY(take_record(capture, &record));
   }
}

/* ---- the replay ---- */

/* The instruction at that offset, or count. */
static size_t find_instr(const struct dump_code *code, uint64_t offset)
{
   size_t low = 0, high = code->count;
   while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (code->instrs[middle].offset < offset)
         low = middle + 1;
      else
         high = middle;
   }
   return low < code->count && code->instrs[low].offset == offset ? low : code->count;
}

static bool add_heat(struct html_kernel *kernel, int part, uint64_t start,
                     const struct agxs_spot *spot, uint64_t va)
{
   const struct dump_code *code = &kernel->code[part];
   size_t index = va >= start ? find_instr(code, va - start) : code->count;
   if (index == code->count)
      return false;
   if (!kernel->heat[part])
      kernel->heat[part] = calloc(code->count, sizeof(struct html_heat));
   if (!kernel->heat[part])
      return false;
   struct html_heat *heat = &kernel->heat[part][index];
   heat->executed += spot->executed;
   heat->stall += spot->stall;
   heat->lanes += spot->lanes;
   heat->complex_pipe += spot->complex_pipe;
   heat->lsu += spot->lsu;
   heat->refetch += spot->refetch;
   return true;
}

static void add_to_sum(struct stat_row *sum, const struct stat_row *row)
{
   uint32_t shared_B = sum->shared_B;
   if (sum->count == 0) {
      *sum = *row;
      sum->shared_B = shared_B;
      return;
   }
   stats_add(sum, row);
}

/* On a thread of the node, during the submission. */
static void take_figures(void *user, const struct stat_row *row,
                         const struct agxs_dispatch_stats *stats)
{
   struct html_capture *capture = user;
   const struct agx_table_entry *entry = agx_table_find(
      &capture->dispatch_table, row->submission, (uint64_t)row->command << 32 | row->dispatch);
   if (!entry || entry->value == 0)
      return;
   size_t index = entry->value - 1;
   struct html_dispatch *detail = (struct html_dispatch *)capture->details.data + index;
   const struct dump_dispatch *dispatch = &capture->dispatches.items[index];
   struct html_kernel *kernel = (struct html_kernel *)capture->kernels.data + detail->kernel;
   if (detail->is_counted)
      return;
   detail->is_counted = true;
   detail->row = *row;
   capture->counted++;
   add_to_sum(&kernel->sum, row);
   for (uint32_t i = 0; i < stats->spot_count; i++) {
      const struct agxs_spot *spot = &stats->spots[i];
      uint64_t va = stats->usc_base + spot->pc;
      if (!add_heat(kernel, 0, dispatch->main.va, spot, va) &&
          !add_heat(kernel, 1, dispatch->preamble.va, spot, va))
         kernel->elsewhere += spot->executed + spot->stall;
   }
}

static void replay(struct html_capture *capture)
{
   bool differs = false;
   agx_status status = stats_watch(capture->path, take_figures, capture, &differs);
   if (capture->trouble[0])
      return;
   if (status != AGX_OK)
      snprintf(capture->trouble, sizeof(capture->trouble), "The replay ended early: %s",
               agx_error_peek());
   else if (differs)
      snprintf(capture->trouble, sizeof(capture->trouble),
               "The replay ended where memory differed from what was recorded; agxdump replay "
               "says where.");
}

/* ---- all of it ---- */

static int by_cycles(const void *a, const void *b)
{
   const struct html_kernel *x = *(const struct html_kernel *const *)a,
                            *y = *(const struct html_kernel *const *)b;
   if (x->sum.cycles != y->sum.cycles)
      return x->sum.cycles < y->sum.cycles ? 1 : -1;
   return x < y ? -1 : x > y;
}

/* Code has a bound: the kernels that take most come first. */
static agx_status choose_kernels(struct html_capture *capture, struct html_sources *sources)
{
   struct html_kernel *kernels = capture->kernels.data;
   struct html_kernel **order = malloc((capture->kernels.count + 1) * sizeof(struct html_kernel *));
   size_t room = HTML_MAX_INSTRS;
   if (!order)
      return no_memory();
   for (size_t i = 0; i < capture->kernels.count; i++)
      order[i] = &kernels[i];
   qsort(order, capture->kernels.count, sizeof(struct html_kernel *), by_cycles);
   agx_status status = AGX_OK;
   for (size_t i = 0; i < capture->kernels.count && status == AGX_OK; i++) {
      struct html_kernel *it = order[i];
      size_t wanted = it->code[0].count + it->code[1].count;
      it->has_code = wanted <= room;
      room -= it->has_code ? wanted : 0;
      status = html_find_program(sources, &it->code[0], &it->program);
   }
   free(order);
   return status;
}

agx_status html_read(struct html_capture *capture, struct html_sources *sources)
{
   int fd = open(capture->path, O_RDONLY | O_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "%s", capture->path);
   agx_status status = agxw_capture_open_fd(NULL, fd, &capture->reader);
   if (status == AGX_OK)
      status = agxw_capture_state_create(NULL, capture->reader, &capture->state);
   if (status != AGX_OK) {
      agx_error_prefix("%s", capture->path);
      return status;
   }
   snprintf(capture->node, sizeof(capture->node), "%s", agxw_capture_node(capture->reader));
   status = take_records(capture);
   if (status == AGX_RESOURCE_EXHAUSTED || capture->is_short)
      return no_memory();
   if (status != AGX_OK)
      snprintf(capture->trouble, sizeof(capture->trouble), "The capture ends early: %s",
               agx_error_peek());
   if (!capture->is_read_only)
      replay(capture);
   return choose_kernels(capture, sources);
}

static void free_texts(struct html_list *list)
{
   char **texts = list->data;
   for (size_t i = 0; i < list->count; i++)
      free(texts[i]);
   free(list->data);
}

void html_free(struct html_capture *capture)
{
   struct html_kernel *kernels = capture->kernels.data;
   struct html_buffer *buffers = capture->buffers.data;
   for (size_t i = 0; i < capture->kernels.count; i++)
      for (int part = 0; part < 2; part++) {
         free(kernels[i].code[part].instrs);
         free(kernels[i].heat[part]);
      }
   for (size_t i = 0; i < capture->buffers.count; i++)
      free(buffers[i].data);
   free(kernels);
   free(buffers);
   free(capture->details.data);
   free(capture->submissions.data);
   free(capture->queues.data);
   free_texts(&capture->notes);
   free_texts(&capture->processes);
   dump_free_dispatches(&capture->dispatches);
   agx_table_fini(&capture->kernel_table);
   agx_table_fini(&capture->dispatch_table);
   agx_table_fini(&capture->buffer_table);
   agx_table_fini(&capture->queue_table);
   agxw_capture_state_destroy(capture->state);
   agxw_capture_close(capture->reader);
}
