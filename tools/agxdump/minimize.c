/* SPDX-License-Identifier: MIT
 *
 * agxdump minimize: leaves parts of a capture out as long as what is wrong with it still shows:
 * submissions, commands, dispatches, buffers, and contents of pages, in halves and smaller parts.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agxdump.h"
#include "base/clock.h"
#include "base/util.h"
#include "cut.h"
#include "replay.h"

#define DEFAULT_SECONDS 120
/* Of a SIMD-group, in trials: what has lost its inputs may loop. */
#define MAX_INSTRUCTIONS (UINT64_C(1) << 24)

static const char help[] =
   "usage: agxdump minimize FILE -o OUT [--difference|--fault] [--seconds N] [OPTION...]\n"
   "       agxdump minimize FILE -o OUT [--seconds N] -- COMMAND [ARGUMENT...]\n"
   "\n"
   "Writes the smallest capture it finds that still shows what is wrong with FILE.\n"
   "\n"
   "  --difference  replay leaves the same wrong bytes at its first difference\n"
   "  --fault       replay meets its first fault again\n"
   "  COMMAND       ends with exit code 0 when a capture still shows it; the capture's name is its "
   "last\n"
   "                argument\n"
   "  --seconds N   stops looking for a smaller one after so long; 120 without it\n"
   "  --instructions N  of a SIMD-group, that a trial may execute; 16777216 without it\n"
   "  --device, --check, --strict, --chaos as for replay\n"
   "\n"
   "Without COMMAND and either of the two, the one that comes first. What OUT's dispatches "
   "leave\n"
   "besides the wrong bytes is recorded in it as they leave it here, so that its replay names the "
   "same\n"
   "bytes first.\n";

enum criterion {
   CRITERION_ANY,
   CRITERION_DIFFERENCE,
   CRITERION_FAULT,
   CRITERION_COMMAND,
};

struct minimize {
   struct replay_options options;
   const char *file, *out;
   char **command, **words; /* the latter with the trial's name behind it */
   enum criterion criterion;
   struct agxw_capture_reader *reader;
   struct cut cut;
   struct replay_difference difference; /* the one that must stay */
   struct agx_kmd_fault fault;          /* likewise */
   uint64_t submission;                 /* with one of these; 0: not known */
   uint64_t trials, seconds;
   int64_t begin_ns;
   char trial[CUT_TRIAL_BYTES];
   bool shows_progress;
   bool keeps_dispatches; /* the wrong bytes are what none of them wrote */
};

/* ---- criteria ---- */

/* Looks at the bytes that must be wrong when the last submission is done. */
struct look {
   const struct replay_difference *wanted;
   bool is_same;
};

static agx_status look_begin(void *user, struct replay_device *device,
                             const struct agxw_capture_record *record)
{
   return AGX_OK;
}

static agx_status look_end(void *user, struct replay_device *device)
{
   struct look *look = user;
   const struct replay_difference *it = look->wanted;
   struct replay_buffer *buffer = replay_find_buffer(device, it->handle);
   if (!buffer || it->offset + it->bytes > buffer->bytes || !buffer->is_bound)
      return AGX_OK;
   AGX_TRY(replay_map_buffer(device, buffer));
   look->is_same = memcmp(buffer->memory + it->offset, it->replayed, it->bytes) == 0;
   return AGX_OK;
}

static bool is_same_fault(const struct agx_kmd_fault *a, const struct agx_kmd_fault *b)
{
   if (a->kind != b->kind || strcmp(a->access, b->access) != 0 || a->va != b->va ||
       a->pc != b->pc || a->error != b->error)
      return false;
   if (a->kind != AGX_KMD_FAULT_OTHER)
      return true;
   const char *x = a->text, *y = b->text; /* but for numbers */
   static const char digits[] = "0123456789abcdefx";
   while (*x && *x == *y) {
      size_t left = *x >= '0' && *x <= '9' ? strspn(x, digits) : 1;
      size_t right = *y >= '0' && *y <= '9' ? strspn(y, digits) : 1;
      x += left;
      y += right;
   }
   return (!*x && !*y) || (*x >= '0' && *x <= '9' && *y >= '0' && *y <= '9');
}

static bool shows_difference(const struct minimize *minimize, struct replay *replay)
{
   struct look look = {.wanted = &minimize->difference};
   struct replay_watcher watcher = {
      .submission = 1, .user = &look, .begin = look_begin, .end = look_end};
   replay->watcher = &watcher;
   return replay_run(replay) == AGX_OK && look.is_same;
}

