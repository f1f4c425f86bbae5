/* SPDX-License-Identifier: MIT
 *
 * agxdump over captures made here: a small kernel with a preamble, written word by word,
 * launched twice on the virtual device.
 */
#include "small_capture.h"
#include "tool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"
#include "winsys/capture/write.h"

static char path[] = "/tmp/agx-dump-XXXXXX";
static char text[TOOL_MAX_OUTPUT];

/* A good submission, and one whose stream is nowhere. */
static int record(void **state)
{
   close(mkstemp(path));
   small_capture_record(path);
   return 0;
}

static int remove_file(void **state)
{
   return unlink(path);
}

static int dump(const char *options)
{
   char arguments[128];
   snprintf(arguments, sizeof(arguments), "show %s %s", options, path);
   return tool_run("AGXDUMP_TOOL", arguments, text);
}

static void submissions_are_shown_by_name(void **state)
{
   assert_int_equal(dump(""), 0);
   agx_test_golden("agxdump.txt", text);
}

static void json_tells_the_same(void **state)
{
   assert_int_equal(dump("--json"), 0);
   agx_test_golden("agxdump.json", text);
}

static void other_files_are_refused(void **state)
{
   char arguments[128], command[256];
   assert_int_equal(tool_run("AGXDUMP_TOOL", "show /nonexistent", text), 1);
   assert_non_null(strstr(text, "agxdump: /nonexistent: "));
   assert_int_equal(tool_run("AGXDUMP_TOOL", "show /dev/null", text), 1);
   assert_non_null(strstr(text, "not a capture file"));
   snprintf(command, sizeof(command), "head -c -20 %s > %s.cut", path, path);
   assert_int_equal(system(command), 0);
   snprintf(arguments, sizeof(arguments), "show %s.cut", path);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 1);
   assert_non_null(strstr(text, "cut off"));
   snprintf(arguments, sizeof(arguments), "show --json %s.cut", path);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 1);
   assert_non_null(strstr(text, "\"error\": "));
   snprintf(command, sizeof(command), "%s.cut", path);
   unlink(command);
}

/* Of a recorder that cut a name in the middle of a character, or of a stranger. */
static void labels_without_utf8_are_mended(void **state)
{
   char arguments[128], odd[64];
   size_t size, count = 0;
   char *data = agx_test_read_file(path, &size);
   for (size_t i = 0; i + 4 <= size; i++) {
      if (memcmp(data + i, "data", 4) == 0) {
         memcpy(data + i, "d\x9b\xe2\x82", 4);
         count++;
      }
   }
   assert_true(count > 0);
   snprintf(odd, sizeof(odd), "%s.odd", path);
   FILE *file = fopen(odd, "wb");
   assert_int_equal(fwrite(data, 1, size, file), size);
   assert_int_equal(fclose(file), 0);
   free(data);
   snprintf(arguments, sizeof(arguments), "show --memory %s", odd);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
   assert_non_null(strstr(text, "\"d???\""));
   snprintf(arguments, sizeof(arguments), "show --memory --json %s", odd);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
   assert_non_null(strstr(text, "\"d\\ufffd\\ufffd\\ufffd\""));
   unlink(odd);
}

/* ---- record ---- */

struct census {
   int processes, opens, submits, before, after, notes;
};

static struct census count_records(const char *file)
{
   struct census it = {0};
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   bool more = true;
   assert_ok(agxw_capture_open_fd(NULL, open(file, O_RDONLY), &reader));
   while (more) {
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (!more)
         break;
      it.processes += record.type == AGXW_CAPTURE_PROCESS;
      it.opens += record.type == AGXW_CAPTURE_OPEN;
      it.notes += record.type == AGXW_CAPTURE_NOTE;
      it.submits += record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_SUBMIT;
      it.before += record.type == AGXW_CAPTURE_PAGES && record.moment == AGXW_CAPTURE_BEFORE;
      it.after += record.type == AGXW_CAPTURE_PAGES && record.moment == AGXW_CAPTURE_AFTER;
   }
   agxw_capture_close(reader);
   return it;
}

/* `agxdump record` of a shell's line, in which $RUN runs a kernel; the file stays, beside `path`.
 */
