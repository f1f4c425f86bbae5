/* SPDX-License-Identifier: MIT
 *
 * The command line of `agxdump show`.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agxdump.h"
#include "base/util.h"
#include "print.h"

static const char help[] =
   "usage: agxdump show [OPTION...] FILE\n"
   "\n"
   "Prints a capture, submission by submission, with memory as it was then: waits and signals, "
   "the\n"
   "words of each stream by name, launch words, uniforms, descriptors, and the code of the "
   "kernels:\n"
   "indented by control flow, with what waits for what, and where jumps lead. '!' begins what "
   "could\n"
   "not be told. FILE - is standard input.\n"
   "\n"
   "  --submit N       this submission only, counted from 1\n"
   "  --stream         streams only: no code\n"
   "  --shaders        code only; `agx asm` takes it back as it is\n"
   "  --memory         contents of all that is bound; several of these three add up\n"
   "  --bytes N        of each buffer, for --memory, in rows of 16: 1024 without it; 0: all, up\n"
   "                   to 16 GiB\n"
   "  --program PATH   a file of `agx compile`, or a folder of such files, such as that of\n"
   "                   AGX_CACHE_DIR: kernels with the same code get their names, what their\n"
   "                   uniforms hold, and source lines. May be given several times\n"
   "  --cycles         replays FILE on a virtual AGX first, and says what each dispatch executed\n"
   "  --color WHEN     auto (on a terminal, unless NO_COLOR is set), always, never\n"
   "  --no-pager       never through a pager ($AGX_PAGER, $PAGER or less, on a terminal)\n"
   "  --json           print one object: {\"node\", \"submissions\": [...]}, and \"error\" where\n"
   "                   FILE ends early\n";

struct command {
   struct dump dump;
   const char *path;
   enum print_when colours;
   bool has_pager, counts;
};

static agx_status parse_number(const char *name, const char *text, uint64_t *out)
{
   char *end = NULL;
   errno = 0;
   *out = text ? strtoull(text, &end, 0) : 0;
   if (!text || !text[0] || text[0] == '-' || *end || errno)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s \"%s\" is no number", name, text ? text : "");
   return AGX_OK;
}

static agx_status parse_when(const char *text, enum print_when *out)
{
   static const char *const names[] = {"auto", "always", "never"};
   for (size_t i = 0; text && i < AGX_COUNT(names); i++) {
      if (strcmp(text, names[i]) == 0) {
         *out = (enum print_when)i;
         return AGX_OK;
      }
   }
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "--color \"%s\": auto, always and never are possible",
                   text ? text : "");
}

/* An option with a value, at argv[*at]. */
static agx_status parse_value(struct command *command, const char *name, const char *value)
{
   if (strcmp(name, "--submit") == 0) {
      AGX_TRY(parse_number(name, value, &command->dump.only_submit));
      return command->dump.only_submit ? AGX_OK
                                       : AGX_FAIL(AGX_INVALID_ARGUMENT, "--submit counts from 1");
   }
   if (strcmp(name, "--bytes") == 0)
      return parse_number(name, value, &command->dump.most_bytes);
   if (strcmp(name, "--color") == 0)
      return parse_when(value, &command->colours);
   if (strcmp(name, "--program") == 0)
      return value ? programs_add(&command->dump.programs, value)
                   : AGX_FAIL(AGX_INVALID_ARGUMENT, "--program needs a file or a folder");
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "unexpected \"%s\"", name);
}

static const struct {
   const char *name;
   uint32_t section;
} sections[] = {{"--stream", SHOW_STREAM}, {"--shaders", SHOW_SHADERS}, {"--memory", SHOW_MEMORY}};

static bool parse_flag(struct command *command, const char *name)
{
   for (size_t i = 0; i < AGX_COUNT(sections); i++) {
      if (strcmp(name, sections[i].name) == 0) {
         command->dump.sections |= sections[i].section;
         return true;
      }
   }
   command->dump.is_json |= strcmp(name, "--json") == 0;
   command->counts |= strcmp(name, "--cycles") == 0;
   command->has_pager &= strcmp(name, "--no-pager") != 0;
   return strcmp(name, "--json") == 0 || strcmp(name, "--cycles") == 0 ||
          strcmp(name, "--no-pager") == 0;
}

static agx_status parse(struct command *command, int argc, char **argv)
{
   for (int i = 2; i < argc; i++) {
      const char *name = argv[i];
      if (parse_flag(command, name))
         continue;
      if (name[0] == '-' && name[1]) {
         AGX_TRY(parse_value(command, name, i + 1 < argc ? argv[i + 1] : NULL));
         i++;
      } else if (command->path) {
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "unexpected \"%s\"", name);
      } else {
         command->path = name;
      }
   }
   if (!command->path)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "there is no file");
   if (!command->dump.sections)
      command->dump.sections = SHOW_STREAM | SHOW_SHADERS;
   return AGX_OK;
}

static agx_status count(struct command *command)
{
   struct dump *dump = &command->dump;
   if (!command->counts)
      return AGX_OK;
   if (strcmp(command->path, "-") == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "--cycles reads FILE twice, which standard input can't be");
   AGX_TRY(stats_collect(command->path, &dump->figures, &dump->figure_count));
   if (dump->figure_count > 0)
      qsort(dump->figures, dump->figure_count, sizeof(*dump->figures), stats_compare_places);
   return AGX_OK;
}

static agx_status show(struct command *command)
{
   struct dump *dump = &command->dump;
   AGX_TRY(count(command));
   int fd = strcmp(command->path, "-") == 0 ? dup(STDIN_FILENO)
                                            : open(command->path, O_RDONLY | O_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "%s", command->path);
   agx_status status = agxw_capture_open_fd(NULL, fd, &dump->reader);
   if (status == AGX_OK)
      status = show_capture(dump);
   agxw_capture_close(dump->reader);
   if (status != AGX_OK)
      agx_error_prefix("%s", command->path);
   return status;
}

int dump_show(int argc, char **argv)
{
   struct command command = {.dump = {.json = {.file = stdout}, .most_bytes = 1024},
                             .has_pager = true};
   for (int i = 2; i < argc; i++) {
      if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
         fputs(help, stdout);
         return 0;
      }
   }
   if (parse(&command, argc, argv) != AGX_OK) {
      fprintf(stderr, "agxdump show: %s; see `agxdump show --help`\n", agx_error_peek());
      programs_free(&command.dump.programs);
      return 2;
   }
   command.dump.has_colours = !command.dump.is_json && print_has_colours(command.colours);
   if (command.has_pager && !command.dump.is_json)
      print_start_pager();
   agx_status status = show(&command);
   print_finish(); /* before messages, which a pager would hide */
   if (status != AGX_OK)
      fprintf(stderr, "agxdump: %s\n", agx_error_peek());
   programs_free(&command.dump.programs);
   free(command.dump.figures);
   return status == AGX_OK ? 0 : 1;
}
