package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Every command of docs/hurl.md does what it says, with the file that the page shows.
func TestHurlPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/hurl.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"login.hurl": fenced(t, string(page), "hurl"),
		"users.csv":   fenced(t, string(page), "csv"),
		"browse.hurl": "# dyno: weight 3\nGET {{base}}/items\nAuthorization: Bearer t-{{user}}\nHTTP 200\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shop := newShop(t)
	commands := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "    dyno ") {
			continue
		}
		commands++
		line = strings.ReplaceAll(strings.TrimSpace(line), "http://127.0.0.1:8080", shop.URL)
		out, err := shell(t, dir, line).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if commands != 5 || shop.bought.Load() == 0 || shop.wrong.Load() > 0 {
		t.Errorf("%d commands, %d bought, %d requests were wrong", commands, shop.bought.Load(), shop.wrong.Load())
	}
}

// fenced is the first block of a page in a language.
func fenced(t *testing.T, page, language string) string {
	t.Helper()
	_, block, found := strings.Cut(page, "```"+language+"\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatalf("the page has no block of %s", language)
	}
	return block
}

// A shop is a server for which one has to log in.
type shop struct {
	*httptest.Server
	bought, wrong atomic.Int64
}

func newShop(t *testing.T) *shop {
	s := &shop{}
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	m := http.NewServeMux()
	m.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		var who struct{ User, Password string }
		err := json.NewDecoder(r.Body).Decode(&who)
		if err != nil || who.Password == "" || r.Header.Get("Content-Type") != "application/json" {
			s.wrong.Add(1)
		}
		answer(w, 200, map[string]any{"token": "t-" + who.User})
	})
	m.HandleFunc("GET /items", func(w http.ResponseWriter, r *http.Request) {
		if a := r.Header.Get("Authorization"); a != "Bearer t-ann" && a != "Bearer t-bob" {
			s.wrong.Add(1)
		}
		answer(w, 200, map[string]any{"items": []any{map[string]any{"id": 7}}})
	})
	m.HandleFunc("POST /buy", func(w http.ResponseWriter, r *http.Request) {
		var order struct{ Item int }
		if json.NewDecoder(r.Body).Decode(&order) != nil || order.Item != 7 {
			s.wrong.Add(1)
		}
		s.bought.Add(1)
		answer(w, 201, map[string]any{"ok": true})
	})
	s.Server = httptest.NewServer(m)
	t.Cleanup(s.Close)
	return s
}
