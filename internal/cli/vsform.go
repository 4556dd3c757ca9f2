package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/lab/versus"
	"dyno/internal/redact"
	"dyno/internal/setting"
	dashboard "dyno/internal/view/serve"
)

// This file is the dashboard's form of two servers: dyno vs with URLs, and with no flag that reads
// a file or executes anything.

// versusFields are the fields of the form: the URL of each server, and settings of dyno vs.
func versusFields() []dashboard.Field {
	all := []dashboard.Field{
		{Name: "url", Value: "URL", Does: "URL of a server that is running",
			Hint: dashboard.Hint{Label: "A, the one to compare with", Default: "http://127.0.0.1:8080/"}},
		{Name: "url", Value: "URL", Does: "URL of the other; both get the same requests",
			Hint: dashboard.Hint{Label: "B", Default: "http://127.0.0.1:8081/"}}}
	for _, s := range setting.Compared() {
		all = append(all, dashboard.Field{Name: s.Name, Value: s.Value, Short: s.Short,
			Does: s.FormHelp(s.Compare), Hint: s.Hints(s.Compare)})
	}
	return all
}

// isVersusField reports whether the form has a field of that name.
func isVersusField(name string) bool {
	return slices.ContainsFunc(versusFields(), func(f dashboard.Field) bool { return f.Name == name })
}

// newVersusReader returns the function that reads the form. The experiment runs in a process of the
// program exe, with a folder in the store of home.
func newVersusReader(exe, home string) func(dashboard.Form) (dashboard.Conducting, []error) {
	return func(given dashboard.Form) (dashboard.Conducting, []error) {
		form := dashboard.Form{}
		maps.Copy(form, given)
		form["url"] = nil // :8080 is a URL, and no name of a file
		for _, u := range given["url"] {
			form["url"] = append(form["url"], requests.FullURL(u))
		}
		args, faults := versusArgs(form)
		targets, more := formServers(form["url"])
		if faults = append(faults, more...); len(faults) > 0 {
			return dashboard.Conducting{}, faults
		}
		f, faults := readVs(context.Background(), args)
		if len(faults) > 0 {
			return dashboard.Conducting{}, faults
		}
		e, err := f.compose(func(string) {})
		if err != nil {
			return dashboard.Conducting{}, joinedErrors(err)
		}
		o := order{Versus: args, Dir: experimentFolder(home, e.Name)}
		return dashboard.Conducting{Name: e.Name, Dir: o.Dir, Targets: targets,
			Run: func(ctx context.Context) error { return o.carryOut(ctx, exe) }}, nil
	}
}

// versusArgs is the command line of dyno vs that means the same as the form.
func versusArgs(form dashboard.Form) (args []string, faults []error) {
	for name := range form {
		if !isVersusField(name) {
			faults = append(faults, loadplan.Flaw{Setting: "--" + name,
				Problem: "is not a field of the form"})
		}
	}
	for _, f := range versusFields() {
		for _, value := range form[f.Name] {
			if f.Name != "url" {
				args = append(args, "--"+f.Name+"="+value)
			}
		}
	}
	return append(append(args, "--"), form["url"]...), faults
}

// formServers are the servers that a form names. Each must be a URL, because dyno vs executes any
// other word. A template could read the environment, and the mark of a secret in a stored URL would
// let users of the form test guesses.
func formServers(urls []string) (targets []loadplan.Target, faults []error) {
	for _, text := range urls {
		u, err := requests.Parse(text)
		switch {
		case err != nil:
		case !versus.IsURL(text):
			err = fmt.Errorf("%q is not a URL, as http://127.0.0.1:8080/", text)
		case strings.Contains(text, "{{"):
			err = fmt.Errorf("%q: a template is for experiment files and dyno vs", text)
		case redact.HasMark(redact.Replacer(redact.PlainMark).URL(text)):
			err = fmt.Errorf("the URL of %s has a secret or a password; compare it with dyno vs "+
				"in a terminal", u.Authority)
		}
		if err != nil {
			faults = append(faults, loadplan.Flaw{Setting: "URL", Problem: err.Error()})
		}
		targets = append(targets, u.Target)
	}
	if len(urls) < 2 {
		faults = append(faults, loadplan.Flaw{Setting: "URL", Problem: "two servers are compared, " +
			"or more; write the URL of each"})
	}
	return targets, faults
}

// conductVersus runs the comparison of an order until ctx ends. Nobody is asked anything.
func (s streams) conductVersus(ctx context.Context, o order) int {
	f, faults := readVs(ctx, o.Versus)
	if len(faults) > 0 {
		return s.refuseFlags("vs", faults)
	}
	f.output, f.conducted = o.Dir, true
	if code, _ := s.runVersus(ctx, f); code != exitUntrusted {
		return code
	}
	return exitOK // the page says itself what is undecided
}
