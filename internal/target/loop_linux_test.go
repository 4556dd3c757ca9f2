//go:build amd64 || arm64

package target

import (
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

func TestLoopAllocatesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		for _, service := range []string{"", "constant:1ns"} {
			config := fixed()
			on.use(&config)
			config.Service = service
			c := dial(t, serve(t, config))
			request, answer := []byte(get), make([]byte, len(keep))
			var failed error
			n := testing.AllocsPerRun(2000, func() {
				if _, err := c.Write(request); err != nil {
					failed = err
				}
				if _, err := io.ReadFull(c, answer); err != nil {
					failed = err
				}
			})
			if failed != nil {
				t.Fatal(failed)
			}
			if n > 0 && !on.portable {
				t.Errorf("service %q: %v allocations a request", service, n)
			}
		}
	})
}

// TestLoopsShare checks that every loop has its part of the connections.
func TestLoopsShare(t *testing.T) {
	for _, ring := range []string{"epoll", "uring"} {
		t.Run(ring, func(t *testing.T) {
			config := fixed()
			config.Workers, config.Ring = 3, ring
			s := serve(t, config)
			for range 100 {
				c := dial(t, s)
				fmt.Fprint(c, getLast)
				readAll(t, c)
			}
			for i := range s.site.counts {
				if s.site.counts[i].requests.Load() == 0 {
					t.Errorf("loop %d served nothing", i)
				}
			}
		})
	}
}

func TestJobs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var queue jobs
	for i := range uint64(1000) {
		queue.pushJob(job{end: random.Int64N(50), order: i})
		if i%3 == 2 {
			queue.popJob()
		}
	}
	for last := (job{end: -1}); len(queue) > 0; {
		next := queue.popJob()
		if next.end < last.end || next.end == last.end && next.order < last.order {
			t.Fatalf("%+v came after %+v", next, last)
		}
		last = next
	}
}

// TestWaits checks both ways of waiting, one of which needs a recent kernel.
func TestWaits(t *testing.T) {
	type wait func(int, []syscall.EpollEvent, time.Duration) (int, error)
	for name, wait := range map[string]wait{"nanoseconds": waitFor, "milliseconds": waitMillis} {
		ep, err := syscall.EpollCreate1(0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(ep)
		event, err := newEvent()
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(event)
		ev := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: 7}
		if err := syscall.EpollCtl(ep, syscall.EPOLL_CTL_ADD, event, &ev); err != nil {
			t.Fatal(err)
		}
		events := make([]syscall.EpollEvent, 4)
		const d = 1500 * time.Microsecond
		begin, waits := time.Now(), 0
		for ; time.Since(begin) < d; waits++ { // a signal of the scheduler's ends one early
			if n, err := wait(ep, events, d); n != 0 || err != nil {
				t.Errorf("%s: %d events, %v", name, n, err)
			}
		}
		if waits > 10 {
			t.Errorf("%s: %d waits of %v ended before it", name, waits, d)
		}
		if err := signalEvent(event); err != nil {
			t.Fatal(err)
		}
		if n, err := wait(ep, events, -1); n != 1 || events[0].Fd != 7 || err != nil {
			t.Errorf("%s: %d events, %v", name, n, err)
		}
	}
}
