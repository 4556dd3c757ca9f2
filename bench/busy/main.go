//go:build linux

// Busy runs a command on a busy machine: other processes occupy each CPU for random spans, again
// and again. A test that passes on an idle machine and fails here depends on timing.
//
//	go run ./bench/busy go test -race -count=1 ./internal/engine/load
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the spans; the same has the same")
	cpu := flag.Int("take", -1, "take this CPU until stdin ends; what busy starts for each of them")
	flag.Parse()
	if *cpu >= 0 {
		occupyCPU(*cpu, *seed)
		return
	}
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: busy [-seed N] COMMAND ...")
		os.Exit(2)
	}
	fmt.Fprintf(os.Stderr, "busy: -seed %d\n", *seed)
	code, err := runOnBusyCPUs(*seed, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "busy:", err)
	}
	os.Exit(code)
}

// runOnBusyCPUs returns the command's exit code. The processes that occupy the CPUs end with the
// pipe to them, however busy itself ends.
func runOnBusyCPUs(seed uint64, command []string) (int, error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return 1, fmt.Errorf("finding the CPUs: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return 1, fmt.Errorf("finding this program: %w", err)
	}
	for cpu, left := 0, all.Count(); left > 0; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		left--
		c := exec.Command(self, "-take", fmt.Sprint(cpu), "-seed", fmt.Sprint(seed))
		end, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			return 1, fmt.Errorf("taking CPU %d: %w", cpu, err)
		}
		defer c.Wait()
		defer end.Close()
	}
	c := exec.Command(command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); c.ProcessState == nil {
		return 1, err
	}
	return c.ProcessState.ExitCode(), nil
}

// occupyCPU computes on one CPU for 10 ms to 2.5 s, sleeps for as long, and so on. It has the
// highest priority where that is permitted.
func occupyCPU(cpu int, seed uint64) {
	var one unix.CPUSet
	one.Set(cpu)
	if err := unix.SchedSetaffinity(os.Getpid(), &one); err != nil {
		fmt.Fprintf(os.Stderr, "busy: CPU %d: %v\n", cpu, err)
		os.Exit(1)
	}
	if unix.Setpriority(unix.PRIO_PROCESS, os.Getpid(), -20) != nil {
		fmt.Fprintln(os.Stderr, "busy: only root goes before others; a CPU is shared, not taken")
	}
	go func() {
		os.Stdin.Read(make([]byte, 1)) // returns when the other end is closed
		os.Exit(0)
	}()
	random := rand.New(rand.NewPCG(seed, uint64(cpu)))
	span := func() time.Duration { return 10 * time.Millisecond << random.IntN(9) }
	for {
		for end := time.Now().Add(span()); time.Now().Before(end); {
		}
		time.Sleep(span())
	}
}
