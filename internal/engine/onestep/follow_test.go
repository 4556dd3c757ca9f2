package onestep

import (
	"fmt"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/redirect"
	"dyno/internal/engine/scenario"
)

// sentBy is what a step sends.
func sentBy(m *Maker, s scenario.Step) string {
	one := s.Message.Fill.Own
	if one == nil {
		filled := m.requests[s.Message.Request].Filled(s.Message.Fill)
		one = &filled
	}
	return fmt.Sprintf("%s %s %s %s", one.Method, one.Path, one.Header, one.Body)
}

// A request keeps its values behind redirects, and the load has its timeout go on. The user's next one
// begins anew.
func TestFollowedRequests(t *testing.T) {
	d := rows(t, 2)
	r := request(t, d, "/of/{{email}}", "{{token}}", "{{secret}}")
	r.Header = append(r.Header, proto.Field{Name: "Host", Value: "shop.test"})
	own := r
	own.Timeout = 2 * time.Second
	m := maker(t, Config{Data: d, Requests: []Request{r, own},
		Follow: Follow{Most: 2, Scheme: "http"}})
	w := worker1(t, m, scenario.Share{Users: 1})
	u := &scenario.User{}
	answer := func(status uint16, location string) *scenario.Response {
		a := &scenario.Response{Status: status}
		a.AddField([]byte("location"), []byte(location), false)
		return a
	}
	for i, timeout := range []time.Duration{0, 2 * time.Second} {
		head := fmt.Sprintf("[{X-Test t%d} {Host shop.test}]", i)
		step := w.Start(u)
		if got := sentBy(m, step); got != fmt.Sprintf("POST /of/u%d@example.org %s s%[1]d", i, head) || step.Hop || step.Timeout != timeout {
			t.Errorf("%s %+v", got, step)
		}
		step = w.Next(u, answer(307, "b?c"))
		if got := sentBy(m, step); got != fmt.Sprintf("POST /of/b?c %s s%d", head, i) || !step.Hop ||
			step.Timeout != 0 || step.Route != i {
			t.Errorf("%s %+v", got, step)
		}
		step = w.Next(u, answer(302, "http://shop.test/d"))
		if got := sentBy(m, step); got != "GET /d "+head+" " || !step.Hop {
			t.Errorf("%s %+v", got, step)
		}
		last := answer(302, "/e")
		if i == 0 {
			last.Status = 200
		}
		if step = w.Next(u, last); !step.End || step.Failed != (i == 1) || last.FailedCheck() != i-1 {
			t.Errorf("%+v, check %d", step, last.FailedCheck())
		}
	}
}

// What is no redirect ends the iteration as without redirects.
func TestNotFollowed(t *testing.T) {
	m := maker(t, Config{Requests: []Request{request(t, nil, "/", "", "")}, Follow: Follow{Most: 2, Scheme: "http"}})
	w := worker1(t, m, scenario.Share{Users: 1})
	for status, failed := range map[uint16]string{200: "", 302: "expect", 304: "", 404: "expect", 0: "read"} {
		u := &scenario.User{}
		w.Start(u)
		r := &scenario.Response{Status: status, Failed: failed}
		if status == 304 {
			r.AddField([]byte("location"), []byte("/"), false)
		}
		if step := w.Next(u, r); !step.End || step.Failed != (failed != "") || r.FailedCheck() >= 0 {
			t.Errorf("%d: %+v", status, step)
		}
	}
}

// A redirect that leads nowhere fails, and is counted by the check that says so.
func TestRedirectWithoutLocation(t *testing.T) {
	m := maker(t, Config{Requests: []Request{request(t, nil, "/", "", "")}, Follow: Follow{Most: 2, Scheme: "http"}})
	w := worker1(t, m, scenario.Share{Users: 1})
	u := &scenario.User{}
	w.Start(u)
	r := &scenario.Response{Status: 302}
	step := w.Next(u, r)
	if !step.End || !step.Failed || m.CheckNames()[max(r.FailedCheck(), 0)] != scenario.RedirectsLead {
		t.Errorf("%+v, check %d", step, r.FailedCheck())
	}
}

// A request that goes to another origin has its name and none of the secrets, and relative redirects
// there stay there. Back at the server it has the server's name, and the secrets no more.
func TestRequestsAtOtherOrigins(t *testing.T) {
	r := request(t, nil, "/a", "", "x")
	r.Header = []proto.Field{{Name: "authorization", Value: "s"}, {Name: "Cookie", Value: "c"}, {Name: "Host", Value: "shop.test"},
		{Name: "X-A", Value: "1"}}
	m := maker(t, Config{Requests: []Request{r}, Follow: Follow{Most: 10, Scheme: "http",
		To: []redirect.Origin{redirect.OriginOf("https", "a.test:443"), redirect.OriginOf("http", "b.test:8080")}}})
	w := worker1(t, m, scenario.Share{Users: 1})
	for range 2 { // the next iteration begins anew
		u := &scenario.User{State: nil}
		w.Start(u)
		for _, hop := range []struct{ location, want string }{
			{"http://shop.test/b", "0 test POST /b [{authorization s} {Cookie c} {Host shop.test} {X-A 1}] x"},
			{"https://A.test/c", "1 a.test POST /c [{X-A 1}] x"},
			{"d", "1 a.test POST /d [{X-A 1}] x"},
			{"http://b.test:8080", "2 b.test:8080 POST / [{X-A 1}] x"},
			{"http://shop.test/e", "0 test POST /e [{X-A 1} {Host shop.test}] x"},
			{"https://a.test:443/f", "1 a.test POST /f [{X-A 1}] x"},
		} {
			a := &scenario.Response{Status: 307}
			a.AddField([]byte("location"), []byte(hop.location), false)
			step := w.Next(u, a)
			if step.End {
				t.Fatalf("%s: %+v %v", hop.location, step, a.Reason())
			}
			got := fmt.Sprintf("%d %s %s", step.Origin, step.Message.Fill.Own.Authority, sentBy(m, step))
			if got != hop.want {
				t.Errorf("to %s: %s, want %s", hop.location, got, hop.want)
			}
		}
		for _, away := range []string{"http://a.test/", "https://b.test:8080/", "https://a.test:8443/", "https://a.test@evil/"} {
			a := &scenario.Response{Status: 307}
			a.AddField([]byte("location"), []byte(away), false)
			if step := w.Next(u, a); !step.Failed || a.FailedCheck() != stays {
				t.Errorf("to %s: %+v", away, step)
			}
		}
	}
}
