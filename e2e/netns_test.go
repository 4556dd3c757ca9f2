//go:build linux

package e2e

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// outsideEnv names the network namespace of the test that started this one.
const outsideEnv = "DYNO_E2E_OUTSIDE"

// TestNamespace starts itself again in namespaces of its own, and tests there what must not be
// tried on a working network.
func TestNamespace(t *testing.T) {
	if outside := os.Getenv(outsideEnv); outside != "" {
		runInNamespace(t, outside)
		return
	}
	t.Parallel()
	args := []string{"--net", "--mount"}
	if os.Geteuid() != 0 {
		args = append(args, "--map-root-user")
	}
	probe := append(slices.Clone(args), "ip", "link")
	if out, err := exec.Command("unshare", probe...).CombinedOutput(); err != nil {
		t.Skipf("no network namespace can be had here: %v: %s", err, out)
	}
	outside, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	args = append(args, os.Args[0], "-test.run=^TestNamespace$", "-test.v", "-test.timeout=5m")
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), outsideEnv+"="+outside, binaryEnv+"="+binary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// runInNamespace is that test. Before it sends anything it checks that nothing can leave.
func runInNamespace(t *testing.T, outside string) {
	inside, err := os.Readlink("/proc/self/ns/net")
	links, err2 := net.Interfaces()
	if err != nil || err2 != nil || inside == outside || len(links) != 1 || links[0].Name != "lo" {
		t.Fatalf("not in a network namespace of its own: %s, outside %s, with %v (%v, %v)",
			inside, outside, links, err, err2)
	}
	t.Run("no network at all", testNoNetwork)
	runIP(t, "link", "set", "lo", "up")
	t.Run("no route", testNoRoute)
	t.Run("routes to nowhere", testNoWay)
	t.Run("no answer to SYN", testNoAnswer)
	t.Run("names", testNames)
	t.Run("zones", testZones)
	t.Run("ports", testPorts)
}

func runIP(t *testing.T, args ...string) {
	t.Helper()
	runCommand(t, "ip", args...)
}

