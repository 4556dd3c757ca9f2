package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/hole"
	"dyno/internal/lazyregexp"
	"dyno/internal/setting"
	"dyno/internal/stats"
)

// A checker finds faults that decoding cannot find: names that do not exist, impossible values, and
// contradictions.
type checker struct {
	*Experiment
	*decoder
	checks
	found map[string]int // how often a fragment was reported: see addMisuse

	entries []int // of each level, its place in the file's list
}

// Patterns of names that become parts of file names, commands or templates.
var (
	nameOf     = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)
	factorOf   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	variableOf = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	sysctlOf   = lazyregexp.New(`^net(\.[A-Za-z0-9_-]+)+$`)
	tokenOf    = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

const nameRule = "1 to 64 letters, digits and . _ + -, the first a letter or a digit"

// Limits that no reasonable experiment reaches.
const (
	maxVariants = 256
	maxFactors  = 16
	maxLevels   = 64
)

// hasFault reports whether decoding found a fault in the value at path, so that its meaning is
// unknown.
func (c *checker) hasFault(path string) bool {
	return c.undecoded[path]
}

// addFaultIf adds a fault of the value at path, if is holds.
func (c *checker) addFaultIf(is bool, path, format string, args ...any) {
	if is && !c.hasFault(path) {
		c.addFault(c.nodeAt(path), path, format, args...)
	}
}

// addKeyFaultIf adds a fault of the key at path, if is holds.
func (c *checker) addKeyFaultIf(is bool, path, format string, args ...any) {
	if is {
		c.addFault(c.keyAt(path), path, format, args...)
	}
}

// isGiven reports whether the file itself has a value at path.
func (c *checker) isGiven(path string) bool { return c.values[path] != nil }

// checkAll runs all checks.
func (c *checker) checkAll() {
	if !c.isGiven("") || c.nodes > maxNodes {
		return // it was not decoded completely
	}
	c.addFaultIf(c.isGiven("name") && !nameOf().MatchString(c.Name), "name",
		"%q is not a name; write %s",
		c.Name, nameRule)
	c.checkDesign()
	c.checkWorkload()
	c.checkLevels()
	c.checkObjectives()
	c.checkFactors()
	c.checkVariants()
	c.checkReferences()
	if !c.begun {
		c.checkCapitals()
	}
	if c.Profile != nil {
		c.addFaultIf(c.Profile.CPU == 0, "profile.cpu",
			"0 is no time for a profile; leave profile out for none")
		c.addFaultIf(len(c.Profile.Kinds) == 0, "profile.kinds", "the list is empty")
		findRepeated(c, "profile.kinds", c.Profile.Kinds)
	}
	for i, a := range c.Fairness.Allow {
		at := fmt.Sprintf("fairness.allow[%d]", i)
		c.addFaultIf(!tokenOf().MatchString(a) || a != strings.ToLower(a), at,
			"%q is not the name of a header or an aspect in small letters", a)
	}
}

func (c *checker) checkDesign() {
	d := c.Design
	c.addFaultIf(d.MaxRounds > 0 && d.MaxRounds < d.Rounds, "design.max_rounds",
		"%d is below rounds, %d",
		d.MaxRounds, d.Rounds)
	c.addFaultIf(d.MaxRounds > 0 && d.Precision == 0, "design.max_rounds",
		"without precision nothing decides when to go on; give precision, or rounds alone")
	c.addFaultIf(c.isGiven("design.precision") && d.Precision == 0, "design.precision",
		"0%% is never reached; leave precision out for a fixed number of rounds")
	c.addFaultIf(c.isGiven("design.budget") && d.Budget == 0, "design.budget",
		"0 is no time at all; leave budget out for any time")
	c.addFaultIf(d.Order == Sequential && d.Precision > 0, "design.precision",
		"order: sequential makes all rounds of one cell before the next; leave precision out")
	c.addFaultIf(d.Order == Sequential && d.Budget > 0, "design.budget",
		"order: sequential cannot end with a round; leave budget out")
	c.addFaultIf(d.Warmup.Min > d.Warmup.Max, "design.warmup", "min, %v, is above max, %v",
		d.Warmup.Min, d.Warmup.Max)
	c.addFaultIf(d.Warmup.CoV == 0, "design.warmup.cov", "0%% is never reached")
	c.addFaultIf(d.Measure == 0, "design.measure", "0 is no time to measure in")
	c.addFaultIf(d.Quick.Measure == 0, "design.quick.measure", "0 is no time to measure in")
	if c.isGiven("design.quick.levels") {
		c.addFaultIf(len(d.Quick.Levels) == 0, "design.quick.levels",
			"the list is empty; leave it out for the first %d levels", quickLevels)
		findRepeated(c, "design.quick.levels", d.Quick.Levels)
	}
	findRepeated(c, "design.quick.without", d.Quick.Without)
	c.addFaultIf(len(d.Metrics) == 0, "design.metrics", "the list is empty; then nothing is compared")
	findRepeated(c, "design.metrics", d.Metrics)
	for i, m := range d.Metrics {
		key := m.lacks(c.Workload)
		c.addFaultIf(key != "", fmt.Sprintf("design.metrics[%d]", i), "%s is of %s, which is missing", m,
			key)
	}
	c.checkCPUs("design.cpus.generator", d.CPUs.Generator)
	c.checkCPUs("design.cpus.server", d.CPUs.Server)
}

