/* SPDX-License-Identifier: MIT
 *
 * agxdump replay: the command, and the walk over the records.
 */
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx/chip.h"
#include "agxdump.h"
#include "base/util.h"
#include "print.h"
#include "winsys/virtual/virtual.h"
#include "winsys/winsys.h"

#define MAX_LOOK_AHEAD 64 /* records */
/* Some seconds of the simulator, and a tenth of a second of hardware where no SIMD-group waits. */
#define DEFAULT_INSTRUCTIONS (UINT64_C(1) << 28)

static const char help[] =
   "usage: agxdump replay [OPTION...] FILE\n"
   "\n"
   "Makes the recorded requests again, on a device of its own, and compares memory behind each\n"
   "submission with what was recorded there. Exit code 0: no difference and no fault.\n"
   "\n"
   "  --device NAME    virtual:CHIP or drm; without it the recorded chip, virtual\n"
   "  --check          the virtual AGX objects to what hardware leaves undefined\n"
   "  --strict         its soft faults end a submission\n"
   "  --chaos SEED     it orders what the stream doesn't by this number\n"
   "  --instructions N\n"
   "                   ends a command that executes more in one SIMD-group; 268435456 without it,\n"
   "                   or AGX_VIRTUAL_TIMEOUT\n"
   "  --until N        ends behind submission N\n"
   "  --repeat N       makes each submission N times, from the same memory\n"
   "  --timing         prints how long each takes on this machine\n";

/* ---- devices ---- */

static agx_status set_options(const struct replay *replay, struct agx_kmd *kmd)
{
   struct agx_virtual_node *node = agx_kmd_virtual_node(kmd);
   const struct replay_options *options = &replay->options;
   if (options->is_checked)
      agx_virtual_set_option(node, AGX_VIRTUAL_CHECK, 1);
   if (options->is_strict)
      agx_virtual_set_option(node, AGX_VIRTUAL_STRICT, 1);
   if (options->chaos)
      agx_virtual_set_option(node, AGX_VIRTUAL_CHAOS, options->chaos);
   const char *timeout = getenv("AGX_VIRTUAL_TIMEOUT");
   if (options->limit || !timeout || !*timeout)
      agx_virtual_set_option(node, AGX_VIRTUAL_TIMEOUT,
                             options->limit ? options->limit : DEFAULT_INSTRUCTIONS);
   int error = replay->on_counters
                  ? agx_virtual_watch_counters(agx_kmd_virtual_file(kmd), replay->on_counters,
                                               replay->counters_user)
                  : 0;
   return error ? agx_status_fail_errno(error, "counting") : AGX_OK;
}

static agx_status open_device(struct replay_device *device)
{
   const struct replay *replay = device->replay;
   const char *name = replay->options.device;
   char node[64]; /* which messages repeat */
   print_clean(agxw_capture_node(replay->reader), node, sizeof(node));
   if (replay->recorded_chip)
      snprintf(node, sizeof(node), "virtual:%s", replay->recorded_chip->name);
   if (!name)
      name = strncmp(node, "virtual:", 8) == 0 ? node : "virtual";
   if (replay->options.node)
      AGX_TRY(agx_kmd_virtual_open_on(replay->options.node, &device->kmd));
   else
      AGX_TRY(agxw_kmd_open(name, NULL, &device->kmd));
   if (strncmp(name, "virtual", 7) == 0)
      return set_options(replay, device->kmd);
   if (replay->options.is_checked || replay->options.is_strict || replay->options.chaos ||
       replay->on_counters)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s: --check, --strict, --chaos and statistics are of the virtual AGX", name);
   return AGX_OK;
}

static struct replay_device *look_up_device(const struct replay *replay,
                                            const struct agxw_capture_record *record)
{
   struct replay_device *it = replay->devices;
   while (it && (it->process != record->process || it->file != record->file))
      it = it->next;
   return it;
}

static agx_status find_device(struct replay *replay, const struct agxw_capture_record *record,
                              struct replay_device **out_device)
{
   *out_device = look_up_device(replay, record);
   if (*out_device)
      return AGX_OK;
   struct replay_device *device = calloc(1, sizeof(*device));
   if (!device)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for a device of the replay");
   *device = (struct replay_device){
      .process = record->process, .file = record->file, .replay = replay, .next = replay->devices};
   replay->devices = device;
   *out_device = device;
   return open_device(device);
}

