/* SPDX-License-Identifier: MIT
 *
 * agxdump minimize, of the golden capture, in which one thing is wrong by itself (a stream that is
 * nowhere) and another is made wrong.
 */
#include "tool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"
#include "winsys/capture/write.h"

static char text[TOOL_MAX_OUTPUT], folder[] = "/tmp/agx-minimize-XXXXXX";
static char *golden;

static int begin(void **state)
{
   golden = agx_test_path("golden/dispatch.capture");
   return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
   char line[64];
   free(golden);
   snprintf(line, sizeof(line), "rm -r %s", folder);
   return system(line);
}

static int minimize(const char *capture, const char *options)
{
   char line[1000];
   snprintf(line, sizeof(line), "minimize %s -o %s/out.capture %s", capture, folder, options);
   return tool_run("AGXDUMP_TOOL", line, text);
}

static int replay_out(void)
{
   char line[200];
   snprintf(line, sizeof(line), "replay %s/out.capture", folder);
   return tool_run("AGXDUMP_TOOL", line, text);
}

/* A copy of the golden capture whose first submission left another word in the data. */
static void spoil(const char *path)
{
   static uint8_t contents[AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES];
   struct agxw_capture_reader *reader;
   struct agxw_capture_writer *writer;
   struct agxw_capture_record record;
   bool more = true;
   assert_ok(agxw_capture_open_fd(NULL, open(golden, O_RDONLY), &reader));
   assert_ok(agxw_capture_writer_open(path, agxw_capture_node(reader), &writer));
   while (more) {
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (!more)
         break;
      if (record.type != AGXW_CAPTURE_PAGES) {
         agxw_capture_writer_put(writer, &record);
         continue;
      }
      for (uint64_t i = 0; i < record.page_count; i++) {
         const struct agxw_capture_place place = {record.file_offset, i};
         assert_ok(agxw_capture_page(reader, &place, 0, contents + i * AGXW_CAPTURE_PAGE_BYTES,
                                     AGXW_CAPTURE_PAGE_BYTES));
      }
      if (record.moment == AGXW_CAPTURE_AFTER && record.handle == 5)
         contents[0] = 11;
      agxw_capture_writer_put_pages(writer, &record, contents);
   }
   assert_ok(agxw_capture_writer_close(writer));
   agxw_capture_close(reader);
}

/* The stream of the second submission is nowhere: no buffer has anything to do with it. */
static void a_fault_stays(void **state)
{
   assert_int_equal(minimize(golden, "--fault"), 0);
   assert_non_null(strstr(text, "1 of 2 submissions, 1 of 2 commands, 0 of 2 dispatches"));
   assert_non_null(strstr(text, "0 of 0 pages with contents"));
   assert_int_equal(replay_out(), 1);
   assert_non_null(strstr(text, "submission 1, command 0: "));
   assert_non_null(strstr(text, "1 fault\n"));
   char line[200];
   snprintf(line, sizeof(line), "%s/out.capture", folder);
   struct stat info;
   assert_int_equal(stat(line, &info), 0);
   assert_int_equal(info.st_mode & 0777, 0600);
}

/* Both launches are needed for 10 to be there, and the page of data only for the address in it. */
static void a_difference_stays(void **state)
{
   char path[64];
   snprintf(path, sizeof(path), "%s/spoiled.capture", folder);
   spoil(path);
   assert_int_equal(minimize(path, "--difference --seconds 300"), 0);
   assert_non_null(strstr(text, "1 of 2 submissions, 1 of 2 commands, 2 of 2 dispatches"));
   assert_int_equal(replay_out(), 1);
   assert_non_null(strstr(text, "first difference behind submission 1: buffer 5 \"data\" at "
                                "offset 0, "));
   assert_non_null(strstr(text, "  recorded 0b000000"));
   assert_non_null(strstr(text, "  replayed 0a000000"));
   assert_non_null(strstr(text, "dispatch 1.0.1, "));
   assert_non_null(strstr(text, "0 faults"));
   assert_int_equal(minimize(path, ""), 0); /* the difference comes before the fault */
   assert_non_null(strstr(text, "2 of 2 dispatches"));
}

/* A script that looks for any dispatch at all needs one of them. */
static void a_command_decides(void **state)
{
   char options[800], path[64];
   snprintf(path, sizeof(path), "%s/has it's.sh", folder);
   FILE *script = fopen(path, "w");
   assert_non_null(script);
   fprintf(script, "'%s' stats --csv \"$1\" | grep -q '^1\\.0\\.'\n", getenv("AGXDUMP_TOOL"));
   assert_int_equal(fclose(script), 0);
   snprintf(options, sizeof(options), "-- sh \"%s\"", path);
   assert_int_equal(minimize(golden, options), 0);
   assert_non_null(strstr(text, "1 of 2 submissions, 1 of 2 commands, 1 of 2 dispatches"));
   assert_int_equal(minimize(golden, "-- false"), 1);
   assert_non_null(strstr(text, "the command doesn't end with exit code 0 for all of it"));
}

