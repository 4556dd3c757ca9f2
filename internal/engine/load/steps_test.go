package load

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// filling is a scenario that has a value of its own in each request and looks at each response,
// without allocating.
type filling struct{ steps int }

type filled struct {
	step int
	fill proto.Fill
	text []byte
}

func (f filling) Want() proto.Want {
	return proto.Want{Fields: []string{"content-length"}, Body: 5}
}
func (f filling) Make(scenario.Share) (scenario.Scenario, error) { return f, nil }
func (f filling) Start(u *scenario.User) scenario.Step {
	if u.State == nil {
		u.State = &filled{fill: proto.Fill{Values: make([][]byte, 1)}}
	}
	x := u.State.(*filled)
	x.step = 0
	return f.next(u, x)
}

func (f filling) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	x := u.State.(*filled)
	r.Check(0, r.Status == 200 && len(r.Body) == 5 && len(r.Field("content-length")) == 1)
	if x.step++; x.step == f.steps {
		return scenario.End()
	}
	return f.next(u, x)
}

func (f filling) next(u *scenario.User, x *filled) scenario.Step {
	x.text = strconv.AppendInt(x.text[:0], u.Number<<32|u.Iteration, 10)
	x.fill.Values[0] = x.text
	return scenario.Step{Message: proto.Message{Fill: &x.fill}, Route: x.step}
}

// fillingPlan is a plan of that scenario, against a ring that answers at once.
func fillingPlan() loadplan.Plan {
	return scenarioPlan(filling{3}, 3, func(p *loadplan.Plan) {
		p.Requests[0].Path, p.Requests[0].Holes = "/?id=", []proto.Hole{{In: proto.InPath, At: 5}}
		p.Checks = []string{"is right"}
		p.Connections, p.Duration, p.Seed = 4, loadplan.Seconds(1000*s), 1
	})
}

// A scenario that allocates nothing has nothing allocated for it either.
func TestScenarioAllocatesNothing(t *testing.T) {
	for name, reply := range map[string][]byte{"answers": hello, "errors": unavailable} {
		p := fillingPlan()
		t.Run(name, func(t *testing.T) {
			w := loopWorker(t, &p, &loop{reply: reply}, func(*metric.Counters) {})
			checkAllocations(t, w, func() int64 { return w.totals.Scenario.Started })
		})
	}
}

// The scenario's time is estimated from one call in 64 or so. On this ring two looks at the clock
// are 1 µs apart, so each call takes as long.
func TestScenarioTime(t *testing.T) {
	p := fillingPlan()
	w := loopWorker(t, &p, &loop{reply: hello}, func(*metric.Counters) {})
	for range 2000 {
		w.turn()
	}
	c := &w.users.clock
	calls, sampled := c.Counts()
	if calls < 20_000 || c.Estimate() != calls*us {
		t.Errorf("%d calls take %d ns", calls, c.Estimate())
	}
	if each := calls / max(sampled, 1); each < scenario.SampleEach*3/4 ||
		each > scenario.SampleEach*5/4 {
		t.Errorf("%d of %d calls are measured", sampled, calls)
	}
}

func BenchmarkScenario(b *testing.B) {
	p, total := fillingPlan(), metric.NewCounters()
	w := loopWorker(b, &p, &loop{reply: hello}, func(s *metric.Counters) { total.Merge(s) })
	for b.Loop() {
		w.turn()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(total.Completed+w.counters.Completed), "ns/exchange")
}

// slowSends is a simulated ring on which each send takes a time.
type slowSends struct {
	*ring.Sim
	takes int64
	users []uint64 // by file descriptor
	sent  []ring.Completion
	at    []int64
}

func (r *slowSends) Connect(addr int, user uint64) (int, error) {
	fd, err := r.Sim.Connect(addr, user)
	r.users = append(r.users, user)
	return fd, err
}

func (r *slowSends) Send(fd int, b []byte) bool {
	r.Sim.Send(fd, b)
	r.sent = append(r.sent, ring.Completion{Op: ring.Sent, User: r.users[fd]})
	r.at = append(r.at, r.Now()+r.takes)
	return false
}

