/* Sources: where the bytes come from (a regular file's descriptor, read without the GIL, or any object with
 * readinto), and the window through which they are seen: whole lines, each ended by LF, PAD bytes behind the last. */
#ifndef AMBLE_SOURCE_H
#define AMBLE_SOURCE_H

#include <errno.h>
#ifdef _WIN32
#include <io.h>
#define read_fd(fd, p, n) _read((fd), (p), (unsigned)((n) > (1u << 30) ? (1u << 30) : (n)))
#else
#include <unistd.h>
#define read_fd(fd, p, n) read((fd), (p), (n))
#endif
#include "bytes.h"

#ifndef WINDOW /* the fuzzer makes it small */
#define WINDOW ((size_t)1 << 17) /* much of it is still in the cache when it is looked at */
#endif

typedef struct {
    int fd;               /* -1: ask the reader */
    PyObject *reader;     /* has readinto(buffer) -> int */
    PyThreadState *state; /* the released GIL's */
    u64 left;             /* bytes that may still be read */
    size_t longest;       /* line that is allowed, in bytes */
    int ended;
    unsigned reads;
} Source;

/* Loops look for signals (Ctrl-C) now and then: every so many reads, lines, topics. */
#define LOOK_EVERY_READS 16
#define LOOK_EVERY 65536
#define LOOK_EVERY_TOPICS 1024

/* whether a signal's handler raised; *state is the released GIL's, NULL where it is held */
static int interrupted(PyThreadState **state, Err *e) {
    if (*state) PyEval_RestoreThread(*state);
    if (PyErr_CheckSignals()) e->kind = PYTHON;
    if (*state) *state = PyEval_SaveThread();
    return e->kind;
}

static i64 ask_reader(Source *s, u8 *to, size_t space, Err *e) {
    i64 got = -1;
    PyEval_RestoreThread(s->state);
    PyObject *view = PyMemoryView_FromMemory((char *)to, (Py_ssize_t)space, PyBUF_WRITE);
    PyObject *n = view ? PyObject_CallMethod(s->reader, "readinto", "O", view) : NULL;
    if (n) got = PyLong_AsLongLong(n);
    if (got > (i64)space || (n && got < 0 && !PyErr_Occurred())) {
        PyErr_SetString(PyExc_OSError, "readinto() returned a length that is not one");
        got = -1;
    }
    Py_XDECREF(n);
    if (view) { /* nothing may write through it later */
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyObject *done = PyObject_CallMethod(view, "release", NULL);
        if (!done) PyErr_Clear();
        Py_XDECREF(done);
        PyErr_Restore(type, value, trace);
        Py_DECREF(view);
    }
    s->state = PyEval_SaveThread();
    if (got < 0) e->kind = PYTHON;
    return got;
}

/* up to `space` bytes; 0 at the end; negative on failure */
static i64 source_read(Source *s, u8 *to, size_t space, Err *e) {
    if (space > s->left) space = (size_t)s->left;
    if (!space) return 0;
    i64 got;
    if (!(++s->reads % LOOK_EVERY_READS) && interrupted(&s->state, e)) return -1;
    if (s->fd < 0) got = ask_reader(s, to, space, e);
    else {
        while ((got = (i64)read_fd(s->fd, to, space)) < 0 && errno == EINTR)
            if (interrupted(&s->state, e)) return -1;
        if (got < 0) { e->system_error = errno; e->kind = SYSTEM; }
    }
    if (got > 0) s->left -= (u64)got;
    return got;
}

/* buf[0, len) is known; whole lines are [.., lim); read on from there */
typedef struct { u8 *buf; size_t cap, len; u8 *lim; int started; } Window;

/* Forget the bytes before `keep` (move the rest to the front) and read until there is a further whole line, or the
 * end, or more of a line than is allowed (that is then the last: it will be refused). */
static int window_fill(Window *w, Source *s, size_t keep, Err *e) {
    size_t live = w->len - keep, scanned = live, whole = w->lim ? (size_t)(w->lim - w->buf) - keep : 0;
    if (keep && live) memmove(w->buf, w->buf + keep, live);
    w->len = live;
    for (;;) {
        if (!w->buf || w->cap - w->len < WINDOW / 2) {
            size_t cap = w->cap ? w->cap * 2 : WINDOW;
            u8 *buf = cap > (size_t)PTRDIFF_MAX - PAD ? NULL : mem_grow(w->buf, cap + PAD, 1);
            if (!buf) return fail_memory(e);
            w->buf = buf;
            w->cap = cap;
        }
        i64 got = s->ended ? 0 : source_read(s, w->buf + w->len, w->cap - w->len, e);
        if (got < 0) return e->kind;
        w->len += (size_t)got;
        if (!w->started && got && w->len < 3) continue; /* too little to tell a byte order mark */
        if (!w->started) {
            w->started = 1;
            if (w->len >= 3 && !memcmp(w->buf, "\xef\xbb\xbf", 3)) {
                memmove(w->buf, w->buf + 3, w->len - 3);
                w->len -= 3;
                scanned = 0;
            }
        }
        u8 *z = w->buf + w->len;
        while (z > w->buf + scanned && z[-1] != '\n') z--;
        if (got && z > w->buf + scanned) { w->lim = z; break; }
        if (!got || w->len - whole > s->longest) { /* close the last line */
            s->ended = 1;
            w->lim = w->buf + w->len;
            break;
        }
        scanned = w->len;
    }
    w->buf[w->len] = '\n';
    memset(w->buf + w->len + 1, 0, PAD - 1);
    return FINE;
}

static u64 count_lines(const u8 *p, const u8 *end) {
    u64 n = 0;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) { n++; p++; }
    return n;
}

#endif
