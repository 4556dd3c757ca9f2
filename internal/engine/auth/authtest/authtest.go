// Package authtest has servers that verify who sends requests, for tests: by RFC 7616, and as AWS
// documents its signatures.
package authtest

import (
	"cmp"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Guard is a server that lets in who says rightly who it is, and counts. Its zero value asks
// with MD5.
type Guard struct {
	Right, Asked, Wrong int
	Why                 []string // was it wrong?

	Algorithm string // of Digest; "": MD5
	Most      int    // requests of a nonce, then it is stale; 0: any number
	Together  bool   // all challenges are in one field, the weakest first
	Closes    bool   // a challenge ends its connection

	Then http.Handler // what those get who are let in; nil: 200

	mu     sync.Mutex
	nonces map[string]int // the last count of each
}

// User and Password are who is let in.
const User, Password = "alice", `p:w"1`

// Second and SecondPassword are let in, too.
const Second, SecondPassword = "bob", "pw2"

// passwords are those of who is let in.
var passwords = map[string]string{User: Password, Second: SecondPassword}

func sum(h hash.Hash, s string) string {
	io.WriteString(h, s)
	return hex.EncodeToString(h.Sum(nil))
}

// Digest checks an answer to a challenge as RFC 7616 has it, each nonce with counts that rise by
// one.
func (g *Guard) Digest(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.nonces == nil {
		g.nonces, g.Algorithm = map[string]int{}, cmp.Or(g.Algorithm, "MD5")
	}
	said, is := strings.CutPrefix(r.Header.Get("Authorization"), "Digest ")
	stale := false
	if is {
		f := fieldsOf(said)
		n, _ := strconv.ParseInt(f["nc"], 16, 32)
		last, known := g.nonces[f["nonce"]]
		switch problem := g.digestProblem(f, r); {
		case problem != "":
			g.Wrong++
			g.Why = append(g.Why, said+": "+problem)
		case !known || int(n) != last+1:
			g.Wrong++
			g.Why = append(g.Why, fmt.Sprintf("%s: count %d after %d (known %v)", said, n, last, known))
		case g.Most > 0 && last == g.Most:
			stale = true
		default:
			g.nonces[f["nonce"]]++
			g.letIn(w, r)
			return
		}
	}
	g.ask(w, stale)
}

// letIn answers a request that says rightly who sends it.
func (g *Guard) letIn(w http.ResponseWriter, r *http.Request) {
	if g.Right++; g.Then != nil {
		g.Then.ServeHTTP(w, r)
	}
}

// ask asks who sends the request.
func (g *Guard) ask(w http.ResponseWriter, stale bool) {
	g.Asked++
	nonce := fmt.Sprintf("n%d/=", g.Asked)
	g.nonces[nonce] = 0
	asks := fmt.Sprintf(`Digest realm="r \"1\"", nonce="%s", opaque="o,1", qop="auth-int, auth", `+
		`stale=%v, algorithm=`, nonce, stale)
	if g.Together {
		w.Header().Set("WWW-Authenticate", `Basic realm="x", `+asks+"MD5, "+asks+g.Algorithm+", NTLM")
	} else {
		w.Header()["Www-Authenticate"] = []string{`Basic realm="x"`, asks + g.Algorithm}
	}
	if g.Closes {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(http.StatusUnauthorized)
}

// fieldsOf are the parameters of an answer to a challenge.
func fieldsOf(said string) map[string]string {
	f := map[string]string{}
	for _, part := range splitOutside(said) {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.HasPrefix(v, `"`) {
			v = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(v[1 : len(v)-1])
		}
		f[k] = v
	}
	return f
}

// digestProblem is what is wrong with an answer, its count apart.
func (g *Guard) digestProblem(f map[string]string, r *http.Request) string {
	h := func(s string) string {
		if g.Algorithm == "SHA-256" {
			return sum(sha256.New(), s)
		}
		return sum(md5.New(), s)
	}
	user := f["username"]
	password, known := passwords[user]
	if !known {
		return "nobody knows " + user
	}
	want := map[string]string{"realm": `r "1"`, "uri": r.URL.RequestURI(),
		"qop": "auth", "opaque": "o,1"}
	want["response"] = h(h(user+":"+want["realm"]+":"+password) + ":" + f["nonce"] + ":" + f["nc"] +
		":" + f["cnonce"] + ":auth:" + h(r.Method+":"+want["uri"]))
	for name, value := range want {
		if f[name] != value {
			return fmt.Sprintf("want %s %q", name, value)
		}
	}
	return ""
}

// splitOutside splits at commas that are in no quotes.
func splitOutside(s string) (all []string) {
	from, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			all, from = append(all, s[from:i]), i+1
		}
	}
	return append(all, s[from:])
}