/* A signal from the keyboard ends the command and this program, unlike with system(). */
static agx_status run_command(const struct minimize *minimize, bool *out_shows)
{
   pid_t child;
   int status;
   fflush(NULL);
   int error = posix_spawnp(&child, minimize->words[0], NULL, NULL, minimize->words, environ);
   if (error)
      return agx_status_fail_errno(error, "command %s", minimize->words[0]);
   while (waitpid(child, &status, 0) < 0)
      if (errno != EINTR)
         return agx_status_fail_errno(errno, "command %s", minimize->words[0]);
   *out_shows = WIFEXITED(status) && WEXITSTATUS(status) == 0;
   return AGX_OK;
}

static bool replay_shows(const struct minimize *minimize)
{
   struct replay replay = {.options = minimize->options, .file = minimize->trial, .is_quiet = true};
   bool is_there = minimize->criterion == CRITERION_DIFFERENCE
                      ? shows_difference(minimize, &replay)
                      : replay_run(&replay) == AGX_OK && replay.faults > 0 &&
                           is_same_fault(&replay.first_fault, &minimize->fault);
   replay_end(&replay);
   return is_there;
}

/* Whether what is kept now still shows it. */
static agx_status try_cut(struct minimize *minimize, bool *out_shows)
{
   minimize->trials++;
   AGX_TRY(cut_write(&minimize->cut, minimize->trial));
   if (minimize->criterion == CRITERION_COMMAND)
      return run_command(minimize, out_shows);
   *out_shows = replay_shows(minimize);
   return AGX_OK;
}

static bool is_late(const struct minimize *minimize)
{
   return agx_now_ns() - minimize->begin_ns > (int64_t)minimize->seconds * 1000000000;
}

/* ---- parts ---- */

/* Where the marks of all parts of a kind stand. */
struct parts {
   const char *name;
   bool *first;
   size_t count, stride;
};

static bool *mark_of(const struct parts *parts, size_t i)
{
   return (bool *)((uint8_t *)parts->first + i * parts->stride);
}

static size_t count_kept(const struct parts *parts)
{
   size_t kept = 0;
   for (size_t i = 0; i < parts->count; i++)
      kept += *mark_of(parts, i);
   return kept;
}

static void show_progress(const struct minimize *minimize, const struct parts *parts)
{
   if (minimize->shows_progress)
      fprintf(stderr, "\ragxdump minimize: %zu of %zu %s, %" PRIu64 " trials, %.0f s   ",
              count_kept(parts), parts->count, parts->name, minimize->trials,
              (double)(agx_now_ns() - minimize->begin_ns) / 1e9);
}

/* Leaves out the next `size` parts that are kept, from *at on; *at is behind them then. False:
 * there are none. */
static bool drop_some(const struct parts *parts, size_t *at, size_t size, size_t *dropped,
                      size_t *out_count)
{
   *out_count = 0;
   for (; *at < parts->count && *out_count < size; ++*at) {
      if (!*mark_of(parts, *at))
         continue;
      *mark_of(parts, *at) = false;
      dropped[(*out_count)++] = *at;
   }
   return *out_count > 0;
}

static agx_status reduce_by(struct minimize *minimize, const struct parts *parts, size_t size,
                            size_t *dropped)
{
   size_t count;
   for (size_t at = 0; !is_late(minimize) && drop_some(parts, &at, size, dropped, &count);) {
      bool is_there = false;
      agx_status status = try_cut(minimize, &is_there);
      for (size_t i = 0; i < count && !is_there; i++)
         *mark_of(parts, dropped[i]) = true;
      show_progress(minimize, parts);
      AGX_TRY(status);
   }
   return AGX_OK;
}

static agx_status reduce(struct minimize *minimize, const struct parts *parts)
{
   size_t *dropped = malloc((parts->count + 1) * sizeof(*dropped));
   agx_status status =
      dropped ? AGX_OK
              : AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %zu %s", parts->count, parts->name);
   for (size_t size = count_kept(parts); size > 0 && status == AGX_OK; size /= 2)
      status = reduce_by(minimize, parts, size, dropped);
   free(dropped);
   return status;
}

static agx_status collect_pages(struct minimize *minimize)
{
   bool is_there;
   minimize->cut.collects_pages = true;
   agx_status status = try_cut(minimize, &is_there);
   minimize->cut.collects_pages = false;
   return status;
}

