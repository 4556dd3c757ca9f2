// Command agent is an agent of a fleet that wants to hurt whoever runs it, and the other agents. It
// joins with a token, does as it is told until the load begins, and then, instead of making any
// load, attacks in one of these ways:
//
//	lie      reports counts near 2⁶³, and seconds that are yet to come
//	flood    says the same long report as fast as it can, up to a gigabyte
//	inflate  says at the end what is 64 KiB long and becomes gigabytes when it is read
//
// It is for tests of dyno on this machine: see main_test.go.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/bus"
	"dyno/internal/fleet/wire"
)

// Limits of an attack, so that it cannot do to this machine what it shows.
const (
	floodMost  = 2000      // messages of floodBytes
	floodBytes = 400 << 10 // and a third more as they are sent
	lease      = time.Minute
)

func main() {
	how := flag.String("how", "flood", "lie, flood or inflate")
	name := flag.String("name", "hostile", "of the agent")
	inflated := flag.Int("inflated", 64, "MiB that a final becomes when it is unpacked")
	geometry := flag.String("geometry", wire.Geometry(), "that it says it has")
	flag.Parse()
	token, err := io.ReadAll(os.Stdin)
	if err == nil {
		a := attack{how: *how, inflated: *inflated << 20, geometry: *geometry}
		err = a.run(string(token), *name, time.After(lease))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// An attack is one hostile agent at work.
type attack struct {
	how      string
	inflated int // bytes
	geometry string

	me    bus.Identity
	conn  *nats.Conn
	key   nkeys.KeyPair
	begun time.Time // of the agent's clock

	mu   sync.Mutex
	of   wire.RunRef
	plan load.Plan
	data []byte
	seq  int64
	loud sync.WaitGroup
	over chan struct{}
}

// run joins with a token and is an agent until enough.
func (a *attack) run(token, name string, enough <-chan time.Time) error {
	access, err := bus.ParseToken(token)
	if err != nil {
		return err
	}
	a.me, err = bus.Join(access, bus.JoinRequest{Name: name, Host: "hostile", Version: load.Version})
	if err != nil {
		return err
	}
	link, err := a.me.Connect(0)
	if err != nil {
		return err
	}
	defer link.Close()
	if a.key, err = nkeys.CreateCurveKeys(); err != nil {
		return err
	}
	a.conn, a.begun, a.over = link.Conn, time.Now(), make(chan struct{})
	defer a.loud.Wait()
	defer close(a.over)
	for _, who := range []string{name, wire.Everyone} {
		if _, err := a.conn.Subscribe(wire.CommandsPattern(who), a.command); err != nil {
			return err
		}
	}
	beat := time.NewTicker(time.Second / 2)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			a.mu.Lock()
			a.say(wire.Alive, a.of)
			a.mu.Unlock()
		case <-enough:
			return nil
		}
	}
}

func (a *attack) say(what string, m any) {
	a.conn.Publish(wire.EventSubject(a.me.Name, what), wire.Encode(m))
}

func (a *attack) now() int64 { return int64(time.Since(a.begun)) }

// command does what an agent does, until the load begins.
func (a *attack) command(m *nats.Msg) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, verb, _ := wire.ParseSubject(m.Subject)
	switch verb {
	case wire.WhoIsThere:
		a.hello(m)
	case wire.DeliverPlan:
		var p wire.Piece
		if wire.Decode(m.Data, &p) != nil {
			return
		}
		if a.data = append(a.data, p.Data...); p.Index < p.Count-1 {
			return
		}
		_, plan, err := wire.OpenOrder(a.data, p.From, a.key, func(_, _ []byte) error { return nil })
		if a.data = nil; err != nil {
			fmt.Fprintln(os.Stderr, "agent: the plan:", err)
			return
		}
		a.of, a.plan, a.seq = p.RunRef, plan, 0
		a.say(wire.OrderAnswered, wire.Answer{RunRef: a.of})
	case wire.OpenConnections:
		a.say(wire.ConnectionsOpen, a.of)
	case wire.SyncClock:
		var q wire.ClockSync
		if wire.Decode(m.Data, &q) == nil {
			q.Epoch, q.ReceivedAt, q.RepliedAt = a.of.Epoch, a.now(), a.now()
			a.say(wire.ClockSynced, q)
		}
	case wire.Arm:
		i, err := wire.ParseInstruction(m.Data, func(_, _ []byte) error { return nil })
		if err == nil {
			a.say(wire.Armed, a.of)
			a.loud.Go(func() { a.begin(a.begun.Add(time.Duration(i.Start))) })
		}
	}
}

