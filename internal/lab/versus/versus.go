// Package versus composes the experiment of dyno vs: servers that are given by commands, URLs or
// git revisions, compared under one load, within a limit of time. What it makes is an ordinary
// experiment file, which package experiment reads and package run runs.
//
//	versus.go   what is compared, and the file
//	command.go  a command as words, as a shell reads it
//	names.go    names for variants, and the words for the load
//	times.go    windows and rounds that fit into the time
//	git.go      revisions of a repository
package versus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dyno/internal/hole"
	"dyno/internal/lab/experiment"
	"dyno/internal/lazyregexp"
)

// A Comparison is what dyno vs is asked to compare, and how.
type Comparison struct {
	Servers []string // commands with {port}, or URLs of servers that are running
	Git     *Git     // revisions, in the place of Servers; nil: none
	Names   []string // of the variants; nil: derived from Servers
	Address string   // URL at which commands answer, perhaps with {port}; "": http://127.0.0.1:{port}
	Dir     string   // absolute path of the folder in which commands are started
	Ready   string   // when they are ready: a URL or path that answers, or log:TEXT; "": see Address

	Workload experiment.Workload // paths of files are absolute
	Level    experiment.Level    // the zero Level: that of a file without levels
	Limits   Limits

	Margin     experiment.Share // smaller differences do not matter; 0: the default of experiments
	Regression experiment.Share // for a gate; 0: none
	Allow      []string         // how answers may differ, besides what experiments allow
}

// AllowAll, in Comparison.Allow, has variants compared however their answers differ.
const AllowAll = "all"

// leastServers is how many there must be for a comparison.
const leastServers = 2

// File is the text of the experiment file. Its error joins all that is wrong.
func (c *Comparison) File() ([]byte, error) {
	variants, err := c.variants()
	if err != nil {
		return nil, err
	}
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	e := experiment.Default[experiment.Experiment]()
	e.Version, e.Name = experiment.Version, "vs-"+strings.Join(names, "-")
	if len(e.Name) > longestName {
		e.Name = strings.TrimRight(e.Name[:longestName], ".-+_")
	}
	e.Description, e.Workload = c.description(), c.Workload
	e.Design = c.design(len(variants))
	if c.Level != (experiment.Level{}) {
		e.Levels = []experiment.Level{c.Level}
	}
	for i, v := range variants {
		e.Variants = append(e.Variants, experiment.Entry[experiment.Definition]{Name: names[i], Value: v})
	}
	e.Fairness.Allow = c.allowed()
	if slices.Contains(c.Allow, AllowAll) {
		e.Fairness.Mode = experiment.Warn
	}
	if c.Regression > 0 {
		g := experiment.Default[experiment.Gate]()
		g.Metrics, g.Margin = c.gated(e.Design.Metrics), c.Regression
		e.Gate = &g
	}
	text, err := e.Marshal()
	return append([]byte(heading), text...), err
}

// heading is the first line of the file.
const heading = "# Written by dyno vs. To change it, edit it and run: dyno lab run FILE\n"

// allowed are the aspects and headers in which answers may differ.
func (c *Comparison) allowed() []string {
	all := []string{"server", "date"}
	for _, a := range c.Allow {
		if a = strings.ToLower(a); !slices.Contains(all, a) && a != AllowAll {
			all = append(all, a)
		}
	}
	return all
}

// variants are the servers, in their order.
func (c *Comparison) variants() (all []experiment.Definition, err error) {
	if c.Git != nil {
		all, err = c.Git.variants(c.address())
		return all, errors.Join(err, c.setReady(all))
	}
	if n := len(c.Servers); n < leastServers {
		return nil, fmt.Errorf("two servers are wanted, or more; %d given", n)
	}
	for _, s := range c.Servers {
		v, one := c.variant(s)
		all, err = append(all, v), errors.Join(err, one)
	}
	return all, errors.Join(err, c.setReady(all))
}

// readyTime is the longest wait for what Ready names. It is long, because who names something
// expects a slow start.
const readyTime = 2 * time.Minute

