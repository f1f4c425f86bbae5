/* SPDX-License-Identifier: MIT
 *
 * Files of the container: versions, modules of several programs, and files that are cut, damaged or
 * hostile, which are refused with a reason; readelf finds nothing to say against them.
 */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "failing_alloc.h"
#include "program/bundle.h"
#include "program/elf.h"

static void test_versions_and_names(void **state)
{
   struct sample sample;
   sample_make(&sample);
   size_t size;
   uint8_t *image = sample_write(&sample, &size);
   static const uint8_t note[] = {4, 0, 0, 0, 1, 0, 0, 0, 'a', 'g', 'x', 'h', 'a', 'l', 0, 0};
   uint8_t *at = image;
   while (memcmp(at, note, sizeof(note)) != 0)
      assert_true(++at < image + size - sizeof(note));
   at[sizeof(note)]++;
   struct agx_program *got;
   assert_fails(agx_program_read_elf(image, size, NULL, &got), AGX_INCOMPATIBLE, "ABI version 8");
   /* Refused before anything behind the first bytes is read. */
   assert_fails(agx_program_read_elf(image, (64u << 20) + 1, NULL, &got), AGX_INVALID_ARGUMENT,
                "67108865 bytes, at most 67108864");
   free(image);

   strcpy(sample.program.name, "h\xc3\xa4lfte");
   assert_ok(agx_program_copy(&sample.program, NULL, &got));
   agx_program_free(got);
   strcpy(sample.program.name, "two\nlines");
   assert_fails(agx_program_copy(&sample.program, NULL, &got), AGX_INVALID_ARGUMENT, "byte 0x0a");
   strcpy(sample.program.name, "main");
   strcpy(sample.program.chip, "g99z");
   assert_fails(agx_program_copy(&sample.program, NULL, &got), AGX_INCOMPATIBLE, "g99z");
}

/* A module of two samples and one with an unchecked variant of its own, as a file. */
static uint8_t *write_module(size_t *size)
{
   static const char *const names[] = {"main", "second", "third"};
   struct agx_program *programs[3];
   struct agx_module *module;
   struct sample sample, unchecked;
   void *image;
   for (int i = 0; i < 3; i++) {
      sample_make(&sample);
      sample_make(&unchecked);
      strcpy(sample.program.name, names[i]);
      sample.program.local_size[0] = 8u << i;
      unchecked.program.local_size[0] = 8u << i;
      unchecked.program.parameter_count = unchecked.program.constant_count = 0;
      if (i == 1)
         sample.program.unchecked = &unchecked.program;
      assert_ok(agx_program_copy(&sample.program, NULL, &programs[i]));
   }
   assert_ok(agx_module_create(programs, 3, NULL, &module));
   assert_true(module->bytes > 3 * sizeof(struct agx_program));
   assert_ok(agx_module_write_elf(module, NULL, &image, size));
   agx_module_release(module);
   return image;
}

static void test_modules(void **state)
{
   size_t size;
   uint8_t *image = write_module(&size);
   struct agx_program *program;
   struct agx_module *module;
   assert_fails(agx_program_read_elf(image, size, NULL, &program), AGX_INVALID_ARGUMENT,
                "3 entry points");
   assert_ok(agx_module_read_elf(image, size, NULL, &module));
   free(image);
   assert_int_equal(module->program_count, 3);
   assert_int_equal(agx_module_find(module, "main"), 0);
   assert_int_equal(agx_module_find(module, "third"), 2);
   assert_int_equal(agx_module_find(module, "fourth"), 3);
   for (uint32_t i = 0; i < 3; i++)
      assert_int_equal(module->programs[i]->local_size[0], 8u << i);
   assert_non_null(module->programs[1]->unchecked);
   assert_null(module->programs[2]->unchecked);
   agx_module_retain(module);
   agx_module_release(module);
   assert_string_equal(module->programs[0]->name, "main");
   agx_module_release(module);
   agx_module_release(NULL);
}

