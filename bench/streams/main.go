// Streams measures what an event of a stream costs dyno: alone in its segment, as server-sent event
// and as event of openai, beside a plain request, the same bytes read as a plain body, and a bare
// reader in C, which shows what the kernel takes. dyno has one CPU, its server another. It prints
// medians, and intervals of 95 %.
//
//	go run ./bench/streams -dyno ./dyno -rounds 10
//
// The bars: an event costs at most 0.4 of a plain request's CPU; openai takes at most 0.5 µs of
// user time more on an event of 250 bytes than reading it as a body.
package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"dyno/internal/stats"
)

const (
	connections = 100
	ended       = "data: [DONE]\n\n"
)

//go:embed reader.c
var readerSource []byte

// A load is one of those that take turns.
type load struct {
	name   string
	event  string // what the server sends again and again; "": plain requests
	stream string // of --stream; "": the body is only read
	bare   bool   // by the reader in C
}

var (
	small  = "data: 12345\n\n"
	openai = `data: {"id":"chatcmpl-9f8a7b6c5d4e3f2a1b0c","object":"chat.completion.chunk",` +
		`"created":1790000000,"model":"meta-llama/Llama-3.1-8B","choices":[{"index":0,"delta":` +
		`{"content":" token"},"logprobs":null,"finish_reason":null}],"usage":null}`
	long  = openai + strings.Repeat(" ", max(248-len(openai), 0)) + "\n\n"
	loads = []load{{name: "plain request"}, {name: "13 bytes, bare C", event: small, bare: true},
		{name: "13 bytes, body", event: small}, {"13 bytes, sse", small, "sse", false},
		{name: "250 bytes, body", event: long}, {"250 bytes, sse", long, "sse", false},
		{"250 bytes, openai", long, "openai", false}}
)

// Places of loads that are held against each other.
const (
	plain     = 0
	bare      = 1
	smallSSE  = 3
	longBody  = 4
	longAsked = 6
)

func main() {
	dyno := flag.String("dyno", "./dyno", "the program")
	rounds := flag.Int("rounds", 10, "of all loads, at least 6: an interval of 95 % needs them")
	events := flag.Int("events", 3000, "of each stream, one in 1 ms; plain requests: 100 times these")
	serve := flag.String("serve", "", "be the server of this event, on a free port")
	flag.Parse()
	if *serve != "" {
		log.Fatal(broadcast(*serve, *events))
	}
	b := bench{dyno: *dyno, events: *events}
	if err := b.measure(max(*rounds, 6)); err != nil {
		log.Fatal(err)
	}
}

// A cost is the CPU time of an event, or of a request, in µs.
type cost struct{ user, system, alone float64 }

func (c cost) cpu() float64 { return c.user + c.system }

type bench struct {
	dyno   string
	events int
	dir    string
}

