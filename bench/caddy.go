package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// caddyConf is Caddy with HTTP/3, which counts what it answers, and says so on a port of its own.
const caddyConf = `{
	admin off
	auto_https off
	default_sni 127.0.0.1
	servers {
		metrics
	}
}
https://%[1]s {
	tls %[3]s/cert.pem %[3]s/key.pem
	respond "hello world"
}
http://%[2]s {
	metrics ` + servedPath + `
}
`

// startCaddy starts Caddy on the CPUs, in a new directory in dir, and returns when it listens.
func startCaddy(ctx context.Context, cpus []int, dir string) (*server, error) {
	path, err := exec.LookPath("caddy")
	if err != nil {
		return nil, fmt.Errorf("the row needs Caddy: %w", err)
	}
	if dir, err = os.MkdirTemp(dir, "caddy-"); err != nil {
		return nil, fmt.Errorf("make Caddy's directory: %w", err)
	}
	free, err := freeAddresses(2)
	if err != nil {
		return nil, err
	}
	conf, file := fmt.Sprintf(caddyConf, free[0], free[1], dir), filepath.Join(dir, "Caddyfile")
	if err := errors.Join(writeCertificate(dir), os.WriteFile(file, []byte(conf), 0o600)); err != nil {
		return nil, fmt.Errorf("write Caddy's configuration: %w", err)
	}
	cmd := exec.CommandContext(ctx, path, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	s := &server{cmd: cmd, base: "http://" + free[1], url: "https://" + free[0] + "/",
		singleProcess: true, parseCount: parseCaddyMetrics}
	return s, s.startListening(ctx, cpus, free...)
}

// parseCaddyMetrics adds up the requests, each of which its outermost handler counts when it ends,
// without those that asked before.
func parseCaddyMetrics(page []byte, asked int) (total float64, err error) {
	if !bytes.Contains(page, []byte("# TYPE go_goroutines")) {
		return 0, fmt.Errorf("%q are not Caddy's metrics", firstLine(page))
	}
	for line := range strings.Lines(string(page)) {
		labels, count, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.HasPrefix(labels, `caddy_http_requests_total{handler="subroute"`) {
			continue
		}
		n, err := strconv.ParseFloat(count, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no count of Caddy's", line)
		}
		total += n
	}
	return total - float64(asked-1), nil
}
