// Live measures what --metrics costs a load: an open one at a given rate, with metrics that are
// read once a second and without, in turn. It prints the median of the rounds' ratios, and their
// range.
//
//	go run ./bench/live -dyno ./dyno -rate 20000 -rounds 10 -seconds 5
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
)

func main() {
	dyno := flag.String("dyno", "./dyno", "the program")
	rate := flag.Int("rate", 20_000, "requests a second")
	rounds := flag.Int("rounds", 10, "of both")
	seconds := flag.Int("seconds", 5, "of each load")
	flag.Parse()
	if err := measure(*dyno, *rate, *rounds, *seconds); err != nil {
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
		"--no-save", "-t", "1", "-c", "64", "-R", fmt.Sprint(rate), "-d", fmt.Sprint(seconds), url}}
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
		printFigure(f, without, with)
	}
	return nil
}

// printFigure prints the medians of a figure, and of its ratios within rounds.
func printFigure(f figure, without, with []measured) {
	var a, b, ratios []float64
	for i := range with {
		a, b = append(a, f.of(without[i])), append(b, f.of(with[i]))
		ratios = append(ratios, f.of(with[i])/f.of(without[i]))
	}
	slices.Sort(ratios)
	fmt.Printf("%-20s %9.3g %9.3g %6.3g [%.3g, %.3g]\n", f.name, median(a), median(b),
		median(ratios), ratios[0], ratios[len(ratios)-1])
}

func median(of []float64) float64 {
	slices.Sort(of)
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
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
	cmd := exec.Command(dyno, "target", "--listen", "127.0.0.1:0")
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
