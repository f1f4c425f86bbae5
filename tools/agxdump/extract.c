/* SPDX-License-Identifier: MIT
 *
 * agxdump extract: one dispatch of a capture by itself. The capture is replayed up to it; memory
 * before and behind it becomes raw files with a manifest for `agx run`, and a capture of that
 * dispatch alone.
 */
#include "extract.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agx/sim/check/statistics.h"
#include "agxdump.h"
#include "base/util.h"
#include "winsys/capture/record.h"

#define PAGE_BYTES   AGXW_CAPTURE_PAGE_BYTES
#define MAX_FOLDER_B 900u /* of its name: paths in it have 1024 */

static const char help[] =
   "usage: agxdump extract FILE -o DIR [--submit N] [--command N] [--dispatch N]\n"
   "                       [--device virtual:CHIP]\n"
   "\n"
   "Writes one dispatch to a folder: the first of FILE, or of a submission (from 1), or the one "
   "with\n"
   "that number (from 0) in its command (from 0), as in SUBMISSION.COMMAND.DISPATCH of stats.\n"
   "\n"
   "  DIR/kernel.bin, DIR/preamble.bin   its code, to its stop and the traps behind\n"
   "  DIR/kernel.elf                     the kernel as `agx run` takes it, uniforms included\n"
   "  DIR/kernel.ID.bin                  buffers as the dispatch finds them\n"
   "  DIR/after/kernel.ID.bin            those that it changes, as it leaves them\n"
   "  DIR/dispatch.txt                   the manifest: agx run DIR/kernel.elf\n"
   "                                     --manifest DIR/dispatch.txt --check DIR/after\n"
   "  DIR/dispatch.capture               a capture of this dispatch alone, for `agxdump replay`\n"
   "\n"
   "A kernel that uses textures, samplers or memory that a manifest can't describe has no ELF and "
   "no\n"
   "manifest; dispatch.capture repeats it all the same. Exit code 0: all was written; 3: that "
   "one.\n";

/* ---- files ---- */

agx_status extract_open(const struct extract *extract, const char *name, FILE **out_file)
{
   char path[1024];
   snprintf(path, sizeof(path), "%s/%s", extract->folder, name);
   AGX_TRY(cut_refuse_input(extract->input, path));
   int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
   int error = fd < 0 ? errno : agxw_capture_make_private(fd);
   *out_file = error ? NULL : fdopen(fd, "wb");
   if (*out_file)
      return AGX_OK;
   agx_status status = agx_status_fail_errno(error ? error : errno, "%s can't be written", path);
   if (fd >= 0)
      close(fd);
   return status;
}

agx_status extract_write(const struct extract *extract, const char *name, const void *data,
                         size_t bytes)
{
   FILE *file;
   AGX_TRY(extract_open(extract, name, &file));
   bool is_whole = fwrite(data, 1, bytes, file) == bytes;
   is_whole = fclose(file) == 0 && is_whole;
   return is_whole ? AGX_OK
                   : agx_status_fail_errno(errno, "%s/%s can't be written", extract->folder, name);
}

static agx_status make_folder(const char *path)
{
   if (mkdir(path, 0777) != 0 && errno != EEXIST)
      return agx_status_fail_errno(errno, "folder %s", path);
   return AGX_OK;
}

/* ---- memory ---- */

struct extract_range *extract_find(const struct extract *extract, uint64_t va)
{
   size_t low = 0, high = extract->range_count; /* they stand in the order of addresses */
   while (low < high) {
      size_t middle = low + (high - low) / 2;
      struct extract_range *it = &extract->ranges[middle];
      if (va >= it->va && va - it->va < it->bytes)
         return it;
      if (va < it->va)
         high = middle;
      else
         low = middle + 1;
   }
   return NULL;
}

bool extract_read(const struct extract *extract, const struct cut_image *image, uint64_t va,
                  void *out, size_t bytes)
{
   uint8_t *at = out;
   while (bytes > 0) {
      const struct extract_range *range = extract_find(extract, va);
      if (!range)
         return false;
      uint64_t offset = range->offset + (range->single_page ? va % PAGE_BYTES : va - range->va);
      size_t part = AGX_MIN(bytes, PAGE_BYTES - offset % PAGE_BYTES);
      const uint8_t *page = cut_image_page(image, range->object, offset / PAGE_BYTES);
      if (page)
         memcpy(at, page + offset % PAGE_BYTES, part);
      else
         memset(at, 0, part);
      va += part;
      at += part;
      bytes -= part;
   }
   return true;
}

