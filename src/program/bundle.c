/* SPDX-License-Identifier: MIT
 *
 * Bundles (bundle.h). Nothing in a part is looked at until it is read as a module.
 */
#include "program/bundle.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "program/elf.h"

#define NAME_B (sizeof(AGX_BUNDLE_SECTION) - 1)

static agx_status add_part(struct agx_bundle_part *parts, uint32_t *count,
                           const struct agx_elf_section *section)
{
   const char *chip = section->name + NAME_B;
   if (*count == AGX_BUNDLE_MAX_CHIPS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: ELF image: more than %u chips",
                      AGX_BUNDLE_MAX_CHIPS);
   for (uint32_t i = 0; i < *count; i++)
      if (strcmp(parts[i].chip, chip) == 0)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: ELF image: chip %.32s twice", chip);
   parts[(*count)++] = (struct agx_bundle_part){chip, section->bytes, section->size};
   return AGX_OK;
}

agx_status agx_bundle_read(const void *image, size_t size,
                           struct agx_bundle_part out_parts[AGX_BUNDLE_MAX_CHIPS],
                           uint32_t *out_count)
{
   struct agx_elf elf;
   struct agx_elf_section section;
   uint32_t others = 0;
   *out_count = 0;
   AGX_TRY(agx_elf_open(image, size, &elf));
   for (uint32_t i = 1; i < elf.section_count; i++) {
      AGX_TRY(agx_elf_section(&elf, i, &section));
      if (strncmp(section.name, AGX_BUNDLE_SECTION, NAME_B) == 0)
         AGX_TRY(add_part(out_parts, out_count, &section));
      else if (section.type != AGX_ELF_STRTAB)
         others++;
   }
   if (*out_count && others)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: ELF image: %u chips beside %u other sections",
                      *out_count, others);
   if (*out_count == 0)
      out_parts[(*out_count)++] = (struct agx_bundle_part){NULL, image, size};
   return AGX_OK;
}

static agx_status lacks(const struct agx_bundle_part *parts, uint32_t count, const char *chip)
{
   char names[256] = "";
   for (uint32_t i = 0, at = 0; i < count && at < sizeof(names); i++)
      at += (uint32_t)snprintf(names + at, sizeof(names) - at, "%s%.16s", i ? ", " : "",
                               parts[i].chip);
   return AGX_FAIL(AGX_INCOMPATIBLE, "program: compiled for %s; this device is %s", names, chip);
}

agx_status agx_bundle_read_module(const void *image, size_t size, const char *chip,
                                  const struct agx_host_alloc *alloc,
                                  struct agx_module **out_module)
{
   struct agx_bundle_part parts[AGX_BUNDLE_MAX_CHIPS];
   uint32_t count, which = 0;
   *out_module = NULL;
   AGX_TRY(agx_bundle_read(image, size, parts, &count));
   while (which < count && parts[which].chip && strcmp(parts[which].chip, chip) != 0)
      which++;
   if (which == count)
      return lacks(parts, count, chip);
   AGX_TRY(agx_module_read_elf(parts[which].image, parts[which].size, alloc, out_module));
   const char *made_for = (*out_module)->programs[0]->chip;
   agx_status status = AGX_OK;
   if (parts[which].chip && strcmp(made_for, chip) != 0)
      status = AGX_FAIL(AGX_INVALID_ARGUMENT,
                        "program: ELF image: a module of %s in the place of %s", made_for, chip);
   else if (strcmp(made_for, chip) != 0)
      status = lacks(&(struct agx_bundle_part){.chip = made_for}, 1, chip);
   if (status == AGX_OK)
      return AGX_OK;
   agx_module_release(*out_module);
   *out_module = NULL;
   return status;
}

struct image {
   void *bytes;
   size_t size;
   char section[32];
};

static agx_status write_bundle(struct agx_module *const *modules, struct image *images,
                               uint32_t count, const struct agx_host_alloc *alloc, void **out_image,
                               size_t *out_size)
{
   struct agx_elf_section sections[AGX_BUNDLE_MAX_CHIPS];
   for (uint32_t i = 0; i < count; i++) {
      AGX_TRY(agx_module_write_elf(modules[i], alloc, &images[i].bytes, &images[i].size));
      snprintf(images[i].section, sizeof(images[i].section), AGX_BUNDLE_SECTION "%.16s",
               modules[i]->programs[0]->chip);
      sections[i] = (struct agx_elf_section){.name = images[i].section,
                                             .type = AGX_ELF_PROGBITS,
                                             .alignment = 128,
                                             .bytes = images[i].bytes,
                                             .size = images[i].size};
   }
   return agx_elf_write(sections, count, alloc, out_image, out_size);
}

agx_status agx_bundle_write(struct agx_module *const *modules, uint32_t count,
                            const struct agx_host_alloc *alloc, void **out_image, size_t *out_size)
{
   struct image images[AGX_BUNDLE_MAX_CHIPS] = {{NULL, 0, ""}};
   const struct agx_host_alloc *from = alloc ? alloc : agx_host_alloc_default();
   agx_assert(count >= 1 && count <= AGX_BUNDLE_MAX_CHIPS);
   if (count == 1)
      return agx_module_write_elf(modules[0], alloc, out_image, out_size);
   agx_status status = write_bundle(modules, images, count, from, out_image, out_size);
   for (uint32_t i = 0; i < count; i++)
      if (images[i].bytes)
         agx_host_free(from, images[i].bytes, images[i].size);
   return status;
}
