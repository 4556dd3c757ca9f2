package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"dyno/internal/lab/experiment"
)

// A Slot is a trial that is to be: which arm at which level, in which round, as
// the how manieth of it.
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

// An AttemptKey is what a trial is of, so that a plan made again finds what is done already,
// whatever else has changed in the order. A file's name does not tell: those that earlier
// versions wrote are the same for different arms.
type AttemptKey struct {
	TrialKey
	Number int
}

// Key is the key of the slot's attempt of that number, from 1.
func (s Slot) Key(number int) AttemptKey {
	return AttemptKey{TrialKey{s.Arm, s.Level, s.Round}, number}
}

// A CellKey is an arm at a level.
type CellKey struct{ Arm, Level string }

// OrderRound is a round's cells in the order in which they run. It depends on the
// seed and the round alone, so that rounds already run do not change when there
// are more of them.
//
// Randomised complete blocks: every cell once a round, all shuffled, levels too,
// for a rising sweep would take time for load. Source: Abedi, Brecht,
// "Conducting Repeatable Experiments in Highly Variable Cloud Computing
// Environments", ICPE 2017 (randomised multiple interleaved trials).
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

// OrderRounds are all slots of so many rounds.
func OrderRounds(kind string, seed int64, rounds int, cells []CellKey) (all []Slot) {
	for round := range rounds {
		all = append(all, OrderRound(kind, seed, round+1, cells)...)
	}
	return all
}

// OrderSequence is all rounds of a cell before the next cell's.
func OrderSequence(rounds int, cells []CellKey) (all []Slot) {
	for i, c := range cells {
		for round := range rounds {
			all = append(all, Slot{Round: round + 1, Position: i + 1, Arm: c.Arm, Level: c.Level})
		}
	}
	return all
}

// A TrialKey is where a trial belongs.
type TrialKey struct {
	Arm, Level string
	Round      int
}
