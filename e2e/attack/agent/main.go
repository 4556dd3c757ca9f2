// Command agent is a hostile agent of a fleet. It joins with a token and behaves until the load
// begins. Then, instead of making load, it attacks the controller and the other agents:
//
//	lie      reports counts near 2⁶³, and seconds that are yet to come
//	flood    sends the same long report as fast as it can, up to a gigabyte
//	inflate  sends a final of 64 KiB that expands to gigabytes
//
// It is for tests of dyno on this machine: main_test.go runs what is here in main.go.
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

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/bus"
	"dyno/internal/fleet/wire"
)

// Limits of an attack, so that it does no harm to this machine.
const (
	floodMessages = 2000      // messages of floodBytes
	floodBytes    = 400 << 10 // and a third more as sent
	lifetime      = time.Minute
)

func main() {
	how := flag.String("how", "flood", "lie, flood or inflate")
	name := flag.String("name", "hostile", "of the agent")
	inflated := flag.Int("inflated", 64, "MiB that a final becomes when it is unpacked")
	geometry := flag.String("geometry", wire.Geometry(), "that it says it has")
	flag.Parse()
	token, err := io.ReadAll(os.Stdin)
	if err == nil {
		a := attack{method: *how, inflated: *inflated << 20, geometry: *geometry}
		err = a.joinAndAttack(string(token), *name, time.After(lifetime))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// An attack is a hostile agent.
type attack struct {
	method   string
	inflated int // bytes
	geometry string

	identity    bus.Identity
	conn        *nats.Conn
	key         nkeys.KeyPair
	clockOrigin time.Time // of the agent's clock

	mu        sync.Mutex
	run       wire.RunRef
	plan      loadplan.Plan
	orderData []byte
	seq       int64
	attackers sync.WaitGroup
	over      chan struct{}
}

// joinAndAttack joins with a token and acts as an agent until enough.
func (a *attack) joinAndAttack(token, name string, enough <-chan time.Time) error {
	access, err := bus.ParseToken(token)
	if err != nil {
		return err
	}
	a.identity, err = bus.Join(access, bus.JoinRequest{Name: name, Host: "hostile",
		Version: loadplan.Version})
	if err != nil {
		return err
	}
	link, err := a.identity.Connect(0)
	if err != nil {
		return err
	}
	defer link.Close()
	if a.key, err = nkeys.CreateCurveKeys(); err != nil {
		return err
	}
	a.conn, a.clockOrigin, a.over = link.Conn, time.Now(), make(chan struct{})
	defer a.attackers.Wait()
	defer close(a.over)
	for _, who := range []string{name, wire.Everyone} {
		if _, err := a.conn.Subscribe(wire.CommandsPattern(who), a.handleCommand); err != nil {
			return err
		}
	}
	beat := time.NewTicker(time.Second / 2)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			a.mu.Lock()
			a.publishEvent(wire.Alive, a.run)
			a.mu.Unlock()
		case <-enough:
			return nil
		}
	}
}

func (a *attack) publishEvent(what string, m any) {
	a.conn.Publish(wire.EventSubject(a.identity.Name, what), wire.Encode(m))
}

func (a *attack) clockReading() int64 { return int64(time.Since(a.clockOrigin)) }

// handleCommand acts as an agent until the load begins.
func (a *attack) handleCommand(m *nats.Msg) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, verb, _ := wire.ParseSubject(m.Subject)
	switch verb {
	case wire.WhoIsThere:
		a.sendHello(m)
	case wire.DeliverPlan:
		var p wire.Piece
		if wire.Decode(m.Data, &p) != nil {
			return
		}
		if a.orderData = append(a.orderData, p.Data...); p.Index < p.Count-1 {
			return
		}
		_, plan, err := wire.OpenOrder(a.orderData, p.From, a.key, func(_, _ []byte) error { return nil })
		if a.orderData = nil; err != nil {
			fmt.Fprintln(os.Stderr, "agent: the plan:", err)
			return
		}
		a.run, a.plan, a.seq = p.RunRef, plan, 0
		a.publishEvent(wire.OrderAnswered, wire.Answer{RunRef: a.run})
	case wire.OpenConnections:
		a.publishEvent(wire.ConnectionsOpen, a.run)
	case wire.SyncClock:
		var q wire.ClockSync
		if wire.Decode(m.Data, &q) == nil {
			q.Epoch, q.ReceivedAt, q.RepliedAt = a.run.Epoch, a.clockReading(), a.clockReading()
			a.publishEvent(wire.ClockSynced, q)
		}
	case wire.Arm:
		i, err := wire.ParseInstruction(m.Data, func(_, _ []byte) error { return nil })
		if err == nil {
			a.publishEvent(wire.Armed, a.run)
			a.attackers.Go(func() { a.attackFrom(a.clockOrigin.Add(time.Duration(i.Start))) })
		}
	}
}

