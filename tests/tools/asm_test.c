/* SPDX-License-Identifier: MIT
 *
 * The built `agx` program: asm and disasm accept what the other prints, and say
 * what is wrong with anything else. AGX_TOOL names the binary.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define MAX_OUTPUT 8192

static char directory[] = "/tmp/agx-asm-test-XXXXXX";

/* Runs `agx ARGUMENTS`, both outputs into text; returns the exit code. */
static int run(const char *arguments, char *text)
{
   const char *tool = getenv("AGX_TOOL");
   char command[1024];
   assert_non_null(tool);
   snprintf(command, sizeof(command), "cd %s && '%s' %s 2>&1", directory, tool, arguments);
   FILE *pipe = popen(command, "r");
   assert_non_null(pipe);
   size_t size = fread(text, 1, MAX_OUTPUT - 1, pipe);
   text[size] = 0;
   int status = pclose(pipe);
   assert_true(WIFEXITED(status));
   return WEXITSTATUS(status);
}

static void write_to(const char *name, const void *data, size_t size)
{
   char path[256];
   snprintf(path, sizeof(path), "%s/%s", directory, name);
   FILE *file = fopen(path, "wb");
   assert_non_null(file);
   assert_int_equal(fwrite(data, 1, size, file), size);
   assert_int_equal(fclose(file), 0);
}

static const char listing[] =
   "     0: 0501040d00c43200          load r=r0..r1 base=du2 index=0 shift=lsl1 format=i32 mask=xy "
   "group=a\n"
   "     8: 3800                      wait group=a\n"
   "     a: 2a8c40422400              fadd d=r3l a=r0 b=r2\n"
   "    10: 8800                      stop\n";
static const char hex[] = "0501040d00c43200\n3800\n2a8c40422400\n8800\n";

static void listings_and_hex_turn_into_each_other(void **state)
{
   char text[MAX_OUTPUT];
   write_to("code.hex", hex, strlen(hex));
   write_to("code.s", listing, strlen(listing));
   assert_int_equal(run("asm code.s", text), 0);
   assert_string_equal(text, hex);
   assert_int_equal(run("asm < code.s", text), 0);
   assert_string_equal(text, hex);
   assert_int_equal(run("disasm code.hex", text), 0);
   assert_string_equal(text, listing);
   assert_int_equal(run("disasm --hex $(cat code.hex)", text), 0);
   assert_string_equal(text, listing);
   assert_int_equal(run("disasm --hex \"$(cat code.hex)\"", text), 0);
   assert_string_equal(text, listing);
   assert_int_equal(run("asm code.s | tee again.hex | cmp - code.hex", text), 0);
}

static void raw_bytes_are_code(void **state)
{
   static const uint8_t bytes[] = {0x2a, 0x8c, 0x40, 0x42, 0x24, 0x00, 0x88, 0x00};
   static const char expected[] = "     0: 2a8c40422400              fadd d=r3l a=r0 b=r2\n"
                                  "     6: 8800                      stop\n";
   char text[MAX_OUTPUT];
   write_to("code.bin", bytes, sizeof(bytes));
   assert_int_equal(run("disasm code.bin", text), 0);
   assert_string_equal(text, expected);
   assert_int_equal(run("disasm - < code.bin", text), 0);
   assert_string_equal(text, expected);
   /* "88 8" as characters is code too, when that is what the user says. */
   write_to("digits", "3800", 4);
   assert_int_equal(run("disasm --raw digits", text), 1);
}

static void comments_and_blank_lines_are_skipped(void **state)
{
   static const char source[] = "# a comment\n\n  stop ; another\n\t10: 8800 trap # bytes lose\n";
   char text[MAX_OUTPUT];
   write_to("comments.s", source, strlen(source));
   assert_int_equal(run("asm comments.s", text), 0);
   assert_string_equal(text, "8800\n0800\n");
}

static void json_is_one_object(void **state)
{
   char text[MAX_OUTPUT];
   assert_int_equal(run("disasm --hex 2a8c40422400 --json", text), 0);
   assert_string_equal(text, "{\"instructions\": [\n"
                             "  {\"offset\": 0, \"bytes\": \"2a8c40422400\", "
                             "\"text\": \"fadd d=r3l a=r0 b=r2\", \"name\": \"fadd\", "
                             "\"operands\": {\"d\": \"r3l\", \"a\": \"r0\", \"b\": \"r2\"}}\n"
                             "], \"error\": null}\n");
   assert_int_equal(run("disasm --json --hex 88", text), 1);
   static const char error[] = "code at 0x0: byte 1: cut short, instructions have 2 bytes or more";
   char expected[MAX_OUTPUT];
   snprintf(expected, sizeof(expected),
            "{\"instructions\": [], \"error\": \"%s\"}\nagx disasm: %s\n", error, error);
   assert_string_equal(text, expected);
}

static void mistakes_are_named(void **state)
{
   static const struct {
      const char *arguments, *part;
      int code;
   } cases[] = {
      {"", "usage: agx COMMAND", 2},
      {"fly", "no command \"fly\"; `agx --help`", 2},
      {"asm --fast", "unknown option --fast; see `agx asm --help`", 2},
      {"asm a b", "takes one file, not 2", 2},
      {"asm missing.s", "agx asm: missing.s: No such file", 1},
      {"disasm --hex", "--hex needs the bytes", 2},
      {"disasm --hex 388", "even number of hex digits", 1},
      {"disasm --hex 3800ffff", "code at 0x2: byte 0: no instruction begins with", 1},
      {"disasm a b", "takes one file, not 2", 2},
      {"disasm --hex 2a8c4042", "cut short, an instruction of 6 bytes", 1},
   };
   char text[MAX_OUTPUT];
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      assert_int_equal(run(cases[i].arguments, text), cases[i].code);
      if (!strstr(text, cases[i].part))
         fail_msg("agx %s printed %s", cases[i].arguments, text);
   }
   write_to("bad.s", "stop\nfadd d=r0 a=r1 b=3.7\n", 25);
   assert_int_equal(run("asm bad.s", text), 1);
   assert_non_null(strstr(text, "bad.s:2: fadd: operand b=3.7: not a number that a minifloat"));
}

static void help_is_there(void **state)
{
   char text[MAX_OUTPUT];
   assert_int_equal(run("--help", text), 0);
   assert_non_null(strstr(text, "disasm"));
   assert_int_equal(run("asm --help", text), 0);
   assert_non_null(strstr(text, "usage: agx asm [FILE]"));
}

static int make_directory(void **state)
{
   return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
   char command[128];
   snprintf(command, sizeof(command), "rm -r %s", directory);
   return system(command);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(listings_and_hex_turn_into_each_other),
      cmocka_unit_test(raw_bytes_are_code),
      cmocka_unit_test(comments_and_blank_lines_are_skipped),
      cmocka_unit_test(json_is_one_object),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(help_is_there),
   };
   return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
