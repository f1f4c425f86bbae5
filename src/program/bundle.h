/* SPDX-License-Identifier: MIT
 *
 * Files for several chips: an ELF file whose sections `.agx.chip.NAME` are whole files of modules,
 * one for each chip. A file of one chip is a bundle of itself.
 */
#pragma once

#include "program/program.h"

#define AGX_BUNDLE_SECTION   ".agx.chip." /* and the chip's name behind it */
#define AGX_BUNDLE_MAX_CHIPS 32

/* One module of a bundle; the image is borrowed. */
struct agx_bundle_part {
   const char *chip; /* NULL: a file of one chip, which nobody has looked into yet */
   const void *image;
   size_t size;
};

/* The parts of a file, at most AGX_BUNDLE_MAX_CHIPS, which lie inside it. A file that is no bundle
 * has one: itself. AGX_INVALID_ARGUMENT: no ELF file, or a bundle with other sections, too many, or
 * a chip twice. */
AGX_MUST_CHECK agx_status agx_bundle_read(const void *image, size_t size,
                                          struct agx_bundle_part out_parts[AGX_BUNDLE_MAX_CHIPS],
                                          uint32_t *out_count);

/* As agx_module_read_elf, of the module for that chip. AGX_INCOMPATIBLE, with the chips that there
 * are: the file has none for it. */
AGX_MUST_CHECK agx_status agx_bundle_read_module(const void *image, size_t size, const char *chip,
                                                 const struct agx_host_alloc *alloc,
                                                 struct agx_module **out_module);

/* Writes modules of different chips, 1 to AGX_BUNDLE_MAX_CHIPS; a single one as a file of its own.
 * The caller frees the image with agx_host_free. */
AGX_MUST_CHECK agx_status agx_bundle_write(struct agx_module *const *modules, uint32_t count,
                                           const struct agx_host_alloc *alloc, void **out_image,
                                           size_t *out_size);
