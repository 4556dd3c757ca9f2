package cli

import (
	"os"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/setting"
)

// contradictions are the flags that exclude each other.
func contradictions(given map[string]bool) (faults []error) {
	for _, x := range setting.Clashes {
		if given[x.One] && given[x.Other] {
			faults = append(faults, loadplan.Flaw{Setting: "--" + x.One + " and --" + x.Other,
				Problem: x.Because + "; give one of them"})
		}
	}
	if given["log-sample"] && !given["log"] {
		faults = append(faults, loadplan.Flaw{Setting: "--log-sample",
			Problem: "says how much is logged; give --log FILE too"})
	}
	return faults
}

// conflictFaults are the contradictions of what the flags say, not of the flags.
func (f *runFlags) conflictFaults() (faults []error) {
	if p := f.plan; p.HTTP == "1.0" && p.Reconnect > 1 && !slices.ContainsFunc(p.Requests, keptAlive) {
		faults = append(faults, loadplan.Flaw{Setting: "--reconnect",
			Problem: "a connection of HTTP/1.0 " +
				"carries one request, unless -H 'Connection: keep-alive' asks for more"})
	}
	if f.jsonStream && f.json == "-" {
		faults = append(faults, loadplan.Flaw{Setting: "--json-stream and --json -",
			Problem: "both write to stdout; the last line of the stream is the result"})
	}
	if f.pprof != "" && f.profileDuration() < time.Second {
		faults = append(faults, loadplan.Flaw{Setting: "--pprof", Problem: "a CPU profile takes whole " +
			"seconds of the window; give a --duration of 1s or more"})
	}
	if f.user+f.plan.User != "" && slices.ContainsFunc(f.defaults.Header, func(h proto.Field) bool {
		return strings.EqualFold(h.Name, "Authorization")
	}) {
		faults = append(faults, loadplan.Flaw{Setting: "--user and --header Authorization",
			Problem: "both say who asks; give one of them"})
	}
	body, isFile := strings.CutPrefix(f.body, "@")
	if !isFile {
		body = ""
	}
	for _, in := range []struct{ flag, file string }{
		{"--urls", f.urls}, {"--bodies", f.bodies}, {"--requests-file", f.requestsFile}, {"--body", body},
		{"--json-body", f.jsonBody}, {"--data", f.filling.file}, {"--script", f.script.file},
	} {
		if sameFile(f.json, in.file) {
			faults = append(faults, loadplan.Flaw{Setting: "--json",
				Problem: f.json + " is what " + in.flag + " reads; write to another file"})
		}
	}
	return faults
}

// seedFaults is the fault of a seed if nothing is random.
func (f *runFlags) seedFaults() (faults []error) {
	if f.plan.Seed != 0 && f.script.file == "" && !f.plan.IsRandom() && !f.plan.HasHoles() &&
		f.filling.file == "" {
		faults = append(faults, loadplan.Flaw{Setting: "--seed",
			Problem: "only random arrivals and " +
				"values are drawn from one; add --arrival poisson, or {{uuid}} or the like"})
	}
	return faults
}

// sameFile reports whether a and b name the same regular file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && one.Mode().IsRegular() && os.SameFile(one, other)
}

// keptAlive reports whether r asks an HTTP/1.0 server to keep the connection.
func keptAlive(r loadplan.Request) bool {
	return slices.ContainsFunc(r.Header, func(f proto.Field) bool {
		return strings.EqualFold(f.Name, "Connection") &&
			strings.Contains(strings.ToLower(f.Value), "keep-alive")
	})
}
