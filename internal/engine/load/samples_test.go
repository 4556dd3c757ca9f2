package load

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// answer is a response with that status, one field and a body.
func answer(status int, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %d X\r\nX-Number: 7\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// Of each kind of error the first 20 are kept, with what was sent, what the server said, and when.
func TestSamples(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.SaveErrors, p.Requested, p.Duration = true, 100, 0
		p.Requests[0].Method, p.Requests[0].Body = "POST", []byte("what")
	})
	n := 0
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		switch n++; {
		case n%4 == 0:
			p.Reply(10*ms, hello)
		case n%4 == 1:
			p.Reply(10*ms, answer(500, fmt.Sprint("error ", n)))
		default:
			p.Reply(10*ms, answer(404, fmt.Sprint("error ", n)))
		}
	}})
	if r.Total.Failed != 75 || len(r.Samples) != 40 {
		t.Fatalf("%d failed, %d samples", r.Total.Failed, len(r.Samples))
	}
	statuses, at := map[uint16]int{}, time.Duration(-1)
	for _, s := range r.Samples {
		statuses[s.Status]++
		number := int(s.Due/(10*time.Millisecond)) + 1
		body := fmt.Sprint("error ", number)
		if s.Ended <= at || s.Ended-s.Due != 10*time.Millisecond || s.Sent != s.Due || string(s.Body) != body ||
			s.BodyBytes != int64(len(body)) || s.Phase != loadresult.Expect || s.Detail != strconv.Itoa(int(s.Status)) {
			t.Errorf("after %v: %+v", at, s)
		}
		at = s.Ended
		want := []proto.Field{{Name: "x-number", Value: "7"}, {Name: "content-length", Value: strconv.Itoa(len(body))}}
		if !slices.Equal(s.Fields, want) || s.Trailers != nil {
			t.Errorf("fields %v %v", s.Fields, s.Trailers)
		}
		sent := []proto.Field{{Name: "Host", Value: "sim"}, {Name: "User-Agent", Value: loadplan.UserAgent}, {Name: "Content-Length", Value: "4"}}
		if q := s.Request; q.Method != "POST" || q.Path != "/" || string(q.Body) != "what" ||
			!slices.Equal(s.SentFields(), sent) || s.RequestBytes != 4 {
			t.Errorf("sent %+v %v", q, s.SentFields())
		}
	}
	if statuses[404] != 20 || statuses[500] != 20 || r.Samples[0].Protocol != loadplan.HTTP11 || r.Samples[0].Life != 1 {
		t.Errorf("%v, the first %+v", statuses, r.Samples[0])
	}
}

// Without the setting, or where nothing fails, nothing is kept. What fails in the warm-up is no error.
func TestNoSamples(t *testing.T) {
	for name, change := range map[string]func(p *loadplan.Plan){
		"not wanted": func(p *loadplan.Plan) { p.Requested = 100 },
		"warm-up": func(p *loadplan.Plan) {
			p.SaveErrors, p.Warmup, p.Duration = true, loadplan.Seconds(s), loadplan.Seconds(s)
		},
	} {
		r := simulate(t, simPlan(change), &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			if name == "not wanted" || p.Now() < s/2 {
				p.Reply(10*ms, unavailable)
			} else {
				p.Reply(10*ms, hello)
			}
		}})
		if len(r.Samples) != 0 {
			t.Errorf("%s: %d", name, len(r.Samples))
		}
	}
}

