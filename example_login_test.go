package dyno_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"

	"dyno"
)

// worn is a server whose tokens are taken for three requests each. /token gives one for the key that
// /login gave, and a key is taken for two tokens.
func worn() http.Handler {
	var lock sync.Mutex
	left := map[string]int{} // of keys and tokens
	made := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		made++
		given, name := r.Header.Get("Token"), fmt.Sprint(made)
		if r.URL.Path != "/login" {
			if left[given] == 0 {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			left[given]--
		}
		switch r.URL.Path {
		case "/login":
			left[name] = 2
			w.Header().Set("Token", name)
		case "/token":
			left[name] = 3
			w.Header().Set("Token", name)
		}
	})
}

// A user logs in, and gets a token, which expires: after three requests it gets a new one, and
// after two tokens it logs in anew. The Scenario does not know it.
func ExampleLogin() {
	type account struct{ key, token string }
	of := func(u *dyno.User) *account {
		if u.State == nil {
			u.State = &account{}
		}
		return u.State.(*account)
	}
	login := dyno.Login{
		Request: func(u *dyno.User) *dyno.Request { return &dyno.Request{Step: "login", Path: "/login"} },
		Keep: func(u *dyno.User, r *dyno.Response) error {
			of(u).key = r.Header("Token")
			return nil
		},
		Again: []int{401},
	}
	token := dyno.Login{
		Request: func(u *dyno.User) *dyno.Request {
			return &dyno.Request{Step: "token", Path: "/token", Header: http.Header{"Token": {of(u).key}}}
		},
		Keep: func(u *dyno.User, r *dyno.Response) error {
			of(u).token = r.Header("Token")
			return nil
		},
		Sign:  func(u *dyno.User, r *dyno.Request) { r.Header.Set("Token", of(u).token) },
		Again: []int{401},
	}
	visit := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		if last == nil {
			return &dyno.Request{Step: "basket", Path: "/basket"}, nil
		}
		return nil, nil
	}
	server := httptest.NewServer(worn())
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: visit, Logins: []dyno.Login{login, token},
		Steps: []string{"login", "token", "basket"}, Users: 1, Connections: 1, Requests: 12})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range r.Steps {
		fmt.Println(s.Name, s.Completed, "completed,", s.Errors, "errors")
	}
	fmt.Println(r.Iterations.Completed, "iterations,", r.Iterations.Again, "times again")
	// Output:
	// login 2 completed, 0 errors
	// token 5 completed, 0 errors
	// basket 15 completed, 0 errors
	// 12 iterations, 4 times again
}
