/* Ranking: the records of one topic, put in order and joined with its judgments. The only place in C for ties and
 * duplicates: score descending as double (or float), then by the rule for ties; a document that comes twice is an error,
 * or only its best occurrence is kept. */
#ifndef AMBLE_RANKING_H
#define AMBLE_RANKING_H

#include "judgments.h"

enum { TIES_DOCNO = 0, TIES_RANK, TIES_FILE,
       /* added to one of them: hits without their groups; scores as floats */
       NO_GROUPS = 4, SINGLE = 8 };
enum { UNJUDGED = -1, DROPPED = -2 };

typedef struct { const u8 *doc; u64 hash; double score; u32 n; i32 row; } Record;
typedef struct { double score; u32 i; } Key;
typedef struct { i64 topic, length, tied, dropped, end, moved; } List; /* end: of its hits; moved: see Ranker */
/* a hit is its rank and row and, where wanted, first rank and size of the group of equal scores it is in */

typedef struct {
    int ties, keep_best, single, distinct; /* distinct: no document comes twice, whatever is read */
    int moved; /* whether the list last put in order has another order if scores are compared as floats */
    u32 *seen; size_t seen_cap; /* 1 + an index of records, by hash */
    Key *key, *spare; size_t key_cap, spare_cap;
    u32 *found, *again; size_t found_cap, again_cap; /* see join */
    List *list; size_t lists, list_cap;
    i32 *hit; size_t hits, hit_cap; int no_groups;
    size_t second, first; /* a duplicate, as indices of records */
} Ranker;

#define HIT_WIDTH(k) ((k)->no_groups ? 2u : 4u)

static void ranker_rule(Ranker *k) { /* take the flags off the rule */
    k->no_groups = (k->ties & NO_GROUPS) != 0;
    k->single = (k->ties & SINGLE) != 0;
    k->ties &= ~(NO_GROUPS | SINGLE);
}

static void ranker_free(Ranker *k) {
    mem_free(k->seen);
    mem_free(k->key);
    mem_free(k->spare);
    mem_free(k->found);
    mem_free(k->again);
    mem_free(k->list);
    mem_free(k->hit);
}

/* Stable merge sort of keys: insertion in blocks, then merges that skip what is in order already. */
typedef int (*Before)(const Key *, const Key *, const void *);
INLINE void sort_keys(Key *a, Key *b, size_t n, Before before, const void *with) {
    size_t block = 12;
    Key *from = a, *to = b;
    for (size_t lo = 0; lo < n; lo += block) {
        size_t hi = lo + block < n ? lo + block : n;
        for (size_t i = lo + 1; i < hi; i++) {
            Key x = a[i];
            size_t j = i;
            for (; j > lo && before(&x, &a[j - 1], with); j--) a[j] = a[j - 1];
            a[j] = x;
        }
    }
    for (size_t w = block; w < n; w *= 2) {
        int ordered = 1;
        for (size_t m = w; m < n && ordered; m += w) ordered = !before(&from[m], &from[m - 1], with);
        if (ordered) break; /* every neighbouring pair of blocks is in order, so all is */
        for (size_t lo = 0; lo < n; lo += 2 * w) {
            size_t mid = lo + w < n ? lo + w : n, hi = lo + 2 * w < n ? lo + 2 * w : n, i = lo, j = mid, o = lo;
            while (i < mid && j < hi) to[o++] = before(&from[j], &from[i], with) ? from[j++] : from[i++];
            memcpy(to + o, from + i, (mid - i) * sizeof(Key));
            memcpy(to + o + (mid - i), from + j, (hi - j) * sizeof(Key));
        }
        Key *swap = from;
        from = to;
        to = swap;
    }
    if (from != a) memcpy(a, from, n * sizeof(Key));
}