// A request without a whole response has what there was of it, and the reason.
func TestSamplesOfFailures(t *testing.T) {
	type want struct {
		phase  loadresult.Phase
		kind   string
		status uint16
		body   string
	}
	for name, tc := range map[string]struct {
		server func(p *ring.Peer, b []byte)
		want   want
	}{
		"silent":    {func(*ring.Peer, []byte) {}, want{loadresult.Timeout, "timeout", 0, ""}},
		"closes":    {func(p *ring.Peer, _ []byte) { p.Hangup(ms, io.EOF) }, want{loadresult.Read, "closed", 0, ""}},
		"in a head": {func(p *ring.Peer, _ []byte) { p.Reply(ms, hello[:20]); p.Hangup(2*ms, io.EOF) }, want{loadresult.Read, "truncated", 0, ""}},
		"in a body": {func(p *ring.Peer, _ []byte) {
			p.Reply(ms, answer(500, "hello")[:len(answer(500, "hello"))-2])
			p.Hangup(2*ms, syscall.ECONNRESET)
		}, want{loadresult.Read, "reset", 500, "hel"}},
		"garbage": {func(p *ring.Peer, _ []byte) { p.Reply(ms, []byte("SSH-2.0-OpenSSH\r\n\r\n")) }, want{loadresult.Protocol, "garbage", 0, ""}},
	} {
		p := simPlan(func(p *loadplan.Plan) {
			p.SaveErrors, p.Requested, p.Duration, p.Timeout = true, 25, 0, loadplan.Seconds(50*ms)
		})
		r := simulate(t, p, &ring.Sim{Server: tc.server})
		if len(r.Samples) != loadplan.SamplesMost || r.Total.Failed != 25 {
			t.Errorf("%s: %d samples of %d", name, len(r.Samples), r.Total.Failed)
			continue
		}
		x := r.Samples[19]
		got := want{x.Phase, x.Kind, x.Status, string(x.Body)}
		if got != tc.want || x.BodyBytes != -1 && tc.want.status != 0 || x.Detail != r.Failures[0].Detail ||
			(tc.want.kind == "reset") != strings.HasSuffix(x.Detail, ", behind the head of an answer with status 500") ||
			x.Request.Path != "/" || x.Life == 0 {
			t.Errorf("%s: %+v, want %+v: %+v", name, got, tc.want, x)
		}
	}
}

// A body that is longer than what is kept of it.
func TestSampleOfALongBody(t *testing.T) {
	long := strings.Repeat("0123456789", 50_000)
	p := simPlan(func(p *loadplan.Plan) {
		p.SaveErrors, p.Requested, p.Duration = true, 1, 0
		p.Requests[0].Method, p.Requests[0].Body = "PUT", []byte(long)
	})
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if bytes.HasPrefix(b, []byte("PUT")) {
			p.Reply(ms, answer(500, long))
		}
	}})
	x := r.Samples[0]
	if string(x.Body) != long[:loadplan.SampledBody] || x.BodyBytes != 500_000 ||
		string(x.Request.Body) != long[:loadplan.SampledBody] || x.RequestBytes != 500_000 {
		t.Errorf("%d of %d, %d of %d", len(x.Body), x.BodyBytes, len(x.Request.Body), x.RequestBytes)
	}
}

