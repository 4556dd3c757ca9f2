package experiment

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// values are those of a trial whose ports count up from 1001.
func values(dir string) Values {
	port := 1000
	return Values{Dir: dir, Build: "/build", Here: "/my experiment", Dyno: "/usr/bin/dyno", CPUs: 2,
		Connections: 100,
		Port:        func(string) (int, error) { port++; return port, nil },
		Socket:      func(dir, name string) (string, error) { return dir + "/" + name + ".sock", nil }}
}

func everything(t *testing.T) *Experiment {
	t.Helper()
	text, err := os.ReadFile("testdata/good/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return mustRead(t, string(text))
}

func TestExpand(t *testing.T) {
	var names []string
	variants := Expand(everything(t))
	for _, v := range variants {
		names = append(names, v.Name)
	}
	want := []string{"running",
		"app gomaxprocs=1 dump=true", "app gomaxprocs=1 dump=false",
		"app gomaxprocs=8 dump=true", "app gomaxprocs=8 dump=false",
		"again gomaxprocs=1 dump=true unix=0.5", "again gomaxprocs=1 dump=false unix=0.5",
		"again gomaxprocs=8 dump=true unix=0.5", "again gomaxprocs=8 dump=false unix=0.5"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	for _, x := range []struct{ baseline, of, want string }{
		{"app", "again gomaxprocs=8 dump=false unix=0.5", "app gomaxprocs=8 dump=false"},
		{"app", "running", "app gomaxprocs=1 dump=true"},
		{"app", "app gomaxprocs=8 dump=true", "app gomaxprocs=8 dump=true"},
		{"app gomaxprocs=1 dump=true", "app gomaxprocs=8 dump=true", "app gomaxprocs=1 dump=true"},
	} {
		v := variants[slices.Index(names, x.of)]
		if b, found := Baseline(x.baseline, v, variants); !found || b.Name != x.want {
			t.Errorf("baseline %s of %s: %s", x.baseline, x.of, b.Name)
		}
	}
	if b, found := Baseline("running", variants[1], variants[1:]); found {
		t.Errorf("a baseline that is not available: %s", b.Name)
	}
}

func TestRender(t *testing.T) {
	e := everything(t)
	dir := t.TempDir()
	i, err := Render(Expand(e)[4], values(dir)) // app gomaxprocs=8 dump=false
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NGINX_BIN", "")
	path := func(elements ...string) string { return filepath.Join(append([]string{dir}, elements...)...) }
	files := []File{{filepath.Join("conf", "app.conf"), "listen 1001\nworkers 2\n"}, {"empty", ""}}
	www := []File{{"www", filepath.FromSlash("/my experiment/www")}}
	want := &Instance{
		URL: "http://127.0.0.1:1001/", PProf: "http://127.0.0.1:1002/debug/pprof",
		Served: "http://127.0.0.1:1001/status",
		Processes: []Running{
			{Name: "app", User: "nobody", NoFile: 200_000, Signal: "QUIT", Grace: time.Second,
				Job: Job{Args: []string{"/build/app", "-dump=false", "-debug", "127.0.0.1:1002", "8"},
					Env: []string{"GOMAXPROCS=2", "EMPTY=", "SOCKET=" + dir + "/.u1/app.sock"},
					Dir: path(".u1")},
				Ready: &Probe{URL: "http://127.0.0.1:1002/healthz", Status: Statuses{{From: 204, To: 204}}, Timeout: 5 * time.Second}},
			{Name: "nginx", Signal: "TERM", Grace: 2 * time.Second,
				Job: Job{Args: []string{"nginx", "-c", path("conf", "app.conf"), "-g", "worker_connections 100;"},
					Env: []string{"GOMAXPROCS=8", "EMPTY="}, Dir: filepath.FromSlash("/my experiment")},
				Ready: &Probe{URL: "http://127.0.0.1:1001/orders?n=1", Status: Statuses{{From: 200, To: 299}}, Timeout: 30 * time.Second}},
		},
		Folders:   []Folder{{"nobody", path(".u1"), files, www}, {"", dir, files, www}},
		DropsRoot: true,
		Sysctl: Mapping[string]{{Name: "net.core.somaxconn", Value: "4096"},
			{Name: "net.ipv4.ip_local_port_range", Value: "1024 65535"}},
	}
	if !reflect.DeepEqual(i, want) {
		t.Errorf("got\n%+v\nwant\n%+v", i, want)
	}
	steps, err := RenderBuild(Expand(e)[4], values(dir))
	if err != nil || len(steps) != 1 || steps[0].Timeout != 10*time.Minute ||
		steps[0].Args[3] != "/build/app" || steps[0].Dir != filepath.FromSlash("/my experiment/src") ||
		!slices.Equal(steps[0].Env, []string{"GOMAXPROCS=8", "EMPTY=", "CGO_ENABLED=0"}) {
		t.Errorf("%+v, %v", steps, err)
	}
	x := values(dir)
	x.Port = func(string) (int, error) { return 0, os.ErrClosed }
	if _, err := Render(Expand(e)[4], x); err == nil || !strings.Contains(err.Error(), "already closed") {
		t.Errorf("without ports: %v", err)
	}
}

// A server of which a status is expected that otherwise says that it is not there is ready with it.
func TestReadyOfExpected(t *testing.T) {
	for given, want := range map[string]Statuses{"200": nil, "[200, 404]": nil, "407": {{From: 407, To: 407}},
		"[200, 503]": {{From: 200, To: 200}, {From: 503, To: 503}}, "4xx": {{From: 400, To: 499}}} {
		e := mustRead(t, "version: 1\nname: x\nworkload: {expect: {status: "+given+"}}\n"+
			"variants: {a: {processes: [{name: x, cmd: [x, '{{port}}']}], url: 'http://127.0.0.1:{{port}}/'}}\n")
		i, err := Render(Expand(e)[0], values(t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		if got := i.Processes[0].Ready.Status; !slices.Equal(got, want) {
			t.Errorf("of %s: %v, want %v", given, got, want)
		}
	}
}

// An address that somebody names shows that a server is ready with a success or a redirect, unless its statuses are named
// too: a 404 is what a server answers that does not have the path, or not yet.
func TestReadyOfNamed(t *testing.T) {
	success := Statuses{{From: 200, To: 399}}
	for given, want := range map[string]Statuses{"{}": nil, "{http: /health}": success, "{http: 'http://127.0.0.1:81/'}": success,
		"{http: /health, status: 404}": {{From: 404, To: 404}}, "{status: 404}": {{From: 404, To: 404}}, "{log: x}": nil} {
		e := mustRead(t, "version: 1\nname: x\nworkload: {expect: {status: 407}}\n"+
			"variants: {a: {processes: [{name: x, cmd: [x, '{{port}}'], ready: "+given+"}], url: 'http://127.0.0.1:{{port}}/'}}\n")
		if want == nil {
			want = Statuses{{From: 407, To: 407}}
		}
		i, err := Render(Expand(e)[0], values(t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		if got := i.Processes[0].Ready.Status; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", given, got, want)
		}
	}
}

// A Hurl file may say which answers are streams, and the workload says of what format they are.
func TestObjectivesOfHurlFiles(t *testing.T) {
	mustRead(t, smallest+"workload: {hurl: x.hurl, stream: sse}\nobjectives: [first_event.p99<1s]\nlevels: [{find: gap.p99<1s}]\n")
}

// What templates make for conditions counts as what they make.
func TestMadeByConditions(t *testing.T) {
	r := newRenderer(Variant{}, values(t.TempDir()))
	for n := 1; ; n++ {
		s, err := r.render(`{{if not (printf "%1000000d%1000000d%1000000d%1000000d" 1 1 1 1)}}x{{end}}`)
		if s != "" || (err == nil) != (n*4e6 <= maxMade+4e6) {
			t.Fatalf("after %d templates: %q, %v", n, s, err)
		}
		if err != nil {
			return
		}
	}
}

// Of three braces the last two begin a hole.
func TestThreeBraces(t *testing.T) {
	t.Setenv("DYNO_TEST_K", "k")
	got, err := Workload{Request: Request{Body: `{"a":{{{env "DYNO_TEST_K"}}:1}}`}}.ExpandVariables(nil)
	if want := `{"a":{k:1}}`; got.Request.Body != want || err != nil {
		t.Errorf("%s, %v; want %s", got.Request.Body, err, want)
	}
	words, err := splitWords(`a {{{b "c d"}}:1} \\{{{e}}`)
	if want := []string{"a", `{{{b "c d"}}:1}`, `{{"\\"}}{{{e}}`}; !slices.Equal(words, want) || err != nil {
		t.Errorf("%q, %v; want %q", words, err, want)
	}
}

func TestAddress(t *testing.T) {
	for _, x := range []struct{ url, path, want string }{
		{"http://127.0.0.1:80/a?b=c", "", "http://127.0.0.1:80/a?b=c"},
		{"http://127.0.0.1:80/a?b=c", "/x?y", "http://127.0.0.1:80/x?y"},
		{"https://host", "/x", "https://host/x"},
		{"http+unix:///run/a.sock:/b", "/x", "http+unix:///run/a.sock:/x"},
	} {
		if got, err := Address(x.url, x.path); got != x.want || err != nil {
			t.Errorf("%s with %s: %s, %v", x.url, x.path, got, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for s, want := range map[string][]string{
		``:                             nil,
		`  `:                           nil,
		"a  b\tc\nd":                   {"a", "b", "c", "d"},
		`a 'b c' "d e"f`:               {"a", "b c", "d ef"},
		`'' ""`:                        {"", ""},
		`a\ b \"c \\ 'd\e' "\$\"\n"`:   {"a b", `"c`, `\`, `d\e`, `$"\n`},
		"a \\\n b":                     {"a", "b"},
		`$HOME *.go; x|y`:              {"$HOME", "*.go;", "x|y"},
		`{{port "a b"}} x{{ dir }}/y`:  {`{{port "a b"}}`, `x{{ dir }}/y`},
		`"{{file "n"}} 1" '{{dir}} 2'`: {`{{file "n"}} 1`, `{{dir}} 2`},
		`{{"}}"}}`:                     {`{{"}}"}}`},
		`\{{x}} '\{{y} z' "\{{"`:       {`\{{x}}`, `\{{y} z`, `\{{`},
		`\\{{dir}} "\\{{dir}}" \\\{{`:  {`{{"\\"}}{{dir}}`, `{{"\\"}}{{dir}}`, `{{"\\"}}\{{`},
		`{{/* " */}}x y`:               {`{{/* " */}}x`, "y"},
	} {
		if got, err := splitWords(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", s, got, err, want)
		}
	}
	for _, s := range []string{`'a`, `"a`, `a\`, `{{a`, `"{{a"`} {
		if got, err := splitWords(s); err == nil {
			t.Errorf("%q: %q, without an error", s, got)
		}
	}
}

// What the lab is told in words.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("TENGINE_BIN", "")
	if err := os.WriteFile(filepath.Join(dir, "here8.2.conf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	variant := func(text string) Variant {
		e := mustRead(t, "version: 1\nname: x\nvariants:\n  a:\n    url: http://127.0.0.1:1/\n    "+text)
		e.Here = dir
		return Expand(e)[0]
	}
	for text, want := range map[string]string{
		"processes: [{cmd: nginx -g x}]":                                                          "nginx is not on the PATH (Debian: apt install nginx-light)",
		"needs: {programs: [nginx], packages: nginx-light (Debian)}":                              "nginx is not on the PATH; install nginx-light (Debian)",
		"needs: {env: [TENGINE_BIN]}":                                                             "the environment variable TENGINE_BIN is not set",
		"needs: {files: [site.conf]}":                                                             "site.conf cannot be read: no such file or directory",
		"needs: {files: [site*.conf]}":                                                            "site*.conf cannot be read: no such file or directory",
		"needs: {files: [here*.conf, '*.conf']}":                                                  "",
		"processes: [{cmd: '{{env \"TENGINE_BIN\" \"tengine\"}} -x'}]":                            "tengine is not on the PATH",
		"processes: [{cmd: '{{dyno}} target'}]":                                                   "",
		"processes: [{cmd: ['{{if eq f \"x\"}}node{{else}}{{dyno}}{{end}}']}]\nfactors: {f: [x]}": "node is not on the PATH (Debian: apt install nodejs)",
		"processes: [{cmd: ['{{if eq f \"x\"}}node{{else}}{{dyno}}{{end}}']}]\nfactors: {f: [y]}": "",
		"processes: [{cmd: ./server}]":                                                            "",
		"build: [{cmd: go build}]\n    processes: [{cmd: '{{build}}/x'}]":                         "go is not on the PATH (Debian: apt install golang-go)",
	} {
		if got := strings.Join(Missing(variant(text)), "\n"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	nginx := filepath.Join(dir, "nginx")
	if err := os.WriteFile(nginx, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Missing(variant("processes: [{cmd: nginx}]")); len(got) != 0 {
		t.Errorf("nginx is there, and yet: %q", got)
	}
	root := Missing(variant("needs: {root: true}"))
	if is := os.Geteuid() == 0; is != (len(root) == 0) {
		t.Errorf("root: %v, missing: %q", is, root)
	}
}