static void close_device(struct replay_device *device)
{
   for (size_t i = 0; i < device->buffer_count; i++)
      replay_unmap_buffer(device, &device->buffers[i]);
   for (size_t i = 0; i < device->ids.capacity; i++) {
      const struct agx_table_entry *id = &device->ids.entries[i];
      if (id->group == REPLAY_FD && id->value)
         close((int)id->value - 1);
   }
   if (device->kmd)
      device->kmd->ops->close(device->kmd);
   agx_table_fini(&device->ids);
   free(device->buffers);
   free(device->times);
   free(device);
}

/* A recorded device may be closed, and another get its number. */
static void forget_device(struct replay *replay, struct replay_device *device)
{
   struct replay_device **place = &replay->devices;
   while (*place != device)
      place = &(*place)->next;
   *place = device->next;
   close_device(device);
}

/* ---- chips ---- */

static void compare_number(const char *name, uint64_t then, uint64_t now)
{
   if (then != now)
      fprintf(stderr,
              "agxdump replay: %s: %" PRIu64 " (%#" PRIx64 ") when recorded, %" PRIu64 " (%#" PRIx64
              ") here\n",
              name, then, then, now, now);
}

/* What doesn't fit where the chip is another. */
static void compare_chips(struct replay_device *device, const struct agxw_capture_record *record)
{
   struct agx_uapi_params_global then = {0}, now = {0};
   uint32_t bytes;
   const void *data =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_get_params, pointer), &bytes);
   struct agx_uapi_get_params get = {.pointer = (uintptr_t)&now, .size = sizeof(now)};
   if (!data || record->result != 0 ||
       device->kmd->ops->ioctl(device->kmd, AGX_IOCTL_ASAHI_GET_PARAMS, &get) != 0)
      return;
   memcpy(&then, data, AGX_MIN(bytes, sizeof(then)));
   if (bytes < sizeof(then))
      return;
   compare_number("chip", then.chip_id, now.chip_id);
   compare_number("GPU generation", then.gpu_generation, now.gpu_generation);
   compare_number("clusters", then.num_clusters_total, now.num_clusters_total);
   compare_number("cores of a cluster", then.num_cores_per_cluster, now.num_cores_per_cluster);
   compare_number("first address", then.vm_start, now.vm_start);
   compare_number("end of addresses", then.vm_end, now.vm_end);
   compare_number("commands of a submission", then.max_commands_per_submission,
                  now.max_commands_per_submission);
}

/* The chip that a device was, by the answer to GET_PARAMS: looked for behind the device's first
 * request, which is read once more; programs ask early. */
static agx_status find_recorded_chip(struct replay *replay, struct agxw_capture_record *first)
{
   struct agxw_capture_record record = *first;
   struct agx_uapi_params_global params;
   bool more = true;
   replay->recorded_chip = NULL;
   for (unsigned i = 0; i < MAX_LOOK_AHEAD && more; i++) {
      uint32_t bytes = 0;
      const void *data = NULL;
      if (agxw_capture_is_request(&record, AGX_IOCTL_ASAHI_GET_PARAMS) && record.result == 0 &&
          record.process == first->process && record.file == first->file)
         data =
            agxw_capture_find_blob(&record, offsetof(struct agx_uapi_get_params, pointer), &bytes);
      if (data && bytes >= sizeof(params)) {
         memcpy(&params, data, sizeof(params));
         replay->recorded_chip = agx_chip_by_id(params.chip_id);
         break;
      }
      if (agxw_capture_next(replay->reader, &record, &more) != AGX_OK)
         break; /* the damage is told where it stands */
   }
   agxw_capture_seek(replay->reader, first->file_offset);
   return agxw_capture_next(replay->reader, first, &more);
}

/* ---- records ---- */

static void take_label(struct replay_device *device, const struct agxw_capture_record *record)
{
   struct replay_buffer *buffer = replay_find_buffer(device, record->handle);
   if (buffer)
      print_clean_bytes(record->text, record->text_bytes, buffer->label, sizeof(buffer->label));
}

/* A buffer that another device or driver made is one of our own here. */
static agx_status take_import(struct replay_device *device,
                              const struct agxw_capture_record *record)
{
   if (replay_find_buffer(device, record->handle))
      return AGX_OK;
   struct agx_uapi_gem_create create = {.size = record->object_bytes};
   int error = device->kmd->ops->ioctl(device->kmd, AGX_IOCTL_ASAHI_GEM_CREATE, &create);
   if (error)
      return agx_status_fail_errno(error, "GEM_CREATE of %" PRIu64 " bytes for an imported buffer",
                                   record->object_bytes);
   return replay_add_buffer(device, record->handle, create.handle, record->object_bytes);
}

