// Dyno loads an HTTP server, measures what comes back, and says how far the
// measurement can be trusted. See README.md.
package main

import (
	"os"
	"runtime"

	"dyno/internal/cli"
)

// ballast is the size of a piece of the heap that is never touched, so that it takes no memory. The
// collector starts when the heap has doubled, by default at 4 MiB. With it a short load ends before
// that; what needs more memory than the ballast is collected as always.
const ballast = 16 << 20

func main() {
	args := os.Args[1:]
	if peer := cli.PeerOf(os.Args[0]); peer != "" { // a link named wrk acts as dyno wrk
		args = append([]string{peer}, args...)
	}
	untouched := make([]byte, ballast)
	code := cli.Main(args, os.Stdin, os.Stdout, os.Stderr)
	runtime.KeepAlive(untouched)
	os.Exit(code)
}