static void record_to_file(const char *options, const char *line)
{
   char arguments[1200], run[600];
   const char *source = getenv("AGX_TEST_SOURCE_DIR");
   snprintf(run, sizeof(run),
            "%s run %s/corpus/softmax.spv --manifest %s/corpus/softmax.txt --device",
            getenv("AGX_TOOL"), source, source);
   assert_int_equal(setenv("RUN", run, 1), 0);
   snprintf(arguments, sizeof(arguments), "record -o %s.any %s -- sh -c '%s'", path, options, line);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
}

static void remove_recorded(void)
{
   char file[64];
   snprintf(file, sizeof(file), "%s.any", path);
   unlink(file);
}

static struct census record_line(const char *options, const char *line)
{
   char file[64];
   record_to_file(options, line);
   snprintf(file, sizeof(file), "%s.any", path);
   struct census it = count_records(file);
   remove_recorded();
   return it;
}

static int replay(const char *options)
{
   char arguments[256];
   snprintf(arguments, sizeof(arguments), "replay %s %s.any", options, path);
   return tool_run("AGXDUMP_TOOL", arguments, text);
}

/* Whether a program reaches the device through the C library or keeps it in its own process. */
static void any_program_is_recorded(void **state)
{
#if AGX_SANITIZED
   skip(); /* the preload library can't come first */
#endif
   static const char *const lines[] = {"$RUN drm", "$RUN virtual", "env -i $RUN drm"};
   for (size_t i = 0; i < AGX_COUNT(lines); i++) {
      const struct census it = record_line("", lines[i]);
      assert_int_equal(it.submits, 1);
      assert_true(it.before > 0 && it.after > 0);
      assert_int_equal(it.notes, 0);
   }
}

/* The same on the system's nodes: a virtual node stands there, in either of its doors. What differs
 * from a recording inside of it is the device's name. */
static void real_nodes_are_recorded(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   static const char *const doors[] = {"", "--seccomp"};
   const char *source = getenv("AGX_TEST_SOURCE_DIR");
   char arguments[1200], run[600];
   snprintf(run, sizeof(run),
            "'%s' run %s/corpus/softmax.spv --manifest %s/corpus/softmax.txt --device drm",
            getenv("AGX_TOOL"), source, source);
   snprintf(arguments, sizeof(arguments), "record -o %s.inside -- %s", path, run);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
   for (size_t i = 0; i < AGX_COUNT(doors); i++) {
      snprintf(arguments, sizeof(arguments),
               "virtual %s -- '%s' record -o %s.any --device drm -- sh -c \"%s\"", doors[i],
               getenv("AGXDUMP_TOOL"), path, run);
      assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
      snprintf(arguments, sizeof(arguments), "replay --check --strict %s.any", path);
      assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
      assert_non_null(strstr(text, "no difference, 0 faults"));
      snprintf(arguments, sizeof(arguments), "diff %s.any %s.inside", path, path);
      assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 1);
      assert_string_equal(text, "device: drm and virtual:g13g\n");
      remove_recorded();
   }
   snprintf(arguments, sizeof(arguments), "%s.inside", path);
   unlink(arguments);
}

/* However descriptors come and go, each open of the node has one recorder, and its close is
 * recorded. */
static void descriptors_of_real_nodes_are_followed(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   char arguments[1200], file[64], self[512] = "";
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   int asked[4] = {0}, opens = 0, closes = 0;
   bool more;
   assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
   snprintf(arguments, sizeof(arguments),
            "virtual -- '%s' record -o %s.any --device drm -- '%s' tools/node_client",
            getenv("AGXDUMP_TOOL"), path, self);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   snprintf(file, sizeof(file), "%s.any", path);
   assert_ok(agxw_capture_open_fd(NULL, open(file, O_RDONLY), &reader));
   for (;;) {
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (!more)
         break;
      opens += record.type == AGXW_CAPTURE_OPEN;
      closes += record.type == AGXW_CAPTURE_CLOSE;
      if (record.type == AGXW_CAPTURE_REQUEST) {
         assert_int_equal(record.result, 0);
         assert_in_range(record.file, 1, 3);
         asked[record.file] += record.request == AGX_IOCTL_ASAHI_GET_PARAMS;
      }
   }
   agxw_capture_close(reader);
   remove_recorded();
   assert_int_equal(opens, 3);
   assert_int_equal(closes, 1); /* of the third; others may have the first two, since a fork */
   assert_int_equal(asked[1], 4);
   assert_int_equal(asked[2], 6);
   assert_int_equal(asked[3], 1);
}

