package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"dyno/internal/hole"
)

// checkTemplates checks the templates of a variant. Faults that show only in rendered text are
// looked for with the first value of each factor, as in a trial.
func (c *checker) checkTemplates(at string, v Entry[Definition]) {
	trial := c.renderRehearsal(v)
	told, good := toldNames(v.Value), true
	eachTemplate(reflect.ValueOf(v.Value), at, func(path string, t Template) {
		parsed, wrong := hole.ParseTemplate(string(t))
		for _, m := range parsed.Mentions {
			if problem := c.checkMention(m, path[len(at)+1:], v.Value, told); problem != "" {
				wrong = append(wrong, hole.Fault{At: m.At, Err: errors.New(problem)})
			}
		}
		if len(wrong) == 0 {
			if _, err := trial.render(t); err != nil {
				f, _ := errors.AsType[hole.Fault](err)
				wrong = append(wrong, hole.Fault{At: f.At, Err: cmp.Or(f.Err, err)})
			}
		}
		for _, f := range wrong {
			c.addMisuse(path, t, f)
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
	r.words["env"] = wordOf("env", func([]string) (string, error) { return "", nil })
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
		for _, m := range t.mentions() {
			if name := strings.Join(m.Args, ""); !slices.Contains(all[m.Word], name) {
				all[m.Word] = append(all[m.Word], name)
			}
		}
	})
	return all
}

// checkMention reports a fault of the mention m in the template at path of d, if there is one.
func (c *checker) checkMention(m hole.Mention, path string, d Definition,
	told map[string][]string) string {
	verb, known := verbs[m.Word]
	name := strings.Join(m.Args, " ")
	building := strings.HasPrefix(path, "build[") || strings.HasPrefix(path, "version[")
	asked := path == "url" || path == "pprof" || path == "served" || path == "generator.served" ||
		strings.Contains(path, ".ready.")
	_, isFactor := c.Factors.Get(m.Word)
	switch {
	case isFactor && len(m.Args) > 0:
		return fmt.Sprintf("%s is a factor, and takes no argument", m.Word)
	case isFactor:
		return ""
	case !known:
		return fmt.Sprintf("%s is neither a factor nor a word of templates%s", m.Word,
			orAllowed(m.Word, c.templateWords()))
	case len(m.Args) < verb.least || len(m.Args) > verb.most:
		return fmt.Sprintf("%s takes %s; %d are given", m.Word,
			arguments(verb.least, verb.most), len(m.Args))
	case building && verb.trial:
		return fmt.Sprintf("%s belongs to a trial, and a variant is built once for all", m.Word)
	case m.Word == "file" && !slices.Contains(d.Files.Names(), name):
		return fmt.Sprintf("%q is not one of this variant's files%s", name, orNone(name, d.Files.Names()))
	case (m.Word == "port" || m.Word == "socket") && name != "" && !nameOf().MatchString(name):
		return fmt.Sprintf("%q is not a name; write %s", name, nameRule)
	case (m.Word == "port" || m.Word == "socket") && len(d.Processes) == 0:
		return fmt.Sprintf("no process is started that could have a %s; "+
			"give processes, or the whole URL of a server that is running", m.Word)
	case (m.Word == "port" || m.Word == "socket") && asked && !slices.Contains(told[m.Word], name):
		return fmt.Sprintf("no process is told of the %s%s%s", m.Word, quotedName(name),
			orNone(name, told[m.Word]))
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
func (c *checker) addMisuse(path string, t Template, f hole.Fault) {
	if len(c.faults) >= maxLooked {
		return
	}
	fragment := string(t[f.At:])
	if n := hole.TemplateLength(fragment); n > 0 {
		fragment = fragment[:n]
	}
	n := c.nodeAt(path)
	key := fmt.Sprintf("%d:%d:%s", n.Line, n.Column, fragment)
	nth := max(c.found[key], strings.Count(string(t[:f.At]), fragment))
	p := c.text.Fragment(n, fragment, nth)
	c.found[key]++
	c.addFaultAt(p, path, "%s", f.Error())
}