static void a_wrong_wish_is_explained(void **state)
{
   static const struct {
      const char *options, *words;
   } rows[] = {{"--difference", "no difference; it has a fault (--fault)"},
               {"--seconds 0", "--seconds 0"},
               {"--seconds", "its value is missing"},
               {"--until 1", "--until, --repeat and --timing are of replay alone"},
               {"--timing", "--until, --repeat and --timing are of replay alone"},
               {"--fault -- true", "a command, or --difference, or --fault"},
               {"--", "a command, or"}};
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      assert_true(minimize(golden, rows[i].options) > 0);
      assert_non_null(strstr(text, rows[i].words));
   }
   assert_int_equal(minimize("-", ""), 2);
   assert_int_equal(minimize("/nonexistent/x", ""), 1);
   assert_non_null(strstr(text, "/nonexistent/x"));
   assert_int_equal(tool_run("AGXDUMP_TOOL", "minimize --help", text), 0);
   assert_non_null(strstr(text, "--difference"));
}

static void the_capture_itself_is_no_output(void **state)
{
   char line[200];
   struct stat before, after;
   snprintf(line, sizeof(line), "cp '%s' %s/in.capture", golden, folder);
   assert_int_equal(system(line), 0);
   snprintf(line, sizeof(line), "%s/in.capture", folder);
   assert_int_equal(stat(line, &before), 0);
   snprintf(line, sizeof(line), "minimize %s/in.capture -o %s/../%s/in.capture", folder, folder,
            folder + strlen("/tmp/"));
   assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 1);
   assert_non_null(strstr(text, "is the capture itself, which would be lost"));
   snprintf(line, sizeof(line), "%s/in.capture", folder);
   assert_int_equal(stat(line, &after), 0);
   assert_int_equal(before.st_size, after.st_size);
}

/* The command ends its parent as a terminal would; it notes its trial, which must go. */
static void a_signal_ends_the_search(void **state)
{
   static const struct {
      const char *name;
      int number;
   } rows[] = {{"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}};
   char line[300], path[64];
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      signal(rows[i].number, SIG_DFL); /* nohup has HUP ignored, which programs inherit */
      snprintf(line, sizeof(line),
               "-- sh -c 'printf %%s $0 > %s/trial; kill -%s $PPID; sleep 0.1; true'; exit $?",
               folder, rows[i].name);
      assert_int_equal(minimize(golden, line), 128 + rows[i].number);
      size_t bytes;
      snprintf(path, sizeof(path), "%s/trial", folder);
      char *trial = agx_test_read_file(path, &bytes);
      snprintf(line, sizeof(line), "%.*s", (int)bytes, trial);
      free(trial);
      assert_non_null(strstr(line, "trial"));
      assert_int_equal(access(line, F_OK), -1);
   }
   assert_int_equal(minimize(golden, "-- /nonexistent/command"), 1);
   assert_non_null(strstr(text, "command /nonexistent/command: No such file"));
}

static void trials_lie_in_tmpdir(void **state)
{
   assert_int_equal(setenv("TMPDIR", folder, 1), 0);
   assert_int_equal(minimize(golden, "-- sh -c 'echo $0; false'"), 1);
   assert_non_null(strstr(text, folder));
   assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
   assert_int_equal(minimize(golden, "--fault"), 1);
   assert_non_null(strstr(text, "/nonexistent/agxdump-trial-"));
   assert_int_equal(unsetenv("TMPDIR"), 0);
}

/* No file gets the number of an input or output that is closed. */
static void closed_descriptors_are_kept(void **state)
{
   size_t bytes;
   char file[64], line[512];
   snprintf(file, sizeof(file), "%s/said", folder);
   snprintf(line, sizeof(line),
            "\"$AGXDUMP_TOOL\" minimize '%s' -o %s/out -- sh -c 'readlink /proc/$$/fd/0 >&2; false'"
            " <&- >&- 2> %s",
            golden, folder, file);
   assert_int_not_equal(system(line), 0);
   char *said = agx_test_read_file(file, &bytes);
   assert_non_null(strstr(said, "/dev/null\n"));
   free(said);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fault_stays),
      cmocka_unit_test(a_difference_stays),
      cmocka_unit_test(a_command_decides),
      cmocka_unit_test(a_wrong_wish_is_explained),
      cmocka_unit_test(the_capture_itself_is_no_output),
      cmocka_unit_test(a_signal_ends_the_search),
      cmocka_unit_test(trials_lie_in_tmpdir),
      cmocka_unit_test(closed_descriptors_are_kept),
   };
   return cmocka_run_group_tests(tests, begin, end);
}
