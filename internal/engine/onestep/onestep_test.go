package onestep

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dyno/internal/engine/check"
	"dyno/internal/engine/data"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/template"
	"dyno/internal/fact"
)

// rows is a table of n rows.
func rows(t testing.TB, n int) *data.Table {
	var b strings.Builder
	b.WriteString("email,token,secret\n")
	for i := range n {
		fmt.Fprintf(&b, "u%d@example.org,t%d,s%d\n", i, i, i)
	}
	return table(t, b.String())
}

func table(t testing.TB, csv string) *data.Table {
	all, err := data.Read("users.csv", strings.NewReader(csv), data.MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// text compiles a text with the table's columns.
func text(t testing.TB, d *data.Table, s string) template.Text {
	n := &template.Names{}
	if d != nil {
		n.Columns = d.Columns()
	}
	all, err := n.Parse(s, template.Position{File: "test", Line: 1, Column: 1})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// request compiles a POST, or a GET if it has no body.
func request(t testing.TB, d *data.Table, path, header, body string) Request {
	x := Texts{Method: "GET", Authority: "test", Path: text(t, d, path), Body: text(t, d, body)}
	if body != "" {
		x.Method = "POST"
	}
	if header != "" {
		x.Header = []Field{{"X-Test", text(t, d, header)}}
	}
	r, err := Compile(x)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func maker(t testing.TB, c Config) *Maker {
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func worker1(t testing.TB, m *Maker, s scenario.Share) scenario.Scenario {
	w, err := m.Make(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func user(number int64) *scenario.User {
	return &scenario.User{Number: number, Rand: rand.New(rand.NewPCG(1, uint64(number))), Due: 1e9}
}

// sent is the message as text: path, header fields, body.
func sent(m *Maker, s scenario.Step) string {
	if s.End {
		return "end"
	}
	r := m.requests[s.Message.Request].Request
	var values [][]byte
	body := r.Body
	if f := s.Message.Fill; f != nil {
		values = f.Values
		if f.Body != nil {
			body = f.Body
		}
	}
	b := proto.AppendFilled(nil, r.Path, r.PathHoles(), values)
	for i, f := range r.Header {
		b = proto.AppendFilled(append(b, '|'), f.Value, r.FieldHoles(i), values)
	}
	return string(append(append(b, '|'), body...))
}

// What is random is drawn for each hole; columns, seq and now are the request's.
func TestMessages(t *testing.T) {
	d := rows(t, 2)
	m := maker(t, Config{Data: d, Requests: []Request{request(t, d, "/{{seq}}?e={{email}}&d={{int 1 1}}",
		"{{token}} {{now}}", `{"e":"{{email}}","s":{{seq}}}`)}})
	w := worker1(t, m, scenario.Share{Users: 1, FirstIteration: 4, Iterations: 3})
	for i := range 3 {
		want := fmt.Sprintf(`/%d?e=u%d@example.org&d=1|t%[2]d 1970-01-01T00:00:01.000000Z|`+
			`{"e":"u%[2]d@example.org","s":%[1]d}`, i+5, i%2)
		s := w.Start(user(0))
		if got := sent(m, s); got != want || s.Route != 0 {
			t.Errorf("%s\nwant %s", got, want)
		}
		if err := m.requests[0].CheckHoles(); err != nil {
			t.Error(err)
		}
	}
	m = maker(t, Config{Requests: []Request{request(t, nil, "/{{uuid}}/{{uuid}}", "", "")}})
	s := sent(m, worker1(t, m, scenario.Share{Users: 1}).Start(user(0)))
	if parts := strings.Split(strings.Trim(s, "/|"), "/"); len(parts) != 2 || parts[0] == parts[1] {
		t.Errorf("%s", s)
	}
}

// Requests are sent by weight, and one without holes as it is.
func TestWeights(t *testing.T) {
	a, b := request(t, nil, "/a", "", ""), request(t, nil, "/b{{seq}}", "", "")
	a.Weight = 2
	m := maker(t, Config{Requests: []Request{a, b}})
	w := worker1(t, m, scenario.Share{Users: 2, Iterations: 6})
	var got []string
	for i := range int64(6) {
		s := w.Start(user(i % 2))
		if (s.Message.Fill == nil) != (s.Route == 0) {
			t.Errorf("%+v", s)
		}
		got = append(got, sent(m, s))
	}
	if want := []string{"/a|", "/b2|", "/a|", "/a|", "/b5|", "/a|"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A value that may not stand where its hole is is not sent, and counted; so are rows that are used up.
func TestRefused(t *testing.T) {
	d := table(t, "email,token,secret\na b,\"x\ny\",\"1\n2\"\na,x,1\n")
	for _, tc := range []struct{ path, header, body, want string }{
		{"/{{email}}", "", "", `column email, row 1: the value contains a space`},
		{"/", "{{token}}", "", `column token, row 1: the value contains a control character`},
		{"/", "{{email}}", "{{secret}}{{email}}{{token}}", ""},
	} {
		m := maker(t, Config{Data: d, Requests: []Request{request(t, d, tc.path, tc.header, tc.body)}})
		w := worker1(t, m, scenario.Share{Users: 1})
		first, second := w.Start(user(0)), w.Start(user(0))
		if err := first.Refused; second.End || first.End != (tc.want != "") || first.Failed != first.End ||
			(err != nil) != first.End || !strings.HasPrefix(fmt.Sprint(err), tc.want) && tc.want != "" {
			t.Errorf("%+v: %+v: %v", tc, first, err)
		}
	}
	m := maker(t, Config{Data: d, Order: data.Once, Requests: []Request{request(t, d, "/", "", "{{email}}")}})
	w := worker1(t, m, scenario.Share{Users: 1, Iterations: 2})
	w.Start(user(0))
	w.Start(user(0))
	s := w.Start(user(0))
	if !s.Failed || s.Refused != errUsedUp {
		t.Errorf("%+v: %v", s, s.Refused)
	}
	if _, err := m.Make(scenario.Share{Users: 1}); err == nil || !slices.Contains(fact.RemediesOf(err), fact.Remedy{Setting: "requests", Value: "2 or less"}) {
		t.Errorf("once without a number of requests: %v", err)
	}
}

// A column is checked once for each part in which it stands, and not for each request: a run may have
// a million of them.
func TestColumnsAreCheckedOnce(t *testing.T) {
	d := table(t, "email,fits\na b,x\n")
	a := request(t, d, "/a{{email}}{{email}}{{fits}}", "{{email}}", "")
	b := request(t, d, "/b{{email}}", "", "{{email}}")
	m := maker(t, Config{Data: d, Requests: []Request{a, b}})
	one, two := m.requests[0].inserted, m.requests[1].inserted
	if len(one) != 1 || len(two) != 1 || one[0] != two[0] {
		t.Errorf("%v and %v", one, two)
	}
}

// A load with a warm-up has no row for it if each is to be sent once.
func TestOnceHasNoRowsForAWarmup(t *testing.T) {
	d := table(t, "email\na b\n")
	m := maker(t, Config{Data: d, Order: data.Once, Requests: []Request{request(t, d, "/", "", "{{email}}")}})
	if _, err := m.Make(scenario.Share{Users: 1, Iterations: 1, Warmup: true}); err == nil ||
		!slices.Contains(fact.RemediesOf(err), fact.Remedy{Setting: "warmup", Value: fact.None}) {
		t.Errorf("once with a warm-up: %v", err)
	}
}

// To refuse an iteration allocates nothing: where all are refused, as many are begun as can be.
func TestRefusalsAllocateNothing(t *testing.T) {
	d := table(t, "email\na b\n")
	path, body := request(t, d, "/{{email}}", "", ""), request(t, d, "/", "", "{{email}}")
	for what, c := range map[string]Config{"a value": {Data: d, Requests: []Request{path}},
		"rows": {Data: d, Order: data.Once, Requests: []Request{body}}} {
		w, u := worker1(t, maker(t, c), scenario.Share{Users: 1, Iterations: 1}), user(0)
		w.Start(u)
		var last scenario.Step
		if n := testing.AllocsPerRun(1000, func() { last = w.Start(u) }); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
		if last.Refused == nil || !last.Failed {
			t.Errorf("%s: %+v", what, last)
		}
	}
}

func TestCompileFaults(t *testing.T) {
	hole := template.Hole{Source: template.Source{Kind: template.Seq}}
	for want, x := range map[string]Texts{
		"the path begins with a hole": {Path: template.Text{Literal: "/", Holes: []template.Hole{hole}}},
		"header X: its value contains a control character": {Path: template.Text{Literal: "/"},
			Header: []Field{{"X", template.Text{Literal: "a\nb"}}}},
		"path: its text contains a space": {Path: template.Text{Literal: "/a b"}},
		"Connection: frames": {Path: template.Text{Literal: "/"},
			Header: []Field{{"Connection", template.Text{Literal: "x", Holes: []template.Hole{hole}}}}},
	} {
		if _, err := Compile(x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	d := rows(t, 1)
	r := request(t, d, "/{{email}}", "", "")
	r.Checks = []int{0}
	if _, err := New(Config{Requests: []Request{r}}); err == nil ||
		!strings.Contains(err.Error(), "nothing has value 1") || !strings.Contains(err.Error(), "no check 0") {
		t.Errorf("%v", err)
	}
	if _, err := New(Config{}); err == nil {
		t.Error("a run without requests")
	}
}

func checks(t testing.TB, bodies ...string) (all []*check.Check) {
	for _, s := range bodies {
		c, err := check.ParseBody(s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	c, err := check.ParseHeader("X-Id: 7")
	if err != nil {
		t.Fatal(err)
	}
	return append(all, c)
}

// Each request has the checks that are its own. A body that is too long for a check is said to be.
func TestChecks(t *testing.T) {
	a, b := request(t, nil, "/a", "", ""), request(t, nil, "/b", "", "")
	a.Checks, b.Checks = []int{0, 2}, []int{1}
	m := maker(t, Config{Requests: []Request{a, b}, Checks: checks(t, "contains:ok", "json:$.id"), MaxBody: 10})
	if want := m.Want(); want.Body != 10 || !slices.Equal(want.Fields, []string{"x-id", "content-encoding"}) {
		t.Errorf("%+v", want)
	}
	if names := m.CheckNames(); !slices.Equal(names, []string{"contains:ok", "json:$.id", "X-Id: 7",
		"body decodes as its Content-Encoding says", scenario.JudgedWithin, "body within 10 bytes"}) {
		t.Errorf("%q", names)
	}
	w := worker1(t, m, scenario.Share{Users: 1})
	u := user(0)
	for i, tc := range []struct {
		body string
		more int64
		want []scenario.Checked
	}{
		{"ok", 0, []scenario.Checked{{Check: 0, OK: true}, {Check: 2, OK: true}}},
		{`{"id":1}`, 0, []scenario.Checked{{Check: 1, OK: true}}},
		{"no", 5, []scenario.Checked{{Check: 5}, {Check: 0}, {Check: 2, OK: true}}},
		{`{"ix":1}`, 0, []scenario.Checked{{Check: 1}}},
	} {
		w.Start(u)
		r := &scenario.Response{Status: 200, BodyBytes: int64(len(tc.body)) + tc.more}
		r.AddBody([]byte(tc.body))
		r.AddField([]byte("x-id"), []byte("7"), false)
		if s := w.Next(u, r); !s.End || s.Failed || !slices.Equal(r.Checks(), tc.want) {
			t.Errorf("answer %d: %+v", i, r.Checks())
		}
	}
	if m := maker(t, Config{Requests: []Request{a}, Checks: checks(t, "contains:ok", "json:$")}); m.Want().Body != DefaultBody {
		t.Errorf("%+v", m.Want())
	}
}

// Checks end with the run, which is asked behind each that takes long.
func TestChecksEndWithTheRun(t *testing.T) {
	a := request(t, nil, "/a", "", "")
	a.Checks = []int{0, 1, 2}
	m := maker(t, Config{Requests: []Request{a}, Checks: checks(t, "regex:[ab]{25}c", "json:$.id", "contains:b")})
	w, u := worker1(t, m, scenario.Share{Users: 1}), user(0)
	asked := 0
	u.Over = func() bool { asked++; return asked == 2 }
	w.Start(u)
	r := &scenario.Response{Status: 200, BodyBytes: 200_000}
	r.AddBody(bytes.Repeat([]byte("a"), 200_000))
	if s := w.Next(u, r); !s.End || !r.Unjudged || asked != 2 || len(r.Checks()) != 1 {
		t.Errorf("unjudged %v, asked %d times: %+v", r.Unjudged, asked, r.Checks())
	}
}

// A response whose body is too long for several checks has one body that is too long.
func TestLongBodyIsCountedOnce(t *testing.T) {
	a := request(t, nil, "/a", "", "")
	a.Checks = []int{0, 1}
	m := maker(t, Config{Requests: []Request{a}, Checks: checks(t, "contains:ok", "json:$.id")})
	w, u := worker1(t, m, scenario.Share{Users: 1}), user(0)
	w.Start(u)
	r := &scenario.Response{Status: 200, BodyBytes: 9}
	r.AddBody([]byte("no"))
	w.Next(u, r)
	if want := []scenario.Checked{{Check: len(m.CheckNames()) - 1}, {Check: 0}, {Check: 1}}; !slices.Equal(r.Checks(), want) {
		t.Errorf("%+v, want %+v", r.Checks(), want)
	}
}

// The same seed sends the same.
func TestSeed(t *testing.T) {
	d := rows(t, 100)
	for _, same := range []bool{true, false} {
		var runs []string
		for seed := range uint64(2) {
			m := maker(t, Config{Data: d, Order: data.Random, Requests: []Request{request(t, d,
				"/{{email}}/{{uuid}}/{{int 1 1000}}/{{hex 16}}", "", "")}})
			w := worker1(t, m, scenario.Share{Users: 1})
			if same {
				seed = 0
			}
			u := &scenario.User{Rand: rand.New(rand.NewPCG(seed, 0))}
			all := ""
			for range 50 {
				all += sent(m, w.Start(u))
			}
			runs = append(runs, all)
		}
		if (runs[0] == runs[1]) != same {
			t.Errorf("the same seed %v: the same messages %v", same, !same)
		}
	}
}

// costs are what a request may cost: see the benchmark.
func costs(t testing.TB) map[string]Config {
	d := rows(t, 10_000)
	seen := request(t, nil, "/a", "", "")
	seen.Checks = []int{0}
	contains, err := check.ParseBody("contains:needle")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Config{
		"static":          {Requests: []Request{request(t, nil, "/a", "", "")}},
		"one hole":        {Requests: []Request{request(t, nil, "/a?id={{uuid}}", "", "")}},
		"three columns":   {Data: d, Requests: []Request{request(t, d, "/{{email}}?t={{token}}", "{{secret}}", "")}},
		"random row":      {Data: d, Order: data.Random, Requests: []Request{request(t, d, "/{{email}}", "", "")}},
		"three in a body": {Data: d, Requests: []Request{request(t, d, "/", "", `{"e":"{{email}}","t":"{{token}}{{seq}}"}`)}},
		"contains 1 KiB":  {Requests: []Request{seen}, Checks: []*check.Check{contains}},
	}
}

func kilobyte() *scenario.Response {
	r := &scenario.Response{Status: 200, BodyBytes: 1024}
	r.AddBody([]byte(strings.Repeat("x", 1018) + "needle"))
	return r
}

func TestNoAllocation(t *testing.T) {
	for name, c := range costs(t) {
		w, u, r := worker1(t, maker(t, c), scenario.Share{Users: 1}), user(0), kilobyte()
		turn := func() {
			w.Start(u)
			w.Next(u, r)
			body := r.Body
			r.Reset()
			r.Body, r.BodyBytes = body, int64(len(body))
		}
		for range 10_000 { // the longest row
			turn()
		}
		if n := testing.AllocsPerRun(1000, turn); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	for name, c := range costs(b) {
		b.Run(name, func(b *testing.B) {
			w, u, r := worker1(b, maker(b, c), scenario.Share{Users: 1}), user(0), kilobyte()
			b.ReportAllocs()
			for b.Loop() {
				w.Start(u)
				w.Next(u, r)
				body := r.Body
				r.Reset()
				r.Body, r.BodyBytes = body, int64(len(body))
			}
		})
	}
}

// Numbers are unique over workers without a number of requests, too.
func TestSeqIsUnique(t *testing.T) {
	m := maker(t, Config{Requests: []Request{request(t, nil, "/{{seq}}", "", "")}})
	seen := map[int64]bool{}
	for first := range int64(8) {
		w := worker1(t, m, scenario.Share{FirstUser: first * 3, Users: 3})
		for range 100 {
			n, err := strconv.ParseInt(strings.Trim(sent(m, w.Start(user(first*3))), "/|"), 10, 64)
			if err != nil || seen[n] {
				t.Fatalf("%d again: %v", n, err)
			}
			seen[n] = true
		}
	}
}
