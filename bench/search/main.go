// Command search checks that dyno find is right. The server has one worker that takes 1 ms for
// each request, arrivals are random, and the objective is a 99th percentile below 10 ms. Every
// rate of this queue can also be tried, so the command does that, upwards, until the objective is
// missed. What find certifies must be within 5 % above and 10 % below that rate, each time.
//
// The true limit of this queue is known too (M/D/1: 773.5/s, see capacity's tests). But find
// searches what is there: the same server on the same machine, with all its delays.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// How far the certified rate may be from the sweep's, as a ratio.
const (
	above = 1.05
	below = 0.90
)

// mostRate is more than the server can do, in requests a second.
const mostRate = 1000

type options struct {
	dyno          string
	times, repeat int
	from, step    int
	sweep, probe  time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.dyno, "dyno", "./dyno", "program to test")
	flag.IntVar(&o.times, "times", 5, "searches")
	flag.IntVar(&o.from, "from", 640, "lowest rate of the sweep")
	flag.IntVar(&o.step, "step", 10, "from one rate of the sweep to the next")
	flag.IntVar(&o.repeat, "repeat", 3, "runs at each rate, whose median counts")
	flag.DurationVar(&o.sweep, "sweep", 20*time.Second, "window of each run of the sweep")
	flag.DurationVar(&o.probe, "probe", 10*time.Second, "--probe-time of the searches")
	flag.Parse()
	if err := runSearches(o); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

func runSearches(o options) error {
	server, url, err := startServer(o.dyno)
	if err != nil {
		return err
	}
	defer func() {
		server.Process.Signal(syscall.SIGTERM)
		server.Wait()
	}()
	most, err := sweepRates(o, url)
	if err != nil {
		return err
	}
	fmt.Printf("the sweep: met up to %d/s\n", most)
	wrong := 0
	for i := range o.times {
		rate, err := searchRate(o, url)
		if err != nil {
			return err
		}
		share, verdict := rate/float64(most), "ok"
		if share > above || share < below {
			verdict = "WRONG"
			wrong++
		}
		fmt.Printf("search %d: certified %.1f/s, %.3f of the sweep's: %s\n", i+1, rate, share, verdict)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d searches are not within %.2f to %.2f of the sweep's rate", wrong,
			o.times, below, above)
	}
	return nil
}

// startServer starts the server, which the caller must stop.
func startServer(dyno string) (*exec.Cmd, string, error) {
	c := exec.Command(dyno, "target", "--listen", "127.0.0.1:0", "--workers", "1", "--service",
		"constant:1ms")
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return nil, "", fmt.Errorf("starting the server: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, listens := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !listens {
		c.Process.Kill()
		c.Wait()
		return nil, "", fmt.Errorf("the server said %q: %v", line, err)
	}
	return c, url, nil
}

// sweepRates tries every rate until one misses the objective, and returns the last that met it.
func sweepRates(o options, url string) (int, error) {
	last := 0
	for rate := o.from; rate <= mostRate; rate += o.step {
		var all []float64
		for range o.repeat {
			var r struct {
				Latency struct {
					P99 float64 `json:"p99_us"`
				}
			}
			err := runJSON(&r, o.dyno, "run", "--no-save", "-q", "--json", "-",
				"-t", "1", "-c", "1000", "-R",
				fmt.Sprint(rate), "--arrival", "poisson", "--warmup", "2s", "-d", o.sweep.String(), url)
			if err != nil {
				return 0, err
			}
			if r.Latency.P99 == 0 {
				return 0, fmt.Errorf("%d/s: nothing completed", rate)
			}
			all = append(all, r.Latency.P99/1000)
		}
		slices.Sort(all)
		fmt.Printf("%d/s: p99 %.2f ms, of %.2f\n", rate, all[len(all)/2], all)
		if all[len(all)/2] >= 10 {
			break
		}
		last = rate
	}
	if last == 0 {
		return 0, fmt.Errorf("not even %d/s meets the objective: the machine has no time", o.from)
	}
	return last, nil
}

// searchRate returns the rate that find certifies.
func searchRate(o options, url string) (float64, error) {
	var found struct {
		Certified *float64 `json:"certified_per_s"`
		Reason    string
	}
	err := runJSON(&found, o.dyno, "find", "-q", "--json", "-", "-t", "1", "-c", "1000", "--arrival",
		"poisson", "--probe-time", o.probe.String(), "--slo", "p99<10ms", url)
	if err != nil {
		return 0, err
	}
	if found.Certified == nil {
		return 0, fmt.Errorf("no rate is certified: %s", found.Reason)
	}
	return *found.Certified, nil
}

// runJSON runs a program that writes JSON to stdout, and decodes it. It ignores the exit code,
// because the JSON says what was found.
func runJSON(to any, program string, args ...string) error {
	var out, said bytes.Buffer
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = &out, &said
	failed := c.Run()
	if err := json.Unmarshal(out.Bytes(), to); err != nil {
		return fmt.Errorf("%v: %v, and wrote no JSON: %w\n%s", c.Args, failed, err, said.Bytes())
	}
	return nil
}
