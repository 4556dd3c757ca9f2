package server

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestCores(t *testing.T) {
	sys := t.TempDir()
	write := func(cpu int, name, text string) {
		dir := filepath.Join(sys, fmt.Sprintf("cpu%d", cpu), "topology")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Two packages, numbered in turn, two threads each core: 0 1 2 3 | 4 5 6 7.
	for cpu := range 8 {
		write(cpu, "thread_siblings_list", fmt.Sprintf("%d,%d", cpu%4, cpu%4+4))
		write(cpu, "physical_package_id", fmt.Sprint(cpu%2))
	}
	tests := []struct {
		cpus []int
		want string
	}{
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, "[[0 4] [2 6] [1 5] [3 7]]"},
		{[]int{4, 6, 7}, "[[4] [6] [7]]"},
		{[]int{0, 4, 9}, "[[0 4] [9]]"}, // 9 has no topology
	}
	for _, test := range tests {
		cores, err := coresOf(test.cpus, sys)
		if err != nil || fmt.Sprint(cores) != test.want {
			t.Errorf("%v: %v %v", test.cpus, cores, err)
		}
	}
	write(9, "thread_siblings_list", "nonsense")
	if cores, err := coresOf([]int{9}, sys); err == nil {
		t.Error(cores)
	}
}
