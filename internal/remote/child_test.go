package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// A worker process that does not work is an error that says what it said.
func TestChildThatFails(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{exe + "-is-not-there"}, "starting a worker"},
		{[]string{exe, "-test.run=^$"}, "it ended without a result"},
		{[]string{exe, "-frob"}, "flag provided but not defined: -frob"},
	} {
		r, err := Child{Args: c.args}.RunLoad(t.Context(), loadplan.DefaultPlan(), func(loadresult.Interval) {})
		if r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}

// What is wrong with a plan comes back from a worker as it would from load.Run.
func TestFlawsComeBack(t *testing.T) {
	p := planOf(t, "http://127.0.0.1:1/")
	p.Connections, p.Pipeline = 0, 0
	plan, err := loadplan.Pack(p)
	if err != nil {
		t.Fatal(err)
	}
	in, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	var out bytes.Buffer
	worked := make(chan error)
	go func() { worked <- RunWorker(t.Context(), in, &out) }()
	_, direct := load.Run(t.Context(), p, nil)
	last, err := superviseWorker(t.Context(), theirs, &lateReader{worked, &out}, task{Plan: plan}, soon, nil, nil)
	if err != nil || last.Error == "" {
		t.Fatal(err, last)
	}
	if got := last.resultError(); got.Error() != direct.Error() {
		t.Errorf("%v, want %v", got, direct)
	}
	if _, is := errors.AsType[loadplan.Flaw](last.resultError()); !is {
		t.Errorf("%v is no flaw", last.resultError())
	}
}

// A lateReader reads what was written, once that has ended.
type lateReader struct {
	ended <-chan error
	*bytes.Buffer
}

func (r *lateReader) Read(b []byte) (int, error) {
	if r.ended != nil {
		if err := <-r.ended; err != nil {
			return 0, err
		}
		r.ended = nil
	}
	return r.Buffer.Read(b)
}

// Samples of errors come back from a worker.
func TestSamplesComeBack(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	p := planOf(t, server.URL+"/x")
	p.SaveErrors, p.Requested, p.Duration = true, 30, 0
	plan, err := loadplan.Pack(p)
	if err != nil {
		t.Fatal(err)
	}
	in, tell := io.Pipe()
	hear, out := io.Pipe()
	worked := make(chan error, 1)
	go func() { worked <- RunWorker(t.Context(), in, out) }()
	last, err := superviseWorker(t.Context(), tell, hear, task{Plan: plan}, soon, nil, func(loadresult.Interval) {})
	tell.Close()
	if err := errors.Join(err, <-worked); err != nil || last.Error != "" {
		t.Fatal(err, last.Error)
	}
	if len(last.Result.Samples) != loadplan.SamplesMost || string(last.Result.Samples[0].Body) != "404 page not found\n" ||
		last.Result.Samples[0].Request.Path != "/x" {
		t.Errorf("%+v", last.Result.Samples)
	}
}

// A child that does not end is killed: soon if nobody waits for it.
func TestStuckChildIsKilled(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	c := Child{Args: []string{"sleep", "1000"}}
	ended := make(chan error, 1)
	go func() {
		_, err := c.RunShared(ctx, loadplan.DefaultPlan(), soon, nil, func(loadresult.Interval) {})
		ended <- err
	}()
	stop(ErrNobodyWaits)
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "it did not end 900ms after it was told to, and was killed") {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
}

// A child begins when its barrier says so, in its own process or here, and takes other shares.
func TestSharedChild(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	p := planOf(t, server.URL+"/x")
	p.Requested, p.Duration, p.Drain = 30, 0, loadplan.Seconds(time.Minute)
	in, tell := io.Pipe()
	hear, out := io.Pipe()
	worked := make(chan error, 1)
	go func() { worked <- RunWorker(t.Context(), in, out) }()
	plan, err := loadplan.Pack(p)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(300 * time.Millisecond)
	var ended int64
	last, err := superviseWorker(t.Context(), tell, hear, task{Plan: plan, Brief: true},
		func(context.Context) time.Time { return at }, nil, func(iv loadresult.Interval) { ended += iv.Completed + iv.Failed })
	tell.Close()
	if err := errors.Join(err, <-worked); err != nil || last.Error != "" {
		t.Fatal(err, last.Error)
	}
	if r := last.Result; r.Started.Before(at) || ended != 30 || r.Total != nil || len(r.Samples) > 0 || r.Failures[0].Count != 30 {
		t.Errorf("began at %v, and was to at %v: %d, %+v", r.Started, at, ended, r)
	}
}