/* A served program's buffers are another process's business, but the recorder reads them. */
static void served_programs_have_their_memory_recorded(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   char command[1600], file[64];
   const char *source = getenv("AGX_TEST_SOURCE_DIR"), *tool = getenv("AGX_TOOL");
   snprintf(file, sizeof(file), "%s.any", path);
   snprintf(command, sizeof(command),
            "'%s' record -o %s -- true && AGX_CAPTURE=%s AGX_CAPTURE_OPTIONS=join '%s' virtual "
            "--seccomp -- '%s' run %s/corpus/softmax.spv --manifest %s/corpus/softmax.txt "
            "--device drm > /dev/null",
            getenv("AGXDUMP_TOOL"), file, file, tool, tool, source, source);
   assert_int_equal(system(command), 0);
   const struct census it = count_records(file);
   assert_int_equal(it.submits, 1);
   assert_true(it.before > 0);
   assert_int_equal(it.notes, 0);
   assert_int_equal(replay("--check --strict"), 0);
   remove_recorded();
}

/* The recorder must not take from one process what another needs, nor trust what it remembers of
 * contents that another has changed. */
static void children_share_a_device(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   static const char *const ways[] = {"record -o %s.any -- '%s' tools/forking_client",
                                      "record -o %s.any --device drm -- '%s' tools/forking_client"};
   char arguments[1200], command[600], self[512] = "";
   assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
   snprintf(command, sizeof(command), ways[0], path, self);
   assert_int_equal(tool_run("AGXDUMP_TOOL", command, text), 0);
   assert_int_equal(replay("--check --strict"), 0);
   assert_non_null(strstr(text, "5 submissions"));
   snprintf(command, sizeof(command), ways[1], path, self);
   snprintf(arguments, sizeof(arguments), "virtual -- '%s' %s", getenv("AGXDUMP_TOOL"), command);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   assert_int_equal(replay("--check --strict"), 0);
   assert_non_null(strstr(text, "5 submissions"));
   remove_recorded();
}

static void children_write_the_same_file(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   const struct census it = record_line("--device virtual:g14s", "$RUN drm & $RUN drm; wait");
   assert_int_equal(it.submits, 2);
   assert_true(it.processes >= 3 && it.opens >= 2);
}

static void recordings_have_limits(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   struct census it = record_line("--submits 2-", "$RUN drm");
   assert_int_equal(it.submits, 1);
   assert_int_equal(it.before + it.after, 0);
   it = record_line("--pipelined", "$RUN drm");
   assert_true(it.before > 0 && it.after == 0);
   it = record_line("--bytes 1K", "$RUN drm");
   assert_int_equal(it.notes, 1);
}

/* ---- replay ---- */

static void what_was_recorded_happens_again(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   record_to_file("", "$RUN drm; $RUN virtual");
   assert_int_equal(replay("--check --strict"), 0);
   assert_non_null(strstr(text, "2 submissions"));
   assert_non_null(strstr(text, "no difference, 0 faults"));
   assert_int_equal(replay("--chaos 3 --repeat 2 --timing"), 0);
   assert_non_null(strstr(text, "submission 2: "));
   assert_int_equal(replay("--until 1"), 0);
   assert_non_null(strstr(text, "1 submission, "));
   remove_recorded();
}

/* Each device is of the chip that it was, whatever the capture calls it. */
static void devices_are_of_their_chips(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   record_to_file("", "$RUN virtual:g14s; $RUN virtual:g13g");
   assert_int_equal(replay("--check --strict"), 0);
   assert_null(strstr(text, "when recorded"));
   assert_non_null(strstr(text, "no difference, 0 faults"));
   remove_recorded();
}

