package cli

import (
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
)

// serveShop is a program: a server for which one has to log in, and which prints its URL. Its headers
// and tokens are those that a server of Go's net/http has, or with -node one of Node.js.
func serveShop() {
	flags := flag.NewFlagSet("shop", flag.ExitOnError)
	port, node := flags.Int("port", 0, ""), flags.Bool("node", false, "")
	_ = flags.Parse(os.Args[1:])
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + l.Addr().String())
	panic(http.Serve(l, shopHandler(*node)))
}

// shopHandler knows a user by a token that begins with their name and is different at each login.
func shopHandler(node bool) http.Handler {
	m := http.NewServeMux()
	hello, plain := "GET /", "text/plain; charset=utf-8"
	if node {
		hello, plain = "GET /{$}", "text/plain"
		m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, http.StatusUnauthorized, "log in first")
		})
	}
	m.HandleFunc(hello, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", plain)
		fmt.Fprintln(w, "hello")
	})
	m.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		var who struct{ User, Password string }
		err := json.NewDecoder(r.Body).Decode(&who)
		if err != nil || who.Password == "" || r.Header.Get("Content-Type") != "application/json" {
			writeJSON(w, http.StatusBadRequest, "no login")
			return
		}
		token := who.User + "-" + rand.Text()
		if node {
			token += rand.Text()
		}
		writeJSON(w, http.StatusOK, map[string]string{"token": token})
	})
	m.HandleFunc("GET /items", func(w http.ResponseWriter, r *http.Request) {
		if isUser(w, r) {
			writeJSON(w, http.StatusOK, []map[string]int{{"id": 7}, {"id": 8}})
		}
	})
	m.HandleFunc("POST /buy", func(w http.ResponseWriter, r *http.Request) {
		var order struct{ Item int }
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil || order.Item != 7 {
			writeJSON(w, http.StatusBadRequest, "no such item")
		} else if isUser(w, r) {
			writeJSON(w, http.StatusCreated, map[string]bool{"ok": true})
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if node {
			w.Header().Set("Connection", "keep-alive")
			w.Header().Set("Keep-Alive", "timeout=5")
		}
		m.ServeHTTP(w, r)
	})
}

// isUser reports whether a request has the token of a login, and answers it if not.
func isUser(w http.ResponseWriter, r *http.Request) bool {
	token, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	user, _, ok := strings.Cut(token, "-")
	if !is || !ok || user != "ann" && user != "bob" {
		writeJSON(w, http.StatusUnauthorized, "log in first")
		return false
	}
	return true
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
