package e2e

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// asksForIPv4 reports whether a query is one for IPv4 addresses.
func asksForIPv4(query []byte) bool {
	var m dnsmessage.Message
	return m.Unpack(query) == nil && len(m.Questions) == 1 && m.Questions[0].Type == dnsmessage.TypeA
}

// answerAddresses answers queries for IPv4 addresses.
func answerAddresses(query []byte, addresses ...string) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	for _, a := range addresses {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
				Body: &dnsmessage.AResource{A: [4]byte(net.ParseIP(a).To4())}})
		}
	}
	reply, _ := m.Pack()
	return reply
}

// testMovingName: a name has three addresses, one of which is dead, and then three others. With
// --resolve-every next connections go to those, in turn, and the result has of each what its server
// counted; without, all stay.
func testMovingName(t *testing.T) {
	bindMount(t, "/etc/hosts", "127.0.0.1 localhost\n")
	bindMount(t, "/etc/resolv.conf", "nameserver 127.0.0.53\n")
	for _, follows := range []bool{true, false} {
		t.Run(fmt.Sprint("follows ", follows), func(t *testing.T) { testNameThatMoves(t, follows) })
	}
}

func testNameThatMoves(t *testing.T, follows bool) {
	var served [4]atomic.Int64
	var moved atomic.Bool
	// Once the name has moved, its old servers answer when dyno has the new addresses: it has taken what
	// it was answered when it asks again.
	followed, answered := make(chan struct{}), 0
	follow := sync.OnceFunc(func() { close(followed) })
	words, port := []byte(answer), "0"
	var addresses []string
	for i, a := range []string{"127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"} {
		_, port = serveAt(t, a+":"+port, func(c net.Conn) {
			for readRequest(c) {
				if served[i].Add(1) == 100 {
					moved.Store(true)
				}
				if follows && i < 2 && moved.Load() {
					<-followed
				}
				if _, err := c.Write(words); err != nil {
					return
				}
			}
		})
		addresses = append(addresses, a+":"+port)
	}
	t.Cleanup(follow) // before those that wait for the servers
	startResolver(t, func(query []byte) []byte {
		if moved.Load() {
			if asksForIPv4(query) {
				if answered++; answered == 2 {
					follow()
				}
			}
			return answerAddresses(query, "127.0.0.5", "127.0.0.9", "127.0.0.6")
		}
		return answerAddresses(query, "127.0.0.3", "127.0.0.9", "127.0.0.4")
	})
	args := []string{"-n", "1600", "-c", "4", "-t", "2", "-R", "400", "--reconnect", "5", "--drain", "1m", "http://moving.test:" + port}
	if follows {
		args = append([]string{"--resolve-every", "100ms"}, args...)
	}
	o := runDyno(t, 0, args...)
	checkFlawless(t, o.result, 1600, "200")
	c, sum := o.result.Connections, int64(0)
	for i, name := range addresses {
		n := served[i].Load()
		sum += n
		if went := n > 0; went != (follows || i < 2) {
			t.Errorf("follows %v: %s served %d", follows, name, n)
		}
		for _, a := range c.Addresses {
			if a.Address == name && (a.Answers != n || a.Errors != 0 || a.Connections < n/5) {
				t.Errorf("follows %v: %+v, and served %d", follows, a, n)
			}
		}
	}
	known := 3 // and the dead one
	if follows {
		known = 5
	}
	if sum != 1600 || len(c.Addresses) != known || follows != (c.Lookups > 0) || c.Unlooked != 0 {
		t.Errorf("follows %v: served %d: %+v", follows, sum, c)
	}
	lost := lostAddresses(o.result)
	if l := lost["127.0.0.9"]; len(lost) != 1 || l.Why != "refused" || l.Others != known-1 {
		t.Errorf("follows %v: lost %+v", follows, lost)
	}
}
