package load

import (
	"context"
	"net"
	"testing"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
)

// A load that is held begins when it is told to, on connections that are open.
func TestRunTogether(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	opened := make(chan net.Conn, 2)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			opened <- c
			go func() {
				for b := make([]byte, 4096); ; {
					if _, err := c.Read(b); err != nil {
						return
					}
					c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
				}
			}()
		}
	}()
	p := loadplan.DefaultPlan()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	p.Target = loadplan.Target{URL: "http://" + at.String() + "/", Host: at.Addr().String(), Port: at.Port()}
	p.Requests = []loadplan.Request{{Weight: 1, Request: proto.Request{Method: "GET", Authority: at.String(), Path: "/"}}}
	p.Connections, p.Threads, p.Requested, p.Duration = 2, 2, 100, 0
	p.Timeout, p.Connecting = loadplan.Seconds(60*s), loadplan.Seconds(60*s)
	var begin time.Time
	r, err := RunTogether(t.Context(), p, func(context.Context) time.Time {
		(<-opened).LocalAddr()
		(<-opened).LocalAddr()
		begin = time.Now().Add(30 * time.Millisecond)
		return begin
	}, nil)
	if err != nil || r.Total.Completed != 100 {
		t.Fatalf("%+v %v", r, err)
	}
	if r.Started.Before(begin.Add(-2 * time.Millisecond)) {
		t.Errorf("began %v before it was told to", begin.Sub(r.Started))
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err = RunTogether(ctx, p, func(ctx context.Context) time.Time {
		cancel()
		<-ctx.Done()
		return time.Time{}
	}, nil)
	if err != nil || r.Ended != loadresult.Interrupted {
		t.Errorf("interrupted at the barrier: %+v %v", r, err)
	}
}

// A load whose context ends at the barrier has no start, however late its workers hear of the end:
// otherwise they could send.
func TestNoStartAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g, met := newGate(1), make(chan struct{})
	release := g.HoldForBarrier(ctx, func(ctx context.Context) time.Time {
		defer close(met)
		cancel()
		<-ctx.Done()
		return time.Time{}
	})
	g.WorkerConnected(1, 0, 1)
	<-met
	release()
	if start := g.Start.Load(); start != flow.NotYet {
		t.Errorf("the load would begin at %d", start)
	}
}
