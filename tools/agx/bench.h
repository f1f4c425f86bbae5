/* SPDX-License-Identifier: MIT */
#pragma once

#include "agx.h"
#include "agx/chip.h"
#include "base/json.h"

struct bench_options {
   const char *folder; /* the corpus */
   const struct agx_chip *chip;
   uint32_t best;      /* compilations of a kernel, of which the quickest counts */
   const char *device; /* whose host costs are measured, as --device takes it */
};

/* Prints the table of compiled kernels of the corpus, or the member "kernels" of json when
 * that isn't NULL; *out_failed is how many could not be compiled, which their rows say. */
AGX_MUST_CHECK agx_status bench_compile(const struct bench_options *options, struct agx_json *json,
                                        uint32_t *out_failed);

/* Prints what recording and submitting cost the host, or the member "host" of json. */
AGX_MUST_CHECK agx_status bench_host(const struct bench_options *options, struct agx_json *json);