func (r *slowSends) Wait(deadline int64) error {
	if len(r.at) > 0 {
		deadline = min(deadline, r.at[0])
	}
	return r.Sim.Wait(deadline)
}

func (r *slowSends) Next() (ring.Completion, bool) {
	if len(r.at) > 0 && r.at[0] <= r.Now() {
		c := r.sent[0]
		r.sent, r.at = r.sent[1:], r.at[1:]
		return c, true
	}
	return r.Sim.Next()
}

// uploading is a scenario of one upload, in memory that it uses again for the next.
type uploading struct {
	body []byte
	fill proto.Fill
	next func(*scenario.Response)
}

func (x *uploading) Want() proto.Want                               { return proto.Want{Body: 5} }
func (x *uploading) Make(scenario.Share) (scenario.Scenario, error) { return x, nil }
func (x *uploading) Start(u *scenario.User) scenario.Step {
	for i := range x.body {
		x.body[i] = byte('a' + u.Iteration)
	}
	x.fill.Body = x.body
	return scenario.Step{Message: proto.Message{Fill: &x.fill}}
}
func (x *uploading) Next(_ *scenario.User, r *scenario.Response) scenario.Step {
	x.next(r)
	return scenario.End()
}

// A server that answers when it has seen the head of an upload gets all of it: the scenario is asked
// for the next step when the last piece was sent. The step was over with its answer.
func TestLentStep(t *testing.T) {
	const size = 200 << 10
	arrived, iteration := []byte(nil), 0
	x := &uploading{body: make([]byte, size)}
	p := scenarioPlan(x, 1, func(p *loadplan.Plan) {
		p.Requests[0].Method, p.Requests[0].Body = "POST", []byte{}
		p.Requests[0].Holes = []proto.Hole{{In: proto.InBody}}
		p.Requested, p.Duration = 3, 0
	})
	early := &slowSends{takes: 10 * ms, Sim: &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if bytes.HasPrefix(b, []byte("POST ")) {
			p.Reply(ms, hello)
			b = b[bytes.Index(b, []byte("\r\n\r\n"))+4:]
		}
		arrived = append(arrived, b...)
	}}}
	x.next = func(r *scenario.Response) {
		if want := bytes.Repeat([]byte{byte('a' + iteration)}, size); !bytes.Equal(arrived, want) {
			t.Errorf("upload %d: %d bytes arrived, %d of them are right", iteration, len(arrived),
				bytes.Count(arrived, want[:1]))
		}
		if string(r.Body) != "hello" || r.BodyBytes != 5 || r.Status != 200 {
			t.Errorf("upload %d: %d %q", iteration, r.Status, r.Body)
		}
		arrived, iteration = nil, iteration+1
	}
	r := simulate(t, p, early)
	if r.Total.Completed != 3 || r.Total.Latency.Min != ms || r.Scenario.Time.Min != ms || iteration != 3 {
		t.Errorf("%d completed, the quickest in %d ns; %d uploads", r.Total.Completed, r.Total.Latency.Min, iteration)
	}
}

// The connection is lost while the rest of an upload is still to be sent: its user goes on, on
// another one.
func TestLentStepOfALostConnection(t *testing.T) {
	x := &uploading{body: make([]byte, 200<<10), next: func(*scenario.Response) {}}
	p := scenarioPlan(x, 1, func(p *loadplan.Plan) {
		p.Requests[0].Method, p.Requests[0].Body = "POST", []byte{}
		p.Requests[0].Holes = []proto.Hole{{In: proto.InBody}}
		p.Requested, p.Duration = 3, 0
	})
	r := simulate(t, p, &slowSends{takes: 10 * ms, Sim: &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if bytes.HasPrefix(b, []byte("POST ")) {
			p.Reply(ms, hello)
			p.Hangup(5*ms, io.EOF)
		}
	}}})
	if r.Total.Completed != 3 || r.Scenario.Completed != 3 || r.Total.Latency.Min != ms || r.Reconnects != 3 {
		t.Errorf("%d completed, the quickest in %d ns, %d reconnects", r.Scenario.Completed,
			r.Total.Latency.Min, r.Reconnects)
	}
}