// With many requests under way less is kept of each response: of 4,096, 32 KiB of the body and as
// much of the header. A scenario is given all that it wants.
func TestSamplesShareMemory(t *testing.T) {
	const share, fields, body = 32 << 10, 101, 500_000
	var head strings.Builder
	for i := range fields - 1 {
		fmt.Fprintf(&head, "X-Long-%d: %s\r\n", i, strings.Repeat("v", 1000))
	}
	long := fmt.Appendf(nil, "HTTP/1.1 500 X\r\n%sContent-Length: %d\r\n\r\n%s", head.String(), body,
		strings.Repeat("b", body))
	for name, m := range map[string]*script{"requests": nil, "a scenario": thinking(0)} {
		change := func(p *loadplan.Plan) {
			p.SaveErrors, p.Connections, p.Pipeline, p.Requested, p.Duration = true, 4, 1024, 4, 0
		}
		p := simPlan(change)
		asked := 0
		if m != nil {
			m.steps[0].KeepGoing, m.want = true, proto.Want{Fields: []string{"x-long-99"}, Body: 2 * share}
			m.check = func(_ int, r *scenario.Response) {
				if asked++; len(r.Body) != 2*share || len(r.Field("x-long-99")) != 1000 || r.FieldsLeftOut() != 0 {
					t.Errorf("%s: the scenario has %d bytes of body, %d fields", name, len(r.Body), r.Fields())
				}
			}
			p = scenarioPlan(m, 1, change)
		}
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
			for range bytes.Count(b, []byte("GET ")) {
				p.Reply(ms, long)
			}
		}})
		if len(r.Samples) != 4 || m != nil && asked != 4 {
			t.Fatalf("%s: %d samples, %d responses given", name, len(r.Samples), asked)
		}
		for _, s := range r.Samples {
			header := 0
			for _, f := range s.Fields {
				header += len(f.Name) + len(f.Value)
			}
			if header > share || header < share*9/10 || len(s.Fields)+s.LeftOut != fields ||
				len(s.Body) != share || s.BodyBytes != body {
				t.Errorf("%s: %d fields of %d bytes and %d left out, %d of %d bytes of body", name, len(s.Fields),
					header, s.LeftOut, len(s.Body), s.BodyBytes)
			}
		}
	}
}

// A sample says which connection it was.
func TestSampleConnections(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.SaveErrors, p.Connections, p.Requested, p.Duration = true, 3, 30, 0 })
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Reply(ms, answer(500, fmt.Sprint(p.N))) }})
	seen := map[int]bool{}
	for _, s := range r.Samples {
		if seen[s.Connection] = true; string(s.Body) != fmt.Sprint(s.Connection) {
			t.Errorf("connection %d has the answer of %s", s.Connection, s.Body)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d connections", len(seen))
	}
}

// Samples of several threads: of each kind those that were over first.
func TestSamplesOfThreads(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.SaveErrors, p.Connections, p.Requested, p.Duration = true, 3, 90, 0 })
	r := simulateThreads(t, p, 3, func() ring.Ring { return answers(503) })
	ended := func(a, b loadresult.Sample) int { return int(a.Ended - b.Ended) }
	if len(r.Samples) != loadplan.SamplesMost || !slices.IsSortedFunc(r.Samples, ended) {
		t.Errorf("%d samples", len(r.Samples))
	}
	threads := map[int]int{}
	for _, s := range r.Samples {
		threads[s.Thread]++
	}
	if len(threads) != 3 || threads[0] < 6 || threads[0] > 7 {
		t.Errorf("by thread %v", threads)
	}
}

// What a worker keeps has a limit, though a server may make up statuses without end.
func TestSampledKinds(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.SaveErrors, p.Requested, p.Duration = true, 400, 0 })
	n := 400
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Reply(ms, answer(n, "")); n++ }})
	if len(r.Samples) != 32 {
		t.Errorf("%d samples of %d kinds", len(r.Samples), len(r.Failures))
	}
}

// A check that fails has the request that it is about, though the scenario has used its memory for
// the next by then. The scenario is given what it wants, and not what is kept.
func TestSamplesOfChecks(t *testing.T) {
	for _, own := range []bool{false, true} {
		m := &reusing{own: own}
		p := scenarioPlan(m, 1, func(p *loadplan.Plan) {
			p.Requests[0].Path, p.Requests[0].Holes = "/?id=", []proto.Hole{{In: proto.InPath, At: 5}}
			p.SaveErrors, p.Requested, p.Duration, p.Checks = true, 30, 0, []string{"is even"}
		})
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
			_, id, _ := bytes.Cut(b, []byte("/?id="))
			id, _, _ = bytes.Cut(id, []byte(" "))
			p.Reply(ms, fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nX-Id: %s\r\nX-More: 1\r\nContent-Length: 9\r\n\r\nid %s", id, append(id, "......"[:6-len(id)]...)))
		}})
		if m.wrong != 0 || r.Scenario.Checks[0].Failed != 15 || len(r.Samples) != 15 {
			t.Errorf("%d wrong, %+v, %d samples", m.wrong, r.Scenario.Checks, len(r.Samples))
		}
		for i, s := range r.Samples { // of iterations 1, 3, 5 …
			id := strconv.Itoa(int(s.Iteration))
			if s.Phase != loadresult.Check || s.Kind != "is even" || s.Step != "step 1" || s.Request.Path != "/?id="+id ||
				string(s.Body) != "id "+id+"......"[:6-len(id)] || len(s.Fields) != 3 || s.Fields[0].Value != id || s.Request.Holes != nil {
				t.Errorf("own %v: sample %d: %+v", own, i, s)
			}
		}
	}
}

