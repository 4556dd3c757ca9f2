package remote

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/fairness"
)

// planOf loads a server that the test has.
func planOf(t *testing.T, url string) loadplan.Plan {
	t.Helper()
	u, err := requests.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	p := loadplan.DefaultPlan()
	p.Target, p.Connections, p.Threads = u.Target, 2, 1
	if p.Requests, err = requests.Pair(requests.Defaults{URL: u}, []requests.URL{u}, [][]byte{nil}); err != nil {
		t.Fatal(err)
	}
	return p
}

// talk has Work do a task. It says when to begin as soon as it is asked, and goes
// away when it has heard enough.
func talk(t *testing.T, first any, enough func(message) bool) (said []message) {
	t.Helper()
	in, tell := io.Pipe()
	hear, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- RunWorker(t.Context(), in, out)
		out.Close()
	}()
	tasks := json.NewEncoder(tell)
	if err := tasks.Encode(first); err != nil {
		t.Fatal(err)
	}
	for words := json.NewDecoder(hear); ; {
		var w message
		if words.Decode(&w) != nil {
			break
		}
		if said = append(said, w); w.Ready {
			at := time.Now()
			tasks.Encode(task{Begin: &at})
		}
		if enough(w) {
			tell.Close()
		}
	}
	tell.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return said
}

func TestWork(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", "Thu, 01 Jan 1970 00:00:00 GMT") // two answers have the same
		io.WriteString(w, r.URL.Path)
	}))
	defer s.Close()
	never := func(message) bool { return false }
	taskOf := func(p loadplan.Plan) task {
		b, err := loadplan.Pack(p)
		if err != nil {
			t.Fatal(err)
		}
		return task{Plan: b}
	}
	p := planOf(t, s.URL+"/a")
	p.Requested, p.Duration = 500, 0
	said := talk(t, taskOf(p), never)
	completed := func() (n int64) {
		for _, w := range said {
			if w.Interval != nil {
				n += w.Interval.Completed
			}
		}
		return n
	}
	if last := said[len(said)-1].Result; !said[0].Ready || last == nil || completed() != 500 || last.Opened != 2 {
		t.Errorf("%+v", said)
	}
	p.Requested, p.Duration = 0, loadplan.Seconds(time.Hour)
	said = talk(t, taskOf(p), func(w message) bool { return w.Interval != nil })
	if last := said[len(said)-1].Result; last == nil || last.Ended != "interrupted" ||
		completed() == 0 || last.Measured <= 0 || last.FirstByte.Count == 0 {
		t.Errorf("left alone after a second: %+v", last)
	}
	said = talk(t, taskOf(p), func(w message) bool { return w.Ready })
	if last := said[len(said)-1].Result; last == nil || last.Ended != "interrupted" {
		t.Errorf("left alone at the barrier: %+v", last)
	}
	asked := planOf(t, s.URL+"/b")
	q := fairness.Question{Way: asked.Way(), Request: asked.Requests[0].Request, Times: 2, Brief: true}
	said = talk(t, task{Ask: &q}, never)
	there, err := fairness.Ask(t.Context(), q)
	if err != nil || len(said) != 1 || len(fairness.Differences(there, said[0].Answer)) > 0 ||
		!reflect.DeepEqual(there.Header, said[0].Answer.Header) {
		t.Errorf("%+v, asked from here %+v %v", said, there, err)
	}
	p.Connections = 0
	for want, first := range map[string]any{"Connections: 0": taskOf(p), "nothing that it can": task{},
		"reading the plan": task{Plan: []byte(`"x"`)}} {
		if said = talk(t, first, never); len(said) != 1 || !strings.Contains(said[0].Error, want) {
			t.Errorf("%+v, want %s", said, want)
		}
	}
	if err := RunWorker(t.Context(), strings.NewReader("nonsense"), io.Discard); err == nil {
		t.Error("nobody said what to do, and it was done")
	}
}
