package load

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/session"
)

// A tokens is a simulated server, which answers after 10 ms: POST /login gives a token, which lives
// for a time from when it was asked for, and everything else wants one that does.
type tokens struct {
	life                     int64
	fail                     func(n int) bool // whether login n, from 1, fails; nil: none does
	logins, refused, answers int
	born                     map[string]int64
	at                       []int64 // of the logins
}

func (s *tokens) serve(p *ring.Peer, b []byte) {
	text := string(b)
	reply := func(status, body string) {
		p.Reply(10*ms, fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body))
	}
	if strings.HasPrefix(text, "POST /login") {
		s.logins++
		s.at = append(s.at, p.Now())
		if s.fail != nil && s.fail(s.logins) {
			reply("503 No", "")
			return
		}
		token := fmt.Sprint("t", s.logins)
		s.born[token] = p.Now()
		reply("200 OK", token)
		return
	}
	_, rest, _ := strings.Cut(strings.ToLower(text), "x-token: ")
	token, _, _ := strings.Cut(rest, "\r")
	if born, is := s.born[token]; !is || p.Now()-born >= s.life {
		s.refused++
		reply("401 No", "")
		return
	}
	s.answers++
	reply("200 OK", "")
}

// onHurl simulates a load of a Hurl file whose users log in.
func onHurl(t *testing.T, server *tokens, text string, change func(p *loadplan.Plan)) *loadresult.Result {
	t.Helper()
	f, err := hurl.Parse("test.hurl", strings.ReplaceAll(text, "TOKEN", "http://sim/a\nX-Token: {{token}}"))
	if err != nil {
		t.Fatal(err)
	}
	origin, err := session.ParseOrigin("http://sim")
	if err != nil {
		t.Fatal(err)
	}
	m, err := session.Compile(session.Config{Files: []*hurl.File{f}, Origin: origin})
	if err != nil {
		t.Fatal(err)
	}
	server.born = map[string]int64{}
	p := simPlan(func(p *loadplan.Plan) {
		m.SetPlan(p)
		p.Drain = loadplan.Seconds(10 * s)
		change(p)
	})
	r := simulate(t, p, &ring.Sim{Server: server.serve})
	if sent := int64(server.logins + server.refused + server.answers); r.Total.Sent+r.Warmup+r.Scenario.StepsAfter != sent {
		t.Errorf("%d sent, %d before and %d after the window; the server had %d", r.Total.Sent, r.Warmup, r.Scenario.StepsAfter, sent)
	}
	return r
}

const (
	onceAndAgain = "# dyno: once\n# dyno: again on 401\nPOST http://sim/login\nHTTP 200\n[Captures]\ntoken: body\n\n"
	everySecond  = "# dyno: every 1s\nPOST http://sim/login\nHTTP 200\n[Captures]\ntoken: body\n\n"
	onceOnly     = "# dyno: once\nPOST http://sim/login\nHTTP 200\n[Captures]\ntoken: body\n\n"
)