static void test_modules_are_checked(void **state)
{
   struct agx_program *programs[AGX_PROGRAM_MAX_ENTRIES + 1];
   struct agx_module *module;
   struct sample sample;
   sample_make(&sample);
   for (int i = 0; i < 2; i++)
      assert_ok(agx_program_copy(&sample.program, NULL, &programs[i]));
   assert_fails(agx_module_create(programs, 2, NULL, &module), AGX_INVALID_ARGUMENT,
                "two entry points");
   assert_ok(agx_program_copy(&sample.program, NULL, &programs[0]));
   strcpy(sample.program.name, "other");
   strcpy(sample.program.chip, "g14s");
   assert_ok(agx_program_copy(&sample.program, NULL, &programs[1]));
   assert_fails(agx_module_create(programs, 2, NULL, &module), AGX_INVALID_ARGUMENT, "g14s");
   assert_fails(agx_module_create(programs, 0, NULL, &module), AGX_OUT_OF_RANGE, "0 entry points");
   for (uint32_t i = 0; i < AGX_COUNT(programs); i++) {
      snprintf(sample.program.name, sizeof(sample.program.name), "entry %u", i);
      assert_ok(agx_program_copy(&sample.program, NULL, &programs[i]));
   }
   assert_fails(agx_module_create(programs, AGX_COUNT(programs), NULL, &module), AGX_OUT_OF_RANGE,
                "65 entry points");
}

static struct agx_module *make_module(const char *chip)
{
   struct agx_program *program;
   struct agx_module *module;
   struct sample sample;
   sample_make(&sample);
   strcpy(sample.program.chip, chip);
   assert_ok(agx_program_copy(&sample.program, NULL, &program));
   assert_ok(agx_module_create(&program, 1, NULL, &module));
   return module;
}

static const char *const bundle_chips[] = {"g13g", "g14s", "g14d"};

static uint8_t *write_bundle(size_t *out_size)
{
   struct agx_module *modules[3];
   void *image;
   for (int i = 0; i < 3; i++)
      modules[i] = make_module(bundle_chips[i]);
   assert_ok(agx_bundle_write(modules, 3, NULL, &image, out_size));
   for (int i = 0; i < 3; i++)
      agx_module_release(modules[i]);
   return image;
}

static void test_bundles(void **state)
{
   struct agx_bundle_part parts[AGX_BUNDLE_MAX_CHIPS];
   struct agx_module *module;
   uint32_t count;
   size_t size;
   uint8_t *image = write_bundle(&size);
   assert_ok(agx_bundle_read(image, size, parts, &count));
   assert_int_equal(count, 3);
   for (uint32_t i = 0; i < 3; i++) {
      assert_string_equal(parts[i].chip, bundle_chips[i]);
      assert_ok(agx_bundle_read_module(image, size, bundle_chips[i], NULL, &module));
      assert_string_equal(module->programs[0]->chip, bundle_chips[i]);
      agx_module_release(module);
   }
   assert_fails(agx_bundle_read_module(image, size, "g13d", NULL, &module), AGX_INCOMPATIBLE,
                "compiled for g13g, g14s, g14d; this device is g13d");
   /* Who wants a file of one chip doesn't get one of several. */
   assert_fails(agx_module_read_elf(image, size, NULL, &module), AGX_INVALID_ARGUMENT, ".note.agx");
   free(image);

   module = make_module("g13g");
   void *single;
   assert_ok(agx_bundle_write(&module, 1, NULL, &single, &size));
   agx_module_release(module);
   assert_ok(agx_bundle_read(single, size, parts, &count));
   assert_int_equal(count, 1);
   assert_null(parts[0].chip);
   assert_ok(agx_bundle_read_module(single, size, "g13g", NULL, &module));
   agx_module_release(module);
   assert_fails(agx_bundle_read_module(single, size, "g14s", NULL, &module), AGX_INCOMPATIBLE,
                "compiled for g13g; this device is g14s");
   free(single);
}

