package bus

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// sample is an Access as a hub gives one out, until then.
func sample(t testing.TB, until time.Time) Access {
	t.Helper()
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	public, seed, err := newUserKey()
	if err != nil {
		t.Fatal(err)
	}
	c := jwt.NewUserClaims(public)
	c.Name, c.Expires = "abcd1234", until.Unix()
	signed, err := c.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	return Access{Addresses: []string{"10.0.0.5:3967", "[fd00::5]:3967"},
		Pin: strings.Repeat("0f", 32), JWT: signed, Seed: seed}
}

// A token is one word, and what it says comes back.
func TestToken(t *testing.T) {
	until := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	a := sample(t, until)
	text := a.EncodeToken()
	if strings.ContainsAny(text, " \n\t'\"$`\\") {
		t.Errorf("a token that shells read otherwise: %s", text)
	}
	got, err := ParseToken("\n " + text + "\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if got.EncodeToken() != text || got.TokenID() != "abcd1234" || !got.ExpiresAt().Equal(until) {
		t.Errorf("%+v, ID %s, until %v", got, got.TokenID(), got.ExpiresAt())
	}
}

// What is no token is refused with the reason, which never has its secret in it.
func TestTokenRefused(t *testing.T) {
	good := sample(t, time.Now().Add(time.Hour))
	with := func(change func(*Access)) string {
		a := good
		change(&a)
		return a.EncodeToken()
	}
	other := sample(t, time.Now())
	for _, test := range []struct{ token, reason string }{
		{"", "begins with"},
		{"https://10.0.0.5:3967", "begins with"},
		{good.EncodeToken()[:len(good.EncodeToken())/2], "damaged"},
		{tokenPrefix + "!", "was all of it copied?"},
		{tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(`{"addresses":[],"more":1}`)), "more"},
		{tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(`{} {}`)), "damaged"},
		{tokenPrefix + strings.Repeat("A", tokenMax+1), "not that long"},
		{with(func(a *Access) { a.Addresses = nil }), "0 addresses"},
		{with(func(a *Access) { a.Addresses = make([]string, AddressMax+1) }), "17 addresses"},
		{with(func(a *Access) { a.Addresses = []string{"10.0.0.5"} }), "not HOST:PORT"},
		{with(func(a *Access) { a.Addresses = []string{"a:1,b:2"} }), "not HOST:PORT"},
		{with(func(a *Access) { a.Pin = "00" }), "SHA-256"},
		{with(func(a *Access) { a.JWT = "x.y.z" }), "JWT"},
		{with(func(a *Access) { a.Seed = "SUAx" }), "private key"},
		{with(func(a *Access) { a.Seed = other.Seed }), "private key"},
	} {
		_, err := ParseToken(test.token)
		if err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%.40q: %v, want %q", test.token, err, test.reason)
			continue
		}
		if strings.Contains(err.Error(), good.Seed) {
			t.Errorf("%.40q: the refusal tells the secret: %v", test.token, err)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(sample(f, time.Unix(1893456000, 0)).EncodeToken())
	f.Add(tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(`{"addresses":["a:1"]}`)))
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseToken(text)
		if err != nil {
			return
		}
		if again, err := ParseToken(a.EncodeToken()); err != nil || again.EncodeToken() != a.EncodeToken() {
			t.Errorf("%q is a token and %q is not: %v", text, a.EncodeToken(), err)
		}
	})
}

func TestNames(t *testing.T) {
	for _, test := range []struct {
		name string
		good bool
	}{
		{"a", true}, {"web-1", true}, {strings.Repeat("x", NameMax), true},
		{"", false}, {"-a", false}, {"a-", false}, {"A", false}, {"a.b", false}, {"a*", false},
		{">", false}, {"a b", false}, {"é", false}, {strings.Repeat("x", NameMax+1), false},
		{"all", false}, {"hub", false}, {ControllerName, false},
	} {
		if err := CheckAgentName(test.name); (err == nil) != test.good {
			t.Errorf("%q: %v", test.name, err)
		}
	}
	for host, want := range map[string]string{
		"Web_1.example.com": "web-1", "web": "web", "": "agent", "__": "agent", "all": "agent",
		strings.Repeat("y", 70) + ".z": strings.Repeat("y", NameMax), "ñandú": "and",
	} {
		if got := AgentNameFor(host); got != want {
			t.Errorf("the name of %q is %q, want %q", host, got, want)
		}
	}
}

// An agent's rights name it and nobody else.
func TestRights(t *testing.T) {
	for _, p := range []jwt.Permissions{AgentPermissions("web1"), JoinPermissions("abcd1234")} {
		for _, subject := range p.Pub.Allow {
			if strings.HasPrefix(subject, "$") || subject == ">" || subject == "dyno.>" ||
				!strings.Contains(subject, "web1") && !strings.Contains(subject, "abcd1234") {
				t.Errorf("may say %s", subject)
			}
		}
	}
}

// A JWT is renewed when half of its life is over, and one without an end never.
func TestRenewalIsDue(t *testing.T) {
	now := time.Now()
	i := Identity{Access: sample(t, now.Add(10*time.Hour))}
	for _, test := range []struct {
		after time.Duration
		due   bool
	}{{0, false}, {4 * time.Hour, false}, {5*time.Hour + time.Minute, true}, {20 * time.Hour, true}} {
		if got := i.renewalDue(now.Add(test.after)); got != test.due {
			t.Errorf("after %v due is %v", test.after, got)
		}
	}
	if (Identity{Access: sample(t, time.Unix(0, 0))}).renewalDue(now.Add(1e6 * time.Hour)) {
		t.Error("what never expires is due")
	}
}
