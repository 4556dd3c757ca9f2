package labreport

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/experiment/starter"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// FuzzRecord renders whatever is read as the record of an experiment.
func FuzzRecord(f *testing.F) {
	r := servers()
	for _, name := range []string{"two servers", reporttest.Nasty, "=cmd()", "@everyone http://x", "</script>"} {
		r.Name, r.Arms[0].Name, r.Trials[0].Level, r.Trials[0].Arm = name, name, name, name
		b, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	e, err := experiment.Read("x", bytes.NewReader(starter.Plain()))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := new(lab.Record)
		if json.Unmarshal(in, r) != nil {
			return
		}
		r.Experiment = e
		for form, write := range map[string]func(io.Writer) error{
			"text":     func(w io.Writer) error { return Experiment(w, r, format.Style{Detail: true}) },
			"Markdown": func(w io.Writer) error { return ExperimentMarkdown(w, r) },
			"whole":    func(w io.Writer) error { return WholeMarkdown(w, r) },
			"CSV":      func(w io.Writer) error { return ExperimentCSV(w, r) },
			"JUnit":    func(w io.Writer) error { return ExperimentJUnit(w, r) },
			"Go":       func(w io.Writer) error { return ExperimentBench(w, r) },
		} {
			reporttest.CheckRendering(t, form, write)
		}
		reporttest.CheckRendering(t, "Markdown", func(w io.Writer) error { return PullRequest(w, r, "a.svg") })
	})
}

// FuzzBench writes whatever is read as a result as a Go benchmark.
func FuzzBench(f *testing.F) {
	for _, r := range []*result.Result{reporttest.Closed(), reporttest.Failing(), reporttest.Watched()} {
		var b bytes.Buffer
		if err := result.Encode(&b, r); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := result.Decode(in)
		if err != nil {
			return
		}
		reporttest.CheckRendering(t, "Go", func(w io.Writer) error { return Bench(w, r) })
	})
}
