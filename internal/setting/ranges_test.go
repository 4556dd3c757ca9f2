package setting

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/scenario"
)

// The range that a row has is that of Plan.Check.
func TestRanges(t *testing.T) {
	for i := range Table {
		s := &Table[i]
		if s.Most == 0 {
			continue
		}
		for n, want := range map[int64]bool{s.Least - 1: true, s.Least: false, s.Most: false, s.Most + 1: true} {
			p := loadplan.DefaultPlan()
			err := s.Set(&p, strconv.FormatInt(n, 10))
			if s.Name == "users" {
				p.Scenario = scenario.Program{}
			}
			if got := err != nil || outOfRange(&p, s.Field, n); got != want {
				t.Errorf("%s: %d is refused: %v, want %v", s.Name, n, got, want)
			}
		}
	}
}

// outOfRange reports whether a plan's field is out of the range that the engine tells.
func outOfRange(p *loadplan.Plan, field string, n int64) bool {
	return slices.ContainsFunc(p.SettingFlaws(), func(f loadplan.Flaw) bool {
		return f.Setting == field && strings.HasPrefix(f.Problem, strconv.FormatInt(n, 10)+" is not within ")
	})
}
