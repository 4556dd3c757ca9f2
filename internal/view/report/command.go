package report

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/load"
	"dyno/internal/redact"
)

// A commandLine is being written.
type commandLine struct {
	words []string // those of a flag together
	lost  []string // what the plan has and no flag can say
}

func (c *commandLine) flag(wanted bool, name, value string) {
	if wanted {
		c.words = append(c.words, name+" "+quote(value))
	}
}

// repeating is the command that runs a plan again, beginning with these words, and what of the
// plan it leaves out because a result does not hold it: secrets, long bodies, files of requests.
// What has its default is not said.
func repeating(p load.Plan, words ...string) (line, lost string) {
	c := &commandLine{words: words}
	c.plan(p)
	c.words = append(c.words, quote(p.Target.URL))
	return strings.Join(c.words, " "), strings.Join(c.lost, "; ")
}

// plan is all of a plan but its URL.
func (c *commandLine) plan(p load.Plan) {
	d := load.DefaultPlan()
	whole := func(n int) string { return strconv.Itoa(n) }
	c.flag(p.Connections != d.Connections, "-c", whole(p.Connections))
	c.flag(p.Threads > 0, "-t", whole(p.Threads)) // a default that depends on the machine
	c.arrivals(p)
	c.flag(p.Requested > 0, "-n", strconv.FormatInt(p.Requested, 10))
	c.flag(p.Duration > 0, "-d", p.Duration.String())
	c.flag(p.Warmup != d.Warmup, "--warmup", p.Warmup.String())
	c.flag(p.Drain != d.Drain, "--drain", p.Drain.String())
	c.flag(p.Timeout != d.Timeout, "--timeout", p.Timeout.String())
	c.flag(p.Connecting != d.Connecting, "--connect-timeout", p.Connecting.String())
	c.flag(p.HTTP != d.HTTP && !p.Target.FastCGI && !p.Target.H2C, "--http", p.HTTP)
	c.flag(p.Pipeline != d.Pipeline, "--pipeline", whole(p.Pipeline))
	c.flag(p.Streams != d.Streams && p.Streams > 0, "--streams", whole(p.Streams))
	c.flag(p.Reconnect == 1, "--reconnect", "always")
	c.flag(p.Reconnect > 1, "--reconnect", whole(p.Reconnect))
	for _, param := range p.Params {
		c.flag(true, "--fcgi-param", param.Name+"="+param.Value)
	}
	c.flag(redirected(p.Target), "--connect-to",
		net.JoinHostPort(p.Target.Host, strconv.Itoa(int(p.Target.Port))))
	c.flag(p.ConnectRate > 0, "--connect-rate", perSecond(p.ConnectRate))
	c.flag(p.Probe > 0, "--probe", perSecond(p.Probe))
	c.flag(len(p.Source) > 0, "--source", joined(p.Source, load.Source.String))
	c.flag(p.Ring != d.Ring, "--ring", p.Ring)
	c.on(p.Spin, "--spin")
	c.flag(len(p.CPUs) > 0, "--cpus", joined(p.CPUs, whole))
	c.flag(len(p.Expect) > 0, "--expect", joined(p.Expect, expected))
	c.tls(p.TLS)
	c.requests(p)
}

// redirected reports whether connections go elsewhere than the URL says.
func redirected(t load.Target) bool {
	u, err := url.Parse(t.URL)
	if err != nil || t.Unix != "" {
		return false
	}
	port := cmp.Or(u.Port(), map[bool]string{false: "80", true: "443"}[t.TLS])
	return !strings.EqualFold(u.Hostname(), t.Host) || port != strconv.Itoa(int(t.Port))
}

// on is a switch.
func (c *commandLine) on(wanted bool, name string) {
	if wanted {
		c.words = append(c.words, name)
	}
}

func (c *commandLine) arrivals(p load.Plan) {
	c.flag(p.Rate > 0, "-R", perSecond(p.Rate))
	c.flag(p.Arrival != "" && p.Arrival != load.Even, "--arrival", p.Arrival)
	for _, s := range p.Stages {
		c.flag(true, "--stage", s.Duration.String()+":"+perSecond(s.Rate))
	}
	c.flag(p.Seed > 0, "--seed", strconv.FormatUint(p.Seed, 10))
}

func (c *commandLine) tls(t load.TLS) {
	c.on(t.Insecure, "--insecure")
	c.flag(t.CAFile != "", "--cacert", t.CAFile)
	c.flag(t.CertFile != "", "--cert", t.CertFile)
	c.flag(t.KeyFile != "", "--key", t.KeyFile)
	c.flag(t.ServerName != "", "--sni", t.ServerName)
	c.flag(t.MinVersion != "", "--tls-min", t.MinVersion)
	c.flag(t.MaxVersion != "", "--tls-max", t.MaxVersion)
	c.flag(t.Resume, "--tls-resume", "on")
	c.flag(t.ALPN != "", "--alpn", t.ALPN)
}

// requests are said if there is one; of several, the result has a table.
func (c *commandLine) requests(p load.Plan) {
	if p.Data != nil && p.Data.File != "" {
		c.flag(true, "--requests-file", p.Data.File)
		c.secrets(p)
		return
	}
	if p.Asks() != 1 {
		c.lost = append(c.lost, fmt.Sprintf("the %d requests came from files: give them again "+
			"(--urls, --bodies or --requests-file)", p.Asks()))
		return
	}
	r := p.Requests[0]
	method := "GET"
	if len(r.Body) > 0 {
		method = "POST"
		c.flag(true, "-b", string(r.Body))
	}
	c.flag(r.Method != method, "-X", r.Method)
	for _, h := range r.Header {
		c.flag(true, "-H", h.Name+": "+h.Value)
	}
	c.secrets(p)
}

// secrets are said to be lost, each once.
func (c *commandLine) secrets(p load.Plan) {
	lost := func(value, said string) {
		if redact.HasMark(value) && !slices.Contains(c.lost, said) {
			c.lost = append(c.lost, said)
		}
	}
	for _, r := range p.Requests {
		for _, h := range r.Header {
			lost(h.Value, "the value of "+plain(h.Name)+" is secret and was not kept")
		}
		lost(r.Path, "what is secret in the URL was not kept")
		lost(string(r.Body), "what is secret in the body was not kept")
	}
	for _, f := range p.Params {
		lost(f.Value, "the value of "+plain(f.Name)+" is secret and was not kept")
	}
}

// perSecond is a rate, to the thousandth.
func perSecond(r load.Rate) string { return r.String() }

func expected(s load.Statuses) string {
	if s == load.AnyStatus() {
		return "any"
	}
	if s.From%100 == 0 && s.To == s.From+99 {
		return fmt.Sprintf("%dxx", s.From/100)
	}
	return strconv.Itoa(int(s.From))
}

func joined[T any](all []T, show func(T) string) string {
	var words []string
	for _, v := range all {
		words = append(words, show(v))
	}
	return strings.Join(words, ",")
}

// quote is a word as a shell reads it.
func quote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:,=@%+", r)
	}
	if s != "" && !slices.ContainsFunc([]rune(s), func(r rune) bool { return !safe(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
