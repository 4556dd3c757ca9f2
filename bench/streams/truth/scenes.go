package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"dyno/bench/streams/served"
)

// A scene is a protocol, and what stands between dyno and the server.
type scene struct {
	name   string
	server served.Server
	scheme string
	args   []string // of dyno
	nginx  string   // settings of its location; "": there is none
}

var (
	plain = []string{"-c", "20", "--http", "1.1"}
	two   = []string{"-c", "2", "--streams", "10"} // of HTTP/2 and 3

	scenes = []scene{
		{name: "HTTP/1.1, sse", scheme: "http", args: plain},
		{name: "HTTP/1.1, openai", scheme: "http", args: plain, server: served.Server{OpenAI: true}},
		{name: "HTTP/2, openai", scheme: "h2c", args: two, server: served.Server{OpenAI: true}},
		{name: "HTTP/1.1 over TLS, sse", scheme: "https", server: served.Server{TLS: true},
			args: append([]string{"--insecure"}, plain...)},
		{name: "HTTP/2 over TLS, openai", scheme: "https", server: served.Server{TLS: true, OpenAI: true},
			args: append([]string{"--insecure", "--http", "2"}, two...)},
		{name: "HTTP/3, sse", scheme: "https", server: served.Server{HTTP3: true},
			args: append([]string{"--insecure", "--http", "3"}, two...)},
		{name: "nginx, proxy_buffering off, sse", scheme: "http", args: plain,
			nginx: "proxy_http_version 1.1; proxy_set_header Connection ''; proxy_buffering off;"},
		// of an answer in chunks nginx would gather nothing
		{name: "nginx, proxy_buffering on, sse", scheme: "http", args: plain,
			nginx: "proxy_http_version 1.0; proxy_buffering on;"},
	}
)

// tolerance is how many ms a percentile may differ in any case. Of HTTP/3 quic-go has sockets and
// timers, in goroutines of its own: dyno knows an event when one of them has woken it.
func (s scene) tolerance() float64 {
	if s.server.HTTP3 {
		return 1
	}
	return 0.2
}

// from is where the truth is from.
func (s scene) from() string {
	if s.nginx != "" {
		return "reader"
	}
	return "server"
}

// A way is what runs for a load, beside dyno.
type way struct {
	address string // of what dyno loads
	server  *served.Process
	reader  *served.Process // nil: the server's log is the truth
	nginx   *exec.Cmd
	end     context.CancelFunc
}

// open starts what a scene needs. All of it has the CPU that dyno has not.
func (b *bench) open(ctx context.Context, s scene) (w *way, err error) {
	ctx, cancel := context.WithCancel(ctx)
	w = &way{end: cancel}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	self, err := os.Executable()
	if err != nil {
		return w, err
	}
	s.server.Law, s.server.File = law, filepath.Join(b.dir, "served.csv")
	config, err := json.Marshal(s.server)
	if err != nil {
		return w, err
	}
	w.server, err = served.Start(ctx, s.server.File, b.on("1", self, "-serve", string(config))...)
	if err != nil {
		return w, err
	}
	w.address = w.server.Address
	if s.nginx == "" {
		return w, nil
	}
	if err := b.startNginx(ctx, w, s.nginx); err != nil {
		return w, err
	}
	return w, b.startReader(ctx, w)
}

const nginxConfig = `daemon off; worker_processes 1; pid %[1]s/nginx.pid; error_log %[1]s/nginx.log;
events { worker_connections 1024; }
http {
	access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	upstream streams { server %[2]s; keepalive 64; }
	server { listen %[3]s; location / { proxy_pass http://streams; %[4]s } }
}
`

// startNginx puts nginx before the server.
func (b *bench) startNginx(ctx context.Context, w *way, settings string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	file := filepath.Join(b.dir, "nginx.conf")
	text := fmt.Sprintf(nginxConfig, b.dir, w.address, address, settings)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // not everybody's PATH has it
	}
	command := b.on("1", program, "-p", b.dir, "-c", file)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	w.nginx, w.address = cmd, address
	for range 100 {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return c.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("nginx does not listen")
}

//go:embed relay.c
var readerSource string

// startReader puts the bare reader before nginx.
func (b *bench) startReader(ctx context.Context, w *way) error {
	program := filepath.Join(b.dir, "relay")
	cc := exec.CommandContext(ctx, "cc", "-O2", "-Wall", "-x", "c", "-o", program, "-")
	cc.Stdin = strings.NewReader(readerSource)
	if said, err := cc.CombinedOutput(); err != nil {
		return fmt.Errorf("compile relay.c: %w: %s", err, said)
	}
	_, port, err := net.SplitHostPort(w.address)
	if err != nil {
		return err
	}
	file := filepath.Join(b.dir, "read.csv")
	w.reader, err = served.Start(ctx, file, b.on("1", program, port, file)...)
	if err == nil {
		w.address = w.reader.Address
	}
	return err
}

// stop ends all programs, and returns the truth, and how late the server was at p99, in ms.
func (w *way) stop() (truth served.Log, late float64, err error) {
	if w.reader != nil {
		if truth, err = w.reader.Stop(); err != nil {
			return nil, 0, err
		}
	}
	own, err := w.server.Stop()
	if w.reader == nil {
		truth = own
	}
	return truth, own.Late().At(99), err
}

// close ends what still runs.
func (w *way) close() {
	w.end()
	if w.nginx != nil {
		w.nginx.Wait()
	}
}
