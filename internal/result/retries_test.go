package result

import (
	"slices"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

// Where each connection is closed behind one number of requests, the warning names the setting with which no request is
// lost; and it names the proxy that closes them.
func TestRetriesNameTheRemedy(t *testing.T) {
	closed := func(least, most int64) loadresult.Retry {
		return loadresult.Retry{Method: "GET", Why: loadresult.RetryClosed, Count: 50, Least: least, Most: most}
	}
	posted := closed(20, 20)
	posted.Method, posted.Why = "POST", loadresult.RetryAnnounced
	for name, c := range map[string]struct {
		of        loadresult.Retries
		reconnect int
		want      string // "": nothing
	}{
		"after 20":        {loadresult.Retries{closed(20, 20), posted}, 0, "20"},
		"after each":      {loadresult.Retries{closed(1, 1)}, 0, "always"},
		"in a pipeline":   {loadresult.Retries{closed(8, 8)}, 0, ""},
		"is given":        {loadresult.Retries{closed(20, 20)}, 20, ""},
		"after 19 to 20":  {loadresult.Retries{closed(19, 20)}, 0, ""},
		"after 19 and 20": {loadresult.Retries{closed(19, 19), posted}, 0, ""},
		"refused too":     {loadresult.Retries{closed(20, 20), {Method: "GET", Why: loadresult.RetryRefused, Count: 1}}, 0, ""},
		"two only":        {loadresult.Retries{{Method: "GET", Why: loadresult.RetryClosed, Count: 2, Least: 57, Most: 57}}, 0, ""},
		"nobody knows":    {loadresult.Retries{closed(0, 0)}, 0, ""},
	} {
		var want []fact.Remedy
		if c.want != "" {
			want = []fact.Remedy{{Setting: "reconnect", Value: c.want}}
		}
		target := loadplan.Target{URL: "http://a.example/", Host: "a.example", Port: 80}
		r := &Result{Plan: loadplan.Plan{Target: target, Proxy: "http://p:3128", Reconnect: c.reconnect, Pipeline: 1, Streams: 1}}
		if name == "in a pipeline" {
			r.Plan.Pipeline = 10
		}
		r.Retries, r.Requests.Sent, r.Requests.Retried = c.of, 1000, 100
		f, a, found := fact.Find[fact.Retries](cautions(r))
		if !found || !slices.Equal(f.Remedies, want) || a.Peer != fact.Proxy {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// The server may have carried out a request that was sent again if its connection was only closed, and not if it had
// announced that, refused the request or never had it. That matters unless the method is idempotent.
func TestRetriedTwice(t *testing.T) {
	for _, c := range []struct {
		method, why string
		want        bool
	}{
		{"POST", loadresult.RetryClosed, true}, {"PATCH", loadresult.RetryClosed, true},
		{"GET", loadresult.RetryClosed, false}, {"PUT", loadresult.RetryClosed, false},
		{"POST", loadresult.RetryAnnounced, false}, {"POST", loadresult.RetryRefused, false},
	} {
		all := retriesOf(loadresult.Retries{{Method: c.method, Why: c.why, Count: 7}})
		if len(all) != 1 || all[0].Twice != c.want || all[0].Count != 7 {
			t.Errorf("%s, %s: %+v", c.method, c.why, all)
		}
	}
}