static uint8_t *renamed_bundle(size_t *out_size, const char *from, const char *to)
{
   size_t bytes = strlen(from);
   uint8_t *image = write_bundle(out_size);
   for (size_t i = 0; i + bytes <= *out_size; i++) {
      if (memcmp(image + i, from, bytes) == 0) {
         memcpy(image + i, to, bytes);
         return image;
      }
   }
   fail_msg("no %s", from);
   return NULL;
}

static void test_hostile_bundles(void **state)
{
   struct agx_bundle_part parts[AGX_BUNDLE_MAX_CHIPS];
   struct agx_module *module;
   uint32_t count;
   size_t size;
   uint8_t *image = renamed_bundle(&size, ".agx.chip.g14d", ".agx.chip.g13g");
   assert_fails(agx_bundle_read(image, size, parts, &count), AGX_INVALID_ARGUMENT, "g13g twice");
   free(image);
   image = renamed_bundle(&size, ".agx.chip.g14d", ".agx.chap.g14d");
   assert_fails(agx_bundle_read(image, size, parts, &count), AGX_INVALID_ARGUMENT,
                "2 chips beside 1 other sections");
   free(image);
   image = renamed_bundle(&size, ".agx.chip.g14d", ".agx.chip.g13d");
   assert_fails(agx_bundle_read_module(image, size, "g13d", NULL, &module), AGX_INVALID_ARGUMENT,
                "a module of g14d in the place of g13d");
   for (size_t cut = 0; cut < size; cut += 7) {
      uint8_t *copy = malloc(cut + !cut);
      memcpy(copy, image, cut);
      assert_int_not_equal(agx_bundle_read_module(copy, cut, "g13g", NULL, &module), AGX_OK);
      free(copy);
   }
   free(image);

   struct agx_elf_section many[AGX_BUNDLE_MAX_CHIPS + 1];
   char names[AGX_BUNDLE_MAX_CHIPS + 1][32];
   void *file;
   for (uint32_t i = 0; i < AGX_COUNT(many); i++) {
      snprintf(names[i], sizeof(names[i]), AGX_BUNDLE_SECTION "x%u", i);
      many[i] =
         (struct agx_elf_section){.name = names[i], .type = AGX_ELF_PROGBITS, .alignment = 1};
   }
   assert_ok(agx_elf_write(many, AGX_COUNT(many), agx_host_alloc_default(), &file, &size));
   assert_fails(agx_bundle_read(file, size, parts, &count), AGX_INVALID_ARGUMENT,
                "more than 32 chips");
   assert_fails(agx_bundle_read_module(file, size, "x0", NULL, &module), AGX_INVALID_ARGUMENT,
                "more than 32 chips");
   free(file);
}

/* Reads a copy of exactly that size, so that a sanitizer sees each byte beyond. */
static void read_hostile(const uint8_t *image, size_t size)
{
   uint8_t *copy = malloc(size ? size : 1);
   assert_non_null(copy);
   memcpy(copy, image, size);
   struct agx_module *got = NULL;
   agx_status status = agx_module_read_elf(copy, size, NULL, &got);
   assert_true((status == AGX_OK) == (got != NULL));
   free(copy);
   agx_module_release(got);
}

static void test_hostile_modules(void **state)
{
   size_t size;
   uint8_t *image = write_module(&size);
   struct agx_test_rng rng = {0xc0ffee};
   for (size_t i = 0; i < size; i += 37)
      read_hostile(image, i);
   for (int round = 0; round < 6000; round++) {
      size_t at[3];
      uint8_t saved[3];
      int count = 1 + round % 3;
      for (int i = 0; i < count; i++) {
         at[i] = agx_test_random_below(&rng, size);
         saved[i] = image[at[i]];
         image[at[i]] = round % 2 ? (uint8_t)agx_test_random(&rng)
                                  : image[at[i]] ^ (uint8_t)(1u << agx_test_random_below(&rng, 8));
      }
      read_hostile(image, size);
      for (int i = count; i-- > 0;)
         image[at[i]] = saved[i];
   }
   free(image);
}

