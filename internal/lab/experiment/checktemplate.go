package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// checkTemplates checks the templates of a variant. Faults that show only in rendered text are
// looked for with the first value of each factor, as in a trial.
func (c *checker) checkTemplates(at string, v Entry[Definition]) {
	trial := c.renderRehearsal(v)
	told, good := toldNames(v.Value), true
	eachTemplate(reflect.ValueOf(v.Value), at, func(path string, t Template) {
		all, wrong := findMentions(string(t))
		for _, m := range all {
			if problem := c.checkMention(m, path[len(at)+1:], v.Value, told); problem != "" {
				wrong = append(wrong, misuse{m.at, problem})
			}
		}
		if _, err := t.renderWith(trial.words); err != nil && len(wrong) == 0 {
			wrong = append(wrong, misuse{strings.Index(string(t), "{{"), innermostError(err).Error()})
		}
		for _, m := range wrong {
			c.addMisuse(path, t, m)
		}
		good = good && len(wrong) == 0
	})
	if good {
		c.checkAddresses(at, v.Value, trial)
	}
}

// renderRehearsal renders a variant as for a trial.
func (c *checker) renderRehearsal(v Entry[Definition]) *renderer {
	r := newRenderer(expandOne(c.Experiment, v)[0], Values{Dir: "/run", Build: "/build",
		Here: "/here", Dyno: "/dyno", CPUs: 1, Connections: 1, Threads: 1,
		Port:   func(string) (int, error) { return 10000, nil },
		Socket: func(_, _ string) (string, error) { return "/run/socket", nil }})
	r.words["env"] = func(...string) string { return "" }
	return r
}

// toldNames are the ports and sockets that a definition's processes are given.
func toldNames(d Definition) map[string][]string {
	all := map[string][]string{}
	d.URL, d.PProf, d.Served, d.Build, d.Version, d.Generator = "", "", "", nil, nil, nil
	d.Processes = slices.Clone(d.Processes)
	for i := range d.Processes {
		d.Processes[i].Ready = nil
	}
	eachTemplate(reflect.ValueOf(d), "", func(_ string, t Template) {
		found, _ := findMentions(string(t))
		for _, m := range found {
			if name := strings.Join(m.args, ""); !slices.Contains(all[m.verb], name) {
				all[m.verb] = append(all[m.verb], name)
			}
		}
	})
	return all
}

// checkMention reports a fault of the mention m in the template at path of d, if there is one.
func (c *checker) checkMention(m mention, path string, d Definition,
	told map[string][]string) string {
	verb, known := verbs[m.verb]
	name := strings.Join(m.args, " ")
	building := strings.HasPrefix(path, "build[") || strings.HasPrefix(path, "version[")
	asked := path == "url" || path == "pprof" || path == "served" || path == "generator.served" ||
		strings.Contains(path, ".ready.")
	_, isFactor := c.Factors.Get(m.verb)
	switch {
	case isFactor && len(m.args) > 0:
		return fmt.Sprintf("%s is a factor, and takes no argument", m.verb)
	case isFactor:
		return ""
	case !known:
		return fmt.Sprintf("%s is neither a factor nor a word of templates%s", m.verb,
			orAllowed(m.verb, c.templateWords()))
	case len(m.args) < verb.least || len(m.args) > verb.most:
		return fmt.Sprintf("%s takes %s; %d are given", m.verb,
			arguments(verb.least, verb.most), len(m.args))
	case building && verb.trial:
		return fmt.Sprintf("%s belongs to a trial, and a variant is built once for all", m.verb)
	case m.verb == "file" && !slices.Contains(d.Files.Names(), name):
		return fmt.Sprintf("%q is not one of this variant's files%s", name, orNone(name, d.Files.Names()))
	case (m.verb == "port" || m.verb == "socket") && name != "" && !nameOf.MatchString(name):
		return fmt.Sprintf("%q is not a name; write %s", name, nameRule)
	case (m.verb == "port" || m.verb == "socket") && len(d.Processes) == 0:
		return fmt.Sprintf("no process is started that could have a %s; "+
			"give processes, or the whole URL of a server that is running", m.verb)
	case (m.verb == "port" || m.verb == "socket") && asked && !slices.Contains(told[m.verb], name):
		return fmt.Sprintf("no process is told of the %s%s%s", m.verb, quotedName(name),
			orNone(name, told[m.verb]))
	}
	return ""
}

// templateWords are all words that templates may mention.
func (c *checker) templateWords() []string {
	all := c.Factors.Names()
	for verb := range verbs {
		all = append(all, verb)
	}
	slices.Sort(all)
	return slices.Compact(all) // a factor with a verb's name is a fault of its own
}

func arguments(least, most int) string {
	switch {
	case most == 0:
		return "no argument"
	case least == most:
		return "one name"
	case least == 0:
		return "at most one name"
	}
	return "a name and perhaps a default"
}

func quotedName(name string) string {
	if name == "" {
		return " without a name"
	}
	return fmt.Sprintf(" %q", name)
}

// orNone is orAllowed for a list that may be empty.
func orNone(given string, allowed []string) string {
	if len(allowed) == 0 {
		return "; there is none"
	}
	quoted := make([]string, len(allowed))
	for i, a := range allowed {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	return orAllowed(given, quoted)
}

// addMisuse adds a fault within a template, at its place in the file.
func (c *checker) addMisuse(path string, t Template, m misuse) {
	if len(c.faults) >= maxLooked {
		return
	}
	begin := max(0, strings.LastIndex(string(t[:m.at]), "{{"))
	if strings.HasPrefix(string(t[m.at:]), "{{") {
		begin = m.at
	}
	fragment := string(t[begin:])
	if n, err := actionLength(fragment); err == nil && n > 0 {
		fragment = fragment[:n]
	}
	n := c.nodeAt(path)
	key := fmt.Sprintf("%d:%d:%s", n.Line, n.Column, fragment)
	p := c.source.findFragment(n, fragment, c.found[key])
	c.found[key]++
	c.addFaultAt(p, "%s%s", withPath(path), m.message)
}
