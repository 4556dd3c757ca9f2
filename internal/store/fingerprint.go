package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/result/plansecrets"
)

// PlanOf is the fingerprint of what is requested of a server: of the plan without its durations and
// timeouts, and without what is drawn anew each time. Results with the same fingerprint can be
// compared, on one machine.
func PlanOf(p loadplan.Plan) string { return shortDigest(askedPart(p)) }

// askedPart is the part of a plan that its fingerprint covers. Credentials are no part of it: they
// change from run to run, and do not change the request itself.
func askedPart(p loadplan.Plan) loadplan.Plan {
	p = plansecrets.Redacted(p, func(name, value string) string {
		if redact.Secret(name) {
			return redact.Plain
		}
		return value
	})
	if p.Rows != nil { // the same rows have the same hash, whatever their file's name
		rows := *p.Rows
		rows.File = ""
		p.Rows = &rows
	}
	p.Target.URL = withPath(p.Target.URL)
	p.Seed, p.Values, p.Part, p.Parts = 0, 0, 0, 0
	p.Requested, p.Duration, p.Drain, p.Timeout, p.Connecting = 0, 0, 0, 0, 0
	return p
}

// withPath is a URL with the path that is asked for if it has none: http://h:1 is http://h:1/.
func withPath(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Path != "" {
		return s
	}
	host := strings.Index(s, "//") + len("//") // or a login before it
	if n := strings.IndexAny(s[host:], "?#"); n >= 0 {
		return s[:host+n] + "/" + s[host+n:]
	}
	return s + "/"
}

// MachineOf is the fingerprint of a machine: of its system, its CPUs and its kernel's major and
// minor version. Later digits of a kernel's version are only fixes.
func MachineOf(h result.Host) string {
	release := regexp.MustCompile(`^\d+\.\d+`).FindString(h.Kernel)
	return shortDigest([]any{h.OS, h.Arch, h.CPU, h.CPUs, release})
}

// GeneratorsOf is the fingerprint of the machine that made a load, or of all of a fleet's machines
// with their shares.
func GeneratorsOf(r *result.Result) string {
	if r.Fleet == nil {
		return MachineOf(r.Host)
	}
	var all []any
	for _, a := range r.Fleet.Agents {
		all = append(all, MachineOf(a.Host), a.Weight)
	}
	return shortDigest(all)
}

// shortDigest is a digest short enough to be read aloud, and long enough that no two of a million
// are equal.
func shortDigest(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of plain values; of a plan, it was read from JSON
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
