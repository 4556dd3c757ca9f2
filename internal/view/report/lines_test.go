package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"dyno/internal/capacity"
	"dyno/internal/lab"
	"dyno/internal/result"
)

// eachText calls do with each text of a JSON document, while that text is another.
func eachText(v any, at string, other func(string) string, do func(at string)) {
	each := func(at string, child any, set func(any)) {
		s, is := child.(string)
		if !is {
			eachText(child, at, other, do)
			return
		}
		set(other(s))
		do(at)
		set(s)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			each(at+"."+key, child, func(to any) { v[key] = to })
		}
	case []any:
		for i, child := range v {
			each(fmt.Sprintf("%s[%d]", at, i), child, func(to any) { v[i] = to })
		}
	}
}

// Whatever a text of others has in it, and wherever it stands in what they send: it begins no line.
func TestNobodyForgesLines(t *testing.T) {
	type form func(w io.Writer, document []byte) error
	of := func(forms ...func(io.Writer, *result.Result) error) form {
		return func(w io.Writer, b []byte) error {
			r, err := result.Decode(b)
			for _, write := range forms {
				if err == nil {
					err = write(w, r)
				}
			}
			return err
		}
	}
	ofResult := of(func(w io.Writer, r *result.Result) error { return Text(w, r, Style{Detail: true}) }, Quiet, Markdown)
	ofRecord := func(w io.Writer, b []byte) error {
		r := new(lab.Record)
		if err := json.Unmarshal(b, r); err != nil {
			return err
		}
		for _, write := range []func() error{
			func() error { return Experiment(w, r, Style{}) },
			func() error { return ExperimentMarkdown(w, r) },
			func() error { return PullRequest(w, r, "x.svg") },
		} {
			if err := write(); err != nil {
				return err
			}
		}
		return nil
	}
	ofFinding := func(w io.Writer, b []byte) error {
		s, c, known, err := capacity.Decode(b)
		switch {
		case err != nil || !known:
			return fmt.Errorf("not a finding: %v", err)
		case s != nil:
			return Search(w, s, Style{})
		}
		return Curve(w, c, Style{})
	}
	tried := 0
	for name, test := range map[string]struct {
		document any
		write    form
	}{
		"closed": {closed(), ofResult}, "failing": {failing(), ofResult}, "unix": {unix(), ofResult},
		"watched": {watched(), ofResult}, "accompanied": {accompanied(), ofResult}, "record": {servers(), ofRecord},
		"found": {found(), ofFinding}, "swept": {swept(), ofFinding},
	} {
		b, err := json.Marshal(test.document)
		var tree any
		if err != nil || json.Unmarshal(b, &tree) != nil {
			t.Fatal(err)
		}
		eachText(tree, name, func(s string) string { return s + "x\n  forged" }, func(at string) {
			b, err := json.Marshal(tree)
			var out bytes.Buffer
			if err != nil || test.write(&out, b) != nil {
				return // what it was is read
			}
			tried++
			if i := strings.Index(out.String(), "\n  forged"); i >= 0 {
				t.Errorf("%s: %q", at, out.String()[max(0, i-60):i+9])
			}
		})
	}
	if tried < 100 {
		t.Errorf("%d texts only were other ones", tried)
	}
}
