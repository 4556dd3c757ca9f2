package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"dyno/internal/lab/experiment"
)

// A Slot is a planned trial: which arm at which level, in which round, and its position there.
type Slot struct {
	Round    int    `json:"round"`    // from 1
	Position int    `json:"position"` // in the round, from 1
	Arm      string `json:"arm"`
	Level    string `json:"level"`
}

// FileID is the name of the trial's file.
func (s Slot) FileID(attempt int) string {
	round := fmt.Sprintf("r%03d", s.Round)
	if attempt > 1 {
		return FileName(round, s.Arm, s.Level, fmt.Sprintf("again%d", attempt))
	}
	return FileName(round, s.Arm, s.Level)
}

// An AttemptKey identifies an attempt at a trial, so that a new plan finds the trials that are
// already done, whatever else has changed in the order. The name of the file is not enough: earlier
// versions gave different arms the same name.
type AttemptKey struct {
	TrialKey
	Number int
}

// Key is the key of an attempt at the slot; number is 1 for the first.
func (s Slot) Key(number int) AttemptKey {
	return AttemptKey{TrialKey{s.Arm, s.Level, s.Round}, number}
}

// A CellKey is an arm at a level.
type CellKey struct{ Arm, Level string }

// OrderRound returns a round's cells in the order in which they run. The order depends only on the
// seed and the round, so more rounds do not change earlier ones.
//
// These are randomised complete blocks: every round has each cell once, and shuffles all cells. It
// shuffles levels too, because a rising sweep would confuse time with load. Source: Abedi, Brecht,
// "Conducting Repeatable Experiments in Highly Variable Cloud Computing Environments", ICPE 2017
// (randomised multiple interleaved trials).
func OrderRound(kind string, seed int64, round int, cells []CellKey) []Slot {
	mixed := slices.Clone(cells)
	switch kind {
	case experiment.Interleaved:
		coin := rand.New(rand.NewPCG(uint64(seed), uint64(round)))
		coin.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	case experiment.ABBA:
		if round%2 == 0 {
			slices.Reverse(mixed)
		}
	}
	slots := make([]Slot, len(mixed))
	for i, c := range mixed {
		slots[i] = Slot{Round: round, Position: i + 1, Arm: c.Arm, Level: c.Level}
	}
	return slots
}

// OrderRounds returns all slots of that many rounds.
func OrderRounds(kind string, seed int64, rounds int, cells []CellKey) (all []Slot) {
	for round := range rounds {
		all = append(all, OrderRound(kind, seed, round+1, cells)...)
	}
	return all
}

// OrderSequence returns all rounds of a cell before those of the next cell.
func OrderSequence(rounds int, cells []CellKey) (all []Slot) {
	for i, c := range cells {
		for round := range rounds {
			all = append(all, Slot{Round: round + 1, Position: i + 1, Arm: c.Arm, Level: c.Level})
		}
	}
	return all
}

// A TrialKey identifies a trial, whichever its attempt.
type TrialKey struct {
	Arm, Level string
	Round      int
}
