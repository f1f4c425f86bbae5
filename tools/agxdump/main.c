/* SPDX-License-Identifier: MIT
 *
 * The command line of agxdump: reads a capture and prints it with dump_show().
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agxdump.h"

static const char help[] =
   "usage: agxdump show [--json] FILE\n"
   "       agxdump record [-o FILE] [OPTION...] -- COMMAND   (agxdump record --help)\n"
   "       agxdump replay [OPTION...] FILE                   (agxdump replay --help)\n"
   "       agxdump stats [OPTION...] FILE                    (agxdump stats --help)\n"
   "       agxdump minimize FILE -o OUT [OPTION...]          (agxdump minimize --help)\n"
   "       agxdump extract FILE -o DIR [OPTION...]           (agxdump extract --help)\n"
   "       agxdump diff [OPTION...] A B                      (agxdump diff --help)\n"
   "       agxdump html [OPTION...] -o DIR FILE [FILE2]      (agxdump html --help)\n"
   "\n"
   "Prints a capture, which a program writes when it runs with AGX_CAPTURE=FILE:\n"
   "submissions with their waits and signals, the words of each compute stream by\n"
   "name, launch words, and the code of the kernels. FILE - is standard input.\n"
   "docs/capture.md describes the file.\n"
   "\n"
   "  --json   print one object: {\"node\", \"submissions\": [...]}, and \"error\" where FILE ends "
   "early\n";

static agx_status show(struct dump *dump, const char *path)
{
   int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "%s", path);
   agx_status status = agxw_capture_open_fd(NULL, fd, &dump->reader);
   if (status == AGX_OK)
      status = dump_show(dump);
   agxw_capture_close(dump->reader);
   if (status != AGX_OK)
      agx_error_prefix("%s", path);
   return status;
}

int main(int argc, char **argv)
{
   struct dump dump = {.json = {.file = stdout}};
   const char *path = NULL, *command = argc > 1 ? argv[1] : "";
   if (strcmp(command, "record") == 0)
      return dump_record(argc, argv);
   if (strcmp(command, "replay") == 0)
      return dump_replay(argc, argv);
   if (strcmp(command, "stats") == 0)
      return dump_stats(argc, argv);
   if (strcmp(command, "minimize") == 0)
      return dump_minimize(argc, argv);
   if (strcmp(command, "extract") == 0)
      return dump_extract(argc, argv);
   if (strcmp(command, "diff") == 0)
      return dump_diff(argc, argv);
   if (strcmp(command, "html") == 0)
      return dump_html(argc, argv);
   bool wrong = strcmp(command, "show") != 0;
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
         fputs(help, stdout);
         return 0;
      }
   }
   for (int i = 2; i < argc && !wrong; i++) {
      if (strcmp(argv[i], "--json") == 0)
         dump.is_json = true;
      else if ((argv[i][0] == '-' && argv[i][1]) || path)
         wrong = true;
      else
         path = argv[i];
   }
   if (wrong || !path) {
      fputs(help, stderr);
      return 2;
   }
   agx_status status = show(&dump, path);
   const bool is_short = fflush(stdout) != 0 || ferror(stdout);
   if (is_short)
      fprintf(stderr, "agxdump: standard output can't be written: %s\n", strerror(errno));
   if (status != AGX_OK)
      fprintf(stderr, "agxdump: %s\n", agx_error_peek());
   return status == AGX_OK && !is_short ? 0 : 1;
}
