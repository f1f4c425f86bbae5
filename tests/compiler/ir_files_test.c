/* SPDX-License-Identifier: MIT
 *
 * Tests of passes that are written as IR: `compiler_test ir_files FILE.ir...` runs the cases of
 * these files.
 *
 *    # A comment.
 *    ==== name_of_a_test
 *    # What the case shows.
 *    agx opt --pass opt_cse --pass opt_dce
 *    shader main local 32x1x1 shared 0 push 0
 *    ...
 *    ----
 *    shader main local 32x1x1 shared 0 push 0
 *    ...
 *
 * The options are those of the command, and hold for later cases, too. The IR before and after
 * stand above and below the dashes; without dashes the IR must stay as it is.
 * Cases of one name are one test. With AGX_UPDATE_GOLDEN=1 in the environment the file is written
 * anew with what comes out.
 */
#include "agx/opt_request.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define MAX_CASES   1000
#define MAX_OPTIONS 128

struct ir_case {
   char *name, *options; /* options: the line that holds for it */
   char *before, *after; /* the same string where nothing is to change */
   char *got;
};

struct ir_file {
   const char *path;
   char *text;
   struct ir_case cases[MAX_CASES];
   size_t count;
};

static struct ir_file file;

/* Cuts the text behind a line's end and returns the next line, or NULL. */
static char *cut_line(char *line)
{
   char *end = strchr(line, '\n');
   if (!end)
      return NULL;
   *end = 0;
   return end[1] ? end + 1 : NULL;
}

static bool begins_with(const char *line, const char *prefix)
{
   return strncmp(line, prefix, strlen(prefix)) == 0;
}

static void append(char **text, const char *line)
{
   size_t length = *text ? strlen(*text) : 0, more = strlen(line);
   *text = realloc(*text, length + more + 2);
   assert_non_null(*text);
   memcpy(*text + length, line, more);
   memcpy(*text + length + more, "\n", 2);
}

static void read_cases(const char *path)
{
   char *options = NULL, **into = NULL;
   struct ir_case *c = NULL;
   file.path = path;
   file.text = agx_test_read_file(path, NULL);
   for (char *line = file.text, *next; line; line = next) {
      next = cut_line(line);
      if (begins_with(line, "==== ")) {
         if (file.count == MAX_CASES)
            fail_msg("%s: more than %d cases", path, MAX_CASES);
         c = &file.cases[file.count++];
         *c = (struct ir_case){.name = line + 5, .options = options};
         into = &c->before;
      } else if (c && begins_with(line, "agx opt ")) {
         c->options = options = line + 8;
      } else if (c && strcmp(line, "----") == 0) {
         into = &c->after;
      } else if (*line && *line != '#') {
         if (!c)
            fail_msg("%s: text in front of the first case: %s", path, line);
         append(into, line);
      }
   }
   for (size_t i = 0; i < file.count; i++) {
      c = &file.cases[i];
      if (!c->before || !c->options)
         fail_msg("%s: %s: no IR, or no line `agx opt`", path, c->name);
      if (!c->after)
         c->after = c->before;
   }
}

/* The words of an option line; they point into a copy, which the caller frees. */
static char *read_options(const char *line, struct agx_opt_request *request)
{
   char *copy = strdup(line), *rest = copy, *word;
   assert_non_null(copy);
   *request = agx_opt_request_default();
   while ((word = agx_split(&rest, " "))) {
      char *value = *word && agx_opt_takes_value(word) ? agx_split(&rest, " ") : NULL;
      if (*word && !agx_opt_add(request, word, value))
         fail_msg("%s: `agx opt` doesn't take %s %s", file.path, word, value ? value : "");
   }
   return copy;
}

static void run_case(struct ir_case *c)
{
   struct agx_opt_request request;
   char *options = read_options(c->options, &request);
   if (agx_opt_run(&request, c->before, &c->got) != AGX_OK)
      fail_msg("%s: %s: %s\n%s", file.path, c->name, agx_error_peek(), c->before);
   free(options);
}

static void cases_of_one_name(void **state)
{
   const char *name = *state;
   for (size_t i = 0; i < file.count; i++) {
      struct ir_case *c = &file.cases[i];
      if (strcmp(c->name, name) != 0)
         continue;
      run_case(c);
      if (strcmp(c->got, c->after) != 0 && !getenv("AGX_UPDATE_GOLDEN"))
         fail_msg("%s: %s: agx opt %s\nbefore:\n%safter:\n%swant:\n%s", file.path, c->name,
                  c->options, c->before, c->got, c->after);
   }
}

/* What a case of the file becomes in it. */
static void write_after(FILE *out, const struct ir_case *c)
{
   if (c && strcmp(c->got, c->before) != 0)
      fprintf(out, "----\n%s", c->got);
}

/* Writes the file as it is, comments included, but for the IR after each case. */
static void update(void)
{
   char *text = agx_test_read_file(file.path, NULL);
   FILE *out = fopen(file.path, "w");
   assert_non_null(out);
   struct ir_case *c = NULL, *next_case = file.cases;
   bool has_ir = false, is_written = true; /* of the case: IR before, and after */
   for (char *line = text, *next; line; line = next) {
      next = cut_line(line);
      const bool is_text = *line && *line != '#', begins = begins_with(line, "==== ");
      const bool is_end = begins || !*line || strcmp(line, "----") == 0;
      if (has_ir && !is_written && is_end) {
         write_after(out, c);
         is_written = true;
      }
      if (begins) {
         c = next_case++;
         has_ir = is_written = false;
      }
      if (!is_text || begins || !c || !is_written)
         fprintf(out, "%s\n", line);
      has_ir |= is_text && !begins && !begins_with(line, "agx opt ");
   }
   if (!is_written)
      write_after(out, c);
   fclose(out);
   free(text);
}

static int run_file(void)
{
   static struct CMUnitTest tests[MAX_CASES];
   size_t count = 0;
   for (size_t i = 0; i < file.count; i++) {
      size_t known = 0;
      while (known < count && strcmp(tests[known].name, file.cases[i].name) != 0)
         known++;
      if (known == count)
         tests[count++] = (struct CMUnitTest){.name = file.cases[i].name,
                                              .test_func = cases_of_one_name,
                                              .initial_state = file.cases[i].name};
   }
   return _cmocka_run_group_tests(file.path, tests, count, NULL, NULL);
}

static void free_cases(void)
{
   for (size_t i = 0; i < file.count; i++) {
      struct ir_case *c = &file.cases[i];
      if (c->after != c->before)
         free(c->after);
      free(c->before);
      free(c->got);
   }
   free(file.text);
   file.count = 0;
}

AGX_TEST_FILE(void)
{
   int failed = 0;
   if (!*agx_test_arguments)
      print_message("no IR files are named\n");
   for (char **path = agx_test_arguments; *path; path++) {
      read_cases(*path);
      const int failed_here = run_file();
      if (!failed_here && getenv("AGX_UPDATE_GOLDEN"))
         update();
      failed += failed_here;
      free_cases();
   }
   return failed;
}
