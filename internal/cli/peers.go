package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/peers"
)

// A peer is another load generator whose command line dyno accepts and whose report it writes.
type peer struct {
	name  string
	does  string
	flags []peerFlag
	dash  bool // -long, as Go's package flag has it
	start func() *peerLoad

	resend string // what the tool sends again, one of loadplan's
}

// A peerFlag is one of the other tool's flags.
type peerFlag struct {
	names string // separated by blanks, without dashes
	value string // "": a switch
	def   string // the other tool's default; "": none, or off
	does  string
	set   func(l *peerLoad, value string) error
}

// A peerLoad is what the other tool's command line asks for, as one of dyno run.
type peerLoad struct {
	peers.Run
	url    string
	rate   float64
	capped float64
	body   string // of dyno's --body; "": none
	text   string // of a body that begins with @ and is no file's name
	output string // a file for the report; "": stdout
	host   string // hey -host
	plain  bool   // no Accept-Encoding is sent unless a header was given
	kind   string // Content-Type
	method string
	flags  []string // further ones of dyno run
	args   []string // of a script: what follows --
	lies   []string // what the other tool would have done, for a line on stderr
	help   bool
	shown  bool // the version
}

// add adds flags of dyno run.
func (l *peerLoad) add(flags ...string) error {
	l.flags = append(l.flags, flags...)
	return nil
}

// replace gives a flag its value in place of the one that it has: in other tools the last counts.
func (l *peerLoad) replace(flag, value string) {
	if i := slices.Index(l.flags, flag); i >= 0 {
		l.flags[i+1] = value
		return
	}
	l.flags = append(l.flags, flag, value)
}

// same is a flag whose value one of dyno run has too. A header is added, anything else replaced.
func same(flag string) func(*peerLoad, string) error {
	return func(l *peerLoad, v string) error {
		if flag == "-H" {
			return l.add(flag, v)
		}
		l.replace(flag, v)
		return nil
	}
}

// always is a switch that stands for flags of dyno run.
func always(flags ...string) func(*peerLoad, string) error {
	return func(l *peerLoad, _ string) error {
		if len(flags) == 2 {
			l.replace(flags[0], flags[1])
			return nil
		}
		return l.add(flags...)
	}
}

func unused(*peerLoad, string) error { return nil }

// refused is a flag that dyno cannot do.
func refused(why string) func(*peerLoad, string) error {
	return func(*peerLoad, string) error { return errors.New(why) }
}

func setDetail(l *peerLoad, _ string) error {
	l.Detail = true
	return nil
}

func setKind(l *peerLoad, v string) error    { l.kind = v; return nil }
func setPeerURL(l *peerLoad, v string) error { l.url = v; return nil }

func setMethod(l *peerLoad, v string) error {
	l.method = strings.ToUpper(v)
	return nil
}

// setNumber reads a count such as 100 or 2k.
func setNumber(to func(*peerLoad) *int) func(*peerLoad, string) error {
	return func(l *peerLoad, v string) error {
		n, err := setting.ParseCount(strings.ToUpper(v))
		if err == nil && (n < 1 || n > loadplan.MaxConnections) {
			err = fmt.Errorf("%q is not a number from 1 to %d", v, loadplan.MaxConnections)
		}
		*to(l) = int(n)
		return err
	}
}

func setConnections(l *peerLoad, v string) error {
	return setNumber(func(l *peerLoad) *int { return &l.Connections })(l, v)
}

func setThreads(l *peerLoad, v string) error {
	return setNumber(func(l *peerLoad) *int { return &l.Threads })(l, v)
}

func setRequested(l *peerLoad, v string) (err error) {
	l.Requested, err = setting.Positive(setting.ParseCount)(strings.ToUpper(v))
	return err
}

func setPeerDuration(l *peerLoad, v string) error {
	d, err := setting.ParseDuration(v)
	if err == nil && d <= 0 {
		err = fmt.Errorf("%q is no time above 0", v)
	}
	l.Duration = d
	return err
}

func setPeerRate(l *peerLoad, v string) error {
	r, err := setting.ParseRate(strings.ToUpper(v))
	l.rate = r.PerSecond()
	return err
}

// setBasic adds credentials.
func setBasic(l *peerLoad, v string) error { return l.add("-u", v) }

// setBodyFile has the body be a file.
func setBodyFile(l *peerLoad, v string) error {
	l.body = "@" + v
	return nil
}