func runCommand(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

// expectUnreached runs dyno against something that cannot be reached. It checks the message, and
// that dyno does not wait.
func expectUnreached(t *testing.T, url, kind, detail string) {
	t.Helper()
	phase, _, _ := strings.Cut(detail, " ")
	where, what, _ := strings.Cut(strings.TrimPrefix(detail, phase+" "), ": ")
	bad{last: "nothing could be reached: " + detail + " (N times)",
		rows: []string{phase + " " + kind + " " + where + " " + what},
		say:  []string{"nothing was measured: no connection could be opened (" + detail + ")"},
	}.checkReport(t, runDyno(t, 4, "-d", "5m", "-c", "3", "--connect-timeout", "1s", url))
}

// testNoNetwork is of a machine on which not even the loopback is up.
func testNoNetwork(t *testing.T) {
	const detail = "connect 127.0.0.1:PORT: network is unreachable"
	expectUnreached(t, "http://127.0.0.1:80", "unreachable", detail)
}

func testNoRoute(t *testing.T) {
	expectUnreached(t, "http://198.51.100.1", "unreachable",
		"connect 198.51.100.1:80: network is unreachable")
	expectUnreached(t, "http://[2001:db8::1]", "unreachable",
		"connect [2001:db8::1]:80: network is unreachable")
}

func testNoWay(t *testing.T) {
	for _, test := range []struct{ route, kind, detail string }{
		{"unreachable", "unreachable", "no route to host"},
		{"prohibit", "forbidden", "permission denied: " +
			"a firewall or the file's permissions forbid it"},
		{"blackhole", "other", "invalid argument"},
		{"throw", "unreachable", "network is unreachable"},
	} {
		runIP(t, "route", "replace", test.route, "198.51.100.0/24")
		expectUnreached(t, "http://198.51.100.1", test.kind, "connect 198.51.100.1:80: "+test.detail)
		runIP(t, "route", "del", test.route, "198.51.100.0/24")
	}
}

// testNoAnswer is of a link with nobody on it, which swallows packets.
func testNoAnswer(t *testing.T) {
	addSilentLink(t)
	expectUnreached(t, "http://203.0.113.2", "timeout", "connect 203.0.113.2:80: no answer in time")
}

// addSilentLink adds a link that swallows what is sent to 203.0.113.0/24 and 2001:db8::/64, but for
// the addresses 203.0.113.1 and 2001:db8::1 of this machine.
func addSilentLink(t *testing.T) {
	t.Helper()
	dummy := exec.Command("ip", "link", "add", "nobody", "type", "dummy")
	tun := exec.Command("ip", "tuntap", "add", "nobody", "mode", "tun")
	if out, err := dummy.CombinedOutput(); err != nil {
		if more, err := tun.CombinedOutput(); err != nil {
			t.Skipf("the kernel has no link that leads nowhere: dummy: %s; tun: %s", out, more)
		}
	}
	t.Cleanup(func() { runIP(t, "link", "del", "nobody") })
	runIP(t, "address", "add", "203.0.113.1/24", "dev", "nobody")
	runIP(t, "address", "add", "2001:db8::1/64", "dev", "nobody", "nodad")
	runIP(t, "link", "set", "nobody", "arp", "off")
	runIP(t, "link", "set", "nobody", "up")
}

// testNames looks names up in a resolver of the test's, and in a file.
func testNames(t *testing.T) {
	bindMount(t, "/etc/hosts", "::1 localhost both\n127.0.0.1 localhost both\n"+hostsOfAddresses)
	bindMount(t, "/etc/resolv.conf", "nameserver 127.0.0.53\noptions timeout:1 attempts:1\n")
	t.Run("no resolver", func(t *testing.T) { testUnresolved(t, "connection refused") })
	t.Run("silent resolver", func(t *testing.T) {
		startResolver(t, func([]byte) []byte { return nil })
		testUnresolved(t, "i/o timeout")
	})
	t.Run("unknown name", testUnknownName)
	t.Run("two addresses, one server", testTwoAddresses)
	t.Run("addresses that are lost", testLostAddresses)
	t.Run("as the C library", testResolver)
	t.Run("a name that moves", testMovingName)
}

// bindMount mounts a file of the test's over another, in this namespace, until the test ends.
func bindMount(t *testing.T, over, content string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bound")
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(file, over, "", syscall.MS_BIND, ""); err != nil {
		t.Fatalf("mounting over %s: %v", over, err)
	}
	t.Cleanup(func() { syscall.Unmount(over, 0) })
}

// startResolver answers DNS queries until the test ends, unless an answer is nil.
func startResolver(t *testing.T, answer func(query []byte) []byte) {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.53:53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		for b := make([]byte, 512); ; {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			if reply := answer(b[:n]); reply != nil {
				c.WriteTo(reply, from)
			}
		}
	}()
}

// noSuchName is the answer that there is no such name.
func noSuchName(query []byte) []byte {
	query[2], query[3] = 0x81, 0x83 // a response; recursion; no such name
	query[10], query[11] = 0, 0     // and no additional record
	return query[:questionLength(query)]
}

// questionLength returns where the question of a DNS message ends.
func questionLength(b []byte) int {
	i := 12
	for i < len(b) && b[i] != 0 {
		i += int(b[i]) + 1
	}
	return min(i+5, len(b))
}

func testUnknownName(t *testing.T) {
	startResolver(t, noSuchName)
	const detail = "dns nowhere.invalid: no such host"
	expectUnreached(t, "http://nowhere.invalid", "unknown-host", detail)
}

// testUnresolved is of a name that no resolver answers for.
func testUnresolved(t *testing.T, detail string) {
	t.Helper()
	o := runDyno(t, 4, "-d", "5m", "--connect-timeout", "500ms", "http://nowhere.invalid")
	const head = "dyno: nothing could be reached: dns nowhere.invalid: "
	if !strings.HasPrefix(o.lastLine(), head) || !strings.HasSuffix(o.lastLine(), detail+" (N times)") {
		t.Errorf("%s\nwant %s…%s", o.lastLine(), head, detail)
	}
	if o.took > quick {
		t.Errorf("took %v", o.took)
	}
}

// testTwoAddresses is of localhost with two addresses, and a server that listens at one of them.
// Its connections take over those of the other address, and dyno says so.
func testTwoAddresses(t *testing.T) {
	l := listenWith(t, answerWith(answer))
	_, port, _ := net.SplitHostPort(l.Addr().String())
	o := runDyno(t, 0, "-n", "1000", "-c", "6", "-t", "2", "http://both:"+port)
	checkFlawless(t, o.result, 1000, "200")
	const want = "[::1]:PORT, an address of both, refused connections from the start on: its share of " +
		"the connections went to the other address"
	if said := o.reportLines(); !slices.Contains(said, want) || o.result.Connections.Served != 6 {
		t.Errorf("said %q, %+v", said, o.result.Connections)
	}
}

