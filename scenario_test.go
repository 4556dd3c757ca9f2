package dyno

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/scenario"
)

// What a user sends in iterations that begin each second, with a login and the refresh of its token.
func TestLogins(t *testing.T) {
	both := []int{401}
	for _, test := range []struct {
		name     string
		every    time.Duration // of the refresh
		keeps    error
		statuses string // of the answers, in their order; 200 behind the last
		sent     string // of each iteration
		ended    string
		again    int
	}{
		{"once", 0, nil, "", "login refresh1 a2 b2 | a2 b2 | a2 b2", "+++", 0},
		{"every", 2 * time.Second, nil, "", "login refresh1 a2 b2 | a2 b2 | refresh1 a7 b7", "+++", 0},
		{"again", 0, nil, "200 200 200 401", "login refresh1 a2 b2 refresh1 b5 | a5 b5 | a5 b5", "+++", 1},
		{"both again", 0, nil, "200 200 401 401", "login refresh1 a2 refresh1 login refresh5 a6 b6 | a6 b6 | a6 b6", "+++", 2},
		{"a second 401", 0, nil, "200 200 401 200 401", "login refresh1 a2 refresh1 a4 | a4 b4 | a4 b4", "-++", 1},
		{"the login fails", 0, nil, "500", "login | login refresh2 a3 b3 | a3 b3", "-++", 0},
		{"the refresh has no answer", 0, nil, "200 0", "login refresh1 | refresh1 a3 b3 | a3 b3", "-++", 0},
		{"what it gave is not kept", 0, errors.New("no token"), "", "login | login | login", "---", 0},
	} {
		type state struct{ key, token int }
		of := func(u *User) *state { return u.State.(*state) }
		n := 0
		f := &followed{steps: []string{"login", "refresh", "a", "b"}, several: true, http1: true}
		f.logins = []Login{
			{Again: both, Request: func(u *User) *Request {
				if u.State == nil {
					u.State = &state{}
				}
				return &Request{Step: "login", Path: "/login"}
			}, Keep: func(u *User, r *Response) error { of(u).key = n; return test.keeps }},
			{Again: both, Every: test.every, Request: func(u *User) *Request {
				return &Request{Step: "refresh", Path: fmt.Sprint("/refresh", of(u).key)}
			}, Keep: func(u *User, r *Response) error { of(u).token = n; return nil },
				Sign: func(u *User, r *Request) {
					r.Path += fmt.Sprint(of(u).token)
					r.Header.Add("Token", fmt.Sprint(of(u).token))
				}},
		}
		f.does = func(u *User, last *Response) (*Request, error) {
			switch {
			case last == nil:
				return &Request{Step: "a", Path: "/a", Wait: time.Second}, nil
			case last.Status != 200:
				return nil, errors.New("refused")
			case last.Step == "a":
				return &Request{Step: "b", Path: "/b"}, nil
			case last.Step != "b":
				t.Errorf("%s: the Scenario is given the response to %s", test.name, last.Step)
			}
			return nil, nil
		}
		statuses := strings.Fields(test.statuses)
		u := &scenario.User{Now: 1e9}
		var sent []string
		ended, again := "", 0
		for range 3 {
			var these []string
			step := f.next(u, nil)
			for !step.End {
				own := step.Message.Fill.Own
				these = append(these, strings.TrimPrefix(own.Path, "/"))
				if tokens := len(own.Header); tokens > 1 {
					t.Errorf("%s: %s has %d tokens", test.name, own.Path, tokens)
				}
				r := &scenario.Response{Status: 200}
				if n++; n <= len(statuses) {
					fmt.Sscan(statuses[n-1], &r.Status)
				}
				if r.Status != 200 {
					r.Failed = "expect"
				}
				if step = f.next(u, r); r.Again {
					if again++; r.Failed != "" || r.FailedCheck() >= 0 || step.Think != 0 {
						t.Errorf("%s: %+v, %+v", test.name, r, step)
					}
				} else if r.Status != 200 && !step.Failed {
					t.Errorf("%s: the iteration goes on after status %d", test.name, r.Status)
				}
			}
			sent = append(sent, strings.Join(these, " "))
			ended += map[bool]string{true: "-", false: "+"}[step.Failed]
			u.Now += 1e9
		}
		if got := strings.Join(sent, " | "); got != test.sent || ended != test.ended || again != test.again {
			t.Errorf("%s: sent %s, ended %s, %d again\nwant %s, %s, %d", test.name, got, ended, again, test.sent, test.ended, test.again)
		}
	}
}

// Logins that cannot be are faults of their field.
func TestLoginFaults(t *testing.T) {
	follow := func(*User, *Response) (*Request, error) { return nil, nil }
	good := Login{Request: func(*User) *Request { return nil }, Keep: func(*User, *Response) error { return nil }}
	again := func(statuses ...int) []Login {
		l := good
		l.Again = statuses
		return []Login{good, l}
	}
	steps := []string{"login", "a"}
	for want, l := range map[string]Load{
		"Logins: they are of a Scenario; give one":                                 {Logins: []Login{good}},
		"Logins: login 2 needs Request and Keep, and an Every that is not below 0": {Scenario: follow, Steps: steps, Logins: []Login{good, {}}},
		"Logins: name their step and the Scenario's in Steps":                      {Scenario: follow, Logins: []Login{good}},
		"Logins: login 2: a status of Again is 200, and not from 300 to 599":       {Scenario: follow, Steps: steps, Logins: again(401, 200)},
		"Logins: login 2: a status of Again is 0, and not from 300 to 599":         {Scenario: follow, Steps: steps, Logins: again(0)},
		"Logins: login 2: a status of Again is 600, and not from 300 to 599":       {Scenario: follow, Steps: steps, Logins: again(302, 600)},
	} {
		l.URL = "http://127.0.0.1:1/"
		if _, faults := l.plan(); len(faults) != 1 || faults[0].Error() != want {
			t.Errorf("%v, want %s", faults, want)
		}
	}
}

// What is sent has chunks only by HTTP/1.1.
func TestScenarioChunks(t *testing.T) {
	send := func(u *User, last *Response) (*Request, error) {
		if last != nil {
			return nil, nil
		}
		return &Request{Method: "PUT", Body: []byte("x"), Header: http.Header{"transfer-encoding": {"chunked"}}}, nil
	}
	const none = "header Transfer-Encoding: neither HTTP/1.0 nor FastCGI has chunks"
	for want, loads := range map[string][]Load{
		none:    {{URL: "http://127.0.0.1:1/", HTTP: "1.0"}, {URL: "fcgi://127.0.0.1:1/"}},
		"<nil>": {{URL: "http://127.0.0.1:1/"}, {URL: "http://127.0.0.1:1/", HTTP: "1.1"}},
	} {
		for _, l := range loads {
			l.Scenario = send
			p, faults := l.plan()
			s, err := p.Scenario.Make(scenario.Share{Users: 1, Iterations: 1})
			if err != nil || len(faults) > 0 {
				t.Fatal(err, faults)
			}
			if step := s.Start(&scenario.User{}); fmt.Sprint(step.Refused) != want {
				t.Errorf("%s %s: %v, want %s", l.URL, l.HTTP, step.Refused, want)
			}
		}
	}
}
