/* SPDX-License-Identifier: MIT
 *
 * IR text that is wrong in some place must be refused or work, never crash or hang a pass: takes
 * the cases of the .ir files that it is given, spoils some lines or words of each, and runs the
 * case's passes, or another one, over the result. The numbers are the same in each run.
 * AGX_MUTATIONS is how often each case is spoiled, AGX_MUTATION_SEED another start, and
 * AGX_MUTATION_INPUT a file that holds what runs, for when it crashes.
 */
#include "agx/opt_request.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define MAX_LINES 400
#define MAX_TEXT  32768

/* A case's lines; they point into the file's text or into `spoiled`. */
struct lines {
   char *line[MAX_LINES];
   size_t count;
};

static struct agx_test_rng rng;
static char spoiled[8][1024];

static size_t below(size_t bound)
{
   return (size_t)agx_test_random_below(&rng, bound);
}

static void insert(struct lines *lines, size_t at, char *line)
{
   memmove(&lines->line[at + 1], &lines->line[at], (lines->count - at) * sizeof(*lines->line));
   lines->line[at] = line;
   lines->count++;
}

static void drop(struct lines *lines, size_t at)
{
   lines->count--;
   memmove(&lines->line[at], &lines->line[at + 1], (lines->count - at) * sizeof(*lines->line));
}

static bool ends_word(char c)
{
   return !c || strchr(" ,:.", c);
}

/* A word of a line, by its start and length. */
static char *pick_word(char *line, size_t *length)
{
   char *at = line + below(strlen(line) + 1);
   while (at > line && !ends_word(at[-1]))
      at--;
   for (*length = 0; !ends_word(at[*length]); ++*length)
      ;
   return at;
}

/* One word of a line becomes a word of another line, a special one, or is left out. */
static char *spoil_word(const struct lines *lines, char *line, char *into)
{
   static char *const special[] = {"_",   "#0", "#0xffffffffffffffff", "%0", "64", "x4",
                                   "r0l", "u0l"};
   size_t length, new_length = 0;
   char *word = pick_word(line, &length), *new_word = "";
   unsigned kind = (unsigned)below(8);
   if (kind < 6) {
      new_word = pick_word(lines->line[below(lines->count)], &new_length);
   } else if (kind == 6) {
      new_word = special[below(AGX_COUNT(special))];
      new_length = strlen(new_word);
   }
   snprintf(into, sizeof(spoiled[0]), "%.*s%.*s%s", (int)(word - line), line, (int)new_length,
            new_word, word + length);
   return into;
}

static void spoil(struct lines *lines, char *into)
{
   size_t at = 1 + below(lines->count - 1);
   char *line = lines->line[at];
   switch (below(8)) {
   case 0:
      if (lines->count > 2)
         drop(lines, at);
      break;
   case 1:
      insert(lines, 1 + below(lines->count - 1), line);
      break;
   case 2:
      drop(lines, at);
      insert(lines, 1 + below(lines->count), line);
      break;
   default:
      lines->line[at] = spoil_word(lines, line, into);
   }
}

static const char *any_pass(void)
{
   size_t count = 0;
   while (agxc_pass_name(count))
      count++;
   return agxc_pass_name(below(count));
}

static void run(const char *options, const char *text)
{
   struct agx_opt_request request = agx_opt_request_default();
   char *copy = strdup(options), *rest = copy, *word, *output;
   assert_non_null(copy);
   while ((word = agx_split(&rest, " "))) {
      char *value = *word && agx_opt_takes_value(word) ? agx_split(&rest, " ") : NULL;
      assert_true(!*word || agx_opt_add(&request, word, value));
   }
   if (below(2)) {
      request.pass_count = 0;
      assert_true(agx_opt_add(&request, "--pass", any_pass()));
   }
   request.options.memory_limit_B = 64 << 20;
   if (getenv("AGX_MUTATION_INPUT")) {
      FILE *file = fopen(getenv("AGX_MUTATION_INPUT"), "w");
      assert_non_null(file);
      fprintf(file, "# %s, or one pass: %s\n%s", options, request.passes[0], text);
      fclose(file);
   }
   if (agx_opt_run(&request, text, &output) == AGX_OK)
      free(output);
   free(copy);
}

static void spoil_case(const char *options, const struct lines *lines)
{
   const char *often = getenv("AGX_MUTATIONS");
   static char text[MAX_TEXT];
   for (long i = often ? atol(often) : 3; i-- > 0;) {
      struct lines mutant = *lines;
      for (size_t k = 1 + below(3); k-- > 0;)
         spoil(&mutant, spoiled[k]);
      size_t length = 0;
      for (size_t k = 0; k < mutant.count && length < sizeof(text); k++)
         length += (size_t)snprintf(text + length, sizeof(text) - length, "%s\n", mutant.line[k]);
      run(options, text);
   }
}

/* The IR before and after, as cases of their own. */
static void spoil_file(const char *path)
{
   char *text = agx_test_read_file(path, NULL), *rest = text, *line;
   const char *options = "";
   struct lines lines = {.count = 0};
   while ((line = agx_split(&rest, "\n"))) {
      bool begins = strncmp(line, "shader ", 7) == 0;
      if ((begins || !rest) && lines.count > 1)
         spoil_case(options, &lines);
      if (begins)
         lines.count = 0;
      if (strncmp(line, "agx opt ", 8) == 0)
         options = line + 8;
      else if (*line && !strchr("#=-", *line) && lines.count < MAX_LINES / 2 &&
               strlen(line) < sizeof(spoiled[0]) / 4)
         lines.line[lines.count++] = line;
   }
   free(text);
}

static void spoiled_ir_is_refused_or_works(void **state)
{
   (void)state;
   const char *seed = getenv("AGX_MUTATION_SEED");
   for (char **path = agx_test_arguments; *path; path++) {
      rng.state = seed ? strtoull(seed, NULL, 0) : 1;
      spoil_file(*path);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(spoiled_ir_is_refused_or_works)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
