package experiment

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"dyno/internal/hole"
	"dyno/internal/stats"
)

// checkVariants checks every definition, and that all can be expanded.
func (c *checker) checkVariants() {
	c.addFaultIf(c.isGiven("variants") && len(c.Variants) == 0, "variants",
		"there is none; what is to be compared?")
	if n := len(c.Variants); n > maxVariants {
		c.addFaultIf(true, "variants", "%d are given; %d are possible", n, maxVariants)
		c.Variants = nil
	}
	mentioned, expanded := map[string]bool{}, 0
	for _, v := range c.Variants {
		at := joinPath("variants", v.Name)
		c.addKeyFaultIf(!nameOf().MatchString(v.Name), at, "%q is not a name; write %s", v.Name, nameRule)
		c.checkDefinition(at, v.Value)
		c.checkTemplates(at, v)
		for factor := range mentionedBy(v.Value) {
			mentioned[factor] = true
		}
		expanded += c.countVariants(v.Value)
	}
	for _, f := range c.Factors {
		idle := len(c.Variants) > 0 && !mentioned[f.Name] && factorOf().MatchString(f.Name)
		c.addKeyFaultIf(idle, joinPath("factors", f.Name),
			"no variant mentions it; write {{%s}} where it belongs", f.Name)
	}
	if expanded > maxVariants {
		c.addFaultIf(true, "variants", "more than %d variants, the factors multiplied", maxVariants)
		c.Variants = nil // later checks would expand them
	}
	c.checkNameClashes()
}

// countVariants is how many variants the factors make of d; above maxVariants it is not exact.
func (c *checker) countVariants(d Definition) int {
	n, factors := 1, 0
	for factor := range mentionedBy(d) {
		if values, is := c.Factors.Get(factor); is {
			n = min(n*max(1, len(values)), maxVariants+1)
			factors++
		}
	}
	if c.Design.Screen && factors >= stats.FewestScreened {
		return len(stats.FoldOver(factors))
	}
	return n
}

// checkNameClashes reports values of factors that give two variants the same name. Everything that
// is stored of a variant is found by its name, and of its control by the name and a mark.
func (c *checker) checkNameClashes() {
	of := map[string]Variant{}
	for _, v := range Expand(c.Experiment) {
		for _, name := range []string{v.Name, v.Name + ControlMark} {
			had, is := of[name]
			if is && !slices.Equal(had.Factors, v.Factors) {
				c.addFaultIf(true, "factors",
					"two variants would be called %q, of %q and of %q; give other values",
					name, had.values(), v.values())
				return
			}
			of[name] = v
		}
	}
}

// values are v's values of its factors.
func (v Variant) values() (all []string) {
	for _, s := range v.Factors {
		all = append(all, s.Value)
	}
	return all
}

func (c *checker) checkDefinition(at string, d Definition) {
	started := len(d.Processes) > 0
	c.addFaultIf(c.isGiven(at+".processes") && !started, at+".processes",
		"the list is empty; leave it out for a server that is already running")
	for _, key := range []string{"files", "copy", "env", "build", "version", "sysctl"} {
		c.addKeyFaultIf(!started && c.isGiven(joinPath(at, key)), joinPath(at, key),
			"no process is started that it could be for; give processes, or leave it out")
	}
	c.checkNeeds(at+".needs", d.Needs)
	for _, f := range d.Files {
		c.checkRunFile(joinPath(at+".files", f.Name), f.Name)
	}
	copies := map[string]bool{}
	for i, name := range d.Copy {
		key := fmt.Sprintf("%s.copy[%d]", at, i)
		base := path.Base(name)
		c.addFaultIf(name == "" || base == "." || base == "..", key, "%q is not a file or a folder", name)
		c.addFaultIf(copies[base], key, "another %s is copied to the same place", base)
		copies[base] = true
		c.checkFileBeside(key, name)
	}
	c.checkEnvironment(at+".env", d.Env)
	for i, s := range d.Build {
		key := fmt.Sprintf("%s.build[%d]", at, i)
		c.checkCommand(key, s.Cmd)
		c.checkEnvironment(key+".env", s.Env)
		c.addFaultIf(s.Timeout == 0, key+".timeout", "0 is no time to build in")
	}
	c.addFaultIf(c.isGiven(at+".version") && (len(d.Version) == 0 || d.Version[0] == ""),
		at+".version",
		"is empty; a program is wanted that prints the version, and its arguments")
	c.checkProcesses(at, d.Processes)
	for _, s := range d.Sysctl {
		c.addKeyFaultIf(!sysctlOf().MatchString(s.Name), joinPath(at+".sysctl", s.Name),
			"only net.* can be set in a private network namespace, as net.core.somaxconn")
	}
	if d.Request != nil {
		c.checkRequest(at+".request", *d.Request)
	}
	if d.Generator != nil {
		c.checkGenerator(at+".generator", d)
		c.addKeyFaultIf(c.isGiven(at+".served"), at+".served",
			"what its generator does is counted by the "+
				"generator's own served; leave this out")
	}
}

