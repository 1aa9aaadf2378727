/* amble.native._reader: the hot path from files, dictionaries and columns to ranked judgments.
 *
 * Tokenise, hash (bytes verified), check duplicates, join with the judgments, rank: one pass, the GIL released, no
 * Python object per line. amble.native.plain_reader is its plain twin: the same functions, results and messages; tests and
 * the fuzzer hold the two together. Limited API (abi3): one build serves every CPython from 3.11 on.
 *
 * Origins. A source is a descriptor of a regular file (int) or an object with readinto; a table is a dictionary
 * {topic: {doc: number}} or a tuple of three lists (topics, docs, numbers); of judgments of subtopics, of four
 * (topics, subtopics, docs, grades).
 */
#define PY_SSIZE_T_CLEAN
#if !defined(Py_LIMITED_API) && !defined(AMBLE_FULL_API)
#define Py_LIMITED_API 0x030B0000
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif
#include <Python.h>

#include "run.h"

#define CAPSULE "amble.judgments"

/* ---- errors ---- */

static PyObject *read_error(void) {
    PyObject *module = PyImport_ImportModule("amble.errors");
    PyObject *type = module ? PyObject_GetAttrString(module, "ReadError") : NULL;
    Py_XDECREF(module);
    return type;
}

static PyObject *raise_err(const Err *e, PyObject *name) {
    if (e->kind == NO_MEMORY) return PyErr_NoMemory();
    if (e->kind == PYTHON) return NULL;
    if (e->kind == SYSTEM) {
        errno = e->system_error;
        return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, name);
    }
    PyObject *type = read_error();
    PyObject *text = type ? PyUnicode_DecodeUTF8(e->text, (Py_ssize_t)strlen(e->text), "backslashreplace") : NULL;
    if (text) {
        if (e->line) PyErr_Format(type, "%U:%llu: %U", name, (unsigned long long)e->line, text);
        else if (e->row >= 0) PyErr_Format(type, "%U: row %lld: %U", name, (long long)e->row, text);
        else PyErr_Format(type, "%U: %U", name, text);
    }
    Py_XDECREF(type);
    Py_XDECREF(text);
    return NULL;
}

/* where in a table a value stands: in a row, or at a topic and a document */
typedef struct { PyObject *name, *topic, *doc; Py_ssize_t row; } Place;

static int wrong_value(const Place *at, Err *e, const char *format, PyObject *value, const char *expected) {
    PyObject *type = read_error(), *where = NULL, *what = NULL, *kind = NULL;
    e->kind = PYTHON;
    if (!type) return PYTHON;
    if (at->row >= 0) where = PyUnicode_FromFormat("%U: row %zd: ", at->name, at->row);
    else if (at->doc) where = PyUnicode_FromFormat("%U: topic %R, document %R: ", at->name, at->topic, at->doc);
    else if (at->topic) where = PyUnicode_FromFormat("%U: topic %R: ", at->name, at->topic);
    else where = PyUnicode_FromFormat("%U: ", at->name);
    if (where) kind = PyType_GetName(Py_TYPE(value));
    if (kind) what = PyUnicode_FromFormat(format, expected, value, kind);
    if (what) PyErr_Format(type, "%U%U", where, what);
    Py_XDECREF(kind);
    Py_XDECREF(where);
    Py_XDECREF(what);
    Py_DECREF(type);
    return PYTHON;
}

/* ---- values of a table ---- */

/* the UTF-8 bytes of a string, or of a whole number as it is written; what is not the object's own (escaped bytes,
 * digits) is kept in the arena */
static int name_of(PyObject *x, const char *what, const Place *at, Arena *arena, Name *out, Err *e) {
    Py_ssize_t n;
    const char *p = PyUnicode_Check(x) ? PyUnicode_AsUTF8AndSize(x, &n) : NULL;
    if (!p) {
        PyErr_Clear();
        PyObject *bytes = NULL;
        if (PyUnicode_Check(x)) {
            bytes = PyUnicode_AsEncodedString(x, "utf-8", "surrogateescape");
        } else if (PyIndex_Check(x) && !PyBool_Check(x)) {
            PyObject *whole = PyNumber_Index(x), *digits = whole ? PyObject_Str(whole) : NULL;
            bytes = digits ? PyUnicode_AsUTF8String(digits) : NULL;
            Py_XDECREF(whole);
            Py_XDECREF(digits);
        }
        if (!bytes) {
            if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) &&
                !PyErr_ExceptionMatches(PyExc_TypeError)) return e->kind = PYTHON;
            PyErr_Clear();
            if (PyUnicode_Check(x)) return wrong_value(at, e, "%s %.100R holds half a surrogate pair, expected text", x, what);
            return wrong_value(at, e, "%s %.100R is of type %U, expected a string or a whole number", x, what);
        }
        n = PyBytes_Size(bytes);
        p = (const char *)arena_keep(arena, (const u8 *)PyBytes_AsString(bytes), (size_t)n);
        Py_DECREF(bytes);
        if (!p) return fail_memory(e);
    }
    if (n > INT32_MAX) return wrong_value(at, e, "%s is longer than 2 GiB", Py_None, what);
    hash_bytes((const u8 *)p, (size_t)n, out);
    return FINE;
}

