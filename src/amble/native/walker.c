/* amble.native._walker: users who walk back and forth over ranked lists, simulated one after the other, and all at once.
 *
 * amble.native.plain_walker is its plain twin: the same functions, the same numbers to the last bit, the same messages.
 * Its docstrings say what the arguments are. Limited API (abi3): one build serves every CPython from 3.11 on.
 *
 * The n-th draw of a user is a function of seed, user and n alone (SplitMix64, its state computed instead of kept), so
 * users can be split among calls and threads as one likes, and draws do not wait for one another.
 */
#define PY_SSIZE_T_CLEAN
#if !defined(Py_LIMITED_API) && !defined(AMBLE_FULL_API)
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15) /* from draw to draw: 2^64 / golden ratio, SplitMix64's step */
#define ODD UINT64_C(0xD1B54A32D192ED03)    /* from user to user */
#define DRAWS 9007199254740992.0            /* 2^53 different ones: all a double can tell apart, evenly, in [0, 1) */
#define NEVER UINT64_MAX

/* ---- draws ---- */

static inline u64 mix64(u64 x) {
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static inline u64 draw(u64 key, u64 number) { return mix64(key + (number + 1) * GOLDEN) >> 11; }

/* how many of the draws, as whole numbers, are a probability below p: with it (draw < p) needs no floating point */
static u64 draws_below(double p) {
    if (p >= 1.0) return (u64)DRAWS;
    double scaled = p * DRAWS; /* exact */
    u64 whole = (u64)scaled;
    return whole + ((double)whole < scaled);
}

/* ---- the walk ---- */

typedef struct {
    u64 forward, turn; /* draws below these lead forward, or else back; forward <= turn */
    u64 first;         /* of its gains; they end where those of the next rank begin */
    u64 seen;          /* mark of the last user who was here, plus the visits so far: nothing to clear between users */
} Rank;

typedef struct { u32 list, kind; } Gain;

typedef struct {
    u64 n, end; /* ranks; where the list ends, which may be never */
    Rank *rank; /* n + 2: one that stands for all beyond the n-th, one that ends its gains */
    const Gain *gain;
    const double *utility;
    u64 depth; /* columns of utility */
    const double *start;
    u64 starts, limit;
} Walk;

/* the first start whose cumulative probability exceeds p, or the last; halving without a branch to mispredict */
static inline u64 start_of(const Walk *w, double p) {
    const double *from = w->start;
    for (u64 left = w->starts; left > 1;) {
        u64 half = left / 2;
        from += from[half - 1] > p ? 0 : half;
        left -= half;
    }
    return (u64)(from - w->start);
}

/* Follows a user from start to stop and returns the number of visits. `mark` grows by `depth` from user to user. */
static inline u64 follow(const Walk *w, u64 key, u64 mark, double *total) {
    const u64 n = w->n, end = w->end, limit = w->limit, depth = w->depth;
    const Gain *gain = w->gain;
    const double *utility = w->utility;
    u64 at = start_of(w, (double)(i64)draw(key, 0) / DRAWS);
    for (u64 visits = 1;; visits++) {
        Rank *here = w->rank + (at < n ? at : n);
        if (here[0].first < here[1].first) {
            u64 before = here->seen >= mark ? here->seen - mark : 0;
            here->seen = mark + before + (before + 1 < depth);
            for (const Gain *g = gain + here[0].first, *last = gain + here[1].first; g < last; g++)
                total[g->list] += utility[g->kind * depth + before];
        }
        if (visits == limit) return visits;
        u64 x = draw(key, visits);
        if (x >= here->turn) return visits;
        at += ((x - here->forward) >> 63) * 2 - 1; /* x < forward is the sign: no branch, as none could predict it */
        if (at >= end) return visits; /* left of rank 1 `at` is the largest of numbers */
    }
}

static u64 follow_all(const Walk *w, u64 seed, u64 first, u64 users, u64 lists, double *total, i64 *steps) {
    u64 cut = 0, mixed = mix64(seed + GOLDEN); /* near seeds must not be each other's users */
    for (u64 u = 0; u < users; u++, total += lists) {
        u64 key = mix64(mixed + (first + u + 1) * ODD);
        if (lists == 1) *total = 0.0; /* a call of memset would be felt */
        else if (lists) memset(total, 0, lists * sizeof *total);
        u64 visits = follow(w, key, (u + 1) * w->depth, total);
        steps[u] = (i64)visits;
        cut += visits == w->limit;
    }
    return cut;
}

/* ---- arguments ---- */

enum { START, FORWARD, TURN, OFFSETS, WHICH, KIND, UTILITY, TOTAL, STEPS, ARRAYS, BACK = ARRAYS, STOP, UNITS, KNOWN };

static const struct { const char *name; char type; int dimensions, writable; } ARRAY[KNOWN] = {
    {"start", 'd', 1, 0}, {"forward", 'd', 1, 0}, {"turn", 'd', 1, 0},
    {"offsets", 'q', 1, 0}, {"which", 'i', 1, 0}, {"kind", 'i', 1, 0},
    {"utility", 'd', 2, 0}, {"total", 'd', 0, 1}, {"steps", 'q', 1, 1}, /* 0: any */
    {"back", 'd', 1, 0}, {"stop", 'd', 1, 0}, {"units", 'q', 1, 0}};

static int is_of_type(const Py_buffer *v, char type) {
    if (!v->format || !v->format[0] || v->format[1]) return 0;
    if (type == 'd') return v->format[0] == 'd';
    return strchr("ilq", v->format[0]) && v->itemsize == (type == 'q' ? 8 : 4);
}

static int get_array(PyObject *x, int i, Py_buffer *v) {
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (ARRAY[i].writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(x, v, flags)) {
        v->obj = NULL;
        if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError) &&
            !PyErr_ExceptionMatches(PyExc_BufferError)) return -1;
        PyErr_Clear();
    } else if (is_of_type(v, ARRAY[i].type) && (!ARRAY[i].dimensions || v->ndim == ARRAY[i].dimensions) &&
               (!v->len || (uintptr_t)v->buf % (uintptr_t)v->itemsize == 0)) return 0;
    PyErr_Format(PyExc_ValueError, "%s: expected a %scontiguous %sarray of %s", ARRAY[i].name,
                 ARRAY[i].writable ? "writable " : "",
                 ARRAY[i].dimensions == 2 ? "2-D " : ARRAY[i].dimensions ? "1-D " : "",
                 ARRAY[i].type == 'd' ? "float64" : ARRAY[i].type == 'q' ? "int64" : "int32");
    return -1;
}

