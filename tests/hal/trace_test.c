/* SPDX-License-Identifier: MIT
 *
 * Trace files: whole at any time, whatever names have in them, and no program fails of one.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "hal/device/device.h"
#include "hal/profile/trace.h"

/* ---- a small parser ------------------------------------------------------- */

/* Walks a JSON text; what is wrong ends the test. */
struct json {
   const char *at;
   uint32_t objects;
};

static void skip_blanks(struct json *json)
{
   json->at += strspn(json->at, " \t\r\n");
}

static void expect(struct json *json, char what)
{
   skip_blanks(json);
   if (*json->at != what)
      fail_msg("'%c' expected at \"%.40s\"", what, json->at);
   json->at++;
}

static bool follows(struct json *json, char what)
{
   skip_blanks(json);
   return *json->at == what;
}

/* A continuation byte of UTF-8. */
static bool continues(char byte)
{
   return ((unsigned char)byte & 0xc0) == 0x80;
}

static void parse_string(struct json *json)
{
   expect(json, '"');
   while (*json->at != '"') {
      unsigned char byte = (unsigned char)*json->at++;
      assert_true(byte >= 0x20);
      if (byte == '\\') {
         assert_non_null(strchr("\"\\/bfnrtu", *json->at));
         if (*json->at == 'u')
            for (int i = 1; i <= 4; i++)
               assert_non_null(strchr("0123456789abcdefABCDEF", json->at[i]));
         json->at += *json->at == 'u' ? 5 : 1;
      } else if (byte >= 0x80) {
         assert_true(byte >= 0xc2 && byte <= 0xf4);
         for (int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1; more; more--)
            assert_true(continues(*json->at++));
      }
   }
   json->at++;
}

static void parse_value(struct json *json);

static void parse_members(struct json *json, char open, char close)
{
   expect(json, open);
   for (bool first = true; !follows(json, close); first = false) {
      if (!first)
         expect(json, ',');
      if (open == '{') {
         parse_string(json);
         expect(json, ':');
      }
      parse_value(json);
   }
   expect(json, close);
}

static void parse_value(struct json *json)
{
   if (follows(json, '{')) {
      json->objects++;
      parse_members(json, '{', '}');
   } else if (follows(json, '[')) {
      parse_members(json, '[', ']');
   } else if (follows(json, '"')) {
      parse_string(json);
   } else {
      size_t length = strspn(json->at, "-+.eE0123456789");
      assert_true(length > 0);
      json->at += length;
   }
}

/* The file's text (free it), after it was parsed to its end. */
static char *read_trace(const char *path)
{
   FILE *file = fopen(path, "rb");
   assert_non_null(file);
   static char text[1 << 20];
   size_t length = fread(text, 1, sizeof(text) - 1, file);
   fclose(file);
   text[length] = 0;
   struct json json = {text, 0};
   parse_value(&json);
   skip_blanks(&json);
   assert_int_equal(*json.at, 0);
   assert_true(json.objects > 1);
   return text;
}

static void assert_holds(const char *text, const char *part)
{
   if (!strstr(text, part))
      fail_msg("%s is not in the trace:\n%s", part, text);
}

static uint32_t occurrences(const char *text, const char *part)
{
   uint32_t count = 0;
   for (; (text = strstr(text, part)); text++)
      count++;
   return count;
}

/* ---- tests ---------------------------------------------------------------- */

/* Work on a device, and a file for its trace. */
struct traced {
   struct work w;
   char path[64];
};

static void traced_open(struct traced *s)
{
   snprintf(s->path, sizeof(s->path), "/tmp/agx-trace-XXXXXX");
   int fd = mkstemp(s->path);
   assert_true(fd >= 0);
   close(fd);
   work_open(&s->w, "virtual");
}

static void traced_close(struct traced *s)
{
   work_close(&s->w);
   unlink(s->path);
}