func (b *bench) measure(rounds int) (err error) {
	if b.dir, err = os.MkdirTemp("", "dyno-streams-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	reader := filepath.Join(b.dir, "reader")
	if err := os.WriteFile(reader+".c", readerSource, 0o600); err != nil {
		return err
	}
	out, err := exec.Command("cc", "-O2", "-o", reader, reader+".c").CombinedOutput()
	if err != nil {
		return fmt.Errorf("compiling the bare reader: %w: %s", err, out)
	}
	costs := make([][]cost, len(loads))
	for round := range rounds {
		for i := range loads {
			i = (i + round) % len(loads) // so that none is always first
			c, err := b.run(loads[i])
			if err != nil {
				return fmt.Errorf("%s: %w", loads[i].name, err)
			}
			costs[i] = append(costs[i], c)
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
	}
	return b.print(costs)
}

func (b *bench) print(costs [][]cost) error {
	fmt.Printf("%-18s %9s %9s %9s %24s\n", "", "CPU µs", "user", "system", "CPU of a plain request's")
	for i, l := range loads {
		r, err := compare(costs[i], costs[plain],
			func(a, b cost) float64 { return a.cpu() / b.cpu() })
		if err != nil {
			return err
		}
		fmt.Printf("%-18s %9.3f %9.3f %9.3f %8.2f [%.2f, %.2f]\n", l.name,
			median(costs[i], cost.cpu), median(costs[i], func(c cost) float64 { return c.user }),
			median(costs[i], func(c cost) float64 { return c.system }), r.Estimate, r.Low, r.High)
	}
	more, err := compare(costs[longAsked], costs[longBody],
		func(a, b cost) float64 { return a.user - b.user })
	if err != nil {
		return err
	}
	fmt.Printf("openai on 250 bytes: %.3f µs of user time more than reading them [%.3f, %.3f]; "+
		"bar 0.5\n", more.Estimate, more.Low, more.High)
	over, err := compare(costs[smallSSE], costs[bare],
		func(a, b cost) float64 { return a.cpu() / b.cpu() })
	if err != nil {
		return err
	}
	alone := func(c cost) float64 { return c.alone }
	fmt.Printf("an event: bar 0.4 of a plain request; %.2f [%.2f, %.2f] of what the bare reader "+
		"takes; arrivals were %.1f %% of the events (bare: %.1f %%; 100: each came alone)\n",
		over.Estimate, over.Low, over.High, 100*median(costs[smallSSE], alone),
		100*median(costs[bare], alone))
	return nil
}

func median(costs []cost, of func(cost) float64) float64 {
	var all []float64
	for _, c := range costs {
		all = append(all, of(c))
	}
	return stats.Median(all)
}

// compare compares the loads of each round.
func compare(a, b []cost, of func(a, b cost) float64) (stats.Interval, error) {
	var all []float64
	for k := range a {
		all = append(all, of(a[k], b[k]))
	}
	return stats.MedianInterval(all, 0.95)
}

// run makes a load once.
func (b *bench) run(l load) (c cost, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	count, want := connections*b.events, connections // events, and answers
	server := []string{self, "-serve", l.event, "-events", fmt.Sprint(b.events)}
	file := filepath.Join(b.dir, "result.json")
	args := []string{"-c", "0", b.dyno, "run", "--no-save", "-q", "-t", "1",
		"-c", fmt.Sprint(connections), "--drain", "1m", "--timeout", "10m", "--json", file,
		"-n", fmt.Sprint(connections)}
	if l.event == "" {
		server = []string{b.dyno, "target", "--listen", "127.0.0.1:0", "--body", "12",
			"--ring", "epoll"}
		want = count
		args[len(args)-1] = fmt.Sprint(want)
	}
	if l.stream != "" {
		args = append(args, "--stream", l.stream)
	}
	url, stop, err := start("1", server)
	if err != nil {
		return c, err
	}
	defer stop()
	cmd := exec.Command("taskset", append(args, url)...)
	cmd.Stdout, cmd.Stderr = nil, os.Stderr
	if l.bare {
		return b.runBare(url, count)
	}
	if err := cmd.Run(); err != nil {
		return c, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	var r struct {
		Requests struct{ Completed int }
		Stream   *struct{ Counted, Arrivals int }
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return c, err
	}
	switch s := r.Stream; {
	case r.Requests.Completed != want:
		return c, fmt.Errorf("%d of %d were completed", r.Requests.Completed, want)
	case s != nil && s.Counted < count:
		return c, fmt.Errorf("%d events of %d were counted", s.Counted, count)
	case s != nil:
		c.alone = float64(s.Arrivals) / float64(s.Counted)
	}
	c.spent(cmd, count)
	return c, nil
}

// runBare makes the bare reader read so many events of the server.
func (b *bench) runBare(url string, count int) (c cost, err error) {
	cmd := exec.Command("taskset", "-c", "0", filepath.Join(b.dir, "reader"),
		fmt.Sprint(connections), url[strings.LastIndexByte(url, ':')+1:])
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return c, err
	}
	var arrivals int
	if _, err := fmt.Sscan(string(out), &arrivals); err != nil {
		return c, err
	}
	c.alone = float64(arrivals) / float64(count)
	c.spent(cmd, count)
	return c, nil
}

// spent sets what a program that has ended took for each of so many.
func (c *cost) spent(cmd *exec.Cmd, count int) {
	each := 1e6 / float64(count)
	c.user = cmd.ProcessState.UserTime().Seconds() * each
	c.system = cmd.ProcessState.SystemTime().Seconds() * each
}

// start starts a server on a CPU, and returns its URL.
func start(cpu string, command []string) (url string, stop func(), err error) {
	cmd := exec.Command("taskset", append([]string{"-c", cpu}, command...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { cmd.Process.Kill(); cmd.Wait() }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, err
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), stop, nil
}

// broadcast is a server that waits for all connections, and then sends an event to each in turn,
// once in a millisecond, so many times: each is alone in its segment, and read before the next.
func broadcast(event string, events int) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s/\n", l.Addr())
	var asked sync.WaitGroup
	all := make([]net.Conn, connections)
	for i := range all {
		if all[i], err = l.Accept(); err != nil {
			return err
		}
		asked.Go(func() {
			all[i].Read(make([]byte, 4096))
			fmt.Fprint(all[i], "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"+
				"Connection: close\r\n\r\n")
		})
	}
	asked.Wait()
	time.Sleep(100 * time.Millisecond)
	b, due := []byte(event), time.Now()
	for range events {
		due = due.Add(time.Millisecond)
		time.Sleep(time.Until(due))
		for _, c := range all {
			if _, err := c.Write(b); err != nil {
				return err
			}
		}
	}
	for _, c := range all {
		c.Write([]byte(ended))
		c.Close()
	}
	time.Sleep(time.Minute)
	return nil
}
