package loadresult

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

// The fields of a sample are those that HTTP/1.1 sends, a length of 0 included.
func TestSentFieldsAreWhatIsSent(t *testing.T) {
	get := proto.Request{Method: "GET", Authority: "h", Path: "/"}
	holes := get
	holes.Body, holes.Holes = []byte{}, []proto.Hole{{In: proto.InBody}}
	framed := holes
	framed.Holes = nil
	post := get
	post.Method = "POST"
	sized := get
	sized.Body, sized.Header = []byte("x"), []proto.Field{{Name: "content-length", Value: "1"}}
	p := loadplan.DefaultPlan()
	set := []proto.Request{get, holes, framed, post, sized}
	for _, r := range set {
		p.Requests = append(p.Requests, loadplan.Request{Request: r})
	}
	codecs, err := h1.Protocol(h1.Options{Defaults: []proto.Field{{Name: "User-Agent", Value: loadplan.UserAgent}}})(set, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	filled := func(s string) *proto.Fill { return &proto.Fill{Values: [][]byte{[]byte(s)}, Body: []byte(s)} }
	for _, m := range []proto.Message{{}, {Request: 1, Fill: filled("")}, {Request: 1, Fill: filled("ab")}, {Request: 2},
		{Request: 3}, {Request: 4}, {Request: 1, Fill: &proto.Fill{Own: &get}}, {Request: 0, Fill: &proto.Fill{Own: &sized}}} {
		var s Sample
		s.SetRequest(&p, m)
		var want []string
		for _, f := range s.SentFields() {
			want = append(want, f.Name+": "+f.Value)
		}
		sent := string(codecs(nil).Encode(nil, m, 0))
		head, _, _ := strings.Cut(sent, "\r\n\r\n")
		if lines := strings.Split(head, "\r\n")[1:]; !slices.Equal(lines, want) {
			t.Errorf("%+v: %q, sent %q", m, want, lines)
		}
	}
}
