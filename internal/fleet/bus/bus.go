// Package bus connects to a fleet's bus, which is NATS, and has the requests that the fleet's hub
// answers. It reads and writes what a connection needs: a join token, an agent's identity, the
// controller's file, or the credentials of a NATS server that somebody else runs.
//
// All connections go out to the hub over TLS 1.3. They identify the hub by its certificate's
// SHA-256, which came with the token: no certificate authority is needed. There is no connection
// to a hub without TLS.
//
// An agent trusts two keys: that certificate, and the key by which plans are signed. So the owner
// of the bus cannot command agents. The controller knows agents by the keys with which they
// joined. It reads these from the hub's file, and does not ask the bus. On somebody else's NATS
// server there is no such file, and agents are whoever the bus says they are.
//
//	bus.go           connects, with the rights of an Access
//	controller.go    the controller's file
//	external.go      a NATS server of somebody else: --nats
//	files.go         writes and reads JSON files
//	hubrequests.go   what the hub is asked
//	identity.go      an agent's identity, and its renewal
//	join.go          an agent joins by a token
//	names.go         names of agents
//	permissions.go   who may publish and subscribe what
//	plankey.go       the key that signs plans
//	token.go         join tokens
package bus

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

var (
	// ErrRefused is of a bus that does not accept us. To try again does not help.
	ErrRefused = errors.New("refused")
	// ErrUnreachable is of a bus that does not answer.
	ErrUnreachable = errors.New("cannot be reached")
	// ErrFile is of a file of dyno's own that cannot be read or written.
	ErrFile = errors.New("a file that is of no use")
	// ErrBusLost is of a connection that was given up because the bus was away for too long.
	ErrBusLost = errors.New("the bus was away for too long")

	errWrongPin = errors.New("another certificate than the one that was told")
)

// A kindError is an error of one of the kinds above whose text does not mention the kind.
type kindError struct {
	kind error
	error
}

func (r kindError) Unwrap() error { return r.error }

func (r kindError) Is(target error) bool { return target == r.kind }

// Refusedf is fmt.Errorf of an error that is ErrRefused.
func Refusedf(format string, args ...any) error {
	return kindError{ErrRefused, fmt.Errorf(format, args...)}
}

// How the loss of a bus is noticed, and what happens then. Three unanswered pings mean that the
// bus is lost. Dials and requests have a timeout, and reconnecting goes on for ever. A line that
// accepts no data for requestTimeout counts as lost too: senders block until then, and an agent
// has to notice that it receives nothing.
const (
	pingInterval    = time.Second
	unansweredPings = 3
	requestTimeout  = 5 * time.Second
	reconnectDelay  = time.Second
)

// An Access is what one needs to connect to a hub.
type Access struct {
	Addresses []string `json:"addresses"` // HOST:PORT of the hub, tried in turn
	Pin       string   `json:"pin"`       // SHA-256 of its certificate, in hex
	JWT       string   `json:"jwt"`       // signed by the hub: user, permissions, expiry
	Seed      string   `json:"seed"`      // private key of the user that JWT names
}

// AddressMax is how many addresses an Access may have: one for each interface of the hub.
const AddressMax = 16

// CheckAddress fails unless at is HOST:PORT.
func CheckAddress(at string) error {
	host, port, err := net.SplitHostPort(at)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || n == 0 || host == "" || strings.ContainsAny(at, "/,@?#% ") {
		return fmt.Errorf("%q is not HOST:PORT", at)
	}
	return nil
}

// checkAccess returns why a cannot be used to connect, or nil.
func (a Access) checkAccess() error {
	if n := len(a.Addresses); n == 0 || n > AddressMax {
		return fmt.Errorf("it has %d addresses, not 1 to %d", n, AddressMax)
	}
	for _, at := range a.Addresses {
		if err := CheckAddress(at); err != nil {
			return err
		}
	}
	if pin, err := hex.DecodeString(a.Pin); err != nil || len(pin) != sha256.Size {
		return errors.New("it has no SHA-256 of a certificate")
	}
	c, err := a.parseClaims()
	if err != nil {
		return err
	}
	key, err := nkeys.FromSeed([]byte(a.Seed))
	if err != nil {
		return errors.New("its private key is damaged")
	}
	if public, err := key.PublicKey(); err != nil || public != c.Subject {
		return errors.New("its private key is not the one that it names")
	}
	return nil
}

// parseClaims returns the claims of a's JWT.
func (a Access) parseClaims() (*jwt.UserClaims, error) {
	c, err := jwt.DecodeUserClaims(a.JWT)
	if err != nil {
		return nil, fmt.Errorf("its JWT is damaged: %w", err)
	}
	return c, nil
}

// A Link is a connection to a bus. It reconnects by itself.
type Link struct {
	*nats.Conn
	jwt         atomic.Pointer[string] // shown when it reconnects
	credential  string                 // what was shown, in words
	ended       chan error             // has room for one error
	giveUpAfter time.Duration
	giveUpTimer atomic.Pointer[time.Timer] // runs while the bus is away, if giveUpAfter is set
}

// Ended receives, once, why the connection has ended for good: ErrRefused if the bus no longer
// accepts it, ErrBusLost after Settings.GiveUpAfter.
func (l *Link) Ended() <-chan error { return l.ended }

