package hub

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/fleet/bus"

	"github.com/nats-io/nats.go"
)

// soon is how long a test waits for what must happen.
const soon = 2 * time.Minute

// up is a hub on a loopback address; listen "" is any.
func up(t *testing.T, folder, listen string) *Hub {
	t.Helper()
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	h, err := StartHub(Config{Folder: folder, Listen: listen})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// desk is the controller of the hub in a folder.
func desk(t *testing.T, folder string) *bus.Link {
	t.Helper()
	c, err := bus.ReadController(folder)
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// order has the hub make a token, and reads it.
func order(t *testing.T, l *bus.Link, o bus.TokenRequest) (bus.Access, string) {
	t.Helper()
	if o.Life == 0 {
		o.Life = time.Minute
	}
	var out bus.IssuedToken
	if err := bus.QueryHub(l.Conn, bus.SubjectToken, o, &out); err != nil {
		t.Fatal(err)
	}
	a, err := bus.ParseToken(out.Token)
	if err != nil {
		t.Fatal(err)
	}
	return a, out.ID
}

// joined is an agent of that name, connected.
func joined(t *testing.T, l *bus.Link, name string) (bus.Identity, *bus.Link) {
	t.Helper()
	token, _ := order(t, l, bus.TokenRequest{})
	i, err := bus.Join(token, bus.JoinRequest{Name: name, Host: "h", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return i, connected(t, i)
}

func connected(t *testing.T, i bus.Identity) *bus.Link {
	t.Helper()
	l, err := i.Connect(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// A machine with a token becomes an agent: it hears its commands, answers them, and is
// heard.
func TestJoin(t *testing.T) {
	folder := t.TempDir()
	h := up(t, folder, "")
	l := desk(t, folder)
	i, agent := joined(t, l, "web1")
	if i.Name != "web1" || i.PlanKey != h.PlanKey() {
		t.Errorf("%s obeys %s, not %s", i.Name, i.PlanKey, h.PlanKey())
	}
	for _, subject := range []string{"dyno.cmd.all.plan", "dyno.cmd.web1.plan"} {
		told, err := agent.SubscribeSync(subject)
		if err := errors.Join(err, agent.Flush(), l.Publish(subject, nil)); err != nil {
			t.Fatal(err)
		}
		if _, err := told.NextMsg(soon); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
	}
	heard, err := l.SubscribeSync("dyno.ev.*.tick")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Flush(), agent.Publish("dyno.ev.web1.tick", []byte("1"))); err != nil {
		t.Fatal(err)
	}
	if m, err := heard.NextMsg(soon); err != nil || string(m.Data) != "1" {
		t.Errorf("the tick: %v", err)
	}
	var roll bus.Roster
	if err := bus.QueryHub(l.Conn, bus.SubjectList, struct{}{}, &roll); err != nil {
		t.Fatal(err)
	}
	if len(roll.Agents) != 1 || roll.Agents[0].Address != "127.0.0.1" || len(roll.Tokens) != 0 {
		t.Errorf("%+v", roll)
	}
}

// An agent cannot speak for another, nor command, nor read what is not its own; the server
// says so, and the log keeps who tried.
func TestForged(t *testing.T) {
	folder := t.TempDir()
	up(t, folder, "")
	l := desk(t, folder)
	_, agent := joined(t, l, "web1")
	joined(t, l, "web2")
	violations := make(chan error, 100)
	agent.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { violations <- err })
	heard, err := l.SubscribeSync("dyno.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	forged := []string{"dyno.ev.web2.tick", "dyno.ev.all.tick", "dyno.cmd.web2.plan", "dyno.cmd.all.stop",
		bus.RenewSubject("web2"), bus.JoinSubject("x"), bus.SubjectToken, bus.SubjectRevoke, bus.SubjectStop,
		"$JS.API.STREAM.NAMES", "$JS.API.STREAM.CREATE.EV", "_INBOX_controller.x"}
	for _, subject := range forged {
		if err := agent.Publish(subject, []byte("forged")); err != nil {
			t.Fatal(err)
		}
	}
	for _, subject := range []string{">", "dyno.>", "dyno.ev.>", "dyno.cmd.web2.>", "_INBOX_web2.>"} {
		if _, err := agent.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		forged = append(forged, subject)
	}
	if err := errors.Join(agent.Publish("dyno.ev.web1.tick", []byte("true")), agent.Flush()); err != nil {
		t.Fatal(err)
	}
	m, err := heard.NextMsg(soon)
	if err != nil || m.Subject != "dyno.ev.web1.tick" {
		t.Errorf("the first that is heard is %+v, %v", m, err)
	}
	for _, subject := range forged {
		select {
		case err := <-violations:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: %v", subject, err)
			}
		case <-time.After(soon):
			t.Fatalf("%d of %d were refused", len(forged)-len(violations), len(forged))
		}
	}
	b, err := os.ReadFile(filepath.Join(folder, "audit.jsonl"))
	if err != nil || !strings.Contains(string(b), "dyno.ev.web2.tick") {
		t.Errorf("the log does not say who forged: %s, %v", b, err)
	}
}

// Who is not let in is told why.
func TestRefused(t *testing.T) {
	folder := t.TempDir()
	h := up(t, folder, "")
	l := desk(t, folder)
	h.mu.Lock()
	old, err := h.mintToken(bus.TokenRequest{Life: -time.Minute}, time.Now())
	h.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	expired, err := bus.ParseToken(old.Token)
	if err != nil {
		t.Fatal(err)
	}
	used, _ := order(t, l, bus.TokenRequest{})
	if _, err := bus.Join(used, bus.JoinRequest{Name: "first"}); err != nil {
		t.Fatal(err)
	}
	revoked, id := order(t, l, bus.TokenRequest{})
	if err := bus.QueryHub(l.Conn, bus.SubjectRevoke, bus.RevokeRequest{Name: id}, nil); err != nil {
		t.Fatal(err)
	}
	elsewhere, _ := order(t, l, bus.TokenRequest{From: []string{"10.0.0.0/8"}})
	bound, _ := order(t, l, bus.TokenRequest{Name: "web9"})
	joined(t, l, "taken")
	fresh, _ := order(t, l, bus.TokenRequest{})
	pin, silent := fresh, fresh
	pin.Pin = strings.Repeat("00", 32)
	stranger := t.TempDir()
	up(t, stranger, "")
	foreign, _ := order(t, desk(t, stranger), bus.TokenRequest{})
	foreign.Addresses, foreign.Pin = fresh.Addresses, fresh.Pin
	silent.Addresses = []string{closed(t)}
	for _, test := range []struct {
		what   string
		token  bus.Access
		name   string
		kind   error
		reason string
	}{
		{"expired", expired, "", bus.ErrRefused, "expired at"},
		{"used", used, "", bus.ErrRefused, "by the agent first"},
		{"revoked", revoked, "", bus.ErrRefused, "was revoked at"},
		{"from elsewhere", elsewhere, "", bus.ErrRefused, "10.0.0.0/8"},
		{"another's name", bound, "web1", bus.ErrRefused, "for an agent named web9"},
		{"a name that is taken", fresh, "taken", bus.ErrRefused, "choose another --name"},
		{"no name", fresh, "a.b", bus.ErrRefused, "is not a name"},
		{"another certificate", pin, "", bus.ErrRefused, "another certificate"},
		{"another fleet's", foreign, "", bus.ErrRefused, "another fleet"},
		{"nobody there", silent, "", bus.ErrUnreachable, "cannot be reached"},
		{"empty", bus.Access{}, "", bus.ErrRefused, "0 addresses"},
	} {
		_, err := bus.Join(test.token, bus.JoinRequest{Name: test.name, Host: "h"})
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: %v, want %q", test.what, err, test.reason)
		}
	}
	if i, err := bus.Join(bound, bus.JoinRequest{Host: "h"}); err != nil || i.Name != "web9" {
		t.Errorf("a token for a name gives %s, %v", i.Name, err)
	}
	for _, test := range []struct {
		order  bus.TokenRequest
		reason string
	}{
		{bus.TokenRequest{}, "lives up to"}, {bus.TokenRequest{Life: LifeMax + 1}, "lives up to"},
		{bus.TokenRequest{Life: time.Hour, Name: "A"}, "not a name"},
		{bus.TokenRequest{Life: time.Hour, From: []string{"10.0.0.1"}}, "not a range"},
	} {
		err := bus.QueryHub(l.Conn, bus.SubjectToken, test.order, nil)
		if !errors.Is(err, bus.ErrRefused) || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%+v: %v, want %q", test.order, err, test.reason)
		}
	}
}

// closed is an address where nobody listens.
func closed(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// There is no way in without TLS, and none without a JWT.
func TestNoWayIn(t *testing.T) {
	h := up(t, t.TempDir(), "")
	at := h.Addresses()[0]
	if c, err := nats.Connect("nats://"+at, nats.Timeout(3*time.Second)); err == nil {
		c.Close()
		t.Error("without TLS")
	}
	tls := h.keys.trusting()
	if c, err := nats.Connect("tls://"+at, nats.Secure(tls), nats.TLSHandshakeFirst()); err == nil ||
		!errors.Is(err, nats.ErrAuthorization) {
		if c != nil {
			c.Close()
		}
		t.Errorf("without a JWT: %v", err)
	}
	tls.MinVersion, tls.MaxVersion = 0, 0x0303
	if c, err := nats.Connect("tls://"+at, nats.Secure(tls), nats.TLSHandshakeFirst()); err == nil ||
		!errors.Is(err, nats.ErrTLS) {
		if c != nil {
			c.Close()
		}
		t.Errorf("with TLS 1.2: %v", err)
	}
}

// Who is revoked is thrown out at once, does not come back, and others stay.
func TestRevoked(t *testing.T) {
	folder := t.TempDir()
	up(t, folder, "")
	l := desk(t, folder)
	i, agent := joined(t, l, "web1")
	_, stays := joined(t, l, "web2")
	if err := bus.QueryHub(l.Conn, bus.SubjectRevoke, bus.RevokeRequest{Name: "web1"}, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-agent.Ended():
		if !errors.Is(err, bus.ErrRefused) || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("its reason is %v", err)
		}
	case <-time.After(soon):
		t.Fatal("it is not thrown out")
	}
	if _, err := i.Connect(0); !errors.Is(err, bus.ErrRefused) ||
		!strings.Contains(err.Error(), "was revoked") {
		t.Errorf("again: %v", err)
	}
	for _, name := range []string{"web1", "nobody"} {
		if err := bus.QueryHub(l.Conn, bus.SubjectRevoke, bus.RevokeRequest{Name: name}, nil); !errors.Is(err, bus.ErrRefused) {
			t.Errorf("revoking %s: %v", name, err)
		}
	}
	if !stays.IsConnected() {
		t.Error("web2 went, too")
	}
	if again, _ := joined(t, l, "web1"); again.Name != "web1" {
		t.Errorf("its name is not free: %s", again.Name)
	}
}

// A hub that was stopped and started again knows what it knew, and its agents come back.
func TestRestart(t *testing.T) {
	folder := t.TempDir()
	first := up(t, folder, "")
	l := desk(t, folder)
	i, agent := joined(t, l, "web1")
	gone, _ := joined(t, l, "web2")
	token, _ := order(t, l, bus.TokenRequest{})
	used, _ := order(t, l, bus.TokenRequest{})
	if _, err := bus.Join(used, bus.JoinRequest{Name: "web3"}); err != nil {
		t.Fatal(err)
	}
	if err := bus.QueryHub(l.Conn, bus.SubjectRevoke, bus.RevokeRequest{Name: gone.Name}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := StartHub(Config{Folder: folder, Listen: "127.0.0.1:0"}); err == nil ||
		!strings.Contains(err.Error(), "is up already: process ") ||
		!strings.HasSuffix(err.Error(), "at "+first.Addresses()[0]) {
		t.Errorf("a second one in the same folder: %v", err)
	}
	if _, err := StartHub(Config{Folder: t.TempDir(), Listen: first.Addresses()[0]}); err == nil ||
		!strings.Contains(err.Error(), "in use") {
		t.Errorf("a second one at the same address: %v", err)
	}
	back := make(chan struct{}, 1)
	agent.SetReconnectHandler(func(*nats.Conn) { back <- struct{}{} })
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.ReadController(folder); !errors.Is(err, bus.ErrUnreachable) {
		t.Errorf("controllers are told of a hub that is down: %v", err)
	}
	second := up(t, folder, first.Addresses()[0])
	select {
	case <-back:
	case <-time.After(soon):
		t.Fatal("the agent does not come back")
	}
	if second.PlanKey() != i.PlanKey {
		t.Error("the plan key is another")
	}
	if err := i.Renew(agent); err != nil {
		t.Errorf("its JWT is not renewed: %v", err)
	}
	if _, err := gone.Connect(0); !errors.Is(err, bus.ErrRefused) {
		t.Errorf("who was revoked comes back: %v", err)
	}
	if _, err := bus.Join(used, bus.JoinRequest{Name: "web4"}); err == nil ||
		!strings.Contains(err.Error(), "by the agent web3") {
		t.Errorf("a used token: %v", err)
	}
	if _, err := bus.Join(token, bus.JoinRequest{Name: "web5"}); err != nil {
		t.Errorf("a token of before: %v", err)
	}
}

// Two that say they are the same agent are found out.
func TestTwice(t *testing.T) {
	folder := t.TempDir()
	up(t, folder, "")
	i, agent := joined(t, desk(t, folder), "web1")
	if err := i.Renew(agent); err != nil || i.ExpiresAt().Before(time.Now().Add(identityLife/2)) {
		t.Errorf("%v, until %v", err, i.ExpiresAt())
	}
	other := connected(t, i)
	if err := i.Renew(other); !errors.Is(err, bus.ErrRefused) ||
		!strings.Contains(err.Error(), "connected already") {
		t.Errorf("the second: %v", err)
	}
}

// An agent gives up on a hub that stays away, if it was told to.
func TestLeft(t *testing.T) {
	folder := t.TempDir()
	h := up(t, folder, "")
	i, _ := joined(t, desk(t, folder), "web1")
	agent, err := i.Connect(time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-agent.Ended():
		if !errors.Is(err, bus.ErrBusLost) {
			t.Errorf("its reason is %v", err)
		}
	case <-time.After(soon):
		t.Fatal("it stays")
	}
}

// A controller can end the hub, and everything that happened is in the log.
func TestStopAndAudit(t *testing.T) {
	folder := t.TempDir()
	h := up(t, folder, "")
	l := desk(t, folder)
	joined(t, l, "web1")
	if err := bus.QueryHub(l.Conn, bus.SubjectNote, bus.AuditNote{Text: "a load"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := bus.QueryHub(l.Conn, bus.SubjectStop, struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := h.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(folder, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	var events []string
	for in := bufio.NewScanner(f); in.Scan(); {
		var e entry
		if err := json.Unmarshal(in.Bytes(), &e); err != nil || e.Time.IsZero() {
			t.Errorf("%s: %v", in.Bytes(), err)
		}
		events = append(events, e.Event)
	}
	for _, want := range []string{"up", "token", "join", "note", "down"} {
		if !slices.Contains(events, want) {
			t.Errorf("no %s in %v", want, events)
		}
	}
}

// What is too old to matter is forgotten, and nothing else.
func TestForgets(t *testing.T) {
	folder := t.TempDir()
	now := time.Now().UTC()
	s, err := openState(folder)
	if err != nil {
		t.Fatal(err)
	}
	long, just := now.Add(-40*24*time.Hour), now.Add(-20*24*time.Hour)
	s.Tokens = []*token{{ID: "long", Expires: long}, {ID: "just", Expires: just}}
	s.Agents = []*agent{{Name: "long", Joined: long, Seen: long}, {Name: "just", Joined: long, Seen: just}}
	s.Revoked = map[string]time.Time{"long": long, "just": just}
	if err := s.saveState(now); err != nil {
		t.Fatal(err)
	}
	if s, err = openState(folder); err != nil {
		t.Fatal(err)
	}
	if len(s.Tokens) != 1 || s.findToken("just") == nil || len(s.Agents) != 1 || s.findAgent("just") == nil ||
		len(s.Revoked) != 1 || s.Revoked["just"].IsZero() {
		t.Errorf("%+v", s)
	}
}

// Nobody fills the disk by being refused, and how many were is said.
func TestStrangers(t *testing.T) {
	var lines []string
	a, err := openAudit(t.TempDir(), func(line string) { lines = append(lines, line) })
	if err != nil {
		t.Fatal(err)
	}
	const crowd = 10 * entriesPerSecondMax
	for range crowd {
		a.writeLimited(entry{Event: "refused"})
	}
	if len(lines) > crowd/2 { // the clock's second may have ended meanwhile
		t.Errorf("%d lines of %d strangers", len(lines), crowd)
	}
	a.second-- // time passes
	a.writeLimited(entry{Event: "refused"})
	if last := lines[len(lines)-1]; !strings.Contains(last, "before that are not in the log") {
		t.Errorf("the last says %q", last)
	}
	if err := a.closeFile(); err != nil {
		t.Fatal(err)
	}
	a.writeEntry(entry{Event: "late"})
	if strings.Contains(lines[len(lines)-1], "late") {
		t.Error("a log that is closed goes on")
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		listen    string
		advertise []string
		good      bool
	}{
		{"127.0.0.1:0", nil, true}, {"[::1]:3967", nil, true}, {"fleet.example:3967", nil, true},
		{"0.0.0.0:3967", []string{"fleet.example"}, true}, {"[::]:1", []string{"10.0.0.5"}, true},
		{"0.0.0.0:3967", nil, false}, {"[::]:3967", nil, false}, {":3967", nil, false},
		{":3967", []string{"fleet.example"}, false}, {"127.0.0.1:0", []string{"a b"}, false},
		{"127.0.0.1:0", []string{""}, false}, {"127.0.0.1:0", []string{"h:99999"}, false},
		{"127.0.0.1:0", []string{"a/b"}, false}, {"127.0.0.1:0", make([]string, 17), false},
		{"127.0.0.1", nil, false}, {"127.0.0.1:x", nil, false}, {"127.0.0.1:65536", nil, false},
	} {
		c := Config{Listen: test.listen, Advertise: test.advertise}
		if err := c.Check(); (err == nil) != test.good {
			t.Errorf("%s, known as %v: %v", test.listen, test.advertise, err)
		}
	}
	all := Config{Advertise: []string{"fleet.example", "10.0.0.5:1", "fd00::5", "[fd00::6]:2"}}
	at := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 5), Port: 3967}
	want := []string{"fleet.example:3967", "10.0.0.5:1", "[fd00::5]:3967", "[fd00::6]:2"}
	if got := advertisedAddresses(all, at); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for listens, want := range map[string]string{"0.0.0.0:5": "127.0.0.1:5", "[::]:5": "[::1]:5",
		"10.0.0.5:5": "10.0.0.5:5"} {
		addr, err := net.ResolveTCPAddr("tcp", listens)
		if err != nil {
			t.Fatal(err)
		}
		if got := localAddress(addr); got != want {
			t.Errorf("what listens on %s is reached at %s, want %s", listens, got, want)
		}
	}
}