static int get_whole(PyObject *x, const char *name, u64 least, u64 most, u64 *out) {
    PyObject *whole = PyNumber_Index(x);
    if (!whole) return -1;
    *out = PyLong_AsUnsignedLongLong(whole);
    Py_DECREF(whole);
    int outside = PyErr_Occurred() != NULL;
    if (outside && !PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    if (!outside && least <= *out && *out <= most) return 0;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s: expected a whole number from %llu to %llu", name, (unsigned long long)least,
                 (unsigned long long)most);
    return -1;
}

static int wrong(const char *message) {
    PyErr_SetString(PyExc_ValueError, message);
    return -1;
}

static int check_entries(const Py_buffer *v, int i, u64 expected) {
    u64 entries = (u64)(v->len / v->itemsize);
    if (entries == expected) return 0;
    PyErr_Format(PyExc_ValueError, "%s: expected %llu entries, found %llu", ARRAY[i].name,
                 (unsigned long long)expected, (unsigned long long)entries);
    return -1;
}

static int check_sizes(const Py_buffer *v, u64 n, u64 entries, u64 users, u64 lists) {
    u64 starts = (u64)v[START].len / sizeof(double);
    if (!n) return wrong("forward: expected at least one rank");
    if (!starts || starts > n) return wrong("start: expected at least one rank, and no more than forward has");
    if (check_entries(&v[TURN], TURN, n) || check_entries(&v[OFFSETS], OFFSETS, n + 1) ||
        check_entries(&v[KIND], KIND, entries)) return -1;
    if (!v[UTILITY].shape[1]) return wrong("utility: expected at least one column");
    u64 cells = (u64)v[TOTAL].len / sizeof(double); /* divided, as users * lists may be more than a u64 holds */
    if (lists ? cells % lists || cells / lists != users : cells) return wrong("total: expected users * lists entries");
    return check_entries(&v[STEPS], STEPS, users);
}

