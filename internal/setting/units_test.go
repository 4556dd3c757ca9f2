package setting

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/nearest"
)

// parsing is what a parser made of a text, as text.
func parsing[T any](parse func(string) (T, error)) func(string) string {
	return func(s string) string {
		v, err := parse(s)
		if err != nil {
			return "! " + err.Error()
		}
		return fmt.Sprint(v)
	}
}

func TestUnits(t *testing.T) {
	above0 := parsing(Positive(ParseCount))
	duration, rate, count := parsing(ParseDuration), parsing(ParseRate), parsing(ParseCount)
	cpus, expect, reconnect := parsing(ParseCPUs), parsing(loadplan.ParseStatuses), parsing(ParseReconnect)
	const notAStatus = " is not a status; write codes from 100 to 599 and classes, as 200,204 or 2xx, or any"
	const tooLong = " is too long; the longest allowed is 8784h"
	const notADuration = " is not a duration; write 30s, 1m30s, 500ms, or seconds as 30"
	for _, test := range []struct {
		parse    func(string) string
		in, want string
	}{
		{duration, "30", "30s"}, {duration, "0.5", "500ms"}, {duration, "1m30s", "1m30s"},
		{duration, "0", "0s"}, {duration, "1.5h", "1h30m0s"}, {duration, ".5", "500ms"},
		{duration, "", `! ""` + notADuration}, {duration, "30sec", `! "30sec"` + notADuration},
		{duration, "1e3", "16m40s"}, {duration, "0x10", `! "0x10"` + notADuration},
		{duration, "NaN", `! "NaN"` + notADuration}, {duration, "-1s", `! "-1s" is negative`},
		{duration, "-1", `! "-1" is negative`}, {duration, "-1e300", `! "-1e300" is negative`},
		{duration, "-9999999999h", `! "-9999999999h" is negative`},
		{duration, "8784h", "8784h0m0s"}, {duration, "8785h", `! "8785h"` + tooLong},
		{duration, "9999999999h", `! "9999999999h"` + tooLong},
		{duration, "1e300", `! "1e300"` + tooLong}, {duration, "1e999", `! "1e999"` + tooLong},

		{rate, "20k", "20000"}, {rate, "1.5K", "1500"}, {rate, "2M/s", "2000000"},
		{rate, "0.5", "0.5"}, {rate, "0.001", "0.001"},
		{rate, "0", `! "0" is below 0.001/s`}, {rate, "101M", `! "101M" is above 100000000/s`},
		{rate, "2m", `! "2m" is not a rate; write a number a second, as 20000, 20k or 0.5`},
		{rate, "-1", `! "-1" is below 0.001/s`}, {rate, "-1e300", `! "-1e300" is below 0.001/s`},
		{rate, "1e4", "10000"}, {rate, "2.5E-1/s", "0.25"},
		{rate, "1e999", `! "1e999" is above 100000000/s`},
		{rate, "k", `! "k" is not a rate; write a number a second, as 20000, 20k or 0.5`},

		{count, "12345", "12345"}, {count, "10k", "10000"}, {count, "1.5k", "1500"},
		{count, "1.5", `! "1.5" is not a whole number; write 200, 10k or 2M`},
		{count, "-1", "-1"}, {count, "-1e30", `! "-1e30" is negative`}, {count, "1e4", "10000"},
		{above0, "1", "1"}, {above0, "0", `! "0" is below 1`}, {above0, "-7", `! "-7" is below 1`},
		{count, "99999999999M", `! "99999999999M" is above 9007199254740992`},

		{cpus, "0,2-3", "[0 2 3]"}, {cpus, "3,1,1-2", "[1 2 3]"},
		{cpus, "3-1", `! "3-1" counts down`},
		{cpus, "", `! "" is not a list of CPUs; write numbers and ranges up to 4095, as 0,2-3`},
		{cpus, "1,", `! "1," is not a list of CPUs; write numbers and ranges up to 4095, as 0,2-3`},
		{cpus, "4096", `! "4096" is not a list of CPUs; write numbers and ranges up to 4095, as 0,2-3`},

		{expect, "2xx", "[2xx]"}, {expect, "any", "[any]"}, {expect, "2xx,Any", "[2xx any]"},
		{expect, "200,404", "[200 404]"},
		{expect, "3XX,200", "[3xx 200]"},
		{expect, "ok", `! "ok"` + notAStatus},
		{expect, "200,", `! ""` + notAStatus},
		{expect, "6xx", `! "6xx"` + notAStatus},

		{reconnect, "never", "0"}, {reconnect, "always", "1"}, {reconnect, "100", "100"},
		{reconnect, "0", `! "0" is not never, always, or after how many requests`},
		{reconnect, "sometimes", `! "sometimes" is not never, always, or after how many requests`},
	} {
		if got := test.parse(test.in); got != test.want {
			t.Errorf("%q is %s\nwant %s", test.in, got, test.want)
		}
	}
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"30", "1m30s", "0.5", "500ms", "-1", "1e9", "9223372036.854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			return
		}
		if again, err := ParseDuration(d.String()); d < 0 || err != nil || again != d {
			t.Fatalf("%q is %d, and %v is %d, %v", s, d, d, again, err)
		}
		if d%time.Second == 0 {
			bare := fmt.Sprint(int64(d / time.Second))
			if again, err := ParseDuration(bare); err != nil || max(again-d, d-again) > time.Microsecond {
				t.Fatalf("%q is %v, and %q is %v, %v", s, d, bare, again, err)
			}
		}
	})
}

