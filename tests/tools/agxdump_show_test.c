/* SPDX-License-Identifier: MIT
 *
 * What `agxdump show` says beside the words: sections, kernels that are known, lines, figures,
 * colours; and that its code can be assembled again.
 */
#include "tool.h"

#include <unistd.h>

static char folder[] = "/tmp/agx-show-XXXXXX";
static char text[TOOL_MAX_OUTPUT], other[TOOL_MAX_OUTPUT];

static int sh(const char *format, const char *a, const char *b)
{
   char command[4096];
   snprintf(command, sizeof(command), format, a, b);
   int status = system(command);
   assert_true(WIFEXITED(status));
   return WEXITSTATUS(status);
}

/* A kernel with source lines runs once: a.cap is the capture, a.elf the kernel. */
static int record(void **state)
{
   assert_non_null(mkdtemp(folder));
   char *kernel = agx_test_path("compiler/spv/lines.g.spv");
   assert_int_equal(sh("cp '%s' %s/a.spv", kernel, folder), 0);
   free(kernel);
   assert_int_equal(
      sh("printf 'buf 0 0 0 ssbo 1024 zero\\nbuf 1 0 1 ssbo 1024 zero out\\ndispatch 2 1 1\\n'"
         " > %s/a.txt%s",
         folder, ""),
      0);
   assert_int_equal(
      sh("cd %s && AGX_CAPTURE=a.cap '%s' run a.spv --manifest a.txt --device virtual:g13g"
         " > /dev/null",
         folder, getenv("AGX_TOOL")),
      0);
   assert_int_equal(
      sh("cd %s && '%s' compile a.spv -o a.elf > /dev/null", folder, getenv("AGX_TOOL")), 0);
   return 0;
}

static int remove_all(void **state)
{
   return sh("rm -r %s%s", folder, "");
}

static int show(const char *options, char *out)
{
   char arguments[512];
   snprintf(arguments, sizeof(arguments), "show %s", options);
   for (char *at; (at = strchr(arguments, '@'));) {
      char rest[512];
      snprintf(rest, sizeof(rest), "%s", at + 1);
      snprintf(at, sizeof(arguments) - (size_t)(at - arguments), "%s/%s", folder, rest);
   }
   return tool_run("AGXDUMP_TOOL", arguments, out);
}

static void known_kernels_name_uniforms_and_lines(void **state)
{
   assert_int_equal(show("--program @a.elf --cycles @a.cap", text), 0);
   assert_non_null(strstr(text, "address of binding 0.0 A -> \"buffer 0\" + 0x0"));
   assert_non_null(strstr(text, "address of binding 0.1 B -> \"buffer 1\" + 0x0"));
   assert_non_null(strstr(text, "; lines.comp:7     return y + sin(x);")
                      ?: strstr(text, "lines.comp:9"));
   assert_non_null(strstr(text, "waited for at"));
   assert_non_null(strstr(text, "waits for load at"));
   assert_non_null(strstr(text, "cycles by the model, bound by"));
   assert_non_null(strstr(text, ", main of "));
   assert_null(strstr(text, "!"));
   assert_int_equal(show("--program @ @a.cap", other), 0); /* the folder */
   assert_non_null(strstr(other, "address of binding 0.0 A"));
   assert_int_equal(show("@a.cap", other), 0);
   assert_null(strstr(other, "binding 0.0"));
   assert_non_null(strstr(other, "-> \"buffer 0\" + 0x0"));
}

/* `agx asm` takes the listing as it is, and gives the bytes that `agx disasm` shows of the kernel,
 * which is the first that the submission runs. */
