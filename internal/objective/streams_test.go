package objective

import (
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/stream"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/result/streamed"
)

// judged is how an objective judges a result, and in a word.
func judged(t *testing.T, expr string, r *result.Result) (o result.Outcome, state string) {
	t.Helper()
	parsed, err := Parse(expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	o = parsed.Judge(r)
	switch {
	case o.IsUndecided():
		return o, "undecided"
	case o.Met:
		return o, "met"
	}
	return o, "missed"
}

// Objectives of streams are judged by what the streams had. A stream that was cut in a silence may
// have had a longer gap, so it cannot help to meet an upper bound.
func TestObjectivesOfStreams(t *testing.T) {
	s := metric.NewStreams()
	for i := range int64(1000) {
		s.First.Record((i + 1) * 1e6) // 1 ms to 1 s
		s.Service.Record(1e6)
		s.Token.Record(10e6)
	}
	for range 5000 {
		s.Gap.Record(20e6)
	}
	s.Counted, s.Received, s.ReceivedTokens, s.Told = 6000, 6000, 4000, 4000
	s.Cut, s.CutMost, s.Cuts[33] = 100, 9e9, 100 // 8.6 s or more
	s.Stalled = 20
	r := &result.Result{Traffic: result.Traffic{Goodput: &streamed.Goodput{Good: streamed.Good{Share: 0.962, Rate: 7.7}}}}
	r.Stream, _ = streamed.From("sse", s, nil, 10*time.Second)
	for expr, want := range map[string]string{
		"first_event.p50<510ms": "met", "first_event.p99<900ms": "missed", "ttft.p99<1s": "met", "gap.p50<30ms": "met",
		"gap.p99<30ms": "missed", "gap.max<1s": "missed", "gap.max<10s": "undecided",
		// 120 streams that did not end may have had any token time.
		"token_time.p50<11ms": "met", "token_time.p99<11ms": "undecided", "token_time.mean<11ms": "undecided",
		"token_time.p50>9ms": "met", "tpot.p99<9ms": "missed", "tpot.p90>11ms": "undecided",
		"events>500/s": "met", "events>1k": "missed", "tokens>=400": "met", "good>96%": "met", "good>99%": "missed",
		"goodput>7/s": "met",
	} {
		got, state := judged(t, expr, r)
		note := map[bool]string{true: "120 streams began but did not end: 100 were cut, 20 stalled"}[want == "undecided"]
		if state != want || note != "" && got.Note != note {
			t.Errorf("%s: %+v, want %s", expr, got, want)
		}
		if plain, _ := judged(t, expr, &result.Result{}); plain.Met {
			t.Errorf("%s is met where answers are no streams: %+v", expr, plain)
		}
	}
	left := metric.NewStreams()
	for range 7 {
		left.Events.Record(12)
	}
	left.Untold, left.Taken = 2, 5
	r = &result.Result{}
	r.Stream, _ = streamed.From("ollama", left, nil, 10*time.Second)
	r.Requests.Sent = 7
	const note = "users left 5 of 7 streams before the server sent the number of tokens: the token time of these streams is not known, and a goodput limit on token time counts as missed"
	for expr, want := range map[string]string{"tpot.p99<60ms": note, "token_time.max<1s": note, "gap.max<2s": ""} {
		if got, _ := judged(t, expr, r); got.Met || got.Value != nil || got.Note != want {
			t.Errorf("%s: %+v, want the note %q", expr, got, want)
		}
	}
	if _, err := Parse("itl.p99<1s"); err == nil {
		t.Error("itl has two meanings")
	}
}

// Of a route there are the first events and gaps of its streams. Where some had no answer, what is
// below a bound may have been above it.
func TestObjectivesOfRoutesWithStreams(t *testing.T) {
	times := func(ms float64) *streamed.Times {
		return &streamed.Times{Count: 200, P50: ms * 500, P99: ms * 1000, Max: ms * 2000}
	}
	r := &result.Result{Routes: []result.Route{{Name: "POST /login", Completed: 9, P99: 1}, {Name: "a.gap", Completed: 200, P99: 7e3, First: times(10), Gap: times(3)},
		{Name: "b", Completed: 190, P99: 7e3, Gap: times(3), Over: &durations.Over{US: 1e6, Count: 10}},
		{Name: "POST /chat", Completed: 200, Token: times(40), Goodput: &streamed.Good{Share: 0.97, Rate: 8}, Rate: &streamed.Rate{Events: 900, Tokens: 950}},
		{Name: "cut", Completed: 200, Token: times(40), Cut: 1, Goodput: &streamed.Good{}}, {Name: "good", Completed: 200, P99: 7e3}}}
	for expr, want := range map[string]string{
		"route.a.gap.first_event.p99<11ms": "met", "route.a.gap.ttft.p50<5ms": "missed", "route.a.gap.gap.max<7ms": "met",
		"route.a.gap.p99<8ms": "met", "route.b.gap.p99<4ms": "undecided", "route.b.gap.p99<2ms": "missed",
		"route.POST /chat.token_time.p99<41ms": "met", "route.POST /chat.tpot.p50<20ms": "missed", "route.cut.token_time.p99<41ms": "undecided",
		"route.cut.token_time.p99<39ms": "missed", "route.POST /chat.good>=97%": "met", "route.POST /chat.goodput>8/s": "missed", "route.cut.good>1%": "missed",
		"route.POST /chat.events>899/s": "met", "route.POST /chat.tokens<1k": "met", "route.POST /login.events>=0": "missed", "route.none.good>=0%": "missed",
		"route.good.p99<8ms": "met", "route.good.good>=0%": "missed", "route.POST /login.gap.p99 < 1 s": "missed", "route.POST /login.max<2ms": "missed", "route.b.first_event.p99<1s": "missed", "route.b.gap.p90<1s": "missed",
	} {
		got, state := judged(t, expr, r)
		if state != want {
			t.Errorf("%s: %+v, want %s", expr, got, want)
		}
	}
}

// Every measure of the table is an objective, of the whole run and of a route. A share of good
// requests is harder with more load, a rate is not. What an objective needs, --stream or --goodput,
// it says.
func TestEachStreamMeasureIsAnObjective(t *testing.T) {
	parse := func(expr string) Objective {
		o, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	lacks := func(o Objective, p loadplan.Plan) string {
		if flaw := o.Lacks(&p); flaw != nil {
			return flaw.Mend
		}
		return ""
	}
	plain, sse, told := loadplan.Plan{}, loadplan.Plan{Goodput: "latency<1s"}, loadplan.Plan{}
	sse.Stream.Format, told.Stream.Format = stream.SSE, stream.OpenAI
	check := func(o Objective, ofPlain, ofSSE, ofTold string) {
		t.Helper()
		if got, want := [3]string{lacks(o, plain), lacks(o, sse), lacks(o, told)}, [3]string{ofPlain, ofSSE, ofTold}; got != want {
			t.Errorf("%s: %q, want %q", o.Expr, got, want)
		}
	}
	for _, m := range result.StreamTimes {
		untold := ""
		if m.Name == result.TokenTime {
			untold = "give {Tokens}, as $.usage.tokens"
		}
		check(parse(m.Name+".p99<1s"), "give {Format}", untold, "")
		check(parse("route.a."+m.Name+".p99<1s"), "", untold, "")
		if !parse(m.Name + ".p99<1s").HarderWithLoad() {
			t.Error(m.Name)
		}
	}
	check(parse("route.a.tpot.max<1s"), "", "give {Tokens}, as $.usage.tokens", "")
	check(parse("route.a.gap.p90<1s"), "", "of a route's streams there are p50, p99 and max", "of a route's streams there are p50, p99 and max")
	check(parse("tpot.p99.9<1s"), "give {Format}", "give {Tokens}, as $.usage.tokens", "")
	for _, m := range result.StreamNumbers {
		limit, ofPlain, ofSSE, ofTold := ">1/s", "give {Format}", "", ""
		if m.Unit == "%" {
			limit = ">1%"
		}
		if m.OfGoodput {
			ofPlain, ofTold = "give {Goodput}", "give {Goodput}"
		} else if m.Name == result.Tokens {
			ofSSE = "give {Tokens}, as $.usage.tokens"
		}
		for _, name := range []string{m.Name, "route.a.b." + m.Name} {
			o := parse(name + limit)
			check(o, ofPlain, ofSSE, ofTold)
			if o.HarderWithLoad() != (m.Unit == "%") || o.OfGood() != (name == "good") {
				t.Errorf("%s: %+v", name, o)
			}
		}
	}
}
