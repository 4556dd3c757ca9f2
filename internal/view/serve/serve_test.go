package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/result"
)

// A stage is a dashboard at work, and a generator whose seconds the test lets pass.
type stage struct {
	*Server
	seconds chan loadresult.Interval // what the next interval is
	faults  []error                  // of every form
	forms   []Form                   // that were read
	end     func()
}

// begin serves a dashboard until the test ends.
func begin(t *testing.T, c Config) *stage {
	t.Helper()
	g := &stage{seconds: make(chan loadresult.Interval)}
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Home == "" {
		c.Home = t.TempDir()
	}
	c.Read = func(f Form) (Job, []error) {
		g.forms = append(g.forms, f)
		return Job{Plan: planFor(t, f), Run: g.run}, g.faults
	}
	var err error
	if g.Server, err = New(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- g.Serve(ctx) }()
	g.end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		g.end = func() {}
	}
	t.Cleanup(func() { g.end() })
	return g
}

func planFor(t *testing.T, f Form) loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1:1/", Host: "127.0.0.1", Port: 1}
	if len(f["url"]) == 1 {
		p.Target = loadplan.Target{URL: f["url"][0], Host: "127.0.0.1", Port: 1}
		if host, is := strings.CutPrefix(f["url"][0], "host:"); is {
			p.Target.Host = host
		}
	}
	p.Requests = []loadplan.Request{{Weight: 1}}
	return p
}

// run is a generator that measures what the test says until it is stopped.
func (g *stage) run(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result,
	error) {
	for {
		select {
		case iv := <-g.seconds:
			each(iv)
		case <-ctx.Done():
			counted := &loadresult.Result{Plan: p, Ended: loadresult.Interrupted, Started: time.Now(),
				Measured: time.Second, Total: metric.NewCounters()}
			return result.From(counted, "test")
		}
	}
}

