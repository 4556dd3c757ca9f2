//go:build linux

package e2e

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A bad is a bad server, and what dyno must report of it.
type bad struct {
	name  string
	serve func(net.Conn)
	args  string
	code  int
	last  string   // line on stderr, after "dyno: "
	rows  []string // of the report's table of errors, without the counts
	say   []string // all warnings, and reasons to doubt the numbers
	sent  int64    // exactly, and each of them failed; 0: not known

	resends bool   // some were sent again
	starved string // a row of a server that had no CPU within the timeout: then the run is repeated
	check   func(*testing.T, *outcome)
}

// quick is long for a run that has nothing to wait for, even on a machine that stands still for a
// while, and short of the windows that it would otherwise wait for.
const quick = 2 * time.Minute

const (
	none    = "no request completed: "
	nothing = "nothing was measured: no request completed"
	fewMany = "too short to judge: 40 answers in TIME; a verdict takes at least 100 answers and a window of " +
		"at least TIME"
	aByte   = "the answer began but did not end in time: only 1 byte of its header came"
	hundred = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
	chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	failing = "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"
)

// lossyServer is a bad server whose n answers all fail in one way.
func lossyServer(name string, serve func(net.Conn), phase, kind, detail string) bad {
	return bad{name: name, serve: serve, args: "-n 4 -c 2", code: 4, sent: 4,
		last: none + phase + " 127.0.0.1:PORT: " + detail + " (N times)",
		rows: []string{phase + " " + kind + " 127.0.0.1:PORT " + detail},
		say:  []string{nothing + " (" + detail + ")"}}
}

var lossyServers = []bad{
	lossyServer("reset before the answer", resetAfter(""),
		"read", "reset", "connection reset by peer"),
	lossyServer("reset inside a body", resetAfter(hundred+"half"),
		"read", "reset", "connection reset by peer, behind the head of an answer with status 200"),
	lossyServer("close inside a body", answerOnceWith(hundred+"half"),
		"read", "truncated", "connection closed after 4 of 100 bytes of body"),
	lossyServer("close inside a chunk", answerOnceWith(chunked+"8\r\nhalf"),
		"read", "truncated", "connection closed inside a chunked body, after 4 bytes of it"),
	lossyServer("close inside a header", answerOnceWith("HTTP/1.1 200 OK\r\nContent-"),
		"read", "truncated", "connection closed inside the response header, after 25 bytes"),
	lossyServer("close without an answer", readAndStaySilent,
		"read", "closed", "connection closed before the response"),
	lossyServer("another protocol", answerWith("SSH-2.0-OpenSSH_9.2p1\r\n"),
		"protocol", "garbage",
		`not an HTTP/1.x response: it begins with "SSH-2.0-OpenSSH_9.2p1"`),
	lossyServer("TLS", answerWith("\x15\x03\x01\x00\x02\x02\x46"),
		"protocol", "garbage",
		`not an HTTP/1.x response: it begins with "\x15\x03\x01\x00\x02\x02F"; `+
			`is this an https:// server?`),
	lossyServer("a header of 1 GB", endlessBody,
		"protocol", "oversized", "the response header is longer than 256 KiB"),
	lossyServer("a line of 1 GB", endlessLine,
		"protocol", "oversized", "the response header is longer than 256 KiB"),
	lossyServer("two lengths", answerWith("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"),
		"protocol", "framing", "Content-Length is both 2 and 3"),
	lossyServer("a folded header", answerWith("HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nok"),
		"protocol", "framing", `a folded header line (begins with a space): " c"`),
}

