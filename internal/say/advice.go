package say

import (
	"strings"

	"dyno/internal/fact"
)

// A Voice is how settings are called where somebody described the load.
type Voice int

// The voices.
const (
	Flag Voice = iota // of the command line: --drain
	Key               // of an experiment's file: design: {drain: ...}
)

// A word is what a setting is called in each voice. A setting that a voice does not have is "".
type word struct{ flag, key string }

// words are the settings that remedies name, by their long names on the command line.
var words = map[string]word{
	"cpus":        {"--cpus", "design: {cpus: ...}"},
	"drain":       {"--drain", "design: {drain: ...}"},
	"rate":        {"-R", "the level's rate"},
	"connections": {"-c", "the level's connections"},
}

// Advice says what can be done: "give a longer --drain, or a lower -R". It is "" if a voice has
// none of the settings.
func Advice(all []fact.Remedy, v Voice) string {
	var parts []string
	for _, r := range all {
		w := words[r.Setting]
		name := w.flag
		if v == Key {
			name = w.key
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
