package lab

import (
	"strings"

	"dyno/internal/fact"
	"dyno/internal/stats"
)

// A Sensitivity is how much the choice of generator moves a cell: the baseline at the first level,
// measured again with other settings of the generator.
type Sensitivity struct {
	Arm      string             `json:"arm"`
	Level    string             `json:"level"`
	Metric   string             `json:"metric"`
	Settings []SensitiveSetting `json:"settings"`
	Skipped  []string           `json:"skipped,omitempty"` // what was not tried, with the reason
	Matters  bool               `json:"matters"`           // one moves it by more than the margin
	Sentence string             `json:"sentence"`
	Fact     *fact.Fact         `json:"fact,omitempty"`   // the sentence's
	Trials   []TrialSummary     `json:"trials,omitempty"` // in the order in which they ran
}

// A SensitiveSetting is one setting, with the ratio to what the experiment asks for. The intervals
// hold for all settings together.
type SensitiveSetting struct {
	Name   string         `json:"name"`
	Ratio  stats.Interval `json:"ratio"`
	Trials int            `json:"trials"` // pairs of them
}

// SensitivityRound is the number of the first round that tries settings of the generator. It is
// larger than that of any round of a gate's second batch.
const SensitivityRound = 3001

// AsAsked is the name of the setting that the experiment asks for.
const AsAsked = "as asked"

// SettingArm is the name of an arm with a setting of the generator.
func SettingArm(arm, setting string) string { return arm + " [" + setting + "]" }

// SettingOf is the setting of the generator in the name of an arm.
func (s *Sensitivity) SettingOf(arm string) string {
	return strings.TrimSuffix(strings.TrimPrefix(arm, s.Arm+" ["), "]")
}

// TriesGenerator reports whether a trial belongs to the sensitivity, and not to the comparisons.
func (s Slot) TriesGenerator() bool { return s.Round >= SensitivityRound }