/* The streams of another generation end with words that this one doesn't know. */
static void another_chip_does_not_fit(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   record_to_file("", "$RUN virtual");
   assert_int_equal(replay("--device virtual:g14s"), 1);
   assert_non_null(strstr(text, "GPU generation: 13 (0xd) when recorded, 14 (0xe) here"));
   assert_non_null(strstr(text, "first difference behind submission 1: buffer "));
   assert_non_null(strstr(text, "1 fault"));
   remove_recorded();
}

static void without_results_nothing_is_compared(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   record_to_file("--pipelined", "$RUN virtual");
   assert_int_equal(replay(""), 0);
   assert_non_null(strstr(text, "nothing compared"));
   remove_recorded();
}

/* ---- stats ---- */

static int count_lines(void)
{
   int lines = 0;
   for (const char *at = text; (at = strchr(at, '\n')); at++)
      lines++;
   return lines;
}

static int stats_of(const char *options)
{
   char arguments[256];
   snprintf(arguments, sizeof(arguments), "stats %s %s.any", options, path);
   return tool_run("AGXDUMP_TOOL", arguments, text);
}

/* A run has two launches: the kernel, and the breadcrumb behind it. */
static void dispatches_are_counted(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   record_to_file("", "$RUN drm; $RUN virtual");
   assert_int_equal(stats_of("--csv"), 0);
   assert_memory_equal(text, "launch,kernel,grid,threads,instructions,", 40);
   assert_int_equal(count_lines(), 1 + 4);
   assert_non_null(strstr(text, "\n2.0.0,"));
   assert_int_equal(stats_of("--csv --kernels --sort cycles"), 0);
   assert_int_equal(count_lines(), 1 + 2);
   assert_int_equal(stats_of("--json"), 0);
   assert_non_null(strstr(text, "{\"dispatches\": [{\"launch\": \"1.0.0\", \"kernel\": \""));
   assert_non_null(strstr(text, "\"kernels\": ["));
   assert_int_equal(stats_of("--until 1"), 0);
   assert_int_equal(count_lines(), 3 + 1 + 3);
   assert_int_equal(stats_of("--sort size"), 2);
   assert_non_null(strstr(text, "--sort \"size\""));
   assert_int_equal(stats_of("--device drm"), 1);
   assert_int_equal(tool_run("AGXDUMP_TOOL", "stats --help", text), 0);
   remove_recorded();
}

/* ---- diff ---- */

static int diff(const char *options, const char *a, const char *b)
{
   char arguments[400];
   snprintf(arguments, sizeof(arguments), "diff %s %s.%s %s.%s", options, path, a, path, b);
   return tool_run("AGXDUMP_TOOL", arguments, text);
}

static void keep_as(const char *name)
{
   char from[64], to[64];
   snprintf(from, sizeof(from), "%s.any", path);
   snprintf(to, sizeof(to), "%s.%s", path, name);
   assert_int_equal(rename(from, to), 0);
}

static void only_what_differs_is_shown(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   static const struct {
      const char *name, *line;
   } rows[] = {{"1", "$RUN drm"},
               {"2", "$RUN drm"},
               {"twice", "$RUN drm; $RUN drm"},
               {"plain", "AGX_DEBUG=noopt $RUN drm"}};
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      record_to_file("", rows[i].line);
      keep_as(rows[i].name);
   }
   assert_int_equal(diff("--code", "1", "1"), 0);
   assert_string_equal(text, "");
   assert_int_equal(diff("--code", "1", "2"), 0); /* another run of the same */
   assert_string_equal(text, "");
   assert_int_equal(diff("", "1", "twice"), 1);
   assert_non_null(strstr(text, "submissions: 1 and 2\n"));
   assert_non_null(strstr(text, "dispatches: 2 and 4\n"));
   assert_non_null(strstr(text, "in B only"));
   assert_int_equal(diff("--code --figures", "1", "plain"), 1);
   assert_non_null(strstr(text, "  1.0.0 and 1.0.0: "));
   assert_non_null(strstr(text, "\n      cycles "));
   assert_non_null(strstr(text, "\n    + "));
   assert_int_equal(diff("--limit x", "1", "2"), 2);
   assert_int_equal(diff("", "1", "nothing"), 2);
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      char file[64];
      snprintf(file, sizeof(file), "%s.%s", path, rows[i].name);
      unlink(file);
   }
}