static void run(struct traced *s, const char *label, int dispatches)
{
   struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = label};
   struct agx_command_buffer *commands = NULL;
   struct agx_semaphore *done = fixture_semaphore(s->w.f);
   assert_ok(agx_command_buffer_create(s->w.f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   for (int i = 0; i < dispatches; i++)
      fixture_dispatch(commands, s->w.count, 1, s->w.buffers, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(s->w.f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(commands);
   agx_release(done);
}

static void begin(struct traced *s, uint32_t flags)
{
   struct agx_profile_desc desc = {
      .size = sizeof(desc),
      .families = AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH |
                  AGX_PROFILE_HOST | AGX_PROFILE_MEMORY | AGX_PROFILE_COUNTERS,
      .flags = flags,
      .path = s->path,
   };
   assert_ok(agx_profile_begin(s->w.f->device, &desc));
}

static void traces_hold_what_happened(void **state)
{
   struct traced s;
   traced_open(&s);
   begin(&s, 0);
   read_trace(s.path); /* from the beginning on */
   run(&s, "layer", 2);
   assert_ok(agx_profile_flush(s.w.f->device));
   const char *text = read_trace(s.path);
   assert_holds(text, "\"args\":{\"name\":\"Apple M1");
   assert_holds(text, "\"name\":\"GPU queue 0\"");
   assert_holds(text, "\"name\":\"queue 0\"");
   assert_holds(text, "\"name\":\"GPU memory\"");
   assert_holds(text, "\"instructions\":");
   assert_int_equal(occurrences(text, "\"name\":\"count\",\"ts\""), 2);
   assert_int_equal(occurrences(text, "\"name\":\"layer\",\"ts\""), 1);
   assert_int_equal(occurrences(text, "\"ph\":\"b\""), 1);
   assert_int_equal(occurrences(text, "\"ph\":\"e\""), 1);
   run(&s, "more", 1);
   assert_ok(agx_profile_end(s.w.f->device));
   text = read_trace(s.path);
   assert_int_equal(occurrences(text, "\"name\":\"count\",\"ts\""), 3);
   assert_int_equal(occurrences(text, "\"name\":\"process_name\""), 1);
   traced_close(&s);
}

/* ---- work of the host ------------------------------------------------------ */

#define NAP_US 20000

static agx_status nap(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   usleep(NAP_US);
   return AGX_OK;
}

static void host_session(struct traced *s)
{
   const struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = AGX_PROFILE_HOST, .path = s->path};
   traced_open(s);
   assert_ok(agx_profile_begin(s->w.f->device, &desc));
}

static void submit_and_wait(struct traced *s, struct agx_op *op)
{
   struct agx_semaphore *done = fixture_semaphore(s->w.f);
   const struct agx_point signal = {done, 1};
   op->size = sizeof(*op);
   op->signals = &signal;
   op->signal_count = 1;
   assert_ok(agx_submit(s->w.f->device, op, 1, NULL));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
}

static void call_and_wait(struct traced *s, uint64_t flags)
{
   struct agx_op op = {.kind = AGX_OP_HOST_CALL, .u.host_call = {.fn = nap, .flags = flags}};
   submit_and_wait(s, &op);
}

/* The row and the length of a slice with the name and the label. */
static void find_slice(const char *text, const char *name, const char *label, unsigned *out_row,
                       double *out_us)
{
   char start[64], end[64];
   snprintf(start, sizeof(start), ",\"name\":\"%s\"", name);
   snprintf(end, sizeof(end), "\"label\":\"%s\"", label);
   for (const char *at = text; (at = strstr(at, "{\"ph\":\"X\"")); at++) {
      const char *line_end = strchr(at, '\n'), *has_name = strstr(at, start);
      const char *has_label = strstr(at, end), *length = strstr(at, "\"dur\":");
      if (!has_name || has_name > line_end || !has_label || has_label > line_end)
         continue;
      assert_int_equal(sscanf(at, "{\"ph\":\"X\",\"pid\":1,\"tid\":%u", out_row), 1);
      assert_int_equal(sscanf(length, "\"dur\":%lf", out_us), 1);
      return;
   }
   fail_msg("no slice \"%s\" of \"%s\" in the trace:\n%s", name, label, text);
}

/* Functions and files are where they run, as long as they run; the last one is there when its
 * semaphore is reached. */
static void host_work_is_on_its_own_threads(void **state)
{
   struct traced s;
   char bytes[64] = "bytes";
   struct agx_file_desc desc = {.size = sizeof(desc),
                                .kind = AGX_FILE_HOST_MEMORY,
                                .access = AGX_FILE_READ,
                                .memory = bytes,
                                .memory_B = sizeof(bytes)};
   struct agx_file *file = NULL;
   unsigned submitter = 0, caller = 0, reader = 0;
   double us = 0;
   host_session(&s);
   assert_ok(agx_file_import(s.w.f->device, &desc, &file));
   call_and_wait(&s, 0);
   struct agx_op read = {.kind = AGX_OP_READ, .u.file = {file, 0, {s.w.buffers[0], 0, 64}}};
   submit_and_wait(&s, &read);
   assert_ok(agx_profile_end(s.w.f->device));
   const char *text = read_trace(s.path);
   find_slice(text, "submit", "", &submitter, &us);
   find_slice(text, "run", "read", &reader, &us);
   find_slice(text, "run", "host call", &caller, &us);
   assert_true(caller != submitter && reader != submitter);
   assert_true(us >= NAP_US);
   assert_int_equal(occurrences(text, "\"name\":\"run\",\"ts\""), 2);
   agx_release(file);
   traced_close(&s);
}

/* A program that neither flushes nor ends its session finds the last of them, too. */
static void host_work_is_written_without_a_flush(void **state)
{
   struct traced s;
   host_session(&s);
   call_and_wait(&s, 0);
   bool is_there = false;
   for (int i = 0; i < 5000 && !is_there; i++) {
      char *text = agx_test_read_file(s.path, NULL); /* may be in the middle of a write */
      is_there = strstr(text, "\"host call\"") != NULL;
      free(text);
      usleep(1000);
   }
   assert_holds(read_trace(s.path), "\"label\":\"host call\"");
   traced_close(&s);
}

/* The session of the first one records it. */
static void waits_for_several_devices_are_recorded(void **state)
{
   struct traced s;
   struct fixture other = {0};
   unsigned row;
   double us;
   host_session(&s);
   fixture_open(&other, "virtual");
   const struct agx_point points[] = {{fixture_semaphore(s.w.f), 1},
                                      {fixture_semaphore(&other), 1}};
   for (int i = 0; i < 2; i++)
      assert_ok(agx_semaphore_signal(points[i].semaphore, 1));
   assert_ok(agx_semaphore_wait(points, 2, false, AGX_DEADLINE_NEVER));
   assert_ok(agx_profile_end(s.w.f->device));
   find_slice(read_trace(s.path), "wait", "", &row, &us);
   for (int i = 0; i < 2; i++)
      agx_release(points[i].semaphore);
   fixture_close(&other);
   traced_close(&s);
}

/* A function that no signal waits for may run on when the session has ended. */
static void functions_may_outlast_the_session(void **state)
{
   struct traced s;
   host_session(&s);
   call_and_wait(&s, AGX_HOST_CALL_NON_BLOCKING);
   assert_ok(agx_profile_end(s.w.f->device));
   assert_holds(read_trace(s.path), "\"submit\"");
   usleep(2 * NAP_US);
   traced_close(&s);
}

static void spans_are_one_slice(void **state)
{
   struct traced s;
   traced_open(&s);
   begin(&s, AGX_PROFILE_KEEP_OVERLAP);
   run(&s, NULL, 5);
   assert_ok(agx_profile_end(s.w.f->device));
   const char *text = read_trace(s.path);
   assert_int_equal(occurrences(text, "\"name\":\"5 dispatches from count\""), 1);
   assert_int_equal(occurrences(text, "\"granularity\":\"span\""), 1);
   traced_close(&s);
}

static void names_are_escaped(void **state)
{
   struct traced s;
   traced_open(&s);
   begin(&s, 0);
   run(&s, "quote \" back \\ line \n tab \t bell \a", 1);
   run(&s, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", 1);
   run(&s, "bad \xff \xc3 \xc0\x80 \xed\xa0\x80 end", 1);
   assert_ok(agx_profile_end(s.w.f->device));
   const char *text = read_trace(s.path);
   assert_holds(text, "quote \\\" back \\\\ line \\u000a tab \\u0009 bell \\u0007");
   assert_holds(text, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
   assert_holds(text, "bad \\ufffd \\ufffd \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd end");
   traced_close(&s);
}

/* A program that ends in the middle of everything. */
static void a_trace_outlives_its_program(void **state)
{
   struct traced s;
   char path[] = "/tmp/agx-trace-XXXXXX";
   int fd = mkstemp(path), status = 0;
   assert_true(fd >= 0);
   close(fd);
   pid_t child = fork();
   assert_true(child >= 0);
   if (child == 0) {
      setenv("AGX_PROFILE", path, 1);
      traced_open(&s);
      unlink(s.path);
      run(&s, "last words", 3);
      _exit(3);
   }
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
   const char *text = read_trace(path);
   assert_holds(text, "last words");
   unlink(path);
}

/* ---- the environment ------------------------------------------------------ */

static void the_environment_begins_a_session(void **state)
{
   struct traced s, other;
   char path[] = "/tmp/agx-trace-XXXXXX", second[64];
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   close(fd);
   setenv("AGX_PROFILE", path, 1);
   setenv("AGX_PROFILE_FAMILIES", "queue,counters", 1);
   traced_open(&s);
   struct agx_profile_desc desc = {.size = sizeof(desc)};
   assert_fails(agx_profile_begin(s.w.f->device, &desc), AGX_FAILED_PRECONDITION, "already");
   traced_open(&other); /* another device, another file */
   run(&s, "one", 1);
   run(&other, "two", 1);
   traced_close(&s);
   traced_close(&other);
   unsetenv("AGX_PROFILE_FAMILIES");
   unsetenv("AGX_PROFILE");
   const char *text = read_trace(path);
   assert_holds(text, "\"one\"");
   assert_holds(text, "\"instructions\":");
   assert_int_equal(occurrences(text, "\"two\""), 0);
   snprintf(second, sizeof(second), "%s.2", path);
   assert_holds(read_trace(second), "\"two\"");
   unlink(path);
   unlink(second);
}

/* A process that is started by a program that is traced: it inherits the environment. */
static void processes_have_files_of_their_own(void **state)
{
   struct traced s, other;
   char path[] = "/tmp/agx-trace-XXXXXX", second[64];
   int fd = mkstemp(path), status = 0;
   assert_true(fd >= 0);
   close(fd);
   traced_open(&s);
   struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = AGX_PROFILE_QUEUE, .path = path};
   assert_ok(agx_profile_begin(s.w.f->device, &desc));
   run(&s, "parent", 1);
   traced_open(&other);
   assert_fails(agx_profile_begin(other.w.f->device, &desc), AGX_ALREADY_EXISTS, path);
   traced_close(&other);
   pid_t child = fork();
   assert_true(child >= 0);
   if (child == 0) {
      setenv("AGX_PROFILE", path, 1);
      traced_open(&other);
      unlink(other.path);
      run(&other, "child", 1);
      _exit(0);
   }
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   run(&s, "parent again", 1);
   assert_ok(agx_profile_end(s.w.f->device));
   const char *text = read_trace(path);
   assert_holds(text, "parent again");
   assert_null(strstr(text, "child"));
   traced_close(&s);
   unlink(path);
   for (int i = 2; i < 10; i++) {
      snprintf(second, sizeof(second), "%s.%d", path, i);
      unlink(second);
   }
}

static void files_that_fail_fail_nobody(void **state)
{
   struct traced s;
   static const char *const paths[] = {"/nowhere/at/all", "/dev/full", "/"};
   for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
      setenv("AGX_PROFILE", paths[i], 1);
      traced_open(&s);
      run(&s, NULL, 1);
      traced_close(&s);
   }
   unsetenv("AGX_PROFILE");
   traced_open(&s);
   struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = AGX_PROFILE_QUEUE, .path = "/nowhere/at/all"};
   assert_fails(agx_profile_begin(s.w.f->device, &desc), AGX_NOT_FOUND, "/nowhere/at/all");
   desc.path = "/";
   assert_fails(agx_profile_begin(s.w.f->device, &desc), AGX_INVALID_ARGUMENT, "trace /: Is a dir");
   traced_close(&s);
}

/* The disk is full in the middle: the program goes on, and what was written stays. */
static void a_full_disk_fails_nobody(void **state)
{
   struct traced s;
   struct rlimit before, little;
   struct stat file;
   assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
   signal(SIGXFSZ, SIG_IGN);
   traced_open(&s);
   struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = AGX_PROFILE_QUEUE | AGX_PROFILE_DISPATCH, .path = s.path};
   assert_ok(agx_profile_begin(s.w.f->device, &desc));
   run(&s, "first", 8);
   assert_ok(agx_profile_flush(s.w.f->device)); /* what it takes from the device is there now */
   assert_int_equal(stat(s.path, &file), 0);
   little = (struct rlimit){(rlim_t)file.st_size + 10, before.rlim_max};
   assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
   run(&s, "second", 8);
   assert_ok(agx_profile_flush(s.w.f->device));
   run(&s, "third", 8);
   assert_ok(agx_profile_flush(s.w.f->device));
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
   const char *text = read_trace(s.path);
   assert_holds(text, "first");
   assert_null(strstr(text, "second"));
   traced_close(&s);
}

