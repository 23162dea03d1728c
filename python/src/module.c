/* SPDX-License-Identifier: Apache-2.0
 *
 * module.c - the module heddle._core: its error, and the library's lists of alternatives.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/loaded.h"
#include "lib/params.h"
#include "python/src/core.h"

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static PyObject *error_type;

/* The sentence may have a path in it that is no UTF-8. */
static PyObject *raise_error(hd_status status, const char *sentence)
{
    PyObject *text = PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "backslashreplace");
    PyObject *error = text ? PyObject_CallFunctionObjArgs(error_type, text, NULL) : NULL;
    Py_XDECREF(text);
    PyObject *name = error ? PyUnicode_FromString(hd_status_name(status)) : NULL;
    if (name && !PyObject_SetAttrString(error, "status", name)) PyErr_SetObject(error_type, error);
    Py_XDECREF(name);
    Py_XDECREF(error);
    return NULL;
}

PyObject *hp_fail(hd_status status, const char *format, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return raise_error(status, sentence);
}

PyObject *hp_fail_why(hd_status status) { return raise_error(status, hd_why()); }

PyObject *hp_fail_about(const char *what)
{
    if (!PyErr_Occurred()) return hp_fail(HD_EINVAL, "%s: not an array", what);
    if (PyErr_ExceptionMatches(error_type) || PyErr_ExceptionMatches(PyExc_MemoryError) ||
        !PyErr_ExceptionMatches(PyExc_Exception))
        return NULL;
    PyObject *type, *cause, *trace, *error;
    PyErr_Fetch(&type, &cause, &trace);
    PyErr_NormalizeException(&type, &cause, &trace);
    if (trace) PyException_SetTraceback(cause, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    PyObject *text = PyObject_Str(cause);
    const char *sentence = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyErr_Clear();
    /* The first line: libraries add stacks of C++, which the cause has. */
    int length = sentence ? (int)strcspn(sentence, "\n") : 0;
    hp_fail(HD_EINVAL, "%s: %.*s", what, length ? length : 64, length ? sentence : "not an array");
    Py_XDECREF(text);
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyException_SetCause(error, cause);
    PyErr_Restore(type, error, trace);
    return NULL;
}

int hp_number(PyObject *o, const char *what, uint64_t *number)
{
    PyObject *index = PyNumber_Index(o);
    if (!index) return -1;
    *number = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (!PyErr_Occurred()) return 0;
    PyErr_Clear();
    hp_fail(HD_EINVAL, "%s: not a number from 0 to 2^64 - 1", what);
    return -1;
}

/* ---- Helpers in Python ------------------------------------------------------------------------------------------- */

static PyObject *helpers; /* the dict of heddle._arrays */

PyObject *hp_helper(const char *name)
{
    PyObject *f = PyDict_GetItemString(helpers, name);
    return f ? f : Py_None; /* a call of None raises TypeError */
}

static PyObject *use_helpers(PyObject *module, PyObject *dict)
{
    (void)module;
    Py_XDECREF(helpers);
    helpers = Py_NewRef(dict);
    return Py_NewRef(Py_None);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static PyObject *list_rows(PyObject *module, PyObject *kind)
{
    (void)module;
    long number = PyLong_AsLong(kind);
    if (PyErr_Occurred()) return NULL;
    PyObject *list = PyList_New(0);
    hd_row row;
    for (size_t i = 0; list && hd_list((hd_kind)number, i, &row); i++) {
        PyObject *o = Py_BuildValue("(sss)", row.name, row.what, row.more);
        if (!o || PyList_Append(list, o)) Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

static PyObject *names_of(int count, const char *(*name)(int))
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) PyList_SetItem(list, i, PyUnicode_FromString(name(i)));
    return list;
}

static const char *outcome_name(int i) { return hd_outcome_name((hd_outcome)i); }
static const char *op_name(int i) { return hd_op_name((hd_op)i); }

static PyObject *outcome_names(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return names_of(HD_OUTCOME_COUNT, outcome_name);
}

static PyObject *op_names(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return names_of(HD_OP_COUNT_, op_name);
}

static PyObject *call_rows(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return hp_call_rows();
}

/* A row of parameters. `values`: names of an enum. */
static PyObject *parameter_row(const hd_params *s, const hd_param *p)
{
    static const char *const type[] = { [HD_PARAM_BOOL] = "bool", [HD_PARAM_U32] = "number", [HD_PARAM_U64] = "number",
                                        [HD_PARAM_ENUM] = "enum", [HD_PARAM_TEXT] = "text",  [HD_PARAM_NAME] = "name" };
    PyObject *values = PyList_New(0);
    for (int i = 0; values && p->values && p->values[i]; i++) {
        PyObject *value = PyUnicode_FromString(p->values[i]);
        if (!value || PyList_Append(values, value)) Py_CLEAR(values);
        Py_XDECREF(value);
    }
    if (!values) return NULL;
    return Py_BuildValue("{s:z,s:s,s:s,s:K,s:K,s:K,s:N,s:i}", "design", s->design, "name", p->name, "type",
                         type[p->type], "least", (unsigned long long)p->least, "most", (unsigned long long)p->most,
                         "usual", (unsigned long long)p->usual, "values", values, "in_files", hd_param_in_files(p));
}

/* For tests: the parameters of tables, a list of dicts. */
static PyObject *parameter_rows(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    const hd_params *s;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && (s = hd_params_at(i)); i++)
        for (size_t k = 0; list && k < s->count; k++) {
            PyObject *row = parameter_row(s, &s->row[k]);
            if (!row || PyList_Append(list, row)) Py_CLEAR(list);
            Py_XDECREF(row);
        }
    return list;
}

static PyObject *inspect(PyObject *module, PyObject *path)
{
    (void)module;
    hd_snapshot_info i;
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
    hd_status s = hd_snapshot_inspect(PyBytes_AsString(bytes), &i);
    Py_DECREF(bytes);
    if (s) return hp_fail_why(s);
    return Py_BuildValue("{s:s,s:s,s:K,s:K,s:K,s:K,s:K,s:I,s:I,s:I,s:I,s:K}", "design", i.design, "policy", i.policy,
                         "buckets", (unsigned long long)i.buckets, "capacity", (unsigned long long)i.capacity, "size",
                         (unsigned long long)i.size, "seed", (unsigned long long)i.seed, "clock",
                         (unsigned long long)i.clock, "slots", i.slots, "value_bytes", i.value_bytes, "epoch", i.epoch,
                         "version", i.version, "file_bytes", (unsigned long long)i.file_bytes);
}

/* The objects of files find the simulator in this module, whose symbols are its own until now. */
static bool show_symbols(void)
{
    static bool shown;
    Dl_info own;
    if (!shown) shown = dladdr(&error_type, &own) && dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    return shown;
}

static PyObject *load_object(PyObject *module, PyObject *args)
{
    (void)module;
    const char *file, *object;
    char what[HD_LOADED_TEXT];
    if (!PyArg_ParseTuple(args, "ss", &file, &object)) return NULL;
    if (!show_symbols()) return hp_fail(HD_EIO, "%s: this module does not find itself", file);
    hd_status s = hd_load_object(file, object, what);
    return s ? hp_fail_why(s) : PyUnicode_FromString(what);
}

static PyObject *pretend_device(PyObject *module, PyObject *on)
{
    (void)module;
    int is = PyObject_IsTrue(on);
    if (is < 0) return NULL;
    hp_pretend_device = is;
    hp_memory_drop_kept();
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    { "use_helpers", use_helpers, METH_O, NULL },
    { "rows", list_rows, METH_O, NULL },
    { "outcome_names", outcome_names, METH_NOARGS, NULL },
    { "op_names", op_names, METH_NOARGS, NULL },
    { "call_rows", call_rows, METH_NOARGS, NULL },
    { "parameter_rows", parameter_rows, METH_NOARGS, NULL },
    { "inspect", inspect, METH_O, NULL },
    { "load_object", load_object, METH_VARARGS, NULL },
    { "pretend_device", pretend_device, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

/* ---- The module -------------------------------------------------------------------------------------------------- */

static int module_exec(PyObject *module)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "heddle can be imported in the main interpreter only");
        return -1;
    }
    PyObject *usual = Py_BuildValue("{s:s}", "status", hd_status_name(HD_EINVAL)); /* of errors that Python raises */
    if (!usual) return -1;
    error_type =
        PyErr_NewExceptionWithDoc("heddle.Error", "A call failed. The attribute `status` is the name of an hd_status.",
                                  PyExc_RuntimeError, usual);
    Py_DECREF(usual);
    if (!error_type || PyModule_AddObjectRef(module, "Error", error_type)) return -1;
    if (PyModule_AddFunctions(module, hp_operator_functions)) return -1;
    if (hp_calls_ready() || hp_arrays_ready() || hp_memory_ready(module) || hp_results_ready(module) ||
        hp_tables_ready(module))
        return -1;
    return PyModule_AddStringConstant(module, "version", hd_version());
}

static PyModuleDef_Slot slots[] = { { Py_mod_exec, module_exec }, { 0, NULL } };
static PyModuleDef definition = { PyModuleDef_HEAD_INIT, "heddle._core", NULL, 0, functions, slots, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
