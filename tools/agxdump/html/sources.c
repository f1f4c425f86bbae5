/* SPDX-License-Identifier: MIT
 *
 * From code to source lines: the programs that code of a capture was found to be, and the files
 * that their tables of lines name, which are read from the module's own text, or from the folders
 * that were given.
 */
#include "html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define MAX_PATH_B 4096

static agx_status read_whole(const char *path, size_t most, uint8_t **out_data, size_t *out_size)
{
   FILE *file = fopen(path, "rbe");
   if (!file)
      return agx_status_fail_errno(errno, "%s", path);
   uint8_t *data = malloc(most + 1);
   size_t size = data ? fread(data, 1, most + 1, file) : 0;
   bool is_bad = ferror(file) != 0;
   fclose(file);
   if (!data || is_bad || size > most) {
      free(data);
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: can't be read, or has more than %zu bytes", path,
                      most);
   }
   *out_data = data;
   *out_size = size;
   return AGX_OK;
}

agx_status html_find_program(struct html_sources *sources, const struct dump_code *main,
                             uint32_t *out_index)
{
   const struct known_program *known = programs_find(&sources->programs, main);
   *out_index = HTML_NO_PROGRAM;
   if (!known)
      return AGX_OK;
   for (uint32_t i = 0; i < sources->used_count; i++)
      if (sources->used[i].known == known) {
         *out_index = i;
         return AGX_OK;
      }
   struct html_program *used =
      realloc(sources->used, (sources->used_count + 1) * sizeof(*sources->used));
   if (!used)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the programs of the page");
   sources->used = used;
   used[sources->used_count] = (struct html_program){known, sources->file_count};
   sources->file_count += known->lines.file_count;
   *out_index = sources->used_count++;
   return AGX_OK;
}

void html_free_sources(struct html_sources *sources)
{
   programs_free(&sources->programs);
   free(sources->used);
}

bool html_find_line(const struct html_program *program, bool is_preamble, uint32_t offset,
                    uint32_t *out_file, struct agx_source_line *out_line)
{
   if (!programs_find_line(program->known, is_preamble, offset, out_line))
      return false;
   uint32_t file = 0;
   while (program->known->lines.files[file].name != out_line->file)
      file++;
   *out_file = program->first_file + file;
   return true;
}

/* ---- files ---- */

/* Names come out of executables: none leads out of the folder. */
static bool leads_out(const char *name)
{
   for (const char *at = name; (at = strstr(at, "..")); at += 2)
      if ((at == name || at[-1] == '/') && (at[2] == 0 || at[2] == '/'))
         return true;
   return false;
}

static bool find_text(const struct html_sources *sources, const char *name, size_t room,
                      uint8_t **out_text, size_t *out_bytes)
{
   const char *slash = strrchr(name, '/');
   const char *const names[] = {leads_out(name) ? "" : name, slash ? slash + 1 : name};
   for (uint32_t i = 0; i < sources->folder_count; i++)
      for (size_t j = 0; j < AGX_COUNT(names); j++) {
         char path[MAX_PATH_B];
         int length = snprintf(path, sizeof(path), "%s/%s", sources->folders[i], names[j]);
         if (names[j][0] && length < MAX_PATH_B && !leads_out(names[j]) &&
             read_whole(path, room, out_text, out_bytes) == AGX_OK)
            return true;
      }
   return false;
}

/* A file's lines, each a string. */
static void write_lines(struct agx_json *json, const char *text, size_t bytes)
{
   agx_json_open(json, "lines", '[');
   while (bytes > 0) {
      const char *end = memchr(text, '\n', bytes);
      size_t length = end ? (size_t)(end - text) : bytes;
      size_t shown = length > 0 && text[length - 1] == '\r' ? length - 1 : length;
      html_text(json, NULL, text, shown);
      length += end != NULL;
      text += length;
      bytes -= length;
   }
   agx_json_close(json, ']');
}

void html_write_files(struct agx_json *json, const struct html_sources *sources)
{
   size_t room = HTML_MAX_SOURCE;
   agx_json_open(json, "files", '[');
   for (uint32_t i = 0; i < sources->used_count; i++) {
      const struct agx_lines *lines = &sources->used[i].known->lines;
      for (uint32_t j = 0; j < lines->file_count; j++) {
         const struct agx_line_file *file = &lines->files[j];
         uint8_t *own = NULL;
         const char *text = file->text;
         size_t bytes = file->text_B;
         if (!text && find_text(sources, file->name, room, &own, &bytes))
            text = (const char *)own;
         agx_json_open(json, NULL, '{');
         html_string(json, "name", file->name);
         if (text && bytes <= room) {
            write_lines(json, text, bytes);
            room -= bytes;
         }
         agx_json_close(json, '}');
         free(own);
      }
   }
   agx_json_close(json, ']');
}
