package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReadCalls(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
		ok   bool
	}{
		{"# started on Sat\n\n144,,raw_syscalls:sys_enter,2176563,100.00,,\n", 144, true},
		{"<not counted>,,raw_syscalls:sys_enter,0,0.00,,\n", 0, false},
		{"# started on Sat\n", 0, false},
		{"", 0, false},
	} {
		file := filepath.Join(t.TempDir(), "calls")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readCalls(file)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
	if _, err := readCalls(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}