var badServers = []bad{
	{name: "silent, with a timeout", serve: neverAnswer, args: "-d 1s -c 3 --timeout 300ms", code: 4,
		last: none + "timeout 127.0.0.1:PORT: no answer in time (N times)",
		rows: []string{"timeout timeout 127.0.0.1:PORT no answer in time"},
		say:  []string{nothing + " (no answer in time)"}},
	{name: "silent, to the end of the drain", serve: neverAnswer, args: "-d 1s -c 3", code: 4,
		last: none + "3 requests sent, none answered in TIME", say: []string{nothing},
		check: expectUnfinished(3)},
	{name: "a byte a second", serve: dripAnswer, args: "-d 1s -c 3 --timeout 400ms", code: 4,
		last:    none + "timeout 127.0.0.1:PORT: " + aByte + " (N times)",
		rows:    []string{"timeout unfinished 127.0.0.1:PORT " + aByte},
		starved: "timeout timeout 127.0.0.1:PORT no answer in time",
		say:     []string{nothing + " (" + aByte + ")"}},
	{name: "a byte, and no more", serve: beginAnswer, args: "-d 1s -c 3 --drain 1s",
		code: 4, last: none + "the answer began but had not ended when the run did: only 1 byte of its " +
			"header came (N times)", say: []string{nothing},
		check: expectUnfinished(3)},
	{name: "close without an answer, for a time", serve: readAndStaySilent, args: "-d 500ms -c 2", code: 4,
		last: none + "read 127.0.0.1:PORT: connection closed before the response (N times)",
		rows: []string{"read closed 127.0.0.1:PORT connection closed before the response"},
		say:  []string{nothing + " (connection closed before the response)"},
		check: func(t *testing.T, o *outcome) {
			if n := o.result.Connections.Opened; n > 100 {
				t.Errorf("a server that answers nothing was dialed %d times in half a second", n)
			}
		}},
	{name: "close after each answer", serve: answerOnceWith(answer), args: "-n 40 -c 2",
		resends: true, say: []string{fewMany}, check: func(t *testing.T, o *outcome) {
			checkFlawless(t, o.result, 40, "200")
			if c := o.result.Connections; c.Reconnects != 38 || c.Opened != 40 {
				t.Errorf("%+v; want 38 reconnects", c)
			}
		}},
	{name: "500 to all", serve: answerWith(failing), args: "-n 40 -c 2",
		sent: 40, rows: []string{"expect status 127.0.0.1:PORT 500"},
		say: []string{"EVERY answer was an error (status 500); if these are right answers, name them with --expect", fewMany},
		check: func(t *testing.T, o *outcome) {
			if n := o.result.ErrorLatency.Count; n != 40 {
				t.Errorf("%d have a latency", n)
			}
			if !strings.Contains(o.stdout, "  verdict      EVERY answer was an error") {
				t.Errorf("not loud:\n%s", o.stdout)
			}
		}},
	{name: "500 to all, asked for", serve: answerWith(failing), args: "-n 40 -c 2 --expect any",
		say: []string{fewMany},
		check: func(t *testing.T, o *outcome) {
			checkFlawless(t, o.result, 40, "500")
		}},
	{name: "500 that is not welcome", serve: answerWith(failing),
		args: "-n 40 -c 2 --expect 2xx --slo errors<1%", code: 1, sent: 40,
		last: "missed: errors<1% (100 %)",
		rows: []string{"expect status 127.0.0.1:PORT 500"},
		say: []string{"EVERY answer was an error (status 500)",
			fewMany}},
	{name: "two answers to each", serve: answerWith(answer + answer), args: "-n 40 -c 2",
		rows: []string{`protocol unasked 127.0.0.1:PORT the server sent "HTTP/1.1 200 OK\r\n` +
			`Content-Length: 2\r\n\r\nok"… and no request was waiting for it`},
		say: []string{fewMany}},
}

func expectUnfinished(n int64) func(*testing.T, *outcome) {
	return func(t *testing.T, o *outcome) {
		if q := o.result.Requests; q.Sent != n || q.Unfinished != n {
			t.Errorf("%+v; want %d unfinished", q, n)
		}
	}
}

func TestBadServers(t *testing.T) {
	for _, test := range slices.Concat(lossyServers, badServers) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			addr := listenWith(t, test.serve).Addr().String()
			args := append(strings.Fields(test.args), "http://"+addr)
			o := runDyno(t, test.code, args...)
			for try := 0; try < 20 && test.starved != "" && slices.Contains(o.errorRows(), test.starved); try++ {
				o = runDyno(t, test.code, args...)
			}
			test.checkReport(t, o)
		})
	}
}

