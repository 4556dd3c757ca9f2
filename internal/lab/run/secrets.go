package run

import (
	"dyno/internal/lab"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/experiment/secrets"
	"dyno/internal/lab/workload"
	"dyno/internal/redact"
	"dyno/internal/result/plansecrets"
)

// A concealer keeps an experiment's secrets out of what is stored of it. By their names package
// redact finds them; what others have written, as a server its last words, is searched for the
// values themselves. The zero value conceals nothing.
type concealer struct {
	keep   redact.Replacer
	values []string             // that are secret: of the file, the environment and the loads
	has    map[string]bool      // the same, to ask of each whether it is among them
	public []string             // where loads go, which is no secret whatever value is a part of it
	loads  map[lab.CellKey]bool // whose values are known
	known  *redact.Known
}

// concealing is the concealer of an experiment from whose file secrets were taken out.
func concealing(e *experiment.Experiment, keep redact.Replacer, secrets []string) concealer {
	c := concealer{keep: keep, public: experiment.Destinations(e), has: map[string]bool{},
		loads: map[lab.CellKey]bool{}}
	for _, v := range experiment.Expand(e) {
		secrets = append(secrets, v.Environment()...)
	}
	c.learn(secrets, nil)
	return c
}

// learn has c conceal more values, but for what is where loads go.
func (c *concealer) learn(values, public []string) {
	if c.keep == nil {
		return
	}
	had := len(c.values) + len(c.public)
	for _, s := range public {
		if !slices.Contains(c.public, s) {
			c.public = append(c.public, s)
		}
	}
	for _, v := range values {
		if !c.has[v] && !redact.IsMark(v) {
			c.values, c.has[v] = append(c.values, v), true
		}
	}
	if len(c.values)+len(c.public) > had || c.known == nil { // it cleans URLs without values, too
		c.known = redact.NewKnown(c.keep, c.values, c.public...)
	}
}

// learnLoad has c conceal the values of the load of a level on an arm's server. They are the same
// in each trial, and may be thousands, so it looks at them in the first.
func (c *concealer) learnLoad(of lab.CellKey, p loadplan.Plan) {
	if !c.loads[of] {
		c.learn(plansecrets.Values(p), plansecrets.Destination(p))
		c.loads[of] = true
	}
}

// isPublic reports whether a value is a part of where a load goes.
func (c concealer) isPublic(v string) bool {
	return slices.ContainsFunc(c.public, func(s string) bool { return strings.Contains(s, v) })
}

// text is a text without secret values, of which none was cut.
func (c concealer) text(s string) string { return c.known.Text(s) }

// said is what others have said, without secret values. It may have been cut.
func (c concealer) said(s string) string { return c.known.Cut(s) }

func (c concealer) texts(all []string) {
	for i, s := range all {
		all[i] = c.text(s)
	}
}

// words are the arguments of a command.
func (c concealer) words(all []string) []string {
	if c.keep == nil {
		return all
	}
	kept := slices.Clone(c.keep.Words(all))
	for i, word := range kept {
		if c.has[word] && !c.isPublic(word) {
			word = c.keep("", word)
		}
		kept[i] = c.text(word)
	}
	return kept
}

// arguments are those of a process. The first is what it calls itself, which says as little as its
// file if it is that one's name, and may be a whole command.
func (c concealer) arguments(p lab.Program) {
	if len(p.Args) == 0 {
		return
	}
	name, last := p.Args[0], len(p.Args)-1
	cut := len(strings.Join(p.Args, " ")) >= argsMax-utf8.UTFMax
	if copy(p.Args, c.words(p.Args)); cut {
		p.Args[last] = c.said(p.Args[last])
	}
	if name == p.Path || name == path.Base(p.Path) {
		p.Args[0] = name
	}
}

// trial is all that a trial's file has from others.
func (c concealer) trial(t *lab.Trial) {
	if f := t.Failure; f != nil {
		f.Reason, f.Output = c.said(f.Reason), c.said(f.Output)
	}
	for _, p := range t.Programs {
		c.arguments(p)
	}
	for i := range t.Changed {
		d := &t.Changed[i]
		d.Before, d.After = c.text(d.Before), c.text(d.After)
	}
	c.texts(t.Killed)
	if t.Search != nil {
		t.Search.Reason = c.said(t.Search.Reason)
	}
	if t.Result != nil {
		t.Result.Conceal(c.known)
	}
}

// arm is likewise what is told of an arm.
func (c concealer) arm(a *lab.Arm) {
	c.texts(a.Missing)
	a.Description = c.text(a.Description)
	a.Unfit, a.Remedy, a.Version = c.text(a.Unfit), c.text(a.Remedy), c.text(a.Version)
}

// answer is what a server says: what it sets as a cookie is as secret as what it is sent as one.
func (c concealer) answer(a *fairness.Answer) {
	if a == nil {
		return
	}
	defer a.Shorten()
	if c.keep == nil {
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
	for i, line := range a.Trailer {
		if redact.Secret(line.Name) {
			a.Trailer[i].Value = c.keep(line.Name, line.Value)
		}
	}
	a.URL = c.keep.URL(a.URL)
	c.within(reflect.ValueOf(a))
	a.BodyStart, a.Opens.Problem = c.said(a.BodyStart), c.said(a.Opens.Problem)
	if a.Gzip != nil {
		a.Gzip.Problem = c.said(a.Gzip.Problem)
	}
	if a.Unknown != nil {
		a.Unknown.Problem = c.said(a.Unknown.Problem)
	}
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
func (r *running) plans(a *arm, l experiment.Level, url string, cpus []int) (made,
	kept loadplan.Plan,
	err error) {
	w, l := r.workload(a), a.variant.LevelOf(l)
	real, err := w.ExpandVariables(nil)
	if err != nil {
		return made, kept, err
	}
	made, err = workload.Plan(r.Experiment, r.inputs, l, real, url, cpus)
	if err != nil || r.Keep == nil {
		return made, made, err
	}
	r.conceal.learnLoad(lab.CellKey{Arm: a.Name, Level: l.Name}, made)
	made.Target.URL = r.conceal.path(r.Keep.URL(made.Target.URL))
	if kept = made; w.FromEnvironment() {
		if w, err = w.ExpandVariables(r.Keep); err == nil {
			w.User = real.User // which is not kept
			kept, err = workload.Plan(r.Experiment, r.inputs, l, w, url, cpus)
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
		if l.Spare {
			continue
		}
		all = append(all, fmt.Errorf("the experiment is stored without its secrets: %s is missing; "+
			"give it with --secret %s=@FILE", l.Name, l.Name))
	}
	return errors.Join(all...)
}
