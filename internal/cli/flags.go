package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/session"
	"dyno/internal/engine/template"
	"dyno/internal/objective"
	"dyno/internal/observe/probe"
	"dyno/internal/redact"
	"dyno/internal/view/live"
)

// runFlags is the command line of dyno run.
type runFlags struct {
	plan     loadplan.Plan
	defaults requests.Defaults
	filling  filling

	body, urls, bodies, requestsFile string // as given: a file, "-" for stdin
	jsonBody                         string // likewise
	stages                           string // likewise
	stdin                            io.Reader
	hasBody                          bool // which may be empty
	hurlFiles                        []string
	script                           scriptFlags
	connectTo                        string

	headerAt []template.Position // where each header of defaults was given
	form     form
	user     string // the value of Authorization; "": none is given

	watched []probe.Tree
	watch   []string // as they were given
	away    awayFlags
	pprof   string
	fleet   fleetFlags

	objectives     []objective.Objective
	abortOnSLO     bool
	json           string
	jsonStream     bool
	metrics        string // an address to listen at; "": none
	live           liveOutputs
	save, noSave   bool
	verbose, quiet bool
	tui, serve     bool
	strict, help   bool
	showSecrets    bool
	errorsIn       errorFolder
	log            string // a file; "": none
	logShare       float64
	purpose        string // of the marks; "": a command line
}

// planReplacer returns what replaces the plan's secrets.
func (f *runFlags) planReplacer() redact.Replacer { return marksFor(f.purpose, f.showSecrets) }

func newRunFlags() *runFlags { return &runFlags{plan: loadplan.DefaultPlan(), logShare: 1} }

func (f *runFlags) groups() []group {
	return []group{f.loadGroup(), f.requestGroup(), f.connectionGroup(), f.tlsGroup(),
		f.serverGroup(), f.fleet.fleetGroup(), f.outputGroup()}
}

func (f *runFlags) loadGroup() group {
	p := &f.plan
	return group{"Load", []option{
		{"connections", "c", "N", "connections, of all threads together (50)",
			storeParsed(&p.Connections, parseInt)},
		{"duration", "d", "D", "how long to measure (10s)", setSeconds(&p.Duration)},
		{"requests", "n", "N", "send exactly N requests, or begin N iterations of a Hurl file;\n" +
			"with -d, stop at whichever is first",
			storeParsed(&p.Requested, parsePositive(parseCount))},
		{"rate", "R", "N", "requests a second in all, of a Hurl file iterations, at even\n" +
			"intervals whatever the server does; without it, a connection\n" +
			"sends when it has its answer", storeParsed(&p.Rate, parseRate)},
		{"arrival", "", "LAW", "constant, or poisson: independent of one another (constant)",
			storeParsed(&p.Arrival, parseArrival)},
		{"stage", "", "D:RATE", "within D, go evenly from the rate before, which is -R or 0, to\n" +
			"RATE; may be repeated; 0s:RATE is a step, and the same rate a hold;\n" +
			"likewise D:Nusers without a rate, from --users or 0", f.addStage},
		{"stages", "", "FILE", "stages, one a line; may be repeated", f.readStages},
		{"seed", "", "N", "of random arrivals, to have the same again (drawn, and stored)",
			storeParsed(&p.Seed, parseSeed)},
		{"probe", "", "N", "also send N a second at random instants, on connections of their own,\n" +
			"and report their latency apart", storeParsed(&p.Probe, parseRate)},
		{"warmup", "", "D", "load so long before measuring (0s)", setSeconds(&p.Warmup)},
		{"drain", "", "D", "wait so long at the end for requests in flight (2s)", setSeconds(&p.Drain)},
		{"timeout", "", "D", "for one request, from when it was sent (10s)", setSeconds(&p.Timeout)},
		{"threads", "t", "N", "threads (one a physical core)", storeParsed(&p.Threads, parseInt)},
		{"cpus", "", "LIST", "CPUs for the threads, as 0,2-3 (those the process may use)",
			storeParsed(&p.CPUs, parseCPUs)},
		{"ring", "", "KIND", "how to do I/O: auto, epoll, uring or portable (auto)",
			storeParsed(&p.Ring, parseRing)},
		{"spin", "", "", "threads never sleep: a CPU each, for the least error at low load",
			setSwitch(&p.Spin)},
	}}
}

