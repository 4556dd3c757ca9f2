package cli

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/session"
	"dyno/internal/redact"
)

// The start of a body has no part of a secret, wherever it is cut, and is one line.
func TestBodyStart(t *testing.T) {
	const secret = "hunter22-hunter22"
	w := &shownSteps{keep: redact.Replacer(func(string, string) string { return "(mark)" }), secrets: []string{secret}}
	for before := range shownStart + 10 {
		body := strings.Repeat("x", before) + " " + secret + "\r\n\x1b[31m and more " + strings.Repeat("y", shownStart)
		got := w.bodyStart(session.Observation{Response: &scenario.Response{Body: []byte(body), BodyBytes: int64(len(body))}})
		if strings.Contains(got, "hunt") || strings.ContainsAny(got, "\r\n\x1b") || utf8.RuneCountInString(got) > shownStart+40 {
			t.Fatalf("with %d bytes before it: %q", before, got)
		}
	}
	for body, want := range map[string]string{"": "the body is empty", "\xff\xfe": "the body has 2 bytes that are no text",
		"{\n  \"error\": 1\n}": `the body (16 bytes) begins: { "error": 1 }`} {
		got := w.bodyStart(session.Observation{Response: &scenario.Response{Body: []byte(body), BodyBytes: int64(len(body))}})
		if got != want {
			t.Errorf("%q: %q, not %q", body, got, want)
		}
	}
}

// The body in which a secret was looked for in vain may have it elsewhere.
func TestBodyOfASecretIsNotShown(t *testing.T) {
	for _, hidden := range []bool{true, false} {
		var to strings.Builder
		w := &shownSteps{to: &to, keep: redact.Replacer(func(string, string) string { return "(mark)" })}
		body := `{"access": "hunter22"}`
		w.step(session.Observation{Step: "login", Failed: true, Outcomes: []session.Outcome{
			{Name: "capture jwt", Expr: `jsonpath "$.acess"`, Actual: "none", Body: true, Redact: hidden}},
			Response: &scenario.Response{Status: 200, Body: []byte(body), BodyBytes: int64(len(body))}})
		if strings.Contains(to.String(), "hunter22") == hidden || !strings.Contains(to.String(), "the body") {
			t.Errorf("redact %v: %s", hidden, to.String())
		}
	}
}

// Who signs a request is no field: what is shown says who it is and how, and its password is a secret, however a server says it.
func TestSignerIsShown(t *testing.T) {
	for _, hidden := range []bool{true, false} {
		var to strings.Builder
		w := &shownSteps{to: &to, bodies: true}
		if hidden {
			w.keep = redact.Replacer(func(string, string) string { return "(mark)" })
		}
		o := session.Observation{Step: "GET /a", Response: &scenario.Response{Status: 200, Body: []byte("you said hunter22"), BodyBytes: 17}}
		o.Request = proto.Request{Method: "GET", Path: "/a", Auth: "digest", Header: []proto.Field{{Name: "Authorization", Value: "alice:hunter22"}}}
		w.step(o)
		if out := to.String(); !strings.Contains(out, "Authorization: (digest of alice)\n") || strings.Contains(out, "alice:") ||
			strings.Contains(out, "hunter22") == hidden {
			t.Errorf("hidden %v: %s", hidden, out)
		}
	}
}

// A step that is sent again says so, and a redirect that is not followed says why.
func TestRetriesAreShown(t *testing.T) {
	var to strings.Builder
	w := &shownSteps{to: &to}
	for _, o := range []session.Observation{
		{Step: "GET /a", Response: &scenario.Response{Failed: "read"}, Failed: true, Retries: 2},
		{Step: "GET /a", Response: &scenario.Response{Status: 302}, Failed: true, Retry: 1, Retries: 2,
			Refused: errors.New("a.hurl:3:1: the request was redirected more than 1 times, which is the most that the option \"max-redirs\" allows")},
		{Step: "GET /a", Response: &scenario.Response{Status: 200}, Retry: 2, Retries: 2},
	} {
		w.step(o)
	}
	const want = `FAILED GET /a: no response (read)
FAILED GET /a: 302 (retry 1 of at most 2)
  FAILED a.hurl:3:1: the request was redirected more than 1 times, which is the most that the option "max-redirs" allows
ok     GET /a: 200 (retry 2 of at most 2)
`
	if to.String() != want {
		t.Errorf("%s, not %s", to.String(), want)
	}
}
