package machine

import "testing"

func TestCPUModel(t *testing.T) {
	const x86 = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Some  CPU @ 2 GHz\nmodel name\t: Other\n"
	const arm = "processor\t: 0\nBogoMIPS\t: 50.00\n"
	if got := cpuModel(x86); got != "Some CPU @ 2 GHz" {
		t.Errorf("%q", got)
	}
	if got := cpuModel(arm); got != "" {
		t.Errorf("%q", got)
	}
}
