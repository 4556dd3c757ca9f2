package main

import (
	"os/exec"
	"strings"
	"testing"
)

// What each package may import from this module and from others, and nothing
// else: ARCHITECTURE.md has the picture and the reasons. Change it on purpose,
// in review; do not change it to make a build pass. In a line: the package, a
// colon, our packages, a slash, foreign modules.
const layers = `
metric:         / github.com/HdrHistogram/hdrhistogram-go
stats:          /
proto:          /
proto/h1:       proto /
proto/h2:       proto proto/h1 /
proto/h2/conform: proto /
proto/fcgi:     proto proto/h1 /
proto/tls:      proto /
proto/prototest: proto /
redact:         /
uring:          / golang.org/x/sys
ring:           uring / golang.org/x/sys
h3:             proto proto/h2 proto/tls ring / golang.org/x/net github.com/quic-go/quic-go
load:           h3 metric proto proto/fcgi proto/h1 proto/h2 proto/tls redact ring / golang.org/x/sys
target:         uring /
requests:       load proto proto/h1 proto/h2 redact / golang.org/x/net
result:         load metric probe profile proto redact / golang.org/x/sys github.com/HdrHistogram/hdrhistogram-go
probe:          / golang.org/x/sys github.com/prometheus/procfs github.com/shirou/gopsutil
profile:        / github.com/google/pprof
server:         / golang.org/x/sys
fairness:       /
nearest:        /
experiment:     nearest redact result / go.yaml.in/yaml
lab:            experiment fairness load probe profile proto redact requests result server stats /
capacity:       load metric result ring stats /
store:          lab load metric profile redact result stats / modernc.org/sqlite
report:         capacity experiment fairness lab load metric probe profile redact result stats store /
page:           capacity experiment lab load metric probe profile report result stats store /
page/pagetest:  / github.com/chromedp
serve:          lab load page redact report result store /
fleet/bus:      / github.com/nats-io
fleet/hub:      fleet/bus / github.com/nats-io
fleet/deploy:   fleet/bus /
fleet/watch:    fleet/wire probe / github.com/nats-io
notices:        /
notices/generate: /
fleet/wire:     load metric result / github.com/nats-io/nats.go github.com/nats-io/nkeys
fleet/policy:   load / go.yaml.in/yaml
fleet:          fleet/policy fleet/wire load metric result / github.com/nats-io/nats.go github.com/nats-io/nkeys
cli:            capacity experiment fairness fleet fleet/bus fleet/deploy fleet/hub fleet/policy fleet/watch fleet/wire lab load nearest notices page probe profile proto redact report requests result serve server store target / charm.land/bubbletea github.com/spf13/pflag golang.org/x/sys golang.org/x/term
bench:          stats /  golang.org/x/sys
bench/correction: stats /
bench/busy:     / golang.org/x/sys
bench/experiments: experiment lab /
bench/known:    /
bench/pgo:      load proto /
bench/search:   /
bench/known/spinner: / golang.org/x/sys
experiment/shipped/dump-request/server: /
experiment/shipped/nginx-in-front-of-go/server: /
experiment/shipped/redirects/servers/redirect: /
e2e:            /
e2e/attack/agent: fleet/bus fleet/wire load metric / github.com/nats-io
e2e/attack:     /
.:              cli /
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