static int number_of(PyObject *x, const char *what, const Place *at, double *out, Err *e) {
    double v = PyFloat_AsDouble(x);
    if (v == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError) &&
            !PyErr_ExceptionMatches(PyExc_OverflowError)) return e->kind = PYTHON;
        PyErr_Clear();
        v = NAN;
    }
    if (isnan(v) || isinf(v)) return wrong_value(at, e, "%s %.100R is not a finite number", x, what);
    *out = v;
    return FINE;
}

/* a copy as a plain dictionary; one of another type (OrderedDict) may have an order of its own */
static PyObject *copy_of_dict(PyObject *dict) {
    if (PyDict_CheckExact(dict)) return PyDict_Copy(dict);
    PyObject *copy = PyDict_New();
    if (copy && PyDict_Update(copy, dict)) { Py_DECREF(copy); return NULL; }
    return copy;
}

/* Tables are copied before they are read (their references only): a number's __float__ or another thread may change
 * them meanwhile. A dictionary becomes a list of pairs (topic, copy of its documents). */
static PyObject *copy_of_table(PyObject *table) {
    if (PyTuple_Check(table)) {
        Py_ssize_t columns = PyTuple_Size(table);
        PyObject *copy = PyTuple_New(columns);
        for (Py_ssize_t i = 0; copy && i < columns; i++) {
            PyObject *column = PyList_GetSlice(PyTuple_GetItem(table, i), 0, PY_SSIZE_T_MAX);
            if (!column) { Py_DECREF(copy); return NULL; }
            PyTuple_SetItem(copy, i, column);
        }
        return copy;
    }
    PyObject *topics = copy_of_dict(table), *pairs = topics ? PyDict_Items(topics) : NULL;
    Py_XDECREF(topics);
    for (Py_ssize_t i = 0; pairs && i < PyList_Size(pairs); i++) {
        PyObject *pair = PyList_GetItem(pairs, i), *docs = PyTuple_GetItem(pair, 1);
        if (!PyDict_Check(docs)) continue;
        PyObject *copy = copy_of_dict(docs);
        pair = copy ? PyTuple_Pack(2, PyTuple_GetItem(pair, 0), copy) : NULL;
        Py_XDECREF(copy);
        if (!pair) { Py_DECREF(pairs); return NULL; }
        PyList_SetItem(pairs, i, pair);
    }
    return pairs;
}

/* Calls `take` for each (topic, doc, number) of a table; with a subtopic, if there is a column of them. */
typedef int (*Take)(void *to, const Name *topic, const Name *subtopic, const Name *doc, double number, const Place *at,
                    Err *e);

static int each_of_pairs(PyObject *pairs, PyObject *name, const char *number, Arena *arena, Take take, void *to, Err *e) {
    PyObject *doc, *value;
    Name t, d;
    double x;
    size_t rows = 0;
    for (Py_ssize_t i = 0; i < PyList_Size(pairs); i++) {
        PyObject *pair = PyList_GetItem(pairs, i), *topic = PyTuple_GetItem(pair, 0), *docs = PyTuple_GetItem(pair, 1);
        Place at = {name, NULL, NULL, -1};
        if (name_of(topic, "topic", &at, arena, &t, e)) return e->kind;
        at.topic = topic;
        if (!PyDict_Check(docs)) return wrong_value(&at, e, "%s %.100R is of type %U, expected a dictionary", docs, "value");
        Py_ssize_t k = 0;
        while (PyDict_Next(docs, &k, &doc, &value)) {
            if (!(++rows % LOOK_EVERY) && PyErr_CheckSignals()) return e->kind = PYTHON;
            at.doc = NULL;
            if (name_of(doc, "document", &at, arena, &d, e)) return e->kind;
            at.doc = doc;
            int rc = number_of(value, number, &at, &x, e);
            if (rc || (rc = take(to, &t, NULL, &d, x, &at, e))) return rc;
        }
    }
    return FINE;
}

