// Live measures what --metrics costs a load: an open one at a given rate, with metrics that are
// read once a second and without, in turn. dyno has one CPU, its server another. It prints the
// median of the rounds' ratios, and the interval of the median, 95 %.
//
//	go run ./bench/live -dyno ./dyno -rate 20000 -rounds 30 -seconds 3
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"dyno/internal/stats"
)

func main() {
	dyno := flag.String("dyno", "./dyno", "the program")
	rate := flag.Int("rate", 20_000, "requests a second")
	rounds := flag.Int("rounds", 30, "of both, at least 6: an interval of 95 % needs them")
	seconds := flag.Int("seconds", 3, "of each load")
	flag.Parse()
	if err := measure(*dyno, *rate, max(*rounds, 6), *seconds); err != nil {
		log.Fatal(err)
	}
}

// A measured is of the result's keys those that are compared.
type measured struct {
	Requests  struct{ Completed int64 }
	Generator struct {
		Lag     float64 `json:"send_lag_p99_us"`
		LagMost float64 `json:"send_lag_p99_9_us"`
		CPU     float64 `json:"cpu_us_per_request"`
	}
	Latency struct {
		P99 float64 `json:"p99_us"`
	}
}

// A figure is what is compared: its name, and its value of a run.
type figure struct {
	name string
	of   func(measured) float64
}

var figures = []figure{
	{"send lag p99, µs", func(m measured) float64 { return m.Generator.Lag }},
	{"send lag p99.9, µs", func(m measured) float64 { return m.Generator.LagMost }},
	{"latency p99, µs", func(m measured) float64 { return m.Latency.P99 }},
	{"CPU/request, µs", func(m measured) float64 { return m.Generator.CPU }},
}

func measure(dyno string, rate, rounds, seconds int) error {
	dir, err := os.MkdirTemp("", "dyno-live-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	url, stop, err := startTarget(dyno)
	if err != nil {
		return err
	}
	defer stop()
	b := bench{dyno: dyno, file: filepath.Join(dir, "result.json"), load: []string{"run",
		"--no-save", "--cpus", "0", "-t", "1", "-c", "64",
		"-R", fmt.Sprint(rate), "-d", fmt.Sprint(seconds), url}}
	var without, with []measured
	for i := range rounds {
		order := []bool{i%2 == 1, i%2 == 0} // so that neither is always first
		for _, read := range order {
			m, err := b.run(read)
			if err != nil {
				return err
			}
			if read {
				with = append(with, m)
			} else {
				without = append(without, m)
			}
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", i+1, rounds)
	}
	fmt.Printf("%d/s, %d rounds of %d s each; metrics read %d times\n", rate, rounds, seconds,
		b.reads.Load())
	fmt.Printf("%-20s %9s %9s %20s\n", "", "without", "with", "with/without")
	for _, f := range figures {
		if err := printFigure(f, without, with); err != nil {
			return err
		}
	}
	return nil
}

// printFigure prints the medians of a figure, and of its ratios within rounds.
func printFigure(f figure, without, with []measured) error {
	var a, b, ratios []float64
	for i := range with {
		x, y := f.of(without[i]), f.of(with[i])
		a, b = append(a, x), append(b, y)
		if x > 0 { // else nothing of it was measured
			ratios = append(ratios, y/x)
		}
	}
	ratio, err := stats.MedianInterval(ratios, 0.95)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	fmt.Printf("%-20s %9.2g %9.2g %6.2f [%.2f, %.2f] of %d\n", f.name, stats.Median(a),
		stats.Median(b), ratio.Estimate, ratio.Low, ratio.High, len(ratios))
	return nil
}

// A bench is the load that is measured.
type bench struct {
	dyno, file string
	load       []string
	reads      atomic.Int64
}

// run makes the load once. read has its metrics read once a second.
func (b *bench) run(read bool) (m measured, err error) {
	args := append(slices.Clone(b.load), "--json", b.file)
	if read {
		args = append(args, "--metrics", "127.0.0.1:0")
	}
	cmd := exec.Command(b.dyno, args...)
	said, err := cmd.StderrPipe()
	if err != nil {
		return m, err
	}
	if err := cmd.Start(); err != nil {
		return m, err
	}
	stop := make(chan struct{})
	var all strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if _, at, is := strings.Cut(lines.Text(), "dyno: metrics at "); is {
			go b.readMetrics(at, stop)
		}
	}
	err = cmd.Wait()
	if close(stop); err != nil {
		return m, fmt.Errorf("%w\n%s", err, &all)
	}
	text, err := os.ReadFile(b.file)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}

// readMetrics reads url once a second, as Prometheus does, until stop.
func (b *bench) readMetrics(url string, stop chan struct{}) {
	for {
		if answer, err := http.Get(url); err == nil {
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			b.reads.Add(1)
		}
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
	}
}

// startTarget starts dyno target, and returns its URL.
func startTarget(dyno string) (url string, stop func(), err error) {
	cmd := exec.Command(dyno, "target", "--cpus", "1", "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		for _, word := range strings.Fields(lines.Text()) {
			if strings.HasPrefix(word, "http://") {
				return word, func() { cmd.Process.Kill(); cmd.Wait() }, nil
			}
		}
	}
	cmd.Process.Kill()
	return "", nil, fmt.Errorf("dyno target said nothing of its URL")
}
