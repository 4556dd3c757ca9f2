package report

import (
	"bytes"
	"io"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// FuzzResult renders whatever is read as a result, which may come from anybody.
func FuzzResult(f *testing.F) {
	for _, r := range []*result.Result{reporttest.Closed(), reporttest.Failing(), unix(), reporttest.Watched(), accompanied()} {
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
			"text":     func(w io.Writer) error { return Text(w, r, format.Style{Detail: true}) },
			"quiet":    func(w io.Writer) error { return Quiet(w, r) },
			"Markdown": func(w io.Writer) error { return Markdown(w, r) },
			"CSV":      func(w io.Writer) error { return CSV(w, r) },
			"JUnit":    func(w io.Writer) error { return JUnit(w, r) },
		} {
			reporttest.CheckRendering(t, form, write)
		}
	})
}
