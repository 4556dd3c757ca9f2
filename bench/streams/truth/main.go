// Command truth holds what dyno says of streams against the log of a server whose law and capacity
// are known: at 50, 70 and 85 % of the capacity, over HTTP/1.1, HTTP/2, TLS and HTTP/3, and behind
// nginx, with and without buffering, against a bare reader in C on the way from nginx to dyno.
//
//	go build -o dyno ./cmd/dyno && go run ./bench/streams/truth
//
// It is for Linux, and needs two CPUs, dyno, taskset, nginx and cc. It takes about three and a half
// minutes on a machine that does nothing else. The exit code is 1 if a percentile of dyno is more
// than 1 % and 0.2 ms (HTTP/3: 1 ms) off the truth; then it says what may be the cause.
//
// Requests are due at random instants that are drawn here, so due is known, and connections are
// fewer than what is due at times, so that requests wait in dyno as well as for a slot in the
// server. The log's instants are taken before each write. dyno has an event when it has read it,
// later by what write, loopback and a wake-up take; that is part of the difference.
//
//	compare.go   differences, tolerance, causes
//	main.go      loads and output
//	scenes.go    protocols, nginx, the reader
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dyno/bench/streams/served"
)

// law is that of the server: 119 streams/s of 135 ms each.
var law = served.Law{Slots: 16, First: 40 * time.Millisecond, Least: time.Millisecond,
	More: 4 * time.Millisecond, Events: 20}

func main() {
	b := bench{}
	flag.StringVar(&b.dyno, "dyno", "./dyno", "the program")
	flag.BoolVar(&b.realtime, "realtime", false, "run dyno and the servers before all other "+
		"programs, as root: for machines that do something else, too")
	flag.IntVar(&b.streams, "streams", 600, "of each load")
	loads := flag.String("loads", "50,70,85", "in percent of the server's capacity")
	only := flag.String("only", "", "only scenes whose names have this text")
	serve := flag.String("serve", "", "be the server that this JSON describes")
	flag.Parse()
	if *serve != "" {
		if err := served.RunJSON(*serve); err != nil {
			log.Fatal(err)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	wrong, err := b.measure(ctx, strings.Split(*loads, ","), *only)
	stop()
	if err != nil {
		log.Fatal(err)
	}
	if wrong > 0 {
		fmt.Printf("\n%d percentiles are further from the truth than their tolerance\n", wrong)
		os.Exit(1)
	}
	fmt.Println("\nall percentiles are within their tolerance")
}

type bench struct {
	dyno     string
	realtime bool
	streams  int
	dir      string
}

// on is a command that has one CPU, and with -realtime before all other programs.
func (b *bench) on(cpu string, command ...string) []string {
	command = append([]string{"taskset", "-c", cpu}, command...)
	if b.realtime {
		command = append([]string{"chrt", "--rr", "1"}, command...)
	}
	return command
}

// measure makes all loads, and returns how many percentiles are wrong.
func (b *bench) measure(ctx context.Context, loads []string, only string) (wrong int, err error) {
	if b.dir, err = os.MkdirTemp("", "dyno-truth-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(b.dir)
	fmt.Printf("capacity %.1f streams/s: %d slots, %v each, %d events; %d streams a load\n",
		law.Capacity(), law.Slots, law.Mean(), law.Events, b.streams)
	made := 0
	for _, s := range scenes {
		if !strings.Contains(s.name, only) {
			continue
		}
		for _, text := range loads {
			percent, err := strconv.ParseFloat(text, 64)
			if err != nil || !(percent > 0) {
				return 0, fmt.Errorf("-loads %s: want percentages, as 50,70,85", text)
			}
			c, err := b.load(ctx, s, percent)
			if err != nil {
				return 0, fmt.Errorf("%s at %s %%: %w", s.name, text, err)
			}
			c.print(os.Stdout, fmt.Sprintf("%s, %s %% (%.1f streams/s)", s.name, text,
				percent/100*law.Capacity()))
			wrong += c.wrong()
			made++
		}
	}
	if made == 0 {
		return 0, fmt.Errorf("-only %q: no scene has that in its name", only)
	}
	return wrong, nil
}

// due are the instants at which requests are due, in ns: those of a Poisson process.
func due(streams int, rate float64) (all []int64) {
	random := rand.New(rand.NewPCG(uint64(rate), 1))
	for at := 0.0; len(all) < streams; {
		at += random.ExpFloat64() / rate
		all = append(all, int64(at*1e9))
	}
	return all
}

// load makes one load of a scene.
func (b *bench) load(ctx context.Context, s scene, percent float64) (c comparison, err error) {
	when := due(b.streams, percent/100*law.Capacity())
	requests, result := filepath.Join(b.dir, "requests.jsonl"), filepath.Join(b.dir, "result.json")
	var lines strings.Builder
	for i, at := range when {
		fmt.Fprintf(&lines, "{\"url\": \"/?n=%d\", \"at_s\": %.9f}\n", i+1, float64(at)/1e9)
	}
	if err := os.WriteFile(requests, []byte(lines.String()), 0o600); err != nil {
		return c, err
	}
	way, err := b.open(ctx, s)
	if err != nil {
		return c, err
	}
	defer way.close()
	format := "sse"
	if s.server.OpenAI {
		format = "openai"
	}
	args := b.on("0", b.dyno, "run", "--no-save", "-q", "-t", "1", "--drain", "1m",
		"--stream", format, "--json", result, "--requests-file", requests)
	args = append(append(args, s.args...), s.scheme+"://"+way.address+"/")
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	waited := pressure()
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return c, err
	}
	c.waited = (pressure() - waited) / time.Since(begun).Seconds()
	if c.truth, c.late, err = way.stop(); err != nil {
		return c, err
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c.dyno); err != nil {
		return c, err
	}
	c.due, c.tolerance, c.from = when, s.tolerance(), s.from()
	return c, c.compare(b.streams)
}

// pressure is for how many seconds programs of this machine have waited for a CPU; NaN if the
// kernel does not tell.
func pressure() float64 {
	text, err := os.ReadFile("/proc/pressure/cpu")
	line, _, _ := strings.Cut(string(text), "\n")
	_, total, _ := strings.Cut(line, "total=")
	us, bad := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
	if err != nil || bad != nil {
		return math.NaN()
	}
	return float64(us) / 1e6
}
