package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
)

// MaxRepeat is how often the options repeat and retry can repeat a request, at most.
const MaxRepeat = 1_000_000

// DefaultRetryInterval is how long a user waits before it tries again, unless retry-interval says
// otherwise.
const DefaultRetryInterval = time.Second

// ignored are options that only change what hurl prints, or how it waits.
var ignored = []string{"verbose", "very-verbose", "verbosity", "fail-with-body"}

// ofTheRun are options that dyno has for the whole run only: the setting, and its value.
var ofTheRun = map[string]fact.Remedy{
	"cacert": {Setting: "cacert", Value: fact.Some}, "cert": {Setting: "cert", Value: fact.Some},
	"key": {Setting: "key", Value: fact.Some}, "insecure": {Setting: "insecure", Value: fact.Some},
	"connect-to":      {Setting: "connect-to", Value: fact.Some},
	"connect-timeout": {Setting: "connect-timeout", Value: fact.Some},
	"http1.0":         {Setting: "http", Value: "1.0"}, "http1.1": {Setting: "http", Value: "1.1"},
	"http2": {Setting: "http", Value: "2"}, "http2-prior-knowledge": {Setting: "http", Value: "2"},
	"http3": {Setting: "http", Value: "3"}, "max-time": {Setting: "timeout", Value: fact.Some},
	"tls-max": {Setting: "tls-max", Value: fact.Some},
	"tls-min": {Setting: "tls-min", Value: fact.Some},
}

// inNoLoad are options that no load has, and that make no difference if they are false.
var inNoLoad = []string{"location-trusted", "output"}

// fixed are options of a request that are the same in the whole run.
var fixed = []string{"delay", "repeat", "skip", "retry", "retry-interval", "location", "max-redirs"}

// compileOptions compiles what stands in [Options].
func (s *scope) compileOptions(h *hurl.Entry, e *entry) (skipped bool) {
	e.interval, s.mostRedirects = DefaultRetryInterval, DefaultRedirects
	for _, o := range h.Options {
		wanted, ofRun := ofTheRun[o.Name]
		switch {
		case o.Name == "compressed":
			text, ok := s.literal(o.Value, fact.HurlOption, o.Name)
			e.compressed = ok && text == "true"
		case o.Name == "path-as-is":
			text, ok := s.literal(o.Value, fact.HurlOption, o.Name)
			e.pathAsIs = ok && text == "true"
		case o.Name == "digest" || o.Name == "aws-sigv4":
			s.compileAuth(o, e)
		case o.Name == "header" || o.Name == "user" || slices.Contains(ignored, o.Name):
		case o.Name == "variable":
			s.compileVariable(o, e)
		case slices.Contains(fixed, o.Name):
			text, ok := s.literal(o.Value, fact.HurlOption, o.Name)
			if ok && !s.setOption(o, text, e, &skipped) {
				s.wrong(o.Value.Pos, fact.InScenario{Of: fact.OptionValue, Name: o.Name, Value: text})
			}
		case ofRun || slices.Contains(inNoLoad, o.Name):
			if text, ok := o.Value.Literal(); ok && text == "false" {
				continue
			}
			fallthrough
		default:
			var mend []fact.Remedy
			if ofRun {
				mend = append(mend, wanted)
			}
			s.wrong(o.Pos, fact.NotInLoad{What: fact.HurlOption, Name: o.Name, OfRun: ofRun}, mend...)
		}
	}
	if e.redirect != nil {
		e.redirect.most = s.mostRedirects
	}
	return skipped
}

// compileAuth compiles the options that say how the option user says who sends the request.
func (s *scope) compileAuth(o hurl.Option, e *entry) {
	text, ok := s.literal(o.Value, fact.HurlOption, o.Name)
	scope, is := strings.CutPrefix(text, "aws:amz:")
	signs := "sigv4:" + strings.Replace(scope, ":", "/", 1)
	switch {
	case !ok || text == "false":
	case o.Name == "digest" && text == "true":
		e.auth = loadplan.Digest
	case o.Name == "digest":
		s.wrong(o.Value.Pos, fact.InScenario{Of: fact.OptionValue, Name: o.Name, Value: text})
	case is && loadplan.IsAuth(signs):
		e.auth = signs
	default:
		s.wrong(o.Pos, fact.NotInLoad{What: fact.HurlOption, Name: o.Name})
	}
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
		s.wrong(o.Pos, fact.NotInLoad{What: fact.EndlessOption, Name: o.Name})
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