/* Checks while it copies: what bounds the walk's reads and writes is then out of reach of whoever else holds the arrays
 * (another thread, or `steps`, if it shares memory with one). */
static int fill(Walk *w, Gain *gain, const Py_buffer *v, u64 entries, u64 lists) {
    const double *forward = v[FORWARD].buf, *turn = v[TURN].buf;
    const i64 *offset = v[OFFSETS].buf;
    const i32 *which = v[WHICH].buf, *kind = v[KIND].buf;
    for (u64 i = 0; i < w->starts; i++)
        if (!(w->start[i] >= (i ? w->start[i - 1] : 0.0))) return wrong("start: expected probabilities that never fall");
    for (u64 i = 0; i < w->n; i++) {
        double ahead = forward[i], either = turn[i];
        if (!(ahead >= 0.0 && either >= ahead)) return wrong("turn: expected 0 <= forward <= turn at each rank");
        w->rank[i].forward = draws_below(ahead);
        w->rank[i].turn = draws_below(either);
    }
    w->rank[w->n] = w->rank[w->n + 1] = w->rank[w->n - 1];
    for (u64 i = 0; i <= w->n; i++) {
        i64 from = offset[i];
        if ((i ? from < (i64)w->rank[i - 1].first : from != 0) || (i == w->n && (u64)from != entries))
            return wrong("offsets: expected to rise from 0 to the number of gains");
        w->rank[i].first = (u64)from;
    }
    w->rank[w->n + 1].first = entries;
    for (u64 g = 0; g < entries; g++) {
        gain[g] = (Gain){(u32)which[g], (u32)kind[g]};
        if (gain[g].list >= lists) return wrong("which: expected numbers from 0 to lists - 1");
        if (gain[g].kind >= (u64)v[UTILITY].shape[0]) return wrong("kind: expected rows of utility");
    }
    w->gain = gain;
    return 0;
}

static PyObject *walk_arrays(u64 seed, u64 first, u64 users, u64 endless, u64 lists, u64 limit, const Py_buffer *v) {
    u64 n = (u64)v[FORWARD].len / sizeof(double), entries = (u64)v[WHICH].len / sizeof(i32), cut = 0;
    if (check_sizes(v, n, entries, users, lists)) return NULL;
    Walk w = {.n = n, .end = endless ? NEVER : n, .utility = v[UTILITY].buf, .depth = (u64)v[UTILITY].shape[1],
              .start = v[START].buf, .starts = (u64)v[START].len / sizeof(double), .limit = limit};
    if (w.depth > UINT64_MAX / (users + 2)) return PyErr_NoMemory(); /* no space for the marks */
    w.rank = PyMem_Calloc((size_t)n + 2, sizeof *w.rank);
    Gain *gain = PyMem_Calloc((size_t)entries, sizeof *gain);
    int failed = !w.rank || !gain;
    if (failed) PyErr_NoMemory();
    else if (!(failed = fill(&w, gain, v, entries, lists))) {
        Py_BEGIN_ALLOW_THREADS
        cut = follow_all(&w, seed, first, users, lists, v[TOTAL].buf, v[STEPS].buf);
        Py_END_ALLOW_THREADS
    }
    PyMem_Free(gain);
    PyMem_Free(w.rank);
    return failed ? NULL : PyLong_FromUnsignedLongLong(cut);
}

