package experiment

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/lab/experiment/keys"
	"dyno/internal/redact"
	"dyno/internal/setting"
)

// This file is the settings of a load that a level or the workload has: those of the table whose
// key begins with level or workload.

// SetPlan sets in a plan what the level says of its settings. One whose rate is not known yet, for
// it is a share of a capacity or is searched, has none.
func (l Level) SetPlan(p *loadplan.Plan) error {
	if l.Rate == 0 {
		l.Arrival = ""
	}
	return keys.SetPlan(p, "level", l, Default[Level]())
}

// Way is how the connections of a level are made.
func (l Level) Way() (loadplan.Way, error) {
	p := loadplan.DefaultPlan()
	err := l.SetPlan(&p)
	return p.Way(), err
}

// SetPlan sets in a plan what the workload says of its settings.
func (w Workload) SetPlan(p *loadplan.Plan) error {
	err := keys.SetPlan(p, "workload", w, Workload{})
	if p.Stream.IsSet() {
		p.Drain = loadplan.StreamDrain
	}
	return err
}

// Take sets what a plan says of the settings that are given, by their names.
func (l *Level) Take(p *loadplan.Plan, given map[string]bool) error {
	return keys.Take(l, "level", p, given)
}

// Take likewise sets what the plan says of the workload's settings.
func (w *Workload) Take(p *loadplan.Plan, given map[string]bool) error {
	return keys.Take(w, "workload", p, given)
}

// Settings are those of a plan that a level and the workload say together, before variables have
// values: another user stands in the place of one who is known later.
func (e *Experiment) Settings(l Level) (loadplan.Plan, error) {
	p, w := loadplan.DefaultPlan(), e.Workload
	if isKnownLater(w.User) {
		w.User = "USER:PASSWORD"
	}
	return p, errors.Join(l.SetPlan(&p), w.SetPlan(&p))
}

// isKnownLater reports whether the text of a user is another when the load is made: it comes from
// the environment, or was stored without its secret.
func isKnownLater(user string) bool { return HasEnv(user) || redact.HasMark(user) }

// checkPlan checks the settings of a level and of the workload together, as the engine does, each
// at its key; those of the workload if first.
func (c *checker) checkPlan(at string, l Level, first bool) {
	p, err := c.Settings(l)
	if err != nil {
		return // a value has a fault of its own
	}
	p.Users = 0 // who need a scenario, which is made of files
	for _, flaw := range p.SettingFlaws() {
		place, key, is := strings.Cut(setting.InKeys(flaw.Setting), ".")
		c.addFaultIf(is && place == "level", at+"."+key, "%s", inFile(flaw))
		c.addFaultIf(is && place == "workload" && first, place+"."+key, "%s", inFile(flaw))
	}
}

// inFile says a flaw with keys of the file.
func inFile(flaw loadplan.Flaw) string {
	return setting.Heard(flaw, func(field string) string {
		_, key, _ := strings.Cut(setting.InKeys(field), ".")
		return key
	}).Says()
}

// Beyond reports whether a level sets anything else than the default, besides some keys.
func (l Level) Beyond(besides ...string) bool {
	mine, plain := reflect.ValueOf(l), reflect.ValueOf(Default[Level]())
	fields, all, _ := keysOf(mine.Type())
	return slices.ContainsFunc(all, func(key string) bool {
		at := fields[key].Index
		same := reflect.DeepEqual(mine.FieldByIndex(at).Interface(), plain.FieldByIndex(at).Interface())
		return !same && !slices.Contains(append(besides, "name"), key)
	})
}

// isOfPlan reports whether SetPlan of a level or of the workload sets it.
func isOfPlan(s *setting.Setting) bool {
	place, _, _ := strings.Cut(s.Key, ".")
	return s.Set != nil && (place == "level" || place == "workload")
}
