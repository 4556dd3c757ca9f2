package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dyno/internal/engine/data"
	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/template"
	"dyno/internal/fault"
	"dyno/internal/lab/experiment"
)

// Inputs are what an experiment's loads are made from besides its file: data and variables for
// holes, a Hurl file, a script. The zero value fills holes with functions alone.
type Inputs struct {
	names  template.Names
	table  *data.Table    // nil: there is no data
	rows   *loadplan.Rows // likewise
	hurl   *hurl.File     // nil: the workload is no Hurl file, or it is at fault
	script string         // in Lua; "": the workload is none
}

// Read reads the data of an experiment, of at most so many bytes. Errors are Faults of the
// experiment's file, or of the data's.
func Read(e *experiment.Experiment, most int64) (*Inputs, error) {
	w := e.Workload
	f := &Inputs{names: template.Names{Variables: variables(w), Env: os.LookupEnv}}
	var faults []error
	if w.Data != "" {
		faults = append(faults, f.readData(e, most))
	}
	faults = append(faults, f.readHurl(e), f.readScript(e))
	for _, v := range w.Variables { // each alone, for its place
		one := template.Names{Columns: f.names.Columns, Variables: map[string]string{v.Name: v.Value}}
		if err := one.Check(); err != nil && w.Hurl == "" {
			faults = append(faults, e.FaultIn(experiment.PathOf("workload.variables", v.Name), "", 0,
				"it is the name of a function or a column, too; choose another"))
		}
	}
	return f, errors.Join(faults...)
}

// readData reads the table, which lies beside the experiment's file.
func (f *Inputs) readData(e *experiment.Experiment, most int64) error {
	name := e.Workload.Data
	in, err := e.Open(name)
	if err != nil {
		return e.FaultIn("workload.data", "", 0, fault.Text(err))
	}
	defer in.Close()
	sum := sha256.New()
	if f.table, err = data.Read(name, io.TeeReader(in, sum), most); err != nil {
		f.names.Unread = true
		return err
	}
	f.names.Columns, f.names.NamesHint = f.table.Columns(), f.table.NamesHint()
	f.rows = &loadplan.Rows{File: filepath.Base(name), Rows: f.table.Rows(),
		SHA256: hex.EncodeToString(sum.Sum(nil)), Order: e.Workload.Order()}
	var faults []error
	for i, l := range e.Levels {
		if n := f.table.Rows(); e.Workload.Order() == experiment.Once && int64(l.Requests) > int64(n) {
			faults = append(faults, e.FaultIn(fmt.Sprintf("levels[%d].requests", i), "", 0, fmt.Sprintf(
				"%d requests cannot have each row once: %s has %d", l.Requests, name, n)))
		}
	}
	return errors.Join(faults...)
}

// variables are the variables of a workload, by name.
func variables(w experiment.Workload) map[string]string {
	if len(w.Variables) == 0 {
		return nil
	}
	all := map[string]string{}
	for _, v := range w.Variables {
		all[v.Name] = v.Value
	}
	return all
}
