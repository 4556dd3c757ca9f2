package cli

import (
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/lab"
)

// roundsMax is how many rounds an experiment may have, as its file's schema says.
const roundsMax = 1000

// A roundsFlag is the value of --rounds; n is 0 if it was not given.
type roundsFlag struct {
	n    int
	more bool // +N: more than there are
}

// parse reads N or +N.
func (f *roundsFlag) parse(s string) error {
	digits, more := strings.CutPrefix(s, "+")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > roundsMax || strings.HasPrefix(digits, "+") {
		return fmt.Errorf("%q is not a number of rounds from 1 to %d, or +N for more of them", s,
			roundsMax)
	}
	f.n, f.more = n, more
	return nil
}

// resume makes the flag the number of rounds that an experiment is to have in all. Without the flag
// it keeps the number that an earlier session was given.
func (f *roundsFlag) resume(old *lab.Record) error {
	has := old.RoundsRun()
	switch {
	case f.n == 0:
		f.n = old.Rounds
	case f.more:
		f.n, f.more = has+f.n, false
	}
	if f.n > roundsMax {
		return fmt.Errorf("--rounds: %d rounds in all are more than %d", f.n, roundsMax)
	}
	if f.n > 0 && f.n < has {
		return fmt.Errorf("--rounds %d: %d rounds were run already", f.n, has)
	}
	return nil
}
