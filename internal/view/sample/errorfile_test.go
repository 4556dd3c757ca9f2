package sample

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/view/reporttest"
)

// What a file has of a sample is text that can be read, whatever a server sent.
func TestErrorFile(t *testing.T) {
	s := loadresult.Sample{Phase: loadresult.Check, Kind: "is right", Detail: "the answer did not pass the check",
		Due: 1500 * time.Millisecond, Sent: 1600 * time.Millisecond, Ended: 2 * time.Second,
		Thread: 1, Connection: 2, Life: 3, Protocol: loadplan.HTTP2, Address: "127.0.0.1:80",
		Step: "log in", User: 17, Iteration: 4,
		Added: loadresult.Added{Defaults: new(loadplan.Plan).DefaultFields()},
		Request: proto.Request{Method: "POST", Authority: "h", Path: "/login", Body: []byte("me=1"),
			Header: []proto.Field{{Name: "Accept", Value: "x"}}}, RequestBytes: 4, RequestKept: 4,
		Status: 200, Fields: []proto.Field{{Name: "x-a", Value: "1\x1b[2J"}},
		Trailers: []proto.Field{{Name: "x-sum", Value: "7"}}, Body: []byte("no\r\n\x1b[31mred\xff"), BodyBytes: 70_000, Seen: loadresult.Seen{BodyKept: 13}}
	var b bytes.Buffer
	if err := ErrorFile(&b, s); err != nil {
		t.Fatal(err)
	}
	want := `error       check is right: the answer did not pass the check
due         1.500000 s after the window began
sent        0.100000 s after it was due
took        0.500000 s from due, 0.400000 s from sent
connection  3 of thread 2, socket 3 of it, to 127.0.0.1:80, h2
step        log in, in iteration 4 of user 17 (both from 0)

--- request, 4 bytes of body ---
POST /login
Host: h
User-Agent: dyno/` + loadplan.Version + `
Accept: x
Content-Length: 4

me=1

--- response, 70000 bytes of body, here the first 13 ---
200
x-a: 1·[2J

no
\u001b[31mred\xff

--- trailer ---
x-sum: 7
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

// A body whose secrets have become marks is shorter than it was, and whole.
func TestErrorFileOfSecrets(t *testing.T) {
	body := []byte(`{"password":"` + strings.Repeat("secret", 50) + `"}`)
	p := reporttest.Plan("http://127.0.0.1:8080/")
	p.Requests[0].Method, p.Requests[0].Body = "POST", body
	s := loadresult.Sample{Phase: loadresult.Expect, Kind: "status", Detail: "500"}
	s.SetRequest(&p, proto.Message{})
	s.SetResponse(&scenario.Response{Body: body}, 500, int64(len(body)))
	r, err := result.From(&loadresult.Result{Plan: p, Ended: loadresult.ByDuration, Measured: time.Second,
		Started: time.Now(), Total: metric.NewCounters(), Samples: []loadresult.Sample{s}}, "test")
	var b bytes.Buffer
	if err = errors.Join(err, r.RestorePlan(p, redact.PlainMark)); err == nil {
		err = ErrorFile(&b, r.Samples[0])
	}
	if text := b.String(); err != nil || strings.Count(text, `{"password":"(redacted)"}`) != 2 ||
		strings.Count(text, ", 315 bytes of body ---") != 2 {
		t.Errorf("%v:\n%s", err, text)
	}
}

// A request without a response has the reason, and what there was of one says that it is not all.
func TestErrorFileOfAFailure(t *testing.T) {
	s := loadresult.Sample{Phase: loadresult.Timeout, Kind: "timeout", Detail: "no answer in time",
		Request: proto.Request{Method: "GET", Authority: "h", Path: "/"}, BodyBytes: -1}
	for want, change := range map[string]func(){
		"timeout timeout: no answer in time\n": func() {},
		"\n--- no response ---\n":              func() {},
		"\n--- response, incomplete ---\n500\nx-a: 1\n\nhel\n": func() {
			s.Status, s.Fields, s.Body = 500, []proto.Field{{Name: "x-a", Value: "1"}}, []byte("hel")
		},
		"\n--- response, incomplete ---\n500\nx-a: 1\n(2 fields left out)\n": func() {
			s.Status, s.Fields, s.LeftOut = 500, []proto.Field{{Name: "x-a", Value: "1"}}, 2
		},
	} {
		change()
		var b bytes.Buffer
		if err := ErrorFile(&b, s); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v: %s\nwant %s", err, b.String(), want)
		}
		s.Status, s.Fields, s.Body, s.LeftOut = 0, nil, nil, 0
	}
}

// Names of files are numbered and safe, whatever a check is called.
func TestErrorFileName(t *testing.T) {
	for want, s := range map[string]loadresult.Sample{
		"0007-expect-status-500.txt":                     {Phase: loadresult.Expect, Kind: "status", Detail: "500"},
		"0007-timeout-timeout.txt":                       {Phase: loadresult.Timeout, Kind: "timeout", Detail: "x"},
		"0007-check-etc-passwd.txt":                      {Phase: loadresult.Check, Kind: "../../etc/passwd"},
		"0007-check.txt":                                 {Phase: loadresult.Check, Kind: "ä\x00\n"},
		"0007-check-" + strings.Repeat("a", 54) + ".txt": {Phase: loadresult.Check, Kind: strings.Repeat("A", 300)},
	} {
		if got := ErrorFileName(7, s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
