package cli

import (
	"strings"
	"testing"
)

// A command line of another tool is one of dyno run.
func TestPeerCommands(t *testing.T) {
	for _, test := range []struct{ line, want, lie string }{
		{"wrk -t4 -c100 -d30s http://h/", "-c 100 --expect any --no-save -t 4 -d 30s --timeout 2s http://h/", ""},
		{"wrk2 -R2k -c4 -t2 http://h/", "-c 4 --expect any --no-save -t 2 -d 10s -R 2000 --timeout 2s http://h/", ""},
		{"ab -kn 10 -c2 http://h/", "-c 2 --expect any --no-save -t 1 -n 10 --timeout 30s --http 1.0 -H Accept: */* " +
			"-H Connection: Keep-Alive http://h/", ""},
		{"ab -t 5 -i http://h/", "-c 1 --expect any --no-save -t 1 -n 50000 -d 5s -X HEAD --timeout 30s --http 1.0 " +
			"-H Accept: */* http://h/", "as ab without -k"},
		{"wrk --timeout 5s -d1s --timeout 6s http://h/", "-c 10 --expect any --no-save -t 2 -d 1s --timeout 6s http://h/", ""},
		{"ab -s 10 -n 5 http://h/", "-c 1 --expect any --no-save -t 1 -n 5 --timeout 10 --http 1.0 -H Accept: */* " +
			"http://h/", "as ab without -k"},
		{"oha -c 5 -n 5 --http2 --http-version 1.1 http://h/", "-c 5 --expect any --no-save -n 5 --http 1.1 http://h/", ""},
		{"hey -n=30 -c=20 -q 5 https://h/", "-c 20 --expect any --no-save -n 30 -R 100 https://h/", "30 requests were sent"},
		{"oha -z 1s -n 5 -c 8 -t 0 http://h/", "-c 8 --expect any --no-save -d 1s --timeout 8784h http://h/", ""},
		{"hey -z 1s -d {{x}} -H a:{{y}} -c 1 http://h/{{z}}", `-c 1 --expect any --no-save -d 1s -b \{{x}} -H Content-Type: text/html ` +
			`-H a:\{{y}} http://h/\{{z}}`, ""},
		{"hey -z 5s --c 600 http://h/", "-c 600 --expect any --no-save -d 5s http://h/", "600 connections are kept"},
		{"hey -c 1 -d x https://h/", "-c 1 --expect any --no-save -n 200 -b x -H Content-Type: text/html https://h/",
			"the certificate was verified"},
		{"oha -z 1s -q 50 --http2 https://h/", "-c 50 --expect any --no-save -d 1s -R 50 --http 2 https://h/", ""},
		{"go-meter -c 2 -d 5s -mrq 100 -es 1s -reconnect -u http://h/", "-c 2 --expect any --no-save -t 2 -d 5s " +
			"--warmup 1s --reconnect always http://h/", "one request at a time"},
	} {
		words := strings.Fields(test.line)
		for _, p := range allPeers() {
			if p.name != words[0] {
				continue
			}
			l, err := parsePeer(p, words[1:])
			if err == nil {
				err = l.complete()
			}
			if _, faults := readRun(l.runArgs(), nil); err == nil && len(faults) > 0 {
				t.Errorf("%s: dyno run refuses that: %v", test.line, faults)
			}
			if got := strings.Join(l.runArgs(), " "); err != nil || got != test.want {
				t.Errorf("%s\n  is %s, %v\nwant %s", test.line, got, err, test.want)
			}
			if said := strings.Join(append(l.lies, ""), ""); (test.lie == "") != (said == "") || !strings.HasPrefix(said, test.lie) {
				t.Errorf("%s: says %q, want %q", test.line, said, test.lie)
			}
			if p.name == "go-meter" && l.capped != 100 {
				t.Errorf("%s: a limit of %v", test.line, l.capped)
			}
		}
	}
}

func TestPeerOf(t *testing.T) {
	for program, want := range map[string]string{"/usr/bin/wrk": "wrk", "go-meter": "go-meter", "ab.exe": "ab", "dyno": "",
		"run": "", "./wrk3": ""} {
		if got := PeerOf(program); got != want {
			t.Errorf("%s acts as %q, want %q", program, got, want)
		}
	}
}