// checkCPUs checks a list of CPUs that was given as a list, not as a text.
func (c *checker) checkCPUs(at string, list CPUList) {
	for _, cpu := range list {
		c.addFaultIf(cpu < 0 || cpu > setting.MaxCPU, at, "%d is not within 0 to %d", cpu,
			setting.MaxCPU)
	}
}

func (c *checker) checkWorkload() {
	w := c.Workload
	sources := 0
	for _, key := range []string{"request", "requests_file", "urls", "hurl"} {
		if c.isGiven("workload." + key) {
			sources++
			c.addFaultIf(sources > 1, "workload."+key,
				"says what to ask for, and so does another key; give one of request, requests_file, urls "+
					"and hurl")
		}
	}
	c.checkData()
	c.checkRequest("workload.request", w.Request)
	c.checkUser("workload.user", w.User)
	c.checkFileBeside("workload.requests_file", w.RequestsFile)
	c.checkFileBeside("workload.urls", w.URLs)
	c.checkFileBeside("workload.hurl", w.Hurl)
	c.checkScript()
	for _, key := range []string{"expect.body", "expect.header"} {
		c.addFaultIf(w.Hurl != "" && c.isGiven("workload."+key), "workload."+key,
			"the Hurl file says what its responses are; leave it out")
	}
}

// checkScript checks that nothing else says what a script does.
func (c *checker) checkScript() {
	w := c.Workload
	c.checkFileBeside("workload.script", w.Script)
	c.addFaultIf(len(w.ScriptArgs) > 0 && w.Script == "", "workload.script_args",
		"there is no script; give script, or leave it out")
	excluded := func(key, why string) {
		c.addFaultIf(w.Script != "" && c.isGiven(key), key, "%s; leave one of the two out", why)
	}
	excluded("workload.hurl", "the script says what to ask for")
	excluded("workload.data_order", "the script makes its own values")
	for _, x := range setting.Clashes {
		if other := setting.Named(x.Other); x.One == "script" && inWorkload(other.Key) {
			excluded(other.Key, x.Because)
		}
	}
}

func inWorkload(key string) bool { return strings.HasPrefix(key, "workload.") }

// checkRequest checks a request.
func (c *checker) checkRequest(at string, r Request) {
	method := tokenOf().MatchString(r.Method) && strings.ToUpper(r.Method) == r.Method
	c.addFaultIf(r.Method != "" && !method, at+".method",
		"%q is not a method; write GET, POST, or another in capitals", r.Method)
	path := ReplaceEnv(r.Path, noText) // blanks within it are not sent
	c.addFaultIf(r.Path != "" && (r.Path[0] != '/' || strings.ContainsFunc(path, hasBlankOrControl)),
		at+".path", "%q is not a path; it begins with / and has no blanks", r.Path)
	for _, h := range r.Headers {
		key := joinPath(at+".headers", h.Name)
		c.addKeyFaultIf(!tokenOf().MatchString(h.Name), key, "%q is not the name of a header", h.Name)
		c.addFaultIf(strings.ContainsFunc(h.Value, isControl), key,
			"a header's value is one line, without control characters")
		c.checkEnvUses(key, h.Value)
		c.addKeyFaultIf(strings.EqualFold(h.Name, "content-length"), key,
			"how a body is framed is decided by dyno; leave it out")
		c.addFaultIf(strings.EqualFold(h.Name, "transfer-encoding") &&
			!strings.EqualFold(h.Value, "chunked"), key, "a body is sent chunked, or with its length; "+
			"write chunked, or leave it out")
	}
	for path, text := range map[string]string{".path": r.Path, ".body": r.Body} {
		c.checkEnvUses(at+path, text)
	}
	c.addFaultIf(r.Body != "" && r.BodyFile != "", at+".body_file",
		"body and body_file both say what to send; give one")
	c.checkFileBeside(at+".body_file", r.BodyFile)
}