static agx_status take_record(struct replay *replay, const struct agxw_capture_record *record)
{
   struct replay_device *device = NULL;
   AGX_TRY(agxw_capture_state_apply(replay->state, record));
   if (record->type == AGXW_CAPTURE_NOTE) {
      char text[1001];
      print_clean_bytes(record->text, record->text_bytes, text, sizeof(text));
      if (!replay->is_quiet)
         fprintf(stderr, "agxdump replay: note: %s\n", text);
      return AGX_OK;
   }
   if (record->type == AGXW_CAPTURE_PROCESS)
      return AGX_OK;
   bool needs_device = record->type != AGXW_CAPTURE_OPEN && record->type != AGXW_CAPTURE_CLOSE;
   if (!needs_device && !look_up_device(replay, record))
      return AGX_OK; /* devices are made for their first request: many are only opened */
   AGX_TRY(find_device(replay, record, &device));
   bool is_result = record->type == AGXW_CAPTURE_PAGES && record->moment == AGXW_CAPTURE_AFTER;
   if (device->awaits_results && !is_result)
      AGX_TRY(replay_compare(device, record));
   if (replay->difference.is_there)
      return AGX_OK;
   switch (record->type) {
   case AGXW_CAPTURE_REQUEST:
      if (agxw_capture_is_request(record, AGX_IOCTL_ASAHI_GET_PARAMS) && !replay->is_quiet)
         compare_chips(device, record);
      return replay_request(device, record);
   case AGXW_CAPTURE_PAGES:
      return replay_pages(device, record);
   case AGXW_CAPTURE_LABEL:
      take_label(device, record);
      return AGX_OK;
   case AGXW_CAPTURE_IMPORT:
      return take_import(device, record);
   case AGXW_CAPTURE_CLOSE:
      forget_device(replay, device);
      return AGX_OK;
   case AGXW_CAPTURE_NOTE:
   case AGXW_CAPTURE_PROCESS:
   case AGXW_CAPTURE_OPEN:
      return AGX_OK;
   }
   return AGX_OK;
}

static agx_status take_records(struct replay *replay)
{
   const struct replay_options *options = &replay->options;
   for (;;) {
      struct agxw_capture_record record;
      bool more;
      AGX_TRY(agxw_capture_next(replay->reader, &record, &more));
      if (replay->begin == 0)
         replay->begin = record.file_offset;
      bool is_beyond = options->last_submit && replay->submissions >= options->last_submit &&
                       more && agxw_capture_is_request(&record, AGX_IOCTL_ASAHI_SUBMIT);
      if (!more || is_beyond || replay->difference.is_there)
         break;
      if (record.type == AGXW_CAPTURE_REQUEST && !look_up_device(replay, &record))
         AGX_TRY(find_recorded_chip(replay, &record));
      AGX_TRY(take_record(replay, &record));
   }
   struct agxw_capture_record last = {0};
   for (struct replay_device *it = replay->devices; it && !replay->difference.is_there;
        it = it->next) {
      last.process = it->process;
      last.file = it->file;
      if (it->awaits_results)
         AGX_TRY(replay_compare(it, &last));
   }
   return AGX_OK;
}

/* ---- the report ---- */

static void print_bytes(const char *name, const uint8_t *bytes, uint32_t count)
{
   printf("  %-8s", name);
   for (uint32_t i = 0; i < count; i++)
      printf("%s%02x", i % 4 ? "" : " ", bytes[i]);
   printf("\n");
}

/* Which dispatch it comes from. */
static void print_writer(const struct replay_difference *it)
{
   if (!it->is_watched)
      return;
   if (it->writers == 0)
      printf("  no dispatch of the replay wrote there; the program itself may have\n");
   else
      printf("  last written by dispatch %" PRIu64 ".%u.%u, kernel %016" PRIx64
             ", grid %ux%ux%u; %u dispatch%s wrote there\n",
             it->submission, it->command, it->dispatch, it->kernel, it->grid[0], it->grid[1],
             it->grid[2], it->writers, it->writers == 1 ? "" : "es");
}

static void report(const struct replay *replay)
{
   const struct replay_difference *it = &replay->difference;
   if (it->is_there) {
      printf("first difference behind submission %" PRIu64 ": buffer %u%s%s%s at offset %#" PRIx64,
             it->submission, it->handle, it->buffer[0] ? " \"" : "", it->buffer,
             it->buffer[0] ? "\"" : "", it->offset);
      if (it->va)
         printf(", address 0x%" PRIx64, it->va);
      printf("\n");
      print_bytes("recorded", it->recorded, it->bytes);
      print_bytes("replayed", it->replayed, it->bytes);
      print_writer(it);
   }
   printf("%" PRIu64 " submission%s, %" PRIu64 " requests; ", replay->submissions,
          replay->submissions == 1 ? "" : "s", replay->requests);
   if (replay->awaited)
      printf("%" PRIu64 " pages compared; ", replay->pages_compared);
   else if (replay->submissions)
      printf("nothing compared: the capture has no contents behind submissions; ");
   printf("%s, %" PRIu64 " fault%s\n", it->is_there ? "a difference" : "no difference",
          replay->faults, replay->faults == 1 ? "" : "s");
}

