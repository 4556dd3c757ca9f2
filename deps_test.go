package dyno_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The floors of the house, from the top down. A line is a floor, a word on it a wing: a folder
// with all that is below it. A package imports only from floors below its own and from its own
// wing. So lab and fleet, which share a floor, do not import each other.
const floors = `
. cmd bench e2e
internal/cli
internal/view
internal/store
internal/lab internal/fleet
internal/capacity internal/remote
internal/server internal/fairness internal/target internal/notices
internal/result
internal/engine internal/observe
internal/stats internal/nearest internal/redact internal/atomicfile
`

// What each package may import from this module and from others, and nothing
// else: ARCHITECTURE.md has the picture and the reasons. Change it on purpose,
// in review; do not change it to make a build pass. In a line: the package, a
// colon, our packages, a slash, foreign modules.
const layers = `
internal/engine/metric:         / github.com/HdrHistogram/hdrhistogram-go
internal/stats:          /
internal/engine/proto:          /
internal/engine/proto/h1:       internal/engine/proto /
internal/engine/proto/h2:       internal/engine/proto internal/engine/proto/h1 /
internal/engine/proto/h2/conform: internal/engine/proto /
internal/engine/proto/fcgi:     internal/engine/proto internal/engine/proto/h1 /
internal/engine/proto/tls:      internal/engine/proto /
internal/engine/proto/prototest: internal/engine/proto /
internal/redact:         /
internal/atomicfile: /
internal/engine/uring:          / golang.org/x/sys
internal/engine/ring:           internal/engine/uring / golang.org/x/sys
internal/engine/h3:             internal/engine/proto internal/engine/proto/h2 internal/engine/proto/tls internal/engine/ring / golang.org/x/net github.com/quic-go/quic-go
internal/engine/load:           internal/engine/h3 internal/engine/metric internal/engine/proto internal/engine/proto/fcgi internal/engine/proto/h1 internal/engine/proto/h2 internal/engine/proto/tls internal/redact internal/engine/ring / golang.org/x/sys
internal/target:         internal/engine/uring /
internal/engine/requests:       internal/engine/load internal/engine/proto internal/engine/proto/h1 internal/engine/proto/h2 internal/redact / golang.org/x/net
internal/result:         internal/atomicfile internal/engine/load internal/engine/metric internal/observe/probe internal/observe/profile internal/engine/proto internal/redact / golang.org/x/sys github.com/HdrHistogram/hdrhistogram-go
internal/observe/probe:          / golang.org/x/sys github.com/prometheus/procfs github.com/shirou/gopsutil
internal/observe/profile:        internal/atomicfile / github.com/google/pprof
internal/server:         / golang.org/x/sys
internal/fairness:       /
internal/nearest:        /
internal/lab/experiment:     internal/nearest internal/redact internal/result / go.yaml.in/yaml
internal/lab/experiment/secrets: internal/lab/experiment internal/redact / go.yaml.in/yaml
internal/remote:         internal/engine/load internal/fairness internal/observe/probe internal/observe/profile internal/result internal/server /
internal/lab:            internal/atomicfile internal/lab/experiment internal/fairness internal/observe/probe internal/observe/profile internal/engine/load internal/result internal/server internal/stats /
internal/lab/judge:      internal/lab internal/lab/experiment internal/engine/load internal/observe/probe internal/result internal/stats /
internal/lab/run:        internal/lab internal/lab/judge internal/lab/experiment internal/lab/experiment/secrets internal/engine/load internal/engine/proto internal/engine/requests internal/fairness internal/observe/probe internal/observe/profile internal/redact internal/remote internal/result internal/server internal/stats /
internal/capacity:       internal/atomicfile internal/engine/load internal/engine/metric internal/result internal/engine/ring internal/stats /
internal/store:          internal/atomicfile internal/lab internal/lab/judge internal/lab/run internal/engine/load internal/engine/metric internal/observe/profile internal/redact internal/result internal/stats / modernc.org/sqlite
internal/view/report:         internal/capacity internal/lab/experiment internal/fairness internal/lab internal/lab/judge internal/lab/run internal/engine/load internal/engine/metric internal/observe/probe internal/observe/profile internal/redact internal/result internal/stats internal/store /
internal/view/page:           internal/capacity internal/lab/experiment internal/lab internal/lab/judge internal/lab/run internal/engine/load internal/engine/metric internal/observe/probe internal/observe/profile internal/view/report internal/result internal/stats internal/store /
internal/view/page/pagetest:  / github.com/chromedp
internal/view/serve:          internal/atomicfile internal/lab internal/lab/judge internal/lab/run internal/engine/load internal/view/page internal/redact internal/view/report internal/result internal/store /
internal/fleet/bus:      internal/atomicfile / github.com/nats-io
internal/fleet/hub:      internal/fleet/bus / github.com/nats-io
internal/fleet/deploy:   internal/fleet/bus /
internal/fleet/watch:    internal/fleet/wire internal/observe/probe / github.com/nats-io
internal/notices:        /
internal/notices/generate: /
internal/fleet/wire:     internal/engine/load internal/engine/metric internal/result / github.com/nats-io/nats.go github.com/nats-io/nkeys
internal/fleet/policy:   internal/engine/load / go.yaml.in/yaml
internal/fleet:          internal/fleet/policy internal/fleet/wire internal/engine/load internal/engine/metric internal/result / github.com/nats-io/nats.go github.com/nats-io/nkeys
internal/cli:            internal/atomicfile internal/capacity internal/lab/experiment internal/lab/experiment/secrets internal/fairness internal/fleet internal/fleet/bus internal/fleet/deploy internal/fleet/hub internal/fleet/policy internal/fleet/watch internal/fleet/wire internal/lab internal/lab/judge internal/lab/run internal/engine/load internal/nearest internal/notices internal/remote internal/view/page internal/observe/probe internal/observe/profile internal/engine/proto internal/redact internal/view/report internal/engine/requests internal/result internal/view/serve internal/server internal/store internal/target / charm.land/bubbletea golang.org/x/sys golang.org/x/term
bench:          internal/stats /  golang.org/x/sys
bench/correction: internal/stats /
bench/busy:     / golang.org/x/sys
bench/experiments: internal/lab/experiment internal/lab internal/lab/judge internal/lab/run /
bench/known:    /
bench/pgo:      internal/engine/load internal/engine/proto /
bench/search:   /
bench/known/spinner: / golang.org/x/sys
internal/lab/experiment/shipped/dump-request/server: /
internal/lab/experiment/shipped/nginx-in-front-of-go/server: /
internal/lab/experiment/shipped/redirects/servers/redirect: /
e2e:            /
e2e/attack/agent: internal/fleet/bus internal/fleet/wire internal/engine/load internal/engine/metric / github.com/nats-io
e2e/attack:     /
cmd/dyno: internal/cli /
.: /
`

