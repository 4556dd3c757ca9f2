package h3

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// dialed is a ring with one connection to a server of quic-go's that answers nothing, and
// allows so many streams.
func dialed(t *testing.T, streams int64) (r *Ring, c *conn, free func()) {
	t.Helper()
	over := make(chan struct{})
	addr := serve(t, streams, func(http.ResponseWriter, *http.Request) { <-over })
	t.Cleanup(func() { close(over) })
	r, free = open(t, addr, []proto.Request{get}, proto.Want{})
	fd, _ := r.Connect(0, 1)
	for heard(t, r) != shaken {
	}
	return r, r.conns[fd], free
}

// open is a ring for a server, and what frees it, which the test's end does too.
func open(t *testing.T, addr ring.Addr, reqs []proto.Request, want proto.Want) (*Ring, func()) {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true}
	r, free, err := Open(Options{TLS: config, Connecting: time.Minute}, reqs, want, []ring.Addr{addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free)
	return r, free
}

// serve is the address of a server of quic-go's.
func serve(t *testing.T, streams int64, handler http.HandlerFunc) ring.Addr {
	t.Helper()
	socket := listenUDP(t)
	s := &http3.Server{QUICConfig: &quic.Config{MaxIncomingStreams: streams}, Handler: handler,
		TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: selfSigned(t)})}
	var group sync.WaitGroup
	group.Go(func() { s.Serve(socket) })
	t.Cleanup(func() { s.Close(); socket.Close(); group.Wait() })
	return ring.Addr{TCP: socket.LocalAddr().(*net.UDPAddr).AddrPort()}
}

// listenUDP is a socket on loopback.
func listenUDP(t *testing.T) *net.UDPConn {
	t.Helper()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return socket
}

// selfSigned is a certificate that nobody vouches for.
func selfSigned(t *testing.T) []tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
}

// heard is the first record of what comes next, or 0 if nothing did in a turn.
func heard(t *testing.T, r *Ring) byte {
	t.Helper()
	if err := r.Wait(ring.Clock() + int64(time.Hour)); err != nil {
		t.Fatal(err)
	}
	done, ok := r.Next()
	if done.Err != nil {
		t.Fatal(done.Err)
	}
	if !ok || len(done.Data) == 0 {
		return 0
	}
	return done.Data[0]
}

// What the worker hears after it has given up an exchange is that the server lives, in time,
// and nothing of its own doing.
func TestDoubt(t *testing.T) {
	r, c, _ := dialed(t, 1)
	r.Send(0, speech(record{what: ask, id: id(1, 0)}))
	for c.streams() == 0 {
		time.Sleep(time.Millisecond)
	}
	r.Send(0, speech(record{what: giveUp, id: id(1, 0)}))
	for {
		if what := heard(t, r); what == alive {
			break
		} else if what != 0 {
			t.Fatalf("the server said nothing, and the worker heard %d", what)
		}
	}
}

// Exchanges that were given up while they waited for the server to allow a stream wait no longer.
func TestGivenUpWaiting(t *testing.T) {
	r, c, _ := dialed(t, 1)
	for n := range uint64(50) {
		r.Send(0, speech(record{what: ask, id: id(n+1, n)}))
	}
	for c.streams() == 0 {
		time.Sleep(time.Millisecond)
	}
	for n := range uint64(50) {
		r.Send(0, speech(record{what: giveUp, id: id(n+1, n)}))
	}
	for c.exchanges() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// A ring is freed while exchanges wait for a stream, and one for its response.
func TestFreedWaiting(t *testing.T) {
	r, c, free := dialed(t, 1)
	for n := range uint64(20) {
		r.Send(0, speech(record{what: ask, id: id(n+1, n)}))
	}
	for c.streams() == 0 {
		time.Sleep(time.Millisecond)
	}
	free()
	if n := c.exchanges(); n > 0 {
		t.Errorf("%d exchanges are under way", n)
	}
}

// streams is how many exchanges of those begun have a stream.
func (c *conn) streams() (n int) {
	for _, x := range c.begun {
		x.mu.Lock()
		if x.stream != nil {
			n++
		}
		x.mu.Unlock()
	}
	return n
}

// exchanges is how many are under way.
func (c *conn) exchanges() int {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	return c.running
}

// A connection that always has something to tell keeps no other waiting, and a batch ends.
func TestBatches(t *testing.T) {
	r, _ := open(t, ring.Addr{}, []proto.Request{get}, proto.Want{})
	busy, other := &conn{ring: r, user: 1}, &conn{ring: r, user: 2}
	busy.postRecord(record{what: alive})
	other.postRecord(record{what: alive})
	for round := range 3 {
		if err := r.Wait(ring.Clock() + int64(time.Hour)); err != nil {
			t.Fatal(err)
		}
		var users []uint64
		for done, ok := r.Next(); ok && len(users) < 9; done, ok = r.Next() {
			users = append(users, done.User)
			busy.postRecord(record{what: alive})
		}
		want := 1
		if round == 0 {
			want = 2
		}
		if len(users) != want || users[0] != 1 {
			t.Errorf("batch %d is of %v", round, users)
		}
	}
}
