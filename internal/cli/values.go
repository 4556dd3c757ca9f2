package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/template"
)

// A filling is what the holes of requests are filled from.
type filling struct {
	variables map[string]string
	file      string // of --data; "-" is not possible, for its name says the format
	order     data.Order
	table     *data.Table // nil: there is no file, or it is at fault
	names     template.Names
	sent      *onestep.Maker // nil: the run has no scenario
}

// addVariable adds the variable of a --variable.
func (v *filling) addVariable(s string) error {
	name, value, found := strings.Cut(s, "=")
	switch name = strings.TrimSpace(name); {
	case !found || name == "":
		return fmt.Errorf("%.60q is not a variable; write NAME=VALUE", s)
	case strings.Contains(name, "{{") || strings.Contains(name, "}}"):
		return fmt.Errorf("%.60q has braces, so no template can name it", name)
	case v.variables == nil:
		v.variables = map[string]string{}
	}
	if _, twice := v.variables[name]; twice {
		return fmt.Errorf("%.60s is given twice", name)
	}
	v.variables[name] = value
	return requests.Unmarked("variable "+name, value)
}

// readFilling reads the file of --data. It sets what holes can be.
func (f *runFlags) readFilling(given map[string]bool) (faults []error) {
	v := &f.filling
	if given["data"] {
		rows, err := v.readData()
		if err != nil {
			faults = append(faults, joinedErrors(err)...)
		} else {
			f.plan.Rows = rows
		}
	} else if given["data-order"] {
		faults = append(faults, loadplan.Flaw{Setting: "--data-order",
			Problem: "says which row a request has; add --data FILE"})
	}
	v.names.Variables = v.variables
	if f.purpose == "" { // a browser is not to read our environment
		v.names.Env = os.LookupEnv
	}
	f.plan.SetVariables(v.variables)
	f.defaults.Names = &v.names
	faults = append(faults, joinedErrors(v.names.Check())...)
	if f.plan.Rows != nil && v.order == data.Once {
		faults = append(faults, f.dealOnce()...)
	}
	return faults
}

// readData reads the table. It returns what the plan says of it.
func (v *filling) readData() (*loadplan.Rows, error) {
	in, err := os.Open(v.file)
	if err != nil {
		return nil, loadplan.Flaw{Setting: "--data", Problem: err.Error()}
	}
	defer in.Close()
	r, err := limitDevice(in)
	if err != nil {
		return nil, loadplan.Flaw{Setting: "--data", Problem: v.file + ": " + err.Error()}
	}
	sum := sha256.New()
	if v.table, err = data.Read(v.file, io.TeeReader(r, sum), data.MaxBytes); err != nil {
		return nil, err
	}
	v.names.Columns = v.table.Columns()
	return &loadplan.Rows{File: filepath.Base(v.file), Rows: v.table.Rows(),
		SHA256: hex.EncodeToString(sum.Sum(nil)), Order: v.order.String()}, nil
}

// dealOnce has the run send as many requests as there are rows, unless it says how many.
func (f *runFlags) dealOnce() (faults []error) {
	rows := int64(f.filling.table.Rows())
	if f.plan.Requested == 0 {
		f.plan.Requested = rows
	}
	if f.plan.Requested > rows {
		faults = append(faults, loadplan.Flaw{Setting: "--requests", Problem: fmt.Sprintf(
			"%d requests cannot have each row once: %s has %d", f.plan.Requested, f.filling.file, rows)})
	}
	if f.plan.Warmup > 0 {
		faults = append(faults, loadplan.Flaw{Setting: "--warmup", Problem: "with --data-order once, " +
			"each row belongs to a request that is measured; leave one of the two out"})
	}
	return faults
}

// textFaults are those of holes in the flags' own texts.
func (f *runFlags) textFaults(p parsed) (faults []error) {
	check := func(flag, text string, before int) {
		if template.HasHoles(text) {
			_, err := f.filling.names.Parse(text, template.Position{File: flag, Line: 1, Column: before + 1})
			faults = append(faults, joinedErrors(err)...)
		}
	}
	if len(p.words) > 0 {
		check("URL", p.words[len(p.words)-1], 0)
	}
	for _, h := range f.defaults.Header {
		check("--header "+h.Name, h.Value, 0)
	}
	if !strings.HasPrefix(f.body, "@") {
		check("--body", f.body, 0)
	}
	return faults
}

// setScenario gives the plan a scenario if what is sent differs from message to message, or users
// or checks are wanted.
func (f *runFlags) setScenario(given map[string]bool) []error {
	v, p := &f.filling, &f.plan
	if v.table == nil && !given["users"] && !p.HasHoles() {
		return nil
	}
	c := onestep.Config{Data: v.table, Order: v.order}
	p.Steps = make([]string, 0, len(p.Requests))
	for i := range p.Requests {
		r := &p.Requests[i]
		c.Requests = append(c.Requests, onestep.Request{Request: r.Request, Sources: r.Sources,
			Weight: r.Weight})
		p.Steps = append(p.Steps, r.Name)
	}
	var err error
	if v.sent, err = onestep.New(c); err != nil {
		return joinedErrors(err)
	}
	p.Scenario, p.Checks = v.sent, v.sent.CheckNames()
	return f.scenarioFaults()
}

// scenarioFaults are what cannot be done yet with requests that differ.
func (f *runFlags) scenarioFaults() (faults []error) {
	const what = "requests with {{holes}}, --data, --users and checks"
	if f.fleet.isAsked() {
		faults = append(faults, loadplan.Flaw{Setting: "--fleet", Problem: "agents cannot send " + what +
			" yet; leave it out"})
	}
	if f.serve {
		faults = append(faults, loadplan.Flaw{Setting: "--serve", Problem: "cannot show " + what +
			" yet; --tui does"})
	}
	if f.purpose != "" {
		faults = append(faults, errors.New("the form cannot send "+what+" yet; dyno run does"))
	}
	return faults
}