// reusing is a scenario whose messages all have the same memory. Odd ids fail its check.
type reusing struct {
	own   bool
	fill  proto.Fill
	text  [8]byte
	wrong int
}

func (x *reusing) Want() proto.Want                               { return proto.Want{Body: 2, Fields: []string{"x-id"}} }
func (x *reusing) Make(scenario.Share) (scenario.Scenario, error) { return x, nil }
func (x *reusing) Start(u *scenario.User) scenario.Step {
	id := strconv.AppendInt(x.text[:0], u.Iteration, 10)
	if x.fill.Values = [][]byte{id}; x.own {
		x.fill.Own = &proto.Request{Method: "GET", Authority: "sim", Path: "/?id=" + string(id)}
	}
	return scenario.Step{Message: proto.Message{Fill: &x.fill}}
}
func (x *reusing) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	id, _ := strconv.Atoi(string(r.Field("x-id")))
	if string(r.Body) != "id" || r.Fields() != 1 || !r.Truncated() || r.Field("x-more") != nil {
		x.wrong++
	}
	r.Check(0, id%2 == 0)
	copy(x.text[:], "########")
	if x.own {
		*x.fill.Own = proto.Request{}
	}
	return scenario.End()
}

// Without the setting an error of a scenario has one sample, of what the scenario wants.
func TestSampleOfACheck(t *testing.T) {
	m := thinking(0)
	m.want = proto.Want{Body: 3}
	m.check = func(_ int, r *scenario.Response) { r.Check(0, false) }
	p := scenarioPlan(m, 1, func(p *loadplan.Plan) { p.Requested, p.Duration, p.Checks = 30, 0, []string{"never"} })
	r := simulate(t, p, timed(1))
	if len(r.Samples) != 1 || string(r.Samples[0].Body) != "hel" || r.Samples[0].BodyBytes != 5 ||
		r.Samples[0].Request.Method != "" || r.Samples[0].Fields != nil {
		t.Errorf("%+v", r.Samples)
	}
}

// Responses that are kept whole cost no memory once there is some, and errors none once there are
// enough samples.
func TestSamplesAllocateNothing(t *testing.T) {
	for name, change := range map[string]func() loadplan.Plan{
		"requests": func() loadplan.Plan {
			return simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 4, loadplan.Seconds(1000*s) })
		},
		"scenario": fillingPlan,
	} {
		for _, reply := range [][]byte{hello, unavailable} {
			t.Run(fmt.Sprintf("%s, %.12s", name, reply), func(t *testing.T) {
				p := change()
				p.SaveErrors = true
				w := loopWorker(t, &p, &loop{reply: reply}, func(*metric.Counters) {})
				checkAllocations(t, w, func() int64 { return w.counters.Completed + w.counters.Failed })
				if failed := len(w.samples.Kept) == loadplan.SamplesMost; failed != (&reply[0] == &unavailable[0]) {
					t.Errorf("%d samples", len(w.samples.Kept))
				}
			})
		}
	}
}

