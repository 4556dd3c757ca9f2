// Package repeat writes commands from a plan: the one that repeats a run or a search, and the one
// that asks the server once.
//
//	after.go    the command that goes on after a search
//	repeat.go   a plan's settings as flags, quoted by setting.ShellQuote; the command that asks the
//	            server once
//	run.go      the command that repeats a run, with its fleet and what it watched
//	search.go   the commands that repeat a search or a sweep, hold what was found, or begin a
//	            search
package repeat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/redact"
	"dyno/internal/setting"
	"dyno/internal/view/format"
)

// A commandLine is being written.
type commandLine struct {
	words    []string // those of a flag together
	settings []setting.Given
	lost     []string // what the plan has and no flag can say
}

// add adds a setting.
func (c *commandLine) add(given setting.Given) {
	c.words = append(c.words, Word(given))
	c.settings = append(c.settings, given)
}

// addFlag adds the setting of a name, with its value.
func (c *commandLine) addFlag(wanted bool, name, value string) {
	if wanted {
		c.add(setting.Given{Setting: setting.Named(name), Argument: value})
	}
}

// Word is a setting's flag with its value, in the quotes of a shell.
func Word(given setting.Given) string {
	if given.Value == "" {
		return given.ShortFlag()
	}
	return given.ShortFlag() + " " + setting.ShellQuote(given.Argument)
}

// Command is the command that runs a plan again, beginning with these words, and what of the
// plan it leaves out because a result does not hold it: secrets, long bodies, files of requests.
// Settings at their default are left out.
func Command(p loadplan.Plan, words ...string) (line, lost string) {
	c := &commandLine{words: words}
	c.addPlan(p)
	if len(p.Hurl) > 0 { // the variable base has the URL
		return strings.Join(c.words, " "), strings.Join(c.lost, "; ")
	}
	c.words = append(c.words, setting.ShellQuote(p.Target.URL))
	if p.Script != nil && len(p.Script.Args) > 0 {
		c.words = append(c.words, "--")
		for _, a := range p.Script.Args {
			c.words = append(c.words, setting.ShellQuote(a))
		}
	}
	return strings.Join(c.words, " "), strings.Join(c.lost, "; ")
}

// Flags are the words of a plan's flags, each with its value.
func Flags(p loadplan.Plan) []string {
	c := new(commandLine)
	c.addPlan(p)
	return c.words
}

// Settings are a plan's flags, and what of the plan they leave out; see Command.
func Settings(p loadplan.Plan) (all []setting.Given, lost []string) {
	c := new(commandLine)
	c.addPlan(p)
	return c.settings, c.lost
}

// addPlan is all of a plan but its URL.
func (c *commandLine) addPlan(p loadplan.Plan) {
	if len(p.Requests) == 1 && p.Data == nil {
		takeOwn(&p)
	}
	all := setting.Shown(&p)
	c.addSettings(all, func(s *setting.Setting) bool { return !s.SaysWhatIsSent() })
	c.addFlag(p.Target.ConnectsElsewhere(), "connect-to",
		p.Target.Address())
	c.addFilling(p)
	c.addSettings(all, (*setting.Setting).SaysWhatIsSent)
	if p.Auth != "" {
		c.lost = append(c.lost, "who sends requests (--user) was not kept")
	}
	if s := p.Script; s != nil {
		c.addFlag(true, "script", s.File)
		c.lost = append(c.lost, neededFile(*s))
		p.Steps = nil
	}
	if len(p.Hurl) == 0 {
		c.addRequests(p)
	}
	for _, h := range p.Hurl {
		c.words = append(c.words, setting.ShellQuote(h.File))
		c.lost = append(c.lost, neededFile(h))
	}
}

// addSettings adds some of a plan's settings.
func (c *commandLine) addSettings(all []setting.Given, which func(*setting.Setting) bool) {
	for _, given := range all {
		if which(given.Setting) {
			c.add(given)
			c.noteSecret(given.Secret, given.Argument, "what is secret in --"+given.Name+" was not kept")
		}
	}
}

// takeOwn has the settings of a plan's only request be the plan's, for which there are flags.
func takeOwn(p *loadplan.Plan) {
	r := &p.Requests[0]
	p.Expectations, p.Timeout = p.Expected(r), cmp.Or(r.Timeout, p.Timeout)
	if own := r.Expect; own != nil && own.Status != nil {
		p.Expect = own.Status
	}
}

// neededFile is a file that the command needs.
func neededFile(s loadplan.Script) string {
	return fmt.Sprintf("it needs %s as it was (SHA-256 %.12s…)", format.PlainLine(s.File), s.SHA256)
}

// addFilling adds what holes are filled from.
func (c *commandLine) addFilling(p loadplan.Plan) {
	for _, v := range p.Variables {
		c.addFlag(true, "variable", v.Name+"="+v.Value)
	}
	if d := p.Rows; d != nil {
		c.addFlag(true, "data", d.File)
		c.addFlag(d.Order != "in-order", "data-order", d.Order)
		c.lost = append(c.lost, fmt.Sprintf("--data needs %s as it was, with %s (SHA-256 %.12s…)",
			format.PlainLine(d.File), format.Plural(int64(d.Rows), "row"), d.SHA256))
	}
}