// Users who log in once, and again when their tokens expire: what they send, and what the server
// counts, whenever that happens. An iteration has two requests of 10 ms. With a life of 100 ms a
// login is followed by nine answers and a 401, which takes 110 ms.
func TestRecurrence(t *testing.T) {
	const two = "GET TOKEN\nHTTP 200\n\nGET TOKEN\nHTTP 200\n"
	window := func(d int64) func(*loadplan.Plan) {
		return func(p *loadplan.Plan) { p.Duration = loadplan.Seconds(d) }
	}
	logins := map[string][2]int64{ // that succeeded in the window: first and later
		"in an iteration": {1, 9}, "the 401 comes at the window's end": {1, 8}, "in the drain": {1, 8},
		"the token of an again is refused": {1, 3}, "every second": {1, 2}, "once, with two errors": {1, 0},
		"a user leaves and comes again": {2, 0}, "open, the users of four connections": {4, 0}, "open, two users": {2, 0}}
	for name, test := range map[string]struct {
		file   string
		server tokens
		change func(p *loadplan.Plan)

		logins, refused, answers int   // by the server
		again, failed            int64 // in the window
		warmup, after            int64 // requests before and after it
		iterations               iterations
	}{
		"in an iteration": {onceAndAgain + two, tokens{life: 100 * ms}, window(s),
			10, 9, 82, 9, 0, 0, 1, iterations{started: 41, completed: 41, time: 1010}},
		"the 401 comes at the window's end": {onceAndAgain + two, tokens{life: 100 * ms}, window(990 * ms),
			10, 9, 82, 9, 0, 0, 2, iterations{started: 41, completed: 41, time: 1010}},
		"in the drain": {onceAndAgain + two, tokens{life: 100 * ms}, window(975 * ms),
			10, 9, 82, 8, 0, 0, 3, iterations{started: 41, completed: 41, time: 1010}},
		"the token of an again is refused": {onceAndAgain + two, tokens{life: 10 * ms}, window(100 * ms),
			4, 6, 0, 3, 3, 0, 0, iterations{started: 3, failed: 3, failedTime: 100}},
		"every second": {everySecond + two, tokens{life: 1020 * ms}, window(3 * s),
			3, 0, 298, 0, 0, 0, 1, iterations{started: 149, completed: 149, time: 3010}},
		"once, with two errors": {onceOnly + two, tokens{life: s, fail: func(n int) bool { return n < 3 }}, window(100 * ms),
			3, 0, 8, 0, 2, 0, 1, iterations{started: 6, completed: 4, failed: 2, time: 90, failedTime: 20}},
		"in the warm-up": {onceAndAgain + two, tokens{life: s}, func(p *loadplan.Plan) {
			p.Warmup, p.Duration = loadplan.Seconds(50*ms), loadplan.Seconds(100*ms)
		}, 1, 0, 14, 0, 0, 5, 0, iterations{started: 5, completed: 5, time: 100}},
		"a user leaves and comes again": {onceAndAgain + two, tokens{life: s}, func(p *loadplan.Plan) {
			p.Users, p.UserStages = 2, []loadplan.UserStage{rampStage(100*ms, 2), rampStage(0, 1), rampStage(100*ms, 1),
				rampStage(0, 2), rampStage(100*ms, 2)}
			p.Connections, p.Duration = 2, loadplan.Seconds(300*ms)
		}, 2, 0, 50, 0, 0, 0, 1, iterations{started: 25, completed: 25, time: 520}},
		"open, the users of four connections": {onceAndAgain + two, tokens{life: s}, func(p *loadplan.Plan) {
			p.Rate, p.Connections, p.Duration = loadplan.RatePerSecond(50), 4, loadplan.Seconds(200*ms)
		}, 4, 0, 20, 0, 0, 0, 0, iterations{started: 10, completed: 10, time: 240}},
		"open, two users": {onceAndAgain + two, tokens{life: s}, func(p *loadplan.Plan) {
			p.Rate, p.Connections, p.Duration = loadplan.RatePerSecond(50), 4, loadplan.Seconds(200*ms)
			p.Users = 2
		}, 2, 0, 20, 0, 0, 0, 0, iterations{started: 10, completed: 10, time: 220}},
	} {
		t.Run(name, func(t *testing.T) {
			r := onHurl(t, &test.server, test.file, test.change)
			got := fmt.Sprint(test.server.logins, test.server.refused, test.server.answers, r.Scenario.Again, r.Total.Failed,
				r.Warmup, r.Scenario.StepsAfter)
			want := fmt.Sprint(test.logins, test.refused, test.answers, test.again, test.failed, test.warmup, test.after)
			if got != want {
				t.Errorf("logins, refused, answers, again, failed, before, after: %s, want %s; logins at %v", got, want, test.server.at)
			}
			if got := [2]int64{r.Scenario.Logins, r.Scenario.LaterLogins}; got != logins[name] {
				t.Errorf("%d logins in the window, first and later; want %d", got, logins[name])
			}
			checkIterations(t, r, test.iterations)
		})
	}
}
