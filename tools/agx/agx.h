/* SPDX-License-Identifier: MIT
 *
 * The `agx` command line. Each command is a file of its own with one function
 * agx_cmd_<name>; main.c holds the table. A command gets its own name as argv[0]
 * and returns the exit code; --help is answered by main.c from the table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/status.h"

struct agx_json;
struct agxw_device_info;

enum {
   AGX_EXIT_OK = 0,
   AGX_EXIT_FAILURE = 1, /* what was asked for did not work */
   AGX_EXIT_USAGE = 2,   /* the command line makes no sense */
};

/* Commands about code: each takes its own name as argv[0] and returns an exit code. */
int agx_cmd_asm(int argc, char **argv);
int agx_cmd_compile(int argc, char **argv);
int agx_cmd_disasm(int argc, char **argv);
int agx_cmd_opt(int argc, char **argv);

/* Commands about devices: each takes its own name as argv[0] and returns an exit code. */
int agx_cmd_bench(int argc, char **argv);
int agx_cmd_info(int argc, char **argv);
int agx_cmd_run(int argc, char **argv);
int agx_cmd_virtual(int argc, char **argv);
/* Experiments on a device: selftest/selftest.c. */
int agx_cmd_selftest(int argc, char **argv);

/* What a device tells of itself, as members of the object that is open. */
void agx_tool_put_device(struct agx_json *json, const struct agxw_device_info *device);

/* Reads a whole file into *out_data (free it; terminated beyond *out_size); NULL
 * or "-" is standard input. */
AGX_MUST_CHECK agx_status agx_tool_read(const char *path, uint8_t **out_data, size_t *out_size);

/* Writes a whole file. */
AGX_MUST_CHECK agx_status agx_tool_write(const char *path, const void *bytes, size_t size);

/* A kernel's name in its path: the file's without folder and ending. Returns its length. */
int agx_tool_kernel_name(const char *path, const char **out_start);

/* What to call the file in messages. */
const char *agx_tool_name(const char *path);

/* Prints "agx COMMAND: <error text>" and returns AGX_EXIT_FAILURE. */
int agx_tool_failed(const char *command);

/* Prints "agx COMMAND: <message>" and where help is; returns AGX_EXIT_USAGE. */
int agx_tool_usage(const char *command, const char *format, ...)
   __attribute__((format(printf, 2, 3)));
