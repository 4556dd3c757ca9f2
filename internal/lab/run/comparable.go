package run

import (
	"dyno/internal/lab/judge"
	"errors"
	"fmt"
)

// ErrNothingLeft is the error of an experiment of several variants of which no two can be compared.
var ErrNothingLeft = errors.New("nothing is left to compare")

// checkComparable returns ErrNothingLeft, with a remedy for each variant, if no comparison is left.
// An experiment of one variant needs none.
func (r *running) checkComparable() error {
	if judge.BreaksScreening(r.record) {
		return fmt.Errorf("%s: a screening (design.screen) needs all of its variants: %w",
			judge.Unloaded(r.record), ErrNothingLeft)
	}
	if !judge.LeavesNothing(r.record) {
		return nil
	}
	return fmt.Errorf("%s: %w", judge.Unloaded(r.record), ErrNothingLeft)
}