static agx_status take_ranges(struct extract *extract, struct replay_device *device,
                              const struct agxw_capture_record *record)
{
   const struct agxw_capture_device *recorded =
      agxw_capture_state_device(device->replay->state, record);
   uint32_t vm_id = extract->cut.submissions[extract->submission - 1].vm_id;
   struct agxw_capture_mapping it;
   for (uint64_t va = 0; recorded && agxw_capture_device_mapping(recorded, vm_id, va, &it);
        va = it.va + it.bytes) {
      struct extract_range *grown =
         cut_grow(extract->ranges, extract->range_count, &extract->range_capacity, sizeof(*grown));
      if (!grown)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the mappings");
      extract->ranges = grown;
      grown[extract->range_count] = (struct extract_range){
         .va = it.va,
         .bytes = it.bytes,
         .offset = it.offset,
         .object = cut_object_of(&extract->cut, extract->submission, device, it.object->handle),
         .single_page = it.single_page};
      if (grown[extract->range_count].object != UINT32_MAX)
         extract->range_count++;
   }
   return AGX_OK;
}

static agx_status take_image(const struct extract *extract, struct replay_device *device,
                             struct cut_image *image)
{
   return cut_take_image(&extract->cut, extract->submission, device, image);
}

/* ---- the replay ---- */

struct look {
   struct extract *extract;
   struct replay_device *device;
   size_t before; /* which dispatch of the cut's comes first; dispatch_count: none */
};

/* Images are taken on the node's threads; what goes wrong there is told later. */
static void keep_status(struct extract *extract, agx_status status)
{
   if (status == AGX_OK || extract->status != AGX_OK)
      return;
   extract->status = status;
   agx_error_save(extract->text);
}

static const struct cut_dispatch *wanted_dispatch(const struct extract *extract, size_t *out_at)
{
   const struct cut_submission *it = &extract->cut.submissions[extract->submission - 1];
   for (size_t i = 0; i < it->dispatch_count; i++) {
      const struct cut_dispatch *dispatch = &extract->cut.dispatches[it->first_dispatch + i];
      *out_at = i;
      if (dispatch->command == extract->command && dispatch->index == extract->wanted)
         return dispatch;
   }
   return NULL;
}

static agx_status begin(void *user, struct replay_device *device,
                        const struct agxw_capture_record *record)
{
   struct look *look = user;
   look->device = device;
   for (size_t i = 0; i < device->buffer_count; i++)
      if (device->buffers[i].handle && device->buffers[i].is_bound)
         AGX_TRY(replay_map_buffer(device, &device->buffers[i]));
   AGX_TRY(take_ranges(look->extract, device, record));
   look->extract->is_begun = true;
   return look->before == SIZE_MAX ? take_image(look->extract, device, &look->extract->before)
                                   : AGX_OK;
}

static void see_dispatch(void *user, uint32_t command, const struct agxs_dispatch_stats *stats)
{
   struct look *look = user;
   struct extract *extract = look->extract;
   const struct cut_submission *submission = &extract->cut.submissions[extract->submission - 1];
   const struct cut_dispatch *dispatches = &extract->cut.dispatches[submission->first_dispatch];
   if (look->before != SIZE_MAX && dispatches[look->before].command == command &&
       dispatches[look->before].index == stats->index)
      keep_status(extract, take_image(extract, look->device, &extract->before));
   if (command != extract->command || stats->index != extract->wanted)
      return;
   memcpy(extract->grid, stats->grid, sizeof(extract->grid));
   memcpy(extract->local, stats->local, sizeof(extract->local));
   extract->usc_base = stats->usc_base;
   extract->instructions = stats->counts.issue;
   keep_status(extract, take_image(extract, look->device, &extract->after));
   extract->is_done = true;
}

