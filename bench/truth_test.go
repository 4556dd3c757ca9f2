package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Requests are due every 100 ms. The second takes 250 ms, so the third waits for 150 and
// the fourth for 60 ms.
func TestCompareTruth(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.csv")
	log := "1000000000,1000000000,10000000,/\n" +
		"1100000000,1100000000,250000000,/\n" +
		"1330000000,1360000000,10000000,/\n" + // sent late, because the tool waited
		"1340000000,1350000000,10000000,/\n" +
		"1400000000,1400000000,10000000,/\n"
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	// 10, 250, 160, 70, 10
	r := reading{latencyMean: 50, latencyP99: 250}
	if err := r.compareTruth(file, load{rate: 10, seconds: 1}); err != nil {
		t.Fatal(err)
	}
	for m, want := range map[metric]float64{truthMean: 100, truthP50: 70, truthP99: 250, truthP999: 250,
		meanOff: -50, p99Off: 0} {
		if !near(r[m], want) {
			t.Errorf("%s: %v, want %v", m, r[m], want)
		}
	}
	r = reading{}
	if err := r.compareTruth(file, load{rate: 1, seconds: 2}); err != nil || r[truthMean] != 130 {
		t.Errorf("of the first two: %v, %v", r, err)
	}
	if _, said := r[meanOff]; said {
		t.Error("a tool that says nothing is off")
	}
	for name, text := range map[string]string{"empty": "", "broken": "1,x,3,/\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r.compareTruth(file, load{rate: 1, seconds: 1}) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if r.compareTruth(filepath.Join(t.TempDir(), "none"), load{rate: 1, seconds: 1}) == nil {
		t.Error("none: no error")
	}
}

// 1,000 in flight at 200,000/s take 5 ms on average, whatever a tool says.
func TestCompareLittle(t *testing.T) {
	r := reading{rate: 200_000, latencyMean: 4.9}
	r.compareLittle(load{connections: 10, streams: 100})
	if want := -2.0; r[truthMean] != 5 || !near(r[meanOff], want) {
		t.Errorf("%v", r)
	}
	for name, l := range map[string]load{"an open load": {connections: 10, rate: 5},
		"new connections": {connections: 10, close: true}} {
		r = reading{rate: 5}
		if r.compareLittle(l); len(r) != 1 {
			t.Errorf("%s: %v", name, r)
		}
	}
}
