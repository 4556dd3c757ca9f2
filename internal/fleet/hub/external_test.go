package hub

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/fleet/bus"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
)

// trusting is TLS that asks for no name, for whoever looks from outside.
func (k *keys) trusting() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(s tls.ConnectionState) error {
		have, want := sha256.Sum256(s.PeerCertificates[0].Raw), sha256.Sum256(k.certificate.Certificate[0])
		if have != want {
			return errors.New(hex.EncodeToString(have[:]))
		}
		return nil
	}}
}

// A NATS server that is not ours, with users that somebody else made, carries a fleet, too.
func TestExternal(t *testing.T) {
	folder := t.TempDir()
	k, err := openKeys(folder)
	if err != nil {
		t.Fatal(err)
	}
	h := &Hub{keys: k, resolver: new(server.MemAccResolver), state: &state{}}
	if err := h.publishAccounts(); err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		NoLog: true, AccountResolver: h.resolver,
		TrustedOperators: []*jwt.OperatorClaims{k.operatorClaims()}, SystemAccount: k.system.public})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(soon) {
		t.Fatal("the server does not start")
	}
	creds := func(name string, may jwt.Permissions, signs key) string {
		u, err := generateKey(user)
		if err != nil {
			t.Fatal(err)
		}
		claims := jwt.NewUserClaims(u.public)
		claims.Name, claims.Permissions = name, may
		signed, err := claims.Encode(signs.pair)
		if err != nil {
			t.Fatal(err)
		}
		text, err := jwt.FormatUserConfig(signed, []byte(u.seed))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, name+".creds")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	url := "nats://" + s.Addr().String()
	desk, err := bus.External{URL: url, Creds: creds("desk", bus.ControllerPermissions(), k.fleet)}.
		Connect(bus.Settings{Name: bus.ControllerName})
	if err != nil {
		t.Fatal(err)
	}
	defer desk.Close()
	agent, err := bus.External{URL: url, Creds: creds("web1", bus.AgentPermissions("web1"), k.fleet)}.
		Connect(bus.Settings{Name: "web1"})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	told, err := agent.SubscribeSync("dyno.cmd.all.>")
	if err := errors.Join(err, agent.Flush(), desk.Publish("dyno.cmd.all.plan", nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := told.NextMsg(soon); err != nil {
		t.Errorf("a command: %v", err)
	}
	if err := bus.QueryHub(desk.Conn, bus.SubjectList, struct{}{}, nil); !errors.Is(err, bus.ErrUnreachable) ||
		!strings.Contains(err.Error(), "no hub") {
		t.Errorf("asked as if it were a hub: %v", err)
	}
	stranger, err := generateKey(account)
	if err != nil {
		t.Fatal(err)
	}
	_, err = bus.External{URL: url, Creds: creds("x", bus.AgentPermissions("x"), stranger)}.
		Connect(bus.Settings{Name: "x"})
	if !errors.Is(err, bus.ErrRefused) {
		t.Errorf("a stranger: %v", err)
	}
}
