/* SPDX-License-Identifier: MIT
 *
 * agxdump html: one page that shows a capture, or two beside each other, in a browser. page.html,
 * page.css and the scripts are embedded when agxdump is built; here their parts and the data are
 * put together.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agxdump/agxdump.h"
#include "base/util.h"
#include "html.h"
#include "page.inc"

static const char help[] =
   "usage: agxdump html [OPTION...] -o DIR FILE [FILE2]\n"
   "\n"
   "Writes DIR/index.html: a page without anything from outside, which shows FILE in a browser:\n"
   "submissions, dispatches, code with what each instruction executed in a replay on a virtual\n"
   "AGX, and buffers; with FILE2 both, and what differs. Only its owner may read it: it has\n"
   "contents of memory.\n"
   "\n"
   "  -o DIR         made when it isn't there\n"
   "  --program PATH an executable of ours (agx compile), or a folder of them such as the\n"
   "                 driver's cache; where its code is in the capture, the page names it, and the\n"
   "                 source lines that it has\n"
   "  --source DIR   where sources are that no executable has inside\n"
   "  --no-replay    without figures and heat, which take as long as the kernels do\n"
   "  --bytes N      contents of each buffer to show; 2048 without it, 0 for none\n";

struct page {
   struct html_capture captures[2];
   struct html_sources sources;
   uint32_t count;
   const char *folder;
};

static agx_status take_value(struct page *page, const char *name, const char *value)
{
   char *end;
   if (strcmp(name, "-o") == 0) {
      page->folder = value;
      return AGX_OK;
   }
   if (strcmp(name, "--program") == 0)
      return programs_add(&page->sources.programs, value);
   if (strcmp(name, "--source") == 0) {
      if (page->sources.folder_count == AGX_COUNT(page->sources.folders))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "--source %s: more than %zu folders", value,
                         AGX_COUNT(page->sources.folders));
      page->sources.folders[page->sources.folder_count++] = value;
      return AGX_OK;
   }
   if (strcmp(name, "--bytes") != 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "unexpected \"%s\"", name);
   uint64_t bytes = strtoull(value, &end, 10);
   if (value[0] < '0' || value[0] > '9' || *end || bytes > HTML_MAX_CONTENTS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "--bytes %s: a number up to %u is wanted", value,
                      HTML_MAX_CONTENTS);
   page->captures[0].contents = page->captures[1].contents = (uint32_t)bytes;
   return AGX_OK;
}

static agx_status parse(struct page *page, int argc, char **argv)
{
   for (int i = 2; i < argc; i++) {
      if (strcmp(argv[i], "--no-replay") == 0) {
         page->captures[0].is_read_only = page->captures[1].is_read_only = true;
         continue;
      }
      if (argv[i][0] == '-' && i + 1 == argc)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: its value is missing", argv[i]);
      if (argv[i][0] == '-') {
         AGX_TRY(take_value(page, argv[i], argv[i + 1]));
         i++;
      } else if (page->count == 2) {
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: a page shows two captures at most", argv[i]);
      } else {
         page->captures[page->count++].path = argv[i];
      }
   }
   if (page->count == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "there is no file");
   return page->folder ? AGX_OK : AGX_FAIL(AGX_INVALID_ARGUMENT, "-o DIR is missing");
}

static agx_status write_page(struct page *page, FILE *file)
{
   struct agx_json json = {.file = file};
   fwrite(page_begin, 1, sizeof(page_begin), file);
   AGX_TRY(html_write(&json, page->captures, page->count, &page->sources));
   fwrite(page_end, 1, sizeof(page_end), file);
   return AGX_OK;
}

/* Beside its place first, so that a page that was there stays when this one can't be written. */
static agx_status write_file(struct page *page)
{
   char path[4096], part[4096];
   if (snprintf(path, sizeof(path), "%s/index.html", page->folder) >= (int)sizeof(path) ||
       snprintf(part, sizeof(part), "%s/.index.part", page->folder) >= (int)sizeof(part))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "-o: the name has %zu bytes", strlen(page->folder));
   if (mkdir(page->folder, 0777) != 0 && errno != EEXIST)
      return agx_status_fail_errno(errno, "%s", page->folder);
   unlink(part);
   int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
   FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
   if (!file)
      return agx_status_fail_errno(errno, "%s", part);
   agx_status status = write_page(page, file);
   bool is_bad = fflush(file) != 0 || ferror(file) != 0;
   int error = errno;
   fclose(file);
   if (status == AGX_OK && (is_bad || rename(part, path) != 0))
      status = agx_status_fail_errno(is_bad ? error : errno, "%s", path);
   if (status != AGX_OK)
      unlink(part);
   return status;
}

static void free_page(struct page *page)
{
   for (uint32_t i = 0; i < page->count; i++)
      html_free(&page->captures[i]);
   html_free_sources(&page->sources);
}

int dump_html(int argc, char **argv)
{
   struct page page = {
      .captures = {{.contents = HTML_DEFAULT_CONTENTS}, {.contents = HTML_DEFAULT_CONTENTS}}};
   if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
      fputs(help, stdout);
      return 0;
   }
   if (parse(&page, argc, argv) != AGX_OK) {
      fprintf(stderr, "agxdump html: %s\n%s", agx_error_peek(), help);
      free_page(&page);
      return 2;
   }
   agx_status status = AGX_OK;
   for (uint32_t i = 0; i < page.count && status == AGX_OK; i++)
      status = html_read(&page.captures[i], &page.sources);
   if (status == AGX_OK)
      status = write_file(&page);
   if (status != AGX_OK)
      fprintf(stderr, "agxdump: %s\n", agx_error_peek());
   free_page(&page);
   return status == AGX_OK ? 0 : 1;
}
