// Dyno loads an HTTP server, measures what comes back, and says how far the
// measurement can be trusted. See README.md.
package main

import (
	"os"

	"dyno/internal/cli"
)

func main() {
	args := os.Args[1:]
	if peer := cli.PeerOf(os.Args[0]); peer != "" { // a link named wrk acts as dyno wrk
		args = append([]string{peer}, args...)
	}
	os.Exit(cli.Main(args, os.Stdin, os.Stdout, os.Stderr))
}
