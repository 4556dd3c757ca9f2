package run

import (
	"dyno/internal/lab/judge"
	"errors"
	"fmt"
)

// ErrNothingLeft is that of an experiment of several variants of which no two can be compared.
var ErrNothingLeft = errors.New("nothing is left to compare")

// checkComparable is ErrNothingLeft, with what can be done for each variant, if so many cannot be
// loaded that there is no comparison. An experiment of one variant has none to lose.
func (r *running) checkComparable() error {
	if !judge.LeavesNothing(r.record) {
		return nil
	}
	return fmt.Errorf("%s: %w", judge.Unloaded(r.record), ErrNothingLeft)
}
