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
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"dyno/internal/lab/experiment"

	"go.yaml.in/yaml/v3"
)

// A Comparison is what dyno vs is asked to compare, and how.
type Comparison struct {
	Servers []string // commands with {port}, or URLs of servers that are running
	Git     *Git     // revisions, in the place of Servers; nil: none
	Names   []string // of the variants; nil: derived from Servers
	Address string   // URL at which commands answer, perhaps with {port}; "": http://127.0.0.1:{port}
	Dir     string   // absolute path of the folder in which commands are started

	Workload Workload
	Level    Level
	Limits   Limits

	Margin     experiment.Share // smaller differences do not matter; 0: the default of experiments
	Regression experiment.Share // for a gate; 0: none
	Allow      []string         // how answers may differ, besides what experiments allow
}

// AllowAll, in Comparison.Allow, has variants compared however their answers differ.
const AllowAll = "all"

// leastServers is how many there must be for a comparison.
const leastServers = 2

// A Workload is what is sent. Paths of files are absolute.
type Workload struct {
	Request      *Request          `yaml:"request,omitempty"`
	RequestsFile string            `yaml:"requests_file,omitempty"`
	URLs         string            `yaml:"urls,omitempty"`
	Hurl         string            `yaml:"hurl,omitempty"`
	Script       string            `yaml:"script,omitempty"`
	ScriptArgs   []string          `yaml:"script_args,omitempty"`
	Variables    map[string]string `yaml:"variables,omitempty"`
	Data         string            `yaml:"data,omitempty"`
	DataOrder    string            `yaml:"data_order,omitempty"`
	Users        int               `yaml:"users,omitempty"`
	Expect       *Expect           `yaml:"expect,omitempty"`
}

// A Request is the request that is sent.
type Request struct {
	Method   string    `yaml:"method,omitempty"`
	Path     string    `yaml:"path,omitempty"`
	Headers  yaml.Node `yaml:"headers,omitempty"`
	Body     string    `yaml:"body,omitempty"`
	BodyFile string    `yaml:"body_file,omitempty"`
}

// SetHeader adds a header. No two may have the same name, because a file has each key once.
func (r *Request) SetHeader(name, value string) error {
	r.Headers.Kind = yaml.MappingNode
	for i := 0; i < len(r.Headers.Content); i += 2 {
		if strings.EqualFold(r.Headers.Content[i].Value, name) {
			return fmt.Errorf("--header %s: is given twice; an experiment sends each header once", name)
		}
	}
	r.Headers.Content = append(r.Headers.Content, textNode(name), textNode(value))
	return nil
}

// Expect is the answer that is right.
type Expect struct {
	Status []string `yaml:"status,flow,omitempty"`
	Body   []string `yaml:"body,omitempty"`
	Header []string `yaml:"header,omitempty"`
}

// A Level is the load, with the keys of a level in an experiment file. What is zero is left out.
type Level struct {
	Connections int     `yaml:"connections,omitempty"`
	Rate        float64 `yaml:"rate,omitempty"` // a second; 0: closed
	Arrival     string  `yaml:"arrival,omitempty"`
	Reconnect   string  `yaml:"reconnect,omitempty"`
	RetryUnsafe bool    `yaml:"retry_unsafe,omitempty"`
	Follow      int     `yaml:"follow,omitempty"`
	HTTP        string  `yaml:"http,omitempty"`
	Pipeline    int     `yaml:"pipeline,omitempty"`
	Threads     int     `yaml:"threads,omitempty"`
	Timeout     string  `yaml:"timeout,omitempty"`
}

// The keys of the file, in its order.
type file struct {
	Version     int       `yaml:"version"`
	Name        string    `yaml:"name"`
	Description string    `yaml:"description,omitempty"`
	Design      design    `yaml:"design"`
	Workload    *Workload `yaml:"workload,omitempty"`
	Levels      []Level   `yaml:"levels,omitempty"`
	Variants    yaml.Node `yaml:"variants"`
	Fairness    fair      `yaml:"fairness"`
	Gate        *gate     `yaml:"gate,omitempty"`
}

type fair struct {
	Mode  string   `yaml:"mode,omitempty"`
	Allow []string `yaml:"allow,flow"`
}

type gate struct {
	Metrics []string `yaml:"metrics,flow"`
	Margin  string   `yaml:"margin"`
	Confirm bool     `yaml:"confirm"`
}

type variant struct {
	Description string    `yaml:"description,omitempty"`
	Build       []step    `yaml:"build,omitempty"`
	Processes   []process `yaml:"processes,omitempty"`
	URL         string    `yaml:"url"`
}

type step struct {
	Cmd yaml.Node `yaml:"cmd"`
	Env yaml.Node `yaml:"env,omitempty"`
	Dir string    `yaml:"dir,omitempty"`
}