// SigV4 checks a signature as AWS has it, of the fields that it names.
func (g *Guard) SigV4(region, service string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		problem := verify(r, body, region, service)
		g.mu.Lock()
		defer g.mu.Unlock()
		if problem != "" {
			g.Wrong++
			g.Why = append(g.Why, problem)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		g.letIn(w, r)
	}
}

// verify is what is wrong with a signature; "" if nothing is.
func verify(r *http.Request, body []byte, region, service string) string {
	said, is := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	f := map[string]string{}
	for part := range strings.SplitSeq(said, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		f[k] = v
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	day := at.Format("20060102")
	scope := day + "/" + region + "/" + service + "/aws4_request"
	user, credentialScope, _ := strings.Cut(f["Credential"], "/")
	password, known := passwords[user]
	if !is || err != nil || !known || credentialScope != scope ||
		time.Since(at).Abs() > 5*time.Minute {
		return fmt.Sprintf("%q at %v, scope %s", said, at, scope)
	}
	names := strings.Split(f["SignedHeaders"], ";")
	if !slices.Contains(names, "host") || !slices.Contains(names, "x-amz-date") ||
		!slices.IsSorted(names) {
		return "signed are " + f["SignedHeaders"]
	}
	hashed := sum(sha256.New(), string(body))
	old := strings.HasPrefix(r.UserAgent(), "curl/") // some versions do not send it
	if got := r.Header.Get("X-Amz-Content-Sha256"); service == "s3" && got != hashed &&
		(got != "" || !old) {
		return "the body's hash is " + got
	}
	canonical := canonicalLines(r, names, service == "s3") + "\n" + f["SignedHeaders"] + "\n" + hashed
	key := []byte("AWS4" + password)
	for _, s := range []string{day, region, service, "aws4_request"} {
		key = mac(key, s)
	}
	want := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+r.Header.Get("X-Amz-Date")+"\n"+scope+
		"\n"+sum(sha256.New(), canonical)))
	if f["Signature"] != want {
		return "signature of\n" + canonical
	}
	return ""
}

// canonicalLines are those of the method, the path, the query and the fields that are signed. Keys
// of S3 are escaped once, other paths as they came once more.
func canonicalLines(r *http.Request, names []string, s3 bool) string {
	path, rawQuery, _ := strings.Cut(r.RequestURI, "?")
	if s3 {
		path = r.URL.Path
	}
	var query []string
	for pair := range strings.SplitSeq(rawQuery, "&") {
		if name, value, _ := strings.Cut(pair, "="); pair != "" {
			query = append(query, escape(unescape(name), "")+"="+escape(unescape(value), ""))
		}
	}
	slices.Sort(query)
	lines := r.Method + "\n" + escape(path, "/") + "\n" + strings.Join(query, "&") + "\n"
	for _, n := range names {
		v := strings.Join(r.Header.Values(n), ",")
		switch n {
		case "host":
			v = r.Host
		case "content-length":
			v = strconv.FormatInt(r.ContentLength, 10)
		}
		lines += n + ":" + strings.Join(strings.Fields(v), " ") + "\n"
	}
	return lines
}

// escape escapes all bytes but those that RFC 3986 calls unreserved, and others.
func escape(s, but string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' ||
			strings.IndexByte("-._~"+but, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unescape is what a part of a query stands for.
func unescape(s string) string {
	plain, _ := url.QueryUnescape(s)
	return plain
}

func mac(key []byte, s string) []byte {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, s)
	return h.Sum(nil)
}
