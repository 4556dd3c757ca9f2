package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
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
	"dyno/internal/setting"
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
	sender   string // what it was made of

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

func (f *runFlags) groups() []group { return tableGroups(setting.Run, &f.plan, f.readers()) }

// readers are those of the flags that make requests, or say what becomes of the result.
func (f *runFlags) readers() readers {
	all := readers{
		"stages": f.readStages, "method": storeParsed(&f.defaults.Method, parseMethod),
		"header": f.addHeader, "user": f.setUser, "body": f.setBody, "json-body": setText(&f.jsonBody),
		"form": f.form.addField, "urls": setText(&f.urls), "bodies": setText(&f.bodies),
		"requests-file": setText(&f.requestsFile), "script": setText(&f.script.file),
		"variable": f.filling.flagVariable, "variables-file": f.filling.addVariables,
		"data": setText(&f.filling.file), "data-order": storeParsed(&f.filling.order, data.ParseOrder),
		"connect-to": setText(&f.connectTo),

		"watch": f.addWatch, "pprof": f.setPprof,

		"json": setText(&f.json), "json-stream": setSwitch(&f.jsonStream),
		"metrics": setAddress(&f.metrics), "save": f.setSave, "no-save": setSwitch(&f.noSave),
		"save-errors": f.setErrorFolder, "log": f.setLog, "log-sample": f.setLogShare,
		"verbose": setSwitch(&f.verbose), "quiet": setSwitch(&f.quiet), "tui": setSwitch(&f.tui),
		"serve": setSwitch(&f.serve), "slo": f.addObjective, "abort-on-slo": setSwitch(&f.abortOnSLO),
		"strict": setSwitch(&f.strict), "show-secrets": setSwitch(&f.showSecrets),
		"help": setSwitch(&f.help),
	}
	maps.Copy(all, f.fleet.readers())
	return all
}

// setBody sets the body, which may be empty, or the name of its file.
func (f *runFlags) setBody(s string) error {
	if s == "@" {
		return errors.New(`"@" names no file; write @FILE`)
	}
	f.body, f.hasBody = s, true
	return requests.Unmarked("the body", s)
}

// setSave says whether the result is kept: --save=false is --no-save.
func (f *runFlags) setSave(s string) (err error) {
	f.save, err = setting.ParseSwitch(s)
	f.noSave = f.noSave || err == nil && !f.save
	return err
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
	wrong = f.setUsersWork(append(wrong, more...), p.given)
	f.setReplay(p.given)
	faults = append(append(faults, wrong...), f.planFaults()...)
	faults = append(faults, f.planMarkFaults()...)
	faults = slices.Concat(faults, f.conflictFaults(), f.seedFaults(), f.abortable())
	return f, f.setScriptUnless(append(faults, f.unusedFaults(faults)...))
}

// setUsersWork gives the plan the scenario that what was read needs, unless there are faults. It
// returns these, or its own.
func (f *runFlags) setUsersWork(faults []error, given map[string]bool) []error {
	switch {
	case len(faults) > 0 || f.filling.names.Unread:
	case len(f.hurlFiles) > 0:
		faults = f.setSession()
	default:
		faults = append(f.setScenario(), f.markStreams()...)
	}
	if f.plan.Scenario == nil {
		f.plan.Users = 0 // Check need not know of users without a scenario
	}
	f.setStreamDefaults(given)
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
	f.setSender()
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

// setSender has the plan say who sends requests, where it says how.
func (f *runFlags) setSender() {
	if f.plan.Auth != "" {
		f.plan.User, f.user = f.sender, ""
	}
}

// setStreamDefaults is setDefaults where answers are streams, as a Hurl file may say.
func (f *runFlags) setStreamDefaults(given map[string]bool) {
	p := &f.plan
	if !p.Stream.IsSet() {
		return
	}
	for name, d := range map[string]struct {
		field *loadplan.Seconds
		is    loadplan.Seconds
	}{"timeout": {&p.Timeout, loadplan.StreamTimeout}, "drain": {&p.Drain, loadplan.StreamDrain},
		"stall": {&p.Stream.Stall, loadplan.StreamStall}} {
		if !given[name] {
			*d.field = d.is
		}
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
