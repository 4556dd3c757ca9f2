package luascript

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/scenario"
)

// Each user has a table of its own, which stays from one iteration to the next, in all functions that
// run under load.
func TestUsers(t *testing.T) {
	e := newEcho(t)
	r, m, _ := run(t, e, `function delay() dyno.user.n = (dyno.user.n or 0) + 1; return 0 end
		function request()
			local u = dyno.user
			return wrk.format("GET", (u.token and "/items/" or "/login/") .. u.number .. "/" .. (u.n or 0), {["X-Token"] = u.token})
		end
		function response(status, headers)
			local u = dyno.user
			u.token = u.token or headers["X-Token"] .. u.number
			dyno.counter("a"):add()
		end`, 30, func(c *Config, p *loadplan.Plan) { p.Users = 3; p.Connections = 3 })
	sent := map[int]int{} // by the user
	for _, line := range e.got {
		path, token := strings.Fields(line)[1], ""
		if _, of, has := strings.Cut(line, "X-Token="); has {
			token = " " + of
		}
		name, user, n := "", 0, 0
		fmt.Sscanf(strings.ReplaceAll(path, "/", " "), "%s %d %d", &name, &user, &n)
		want := fmt.Sprintf("/items/%d/%d t1%[1]d", user, sent[user]+1)
		if sent[user]++; sent[user] == 1 {
			want = fmt.Sprintf("/login/%d/1", user)
		}
		if path+token != want {
			t.Errorf("%s, want %s", line, want)
		}
	}
	if r.Total.Completed != 30 || len(e.got) != 30 {
		t.Errorf("%d completed, %q", r.Total.Completed, e.got)
	}
	if _, _, all := m.Measured(); !all {
		t.Error("a script that has dyno.user may have other counters than those that it names")
	}
}

// A user's table is that of the user who sends, also where the script makes no requests, and there
// is none before the load.
func TestUserOfResponse(t *testing.T) {
	m, err := Compile(configOf("http://127.0.0.1:1", `function response() dyno.user.n = (dyno.user.n or 0) + 1
		if dyno.user.n == 3 then wrk.thread:stop() end end`, nil))
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Make(scenario.Share{Users: 2})
	if err != nil {
		t.Fatal(err)
	}
	users := []*scenario.User{{Number: 0}, {Number: 1}}
	for i, want := range []bool{false, false, false, false, true} {
		u := users[i%2]
		s.Start(u)
		if step := s.Next(u, &scenario.Response{Status: 200}); step.Stop != want {
			t.Errorf("response %d stops: %v", i+1, step.Stop)
		}
	}
	for _, source := range []string{"function init() dyno.user.a = 1 end", "function setup() return dyno.user end", "x = dyno.user"} {
		_, err := Compile(configOf("http://127.0.0.1:1", source, nil))
		if err == nil || !strings.Contains(err.Error(), "dyno.user is the user who sends: use it in delay(), request() or response()") {
			t.Errorf("%s: %v", source, err)
		}
	}
}