static int each_of_columns(PyObject *table, PyObject *name, const char *number, Arena *arena, Take take, void *to,
                           Err *e) {
    Py_ssize_t more = PyTuple_Size(table) - 3;
    PyObject *topics = PyTuple_GetItem(table, 0), *subtopics = PyTuple_GetItem(table, more);
    PyObject *docs = PyTuple_GetItem(table, 1 + more), *values = PyTuple_GetItem(table, 2 + more);
    Name t = {0}, s, d;
    PyObject *last = NULL; /* most rows repeat the topic of the row above */
    double x;
    for (Py_ssize_t i = 0; i < PyList_Size(topics) && i < PyList_Size(subtopics) && i < PyList_Size(docs) &&
                           i < PyList_Size(values); i++) {
        Place at = {name, NULL, NULL, i};
        if (!((i + 1) % LOOK_EVERY) && PyErr_CheckSignals()) return e->kind = PYTHON;
        PyObject *topic = PyList_GetItem(topics, i), *doc = PyList_GetItem(docs, i), *value = PyList_GetItem(values, i);
        if (topic != last && name_of(topic, "topic", &at, arena, &t, e)) return e->kind;
        last = topic;
        if (more && name_of(PyList_GetItem(subtopics, i), "subtopic", &at, arena, &s, e)) return e->kind;
        if (name_of(doc, "document", &at, arena, &d, e)) return e->kind;
        int rc = number_of(value, number, &at, &x, e);
        if (rc || (rc = take(to, &t, more ? &s : NULL, &d, x, &at, e))) return rc;
    }
    return FINE;
}

/* *held keeps the names' bytes alive: the caller gives it back when it is done with them */
static int each_of_table(PyObject *table, PyObject **held, PyObject *name, const char *number, Arena *arena, Take take,
                         void *to, Err *e) {
    *held = copy_of_table(table);
    if (!*held) return e->kind = PYTHON;
    return PyList_Check(*held) ? each_of_pairs(*held, name, number, arena, take, to, e)
                               : each_of_columns(*held, name, number, arena, take, to, e);
}

/* ---- plain dictionaries ----
 * {str: {str: float or int}}, all of exactly these types (a float may be of a subclass, as numpy's): no two keys have the
 * same bytes, and no Python code runs while the documents of a topic are read. So they are read where they stand, topic by
 * topic, without a copy and without a search for duplicates. Anything else is NOT_PLAIN, and read from the start again. */
enum { NOT_PLAIN = 2 };

INLINE int plain_name(PyObject *x, Name *out) {
    Py_ssize_t n;
    const char *p = PyUnicode_CheckExact(x) ? PyUnicode_AsUTF8AndSize(x, &n) : NULL;
    if (!p || n > INT32_MAX) { PyErr_Clear(); return NOT_PLAIN; }
    hash_bytes((const u8 *)p, (size_t)n, out);
    return FINE;
}

INLINE int plain_number(PyObject *x, double *out) {
    if (PyFloat_Check(x)) *out = PyFloat_AsDouble(x);
    else if (!PyLong_CheckExact(x)) return NOT_PLAIN;
    else if ((*out = PyLong_AsDouble(x)) == -1.0 && PyErr_Occurred()) { PyErr_Clear(); return NOT_PLAIN; }
    return isnan(*out) || isinf(*out) ? NOT_PLAIN : FINE;
}

/* Calls `take` for each topic of a copy of the table: `docs` is a plain dictionary. */
typedef int (*TakeTopic)(void *to, PyObject *topic, const Name *name, PyObject *docs, Err *e);

static int each_of_plain(PyObject *table, TakeTopic take, void *to, Err *e) {
    PyObject *topics = PyDict_CheckExact(table) ? PyDict_Copy(table) : NULL, *topic, *docs;
    Py_ssize_t i = 0;
    size_t rows = 0;
    int rc = topics ? FINE : NOT_PLAIN;
    while (!rc && PyDict_Next(topics, &i, &topic, &docs)) {
        Name name;
        if (!PyDict_CheckExact(docs) || plain_name(topic, &name)) { rc = NOT_PLAIN; break; }
        if (!PyDict_Size(docs)) continue;
        rows += (size_t)PyDict_Size(docs);
        if (!(rc = take(to, topic, &name, docs, e)) && rows >= LOOK_EVERY) { /* between topics: signals run Python code */
            rows = 0;
            if (PyErr_CheckSignals()) rc = e->kind = PYTHON;
        }
    }
    if (!topics) PyErr_Clear();
    Py_XDECREF(topics);
    return rc;
}

