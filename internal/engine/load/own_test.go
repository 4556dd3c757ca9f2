package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// writing is a scenario whose requests are all its own: of an iteration a GET and a POST of what the
// GET has answered.
type writing struct{ authority string }

func (x writing) Want() proto.Want                               { return proto.Want{Body: 64} }
func (x writing) Make(scenario.Share) (scenario.Scenario, error) { return x, nil }
func (x writing) Start(u *scenario.User) scenario.Step {
	u.State = &proto.Request{Method: "GET", Authority: x.authority, Path: fmt.Sprint("/", u.Number, "/", u.Iteration)}
	return scenario.Step{Message: proto.Message{Fill: &proto.Fill{Own: u.State.(*proto.Request)}}}
}
func (x writing) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	own := u.State.(*proto.Request)
	if !r.Check(0, string(r.Body) == own.Method+" "+own.Path+" "+string(own.Body)) || own.Method == "POST" {
		return scenario.End()
	}
	*own = proto.Request{Method: "POST", Authority: x.authority, Path: own.Path, Body: bytes.Clone(r.Body)}
	return scenario.Step{Route: 1, Message: proto.Message{Fill: &proto.Fill{Own: own}}}
}

// A scenario needs no request of the plan if all that it sends are its own, over every protocol.
func TestOwnRequests(t *testing.T) {
	t.Parallel()
	say := func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(rw, "%s %s %s", r.Method, r.URL.Path, body)
	}
	port, _ := serveHTTP3(t, say, nil)
	for name, p := range map[string]loadplan.Plan{
		loadplan.HTTP11: servedPlan(t, say, false, func(p *loadplan.Plan) { p.Pipeline = 2 }),
		"what it likes": servedPlan(t, say, true, func(*loadplan.Plan) {}),
		loadplan.HTTP2:  servedPlan(t, say, true, func(p *loadplan.Plan) { p.HTTP, p.Streams = "2", 3 }),
		loadplan.HTTP3:  http3Plan(port, func(p *loadplan.Plan) { p.Streams = 3 }),
	} {
		checkOwn(t, name, p, func(p loadplan.Plan) *loadresult.Result { return measure(t, p) })
	}
	checkOwn(t, loadplan.FastCGI, simPlan(func(p *loadplan.Plan) { p.Target.FastCGI, p.Target.URL = true, "fcgi://sim/" }),
		func(p loadplan.Plan) *loadresult.Result {
			return simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
				p.Reply(ms, records("\r\n"+heardFastCGI(b), 0))
			}})
		})
}

// servedPlan is a plan for a server of Go's library, with or without TLS.
func servedPlan(t *testing.T, h http.HandlerFunc, secure bool, change func(p *loadplan.Plan)) loadplan.Plan {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	t.Cleanup(server.Close)
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	at := server.Listener.Addr().(*net.TCPAddr).AddrPort()
	return simPlan(func(p *loadplan.Plan) {
		p.Target = loadplan.Target{URL: server.URL, Host: at.Addr().String(), Port: at.Port(), TLS: secure}
		p.TLS.Insecure = secure
		change(p)
	})
}

// heardFastCGI is what say says to a request, whose records are whole and few.
func heardFastCGI(b []byte) string {
	var params, body []byte
	for len(b) >= 8 {
		n := int(b[4])<<8 | int(b[5])
		switch b[1] {
		case 4:
			params = append(params, b[8:8+n]...)
		case 5:
			body = append(body, b[8:8+n]...)
		}
		b = b[8+n+int(b[6]):]
	}
	value := func(name string) string {
		_, v, _ := bytes.Cut(params, []byte(name))
		at := bytes.Index(params, []byte(name))
		return string(v[:params[at-1]])
	}
	return fmt.Sprintf("%s %s %s", value("REQUEST_METHOD"), value("REQUEST_URI"), body)
}

func checkOwn(t *testing.T, name string, p loadplan.Plan, run func(loadplan.Plan) *loadresult.Result) {
	t.Helper()
	p.Requests, p.Scenario = nil, writing{authority: "sim"}
	p.Steps, p.Checks = []string{"get", "post"}, []string{"is what was sent"}
	p.Users, p.Connections, p.Requested, p.Duration = 4, 2, 40, 0
	p.Timeout, p.Connecting = loadplan.Seconds(60*s), loadplan.Seconds(60*s)
	r := run(p)
	if r.Scenario.Completed != 40 || r.Total.Completed != 80 || r.Scenario.Checks[0].Passed != 80 {
		t.Errorf("%s: %+v, %d requests: %+v", name, r.Scenario.Checks, r.Total.Completed, r.Failures)
	}
	if b, err := json.Marshal(r.Plan); err != nil || !bytes.Contains(b, []byte(`"requests":[]`)) {
		t.Errorf("%s: %v in %s", name, err, b)
	}
}

// A plan that has neither requests nor a scenario sends nothing.
func TestNoRequests(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Requests = nil })
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "has no request") {
		t.Error(err)
	}
}