static PyObject *py_walk(PyObject *self, PyObject *args) {
    PyObject *seed, *first, *users, *endless, *lists, *limit, *array[ARRAYS], *out = NULL;
    u64 s, f, u, e, l, m;
    Py_buffer v[ARRAYS];
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOOOOOOO:walk", &seed, &first, &users, &array[START], &array[FORWARD],
                          &array[TURN], &endless, &array[OFFSETS], &array[WHICH], &array[KIND], &array[UTILITY],
                          &lists, &limit, &array[TOTAL], &array[STEPS])) return NULL;
    if (get_whole(seed, "seed", 0, UINT64_MAX, &s) || get_whole(first, "first", 0, INT64_MAX, &f) ||
        get_whole(users, "users", 0, INT64_MAX - f, &u) || get_whole(endless, "endless", 0, 1, &e) ||
        get_whole(lists, "lists", 0, INT32_MAX, &l) || get_whole(limit, "limit", 1, INT64_MAX, &m)) return NULL;
    memset(v, 0, sizeof v);
    int got = 0;
    while (got < ARRAYS && !get_array(array[got], got, &v[got])) got++;
    if (got == ARRAYS) out = walk_arrays(s, f, u, e, l, m, v);
    for (int i = 0; i < ARRAYS; i++) PyBuffer_Release(&v[i]); /* of one never had: nothing happens */
    return out;
}

/* ---- all users at once: the joint distribution of gains and visits ---- */

enum { JOINT_ARRAYS = 5 };
static const int JOINT[JOINT_ARRAYS] = {START, FORWARD, BACK, STOP, UNITS};

#define BLOCK 128 /* numpy's pairwise sums: eight running sums in a block, halves of what is longer */

static double sum_of(const double *x, u64 n) {
    if (n < 8) {
        double sum = 0.0;
        for (u64 i = 0; i < n; i++) sum += x[i];
        return sum;
    }
    if (n > BLOCK) {
        u64 half = n / 2 - n / 2 % 8;
        return sum_of(x, half) + sum_of(x + half, n - half);
    }
    double part[8];
    u64 i = 8;
    memcpy(part, x, sizeof part);
    for (; i < n - n % 8; i += 8)
        for (int j = 0; j < 8; j++) part[j] += x[i + j];
    double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; i < n; i++) sum += x[i];
    return sum;
}

/* the number of rows, or of ranks, up to the last that matters */
static u64 extent_of(const double *mass, u64 n, double crumb) {
    double below = 0.0;
    for (; n > 1; n--)
        if ((below += mass[n - 1]) > crumb) return n;
    return 1;
}

typedef struct {
    const double *forward, *back, *stop;
    i64 *units;
    u64 n;                     /* ranks */
    double negligible, crumb;
    double *now, *next, *ends; /* by gain and rank: who is here, who at the next visit, who stops after this one */
    double *sums;              /* by gain, or by rank */
    i64 *gain;                 /* what is found, with visits and shares of users */
    double *visits, *share;
    u64 cells, rows, found, room; /* the room for each */
    double left;               /* who still walked, if that is no share of users */
} Joint;

enum { DONE, OVER_BUDGET, NO_SHARE, NO_MEMORY };

static void *grown(void *array, u64 entries, int *how) {
    void *more = entries > (u64)PTRDIFF_MAX / 8 ? NULL : realloc(array, (size_t)entries * 8);
    if (!more) *how = NO_MEMORY;
    return more ? more : array;
}

static int make_room(Joint *w, u64 cells, u64 rows, u64 found) {
    int how = DONE;
    if (cells > w->cells) {
        w->cells = cells + cells / 2;
        w->now = grown(w->now, w->cells, &how);
        w->next = grown(w->next, w->cells, &how);
        w->ends = grown(w->ends, w->cells, &how);
    }
    if (rows > w->rows) w->sums = grown(w->sums, w->rows = rows + rows / 2, &how);
    if (found > w->room) {
        w->room = found + found / 2;
        w->gain = grown(w->gain, w->room, &how);
        w->visits = grown(w->visits, w->room, &how);
        w->share = grown(w->share, w->room, &how);
    }
    return how;
}

/* Who stops after this visit, and who is where at the next one. Products are statements of their own, so that no
 * compiler fuses one with the sum. */
