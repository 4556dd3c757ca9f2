package result

import "testing"

// 10 answers that waited 450 µs in sum waited 45 each, 1 % of a median of 4.5 ms.
func TestSetLinger(t *testing.T) {
	r := &Result{Latency: &Distribution{P50: 4500}}
	r.Requests.Completed = 10
	if r.setLinger(0); r.Generator.Linger != nil {
		t.Errorf("nothing waited: %+v", r.Generator.Linger)
	}
	r.setLinger(450_000)
	if l := r.Generator.Linger; l == nil || *l != (Linger{Wait: 45, Share: 0.01}) {
		t.Errorf("%+v", l)
	}
	none := &Result{}
	if none.setLinger(5); none.Generator.Linger != nil {
		t.Error("without an answer")
	}
}
