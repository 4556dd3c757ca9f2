package workload

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dyno/internal/engine/data"
	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/session"
	"dyno/internal/fault"
	"dyno/internal/lab/experiment"
	"dyno/internal/setting"
)

// This file is about experiments whose workload is a Hurl file.

// readHurl reads the Hurl file of an experiment, if it has one.
func (f *Inputs) readHurl(e *experiment.Experiment) error {
	name := e.Workload.Hurl
	if name == "" {
		return nil
	}
	b, err := readInFolder(hurlFolder(e), hurlName(e))
	if err != nil {
		return e.FaultIn("workload.hurl", "", 0, fault.Text(err))
	}
	f.hurl, err = hurl.Parse(name, string(b))
	return err
}

// hurlFolder is the folder that the Hurl file must be in: that of the experiment's file, or the one
// that an absolute path names.
func hurlFolder(e *experiment.Experiment) string {
	if at := filepath.FromSlash(e.Workload.Hurl); filepath.IsAbs(at) {
		return filepath.Dir(at)
	}
	return e.Here
}

// hurlName is the name of the Hurl file in hurlFolder.
func hurlName(e *experiment.Experiment) string {
	if filepath.IsAbs(filepath.FromSlash(e.Workload.Hurl)) {
		return filepath.Base(e.Workload.Hurl)
	}
	return e.Workload.Hurl
}

// readInFolder reads a file that is in a folder, or below it.
func readInFolder(folder, name string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	in, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// compileHurl compiles the Hurl file for the server at a URL, which the variable base has.
func (f *Inputs) compileHurl(e *experiment.Experiment, w experiment.Workload, url string) (
	m *session.Maker, values map[string]string, err error) {
	url = strings.TrimSuffix(url, "/") // behind base stands a path
	c := session.Config{Files: []*hurl.File{f.hurl}, Data: f.table, User: w.User,
		Voice: setting.Key}
	if c.Origin, err = session.ParseOrigin(url); err != nil {
		return nil, nil, err
	}
	if c.Order, err = data.ParseOrder(w.Order()); err != nil {
		return nil, nil, err
	}
	c.Variables = []session.Variable{{Name: session.BaseVariable, Value: url}}
	values = map[string]string{session.BaseVariable: url}
	for _, v := range w.Variables {
		if v.Name != session.BaseVariable { // that it is given is a fault, see hurlFaults
			c.Variables = append(c.Variables, session.Variable{Name: v.Name, Value: v.Value})
			values[v.Name] = v.Value
		}
	}
	c.Read = func(_, name string) ([]byte, error) {
		return readInFolder(filepath.Dir(e.Path(w.Hurl)), name)
	}
	m, err = session.Compile(c)
	return m, values, err
}

// setSession gives a plan the session of a workload.
func (f *Inputs) setSession(e *experiment.Experiment, p *loadplan.Plan, w experiment.Workload,
	url string) error {
	m, values, err := f.compileHurl(e, w, url)
	if err != nil {
		return err
	}
	f.fillPlan(p, w)
	p.SetVariables(values)
	m.SetPlan(p)
	return marksFault(w, m.StreamFormat())
}

// marksFault is the fault of a Hurl file or a script that says of single answers that they are
// streams of a format ("": it says no such thing), where the workload does not say so, too: the
// limits, metrics and objectives of streams come with what the experiment's file says.
func marksFault(w experiment.Workload, format string) error {
	switch given := w.Stream.Format; {
	case format == "" || format == given:
		return nil
	case given == "":
		return fmt.Errorf("it says that answers are streams of %s; write stream: %[1]s in the workload, "+
			"too", format)
	default:
		return fmt.Errorf("it says that answers are streams of %s, and the workload that they are of %s",
			format, given)
	}
}

// hurlFaults are the faults of an experiment whose workload is a Hurl file.
func hurlFaults(e *experiment.Experiment, f *Inputs) (faults []error) {
	at := func(path, problem string) {
		faults = append(faults, e.FaultIn(path, "", 0, problem))
	}
	for _, v := range experiment.Expand(e) {
		if v.Request != nil {
			at(experiment.PathOf("variants", v.Of)+".request", "all variants are sent the Hurl file; "+
				"leave this out")
		}
		if v.Generator != nil {
			at(experiment.PathOf("variants", v.Of)+".generator", "another program runs no Hurl files; "+
				"leave the generator out")
		}
	}
	for _, v := range e.Workload.Variables {
		if v.Name == session.BaseVariable {
			at(experiment.PathOf("workload.variables", v.Name), "it is the address of each variant; "+
				"leave it out")
		}
	}
	if f.hurl == nil || f.names.Unread {
		return faults
	}
	m, _, err := f.compileHurl(e, e.Workload, "http://localhost")
	if err == nil {
		if err = marksFault(e.Workload, m.StreamFormat()); err != nil {
			err = e.FaultIn("workload.hurl", "", 0, err.Error())
		}
	}
	return append(faults, joined(err)...)
}
