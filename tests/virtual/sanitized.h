/* SPDX-License-Identifier: MIT
 *
 * Whether a sanitizer is built in: its runtime wants to be the first library of a
 * process, before any that LD_PRELOAD names.
 */
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#if defined(__SANITIZE_THREAD__)
#define THREAD_CHECKED true
#elif defined(__has_feature)
#define THREAD_CHECKED __has_feature(thread_sanitizer)
#else
#define THREAD_CHECKED false
#endif