// ask makes a request, as a browser that was let in unless headers say otherwise.
func (g *stage) ask(t *testing.T, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, g.Base()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: g.cookieName(), Value: g.keys.cookie})
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What a request has to pass, and what is not there for anybody.
func TestGuard(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "secret.json"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	g := begin(t, Config{Home: home})
	_, port, _ := strings.Cut(strings.TrimPrefix(g.Base(), "http://"), ":")
	for _, c := range []struct {
		what, method, path string
		headers            []string
		want               int
	}{
		{"a browser that was let in", "GET", "/api/results", nil, 200},
		{"by its other name", "GET", "/api/results", []string{"Host: localhost:" + port}, 200},

		{"DNS rebinding", "GET", "/api/results", []string{"Host: evil.example:" + port}, 421},
		{"DNS rebinding with a token", "GET", "/?token=" + g.keys.token,
			[]string{"Host: evil.example:" + port}, 421},
		{"a name without the port", "GET", "/api/results", []string{"Host: localhost"}, 421},
		{"another port", "GET", "/api/results", []string{"Host: localhost:1"}, 421},
		{"an address of another machine", "GET", "/", []string{"Host: 192.0.2.1:" + port}, 421},

		{"a form of another site", "POST", "/api/load", []string{"Origin: http://evil.example"}, 403},
		{"a request of another origin", "GET", "/api/results", []string{"Origin: http://evil.example"}, 403},
		{"a script of another site", "POST", "/api/load", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"a script of another port", "DELETE", "/api/load", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"an opaque origin", "POST", "/api/load", []string{"Origin: null"}, 403},
		{"an image of another site", "GET", "/api/results",
			[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, 403},
		{"a script element of another port", "GET", "/api/results",
			[]string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"}, 403},
		{"a link from another site", "GET", "/api/labs",
			[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, 200},

		{"nobody", "GET", "/api/results", []string{"Cookie: "}, 401},
		{"nobody at the page", "GET", "/", []string{"Cookie: "}, 401},
		{"nobody at what is not there", "GET", "/nothing", []string{"Cookie: "}, 401},
		{"nobody stops", "DELETE", "/api/load", []string{"Cookie: "}, 401},
		{"nobody begins an experiment", "POST", "/api/labs", []string{"Cookie: "}, 401},
		{"a form of another site begins an experiment", "POST", "/api/labs", []string{"Origin: http://evil.example"}, 403},
		{"a guess", "GET", "/api/results", []string{"Cookie: " + g.cookieName() + "=guess"}, 401},
		{"a cookie of another port", "GET", "/", []string{"Cookie: dyno-1=" + g.keys.cookie}, 401},
		{"the URL's token as a cookie", "GET", "/", []string{"Cookie: " + g.cookieName() + "=" + g.keys.token}, 401},
		{"the cookie as the URL's token", "GET", "/?token=" + g.keys.cookie, []string{"Cookie: "}, 401},
		{"a wrong token", "GET", "/?token=guess", nil, 401},
		{"an empty token", "GET", "/?token=", nil, 401},
		{"a token that is posted", "POST", "/?token=" + g.keys.token, nil, 401},

		{"a path as an ID", "GET", "/api/results/..%2Fsecret", nil, 404},
		{"a whole path as an ID", "GET", "/api/results/%2Fetc%2Fpasswd", nil, 404},
		{"a file as an ID", "GET", "/api/results/..%2Fsecret.json", nil, 404},
		{"the beginning of an ID", "GET", "/api/results/2", nil, 404},
		{"a note on a path", "PUT", "/api/results/..%2Fsecret/note", nil, 404},
		{"a path as a report's ID", "GET", "/results/..%2Fsecret", nil, 404},
		{"a path as an experiment's ID", "GET", "/labs/..%2F..%2Fetc/report", nil, 404},
		{"a path as an asset", "GET", "/assets/..%2Fpage.go", nil, 404},
		{"a file that is embedded and no asset", "GET", "/assets/README.md", nil, 404},
		{"a path to compare", "GET", "/api/compare?id=..%2Fsecret&id=last", nil, 404},
		{"profiles of dyno", "GET", "/debug/pprof/", nil, 404},
		{"variables of dyno", "GET", "/debug/vars", nil, 404},
		{"another method", "PUT", "/api/load", nil, 405},
	} {
		r := g.ask(t, c.method, c.path, "", c.headers...)
		if r.StatusCode != c.want {
			t.Errorf("%s: %s %s: %d, want %d: %s", c.what, c.method, c.path, r.StatusCode, c.want,
				text(t, r))
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", c.what, name, got, want)
			}
		}
		csp := r.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'; style-src 'self'") ||
			strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", c.what, csp)
		}
		if r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: other origins may read it", c.what)
		}
	}
	r, err := http.NewRequest("OPTIONS", g.Base(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host, r.URL.Opaque = "evil.example:"+port, "*"
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if a.Body.Close(); a.StatusCode != 421 {
		t.Errorf("OPTIONS * of a foreign name: %d", a.StatusCode)
	}
	if len(g.forms) > 0 {
		t.Errorf("forms were read: %v", g.forms)
	}
}

// The token is in the URL once: it becomes a cookie that scripts cannot read and other
// sites cannot send, and leads to this dashboard and nowhere else.
func TestEnter(t *testing.T) {
	g := begin(t, Config{})
	for path, want := range map[string]string{
		"/?token=T": "/", "/live?token=T": "/live", "/lab?id=a%26b&token=T": "/lab?id=a%26b",
		"//evil.example/?token=T": "/", "/api/results?token=T": "/",
	} {
		path = strings.Replace(path, "T", g.keys.token, 1)
		r := g.ask(t, "GET", path, "", "Cookie: ")
		if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != want {
			t.Errorf("%s: %d to %q, want %q", path, r.StatusCode, r.Header.Get("Location"), want)
		}
		for _, c := range r.Cookies() {
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || c.MaxAge != 0 {
				t.Errorf("%s: cookie %v", path, c)
			}
		}
		if len(r.Cookies()) != 1 {
			t.Errorf("%s: cookies %v", path, r.Cookies())
		}
	}
	once := strings.TrimPrefix(g.OnceURL("/"), g.Base())
	for i, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		if r := g.ask(t, "GET", once, "", "Cookie: "); r.StatusCode != want {
			t.Errorf("use %d of a token for one: %d, want %d", i+1, r.StatusCode, want)
		}
	}
	other := begin(t, Config{})
	if other.keys.token == g.keys.token || other.keys.cookie == g.keys.cookie {
		t.Error("two dashboards have one token")
	}
}

func TestListen(t *testing.T) {
	for _, c := range []struct {
		listen  string
		exposed bool
		want    string // of the error; "": none
	}{
		{"127.0.0.1:0", false, ""}, {"localhost:0", false, ""}, {"[::1]:3966", false, ""},
		{"192.0.2.1:3966", false, "--expose"}, {"192.0.2.1:3966", true, ""},
		{"0.0.0.0:3966", true, "all addresses"}, {"[::]:3966", true, "all addresses"},
		{":3966", false, "not an address"}, {"example.org:3966", true, "not an address"},
		{"127.0.0.1", false, "not an address and a port"}, {"127.0.0.1:http", false, "not a port"},
		{"127.0.0.1:65536", false, "not a port"}, {"127.0.0.1:080", false, "not a port"},
	} {
		_, err := listenAddress(Config{Listen: c.listen, Exposed: c.exposed})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, exposed %v: %v, want %q", c.listen, c.exposed, err, c.want)
		}
	}
	hosts := hostNamesOf(netip.MustParseAddrPort("192.0.2.1:80"))
	if !hosts["192.0.2.1"] || !hosts["192.0.2.1:80"] || hosts["localhost"] || len(hosts) != 2 {
		t.Errorf("hosts %v", hosts)
	}
}

