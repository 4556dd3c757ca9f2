package dyno_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The layers, from the top down. A line is a layer, a word on it a group: a folder with all that is
// below it. A package imports only from layers below its own and from its own group. So lab and
// fleet, which share a layer, do not import each other.
const layers = `
cmd bench e2e dynotest release
. internal/cli
internal/view
internal/store
internal/lab internal/fleet
internal/capacity internal/remote
internal/server internal/fairness internal/target internal/notices internal/dynohome internal/objective internal/imports
internal/result
internal/setting
internal/engine internal/observe
internal/say
internal/stats internal/digits internal/nearest internal/fault internal/fact internal/redact internal/atomicfile internal/cgroup
internal/hole
internal/lazyregexp
`

// What each package may import from this module and from others, and nothing
// else: ARCHITECTURE.md has the picture and the reasons. Change it on purpose,
// in review; do not change it to make a build pass. In a line: the package, a
// colon, our packages, a slash, foreign modules. Paths are without internal/.
const mayImport = `
engine/metric: / github.com/HdrHistogram/hdrhistogram-go
stats: /
lazyregexp: /
digits: lazyregexp /
engine/proto: fact /
engine/proto/h1: engine/proto fact /
engine/proto/fields: engine/proto engine/proto/h1 fact /
engine/proto/h2: engine/proto engine/proto/fields fact /
engine/proto/h2/conform: engine/proto /
engine/proto/fcgi: engine/proto engine/proto/h1 fact /
engine/proto/tls: engine/proto fact /
engine/proto/tunnel: engine/proto engine/proto/h1 /
engine/proto/tunnel/tunneltest: /
engine/proto/prototest: engine/proto /
engine/scenario: engine/proto /
fault: /
fact: /
say: digits fact stats /
setting: engine/stream digits engine/data engine/loadplan engine/proxyproto engine/requests fact /
setting/settingtest: /
engine/redirect: engine/proto /
hole: /
engine/template: fault hole nearest /
engine/hurl: fault hole lazyregexp /
engine/strftime: /
engine/cookie: /
engine/markup: engine/scenario / github.com/antchfx golang.org/x/net
engine/session: engine/stream engine/strftime engine/content engine/cookie engine/markup engine/loadplan engine/loadresult engine/data engine/hurl engine/jsonpath engine/jsonscan engine/proto engine/redirect engine/scenario engine/sequence engine/template fact fault lazyregexp say / golang.org/x/net
engine/luascript: engine/loadplan engine/luavm engine/metric engine/proto engine/proto/fields engine/proto/h1 engine/scenario engine/stream fact fault say / github.com/yuin/gopher-lua
engine/luavm: engine/machine engine/strftime fault / github.com/yuin/gopher-lua
engine/jsonscan: /
engine/jsonpack: engine/jsonscan /
engine/unpack: engine/loadplan engine/luascript engine/onestep engine/session /
engine/jsonpath: engine/jsonscan engine/scenario / github.com/theory/jsonpath
engine/check: engine/jsonpath engine/jsonscan engine/scenario / golang.org/x/net
engine/sequence: /
engine/reqlog: /
engine/content: / github.com/andybalholm/brotli github.com/klauspost/compress
engine/onestep: engine/check engine/content engine/data engine/loadplan engine/proto engine/redirect engine/scenario engine/sequence engine/template /
engine/data: engine/jsonscan engine/scenario engine/template fact fault /
redact: hole lazyregexp /
atomicfile: /
engine/uring: / golang.org/x/sys
engine/ring: engine/uring / golang.org/x/sys
engine/h3: fact engine/proto engine/proto/fields engine/proto/tls engine/ring / golang.org/x/net golang.org/x/sys github.com/quic-go/quic-go
cgroup: /
engine/machine: cgroup fact / golang.org/x/sys
engine/proxyproto: /
engine/proxyproto/proxytest: engine/proxyproto /
engine/auth/authtest: /
engine/auth: engine/loadplan engine/metric engine/proto engine/scenario / github.com/aws/aws-sdk-go-v2 github.com/icholy/digest
engine/loadplan: engine/content engine/goodput fact fault engine/stream engine/proxyproto engine/h3 engine/jsonpack engine/machine engine/proto engine/reqlog engine/proto/fields engine/proto/h1 engine/proto/tls redact engine/scenario engine/sequence engine/template /
engine/loadresult: engine/loadplan engine/metric engine/proto/tls engine/scenario engine/proto fact /
engine/transport: fact atomicfile engine/dial engine/proxyproto engine/h3 engine/loadplan engine/machine engine/proto engine/proto/fcgi engine/proto/h1 engine/proto/h2 engine/proto/tls engine/proto/tunnel engine/ring /
engine/failure: engine/loadplan engine/loadresult engine/proto engine/ring fact say engine/stream /
engine/dial: engine/failure engine/loadresult engine/ring /
engine/flow: engine/loadplan engine/ring /
engine/batching: engine/loadplan /
engine/timers: /
engine/rendezvous: engine/flow engine/ring /
engine/goodput: /
engine/stream: engine/jsonpath /
engine/streams: engine/goodput engine/flow engine/loadplan engine/loadresult engine/metric engine/proto engine/stream /
engine/sampling: engine/failure engine/loadplan engine/loadresult engine/proto engine/reqlog /
engine/meter: engine/h3 engine/machine engine/metric engine/ring /
engine/silences: engine/flow engine/loadresult /
engine/load: engine/auth engine/goodput engine/sampling engine/streams engine/silences engine/dial engine/batching engine/timers engine/rendezvous engine/meter engine/flow engine/h3 engine/metric engine/proto engine/proto/fcgi engine/proto/tls engine/proto/tunnel engine/ring engine/scenario engine/loadplan engine/loadresult engine/transport engine/machine engine/reqlog engine/failure fact /
target: engine/uring /
engine/requests: engine/check engine/proto engine/proto/fields engine/proto/h1 redact engine/loadplan engine/onestep engine/sequence engine/template fault hole lazyregexp / golang.org/x/net
result: result/streamed result/runfacts result/usage result/durations result/unanswered digits fact say result/scripted engine/machine engine/metric engine/scenario observe/probe observe/profile engine/proto redact engine/loadplan engine/loadresult result/plansecrets setting lazyregexp /
result/plansecrets: engine/loadplan engine/loadresult engine/proto hole redact /
result/scripted: engine/metric /
result/streamed: fact engine/loadresult engine/metric result/durations result/scripted /
result/runfacts: engine/goodput engine/loadplan engine/loadresult engine/metric engine/redirect engine/scenario fact result/durations say setting /
result/durations: engine/metric /
result/unanswered: fact engine/loadresult result/durations /
result/hdrfile: result / github.com/HdrHistogram/hdrhistogram-go
result/usage: observe/probe /
dynohome: atomicfile redact result engine/loadplan lazyregexp /
objective: result/streamed digits fact nearest engine/goodput engine/loadplan engine/loadresult engine/metric result result/scripted say lazyregexp /
imports: engine/proto fault hole redact /
imports/accesslog: imports /
imports/curl: engine/proto fault imports / mvdan.cc/sh
imports/har: engine/proto fault imports /
imports/vegeta: engine/proto fault imports /
observe/sockdiag: / golang.org/x/sys
observe/probe: cgroup observe/sockdiag / golang.org/x/sys github.com/prometheus/procfs github.com/shirou/gopsutil
observe/profile: atomicfile lazyregexp / github.com/google/pprof
server: engine/loadplan engine/requests engine/transport observe/sockdiag / golang.org/x/sys
fairness: engine/auth engine/h3 engine/loadplan engine/proto engine/proto/h1 engine/ring engine/stream engine/transport fact say /
nearest: /
lab/experiment/quantity: setting engine/check engine/loadplan / go.yaml.in/yaml
lab/experiment/source: fault lazyregexp / go.yaml.in/yaml
lab/experiment/starter: /
lab/experiment/keys: engine/loadplan setting /
lab/experiment: server fault lab/experiment/keys lab/experiment/source engine/loadplan hole lab/experiment/quantity nearest redact result objective stats setting lazyregexp / go.yaml.in/yaml
lab/design: fact lab/experiment stats / go.yaml.in/yaml
lab/experiment/secrets: hole lab/experiment redact setting lazyregexp / go.yaml.in/yaml
remote: cgroup engine/load engine/unpack fairness observe/probe observe/profile result result/plansecrets server engine/loadplan engine/loadresult lazyregexp /
lab/versus: hole lab/experiment lazyregexp / mvdan.cc/sh
lab: fact say atomicfile digits dynohome lab/experiment fairness observe/probe observe/profile result result/streamed server stats /
lab/grade: fact say engine/loadresult lab observe/probe result stats setting /
lab/judge: setting fact engine/loadresult lab lab/grade lab/design lab/experiment observe/probe result say stats engine/loadplan /
lab/workload: engine/data engine/hurl engine/loadplan engine/luascript engine/onestep engine/proto engine/requests engine/session engine/template fault hole lab/experiment lab/experiment/secrets result/plansecrets setting /
lab/run: fact say setting capacity lab/grade lab/design engine/hurl engine/luascript engine/session engine/data engine/onestep engine/template fault lab lab/judge lab/experiment lab/experiment/secrets engine/proto engine/redirect engine/requests fairness observe/probe observe/profile redact remote result server stats engine/loadplan engine/loadresult lab/workload result/plansecrets / mvdan.cc/sh
capacity: digits fact atomicfile result engine/machine engine/metric engine/ring stats engine/loadplan engine/loadresult objective say /
store: atomicfile dynohome fact lab observe/profile redact result stats engine/loadplan result/plansecrets result/runfacts lazyregexp / modernc.org/sqlite
view/format: digits lazyregexp /
view/answer: view/document view/format /
view/textplot: /
view/document: digits view/format /
view/labanswer: engine/loadplan fact say lab lab/experiment lab/design lab/judge lab/versus redact result stats view/answer view/format view/repeat view/report setting /
view/reporttest: engine/proto observe/probe observe/profile result fact say view/format engine/loadplan engine/loadresult /
view/method: engine/loadplan result view/format /
view/repeat: capacity say redact result view/format engine/loadplan setting /
view/sample: engine/proto view/format engine/loadresult /
view/report: digits result/streamed objective fact say capacity engine/metric engine/proto observe/probe observe/profile redact result view/answer view/document view/format view/method view/repeat view/textplot engine/loadplan engine/loadresult setting /
view/historytext: engine/loadplan fact result say store view/document view/format view/repeat view/report /
view/screen: say setting engine/metric view/format view/report engine/loadplan engine/loadresult /
view/peers: digits fact result say /
view/live: engine/loadplan engine/loadresult engine/metric engine/scenario observe/probe result engine/reqlog / github.com/prometheus/client_golang
view/labreport: digits fairness fact say lab lab/experiment lab/judge lab/run observe/profile result setting stats view/answer view/document view/format view/labanswer view/report /
view/payload: result/streamed view/answer view/labanswer capacity lab/experiment lab lab/judge engine/metric observe/probe observe/profile view/format view/labreport view/report result stats store objective view/historytext /
view/page: capacity result view/chart view/format view/payload view/drawing /
view/page/pagetest: / github.com/chromedp
view/chart: capacity engine/metric lab result result/streamed stats store view/answer view/format view/payload lazyregexp /
view/drawing: view/chart / codeberg.org/go-fonts/liberation golang.org/x/image gonum.org/v1/plot
view/manpage: view/format /
view/serve: atomicfile dynohome lab lab/judge view/answer view/chart view/document view/format view/labanswer view/labreport view/live view/page view/payload view/repeat redact view/report result store engine/loadplan engine/loadresult result/plansecrets view/historytext setting lazyregexp /
fleet/bus/bustest: /
fleet/bus: atomicfile lazyregexp / github.com/nats-io
fleet/hub: fleet/bus / github.com/nats-io
fleet/deploy: fleet/bus hole lazyregexp /
fleet/watch: fleet/wire observe/probe / github.com/nats-io
notices: /
notices/generate: /
fleet/wire: engine/metric engine/unpack result engine/loadplan engine/loadresult / github.com/nats-io/nats.go github.com/nats-io/nkeys
fleet/policy: engine/loadplan / go.yaml.in/yaml
fleet: fact remote fleet/policy fleet/wire engine/load engine/scenario engine/metric result engine/loadplan engine/loadresult engine/machine engine/luascript / github.com/nats-io/nats.go github.com/nats-io/nkeys
cli: digits result/hdrfile hole fact say lab/design lab/experiment/starter fault engine/reqlog engine/luascript engine/metric result/scripted engine/scenario engine/hurl engine/session engine/proto/fields engine/proto/h1 engine/check engine/data engine/onestep engine/template atomicfile capacity dynohome lab/experiment lab/experiment/secrets fairness fleet fleet/bus fleet/deploy fleet/hub fleet/policy fleet/watch fleet/wire imports imports/accesslog imports/curl imports/har imports/vegeta lab lab/judge lab/run lab/versus view/labanswer engine/load nearest notices remote view/page observe/probe observe/profile engine/proto redact view/format view/labreport view/peers view/report view/sample view/screen engine/requests result view/serve server store target engine/loadplan engine/loadresult objective view/live view/chart view/payload view/drawing view/manpage lab/workload result/plansecrets view/historytext setting lazyregexp / charm.land/bubbletea golang.org/x/sys golang.org/x/term
cli/net: /
cli/net/make: / github.com/google/pprof
bench: stats /  golang.org/x/sys
bench/correction: stats /
bench/busy: / golang.org/x/sys
bench/experiments: lab/experiment lab lab/judge /
bench/vs: lab stats /
bench/action: /
bench/vs/server: /
bench/known: /
bench/hurl: /
bench/history: stats /
bench/live: stats /
bench/streams: stats /
bench/streams/served: / github.com/quic-go/quic-go
bench/streams/truth: bench/streams/served /
bench/streams/peers: bench/streams/served / golang.org/x/sys
bench/wrk: /
bench/pgo: engine/load engine/loadresult engine/loadplan engine/proto /
bench/replay: / golang.org/x/sys
bench/search: /
bench/frontier/server: / golang.org/x/sys
bench/known/spinner: / golang.org/x/sys
lab/experiment/shipped/dump-request/server: /
lab/experiment/shipped/nginx-in-front-of-go/server: /
lab/experiment/shipped/redirects/servers/redirect: /
lab/experiment/shipped/token-streams/server: /
e2e: /
e2e/attack/agent: fleet/bus fleet/wire engine/metric engine/loadplan engine/loadresult / github.com/nats-io
e2e/attack: /
cmd/dyno: cli /
.: engine/load engine/loadplan engine/loadresult engine/onestep engine/proto engine/proto/fields engine/proto/h1 engine/requests engine/scenario lab/judge objective redact result view/labreport view/report setting /
dynotest: digits . /
release/image: / github.com/google/go-containerregistry
`