// checkReport checks what a user was told.
func (b bad) checkReport(t *testing.T, o *outcome) {
	t.Helper()
	if last := o.lastLine(); b.last != "" && last != "dyno: "+b.last {
		t.Errorf("last line\n\t%s\nwant\n\tdyno: %s", last, b.last)
	}
	if rows := o.errorRows(); !slices.Equal(rows, b.rows) {
		t.Errorf("errors\n\t%s\nwant\n\t%s", strings.Join(rows, "\n\t"), strings.Join(b.rows, "\n\t"))
	}
	said := o.reportLines()
	if b.resends { // how often depends on when the close is noticed
		said = slices.DeleteFunc(said, func(line string) bool {
			return strings.Contains(line, "were sent again on another connection")
		})
	}
	if !slices.Equal(said, b.say) {
		t.Errorf("said\n\t%s\nwant\n\t%s", strings.Join(said, "\n\t"), strings.Join(b.say, "\n\t"))
	}
	checkBalanced(t, o.result, -1)
	if q := o.result.Requests; b.sent > 0 && (q.Sent != b.sent || q.Errors != b.sent) {
		t.Errorf("%+v; want %d errors", q, b.sent)
	}
	if o.took > quick {
		t.Errorf("took %v, want less than %v", o.took, quick)
	}
	if b.check != nil {
		b.check(t, o)
	}
}

// TestRefused is a server that is not there.
func TestRefused(t *testing.T) {
	t.Parallel()
	const detail = "connect 127.0.0.1:PORT: connection refused"
	bad{code: 4, last: "nothing could be reached: " + detail + " (N times)",
		rows: []string{"connect refused 127.0.0.1:PORT connection refused"},
		say:  []string{"nothing was measured: no connection could be opened (" + detail + ")"},
	}.checkReport(t, runDyno(t, 4, "-d", "5m", "-c", "2", "http://"+refusingAddress(t)))
}

// TestMissingSocket is a unix socket that is not there.
func TestMissingSocket(t *testing.T) {
	t.Parallel()
	const detail = "connect PATH: no such file or directory: " +
		"nothing is there; is the server running, and the path right?"
	path := t.TempDir() + "/none.sock"
	o := runDyno(t, 4, "-n", "10", "-c", "2", "http+unix://"+path+":/")
	want := "dyno: nothing could be reached: " + detail + " (N times)"
	if last := strings.ReplaceAll(o.lastLine(), path, "PATH"); last != want {
		t.Errorf("last line\n\t%s\nwant\n\t%s", last, want)
	}
}

// TestDying is a server that goes away in the middle.
func TestDying(t *testing.T) {
	t.Parallel()
	o := runDyno(t, 0, "-d", "5m", "-c", "4", "--connect-timeout", "500ms",
		"http://"+dyingServer(t, 1000))
	checkBalanced(t, o.result, -1)
	if r := o.result; r.Ended != "gone" || r.Requests.Completed != 1000 || r.Requests.Sent != 1004 {
		t.Errorf("%s: %+v", r.Ended, r.Requests)
	}
	if o.took > quick {
		t.Errorf("it went on for %v", o.took)
	}
	const want = "the load ended after TIME because no connection could be opened any more " +
		"(connect 127.0.0.1:PORT: connection refused): the server was gone for the rest"
	if said := o.reportLines(); !slices.Contains(said, want) || !strings.Contains(o.stdout, "GONE") {
		t.Errorf("said %q, want %q", said, want)
	}
}

// TestStall has a server that answers nobody for a second. In an open workload the requests whose
// intended start time falls into that second wait, and the latency shows it.
func TestStall(t *testing.T) {
	t.Parallel()
	c := startTarget(t, "--stall", "1s/2s")
	r := runDyno(t, 0, "-R", "500", "-d", "3s", "-c", "10", "--drain", "5s", c.url).result
	checkFlawless(t, r, 1500, "200")
	// A third of the requests wait, from 0 to 1 s; those sent before it, all of it.
	if r.Latency.Max < 0.9e6 || r.Latency.Mean < 0.1e6 || r.Latency.P95 < 0.5e6 {
		t.Errorf("latency of a second's stall: %+v", r.Latency)
	}
	if r.Service.P50 > r.Latency.Mean || r.Service.Mean > r.Latency.Mean/2 {
		t.Errorf("service %+v is not much below latency %+v", r.Service, r.Latency)
	}
	checkAgrees(t, r, c.servedCount(t))
}

