package setting

import (
	"slices"

	"dyno/internal/engine/loadplan"
)

// A Given is a setting that a plan has, with its value as the flag has it.
type Given struct {
	*Setting
	Argument string
}

// first are the settings that a command has first: how much load there is.
var first = []string{"connections", "threads", "rate", "arrival", "stage", "seed", "requests",
	"duration"}

// Shown are the settings by which a command repeats a plan: those that differ from the default, or
// whose default depends on the machine. What the command line makes requests of is not among them.
func Shown(p *loadplan.Plan) (all []Given) {
	d := loadplan.DefaultPlan()
	for _, name := range first {
		all = append(all, Named(name).shown(p, &d)...)
	}
	for i := range Table {
		if s := &Table[i]; !slices.Contains(first, s.Name) {
			all = append(all, s.shown(p, &d)...)
		}
	}
	return all
}

// SaysWhatIsSent reports whether a setting is about requests and their responses, and not about the
// load.
func (s *Setting) SaysWhatIsSent() bool { return s.Group == requestGroup }

// shown are the values of a setting that a command has, for a plan that has d as its default.
func (s *Setting) shown(p, d *loadplan.Plan) (all []Given) {
	if s.Text == nil {
		return nil
	}
	values := s.Text(p)
	differs := s.Varies || !slices.Equal(values, s.Text(d))
	if s.Shows != nil {
		differs = s.Shows(p, differs)
	}
	if !differs {
		return nil
	}
	for _, v := range values {
		all = append(all, Given{s, v})
	}
	return all
}

// Description is what the line that describes a load has of its settings, each behind a comma.
func Description(p *loadplan.Plan) (all string) {
	for i := range Table {
		if s := &Table[i]; s.Says != nil {
			if text := s.Says(p); text != "" {
				all += ", " + text
			}
		}
	}
	return all
}