// checkEnvUses checks the uses of env in a request's text.
func (c *checker) checkEnvUses(path, text string) {
	wrong := misnamed(text)
	c.addFaultIf(wrong != "", path, "%s names no variable; "+
		`write {{env "NAME"}} or {{env "NAME" "DEFAULT"}}`, wrong)
}

// checkUser checks who sends requests: one of a load, so that nothing fills holes there.
func (c *checker) checkUser(path, text string) {
	c.checkEnvUses(path, text)
	for p := range hole.Pieces(text) {
		if _, is, _ := envIn(p); p.Kind == hole.Hole && !is { // it may be part of a secret: not shown
			c.addFaultIf(true, path, "has a hole that nothing fills, for a load has one user; "+
				`write the user's text, or {{env "NAME"}}`)
			return
		}
	}
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func hasBlankOrControl(r rune) bool { return r == ' ' || r == '\t' || isControl(r) }

func (c *checker) checkLevels() {
	c.addFaultIf(len(c.Levels) == 0, "levels", "the list is empty; leave it out for 50 connections")
	c.addFaultIf(len(c.Levels) > maxLevels, "levels",
		"%d are given; %d are possible", len(c.Levels), maxLevels)
	seen := map[string]bool{}
	for i, l := range c.Levels {
		at := fmt.Sprintf("levels[%d]", c.entries[i])
		c.addFaultIf(!nameOf().MatchString(l.Name), at+".name", "%q is not a name; write %s", l.Name,
			nameRule)
		c.addFaultIf(seen[l.Name], at+".name",
			"another level is called %s; give each a name of its own", l.Name)
		seen[l.Name] = true
		c.checkLoad(at, l)
		c.checkPlan(at, l, i == 0)
		c.addFaultIf(l.Timeout == 0, at+".timeout", "0 is no time for a request")
		c.addFaultIf(l.Connections < Count(c.Design.Clients.Count), at+".connections",
			"%d connections cannot be shared out among %d clients", l.Connections, c.Design.Clients.Count)
		c.addFaultIf(l.Follow > 0 && l.Pipeline > 1, at+".follow", "what follows a redirect can end "+
			"its connection, and with it the requests behind it; leave pipeline out, or use http: 2")
		c.addFaultIf(l.Follow > 0 && (c.Workload.Hurl != "" || c.Workload.Script != ""), at+".follow",
			"the Hurl file or script says which redirects are followed; leave it out")
	}
}

func (c *checker) checkFactors() {
	if n := len(c.Factors); n > maxFactors {
		c.addFaultIf(true, "factors", "%d are given; %d are possible", n, maxFactors)
		c.Factors = c.Factors[:maxFactors]
	}
	c.addFaultIf(c.Design.Screen && len(c.Factors) < stats.FewestScreened, "design.screen",
		"is for %d factors or more; all combinations of %d are few enough: leave it out",
		stats.FewestScreened, len(c.Factors))
	for _, f := range c.Factors {
		at := joinPath("factors", f.Name)
		_, isVerb := verbs[f.Name]
		c.addKeyFaultIf(!factorOf().MatchString(f.Name), at,
			"%q is not a factor's name; write letters, digits and _, for templates mention it", f.Name)
		c.addKeyFaultIf(isVerb || hole.Reserved(f.Name), at,
			"%s means something else in templates; choose another name", f.Name)
		c.addFaultIf(len(f.Value) == 0, at, "the list is empty")
		c.addFaultIf(c.Design.Screen && len(f.Value) > 0 && len(f.Value) != 2, at,
			"a screening (design.screen) compares two values of each factor; here are %d", len(f.Value))
		for i, v := range f.Value {
			c.addFaultIf(len(v) > 64 || strings.ContainsFunc(v, isControl), fmt.Sprintf("%s[%d]", at, i),
				"a value has at most 64 characters, on one line")
		}
		findRepeated(c, at, f.Value)
	}
}

// findRepeated reports values that a list has more than once.
func findRepeated[S ~string](c *checker, path string, list []S) {
	for i, s := range list {
		c.addFaultIf(slices.Index(list, s) < i, fmt.Sprintf("%s[%d]", path, i), "%q is given twice", s)
	}
}

// Path is the path of a file that the experiment file names: relative to its folder, unless it is
// absolute.
func (e *Experiment) Path(name string) string {
	at := filepath.FromSlash(name)
	if filepath.IsAbs(at) {
		return at
	}
	return filepath.Join(e.Here, at)
}

// checkFileBeside checks that a file exists that the experiment file names.
func (c *checker) checkFileBeside(path, file string) {
	if file == "" {
		return
	}
	if err := c.stat(c.Path(file)); err != nil {
		c.addFaultIf(true, path, "%s cannot be read beside this file: %v", file, err)
	}
}