static int is_table(PyObject *x, Py_ssize_t columns) {
    if (PyDict_Check(x)) return columns == 3;
    if (!PyTuple_Check(x) || PyTuple_Size(x) != columns) return 0;
    for (Py_ssize_t i = 0; i < columns; i++)
        if (!PyList_Check(PyTuple_GetItem(x, i))) return 0;
    return 1;
}

static int source_of(PyObject *x, long long longest, Source *s) {
    memset(s, 0, sizeof *s);
    if (longest < 1 || longest > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "the longest line: expected 1 to 2147483647 bytes");
        return -1;
    }
    s->longest = (size_t)longest;
    s->left = UINT64_MAX;
    s->fd = -1;
    s->reader = x;
    if (PyLong_Check(x)) {
        long fd = PyLong_AsLong(x);
        if (fd == -1 && PyErr_Occurred()) return -1;
        if (fd < 0 || fd > INT32_MAX) {
            PyErr_SetString(PyExc_ValueError, "a negative or very large file descriptor");
            return -1;
        }
        s->fd = (int)fd;
    }
    return 0;
}

/* ---- judgments ---- */

static int take_judgment(void *to, const Name *topic, const Name *subtopic, const Name *doc, double grade,
                         const Place *at, Err *e) {
    int rc = judge(to, topic, subtopic, doc, grade, e);
    if (at->row >= 0) e->row = at->row;
    if (rc == 1 && at->row < 0) /* two keys of a dictionary that are the same bytes */
        return wrong_value(at, e, "%s twice", at->doc, "judged");
    return rc; /* 1: the caller finds the first row */
}

/* the names of a row of judgments: topic, subtopic (of a table without them, the topic again), document */
static int names_of_row(PyObject *table, i64 row, Arena *arena, Name name[3], Err *e) {
    Place at = {Py_None, NULL, NULL, -1};
    Py_ssize_t more = PyTuple_Size(table) - 3, column[3] = {0, more, 1 + more};
    for (int i = 0; i < 3; i++)
        if (name_of(PyList_GetItem(PyTuple_GetItem(table, column[i]), (Py_ssize_t)row), "", &at, arena, &name[i], e))
            return e->kind;
    return FINE;
}

static int judged_twice_in_columns(PyObject *table, i64 second, Err *e) {
    Arena arena = {0};
    Name now[3], was[3];
    const Name *none = PyTuple_Size(table) > 3 ? NULL : now;
    if (!names_of_row(table, second, &arena, now, e))
        for (i64 first = 0; first <= second; first++) {
            if (names_of_row(table, first, &arena, was, e)) break;
            if (!same_name(&was[0], &now[0]) || !same_name(&was[1], &now[1]) || !same_name(&was[2], &now[2])) continue;
            refuse_judged_twice(&now[0], &now[2], none, now + (none ? 0 : 1), "in row", (u64)first, e);
            break;
        }
    arena_free(&arena);
    return e->kind;
}

static int judge_plain_topic(void *to, PyObject *topic, const Name *name, PyObject *docs, Err *e) {
    Judgments *j = to;
    size_t n = (size_t)PyDict_Size(docs);
    Py_ssize_t i = 0;
    PyObject *doc, *value;
    (void)topic;
    if (n > INT32_MAX - j->rows) return NOT_PLAIN;
    Topic *t = add_judged_topic(j, name, e);
    if (!t) return e->kind;
    size_t least = 4;
    while (least <= 4 * n) least *= 2;
    if (make_slot(&t->slot, &t->mask, least, 0, t->doc, sizeof *t->doc, e)) return e->kind;
    t->doc = mem_grow(NULL, n, sizeof *t->doc); /* no more than are there: topics may be many and small */
    t->grade = mem_grow(NULL, n, sizeof *t->grade);
    if (!t->doc || !t->grade) return fail_memory(e);
    while (PyDict_Next(docs, &i, &doc, &value)) {
        Name d;
        double grade;
        if (plain_name(doc, &d) || plain_number(value, &grade)) return NOT_PLAIN;
        if (put_document(j, t, &d, grade, e)) return e->kind;
    }
    return FINE;
}

static void free_capsule(PyObject *capsule) { judgments_free(PyCapsule_GetPointer(capsule, CAPSULE)); }

