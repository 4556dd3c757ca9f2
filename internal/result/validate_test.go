package result

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result/streamed"
)

// keysOf are those of a written result, to be changed.
func keysOf(t *testing.T, r *Result) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	keys := map[string]any{}
	if err := json.Unmarshal(b.Bytes(), &keys); err != nil {
		t.Fatal(err)
	}
	return keys
}

// doubts reads what keys were made to say, and checks it.
func doubts(t *testing.T, keys map[string]any) string {
	t.Helper()
	b, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(b)
	if err == nil {
		err = Check(r)
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// Of what the schema requires nothing can be taken out, or be null, unnoticed.
func TestCheckFindsWhatIsMissing(t *testing.T) {
	var root node
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	sample := openRun()
	sample.Plan.Requests = []loadplan.Request{{Name: "a"}}
	whole := keysOf(t, from(t, sample))
	if said := doubts(t, whole); said != "" {
		t.Fatalf("of a result as it is: %s", said)
	}
	try := func(part map[string]any, within, key string) {
		was := part[key]
		defer func() { part[key] = was }()
		part[key] = nil
		null := doubts(t, whole)
		delete(part, key)
		for _, said := range []string{null, doubts(t, whole)} {
			if !strings.Contains(said, "it lacks what every result has: "+within+key) && key != "format" {
				t.Errorf("without %s%s: %q", within, key, said)
			}
		}
	}
	for _, key := range root.Required {
		try(whole, "", key)
		part, is := whole[key].(map[string]any)
		if !is || root.Properties[key].Ref == "" {
			continue
		}
		for _, inner := range root.Defs[strings.TrimPrefix(root.Properties[key].Ref, "#/$defs/")].Required {
			try(part, key+".", inner)
		}
	}
}

// Counts that no run can have had.
func TestCheckFindsCountsThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(r *Result){
		"connections: -4 is below 0":   func(r *Result) { r.Connections.Asked = -4 },
		"bytes: -1 is below 0":         func(r *Result) { r.Bytes.Received = -1 },
		"requests: -7 is below 0":      func(r *Result) { r.Requests.Retried = -7 },
		"requests: -8 is below 0":      func(r *Result) { r.Requests.Warmup = -8 },
		"requests: -9 is below 0":      func(r *Result) { r.Requests.WarmupLost = -9 },
		"status 200: -2 is below 0":    func(r *Result) { r.Status["200"] = -2 },
		"status has 10001000 answers":  func(r *Result) { r.Status["404"] = 10_000_000 },
		"errors[0].count: -3 is below": func(r *Result) { r.Errors[0].Count = -3 },
		"series[0]: -1 is below 0":     func(r *Result) { r.Series[0].Sent = -1 },
		"route a: -1 is below 0":       func(r *Result) { r.Routes[0].Errors = -1 },
		"stream.samples: the arrivals": func(r *Result) {
			r.Stream = &streamed.Stream{Samples: []streamed.Sample{{Each: 1, Arrivals: []int64{-1, 2}}}}
		},
		"stream.samples: 51, at most 50": func(r *Result) {
			r.Stream = &streamed.Stream{Samples: slices.Repeat([]streamed.Sample{{Each: 1}}, 51)}
		},
	} {
		r := from(t, closedRun())
		r.Status = maps.Clone(r.Status)
		r.Errors, r.Series = slices.Clone(r.Errors), slices.Clone(r.Series)
		if err := Check(r); err != nil {
			t.Fatalf("as it is: %v", err)
		}
		if change(r); Check(r) == nil || !strings.Contains(Check(r).Error(), want) {
			t.Errorf("%v; want %s", Check(r), want)
		}
	}
}

// Rates that no machine makes.
func TestCheckFindsRatesThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(r *Rate){
		"rate.completed is 1e+308 a second":     func(r *Rate) { r.Completed = 1e308 },
		"rate.sent is 1e+10 a second":           func(r *Rate) { r.Sent = 1e10 },
		"rate.sent is -1 a second":              func(r *Rate) { r.Sent = -1 },
		"rate.offered is 1e+308 a second":       func(r *Rate) { r.Offered = new(1e308) },
		"rate.error_answers is 1e+308 a second": func(r *Rate) { r.ErrorAnswers = new(1e308) },
		"rate.handshakes is 1e+308 a second":    func(r *Rate) { r.Handshakes = new(1e308) },
	} {
		r := from(t, closedRun())
		if change(&r.Rate); Check(r) == nil || !strings.Contains(Check(r).Error(), want) {
			t.Errorf("%v; want %s", Check(r), want)
		}
	}
	r := from(t, closedRun())
	r.Rate.Completed, r.Fleet = 1.5e9, &Fleet{Agents: make([]Agent, 2)}
	if err := Check(r); err != nil {
		t.Errorf("of two machines: %v", err)
	}
}

// Whoever interrupts a run is not told to let it end more slowly.
func TestNoDrainOfAnInterruptedRun(t *testing.T) {
	for ended, want := range map[loadresult.Ending]bool{loadresult.ByDuration: true, loadresult.ByRequests: true,
		loadresult.Interrupted: false, loadresult.Aborted: false, loadresult.Gone: false} {
		r := from(t, closedRun())
		r.Ended, r.Requests.Unfinished = string(ended), r.Requests.Sent
		said := strings.Join(warnings(r), "\n")
		if !strings.Contains(said, "were unanswered") || strings.Contains(said, "--drain") != want {
			t.Errorf("%s: %q", ended, said)
		}
	}
}
