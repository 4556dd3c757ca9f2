// Spin is a program to be profiled: as a parent it starts a child and waits, and the child
// burns CPU, for two minutes at most.
package main

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "parent" {
		c := exec.Command(os.Args[0], "child")
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if c.Run() != nil {
			os.Exit(1)
		}
		return
	}
	sum := uint32(1)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		sum = burn(sum)
	}
	os.Exit(int(sum & 1))
}

//go:noinline
func burn(x uint32) uint32 {
	for range 10_000_000 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	return x
}