static void families_are_checked(void **state)
{
   struct agx_instance *instance = NULL;
   struct agx_device *device = NULL;
   struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual"};
   setenv("AGX_PROFILE", "/dev/null", 1);
   setenv("AGX_PROFILE_FAMILIES", "queue,cats", 1);
   assert_ok(agx_instance_create(NULL, &instance));
   assert_fails(agx_device_open(instance, &desc, &device), AGX_INVALID_ARGUMENT, "\"cats\"");
   assert_null(device);
   agx_release(instance);
   unsetenv("AGX_PROFILE_FAMILIES");
   unsetenv("AGX_PROFILE");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(traces_hold_what_happened),
      cmocka_unit_test(host_work_is_on_its_own_threads),
      cmocka_unit_test(host_work_is_written_without_a_flush),
      cmocka_unit_test(waits_for_several_devices_are_recorded),
      cmocka_unit_test(functions_may_outlast_the_session),
      cmocka_unit_test(spans_are_one_slice),
      cmocka_unit_test(names_are_escaped),
      cmocka_unit_test(a_trace_outlives_its_program),
      cmocka_unit_test(the_environment_begins_a_session),
      cmocka_unit_test(processes_have_files_of_their_own),
      cmocka_unit_test(files_that_fail_fail_nobody),
      cmocka_unit_test(a_full_disk_fails_nobody),
      cmocka_unit_test(families_are_checked),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
