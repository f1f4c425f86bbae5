/* SPDX-License-Identifier: MIT
 *
 * The main() of every test program. A program holds the test files of one room, or of several
 * folders:
 *
 *    regalloc_test               runs all of them, each in a process of its own
 *    regalloc_test spill         runs spill_test.c in this process, as meson does
 *    system_test hal/fork        the same; the folder tells files of one name apart
 *    compiler_test ir_files ra.ir   what follows a file's name is for that file
 *    regalloc_test --list        prints their names
 *
 * cmocka's output format is chosen by CMOCKA_MESSAGE_OUTPUT in the environment.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char **agx_test_arguments;

static struct agx_test_file *files;

/* Keeps the files sorted by name, whatever order the linker gives their constructors. */
void agx_test_file_add(struct agx_test_file *file)
{
   struct agx_test_file **at = &files;
   while (*at && strcmp((*at)->path, file->path) < 0)
      at = &(*at)->next;
   file->next = *at;
   *at = file;
}

/* The name of a file's source from its folder on, without `_test.c`: its length and where it
 * starts. */
static int name_of(const struct agx_test_file *file, const char **out_name)
{
   const char *end = strstr(file->path, "_test.c");
   end = end ? end : file->path + strlen(file->path);
   *out_name = end;
   for (int folders = 0; *out_name > file->path; (*out_name)--) {
      folders += (*out_name)[-1] == '/';
      if (folders == 2)
         break;
   }
   return (int)(end - *out_name);
}

/* Whether a name is the file's, with its folder or without. */
static bool is_called(const struct agx_test_file *file, const char *wanted)
{
   const char *name;
   size_t length = (size_t)name_of(file, &name), wanted_length = strlen(wanted);
   return wanted_length <= length &&
          strncmp(name + length - wanted_length, wanted, wanted_length) == 0 &&
          (wanted_length == length || name[length - wanted_length - 1] == '/');
}

/* The one file of that name; NULL if there is none, or several. */
static struct agx_test_file *find(const char *wanted)
{
   struct agx_test_file *found = NULL;
   for (struct agx_test_file *file = files; file; file = file->next) {
      if (is_called(file, wanted)) {
         if (found)
            return NULL;
         found = file;
      }
   }
   return found;
}

static void list(FILE *stream)
{
   for (const struct agx_test_file *file = files; file; file = file->next) {
      const char *name;
      int length = name_of(file, &name);
      fprintf(stream, "%.*s\n", length, name);
   }
}

/* cmocka's number of failures as an exit status: meson takes 77 for a test that was skipped. */
static int exit_status(int failures)
{
   return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Runs one file in a child, so that a crash or a setting of one does not reach the next. */
static bool passes_alone(const struct agx_test_file *file)
{
   fflush(NULL);
   pid_t child = fork();
   if (child == 0)
      exit(exit_status(file->run()));
   int status;
   if (child < 0 || waitpid(child, &status, 0) != child) {
      perror("runner: a test file can't be started");
      return false;
   }
   if (WIFSIGNALED(status))
      fprintf(stderr, "%s: killed by signal %d\n", file->path, WTERMSIG(status));
   return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run_all(void)
{
   int failed = 0;
   for (const struct agx_test_file *file = files; file; file = file->next) {
      if (!passes_alone(file)) {
         fprintf(stderr, "failed: %s\n", file->path);
         failed++;
      }
   }
   return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
   if (argc == 2 && strcmp(argv[1], "--help") == 0) {
      printf("usage: %s [--list | FILE [ARGUMENT...]]\n", argv[0]);
      return EXIT_SUCCESS;
   }
   if (argc == 2 && strcmp(argv[1], "--list") == 0) {
      list(stdout);
      return EXIT_SUCCESS;
   }
   agx_test_settle_before_forks();
   agx_test_arguments = argv + (argc > 2 ? 2 : argc);
   if (argc == 1)
      return files && !files->next ? exit_status(files->run()) : run_all();
   struct agx_test_file *file = find(argv[1]);
   if (!file) {
      fprintf(stderr, "%s has no test file '%s', or several; it has:\n", argv[0], argv[1]);
      list(stderr);
      return 2;
   }
   return exit_status(file->run());
}
