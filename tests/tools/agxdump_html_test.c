/* SPDX-License-Identifier: MIT
 *
 * The page of `agxdump html` as a file: names of strangers can't leave their strings, the policy
 * covers exactly the script and the style that are there, and what the captures hold is in it.
 * scripts/html_test.py looks at it in a browser.
 */
#include "tool.h"

#include <ctype.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/write.h"

#define HOSTILE     "</script><script>alert(1)</script>"
#define DATA_BEGIN  "<script type=\"application/json\" id=\"data\">"
#define OUTER_B     (256u << 10) /* of the page around the data, at most */
#define MAX_TAGS    64
#define LABEL_BYTES 30

static char text[TOOL_MAX_OUTPUT], folder[64];

/* ---- pages ---- */

struct page {
   char *all;               /* the file */
   char *data, *data_end;   /* inside of it */
   char outer[2 * OUTER_B]; /* the file without its data */
};

static struct page *make_page(const char *arguments)
{
   char command[1200], path[128];
   struct page *page = calloc(1, sizeof(*page));
   assert_non_null(page);
   snprintf(command, sizeof(command), "html -o %s %s", folder, arguments);
   if (tool_run("AGXDUMP_TOOL", command, text) != 0)
      fail_msg("agxdump %s: %s", command, text);
   snprintf(path, sizeof(path), "%s/index.html", folder);
   struct stat about;
   assert_int_equal(stat(path, &about), 0);
   assert_int_equal(about.st_mode & 0777, 0600);
   size_t size;
   page->all = agx_test_read_file(path, &size);
   assert_int_equal(strlen(page->all), size);
   page->data = strstr(page->all, DATA_BEGIN);
   assert_non_null(page->data);
   page->data += strlen(DATA_BEGIN);
   page->data_end = strstr(page->data, "</script>");
   assert_non_null(page->data_end);
   snprintf(page->outer, sizeof(page->outer), "%.*s%s", (int)(page->data - page->all), page->all,
            page->data_end);
   assert_true(strlen(page->outer) < OUTER_B);
   *page->data_end = 0;
   return page;
}

static void free_page(struct page *page)
{
   free(page->all);
   free(page);
}

static int make_folder(void **state)
{
   snprintf(folder, sizeof(folder), "/tmp/agx-html-XXXXXX");
   return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
   char command[128];
   snprintf(command, sizeof(command), "rm -r '%s'", folder);
   return system(command);
}

/* ---- what holds of each page ---- */

static const char *skip_text(const char *at)
{
   assert_int_equal(*at++, '"');
   while (*at != '"') {
      if ((unsigned char)*at < 0x20 || *at == '<' || *at == '>' || *at == '&')
         fail_msg("unescaped at %.40s", at);
      if (*at == '\\') {
         at++;
         assert_non_null(memchr("\"\\tu", *at, 4));
         for (int i = 0; *at == 'u' && i < 4; i++)
            assert_true(isxdigit((unsigned char)at[1 + i]));
         at += *at == 'u' ? 4 : 0;
      }
      at++;
   }
   return at + 1;
}

/* A value of JSON, without recursion: brackets are counted. */
static void is_json(const char *at)
{
   char open[32];
   int depth = 0;
   do {
      at += strspn(at, " ,:");
      if (*at == '"') {
         at = skip_text(at);
      } else if (*at == '{' || *at == '[') {
         assert_true(depth < (int)sizeof(open));
         open[depth++] = *at++;
      } else if (*at == '}' || *at == ']') {
         assert_true(depth > 0);
         assert_int_equal(open[--depth], *at == '}' ? '{' : '[');
         at++;
      } else {
         size_t length = strspn(at, "-.0123456789truefalsn");
         if (length == 0)
            fail_msg("no JSON: %.40s", at);
         at += length;
      }
   } while (depth > 0);
   assert_int_equal(*at, 0);
}

