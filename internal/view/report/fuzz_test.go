package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
)

// clean checks that nothing in a rendering is a command to a terminal.
func clean(t *testing.T, form, text string) {
	t.Helper()
	i := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	})
	if i >= 0 {
		t.Errorf("%s has %q", form, text[max(0, i-40):min(len(text), i+40)])
	}
}

// inert checks that no word of Markdown mentions anybody, or is a link.
func inert(t *testing.T, form, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		picture := regexp.MustCompile(`^!\[[^]]*\]\([^ ]*\)$`) // our own
		rest, closed := textOf(strings.TrimSuffix(line, "\n"))
		if word := live.FindString(rest); !closed || word != "" && !picture.MatchString(strings.TrimSpace(line)) {
			t.Errorf("%s: %q is live in %q", form, word, line)
		}
	}
}

// computed checks that no cell of CSV is computed by a spreadsheet.
func computed(t *testing.T, form, text string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Errorf("%s: %v", form, err)
	}
	for _, row := range rows {
		for _, cell := range row {
			_, err := strconv.ParseFloat(cell, 64)
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") && err != nil {
				t.Errorf("%s: %q is a formula", form, cell)
			}
		}
	}
}

// FuzzResult renders whatever is read as a result, which may come from anybody.
func FuzzResult(f *testing.F) {
	for _, r := range []*result.Result{closed(), failing(), unix(), watched(), accompanied()} {
		var b bytes.Buffer
		if err := JSON(&b, r); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := result.Decode(in)
		if err != nil { // one that dyno could not have written is shown by some verbs, too
			return
		}
		for form, write := range map[string]func(io.Writer) error{
			"text":     func(w io.Writer) error { return Text(w, r, Style{Detail: true}) },
			"quiet":    func(w io.Writer) error { return Quiet(w, r) },
			"Markdown": func(w io.Writer) error { return Markdown(w, r) },
			"CSV":      func(w io.Writer) error { return CSV(w, r) },
			"JUnit":    func(w io.Writer) error { return JUnit(w, r) },
			"Go":       func(w io.Writer) error { return Bench(w, r) },
		} {
			rendered(t, form, write)
		}
	})
}

// rendered checks what is written in a form.
func rendered(t *testing.T, form string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if write(&b) != nil {
		return
	}
	clean(t, form, b.String())
	switch form {
	case "Markdown":
		inert(t, form, b.String())
	case "CSV":
		computed(t, form, b.String())
	}
}

// FuzzRecord renders whatever is read as the record of an experiment.
func FuzzRecord(f *testing.F) {
	r := servers()
	for _, name := range []string{"two servers", nasty, "=cmd()", "@everyone http://x", "</script>"} {
		r.Name, r.Arms[0].Name, r.Trials[0].Level, r.Trials[0].Arm = name, name, name, name
		b, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	e, err := experiment.Read("x", bytes.NewReader(experiment.Starter()))
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
			"text":     func(w io.Writer) error { return Experiment(w, r, Style{}) },
			"Markdown": func(w io.Writer) error { return ExperimentMarkdown(w, r) },
			"CSV":      func(w io.Writer) error { return ExperimentCSV(w, r) },
			"JUnit":    func(w io.Writer) error { return ExperimentJUnit(w, r) },
			"Go":       func(w io.Writer) error { return ExperimentBench(w, r) },
		} {
			rendered(t, form, write)
		}
		rendered(t, "Markdown", func(w io.Writer) error { return PullRequest(w, r, "a.svg") })
	})
}
