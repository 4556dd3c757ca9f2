package cli

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dyno/internal/result"
)

// loginEnv is for how long the tokens live and how many iterations there are in TestLogInOnce, such
// as "3s 3000". Without it tokens are taken for a number of requests, so that nothing depends on how
// busy the machine is, and there are 100 iterations.
const loginEnv = "DYNO_LOGIN"

// A tokenServer gives tokens that live for a time, or are taken for a number of requests, and
// refresh tokens that can be used once.
type tokenServer struct {
	*httptest.Server
	life   time.Duration // 0: any
	serves int           // 0: any number

	sync.Mutex
	tokens                   map[string]*issued
	refreshes, keys          map[string]bool
	logins, refreshed        int64
	refused, listed, ordered int64
	keysTwice, wrong         int64
}

// An issued is what a token was taken for.
type issued struct {
	at     time.Time
	served int
}

// takes reports whether a token is taken, and counts it.
func (s *tokenServer) takes(token string) bool {
	x := s.tokens[token]
	if x == nil || s.life > 0 && time.Since(x.at) >= s.life || s.serves > 0 && x.served == s.serves {
		return false
	}
	x.served++
	return true
}

func newTokenServer(t *testing.T, life time.Duration, serves int) *tokenServer {
	s := &tokenServer{life: life, serves: serves, tokens: map[string]*issued{}, refreshes: map[string]bool{}, keys: map[string]bool{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *tokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	var in struct{ User, Password, Refresh string }
	if r.Method == "POST" && json.NewDecoder(r.Body).Decode(&in) != nil {
		s.wrong++
	}
	give := func(n *int64) {
		token, refresh := rand.Text(), rand.Text()
		s.tokens[token], s.refreshes[refresh] = &issued{at: time.Now()}, true
		*n++
		writeJSON(w, 200, map[string]string{"token": token, "refresh": refresh})
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case r.URL.Path == "/login" && in.Password != "":
		give(&s.logins)
	case r.URL.Path == "/refresh" && s.refreshes[in.Refresh]:
		delete(s.refreshes, in.Refresh)
		give(&s.refreshed)
	case r.URL.Path == "/login" || r.URL.Path == "/refresh":
		s.wrong++
		writeJSON(w, 400, nil)
	case !s.takes(token):
		if r.URL.Path == "/orders" {
			s.noteKey(r)
		}
		s.refused++
		writeJSON(w, 401, nil)
	case r.URL.Path == "/items":
		s.listed++
		writeJSON(w, 200, map[string]any{"items": []int{7}})
	default:
		s.noteKey(r)
		s.ordered++
		writeJSON(w, 201, nil)
	}
}

// noteKey notes the key of an order, of which there is one for each that was sent.
func (s *tokenServer) noteKey(r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	if s.keys[key] || key == "" {
		s.keysTwice++
	}
	s.keys[key] = true
}

// withRefresh is the file of the page, with the refresh tokens of its further example.
func withRefresh(t *testing.T, page string) string {
	t.Helper()
	_, rest, found := strings.Cut(fenced(t, page, "hurl"), "GET {{base}}/items")
	refresh, _, ends := strings.Cut(fenced(t, page, "text"), "GET {{base}}/items")
	if !found || !ends {
		t.Fatal("the page has no request for /items")
	}
	return refresh + "GET {{base}}/items" + rest
}

// Twenty users log in once, and refresh their tokens whenever one has expired: on three threads by
// HTTP/1.1 and HTTP/2, and from three agents. All is counted by the server, too, and by hurl the file
// is run once.
func TestLogInOnce(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/log-in-once.md")
	if err != nil {
		t.Fatal(err)
	}
	lives, serves, iterations := time.Duration(0), 3, 100
	refreshed := time.Microsecond // in each iteration
	if set := os.Getenv(loginEnv); set != "" {
		life := ""
		_, err := fmt.Sscan(set, &life, &iterations)
		if err == nil {
			lives, err = time.ParseDuration(life)
		}
		if err != nil {
			t.Fatal(err)
		}
		serves = 0
		// What 50 minutes are to a token that lives for an hour: with less than that left it is refreshed.
		refreshed = lives * 5 / 6
	}
	dir := t.TempDir()
	every := strings.Replace(withRefresh(t, string(page)), "every 50m", "every "+refreshed.String(), 1)
	for name, text := range map[string]string{"users.csv": fenced(t, string(page), "csv"), "login.hurl": fenced(t, string(page), "hurl"), "visit.lua": fenced(t, string(page), "lua"),
		"every.hurl": every, "refresh.hurl": strings.Replace(every, "every "+refreshed.String(), "once", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(t *testing.T, name, flags string) {
		t.Helper()
		s := newTokenServer(t, lives, serves)
		done(t, dir, fmt.Sprint("dyno run -R 100 -n ", iterations, " --users 20 -c 20 --drain 1m --data users.csv --data-order per-user --json ",
			"run.json ", name, " --variable base=", s.URL, " ", flags))
		s.compare(t, filepath.Join(dir, "run.json"), int64(iterations), name)
	}
	if hurl := os.Getenv(hurlEnv); hurl != "" {
		for _, name := range []string{"login.hurl", "every.hurl", "refresh.hurl"} {
			s := newTokenServer(t, time.Hour, 0)
			c := exec.Command(hurl, "--test", name, "--variable", "base="+s.URL, "--variable", "user=ann", "--variable", "password=x")
			c.Dir = dir
			if out, err := c.CombinedOutput(); err != nil || s.logins != 1 || s.ordered != 1 || s.refused+s.wrong != 0 {
				t.Errorf("hurl %s: %v\n%s", name, err, out)
			}
		}
	}
	run(t, "login.hurl", "--threads 3")
	run(t, "every.hurl", "--threads 3")
	run(t, "refresh.hurl", "--threads 3 --http 2")
	s := newTokenServer(t, lives, 20*serves)
	for _, i := range instructionsOf(string(page)) {
		tryInstruction(t, dir, strings.ReplaceAll(i.command, "http://127.0.0.1:8080", s.URL), i.shown)
	}
	if s.logins == 0 || s.ordered == 0 || s.listed <= s.ordered || s.wrong > 0 {
		t.Errorf("by the page's commands %d logged in, %d listed and %d ordered; %d requests were wrong", s.logins, s.listed,
			s.ordered, s.wrong)
	}
	defer threeAgents(t, dir)()
	run(t, "refresh.hurl", "--fleet all --loose-start")
}

// compare compares a result with what the server counted.
func (s *tokenServer) compare(t *testing.T, file string, iterations int64, name string) {
	t.Helper()
	b, err := os.ReadFile(file)
	var r result.Result
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil || r.Iterations == nil {
		t.Fatal(err, r.Iterations)
	}
	routes := map[string]int64{}
	for _, route := range r.Routes {
		routes[route.Name] = route.Completed
	}
	i, again := r.Iterations, r.Iterations.Again
	// A token outlives no second iteration of its user, but where each iteration has a new one.
	each := name == "every.hurl" && s.serves > 0
	if i.Completed != iterations || i.Started != iterations || r.Requests.Errors != 0 || each != (again == 0) && s.serves > 0 {
		t.Errorf("iterations %+v, requests %+v", i, r.Requests)
	}
	if s.refused != again || r.Status["401"] != again || s.listed != iterations || s.ordered != iterations {
		t.Errorf("the server answered 401 %d times, listed %d and had %d orders; the result has %d again and status %v",
			s.refused, s.listed, s.ordered, again, r.Status)
	}
	if routes["POST /login"] != s.logins || routes["POST /refresh"] != s.refreshed || s.keysTwice+s.wrong != 0 {
		t.Errorf("%d logins and %d refreshes, of %+v; %d keys came twice, %d requests were wrong", s.logins, s.refreshed, routes,
			s.keysTwice, s.wrong)
	}
	const users = 20
	logins, refreshed := int64(users), users+again
	switch {
	case name == "login.hurl":
		logins, refreshed = users+again, 0
	case each:
		refreshed = iterations
	case name == "every.hurl": // how many are for their time depends on the machine
		refreshed = max(s.refreshed, refreshed)
	}
	if n := int64(len(s.tokens)); n != logins+refreshed || s.logins != logins || s.refreshed != refreshed {
		t.Errorf("%s: %d tokens were issued to %d users: %d logins, %d refreshes, %d again", name, n, users, s.logins, s.refreshed, again)
	}
	t.Logf("%s: %d refreshes, %d times 401, %d orders", name, s.refreshed, again, s.ordered)
}