#define PARTS(noun, array, number)                                                                 \
   {                                                                                               \
      noun, cut->number ? (bool *)&cut->array[0].is_kept : NULL, cut->number, sizeof(*cut->array)  \
   }

static agx_status reduce_all(struct minimize *minimize)
{
   struct cut *cut = &minimize->cut;
   const struct parts kinds[] = {PARTS("submissions", submissions, submission_count),
                                 PARTS("commands", commands, command_count),
                                 PARTS("dispatches", dispatches, dispatch_count),
                                 PARTS("buffers", objects, object_count)};
   bool is_there = false;
   if (minimize->criterion == CRITERION_COMMAND) {
      cut->drops_syncs = true;
      AGX_TRY(try_cut(minimize, &is_there));
      cut->drops_syncs = is_there;
      if (is_there) /* else submissions wait for each other */
         AGX_TRY(reduce(minimize, &kinds[0]));
   }
   for (size_t i = minimize->keeps_dispatches ? 3 : 1; i < AGX_COUNT(kinds); i++)
      AGX_TRY(reduce(minimize, &kinds[i]));
   AGX_TRY(collect_pages(minimize));
   const struct parts pages = PARTS("pages", pages, page_count);
   return reduce(minimize, &pages);
}

/* ---- what is wrong ---- */

static agx_status find_fault(struct minimize *minimize)
{
   struct replay replay = {.options = minimize->options, .file = minimize->file, .is_quiet = true};
   agx_status status = replay_run(&replay);
   if (status == AGX_OK)
      status = replay_find_writer(&replay);
   minimize->difference = replay.difference;
   minimize->fault = replay.first_fault;
   bool has_fault = replay.faults > 0, has_difference = replay.difference.is_there;
   minimize->submission = replay.difference.submission;
   if (minimize->criterion == CRITERION_ANY)
      minimize->criterion =
         has_difference && (!has_fault || replay.fault_submission > replay.difference.submission)
            ? CRITERION_DIFFERENCE
            : CRITERION_FAULT;
   minimize->keeps_dispatches =
      minimize->criterion == CRITERION_DIFFERENCE && replay.difference.writers == 0;
   if (minimize->criterion == CRITERION_FAULT)
      minimize->submission = replay.fault_submission;
   bool is_there = minimize->criterion == CRITERION_FAULT ? has_fault : has_difference;
   replay_end(&replay);
   AGX_TRY(status);
   return is_there ? AGX_OK
                   : AGX_FAIL(AGX_NOT_FOUND, "its replay has no %s: there is nothing to minimize",
                              minimize->criterion == CRITERION_FAULT ? "fault"
                              : has_fault ? "difference; it has a fault (--fault)"
                                          : "difference");
}

static agx_status begin(struct minimize *minimize)
{
   struct cut *cut = &minimize->cut;
   bool is_there = false;
   if (minimize->criterion != CRITERION_COMMAND) {
      AGX_TRY(find_fault(minimize));
      for (size_t i = 0; i < cut->submission_count; i++)
         cut->submissions[i].is_kept = i + 1 == minimize->submission;
      for (size_t i = 0; i < cut->command_count; i++)
         cut->commands[i].is_kept = false;
      const struct cut_submission *it = &cut->submissions[minimize->submission - 1];
      for (uint32_t i = 0; i < it->command_count; i++)
         cut->commands[it->first_command + i].is_kept = true;
      for (size_t i = 0; i < cut->dispatch_count; i++)
         cut->dispatches[i].is_kept =
            i >= it->first_dispatch && i < it->first_dispatch + it->dispatch_count;
      cut->drops_results = true;
      cut->drops_syncs = true; /* what it waits for isn't made */
   }
   AGX_TRY(try_cut(minimize, &is_there));
   if (is_there)
      return AGX_OK;
   return minimize->criterion == CRITERION_COMMAND
             ? AGX_FAIL(AGX_NOT_FOUND, "the command doesn't end with exit code 0 for all of it")
             : AGX_FAIL(AGX_NOT_FOUND, "submission %" PRIu64 " alone doesn't show it again",
                        minimize->submission);
}

/* ---- results ---- */

/* Memory around the one submission of the smallest capture. */
struct around {
   struct cut cut;
   struct cut_image before, after;
};

static agx_status around_begin(void *user, struct replay_device *device,
                               const struct agxw_capture_record *record)
{
   struct around *around = user;
   for (size_t i = 0; i < device->buffer_count; i++)
      if (device->buffers[i].handle && device->buffers[i].is_bound)
         AGX_TRY(replay_map_buffer(device, &device->buffers[i]));
   return cut_take_image(&around->cut, 1, device, &around->before);
}