INLINE int before_by_score(const Key *x, const Key *y, const void *unused) { (void)unused; return x->score > y->score; }
INLINE int before_by_docno(const Key *x, const Key *y, const void *records) {
    const Record *a = (const Record *)records + x->i, *b = (const Record *)records + y->i;
    if (a->n >= 8 && b->n >= 8) { /* without a call, where the first eight bytes tell */
        u64 x = load8(a->doc), y = load8(b->doc), differ = x ^ y;
        u32 at = differ ? lowest_bit(differ) & 56 : 0;
        if (differ) return (x >> at & 0xff) > (y >> at & 0xff);
    }
    int c = memcmp(a->doc, b->doc, a->n < b->n ? a->n : b->n);
    return c ? c > 0 : a->n > b->n;
}
INLINE int before_by_rank(const Key *x, const Key *y, const void *given) {
    return ((const double *)given)[x->i] < ((const double *)given)[y->i];
}
static void sort_by_score(Key *a, Key *b, size_t n) { sort_keys(a, b, n, before_by_score, NULL); }
static void sort_by_docno(Key *a, Key *b, size_t n, const Record *r) { sort_keys(a, b, n, before_by_docno, r); }
static void sort_by_rank(Key *a, Key *b, size_t n, const double *g) { sort_keys(a, b, n, before_by_rank, g); }

/* Looks for documents that come twice. FINE, or 1 with k->second and k->first set (the earliest second). With
 * keep_best the worse occurrence is marked DROPPED instead and counted in *dropped. */
static int check_duplicates(Ranker *k, Record *r, size_t n, const double *given, size_t *dropped, Err *e) {
    size_t size = 64;
    while (size < n * 4) size *= 2; /* seldom is a slot taken: a record is compared only then */
    if (RESERVE(k->seen, k->seen_cap, size, e)) return e->kind;
    memset(k->seen, 0, size * sizeof *k->seen);
    *dropped = 0;
    for (size_t i = 0; i < n; i++) {
        size_t s = r[i].hash & (size - 1), f = n;
        r[i].row = UNJUDGED;
        for (; k->seen[s]; s = (s + 1) & (size - 1)) {
            size_t x = k->seen[s] - 1;
            if (r[x].hash != r[i].hash || r[x].n != r[i].n || !same_bytes(r[x].doc, r[i].doc, r[i].n)) continue;
            f = x;
            break;
        }
        if (f < n) {
            if (!k->keep_best) { k->second = i; k->first = f; return 1; }
            int better = r[i].score != r[f].score ? r[i].score > r[f].score : given && given[i] < given[f];
            r[better ? f : i].row = DROPPED;
            (*dropped)++;
            if (!better) continue;
        }
        k->seen[s] = (u32)i + 1;
    }
    return FINE;
}

/* Gives every record its row of the judgments. In steps, none of which waits for memory or guesses a branch: first a look
 * at one slot for each record, then at the documents that these slots name, then the few searches that must go on. */
static int join(Ranker *k, const Topic *t, Record *r, size_t n, size_t dropped, Err *e) {
    if (RESERVE(k->found, k->found_cap, n, e) || RESERVE(k->again, k->again_cap, n, e)) return e->kind;
    size_t found = 0, again = 0, mask = t->mask, few = dropped ? n : 0;
    for (size_t i = 0; i < few; i++)
        if (r[i].row != DROPPED) k->again[again++] = (u32)i;
    for (size_t i = few; i < n; i++) {
        u32 s = t->slot[r[i].hash & mask], same = (u32)((s != 0) & SAME_TAG(s, r[i].hash, mask));
        u32 at = SLOT_INDEX(s, mask) & (0u - same);
        PREFETCH(&t->doc[at]);
        r[i].row = same ? (i32)at : UNJUDGED;
        k->found[found] = k->again[again] = (u32)i;
        found += same;
        again += (same ^ 1) & (s != 0);
    }
    for (size_t f = 0; f < found; f++) {
        Record *x = &r[k->found[f]];
        if (is_doc(&t->doc[x->row], x->doc, x->n, x->hash)) x->row += (i32)t->base;
        else k->again[again++] = k->found[f];
    }
    for (size_t f = 0; f < again; f++) {
        Record *x = &r[k->again[f]];
        i64 at = topic_find(t, x->doc, x->n, x->hash);
        x->row = at < 0 ? UNJUDGED : (i32)(t->base + (u64)at);
    }
    return FINE;
}