/* The policy names the text of the element that begins with `begin`, by its hash. */
static void is_allowed(const struct page *page, const char *begin, const char *end,
                       const char *directive)
{
   uint8_t digest[SHA256_DIGEST_SIZE];
   char hash[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "", wanted[128];
   const char *from = strstr(page->outer, begin), *to = from ? strstr(from, end) : NULL;
   struct sha256_ctx context;
   assert_non_null(to);
   from += strlen(begin);
   sha256_init(&context);
   sha256_update(&context, (size_t)(to - from), (const uint8_t *)from);
   sha256_digest(&context, sizeof(digest), digest);
   base64_encode_raw(hash, sizeof(digest), digest);
   snprintf(wanted, sizeof(wanted), "%s 'sha256-%s';", directive, hash);
   if (!strstr(page->outer, wanted))
      fail_msg("the policy has no %s", wanted);
}

/* Elements are closed in the order in which they were opened. */
static void is_well_formed(const struct page *page)
{
   static const char *const empty[] = {"meta", "link", "input", "br"};
   char tags[MAX_TAGS][16];
   int depth = 0;
   for (const char *at = page->outer; (at = strchr(at, '<')); at++) {
      bool closes = at[1] == '/', is_empty = at[1] == '!';
      char name[16] = "";
      for (unsigned i = 0; i < 15 && isalnum((unsigned char)at[1 + closes + i]); i++)
         name[i] = at[1 + closes + i];
      for (size_t i = 0; i < AGX_COUNT(empty); i++)
         is_empty = is_empty || strcmp(name, empty[i]) == 0;
      if (closes) {
         assert_true(depth > 0);
         assert_string_equal(tags[--depth], name);
      } else if (!is_empty) {
         assert_true(depth < MAX_TAGS && name[0]);
         memcpy(tags[depth++], name, sizeof(name));
      }
      if (!closes && (strcmp(name, "script") == 0 || strcmp(name, "style") == 0)) {
         char end[24];
         snprintf(end, sizeof(end), "</%s", name);
         at = strstr(at, end);
         assert_non_null(at);
         at--;
      }
   }
   assert_int_equal(depth, 0);
}

static int count(const char *where, const char *what)
{
   int times = 0;
   for (const char *at = where; (at = strstr(at, what)); at++)
      times++;
   return times;
}

static void holds(const struct page *page)
{
   static const char *const outside[] = {
      "http:",   "https:", "src=",  "url(",        "@import",
      "import(", "fetch(", "eval(", "innerHTML",   "outerHTML",
      "onload=", "style=", "<base", "insertAdjac", "document.write"};
   is_json(page->data);
   is_well_formed(page);
   is_allowed(page, "<style>", "</style>", "style-src");
   is_allowed(page, "<script>", "</script>", "script-src");
   assert_non_null(strstr(page->outer, "content=\"default-src 'none'; "));
   assert_int_equal(count(page->outer, "<script"), 2);
   assert_int_equal(count(page->outer, "<style"), 1);
   for (size_t i = 0; i < AGX_COUNT(outside); i++)
      if (strstr(page->outer, outside[i]))
         fail_msg("the page has %s", outside[i]);
}

/* ---- captures of strangers ---- */

static void put(struct agxw_capture_writer *writer, struct agxw_capture_record record,
                const char *words)
{
   record.process = record.file = 1;
   record.text = words;
   record.text_bytes = words ? strlen(words) : 0;
   agxw_capture_writer_put(writer, &record);
}

/* A buffer with each name, and a note and a program that are called so. */
static void write_capture(const char *path, const char *const *names, uint32_t name_count)
{
   struct agxw_capture_writer *writer;
   assert_ok(agxw_capture_writer_open(path, names[0], &writer));
   for (uint32_t i = 0; i < name_count; i++) {
      struct agx_uapi_gem_create create = {.size = 16384, .handle = i + 1};
      const uint8_t *argument = (const uint8_t *)&create;
      put(writer, (struct agxw_capture_record){.type = AGXW_CAPTURE_PROCESS}, names[i]);
      put(writer,
          (struct agxw_capture_record){.type = AGXW_CAPTURE_REQUEST,
                                       .request = AGX_IOCTL_ASAHI_GEM_CREATE,
                                       .argument_bytes = sizeof(create),
                                       .before = argument,
                                       .after = argument},
          NULL);
      put(writer, (struct agxw_capture_record){.type = AGXW_CAPTURE_LABEL, .handle = i + 1},
          names[i]);
      put(writer, (struct agxw_capture_record){.type = AGXW_CAPTURE_NOTE}, names[i]);
   }
   assert_ok(agxw_capture_writer_close(writer));
}

static void names_stay_names(void **state)
{
   static const char *const names[] = {
      HOSTILE,
      "\" onload=\"alert(1)",
      "'-->]]><!--",
      "\x01\x1b[31m\x7f\r\n",
      "\xff\xfe\xc0\x80",
      "\xed\xa0\x80",
      "\xe2\x80\xae"
      "txt.exe",
      "\xe2\x80\xa8\t\\u003c",
      "\xc3\xa4\xe6\xb0\xb4",
      "\xf0\x9f",
   };
   char path[128];
   snprintf(path, sizeof(path), "%s/hostile.capture", folder);
   write_capture(path, names, AGX_COUNT(names));
   struct page *page = make_page(path);
   holds(page);
   static const char *const shown[] = {
      "\"label\": \"\\u003c/script\\u003e\\u003cscript\\u003ealert",
      "\"label\": \"\\\" onload=\\\"alert(1)\"",
      "\"label\": \"\\\\x01\\\\x1b[31m\\\\x7f\\\\x0d\\\\x0a\"",
      "\"label\": \"\\\\xff\\\\xfe\\\\xc0\\\\x80\"",
      "\"label\": \"\\\\xed\\\\xa0\\\\x80\"",
      "\"label\": \"\\\\u202etxt.exe\"",
      "\"label\": \"\\\\u2028\\t\\\\u003c\"",
      "\"label\": \"\xc3\xa4\xe6\xb0\xb4\"",
      "\"label\": \"\\\\xf0\\\\x9f\"",
   };
   for (size_t i = 0; i < AGX_COUNT(shown); i++)
      if (!strstr(page->data, shown[i]))
         fail_msg("%s is not in the page", shown[i]);
   assert_int_equal(count(page->data, "\"buffer_count\": 10,"), 1);
   free_page(page);
}

/* Each label cut at each length: bytes of UTF-8 are never joined with what stands behind. */
static void random_names_stay_names(void **state)
{
   struct agx_test_rng rng = {.state = 77};
   static const char pieces[] =
      "<>&\"'\\/\x01\x1f\x7f\x80\xbf\xc2\xe2\x80\xa8\xed\xf0\x9f\x98\x80\xfe\xff-!a";
   char names[200][LABEL_BYTES + 1];
   const char *list[AGX_COUNT(names)];
   char path[128];
   for (size_t i = 0; i < AGX_COUNT(names); i++) {
      size_t length = agx_test_random(&rng) % LABEL_BYTES;
      for (size_t j = 0; j < length; j++)
         names[i][j] = pieces[agx_test_random(&rng) % (sizeof(pieces) - 1)];
      names[i][length] = 0;
      list[i] = names[i];
   }
   list[0] = "virtual:g13g";
   snprintf(path, sizeof(path), "%s/random.capture", folder);
   write_capture(path, list, AGX_COUNT(names));
   struct page *page = make_page(path);
   holds(page);
   assert_non_null(strstr(page->data, "200 of 400 notes and processes"));
   free_page(page);
}

/* ---- what is in a page ---- */

/* More buffers than a page lists, each with more contents than a page has room for. */
static void what_has_no_room_is_counted(void **state)
{
   struct agxw_capture_writer *writer;
   char path[128], arguments[160];
   uint8_t *contents = malloc(AGXW_CAPTURE_PAGE_BYTES);
   struct stat about;
   assert_non_null(contents);
   memset(contents, 0xa5, AGXW_CAPTURE_PAGE_BYTES);
   snprintf(path, sizeof(path), "%s/large.capture", folder);
   assert_ok(agxw_capture_writer_open(path, "virtual:g13g", &writer));
   for (uint32_t i = 1; i <= 2500; i++) {
      struct agx_uapi_gem_create create = {.size = AGXW_CAPTURE_PAGE_BYTES, .handle = i};
      const struct agxw_capture_record pages = {
         .process = 1, .file = 1, .type = AGXW_CAPTURE_PAGES, .handle = i, .page_count = 1};
      put(writer,
          (struct agxw_capture_record){.type = AGXW_CAPTURE_REQUEST,
                                       .request = AGX_IOCTL_ASAHI_GEM_CREATE,
                                       .argument_bytes = sizeof(create),
                                       .before = (const uint8_t *)&create,
                                       .after = (const uint8_t *)&create},
          NULL);
      agxw_capture_writer_put_pages(writer, &pages, contents);
   }
   assert_ok(agxw_capture_writer_close(writer));
   snprintf(arguments, sizeof(arguments), "--bytes 16384 %s", path);
   struct page *page = make_page(arguments);
   holds(page);
   assert_non_null(strstr(page->data, "2000 of 2500 buffers are listed"));
   assert_non_null(strstr(page->data, "64 of 1024 buffers with contents have them here"));
   snprintf(path, sizeof(path), "%s/index.html", folder);
   assert_int_equal(stat(path, &about), 0);
   assert_true(about.st_size < 2 << 20);
   free_page(page);
   free(contents);
}

static void a_dispatch_is_there_with_its_heat(void **state)
{
   char *golden = agx_test_path("golden/dispatch.capture");
   struct page *page = make_page(golden);
   holds(page);
   assert_non_null(
      strstr(page->data, "\"submission_count\": 2, \"dispatch_count\": 2, \"counted\": 2,"));
   /* offset, bytes, text, executed, stalled ...: the wait names instruction 0, both launches count
    */
   assert_non_null(
      strstr(page->data, "\"load r=r0 base=du0 index=0 format=i32 mask=x group=a\", 2, "));
   assert_non_null(strstr(page->data, "\"wait group=a\", 2, "));
   assert_non_null(strstr(page->data, ", 0, [0], 0, -1]"));
   assert_non_null(strstr(page->data, "\"label\": \"data\""));
   assert_null(strstr(page->data, "\"pairs\""));
   free_page(page);
   free(golden);
}

/* A page of a damaged file has what stands before the damage. */
static void without_figures_there_is_a_page(void **state)
{
   char arguments[256], command[256], *golden = agx_test_path("golden/dispatch.capture");
   snprintf(arguments, sizeof(arguments), "--no-replay %s", golden);
   struct page *page = make_page(arguments);
   holds(page);
   assert_non_null(strstr(page->data, "\"dispatch_count\": 2, \"counted\": 0,"));
   assert_non_null(strstr(page->data, "\"wait group=a\", 0, 0,"));
   free_page(page);
   snprintf(command, sizeof(command), "head -c -20 '%s' > '%s/cut.capture'", golden, folder);
   assert_int_equal(system(command), 0);
   snprintf(arguments, sizeof(arguments), "%s/cut.capture", folder);
   page = make_page(arguments);
   holds(page);
   assert_non_null(strstr(page->data, "\"trouble\": \"The capture ends early: "));
   assert_non_null(strstr(page->data, "\"dispatch_count\": 2, \"counted\": 2,"));
   free_page(page);
   free(golden);
}

static void options_are_checked(void **state)
{
   static const struct {
      const char *arguments, *said;
      int code;
   } rows[] = {
      {"html", "there is no file", 2},
      {"html FILE", "-o DIR is missing", 2},
      {"html a b c", "two captures at most", 2},
      {"html --bytes 9999999999 -o x a", "--bytes 9999999999: a number up to", 2},
      {"html --program /dev/null -o x a", "/dev/null", 2},
      {"html --nonsense x -o x a", "unexpected \"--nonsense\"", 2},
      {"html a -o", "-o: its value is missing", 2},
      {"html -o x /nonexistent", "/nonexistent: ", 1},
      {"html -o /nonexistent/x /dev/null", "not a capture file", 1},
      {"html --help", "usage: agxdump html", 0},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      assert_int_equal(tool_run("AGXDUMP_TOOL", rows[i].arguments, text), rows[i].code);
      if (!strstr(text, rows[i].said))
         fail_msg("agxdump %s: %s", rows[i].arguments, text);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(names_stay_names, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(random_names_stay_names, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(what_has_no_room_is_counted, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(a_dispatch_is_there_with_its_heat, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(without_figures_there_is_a_page, make_folder, remove_folder),
      cmocka_unit_test(options_are_checked),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
