package lab

import (
	"errors"
	"slices"

	"dyno/experiment"
)

// An arm is a variant as it takes part, or a control.
type arm struct {
	Arm
	variant experiment.Variant
}

// controlMark is what the name of a control ends with.
const controlMark = " (A/A)"

// findArms makes the arms, and has in the record also the variants that are not
// available here, and why.
func (r *running) findArms() error {
	var here []experiment.Variant
	for _, v := range experiment.Expand(r.Experiment) {
		if missing := r.missing(v); len(missing) > 0 {
			r.arms = append(r.arms, &arm{variant: v, Arm: Arm{Name: v.Name,
				Description: v.Description, Missing: missing}})
			continue
		}
		here = append(here, v)
	}
	if len(here) == 0 {
		return errors.New("no variant of the experiment is available here: " + r.whyNone())
	}
	for _, a := range experiment.Arms(r.Experiment, here) {
		r.arms = append(r.arms, &arm{variant: a.Variant, Arm: Arm{Name: a.Name,
			Description: a.Description, Control: a.AA, Baseline: a.Baseline}})
	}
	r.recall()
	r.listArms()
	return nil
}

// missing is why a variant is not available here, or not to the machines that load.
func (l *Lab) missing(v experiment.Variant) []string {
	reasons := experiment.Missing(v)
	if l.Fleet != nil && len(v.Sysctl) > 0 {
		reasons = append(reasons, "its kernel parameters are those of a private network, which a fleet "+
			"does not reach; set them on the machine, and leave out sysctl")
	}
	if l.Fleet != nil && v.Generator != nil {
		reasons = append(reasons, "its generator is a program of this machine, and not of a fleet")
	}
	return reasons
}

// recall takes over what an earlier run has found out of the arms.
func (r *running) recall() {
	for _, old := range r.record.Arms {
		if a := r.arm(old.Name); a != nil && r.record.Checked {
			a.Unfit, a.Answer, a.Version = old.Unfit, old.Answer, old.Version
		}
	}
}

func (r *running) whyNone() (why string) {
	for _, a := range r.arms {
		for _, m := range a.Missing {
			if why != "" {
				why += "; "
			}
			why += a.Name + ": " + m
		}
	}
	return why
}

// arm finds an arm by its name; nil if there is none.
func (r *running) arm(name string) *arm {
	for _, a := range r.arms {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// fit are the arms that can be loaded.
func (r *running) fit() (all []*arm) {
	for _, a := range r.arms {
		if len(a.Missing) == 0 && a.Unfit == "" {
			all = append(all, a)
		}
	}
	return all
}

// listArms puts what is known of the arms into the record.
func (r *running) listArms() {
	r.record.Arms = nil
	for _, a := range r.arms {
		r.record.Arms = append(r.record.Arms, a.Arm)
	}
}

// cells are all that a round runs.
func (r *running) cells() (all []cell) {
	for _, a := range r.fit() {
		for _, l := range r.Experiment.Levels {
			all = append(all, cell{a.Name, l.Name})
		}
	}
	return all
}

// level finds a level by its name, of which the file has no two.
func (r *running) level(name string) experiment.Level {
	i := slices.IndexFunc(r.Experiment.Levels, func(l experiment.Level) bool {
		return l.Name == name
	})
	return r.Experiment.Levels[i]
}

// question is what is asked of the trials.
func (r *Record) question() question {
	d := r.Experiment.Design
	q := question{metrics: d.Metrics, margin: float64(d.Margin)}
	for _, l := range r.Experiment.Levels {
		q.levels = append(q.levels, l.Name)
	}
	for _, a := range r.Arms {
		if len(a.Missing) == 0 && a.Unfit == "" {
			q.arms = append(q.arms, contender{a.Name, a.Baseline, a.Control})
		}
	}
	return q
}
