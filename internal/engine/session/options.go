package session

import (
	"slices"
	"strconv"
	"time"

	"dyno/internal/engine/hurl"
)

// MaxRepeat is how often the options repeat and retry can repeat a request, at most.
const MaxRepeat = 1_000_000

// DefaultRetryInterval is how long a user waits before it tries again, unless retry-interval says
// otherwise.
const DefaultRetryInterval = time.Second

// ignored are options that only change what hurl prints, or how it waits.
var ignored = []string{"verbose", "very-verbose", "verbosity", "fail-with-body"}

// ofTheRun are options that dyno has for the whole run only, with the flag.
var ofTheRun = map[string]string{
	"cacert": "give --cacert", "cert": "give --cert", "key": "give --key",
	"insecure":   "give --insecure",
	"connect-to": "give --connect-to", "connect-timeout": "give --connect-timeout",
	"http1.0": "give --http 1.0", "http1.1": "give --http 1.1", "http2": "give --http 2",
	"http2-prior-knowledge": "give --http 2", "http3": "give --http 3", "max-time": "give --timeout",
	"tls-max": "give --tls-max", "tls-min": "give --tls-min",
	"location-trusted": "no load goes to another server; write location",
	"output":           "a load writes no responses to files; leave it out",
}

// fixed are options of a request that are the same in the whole run.
var fixed = []string{"delay", "repeat", "skip", "retry", "retry-interval", "location", "max-redirs"}

// compileOptions compiles what stands in [Options].
func (s *scope) compileOptions(h *hurl.Entry, e *entry) (skipped bool) {
	e.interval, s.mostRedirects = DefaultRetryInterval, DefaultRedirects
	for _, o := range h.Options {
		why, ofRun := ofTheRun[o.Name]
		switch {
		case o.Name == "compressed":
			text, ok := s.literal(o.Value, "the option compressed")
			e.compressed = ok && text == "true"
		case o.Name == "path-as-is":
			text, ok := s.literal(o.Value, "the option path-as-is")
			e.pathAsIs = ok && text == "true"
		case o.Name == "header" || o.Name == "user" || slices.Contains(ignored, o.Name):
		case o.Name == "variable":
			s.compileVariable(o, e)
		case slices.Contains(fixed, o.Name):
			text, ok := s.literal(o.Value, "the option "+o.Name)
			if ok && !s.setOption(o, text, e, &skipped) {
				s.fault(o.Value.Pos, "%.40q cannot be the option %s", text, o.Name)
			}
		case ofRun:
			if text, ok := o.Value.Literal(); !ok || text != "false" {
				s.unsupported(o.Pos, "the option "+o.Name, why)
			}
		default:
			s.unsupported(o.Pos, "the option "+o.Name, "dyno has nothing like it")
		}
	}
	if e.redirect != nil {
		e.redirect.most = s.mostRedirects
	}
	return skipped
}

// setOption sets an option whose value is known.
func (s *scope) setOption(o hurl.Option, text string, e *entry, skipped *bool) (ok bool) {
	switch o.Name {
	case "delay", "retry-interval":
		d, ok := parseDelay(text)
		if o.Name == "delay" {
			e.think = [2]time.Duration{d, d}
		} else {
			e.interval = d
		}
		return ok
	case "repeat":
		e.repeat, ok = s.count(o, text)
		*skipped = *skipped || e.repeat == 0
		return ok
	case "retry":
		e.retry, ok = s.count(o, text)
		return ok
	case "max-redirs":
		s.mostRedirects, ok = s.count(o, text)
		return ok
	case "location":
		if e.redirect = nil; text == "true" {
			e.redirect = &redirection{at: o.Pos}
			s.wantField("location")
		}
	case "skip":
		*skipped = *skipped || text == "true"
	}
	return text == "true" || text == "false"
}

// count parses how often something is done.
func (s *scope) count(o hurl.Option, text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if n < 0 && err == nil {
		s.unsupported(o.Pos, "the option "+o.Name+" without an end", "write how often, as "+o.Name+": 10")
		return 1, true
	}
	return n, err == nil && n <= MaxRepeat
}

// parseDelay parses the option delay: milliseconds, unless there is a unit.
func parseDelay(s string) (d time.Duration, ok bool) {
	if _, err := strconv.Atoi(s); err == nil {
		s += "ms"
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0
}

// compileVariable compiles the option variable.
func (s *scope) compileVariable(o hurl.Option, e *entry) {
	a := assignment{parts: s.parts(o.Value)}
	if text, _ := o.Value.Literal(); o.Literal {
		a.from = &source{kind: constant, value: inferred([]byte(text))}
	}
	a.slot = s.assign(o.Variable)
	e.sets = append(e.sets, a)
}
