package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	const url = "http://127.0.0.1:8080/"
	keep := load{connections: 100, threads: 2, seconds: 3}
	closing, open, ringed, secure := keep, keep, keep, keep
	closing.close, open.rate, ringed.ring, secure.tls = true, 20000, "uring", true
	spinning, streaming := keep, keep
	streaming.streams, streaming.tls = 50, true
	spinning.spin = true
	gathering := streaming
	gathering.linger = 70
	counting, filling, reading := keep, keep, keep
	counting.content, filling.content, reading.content = countContent, rowContent, jsonContent
	for _, c := range []struct {
		tool string
		load load
		want string // empty: it cannot
	}{
		{"dyno", keep, "run -t 2 -c 100 -d 3s --no-save -q --json - " + url},
		{"dyno", closing, "run -t 2 -c 100 -d 3s --no-save -q --json - --reconnect always " + url},
		{"dyno", ringed, "run -t 2 -c 100 -d 3s --no-save -q --json - --ring uring " + url},
		{"dyno", secure, "run -t 2 -c 100 -d 3s --no-save -q --json - --insecure --http 1.1 " + url},
		{"dyno", open, "run -t 2 -c 100 -d 3s --no-save -q --json - -R 20000 " + url},
		{"dyno", counting, "run -t 2 -c 100 -d 3s --no-save -q --json - " + url + "?n={{seq}}"},
		{"dyno", filling, "run -t 2 -c 100 -d 3s --no-save -q --json - --data SCRIPT -H X-Token: {{token}} " + url +
			"?name={{name}}&n={{seq}}"},
		{"dyno", reading, `run -t 2 -c 100 -d 3s --no-save -q --json - --expect-body json:$.state=="ready" ` + url},
		{"dyno-fixed", filling, "run -t 2 -c 100 -d 3s --no-save -q --json - " + url},
		{"wrk", counting, "-t2 -c100 -d3s --latency -s SCRIPT " + url},
		{"wrk", reading, ""},
		{"dyno-fcgi", keep, "run -t 2 -c 100 -d 3s --no-save -q --json - " + url},
		{"dyno", spinning, "run -t 2 -c 100 -d 3s --no-save -q --json - --spin " + url},
		{"dyno-epoll", ringed, "run -t 2 -c 100 -d 3s --no-save -q --json - --ring epoll " + url},
		{"dyno-uring", keep, "run -t 2 -c 100 -d 3s --no-save -q --json - --ring uring " + url},
		{"pacer", keep, ""},
		{"pacer", open, "20000 100 3 8080"},
		{"wrk", keep, "-t2 -c100 -d3s --latency " + url},
		{"wrk", closing, "-t2 -c100 -d3s --latency -H Connection: close " + url},
		{"wrk", open, ""},
		{"wrk2", keep, "-R10000000 -t2 -c100 -d3s --latency " + url},
		{"wrk2", open, "-R20000 -t2 -c100 -d3s --latency " + url},
		{"ab", keep, "-q -c 100 -t 3 -n 3000000 -k " + url},
		{"ab", closing, "-q -c 100 -t 3 -n 3000000 " + url},
		{"ab", open, ""},
		{"h2load", keep, "-t2 -c100 -D 3 --h1 " + url},
		{"h2load", streaming, "-t2 -c100 -D 3 -m 50 " + url},
		{"dyno", streaming, "run -t 2 -c 100 -d 3s --no-save -q --json - --insecure --http 2 " +
			"--streams 50 " + url},
		{"h2load", closing, ""},
		{"hey", closing, "-z 3s -c 100 -cpus 2 -disable-keepalive " + url},
		{"oha", closing, "-z 3s -c 100 --no-tui --disable-keepalive " + url},
		{"bombardier", keep, "-c 100 -d 3s -p result " + url},
		{"bombardier", closing, "-c 100 -d 3s -p result -H Connection: close " + url},
		{"k6", keep, "run --no-usage-report -u 100 -d 3s -"},
		{"vegeta", keep, "attack -rate 0 -workers 100 -max-workers 100 -connections 100 " +
			"-duration 3s -keepalive=true -output " + os.DevNull},
		{"dyno", gathering, "run -t 2 -c 100 -d 3s --no-save -q --json - --linger 70us --insecure " +
			"--http 2 --streams 50 " + url},
		{"shb", keep, "-t 2 -c 100 -z 3s --json " + url},
		{"shb", gathering, "-t 2 -c 100 -z 3s --json --batch-linger 70 --http2 -p 50 " + url},
		{"shb", closing, ""},
		{"gcannon", keep, url + " -c 100 -t 2 -d 3s -p 1 --json"},
		{"gcannon", streaming, ""},
		{"go-meter", keep, "-t 2 -c 100 -d 3s -u " + url},
		{"go-meter", closing, ""},
	} {
		i := slices.IndexFunc(tools, func(x tool) bool { return x.name == c.tool })
		if i < 0 {
			t.Fatalf("no tool %q", c.tool)
		}
		if got := strings.Join(tools[i].command(c.load, url).args, " "); got != c.want {
			t.Errorf("%s %+v:\n got %s\nwant %s", c.tool, c.load, got, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs are found by their extension there")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, x := range tools {
		t.Setenv(x.envVariable(), "")
	}
	for _, name := range []string{"wrk", "dyno", "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	names := func(found []tool) string {
		var out []string
		for _, x := range found {
			out = append(out, x.name+"="+filepath.Base(x.path))
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		only map[string]bool
		env  string // GO_METER
		want string
		err  string
	}{
		{nil, "", "wrk=wrk", ""},
		{nil, "mine", "wrk=wrk go-meter=mine", ""},
		{map[string]bool{"go-meter": true}, "mine", "go-meter=mine", ""},
		{map[string]bool{"ab": true}, "", "", "ab is not installed ($AB can name the program)"},
		{nil, "nowhere", "", "go-meter is not installed ($GO_METER can name the program)"},
	} {
		t.Setenv("GO_METER", c.env)
		found, err := findInstalled(c.only)
		if got := names(found); got != c.want {
			t.Errorf("only %v: got %s, want %s", c.only, got, c.want)
		}
		if c.err == "" && err != nil || c.err != "" &&
			(err == nil || !strings.HasPrefix(err.Error(), c.err)) {
			t.Errorf("only %v: got the error %v, want %q", c.only, err, c.err)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	for _, c := range []struct {
		list string
		want []int // nil with a list that is not empty: an error
	}{
		{"", nil}, {"0", []int{0}}, {"3,1", []int{1, 3}}, {"0,2-4", []int{0, 2, 3, 4}},
		{"1-2,2,1", []int{1, 2}}, {"1023", []int{1023}},
		{"1024", nil}, {"2-1", nil}, {"-1", nil}, {"1-", nil}, {"a", nil}, {"1,", nil},
		{"0-99999999999999999999", nil}, {" 1", nil},
	} {
		got, err := parseCPUs(c.list)
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil && c.list != "") {
			t.Errorf("%q: got %v, %v, want %v", c.list, got, err, c.want)
		}
	}
}

func FuzzParseCPUs(f *testing.F) {
	for _, list := range []string{"", "0", "0,2-3", "1-", "9-1", "1023"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		cpus, err := parseCPUs(list)
		if err != nil {
			return
		}
		for i, cpu := range cpus {
			if cpu < 0 || cpu >= cpuMax || i > 0 && cpu <= cpus[i-1] {
				t.Fatalf("%q: got %v", list, cpus)
			}
		}
	})
}

func TestProgramsInCBuild(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler: ", err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("they need epoll")
	}
	for _, source := range []string{"pacer.c", "limit/bare.c", "streams/reader.c", "streams/truth/relay.c"} {
		output, err := exec.Command("cc", "-O2", "-Wall", "-Wextra", "-Werror",
			"-o", filepath.Join(t.TempDir(), "program"), source).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", source, err, output)
		}
	}
}