// testZones is of link-local addresses, which mean nothing without a zone: the server's, and the
// sources of connections.
func testZones(t *testing.T) {
	for _, a := range []string{"fe80::a/64", "fe80::b/64"} {
		runIP(t, "address", "add", a, "dev", "lo", "nodad")
	}
	l, err := net.Listen("tcp", "[fe80::a%lo]:0")
	if err != nil {
		t.Fatal(err)
	}
	from := make(chan string, 1000)
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		from <- r.RemoteAddr
	})}
	go server.Serve(l)
	defer server.Close()
	awaitRoute(t, "fe80::b%lo", l.Addr().String())
	_, port, _ := net.SplitHostPort(l.Addr().String())
	url := "http://[fe80::a%25lo]:" + port
	for _, ring := range []string{"epoll", "portable"} {
		o := runDyno(t, 0, "-n", "60", "-c", "3", "--ring", ring, "--source", "fe80::b%lo", url)
		checkFlawless(t, o.result, 60, "200")
		for range 60 {
			if host, _, _ := net.SplitHostPort(<-from); host != "fe80::b%lo" {
				t.Fatalf("%s: a request came from %s", ring, host)
			}
		}
	}
	o := runDyno(t, 2, "-n", "60", "--source", "fe80::b%nowhere", url)
	if want := "fe80::b%nowhere is no address of this machine"; !strings.Contains(o.stderr, want) {
		t.Errorf("%s\nwant %s", o.stderr, want)
	}
}

// awaitRoute waits until connections from an address to another open: the kernel adds the routes of
// a new address a while after ip has ended.
func awaitRoute(t *testing.T, from, to string) {
	t.Helper()
	source, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(from, "0"))
	if err != nil {
		t.Fatal(err)
	}
	dialer := net.Dialer{LocalAddr: source}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := dialer.Dial("tcp", to)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// testPorts is of a client that runs out of ports.
func testPorts(t *testing.T) {
	l, other := listenWith(t, answerWith(answer)), listenWith(t, answerWith(answer))
	const setting = "/proc/sys/net/ipv4/ip_local_port_range"
	if err := os.WriteFile(setting, []byte("40000 40099"), 0); err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	o := runDyno(t, 2, "-c", "500", "-d", "1s", "--source", "127.0.0.1", url)
	want := "dyno: --connections: 500 connections to 1 address(es) need as many local ports and " +
		"there are 100 for each; give more addresses with --source, widen " +
		"net.ipv4.ip_local_port_range or lower --connections"
	if !strings.Contains(o.stderr, want) {
		t.Errorf("%s\nwant %s", o.stderr, want)
	}
	for range 60 { // others have them
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	o = runDyno(t, 0, "-c", "90", "-d", "1s", "--source", "127.0.0.1", url)
	checkBalanced(t, o.result, -1)
	row := "connect no-port 127.0.0.1:PORT cannot assign requested address: every local port to " +
		"this address is in use or waits (TIME_WAIT)"
	if rows := o.errorRows(); !slices.Equal(rows, []string{row}) || o.result.Generator.Verdict == "ok" {
		t.Errorf("%s, errors\n\t%s\nwant\n\t%s", o.result.Generator.Verdict,
			strings.Join(rows, "\n\t"), row)
	}
	if served := o.result.Connections.Served; served < 1 || served > 40 {
		t.Errorf("%d connections served", served)
	}
	want = "no local port was left for a connection, "
	if said := o.reportLines(); !slices.ContainsFunc(said, func(s string) bool {
		return strings.HasPrefix(s, want)
	}) {
		t.Errorf("said %q", said)
	} // Loopback has more addresses than one.
	o = runDyno(t, 0, "-c", "500", "-n", "5000", "http://"+other.Addr().String())
	checkFlawless(t, o.result, 5000, "200")
	want = "dyno connects from the addresses 127.0.0.1 to 127.0.0.12, because one has too few ports for 500 connections, " +
		"or for connecting quickly"
	if said := o.reportLines(); !slices.Contains(said, want) || o.result.Connections.Served != 500 {
		t.Errorf("said %q, %+v", said, o.result.Connections)
	}
}
