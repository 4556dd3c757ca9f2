//go:build linux

// Replay has nginx write an access log under load, replays it with dyno at 1× and 10×, and says
// whether order and statuses are those of the log, and how exact the times are.
//
//	go run ./bench/replay -dyno ./dyno -lines 100000 -rate 2500
//
// Order and statuses are nginx's own second log. Times are those at which the kernel received each
// request, at a server that does nothing else: see recorder.go. main.go has the rest. On other
// systems than Linux there is only other.go.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	dyno := flag.String("dyno", "./dyno", "the program")
	lines := flag.Int("lines", 100_000, "lines of the log")
	rate := flag.Int("rate", 2500, "lines a second, at random instants")
	flag.Parse()
	dir, err := os.MkdirTemp("", "dyno-replay-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path, err := filepath.Abs(*dyno)
	if err != nil {
		log.Fatal(err)
	}
	b := bench{dyno: path, dir: dir}
	if err := b.measure(*lines, *rate); err != nil {
		log.Print(err) // not Fatal, which would leave the folder
	}
}

// A bench is where files are and which program is measured.
type bench struct{ dyno, dir string }

func (b bench) file(name string) string { return filepath.Join(b.dir, name) }

// mix is what the log is made of: the k-th request asks for /status/k.
const mix = `{"url": "/200/{{seq}}", "weight": 90}
{"url": "/404/{{seq}}", "weight": 6}
{"url": "/301/{{seq}}", "weight": 3}
{"url": "/503/{{seq}}", "weight": 1}
`

func (b bench) measure(lines, rate int) error {
	if err := os.WriteFile(b.file("mix.jsonl"), []byte(mix), 0o600); err != nil {
		return err
	}
	url, stop, err := b.startNginx()
	if err != nil {
		return err
	}
	defer stop()
	fmt.Printf("nginx writes a log of %d lines, %d a second\n", lines, rate)
	if _, err := b.run("--requests-file", b.file("mix.jsonl"), "-n", fmt.Sprint(lines), "-R",
		fmt.Sprint(rate), "--arrival", "poisson", url); err != nil {
		return err
	}
	first, err := b.takeLog(0)
	if err != nil {
		return err
	}
	text := strings.Join(first, "\n") + "\n"
	if err := os.WriteFile(b.file("first.log"), []byte(text), 0o600); err != nil {
		return err
	}
	for _, speed := range []string{"1x", "10x"} {
		if err := b.replay(speed, url, first); err != nil {
			return err
		}
	}
	return nil
}

// replay replays the log at a speed, to nginx and to a recorder.
func (b bench) replay(speed, url string, first []string) error {
	file := b.file("replay.jsonl")
	out, err := exec.Command(b.dyno, "from", "access-log", b.file("first.log"), "--format",
		logFormat, "--replay", speed, "-o", file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	r, err := b.run("--requests-file", file, url)
	if err != nil {
		return err
	}
	again, err := b.takeLog(len(first))
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %.0f/s for %.1f s, verdict %s\n", speed, r.Rate.Sent, r.Plan.Replay,
		r.Generator.Verdict)
	fmt.Printf("  statuses in the log  %s\n", statuses(first))
	fmt.Printf("  replayed             %s\n", statuses(again))
	fmt.Printf("  nginx answered %d of %d requests before one that the log has before them\n",
		inversions(again, first), len(first))
	times, err := readTimes(file)
	if err != nil {
		return err
	}
	rec, err := startRecorder(len(times))
	if err != nil {
		return err
	}
	defer rec.close()
	if r, err = b.run("--requests-file", file, rec.url()); err != nil {
		return err
	}
	rec.report(times, r.Generator.SendLag)
	return nil
}

// A measured is of the result's keys those that are shown.
type measured struct {
	Plan struct {
		Replay float64 `json:"replay_s"`
	} `json:"plan"`
	Rate      struct{ Sent float64 }
	Generator struct {
		SendLag float64 `json:"send_lag_p99_us"`
		Verdict string
	}
}

// run runs dyno.
func (b bench) run(args ...string) (r measured, err error) {
	all := append([]string{"run", "-q", "--no-save", "--expect", "any", "--json",
		b.file("result.json")}, args...)
	if out, err := exec.Command(b.dyno, all...).CombinedOutput(); err != nil {
		return r, fmt.Errorf("dyno %q: %w\n%s", all, err, out)
	}
	text, err := os.ReadFile(b.file("result.json"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// logFormat is nginx's combined log with milliseconds.
const logFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent ` +
	`"$http_referer" "$http_user_agent" $msec`

// startNginx starts nginx with one worker, so that its log has the order in which requests came.
func (b bench) startNginx() (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := l.Addr().String()
	l.Close()
	config := fmt.Sprintf(`daemon off; worker_processes 1;
pid %[1]s/nginx.pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http { log_format timed '%[2]s'; access_log %[1]s/access.log timed;
keepalive_requests 100000000; client_body_temp_path %[1]s; proxy_temp_path %[1]s;
fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
server { listen %[3]s;
location /200/ { return 200 "ok"; }
location /404/ { return 404; }
location /301/ { return 301 /200/; }
location /503/ { return 503; } } }`, b.dir, logFormat, address)
	if err := os.WriteFile(b.file("nginx.conf"), []byte(config), 0o600); err != nil {
		return "", nil, err
	}
	c := exec.Command("nginx", "-c", b.file("nginx.conf"), "-e", b.file("error.log"))
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	}
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return "http://" + address, stop, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("nginx does not answer at %s", address)
}

// takeLog is the log without what was there before, once it has n lines, or any number if n is 0.
func (b bench) takeLog(n int) (lines []string, err error) {
	for range 100 {
		text, err := os.ReadFile(b.file("access.log"))
		if err != nil {
			return nil, err
		}
		lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if n == 0 || len(lines) >= n {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return lines, os.Truncate(b.file("access.log"), 0)
}

// statuses counts the lines of a log by their status.
func statuses(lines []string) string {
	counts := map[string]int{}
	for _, l := range lines {
		_, rest, _ := strings.Cut(l, `HTTP/1.1" `)
		status, _, _ := strings.Cut(rest, " ")
		counts[status]++
	}
	var all []string
	for _, s := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s: %d", s, counts[s]))
	}
	return strings.Join(all, ", ")
}

// uri is what a line's request asks for.
func uri(line string) string {
	_, rest, _ := strings.Cut(line, `"GET `)
	uri, _, _ := strings.Cut(rest, " ")
	return uri
}

// inversions is how many lines of a log come after one that another log has behind it.
func inversions(lines, order []string) (n int) {
	place := map[string]int{}
	for i, l := range order {
		place[uri(l)] = i
	}
	last := -1
	for _, l := range lines {
		i := place[uri(l)]
		if i < last {
			n++
		}
		last = max(last, i)
	}
	return n
}

// readTimes are the intended start times of a requests file, in ns, by URL.
func readTimes(name string) (all []due, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); {
		var l struct {
			At  float64 `json:"at_s"`
			URL string  `json:"url"`
		}
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			return nil, err
		}
		all = append(all, due{l.URL, int64(math.Round(l.At * 1e9))})
	}
	return all, nil
}

// A due is a request and when it should be sent.
type due struct {
	url string
	at  int64
}