static PyObject *py_judge(PyObject *self, PyObject *args) {
    PyObject *origin, *name, *held = NULL;
    long long longest = INT32_MAX;
    int subtopics = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OU|Lp", &origin, &name, &longest, &subtopics)) return NULL;
    Judgments *j = mem_grow(NULL, 1, sizeof *j);
    if (!j) return PyErr_NoMemory();
    memset(j, 0, sizeof *j);
    Err e = {0};
    e.row = -1;
    int rc = subtopics ? NOT_PLAIN : each_of_plain(origin, judge_plain_topic, j, &e);
    if (rc == NOT_PLAIN) judgments_clear(j);
    if (rc != NOT_PLAIN) {
    } else if (is_table(origin, subtopics ? 4 : 3)) {
        rc = each_of_table(origin, &held, name, "grade", &j->arena, take_judgment, j, &e);
        if (rc == 1) rc = judged_twice_in_columns(held, e.row, &e);
        Py_XDECREF(held);
    } else {
        Source s;
        if (source_of(origin, longest, &s)) { judgments_free(j); return NULL; }
        s.state = PyEval_SaveThread();
        rc = judgments_read(j, &s, subtopics, &e);
        PyEval_RestoreThread(s.state);
    }
    if (rc) {
        judgments_free(j);
        return raise_err(&e, name);
    }
    number_rows(j);
    PyObject *capsule = PyCapsule_New(j, CAPSULE, free_capsule);
    if (!capsule) judgments_free(j);
    return capsule;
}

static PyObject *text_of(const u8 *p, size_t n) {
    return PyUnicode_DecodeUTF8((const char *)p, (Py_ssize_t)n, "surrogateescape");
}

static PyObject *bytes_of(const void *p, size_t n, size_t size) {
    return PyBytes_FromStringAndSize(n ? (const char *)p : "", (Py_ssize_t)(n * size));
}

static PyObject *bytes_for(size_t n, size_t size) { return PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * size)); }

static PyObject *list_of_names(const Names *names) {
    PyObject *list = PyList_New((Py_ssize_t)names->n);
    for (size_t i = 0; list && i < names->n; i++) {
        PyObject *text = text_of(names->name[i].p, names->name[i].n);
        if (!text) { Py_DECREF(list); return NULL; }
        PyList_SetItem(list, (Py_ssize_t)i, text);
    }
    return list;
}

static PyObject *py_describe(PyObject *self, PyObject *capsule) {
    (void)self;
    const Judgments *j = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!j) return NULL;
    size_t nt = j->topics.n;
    PyObject *topics = list_of_names(&j->topics);
    PyObject *offsets = topics ? bytes_for(nt + 1, sizeof(i64)) : NULL;
    PyObject *grades = offsets ? bytes_for(j->rows, sizeof(double)) : NULL;
    if (!grades) {
        Py_XDECREF(topics);
        Py_XDECREF(offsets);
        return NULL;
    }
    char *o = PyBytes_AsString(offsets), *g = PyBytes_AsString(grades);
    for (size_t i = 0; i <= nt; i++) {
        i64 base = (i64)(i < nt ? j->topic[i].base : j->rows);
        memcpy(o + i * sizeof base, &base, sizeof base);
        if (i < nt && j->topic[i].n)
            memcpy(g + j->topic[i].base * sizeof(double), j->topic[i].grade, j->topic[i].n * sizeof(double));
    }
    return Py_BuildValue("NNN", topics, offsets, grades);
}

static PyObject *py_documents(PyObject *self, PyObject *capsule) {
    (void)self;
    const Judgments *j = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!j) return NULL;
    PyObject *list = PyList_New((Py_ssize_t)j->rows);
    Py_ssize_t row = 0;
    for (size_t i = 0; list && i < j->topics.n; i++)
        for (size_t k = 0; k < j->topic[i].n; k++) {
            const Doc *d = &j->topic[i].doc[k];
            PyObject *text = text_of(doc_bytes(d), d->n);
            if (!text) { Py_DECREF(list); return NULL; }
            PyList_SetItem(list, row++, text);
        }
    return list;
}

