package dyno_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dyno"
)

// visit is what a user of the shop does: it logs in, and asks for the basket with the token of the
// answer.
func visit(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
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

// The Scenario visit logs in, and asks for the basket with the token of the answer. Four users do
// it, until there were 20 iterations.
func ExampleScenario() {
	server := shop()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: visit,
		Steps: []string{"login", "basket"}, Users: 4, Connections: 4, Requests: 20, Drain: time.Minute})
	fmt.Println(r.Completed, "requests in", r.Iterations.Completed, "iterations,", err)
	// Output: 40 requests in 20 iterations, <nil>
}

// A Scenario is a function, so a test needs no server: it makes the User and each Response itself.
func ExampleScenario_unitTest() {
	user := &dyno.User{Number: 7}
	next, err := visit(user, nil)
	fmt.Println(next.Path, err)

	next, err = visit(user, &dyno.Response{Step: "login", Status: 200,
		Fields: http.Header{"Token": {"token-of-7"}}})
	fmt.Println(next.Path, next.Header.Get("Token"), err)

	_, err = visit(user, &dyno.Response{Step: "basket", Status: 403})
	fmt.Println(err)
	// Output:
	// /login?user=7 <nil>
	// /basket token-of-7 <nil>
	// basket: status 403
}

// The token is in the JSON of an answer's body.
func ExampleScenario_json() {
	server := shop()
	defer server.Close()
	visit := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		if last == nil {
			return &dyno.Request{Step: "login", Path: "/login?user=ada"}, nil
		}
		if last.Step == "basket" {
			return nil, nil
		}
		var answer struct{ Token string }
		if err := json.Unmarshal(last.Body, &answer); err != nil {
			return nil, err
		}
		return &dyno.Request{Step: "basket", Path: "/basket",
			Header: http.Header{"Token": {answer.Token}}}, nil
	}
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: visit,
		Steps: []string{"login", "basket"}, Connections: 2, Requests: 10, Drain: time.Minute})
	fmt.Println(r.Completed, "requests,", r.Errors, "errors,", err)
	// Output: 20 requests, 0 errors, <nil>
}

// Each step has numbers of its own.
func ExampleStepResult() {
	server := shop()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: visit,
		Steps: []string{"login", "basket"}, Connections: 2, Requests: 20, Drain: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range r.Steps {
		fmt.Println(s.Name, s.Completed, s.Errors, s.P99 <= s.Max)
	}
	// Output:
	// login 20 0 true
	// basket 20 0 true
}

// An iteration fails if the Scenario returns an error, here in every second iteration of the one
// user. The answer is an error too, and the text says why.
func ExampleIterations() {
	server := shop()
	defer server.Close()
	picky := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		switch {
		case last == nil:
			return &dyno.Request{}, nil
		case u.Iteration%2 == 1:
			return nil, errors.New("this user never likes a second page")
		}
		return nil, nil
	}
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: picky,
		Users: 1, Connections: 1, Requests: 10, Drain: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	i := r.Iterations
	fmt.Println(i.Started, "iterations:", i.Completed, "completed,", i.Failed, "failed")
	for _, f := range r.Failures {
		fmt.Println(f.Count, f.Phase, f.Detail)
	}
	// Output:
	// 10 iterations: 5 completed, 5 failed
	// 5 check this user never likes a second page
}

// Each user asks for the items of its own number, at random.
func ExampleUser() {
	server := shop()
	defer server.Close()
	browse := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		if last != nil {
			return nil, nil
		}
		return &dyno.Request{Path: fmt.Sprintf("/items/%d/%d", u.Number, u.Rand.IntN(100))}, nil
	}
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: browse, Seed: 1,
		Connections: 2, Requests: 10, Drain: time.Minute})
	fmt.Println(r.Completed, err)
	// Output: 10 <nil>
}

// A PUT with a body, sent a millisecond after the iteration began.
func ExampleRequest() {
	server := shop()
	defer server.Close()
	order := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		if last != nil {
			return nil, nil
		}
		return &dyno.Request{Method: "PUT", Path: "/items/7", Body: []byte("pencil"),
			Header: http.Header{"Content-Type": {"text/plain"}}, Wait: time.Millisecond}, nil
	}
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: order,
		Connections: 1, Requests: 5, Drain: time.Minute})
	fmt.Println(r.Completed, err)
	// Output: 5 <nil>
}

// A Scenario that accepts only the answer that it wants.
func ExampleResponse() {
	server := shop()
	defer server.Close()
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
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: check,
		Connections: 1, Requests: 5, Drain: time.Minute})
	fmt.Println(r.Completed, "completed,", r.Errors, "errors:", r.Failures[0].Detail, err)
	// Output: 0 completed, 5 errors: the page does not say goodbye <nil>
}

// The header fields of an answer are found in upper and in lower case.
func ExampleResponse_Header() {
	answer := &dyno.Response{Status: 200, Fields: http.Header{"Token": {"token-of-ada"}}}
	fmt.Println(answer.Header("TOKEN"))
	// Output: token-of-ada
}
