package labreport

import (
	"encoding/json"
	"io"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// Whatever a text of others has in it, and wherever it stands in a record: it begins no line.
func TestNobodyForgesLinesOfRecords(t *testing.T) {
	ofRecord := func(w io.Writer, b []byte) error {
		r := new(lab.Record)
		if err := json.Unmarshal(b, r); err != nil {
			return err
		}
		for _, write := range []func() error{
			func() error { return Experiment(w, r, format.Style{Detail: true}) },
			func() error { return WholeMarkdown(w, r) },
			func() error { return ExperimentMarkdown(w, r) },
			func() error { return PullRequest(w, r, "x.svg") },
		} {
			if err := write(); err != nil {
				return err
			}
		}
		return nil
	}
	if tried := reporttest.ForgeLines(t, "record", servers(), ofRecord); tried < 100 {
		t.Errorf("%d texts only were other ones", tried)
	}
}
