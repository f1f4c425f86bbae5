/* SPDX-License-Identifier: MIT
 *
 * What a capture is made of: its objects, submissions, commands and dispatches, all kept at first.
 */
#include "cut.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agxdump.h"
#include "base/util.h"
#include "cut_impl.h"
#include "dispatches.h"
#include "winsys/asahi_uapi.h"

agx_status cut_no_memory(void)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the parts of the capture");
}

void *cut_grow(void *data, size_t count, size_t *capacity, size_t element)
{
   if (count < *capacity)
      return data;
   size_t wanted = AGX_MAX(2 * *capacity, 64);
   void *grown = realloc(data, wanted * element);
   if (grown)
      *capacity = wanted;
   return grown;
}

/* ---- objects ---- */

agx_status cut_follow_objects(struct cut_names *names, const struct agxw_capture_record *record,
                              uint32_t *out_new, uint64_t *out_bytes)
{
   union {
      struct agx_uapi_gem_create create;
      struct agx_uapi_gem_close close;
      struct agx_uapi_prime_handle import;
   } argument;
   uint32_t request = AGX_UAPI_NR(record->request), handle = 0;
   *out_new = 0;
   if (record->type != AGXW_CAPTURE_REQUEST || record->result != 0)
      return AGX_OK;
   agxw_capture_argument(record, true, &argument, sizeof(argument));
   if (request == AGX_UAPI_NR(AGX_IOCTL_ASAHI_GEM_CREATE)) {
      handle = argument.create.handle;
      *out_bytes = argument.create.size;
   } else if (request == AGX_UAPI_NR(AGX_IOCTL_PRIME_FD_TO_HANDLE) &&
              !cut_find_object(names, record, argument.import.handle)) {
      handle = argument.import.handle;
      *out_bytes = 0;
   }
   if (handle == 0)
      return AGX_OK;
   struct agx_table_entry *entry =
      agx_table_get(&names->handles, (uint64_t)record->process << 32 | record->file, handle);
   if (!entry)
      return cut_no_memory();
   entry->value = ++names->count;
   *out_new = names->count;
   return AGX_OK;
}

void cut_forget_object(struct cut_names *names, const struct agxw_capture_record *record)
{
   struct agx_uapi_gem_close close;
   agxw_capture_argument(record, false, &close, sizeof(close));
   struct agx_table_entry *entry =
      agx_table_get(&names->handles, (uint64_t)record->process << 32 | record->file, close.handle);
   if (entry)
      entry->value = 0;
}

uint32_t cut_find_object(const struct cut_names *names, const struct agxw_capture_record *record,
                         uint32_t handle)
{
   const struct agx_table_entry *entry =
      agx_table_find(&names->handles, (uint64_t)record->process << 32 | record->file, handle);
   return entry ? (uint32_t)entry->value : 0;
}

/* ---- the survey ---- */

struct survey {
   struct cut *cut;
   struct cut_names names;
   struct agxw_capture_state *state;
   struct dump_dispatches found; /* of one submission */
};

static agx_status add_object(struct survey *survey, const struct agxw_capture_record *record)
{
   struct cut *cut = survey->cut;
   uint32_t added;
   uint64_t bytes = 0;
   AGX_TRY(cut_follow_objects(&survey->names, record, &added, &bytes));
   if (!added)
      return AGX_OK;
   struct cut_object *objects =
      cut_grow(cut->objects, cut->object_count, &cut->object_capacity, sizeof(*objects));
   if (!objects)
      return cut_no_memory();
   cut->objects = objects;
   uint32_t handle = 0;
   struct agx_uapi_gem_create create;
   struct agx_uapi_prime_handle import;
   agxw_capture_argument(record, true, &create, sizeof(create));
   agxw_capture_argument(record, true, &import, sizeof(import));
   handle = bytes ? create.handle : import.handle;
   struct agx_table_entry *last =
      agx_table_get(&cut->last_objects, (uint64_t)record->process << 32 | record->file, handle);
   if (!last)
      return cut_no_memory();
   objects[cut->object_count++] = (struct cut_object){.process = record->process,
                                                      .file = record->file,
                                                      .handle = handle,
                                                      .bytes = bytes,
                                                      .made = cut->submission_count,
                                                      .earlier = (uint32_t)last->value,
                                                      .is_kept = true};
   last->value = cut->object_count;
   return AGX_OK;
}

static void take_name(struct survey *survey, const struct agxw_capture_record *record)
{
   uint32_t object = cut_find_object(&survey->names, record, record->handle);
   if (!object)
      return;
   struct cut_object *it = &survey->cut->objects[object - 1];
   if (record->type == AGXW_CAPTURE_IMPORT)
      it->bytes = record->object_bytes;
   else
      snprintf(it->label, sizeof(it->label), "%.*s", (int)AGX_MIN(record->text_bytes, 31),
               record->text);
}