/* Whether documents whose scores are equal as floats only, and neighbours, would change places. */
static int moved_as_floats(const Ranker *k, const Record *r, size_t m, const double *given) {
    for (size_t i = 1; i < m; i++) {
        const Key *a = &k->key[i - 1], *b = &k->key[i];
        if (a->score == b->score || (float)a->score != (float)b->score) continue;
        if (k->ties == TIES_FILE ? b->i < a->i
            : k->ties == TIES_RANK && given[a->i] != given[b->i] ? given[b->i] < given[a->i]
            : before_by_docno(b, a, r)) return 1;
    }
    return 0;
}

/* Puts records in rank order: k->key[0, *kept). *tied counts the documents that share their score. */
static int order(Ranker *k, const Record *r, size_t n, const double *given, size_t *kept, size_t *tied, Err *e) {
    if (RESERVE(k->key, k->key_cap, n, e) || RESERVE(k->spare, k->spare_cap, n, e)) return e->kind;
    Key *key = k->key;
    size_t m = 0;
    int sorted = 1, close = 0;
    for (size_t i = 0; i < n; i++) {
        if (r[i].row == DROPPED) continue;
        key[m].score = r[i].score;
        key[m].i = (u32)i;
        if (m && key[m].score > key[m - 1].score) sorted = 0;
        m++;
    }
    if (!sorted) sort_by_score(key, k->spare, m);
    *kept = m;
    *tied = 0;
    for (size_t i = 0, j; i < m; i = j) {
        for (j = i + 1; j < m && key[j].score == key[i].score; j++) {}
        if (j < m && (float)key[j].score == (float)key[i].score) close = 1;
        if (j == i + 1) continue;
        *tied += j - i;
        if (k->ties == TIES_FILE) continue;
        sort_by_docno(key + i, k->spare, j - i, r);
        if (k->ties == TIES_RANK) sort_by_rank(key + i, k->spare, j - i, given);
    }
    k->moved = close && moved_as_floats(k, r, m, given);
    return FINE;
}

/* whether every score is below the one before it, as a double and as a float */
static int is_falling(const Record *r, size_t n) {
    int falling = 1;
    for (size_t i = 1; i < n; i++) falling &= (float)r[i].score < (float)r[i - 1].score;
    return falling;
}

/* Ranks one topic's records and adds its list and hits. 1: a duplicate (k->second, k->first). */
static int rank_topic(Ranker *k, const Judgments *j, i64 topic, Record *r, size_t n, const double *given, Err *e) {
    size_t dropped = 0, kept, tied;
    if (n > INT32_MAX) return refuse(e, "more than %ld documents for one topic", (long)INT32_MAX);
    int rc = k->distinct ? FINE : check_duplicates(k, r, n, given, &dropped, e);
    if (rc || topic < 0) return rc; /* this topic has no judgments: its lines are only checked */
    if (join(k, &j->topic[topic], r, n, dropped, e)) return e->kind;
    int falling = !dropped && is_falling(r, n); /* then they are in order, and no two tied */
    kept = n;
    tied = 0;
    k->moved = 0;
    if (!falling && order(k, r, n, given, &kept, &tied, e)) return e->kind;
    if (RESERVE(k->list, k->list_cap, k->lists + 1, e) ||
        RESERVE(k->hit, k->hit_cap, (k->hits + kept) * HIT_WIDTH(k), e))
        return e->kind;
    i32 *h = k->hit + k->hits * HIT_WIDTH(k);
    for (size_t i = 0, end; i < kept; i = end) { /* groups of equal scores, or all */
        end = k->no_groups ? kept : i + 1;
        for (; !falling && end < kept && k->key[end].score == k->key[i].score; end++) {}
        for (size_t x = i; x < end; x++) { /* one without a row is written over by the next */
            i32 row = r[falling ? x : k->key[x].i].row;
            h[0] = (i32)(x + 1);
            h[1] = row;
            if (!k->no_groups) {
                h[2] = (i32)(i + 1);
                h[3] = (i32)(end - i);
            }
            h += row < 0 ? 0 : HIT_WIDTH(k);
        }
    }
    k->hits = (size_t)(h - k->hit) / HIT_WIDTH(k);
    List *l = &k->list[k->lists++];
    l->topic = topic;
    l->length = (i64)kept;
    l->tied = (i64)tied;
    l->dropped = (i64)dropped;
    l->end = (i64)k->hits;
    l->moved = k->moved;
    return FINE;
}

#endif
