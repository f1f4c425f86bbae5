/* SPDX-License-Identifier: MIT
 *
 * What texels of a format mean, from the format's name and the definitions in the OpenGL and
 * Vulkan specifications alone; nothing of the driver or of the virtual device is used.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum format_class {
   FORMAT_OF_FLOATS = 0, /* normalised ones among them */
   FORMAT_OF_UINTS = 1,
   FORMAT_OF_SINTS = 2,
};

enum format_reading {
   READ_UNORM,
   READ_SNORM,
   READ_SRGB,
   READ_FLOAT,
   READ_UINT,
   READ_SINT,
};

struct format_model {
   const char *name;
   uint32_t texel_B, count; /* of the channels in memory, from the lowest bit up */
   struct {
      uint8_t channel, bits, shift; /* channel: 0 red to 3 alpha */
   } part[4];
   enum format_reading reading;
   bool has_shared_exponent;
   bool has[4]; /* red, green, blue, alpha */
};

/* Fails the test for a name that it can't read. */
void format_model_read(const char *name, struct format_model *out);
enum format_class format_model_class(const struct format_model *model);

/* Doubles hold each number of each format exactly. Channels that are not there: 0, 0, 0, 1. */
void format_model_decode(const struct format_model *model, const void *texel, double out[4]);

/* Whether the texel is what a store of value must leave, value being single floats or integers. */
bool format_model_is_stored(const struct format_model *model, const void *texel,
                            const double value[4]);

/* How far from the exact value a read may be: nothing, or what single floats can't hold. */
double format_model_tolerance(const struct format_model *model, double value);
