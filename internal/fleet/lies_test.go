package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// sparseOf is a histogram that says that it counted so many values of 1 ms.
func sparseOf(t *testing.T, n int64) (s metric.Sparse) {
	t.Helper()
	h := metric.NewHistogram(metric.Fine)
	h.Record(1e6)
	b, err := json.Marshal(h.ToSparse())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	one := s
	if err := json.Unmarshal(b, &one); err != nil {
		t.Fatal(err)
	}
	fields["count"], fields["sum"] = json.Number(fmt.Sprint(n)), json.Number(fmt.Sprint(n)+"000000")
	buckets := fields["buckets"].(string)
	var packed []byte
	if err := json.Unmarshal([]byte(`"`+buckets+`"`), &packed); err != nil {
		t.Fatal(err)
	}
	packed = packed[:len(packed)-1] // its count, which was 1
	for n >= 0x80 {
		packed = append(packed, byte(n)|0x80)
		n >>= 7
	}
	fields["buckets"] = append(packed, byte(n))
	if b, err = json.Marshal(fields); err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What no agent can have counted is not added to anything, whatever it says it is.
func TestSound(t *testing.T) {
	const much = math.MaxInt64/2 + 1
	second := func(i int) loadresult.Interval {
		return loadresult.Interval{Index: i, From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second, Sent: 12,
			Completed: 10, Failed: 2, InFlight: 3, Received: 1000, Written: 500, Latency: sparseOf(t, 10), Busy: 0.5,
			Status: map[uint16]int64{200: 10, 503: 1}, Apart: loadresult.Apart{ErrorLatency: sparseOf(t, 1)}, Failures: []loadresult.Failure{
				{Phase: loadresult.Expect, Kind: "status", Detail: "503", Count: 1}, {Phase: loadresult.Read, Kind: "reset", Count: 1}}}
	}
	limit := plausibleMax{sum: math.MaxInt64 / 4 / 3, elapsed: 10 * time.Second}
	for want, change := range map[string]func(*loadresult.Interval){
		"": func(iv *loadresult.Interval) { // requests that were not sent have no latency
			iv.Failures = append(iv.Failures, loadresult.Failure{Phase: loadresult.Check, Kind: loadresult.Refused, Count: 5})
		},
		"is of second 1,":         func(iv *loadresult.Interval) { iv.Index = 1 },
		"is of second -1,":        func(iv *loadresult.Interval) { iv.Index = -1 },
		"is of second 11,":        func(iv *loadresult.Interval) { iv.Index = 11 },
		"is of second 9223":       func(iv *loadresult.Interval) { iv.Index = math.MaxInt64 },
		"a time that has not":     func(iv *loadresult.Interval) { iv.To = 11 * time.Second },
		"that has not come":       func(iv *loadresult.Interval) { iv.From = iv.To + 1 },
		"time that has":           func(iv *loadresult.Interval) { iv.From = -1 },
		"9 completed, 2":          func(iv *loadresult.Interval) { iv.Completed = 9 },
		"and 2 latencies":         func(iv *loadresult.Interval) { iv.ErrorLatency = sparseOf(t, 2) },
		"10 completed, 0":         func(iv *loadresult.Interval) { iv.Failed = 0 },
		"10 completed, 2":         func(iv *loadresult.Interval) { iv.Service = sparseOf(t, 9) },
		"less than no time":       func(iv *loadresult.Interval) { iv.Busy = -1 },
		"4611686018427387904 com": func(iv *loadresult.Interval) { iv.Completed, iv.Latency = much, sparseOf(t, much) },
		"4611686018427387904 sen": func(iv *loadresult.Interval) { iv.Sent = much },
		"-5 in flight":            func(iv *loadresult.Interval) { iv.InFlight = -5 },
		"87904 bytes received":    func(iv *loadresult.Interval) { iv.Received = much },
		"-1 bytes sent":           func(iv *loadresult.Interval) { iv.Written = -1 },
		"36 requests came to an end, and 35 were": func(iv *loadresult.Interval) {
			iv.Sent = 11
		},
		"answers with status": func(iv *loadresult.Interval) { iv.Status = map[uint16]int64{200: 7, 404: 6} },
		"1 answers with status 1000": func(iv *loadresult.Interval) {
			iv.Status = map[uint16]int64{1000: 1}
		},
		"-1 answers":           func(iv *loadresult.Interval) { iv.Status = map[uint16]int64{200: -1} },
		"5000 ways to fail":    func(iv *loadresult.Interval) { iv.Failures = append(iv.Failures, make([]loadresult.Failure, 4998)...) },
		"in the phase \"x\"":   func(iv *loadresult.Interval) { iv.Failures[1].Phase = "x" },
		"-2 failures":          func(iv *loadresult.Interval) { iv.Failures[1].Count = -2 },
		"it says 100005 bytes": func(iv *loadresult.Interval) { iv.Failures[1].Detail = strings.Repeat("x", 99_996) },
		"latencies": func(iv *loadresult.Interval) {
			iv.Failures = []loadresult.Failure{{Phase: loadresult.Expect, Count: math.MaxInt64}, {Phase: loadresult.Expect, Count: 2}}
		},
	} {
		all := loadresult.NewTogether(1, nil)
		for i := range 2 {
			iv := second(i)
			if err := checkSecond(all.Tally(0), &iv, limit); err != nil {
				t.Fatal(err)
			}
			all.Add(0, iv)
		}
		iv := second(2)
		change(&iv)
		err := checkSecond(all.Tally(0), &iv, limit)
		all.Close()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// One who lies a little in each second does not come near 2⁶³ in all.
func TestSumsStaySmall(t *testing.T) {
	all := new(loadresult.Tally)
	limit := plausibleMax{sum: math.MaxInt64 / 4 / 3, elapsed: loadplan.MaxTime}
	all.Received, all.Sent = limit.sum-5, limit.sum
	for n, want := range map[int64]bool{5: true, 6: false} {
		iv := loadresult.Interval{To: time.Second, Received: n}
		if err := checkSecond(all, &iv, limit); (err == nil) != want {
			t.Errorf("%d more: %v", n, err)
		}
	}
	if err := checkSecond(all, &loadresult.Interval{To: time.Second, Sent: 1}, limit); err == nil {
		t.Error("the sum of what was sent has no limit")
	}
}

// alterReports has a controller hear of one agent what change makes of its reports; nil leaves a report
// out.
func alterReports(c *Controller, name string, change func(*wire.Report) *wire.Report) {
	c.alter = func(m *nats.Msg) []*nats.Msg {
		var r wire.Report
		agent, what, _ := wire.ParseSubject(m.Subject)
		if agent != name || what != wire.Reported || wire.Decode(m.Data, &r) != nil {
			return []*nats.Msg{m}
		}
		changed := change(&r)
		if changed == nil {
			return nil
		}
		return []*nats.Msg{{Subject: m.Subject, Data: wire.Encode(changed)}}
	}
}

// alterFinal is change of an agent's last word.
func alterFinal(change func(*wire.Final) []byte) func(*wire.Report) *wire.Report {
	return func(r *wire.Report) *wire.Report {
		if r.Tick != nil {
			return r
		}
		if f, err := wire.ParseFinal(r.Data); err == nil {
			r.Data = change(f)
		}
		return r
	}
}

// One agent of three whose word cannot be is lost, by name and with the reason. The others' load is
// complete and exact, and the result is of the plan that was asked for.
func TestLies(t *testing.T) {
	closed := func(change func(*wire.Final)) func(*wire.Report) *wire.Report {
		return alterFinal(func(f *wire.Final) []byte {
			change(f)
			return f.Pack()
		})
	}
	for name, c := range map[string]struct {
		lie    func(*wire.Report) *wire.Report
		why    string
		onLoss string
	}{
		"a count near 2⁶³": {func(r *wire.Report) *wire.Report {
			if r.Tick != nil {
				const much = math.MaxInt64/2 + 1
				r.Tick.Completed, r.Tick.Sent, r.Tick.Latency = much, much, sparseOf(t, much)
				r.Tick.Status, r.Tick.Service, r.Tick.InFlight = nil, metric.Sparse{}, 0
			}
			return r
		}, "a report of it does not add up: 4611686018427387904", Continue},
		"seconds to come": {func(r *wire.Report) *wire.Report {
			if r.Tick != nil {
				r.Tick.Index += 1 << 40
			}
			return r
		}, "it is of second 1099511627776", Continue},
		"a final that inflates": {alterFinal(func(*wire.Final) []byte {
			return pack64k(`{"result":{"Routes":[` + strings.Repeat("{},", 2<<20) + `{}]}}`)
		}), "becomes longer than", Abort},
		"a final of nonsense":     {alterFinal(func(*wire.Final) []byte { return []byte("nonsense") }), "an agent's result", Abort},
		"a final of more":         {closed(func(f *wire.Final) { f.Result.Unfinished++ }), "does not add up to its reports", Abort},
		"a final of another time": {closed(func(f *wire.Final) { f.Start = math.MinInt64 }), "began at a time at which it was not told to", Abort},
		"a piece of nothing": {func(r *wire.Report) *wire.Report {
			if r.Tick == nil {
				r.Data, r.Last = nil, false
			}
			return r
		}, "a piece of its result has 0 bytes; all but the last have 32768", Abort},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, name := range []string{"a", "b", "liar"} {
				w.startAgent(name, 1, unhurriedly)
			}
			control := w.newController("a", "b", "liar")
			control.OnLoss, control.lease = c.onLoss, unhurried
			alterReports(control, "liar", c.lie)
			p := w.newPlan(120, 3*time.Second, 6)
			r := w.mustRun(control, p)
			i := slices.IndexFunc(r.Fleet.Agents, func(a result.Agent) bool { return a.Name == "liar" })
			if l := r.Fleet.Agents[i]; !strings.Contains(l.Lost, c.why) || l.Final || l.AddsUp != nil {
				t.Errorf("of the liar: %+v", l)
			}
			for k, a := range r.Fleet.Agents {
				if k != i && (a.Lost != "" || !a.Final || !*a.AddsUp || a.Requests.Sent != 120 || a.Requests.Completed != 120) {
					t.Errorf("of another: %+v", a)
				}
			}
			if r.Ended != string(loadresult.ByDuration) || !r.Fleet.AddsUp || r.Requests.Sent > 360 || r.Window.MeasuredS != 3 ||
				r.Plan.Target.URL != p.Target.URL || r.Plan.Connections != 6 || r.Plan.Parts != 0 {
				t.Errorf("%s %+v %+v %+v", r.Ended, r.Requests, r.Window, r.Plan)
			}
		})
	}
}

// An agent that fails in more ways than are told apart is kept, with its load and with every failure
// counted; so is one that fails in thousands in one second.
func TestManyWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1, unhurriedly)
	w.startAgent("b", 1, unhurriedly)
	c := w.newController("a", "b")
	c.lease = unhurried
	told, n := map[string]int64{}, 0
	alterReports(c, "a", func(r *wire.Report) *wire.Report {
		if r.Tick == nil {
			return r
		}
		for range 700 {
			n++
			r.Tick.Failures = append(r.Tick.Failures,
				loadresult.Failure{Phase: loadresult.Connect, Kind: "refused", Address: fmt.Sprintf("127.0.0.1:%d", n), Count: 2})
		}
		told[fmt.Sprint(r.Seq)] = 2 * 700
		return r
	})
	r := w.mustRun(c, w.newPlan(600, 4*time.Second, 6))
	w.checkServed(r)
	if r.Requests.Sent != 2400 || len(told) < 4 {
		t.Errorf("%+v, %d reports had failures", r.Requests, len(told))
	}
	all := newReports(t)
	var many []loadresult.Failure
	for i := range 3000 {
		many = append(many, loadresult.Failure{Phase: loadresult.Read, Kind: "other", Address: fmt.Sprint(i), Count: 1,
			Detail: strings.Repeat("<ü", failureTextMax)})
	}
	limit := plausibleMax{sum: math.MaxInt64 / 4, elapsed: time.Hour}
	for i := range 5 {
		iv := loadresult.Interval{Index: i, From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second,
			Failures: loadresult.Reported(many)}
		if err := checkSecond(all.Tally(0), &iv, limit); err != nil {
			t.Fatal(err)
		}
		if n := len(wire.Encode(wire.Report{Tick: &iv})); n > wire.MessageMax {
			t.Fatalf("a message of %d bytes", n)
		}
		all.Add(0, iv)
	}
	kept := all.Tally(0).Failures
	if n := countFailures(kept, loadresult.Read); n != 5*3000 || len(kept) > failureKindsMax+1 {
		t.Errorf("%d of %d failures, in %d ways", n, 5*3000, len(kept))
	}
}

