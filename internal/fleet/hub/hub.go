// Package hub runs a fleet's bus: a NATS server inside dyno, with its keys, the tokens by which
// machines join, the agents that have joined, and those that were revoked.
//
// The server enforces all rights. They are in JWTs that the hub signs: an agent's subjects
// contain its own name, and whoever is revoked is disconnected. The hub itself only issues these
// JWTs, to machines that present an unused token. It keeps everything in a folder, so that it can
// be restarted and its agents reconnect. Only `dyno fleet up` starts it. The bus is NATS because
// that brings permissions, revocation and reconnection.
//
//	audit.go        the log of who did what
//	hub.go          starts and ends the NATS server
//	keys.go         keys and certificate
//	lock_other.go   one hub per folder: lock_unix.go
//	requests.go     what agents and controllers ask: join, renew, revoke, list
//	state.go        who has joined, and tokens, in the folder
package hub

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"dyno/internal/fleet/bus"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Port is the default port of a hub.
const Port = 3967

// Limits and timeouts of the server.
const (
	messageMax       = 1 << 20     // bytes of a message
	pingInterval     = time.Second // two unanswered pings mean that an agent is gone
	unansweredPings  = 2
	handshakeTimeout = 5    // seconds, of TLS
	connectionsMost  = 4096 // with those that have not said who they are: 25 KB of memory each
	startTimeout     = 20 * time.Second
)

// A Config says where a hub runs.
type Config struct {
	Folder    string   // of its keys, its state and its audit log
	Listen    string   // HOST:PORT; port 0: any free one
	Advertise []string // HOST or HOST:PORT at which agents reach it; none: Listen
	Log       func(string)
}

// A Hub is a bus that runs.
type Hub struct {
	config    Config
	keys      *keys
	server    *server.Server
	resolver  *server.MemAccResolver
	conn      *nats.Conn // in the fleet's account
	system    *nats.Conn // in the server's own account, which reports connections
	audit     *audit
	addresses []string
	planKey   bus.PlanKey
	lock      *os.File      // held as long as the hub runs
	stop      chan struct{} // receives when a controller asks the hub to stop
	announced bool          // the controller's file was written
	closed    bool

	mu    sync.Mutex
	state *state
}

// Check fails if c cannot be used. It starts nothing.
func (c Config) Check() error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %q is not HOST:PORT", c.Listen)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("--listen: %q is not a port: 0 to 65535", port)
	}
	if len(c.Advertise) > bus.AddressMax {
		return fmt.Errorf("--advertise: %d are given, %d are possible", len(c.Advertise),
			bus.AddressMax)
	}
	for _, a := range c.Advertise {
		if bus.CheckAddress(bus.WithDefaultPort(a, strconv.Itoa(Port))) != nil {
			return fmt.Errorf("--advertise: %q is not HOST or HOST:PORT", a)
		}
	}
	addr, err := netip.ParseAddr(host)
	if host == "" || err == nil && addr.IsUnspecified() && len(c.Advertise) == 0 {
		return fmt.Errorf("--listen: %q: agents need an address to dial: listen on one, or say with "+
			"--advertise under which this machine is known", c.Listen)
	}
	return nil
}

// StartHub starts a hub. It runs until Serve returns or Close is called.
func StartHub(c Config) (*Hub, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := checkNotRunning(c.Folder); err != nil {
		return nil, err
	}
	h := &Hub{config: c, stop: make(chan struct{}, 1), resolver: new(server.MemAccResolver)}
	if err := h.lockFolder(); err != nil {
		return nil, err
	}
	if err := h.startParts(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.audit.writeEntry(entry{Event: "up", Detail: fmt.Sprint(h.addresses)})
	return h, nil
}

func (h *Hub) startParts() (err error) {
	folder := h.config.Folder
	if h.keys, err = openKeys(folder); err != nil {
		return err
	}
	if h.planKey, err = bus.OpenPlanKey(folder); err != nil {
		return err
	}
	if h.state, err = openState(folder); err != nil {
		return err
	}
	if h.audit, err = openAudit(folder, h.config.Log); err != nil {
		return err
	}
	if err := h.startServer(); err != nil {
		return fmt.Errorf("starting the fleet's server: %w", err)
	}
	if err := h.connectToServer(); err != nil {
		return fmt.Errorf("opening the hub: %w", err)
	}
	return nil
}

// lockFolder locks the folder until the hub is closed. Two hubs would overwrite each other's
// state.
func (h *Hub) lockFolder() (err error) {
	folder := h.config.Folder
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("the fleet's folder: %w", err)
	}
	h.lock, err = os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("the fleet's folder: %w", err)
	}
	held, err := lockFile(h.lock)
	if err != nil {
		h.lock.Close()
		return fmt.Errorf("locking the fleet's folder %s: %w", folder, err)
	}
	if held {
		h.lock.Close()
		return fmt.Errorf("another dyno fleet up has the folder %s: end it first (dyno fleet stop), or "+
			"give this one another folder with DYNO_HOME", folder)
	}
	return nil
}

// checkNotRunning fails if a hub with this folder answers.
func checkNotRunning(folder string) error {
	c, err := bus.ReadController(folder)
	if err != nil {
		return nil
	}
	l, err := c.Connect()
	if err != nil {
		return nil // left by a hub that was killed
	}
	defer l.Close()
	return fmt.Errorf("a fleet is up already: process %d, at %s", c.PID, l.ConnectedAddr())
}

