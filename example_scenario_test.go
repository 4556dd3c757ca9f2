package dyno_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"dyno"
)

// shop answers /login with a token, in a header field and in JSON. /basket wants the token in a
// header field, and else answers with status 403.
var shop = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	token := "token-of-" + r.URL.Query().Get("user")
	switch {
	case r.URL.Path == "/login":
		w.Header().Set("Token", token)
		fmt.Fprintf(w, `{"token": %q}`, token)
	case r.URL.Path == "/basket" && !strings.HasPrefix(r.Header.Get("Token"), "token-of-"):
		w.WriteHeader(http.StatusForbidden)
	}
})

// Each user logs in, and gets its basket with the token that the login returned in a header field.
// Four users do this until there were 20 iterations.
func ExampleScenario() {
	visit := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		switch {
		case last == nil: // an iteration begins
			return &dyno.Request{Step: "login", Path: fmt.Sprintf("/login?user=%d", u.Number)}, nil
		case last.Status != http.StatusOK:
			return nil, fmt.Errorf("%s: status %d", last.Step, last.Status)
		case last.Step == "login":
			return &dyno.Request{Step: "basket", Path: "/basket",
				Header: http.Header{"Token": {last.Header("Token")}}}, nil
		}
		return nil, nil // the iteration is over
	}
	server := httptest.NewServer(shop)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: visit,
		Steps: []string{"login", "basket"}, Users: 4, Connections: 4, Requests: 20})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed, "requests in", r.Iterations.Completed, "iterations")
	// Output: 40 requests in 20 iterations
}

// A Scenario is a function, so a test of it needs no server: the test makes the User and each
// Response.
func ExampleScenario_unitTest() {
	visit := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		switch {
		case last == nil:
			return &dyno.Request{Path: fmt.Sprintf("/login?user=%d", u.Number)}, nil
		case last.Header("Token") == "":
			return nil, errors.New("the login returned no token")
		}
		return nil, nil
	}
	user := &dyno.User{Number: 7}
	next, err := visit(user, nil)
	fmt.Println(next.Path, err)

	_, err = visit(user, &dyno.Response{Status: 200, Fields: http.Header{"Token": {"token-of-7"}}})
	fmt.Println(err)

	_, err = visit(user, &dyno.Response{Status: 403})
	fmt.Println(err)
	// Output:
	// /login?user=7 <nil>
	// <nil>
	// the login returned no token
}

// The token is in the JSON of a response's body.
func ExampleScenario_json() {
	visit := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		switch {
		case last == nil:
			return &dyno.Request{Step: "login", Path: "/login?user=ada"}, nil
		case last.Step == "basket":
			return nil, nil
		}
		var body struct{ Token string }
		if err := json.Unmarshal(last.Body, &body); err != nil {
			return nil, err
		}
		return &dyno.Request{Step: "basket", Path: "/basket",
			Header: http.Header{"Token": {body.Token}}}, nil
	}
	server := httptest.NewServer(shop)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: visit,
		Steps: []string{"login", "basket"}, Connections: 2, Requests: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed, "requests,", r.Errors, "errors")
	// Output: 20 requests, 0 errors
}

// Each step has numbers of its own. Without the token of the login, the basket has status 403.
func ExampleStepResult() {
	visit := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		switch {
		case last == nil:
			return &dyno.Request{Step: "login", Path: "/login"}, nil
		case last.Step == "login":
			return &dyno.Request{Step: "basket", Path: "/basket"}, nil
		}
		return nil, nil
	}
	server := httptest.NewServer(shop)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: visit,
		Steps: []string{"login", "basket"}, Connections: 2, Requests: 20})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range r.Steps {
		fmt.Println(s.Name, s.Completed, "completed,", s.Errors, "errors")
	}
	// Output:
	// login 20 completed, 0 errors
	// basket 0 completed, 20 errors
}

// An iteration fails if the Scenario returns an error, here in every second iteration of the only
// user. Its request is an error too, and Failures has the text.
func ExampleIterations() {
	visit := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		switch {
		case last == nil:
			return &dyno.Request{}, nil
		case u.Iteration%2 == 1:
			return nil, errors.New("the page has no price")
		}
		return nil, nil
	}
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: visit,
		Users: 1, Connections: 1, Requests: 10})
	if err != nil {
		log.Fatal(err)
	}
	i := r.Iterations
	fmt.Println(i.Started, "iterations:", i.Completed, "completed,", i.Failed, "failed")
	for _, f := range r.Failures {
		fmt.Println(f.Count, f.Phase, f.Detail)
	}
	// Output:
	// 10 iterations: 5 completed, 5 failed
	// 5 check the page has no price
}

// Each user gets items of its own, at random.
func ExampleUser() {
	browse := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		if last != nil {
			return nil, nil
		}
		return &dyno.Request{Path: fmt.Sprintf("/items/%d/%d", u.Number, u.Rand.IntN(100))}, nil
	}
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: browse, Seed: 1,
		Connections: 2, Requests: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed)
	// Output: 10
}

// A PUT with a body, which is due a millisecond after its iteration.
func ExampleRequest() {
	order := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		if last != nil {
			return nil, nil
		}
		return &dyno.Request{Method: "PUT", Path: "/items/7", Body: []byte("pencil"),
			Header: http.Header{"Content-Type": {"text/plain"}}, Wait: time.Millisecond}, nil
	}
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: order,
		Connections: 1, Requests: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed)
	// Output: 5
}

// A Scenario that looks at the body of each Response. The server says hello, and not goodbye.
func ExampleResponse() {
	check := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		switch {
		case last == nil:
			return &dyno.Request{}, nil
		case last.Status != http.StatusOK:
			return nil, fmt.Errorf("status %d", last.Status)
		case !strings.Contains(string(last.Body), "goodbye"):
			return nil, errors.New("the page does not say goodbye")
		}
		return nil, nil
	}
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: check,
		Connections: 1, Requests: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed, "completed,", r.Errors, "errors")
	for _, f := range r.Failures {
		fmt.Println(f.Detail)
	}
	// Output:
	// 0 completed, 5 errors
	// the page does not say goodbye
}

// Upper and lower case of a name are the same.
func ExampleResponse_Header() {
	last := &dyno.Response{Status: 200, Fields: http.Header{"Token": {"token-of-ada"}}}
	fmt.Println(last.Header("TOKEN"))
	// Output: token-of-ada
}
