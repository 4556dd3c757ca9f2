package server

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// Clients each have a namespace with the settings asked for, an address of their
// own, and the server at its address; nobody else has.
func TestNetnsClients(t *testing.T) {
	b := newBench(t)
	p, url := b.serve("app")
	port := url[strings.LastIndex(url, ":")+1:]
	p.Args = []string{os.Args[0], "serve", "-addr", NetnsAddress + ":" + port}
	p.Ready.URL = "http://" + NetnsAddress + ":" + port + "/"
	spec := b.spec(p)
	spec.Netns = &Netns{Clients: 2, Sysctl: map[string]string{"net.core.somaxconn": "4321"}}
	s, err := Start(t.Context(), spec)
	if err != nil && strings.Contains(err.Error(), "it needs root with CAP_SYS_ADMIN") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	for client := range 3 {
		out, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		g, err := s.Run(Process{Name: fmt.Sprint("client", client), Env: p.Env, Client: client,
			Args: []string{"bash", "-c", `
cat /proc/sys/net/core/somaxconn; grep CapEff /proc/self/status; id -u
exec 3<>/dev/tcp/` + NetnsAddress + `/` + port + `
printf 'GET / HTTP/1.0\r\n\r\n' >&3; head -1 <&3
grep -o '10\.77\.[0-9]*\.[0-9]*$' /proc/net/fib_trie || grep -o '10\.77\.[1-9]\.[12]' /proc/net/fib_trie | sort -u`}},
			nil, theirs, theirs)
		if err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		text, err := io.ReadAll(out)
		if exit := g.Wait(); err != nil || exit.Code != 0 {
			t.Errorf("client %d: %v %v\n%s", client, exit, err, text)
		}
		has(t, string(text), "4321\n", fmt.Sprintf("\n%d\n", os.Getuid()), "HTTP/1.0 200 OK")
		if client > 0 {
			has(t, string(text), fmt.Sprintf("10.77.%d.2\n", client))
		}
		if os.Getuid() != 0 {
			has(t, string(text), "CapEff:\t0000000000000000")
		}
	}
	if _, err := s.Run(Process{Name: "lost", Args: []string{"true"}, Client: 3}, nil, nil, nil); err == nil {
		t.Error("a guest is in a namespace that is not there")
	}
	if routes, err := os.ReadFile("/proc/net/fib_trie"); err == nil &&
		strings.Contains(string(routes), NetnsAddress) {
		t.Error("this machine has an address of the clients' network")
	}
	b.stop(s)
}

// Guests need no server beside them, and end with dyno as servers do.
func TestGuestsAlone(t *testing.T) {
	b := newBench(t)
	s := b.start(b.spec())
	g, err := s.Run(Process{Name: "sleep", Env: b.env(), Args: []string{"sleep", "1000"}}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.await(1)
	b.stop(s)
	if exit := g.Wait(); exit.Signal != "SIGTERM" {
		t.Error(exit)
	}
}
