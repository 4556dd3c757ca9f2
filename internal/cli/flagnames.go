package cli

import (
	"errors"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fault"
	"dyno/internal/setting"
)

// inFlags is an error whose fields are named by flags, if it is a Flaw.
func inFlags(err error) error {
	flaw, is := err.(loadplan.Flaw)
	if !is {
		return err
	}
	return flaw.Named(setting.InFlags)
}

// planFaults are those of the plan.
func (f *runFlags) planFaults() (all []error) {
	for _, flaw := range f.plan.Flaws() {
		all = append(all, f.heard(flaw))
	}
	return all
}

// heard is a flaw at a flag, which is a field of a form, too; what it says of others is in the
// words of whoever wrote it.
func (f *runFlags) heard(flaw loadplan.Flaw) loadplan.Flaw {
	others := setting.InFlags
	if f.purpose == formPurpose {
		others = setting.InLabels
	}
	at, said := flaw.Named(setting.InFlags), flaw.Named(others)
	at.Problem, at.Mend = said.Problem, said.Mend
	return at
}

// inVsFlags are the faults of a composed experiment by the flags of dyno vs. Its user has no such
// file, so that a place in it says nothing. Those of other files have no path.
func inVsFlags(err error) error {
	var all []error
	for _, one := range joinedErrors(err) {
		if f, is := errors.AsType[fault.Fault](one); is && f.Path != "" {
			flaw := loadplan.Flaw{Setting: f.Path, Problem: f.Problem}
			if s := setting.AtPath(setting.Vs, f.Path); s != nil {
				flaw.Setting = "--" + s.Name
			}
			one = flaw
		}
		all = append(all, one)
	}
	return errors.Join(all...)
}