/* Sections of the same bytes again and again would make a small file a large module. */
static void test_entries_do_not_share_bytes(void **state)
{
   size_t size;
   uint8_t *image = write_module(&size);
   struct agx_elf elf;
   assert_ok(agx_elf_open(image, size, &elf));
   unsigned found = 0;
   for (uint32_t i = 1; i < elf.section_count; i++) {
      struct agx_elf_section section;
      assert_ok(agx_elf_section(&elf, i, &section));
      if (strcmp(section.name, ".rodata.agx.entry") != 0)
         continue;
      uint8_t *header = image + elf.sections_at + (size_t)i * AGX_ELF_HEADER_BYTES;
      memset(header + 24, 0, 8); /* the whole file */
      memset(header + 32, 0, 8);
      agx_put_u32(header + 32, (uint32_t)size);
      found++;
   }
   assert_int_equal(found, 2);
   struct agx_module *got;
   assert_fails(agx_module_read_elf(image, size, NULL, &got), AGX_INVALID_ARGUMENT,
                "entry point inside another");
   free(image);
}

/* What `agx disasm` may meet: files of other classes, and sections that lie elsewhere. */
static void test_foreign_files(void **state)
{
   static const uint8_t code[8] = {1, 2, 3};
   const struct agx_elf_section text = {.name = ".text",
                                        .type = AGX_ELF_PROGBITS,
                                        .flags = AGX_ELF_EXECUTABLE,
                                        .alignment = 128,
                                        .bytes = code,
                                        .size = sizeof(code)};
   struct agx_elf_section got;
   struct agx_elf elf;
   void *image;
   size_t size;
   assert_ok(agx_elf_write(&text, 1, agx_host_alloc_default(), &image, &size));
   assert_ok(agx_elf_open(image, size, &elf));
   assert_int_equal(elf.section_count, 3); /* with the empty one, and that of the names */
   assert_ok(agx_elf_section(&elf, 1, &got));
   assert_string_equal(got.name, ".text");
   assert_int_equal(got.size, sizeof(code));
   assert_memory_equal(got.bytes, code, sizeof(code));
   assert_int_equal((const uint8_t *)got.bytes - (const uint8_t *)image, 128);

   uint8_t *header = (uint8_t *)image + elf.sections_at + AGX_ELF_HEADER_BYTES;
   header[9] ^= AGX_ELF_COMPRESSED >> 8;
   assert_fails(agx_elf_section(&elf, 1, &got), AGX_INVALID_ARGUMENT, ".text is compressed");
   header[9] ^= AGX_ELF_COMPRESSED >> 8;
   header[38] = 1; /* of its size */
   assert_fails(agx_elf_section(&elf, 1, &got), AGX_INVALID_ARGUMENT, ".text is not inside");
   header[4] = AGX_ELF_NOBITS;
   assert_ok(agx_elf_section(&elf, 1, &got));
   assert_null(got.bytes);
   header[0] = 200; /* its name */
   assert_fails(agx_elf_section(&elf, 1, &got), AGX_INVALID_ARGUMENT, "section 1 has no name");

   char *last = (char *)image + (elf.names - (const char *)image) + elf.names_B - 1;
   *last =
      'x'; /* so that the last name runs to the end, and a search for that of each section too */
   assert_fails(agx_elf_open(image, size, &elf), AGX_INVALID_ARGUMENT, "names have no end");
   *last = 0;

   ((uint8_t *)image)[5] = 2; /* big-endian */
   assert_fails(agx_elf_open(image, size, &elf), AGX_INVALID_ARGUMENT, "little-endian");
   ((uint8_t *)image)[5] = 1;
   ((uint8_t *)image)[46] = 1; /* of the table's place */
   assert_fails(agx_elf_open(image, size, &elf), AGX_INVALID_ARGUMENT, "no table of sections");
   agx_host_free(agx_host_alloc_default(), image, size);
}