// checkGenerator checks a variant's own generator, and that a level sets nothing that it cannot be
// given.
func (c *checker) checkGenerator(at string, d Definition) {
	c.checkCommand(at, d.Generator.Cmd)
	c.checkEnvironment(at+".env", d.Generator.Env)
	alone := c.Design.Clients.Count == 1 && c.Design.Clients.Isolate == NoNamespace &&
		len(d.Sysctl) == 0
	c.addKeyFaultIf(!alone, at, "it is one program, in the network of dyno: neither design.clients "+
		"nor sysctl go with it")
	c.addKeyFaultIf(c.Design.Isolation == Shared && len(c.Levels) > 1, at,
		"with isolation: none it would "+
			"be told of the first level alone; leave one, or isolate the trials")
	for i, l := range c.Levels {
		c.addFaultIf(l.Beyond("connections", "threads", "timeout"),
			fmt.Sprintf("levels[%d]", c.entries[i]), "%s is told of connections and threads alone; "+
				"leave out what else there is but name and timeout", at)
	}
}

func (c *checker) checkProcesses(at string, all []Process) {
	names := map[string]bool{}
	for i, p := range all {
		key := fmt.Sprintf("%s.processes[%d]", at, i)
		c.checkCommand(key, p.Cmd)
		c.checkEnvironment(key+".env", p.Env)
		c.addFaultIf(c.isGiven(key+".name") && !nameOf().MatchString(p.Name), key+".name",
			"%q is not a name; write %s", p.Name, nameRule)
		c.addFaultIf(names[p.Name] && p.Name != "", key,
			"another process is called %s; give each a name of its own", p.Name)
		names[p.Name] = true
		c.addFaultIf(strings.ContainsFunc(p.User, hasBlankOrControl), key+".user", "%q is not a user",
			p.User)
		c.addFaultIf(p.Ready != nil && p.Ready.Timeout == 0, key+".ready.timeout",
			"0 is no time to become ready in")
		c.addFaultIf(p.Ready != nil && p.Ready.Log != "" && (p.Ready.HTTP != "" ||
			len(p.Ready.Status) > 0), key+".ready.log", "http and status ask the server, and log reads "+
			"what it writes; give one of the two")
	}
}

// checkCommand checks a command that was given as a list; a text was split.
func (c *checker) checkCommand(at string, cmd Command) {
	empty := len(cmd) == 0 || cmd[0] == ""
	c.addFaultIf(empty && c.isGiven(at+".cmd"), at+".cmd",
		"is empty; a program is wanted, and its arguments")
}

func (c *checker) checkEnvironment(at string, env Mapping[Template]) {
	for _, e := range env {
		c.addKeyFaultIf(!variableOf().MatchString(e.Name), joinPath(at, e.Name),
			"%q is not the name of an environment variable", e.Name)
		c.addFaultIf(strings.Contains(string(e.Value), "\x00"), joinPath(at, e.Name), "has a NUL")
	}
}

