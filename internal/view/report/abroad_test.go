package report

import (
	"bytes"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// An error at another origin, to which redirects lead, is said with its address, and that origin is
// asked: the server answers.
func TestErrorsAbroad(t *testing.T) {
	server := loadplan.Target{URL: "http://127.0.0.1:8080/", Host: "127.0.0.1", Port: 8080}
	literal := loadplan.Target{URL: "http://127.0.0.1:9", Host: "127.0.0.1", Port: 9}
	name := loadplan.Target{URL: "http://b.example", Host: "b.example", Port: 80}
	for _, c := range []struct {
		to         []loadplan.Target
		address    string
		says, asks string
	}{
		{[]loadplan.Target{name, literal}, "127.0.0.1:9", "connect: 127.0.0.1:9: connection refused (7 times)", "curl -v http://127.0.0.1:9"},
		{[]loadplan.Target{literal, name}, "192.0.2.7:80", "connect: 192.0.2.7:80: connection refused (7 times)", "curl -v http://b.example"},
		{[]loadplan.Target{literal, name}, "b.example", "connect: b.example: connection refused (7 times)", "curl -v http://b.example"},
		{[]loadplan.Target{literal}, "127.0.0.1:8080", "connect: connection refused (7 times)", "curl -v http://127.0.0.1:8080/"},
		{nil, "127.0.0.1:8080", "connect: connection refused (7 times)", "curl -v http://127.0.0.1:8080/"},
		{nil, "127.0.0.1:9", "connect: connection refused (7 times)", "curl -v http://127.0.0.1:8080/"},
	} {
		r := reporttest.Unreachable()
		r.Ended, r.Cause, r.Plan.Target, r.Plan.FollowTo = "duration", "", server, c.to
		r.Errors = []result.Error{{Phase: "connect", Kind: "refused", Address: c.address, Detail: "connection refused", Count: 7}}
		var b bytes.Buffer
		if err := Text(&b, r, format.Style{Width: 400}); err != nil {
			t.Fatal(err)
		}
		flat := strings.Join(strings.Fields(b.String()), " ") + " "
		if !strings.Contains(flat, "no request was answered: "+c.says) || !strings.Contains(flat, c.asks+" ") {
			t.Errorf("%+v: it says\n%s", c, b.String())
		}
		want := "Nothing was answered: " + strings.TrimSuffix(strings.TrimPrefix(c.says, "connect: "), " (7 times)")
		if got := RunAnswer(r).Sentence; got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}