static void test_truncated(void **state)
{
   struct sample sample;
   sample_make(&sample);
   size_t size;
   uint8_t *image = sample_write(&sample, &size);
   for (size_t i = 0; i < size; i++) {
      struct agx_program *got;
      uint8_t *copy = malloc(i ? i : 1);
      assert_non_null(copy);
      memcpy(copy, image, i);
      assert_int_not_equal(agx_program_read_elf(copy, i, NULL, &got), AGX_OK);
      free(copy);
   }
   free(image);
}

static void test_bit_flips(void **state)
{
   struct sample sample;
   sample_make(&sample);
   size_t size;
   uint8_t *image = sample_write(&sample, &size);
   for (size_t bit = 0; bit < size * 8; bit++) {
      image[bit / 8] ^= (uint8_t)(1u << bit % 8);
      read_hostile(image, size);
      image[bit / 8] ^= (uint8_t)(1u << bit % 8);
   }
   struct agx_test_rng rng = {0x5eed};
   for (int round = 0; round < 3000; round++) {
      uint8_t saved[8];
      size_t at[8];
      for (int i = 0; i < 8; i++) {
         at[i] = agx_test_random_below(&rng, size);
         saved[i] = image[at[i]];
         image[at[i]] = (uint8_t)agx_test_random(&rng);
      }
      read_hostile(image, size);
      for (int i = 8; i-- > 0;)
         image[at[i]] = saved[i];
   }
   free(image);
}

static void test_no_memory(void **state)
{
   size_t size;
   uint8_t *image = write_module(&size);
   struct agx_module *got = NULL;
   size_t needed = 0;
   for (; !got; needed++) {
      struct failing_alloc failing;
      failing_alloc_init(&failing, needed);
      agx_status status = agx_module_read_elf(image, size, &failing.alloc, &got);
      if (status != AGX_OK) {
         assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
         assert_int_equal(failing.live, 0);
         continue;
      }
      agx_module_release(got);
      assert_int_equal(failing.live, 0);
   }
   assert_true(needed > 2);
   free(image);
}

static void test_readelf(void **state)
{
   if (system("readelf --version > /dev/null 2>&1") != 0)
      skip();
   struct sample sample;
   sample_make(&sample);
   size_t size;
   uint8_t *image = sample_write(&sample, &size);
   char path[] = "/tmp/agx-program-XXXXXX", command[128], line[256];
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   assert_int_equal(write(fd, image, size), size);
   close(fd);
   snprintf(command, sizeof(command), "LC_ALL=C readelf -aW %s 2>&1", path);
   FILE *pipe = popen(command, "r");
   assert_non_null(pipe);
   int notes = 0, symbols = 0;
   while (fgets(line, sizeof(line), pipe)) {
      assert_null(strstr(line, "Warning"));
      assert_null(strstr(line, "Error"));
      notes += strstr(line, "agxhal") != NULL;
      symbols += strstr(line, "FUNC    GLOBAL DEFAULT    1 main") != NULL;
   }
   assert_int_equal(pclose(pipe), 0);
   unlink(path);
   assert_int_equal(notes, 3);
   assert_int_equal(symbols, 1);
   free(image);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_versions_and_names),
      cmocka_unit_test(test_foreign_files),
      cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_bit_flips),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_modules),
      cmocka_unit_test(test_modules_are_checked),
      cmocka_unit_test(test_bundles),
      cmocka_unit_test(test_hostile_bundles),
      cmocka_unit_test(test_hostile_modules),
      cmocka_unit_test(test_entries_do_not_share_bytes),
      cmocka_unit_test(test_readelf),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