func (f *runFlags) requestGroup() group {
	d := &f.defaults
	return group{"Requests", []option{
		{"method", "X", "M", "GET, unless there is a body: then POST",
			storeParsed(&d.Method, parseMethod)},
		{"header", "H", "'K: V'", "a header, or @FILE with one a line; may be repeated", f.addHeader},
		{"user", "u", "USER:PASSWORD", "the header Authorization: Basic of these", f.setUser},
		{"body", "b", "S|@FILE", "a body, or the file that holds it", f.setBody},
		{"json-body", "", "FILE", "a file of JSON as the body, with its Content-Type",
			setText(&f.jsonBody)},
		{"form", "", "K=V|K=@FILE", "a field of a form as the body, or a file to upload; may be\n" +
			"repeated", f.form.addField},
		{"urls", "", "FILE", "paths or URLs, one a line, sent in turn", setText(&f.urls)},
		{"bodies", "", "FILE", "bodies, one a line, sent in turn", setText(&f.bodies)},
		{"requests-file", "", "FILE", "requests, one JSON object a line, with any of\n" +
			"method, url, headers, body, body_base64, weight, name, timeout, at_s,\n" +
			"expect_status, expect_body, expect_header",
			setText(&f.requestsFile)},
		{"script", "", "FILE.lua", "a script in Lua with wrk's API makes the requests; its arguments\n" +
			"follow the URL and --", setText(&f.script.file)},
		{"variable", "", "K=V", "{{K}} in a URL, a header or a body is V; may be repeated",
			f.filling.flagVariable},
		{"variables-file", "", "FILE", "variables, K=V, one a line; may be repeated",
			f.filling.addVariables},
		{"data", "", "FILE", "rows, whose columns are names in {{}}, from FILE.csv or FILE.jsonl",
			setText(&f.filling.file)},
		{"data-order", "", "ORDER", "which row a request has: in-order, random, once (each, in the\n" +
			"whole run), or per-user (a user has the same in all) (in-order)",
			storeParsed(&f.filling.order, data.ParseOrder)},
		{"users", "", "N", "users who send in turn, each with a row and random values of its own\n" +
			"(one for each request in flight at once)",
			storeParsed(&f.plan.Users, parsePositive(parseInt))},
		{"expect-body", "", "WHAT", "contains:TEXT, regex:RE, sha256:HEX or json:PATH[==VALUE]: a\n" +
			"response without it is an error; may be repeated",
			addChecked(&f.plan.Expectations.Body, requests.ExpectBody)},
		{"expect-header", "", "'K: V'", "likewise of a header, or K for any value; may be repeated",
			addChecked(&f.plan.Expectations.Header, requests.ExpectHeader)},
		{"expect", "", "LIST", "statuses that are right, as 200,404 or 2xx, or any; others are errors\n" +
			"(default: all below 400)",
			storeParsed(&f.plan.Expect, loadplan.ParseStatuses)},
		{"follow", "", "N", "follow up to N redirects of a request on its server; the request\n" +
			"counts once, with its last answer (0: none)",
			storeParsed(&f.plan.Follow, parseInt)},
	}}
}

// retryUnsafe is the flag --retry-unsafe.
func (f *runFlags) retryUnsafe(string) error {
	f.plan.Resend = loadplan.ResendUnsafe
	return nil
}

func (f *runFlags) connectionGroup() group {
	p := &f.plan
	return group{"Connections", []option{
		{"reconnect", "", "WHEN", "never, always, or after N requests (never)",
			storeParsed(&p.Reconnect, parseReconnect)},
		{"retry-unsafe", "", "", "if a connection is lost before an answer, send a POST or PATCH\n" +
			"again, too, which the server may carry out twice", f.retryUnsafe},
		{"http", "", "VERSION", "auto, 1.0, 1.1, 2 or 3 (auto: over TLS what the server chooses of\n" +
			"2 and 1.1, else 1.1)", storeParsed(&p.HTTP, parseHTTP)},
		{"pipeline", "", "N", "requests of HTTP/1.1 in flight at once on a connection (1)",
			storeParsed(&p.Pipeline, parseInt)},
		{"streams", "", "N", "requests of HTTP/2 or 3 in flight at once on a connection (1)",
			storeParsed(&p.Streams, parseInt)},
		{"fcgi-param", "", "K=V", "a parameter of every FastCGI request; may be repeated",
			func(s string) error {
				param, err := parseParam(s)
				if err == nil {
					p.Params = append(p.Params, param)
				}
				return err
			}},
		{"connect-to", "", "HOST:PORT", "connect there, and still ask for the URL's host",
			setText(&f.connectTo)},
		{"source", "", "IP,IP|CIDR", "connect from these addresses of this machine, in turn",
			storeParsed(&p.Source, parseSources)},
		{"connect-rate", "", "N", "at the start, open N connections per second (all at once)",
			storeParsed(&p.ConnectRate, parseRate)},
		{"connect-timeout", "", "D", "for a connection, TLS included (5s)", setSeconds(&p.Connecting)},
	}}
}

