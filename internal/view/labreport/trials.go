package labreport

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// TrialLine is what a trial measured, in a line: its throughput, and what a request cost.
func TrialLine(t *lab.Trial) string {
	if t.Search != nil {
		found := format.Digits3(t.Search.Certified) + "/s"
		if t.Search.Axis != "" {
			found = format.Exact3(t.Search.Highest()) + " " + format.PlainLine(t.Search.Axis)
		}
		return fmt.Sprintf("%s certified in %s", found,
			format.Plural(int64(len(t.Search.Probes)), "probe"))
	}
	s := format.Digits3(t.Result.Rate.Completed) + " requests/s"
	if cpu, ok := lab.CPU.Value(t); ok {
		s += ", " + format.Micros(cpu) + " CPU/request"
	}
	return s
}

// ExperimentCSV writes the trials of an experiment, a line each in the order in which they ran,
// with their measures (lab.MeasuresOf). What a trial does not have is empty. Trials that tried a
// setting of the generator come last, and have it in a column of its own. The last column names the
// measures whose values are only known to be higher, because requests had no answer.
func ExperimentCSV(w io.Writer, r *lab.Record) error {
	c := csv.NewWriter(w)
	head := []string{"trial", "round", "position", "attempt", "level", "variant", "control", "started",
		"grade", "reasons", "failure"}
	measures := lab.MeasuresOf(r.Trials)
	for _, m := range measures {
		head = append(head, m.Name+" ("+m.Unit+")")
	}
	if err := c.Write(append(head, "generator setting", "only known to be higher")); err != nil {
		return err
	}
	control := map[string]bool{}
	for _, a := range r.Arms {
		control[a.Name] = a.Control
	}
	for _, t := range r.Trials {
		if err := c.Write(append(trialRow(t, control[t.Arm], measures), "", higher(t))); err != nil {
			return err
		}
	}
	if s := r.Sensitive; s != nil {
		for _, t := range s.Trials {
			row := append(trialRow(t, false, measures), format.CSVField(s.SettingOf(t.Arm)), higher(t))
			if err := c.Write(row); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// higher names the measures of a trial that are only known to be higher.
func higher(t lab.TrialSummary) string { return format.CSVField(strings.Join(t.Over, " ")) }

// trialRow is a trial as a line of CSV.
func trialRow(t lab.TrialSummary, control bool, measures []lab.Measure) []string {
	why, failed := "", ""
	for i, reason := range t.Reasons {
		if i > 0 {
			why += "; "
		}
		why += reason.Says
	}
	if t.Failure != nil {
		failed = t.Failure.Phase + ": " + t.Failure.Reason
	}
	row := []string{format.CSVField(t.ID), strconv.Itoa(t.Round), strconv.Itoa(t.Position),
		strconv.Itoa(t.Attempt), format.CSVField(t.Level), format.CSVField(t.Arm),
		strconv.FormatBool(control), t.Started.Format(time.RFC3339Nano),
		format.CSVField(string(t.Grade)), format.CSVField(why), format.CSVField(failed)}
	for _, m := range measures {
		cell := ""
		if v, ok := t.Values[m.Name]; ok {
			cell = strconv.FormatFloat(v, 'g', -1, 64)
		}
		row = append(row, cell)
	}
	return row
}