func (c *checker) checkNeeds(at string, n Needs) {
	for i, p := range n.Programs {
		c.addFaultIf(p == "" || strings.ContainsFunc(p, hasBlankOrControl),
			fmt.Sprintf("%s.programs[%d]", at, i),
			"%q is not a program; arguments do not belong here", p)
	}
	for i, f := range n.Files {
		c.addFaultIf(f == "", fmt.Sprintf("%s.files[%d]", at, i), "is empty")
	}
	for i, e := range n.Env {
		c.addFaultIf(!variableOf().MatchString(e), fmt.Sprintf("%s.env[%d]", at, i),
			"%q is not the name of an environment variable", e)
	}
}

// checkRunFile checks the name of a file in the run directory.
func (c *checker) checkRunFile(at, name string) {
	c.addKeyFaultIf(name == "" || path.Clean(name) != name || path.IsAbs(name) || name == "." ||
		name == ".." || strings.HasPrefix(name, "../") || strings.ContainsAny(name, "\\:\x00"), at,
		"%q is not a file of the run directory; write a name, or folder/name", name)
}

// checkAddresses checks the URLs of a definition.
func (c *checker) checkAddresses(at string, d Definition, trial *renderer) {
	check := func(path string, t Template) {
		fromOutside := slices.ContainsFunc(t.mentions(), func(m hole.Mention) bool {
			return m.Word == "env"
		})
		if s := trial.renderText(t); c.isGiven(path) && !c.hasFault(path) && !fromOutside {
			c.checkAddress(path, s)
		}
	}
	check(at+".url", d.URL)
	c.checkOwnHTTP(at+".http", d)
	c.checkSpoken(at+".url", d, trial.renderText(d.URL))
	c.checkOtherPath(at, d, trial.renderText(d.URL))
	c.checkReachable(at, d)
	check(at+".pprof", d.PProf)
	c.checkHTTP1(at+".pprof", d.PProf)
	check(at+".served", d.Served)
	c.checkHTTP1(at+".served", d.Served)
	c.addFaultIf(strings.HasPrefix(string(d.Served), "http+unix:"), at+".served",
		"the count is asked for over TCP; write http:// or https://")
	if d.Generator != nil {
		check(at+".generator.served", d.Generator.Served)
		c.checkHTTP1(at+".generator.served", d.Generator.Served)
	}
	for i, p := range d.Processes {
		if p.Ready != nil && p.Ready.HTTP != "" && !strings.HasPrefix(string(p.Ready.HTTP), "/") {
			check(fmt.Sprintf("%s.processes[%d].ready.http", at, i), p.Ready.HTTP)
		}
	}
}

// checkReachable checks that clients in network namespaces of their own can reach the server.
func (c *checker) checkReachable(at string, d Definition) {
	if c.Design.Clients.Isolate != NetNS || c.hasFault("design.clients") || !c.isGiven(at+".url") {
		return
	}
	named := slices.ContainsFunc(d.URL.mentions(), func(m hole.Mention) bool {
		return m.Word == "address" || m.Word == "socket"
	})
	switch {
	case len(d.Processes) == 0:
		c.addFaultIf(true, at+".url",
			"clients in network namespaces (design.clients) cannot reach a server "+
				"that is already running; give processes")
	case !named && !isUnix(string(d.URL)):
		c.addFaultIf(true, at+".url",
			"clients in network namespaces (design.clients) find the server at "+
				"{{address}} only: have it listen there, and write it here")
	}
}

// checkOwnHTTP checks a variant's own version of HTTP against what levels say.
func (c *checker) checkOwnHTTP(at string, d Definition) {
	if d.HTTP == "" {
		return
	}
	c.addKeyFaultIf(d.Generator != nil, at, "the variant's generator is not told of it; leave it out")
	for i, l := range c.Levels {
		switch {
		case l.HTTP != HTTPAuto:
			c.addKeyFaultIf(true, at, "levels[%d] says %s for all variants; leave one of the two out", i,
				l.HTTP)
			return
		case l.Pipeline > 1 && d.HTTP != HTTP11:
			c.addKeyFaultIf(true, at, "HTTP/%s has no pipelining, which levels[%d] wants; change one of "+
				"the two", d.HTTP, i)
			return
		}
	}
}