static agx_status around_end(void *user, struct replay_device *device)
{
   struct around *around = user;
   return cut_take_image(&around->cut, 1, device, &around->after);
}

/* The recorded bytes, among what the replay leaves. */
static agx_status spoil(struct around *around, const struct replay_difference *it)
{
   uint64_t page = it->offset / AGXW_CAPTURE_PAGE_BYTES;
   uint32_t at = (uint32_t)(it->offset % AGXW_CAPTURE_PAGE_BYTES), object = UINT32_MAX;
   for (size_t i = 0; i < around->cut.object_count; i++)
      if (around->cut.objects[i].handle == it->handle &&
          around->cut.objects[i].process == it->process && around->cut.objects[i].file == it->file)
         object = (uint32_t)i;
   uint8_t *data = (uint8_t *)cut_image_page(&around->after, object, page);
   if (!data) {
      static const uint8_t zero[AGXW_CAPTURE_PAGE_BYTES];
      AGX_TRY(cut_image_add(&around->after, object, page, zero));
      cut_image_sort(&around->after);
      data = (uint8_t *)cut_image_page(&around->after, object, page);
   }
   memcpy(data + at, it->recorded, it->bytes);
   return AGX_OK;
}

static agx_status write_results(struct minimize *minimize, struct around *around,
                                struct agxw_capture_reader *reader)
{
   struct replay_watcher watcher = {
      .submission = 1, .user = around, .begin = around_begin, .end = around_end};
   AGX_TRY(cut_survey(&around->cut, reader));
   struct replay replay = {.reader = reader, .begin = around->cut.begin};
   AGX_TRY(replay_again(&replay, &minimize->options, &watcher));
   AGX_TRY(spoil(around, &minimize->difference));
   around->cut.before = &around->before;
   around->cut.after = &around->after;
   around->cut.drops_syncs = true;
   return cut_write(&around->cut, minimize->out);
}

/* Differences need something to differ from. */
static agx_status add_results(struct minimize *minimize)
{
   struct around around = {{0}};
   struct agxw_capture_reader *reader = NULL;
   int fd = open(minimize->trial, O_RDONLY | O_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "%s", minimize->trial);
   agx_status status = agxw_capture_open_fd(NULL, fd, &reader);
   if (status == AGX_OK)
      status = write_results(minimize, &around, reader);
   cut_image_free(&around.before);
   cut_image_free(&around.after);
   cut_free(&around.cut);
   agxw_capture_close(reader);
   return status;
}

static void tell(const struct minimize *minimize, off_t bytes)
{
   const struct cut *cut = &minimize->cut;
   const struct parts kinds[] = {
      PARTS("submissions", submissions, submission_count),
      PARTS("commands", commands, command_count), PARTS("dispatches", dispatches, dispatch_count),
      PARTS("buffers", objects, object_count), PARTS("pages with contents", pages, page_count)};
   if (minimize->shows_progress)
      fprintf(stderr, "\r%78s\r", "");
   printf("%s: %lld bytes", minimize->out, (long long)bytes);
   for (size_t i = 0; i < AGX_COUNT(kinds); i++)
      printf(", %zu of %zu %s", count_kept(&kinds[i]), kinds[i].count, kinds[i].name);
   printf("; %" PRIu64 " trials%s\n", minimize->trials,
          is_late(minimize) ? ", and the time is over: a smaller one may be there" : "");
}

static agx_status finish(struct minimize *minimize)
{
   AGX_TRY(cut_write(&minimize->cut, minimize->trial));
   AGX_TRY(minimize->criterion == CRITERION_DIFFERENCE ? add_results(minimize)
                                                       : cut_write(&minimize->cut, minimize->out));
   int fd = open(minimize->out, O_RDONLY | O_CLOEXEC);
   off_t bytes = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
   if (fd >= 0)
      close(fd);
   tell(minimize, bytes);
   return AGX_OK;
}

/* ---- the command ---- */

static const char *trial_to_remove;

static void remove_trial(int number)
{
   unlink(trial_to_remove);
   raise(number); /* which ends the program when the handler is left */
}

/* The trial must not stay when somebody ends the search. */
static void watch_signals(const char *trial)
{
   static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
   const struct sigaction action = {.sa_handler = remove_trial, .sa_flags = (int)SA_RESETHAND};
   trial_to_remove = trial;
   for (size_t i = 0; i < AGX_COUNT(numbers); i++) {
      struct sigaction before;
      if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
         sigaction(numbers[i], &action, NULL);
   }
}

