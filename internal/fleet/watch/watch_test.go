package watch

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/fleet/wire"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// onBus is a connection to a bus of the test's own.
func onBus(t *testing.T) func() *nats.Conn {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("no bus")
	}
	return func() *nats.Conn {
		c, err := nats.Connect(s.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
}

// seal is a signature that anybody can make.
func seal(b []byte) ([]byte, error) { return append([]byte("signed "), b...), nil }

func unseal(b, signature []byte) error {
	if want, _ := seal(b); string(want) != string(signature) {
		return errors.New("not signed")
	}
	return nil
}

// serve has an agent of that name at work until the test ends.
func serve(t *testing.T, c *nats.Conn, name string) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	a := &Agent{Conn: c, Name: name, Verify: unseal, Log: func(line string) { t.Log(line) }}
	go func() { done <- a.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// What a process used in the window is what it says itself that it used.
func TestWatch(t *testing.T) {
	bus := onBus(t)
	serve(t, bus(), "db1")
	w, err := BeginWatch(t.Context(), bus(), "db1", []string{strconv.Itoa(os.Getpid())}, seal)
	if err != nil {
		t.Fatal(err)
	}
	from, x := time.Now(), 0.0
	for n := 0; time.Since(from) < 500*time.Millisecond || n < 1e6; n++ { // some CPU time, however long that takes
		x = math.Sin(x + 1)
	}
	to := time.Now()
	seen, err := w.EndWindow(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen.Trees) != 1 || seen.Trees[0].PID != os.Getpid() || seen.Sampler.Samples < 2 ||
		seen.Host.CPUs == 0 {
		t.Fatalf("%+v", seen)
	}
	// It was busy for the whole window, on a machine that others use too: some of it is seen.
	if cpu := float64(seen.Trees[0].CPU); cpu < 1e6 || seen.Trees[0].RSS.Peak < 1<<20 {
		t.Errorf("CPU %v ns, memory %v", cpu, seen.Trees[0].RSS.Peak)
	}
}

// What cannot be watched is said, by name.
func TestCannotWatch(t *testing.T) {
	bus := onBus(t)
	serve(t, bus(), "db1")
	for _, test := range []struct{ agent, process, reason string }{
		{"db1", "no-such-server", `no process is named "no-such-server"`},
		{"db2", strconv.Itoa(os.Getpid()), "db2 does not answer"},
	} {
		if _, err := BeginWatch(t.Context(), bus(), test.agent, []string{test.process}, seal); err == nil ||
			!strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s on %s: %v", test.process, test.agent, err)
		}
	}
}

// Nobody watches who has not the key, nor with what was said to another agent, nor more than
// there is room for; what ends is that of which nothing is heard.
func TestHear(t *testing.T) {
	bus := onBus(t)
	controller := bus()
	answers, err := controller.SubscribeSync(wire.EventSubject("db1", verb))
	if err != nil {
		t.Fatal(err)
	}
	if err := controller.Flush(); err != nil {
		t.Fatal(err)
	}
	a := &Agent{Conn: bus(), Name: "db1", Verify: unseal}
	a.initNonces()
	all := map[string]*activeWatch{}
	defer func() {
		for _, v := range all {
			v.stopSampling()
		}
	}()
	me := []string{strconv.Itoa(os.Getpid())}
	asks := map[string]*Watch{}
	say := func(b []byte) *answer {
		a.answerQuestion(all, &nats.Msg{Data: b}, time.Now())
		if err := errors.Join(a.Conn.Flush(), controller.Flush()); err != nil { // what was said is there
			t.Fatal(err)
		}
		m, err := answers.NextMsg(time.Millisecond)
		if err != nil {
			return nil
		}
		var got answer
		if err := json.Unmarshal(m.Data, &got); err != nil {
			t.Fatal(err)
		}
		return &got
	}
	hear := func(q question, sign func([]byte) ([]byte, error)) *answer {
		w := asks[q.ID]
		if w == nil {
			w = &Watch{id: q.ID, names: me}
			asks[q.ID] = w
		}
		w.agent, w.sign = q.Agent, sign
		b, err := w.signedQuestion(q)
		if err != nil {
			t.Fatal(err)
		}
		got := say(b)
		if got == nil || got.Nonce == "" {
			return got
		}
		if len(all) > 0 && all[q.ID] != nil {
			t.Errorf("%+v: a nonce for a watch that is under way", q)
		}
		w.nonce = got.Nonce
		if b, err = w.signedQuestion(q); err != nil {
			t.Fatal(err)
		}
		return say(b)
	}
	none := func([]byte) ([]byte, error) { return nil, nil }
	if got := hear(question{ID: "x", Agent: "db1"}, none); got != nil || len(all) > 0 {
		t.Errorf("without a signature: %+v", got)
	}
	if got := hear(question{ID: "x", Agent: "db2"}, seal); got != nil || len(all) > 0 {
		t.Errorf("what is for another: %+v", got)
	}
	if got := hear(question{ID: "x", Agent: "db1", Long: 1}, seal); got == nil || !strings.Contains(got.Fault, "is over") {
		t.Errorf("the end of what was not begun: %+v", got)
	}
	for i := range watchesMax {
		if got := hear(question{ID: strconv.Itoa(i), Agent: "db1"}, seal); got == nil || got.Fault != "" {
			t.Errorf("watch %d: %+v", i, got)
		}
	}
	if got := hear(question{ID: "x", Agent: "db1"}, seal); got == nil || !strings.Contains(got.Fault, "under way") {
		t.Errorf("one too many: %+v", got)
	}
	for range 2 { // the answer may have been lost
		got := hear(question{ID: "0", Agent: "db1", Ago: time.Second, Long: time.Second}, seal)
		if got == nil || got.Seen == nil || len(got.Seen.Trees) != 1 {
			t.Errorf("the end: %+v", got)
		}
	}
}

// What was recorded of a watch begins none later, nor keeps one: the agent wants its nonce back,
// once, and questions that count up. What it ignores it says 60 times a minute at most.
func TestKeptQuestions(t *testing.T) {
	bus := onBus(t)
	controller := bus()
	answers, err := controller.SubscribeSync(wire.EventSubject("db1", verb))
	if err == nil {
		err = controller.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	a := &Agent{Conn: bus(), Name: "db1", Verify: unseal, Log: func(line string) { lines++; t.Log(line) }}
	a.initNonces()
	all := map[string]*activeWatch{}
	defer func() {
		for _, v := range all {
			v.stopSampling()
		}
	}()
	w := &Watch{agent: "db1", id: "x", names: []string{strconv.Itoa(os.Getpid())}, sign: seal}
	message := func() []byte {
		b, err := w.signedQuestion(question{})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	say := func(b []byte) (got answer, came bool) {
		a.answerQuestion(all, &nats.Msg{Data: b}, time.Now())
		if err := errors.Join(a.Conn.Flush(), controller.Flush()); err != nil {
			t.Fatal(err)
		}
		m, err := answers.NextMsg(time.Millisecond)
		if err != nil {
			return got, false
		}
		return got, json.Unmarshal(m.Data, &got) == nil
	}
	first := message()
	got, _ := say(first)
	if got.Nonce == "" || len(all) > 0 {
		t.Fatalf("without a nonce: %+v, %d watches", got, len(all))
	}
	w.nonce = got.Nonce
	begin := message()
	if got, came := say(begin); !came || got.Nonce != "" || len(all) != 1 {
		t.Fatalf("with one: %+v, %d watches", got, len(all))
	}
	keep := message()
	say(keep)
	heard := all["x"].heardAt
	for _, b := range [][]byte{begin, keep} {
		if _, came := say(b); came || all["x"].heardAt != heard {
			t.Error("a watch is kept by what was said before")
		}
	}
	all["x"].stopSampling()
	delete(all, "x")
	for _, b := range [][]byte{first, begin, keep} {
		if got, _ := say(b); got.Nonce == "" || len(all) > 0 {
			t.Errorf("a watch that is over is begun again: %+v", got)
		}
	}
	lines = 0
	for range 1000 {
		say([]byte("nonsense"))
	}
	if lines > 60 {
		t.Errorf("%d lines", lines)
	}
}

func FuzzStrictly(f *testing.F) {
	f.Add([]byte(`{"question":"e30=","signature":"eA=="}`))
	f.Add([]byte(`{"id":"x","agent":"a","processes":["1"],"ago":1,"long":2}`))
	f.Add([]byte(`{"id":"x","seen":{"trees":[{"cpu_ns":null}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, to := range []any{new(signed), new(question), new(answer)} {
			if decodeStrict(b, to) != nil {
				continue
			}
			if text, err := json.Marshal(to); err != nil || decodeStrict(text, to) != nil {
				t.Errorf("%s is read and %s is not: %v", b, text, err)
			}
		}
	})
}
