package load

import (
	"io"
	"reflect"
	"slices"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// A server carries out each request, answers the first of a connection, and closes without an
// answer after the second. What is not idempotent is sent once, unless the user wants it.
func TestResendOfMethods(t *testing.T) {
	all := []string{"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "PATCH", "LOCK", "BREW"}
	for resend, again := range map[string][]string{
		loadplan.ResendIdempotent: all[:6], loadplan.ResendSafe: all[:4],
		loadplan.ResendUnsafe: all, loadplan.ResendNever: {},
	} {
		for _, method := range all {
			arrived := 0
			p := simPlan(func(p *loadplan.Plan) {
				p.Requests[0].Method, p.Resend = method, resend
				p.Connections, p.Requested, p.Duration = 1, 10, 0
			})
			served := map[int]int{}
			r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
				arrived++
				if served[p.N]++; served[p.N] == 2 {
					p.Hangup(ms, io.EOF)
					return
				}
				p.Reply(ms, answerOf(method))
			}})
			var want loadresult.Retries
			failed := int64(5)
			not := loadresult.Retries{{Method: method, Why: loadresult.RetryClosed, Count: 5, Least: 1, Most: 1}}
			if slices.Contains(again, method) {
				not = nil
				want, failed = loadresult.Retries{{Method: method, Why: loadresult.RetryClosed, Count: 9, Least: 1, Most: 1}}, 0
			}
			if !reflect.DeepEqual(r.Retries, want) || !reflect.DeepEqual(r.NotRetried, not) || r.Total.Failed != failed ||
				arrived != 10+int(r.Retried) {
				t.Errorf("%q, %s: %+v, %d failed, %d arrived", resend, method, r.Retries, r.Total.Failed, arrived)
			}
		}
	}
}

// answerOf is hello, which an answer to HEAD has without its body.
func answerOf(method string) []byte {
	if method == "HEAD" {
		return []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
	}
	return hello
}

// The method of a step is its own, or that of the plan's request.
func TestMethodOf(t *testing.T) {
	p := loadplan.Plan{Requests: []loadplan.Request{{Request: proto.Request{Method: "GET"}},
		{Request: proto.Request{Method: "POST"}}}}
	own := &proto.Fill{Own: &proto.Request{Method: "PUT"}}
	for want, m := range map[string]proto.Message{"GET": {Request: 0, Fill: &proto.Fill{}}, "POST": {Request: 1},
		"PUT": {Request: 1, Fill: own}} {
		u := &users{all: []user{{step: scenario.Step{Message: m}}}}
		if got := u.methodOf(0, &p); got != want {
			t.Errorf("%+v: %s, want %s", m, got, want)
		}
	}
	if got := (*users)(nil).methodOf(1, &p); got != "POST" {
		t.Errorf("without a scenario: %s", got)
	}
}