func TestLayers(t *testing.T) {
	type may struct{ ours, foreign []string }
	allowed := map[string]may{}
	for line := range strings.Lines(mayImport) {
		pkg, rest, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found {
			continue
		}
		ours, foreign, _ := strings.Cut(rest, "/ ")
		ours = strings.TrimSuffix(ours, "/")
		allowed[pkg] = may{strings.Fields(ours), strings.Fields(foreign)}
	}
	module := modulePath(t)
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for pkg, imports := range listImports(t, goos) {
			m, known := allowed[withoutInternal(pkg)]
			if !known {
				t.Errorf("%s is not in the list mayImport", pkg)
				continue
			}
			for _, imp := range imports {
				dep, ours := strings.CutPrefix(imp, module+"/")
				if imp == module {
					dep, ours = ".", true
				}
				switch {
				case ours:
					if !layersAllow(pkg, dep) {
						t.Errorf("%s: %s must not import %s, which is in no layer below", goos, pkg, dep)
					}
					if !slices.Contains(m.ours, withoutInternal(dep)) {
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

func withoutInternal(pkg string) string { return strings.TrimPrefix(pkg, "internal/") }

// layersAllow reports whether the layers let pkg import dep.
func layersAllow(pkg, dep string) bool {
	from, group := layerOf(pkg)
	to, other := layerOf(dep)
	return from >= 0 && to >= 0 && (to > from || group == other)
}

// layerOf returns the layer of a package, 0 for the highest, and its group; -1 if it has none.
func layerOf(pkg string) (layer int, group string) {
	for line := range strings.Lines(strings.TrimPrefix(layers, "\n")) {
		for group := range strings.FieldsSeq(line) {
			if pkg == group || strings.HasPrefix(pkg, group+"/") {
				return layer, group
			}
		}
		layer++
	}
	return -1, ""
}

func TestLayersAllow(t *testing.T) {
	for _, test := range []struct {
		pkg, dep string
		want     bool
	}{
		{"cmd/dyno", "internal/cli", true},
		{"internal/cli", "internal/engine/load", true},
		{"internal/view/payload", "internal/view/report", true},
		{"internal/lab", "internal/fleet", false},
		{"internal/fleet/wire", "internal/lab/experiment", false},
		{"internal/result", "internal/cli", false},
		{"internal/stats", "internal/nearest", false},
		{"internal/labs", "internal/stats", false},
		{"internal/cli", "internal/labs", false},
		{"internal/cli", ".", false},
		{"internal/view", ".", false},
		{"dynotest", ".", true},
	} {
		if got := layersAllow(test.pkg, test.dep); got != test.want {
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
		pkg := strings.TrimPrefix(strings.TrimPrefix(f[0], modulePath(t)), "/")
		if pkg == "" {
			pkg = "."
		}
		all[pkg] = f[1:]
	}
	return all
}

// The linker keeps every exported method of a program that looks for one by a name which it does
// not know, as text/template does.
func TestNoTemplates(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/dyno").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if dep == "text/template" || dep == "html/template" {
			t.Errorf("%s is in the binary; package hole fills templates", dep)
		}
	}
}

// modulePath is the module's path, which go.mod names.
func modulePath(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(first, "module ")
}

func hasPrefix(modules []string, imp string) bool {
	for _, m := range modules {
		if imp == m || strings.HasPrefix(imp, m+"/") {
			return true
		}
	}
	return false
}