// setBodyText has the body be a text. One that begins with @ would name a file to dyno run, which
// reads it as its input.
func setBodyText(l *peerLoad, v string) error {
	if l.body = v; strings.HasPrefix(v, "@") {
		l.body, l.text = "@-", v
	}
	return nil
}

// hasHeader reports whether a header of that name was given.
func (l *peerLoad) hasHeader(name string) bool { return l.headerAt(name) >= 0 }

// headerAt is where in flags the value of the header is, or -1.
func (l *peerLoad) headerAt(name string) int {
	for i, flag := range l.flags {
		given, _, _ := strings.Cut(flag, ":")
		if i > 0 && l.flags[i-1] == "-H" && strings.EqualFold(strings.TrimSpace(given), name) {
			return i
		}
	}
	return -1
}

// addDefault adds a header that the other tool sends unless one of that name was given.
func (l *peerLoad) addDefault(name, value string) {
	if !l.hasHeader(name) {
		l.flags = append(l.flags, "-H", name+": "+value)
	}
}

// parsePeer reads a command line of another tool.
func parsePeer(p peer, args []string) (*peerLoad, error) {
	l := p.start()
	l.Tool = p.name
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			if l.url == "" && len(args) > 0 {
				l.url, args = args[0], args[1:]
			}
			l.args = args
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			l.url = arg
			continue
		}
		f, value, has, err := p.findFlag(arg)
		if err != nil {
			return l, err
		}
		for i, one := range f {
			v := ""
			if one.value != "" && i == len(f)-1 {
				if v = value; !has {
					if len(args) == 0 {
						return l, fmt.Errorf("%s needs a value", arg)
					}
					v, args = args[0], args[1:]
				}
			}
			if err := one.set(l, v); err != nil {
				return l, fmt.Errorf("%s: %w", arg, err)
			}
		}
	}
	return l, nil
}

// findFlag finds the flags of an argument: one, or, of single letters, several.
func (p peer) findFlag(arg string) (all []peerFlag, value string, has bool, err error) {
	find := func(name string) (peerFlag, bool) {
		for _, f := range p.flags {
			if slices.Contains(strings.Fields(f.names), name) {
				return f, true
			}
		}
		return peerFlag{}, false
	}
	unknown := fmt.Errorf("%s is not a flag of %s that dyno knows", arg, p.name)
	if p.dash || strings.HasPrefix(arg, "--") {
		name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f, known := find(name)
		if !known {
			return nil, "", false, unknown
		}
		return []peerFlag{f}, value, has, nil
	}
	for i := 1; i < len(arg); i++ {
		f, known := find(arg[i : i+1])
		if !known {
			return nil, "", false, unknown
		}
		if all = append(all, f); f.value != "" {
			return all, strings.TrimPrefix(arg[i+1:], "="), i+1 < len(arg), nil
		}
	}
	return all, "", false, nil
}

// runArgs is the command line of dyno run for what was asked.
func (l *peerLoad) runArgs() []string {
	args := []string{"-c", strconv.Itoa(l.Connections), "--expect", "any", "--no-save"}
	if l.Threads > 0 {
		args = append(args, "-t", strconv.Itoa(l.Threads))
	}
	if l.Requested > 0 {
		args = append(args, "-n", strconv.FormatInt(l.Requested, 10))
	}
	if l.Duration > 0 {
		args = append(args, "-d", l.Duration.String())
	}
	if l.rate > 0 {
		args = append(args, "-R", strconv.FormatFloat(l.rate, 'f', -1, 64))
	}
	if l.method != "" {
		args = append(args, "-X", l.method)
	}
	if l.body != "" {
		args = append(args, "-b", l.body)
	}
	args = append(append(args, l.flags...), l.url)
	if len(l.args) > 0 && slices.Contains(l.flags, "--script") {
		args = append(append(args, "--"), l.args...)
	}
	return args
}

// readRun is the load of dyno run. The other tools know no holes: {{ goes out as it is.
func (l *peerLoad) readRun(stdin io.Reader) (*runFlags, []error) {
	f := newRunFlags()
	f.filling.names.Literal = true
	if l.text != "" && l.body == "@-" {
		stdin = strings.NewReader(l.text)
	}
	return f.parseArgs(l.runArgs(), stdin)
}

