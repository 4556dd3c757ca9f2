package hub

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dyno/internal/fleet/bus"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// What a hub answers goes to who asked, and to nobody else: an agent, or who has but a token,
// cannot have the hub say in its own name what they may not say themselves.
func TestDeputy(t *testing.T) {
	folder := t.TempDir()
	h := up(t, folder, "")
	l := desk(t, folder)
	_, agent := joined(t, l, "web1")
	token, id := order(t, l, bus.TokenRequest{})
	applicant, err := token.Connect("a token", bus.Settings{Name: id})
	if err != nil {
		t.Fatal(err)
	}
	defer applicant.Close()
	heard, err := l.SubscribeSync("dyno.ev.web2.>")
	if err := errors.Join(err, l.Flush()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		conn    *nats.Conn
		subject string
	}{{agent.Conn, bus.RenewSubject("web1")}, {applicant.Conn, bus.JoinSubject(id)}} {
		for _, to := range []string{bus.SubjectStop, "dyno.ev.web2.answer", "dyno.cmd.all.stop",
			"_INBOX_controller.x"} {
			if err := c.conn.PublishRequest(c.subject, to, []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.conn.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	var roll bus.Roster
	if err := bus.QueryHub(l.Conn, bus.SubjectList, struct{}{}, &roll); err != nil {
		t.Fatal(err)
	}
	select {
	case <-h.stop:
		t.Error("who may not stop the hub had it stop itself")
	case <-time.After(100 * time.Millisecond):
	}
	if m, err := heard.NextMsg(10 * time.Millisecond); err == nil {
		t.Errorf("the hub said %s to %s", m.Data, m.Subject)
	}
}

// Who was revoked, or whose name another has now, does not become an agent again by the token
// that it had, though that has not expired.
func TestRevokedWithToken(t *testing.T) {
	folder := t.TempDir()
	up(t, folder, "")
	l := desk(t, folder)
	token, id := order(t, l, bus.TokenRequest{})
	i, err := bus.Join(token, bus.JoinRequest{Name: "web1", Host: "h"})
	if err != nil {
		t.Fatal(err)
	}
	again := func() error {
		c, err := token.Connect("a token", bus.Settings{Name: id})
		if err != nil {
			return err
		}
		defer c.Close()
		return bus.QueryHub(c.Conn, bus.JoinSubject(id), bus.JoinRequest{Key: public(t, i.Seed), Host: "h"}, nil)
	}
	if err := bus.QueryHub(l.Conn, bus.SubjectRevoke, bus.RevokeRequest{Name: "web1"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := again(); !errors.Is(err, bus.ErrRefused) || !strings.Contains(err.Error(), "was used at") {
		t.Errorf("by the token that it had: %v", err)
	}
	token, id = order(t, l, bus.TokenRequest{})
	if err := again(); !errors.Is(err, bus.ErrRefused) || !strings.Contains(err.Error(), "made anew") {
		t.Errorf("by another token, with the key of before: %v", err)
	}
}

// An agent keeps to the plan key that it was told when it joined, whatever the hub says later,
// and to a few subscriptions.
func TestOnePlanKey(t *testing.T) {
	folder := t.TempDir()
	h := up(t, folder, "")
	i, agent := joined(t, desk(t, folder), "web1")
	other, err := bus.OpenPlanKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	was := i
	h.mu.Lock()
	h.planKey = other
	h.mu.Unlock()
	if err := i.Renew(agent); !errors.Is(err, bus.ErrRefused) ||
		!strings.Contains(err.Error(), "another plan key") || i.PlanKey != was.PlanKey {
		t.Errorf("with another plan key: %v", err)
	}
	wrong := make(chan error, 2*subscriptionsMax)
	agent.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { wrong <- err })
	for range subscriptionsMax {
		if _, err := agent.SubscribeSync("dyno.cmd.web1.>"); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-wrong:
		if !errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
			t.Error(err)
		}
	case <-time.After(soon):
		t.Error("it may listen without end")
	}
}

// Who an agent is says the key that it joined with, as the hub's own file has it, and nothing
// that was said on the bus; and no server gets that key to sign in its agent's stead.
func TestVouch(t *testing.T) {
	folder := t.TempDir()
	up(t, folder, "")
	l := desk(t, folder)
	i, _ := joined(t, l, "web1")
	other, _ := joined(t, l, "web2")
	gone, _ := joined(t, l, "web3")
	if err := bus.QueryHub(l.Conn, bus.SubjectRevoke, bus.RevokeRequest{Name: "web3"}, nil); err != nil {
		t.Fatal(err)
	}
	text := []byte("web1's curve key")
	sign := func(i bus.Identity) []byte {
		signature, err := i.SignText(text)
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	pair, err := nkeys.FromSeed([]byte(i.Seed))
	if err != nil {
		t.Fatal(err)
	}
	bare, err := pair.Sign(text) // as servers have it signed
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		name            string
		text, signature []byte
		good            bool
	}{
		"its own":               {"web1", text, sign(i), true},
		"another's":             {"web1", text, sign(other), false},
		"under another's name":  {"web2", text, sign(i), false},
		"of something else":     {"web1", []byte("another key"), sign(i), false},
		"none":                  {"web1", text, nil, false},
		"what a server can get": {"web1", text, bare, false},
		"of who was revoked":    {"web3", text, sign(gone), false},
		"of nobody":             {"web4", text, sign(i), false},
	} {
		if err := VerifyAgent(folder, c.name, c.text, c.signature); (err == nil) != c.good {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Who is revoked is thrown out even if the hub has no room to remember it, which it says.
func TestRevokedOnFullDisk(t *testing.T) {
	folder := t.TempDir()
	h := up(t, folder, "")
	l := desk(t, folder)
	_, agent := joined(t, l, "web1")
	h.mu.Lock()
	h.state.path = filepath.Join(folder, "keys.json", "state.json") // no folder
	h.mu.Unlock()
	err := bus.QueryHub(l.Conn, bus.SubjectRevoke, bus.RevokeRequest{Name: "web1"}, nil)
	if err == nil || !strings.Contains(err.Error(), "cannot keep what it knows") {
		t.Errorf("that it cannot be kept: %v", err)
	}
	select {
	case <-agent.Ended():
	case <-time.After(soon):
		t.Error("it is not thrown out")
	}
}

// What a stranger says of itself does not command the terminal of who watches the hub.
func TestPlainLog(t *testing.T) {
	e := entry{Event: "join", Agent: "web1", Detail: "host \x1b]0;x\a\nup 127.0.0.1"}
	if got := e.String(); strings.ContainsAny(got, "\x1b\a\n") || !strings.Contains(got, "web1") {
		t.Errorf("%q", got)
	}
}

// Two hubs that are begun at once with one folder would write over what the other knows: the lock
// is there before anything else is, also before a hub can be asked whether it is up.
func TestOneHubInAFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "fleet")
	first := &Hub{config: Config{Folder: folder}}
	if err := first.lockFolder(); err != nil {
		t.Fatal(err)
	}
	h, err := StartHub(Config{Folder: folder, Listen: "127.0.0.1:0"})
	if err == nil {
		h.Close()
	}
	if err == nil || !strings.Contains(err.Error(), folder) || !strings.Contains(err.Error(), "dyno fleet stop") {
		t.Errorf("a second hub: %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "keys.json")); err == nil {
		t.Error("it made keys")
	}
	if err := first.lock.Close(); err != nil {
		t.Fatal(err)
	}
	again := up(t, folder, "")
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	up(t, folder, "")
}

// public is the public half of a private key.
func public(t *testing.T, seed string) string {
	t.Helper()
	k, err := keyFromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	return k.public
}