/* (subtopics, offsets of those of each topic, rows, subtopics and grades of all judgments), topic by topic */
static PyObject *py_subtopics(PyObject *self, PyObject *capsule) {
    (void)self;
    const Judgments *j = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!j) return NULL;
    PyObject *names = PyList_New((Py_ssize_t)j->subtopics), *out[4] = {NULL};
    const size_t size[4] = {j->topics.n + 1, j->aspects, j->aspects, j->aspects};
    char *to[4];
    int fine = names != NULL;
    for (int i = 0; fine && i < 4; i++)
        if ((fine = (out[i] = bytes_for(size[i], sizeof(i64))) != NULL)) to[i] = PyBytes_AsString(out[i]);
    size_t n = 0;
    for (size_t i = 0; fine && i <= j->topics.n; i++) {
        i64 base = (i64)(i < j->topics.n ? j->topic[i].sub.base : j->subtopics);
        memcpy(to[0] + i * sizeof base, &base, sizeof base);
        if (i == j->topics.n) break;
        const Topic *t = &j->topic[i];
        for (size_t k = 0; fine && k < t->sub.names.n; k++) {
            PyObject *text = text_of(t->sub.names.name[k].p, t->sub.names.name[k].n);
            if ((fine = text != NULL)) PyList_SetItem(names, (Py_ssize_t)base + (Py_ssize_t)k, text);
        }
        for (size_t k = 0; k < t->sub.n; k++, n++) {
            const Aspect *a = &t->sub.aspect[k];
            i64 row = (i64)(t->base + a->doc), subtopic = base + (i64)a->subtopic;
            memcpy(to[1] + n * sizeof row, &row, sizeof row);
            memcpy(to[2] + n * sizeof row, &subtopic, sizeof row);
            memcpy(to[3] + n * sizeof row, &a->grade, sizeof row);
        }
    }
    if (fine) return Py_BuildValue("NNNNN", names, out[0], out[1], out[2], out[3]);
    Py_XDECREF(names);
    for (int i = 0; i < 4; i++) Py_XDECREF(out[i]);
    return NULL;
}

/* ---- runs ---- */

/* the topics of a run that have no judgments */
static PyObject *extra_topics(const Run *r, const Judgments *j) {
    PyObject *extra = PyList_New(0);
    for (size_t t = 0; extra && t < r->topics.n; t++) {
        if (names_find(&j->topics, &r->topics.name[t]) >= 0) continue;
        PyObject *text = text_of(r->topics.name[t].p, r->topics.name[t].n);
        if (!text || PyList_Append(extra, text)) { Py_DECREF(extra); extra = NULL; }
        Py_XDECREF(text);
    }
    return extra;
}

/* takes `extra`. (lists, hits, extra topics, tag): int64[n, 6] (topic, length, tied, dropped, end, moved), int32[m, 4] (rank, row,
 * first, size) */
static PyObject *export_ranked(const Run *r, PyObject *extra) {
    if (!extra) return NULL;
    PyObject *tag = text_of(r->tag_n ? r->tag : (const u8 *)"", r->tag_n);
    PyObject *lists = tag ? bytes_of(r->rank.list, r->rank.lists, sizeof(List)) : NULL;
    PyObject *hits = lists ? bytes_of(r->rank.hit, r->rank.hits * HIT_WIDTH(&r->rank), sizeof(i32)) : NULL;
    if (hits) return Py_BuildValue("NNNN", lists, hits, extra, tag);
    Py_XDECREF(tag);
    Py_XDECREF(lists);
    Py_XDECREF(hits);
    Py_DECREF(extra);
    return NULL;
}

/* (topics, offsets, docs, scores, tag, dropped): the documents themselves, in rank order */
static PyObject *export_documents(Run *r, const size_t *group, const char *where, PyObject *name, Err *e) {
    size_t nt = r->topics.n, total = 0, all_dropped = 0;
    Judgments none = {0}; /* first check all topics for duplicates, as with judgments */
    int rc = rank_groups(r, &none, group, where, e);
    if (rc) return raise_err(e, name);
    PyObject *topics = list_of_names(&r->topics), *result = NULL;
    PyObject *docs = topics ? PyList_New(0) : NULL;
    PyObject *scores = docs ? bytes_for(r->n, sizeof(double)) : NULL;
    PyObject *offsets = scores ? bytes_for(nt + 1, sizeof(i64)) : NULL;
    PyObject *tag = offsets ? text_of(r->tag_n ? r->tag : (const u8 *)"", r->tag_n) : NULL;
    if (!tag) goto done;
    char *o = PyBytes_AsString(offsets), *s = PyBytes_AsString(scores);
    for (size_t t = 0; t <= nt; t++) {
        i64 at = (i64)total;
        memcpy(o + t * sizeof at, &at, sizeof at);
        if (t == nt) break;
        size_t kept, tied, dropped, from = group[t], n = group[t + 1] - from;
        const double *given = ranks_given(r) ? r->given + from : NULL;
        if (check_duplicates(&r->rank, r->record + from, n, given, &dropped, e) ||
            order(&r->rank, r->record + from, n, given, &kept, &tied, e)) {
            raise_err(e, name);
            goto done;
        }
        all_dropped += dropped;
        for (size_t i = 0; i < kept; i++, total++) {
            const Record *x = &r->record[from + r->rank.key[i].i];
            PyObject *text = text_of(x->doc, x->n);
            int failed = !text || PyList_Append(docs, text);
            Py_XDECREF(text);
            if (failed) goto done;
            memcpy(s + total * sizeof(double), &x->score, sizeof(double));
        }
    }
    if (total < r->n) { /* only those that were kept */
        PyObject *whole = scores;
        scores = bytes_of(s, total, sizeof(double));
        Py_DECREF(whole);
    }
    if (scores) result = Py_BuildValue("OOOOOn", topics, offsets, docs, scores, tag, (Py_ssize_t)all_dropped);
done:
    Py_XDECREF(docs);
    Py_XDECREF(topics);
    Py_XDECREF(scores);
    Py_XDECREF(offsets);
    Py_XDECREF(tag);
    return result;
}

