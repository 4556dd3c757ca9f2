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

// A row has no more connections than processes may have files.
func TestAllowed(t *testing.T) {
	b := bench{files: 20000}
	many, few := row{title: "many"}, row{title: "few"}
	many.load.connections, few.load.connections = 100000, 19900
	if got := b.limitConnections(many, 3); got.load.connections != 19900 ||
		got.title != "many (19900 here: the limit of open files is 20000)" {
		t.Errorf("%+v", got)
	}
	if got := b.limitConnections(few, 3); got.load.connections != 19900 || got.title != "few" {
		t.Errorf("%+v", got)
	}
	many.slice = sliceLength // all tools are connected
	if got := b.limitConnections(many, 3); got.load.connections != 6633 ||
		got.title != "many (6633 here: 3 tools share 20000 files and the ports)" {
		t.Errorf("%+v", got)
	}
}

// TestStarts starts programs that end well, with an error, and never begin.
func TestStarts(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) tool {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return tool{name: name, path: path, version: []string{"-v"}}
	}
	b := bench{}
	for _, x := range []tool{script("well", `test "$1" = -v`), script("usage", "exit 1")} {
		v, err := b.measureStarts(t.Context(), x)
		if err != nil || v[startUp] <= 0 || v[size] <= 0 || len(v) != 2 {
			t.Errorf("%s: %v, %v", x.name, v, err)
		}
	}
	killed := script("killed", "kill -9 $$")
	if v, err := b.measureStarts(t.Context(), killed); err == nil {
		t.Errorf("a program that is killed starts in %v", v)
	}
	if v, err := b.measureStarts(t.Context(), tool{path: filepath.Join(dir, "none")}); err == nil {
		t.Errorf("a program that is not there starts in %v", v)
	}
}
