/* Memory and errors: every allocation of the reader goes through mem_grow, so that a failed one is
 * reported (never dereferenced) and so that the fuzzer can make any single one of them fail. */
#ifndef AMBLE_MEMORY_H
#define AMBLE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;

/* What went wrong. A wrong line carries its message and number; MEMORY and PYTHON carry nothing more
 * (for PYTHON an exception is already set). */
enum { FINE = 0, WRONG = -1, NO_MEMORY = -2, PYTHON = -3, SYSTEM = -4, SPLIT_TOPIC = 1 };
typedef struct {
    int kind;
    u64 line; /* 0: the message needs none */
    i64 row;  /* of a table's columns; -1: none */
    int system_error;
    char text[1024];
} Err;

static int fail_memory(Err *e) { return e->kind = NO_MEMORY; }

/* what was read is wrong: why, as printf has it */
static int refuse(Err *e, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(e->text, sizeof e->text, format, values);
    va_end(values);
    return e->kind = WRONG;
}

#ifdef AMBLE_CHECK_MEMORY /* the fuzzer's build: count what lives, fail the n-th request */
static long mem_live = 0, mem_countdown = -1;
static int mem_refuse(void) { return mem_countdown >= 0 && mem_countdown-- == 0; }
#endif

static void mem_free(void *p) {
#ifdef AMBLE_CHECK_MEMORY
    if (p) mem_live--;
#endif
    free(p);
}

/* realloc to count * size bytes; NULL (and the old block kept) when that cannot be had */
static void *mem_grow(void *old, size_t count, size_t size) {
    if (count > (size_t)PTRDIFF_MAX / size) return NULL;
#ifdef AMBLE_CHECK_MEMORY
    if (mem_refuse()) return NULL;
    int fresh = !old;
#endif
    void *p = realloc(old, count ? count * size : 1);
#ifdef AMBLE_CHECK_MEMORY
    mem_live += p && fresh;
#endif
    return p;
}

/* Reserves space for `need` items in the array *at of *cap items, doubling. */
#define RESERVE(at, cap, need, e) reserve((void **)&(at), &(cap), (need), sizeof *(at), (e))
static int reserve(void **at, size_t *cap, size_t need, size_t size, Err *e) {
    if (need <= *cap) return FINE;
    size_t more = *cap ? *cap * 2 : 16;
    if (more < need) more = need;
    void *p = mem_grow(*at, more, size);
    if (!p) return fail_memory(e);
    *at = p;
    *cap = more;
    return FINE;
}

/* A bump arena: bytes that live as long as their owner. */
typedef struct Block { struct Block *next; } Block;
typedef struct { Block *blocks; u8 *at; size_t left; } Arena;

static const u8 *arena_keep(Arena *a, const u8 *p, size_t n) {
    if (!a->at || n > a->left) {
        size_t want = n > 8192 ? n : 8192;
        Block *b = mem_grow(NULL, want + sizeof(Block), 1);
        if (!b) return NULL;
        b->next = a->blocks;
        a->blocks = b;
        a->at = (u8 *)(b + 1);
        a->left = want;
    }
    u8 *to = a->at;
    memcpy(to, p, n);
    a->at += n;
    a->left -= n;
    return to;
}

static void arena_free(Arena *a) {
    for (Block *b = a->blocks, *next; b; b = next) { next = b->next; mem_free(b); }
}

#endif
