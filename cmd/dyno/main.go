// Dyno loads an HTTP server, measures what comes back, and says how far the
// measurement can be trusted. See README.md.
package main

import (
	"os"

	"dyno/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