/* The second submission's stream is nowhere. */
static void a_fault_happens_again(void **state)
{
   char arguments[128];
   snprintf(arguments, sizeof(arguments), "replay %s", path);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 1);
   assert_non_null(strstr(text, "submission 2, command 0: "));
   assert_non_null(strstr(text, "no difference, 1 fault"));
}

static void a_wrong_replay_is_explained(void **state)
{
   static const struct {
      const char *arguments, *words;
   } rows[] = {
      {"replay", "no file"},
      {"replay --until 0 x", "--until 0"},
      {"replay --device virtual:g99 /dev/null", "not a capture"},
      {"replay a b", "\"b\""},
      {"replay --chaos", "--chaos: its value is missing"},
      {"replay /nonexistent/x", "/nonexistent/x"},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      assert_true(tool_run("AGXDUMP_TOOL", rows[i].arguments, text) > 0);
      assert_non_null(strstr(text, rows[i].words));
   }
   assert_int_equal(tool_run("AGXDUMP_TOOL", "replay --help", text), 0);
   assert_non_null(strstr(text, "--chaos"));
}

static void a_wrong_recording_is_explained(void **state)
{
   static const struct {
      const char *arguments, *words;
   } rows[] = {
      {"record", "no command"},
      {"record --submits 0 -- true", "submits=0"},
      {"record --device card0 -- true", "--device card0"},
      {"record -o /nonexistent/x -- true", "/nonexistent/x"},
      {"record -o", "-o: its value is missing"},
      {"record --all -- true", "\"--all\""},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      assert_true(tool_run("AGXDUMP_TOOL", rows[i].arguments, text) > 0);
      assert_non_null(strstr(text, rows[i].words));
   }
   assert_int_equal(tool_run("AGXDUMP_TOOL", "record --help", text), 0);
   assert_non_null(strstr(text, "--submits"));
}

/* Commands that print end with their code of failure where nobody can read it. */
static void a_full_disk_is_no_success(void **state)
{
   static const struct {
      const char *command;
      int code;
   } rows[] = {{"show", 1},         {"show --json", 1}, {"replay", 1}, {"stats", 1},
               {"stats --json", 1}, {"show --help", 1}, {"--help", 1}, {"diff --help", 2}};
   if (access("/dev/full", W_OK) != 0)
      skip();
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      char arguments[128];
      snprintf(arguments, sizeof(arguments), "%s %s > /dev/full", rows[i].command, path);
      assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), rows[i].code);
   }
}

static void a_full_disk_records_nothing(void **state)
{
#if AGX_SANITIZED
   skip(); /* the preload library can't come first */
#endif
   if (access("/dev/full", W_OK) != 0)
      skip();
   assert_int_equal(tool_run("AGXDUMP_TOOL", "record -o /dev/full -- true", text), 1);
   assert_non_null(strstr(text, "/dev/full can't be written"));
}

/* What the recorder itself writes would be all that the reader gets. */
static void a_pipe_records_nothing(void **state)
{
   assert_int_equal(tool_run("AGXDUMP_TOOL", "record -o /dev/stdout -- true 2>&1 | cat", text), 0);
   assert_non_null(strstr(text, "-o /dev/stdout: a pipe"));
}

/* As a stranger's file may have them by the million, nor does one that only opened ask for
 * anything: no device is made for either, here one that can't be. */
static void devices_without_requests_are_not_made(void **state)
{
   static const enum agxw_capture_type types[] = {AGXW_CAPTURE_OPEN, AGXW_CAPTURE_CLOSE};
   struct agxw_capture_writer *writer;
   char odd[64], arguments[128];
   snprintf(odd, sizeof(odd), "%s.closes", path);
   for (size_t i = 0; i < AGX_COUNT(types); i++) {
      const struct agxw_capture_record record = {
         .type = types[i], .process = 7, .file = 1, .text = "", .text_bytes = 0};
      assert_ok(agxw_capture_writer_open(odd, "virtual:none", &writer));
      agxw_capture_writer_put(writer, &record);
      assert_ok(agxw_capture_writer_close(writer));
      snprintf(arguments, sizeof(arguments), "replay %s", odd);
      assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
      assert_non_null(strstr(text, "0 submissions, 0 requests"));
   }
   unlink(odd);
}