static void code_can_be_assembled_again(void **state)
{
   assert_int_equal(show("--shaders --program @a.elf @a.cap > @a.asm", text), 0);
   assert_int_equal(sh("cd %s && '%s' asm a.asm > again", folder, getenv("AGX_TOOL")), 0);
   assert_int_equal(
      sh("cd %s && '%s' disasm a.elf | awk '$3 != \"trap\" && $3 {print $2}' > wanted", folder,
         getenv("AGX_TOOL")),
      0);
   assert_int_equal(
      sh("cd %s && test -s wanted && head -n $(wc -l < wanted) again | cmp - wanted%s", folder, ""),
      0);
}

static void sections_and_submissions_can_be_chosen(void **state)
{
   assert_int_equal(show("--stream @a.cap", text), 0);
   assert_non_null(strstr(text, "CDM Launch Word 0"));
   assert_null(strstr(text, "code at"));
   assert_int_equal(show("--shaders @a.cap", text), 0);
   assert_null(strstr(text, "CDM Launch Word 0"));
   assert_non_null(strstr(text, "code at"));
   assert_int_equal(show("--memory --bytes 32 @a.cap", text), 0);
   assert_non_null(strstr(text, "bytes of buffer"));
   assert_non_null(strstr(text, "      *\n"));
   assert_non_null(strstr(text, "bytes more: --bytes 0 shows all"));
   assert_null(strstr(text, "command 0"));
   assert_int_equal(show("--memory --bytes 20 @a.cap", text), 0); /* whole rows */
   assert_non_null(strstr(text, "      00000020\n"));
   assert_non_null(strstr(text, "      16352 bytes more: --bytes 0 shows all"));
   assert_int_equal(show("--submit 1 @a.cap", text), 0);
   assert_non_null(strstr(text, "submission 1 to queue"));
   assert_int_equal(show("--submit 99 @a.cap", text), 1);
   assert_non_null(strstr(text, "--submit 99: there are "));
   assert_int_equal(show("--submit 0 @a.cap", text), 2);
}

static void colours_are_asked_for(void **state)
{
   assert_int_equal(show("--color always @a.cap", text), 0);
   assert_non_null(strstr(text, "\033[1msubmission 1"));
   assert_int_equal(show("@a.cap", text), 0); /* a pipe is no terminal */
   assert_null(strchr(text, '\033'));
   assert_int_equal(show("--color sometimes @a.cap", text), 2);
   assert_non_null(strstr(text, "auto, always and never"));
}

static void json_holds_all_sections(void **state)
{
   assert_int_equal(
      show("--json --stream --shaders --memory --program @a.elf --cycles @a.cap > @a.json", text),
      0);
   if (sh("command -v python3 > /dev/null%s%s", "", "") != 0)
      skip();
   assert_int_equal(
      sh("python3 -c 'import json; s = json.load(open(\"%s/a.json\"))[\"submissions\"][0];"
         " b = s[\"commands\"][0][\"blocks\"][0][\"launch\"];"
         " assert b[\"kernel\"] == \"main\" and b[\"cycles\"] > 0 and "
         "s[\"memory\"][0][\"contents\"]'%s",
         folder, ""),
      0);
}

static void what_is_wrong_is_said(void **state)
{
   assert_int_equal(show("--program @none.elf @a.cap", text), 2);
   assert_non_null(strstr(text, "none.elf"));
   assert_int_equal(show("--program @a.txt @a.cap", text), 2);
   assert_non_null(strstr(text, "no file of `agx compile`"));
   assert_int_equal(show("--bytes many @a.cap", text), 2);
   assert_int_equal(show("", text), 2);
   assert_int_equal(show("--cycles - < @a.cap", text), 1);
   assert_non_null(strstr(text, "standard input"));
   assert_int_equal(show("@none.cap", text), 1);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_kernels_name_uniforms_and_lines),
      cmocka_unit_test(code_can_be_assembled_again),
      cmocka_unit_test(sections_and_submissions_can_be_chosen),
      cmocka_unit_test(colours_are_asked_for),
      cmocka_unit_test(json_holds_all_sections),
      cmocka_unit_test(what_is_wrong_is_said),
   };
   return cmocka_run_group_tests(tests, record, remove_all);
}
