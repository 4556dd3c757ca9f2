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

	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/template"
	"dyno/internal/fault"
)

// A filling is what the holes of requests are filled from.
type filling struct {
	variables map[string]string
	flagged   map[string]bool // variables of a --variable, and not of a file
	file      string          // of --data; "-" is not possible, for its name says the format
	order     data.Order
	table     *data.Table // nil: there is no file, or it is at fault
	names     template.Names
	taken     []string // from the environment
}

// environment looks up a variable of the environment, and notes its value, which is a secret.
func (v *filling) environment(name string) (string, bool) {
	value, is := os.LookupEnv(name)
	if is && !slices.Contains(v.taken, value) {
		v.taken = append(v.taken, value)
	}
	return value, is
}

// flagVariable adds the variable of a --variable.
func (v *filling) flagVariable(s string) error {
	name, _, _ := strings.Cut(s, "=")
	if v.flagged == nil {
		v.flagged = map[string]bool{}
	}
	v.flagged[strings.TrimSpace(name)] = true
	return v.addVariable(s)
}

// addVariable adds a variable.
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
		most := int64(data.MaxBytes)
		if f.fleet.isAsked() {
			most = data.MaxFleetBytes
		}
		rows, err := v.readData(most)
		if err != nil {
			faults = append(faults, joinedErrors(err)...)
		} else {
			f.plan.Rows = rows
		}
	} else if given["data-order"] {
		faults = append(faults, loadplan.Flaw{Setting: "--data-order",
			Problem: "says which row a request has; add --data FILE"})
	}
	v.names.Used = map[string]bool{}
	v.names.Variable, v.names.More = "--variable", "--data FILE and --variable NAME=VALUE add names"
	v.names.Variables, v.names.Unread = v.variables, given["data"] && v.table == nil
	if f.purpose == "" { // a browser is not to read our environment
		v.names.Env = v.environment
	}
	f.plan.SetVariables(v.variables)
	f.defaults.Names = &v.names
	if len(f.hurlFiles) == 0 { // in Hurl a variable may have the name of one of our functions
		faults = append(faults, joinedErrors(v.names.Check())...)
	}
	return faults
}

// readData reads the table, from at most so many bytes. It returns what the plan says of it.
func (v *filling) readData(most int64) (*loadplan.Rows, error) {
	in, err := os.Open(v.file)
	if err != nil {
		return nil, loadplan.Flaw{Setting: "--data", Problem: fault.Text(err)}
	}
	defer in.Close()
	if info, err := in.Stat(); err == nil && info.IsDir() {
		return nil, loadplan.Flaw{Setting: "--data",
			Problem: v.file + " is a folder; give a file of rows"}
	}
	r, err := limitDevice(in)
	if err != nil {
		return nil, loadplan.Flaw{Setting: "--data", Problem: v.file + ": " + err.Error()}
	}
	sum := sha256.New()
	if v.table, err = data.Read(v.file, io.TeeReader(r, sum), most); err != nil {
		return nil, err
	}
	v.names.Columns, v.names.NamesHint = v.table.Columns(), v.table.NamesHint()
	return &loadplan.Rows{File: filepath.Base(v.file), Rows: v.table.Rows(),
		SHA256: hex.EncodeToString(sum.Sum(nil)), Order: v.order.String()}, nil
}

// dealOnce has a run that uses each row once send as many requests as there are rows, unless it
// says how many.
func (f *runFlags) dealOnce() (faults []error) {
	if f.plan.Rows == nil || f.filling.order != data.Once {
		return nil
	}
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
func (f *runFlags) setScenario() []error {
	return joinedErrors(onestep.SetScenario(&f.plan, f.filling.table))
}
