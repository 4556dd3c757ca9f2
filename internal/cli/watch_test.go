package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/view/live"
)

// A machine that cannot be watched, and an agent that cannot be reached, are an error and no
// fault of dyno.
func TestNothingCanBeWatched(t *testing.T) {
	t.Setenv("DYNO_HOME", t.TempDir())
	f := runFlags{away: awayFlags{agent: "nobody", processes: []string{"nginx"}}}
	w, err := beginWatch(t.Context(), &f, probe.Config{Every: time.Nanosecond})
	if err == nil || w.sampler != nil {
		t.Errorf("watches %+v, %v", w, err)
	}
}

// What the watched server uses is in the metrics while the load runs.
func TestWatchedInMetrics(t *testing.T) {
	pid := strconv.Itoa(os.Getpid())
	f := newRunFlags()
	f.watch, f.watched = []string{pid}, []probe.Tree{{Name: "server", PID: os.Getpid()}}
	var err error
	if f.live.metrics, err = live.Listen("127.0.0.1:0", live.NewMetrics(f.plan, "")); err != nil {
		t.Fatal(err)
	}
	defer f.live.metrics.Close()
	ended := errors.New("the load has ended")
	load := func(context.Context, loadplan.Plan, func(loadresult.Interval)) (*result.Result, error) {
		answer, err := http.Get(f.live.metrics.URL())
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		for _, want := range []string{`dyno_server_cpu_seconds_total{process="server"} `,
			`dyno_server_memory_bytes{process="server"} `} {
			if !strings.Contains(string(text), want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		return nil, errors.Join(err, ended)
	}
	if _, err := f.carryOutPlan(t.Context(), f.plan, load); !errors.Is(err, ended) {
		t.Error(err)
	}
}