func TestLayers(t *testing.T) {
	type may struct{ ours, foreign []string }
	allowed := map[string]may{}
	for line := range strings.Lines(layers) {
		pkg, rest, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found {
			continue
		}
		ours, foreign, _ := strings.Cut(rest, "/ ")
		ours = strings.TrimSuffix(ours, "/")
		allowed[pkg] = may{strings.Fields(ours), strings.Fields(foreign)}
	}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for pkg, imports := range listImports(t, goos) {
			m, known := allowed[pkg]
			if !known {
				t.Errorf("%s is in no layer", pkg)
				continue
			}
			for _, imp := range imports {
				dep, ours := strings.CutPrefix(imp, "dyno/")
				switch {
				case ours:
					if !floorAllows(pkg, dep) {
						t.Errorf("%s: %s must not import %s, which is not on a floor below", goos, pkg, dep)
					}
					if !contains(m.ours, dep) {
						t.Errorf("%s: %s must not import %s", goos, pkg, dep)
					}
				case strings.Contains(strings.SplitN(imp, "/", 2)[0], "."):
					if !hasPrefix(m.foreign, imp) {
						t.Errorf("%s: %s must not import %s", goos, pkg, imp)
					}
				}
			}
		}
	}
}

// floorAllows reports whether the floors let pkg import dep.
func floorAllows(pkg, dep string) bool {
	from, wing := floorOf(pkg)
	to, other := floorOf(dep)
	return from >= 0 && to >= 0 && (to > from || wing == other)
}

// floorOf returns the floor of a package, 0 for the highest, and its wing; -1 if it has none.
func floorOf(pkg string) (floor int, wing string) {
	for line := range strings.Lines(strings.TrimPrefix(floors, "\n")) {
		for wing := range strings.FieldsSeq(line) {
			if pkg == wing || strings.HasPrefix(pkg, wing+"/") {
				return floor, wing
			}
		}
		floor++
	}
	return -1, ""
}

func TestFloors(t *testing.T) {
	for _, test := range []struct {
		pkg, dep string
		want     bool
	}{
		{"cmd/dyno", "internal/cli", true},
		{"internal/cli", "internal/engine/load", true},
		{"internal/view/page", "internal/view/report", true},
		{"internal/lab", "internal/fleet", false},
		{"internal/fleet/wire", "internal/lab/experiment", false},
		{"internal/result", "internal/cli", false},
		{"internal/stats", "internal/nearest", false},
		{"internal/labs", "internal/stats", false},
		{"internal/cli", "internal/labs", false},
	} {
		if got := floorAllows(test.pkg, test.dep); got != test.want {
			t.Errorf("%s may import %s: %v, want %v", test.pkg, test.dep, got, test.want)
		}
	}
}

// listImports are the imports of each package, tests apart.
func listImports(t *testing.T, goos string) map[string][]string {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(goos, err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		pkg := strings.TrimPrefix(strings.TrimPrefix(f[0], "dyno"), "/")
		if pkg == "" {
			pkg = "."
		}
		all[pkg] = f[1:]
	}
	return all
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

func hasPrefix(modules []string, imp string) bool {
	for _, m := range modules {
		if imp == m || strings.HasPrefix(imp, m+"/") {
			return true
		}
	}
	return false
}