static agx_status look_at_dispatch(struct extract *extract, const struct replay_options *options)
{
   struct look look = {.extract = extract};
   struct replay_watcher watcher = {
      .submission = extract->submission, .user = &look, .begin = begin, .dispatch = see_dispatch};
   struct replay replay = {.reader = extract->cut.reader, .begin = extract->cut.begin};
   struct replay_options now = *options;
   size_t at = 0;
   const struct cut_dispatch *wanted = wanted_dispatch(extract, &at);
   if (!wanted)
      return AGX_FAIL(AGX_NOT_FOUND,
                      "submission %" PRIu64 " has no dispatch %" PRIu64 ".%" PRIu64
                      "; it has %u (agxdump stats lists them)",
                      extract->submission, extract->command, extract->wanted,
                      extract->cut.submissions[extract->submission - 1].dispatch_count);
   look.before = at == 0 ? SIZE_MAX : at - 1;
   now.repeat = 1;
   now.last_submit = extract->submission;
   AGX_TRY(replay_again(&replay, &now, &watcher));
   if (extract->status != AGX_OK)
      agx_error_restore(extract->text);
   AGX_TRY(extract->status);
   if (!extract->is_begun)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "submission %" PRIu64 " isn't reached: memory differs before it (agxdump "
                      "replay)",
                      extract->submission);
   return extract->is_done ? AGX_OK
                           : AGX_FAIL(AGX_INTERNAL,
                                      "dispatch %" PRIu64 ".%" PRIu64 ".%" PRIu64
                                      " doesn't run to its end here (agxdump replay)",
                                      extract->submission, extract->command, extract->wanted);
}

/* ---- what it is ---- */

static bool read_before(void *user, uint64_t va, void *out, size_t bytes)
{
   const struct extract *extract = user;
   return extract_read(extract, &extract->before, va, out, bytes);
}

static agx_status take_launch(void *user, const struct agx_hw_launch *launch,
                              const struct agx_hw_usc_info *program)
{
   struct extract *extract = user;
   extract->launch = *launch;
   extract->program = *program;
   return AGX_CANCELLED; /* enough */
}

static agx_status take_trouble(void *user, const struct agx_hw_packet *packet, uint64_t va)
{
   return AGX_OK;
}

/* The launch's words are read again from memory as it finds them. */
static agx_status read_launch(struct extract *extract)
{
   size_t at;
   const struct cut_dispatch *dispatch = wanted_dispatch(extract, &at);
   const struct agx_hw_reader reader = {extract, read_before};
   const struct agx_hw_visitor visitor = {
      .user = extract, .launch = take_launch, .trouble = take_trouble};
   agx_status status =
      agx_hw_walk_cdm(extract->cut.chip, &reader, extract->usc_base, dispatch->va, &visitor);
   return status == AGX_CANCELLED ? AGX_OK : status;
}

void extract_choose_parts(struct extract *extract)
{
   struct cut *cut = &extract->cut;
   const struct cut_submission *submission = &cut->submissions[extract->submission - 1];
   for (size_t i = 0; i < cut->submission_count; i++)
      cut->submissions[i].is_kept = i + 1 == extract->submission;
   for (uint32_t i = 0; i < submission->command_count; i++)
      cut->commands[submission->first_command + i].is_kept = i == extract->command;
   for (uint32_t i = 0; i < submission->dispatch_count; i++) {
      struct cut_dispatch *it = &cut->dispatches[submission->first_dispatch + i];
      it->is_kept = it->command == extract->command && it->index == extract->wanted;
   }
   for (size_t i = 0; i < cut->object_count; i++)
      cut->objects[i].is_kept = false;
   for (size_t i = 0; i < extract->range_count; i++)
      cut->objects[extract->ranges[i].object].is_kept = true;
   cut->drops_syncs = true;
   cut->before = &extract->before;
   cut->after = &extract->after;
}

static agx_status choose_submission(struct extract *extract)
{
   const struct cut *cut = &extract->cut;
   for (size_t i = 0; i < cut->submission_count && extract->submission == 0; i++)
      if (cut->submissions[i].dispatch_count > 0)
         extract->submission = i + 1;
   if (extract->submission == 0)
      return AGX_FAIL(AGX_NOT_FOUND, "none of %zu submissions has a dispatch",
                      cut->submission_count);
   if (extract->submission > cut->submission_count)
      return AGX_FAIL(AGX_NOT_FOUND, "there is no submission %" PRIu64 "; the last is %zu",
                      extract->submission, cut->submission_count);
   return AGX_OK;
}

