package session

import (
	"strings"
	"testing"

	"dyno/internal/engine/scenario"
)

// A response is judged no further once the run is over, which is asked behind each search that takes
// long. The rest of its checks has no outcome.
func TestOver(t *testing.T) {
	long := strings.Repeat("a", 200_000)
	for query, body := range map[string]string{
		`regex "[ab]{25}c"`:                long,
		`body replaceRegex "[ab]{25}c" ""`: long,
		`xpath "//a[count(//a) = 2]"`:      "<r>" + strings.Repeat("<a/>", 400) + "</r>",
		`jsonpath "$[?@ > 1]"`:             "[0" + strings.Repeat(" ", 200_000) + "]",
		`body`:                             long,
	} {
		m := mustCompile(t, "GET {{base}}/\nHTTP 200\n[Asserts]\n"+strings.Repeat(query+" not exists\n", 10), nil)
		s, u := makeOne(t, m)
		asked := 0
		u.Over = func() bool { asked++; return asked == 3 }
		s.Start(u)
		r := &scenario.Response{Status: 200, Protocol: "http/1.1", BodyBytes: int64(len(body))}
		r.AddBody([]byte(body))
		step := s.Next(u, r)
		if !r.Unjudged || !step.End || asked != 3 || len(r.Checks()) != 4 {
			t.Errorf("%s: unjudged %v, asked %d times, %d checks", query, r.Unjudged, asked, len(r.Checks()))
		}
	}
}