static agx_status add_commands(struct cut *cut, struct cut_submission *it,
                               const struct agxw_capture_record *record)
{
   struct agx_uapi_cmd_header header;
   uint32_t bytes;
   const uint8_t *commands =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_submit, cmdbuf), &bytes);
   it->first_command = cut->command_count;
   for (uint32_t at = 0; at + sizeof(header) <= bytes;
        at += (uint32_t)sizeof(header) + header.size) {
      memcpy(&header, commands + at, sizeof(header));
      struct cut_command *grown =
         cut_grow(cut->commands, cut->command_count, &cut->command_capacity, sizeof(*grown));
      if (!grown)
         return cut_no_memory();
      cut->commands = grown;
      grown[cut->command_count++] = (struct cut_command){.is_kept = true};
      it->command_count++;
   }
   return AGX_OK;
}

static agx_status add_dispatches(struct survey *survey, struct cut_submission *it,
                                 const struct agxw_capture_record *record)
{
   struct cut *cut = survey->cut;
   dump_find_chip(record, &cut->chip);
   it->first_dispatch = cut->dispatch_count;
   if (!cut->chip)
      return AGX_OK;
   AGX_TRY(
      dump_add_dispatches(&survey->found, survey->state, record, cut->chip, cut->submission_count));
   for (size_t i = 0; i < survey->found.count; i++) {
      const struct dump_dispatch *found = &survey->found.items[i];
      struct cut_dispatch *grown =
         cut_grow(cut->dispatches, cut->dispatch_count, &cut->dispatch_capacity, sizeof(*grown));
      if (!grown)
         return cut_no_memory();
      cut->dispatches = grown;
      grown[cut->dispatch_count++] = (struct cut_dispatch){.command = found->command,
                                                           .index = found->index,
                                                           .va = found->stream_va,
                                                           .bytes = found->stream_bytes,
                                                           .is_kept = true};
      it->dispatch_count++;
   }
   dump_free_dispatches(&survey->found);
   return AGX_OK;
}

static agx_status add_submission(struct survey *survey, const struct agxw_capture_record *record)
{
   struct cut *cut = survey->cut;
   struct agx_uapi_submit submit;
   agxw_capture_argument(record, false, &submit, sizeof(submit));
   struct cut_submission *grown =
      cut_grow(cut->submissions, cut->submission_count, &cut->submission_capacity, sizeof(*grown));
   if (!grown)
      return cut_no_memory();
   cut->submissions = grown;
   struct cut_submission *it = &grown[cut->submission_count++];
   *it = (struct cut_submission){.process = record->process, .file = record->file, .is_kept = true};
   const struct agxw_capture_device *device = agxw_capture_state_device(survey->state, record);
   const struct agxw_capture_queue *queue =
      device ? agxw_capture_device_queue(device, submit.queue_id) : NULL;
   it->vm_id = queue ? queue->vm_id : 0;
   AGX_TRY(add_commands(cut, it, record));
   return add_dispatches(survey, it, record);
}

static agx_status survey_record(struct survey *survey, const struct agxw_capture_record *record)
{
   AGX_TRY(agxw_capture_state_apply(survey->state, record));
   if (record->type == AGXW_CAPTURE_LABEL || record->type == AGXW_CAPTURE_IMPORT)
      take_name(survey, record);
   if (record->type != AGXW_CAPTURE_REQUEST || record->result != 0)
      return AGX_OK;
   dump_find_chip(record, &survey->cut->chip);
   if (agxw_capture_is_request(record, AGX_IOCTL_ASAHI_SUBMIT))
      return add_submission(survey, record);
   AGX_TRY(add_object(survey, record));
   if (agxw_capture_is_request(record, AGX_IOCTL_GEM_CLOSE))
      cut_forget_object(&survey->names, record);
   return AGX_OK;
}

static agx_status survey_records(struct survey *survey)
{
   for (;;) {
      struct agxw_capture_record record;
      bool more;
      AGX_TRY(agxw_capture_next(survey->cut->reader, &record, &more));
      if (survey->cut->begin == 0)
         survey->cut->begin = record.file_offset;
      if (!more)
         return AGX_OK;
      AGX_TRY(survey_record(survey, &record));
   }
}

agx_status cut_survey(struct cut *cut, struct agxw_capture_reader *reader)
{
   struct survey survey = {.cut = cut};
   *cut = (struct cut){.reader = reader};
   agx_status status = agxw_capture_state_create(NULL, reader, &survey.state);
   if (status == AGX_OK)
      status = survey_records(&survey);
   dump_free_dispatches(&survey.found);
   agx_table_fini(&survey.names.handles);
   agxw_capture_state_destroy(survey.state);
   return status;
}

agx_status cut_make_trial(char path[CUT_TRIAL_BYTES])
{
   const char *folder = getenv("TMPDIR");
   int length = snprintf(path, CUT_TRIAL_BYTES, "%s/agxdump-trial-XXXXXX",
                         folder && *folder ? folder : "/tmp");
   int fd = -1, error = ENAMETOOLONG;
   if (length < CUT_TRIAL_BYTES) {
      fd = mkstemp(path);
      error = errno;
   }
   if (fd >= 0) {
      close(fd);
      return AGX_OK;
   }
   agx_status status = agx_status_fail_errno(error, "file for trials %s", path);
   path[0] = 0;
   return status;
}

void cut_free(struct cut *cut)
{
   free(cut->objects);
   agx_table_fini(&cut->last_objects);
   free(cut->submissions);
   free(cut->commands);
   free(cut->dispatches);
   free(cut->pages);
}
