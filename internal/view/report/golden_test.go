package report

import (
	"flag"
	"testing"

	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// make goldens sets it, for every package that has goldens.
var update = flag.Bool("update", false, "write the golden files")

// golden compares got with the file of that name, or writes the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	reporttest.Golden(t, name, got, *update)
}

// paint is one for tests.
const paint format.Paint = "\x1bpaint-"

// phrasesOf are the sentences of a run, a search or a sweep.
func phrasesOf(s Sentences) (all []reporttest.Phrase) {
	add := func(name string, texts ...string) { all = append(all, reporttest.Phrases(name, texts...)...) }
	add("what", s.What)
	add("how", s.How)
	add("model", s.Model)
	add("verdict", s.Verdict)
	add("reason", s.Reasons...)
	add("warning", s.Warnings...)
	add("objective", s.Objectives...)
	for _, f := range s.Facts {
		add(f.Name, f.Text)
	}
	add("host", s.Machine)
	add("method", s.Methods...)
	add("command", s.Command)
	add("lost", s.Lost)
	add("agent", s.Agents...)
	return all
}
