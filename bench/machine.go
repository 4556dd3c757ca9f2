package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// A machine is where the trials were made, with the versions of the tools.
type machine struct {
	CPU      string    `json:"cpu"`
	CPUs     int       `json:"cpus"`
	Kernel   string    `json:"kernel"`
	Go       string    `json:"go"`
	Date     string    `json:"date"`
	Versions []version `json:"versions"`
}

// A version is what a tool prints as its version.
type version struct {
	Tool string `json:"tool"`
	Says string `json:"says"`
}

// versionTimeout is how long a tool may take to print its version.
const versionTimeout = 5 * time.Second

// describeMachine queries the machine and the tools.
func describeMachine(ctx context.Context, tools []tool) machine {
	m := machine{CPU: cpuModel(), CPUs: runtime.NumCPU(), Kernel: kernelRelease(),
		Go: runtime.Version(), Date: time.Now().UTC().Format(time.DateOnly)}
	for _, t := range tools {
		says := "does not say"
		if len(t.version) > 0 {
			ctx, cancel := context.WithTimeout(ctx, versionTimeout)
			// Some exit with an error status: what they print counts.
			output, err := exec.CommandContext(ctx, t.path, t.version...).CombinedOutput()
			cancel()
			says, _, _ = strings.Cut(firstLine(output), " Copyright")
			if says == "" {
				says = fmt.Sprint("unknown: ", err)
			}
		}
		m.Versions = append(m.Versions, version{t.name, says})
	}
	return m
}

// machineText formats the machine.
func (m machine) machineText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d CPUs, %s, %s, %s\n", m.CPU, m.CPUs, m.Kernel, m.Go, m.Date)
	for _, v := range m.Versions {
		fmt.Fprintf(&b, "- %s: %s\n", v.Tool, v.Says)
	}
	return b.String()
}