// sendHello answers a discovery query.
func (a *attack) sendHello(m *nats.Msg) {
	var who wire.DiscoveryQuery
	public, err := a.key.PublicKey()
	if errors.Join(err, wire.Decode(m.Data, &who)) != nil {
		return
	}
	h := wire.Hello{QueryID: who.QueryID, Epoch: "one", Version: loadplan.Version,
		Geometry: a.geometry,
		Weight:   1, Threads: 1, Key: public, Nonce: "none", Clock: time.Now()}
	if h.Proof, err = a.identity.SignText(h.KeyClaim(a.identity.Name)); err == nil {
		a.publishEvent(wire.Present, h)
	}
}

// attackFrom attacks from an instant on.
func (a *attack) attackFrom(at time.Time) {
	time.Sleep(time.Until(at))
	end := at.Add(time.Duration(a.plan.Warmup + a.plan.Duration))
	switch a.method {
	case "lie":
		for i := 0; time.Now().Before(end) && a.waitUnlessOver(time.Second); i++ {
			a.reportImpossible(i)
		}
	case "flood":
		a.floodReports()
	case "inflate":
		if a.waitUnlessOver(time.Until(end) + time.Second/2) {
			a.sendInflatingFinal()
		}
	}
}

// waitUnlessOver waits, and returns false if the attack ends before.
func (a *attack) waitUnlessOver(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-a.over:
		return false
	}
}

// sendReport sends a report with the next number.
func (a *attack) sendReport(r wire.Report) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seq++
	r.RunRef, r.Seq = a.run, a.seq
	text := wire.Encode(r)
	if !strings.Contains(a.geometry, "errors apart") { // an old version, without that field
		text = bytes.Replace(text, []byte(`"ErrorLatency":{"count":0,"sum":0,"min":0,"max":0},`), nil, 1)
	}
	a.conn.Publish(wire.EventSubject(a.identity.Name, wire.Reported), text)
}

// hugeCount is a count whose double overflows an int64.
const hugeCount = 1<<62 + 1<<61

// reportImpossible reports a second with hugeCount completed requests, and a second of the far
// future.
func (a *attack) reportImpossible(second int) {
	at := time.Duration(second) * time.Second
	iv := loadresult.Interval{Index: second, From: at, To: at + time.Second, Sent: hugeCount,
		Completed: hugeCount,
		Latency:   sparseOf(hugeCount)}
	a.sendReport(wire.Report{Tick: &iv})
	far := loadresult.Interval{Index: 1 << 40, From: at, To: at + time.Second}
	a.sendReport(wire.Report{Tick: &far})
}

// sparseOf returns a histogram of n values of 1 ns.
func sparseOf(n int64) (s metric.Sparse) {
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

// floodReports sends one long report again and again, as fast as the bus takes it.
func (a *attack) floodReports() {
	text := wire.Encode(wire.Report{RunRef: a.run, Seq: 1 << 40, Data: make([]byte, floodBytes)})
	for range floodMessages {
		select {
		case <-a.over:
			return
		default:
			a.conn.Publish(wire.EventSubject(a.identity.Name, wire.Reported), text)
		}
	}
}

// sendInflatingFinal sends a final that expands to a.inflated bytes.
func (a *attack) sendInflatingFinal() {
	const head, one, tail = `{"result":{"Routes":[`, `{},`, `{}]},"start":0}`
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.Copy(w, io.MultiReader(strings.NewReader(head),
		strings.NewReader(strings.Repeat(one, (a.inflated-len(head)-len(tail))/len(one))),
		strings.NewReader(tail)))
	w.Close()
	fmt.Fprintf(os.Stderr, "agent: its final has %d bytes and becomes %d\n", b.Len(), a.inflated)
	pieces := wire.SplitPieces(b.Bytes(), wire.FinalPieceMax)
	for i, data := range pieces {
		a.sendReport(wire.Report{Data: data, Last: i == len(pieces)-1})
	}
}
