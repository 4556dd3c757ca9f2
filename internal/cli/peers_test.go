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
		{"ab -kn 10 -c2 http://h/", "-c 2 --expect any --no-save -t 1 -n 10 --timeout 30s --http 1.0 " +
			"-H Connection: Keep-Alive -H Accept: */* http://h/", ""},
		{"ab -t 5 -i http://h/", "-c 1 --expect any --no-save -t 1 -n 50000 -d 5s -X HEAD --timeout 30s --http 1.0 " +
			"-H Accept: */* http://h/", "as ab without -k"},
		{"wrk --timeout 5s -d1s --timeout 6s http://h/", "-c 10 --expect any --no-save -t 2 -d 1s --timeout 6s http://h/", ""},
		{"ab -s 10 -n 5 http://h/", "-c 1 --expect any --no-save -t 1 -n 5 --timeout 10 --http 1.0 -H Accept: */* " +
			"http://h/", "as ab without -k"},
		{"oha -c 5 -n 5 --http2 --http-version 1.1 http://h/", "-c 5 --expect any --no-save -n 5 -X GET --timeout 8784h --connect-timeout 5s --http 1.1 " +
			"-H Accept: */* -H Accept-Encoding: gzip, compress, deflate, br http://h/", ""},
		{"hey -n=30 -c=20 -q 5 https://h/", "-c 20 --expect any --no-save -n 30 -R 100 -X GET --timeout 20s --connect-timeout 20s --follow 9 " +
			"-H Content-Type: text/html -H Accept-Encoding: gzip https://h/", "30 requests were sent"},
		{"oha -z 1s -n 5 -c 8 -t 0 http://h/", "-c 8 --expect any --no-save -d 1s -X GET --timeout 8784h --connect-timeout 5s " +
			"-H Accept: */* -H Accept-Encoding: gzip, compress, deflate, br http://h/", ""},
		{"hey -z 1s -d {{x}} -H a:{{y}} -c 1 http://h/{{z}}", `-c 1 --expect any --no-save -d 1s -X GET -b {{x}} --timeout 20s --connect-timeout 20s --follow 9 ` +
			`-H a:{{y}} -H Content-Type: text/html -H Accept-Encoding: gzip http://h/{{z}}`, ""},
		{"hey -z 5s --c 600 http://h/", "-c 600 --expect any --no-save -d 5s -X GET --timeout 20s --connect-timeout 20s --follow 9 " +
			"-H Content-Type: text/html -H Accept-Encoding: gzip http://h/", "600 connections are kept"},
		{"hey -c 1 -d x https://h/", "-c 1 --expect any --no-save -n 200 -X GET -b x --timeout 20s " +
			"--connect-timeout 20s --follow 9 -H Content-Type: text/html -H Accept-Encoding: gzip https://h/",
			"the certificate was verified"},
		{"oha -z 1s -q 50 --http2 https://h/", "-c 50 --expect any --no-save -d 1s -R 50 -X GET --timeout 8784h --connect-timeout 5s " +
			"--http 2 -H Accept: */* -H Accept-Encoding: gzip, compress, deflate, br https://h/", ""},
		{"oha -n 2m -c 4 --no-tui -o f -r 0 http://h/", "-c 4 --expect any --no-save -n 2000000 -X GET --timeout 8784h " +
			"--connect-timeout 5s --follow 0 -H Accept: */* -H Accept-Encoding: gzip, compress, deflate, br http://h/", ""},
		{"oha -n 2 -c 4 http://h/", "-c 2 --expect any --no-save -n 2 -X GET --timeout 8784h --connect-timeout 5s " +
			"-H Accept: */* -H Accept-Encoding: gzip, compress, deflate, br http://h/", ""},
		{"hey -z 1s -H Host:x -host y http://h/", "-c 50 --expect any --no-save -d 1s -X GET --timeout 20s --connect-timeout 20s --follow 9 " +
			"-H Content-Type: text/html -H Accept-Encoding: gzip -H Host: y http://h/", "hey ignores a header Host"},
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
			if _, faults := l.readRun(nil); err == nil && len(faults) > 0 {
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

// A body that begins with @ is a text for hey and oha, of which only -D names a file.
func TestPeerBodies(t *testing.T) {
	for _, p := range allPeers() {
		if p.name != "hey" && p.name != "oha" {
			continue
		}
		l, err := parsePeer(p, []string{"-m", "POST", "-d", "@/etc/passwd{{x}}", "http://h/"})
		if err == nil {
			err = l.complete()
		}
		f, faults := l.readRun(strings.NewReader("stdin"))
		if err != nil || len(faults) > 0 || string(f.plan.Requests[0].Body) != "@/etc/passwd{{x}}" {
			t.Errorf("%s: %v, %v, %+v", p.name, err, faults, f.plan.Requests)
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