// startServer starts the NATS server.
func (h *Hub) startServer() error {
	host, port, err := net.SplitHostPort(h.config.Listen)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	if n == 0 {
		n = server.RANDOM_PORT
	}
	if err := h.publishAccounts(); err != nil {
		return err
	}
	log := &serverLog{audit: h.audit}
	h.server, err = server.NewServer(&server.Options{
		ServerName: "dyno", Host: host, Port: n, NoSigs: true,
		PingInterval: pingInterval, MaxPingsOut: unansweredPings, MaxPayload: messageMax,
		MaxConn: connectionsMost, TLS: true, TLSTimeout: handshakeTimeout, TLSHandshakeFirst: true,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{h.keys.certificate},
			MinVersion: tls.VersionTLS13},
		TrustedOperators: []*jwt.OperatorClaims{h.keys.operatorClaims()},
		AccountResolver:  h.resolver, SystemAccount: h.keys.system.public,
	})
	if err != nil {
		return err
	}
	h.server.SetLoggerV2(log, false, false, false)
	h.server.Start()
	if err := log.fatalError(); err != nil {
		return err
	}
	if !h.server.ReadyForConnections(startTimeout) {
		return fmt.Errorf("it is not ready after %v", startTimeout)
	}
	h.addresses = advertisedAddresses(h.config, h.server.Addr())
	return nil
}

// advertisedAddresses returns the addresses that tokens contain.
func advertisedAddresses(c Config, listens net.Addr) (all []string) {
	_, port, err := net.SplitHostPort(listens.String())
	if err != nil || len(c.Advertise) == 0 {
		return []string{listens.String()}
	}
	for _, a := range c.Advertise {
		all = append(all, bus.WithDefaultPort(a, port))
	}
	return all
}

// connectToServer connects the hub to its own server, and writes the controller's file.
func (h *Hub) connectToServer() (err error) {
	if h.conn, err = h.connectInProcess(h.keys.fleet); err != nil {
		return err
	}
	if h.system, err = h.connectInProcess(h.keys.system); err != nil {
		return err
	}
	if err := h.subscribeRequests(); err != nil {
		return err
	}
	if err := h.watchConnections(); err != nil {
		return err
	}
	claims := jwt.NewUserClaims(h.keys.controller.public)
	claims.Name, claims.Permissions = bus.ControllerName, bus.ControllerPermissions()
	token, err := claims.Encode(h.keys.fleet.pair)
	if err != nil {
		return err
	}
	access := h.accessFor(token, h.keys.controller.seed)
	access.Addresses = []string{localAddress(h.server.Addr())}
	h.announced = true
	return bus.WriteController(h.config.Folder, bus.Controller{Access: access, PID: os.Getpid(),
		Advertised: h.addresses})
}

// localAddress returns the address at which this machine itself reaches a listener on a.
func localAddress(a net.Addr) string {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return a.String()
	}
	host := netip.IPv6Loopback()
	if at.Addr().Is4() {
		host = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(host, at.Port()).String()
}

// accessFor returns what a user with that JWT and private key connects with.
func (h *Hub) accessFor(token, seed string) bus.Access {
	pin := sha256.Sum256(h.keys.certificate.Certificate[0])
	return bus.Access{Addresses: h.addresses, Pin: hex.EncodeToString(pin[:]), JWT: token, Seed: seed}
}

// connectInProcess connects to the server without a network, as a user of an account with all its
// rights.
func (h *Hub) connectInProcess(account key) (*nats.Conn, error) {
	user, err := generateKey(user)
	if err != nil {
		return nil, err
	}
	claims := jwt.NewUserClaims(user.public)
	claims.Name = "hub"
	token, err := claims.Encode(account.pair)
	if err != nil {
		return nil, err
	}
	return nats.Connect("", nats.InProcessServer(h.server), nats.Name("hub"),
		nats.UserJWTAndSeed(token, user.seed), nats.MaxReconnects(-1))
}

// Addresses returns where agents reach the hub, as HOST:PORT.
func (h *Hub) Addresses() []string { return h.addresses }

// PlanKey returns the public half of the key whose plans the agents obey.
func (h *Hub) PlanKey() string { return h.planKey.Public }

// Serve returns when ctx ends or a controller has asked the hub to stop, after closing it.
func (h *Hub) Serve(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-h.stop:
	}
	return h.Close()
}

// Close stops the hub. Its agents stop their loads and try to reconnect.
func (h *Hub) Close() error {
	h.mu.Lock() // after requests in progress
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	var errs []error
	for _, c := range []*nats.Conn{h.conn, h.system} {
		if c != nil {
			errs = append(errs, c.FlushTimeout(time.Second))
			c.Close()
		}
	}
	if h.announced {
		errs = append(errs, bus.RemoveController(h.config.Folder))
	}
	if h.server != nil {
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}
	if h.audit != nil {
		if h.announced {
			h.audit.writeEntry(entry{Event: "down"})
		}
		errs = append(errs, h.audit.closeFile())
	}
	return errors.Join(append(errs, h.lock.Close())...)
}