// runPeer is a verb that acts as another tool.
func runPeer(p peer) func(streams, []string) int {
	return func(s streams, args []string) int {
		l, err := parsePeer(p, args)
		switch {
		case l.help:
			return s.printHelp(p.name)
		case l.shown:
			return s.printText(fmt.Sprintf("%s, as dyno %s has it\n", p.name, loadplan.Version))
		case err == nil && l.url == "":
			err = errors.New("no URL is given")
		}
		if err == nil {
			err = l.complete()
		}
		if err != nil {
			return s.refuseFlags(p.name, []error{err})
		}
		f, faults := l.readRun(s.in)
		if f.plan.Cap = loadplan.RatePerSecond(l.capped); len(faults) > 0 {
			return s.refuseFlags(p.name, faults)
		}
		f.plan.Resend = p.resend
		if m := f.script.maker; m != nil { // as wrk does it: what request() returns is sent at once
			f.plan.Pipeline = max(m.Returned(), 1)
			if err := f.script.printed.release(s.out); err != nil {
				return s.writeExitCode(err)
			}
		}
		if p.name == "ab" {
			l.Document = askDocument(f)
		}
		ctx, end := untilInterrupted()
		defer end()
		r, err := f.carryOutPlan(ctx, f.plan, runHere)
		if err != nil {
			return s.failNotRun(err)
		}
		return s.finishScript(f, r, s.reportAsPeer(l, r))
	}
}

// reportAsPeer writes the other tool's report, and to stderr where that tool would have lied.
func (s streams) reportAsPeer(l *peerLoad, r *result.Result) int {
	l.URL, l.Threads, l.Limit = l.url, r.Plan.Threads, l.capped
	if l.Method = l.method; l.Method == "" {
		l.Method = "GET"
	}
	if r.Answers() > 0 || l.Tool != "wrk" && l.Tool != "wrk2" { // which print nothing then
		if err := l.writeReport(s.out, r); err != nil {
			return s.writeExitCode(err)
		}
	}
	if untrue := peers.Untrue(l.Run, r, l.lies); untrue != "" {
		s.writeLine("dyno: %s", untrue)
	}
	switch cause := failureOf(r, false); {
	case r.Ended == string(loadresult.Interrupted):
		return exitInterrupted
	case r.Ended == string(loadresult.Faulted):
		s.writeLine("dyno: %s", r.Cause)
		return exitUsage
	case cause != "":
		s.writeLine("dyno: %s", cause)
		return exitUnreachable
	}
	return exitOK
}

// writeReport writes the other tool's report to out, or to the file that was asked for.
func (l *peerLoad) writeReport(out io.Writer, r *result.Result) error {
	if l.output == "" {
		return peers.Write(out, l.Run, r)
	}
	var text bytes.Buffer
	if err := peers.Write(&text, l.Run, r); err != nil {
		return err
	}
	return writeStraight(l.output, text.Bytes())
}

// peerVerbs are the verbs that act as other tools.
func peerVerbs() (all []verb) {
	for _, p := range allPeers() {
		all = append(all, verb{name: p.name, args: "[its flags] URL", does: p.does, run: runPeer(p),
			groups: p.groups, more: peerNotes, examples: []string{peerExamples[p.name]}})
	}
	return all
}

const peerNotes = `The flags and the form of the report are those of the other tool; the engine and
the numbers are dyno's. Where the other tool would have reported something untrue, a
line on stderr says so. A link to dyno with this name acts as this verb. Nothing is
stored. docs/from.md says what differs.
`

var peerExamples = map[string]string{
	"wrk":      "dyno wrk -t2 -c10 -d1s --latency http://127.0.0.1:8080/",
	"wrk2":     "dyno wrk2 -t2 -c10 -d1s -R500 --latency http://127.0.0.1:8080/",
	"ab":       "dyno ab -n 500 -c 10 http://127.0.0.1:8080/",
	"hey":      "dyno hey -n 500 -c 10 http://127.0.0.1:8080/",
	"oha":      "dyno oha -n 500 -c 10 --no-tui http://127.0.0.1:8080/",
	"go-meter": "dyno go-meter -t 1 -c 10 -d 1s -mrq 500 -u http://127.0.0.1:8080/",
}

// groups are the flags, for the help and the completion.
func (p peer) groups() []group {
	var all []option
	for _, f := range p.flags {
		o := option{value: f.value, does: f.does}
		if f.def != "" {
			o.does += " (" + f.def + ")"
		}
		for name := range strings.FieldsSeq(f.names) {
			if len(name) == 1 {
				o.short = name
			} else if o.long == "" {
				o.long = name
			}
		}
		all = append(all, o)
	}
	return []group{{"Flags of " + p.name, all}}
}

// PeerOf is the tool as which dyno acts when it is started under that name; "" if none.
func PeerOf(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, p := range allPeers() {
		if p.name == name {
			return name
		}
	}
	return ""
}
