package lab

import "testing"

// Two arms ran the same programs if their executables have the same names, wherever they lie; an arm
// of which nothing is known does not count as another.
func TestSamePrograms(t *testing.T) {
	r := new(Record)
	for arm, paths := range map[string][]string{"go": {"/a/app"}, "tuned": {"/b/app"},
		"proxied": {"/b/app", "/usr/sbin/nginx"}, "nginx": {"/usr/sbin/nginx"}} {
		for _, path := range paths {
			r.Programs = append(r.Programs, ArmProgram{Arm: arm, Program: Program{Path: path}})
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"go", "tuned", true}, {"go", "proxied", false}, {"nginx", "go", false}, {"go", "unknown", true}} {
		if r.SamePrograms(c.a, c.b) != c.want || r.SamePrograms(c.b, c.a) != c.want {
			t.Errorf("%s and %s: not %v", c.a, c.b, c.want)
		}
	}
}