// pack64k is text as a final is packed.
func pack64k(text string) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // which there is
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

// The stored plan is the controller's, whatever an agent says that it carried out.
func TestStoredPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	w.startAgent("b", 1)
	c := w.newController("a", "b")
	alterReports(c, "a", alterFinal(func(f *wire.Final) []byte {
		f.Threads, f.Result.Proxy, f.Result.Notices = 1<<40, "x\x1b", []fact.Fact{fact.Noticed(fact.SlowerRing{Why: "\x1b[2J"}), {Args: fact.Steal{}}}
		return f.Pack()
	}))
	p := w.newPlan(200, 2*time.Second, 2)
	p.Requests[0].Header = []proto.Field{{Name: "Authorization", Value: "Bearer sesame"}}
	r := w.mustRun(c, p)
	w.checkServed(r)
	if r.Plan.Target != p.Target || r.Plan.Rate != p.Rate || r.Plan.Duration != p.Duration || r.Plan.Parts != 0 ||
		r.Plan.Threads > loadplan.MaxThreads || r.Dyno != loadplan.Version || r.Model != result.OpenLoop || len(r.Plan.Requests) != 1 ||
		!slices.Contains(r.Warnings, `dyno uses the ring "", which is slower, because  [2J`) || len(r.WarningFacts()) != len(r.Warnings) {
		t.Errorf("%+v on %+v", r.Plan, r.Host)
	}
	if text := wire.Encode(r); bytes.Contains(text, []byte("sesame")) {
		t.Error("the plan is stored with its secrets")
	}
}

