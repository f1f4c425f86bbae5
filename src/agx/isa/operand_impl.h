/* SPDX-License-Identifier: MIT
 *
 * One operand: between its field's number, the operand structure, and text.
 * These functions return NULL when all is well and else the reason, a static
 * string that completes "operand a: ...".
 */
#pragma once

#include "agx/isa/table_impl.h"

/* value is the field's number (agx_isa_field_get). */
const char *agx_isa_operand_decode(const struct agx_isa_slot *slot, uint32_t value,
                                   struct agx_isa_operand *out_operand);

/* kept is the field's number before: its shared bits are another operand's and
 * the result repeats them. */
const char *agx_isa_operand_encode(const struct agx_isa_slot *slot,
                                   const struct agx_isa_operand *operand, uint32_t kept,
                                   uint32_t *out_value);

/* Writes the operand's text without its name; returns the full length. */
size_t agx_isa_operand_print(const struct agx_isa_slot *slot, const struct agx_isa_operand *operand,
                             char *text, size_t capacity);
