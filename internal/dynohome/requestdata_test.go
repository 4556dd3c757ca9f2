package dynohome

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/result"
)

// manyRequests is what a run counted whose requests are so many.
func manyRequests(t *testing.T, n int) *result.Result {
	t.Helper()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1:80/", Host: "127.0.0.1", Port: 80}
	for i := range n {
		p.Requests = append(p.Requests, loadplan.Request{Name: fmt.Sprintf("POST /%d", i), Weight: 1,
			Request: proto.Request{Method: "POST", Authority: "127.0.0.1", Path: fmt.Sprintf("/%d", i),
				Body:   []byte(strings.Repeat("b", 100)),
				Header: []proto.Field{{Name: "Authorization", Value: "Basic c2VjcmV0"}}}})
	}
	r, err := result.From(&loadresult.Result{Plan: p, Started: time.Now(), Measured: time.Second}, "1")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// However often a run of many requests is stored, they are stored once, under their SHA256, and
// each result has the first of them.
func TestDataIsStoredOnce(t *testing.T) {
	home, all := t.TempDir(), int64(0)
	const n = 10_000
	for range 3 {
		path, err := Save(home, manyRequests(t, n))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() > 100<<10 {
			t.Errorf("a result has %d bytes, %v", info.Size(), err)
		}
		all += info.Size()
	}
	files, err := filepath.Glob(filepath.Join(DataFolder(home), "*"+dataSuffix))
	if err != nil || len(files) != 1 {
		t.Fatalf("data is in %q, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	r, err := Open(home, "last")
	if err != nil {
		t.Fatal(err)
	}
	want := loadplan.Data{Requests: n, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:]),
		File: files[0]}
	if d := r.Plan.Data; d == nil || *d != want || r.Plan.Asks() != n || len(r.Plan.Requests) > 20 {
		t.Errorf("the plan has %d requests and says %+v, want %+v", len(r.Plan.Requests), d, want)
	}
	if lines := bytes.Count(content, []byte("\n")); lines != n || bytes.Contains(content, []byte("c2VjcmV0")) {
		t.Errorf("%d lines are stored of %d requests, or a secret is", lines, n)
	}
	if err := r.Plan.Check(); err == nil || !strings.Contains(err.Error(), "the first 20 are known") {
		t.Errorf("the first requests are loaded as if they were all: %v", err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if r, err = Open(home, "last"); err != nil || r.Plan.Data.File != "" {
		t.Errorf("data that is gone is in %q, %v", r.Plan.Data.File, err)
	}
}

// However long the first request is, or the only one, results have a bounded head, and the requests
// are stored once.
func TestLongRequestsAreStoredOnce(t *testing.T) {
	long := strings.Repeat("some words ", 100_000)
	for name, change := range map[string]func(*loadplan.Request){
		"path":   func(r *loadplan.Request) { r.Path = "/" + strings.ReplaceAll(long, " ", "/") },
		"header": func(r *loadplan.Request) { r.Header = []proto.Field{{Name: "Accept", Value: long}} },
		"name":   func(r *loadplan.Request) { r.Name = long },
		"expectation": func(r *loadplan.Request) {
			r.Expect = &loadplan.OwnExpectations{Expectations: loadplan.Expectations{Body: []string{"contains:" + long}}}
		},
	} {
		for _, n := range []int{1, 3} {
			home := t.TempDir()
			for range 2 {
				r := manyRequests(t, n)
				change(&r.Plan.Requests[0])
				whole := r.Plan
				whole.Data = nil
				if err := r.RestorePlan(whole, nil); err != nil {
					t.Fatal(err)
				}
				path, err := Save(home, r)
				if err != nil {
					t.Fatal(err)
				}
				if info, err := os.Stat(path); err != nil || info.Size() > 100<<10 {
					t.Errorf("%s, %d: a result has %d bytes, %v", name, n, info.Size(), err)
				}
			}
			r, err := Open(home, "last")
			if err != nil {
				t.Fatal(err)
			}
			d := r.Plan.Data
			if d == nil || d.Requests != n || r.Plan.Asks() != n || r.Plan.Whole() || d.Bytes < int64(len(long)) {
				t.Errorf("%s, %d: the plan has %d requests and says %+v", name, n, len(r.Plan.Requests), d)
				continue
			}
			files, err := filepath.Glob(filepath.Join(DataFolder(home), "*"+dataSuffix))
			if err != nil || len(files) != 1 || files[0] != d.File {
				t.Errorf("%s, %d: data is in %q and not in %q, %v", name, n, files, d.File, err)
			}
			if err := r.Plan.Check(); err == nil || !strings.Contains(err.Error(), "the first 0 are known") {
				t.Errorf("%s, %d: what is known is loaded as if it were all: %v", name, n, err)
			}
		}
	}
}

// A file that was damaged is written again, and not taken for the requests.
func TestDamagedDataIsReplaced(t *testing.T) {
	home, r := t.TempDir(), manyRequests(t, 100)
	for _, damage := range []string{"", "damaged"} {
		if err := SaveData(home, &r.Plan); err != nil {
			t.Fatal(err)
		}
		path := DataFile(home, r.Plan.Data.SHA256)
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := SaveData(home, &r.Plan); err != nil || !isData(path, r.Plan.Data) {
			t.Errorf("%q was left: %v", damage, err)
		}
	}
}

// What another process has measured comes as JSON; with the plan that it was given, its data can
// be stored.
func TestDataOfAnotherProcess(t *testing.T) {
	r, home := manyRequests(t, 100), t.TempDir()
	whole := r.Plan
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = result.Decode(b); err != nil || r.Plan.Whole() {
		t.Fatalf("all of it is in the JSON: %v", err)
	}
	if err := r.RestorePlan(whole, nil); err != nil || !r.Plan.Whole() {
		t.Fatalf("it is not whole again: %v", err)
	}
	if err := SaveData(home, &r.Plan); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(DataFile(home, r.Plan.Data.SHA256)); err != nil {
		t.Error(err)
	}
	var none *result.Result
	if err := none.RestorePlan(whole, nil); err != nil {
		t.Error(err)
	}
}

// A few requests stay where they were: in the result.
func TestFewRequestsAreNoData(t *testing.T) {
	home := t.TempDir()
	if _, err := Save(home, manyRequests(t, 20)); err != nil {
		t.Fatal(err)
	}
	r, err := Open(home, "last")
	if err != nil || r.Plan.Data != nil || len(r.Plan.Requests) != 20 {
		t.Errorf("%d requests, data %v, %v", len(r.Plan.Requests), r.Plan.Data, err)
	}
	if _, err := os.Stat(DataFolder(home)); !os.IsNotExist(err) {
		t.Errorf("there is a folder for data: %v", err)
	}
}
