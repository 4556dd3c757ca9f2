package workload

import (
	"testing"

	"dyno/internal/lab/experiment"
)

// The requests of every experiment that ships can be read before it is in a folder, from any
// directory.
func TestShippedRequests(t *testing.T) {
	t.Chdir(t.TempDir())
	bodies := 0
	for _, l := range experiment.Shipped() {
		e, err := experiment.OpenShipped(l.Name)
		if err == nil {
			err = Check(e)
		}
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
			continue
		}
		for _, v := range experiment.Expand(e) {
			if r := v.Asked(); r.BodyFile != "" {
				if b, err := requestBody(e, r); err != nil || len(b) == 0 {
					t.Errorf("%s: %s is %d bytes, %v", l.Name, r.BodyFile, len(b), err)
				}
				bodies++
			}
		}
	}
	if bodies == 0 {
		t.Error("no experiment sends a file: this test tests nothing")
	}
}
