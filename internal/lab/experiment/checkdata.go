package experiment

import (
	"fmt"

	"dyno/internal/fault"
	"dyno/internal/lab/experiment/source"
)

// checkData checks what the holes of requests are filled from. What a data file has, and whether
// holes name something, is checked where the file is read.
func (c *checker) checkData() {
	w := c.Workload
	c.checkFileBeside("workload.data", w.Data)
	c.addFaultIf(w.DataOrder != "" && w.Data == "", "workload.data_order",
		"there are no rows; give data, or leave it out")
	c.addFaultIf(w.Users > 0 && w.Users < c.Design.Clients.Count, "workload.users",
		"%d users cannot be shared out among %d clients", w.Users, c.Design.Clients.Count)
	for _, v := range w.Variables {
		c.addKeyFaultIf(v.Name == "", joinPath("workload.variables", v.Name), "a variable has a name")
	}
	if w.DataOrder != Once {
		return
	}
	c.addFaultIf(c.Design.Warmup.Max > 0, "workload.data_order",
		"once: each row is for a request that is measured, and a warm-up would send some, too; give "+
			"design.warmup: {min: 0, max: 0}")
	c.addFaultIf(c.Profile != nil, "profile", "workload.data_order is once, and the load under a "+
		"profile has no number of requests; leave one of the two out")
	for i, l := range c.Levels {
		c.addFaultIf(l.Requests == 0, fmt.Sprintf("levels[%d]", i), "workload.data_order is once, and "+
			"needs a number of requests; give requests")
	}
}

// FaultIn is a fault of an experiment's file in the text at a path, as workload.request.body: at
// the nth occurrence, from 0, of a fragment of it; "" is the whole text.
func (e *Experiment) FaultIn(path, fragment string, nth int,
	problem string) fault.Fault {
	d := newDecoder(e.File, e.Source)
	if root, broken := d.text.Parse(); broken == nil {
		d.decodeExperiment(root, new(Experiment))
	}
	at := source.Place{Line: 1, Column: 1}
	if n := d.nodeAt(path); n != nil && fragment != "" {
		at = d.text.Fragment(n, fragment, nth)
	} else if n != nil {
		at = source.Place{Line: n.Line, Column: n.Column}
	}
	return fault.Fault{File: e.File, Line: at.Line, Column: at.Column, Path: path, Problem: problem}
}

// PathOf is the path of a key of a mapping, as workload.variables.tenant.
func PathOf(path, key string) string { return joinPath(path, key) }