// hello says that a life is there.
func (a *attack) hello(m *nats.Msg) {
	var who wire.DiscoveryQuery
	public, err := a.key.PublicKey()
	if errors.Join(err, wire.Decode(m.Data, &who)) != nil {
		return
	}
	h := wire.Hello{QueryID: who.QueryID, Epoch: "one", Version: load.Version, Geometry: a.geometry,
		Weight: 1, Threads: 1, Key: public, Nonce: "none", Clock: time.Now()}
	if h.Proof, err = a.me.SignText(h.KeyClaim(a.me.Name)); err == nil {
		a.say(wire.Present, h)
	}
}

// begin attacks once the load has begun.
func (a *attack) begin(at time.Time) {
	time.Sleep(time.Until(at))
	end := at.Add(time.Duration(a.plan.Warmup + a.plan.Duration))
	switch a.how {
	case "lie":
		for i := 0; time.Now().Before(end) && a.wait(time.Second); i++ {
			a.lie(i)
		}
	case "flood":
		a.flood()
	case "inflate":
		if a.wait(time.Until(end) + time.Second/2) {
			a.inflate()
		}
	}
}

// wait is false if the attack is over before.
func (a *attack) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-a.over:
		return false
	}
}

// report says a report under the next number.
func (a *attack) report(r wire.Report) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seq++
	r.RunRef, r.Seq = a.of, a.seq
	text := wire.Encode(r)
	if !strings.Contains(a.geometry, "errors apart") { // an old one, which does not know the word
		text = bytes.Replace(text, []byte(`"ErrorLatency":{"count":0,"sum":0,"min":0,"max":0},`), nil, 1)
	}
	a.conn.Publish(wire.EventSubject(a.me.Name, wire.Reported), text)
}

// near is a count of which two are more than an int64 holds.
const near = 1<<62 + 1<<61

// lie reports a second with near completed, and their latencies.
func (a *attack) lie(second int) {
	at := time.Duration(second) * time.Second
	iv := load.Interval{Index: second, From: at, To: at + time.Second, Sent: near, Completed: near,
		Latency: counting(near)}
	a.report(wire.Report{Tick: &iv})
	far := load.Interval{Index: 1 << 40, From: at, To: at + time.Second}
	a.report(wire.Report{Tick: &far})
}

// counting is a histogram of n values of 1 ns.
func counting(n int64) (s metric.Sparse) {
	packed := []byte{1} // the second bucket
	for left := uint64(n); ; left >>= 7 {
		if left < 0x80 {
			packed = append(packed, byte(left))
			break
		}
		packed = append(packed, byte(left)|0x80)
	}
	b, err := json.Marshal(map[string]any{"count": n, "sum": n, "min": 1, "max": 1,
		"digits": metric.Fine, "buckets": packed})
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		panic(err) // of a constant
	}
	return s
}

// flood says one long report again and again, as fast as the bus takes it.
func (a *attack) flood() {
	text := wire.Encode(wire.Report{RunRef: a.of, Seq: 1 << 40, Data: make([]byte, floodBytes)})
	for range floodMost {
		select {
		case <-a.over:
			return
		default:
			a.conn.Publish(wire.EventSubject(a.me.Name, wire.Reported), text)
		}
	}
}

// inflate says as its last word what becomes very long.
func (a *attack) inflate() {
	const head, one, tail = `{"result":{"series":[`, `{},`, `{}]},"start":0,"late":0}`
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.Copy(w, io.MultiReader(strings.NewReader(head),
		strings.NewReader(strings.Repeat(one, (a.inflated-len(head)-len(tail))/len(one))),
		strings.NewReader(tail)))
	w.Close()
	fmt.Fprintf(os.Stderr, "agent: its final has %d bytes and becomes %d\n", b.Len(), a.inflated)
	pieces := wire.SplitPieces(b.Bytes(), wire.FinalPieceMax)
	for i, data := range pieces {
		a.report(wire.Report{Data: data, Last: i == len(pieces)-1})
	}
}