// Settings are the options of a connection.
type Settings struct {
	Name        string        // of the client; replies come to _INBOX_Name
	GiveUpAfter time.Duration // ends the connection when the bus was away for so long; 0: never
}

// Connect connects to the hub of a. what describes a in errors, such as "the token". The error is
// ErrRefused or ErrUnreachable, with the reason.
func (a Access) Connect(what string, s Settings) (*Link, error) {
	if err := a.checkAccess(); err != nil {
		return nil, Refusedf("%s is of no use: %w", what, err)
	}
	urls := make([]string, len(a.Addresses))
	for i, at := range a.Addresses {
		urls[i] = "tls://" + at
	}
	l := &Link{credential: what}
	l.jwt.Store(&a.JWT)
	err := l.dialServers(strings.Join(urls, ","), s, nats.Secure(pinnedTLS(a.Pin)),
		nats.TLSHandshakeFirst(), nats.UserJWT(l.currentJWT, nonceSigner(a.Seed)))
	if err != nil {
		return nil, fmt.Errorf("the hub at %s: %w", strings.Join(a.Addresses, " or "),
			a.explainFailure(what, err))
	}
	return l, nil
}

// pinnedTLS returns a TLS configuration that accepts only the certificate with that SHA-256.
func pinnedTLS(pin string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // the pin replaces names and authorities
		VerifyConnection: func(s tls.ConnectionState) error {
			if have := sha256.Sum256(s.PeerCertificates[0].Raw); hex.EncodeToString(have[:]) != pin {
				return errWrongPin
			}
			return nil
		},
	}
}

// nonceSigner signs a server's nonce, to prove possession of the private key.
func nonceSigner(seed string) nats.SignatureHandler {
	return func(nonce []byte) ([]byte, error) {
		if bytes.HasPrefix(nonce, []byte(agentTextPrefix)) {
			return nil, errors.New("the server wants a signature that is an agent's own")
		}
		key, err := nkeys.FromSeed([]byte(seed))
		if err != nil {
			return nil, err
		}
		defer key.Wipe()
		return key.Sign(nonce)
	}
}

func (l *Link) currentJWT() (string, error) { return *l.jwt.Load(), nil }

// dialServers connects l to the first of urls that answers.
func (l *Link) dialServers(urls string, s Settings, more ...nats.Option) (err error) {
	l.ended, l.giveUpAfter = make(chan error, 1), s.GiveUpAfter
	l.Conn, err = nats.Connect(urls, slices.Concat([]nats.Option{
		nats.Name(s.Name), nats.CustomInboxPrefix(inboxRoot + s.Name), nats.Timeout(requestTimeout),
		nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(unansweredPings),
		nats.FlusherTimeout(requestTimeout),
		nats.MaxReconnects(-1), nats.ReconnectWait(reconnectDelay), nats.IgnoreDiscoveredServers(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrAuthRevoked) {
				l.reportEnd(Refusedf("%s was revoked", l.credential))
			}
		}),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { l.startGiveUpTimer() }),
		nats.ReconnectHandler(func(*nats.Conn) { l.stopGiveUpTimer() }),
		nats.ClosedHandler(func(c *nats.Conn) {
			l.stopGiveUpTimer()
			if err := c.LastError(); err != nil {
				l.reportEnd(Refusedf("%s is not accepted any more: %w", l.credential, err))
			}
		}),
	}, more)...)
	if errors.Is(err, nats.ErrNoServers) { // its text says nothing of the reason
		err = errors.New("connection refused: nothing listens there, or a firewall is in between")
	}
	return err
}

// reportEnd reports why l has ended. Only the first reason counts, because the others follow from
// it.
func (l *Link) reportEnd(err error) {
	select {
	case l.ended <- err:
	default:
	}
}

// startGiveUpTimer is called when the bus is lost, and stopGiveUpTimer when it is back.
func (l *Link) startGiveUpTimer() {
	if l.giveUpAfter > 0 {
		l.stopGiveUpTimer()
		l.giveUpTimer.Store(time.AfterFunc(l.giveUpAfter, func() { l.reportEnd(ErrBusLost) }))
	}
}

func (l *Link) stopGiveUpTimer() {
	if t := l.giveUpTimer.Swap(nil); t != nil {
		t.Stop()
	}
}

// explainFailure turns the error of a failed connection into one for the user.
func (a Access) explainFailure(what string, err error) error {
	switch {
	case errors.Is(err, errWrongPin):
		return Refusedf("it shows %w with %s: it is another hub, or somebody is in between", errWrongPin,
			what)
	case errors.Is(err, nats.ErrTLS) || errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("%w over TLS 1.3: %w", ErrUnreachable, err)
	case !isRefusal(err):
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	c, bad := a.parseClaims()
	if bad != nil {
		return Refusedf("%w", bad)
	}
	why := "was revoked or is of another fleet"
	if len(c.Src) > 0 {
		why += ", or is not for this machine but for " + strings.Join(c.Src, ", ")
	}
	if c.Expires != 0 {
		end := time.Unix(c.Expires, 0).UTC()
		at := end.Format(time.DateTime + " MST")
		if time.Now().After(end) {
			return Refusedf("it does not accept %s, which expired at %s", what, at)
		}
		why += "; or by its clock it is past " + at + ", when that expires"
	}
	return Refusedf("it does not accept %s, which %s", what, why)
}

// isRefusal reports whether the server has answered and does not accept us.
func isRefusal(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) ||
		errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired)
}
