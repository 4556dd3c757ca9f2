package probe

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

const nginxStat = "812 (nginx) S 1 812 812 0 -1 4194624 290 0 0 0 12 34 56 78 20 0 1 0 2042 " +
	"57315328 431 18446744073709551615 1 1 0 0 0 0 0 1073745920 402745863 0 0 0 17 1 0 0 0 0 0"

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		text, comm string
		fits       bool
	}{
		{nginxStat, "nginx", true},
		{strings.Replace(nginxStat, "nginx", "a) R (b 1 2", 1), "a) R (b 1 2", true},
		{strings.Replace(nginxStat, "nginx", "\n", 1), "\n", true},
		{strings.Replace(nginxStat, "nginx", "", 1), "", true},
		{nginxStat[:60], "", false},
		{"", "", false},
		{"812 nginx S 1", "", false},
		{strings.Replace(nginxStat, " 12 34", " x 34", 1), "", false},
		{strings.Replace(nginxStat, " 2042 ", " 10000000000000000000 ", 1), "", false},
		{strings.Replace(nginxStat, "S 1 ", "S 4294967296 ", 1), "", false},
	} {
		s, err := parseStat([]byte(c.text))
		if (err == nil) != c.fits {
			t.Errorf("%q: %v", c.text, err)
		}
		if err != nil {
			continue
		}
		want := procStat{state: 'S', parent: 1, threads: 1, user: 12, sys: 34,
			reapedU: 56, reapedS: 78, start: 2042}
		if string(s.comm) != c.comm {
			t.Errorf("%q: name %q, want %q", c.text, s.comm, c.comm)
		}
		s.comm = nil
		if s.state != want.state || s.parent != want.parent || s.threads != want.threads ||
			s.user != want.user || s.sys != want.sys || s.reapedU != want.reapedU ||
			s.reapedS != want.reapedS || s.start != want.start {
			t.Errorf("%q: %+v, want %+v", c.text, s, want)
		}
	}
}

func TestParseCPU(t *testing.T) {
	row := newNaNs(7)
	if err := parseCPU([]byte("cpu  10 1 20 30 40 5 6 7 0 0\ncpu0 1"), row); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{11, 20, 6, 5, 30, 40, 7} {
		if row[i] != want*tick {
			t.Errorf("%s is %v, want %v", cpuColumns[i].name, row[i], want*tick)
		}
	}
	if err := parseCPU([]byte("cpu 1 2 3 4\n"), row); err != nil || !math.IsNaN(row[6]) {
		t.Errorf("a kernel without steal: %v, %v", row, err)
	}
	for _, bad := range []string{"", "intr 1", "cpu 1 2 3", "cpu 1 x 3 4"} {
		if parseCPU([]byte(bad), row) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestLookup(t *testing.T) {
	text := []byte("Name:\tx\nVmRSS:\t    1234 kB\nnr_throttled 7\nPss_Anon: 3\nPss: 9 kB\nlast 5")
	for key, want := range map[string]float64{
		"VmRSS": 1234, "nr_throttled": 7, "Pss": 9, "last": 5,
		"Name": math.NaN(), "none": math.NaN(), "": math.NaN(),
	} {
		if got := numberAfterKey(text, key); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
}

func TestParseSchedstat(t *testing.T) {
	if wait, slices := parseSchedstat([]byte("425660 56714 2\n")); wait != 56714 || slices != 2 {
		t.Error(wait, slices)
	}
	if wait, slices := parseSchedstat(nil); !math.IsNaN(wait) || !math.IsNaN(slices) {
		t.Error(wait, slices)
	}
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte(nginxStat))
	f.Add([]byte("cpu  1 2 3 4 5 6 7 8\nctxt 9\n"))
	f.Add([]byte("1 2 3"))
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		if s, err := parseStat(text); err == nil {
			if !bytes.Contains(text, s.comm) || s.user < 0 || s.reapedS < 0 || s.start < 0 {
				t.Errorf("%q: %+v", text, s)
			}
		}
		row := newNaNs(len(cpuColumns))
		if parseCPU(text, row) == nil {
			for _, x := range row {
				if x < 0 {
					t.Errorf("%q: %v", text, row)
				}
			}
		}
		if wait, slices := parseSchedstat(text); wait < 0 || slices < 0 {
			t.Errorf("%q: %v %v", text, wait, slices)
		}
		for _, pid := range parsePIDs(nil, text) {
			if pid < 0 || pid > math.MaxInt32 {
				t.Errorf("%q: pid %d", text, pid)
			}
		}
		if x := numberAfterKey(text, "ctxt"); x < 0 {
			t.Errorf("%q: %v", text, x)
		}
		processNames(string(text), "c", false)
		programOf(string(text))
		if !bytes.Equal(text, before) {
			t.Error("a parser wrote to its text")
		}
	})
}