static void move(Joint *w, u64 rows, u64 m, u64 wide, u64 top) {
    const double *here = w->now, *p = w->forward, *q = w->back, *s = w->stop;
    double *ends = w->ends, *to = w->next;
    memset(to, 0, (size_t)((rows + top) * wide) * sizeof *to);
    for (u64 r = 0; r < rows; r++, here += m, ends += m, to += wide) {
        for (u64 j = 0; j < m; j++) ends[j] = here[j] * s[j];
        for (u64 j = 0; j < wide; j++) {
            double ahead = 0.0, behind = 0.0;
            if (j) ahead = here[j - 1] * p[j - 1];
            if (j + 1 < m) behind = here[j + 1] * q[j + 1];
            to[(u64)w->units[j] * wide + j] = ahead + behind;
        }
    }
}

/* The rows and ranks of the next visit that matter, moved together: the present visit from then on. */
static void go_on(Joint *w, u64 *rows, u64 *m, u64 wide) {
    const u64 all = *rows;
    for (u64 r = 0; r < all; r++) w->sums[r] = sum_of(w->next + r * wide, wide);
    *rows = extent_of(w->sums, all, w->crumb);
    if (wide == 1) w->sums[0] = sum_of(w->next, all);
    else {
        memset(w->sums, 0, (size_t)wide * sizeof *w->sums);
        for (u64 r = 0; r < all; r++)
            for (u64 j = 0; j < wide; j++) w->sums[j] += w->next[r * wide + j];
    }
    *m = extent_of(w->sums, wide, w->crumb);
    if (*m == wide) {
        double *was = w->now;
        w->now = w->next;
        w->next = was;
    } else
        for (u64 r = 0; r < *rows; r++) memcpy(w->now + r * *m, w->next + r * wide, (size_t)*m * sizeof *w->now);
}

static int follow_joint(Joint *w, const double *start, u64 budget, u64 largest, u64 work) {
    u64 m = w->n, rows = 1, top = 0;
    while (m > 1 && start[m - 1] == 0.0) m--;
    for (u64 j = 0; j < m; j++) rows = (u64)w->units[j] >= rows ? (u64)w->units[j] + 1 : rows;
    if (rows * m > (budget < largest ? budget : largest)) return OVER_BUDGET;
    budget -= rows * m;
    if (make_room(w, rows * m, rows, rows)) return NO_MEMORY;
    memset(w->now, 0, (size_t)(rows * m) * sizeof *w->now);
    for (u64 j = 0; j < m; j++) w->now[(u64)w->units[j] * m + j] = start[j];
    for (u64 h = 1;; h++) {
        u64 spent = 2 * rows * m + work, wide = m < w->n ? m + 1 : m;
        if (spent > (budget < largest ? budget : largest)) return OVER_BUDGET;
        budget -= spent;
        for (u64 j = top = 0; j < wide; j++) top = (u64)w->units[j] > top ? (u64)w->units[j] : top;
        if ((rows + top) * wide > largest) return OVER_BUDGET;
        if (make_room(w, (rows + top) * wide, rows + top + wide, w->found + rows)) return NO_MEMORY;
        move(w, rows, m, wide, top);
        double left = sum_of(w->next, (rows + top) * wide);
        if (!(left >= 0.0 && left <= 1.0 + 1e-6)) {
            w->left = left;
            return NO_SHARE;
        }
        if (left < w->negligible) {
            double ended = sum_of(w->ends, rows * m), share = left / (ended != 0.0 ? ended : 1.0), times = 1.0 + share;
            for (u64 k = 0; k < rows * m; k++) w->ends[k] *= times;
        }
        for (u64 r = 0; r < rows; r++) {
            double ended = sum_of(w->ends + r * m, m);
            if (!(ended > 0.0)) continue;
            w->gain[w->found] = (i64)r;
            w->visits[w->found] = (double)h;
            w->share[w->found++] = ended;
        }
        if (left < w->negligible) return DONE;
        rows += top;
        go_on(w, &rows, &m, wide);
    }
}

