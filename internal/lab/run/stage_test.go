package run

import (
	"context"
	"testing"

	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/remote"
)

// Who asks a server is the stand's business, where it has one.
func TestAsker(t *testing.T) {
	l := &Lab{Ask: func(context.Context, fairness.Question) (*fairness.Answer, error) {
		return &fairness.Answer{Status: 1}, nil
	}}
	if a, err := l.askerFor(externalStand{new(experiment.Instance)})(t.Context(), fairness.Question{}); err != nil || a.Status != 1 {
		t.Error(a, err)
	}
	h := &localStand{Instance: new(experiment.Instance), private: true, workers: &remote.Workers{Count: 1}}
	if h.Reach().Ask == nil || h.Load() == nil {
		t.Error("a server in another network is asked from this one")
	}
}

// The count of a server is asked for wherever the server is.
func TestStandsCount(t *testing.T) {
	for url, some := range map[string]bool{"": false, "http://127.0.0.1:1": true} {
		for _, private := range []bool{false, true} {
			h := &localStand{Instance: &experiment.Instance{Served: url}, private: private, workers: &remote.Workers{}}
			if got := h.Reach().Count != nil; got != some {
				t.Errorf("%q, private %v: a count: %v", url, private, got)
			}
		}
	}
}

// A process that is asked elsewhere than at the URL of its variant speaks its own way there.
func TestIsSameServer(t *testing.T) {
	for _, c := range []struct {
		ready, url string
		want       bool
	}{
		{"http://127.0.0.1:81/up", "http://127.0.0.1:81/?a", true}, {"http://127.0.0.1:82/up", "http://127.0.0.1:81/", false},
		{"h2c://LOCALHOST:81/", "http://localhost:81/", true}, {"https://127.0.0.1/", "http://127.0.0.1/", false},
		{"http+unix:///a.sock:/up", "http+unix:///a.sock:/", true},
		{"http+unix:///b.sock:/up", "http+unix:///a.sock:/", false}, {"x", "x", false},
	} {
		if got := isSameServer(c.ready, c.url); got != c.want {
			t.Errorf("%s and %s: %v", c.ready, c.url, got)
		}
	}
}
