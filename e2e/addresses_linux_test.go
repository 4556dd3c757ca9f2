package e2e

import (
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/result"
)

// hostsOfAddresses are the names of testLostAddresses, in the form of /etc/hosts. Only 203.0.113.1
// and 203.0.113.5 are of this machine.
const hostsOfAddresses = "2001:db8::2 six\n203.0.113.1 six\n" +
	"203.0.113.2 three\n203.0.113.3 three\n203.0.113.1 three\n" +
	"203.0.113.2 nobody\n203.0.113.3 nobody\n203.0.113.1 one\n203.0.113.1 two\n203.0.113.5 two\n"

// testLostAddresses is of names with several addresses, of which some swallow what is sent to them.
func testLostAddresses(t *testing.T) {
	addSilentLink(t)
	t.Run("from the start on", testSilentFromStart)
	t.Run("all", testAllSilent)
	t.Run("during the load", testSilentLater)
	t.Run("the only one", testOnlyAddressGone)
}

// serveAt serves at an address of the silent link, or of loopback.
func serveAt(t *testing.T, address string, serve func(net.Conn)) (end func(), port string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(startServing(l, serve))
	t.Cleanup(end)
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return end, port
}

// lostAddresses are the facts of addresses that were lost, by address.
func lostAddresses(r *result.Result) map[string]fact.AddressLost {
	all := map[string]fact.AddressLost{}
	for _, f := range r.Facts {
		if lost, is := f.Args.(fact.AddressLost); is {
			host, _, _ := net.SplitHostPort(f.Scope.Address)
			all[host] = lost
		}
	}
	return all
}

// testSilentFromStart: what answers has all of the load, on every ring.
func testSilentFromStart(t *testing.T) {
	_, port := serveAt(t, "203.0.113.1:0", answerWith(answer))
	for _, c := range []struct {
		ring, name string
		silent     []string
	}{
		{"epoll", "six", []string{"2001:db8::2"}},
		{"epoll", "three", []string{"203.0.113.2", "203.0.113.3"}},
		{"uring", "six", []string{"2001:db8::2"}},
		{"portable", "three", []string{"203.0.113.2", "203.0.113.3"}},
	} {
		url := "http://" + c.name + ":" + port
		o := runDyno(t, 0, "-n", "100", "-c", "1", "--ring", c.ring, url)
		checkFlawless(t, o.result, 100, "200")
		o = runDyno(t, 0, "-n", "400", "-c", "4", "-R", "1k", "--reconnect", "50", "--drain", "1m", "--ring", c.ring, url)
		checkFlawless(t, o.result, 400, "200")
		lost := lostAddresses(o.result)
		for _, a := range c.silent {
			want := fact.AddressLost{Name: c.name, Why: "timeout", Times: 1, Others: 1}
			if lost[a] != want {
				t.Errorf("%+v: of %s: %+v, want %+v", c, a, lost[a], want)
			}
		}
		if len(lost) != len(c.silent) {
			t.Errorf("%+v: lost %+v", c, lost)
		}
	}
}

// testAllSilent: a name of which no address answers is unreachable, and each is named.
func testAllSilent(t *testing.T) {
	o := runDyno(t, 4, "-c", "1", "-d", "5m", "--connect-timeout", "1s", "http://nobody:80")
	if lost := lostAddresses(o.result); o.result.Ended != "unreachable" || len(lost) != 2 || o.took > quick {
		t.Errorf("ended %s after %v, lost %+v", o.result.Ended, o.took, lost)
	}
}

// testSilentLater: an address that falls silent during the load costs what was on its way to it, and
// nothing that is sent later.
func testSilentLater(t *testing.T) {
	runIP(t, "address", "add", "203.0.113.5/32", "dev", "lo")
	_, port := serveAt(t, "203.0.113.1:0", answerWith(answer))
	var served atomic.Int64
	words := answerWith(answer)
	serveAt(t, "203.0.113.5:"+port, func(c net.Conn) {
		if served.Add(1) == 4 {
			runIP(t, "address", "del", "203.0.113.5/32", "dev", "lo")
		}
		words(c)
	})
	o := runDyno(t, 0, "-n", "800", "-c", "4", "-R", "400", "--reconnect", "10", "--timeout", "2s", "--drain", "1m",
		"http://two:"+port)
	checkBalanced(t, o.result, 800)
	lost := lostAddresses(o.result)
	if l := lost["203.0.113.5"]; len(lost) != 1 || l.Why != "timeout" || l.SinceS <= 0 || l.Others != 1 {
		t.Errorf("lost %+v", lost)
	}
	for _, e := range o.result.Errors {
		if e.Phase == "connect" {
			t.Errorf("a connection had no address: %+v", e)
		}
	}
}

// testOnlyAddressGone: the server of a name's only address stops. The report says which address it
// was, since when it is gone, and that the name was looked up once.
func testOnlyAddressGone(t *testing.T) {
	var served atomic.Int64
	var end func()
	stop := make(chan struct{})
	words := answerWith(answer)
	end, port := serveAt(t, "203.0.113.1:0", func(c net.Conn) {
		if served.Add(1) == 8 {
			close(stop)
		}
		words(c)
	})
	go func() { <-stop; end() }()
	o := runDyno(t, 0, "-c", "2", "-d", "60s", "--reconnect", "100", "--connect-timeout", "1s", "http://one:"+port)
	l := lostAddresses(o.result)["203.0.113.1"]
	if o.result.Ended != "gone" || l.Name != "one" || l.SinceS <= 0 || l.SinceS > o.result.Window.MeasuredS-0.9 || l.Others != 0 {
		t.Errorf("ended %s after %v s, lost %+v", o.result.Ended, o.result.Window.MeasuredS, l)
	}
	const want = "; dyno looked the name up once: if one has another address by now, run again"
	if !slices.ContainsFunc(o.result.Warnings, func(s string) bool {
		return strings.HasPrefix(s, "203.0.113.1:"+port+", an address of one when the load began, ") && strings.HasSuffix(s, want)
	}) {
		t.Errorf("said %q", o.result.Warnings)
	}
}
