package nearest

import "testing"

func TestName(t *testing.T) {
	names := []string{"run", "connections", "connect-rate", "duration", "Variants", "rate"}
	for given, want := range map[string]string{
		"conections": "connections", "duraiton": "duration", "dur": "duration", "variant": "Variants",
		"VARIANTS": "Variants", "conn": "", "r": "", "xyzzy": "", "rats": "rate", "rn": "run", "xx": "",
	} {
		if got := ClosestName(given, names); got != want {
			t.Errorf("%q is taken for %q, not %q", given, got, want)
		}
	}
}
