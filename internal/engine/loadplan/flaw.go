package loadplan

import (
	"cmp"
	"regexp"
	"strings"
)

// A Flaw is one thing wrong with a plan: which setting, what it was, and what is allowed. Setting
// is a field of Plan or TLS, or several, separated by ", ". In Problem, other fields stand in
// braces: "lower {Threads}". Whoever shows a Flaw to users who write other
// names than these has it Named.
type Flaw struct{ Setting, Problem string }

// Error names the setting first, and fields as they are.
func (f Flaw) Error() string {
	f = f.Named(func(field string) string { return field })
	return f.Setting + ": " + f.Problem
}

// Fields are the settings that Flaws name.
var Fields = []string{
	"Connections", "Threads", "Pipeline", "Streams", "Reconnect", "Resend", "Follow",
	"Requested",
	"ConnectRate", "Probe", "Cap", "Warmup", "Drain", "Timeout", "Connecting", "Duration",
	"Requests", "Expect", "Rate", "Stages", "Arrival", "Users", "Source", "HTTP", "Params",
	"Ring", "Spin", "CPUs", "Insecure", "CAFile", "CertFile", "KeyFile", "ServerName", "ALPN",
	"MinVersion", "MaxVersion", "Resume", "KeyLogFile", "Rows", "Variables", "URL", "Scenario",
	"Part", "Parts", "Weights", "Before", "UsersBefore",
}

// braces are a field in a Problem.
var braces = regexp.MustCompile(`\{(` + strings.Join(Fields, "|") + `)\}`)

// Named returns the flaw with other names for the fields. A field whose name is "" is left out of
// Setting, unless none is left, and keeps its name in Problem.
func (f Flaw) Named(name func(field string) string) Flaw {
	var names []string
	for field := range strings.SplitSeq(f.Setting, ", ") {
		if n := name(field); n != "" {
			names = append(names, n)
		}
	}
	if len(names) > 0 {
		f.Setting = strings.Join(names, ", ")
	}
	f.Problem = braces.ReplaceAllStringFunc(f.Problem, func(s string) string {
		field := s[1 : len(s)-1]
		return cmp.Or(name(field), field)
	})
	return f
}
