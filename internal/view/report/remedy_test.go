package report

import (
	"strings"
	"testing"

	"dyno/internal/result"
)

// That there was no server is nothing that other flags would mend.
func TestNoRemedyWithoutAServer(t *testing.T) {
	for _, cause := range []result.Cause{result.NoServer, result.Outage, result.Unserved} {
		r := new(result.Result)
		r.Generator.Reasons = []string{"why"}
		r.Generator.Doubts = []result.Doubt{{Cause: cause, Kind: result.OtherLoad, Verdict: result.Suspect}}
		said := Reasons(r)[0]
		if advised := strings.Contains(said, "-c"); advised != (cause == result.Unserved) {
			t.Errorf("%s: %q", cause, said)
		}
	}
	r := new(result.Result)
	r.Generator.Reasons = []string{"why"}
	r.Generator.Doubts = []result.Doubt{{Cause: result.NeverSent, Kind: result.OtherLoad, Verdict: result.Suspect}}
	if said := Reasons(r)[0]; !strings.Contains(said, "-c") {
		t.Errorf("an open loop with too few connections: %q", said)
	}
	r.Window.OutageS, r.Window.MeasuredS, r.Requests.Sent, r.Requests.Waiting = 2, 4, 500, new(int64(500))
	if said := Reasons(r)[0]; said != "why" {
		t.Errorf("an open loop whose server was gone: %q", said)
	}
	r.Window.OutageS = 0.1
	if said := Reasons(r)[0]; !strings.Contains(said, "-c") {
		t.Errorf("an open loop whose server was gone for a moment: %q", said)
	}
}
