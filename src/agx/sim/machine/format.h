/* SPDX-License-Identifier: MIT
 *
 * The memory formats of load and store: from bytes to what a register gets, and
 * back. Source: docs/hw/machine.md 7, semantics 12; [U] clamping and rounding
 * of stores, overflow of small floats.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct agxs_format {
   uint8_t known;
   uint8_t bytes;    /* of an element; of the whole word when packed */
   uint8_t channels; /* of a packed word; 0: the mask counts elements */
   uint8_t is_raw;   /* integers and halves: bits go as they are */
};

/* Our own number for f16 with 32-bit registers, which hold the value as a single [U]. */
#define AGXS_FORMAT_F16_WIDE 16

/* By number, 0..15, and the one above. */
extern const struct agxs_format agxs_formats[17];

/* The register bits (of a register of 16 or 32 bits) for channel `channel` of the
 * element or packed word at bytes. */
uint32_t agxs_format_load(unsigned format, unsigned channel, const uint8_t *bytes, unsigned bits);

/* Writes one element (not packed) from a register's bits. */
void agxs_format_store(unsigned format, unsigned channel, uint8_t *bytes, uint32_t value,
                       unsigned bits);

/* Writes a packed word from its channels' single bits. */
void agxs_format_store_packed(unsigned format, uint8_t *bytes, const uint32_t *channel);

/* A real number rounded once to a register's float of 16 or 32 bits (single denormals
 * become zero), and back. */
uint32_t agxs_real_to_register(double value, unsigned bits);
/* The number that a register's float of 16 or 32 bits stands for. */
double agxs_register_to_real(uint32_t value, unsigned bits);

/* The transfer functions of sRGB, 0..1. */
double agxs_srgb_to_linear(double value);
/* The other way. */
double agxs_linear_to_srgb(double value);
