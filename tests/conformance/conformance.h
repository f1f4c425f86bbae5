/* SPDX-License-Identifier: MIT
 *
 * How the HAL behaves, through its public header only, the same for every device. The
 * device is AGX_CONFORMANCE_DEVICE ("virtual" without it); meson.build runs each test over
 * several. Where that device is not there, tests are skipped.
 */
#pragma once

#include "../hal/fixture.h"

/* As agx_device_open takes it. */
const char *conformance_device_name(void);

/* Opens the device into *state, NULL when there is none; for cmocka_run_group_tests. */
int conformance_open(void **state);
int conformance_close(void **state);

/* The device of this run; skips the test when there is none. */
struct fixture *conformance_device(void **state);

/* The same, if it has a GPU: "syncs:PATH" has not (see fixture_open). */
struct fixture *conformance_gpu(void **state);

/* A second fixture on the same kind of device. */
void conformance_open_another(struct fixture *f);

/* out[z][y][x] = x + 100 y + 10000 z; push: words per row, words per plane. 4x2x2 threads. */
extern const struct agx_test_kernel conformance_grid;

/* Reads a file below tests/ into desc; free the result. */
char *conformance_read(const char *name, struct agx_executable_desc *desc);

/* The kernel of such a file; entry NULL: all of it. */
struct agx_executable *conformance_kernel(struct fixture *f, const char *name, const char *entry);

struct agx_point conformance_point(struct agx_semaphore *semaphore, uint64_t value);

/* Ends, submits and waits. */
void conformance_run(struct fixture *f, struct agx_command_buffer *commands);
