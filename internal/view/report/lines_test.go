package report

import (
	"fmt"
	"io"
	"testing"

	"dyno/internal/capacity"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

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
	ofResult := of(func(w io.Writer, r *result.Result) error { return Text(w, r, format.Style{Detail: true}) }, Quiet, Markdown)
	ofFinding := func(w io.Writer, b []byte) error {
		s, c, known, err := capacity.Decode(b)
		switch {
		case err != nil || !known:
			return fmt.Errorf("not a finding: %v", err)
		case s != nil:
			return Search(w, s, format.Style{})
		}
		return Curve(w, c, format.Style{})
	}
	tried := 0
	for name, test := range map[string]struct {
		document any
		write    form
	}{
		"closed": {reporttest.Closed(), ofResult}, "failing": {reporttest.Failing(), ofResult}, "unix": {unix(), ofResult},
		"watched": {reporttest.Watched(), ofResult}, "accompanied": {accompanied(), ofResult},
		"found": {found(), ofFinding}, "swept": {swept(), ofFinding},
	} {
		tried += reporttest.ForgeLines(t, name, test.document, test.write)
	}
	if tried < 90 {
		t.Errorf("%d texts only were other ones", tried)
	}
}