/* rank_stream(judgments, source, stop, middle, ties, keep_best, name[, longest]): one pass from where the source stands,
 * at most `stop` bytes (-1: to its end); None when a topic's lines do not stand together */
static PyObject *py_rank_stream(PyObject *self, PyObject *args) {
    PyObject *capsule, *origin, *name, *out = NULL;
    long long stop, longest = INT32_MAX;
    int middle;
    Run r;
    Source s;
    Err e = {0};
    (void)self;
    memset(&r, 0, sizeof r);
    e.row = -1;
    if (!PyArg_ParseTuple(args, "OOLpiiU|L", &capsule, &origin, &stop, &middle, &r.rank.ties, &r.rank.keep_best, &name,
                          &longest))
        return NULL;
    ranker_rule(&r.rank);
    const Judgments *j = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!j || source_of(origin, longest, &s)) return NULL;
    if (stop >= 0) s.left = (u64)stop;
    s.state = PyEval_SaveThread();
    int rc = run_stream(&r, j, &s, middle, &e);
    PyEval_RestoreThread(s.state);
    if (rc == SPLIT_TOPIC) { Py_INCREF(Py_None); out = Py_None; }
    else out = rc ? raise_err(&e, name) : export_ranked(&r, extra_topics(&r, j));
    run_free(&r);
    return out;
}

static int take_record(void *to, const Name *topic, const Name *subtopic, const Name *doc, double score,
                       const Place *at, Err *e) {
    RunLine l = {.topic = *topic, .doc = *doc, .score = score};
    (void)at;
    (void)subtopic;
    return add_record(to, &l, e);
}

typedef struct { Run run; const Judgments *judgments; PyObject *extra; } PlainRun;

static int rank_plain_topic(void *to, PyObject *topic, const Name *name, PyObject *docs, Err *e) {
    PlainRun *plain = to;
    Run *r = &plain->run;
    Py_ssize_t i = 0;
    PyObject *doc, *value;
    if (RESERVE(r->record, r->cap, (size_t)PyDict_Size(docs), e)) return e->kind;
    r->n = 0;
    while (PyDict_Next(docs, &i, &doc, &value)) {
        Name d;
        double score;
        if (plain_name(doc, &d) || plain_number(value, &score)) return NOT_PLAIN;
        if (r->rank.single) score = (double)(float)score;
        r->record[r->n++] = (Record){.doc = d.p, .hash = d.hash, .score = score, .n = d.n, .row = UNJUDGED};
    }
    i64 at = names_find(&plain->judgments->topics, name);
    if (at < 0) return PyList_Append(plain->extra, topic) ? (e->kind = PYTHON) : FINE;
    return rank_topic(&r->rank, plain->judgments, at, r->record, r->n, NULL, e);
}

/* what `rank` returns, of a plain dictionary; NULL without an exception if it is none */
static PyObject *rank_plain(const Judgments *j, PyObject *table, const Ranker *rule, PyObject *name) {
    PlainRun plain = {.run = {.rank = *rule}, .judgments = j, .extra = PyList_New(0)};
    PyObject *out = NULL;
    Err e = {0};
    e.row = -1;
    plain.run.rank.distinct = 1;
    int rc = plain.extra ? each_of_plain(table, rank_plain_topic, &plain, &e) : (e.kind = PYTHON);
    if (!rc) out = export_ranked(&plain.run, plain.extra);
    else Py_XDECREF(plain.extra);
    if (rc < 0) raise_err(&e, name);
    run_free(&plain.run);
    return out;
}

