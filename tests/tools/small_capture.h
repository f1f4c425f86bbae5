/* SPDX-License-Identifier: MIT
 *
 * The capture of a known dispatch, which tests of agxdump look at.
 */
#pragma once

/* Records it to path: a submission of two launches, each of which adds 5 to the first word of the
 * buffer "data", and a submission whose stream is nowhere. */
void small_capture_record(const char *path);