// Ten thousand users who think, on a hundred connections: a user takes its own state and little more.
func TestScenarioMemory(t *testing.T) {
	const state, more = 1 << 10, 400 // bytes a user
	memory := func(users int) uint64 {
		m := thinking(0, 60_000)
		states := 0
		m.check = func(int, *scenario.Response) {}
		keep := scenario.Program{New: func(s scenario.Share) (scenario.Scenario, error) {
			return scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
				if r != nil {
					return scenario.Step{Think: 60e9}
				}
				u.State = new([state]byte)
				states++
				return scenario.Step{}
			}), nil
		}}
		p := scenarioPlan(keep, 1, func(p *loadplan.Plan) { p.Connections, p.Users = 100, users })
		before := heapInUse()
		w := loopWorker(t, &p, &loop{reply: hello}, func(*metric.Counters) {})
		for states < users {
			w.turn()
		}
		after := heapInUse()
		if w.inFlight+len(w.users.thinking)+int(w.Retries.Len) != users {
			t.Errorf("%d in flight, %d think, %d wait", w.inFlight, len(w.users.thinking), w.Retries.Len)
		}
		return after - before
	}
	few := memory(100)
	each := float64(memory(10_100)-few) / 10_000
	t.Logf("a user takes %.0f bytes, %d of them state", each, state)
	if each > state+more {
		t.Errorf("a user takes %.0f bytes besides its %d of state, at most %d", each-state, state, more)
	}
}

// heapInUse is how many bytes live objects have.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A shop is a small stateful server: one logs in, sees what there is, and buys it.
type shop struct {
	sync.Mutex
	sessions              map[string]string // user by cookie
	logins, lists, bought map[string]int    // by user
	wrong                 []string
}

func (x *shop) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	x.Lock()
	defer x.Unlock()
	if r.URL.Path == "/login" {
		user := r.FormValue("user")
		x.logins[user]++
		session := fmt.Sprintf("s%d-%s", len(x.sessions), user)
		x.sessions[session] = user
		rw.Header().Set("Set-Cookie", "session="+session+"; HttpOnly")
		return
	}
	cookie, err := r.Cookie("session")
	if err != nil || x.sessions[cookie.Value] == "" {
		x.wrong = append(x.wrong, fmt.Sprint(r.URL, err))
		rw.WriteHeader(http.StatusUnauthorized)
		return
	}
	user := x.sessions[cookie.Value]
	switch item := "item-of-" + user; r.URL.Path {
	case "/list":
		x.lists[user]++
		io.WriteString(rw, item)
	case "/buy":
		if body, _ := io.ReadAll(r.Body); string(body) != item || r.Method != "POST" {
			x.wrong = append(x.wrong, fmt.Sprintf("%s buys %q", user, body))
			rw.WriteHeader(http.StatusForbidden)
			return
		}
		x.bought[user]++
	}
}

// A buyer is a user's state: one logs in, lists, buys.
type buyer struct {
	step          int
	name, session []byte
	values        [2][]byte
	fill          proto.Fill
}

func buy(u *scenario.User, r *scenario.Response) scenario.Step {
	x, known := u.State.(*buyer)
	if !known {
		x = &buyer{}
		u.State = x
	}
	if r == nil {
		x.step = -1
	}
	x.step++
	x.fill = proto.Fill{Values: x.values[:]}
	switch x.step {
	case 0:
		x.name = strconv.AppendInt(append(x.name[:0], "user"...), u.Number, 10)
		x.values[0] = x.name
	case 1:
		cookie, _, _ := bytes.Cut(r.Field("set-cookie"), []byte(";"))
		r.Check(0, bytes.HasPrefix(cookie, []byte("session=")))
		x.session = append(x.session[:0], bytes.TrimPrefix(cookie, []byte("session="))...)
		x.values[0] = x.session
	case 2:
		r.Check(1, string(r.Body) == "item-of-"+string(x.name))
		x.fill.Body = append([]byte(nil), r.Body...)
		x.values[0], x.values[1] = x.session, x.fill.Body
	case 3:
		return scenario.End()
	}
	return scenario.Step{Route: x.step, Message: proto.Message{Request: x.step, Fill: &x.fill}}
}

