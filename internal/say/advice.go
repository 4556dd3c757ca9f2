package say

import (
	"cmp"
	"strings"

	"dyno/internal/fact"
)

// A Voice is how settings are called where somebody described the load.
type Voice int

// The voices.
const (
	Flag   Voice = iota // of the command line: --drain
	Key                 // of an experiment's file: design: {drain: ...}
	Replay              // of the command line, where requests have times and the load has no rate
)

// A word is what a setting is called in each voice. A setting that a voice does not have is "".
type word struct {
	flag, key string
	replay    string // "": as flag
}

// words are the settings that remedies name, by their long names on the command line.
var words = map[string]word{
	"cpus":        {flag: "--cpus", key: "design: {cpus: ...}"},
	"drain":       {flag: "--drain", key: "design: {drain: ...}"},
	"rate":        {flag: "-R", key: "the level's rate", replay: ReplaySpeed},
	"connections": {flag: "-c", key: "the level's connections"},
	"users":       {flag: "--users", key: "the workload's users"},
	"follow":      {flag: "--follow", key: "the level a follow of"},
	"slo":         {flag: "--slo", key: "objectives:"},
}

// ReplaySpeed is what a replay has in place of a rate.
const ReplaySpeed = "the speed of the replay (dyno from access-log --replay)"

// Advice says what can be done: "give a longer --drain, or a lower -R". It is "" if a voice has
// none of the settings.
func Advice(all []fact.Remedy, v Voice) string {
	var parts []string
	for _, r := range all {
		w := words[r.Setting]
		name := w.flag
		switch v {
		case Key:
			name = w.key
		case Replay:
			name = cmp.Or(w.replay, name)
		}
		switch {
		case name == "":
		case r.Value == fact.Higher:
			parts = append(parts, "raise "+name)
		case r.Value == fact.Lower:
			parts = append(parts, "lower "+name)
		default:
			parts = append(parts, "give "+name+" "+r.Value)
		}
	}
	return strings.Join(parts, ", or ")
}