// TestMemory checks that memory does not grow with what a server sends.
func TestMemory(t *testing.T) {
	const modest = 64 << 10 // kB resident
	briefly := []string{"-c", "8", "-d", "400ms", "--drain", "0s"}
	for _, test := range []struct {
		name  string
		serve func(net.Conn)
		code  int
		args  []string
	}{
		{"bodies of 8 MB", answerWith("HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n" +
			strings.Repeat("8 bytes\n", 1<<20)), 0, []string{"-n", "24", "-c", "8", "-d", "5m", "--drain", "1m"}},
		{"bodies without end", answerWith("HTTP/1.1 200 OK\r\n\r\n" +
			strings.Repeat("8 bytes\n", 1<<25)), 4, briefly},
		{"headers of 1 GB", endlessBody, 4, briefly},
		{"lines of 1 GB", endlessLine, 4, briefly},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := listenWith(t, test.serve)
			d := startDyno(t, append(slices.Clone(test.args), "http://"+l.Addr().String())...)
			peak := d.peakMemory()
			o := d.waitForExit().expectExit(t, test.code)
			checkBalanced(t, o.result, -1)
			if peak == 0 || peak > modest {
				t.Errorf("%d kB of memory", peak)
			}
			t.Logf("%d kB of memory for %d MB received", peak, o.result.Bytes.Received>>20)
		})
	}
}

// TestHalfDead checks that dyno reports how many connections a server never answers.
func TestHalfDead(t *testing.T) {
	t.Parallel()
	turn := make(chan bool, 1)
	turn <- true
	l := listenWith(t, func(c net.Conn) {
		alive := <-turn
		turn <- !alive
		if !alive {
			io.Copy(io.Discard, c)
			return
		}
		answerWith(answer)(c)
	})
	o := runDyno(t, 0, "-d", "1s", "-c", "4", "--drain", "0s", "http://"+l.Addr().String())
	checkBalanced(t, o.result, -1)
	want := "2 of 4 connections never completed a request: the others alone made the load"
	if said := o.reportLines(); !slices.Contains(said, want) || o.result.Connections.Served != 2 {
		t.Errorf("%+v, said %q", o.result.Connections, said)
	}
}

// runLimited runs dyno in a shell that limits it first.
func runLimited(t *testing.T, script, url string) *outcome {
	t.Helper()
	dir := publicDir(t)
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "result.json")
	args := append([]string{"-c", script, "sh", binary},
		runArgs(file, []string{"-t", "2", "-c", "500", "-n", "5000", url})...)
	return startCommand(t, file, exec.Command("sh", args...)).waitForExit()
}

// TestFiles uses more connections than a process may have files. dyno raises the limit as far as
// it may, and otherwise says how to raise it.
func TestFiles(t *testing.T) {
	t.Parallel()
	url := "http://" + listenWith(t, answerWith(answer)).Addr().String()
	o := runLimited(t, `ulimit -Sn 100; exec "$@"`, url).expectExit(t, 0)
	checkFlawless(t, o.result, 5000, "200")
	forbidden := `ulimit -n 100; exec "$@"`                                      // the hard limit, too
	if exec.Command("sh", "-c", "ulimit -n 100 && ulimit -n 200").Run() == nil { // root, most often
		o = runLimited(t, forbidden, url).expectExit(t, 0)
		checkFlawless(t, o.result, 5000, "200")
		const notice = "the limit of open files was raised from 100 to 518"
		if said := o.reportLines(); !slices.Contains(said, notice) {
			t.Errorf("said %q, want %q", said, notice)
		}
		forbidden = `ulimit -n 100; exec setpriv --reuid 65534 --clear-groups ` +
			`--bounding-set -all --inh-caps -all "$@"`
	}
	o = runLimited(t, forbidden, url).expectExit(t, 2)
	const refusal = "\ndyno: --connections: 500 connections need 518 open files and the limit is " +
		"100; raise it with ulimit -n 518\nsee 'dyno help run'\n"
	if !strings.HasSuffix(o.stderr, refusal) {
		t.Errorf("stderr\n%s\nwant\n%s", o.stderr, refusal)
	}
}

// TestBacklog has a server that accepts nothing. With its backlog full it does not even answer a
// SYN.
func TestBacklog(t *testing.T) {
	t.Parallel()
	fd, addr := boundSocket(t)
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for { // until it is full
		c, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if err != nil {
			break
		}
		defer c.Close()
	}
	const detail = "connect 127.0.0.1:PORT: no answer in time"
	bad{last: "nothing could be reached: " + detail + " (N times)",
		rows: []string{"connect timeout 127.0.0.1:PORT no answer in time"},
		say:  []string{"nothing was measured: no connection could be opened (" + detail + ")"},
	}.checkReport(t, runDyno(t, 4, "-d", "5m", "-c", "3", "--connect-timeout", "500ms", "http://"+addr))
}