// Two thousand users log in, list and buy, on three threads: each once, with no cookie but its own,
// and the server counts what the result says.
func TestLoginListBuy(t *testing.T) {
	t.Parallel()
	x := newShop()
	server := httptest.NewServer(x)
	defer server.Close()
	at := server.Listener.Addr().(*net.TCPAddr).AddrPort()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: server.URL, Host: at.Addr().String(), Port: at.Port()}
	p.Threads, p.Connections = 3, 60
	shopAll(t, x, p, at.String(), 2000)
}

// The same over HTTP/3, whose answers come from goroutines of its own.
func TestLoginListBuyHTTP3(t *testing.T) {
	t.Parallel()
	x := newShop()
	port, _ := serveHTTP3(t, x.ServeHTTP, nil)
	p := http3Plan(port, func(p *loadplan.Plan) { p.Threads, p.Connections, p.Streams = 2, 6, 5 })
	shopAll(t, x, p, p.Requests[0].Authority, 300)
}

func newShop() *shop {
	return &shop{sessions: map[string]string{}, logins: map[string]int{}, lists: map[string]int{},
		bought: map[string]int{}}
}

// shopPlan is a plan whose users log in, list and buy.
func shopPlan(p loadplan.Plan, authority string) loadplan.Plan {
	request := func(method, path string, body []byte, holes ...proto.Hole) loadplan.Request {
		return loadplan.Request{Request: proto.Request{Method: method, Authority: authority, Path: path, Body: body,
			Header: []proto.Field{{Name: "Cookie", Value: "session="}}, Holes: holes}}
	}
	cookie := proto.Hole{In: proto.InHeader, At: len("session=")}
	p.Requests = []loadplan.Request{
		request("POST", "/login?user=", nil, proto.Hole{In: proto.InPath, At: len("/login?user=")}),
		request("GET", "/list", nil, cookie),
		request("POST", "/buy", []byte{}, cookie, proto.Hole{In: proto.InBody, Value: 1}),
	}
	p.Requests[0].Header = nil
	p.Steps, p.Checks = []string{"login", "list", "buy"}, []string{"has a session", "is its own"}
	p.Drain, p.Timeout, p.Connecting = loadplan.Seconds(60*s), loadplan.Seconds(120*s), loadplan.Seconds(60*s)
	p.Scenario = scenario.Program{
		Wants: proto.Want{Fields: []string{"set-cookie"}, Body: 64},
		New:   func(scenario.Share) (scenario.Scenario, error) { return scenario.Func(buy), nil }}
	return p
}

// shopAll has each of so many users log in, list and buy, once.
func shopAll(t *testing.T, x *shop, p loadplan.Plan, authority string, users int) {
	p = shopPlan(p, authority)
	p.Users, p.Requested, p.Duration = users, int64(users), 0
	r, err := Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, r)
	if n := int64(users); r.Scenario.Completed != n || r.Scenario.Started != n || r.Total.Completed != 3*n {
		t.Errorf("%d of %d iterations completed, %d requests: %+v", r.Scenario.Completed, r.Scenario.Started,
			r.Total.Completed, r.Failures)
	}
	x.Lock()
	defer x.Unlock()
	if len(x.wrong) > 0 {
		t.Errorf("%d requests are wrong, the first: %s", len(x.wrong), strings.Join(x.wrong[:1], ""))
	}
	for i, counted := range []map[string]int{x.logins, x.lists, x.bought} {
		for n := range users {
			if got := counted["user"+strconv.Itoa(n)]; got != 1 {
				t.Fatalf("user %d: %s %d times", n, p.Steps[i], got)
			}
		}
		if route := r.Routes[i]; len(counted) != users || route.Completed != int64(users) {
			t.Errorf("%s: the server counted %d users, and the route has %d", route.Name, len(counted), route.Completed)
		}
	}
	for _, c := range r.Scenario.Checks {
		if c.Passed != int64(users) || c.Failed != 0 {
			t.Errorf("%+v", c)
		}
	}
}
