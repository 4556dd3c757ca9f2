//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// prometheus is Debian's, which reads the metrics at PORT's neighbour SECURE five times a second.
var prometheus = real{name: "Prometheus", command: "prometheus", pack: "prometheus",
	files: map[string]string{"prometheus.yml": `
global: {scrape_interval: 200ms, scrape_timeout: 200ms}
scrape_configs:
  - {job_name: dyno, static_configs: [{targets: ['127.0.0.1:SECURE']}]}
`},
	start: "--config.file=DIR/prometheus.yml --storage.tsdb.path=DIR/data " +
		"--web.listen-address=127.0.0.1:PORT --log.level=warn",
}

// query returns the value of an expression, and whether it has one.
func (l *launched) query(expr string) (value float64, has bool, err error) {
	answer, err := http.Get(l.url + "/api/v1/query?query=" + url.QueryEscape(expr))
	if err != nil {
		return 0, false, err
	}
	defer answer.Body.Close()
	var found struct {
		Status, Error string
		Data          struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil || found.Status != "success" {
		return 0, false, fmt.Errorf("%s: %w %s", expr, err, found.Error)
	}
	if len(found.Data.Result) == 0 {
		return 0, false, nil
	}
	value, err = strconv.ParseFloat(fmt.Sprint(found.Data.Result[0].Value[1]), 64)
	return value, true, err
}

// holdUntilRead holds back one answer until Prometheus has read the run, so that it reads while the
// run lasts, however late it is.
func (l *launched) holdUntilRead(r *http.Request) {
	for r.Context().Err() == nil {
		if _, has, err := l.query("last_over_time(dyno_requests_completed_total[1h])"); has || err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Prometheus reads a run while it runs, and a query answers with the run's own totals.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	l := prometheus.launchServer(t)
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 700 {
			l.holdUntilRead(r)
		}
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, "hello")
	}))
	defer server.Close()
	address := "127.0.0.1:" + l.securePort
	paths := filepath.Join(t.TempDir(), "paths")
	if err := os.WriteFile(paths, []byte("/\n/missing\n/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const tries = 3 // on a busy machine Prometheus may be late for a whole run
	for try := 1; ; try++ {
		asked.Store(0)
		o := runDyno(t, 0, "--metrics", address, "-R", "300", "-n", "1500", "--drain", "1m",
			"--timeout", "1m", "-c", "8", "--urls", paths, server.URL)
		if !strings.Contains(o.stderr, "stay until they are read once more") && try < tries {
			t.Log("Prometheus did not read in time")
			continue
		}
		r := o.result
		checkBalanced(t, r, 1500)
		for expr, want := range map[string]int64{
			"last_over_time(dyno_requests_sent_total[1h])":                      r.Requests.Sent,
			"last_over_time(dyno_requests_completed_total[1h])":                 r.Requests.Completed,
			"last_over_time(dyno_requests_failed_total[1h])":                    r.Requests.Errors,
			`last_over_time(dyno_responses_total{code="404"}[1h])`:              r.Status["404"],
			`sum(last_over_time(dyno_latency_seconds_count[1h]))`:               r.Requests.Completed,
			`last_over_time(dyno_failures_total{phase="expect"}[1h])`:           r.Requests.Errors,
			"last_over_time(dyno_received_bytes_total[1h])":                     r.Bytes.Received,
			"last_over_time(dyno_latency_seconds_bucket{le=\"+Inf\"}[1h])":      r.Requests.Completed,
			"last_over_time(dyno_requests_in_flight[1h])":                       r.Series[len(r.Series)-1].InFlight,
			"last_over_time(dyno_run_info{workload=\"open\"}[1h])":              1,
			"min(min_over_time(dyno_requests_completed_total[1h])) < bool 1500": 1,
		} {
			got, has, err := l.query(expr)
			if err != nil || !has || got != float64(want) {
				t.Errorf("%s: %v (%v, %v), the run has %d", expr, got, has, err, want)
			}
		}
		return
	}
}

// Prometheus' own linter finds nothing wrong with the names.
func TestPrometheusLint(t *testing.T) {
	t.Parallel()
	path := lookUpCommand("promtool")
	if path == "" {
		t.Skip("promtool is not installed; Debian's package is prometheus (see e2e/install.sh)")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	defer server.Close()
	address := "127.0.0.1:" + freePort(t)
	run := startDyno(t, "--metrics", address, "-R", "50", "-d", "10m", "-c", "2", server.URL)
	var text string
	waitUntil(t, "there are answers", func() bool {
		answer, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		b, _ := io.ReadAll(answer.Body)
		text = string(b)
		return strings.Contains(text, `code="200"`)
	})
	lint := exec.Command(path, "check", "metrics")
	lint.Stdin = strings.NewReader(text)
	if said, err := lint.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("promtool: %v\n%s\nof\n%s", err, said, text)
	}
	run.cmd.Process.Signal(os.Interrupt)
	if o := run.waitForExit(); o.code != 130 || strings.Contains(o.stderr, "stay until") {
		t.Errorf("after Ctrl-C, code %d: %s", o.code, o.stderr)
	}
}
