package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestText(t *testing.T) {
	gone := &fs.PathError{Op: "open", Path: "a b.csv", Err: fs.ErrNotExist}
	full := &fs.PathError{Op: "write", Path: "out", Err: errors.New("no space left on device")}
	for want, err := range map[string]error{
		"a b.csv: file does not exist":                                  gone,
		"--data: a b.csv: file does not exist":                          fmt.Errorf("--data: %w", gone),
		"x: a b.csv: file does not exist\nout: no space left on device": errors.Join(fmt.Errorf("x: %w", gone), full),
		"a b.csv: file does not exist and out: no space left on device": fmt.Errorf("%w and %w", gone, full),
		"a b.csv: file does not exist\na b.csv: file does not exist":    errors.Join(gone, gone),
		"open a b.csv: another":                                         errors.New("open a b.csv: another"),
		"f.csv:1:2: no":                                                 Fault{File: "f.csv", Line: 1, Column: 2, Problem: "no"},
		"it says otherwise":                                             hiding{gone},
	} {
		if got := Text(err); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// hiding wraps an error without saying it.
type hiding struct{ error }

func (hiding) Error() string   { return "it says otherwise" }
func (h hiding) Unwrap() error { return h.error }
