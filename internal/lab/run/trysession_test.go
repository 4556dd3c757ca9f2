package run

import (
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

func TestFailuresOfASession(t *testing.T) {
	check, read := string(loadresult.Check), string(loadresult.Read)
	for _, test := range []struct {
		errors []result.Error
		want   string
	}{
		{nil, "no response came"},
		{[]result.Error{{Phase: read, Kind: "closed", Detail: "it was closed"},
			{Phase: check, Kind: "a.hurl line 4: status 200", Detail: "the answer did not pass"}},
			`a check failed: a.hurl line 4: status 200; it was closed; in all, it answered with status 200 (once) and 401 (2 times)`},
		{[]result.Error{{Phase: check, Kind: loadresult.Refused, Detail: "a.hurl:4:7: the value has a line end"}},
			"a.hurl:4:7: the value has a line end"},
	} {
		r := new(result.Result)
		r.Errors, r.Status = test.errors, map[string]int64{"200": 1, "401": 2}
		if got := (&sessionError{SessionFailed: failuresOf(r)}).Error(); got != "the session with its server failed: "+test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// A session that is slow has not failed.
func TestHasFailed(t *testing.T) {
	for name, test := range map[string]struct {
		requests   result.Requests
		iterations *result.Iterations
		errors     []result.Error
		want       bool
	}{
		"answered":             {requests: result.Requests{Completed: 1}},
		"an answer is awaited": {requests: result.Requests{Unfinished: 1}, iterations: &result.Iterations{Unfinished: 1}},
		"a step is awaited":    {requests: result.Requests{Completed: 2}, iterations: &result.Iterations{Unfinished: 1}},
		"a failed iteration":   {requests: result.Requests{Completed: 2}, iterations: &result.Iterations{Failed: 1}, want: true},
		"an error":             {requests: result.Requests{Completed: 1}, errors: []result.Error{{}}, want: true},
		"nothing was sent":     {want: true},
	} {
		r := &result.Result{Requests: test.requests}
		r.Iterations, r.Errors = test.iterations, test.errors
		if got := hasFailed(r); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The remedy is stored, and read in other folders: its file is a whole path, and one word of a shell.
func TestRemedyOfASession(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b.hurl")
	if r := (&sessionError{file: file}).remedy(); !strings.Contains(r, "run -v '"+file+"' --variable") {
		t.Error(r)
	}
}
