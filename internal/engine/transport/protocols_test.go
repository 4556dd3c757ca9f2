package transport

import (
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/say"
)

// What is spoken follows from the URL and from what is asked for.
func TestProtocols(t *testing.T) {
	secure := func(p *loadplan.Plan) { p.Target.TLS = true }
	for name, tc := range map[string]struct {
		change func(p *loadplan.Plan)
		want   string
		notice string // begins so
	}{
		"clear":          {func(*loadplan.Plan) {}, loadplan.HTTP11, ""},
		"clear, 1.0":     {func(p *loadplan.Plan) { p.HTTP = "1.0" }, loadplan.HTTP10, ""},
		"clear, 2":       {func(p *loadplan.Plan) { p.HTTP = "2" }, loadplan.HTTP2, ""},
		"h2c":            {func(p *loadplan.Plan) { p.Target.H2C = true }, loadplan.HTTP2, ""},
		"FastCGI":        {func(p *loadplan.Plan) { p.Target.FastCGI = true }, loadplan.FastCGI, ""},
		"TLS":            {secure, loadplan.HTTP2 + " " + loadplan.HTTP11, ""},
		"TLS, 1.0":       {func(p *loadplan.Plan) { secure(p); p.HTTP = "1.0" }, loadplan.HTTP10, ""},
		"TLS, 1.1":       {func(p *loadplan.Plan) { secure(p); p.HTTP = "1.1" }, loadplan.HTTP11, ""},
		"TLS, 2":         {func(p *loadplan.Plan) { secure(p); p.HTTP = "2" }, loadplan.HTTP2, ""},
		"TLS, streams":   {func(p *loadplan.Plan) { secure(p); p.Streams = 2 }, loadplan.HTTP2, ""},
		"TLS, pipelined": {func(p *loadplan.Plan) { secure(p); p.Pipeline = 2 }, loadplan.HTTP11, "dyno offers HTTP/1.1 and not HTTP/2, because HTTP/2"},
		"TLS 1.1": {func(p *loadplan.Plan) { secure(p); p.TLS.MaxVersion = "1.1" }, loadplan.HTTP11,
			"dyno offers HTTP/1.1 and not HTTP/2, because HTTP/2 needs TLS 1.2"},
		"TLS 1.1, HTTP/1.1": {func(p *loadplan.Plan) { secure(p); p.TLS.MaxVersion, p.HTTP = "1.1", "1.1" },
			loadplan.HTTP11, ""},
		"TLS 1.2": {func(p *loadplan.Plan) { secure(p); p.TLS.MaxVersion = "1.2" }, loadplan.HTTP2 + " " + loadplan.HTTP11, ""},
		"TLS, a header of HTTP/1.1": {func(p *loadplan.Plan) {
			secure(p)
			p.Requests = append(p.Requests, p.Requests[0])
			p.Requests[1].Header = []proto.Field{{Name: "Upgrade", Value: "x"}}
		}, loadplan.HTTP11, "dyno offers HTTP/1.1 and not HTTP/2, because HTTP/2 cannot carry request 2: header Upgrade"},
	} {
		p := loadplan.DefaultPlan()
		p.Target = loadplan.Target{URL: "http://a/", Host: "127.0.0.1", Port: 80}
		p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET", Authority: "a", Path: "/"}}}
		tc.change(&p)
		s, err := NewProtocols(&p)
		if err != nil || p.Check() != nil {
			t.Errorf("%s: %v, %v", name, err, p.Check())
			continue
		}
		got := strings.Join(s.names, " ")
		said := ""
		for _, f := range s.Notices {
			said += say.Sentence(f)
		}
		if got != tc.want || !strings.HasPrefix(said, tc.notice) || (said == "") != (tc.notice == "") {
			t.Errorf("%s: %s, said %q; want %s, %q", name, got, said, tc.want, tc.notice)
		}
		if _, err := s.Protocol(p.ProtoRequests(), proto.Want{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
