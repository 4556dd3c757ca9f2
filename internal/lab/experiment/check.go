package experiment

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A checker looks for what decoding cannot see: names of nothing, values that
// are impossible, and contradictions.
type checker struct {
	*Experiment
	*decoder
	stat  func(path string) error // of a file that must be there
	found map[string]int          // how often a fragment was complained of: see misused
}

// Names are part of file names, of commands, or of templates.
var (
	nameOf     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)
	factorOf   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	variableOf = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	sysctlOf   = regexp.MustCompile(`^net(\.[A-Za-z0-9_-]+)+$`)
	tokenOf    = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

const nameRule = "1 to 64 letters, digits and . _ + -, the first a letter or a digit"

// More of them than anyone waits for.
const (
	maxVariants = 256
	maxFactors  = 16
	maxLevels   = 64
)

// faulty reports whether decoding has complained of the value at path: what it
// means is then not known.
func (c *checker) faulty(path string) bool {
	return c.undecoded[path]
}

// wrong notes a fault of the value at path, if it is one.
func (c *checker) wrong(is bool, path, format string, args ...any) {
	if is && !c.faulty(path) {
		c.fault(c.at(path), "%s%s", said(path), fmt.Sprintf(format, args...))
	}
}

// wrongKey notes a fault of the key at path, if it is one.
func (c *checker) wrongKey(is bool, path, format string, args ...any) {
	if is {
		c.fault(c.key(path), "%s%s", said(path), fmt.Sprintf(format, args...))
	}
}

// given reports whether the file itself says what is at path.
func (c *checker) given(path string) bool { return c.values[path] != nil }

// experiment is all checks.
func (c *checker) experiment() {
	if !c.given("") || c.nodes > maxNodes {
		return // it could not be decoded, or not all of it
	}
	c.wrong(c.given("name") && !nameOf.MatchString(c.Name), "name", "%q is not a name; write %s",
		c.Name, nameRule)
	c.design()
	c.workload()
	c.levels()
	c.factors()
	c.variants()
	c.references()
	if c.Profile != nil {
		c.wrong(c.Profile.CPU == 0, "profile.cpu",
			"0 is no time for a profile; leave profile out for none")
		c.wrong(len(c.Profile.Kinds) == 0, "profile.kinds", "the list is empty")
		twice(c, "profile.kinds", c.Profile.Kinds)
	}
	for i, a := range c.Fairness.Allow {
		at := fmt.Sprintf("fairness.allow[%d]", i)
		c.wrong(!tokenOf.MatchString(a) || a != strings.ToLower(a), at,
			"%q is not the name of a header or an aspect in small letters", a)
	}
}

func (c *checker) design() {
	d := c.Design
	c.wrong(d.MaxRounds > 0 && d.MaxRounds < d.Rounds, "design.max_rounds", "%d is below rounds, %d",
		d.MaxRounds, d.Rounds)
	c.wrong(d.MaxRounds > 0 && d.Precision == 0, "design.max_rounds",
		"without precision nothing decides when to go on; give precision, or rounds alone")
	c.wrong(c.given("design.precision") && d.Precision == 0, "design.precision",
		"0%% is never reached; leave precision out for a fixed number of rounds")
	c.wrong(c.given("design.budget") && d.Budget == 0, "design.budget",
		"0 is no time at all; leave budget out for any time")
	c.wrong(d.Order == Sequential && d.Precision > 0, "design.precision",
		"order: sequential makes all rounds of one cell before the next; leave precision out")
	c.wrong(d.Order == Sequential && d.Budget > 0, "design.budget",
		"order: sequential cannot end with a round; leave budget out")
	c.wrong(d.Warmup.Min > d.Warmup.Max, "design.warmup", "min, %v, is above max, %v",
		d.Warmup.Min, d.Warmup.Max)
	c.wrong(d.Warmup.CoV == 0, "design.warmup.cov", "0%% is never reached")
	c.wrong(d.Measure == 0, "design.measure", "0 is no time to measure in")
	c.wrong(d.Quick.Measure == 0, "design.quick.measure", "0 is no time to measure in")
	if c.given("design.quick.levels") {
		c.wrong(len(d.Quick.Levels) == 0, "design.quick.levels",
			"the list is empty; leave it out for the first %d levels", quickLevels)
		twice(c, "design.quick.levels", d.Quick.Levels)
	}
	twice(c, "design.quick.without", d.Quick.Without)
	c.wrong(len(d.Metrics) == 0, "design.metrics", "the list is empty; then nothing is compared")
	twice(c, "design.metrics", d.Metrics)
	c.cpus("design.cpus.generator", d.CPUs.Generator)
	c.cpus("design.cpus.server", d.CPUs.Server)
}

// cpus checks a list that was given as one, and not as a text.
func (c *checker) cpus(at string, list CPUList) {
	for _, cpu := range list {
		c.wrong(cpu < 0 || cpu > maxCPU, at, "%d is not within 0 to %d", cpu, maxCPU)
	}
}

func (c *checker) workload() {
	w := c.Workload
	sources := 0
	for _, key := range []string{"request", "requests_file", "urls"} {
		if c.given("workload." + key) {
			sources++
			c.wrong(sources > 1, "workload."+key,
				"says what to ask for, and so does another key; give one of request, requests_file and urls")
		}
	}
	c.request("workload.request", w.Request)
	c.beside("workload.requests_file", w.RequestsFile)
	c.beside("workload.urls", w.URLs)
}