/* Notes and names are a stranger's; on a terminal they could be commands. */
static void notes_are_cleaned(void **state)
{
   static const char *const commands[] = {"replay", "stats", "show --no-pager"};
   struct agxw_capture_writer *writer;
   const struct agxw_capture_record note = {
      .type = AGXW_CAPTURE_NOTE, .text = "\x1b[31mred", .text_bytes = 8};
   char odd[64], arguments[128];
   snprintf(odd, sizeof(odd), "%s.note", path);
   assert_ok(agxw_capture_writer_open(odd, "virtual:\x1b", &writer));
   agxw_capture_writer_put(writer, &note);
   assert_ok(agxw_capture_writer_close(writer));
   for (size_t i = 0; i < AGX_COUNT(commands); i++) {
      snprintf(arguments, sizeof(arguments), "%s %s", commands[i], odd);
      assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
      assert_non_null(strstr(text, "?[31mred"));
      assert_null(strchr(text, 0x1b));
   }
   snprintf(arguments, sizeof(arguments), "diff %s %s", odd, path);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 1);
   assert_null(strchr(text, 0x1b));
   unlink(odd);
}

static void help_fits_a_terminal(void **state)
{
   static const char *const commands[] = {"",        "record",   "show", "replay", "stats",
                                          "extract", "minimize", "diff", "html"};
   for (size_t i = 0; i < AGX_COUNT(commands); i++) {
      char arguments[64];
      snprintf(arguments, sizeof(arguments), "%s --help", commands[i]);
      assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
      for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
         assert_in_range(strcspn(line, "\n"), 0, 100);
   }
}

static void usage_is_explained(void **state)
{
   assert_int_equal(tool_run("AGXDUMP_TOOL", "--help", text), 0);
   assert_non_null(strstr(text, "AGX_CAPTURE"));
   assert_int_equal(tool_run("AGXDUMP_TOOL", "", text), 2);
   assert_int_equal(tool_run("AGXDUMP_TOOL", "show", text), 2);
   assert_int_equal(tool_run("AGXDUMP_TOOL", "show --jason x", text), 2);
   assert_int_equal(tool_run("AGXDUMP_TOOL", "play x", text), 2);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(submissions_are_shown_by_name),
      cmocka_unit_test(json_tells_the_same),
      cmocka_unit_test(other_files_are_refused),
      cmocka_unit_test(labels_without_utf8_are_mended),
      cmocka_unit_test(any_program_is_recorded),
      cmocka_unit_test(real_nodes_are_recorded),
      cmocka_unit_test(descriptors_of_real_nodes_are_followed),
      cmocka_unit_test(served_programs_have_their_memory_recorded),
      cmocka_unit_test(children_share_a_device),
      cmocka_unit_test(children_write_the_same_file),
      cmocka_unit_test(recordings_have_limits),
      cmocka_unit_test(a_wrong_recording_is_explained),
      cmocka_unit_test(what_was_recorded_happens_again),
      cmocka_unit_test(devices_are_of_their_chips),
      cmocka_unit_test(another_chip_does_not_fit),
      cmocka_unit_test(without_results_nothing_is_compared),
      cmocka_unit_test(dispatches_are_counted),
      cmocka_unit_test(only_what_differs_is_shown),
      cmocka_unit_test(a_fault_happens_again),
      cmocka_unit_test(a_wrong_replay_is_explained),
      cmocka_unit_test(a_full_disk_is_no_success),
      cmocka_unit_test(a_full_disk_records_nothing),
      cmocka_unit_test(a_pipe_records_nothing),
      cmocka_unit_test(devices_without_requests_are_not_made),
      cmocka_unit_test(notes_are_cleaned),
      cmocka_unit_test(help_fits_a_terminal),
      cmocka_unit_test(usage_is_explained),
   };
   return cmocka_run_group_tests(tests, record, remove_file);
}
