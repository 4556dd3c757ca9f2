package auth

import (
	"strings"
	"testing"
	"time"
)

// Of all challenges of all fields, whatever their schemes and order, the strongest that can be answered is,
// and of equals the first. What is malformed spoils only itself.
func TestChallenges(t *testing.T) {
	const (
		md5    = `Digest realm="m", nonce="1", qop="auth", algorithm=MD5`
		sha    = `Digest realm="s", nonce="2", qop="auth-int, auth", algorithm=SHA-256`
		plain  = `digest nonce=3` // RFC 2069
		basic  = `Basic realm="a, Digest nonce=\"no\""`
		ticket = `Negotiate oYG2MIGz==`
	)
	long := `Digest nonce="` + strings.Repeat("n", longest) + `"`
	for name, c := range map[string]struct {
		fields []string
		want   string // nonce; "": none can be answered
	}{
		"alone":                 {[]string{md5}, "1"},
		"behind Basic":          {[]string{basic + ", " + md5}, "1"},
		"before Basic":          {[]string{md5 + ", " + basic}, "1"},
		"between":               {[]string{basic + "," + md5 + "," + ticket}, "1"},
		"behind a bare scheme":  {[]string{"Negotiate, NTLM, " + md5}, "1"},
		"before a bare scheme":  {[]string{md5 + ", NTLM"}, "1"},
		"in a field of its own": {[]string{ticket, basic, md5}, "1"},
		"strongest first":       {[]string{sha + ", " + md5}, "2"},
		"strongest last":        {[]string{md5 + ", " + sha}, "2"},
		"strongest in a field":  {[]string{md5, basic, sha}, "2"},
		"first of equals":       {[]string{`Digest nonce=4, algorithm=MD5`, md5, plain}, "4"},
		"unknown algorithm": {[]string{`Digest nonce="x", algorithm=SHA3, qop="auth", ` + md5 + `, Digest nonce="y", ` +
			`algorithm=MD5-sess`}, "1"},
		"auth-int alone":        {[]string{`Digest nonce="x", algorithm=SHA-256, qop="auth-int"`, md5}, "1"},
		"without a nonce":       {[]string{`Digest realm="x", algorithm=SHA-256`, md5}, "1"},
		"torn":                  {[]string{`Digest nonce="x, algorithm=SHA-256`, md5}, "1"},
		"malformed, then right": {[]string{`Digest nonce=x y, algorithm=SHA-256, ` + md5}, "1"},
		"too long":              {[]string{long, md5}, "1"},
		"blanks and capitals":   {[]string{"\t ,, DIGEST\t NONCE =\t\"5\" ,QOP = auth,, Basic"}, "5"},
		"other schemes":         {[]string{basic, ticket, `DigestX nonce="1"`, `Bearer realm="r", nonce="1"`}, ""},
		"nothing":               {[]string{"", ",", "Digest", "=", `"`}, ""},
	} {
		var u challenge
		is := u.take(c.fields)
		if is != (c.want != "") || is && u.asks.Nonce != c.want {
			t.Errorf("%s: %v %+v, want the nonce %q", name, is, u.asks, c.want)
		}
	}
}

// Each byte of a challenge comes back as it was, also of what is no UTF-8 and of what has quotes.
func TestAnswerText(t *testing.T) {
	var u user
	u.request.Method, u.request.Path = "GET", `/a"b`
	if !u.challenge.take([]string{"Digest realm=\"B\xfccher \\\"\\\\\u00a0\", nonce=\"a/=\", opaque=\"o,\", qop=auth, userhash=TRUE"}) {
		t.Fatal("no challenge")
	}
	(&digester{"alice", "p"}).sign(&u, time.Time{})
	got := u.request.Header[0].Value
	for _, part := range []string{"realm=\"B\xfccher \\\"\\\\\u00a0\", ", `nonce="a/=", `, `uri="/a\"b", `, `opaque="o,", `,
		"qop=auth, ", "nc=00000001, ", "userhash=true, "} {
		if !strings.Contains(got, part) {
			t.Errorf("%q lacks %q", got, part)
		}
	}
	if strings.Contains(got, "alice") {
		t.Errorf("%q has the name that is to be hashed", got)
	}
}