func (f *runFlags) tlsGroup() group {
	t := &f.plan.TLS
	return group{"TLS", []option{
		{"insecure", "", "", "accept any certificate", setSwitch(&t.Insecure)},
		{"cacert", "", "FILE", "trust these certificates instead of the system's",
			setReadable(&t.CAFile)},
		{"cert", "", "FILE", "our certificate, for servers that ask for one", setReadable(&t.CertFile)},
		{"key", "", "FILE", "its key", setReadable(&t.KeyFile)},
		{"sni", "", "NAME", "server name to ask for and to verify (the URL's host)",
			setText(&t.ServerName)},
		{"alpn", "", "LIST", "protocols to offer, in this order, as http/1.1,h2; or none\n" +
			"(as --http says)", setText(&t.ALPN)},
		{"tls-min", "", "VERSION", "lowest version: 1.0, 1.1, 1.2 or 1.3 (1.2)", setText(&t.MinVersion)},
		{"tls-max", "", "VERSION", "highest version (1.3)", setText(&t.MaxVersion)},
		{"tls-resume", "", "on|off", "resume sessions of the thread's earlier connections (off: every\n" +
			"handshake is a full one)", storeParsed(&t.Resume, parseOnOff)},
	}}
}

func (f *runFlags) outputGroup() group {
	return group{"Output", []option{
		{"json", "", "FILE|-", "write the result as JSON too; with - stdout has nothing else",
			setText(&f.json)},
		{"json-stream", "", "", "write a line of JSON a second to stdout while it runs, then the\n" +
			"result as the last line, and nothing else", setSwitch(&f.jsonStream)},
		{"metrics", "", "ADDR", "serve the run's metrics to Prometheus at HOST:PORT while it runs;\n" +
			"port 0 is a free one", setAddress(&f.metrics)},
		{"save", "", "", "keep the result, for compare, report and history (yes, if there\n" +
			"was an answer)", setSwitch(&f.save)},
		{"no-save", "", "", "do not keep it", setSwitch(&f.noSave)},
		{"save-errors", "", "DIR", "write the first 20 errors of each kind into an empty folder, with\n" +
			"request and response; keeping these costs a copy of each response", f.setErrorFolder},
		{"show", "", "N", "print the first N requests and what was answered, without secrets\n" +
			"and reason phrases; -n 1 -v does too; it copies each response",
			storeParsed(&f.plan.Show, parseShow)},
		{"log", "", "FILE", "write a line for each request of the window, .csv or .ndjson; it\n" +
			"costs a thread about 50 ns a request, and the writer a part of a CPU", f.setLog},
		{"log-sample", "", "P%", "log only that share of the requests, at random (100%)", f.setLogShare},
		{"verbose", "v", "", "a line a second, as a table, and in the report latency by percentile\n" +
			"and over time", setSwitch(&f.verbose)},
		{"quiet", "q", "", "no progress, and a line instead of the report", setSwitch(&f.quiet)},
		{"tui", "", "", "show the run on the whole terminal, until it ends or q is pressed",
			setSwitch(&f.tui)},
		{"serve", "", "", "show the run in the browser, until Ctrl-C; a process of its own\n" +
			"makes the load", setSwitch(&f.serve)},
		{"slo", "", "EXPR", "objectives, as 'p99<20ms', 'rps>=10k' or 'p99<20ms, errors<0.1%'; may\n" +
			"be repeated; exit 1 if one is missed", f.addObjective},
		{"abort-on-slo", "", "", "end the run when an objective is missed by the run so far and\n" +
			"by each of its last 3 seconds", setSwitch(&f.abortOnSLO)},
		{"strict", "", "", "exit 3 unless the measurement can be trusted", setSwitch(&f.strict)},
		showSecretsOption(&f.showSecrets),
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}
}

func setSeconds(to *loadplan.Seconds) func(string) error {
	return storeParsed(to, func(s string) (loadplan.Seconds, error) {
		d, err := parseDuration(s)
		return loadplan.Seconds(d), err
	})
}

// setBody sets the body, which may be empty, or the name of its file.
func (f *runFlags) setBody(s string) error {
	if s == "@" {
		return errors.New(`"@" names no file; write @FILE`)
	}
	f.body, f.hasBody = s, true
	return requests.Unmarked("the body", s)
}

// setAddress stores an address to listen at.
func setAddress(to *string) func(string) error {
	return storeParsed(to, func(s string) (string, error) { return s, live.CheckAddress(s) })
}

// addObjective adds the objectives of a --slo.
func (f *runFlags) addObjective(s string) error {
	all, err := objective.ParseList(s)
	f.objectives = append(f.objectives, all...)
	return err
}

// parseMethod parses a method; methods are case-sensitive.
func parseMethod(s string) (string, error) { return s, requests.Method(s) }

// parseRing parses a kind of ring that some platform has.
func parseRing(s string) (string, error) {
	if !slices.Contains([]string{"auto", "epoll", "uring", "portable"}, s) {
		return "", fmt.Errorf("%q is not auto, epoll, uring or portable", s)
	}
	return s, nil
}

// parseShow parses how many requests are shown.
func parseShow(s string) (int, error) {
	n, err := parsePositive(parseInt)(s)
	if err == nil && n > loadplan.ShowMost {
		err = fmt.Errorf("%d is more than %d; --save-errors keeps what fails", n, loadplan.ShowMost)
	}
	return n, err
}

// parseOnOff parses a switch with two names.
func parseOnOff(s string) (bool, error) {
	if s != "on" && s != "off" {
		return false, fmt.Errorf("%q is not on or off", s)
	}
	return s == "on", nil
}

// setReadable stores the name of a file after checking that it can be read.
func setReadable(to *string) func(string) error {
	return storeParsed(to, func(s string) (string, error) {
		if s == "" {
			return "", errNoValue
		}
		f, err := os.Open(s)
		if err != nil {
			return "", err
		}
		return s, f.Close()
	})
}

// readRun reads the command line of dyno run. The plan is complete if there are no faults.
func readRun(args []string, stdin io.Reader) (*runFlags, []error) {
	return newRunFlags().parseArgs(args, stdin)
}

func (f *runFlags) parseArgs(args []string, stdin io.Reader) (*runFlags, []error) {
	f.stdin = stdin
	args, old := oldFlags(args, f.groups())
	p := parseOptions(args, f.groups())
	if f.help {
		return f, nil
	}
	faults := append(append(old, p.faults...), contradictions(p.given)...)
	f.script.takeArgs(&p)
	faults = append(faults, f.takeHurl(&p)...)
	faults = append(append(faults, f.readFilling(p.given)...), f.dealOnce()...)
	f.setDefaults(p.given)
	faults = append(append(faults, f.fleet.setGiven(p.given, f.away.agent != "")...),
		f.setTarget(p)...)
	wrong := f.textFaults(p)
	var more []error
	f.plan.Requests, more = f.readRequests(stdin)
	f.plan.Environment = f.filling.taken
	if len(f.plan.Requests) == 0 { // the faults say why, so Check need not
		f.plan.Requests = []loadplan.Request{{Weight: 1}}
	}
	wrong = f.setUsersWork(append(wrong, more...))
	f.setReplay(p.given)
	faults = append(append(faults, wrong...), joinedErrors(f.plan.Check())...)
	faults = append(faults, f.planMarkFaults()...)
	faults = slices.Concat(faults, f.conflictFaults(), f.seedFaults(), f.abortable())
	return f, f.setScriptUnless(append(faults, f.unusedFaults(faults)...))
}

// setUsersWork gives the plan the scenario that what was read needs, unless there are faults. It
// returns these, or its own.
func (f *runFlags) setUsersWork(faults []error) []error {
	switch {
	case len(faults) > 0 || f.filling.names.Unread:
	case len(f.hurlFiles) > 0:
		faults = f.setSession()
	default:
		faults = f.setScenario()
	}
	if f.plan.Scenario == nil {
		f.plan.Users = 0 // Check need not know of users without a scenario
	}
	return faults
}

// setTarget sets the target from the URL. If the URL is faulty, a placeholder takes its place, with
// which Check finds all other faults and no false ones.
func (f *runFlags) setTarget(p parsed) []error {
	u, err := f.requiredURL(p)
	if f.user != "" && u.Basic != "" {
		err = errors.Join(err, loadplan.Flaw{Setting: "--user", Problem: "the URL names a user, too; " +
			"give one of them"})
	}
	if err != nil {
		fcgi := len(f.plan.Params) > 0
		f.plan.Target = loadplan.Target{Host: "unknown", TLS: !fcgi, FastCGI: fcgi}
		return joinedErrors(err)
	}
	u.Basic = cmp.Or(f.user, u.Basic)
	f.plan.Target, f.defaults.URL = u.Target, u
	keep := f.planReplacer().KeepHoles(nil)
	f.plan.Target.URL = keep.URL(u.Target.URL)                  // for display and logs
	f.defaults.HTTP2 = f.plan.OnlyHTTP2() || f.plan.OnlyHTTP3() // both have the same rules
	if u.Target.TLS {                                           // as browsers and curl do
		f.plan.TLS.KeyLogFile = os.Getenv("SSLKEYLOGFILE")
	}
	return f.setConnectTo()
}

// setDefaults sets what was not given to the default that suits what was.
func (f *runFlags) setDefaults(given map[string]bool) {
	p := &f.plan
	if p.Requested > 0 && !given["duration"] {
		p.Duration = 0
	}
	if p.Ramps() && !given["connections"] { // one for each user, as browsers have
		p.Connections = max((p.UserCount()+p.Depth()-1)/p.Depth(), 1)
	}
	if p.Requested > 0 && !given["connections"] {
		p.Connections = int(min(int64(p.Connections), p.Requested))
	}
	if (len(p.Stages) > 0 || p.Ramps()) && !given["duration"] {
		p.Duration = loadplan.Seconds(p.StagesLength())
	}
	if f.verbose && p.Requested == 1 && p.Show == 0 && !f.fleet.isAsked() {
		p.Show = 1
		if len(f.hurlFiles) > 0 { // -n counts iterations, which have several requests
			p.Show = loadplan.ShowMost
		}
	}
	if !given["threads"] {
		p.Threads = max(min(p.Threads, p.Connections), 1)
		p.FitThreads()
	}
}

// setReplay has requests with times be sent then, each once. One thread keeps their order, even
// where the machine is busy; -t asks for more.
func (f *runFlags) setReplay(given map[string]bool) {
	p := &f.plan
	if !p.SetReplay() {
		return
	}
	if !given["requests"] {
		p.Requested = int64(len(p.Requests))
	}
	f.setDefaults(given)
	if !given["threads"] {
		p.Threads = 1
	}
}

// requiredURL is the URL that the command line must have.
func (f *runFlags) requiredURL(p parsed) (requests.URL, error) {
	flaw := func(format string, args ...any) (requests.URL, error) {
		return requests.URL{}, loadplan.Flaw{Setting: "URL", Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(p.words) == 0 && len(f.hurlFiles) > 0:
		return requests.URL{}, loadplan.Flaw{Setting: "--variable " + session.BaseVariable,
			Problem: "is missing: it is the URL of the server, as in --variable base=http://127.0.0.1:8080"}
	case len(p.words) == 0:
		return flaw("none is given; write one, as in dyno run http://localhost:8080/")
	case len(p.words) > 1 && !p.stray:
		return flaw("%d are given, %q; a run has one, and --urls for several of its host",
			len(p.words), p.words)
	}
	u, err := requests.Parse(requests.FullURL(p.words[len(p.words)-1]))
	if err = errors.Join(err, requests.Unmarked("it", u.Path)); err != nil {
		return flaw("%v", err)
	}
	return u, nil
}

// setConnectTo sets the address to connect to from --connect-to. Host, and the name that TLS
// verifies, stay those of the URL.
func (f *runFlags) setConnectTo() []error {
	if f.connectTo == "" {
		return nil
	}
	flaw := func(problem string) []error {
		return []error{loadplan.Flaw{Setting: "--connect-to", Problem: problem}}
	}
	t := &f.plan.Target
	host, port, err := requests.HostPort(f.connectTo)
	switch {
	case err != nil:
		return flaw(err.Error())
	case port == 0:
		return flaw(fmt.Sprintf("%q has no port; write HOST:PORT", f.connectTo))
	case t.Unix != "":
		scheme, _, _ := strings.Cut(t.URL, "://")
		return flaw("and a " + scheme + " URL each say where to connect; give one of them")
	}
	if t.TLS && f.plan.TLS.ServerName == "" {
		f.plan.TLS.ServerName = t.Host
	}
	t.Host, t.Port = host, port
	return nil
}
