/* SPDX-License-Identifier: MIT
 *
 * What messages say of an object that was given to another device than its own.
 */
#pragma once

struct agx_device;

struct agx_foreign {
   char text[96];
};

/* "of another device: number 2 (virtual:g14s), not number 1 (renderD128)". Devices are numbered as
 * the process opened them. */
struct agx_foreign agx_foreign(const struct agx_device *theirs, const struct agx_device *ours);