// checkSpoken checks that the protocol of levels, or the variant's own, can be spoken at its URL.
func (c *checker) checkSpoken(at string, d Definition, s string) {
	scheme, _, found := strings.Cut(s, "://")
	for i, l := range c.Levels {
		wants := fmt.Sprintf("levels[%d] wants", i)
		if d.HTTP != "" && l.HTTP == HTTPAuto {
			l.HTTP, wants = d.HTTP, "the variant's http says"
		}
		speaks := l.HTTP == HTTPAuto
		switch scheme {
		case "https":
			speaks = true
		case "http", "http+unix":
			speaks = l.HTTP != HTTP3
		case "h2c":
			speaks = speaks || l.HTTP == HTTP2
		}
		if found && c.isGiven(at) && !c.hasFault(at) && !speaks {
			c.addFaultIf(true, at, "%s:// cannot be loaded over HTTP/%s, as %s; "+
				"change one of the two", scheme, l.HTTP, wants)
			return
		}
	}
}

// checkHTTP1 checks that a URL which is only asked now and then is one of HTTP/1.
func (c *checker) checkHTTP1(at string, t Template) {
	scheme, _, _ := strings.Cut(string(t), "://")
	c.addFaultIf(scheme == "h2c" || strings.HasPrefix(scheme, "fcgi"), at,
		"%s:// is for a variant's url only; write http:// or https://", scheme)
}

// unixSchemes are those of URLs of unix sockets.
var unixSchemes = []string{"http+unix", "fcgi+unix"}

// cutUnix splits a URL of a unix socket.
func cutUnix(address string) (scheme, socket, uri string, is bool) {
	scheme, rest, _ := strings.Cut(address, "://")
	if !slices.Contains(unixSchemes, scheme) {
		return "", "", "", false
	}
	socket, uri, _ = strings.Cut(rest, ":")
	return scheme, socket, uri, true
}

// isUnix reports whether a URL is one of a unix socket.
func isUnix(address string) bool {
	_, _, _, is := cutUnix(address)
	return is
}

// checkAddress checks a URL that requests are sent to.
func (c *checker) checkAddress(at, s string) {
	if scheme, socket, uri, is := cutUnix(s); is {
		c.addFaultIf(!path.IsAbs(socket) || !strings.HasPrefix(uri, "/"), at,
			"%q is not a URL; write %s:///PATH/OF/SOCKET:/PATH", s, scheme)
		return
	}
	u, err := url.Parse(s)
	if err != nil || !slices.Contains([]string{"http", "https", "h2c", "fcgi"}, u.Scheme) ||
		u.Hostname() == "" {
		c.addFaultIf(true, at, "%q is not a URL that dyno can load; "+
			"write http://HOST:PORT/PATH, https://, h2c://, fcgi://, http+unix:// or fcgi+unix://", s)
		return
	}
	c.addFaultIf(u.Scheme == "fcgi" && u.Port() == "", at,
		"fcgi has no port of its own; write fcgi://%s:9000", u.Hostname())
	c.addFaultIf(u.Fragment != "", at, "a server never sees #%s; leave it out", u.Fragment)
}

// checkOtherPath checks that a variant's URL has no path if a request's path is sent instead.
func (c *checker) checkOtherPath(at string, d Definition, rendered string) {
	from, asked := "workload.request.path", c.Workload.Request.Path
	if d.Request != nil {
		from, asked = at+".request.path", d.Request.Path
	}
	has := pathOf(rendered)
	if has == "" || has == "/" || asked == "" || has == asked || !c.isGiven(at+".url") {
		return
	}
	n := c.nodeAt(from)
	c.addFaultIf(true, at+".url",
		"its path, %s, is not what requests ask for: %s, at %s:%d:%d, is %s; "+
			"leave one of the two out", has, from, c.file, n.Line, n.Column, asked)
}

// pathOf is a URL's path, with its query; "" if it has none.
func pathOf(address string) string {
	if _, _, uri, is := cutUnix(address); is {
		return uri
	}
	u, err := url.Parse(address)
	if err != nil || u.Path == "" && u.RawQuery == "" {
		return ""
	}
	return u.RequestURI()
}
