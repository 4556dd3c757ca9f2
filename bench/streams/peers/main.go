//go:build linux

// Command peers holds what dyno and benchmark clients of language models say of the first token
// against the log of a server whose law is known, at 10, 100 and 1,000 streams at once, and says
// what an event costs each.
//
//	bench/streams/peers/install.sh FOLDER
//	go build -o dyno ./cmd/dyno && go run ./bench/streams/peers -home FOLDER -md
//
// It is for Linux, and needs taskset and two CPUs: the server has the last one, the tool the
// others. A tool that is not in the folder is left out, and named. The server's log is the truth:
// the time from when it had a request to when it wrote the first event that has text. CPU time is
// that of all processes of the tool from the first request to the end of the last stream, without
// its start and its report.
//
//	main.go   loads and output
//	run.go    a load by one tool
//	tools.go  the tools
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/bench/streams/served"
)

// law is that of the server: a first event after 200 ms on average, and one in 50 ms.
var law = served.Law{First: 200 * time.Millisecond, Least: 50 * time.Millisecond, Events: 20}

// A bench is what all loads have.
type bench struct {
	dyno, home, dir string
	markdown        bool
}

func main() {
	b := bench{}
	flag.StringVar(&b.dyno, "dyno", "./dyno", "the program")
	flag.StringVar(&b.home, "home", "", "the folder that install.sh has filled")
	flag.BoolVar(&b.markdown, "md", false, "write Markdown")
	levels := flag.String("streams", "10,100,1000", "streams at once")
	only := flag.String("only", "", "only these tools, as dyno,aiperf")
	serve := flag.String("serve", "", "be the server that this JSON describes")
	flag.Parse()
	if *serve != "" {
		if err := served.RunJSON(*serve); err != nil {
			log.Fatal(err)
		}
		return
	}
	var err error
	if b.dyno, err = filepath.Abs(b.dyno); err != nil { // each tool has a folder of its own
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.measure(ctx, strings.Split(*levels, ","), *only); err != nil {
		log.Fatal(err)
	}
}

// requests is how many streams a load of so many at once has: some waves, and enough for a p99.
func requests(streams int) int { return max(100, 3*streams) }

func (b *bench) measure(ctx context.Context, levels []string, only string) (err error) {
	if b.dir, err = os.MkdirTemp("", "dyno-peers-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := writeTokenizer(b.dir); err != nil {
		return err
	}
	b.printHead()
	for _, level := range levels {
		streams, err := strconv.Atoi(level)
		if err != nil || streams < 1 {
			return fmt.Errorf("-streams %s: want numbers, as 10,100", level)
		}
		for _, t := range tools {
			if only != "" && !slices.Contains(strings.Split(only, ","), t.name) {
				continue
			}
			path := t.path(b)
			if _, err := os.Stat(path); err != nil {
				fmt.Fprintf(os.Stderr, "%s is not here: %v\n", t.name, err)
				continue
			}
			row, err := b.run(ctx, t, path, streams)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b.printRow(t, streams, row, err)
		}
	}
	return nil
}

// A row is what a load by a tool was.
type row struct {
	said       reading      // by the tool
	truth      served.Times // first tokens by the log
	lost       int          // streams that the tool was to have, and the log has not
	cpu, total float64      // s: of the load, and of the tool's whole life
	events     int
}

func (b *bench) printHead() {
	if b.markdown {
		fmt.Println("| streams | tool | calls it | first token p50, ms | truth | p99, ms | truth " +
			"| CPU µs an event | CPU s in all |\n|--:|---|---|--:|--:|--:|--:|--:|--:|")
		return
	}
	fmt.Printf("%8s %-9s %22s %22s %12s %8s\n", "streams", "tool", "p50 ms: said, true",
		"p99 ms: said, true", "CPU µs/event", "CPU s")
}

func (b *bench) printRow(t tool, streams int, r row, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s failed with %d streams: %v\n", t.name, streams, err)
		return
	}
	if r.lost != 0 || r.said.requests != len(r.truth) {
		fmt.Fprintf(os.Stderr, "%s: %d streams in its report, %d in the log, %d wanted\n", t.name,
			r.said.requests, len(r.truth), len(r.truth)+r.lost)
	}
	off := func(said float64, percent float64) string {
		return fmt.Sprintf("%.1f (%+.1f %%)", said, 100*(said/r.truth.At(percent)-1))
	}
	each := fmt.Sprintf("%.1f", 1e6*r.cpu/float64(max(r.events, 1)))
	if b.markdown {
		fmt.Printf("| %d | %s | %s | %s | %.1f | %s | %.1f | %s | %.1f |\n", streams, t.name, t.calls,
			off(r.said.p50, 50), r.truth.At(50), off(r.said.p99, 99), r.truth.At(99), each, r.total)
		return
	}
	fmt.Printf("%8d %-9s %22s %22s %12s %8.1f\n", streams, t.name,
		fmt.Sprintf("%.1f, %.1f", r.said.p50, r.truth.At(50)),
		fmt.Sprintf("%.1f, %.1f", r.said.p99, r.truth.At(99)), each, r.total)
}