// Who floods is given up, by name, and is not heard any more; who says again what was not
// acknowledged is not taken for one.
func TestBudget(t *testing.T) {
	start := time.Now()
	for name, c := range map[string]struct {
		each  time.Duration
		bytes int
		n     int
		why   string
	}{
		"beats":                      {heartbeatInterval, 100, 100_000, ""},
		"all reports again":          {resendDelay / inFlightMax, windowMax / inFlightMax, 100_000, ""},
		"what has waited to be read": {0, queuedBytesMax / queuedMessagesMax, queuedMessagesMax, ""},
		"many":                       {time.Millisecond, 10, 100_000, "more than 256 messages a second"},
		"long ones":                  {10 * time.Millisecond, 1 << 19, 1000, "more than 4 MiB a second"},
		"at once":                    {0, 10, 100_000, "it floods"},
	} {
		var b budget
		why := ""
		for i := range c.n {
			if why = b.countMessage(c.bytes, start.Add(time.Duration(i)*c.each)); why != "" {
				break
			}
		}
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
	}
	var b budget
	for range 1000 { // what is taken costs nothing, in bytes
		if why := b.countMessage(1<<20, start); why != "" {
			t.Fatal(why)
		}
		b.refundBytes(1 << 20)
	}
}

// Messages that were dropped unread count as sent: of a flooder, in the time since the last one was
// read; of an agent that sends no more than it may, however long nobody read, they are no flood.
func TestBudgetCountsDropped(t *testing.T) {
	start := time.Now()
	for name, c := range map[string]struct {
		after   time.Duration // after which something is read again
		dropped int
		bytes   int // of a message that was read before
		short   int // messages of 100 bytes that were read before
		floods  bool
	}{
		"nothing dropped":              {time.Second, 0, 0, 1, false},
		"a flood of long ones":         {time.Second, 1000, 100 << 10, 0, true},
		"long ones among short ones":   {time.Second, 30, 1 << 20, 100, true},
		"a flood of short ones":        {time.Second, 100_000, 10, 0, true},
		"a controller without a CPU":   {time.Minute, 600, 100 << 10, 60, false},
		"all reports, again and again": {time.Minute, 60 * inFlightMax, windowMax / inFlightMax, 0, false},
		"two long reports, and beats":  {time.Minute, 60 * 4, windowMax / 2, 10, false},
	} {
		var b budget
		for i := range c.short + 1 {
			length := 100
			if i == 0 {
				length = c.bytes
			}
			if why := b.countMessage(length, start); why != "" {
				t.Fatal(why)
			}
		}
		b.countDropped(c.dropped, 10)
		why := b.countMessage(10, start.Add(c.after))
		if (why != "") != c.floods || c.floods && !strings.Contains(why, fmt.Sprintf("; %d of its messages were dropped unread", c.dropped)) {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// unhurried has agents and controllers believe in one another for so long, unheard: a busy machine is
// slow, and nobody is lost for that.
const unhurried = 5 * time.Minute

func unhurriedly(a *Agent) { a.lease = unhurried }

// One agent that floods the bus is lost for that, and the load of the others is complete and exact,
// however busy the machine is: they are not lost for having been silent.
func TestFlood(t *testing.T) {
	t.Parallel()
	findFlooder(t, 0, "it floods")
}

// A controller that reads too slowly for the flood to be seen in what it reads sees it in what was
// dropped: without these it reads 3.4 MB a second, which an agent may send.
func TestFloodOfDroppedMessages(t *testing.T) {
	t.Parallel()
	findFlooder(t, 300*time.Millisecond, "of its messages were dropped unread")
}

// findFlooder makes runs with a flooder until it is lost for the reason that it must be. A message of
// the flooder takes the controller so long to read.
func findFlooder(t *testing.T, reading time.Duration, reason string) {
	t.Helper()
	// What a flooder without a CPU sends is no flood.
	for seconds := int64(4); ; seconds *= 3 {
		flooder, others, published := floodedRun(t, seconds, reading)
		allowed := byteBurstMax + float64(seconds)*freeBytesPerSecond
		switch {
		case strings.Contains(flooder.Lost, "it floods") && strings.Contains(flooder.Lost, reason) && !flooder.Final:
			if others != "" {
				t.Errorf("of another: %s", others)
			}
			return
		case seconds > 30 && float64(published) < 2*allowed:
			t.Logf("the machine let the flooder send %d bytes, where %.0f are allowed: that is no flood",
				published, allowed)
			return
		case seconds > 30:
			t.Fatalf("of the flooder, which sent %d bytes: %+v; of another: %s", published, flooder, others)
		}
		t.Logf("in %d s: of the flooder: %+v; of another: %s", seconds, flooder, others)
	}
}

// floodedRun is a run of so many seconds during which one of three agents floods the bus: what
// became of that one, of another whose load is not complete, and how many bytes the flooder sent in
// this time: after its final it may send what it likes.
func floodedRun(t *testing.T, seconds int64, reading time.Duration) (
	flooded result.Agent, others string, published int64) {
	t.Helper()
	w := newWorld(t)
	flooder, _ := w.startAgent("flooder", 1, unhurriedly)
	w.startAgent("a", 1, unhurriedly)
	w.startAgent("b", 1, unhurriedly)
	c := w.newController("a", "b", "flooder")
	c.OnLoss, c.lease = Continue, unhurried
	if reading > 0 {
		c.alter = func(m *nats.Msg) []*nats.Msg {
			if m.Subject == wire.EventSubject("flooder", wire.Reported) {
				time.Sleep(reading)
			}
			return []*nats.Msg{m}
		}
	}
	var sent atomic.Int64
	enough := make(chan struct{})
	end := sync.OnceFunc(func() { close(enough) })
	defer end()
	progress := c.Progress
	c.Progress = func(line string) {
		if progress(line); strings.Contains(line, "flooder was lost") {
			time.AfterFunc(100*time.Millisecond, end)
		}
	}
	junk := bytes.Repeat([]byte("x"), 1000<<10) // about the longest message: so a flood takes the least CPU
	r, err := w.tryRun(t.Context(), c, w.newPlan(600, time.Duration(seconds)*time.Second, 6), onceInSecond(0, func() {
		go func() {
			final := time.Now().Add(time.Duration(seconds) * time.Second)
			for {
				select {
				case <-enough:
					return
				default:
				}
				if err := flooder.Publish(wire.EventSubject("flooder", wire.Reported), junk); err != nil {
					if errors.Is(err, nats.ErrConnectionClosed) {
						return
					}
					time.Sleep(time.Millisecond) // what waits is too much already
					continue
				}
				if time.Now().Before(final) {
					sent.Add(int64(len(junk)))
				}
			}
		}()
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Fleet.Agents {
		if a.Name == "flooder" {
			flooded = a
			continue
		}
		if a.Lost != "" || !a.Final || !*a.AddsUp || a.Requests.Sent != 200*seconds || a.Requests.Completed != 200*seconds {
			others += fmt.Sprintf("%+v ", a)
		}
	}
	return flooded, others, sent.Load()
}

// FuzzBelieved has an agent say anything at all in a second and at last: the run has a result, which
// can be written, and in which one that was not believed has no final.
func FuzzBelieved(f *testing.F) {
	good := &loadresult.Result{Ended: loadresult.Unreachable, Cause: "x"}
	whole := string(wire.Encode(good))
	f.Add(`{"Index":0,"To":1000000000,"Sent":2,"Completed":1}`, whole)
	f.Add(`{"Index":0,"To":1000000000,"Sent":3,"Failed":2,"Status":{"404":1},"Failures":[{"Phase":"read","Count":1}]}`, whole)
	f.Add(`{"Sent":9223372036854775807}`, strings.Replace(whole, `"Retried":0`, `"Retried":9223372036854775807`, 1))
	f.Add(`{}`, `{"Measured":9000000000000000000,"Connect":{"digits":3},"Ended":"gone"}`)
	f.Add(`{}`, `{"Ended":"gone","Probe":{"Total":{}},"Routes":[{"Name":"a"}],"Terms":{"a b c":-1},"Room":-1,"Unanswered":[{}]}`)
	f.Add(`{}`, `{"Ended":"gone","Scenario":{"Measures":[{"Name":"b"},{"Name":"a"}]},"Lost":[{}],"Waited":[1,2,3],"Waiting":6,"Drained":1}`)
	f.Fuzz(func(t *testing.T, tick, final string) {
		m := newMember(FoundAgent{Name: "a"})
		m.part = loadplan.DefaultPlan()
		m.part.Target.Host, m.part.Target.URL = "127.0.0.1", "http://127.0.0.1/"
		m.part.Requests = []loadplan.Request{{Weight: 1}}
		r := &fleetRun{Controller: &Controller{}, members: []*member{m}, clock: clock{origin: time.Now().Add(-time.Hour)},
			plan: m.part, runPhase: runPhase{armed: true},
			together: loadresult.NewTogether(1, nil)}
		var iv loadresult.Interval
		if wire.Decode([]byte(tick), &iv) == nil && checkSecond(r.together.Tally(0), &iv, r.currentMax()) == nil {
			iv.Measure()
			r.together.Add(0, iv)
		}
		r.together.Close()
		last, err := wire.ParseFinal(pack64k(`{"result":` + final + `}`))
		if err == nil && last.Result != nil {
			m.final = last
		}
		out, err := r.joinResults()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(out); err != nil {
			t.Error(err)
		}
		if a := out.Fleet.Agents[0]; a.Final == m.counted.Partial || a.Final == (a.Lost != "") && m.final != nil {
			t.Errorf("%+v", a)
		}
	})
}