static PyObject *joint_of(Joint *w, const Py_buffer *v, u64 budget, u64 largest, u64 work) {
    int how = NO_MEMORY, started = 0;
    w->n = (u64)v[0].len / sizeof(double);
    const double *start = v[0].buf;
    if (!w->n) return wrong("start: expected at least one rank"), NULL;
    for (int i = 1; i < JOINT_ARRAYS; i++)
        if (check_entries(&v[i], JOINT[i], w->n)) return NULL;
    for (u64 j = 0; j < w->n; j++) started |= start[j] != 0.0;
    if (!started) return wrong("start: expected a rank to start at"), NULL;
    w->units = malloc((size_t)w->n * sizeof *w->units); /* a copy: out of reach of whoever else holds the array */
    if (w->units) {
        memcpy(w->units, v[4].buf, (size_t)w->n * sizeof *w->units);
        for (u64 j = 0; j < w->n; j++)
            if (w->units[j] < 0 || (u64)w->units[j] > largest)
                return wrong("units: expected whole numbers from 0 to what is largest"), NULL;
        w->forward = v[1].buf, w->back = v[2].buf, w->stop = v[3].buf;
        Py_BEGIN_ALLOW_THREADS
        how = follow_joint(w, start, budget, largest, work);
        Py_END_ALLOW_THREADS
    }
    if (how == NO_MEMORY) return PyErr_NoMemory();
    if (how == OVER_BUDGET) Py_RETURN_NONE;
    if (how == NO_SHARE) {
        PyObject *share = PyFloat_FromDouble(w->left);
        if (share) PyErr_Format(PyExc_RuntimeError,
                                "internal error: a share %R of the users still walks, expected 0 to 1", share);
        Py_XDECREF(share);
        return NULL;
    }
    Py_ssize_t size = (Py_ssize_t)(w->found * 8);
    return Py_BuildValue("(y#y#y#)", (const char *)w->gain, size, (const char *)w->visits, size,
                         (const char *)w->share, size);
}

static PyObject *py_joint(PyObject *self, PyObject *args) {
    PyObject *array[JOINT_ARRAYS], *budget, *largest, *work, *out = NULL;
    u64 b, l, each;
    Joint w;
    Py_buffer v[JOINT_ARRAYS];
    (void)self;
    memset(&w, 0, sizeof w);
    memset(v, 0, sizeof v);
    if (!PyArg_ParseTuple(args, "OOOOOOOOdd:joint", &array[0], &array[1], &array[2], &array[3], &array[4], &budget,
                          &largest, &work, &w.negligible, &w.crumb)) return NULL;
    if (get_whole(budget, "budget", 0, INT64_MAX, &b) || get_whole(largest, "largest", 0, INT32_MAX, &l) ||
        get_whole(work, "work", 1, INT32_MAX, &each)) return NULL;
    int got = 0;
    while (got < JOINT_ARRAYS && !get_array(array[got], JOINT[got], &v[got])) got++;
    if (got == JOINT_ARRAYS) out = joint_of(&w, v, b, l, each);
    for (int i = 0; i < JOINT_ARRAYS; i++) PyBuffer_Release(&v[i]);
    void *made[] = {w.now, w.next, w.ends, w.sums, w.gain, w.visits, w.share, w.units};
    for (u64 i = 0; i < sizeof made / sizeof *made; i++) free(made[i]);
    return out;
}

static PyMethodDef METHODS[] = {
    {"walk", py_walk, METH_VARARGS,
     "walk(seed, first, users, start, forward, turn, endless, offsets, which, kind, utility, lists, limit, total, "
     "steps) -> users cut at the limit"},
    {"joint", py_joint, METH_VARARGS,
     "joint(start, forward, back, stop, units, budget, largest, work, negligible, crumb) -> gains, visits, shares"},
    {NULL, NULL, 0, NULL}};

static PyModuleDef_Slot SLOTS[] = {{0, NULL}};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "amble.native._walker", "Simulated walks; see plain_walker.",
                                    0, METHODS, SLOTS, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__walker(void) { return PyModuleDef_Init(&MODULE); }
