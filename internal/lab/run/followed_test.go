package run

import (
	"context"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/fairness"
)

// Where redirects are followed, what is expected is expected of the last answer, and a variant is
// asked for its first.
func TestExpectationsOfRedirects(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1:1/", Host: "127.0.0.1", Port: 1}
	p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET", Authority: "x", Path: "/"}}}
	p.Expect = []loadplan.Statuses{{From: 200, To: 200}}
	for _, test := range []struct{ status, follow int }{{302, 0}, {302, 1}, {200, 0}, {200, 1}, {404, 1}} {
		p.Follow = test.follow
		ask := func(context.Context, fairness.Question) (*fairness.Answer, error) {
			return &fairness.Answer{Status: test.status}, nil
		}
		_, err := (&running{Lab: &Lab{}}).verifyAnswer(t.Context(), p, nil, ask)
		if right := test.status == 200 || test.status == 302 && test.follow > 0; (err == nil) != right {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
