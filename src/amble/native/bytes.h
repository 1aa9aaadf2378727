/* Bytes: blanks, columns and their hashes, eight bytes at a time, without intrinsics.
 * A column is a run of bytes above 0x20. Columns are separated by blanks (space, tab, VT, FF, CR); a line ends
 * with LF. Every buffer handed to these functions ends with an LF and PAD readable bytes, so no loop needs a limit. */
#ifndef AMBLE_BYTES_H
#define AMBLE_BYTES_H

#include "memory.h"

#define PAD 16

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#define PREFETCH(p) __builtin_prefetch(p)
#define first_marked(m) ((int)(__builtin_ctzll(m) >> 3))
#define leading_zeros(x) __builtin_clzll(x)
#else
#define INLINE static inline
#define PREFETCH(p) ((void)(p))
static inline int first_marked(u64 m) { int k = 0; while (!(m & 0xff)) { m >>= 8; k++; } return k; }
static inline int leading_zeros(u64 x) { int k = 0; while (!(x >> 63)) { x <<= 1; k++; } return k; }
#endif

typedef struct { u64 hash; const u8 *p; u32 n; } Name; /* a column's bytes and their hash */

INLINE u64 load8(const u8 *p) {
    u64 w;
    memcpy(&w, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return w;
}

/* marks (0x80) in the lowest byte that is <= 0x20; higher marks may be false */
INLINE u64 marks_low(u64 w) { return (w - 0x2121212121212121ULL) & ~w & 0x8080808080808080ULL; }

INLINE int is_blank(u8 c) { return c == ' ' || (c >= 9 && c <= 13 && c != '\n'); }
INLINE const u8 *skip_blanks(const u8 *p) {
    if ((*p == ' ' || *p == '\t') && p[1] > ' ') return p + 1; /* as it nearly always is */
    while (is_blank(*p)) p++;
    return p;
}
INLINE const u8 *skip_column(const u8 *p) {
    for (;;) {
        u64 m = marks_low(load8(p));
        if (m) return p + first_marked(m);
        p += 8;
    }
}

/* 64 x 64 -> 128 bits, folded: the mixing step of the hash */
INLINE u64 fold(u64 a, u64 b) {
#if defined(__SIZEOF_INT128__) && !defined(AMBLE_NO_INT128)
    unsigned __int128 r = (unsigned __int128)a * b;
    return (u64)r ^ (u64)(r >> 64);
#else
    u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
    u64 mid = ah * bl + ((al * bl) >> 32), mid2 = al * bh + (u32)mid;
    return (a * b) ^ (ah * bh + (mid >> 32) + (mid2 >> 32));
#endif
}
/* The key of the hash, drawn anew by every process, so that colliding ids cannot be prepared. No result depends on it:
 * bytes are always compared, and no table is read in the order of its slots. */
static struct { u64 seed, step; } hash_key;

/* walk over the column at p, hashing as it goes */
INLINE const u8 *hash_column(const u8 *p, Name *out) {
    const u8 *start = p;
    u64 h = hash_key.seed, step = hash_key.step, w, m;
    for (;;) {
        w = load8(p);
        m = marks_low(w);
        if (m) break;
        h = fold(h ^ w, step);
        p += 8;
    }
    int k = first_marked(m);
    w = k ? w & (~0ULL >> (64 - 8 * k)) : 0;
    p += k;
    out->p = start;
    out->n = (u32)(p - start);
    out->hash = fold(h ^ w, step ^ (u64)out->n);
    return p;
}

/* the same hash for bytes that no blank need follow (they may even contain blanks) */
static void hash_bytes(const u8 *p, size_t n, Name *out) {
    u64 h = hash_key.seed, step = hash_key.step, w = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) h = fold(h ^ load8(p + i), step);
    for (size_t k = n; k > i; k--) w = w << 8 | p[k - 1];
    out->p = p;
    out->n = (u32)n;
    out->hash = fold(h ^ w, step ^ (u64)out->n);
}

INLINE int same_name(const Name *a, const Name *b) {
    return a->hash == b->hash && a->n == b->n && !memcmp(a->p, b->p, a->n);
}

/* A table of names: open addressing; a slot is the hash's upper half and 1 + the index. Bytes are always compared. */
typedef struct { u64 *slot; size_t mask; Name *name; size_t n, cap; } Names;
#define SLOT_TAG(h) ((h) & 0xffffffff00000000ULL)
#define SLOT_INDEX(s) ((u32)(s) - 1)

/* the first free slot of a hash is that of the item with this index */
static void take_slot(u64 *slot, size_t mask, u64 hash, size_t index) {
    size_t j = hash & mask;
    while (slot[j]) j = (j + 1) & mask;
    slot[j] = SLOT_TAG(hash) | (index + 1);
}

/* Makes space for one more of n items, each of which begins with its hash: twice as many slots, `least` at first. */
static int make_slot(u64 **slots, size_t *mask, size_t least, size_t n, const void *item, size_t size, Err *e) {
    if (*slots && n * 2 < *mask) return FINE;
    size_t more = *slots ? (*mask + 1) * 2 : least;
    u64 *slot = mem_grow(NULL, more, sizeof *slot), hash;
    if (!slot) return fail_memory(e);
    memset(slot, 0, more * sizeof *slot);
    mem_free(*slots);
    *slots = slot;
    *mask = more - 1;
    for (size_t i = 0; i < n; i++) {
        memcpy(&hash, (const u8 *)item + i * size, sizeof hash);
        take_slot(slot, *mask, hash, i);
    }
    return FINE;
}

static void names_free(Names *t) { mem_free(t->slot); mem_free(t->name); }

static i64 names_find(const Names *t, const Name *k) {
    if (!t->n) return -1;
    for (size_t j = k->hash & t->mask; t->slot[j]; j = (j + 1) & t->mask)
        if (SLOT_TAG(t->slot[j]) == SLOT_TAG(k->hash) && same_name(&t->name[SLOT_INDEX(t->slot[j])], k))
            return SLOT_INDEX(t->slot[j]);
    return -1;
}

/* adds a name that names_find did not find; the caller keeps its bytes alive */
static int names_add(Names *t, const Name *k, Err *e) {
    if (make_slot(&t->slot, &t->mask, 32, t->n, t->name, sizeof *t->name, e)) return e->kind;
    if (RESERVE(t->name, t->cap, t->n + 1, e)) return e->kind;
    take_slot(t->slot, t->mask, k->hash, t->n);
    t->name[t->n++] = *k;
    return FINE;
}

#endif
