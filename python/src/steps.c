/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.c - what the kernels of a table in the simulator do, step by step.
 */
#include "lib/backend_host.h"
#include "python/src/core.h"

/* One warp runs the batch, its lanes together, so that the steps read like the kernel's text. */
int hp_steps_set(hp_table *t, bool on)
{
    simt_config c = simt_config_default();
    c.trace = on;
    if (on) {
        c.strategy = SIMT_ROUND_ROBIN;
        c.unit = SIMT_BY_WARP;
    }
    hd_status s = hd_host_configure(t->table, &c);
    if (!s) s = hd_host_lanes(t->table, on ? 1 : 0, on ? 32 : 0);
    if (s) return hp_fail_why(s), -1;
    Py_XDECREF(t->steps);
    t->steps = on ? PyList_New(0) : NULL;
    return on && !t->steps ? -1 : 0;
}

static PyObject *step_of(const simt_machine *m, const simt_event *e)
{
    uint64_t at = 0;
    const char *place = e->p ? simt_machine_name(m, e->p, &at) : "";
    return Py_BuildValue("{s:K,s:I,s:I,s:s,s:s,s:s,s:K,s:K,s:K}", "step", (unsigned long long)e->step, "block",
                         e->block, "thread", e->thread, "does", e->what, "site", simt_site_name(e->site), "memory",
                         place, "byte", (unsigned long long)at, "before", (unsigned long long)e->before, "after",
                         (unsigned long long)e->after);
}

int hp_steps_take(hp_table *t, const hd_batch *b)
{
    simt_machine *m = hd_host_machine(t->table);
    size_t n = 0;
    const simt_event *e = m ? simt_machine_events(m, &n) : NULL;
    PyObject *steps = PyList_New(0);
    for (size_t i = 0; steps && i < n; i++) {
        PyObject *step = step_of(m, &e[i]);
        if (!step || PyList_Append(steps, step)) Py_CLEAR(steps);
        Py_XDECREF(step);
    }
    PyObject *list = Py_XNewRef(t->steps); /* another thread may switch it off */
    PyObject *batch = steps ? Py_BuildValue("{s:s,s:s,s:K,s:N}", "op", hd_op_name(b->op), "kernel",
                                            b->ran ? b->ran : "", "n", (unsigned long long)b->n, "steps", steps)
                            : NULL;
    int failed = !batch || (list && PyList_Append(list, batch));
    Py_XDECREF(batch);
    Py_XDECREF(list);
    return failed ? -1 : 0;
}
