package run

import (
	"cmp"
	"dyno/internal/lab"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"dyno/internal/engine/load"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/experiment/secrets"
	"dyno/internal/redact"
)

// A concealer keeps an experiment's secrets out of what is stored of it. By their names package
// redact finds them; what others have written, as a server its last words, is searched for the
// values themselves. The zero value conceals nothing.
type concealer struct {
	keep   redact.Replacer
	values []string // that are secret: those of the file, and those of the environment
}

// shortestHidden is how long a value is that is looked for within texts. A shorter one is in many
// by chance, and is only found as a whole argument.
const shortestHidden = 6

// concealing is the concealer of an experiment from whose file secrets were taken out.
func concealing(e *experiment.Experiment, keep redact.Replacer, secrets []string) concealer {
	if keep == nil {
		return concealer{}
	}
	c := concealer{keep, slices.Clone(secrets)}
	for _, v := range experiment.Expand(e) {
		c.values = append(c.values, v.Environment()...)
	}
	slices.SortFunc(c.values, func(a, b string) int { // one may be in another
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	c.values = slices.Compact(c.values)
	return c
}

// text is a text without secret values.
func (c concealer) text(s string) string {
	for _, v := range c.values {
		if len(v) >= shortestHidden && strings.Contains(s, v) {
			s = strings.ReplaceAll(s, v, c.keep("", v))
		}
	}
	return c.keep.Text(s)
}

func (c concealer) texts(all []string) {
	for i, s := range all {
		all[i] = c.text(s)
	}
}

// arguments are those of a process, after its program, which is known by its file anyway.
func (c concealer) arguments(all []string) {
	if len(all) == 0 || c.keep == nil {
		return
	}
	for i, kept := range c.keep.Words(all)[1:] {
		if slices.Contains(c.values, kept) {
			kept = c.keep("", kept)
		}
		all[i+1] = c.text(kept)
	}
}

// trial is all that a trial's file has from others.
func (c concealer) trial(t *lab.Trial) {
	if f := t.Failure; f != nil {
		f.Reason, f.Output = c.text(f.Reason), c.text(f.Output)
	}
	for _, p := range t.Programs {
		c.arguments(p.Args)
	}
	for i := range t.Changed {
		d := &t.Changed[i]
		d.Before, d.After = c.text(d.Before), c.text(d.After)
	}
	c.texts(t.Killed)
	if t.Result == nil {
		return
	}
	for i := range t.Result.Errors {
		t.Result.Errors[i].Detail = c.text(t.Result.Errors[i].Detail)
	}
	t.Result.Cause = c.text(t.Result.Cause)
	c.texts(t.Result.Warnings)
}

// arm is likewise what is told of an arm.
func (c concealer) arm(a *lab.Arm) {
	c.texts(a.Missing)
	a.Description = c.text(a.Description)
	a.Unfit, a.Remedy, a.Version = c.text(a.Unfit), c.text(a.Remedy), c.text(a.Version)
}

// answer is what a server says: what it sets as a cookie is as secret as what it is sent as one.
func (c concealer) answer(a *fairness.Answer) {
	if a == nil || c.keep == nil {
		return
	}
	for i, line := range a.Header {
		switch {
		case redact.Secret(line.Name):
			a.Header[i].Value = c.keep(line.Name, line.Value)
		case strings.EqualFold(line.Name, "Location"):
			a.Header[i].Value = c.keep.URL(line.Value)
		}
	}
	a.URL = c.keep.URL(a.URL)
	c.within(reflect.ValueOf(a))
}

// within conceals in all texts of what v points to, however deep.
func (c concealer) within(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(c.text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			c.within(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.within(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				c.within(v.Field(i))
			}
		}
	}
}

// plans are the load of a level on an arm's server, as it is made, and as it is kept.
func (r *running) plans(a *arm, l experiment.Level, url string, cpus []int) (made, kept load.Plan,
	err error) {
	w := r.workload(a)
	real := w
	if real.Request, err = w.Request.Expand(nil); err != nil {
		return made, kept, err
	}
	if made, err = plan(r.Experiment, l, real, url, cpus); err != nil || r.Keep == nil {
		return made, made, err
	}
	made.Target.URL = r.conceal.path(r.Keep.URL(made.Target.URL))
	if kept = made; w.Request.FromEnvironment() {
		if w.Request, err = w.Request.Expand(r.Keep); err == nil {
			kept, err = plan(r.Experiment, l, w, url, cpus)
		}
		kept.Target = made.Target
	}
	kept.Requests = slices.Clone(kept.Requests) // whose path may be the URL's, and so from there too
	for i := range kept.Requests {
		q := &kept.Requests[i]
		q.Path, q.Name = r.conceal.text(q.Path), r.conceal.text(q.Name)
	}
	return made, kept, err
}

// path is a URL without secret values in what follows its host: where a load went is said.
func (c concealer) path(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?"); found && i >= 0 {
		return scheme + "://" + rest[:i] + c.text(rest[i:])
	}
	return url
}

// lackingSecrets reports an experiment that was stored without its secrets, and has not got them
// back: a mark is nothing to send.
func lackingSecrets(e *experiment.Experiment) error {
	var all []error
	for _, l := range secrets.ListMissing(e) {
		all = append(all, fmt.Errorf("the experiment is stored without its secrets: %s is missing; "+
			"give it with --secret %s=@FILE", l.Name, l.Name))
	}
	return errors.Join(all...)
}