// A form may load this machine, by whatever name, and what was allowed; and the load goes
// to the addresses that were judged.
func TestPolicy(t *testing.T) {
	for _, c := range []struct {
		allow, host, unix string
		want              bool
	}{
		{"", "127.0.0.1", "", true}, {"", "127.9.9.9", "", true}, {"", "::1", "", true},
		{"", "::ffff:127.0.0.1", "", true}, {"", "localhost", "", true},
		{"", "192.0.2.1", "", false}, {"", "0.0.0.0", "", false}, {"", "::", "", false},
		{"", "169.254.169.254", "", false}, {"", "::ffff:192.0.2.1", "", false},
		{"192.0.2.0/24", "192.0.2.1", "", true}, {"192.0.2.0/24", "192.0.3.1", "", false},
		{"192.0.2.7", "192.0.2.7", "", true}, {"192.0.2.7", "192.0.2.8", "", false},
		{"192.0.2.*", "192.0.2.8", "", true}, {"2001:db8::/32", "2001:db8::1", "", true},
		{"*.example", "192.0.2.1", "", false},
		{"", "", "/run/docker.sock", false}, {"unix:/run/*.sock", "", "/run/app.sock", true},
		{"unix:/run/*/*.sock", "", "/run/../app.sock", false}, {"unix:/run/*.sock", "", "/run//app.sock", false},
		{"unix:/run/*.sock", "", "/run/deep/app.sock", false}, {"*", "", "/run/app.sock", false},
	} {
		var p Policy
		if c.allow != "" {
			if err := p.Allow(c.allow); err != nil {
				t.Fatal(err)
			}
		}
		plan := loadplan.Plan{Target: loadplan.Target{Host: c.host, Unix: c.unix, Port: 80}}
		err := p.checkPlan(t.Context(), &plan)
		if _, flaw := errors.AsType[loadplan.Flaw](err); (err == nil) != c.want || err != nil && !flaw {
			t.Errorf("%q allowed, to %s%s: %v", c.allow, c.host, c.unix, err)
		}
		for _, a := range plan.Addresses {
			if !a.IsLoopback() {
				t.Errorf("%s: to %v", c.host, a)
			}
		}
		if named := c.host == "localhost"; named != (len(plan.Addresses) > 0) {
			t.Errorf("%s: addresses %v", c.host, plan.Addresses)
		}
	}
	away := loadplan.Plan{Target: loadplan.Target{Host: "127.0.0.1"}, FollowTo: []loadplan.Target{{Host: "127.0.0.1"}}}
	if err := (Policy{}).checkPlan(t.Context(), &away); err == nil || !strings.HasPrefix(err.Error(), "--follow-to: ") {
		t.Errorf("redirects to another origin: %v", err)
	}
	for _, bad := range []string{"", "http://a/", "a:80", "a b", "[", "unix:app.sock", "unix:/[", "a/b"} {
		if err := new(Policy).Allow(bad); err == nil {
			t.Errorf("%q is allowed", bad)
		}
	}
}

