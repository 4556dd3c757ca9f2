// History measures how long dyno history takes to list many stored results: processes that start,
// list and end, with the default list and with --limit 3 in turn. It makes one result and writes
// copies of it, a minute apart, which differ in the path that was requested and in the rate; of one
// series in five the rate changes once, so that change points are published. Then it prints the
// median of the times, the interval of the median (95 %), the range, and the median of the CPU
// times, which other programs change less.
//
//	go run ./bench/history -dyno ./dyno -results 10000 -rounds 30
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/internal/stats"
)

func main() {
	dyno := flag.String("dyno", "./dyno", "the program")
	results := flag.Int("results", 10_000, "stored results")
	series := flag.Int("series", 50, "series that the results are of")
	rounds := flag.Int("rounds", 30, "of both lists, at least 6: an interval of 95 % needs them")
	flag.Parse()
	if err := measure(*dyno, *results, max(*series, 1), max(*rounds, 6)); err != nil {
		log.Fatal(err)
	}
}

func measure(dyno string, results, series, rounds int) error {
	home, err := os.MkdirTemp("", "dyno-history-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	b := bench{dyno, home}
	if err := b.store(results, series); err != nil {
		return err
	}
	first, err := b.run("history")
	if err != nil {
		return err
	}
	size, err := b.sizes()
	if err != nil {
		return err
	}
	fmt.Printf("%d results of %d series, %.0f MB; the first list made an index of %.1f MB in %.1f s\n",
		results, series, float64(size[".json"])/1e6, float64(size[".sqlite"])/1e6, first.wall)
	lists := [][]string{{"history"}, {"history", "--limit", "3"}}
	walls, cpus := make([][]float64, len(lists)), make([][]float64, len(lists))
	for i := range rounds {
		for k := range lists {
			k = (i + k) % len(lists) // so that neither is always first
			took, err := b.run(lists[k]...)
			if err != nil {
				return err
			}
			walls[k], cpus[k] = append(walls[k], took.wall), append(cpus[k], took.cpu)
		}
	}
	for k, args := range lists {
		m, err := stats.MedianInterval(walls[k], 0.95)
		if err != nil {
			return err
		}
		fmt.Printf("dyno %-18s %.3f s [%.3f, %.3f], all %.3f to %.3f, CPU %.3f s; n=%d\n",
			strings.Join(args, " "), m.Estimate, m.Low, m.High, slices.Min(walls[k]),
			slices.Max(walls[k]), stats.Median(cpus[k]), rounds)
	}
	return nil
}

// A cost is what a process took, in seconds.
type cost struct{ wall, cpu float64 }

// A bench is the program that is measured, and its home.
type bench struct{ dyno, home string }

// run runs dyno, and returns what it took.
func (b bench) run(args ...string) (cost, error) {
	cmd := exec.Command(b.dyno, args...)
	cmd.Env = append(os.Environ(), "DYNO_HOME="+b.home)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began).Seconds()
	if err != nil {
		return cost{}, fmt.Errorf("dyno %q: %w\n%s", args, err, &said)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return cost{took, cpu.Seconds()}, nil
}

// store measures one result, and replaces it with the copies.
func (b bench) store(results, series int) error {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	file := filepath.Join(b.home, "result.json")
	if _, err := b.run("run", "-q", "--no-save", "-d", "1s", "-c", "8", "--json", file,
		server.URL+"/0"); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	dir := filepath.Join(b.home, "results")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	var r map[string]any
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	drawn := rand.New(rand.NewPCG(1, 0))
	began := time.Now().UTC().Add(-time.Duration(results) * time.Minute)
	for i := range results {
		rate := 20_000.0
		if i%series%5 == 0 && i > results/2 {
			rate *= 0.9
		}
		at := began.Add(time.Duration(i) * time.Minute)
		id := fmt.Sprintf("%s-%04x", at.Format("20060102-150405"), i&0xffff)
		edit(r, id, at, fmt.Sprint(server.URL, "/", i%series), rate*(1+0.03*drawn.NormFloat64()))
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, id+".json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, at, at); err != nil { // else it could still be written
			return err
		}
	}
	return os.Remove(file)
}

// edit makes another result of one.
func edit(r map[string]any, id string, at time.Time, url string, rate float64) {
	r["id"] = id
	r["window"].(map[string]any)["started"] = at.Format(time.RFC3339Nano)
	r["plan"].(map[string]any)["target"].(map[string]any)["url"] = url
	r["rate"].(map[string]any)["completed"] = rate
}

// sizes are the bytes of the home's files, by the endings of their names.
func (b bench) sizes() (map[string]int64, error) {
	all := map[string]int64{}
	return all, filepath.WalkDir(b.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			all[filepath.Ext(path)] += info.Size()
		}
		return err
	})
}