// request checks what is sent.
func (c *checker) request(at string, r Request) {
	method := tokenOf.MatchString(r.Method) && strings.ToUpper(r.Method) == r.Method
	c.wrong(r.Method != "" && !method, at+".method",
		"%q is not a method; write GET, POST, or another in capitals", r.Method)
	path := variable.ReplaceAllString(r.Path, "") // whose blanks are not sent
	c.wrong(r.Path != "" && (r.Path[0] != '/' || strings.ContainsFunc(path, blankOrControl)),
		at+".path", "%q is not a path; it begins with / and has no blanks", r.Path)
	for _, h := range r.Headers {
		key := join(at+".headers", h.Name)
		c.wrongKey(!tokenOf.MatchString(h.Name), key, "%q is not the name of a header", h.Name)
		c.wrong(strings.ContainsFunc(h.Value, isControl), key,
			"a header's value is one line, without control characters")
		c.misnamed(key, h.Value)
		framing := []string{"content-length", "transfer-encoding"}
		c.wrongKey(slices.Contains(framing, strings.ToLower(h.Name)), key,
			"how a body is framed is decided by dyno; leave it out")
	}
	for path, text := range map[string]string{".path": r.Path, ".body": r.Body} {
		c.misnamed(at+path, text)
	}
	c.wrong(r.Body != "" && r.BodyFile != "", at+".body_file",
		"body and body_file both say what to send; give one")
	c.beside(at+".body_file", r.BodyFile)
}

// misnamed checks the uses of env in a request's text.
func (c *checker) misnamed(path, text string) {
	wrong := misnamed(text)
	c.wrong(wrong != "", path, "%s names no variable; "+
		`write {{env "NAME"}} or {{env "NAME" "DEFAULT"}}`, wrong)
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func blankOrControl(r rune) bool { return r == ' ' || r == '\t' || isControl(r) }

func (c *checker) levels() {
	c.wrong(len(c.Levels) == 0, "levels", "the list is empty; leave it out for 50 connections")
	c.wrong(len(c.Levels) > maxLevels, "levels",
		"%d are given; %d are possible", len(c.Levels), maxLevels)
	seen := map[string]bool{}
	for i, l := range c.Levels {
		at := fmt.Sprintf("levels[%d]", i)
		c.wrong(!nameOf.MatchString(l.Name), at+".name", "%q is not a name; write %s", l.Name, nameRule)
		c.wrong(seen[l.Name], at+".name",
			"another level is called %s; give each a name of its own", l.Name)
		seen[l.Name] = true
		c.wrong(l.Arrival != "" && !l.Open(), at+".arrival",
			"there are arrivals only at a rate; give rate")
		c.wrong(l.Requests > 0 && l.Requests < l.Connections, at+".requests",
			"%d requests cannot use %d connections", l.Requests, l.Connections)
		c.wrong(l.Connections < Count(c.Design.Clients.Count), at+".connections",
			"%d connections cannot be shared out among %d clients", l.Connections, c.Design.Clients.Count)
		c.wrong(l.HTTP == HTTP10 && l.Pipeline > 1, at+".pipeline", "HTTP/1.0 has no pipelining")
		c.wrong(l.Reconnect > 0 && l.Pipeline > int(l.Reconnect), at+".pipeline",
			"%d exchanges cannot be under way on a connection that carries %d", l.Pipeline, l.Reconnect)
		c.wrong(l.Timeout == 0, at+".timeout", "0 is no time to answer in")
	}
}

func (c *checker) factors() {
	if n := len(c.Factors); n > maxFactors {
		c.wrong(true, "factors", "%d are given; %d are possible", n, maxFactors)
		c.Factors = c.Factors[:maxFactors]
	}
	for _, f := range c.Factors {
		at := join("factors", f.Name)
		_, isVerb := verbs[f.Name]
		c.wrongKey(!factorOf.MatchString(f.Name), at,
			"%q is not a factor's name; write letters, digits and _, for templates mention it", f.Name)
		c.wrongKey(isVerb || slices.Contains(reserved, f.Name) || slices.Contains(logic, f.Name), at,
			"%s means something else in templates; choose another name", f.Name)
		c.wrong(len(f.Value) == 0, at, "the list is empty")
		for i, v := range f.Value {
			c.wrong(len(v) > 64 || strings.ContainsFunc(v, isControl), fmt.Sprintf("%s[%d]", at, i),
				"a value has at most 64 characters, on one line")
		}
		twice(c, at, f.Value)
	}
}

// twice complains of what a list has more than once.
func twice[S ~string](c *checker, path string, list []S) {
	for i, s := range list {
		c.wrong(slices.Index(list, s) < i, fmt.Sprintf("%s[%d]", path, i), "%q is given twice", s)
	}
}

// beside checks that a file that the experiment file names is there.
func (c *checker) beside(path, file string) {
	if file == "" {
		return
	}
	at := filepath.FromSlash(file)
	if !filepath.IsAbs(at) {
		at = filepath.Join(c.Here, at)
	}
	if err := c.stat(at); err != nil {
		c.wrong(true, path, "%s cannot be read beside this file: %v", file, err)
	}
}