/* rank(judgments | None, origin, ties, keep_best, name[, longest]): reads the whole run first; with None the documents */
static PyObject *py_rank(PyObject *self, PyObject *args) {
    PyObject *capsule, *origin, *name, *held = NULL, *out = NULL;
    Run r;
    Err e = {0}, wrong = {0};
    const Judgments *j = NULL;
    const char *where = "in row";
    size_t *group = NULL;
    long long longest = INT32_MAX;
    int rc;
    (void)self;
    memset(&r, 0, sizeof r);
    e.row = wrong.row = -1;
    if (!PyArg_ParseTuple(args, "OOiiU|L", &capsule, &origin, &r.rank.ties, &r.rank.keep_best, &name, &longest))
        return NULL;
    ranker_rule(&r.rank);
    if (capsule != Py_None && !(j = PyCapsule_GetPointer(capsule, CAPSULE))) return NULL;
    if (j && PyDict_CheckExact(origin) && r.rank.ties != TIES_RANK &&
        ((out = rank_plain(j, origin, &r.rank, name)) || PyErr_Occurred()))
        return out;
    if (is_table(origin, 3)) rc = each_of_table(origin, &held, name, "score", &r.arena, take_record, &r, &e);
    else {
        Source s;
        if (source_of(origin, longest, &s)) return NULL;
        where = "on line";
        s.state = PyEval_SaveThread();
        rc = run_whole(&r, &s, &e, &wrong);
        PyEval_RestoreThread(s.state);
    }
    if (!rc && !(group = group_records(&r, &e))) rc = e.kind;
    if (rc) out = raise_err(&e, name);
    else {
        e.line = 0;
        if (j) {
            r.state = PyEval_SaveThread();
            rc = rank_groups(&r, j, group, where, &e);
            PyEval_RestoreThread(r.state);
            if (rc) raise_err(&e, name);
            else if (!wrong.kind) out = export_ranked(&r, extra_topics(&r, j));
        } else out = export_documents(&r, group, where, name, &e);
        if (wrong.kind && !PyErr_Occurred()) {
            Py_XDECREF(out);
            out = raise_err(&wrong, name);
        }
    }
    mem_free(group);
    run_free(&r);
    Py_XDECREF(held);
    return out;
}

#ifdef AMBLE_CHECK_MEMORY
static PyObject *py_fail_after(PyObject *self, PyObject *n) {
    (void)self;
    mem_countdown = PyLong_AsLong(n);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}
static PyObject *py_hash_key(PyObject *self, PyObject *args) {
    unsigned long long seed, step;
    (void)self;
    if (!PyArg_ParseTuple(args, "KK", &seed, &step)) return NULL;
    hash_key.seed = seed;
    hash_key.step = step;
    Py_RETURN_NONE;
}
static PyObject *py_live(PyObject *self, PyObject *none) { (void)self; (void)none; return PyLong_FromLong(mem_live); }
#endif

static PyMethodDef METHODS[] = {
    {"judge", py_judge, METH_VARARGS, "judge(origin, name[, longest[, subtopics]]) -> judgments"},
    {"describe", py_describe, METH_O, "describe(judgments) -> (topics, offsets, grades)"},
    {"documents", py_documents, METH_O, "documents(judgments) -> documents by row"},
    {"subtopics", py_subtopics, METH_O, "subtopics(judgments) -> (names, offsets by topic, rows, subtopics, grades)"},
    {"rank_stream", py_rank_stream, METH_VARARGS,
     "rank_stream(judgments, source, stop, middle, ties, keep_best, name[, longest]) -> ranked, or None: a topic is split"},
    {"rank", py_rank, METH_VARARGS,
     "rank(judgments | None, origin, ties, keep_best, name[, longest]) -> ranked | documents"},
#ifdef AMBLE_CHECK_MEMORY
    {"_fail_after", py_fail_after, METH_O, "refuse the n-th allocation from now on"},
    {"_hash_key", py_hash_key, METH_VARARGS, "_hash_key(seed, step): before anything is read; step 0 lets ids collide"},
    {"_live", py_live, METH_NOARGS, "allocations alive"},
#endif
    {NULL, NULL, 0, NULL}};

static int draw_hash_key(void) { /* once a process: judgments keep hashes */
    PyObject *os = PyImport_ImportModule("os");
    PyObject *drawn = os ? PyObject_CallMethod(os, "urandom", "n", (Py_ssize_t)sizeof hash_key) : NULL;
    char *bytes = drawn ? PyBytes_AsString(drawn) : NULL;
    if (bytes && !hash_key.step) {
        memcpy(&hash_key, bytes, sizeof hash_key);
        hash_key.step |= 1;
    }
    Py_XDECREF(os);
    Py_XDECREF(drawn);
    return bytes ? 0 : -1;
}

static int setup(PyObject *module) {
    (void)module;
    if (number_setup()) { PyErr_NoMemory(); return -1; }
    return draw_hash_key();
}
static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, (void *)setup}, {0, NULL}};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "amble.native._reader", "The reader's hot path; see plain_reader.",
                                    0, METHODS, SLOTS, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__reader(void) { return PyModuleDef_Init(&MODULE); }
