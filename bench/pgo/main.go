// Pgo makes the profile for profile-guided builds of dyno: of the most common loads, on each
// ring, against dyno target.
//
//	go run ./bench/pgo -dyno ./dyno -o default.pgo
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"runtime/pprof"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
)

func main() {
	dyno := flag.String("dyno", "./dyno", "the program whose target is loaded")
	out := flag.String("o", "default.pgo", "the profile")
	long := flag.Duration("d", 3*time.Second, "length of each load")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := writeProfile(ctx, *dyno, *out, *long); err != nil {
		fmt.Fprintln(os.Stderr, "pgo:", err)
		os.Exit(1)
	}
}

// loads are the profiled loads, each as a change of the default.
var loads = []func(*loadplan.Plan){
	func(p *loadplan.Plan) {},
	func(p *loadplan.Plan) { p.Ring = "epoll" },
	func(p *loadplan.Plan) { p.Connections = 1000 },
	func(p *loadplan.Plan) { p.Pipeline = 16 },
	func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(20_000) },
	func(p *loadplan.Plan) { p.Reconnect = 1 },
}

// writeProfile writes one profile of all loads.
func writeProfile(ctx context.Context, dyno, out string, long time.Duration) (err error) {
	at, end, err := startTarget(ctx, dyno)
	if err != nil {
		return err
	}
	defer end()
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer file.Close()
	defer func() {
		if err != nil { // no build would succeed with half a profile
			os.Remove(out)
		}
	}()
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for i, change := range loads {
		p := loadplan.DefaultPlan()
		p.Target = loadplan.Target{URL: "http://" + at.String() + "/", Host: at.Addr().String(),
			Port: at.Port()}
		p.Requests = []loadplan.Request{{Weight: 1, Request: proto.Request{Method: "GET",
			Authority: at.String(), Path: "/"}}}
		p.Connections, p.Threads, p.Duration = 100, 1, loadplan.Seconds(long)
		change(&p)
		r, err := load.Run(ctx, p, nil)
		if err != nil {
			return fmt.Errorf("load %d: %w", i, err)
		}
		if r.Ended != loadresult.ByDuration || r.Total.Completed == 0 {
			return fmt.Errorf("load %d: ended by %s, %d completed", i, r.Ended, r.Total.Completed)
		}
		fmt.Printf("load %d: %d completed on %s\n", i, r.Total.Completed, r.Ring)
	}
	pprof.StopCPUProfile()
	return file.Close()
}

// startTarget starts a target. It returns its address, and a function that ends it.
func startTarget(ctx context.Context, dyno string) (at netip.AddrPort, end func(), err error) {
	cmd := exec.CommandContext(ctx, dyno, "target", "--listen", "127.0.0.1:0", "--body", "12")
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return at, nil, fmt.Errorf("start the target: %w", err)
	}
	end = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	lines := bufio.NewReader(pipe)
	line, err := lines.ReadString('\n')
	if err == nil {
		go io.Copy(io.Discard, lines)
		_, where, _ := strings.Cut(strings.TrimSpace(line), "http://")
		at, err = netip.ParseAddrPort(strings.TrimSuffix(where, "/"))
	}
	if err != nil {
		end()
		return at, nil, fmt.Errorf("the target says %q: %w", line, err)
	}
	return at, end, nil
}
