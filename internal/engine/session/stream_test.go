package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/scenario"
)

// Only the entries that say so have answers that are streams; without any, the plan says it.
func TestStreamsOfEntries(t *testing.T) {
	const file = "POST {{base}}/login\nHTTP 200\n\n# dyno: stream openai\n# dyno: delay 1ms\nPOST {{base}}/chat\n[Options]\nlocation: true\nHTTP 200\n\n" +
		"#dyno:stream openai\nPOST {{base}}/chat\nHTTP 200\n\nGET {{base}}/bye\n"
	m := mustCompile(t, file, nil)
	p := loadplan.Plan{}
	m.SetPlan(&p)
	if m.StreamFormat() != "openai" || p.Stream.Format != "openai" || len(p.Stream.Steps) != 2 || !slices.Contains(p.Steps, p.Stream.Steps[1]) {
		t.Errorf("%+v of %q", p.Stream, p.Steps)
	}
	for text, want := range map[string]string{file: "[true false false true]", "GET {{base}}/\n": "[false]"} {
		if got := fmt.Sprint(plainSteps(t, mustCompile(t, text, nil))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// plainSteps are the steps of an iteration: is each plain?
func plainSteps(t *testing.T, m *Maker) (all []bool) {
	t.Helper()
	s, u := makeOne(t, m)
	for step := s.Start(u); !step.End; step = s.Next(u, &scenario.Response{Status: 200, Protocol: "http/1.1"}) {
		all = append(all, step.Plain)
	}
	return all
}

// What makes no sense is refused where it stands.
func TestStreamFaults(t *testing.T) {
	for text, want := range map[string]string{
		"# dyno: stream\nGET {{base}}/\n":                                             `test.hurl:1:1: "" is no format of a stream: write "# dyno: stream FORMAT", where FORMAT is one of sse, ndjson, chunks,`,
		"# dyno: stream 7\nGET {{base}}/\n":                                           `test.hurl:1:1: "7" is no format of a stream`,
		"# dyno: stream sse\n# dyno: stream sse\nGET {{base}}/":                       `test.hurl:2:1: stream is there twice`,
		"# dyno: stream sse\nHEAD {{base}}/\n":                                        "test.hurl:1:1: the answer to HEAD has no body, so it is no stream",
		"# dyno: stream sse\nGET {{base}}/\n\n# dyno: stream ollama\nGET {{base}}/\n": "test.hurl:4:1: one load cannot have streams of both sse and ollama",
		"# dyno: stream sse\nGET {{base}}/\n[Options]\ncompressed: true\n":            "test.hurl:1:1: dyno cannot tell the events of a compressed answer apart",
	} {
		_, err := compiled(text, nil)
		if got := fmt.Sprint(err); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}