// What is wrong with a form comes back at its fields, and nothing is begun.
func TestFaults(t *testing.T) {
	g := begin(t, Config{})
	g.faults = []error{loadplan.Flaw{Setting: "--rate", Problem: "no rate"},
		loadplan.Flaw{Setting: "--cert, --key", Problem: "a pair"}, loadplan.Flaw{Setting: "URL", Problem: "none"},
		errors.New("all is wrong")}
	r := g.ask(t, "POST", "/api/load", `{"rate":"x","key":["a","b"],"connections":7,"insecure":true,
		"sni":"","watch":[],"spin":false,"body":null}`)
	var got formFaults
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.StatusCode != 422 {
		t.Fatal(r.StatusCode, err)
	}
	want := []Fault{{"rate", "no rate"}, {"key", "a pair"}, {"url", "none"}, {"", "all is wrong"}}
	if fmt.Sprint(got.Faults) != fmt.Sprint(want) {
		t.Errorf("faults %v, want %v", got.Faults, want)
	}
	form := Form{"rate": {"x"}, "key": {"a", "b"}, "connections": {"7"}, "insecure": {"true"}}
	if fmt.Sprint(g.forms[0]) != fmt.Sprint(form) {
		t.Errorf("form %v, want %v", g.forms[0], form)
	}
	for body, want := range map[string]int{
		`{"rate":{}}`: 422, `{"rate":[[1]]}`: 422, `[]`: 422, `{`: 422, ``: 422,
		`{"a":"` + strings.Repeat("x", bodyBytes) + `"}`: 413,
	} {
		if r := g.ask(t, "POST", "/api/load", body); r.StatusCode != want {
			t.Errorf("%.20s: %d, want %d", body, r.StatusCode, want)
		}
	}
	g.faults = nil
	r = g.ask(t, "POST", "/api/load", `{"url":"host:192.0.2.1"}`)
	if r.StatusCode != 422 || !strings.Contains(text(t, r), "--allow-target") {
		t.Errorf("a target that is not allowed: %d", r.StatusCode)
	}
	if g.loads.stopRunning("") {
		t.Error("a load was begun")
	}
}