static agx_status run(struct extract *extract, const struct replay_options *options,
                      struct agxw_capture_reader *reader, char *out_why, size_t capacity)
{
   char path[1024];
   extract->options = options;
   snprintf(path, sizeof(path), "%s/dispatch.capture", extract->folder);
   AGX_TRY(cut_refuse_input(extract->input, path));
   AGX_TRY(cut_survey(&extract->cut, reader));
   AGX_TRY(choose_submission(extract));
   AGX_TRY(look_at_dispatch(extract, options));
   AGX_TRY(read_launch(extract));
   AGX_TRY(make_folder(extract->folder));
   snprintf(path, sizeof(path), "%s/after", extract->folder);
   AGX_TRY(make_folder(path));
   extract_choose_parts(extract);
   AGX_TRY(extract_program(extract, out_why, capacity));
   snprintf(path, sizeof(path), "%s/dispatch.capture", extract->folder);
   return cut_write(&extract->cut, path);
}

/* ---- the command ---- */

static agx_status parse(struct extract *extract, struct replay *replay, int argc, char **argv)
{
   const struct {
      const char *name;
      uint64_t *number;
      uint64_t least;
   } numbers[] = {{"--submit", &extract->submission, 1},
                  {"--command", &extract->command, 0},
                  {"--dispatch", &extract->wanted, 0}};
   for (int i = 2; i < argc; i++) {
      size_t at = 0;
      while (at < AGX_COUNT(numbers) && strcmp(numbers[at].name, argv[i]) != 0)
         at++;
      bool is_folder = strcmp(argv[i], "-o") == 0;
      if (at == AGX_COUNT(numbers) && !is_folder) {
         if (argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--device") != 0)
            return AGX_FAIL(AGX_INVALID_ARGUMENT, "unexpected \"%s\"", argv[i]);
         AGX_TRY(replay_option(replay, argc, argv, &i));
         continue;
      }
      const char *name = argv[i], *value = ++i < argc ? argv[i] : NULL;
      char *end = NULL;
      if (!value)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: its value is missing", name);
      if (is_folder) {
         extract->folder = value;
         continue;
      }
      *numbers[at].number = strtoull(value, &end, 10);
      if (value[0] < '0' || value[0] > '9' || *end || *numbers[at].number < numbers[at].least)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s %s: a number from %" PRIu64 " on is wanted",
                         name, value, numbers[at].least);
   }
   if (!replay->file || !extract->folder)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "FILE and -o DIR are wanted");
   if (strlen(extract->folder) > MAX_FOLDER_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "-o: the name has %zu bytes, the limit is %u",
                      strlen(extract->folder), MAX_FOLDER_B);
   return AGX_OK;
}

static agx_status open_file(const char *path, int *out_fd, struct agxw_capture_reader **out_reader)
{
   int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "can't be read");
   *out_fd = fd;
   return agxw_capture_open_fd(NULL, fd, out_reader);
}

int dump_extract(int argc, char **argv)
{
   struct extract extract = {.input = -1};
   struct replay replay = {0}; /* its options only */
   struct agxw_capture_reader *reader = NULL;
   char why[AGX_ERROR_TEXT_BYTES] = "";
   if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
      fputs(help, stdout);
      return 0;
   }
   if (parse(&extract, &replay, argc, argv) != AGX_OK) {
      fprintf(stderr, "agxdump extract: %s\n%s", agx_error_peek(), help);
      return 2;
   }
   agx_status status = open_file(replay.file, &extract.input, &reader);
   if (status == AGX_OK)
      status = run(&extract, &replay.options, reader, why, sizeof(why));
   if (status != AGX_OK)
      fprintf(stderr, "agxdump: %s: %s\n", replay.file, agx_error_peek());
   else if (why[0])
      printf("%s/dispatch.capture holds dispatch %" PRIu64 ".%" PRIu64 ".%" PRIu64
             "; there is no manifest: %s\n",
             extract.folder, extract.submission, extract.command, extract.wanted, why);
   else
      printf("dispatch %" PRIu64 ".%" PRIu64 ".%" PRIu64 ": agx run %s/kernel.elf --manifest "
             "%s/dispatch.txt --check %s/after\n",
             extract.submission, extract.command, extract.wanted, extract.folder, extract.folder,
             extract.folder);
   cut_image_free(&extract.before);
   cut_image_free(&extract.after);
   cut_free(&extract.cut);
   free(extract.ranges);
   agxw_capture_close(reader);
   return status != AGX_OK ? 1 : why[0] ? 3 : 0;
}
