package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/experiment/secrets"
	"dyno/internal/lab/workload"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/result/plansecrets"
	"dyno/internal/setting"
)

// newMarks returns what replaces secrets in everything that is stored and written; nil if they are
// to be shown.
func newMarks(show bool) redact.Replacer { return marksFor("", show) }

// marksFor is newMarks with a key for a purpose: see dynohome.MarksFor.
func marksFor(purpose string, show bool) redact.Replacer {
	if show {
		return nil
	}
	home, err := dynohome.Dir()
	if err != nil { // nothing can be stored, so no marks are compared
		home = ""
	}
	return dynohome.MarksFor(home, purpose)
}

// markFaults is why secrets cannot be marked; none if they are to be shown.
func markFaults(show bool) []error {
	home, err := dynohome.Dir()
	if show || err != nil {
		return nil
	}
	return joinedErrors(dynohome.CheckMarks(home))
}

// planMarkFaults is why the secrets of the plan cannot be marked.
func (f *runFlags) planMarkFaults() []error {
	if faults := markFaults(f.showSecrets); len(faults) > 0 && len(plansecrets.Values(f.plan)) > 0 {
		return faults
	}
	return nil
}

// experimentMarkFaults is why the secrets of an experiment cannot be marked.
func experimentMarkFaults(e *experiment.Experiment, show bool) []error {
	if faults := markFaults(show); len(faults) > 0 && workload.HasSecrets(e) {
		return faults
	}
	return nil
}

// showSecretsOption is the flag by which secrets are kept.
func showSecretsOption(to *bool) option {
	own := readers{"show-secrets": setSwitch(to)}
	return pickOptions(tableGroups(setting.Run, nil, own), "show-secrets")[0]
}

// completingRunner is run with results that have the plan it was given, with secrets replaced by
// keep.
func completingRunner(run result.Runner, keep redact.Replacer) result.Runner {
	return func(ctx context.Context, p loadplan.Plan,
		each func(loadresult.Interval)) (*result.Result, error) {
		r, err := run(ctx, p, each)
		return r, errors.Join(err, r.RestorePlan(p, keep))
	}
}

// A given is a secret that a stored experiment lacks: its name, and the contents of a file.
type given struct{ name, file, value string }

// secretFlags are the secrets that the command line gives, and whether all are shown.
type secretFlags struct {
	all  []given
	show bool
}

// longestSecret is the size of the longest secret that is read, in bytes.
const longestSecret = 1 << 20

func (f *secretFlags) secretOption() option {
	return option{"secret", "", "NAME=@FILE",
		"the value of a secret, which a stored experiment lacks;\n" + setting.Again, f.addSecret}
}

// addSecret adds the secret of a --secret. Its value comes from a file, because other users can
// read a command line.
func (f *secretFlags) addSecret(s string) error {
	name, file, found := strings.Cut(s, "=")
	path, isFile := strings.CutPrefix(file, "@")
	if !found || !isFile || name == "" || path == "" {
		return fmt.Errorf("%q is not NAME=@FILE; a secret is read from a file", name+"=...")
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	value, err := io.ReadAll(io.LimitReader(in, longestSecret+1))
	switch {
	case err != nil:
		return err
	case len(value) > longestSecret:
		return fmt.Errorf("%s has more than %d bytes", path, longestSecret)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(value), "\n"), "\r")
	if text == "" {
		return fmt.Errorf("%s is empty", path)
	}
	f.all = append(f.all, given{name, path, text})
	return nil
}

// fillSecrets puts back the secrets that e was stored without. If begun is set the experiment is
// resumed, which needs the same secrets. Otherwise it may run with other ones, and note is called
// with that.
func (f *secretFlags) fillSecrets(e *experiment.Experiment, begun bool, note func(string)) (
	*experiment.Experiment, error) {
	if faults := experimentMarkFaults(e, f.show); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	lacks := secrets.ListMissing(e)
	names := func(all []secrets.Lack) (names []string) {
		for _, l := range all {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
		return names
	}
	values := map[string][]string{}
	var faults []error
	for _, g := range f.all {
		if !slices.ContainsFunc(lacks, func(l secrets.Lack) bool { return l.Is(g.name) }) {
			has := "it lacks no secret"
			if len(lacks) > 0 {
				has = "it lacks " + strings.Join(names(lacks), ", ")
			}
			faults = append(faults, fmt.Errorf("--secret %s: the experiment has no place for it; %s",
				g.name, has))
		}
		values[strings.ToLower(g.name)] = append(values[strings.ToLower(g.name)], g.value)
	}
	filled, missing, others, err := secrets.FillIn(e, values, newMarks(false))
	faults = append(faults, joinedErrors(err)...)
	if len(missing) > 0 {
		var flags []string
		for _, name := range names(missing) {
			flags = append(flags, fmt.Sprintf("--secret %s=@FILE", name))
		}
		faults = append(faults, fmt.Errorf("it was stored without its secrets, and lacks %s; "+
			"give what it had: %s (what {{env}} takes from the environment needs nothing)",
			strings.Join(names(missing), ", "), strings.Join(flags, " ")))
	}
	for _, l := range others {
		told := fmt.Sprintf("--secret %s: its mark is not %s, which is that of the one before", l.Name,
			l.Mark)
		if begun {
			faults = append(faults, fmt.Errorf("%s: it is another, or was marked in another $DYNO_HOME; "+
				"an experiment goes on with the same", told))
		} else {
			note(told)
		}
	}
	return filled, errors.Join(faults...)
}

// writeRemark writes a message that reports no fault.
func (s streams) writeRemark(text string) { s.writeLine("dyno: %s", text) }
