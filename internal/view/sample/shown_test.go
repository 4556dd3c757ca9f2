package sample

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
)

// A request is shown as curl -v shows it: what was sent, what was answered, and why there is no
// answer.
func TestShown(t *testing.T) {
	sent := loadresult.Sample{Phase: loadresult.Shown, Address: "127.0.0.1:80", Protocol: "http/1.1",
		Request: proto.Request{Method: "POST", Path: "/x", Authority: "a", Body: []byte("{}")}, RequestBytes: 2,
		Added: loadresult.Added{Defaults: new(loadplan.Plan).DefaultFields()},
		Sent:  time.Millisecond, Ended: 3 * time.Millisecond}
	with := func(change func(*loadresult.Sample)) loadresult.Sample { s := sent; change(&s); return s }
	lost := with(func(s *loadresult.Sample) { s.Detail = "timeout after 2ms" })
	for name, c := range map[string]struct {
		s    loadresult.Sample
		want string
	}{
		"text": {with(func(s *loadresult.Sample) {
			s.Status, s.Body, s.BodyBytes = 200, []byte("one\r\ntwo"), 8
			s.Fields = []proto.Field{{Name: "x-a", Value: "b"}}
		}), "< HTTP/1.1 200\n< x-a: b\n<\n< one\n< two\n* answered after 2.00 ms\n"},
		"events": {with(func(s *loadresult.Sample) {
			s.Status, s.Body, s.BodyBytes, s.More = 200, []byte("data: one\n"), 99, 7
			s.Events = []loadresult.ShownEvent{{After: 1500 * time.Microsecond, Bytes: 3, Counted: true, Text: []byte("o\x1b[e")},
				{After: 2 * time.Second, Bytes: 5000}, {After: 3 * time.Second, Bytes: 200, Text: bytes.Repeat([]byte("x"), 200)}}
		}), "< HTTP/1.1 200\n<\n< +1.50 ms, 3 bytes: o·[e\n< +2000.00 ms, 5,000 bytes, not counted\n< +3000.00 ms, 200 bytes, not counted: " +
			strings.Repeat("x", 99) + "…\n* 7 events more\n* answered"},
		"HTTP/2":     {with(func(s *loadresult.Sample) { s.Status, s.Protocol = 204, "h2" }), "< HTTP/2 204\n* answered"},
		"no answer":  {lost, "* no response: timeout after 2ms, after 2.00 ms\n"},
		"no text":    {with(func(s *loadresult.Sample) { s.Status, s.Body, s.BodyBytes = 200, []byte{0xff}, 900 }), "< 900 bytes that are no text\n"},
		"long":       {with(func(s *loadresult.Sample) { s.Status, s.Body, s.BodyBytes = 200, []byte("ab"), 9000 }), "< ab\n< … 9,000 bytes in all\n"},
		"compressed": {with(func(s *loadresult.Sample) { s.Status, s.BodyBytes = 200, 9000 }), "* the body is compressed"},
		"cut": {with(func(s *loadresult.Sample) {
			s.Status, s.Body, s.BodyBytes, s.Detail = 200, []byte("ab"), -1, "it ended early"
		}), "< ab\n* the response is not whole: it ended early"},
	} {
		var b strings.Builder
		if err := Shown(&b, []loadresult.Sample{c.s}); err != nil {
			t.Fatal(err)
		}
		version := map[bool]string{true: "HTTP/2", false: "HTTP/1.1"}[c.s.Protocol == "h2"]
		request := "* request 1, on connection 1 to 127.0.0.1:80\n> POST /x " + version + "\n> Host: a\n> User-Agent: "
		if !strings.HasPrefix(b.String(), request) || !strings.Contains(b.String(), "> Content-Length: 2\n>\n> {}\n") ||
			!strings.Contains(b.String(), c.want) {
			t.Errorf("%s: %s", name, b.String())
		}
	}
	shown, others := Split([]loadresult.Sample{{Phase: loadresult.Expect}, sent})
	if len(shown) != 1 || len(others) != 1 || others[0].Phase != loadresult.Expect {
		t.Errorf("%v %v", shown, others)
	}
}
