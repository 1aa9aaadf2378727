/* Bytes: blanks, columns and their hashes, eight bytes at a time; blanks also sixty-four at a time.
 * A column is a run of bytes above 0x20. Columns are separated by blanks (space, tab, VT, FF, CR); a line ends
 * with LF. Every buffer handed to these functions ends with an LF and PAD readable bytes, so no loop needs a limit. */
#ifndef AMBLE_BYTES_H
#define AMBLE_BYTES_H

#include "memory.h"
/* AMBLE_PLAIN_C: without what only some compilers and processors have */
#if (defined(__SSE2__) || defined(_M_X64)) && !defined(AMBLE_PLAIN_C)
#include <emmintrin.h>
#define HAVE_SSE2 1
#else
#define HAVE_SSE2 0
#endif
#if defined(_MSC_VER) && defined(_WIN64)
#include <intrin.h>
#endif

#define PAD 80 /* more than low_mask looks at */

#if (defined(__GNUC__) || defined(__clang__)) && !defined(AMBLE_PLAIN_C)
#define INLINE static inline __attribute__((always_inline))
#define PREFETCH(p) __builtin_prefetch(p)
#define lowest_bit(m) ((u32)__builtin_ctzll(m))
#define leading_zeros(x) __builtin_clzll(x)
#else
#define INLINE static inline
#define PREFETCH(p) ((void)(p))
static inline int leading_zeros(u64 x) { int k = 0; while (!(x >> 63)) { x <<= 1; k++; } return k; }
#if defined(_MSC_VER) && defined(_WIN64)
static inline u32 lowest_bit(u64 m) { unsigned long k; _BitScanForward64(&k, m); return (u32)k; }
#else
static inline u32 lowest_bit(u64 m) {
    u32 k = 0;
    for (; !(m & 0xff); m >>= 8) k += 8;
    for (; !(m & 1); m >>= 1) k++;
    return k;
}
#endif
#endif
#define first_marked(m) ((int)(lowest_bit(m) >> 3))

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

/* a bit for each of the 64 bytes at p: whether it is <= 0x20 */
INLINE u64 low_mask(const u8 *p) {
    u64 mask = 0;
#if HAVE_SSE2
    const __m128i blank = _mm_set1_epi8(0x20);
    for (int i = 0; i < 4; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        mask |= (u64)(u32)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(x, blank), x)) << (16 * i);
    }
#else
    for (int i = 0; i < 8; i++) {
        u64 w = load8(p + 8 * i), above = ((w & 0x7f7f7f7f7f7f7f7fULL) + 0x5f5f5f5f5f5f5f5fULL) | w;
        mask |= (((~above & 0x8080808080808080ULL) >> 7) * 0x0102040810204080ULL >> 56) << (8 * i);
    }
#endif
    return mask;
}

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
#if defined(__SIZEOF_INT128__) && !defined(AMBLE_PLAIN_C)
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

/* The hash of n bytes, the last 1 to 16 of them given as two words: the first and the last eight or, of fewer than
 * eight, all and 0. */
INLINE u64 hash_end(u64 h, u64 first, u64 last, u64 n) {
    return fold(fold(h ^ first, hash_key.step) ^ last, hash_key.step ^ n);
}
/* the bytes of a word that belong to a column of n < 8 */
INLINE u64 first_bytes(u64 w, size_t n) { return w & ((1ULL << (8 * n)) - 1); }

INLINE void hash_name(const u8 *p, size_t n, u64 rest_below_8, Name *out) {
    u64 h = hash_key.seed;
    size_t i = 0;
    for (; n - i > 16; i += 16) h = fold(fold(h ^ load8(p + i), hash_key.step) ^ load8(p + i + 8), hash_key.step);
    out->p = p;
    out->n = (u32)n;
    out->hash = n - i < 8 ? hash_end(h, rest_below_8, 0, n) : hash_end(h, load8(p + i), load8(p + n - 8), n);
}

/* the hash of a column, behind which eight bytes may be read */
INLINE void hash_in_text(const u8 *p, size_t n, Name *out) {
    size_t rest = n > 16 ? (n - 1) % 16 + 1 : n;
    hash_name(p, n, rest < 8 ? first_bytes(load8(p + n - rest), rest) : 0, out);
}

/* walk over the column at p, and hash it */
INLINE const u8 *hash_column(const u8 *p, Name *out) {
    const u8 *end = skip_column(p);
    hash_in_text(p, (size_t)(end - p), out);
    return end;
}

/* the same hash for bytes that no blank need follow (they may even contain blanks) */
static void hash_bytes(const u8 *p, size_t n, Name *out) {
    u64 w = 0;
    size_t rest = n > 16 ? (n - 1) % 16 + 1 : n;
    if (rest < 8)
        for (size_t k = n; k > n - rest; k--) w = w << 8 | p[k - 1];
    hash_name(p, n, w, out);
}

/* whether n bytes are the same; as memcmp, without a call where there are 8 to 16, as in most names */
INLINE int same_bytes(const u8 *a, const u8 *b, size_t n) {
    if (n - 8 <= 8) return !((load8(a) ^ load8(b)) | (load8(a + n - 8) ^ load8(b + n - 8)));
    return !memcmp(a, b, n);
}

INLINE int same_name(const Name *a, const Name *b) {
    return a->hash == b->hash && a->n == b->n && same_bytes(a->p, b->p, a->n);
}

/* A table of names: open addressing; a slot is 0 or, in its lower bits, 1 + the index (more than half of the slots are
 * free), and above them bits of the hash. Bytes are always compared. */
typedef struct { u32 *slot; size_t mask; Name *name; size_t n, cap; } Names;
#define SLOT_TAG(h, mask) ((u32)((h) >> 32) & ~(u32)((mask) >> 1))
#define SLOT_INDEX(s, mask) (((s) & (u32)((mask) >> 1)) - 1)
#define SAME_TAG(s, h, mask) (!((s ^ (u32)((h) >> 32)) & ~(u32)((mask) >> 1)))

/* the first free slot of a hash is that of the item with this index */
static void take_slot(u32 *slot, size_t mask, u64 hash, size_t index) {
    size_t j = hash & mask;
    while (slot[j]) j = (j + 1) & mask;
    slot[j] = SLOT_TAG(hash, mask) | (u32)(index + 1);
}

/* Makes space for one more of n items, each of which begins with its hash: twice as many slots, `least` at first.
 * Three in four or more are free: few searches meet another item. */
static int make_slot(u32 **slots, size_t *mask, size_t least, size_t n, const void *item, size_t size, Err *e) {
    if (*slots && n * 4 < *mask) return FINE;
    size_t more = *slots ? (*mask + 1) * 2 : least;
    u32 *slot = mem_grow(NULL, more, sizeof *slot);
    u64 hash;
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
        if (SAME_TAG(t->slot[j], k->hash, t->mask) && same_name(&t->name[SLOT_INDEX(t->slot[j], t->mask)], k))
            return SLOT_INDEX(t->slot[j], t->mask);
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