// A note is kept with its result, and one that cannot be is refused with the reason.
func TestNote(t *testing.T) {
	g := begin(t, Config{})
	r, err := result.From(&loadresult.Result{Plan: planFor(t, nil), Ended: loadresult.ByDuration, Started: time.Now(),
		Measured: time.Second, Total: metric.NewCounters()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	path, err := dynohome.Save(g.Home, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, body string
		want     int
	}{
		{r.ID, `{"text":"slow #weekly"}`, 200}, {r.ID, `{`, 422},
		{r.ID, `{"text":"` + strings.Repeat("x", bodyBytes) + `"}`, 413},
		{"last", `{"text":"x"}`, 404}, {"20260102-150405-0000", `{"text":"x"}`, 404},
	} {
		if a := g.ask(t, "PUT", "/api/results/"+c.id+"/note", c.body); a.StatusCode != c.want {
			t.Errorf("%s %.30s: %d, want %d: %s", c.id, c.body, a.StatusCode, c.want, text(t, a))
		}
	}
	b, err := os.ReadFile(strings.TrimSuffix(path, ".json") + ".note")
	if string(b) != "slow #weekly\n" {
		t.Errorf("%q, %v", b, err)
	}
	if list := text(t, g.ask(t, "GET", "/api/results", "")); !strings.Contains(list, `"note":"slow #weekly"`) {
		t.Error(list)
	}
}

// The end of a load is told before the next can begin: it would end that one's journal.
func TestEndBelongsToItsLoad(t *testing.T) {
	s, err := New(Config{Listen: "127.0.0.1:0", Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	show, err := s.Show(planFor(t, nil), func() {})
	if err != nil {
		t.Fatal(err)
	}
	l := &s.loads
	l.journal.mu.Lock() // the end cannot be told yet
	ended := make(chan bool)
	go func() {
		defer close(ended)
		show.End(nil, errors.New("over"))
	}()
	for waits := 0; waits < 100; { // until End has the lock, and keeps it
		if !l.mu.TryLock() {
			waits++
		} else {
			waits = 0
			if l.stop == nil {
				t.Error("another load can begin, and this one's end is not told")
				waits = 100
			}
			l.mu.Unlock()
		}
		runtime.Gosched()
	}
	l.journal.mu.Unlock()
	<-ended
	if _, err := s.Show(planFor(t, nil), func() {}); err != nil {
		t.Error(err)
	}
}

// An event is one as a browser gets it.
type received struct{ id, kind, data string }

// follow reads events from where id was; next is the next of them.
func (g *stage) follow(t *testing.T, path, id string) (next func() received) {
	t.Helper()
	r := g.ask(t, "GET", path, "", "Last-Event-ID: "+id)
	if kind := r.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatal(r.StatusCode, kind, text(t, r))
	}
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	return func() (e received) {
		t.Helper()
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case name == "id":
				e.id = value
			case name == "event":
				e.kind = value
			case name == "data":
				e.data = value
			case lines.Text() == "" && e.kind != "":
				return e
			}
		}
		t.Fatal("the events ended", lines.Err())
		return e
	}
}

// What users did and which checks failed is shown with each second, without secrets.
func TestSecondsOfUsers(t *testing.T) {
	s, err := New(Config{Listen: "127.0.0.1:0", Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := planFor(t, nil)
	p.Scenario, p.Steps, p.Requested = scenario.Program{}, []string{"login", "buy"}, 100
	p.Checks = []string{"always", "contains:geheim", "json:$.ok"}
	p.Requests[0].Header = append(p.Requests[0].Header, proto.Field{Name: "Authorization", Value: "geheim"})
	show, err := s.Show(p, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer show.End(nil, errors.New("enough"))
	h := metric.NewHistogram(metric.Fine)
	h.Record(2e9)
	for i := range 2 {
		at := time.Duration(i) * time.Second
		show.Interval(loadresult.Interval{Index: i, From: at, To: at + time.Second, Iterations: 1, IterationsFailed: 2,
			IterationTime: h.ToSparse(), Checks: []metric.Outcomes{{Passed: 5}, {Passed: 3, Failed: 1}, {Failed: 4}}})
	}
	j := s.loads.journal
	got := string(bytes.Join(append([][]byte{j.head}, j.events...), nil))
	for _, want := range []string{`"requested":100,"iterations":true`, `"iteration_time":{"mean_us":2000000,"p50_us":2000000,"p99_us":2000000,"max_us":2000000}`, `"iterations_so_far":2,` +
		`"iterations_failed_so_far":4,"checks_so_far":[{"name":"json:$.ok","passed":0,"failed":8},`, `"passed":6,"failed":2}]`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "geheim") {
		t.Errorf("a secret is shown:\n%s", got)
	}
}

// A load from the form: watched from its beginning, from the middle by whoever was cut off,
// and by whoever comes late; a second one is refused; it is stopped, and leaves a report.
func TestLoad(t *testing.T) {
	g := begin(t, Config{})
	first := g.follow(t, "/api/load/events", "")
	if e := first(); e.kind != "idle" {
		t.Fatalf("before all: %v", e)
	}
	for range 2 {
		if r := g.ask(t, "POST", "/api/load", `{"url":"http://localhost:1/"}`); r.StatusCode != 201 {
			t.Fatal(r.StatusCode, text(t, r))
		}
		head := first()
		if head.kind != "run" || !strings.Contains(head.data, `"url":"http://localhost:1/"`) {
			t.Fatalf("the head is %v", head)
		}
		r := g.ask(t, "POST", "/api/load", `{}`)
		if why := text(t, r); r.StatusCode != 409 || !strings.Contains(why, "http://localhost:1/") {
			t.Errorf("a second load: %d, %s", r.StatusCode, why)
		}
		var seen []received
		sum := 0
		for i := range 5 {
			g.seconds <- loadresult.Interval{Index: i, From: time.Duration(i) * time.Second,
				To: time.Duration(i+1) * time.Second, Completed: int64(1000 + i), Busy: 0.25}
			seen = append(seen, first())
			sum += 1000 + i
			if want := fmt.Sprintf(`"completed_so_far":%d,`, sum); !strings.Contains(seen[i].data, want) {
				t.Errorf("second %d has no %s: %v", i, want, seen[i])
			}
			if want := fmt.Sprintf(`"completed":%d,`, 1000+i); !strings.Contains(seen[i].data, want) ||
				!strings.Contains(seen[i].data, `"busy_percent":25`) {
				t.Errorf("second %d: %v", i, seen[i])
			}
		}
		again := g.follow(t, "/api/load/events", seen[2].id)
		for i := 3; i < 5; i++ {
			if e := again(); e != seen[i] {
				t.Errorf("after the cut: %v, want %v", e, seen[i])
			}
		}
		for _, id := range []string{"", "other.3", head.id[:len(head.id)-1] + "99", "x"} {
			late := g.follow(t, "/api/load/events", id)
			for _, want := range append([]received{head}, seen...) {
				if e := late(); e != want {
					t.Errorf("after %q: %v, want %v", id, e, want)
				}
			}
		}
		if r := g.ask(t, "DELETE", "/api/load", ""); r.StatusCode != 202 {
			t.Error(r.StatusCode)
		}
		if e := first(); e.kind != "end" || !strings.Contains(e.data, `"id":"last"`) ||
			!strings.Contains(e.data, `"ended":"interrupted"`) {
			t.Errorf("the end is %v", e)
		}
	}
	if r := g.ask(t, "DELETE", "/api/load", ""); r.StatusCode != 409 {
		t.Errorf("stopping nothing: %d", r.StatusCode)
	}
	r := g.ask(t, "GET", "/api/results/last", "")
	if _, err := result.Decode([]byte(text(t, r))); err != nil {
		t.Error(r.StatusCode, err)
	}
}

// The history is bounded, and who has missed more than it holds begins anew.
func TestHistoryIsBounded(t *testing.T) {
	j := newJournal(100)
	j.restart("run", 0)
	for i := range 1000 {
		j.appendEvent("second", i)
	}
	if len(j.events) != 100 || cap(j.events) > 400 {
		t.Errorf("%d events are kept, with room for %d", len(j.events), cap(j.events))
	}
	news, now, _ := j.eventsAfter(j.name + ".899")
	if want := "data: 899\n"; strings.Contains(string(news), want) || !strings.HasSuffix(now, ".1000") {
		t.Errorf("up to %s", now)
	}
	for after, want := range map[int]int{899: 101, 900: 100, 901: 99, 1000: 0, 1001: 101} {
		news, _, _ := j.eventsAfter(fmt.Sprintf("%s.%d", j.name, after))
		if n := strings.Count(string(news), "event: "); n != want {
			t.Errorf("after %d: %d events, want %d", after, n, want)
		}
	}
}

// The end of the dashboard is the end of its load, and of those who follow it.
func TestEndStopsTheLoad(t *testing.T) {
	g := begin(t, Config{})
	r := g.ask(t, "GET", "/api/load/events", "")
	if r := g.ask(t, "POST", "/api/load", `{}`); r.StatusCode != 201 {
		t.Fatal(r.StatusCode)
	}
	g.end()
	if g.loads.stop != nil || g.loads.last == nil {
		t.Error("the load goes on")
	}
	io.Copy(io.Discard, r.Body) // ends
	if _, err := g.Show(planFor(t, nil), func() {}); err == nil {
		t.Error("a load begins after the end")
	}
}

// One load that somebody else carries out, as dyno run --serve does.
func TestShow(t *testing.T) {
	c := Config{Listen: "127.0.0.1:0", Home: t.TempDir()}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	g := &stage{Server: s}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	stopped := make(chan bool, 1)
	show, err := s.Show(planFor(t, nil), func() { stopped <- true })
	if err != nil {
		t.Fatal(err)
	}
	if r := g.ask(t, "POST", "/api/load", `{}`); r.StatusCode != 404 {
		t.Errorf("a form without a form: %d", r.StatusCode)
	}
	for range 2 {
		if r := g.ask(t, "DELETE", "/api/load", ""); r.StatusCode != 202 {
			t.Error(r.StatusCode)
		}
	}
	<-stopped
	show.End(nil, errors.New("it went wrong"))
	next := g.follow(t, "/api/load/events", "")
	next()
	if e := next(); e.kind != "end" || !strings.Contains(e.data, "it went wrong") {
		t.Errorf("the end is %v", e)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What the server of a watched load used is among its numbers at the end.
func TestWholeHasTheServer(t *testing.T) {
	r := new(result.Result)
	r.Server = &result.Server{Processes: []result.Usage{{CPU: 12.5}}}
	b, err := json.Marshal(wholeOf(r))
	if err != nil || !strings.Contains(string(b), `"text":"12.5 µs","key":"server.processes.0.cpu_us_per_request","value":12.5`) {
		t.Errorf("%s, %v", b, err)
	}
}

// What a server repeats of a request's secrets is not in the events of a load.
func TestShowConceals(t *testing.T) {
	s, err := New(Config{Listen: "127.0.0.1:0", Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := planFor(t, nil)
	p.Requests[0].Header = []proto.Field{{Name: "Authorization", Value: "Bearer Zq1HeaderSecret9x"}}
	show, err := s.Show(p, func() {})
	if err != nil {
		t.Fatal(err)
	}
	said := `not a status line: "HTTP/1.1 Zq1HeaderSec"`
	show.Interval(loadresult.Interval{Failures: []loadresult.Failure{{Phase: loadresult.Protocol, Detail: said, Count: 1}}})
	show.End(nil, errors.New("it said Zq1HeaderSecret9x"))
	news, _, _ := s.loads.journal.eventsAfter("")
	if strings.Contains(string(news), "Zq1") || strings.Count(string(news), "(redacted)") != 2 {
		t.Errorf("%s", news)
	}
}

// Whatever a browser says it had, it gets whole events, and none twice.
func FuzzSince(f *testing.F) {
	j := newJournal(5)
	j.restart("run", 0)
	for i := range 9 {
		j.appendEvent("second", i)
	}
	for _, id := range []string{"", ".", "x.1", j.name, j.name + ".", j.name + ".7", j.name + ".-1",
		j.name + ".0", j.name + ".9", j.name + ".10", j.name + ".99999999999999999999"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		news, now, _ := j.eventsAfter(id)
		if n := strings.Count(string(news), "event: "); n > 6 || !strings.HasSuffix(now, ".9") {
			t.Errorf("%d events, up to %s", n, now)
		}
		if again, _, _ := j.eventsAfter(now); len(again) > 0 {
			t.Errorf("again %q", again)
		}
	})
}

// A form is read or refused, and what was read has no empty values.
func FuzzForm(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"b"}`, `{"a":[1,true,"x",null]}`, `{"a":{}}`, `[`, `null`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := http.NewRequest("POST", "/", strings.NewReader(s))
		if err != nil {
			t.Fatal(err)
		}
		form, err := readForm(r)
		for name, values := range form {
			for _, v := range values {
				if err != nil || v == "" {
					t.Errorf("%q has %q, %v", name, v, err)
				}
			}
		}
	})
}

// Whatever is allowed, it does not allow what only other patterns could.
func FuzzAllow(f *testing.F) {
	for _, s := range []string{"10.0.0.0/8", "10.0.0.1", "*.example", "unix:/run/*.sock", "[a-z]", "fe80::1%lo"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var p Policy
		if p.Allow(s) != nil {
			return
		}
		socket := loadplan.Plan{Target: loadplan.Target{Unix: "/run/x.sock"}}
		if p.checkPlan(t.Context(), &socket) == nil && !strings.HasPrefix(s, "unix:") {
			t.Errorf("%q allows a socket", s)
		}
		if !p.allowsAddress(netip.MustParseAddr("127.0.0.1")) {
			t.Errorf("with %q this machine is not allowed", s)
		}
	})
}
