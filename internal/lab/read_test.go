package lab

import (
	"reflect"
	"testing"

	"dyno/internal/fact"
)

// Cautions that an earlier version stored as texts are facts of those texts; others stay.
func TestCautionsOfBefore(t *testing.T) {
	spoiled := fact.Fact{Args: fact.ServerSpoiled{Trials: 2, Of: 2}}
	busy := fact.Fact{Args: fact.MachineBusy{Trials: 2, Of: 2}}
	told := fact.Fact{Severity: fact.Warning, Args: fact.Told{Text: "the machine was busy"}}
	for name, c := range map[string]struct{ facts, want []fact.Fact }{
		"of before":             {nil, []fact.Fact{told}},
		"of before, with facts": {[]fact.Fact{spoiled}, []fact.Fact{told, spoiled}},
		"as facts":              {[]fact.Fact{busy, spoiled}, []fact.Fact{busy, spoiled}},
	} {
		r := &Record{Findings: Findings{Cautions: []string{"the machine was busy"}, Facts: c.facts}}
		if r.factsOfTexts(); !reflect.DeepEqual(r.Facts, c.want) {
			t.Errorf("%s: %+v", name, r.Facts)
		}
	}
}