agx_status replay_run(struct replay *replay)
{
   int fd =
      strcmp(replay->file, "-") == 0 ? dup(STDIN_FILENO) : open(replay->file, O_RDONLY | O_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "can't be read");
   AGX_TRY(agxw_capture_open_fd(NULL, fd, &replay->reader));
   AGX_TRY(agxw_capture_state_create(NULL, replay->reader, &replay->state));
   return take_records(replay);
}

agx_status replay_again(struct replay *replay, const struct replay_options *options,
                        struct replay_watcher *watcher)
{
   struct replay again = {.options = *options,
                          .reader = replay->reader,
                          .file = replay->file,
                          .watcher = watcher,
                          .is_quiet = true};
   agxw_capture_seek(replay->reader, replay->begin);
   agx_status status = agxw_capture_state_create(NULL, again.reader, &again.state);
   if (status == AGX_OK)
      status = take_records(&again);
   again.reader = NULL; /* it goes with `replay` */
   replay_end(&again);
   return status;
}

/* ---- the command ---- */

static bool parse_number(const char *text, uint64_t *out_value)
{
   char *end;
   errno = 0;
   *out_value = strtoull(text, &end, 0);
   return text[0] >= '0' && text[0] <= '9' && *end == 0 && errno == 0 && *out_value > 0;
}

static agx_status take_option(struct replay_options *options, const char *name, const char *value)
{
   const struct {
      const char *name;
      uint64_t *number;
   } numbers[] = {{"--chaos", &options->chaos},
                  {"--instructions", &options->limit},
                  {"--until", &options->last_submit},
                  {"--repeat", &options->repeat}};
   if (strcmp(name, "--device") == 0) {
      options->device = value;
      return AGX_OK;
   }
   for (size_t i = 0; i < AGX_COUNT(numbers); i++)
      if (strcmp(name, numbers[i].name) == 0)
         return parse_number(value, numbers[i].number)
                   ? AGX_OK
                   : AGX_FAIL(AGX_INVALID_ARGUMENT, "%s %s: a number from 1 on is wanted", name,
                              value);
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "unexpected \"%s\"", name);
}

agx_status replay_option(struct replay *replay, int argc, char **argv, int *at)
{
   struct replay_options *options = &replay->options;
   const char *name = argv[*at];
   const struct {
      const char *name;
      bool *flag;
   } flags[] = {{"--check", &options->is_checked},
                {"--strict", &options->is_strict},
                {"--timing", &options->is_timed}};
   for (size_t i = 0; i < AGX_COUNT(flags); i++)
      if (strcmp(name, flags[i].name) == 0) {
         *flags[i].flag = true;
         return AGX_OK;
      }
   if (name[0] == '-' && name[1]) {
      if (*at + 1 == argc)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: its value is missing", name);
      return take_option(options, name, argv[++*at]);
   }
   if (replay->file)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "unexpected \"%s\"", name);
   replay->file = name;
   return AGX_OK;
}

static agx_status parse(struct replay *replay, int argc, char **argv)
{
   for (int i = 2; i < argc; i++)
      AGX_TRY(replay_option(replay, argc, argv, &i));
   return replay->file ? AGX_OK : AGX_FAIL(AGX_INVALID_ARGUMENT, "there is no file to replay");
}

void replay_end(struct replay *replay)
{
   while (replay->devices)
      forget_device(replay, replay->devices);
   agxw_capture_state_destroy(replay->state);
   agxw_capture_close(replay->reader);
}

int dump_replay(int argc, char **argv)
{
   struct replay replay = {.options.repeat = 1};
   if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
      fputs(help, stdout);
      return 0;
   }
   if (parse(&replay, argc, argv) != AGX_OK) {
      fprintf(stderr, "agxdump replay: %s\n%s", agx_error_peek(), help);
      return 2;
   }
   agx_status status = replay_run(&replay);
   if (status == AGX_OK)
      status = replay_find_writer(&replay);
   if (status == AGX_OK)
      report(&replay);
   else
      fprintf(stderr, "agxdump: %s: behind submission %" PRIu64 ": %s\n", replay.file,
              replay.submissions, agx_error_peek());
   replay_end(&replay);
   return status == AGX_OK && !replay.difference.is_there && replay.faults == 0 ? 0 : 1;
}
