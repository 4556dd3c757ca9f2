// Dyno loads an HTTP server, measures what comes back, and says how far the
// measurement can be trusted. See README.md.
package main

import (
	"os"
	"runtime/debug"

	"dyno/internal/cli"
)

// garbage is by how many percent the memory in use may grow before garbage is collected. That takes
// CPU time from the load and stops it for a moment. With Go's default of 100 a run collects several
// times while it starts.
const garbage = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	args := os.Args[1:]
	if peer := cli.PeerOf(os.Args[0]); peer != "" { // a link named wrk acts as dyno wrk
		args = append([]string{peer}, args...)
	}
	os.Exit(cli.Main(args, os.Stdin, os.Stdout, os.Stderr))
}