type process struct {
	Cmd yaml.Node `yaml:"cmd"`
	Env yaml.Node `yaml:"env,omitempty"`
	Dir string    `yaml:"dir"`
}

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
	f := file{Version: experiment.Version, Name: "vs-" + strings.Join(names, "-"),
		Description: c.description(), Design: c.design(len(variants)),
		Fairness: fair{Allow: c.allowed()}}
	if len(f.Name) > longestName {
		f.Name = strings.TrimRight(f.Name[:longestName], ".-+_")
	}
	if c.Workload.isGiven() {
		f.Workload = &c.Workload
	}
	if c.Level != (Level{}) {
		f.Levels = []Level{c.Level}
	}
	if slices.Contains(c.Allow, AllowAll) {
		f.Fairness.Mode = experiment.Warn
	}
	if c.Regression > 0 {
		f.Gate = &gate{Metrics: gated(f.Design.Metrics), Margin: c.Regression.String(), Confirm: true}
	}
	f.Variants.Kind = yaml.MappingNode
	for i, v := range variants {
		var node yaml.Node
		if err := node.Encode(v); err != nil {
			return nil, fmt.Errorf("writing the experiment: %w", err)
		}
		f.Variants.Content = append(f.Variants.Content, textNode(names[i]), &node)
	}
	var b bytes.Buffer
	b.WriteString("# Written by dyno vs. To change it, edit it and run: dyno lab run FILE\n")
	to := yaml.NewEncoder(&b)
	to.SetIndent(2)
	if err := errors.Join(to.Encode(f), to.Close()); err != nil {
		return nil, fmt.Errorf("writing the experiment: %w", err)
	}
	return b.Bytes(), nil
}

// isGiven reports whether anything but GET / is sent, or expected.
func (w *Workload) isGiven() bool {
	return w.Request != nil || w.RequestsFile != "" || w.URLs != "" || w.Hurl != "" ||
		w.Script != "" ||
		len(w.Variables) > 0 || w.Data != "" || w.Users > 0 || w.Expect != nil
}

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
func (c *Comparison) variants() (all []variant, err error) {
	if c.Git != nil {
		return c.Git.variants(c.address())
	}
	if n := len(c.Servers); n < leastServers {
		return nil, fmt.Errorf("two servers are wanted, or more; %d given", n)
	}
	for _, s := range c.Servers {
		v, one := c.variant(s)
		all, err = append(all, v), errors.Join(err, one)
	}
	return all, err
}

// variant is a server: a command that is to be started, or a URL of one that is running.
func (c *Comparison) variant(server string) (variant, error) {
	if IsURL(server) {
		return variant{URL: server}, nil
	}
	p, err := newProcess(server, verbatim(c.Dir))
	if err != nil {
		return variant{}, err
	}
	if err := c.lacksPort(server, p); err != nil {
		return variant{}, err
	}
	return variant{Description: oneLine(server), Processes: []process{p}, URL: c.address()}, nil
}

// lacksPort is the fault of a command that is told of no port.
func (c *Comparison) lacksPort(command string, p process) error {
	names := func(n *yaml.Node) bool { return portHole.MatchString(n.Value) }
	told := slices.ContainsFunc(p.Cmd.Content, names) || slices.ContainsFunc(p.Env.Content, names)
	if told || c.Address != "" && !portHole.MatchString(c.Address) {
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
var schemeOf = regexp.MustCompile(`^(https?|h2c|fcgi|https?\+unix|fcgi\+unix)://\S*$`)

// IsURL reports whether a word is the URL of a server, and not a command.
func IsURL(word string) bool { return schemeOf.MatchString(word) }

// holeOf matches {port} and the like, and templates as experiments have them, which stay.
var (
	holeOf   = regexp.MustCompile(`\{\{[^{}]*\}\}|\{(port|dir|out)\}`)
	portHole = regexp.MustCompile(`\{port\}|\{\{-? *port\b`)
)

// withHoles is a text with the templates of experiments: {port} is {{port}}, {out} is {{build}}.
func withHoles(text string) string {
	return holeOf.ReplaceAllStringFunc(text, func(hole string) string {
		switch {
		case strings.HasPrefix(hole, "{{"):
			return hole
		case hole == "{out}":
			return "{{build}}"
		}
		return "{" + hole + "}"
	})
}

// verbatim is a template that makes a text.
func verbatim(text string) string { return strings.ReplaceAll(text, "{{", `{{"{{"}}`) }

func textNode(s string) *yaml.Node {
	n := new(yaml.Node)
	n.SetString(s)
	return n
}

// oneLine is a text in one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// seconds is a duration as the file has it.
func seconds(d time.Duration) string { return d.Round(time.Millisecond).String() }
