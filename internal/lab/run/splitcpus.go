package run

import (
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab/experiment"
	"dyno/internal/say"
	"dyno/internal/server"
)

// SplitCPUs divides the CPUs between generator and servers: as the file says, otherwise by cores.
func SplitCPUs(c experiment.CPUs) (server.Split, error) {
	s, err := server.SplitCPUs()
	if err != nil {
		return s, err
	}
	if len(c.Generator) > 0 {
		s.Generator = c.Generator
	}
	if len(c.Server) > 0 {
		s.Server = c.Server
	}
	if len(c.Generator)+len(c.Server) > 0 {
		s.Apart, s.Reason = true, ""
		for _, cpu := range s.Generator {
			if slices.Contains(s.Server, cpu) {
				s.Apart, s.Reason = false, say.Plain(fact.CPUInBoth{CPU: cpu})
			}
		}
	}
	return s, nil
}
