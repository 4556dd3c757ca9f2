package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	wanted "dyno/internal/engine/check"
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
	v.names.Variables, v.names.Unread = v.variables, given["data"] && v.table == nil
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

// textFaults are those of holes in the flags' own texts. The texts that have one are removed, so
// that it is reported once.
func (f *runFlags) textFaults(p parsed) (faults []error) {
	check := func(text string, at template.Position) (ok bool) {
		if !template.HasHoles(text) {
			return true
		}
		_, err := f.filling.names.Parse(text, at)
		faults = append(faults, joinedErrors(err)...)
		return err == nil
	}
	if n := len(p.words); n > 0 && f.defaults.URL != (requests.URL{}) &&
		!check(p.words[n-1], template.Position{File: "URL", Line: 1, Column: 1}) {
		f.defaults.URL.Path = "/"
	}
	for i := range f.defaults.Header {
		if h := &f.defaults.Header[i]; !check(h.Value, f.headerAt[i]) {
			h.Value = ""
		}
	}
	for i := range f.form.fields {
		field := &f.form.fields[i]
		at := template.Position{File: "--form " + field.name, Line: 1, Column: len(field.name) + 2}
		if !check(field.value, at) {
			field.value = ""
		}
	}
	if !strings.HasPrefix(f.body, "@") && !check(f.body, template.Position{File: "--body", Line: 1,
		Column: 1}) {
		f.body = ""
	}
	return faults
}

// setScenario gives the plan a scenario if what is sent differs from message to message, or users
// or checks are wanted.
func (f *runFlags) setScenario(given map[string]bool) []error {
	v, p := &f.filling, &f.plan
	if v.table == nil && !given["users"] && !p.HasHoles() && !p.HasChecks() {
		return nil
	}
	c := onestep.Config{Data: v.table, Order: v.order}
	var checks checkList
	for i := range p.Requests {
		r := &p.Requests[i]
		c.Requests = append(c.Requests, onestep.Request{Request: r.Request, Sources: r.Sources,
			Weight: r.Weight, Checks: checks.numbers(p.Expected(r))})
	}
	c.Checks = checks.all
	if n := len(c.Checks); n > mostChecks {
		return []error{loadplan.Flaw{Setting: "--requests-file", Problem: fmt.Sprintf(
			"its requests have %d different checks; %d are possible", n, mostChecks)}}
	}
	made, err := onestep.New(c)
	if err != nil {
		return joinedErrors(err)
	}
	p.Scenario, p.Checks = made, made.CheckNames()
	return f.scenarioFaults()
}

// mostChecks is how many different checks a run can have: each is a row of the report.
const mostChecks = 1000

// A checkList has each check once.
type checkList struct {
	all    []*wanted.Check
	number map[string]int // of a check by its kind and text
	last   loadplan.Expectations
	of     []int // those of last
}

// numbers are the numbers of the checks that are expected. Requests one after the other most often
// expect the same.
func (l *checkList) numbers(e loadplan.Expectations) []int {
	if l.number == nil {
		l.number = map[string]int{}
	} else if slices.Equal(e.Body, l.last.Body) && slices.Equal(e.Header, l.last.Header) {
		return l.of
	}
	l.last, l.of = e, nil
	add := func(kind string, texts []string, parse func(string) (*wanted.Check, error)) {
		for _, s := range texts {
			n, known := l.number[kind+s]
			if !known {
				one, err := parse(s)
				if err != nil {
					continue // it was reported where it was read
				}
				n = len(l.all)
				l.all, l.number[kind+s] = append(l.all, one), n
			}
			l.of = append(l.of, n)
		}
	}
	add("header:", e.Header, requests.ExpectHeader)
	add("body:", e.Body, requests.ExpectBody)
	return l.of
}

// addChecked returns what adds an expectation that parse takes.
func addChecked(to *[]string, parse func(string) (*wanted.Check, error)) func(string) error {
	return func(s string) error {
		_, err := parse(s)
		if err == nil {
			*to = append(*to, s)
		}
		return err
	}
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
		faults = append(faults, loadplan.Flaw{Setting: "form", Problem: "it cannot send " + what +
			" yet; dyno run does"})
	}
	return faults
}