// setReady says in variants when the servers that are started are ready.
func (c *Comparison) setReady(all []experiment.Definition) error {
	if c.Ready == "" {
		return nil
	}
	within := readyTime
	if total := c.Limits.Total; total > 0 { // of which the wait is a part
		within = min(within, total)
	}
	ready := experiment.Ready{Timeout: experiment.Duration(within)}
	if text, is := strings.CutPrefix(c.Ready, "log:"); is && text != "" {
		ready.Log = experiment.Template(withHoles(text))
	} else if IsURL(c.Ready) || strings.HasPrefix(c.Ready, "/") {
		ready.HTTP = experiment.Template(withHoles(c.Ready))
	} else {
		return fmt.Errorf("--ready: %q is neither a URL, as http://127.0.0.1:{port}/health or /health, "+
			"nor a text that servers write, as log:listening", c.Ready)
	}
	started := false
	for i := range all {
		for k := range all[i].Processes {
			all[i].Processes[k].Ready, started = &ready, true
		}
	}
	if !started {
		return errors.New("--ready: it is said of servers that are started, and these run already; " +
			"leave it out")
	}
	return nil
}

// variant is a server: a command that is to be started, or a URL of one that is running.
func (c *Comparison) variant(server string) (v experiment.Definition, err error) {
	if IsURL(server) {
		v.URL = experiment.Template(server)
		return v, nil
	}
	p, err := newProcess(server, hole.Verbatim(c.Dir))
	if err == nil {
		err = c.lacksPort(server, p)
	}
	v.Description, v.Processes = oneLine(server), []experiment.Process{p}
	v.URL = experiment.Template(c.address())
	return v, err
}

// lacksPort is the fault of a command that is told of no port.
func (c *Comparison) lacksPort(command string, p experiment.Process) error {
	told := false
	for _, e := range p.Env {
		told = told || namesPort(string(e.Value))
	}
	for _, word := range p.Cmd {
		told = told || namesPort(string(word))
	}
	if told || c.Address != "" && !namesPort(c.Address) {
		return nil
	}
	return fmt.Errorf("%q has no {port}: write {port} where the command takes its port, as in "+
		"'./server --port {port}' or 'PORT={port} ./server'; if its port is fixed, say where it "+
		"answers, as with --url http://127.0.0.1:8080/", oneLine(command))
}

// address is the URL at which commands answer, as a template.
func (c *Comparison) address() string {
	if c.Address == "" {
		return "http://127.0.0.1:{{port}}/"
	}
	return withHoles(c.Address)
}

// startsServers reports whether every variant is started, so that its CPU time is known.
func (c *Comparison) startsServers() bool {
	return c.Git != nil || !slices.ContainsFunc(c.Servers, IsURL)
}

// schemeOf matches how a URL begins that dyno can load.
var schemeOf = lazyregexp.New(`^(https?|h2c|fcgi|https?\+unix|fcgi\+unix)://\S*$`)

// IsURL reports whether a word is the URL of a server, and not a command.
func IsURL(word string) bool { return schemeOf().MatchString(word) }

// shortForms are what stands for holes in commands of dyno vs.
var shortForms = strings.NewReplacer("{port}", "{{port}}", "{dir}", "{{dir}}", "{out}", "{{build}}")

// withHoles is a text with the holes of experiments, which stay, in the place of the short ones.
func withHoles(text string) string {
	var b strings.Builder
	for p := range hole.TemplatePieces(text) {
		if p.Kind == hole.Literal {
			p.Text = shortForms.Replace(p.Text)
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// namesPort reports whether a text has the hole of a port.
func namesPort(text string) bool {
	for p := range hole.TemplatePieces(withHoles(text)) {
		if p.Kind != hole.Hole {
			continue
		}
		one, _ := hole.ParseTemplate(p.Text)
		if slices.ContainsFunc(one.Mentions, func(m hole.Mention) bool { return m.Word == "port" }) {
			return true
		}
	}
	return false
}

// oneLine is a text in one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