func FuzzRate(f *testing.F) {
	for _, s := range []string{"20k", "1.5M", "0.001", "5/s", "2m", ".", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			return
		}
		if r < 1 || r > loadplan.MaxRate*1000 {
			t.Fatalf("%q is %d thousandths", s, r)
		}
		text := fmt.Sprintf("%.3f", r.PerSecond())
		if again, err := ParseRate(text); err != nil || again != r {
			t.Fatalf("%q is %d, and %q is %d, %v", s, r, text, again, err)
		}
	})
}

// A list of CPUs takes memory by the CPUs it names, not by how often it names them.
func TestCPUsMemory(t *testing.T) {
	s := strings.Repeat("0-4095,", 3000) + "7"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpus, err := ParseCPUs(s)
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; err != nil || len(cpus) != MaxCPU+1 || taken > 4<<20 {
		t.Errorf("%d CPUs of %d bytes took %d bytes, %v", len(cpus), len(s), taken, err)
	}
}

func FuzzCPUs(f *testing.F) {
	for _, s := range []string{"0,2-3", "7", "1-", "-", "0-4095", "1,1,1", "+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cpus, err := ParseCPUs(s)
		if err != nil {
			return
		}
		if len(cpus) == 0 || !slices.IsSorted(cpus) || cpus[0] < 0 || cpus[len(cpus)-1] > MaxCPU {
			t.Fatalf("%q is %v", s, cpus)
		}
		text := strings.Trim(strings.ReplaceAll(fmt.Sprint(cpus), " ", ","), "[]")
		if again, err := ParseCPUs(text); err != nil || !slices.Equal(again, cpus) {
			t.Fatalf("%q is %v, and %q is %v, %v", s, cpus, text, again, err)
		}
	})
}

func TestNearest(t *testing.T) {
	names := []string{"connections", "connect-rate", "connect-to", "rate", "requests", "requests-file",
		"urls", "insecure", "json"}
	for in, want := range map[string]string{
		"connection": "connections", "conections": "connections", "conenctions": "connections",
		"insec": "insecure", "request": "requests", "url": "urls", "conn": "", "frobnicate": "",
		"x": "", "jsno": "json",
	} {
		if got := nearest.ClosestName(in, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", in, got, want)
		}
	}
}
