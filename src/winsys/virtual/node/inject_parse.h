/* SPDX-License-Identifier: MIT
 *
 * Reading fault scripts (store/inject.h).
 */
#pragma once

#include "winsys/virtual/store/inject.h"

/* Fills out_inject from a script. AGX_INVALID_ARGUMENT names line and word. */
AGX_MUST_CHECK agx_status agxv_inject_parse(const char *text, size_t length,
                                            struct agxv_inject *out_inject);
/* What AGX_VIRTUAL_INJECT says: a file's path, or the script itself where it has a blank. */
AGX_MUST_CHECK agx_status agxv_inject_read(const char *value, struct agxv_inject *out_inject);

/* The index of a request by its name, such as "gem_create", or UINT32_MAX (dispatch.c). */
uint32_t agxv_request_find(const char *name, size_t length);