// An answer to an upload that is still being sent is kept until the step is over.
func TestSampleOfALentStep(t *testing.T) {
	x := &uploading{body: make([]byte, 200<<10), next: func(r *scenario.Response) { r.Check(0, false) }}
	p := scenarioPlan(x, 1, func(p *loadplan.Plan) {
		p.Requests[0].Method, p.Requests[0].Body = "POST", []byte{}
		p.Requests[0].Holes = []proto.Hole{{In: proto.InBody}}
		p.Requested, p.Duration, p.SaveErrors, p.Checks = 3, 0, true, []string{"never"}
	})
	n := 0
	r := simulate(t, p, &slowSends{takes: 10 * ms, Sim: &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if bytes.HasPrefix(b, []byte("POST ")) {
			n++
			p.Reply(ms, answer(200, fmt.Sprint("early ", n)))
		}
	}}})
	for i, s := range r.Samples {
		took := min(10*int64(i), 10)*ms + ms // the last piece before it is still being sent
		if want := fmt.Sprint("early ", i+1); string(s.Body) != want || int64(s.Ended-s.Sent) != took ||
			s.RequestBytes != 200<<10 || s.Request.Body[0] != byte('a'+i) || len(s.Request.Body) != loadplan.SampledBody {
			t.Errorf("%d: %q, want %q, after %v; %d bytes sent", i, s.Body, want, s.Ended-s.Sent, s.RequestBytes)
		}
	}
	if len(r.Samples) != 3 {
		t.Errorf("%d samples", len(r.Samples))
	}
}

// Every protocol's codec gives what a sample needs.
func TestSamplesOfEveryProtocol(t *testing.T) {
	t.Parallel()
	refuse := func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rw.Header().Set("X-Why", "it is "+string(body))
		rw.WriteHeader(http.StatusTeapot)
		io.WriteString(rw, "no tea for "+string(body))
	}
	port, _ := serveHTTP3(t, refuse, nil)
	for name, p := range map[string]loadplan.Plan{
		loadplan.HTTP11: servedPlan(t, refuse, false, func(*loadplan.Plan) {}),
		loadplan.HTTP2:  servedPlan(t, refuse, true, func(p *loadplan.Plan) { p.HTTP, p.Streams = "2", 3 }),
		loadplan.HTTP3:  http3Plan(port, func(p *loadplan.Plan) { p.Streams = 3 }),
	} {
		checkTeapots(t, name, p, func(p loadplan.Plan) *loadresult.Result { return measure(t, p) })
	}
	checkTeapots(t, loadplan.FastCGI, simPlan(func(p *loadplan.Plan) { p.Target.FastCGI, p.Target.URL = true, "fcgi://sim/" }),
		func(p loadplan.Plan) *loadresult.Result {
			return simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
				p.Reply(ms, records("Status: 418\r\nX-Why: it is me\r\n\r\nno tea for me", 0))
			}})
		})
}

// checkTeapots runs a plan whose server refuses everything, with the reason.
func checkTeapots(t *testing.T, name string, p loadplan.Plan, run func(loadplan.Plan) *loadresult.Result) {
	t.Helper()
	p.SaveErrors, p.Requested, p.Duration = true, 30, 0
	p.Timeout, p.Connecting = loadplan.Seconds(60*s), loadplan.Seconds(60*s)
	p.Requests[0].Method, p.Requests[0].Body = "POST", []byte("me")
	r := run(p)
	if len(r.Samples) != loadplan.SamplesMost || r.Total.Failed != 30 {
		t.Errorf("%s: %d samples of %d errors: %+v", name, len(r.Samples), r.Total.Failed, r.Failures)
		return
	}
	for _, s := range r.Samples {
		why := slices.IndexFunc(s.Fields, func(f proto.Field) bool { return f.Name == "x-why" && f.Value == "it is me" })
		if s.Status != 418 || string(s.Body) != "no tea for me" || s.BodyBytes != 13 || why < 0 || s.Protocol != name ||
			string(s.Request.Body) != "me" || s.Request.Method != "POST" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