// addRequests adds the request if there is one. The result has a table of several, and of steps.
func (c *commandLine) addRequests(p loadplan.Plan) {
	if p.Data != nil && p.Data.File != "" {
		c.addFlag(true, "requests-file", p.Data.File)
		c.noteSecrets(p)
		return
	}
	if len(p.Steps) > 0 {
		c.lost = append(c.lost, "the scenario")
		c.noteSecrets(p)
		return
	}
	if p.Asks() != 1 || !p.Whole() {
		requests := "request"
		if n := p.Asks(); n != 1 {
			requests = format.Plural(int64(n), "request")
		}
		c.lost = append(c.lost, fmt.Sprintf("the %s, which came from files "+
			"(--urls, --bodies or --requests-file)", requests))
		return
	}
	if n := p.Requests[0].LostBody(); n > 0 {
		c.lost = append(c.lost, fmt.Sprintf("the body of %s, of which a result has only the SHA-256",
			format.Bytes(n)))
	}
	r := p.Requests[0].Written()
	method := "GET"
	if len(r.Body) > 0 && p.Requests[0].LostBody() == 0 {
		method = "POST"
		body := string(r.Body)
		if strings.HasPrefix(body, "@") { // else a file would be read
			c.lost = append(c.lost, "a body that begins with @ has to be in a file")
			body = "@FILE"
		}
		c.addFlag(true, "body", body)
	}
	c.addFlag(r.Method != method, "method", r.Method)
	for _, h := range r.Header {
		c.addFlag(true, "header", h.Name+": "+h.Value)
	}
	c.noteSecrets(p)
}

// noteSecret notes once that a value that may be secret was not kept, if it has a mark.
func (c *commandLine) noteSecret(may bool, value, said string) {
	if may && redact.HasMark(value) && !slices.Contains(c.lost, said) {
		c.lost = append(c.lost, said)
	}
}

// noteSecrets notes each secret once as not kept.
func (c *commandLine) noteSecrets(p loadplan.Plan) {
	lost := func(value, said string) { c.noteSecret(true, value, said) }
	for i := range p.Requests {
		r := p.Requests[i].Written()
		for _, h := range r.Header {
			lost(h.Value, "the value of "+format.PlainLine(h.Name)+" is secret and was not kept")
		}
		lost(r.Path, "what is secret in the URL was not kept")
		lost(string(r.Body), "what is secret in the body was not kept")
	}
	for _, v := range p.Variables {
		lost(v.Value, "the value of --variable "+format.PlainLine(v.Name)+" is secret and was not kept")
	}
	for _, f := range p.Params {
		lost(f.Value, "the value of "+format.PlainLine(f.Name)+" is secret and was not kept")
	}
}

// JoinComma is a flag's list: values with commas between them.
func JoinComma[T any](all []T, show func(T) string) string {
	var words []string
	for _, v := range all {
		words = append(words, show(v))
	}
	return strings.Join(words, ",")
}

// AskCommand asks for an address once, and shows the answer. curl knows neither FastCGI nor dyno's
// other schemes; more are flags of curl.
func AskCommand(p loadplan.Plan, more ...string) string {
	url, how := p.Target.URL, ""
	for _, f := range []struct{ flag, value string }{{"--cacert", p.TLS.CAFile},
		{"--cert", p.TLS.CertFile}, {"--key", p.TLS.KeyFile}} {
		if f.value != "" {
			how += f.flag + " " + setting.ShellQuote(f.value) + " "
		}
	}
	if p.TLS.Insecure {
		how += "--insecure "
	}
	if region, service, is := loadplan.SigV4(p.Auth); is {
		how += "--aws-sigv4 " + setting.ShellQuote("aws:amz:"+region+":"+service) + " --user KEY:SECRET "
	} else if p.Auth != "" {
		how += "--digest --user USER:PASSWORD "
	}
	if p.Proxy != "" {
		how += "--proxy " + setting.ShellQuote(p.Proxy) + " "
	}
	if p.Tunnels() && !p.Target.TLS {
		how += "--proxytunnel "
	}
	curl := strings.Join(append([]string{"curl", "-v"}, more...), " ") + " "
	switch rest, h2c := strings.CutPrefix(url, "h2c://"); {
	case h2c:
		return curl + "--http2-prior-knowledge " + how + setting.ShellQuote("http://"+rest)
	case p.Target.FastCGI || p.Target.Unix != "" || p.HTTP == "3":
		command := "dyno run -n 1 -c 1 -v "
		if p.HTTP == "3" {
			command += "--http 3 "
		}
		return command + how + setting.ShellQuote(url)
	}
	return curl + how + setting.ShellQuote(url)
}
