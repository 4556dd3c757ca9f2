package fairness

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"dyno/internal/engine/auth/authtest"
	"dyno/internal/engine/loadplan"
)

// An exchange is one with the answer behind the challenge, also while connections are counted and a challenge ends its
// connection.
func TestExchangesAgainBehindAChallenge(t *testing.T) {
	g := &authtest.Guard{Most: 2, Closes: true}
	s := httptest.NewServer(http.HandlerFunc(g.Digest))
	defer s.Close()
	q := asking{URL: s.URL + "/"}.question()
	q.Way.Auth, q.Way.User = loadplan.Digest, authtest.User+":"+authtest.Password
	a, err := newAsker(q)
	if err != nil {
		t.Fatal(err)
	}
	var on *session
	for range 9 {
		if err := a.exchangeAgain(t.Context(), &on); err != nil {
			t.Fatal(err)
		}
	}
	if on != nil {
		on.close()
	}
	if g.Right != 9 || g.Asked != 5 || g.Wrong > 0 {
		t.Errorf("%d of 9 let in, %d challenges, %d wrong: %q", g.Right, g.Asked, g.Wrong, g.Why)
	}
}

// Servers that want to know who asks are asked as the load asks them: a challenge is answered, also where it ends
// its connection, and each question is signed. What counts is the answer behind it.
func TestSigned(t *testing.T) {
	for name, c := range map[string]struct {
		how     string
		closes  bool
		h2      bool
		want    int // status, and how many were let in
		user    string
		refused bool
	}{
		"digest":                  {how: loadplan.Digest, want: 200},
		"digest that closes":      {how: loadplan.Digest, closes: true, want: 200},
		"digest over HTTP/2":      {how: loadplan.Digest, h2: true, want: 200},
		"the wrong password":      {how: loadplan.Digest, user: "alice:x", want: 401, refused: true},
		"the wrong one is closed": {how: loadplan.Digest, closes: true, user: "alice:x", want: 401, refused: true},
		"sigv4":                   {how: "sigv4:eu-west-1/s3", want: 200},
		"sigv4 over HTTP/2":       {how: "sigv4:eu-west-1/s3", h2: true, want: 200},
		"the wrong key":           {how: "sigv4:eu-west-1/s3", user: "alice:x", want: 403, refused: true},
	} {
		g := &authtest.Guard{Most: 7, Closes: c.closes}
		serve := http.HandlerFunc(g.Digest)
		if c.how != loadplan.Digest {
			serve = g.SigV4("eu-west-1", "s3")
		}
		s := httptest.NewUnstartedServer(serve)
		s.Config.ErrorLog = quiet()
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(!c.h2)
		s.Config.Protocols.SetUnencryptedHTTP2(c.h2)
		s.Start()
		q := asking{URL: s.URL + "/a=b?c", Times: 9, KeepAlive: 9, Brief: true}.question()
		q.Way.Auth, q.Way.User, q.Way.Target.H2C = c.how, authtest.User+":"+authtest.Password, c.h2
		if c.user != "" {
			q.Way.User = c.user
		}
		a, err := Ask(t.Context(), q)
		s.Close()
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case a.Status != c.want || len(a.Statuses) > 0 || a.Exchanges != 18 && !c.closes || c.refused != (g.Right == 0):
			t.Errorf("%s: %d %v, %d exchanges, %d let in, %d wrong: %q", name, a.Status, a.Statuses, a.Exchanges, g.Right, g.Wrong, g.Why)
		case !c.refused && (g.Wrong > 0 || g.Right != a.Exchanges):
			t.Errorf("%s: %d let in of %d, %d wrong: %q", name, g.Right, a.Exchanges, g.Wrong, g.Why)
		}
	}
}