static agx_status add_trial(struct minimize *minimize)
{
   size_t count = 0;
   while (minimize->command && minimize->command[count])
      count++;
   char **words = calloc(count + 2, sizeof(*words));
   if (!words)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the command");
   for (size_t i = 0; i < count; i++)
      words[i] = minimize->command[i];
   words[count] = minimize->trial;
   minimize->words = words;
   return AGX_OK;
}

static agx_status make_trial(struct minimize *minimize)
{
   AGX_TRY(cut_make_trial(minimize->trial));
   watch_signals(minimize->trial);
   return AGX_OK;
}

static agx_status run(struct minimize *minimize)
{
   int fd = open(minimize->file, O_RDONLY | O_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "can't be read");
   agx_status status = cut_refuse_input(fd, minimize->out);
   if (status != AGX_OK) {
      close(fd);
      return status;
   }
   AGX_TRY(agxw_capture_open_fd(NULL, fd, &minimize->reader));
   AGX_TRY(make_trial(minimize));
   AGX_TRY(add_trial(minimize));
   AGX_TRY(cut_survey(&minimize->cut, minimize->reader));
   minimize->begin_ns = agx_now_ns();
   AGX_TRY(begin(minimize));
   AGX_TRY(reduce_all(minimize));
   return finish(minimize);
}

static agx_status parse_seconds(struct minimize *minimize, const char *value)
{
   char *end;
   minimize->seconds = strtoull(value, &end, 10);
   return value[0] >= '0' && value[0] <= '9' && !*end && minimize->seconds > 0 &&
                minimize->seconds < 1000000
             ? AGX_OK
             : AGX_FAIL(AGX_INVALID_ARGUMENT, "--seconds %s: a number from 1 to 999999 is wanted",
                        value);
}

static agx_status parse(struct minimize *minimize, int argc, char **argv)
{
   struct replay replay = {.options.repeat = 1}; /* for its options */
   for (int i = 2; i < argc; i++) {
      const char *name = argv[i];
      if (strcmp(name, "--") == 0) {
         minimize->command = argv + i + 1;
         break;
      }
      bool has_value = strcmp(name, "-o") == 0 || strcmp(name, "--seconds") == 0;
      if (has_value && i + 1 == argc)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: its value is missing", name);
      if (strcmp(name, "--difference") == 0)
         minimize->criterion = CRITERION_DIFFERENCE;
      else if (strcmp(name, "--fault") == 0)
         minimize->criterion = CRITERION_FAULT;
      else if (strcmp(name, "-o") == 0)
         minimize->out = argv[++i];
      else if (has_value)
         AGX_TRY(parse_seconds(minimize, argv[++i]));
      else
         AGX_TRY(replay_option(&replay, argc, argv, &i));
   }
   minimize->options = replay.options;
   minimize->file = replay.file;
   if (minimize->options.limit == 0)
      minimize->options.limit = MAX_INSTRUCTIONS;
   if (replay.options.repeat != 1 || replay.options.is_timed || replay.options.last_submit)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "--until, --repeat and --timing are of replay alone");
   if (!minimize->file || !minimize->out || strcmp(minimize->file, "-") == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "FILE, which can't be a pipe, and -o OUT are wanted");
   if (minimize->command && (!*minimize->command || minimize->criterion != CRITERION_ANY))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "a command, or --difference, or --fault is wanted");
   if (minimize->command)
      minimize->criterion = CRITERION_COMMAND;
   return AGX_OK;
}

int dump_minimize(int argc, char **argv)
{
   static struct minimize minimize; /* large */
   minimize =
      (struct minimize){.seconds = DEFAULT_SECONDS, .shows_progress = isatty(STDERR_FILENO)};
   if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
      fputs(help, stdout);
      return 0;
   }
   if (parse(&minimize, argc, argv) != AGX_OK) {
      fprintf(stderr, "agxdump minimize: %s\n%s", agx_error_peek(), help);
      return 2;
   }
   agx_status status = run(&minimize);
   if (status != AGX_OK)
      fprintf(stderr, "agxdump: %s: %s\n", minimize.file, agx_error_peek());
   if (minimize.trial[0])
      unlink(minimize.trial);
   free(minimize.words);
   cut_free(&minimize.cut);
   agxw_capture_close(minimize.reader);
   return status == AGX_OK ? 0 : 1;
}
