package run

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	"dyno/internal/say"
)

// An arm is a variant that takes part, or a control.
type arm struct {
	lab.Arm
	variant experiment.Variant
	tune    func(*loadplan.Plan) // changes settings of the generator; nil: none
}

// findArms makes the arms. It also records the variants that are not available here, with the
// reason.
func (r *running) findArms() error {
	var here []experiment.Variant
	for _, v := range experiment.Expand(r.Experiment) {
		if missing := r.exclusionReasons(r.record, v); len(missing) > 0 {
			r.arms = append(r.arms, &arm{variant: v, Arm: lab.Arm{Name: v.Name,
				Description: v.Description, Missing: missing, LeftOut: v.LeftOut}})
			continue
		}
		here = append(here, v)
	}
	if len(here) == 0 {
		r.recordArms()
		return fmt.Errorf("%s: %w", judge.Unloaded(r.record), ErrNothingLeft)
	}
	for _, a := range design.Arms(r.Experiment, here) {
		r.arms = append(r.arms, &arm{variant: a.Variant, Arm: lab.Arm{Name: a.Name,
			Description: a.Description, Control: a.AA, Baseline: a.Baseline}})
	}
	r.restoreChecks()
	r.recordArms()
	return nil
}

// exclusionReasons is why a variant takes no part in an experiment that was begun as r. What was
// found out then counts.
func (l *Lab) exclusionReasons(r *lab.Record, v experiment.Variant) []string {
	missing, begun := l.missingReasons(v), checkedArm(r, v.Name)
	switch {
	case begun == nil:
		return missing
	case len(begun.Missing) > 0 && len(missing) == 0:
		return []string{unavailable(fact.NotThen)}
	}
	return begun.Missing
}

// checkedArm is a record's arm if it was checked; nil otherwise.
func checkedArm(r *lab.Record, name string) *lab.Arm {
	i := slices.IndexFunc(r.Arms, func(a lab.Arm) bool { return a.Name == name })
	if i < 0 || !r.Checked {
		return nil
	}
	return &r.Arms[i]
}

// checkStillAvailable reports why l cannot continue the experiment old: a variant that was loaded
// is no longer available.
func (l *Lab) checkStillAvailable(old *lab.Record) error {
	var all []string
	for _, v := range experiment.Expand(l.Experiment) {
		a := checkedArm(old, v.Name)
		if a == nil || len(a.Missing) > 0 || a.Unfit != "" {
			continue
		}
		v.Build = nil // it was built before
		if missing := l.missingReasons(v); len(missing) > 0 {
			all = append(all, v.Name+": "+strings.Join(missing, "; "))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("what it was begun with is not available now (dyno lab show %s has what was "+
		"measured): %s", old.Dir, strings.Join(all, "; "))
}

// unavailable is why a variant cannot be loaded, for the record.
func unavailable(why fact.Unavailable) string {
	return say.Plain(fact.ArmUnavailable{Why: why})
}

// missingReasons is why a variant is not available on this machine, or not reachable for the
// agents.
func (l *Lab) missingReasons(v experiment.Variant) []string {
	reasons := experiment.Missing(v)
	if l.Fleet != nil && len(v.Sysctl) > 0 {
		reasons = append(reasons, unavailable(fact.OwnKernel))
	}
	if l.Fleet != nil && v.Generator != nil {
		reasons = append(reasons, unavailable(fact.OwnGenerator))
	}
	return reasons
}

// restoreChecks restores what an earlier session found out about the arms.
func (r *running) restoreChecks() {
	for _, a := range r.arms {
		if old := checkedArm(r.record, a.Name); old != nil {
			a.Unfit, a.Remedy, a.Answer, a.Version = old.Unfit, old.Remedy, old.Answer, old.Version
		}
	}
}

// armNamed returns the arm of that name; nil if there is none.
func (r *running) armNamed(name string) *arm {
	for _, a := range append(slices.Clip(r.arms), r.tuned...) {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// loadableArms are the arms that can be loaded.
func (r *running) loadableArms() (all []*arm) {
	for _, a := range r.arms {
		if len(a.Missing) == 0 && a.Unfit == "" {
			all = append(all, a)
		}
	}
	return all
}

// recordArms writes what is known of the arms into the record.
func (r *running) recordArms() {
	r.record.Arms = nil
	for _, a := range r.arms {
		r.conceal.arm(&a.Arm)
		r.record.Arms = append(r.record.Arms, a.Arm)
	}
}

// levelNamed returns the level of that name. Names are unique in a file.
func (r *running) levelNamed(name string) experiment.Level {
	i := slices.IndexFunc(r.Experiment.Levels, func(l experiment.Level) bool {
		return l.Name == name
	})
	return r.Experiment.Levels[i]
}
