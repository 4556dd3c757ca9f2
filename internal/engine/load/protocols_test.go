package load

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// What is spoken follows from the URL and from what is asked for.
func TestProtocols(t *testing.T) {
	secure := func(p *Plan) { p.Target.TLS = true }
	for name, tc := range map[string]struct {
		change func(p *Plan)
		want   string
		notice string // begins so
	}{
		"clear":          {func(*Plan) {}, HTTP11, ""},
		"clear, 1.0":     {func(p *Plan) { p.HTTP = "1.0" }, HTTP10, ""},
		"clear, 2":       {func(p *Plan) { p.HTTP = "2" }, HTTP2, ""},
		"h2c":            {func(p *Plan) { p.Target.H2C = true }, HTTP2, ""},
		"FastCGI":        {func(p *Plan) { p.Target.FastCGI = true }, FastCGI, ""},
		"TLS":            {secure, HTTP2 + " " + HTTP11, ""},
		"TLS, 1.0":       {func(p *Plan) { secure(p); p.HTTP = "1.0" }, HTTP10, ""},
		"TLS, 1.1":       {func(p *Plan) { secure(p); p.HTTP = "1.1" }, HTTP11, ""},
		"TLS, 2":         {func(p *Plan) { secure(p); p.HTTP = "2" }, HTTP2, ""},
		"TLS, streams":   {func(p *Plan) { secure(p); p.Streams = 2 }, HTTP2, ""},
		"TLS, pipelined": {func(p *Plan) { secure(p); p.Pipeline = 2 }, HTTP11, "HTTP/1.1 and not HTTP/2, which"},
		"TLS 1.1": {func(p *Plan) { secure(p); p.TLS.MaxVersion = "1.1" }, HTTP11,
			"HTTP/1.1 and not HTTP/2, which needs TLS 1.2"},
		"TLS 1.1, HTTP/1.1": {func(p *Plan) { secure(p); p.TLS.MaxVersion, p.HTTP = "1.1", "1.1" },
			HTTP11, ""},
		"TLS 1.2": {func(p *Plan) { secure(p); p.TLS.MaxVersion = "1.2" }, HTTP2 + " " + HTTP11, ""},
		"TLS, a header of HTTP/1.1": {func(p *Plan) {
			secure(p)
			p.Requests = append(p.Requests, p.Requests[0])
			p.Requests[1].Header = []proto.Field{{Name: "Upgrade", Value: "x"}}
		}, HTTP11, "HTTP/1.1 and not HTTP/2, for request 2: header Upgrade"},
	} {
		p := simPlan(tc.change)
		s, err := newProtocolSet(&p)
		if err != nil || p.Check() != nil {
			t.Errorf("%s: %v, %v", name, err, p.Check())
			continue
		}
		got := strings.Join(s.names, " ")
		said := strings.Join(s.notices, "; ")
		if got != tc.want || !strings.HasPrefix(said, tc.notice) || (said == "") != (tc.notice == "") {
			t.Errorf("%s: %s, said %q; want %s, %q", name, got, said, tc.want, tc.notice)
		}
		if _, err := s.Protocol(p.protoRequests(), proto.Want{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One of these servers is overloaded now and then, and complains.
func TestFastCGI(t *testing.T) {
	const begin, overloaded = 1, 2
	record := func(kind byte, content string) []byte {
		return append([]byte{1, kind, 0, 1, 0, byte(len(content)), 0, 0}, content...)
	}
	requests := 0
	sim := &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if len(b) < 8 || b[1] != begin {
			t.Errorf("%d bytes arrived", len(b))
		}
		if requests++; requests%10 == 0 {
			p.Reply(ms, record(3, string([]byte{0, 0, 0, 0, overloaded, 0, 0, 0})))
			return
		}
		p.Reply(ms, slices.Concat(record(7, "ouch\n"), record(6, "Status: 201 Created\n\nhello"),
			record(3, string(make([]byte, 8)))))
	}}
	r := simulate(t, simPlan(func(p *Plan) {
		p.Target.FastCGI, p.Requested, p.Connections = true, 1000, 4
	}), sim)
	if r.Total.Completed != 900 || r.Total.Failed != 100 || r.Total.Status[201] != 900 {
		t.Errorf("%d completed, %d failed", r.Total.Completed, r.Total.Failed)
	}
	if f := r.Failures; len(f) != 1 || f[0].Phase != Protocol || f[0].Kind != "overloaded" {
		t.Errorf("%+v", f)
	}
	if r.StderrBytes != 900*5 || !strings.HasPrefix(string(r.Stderr), "ouch\nouch\n") {
		t.Errorf("%d bytes of stderr: %.20q", r.StderrBytes, r.Stderr)
	}
	if r.Protocols[FastCGI] != 4 || r.Opened != 4 { // what failed was the exchange
		t.Errorf("%v, %d opened", r.Protocols, r.Opened)
	}
}
