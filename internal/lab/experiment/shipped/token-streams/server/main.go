// Command server streams tokens in steps, as servers of language models do: each step makes one
// token of every stream that has a slot, and takes longer the more there are. What has no slot
// waits for one. It is the server of the experiment token-streams: more slots shorten the wait for
// the first token, and lengthen the time between two tokens.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"
)

// An engine makes tokens.
type engine struct {
	waiting chan chan struct{} // streams without a slot, in their order
	slots   int
	base    time.Duration // of a step
	each    time.Duration // besides, for each stream in it
	tokens  int           // of a stream
}

// A slot has a stream and how many of its tokens are still to be made.
type slot struct {
	token chan struct{}
	left  int
}

// run makes steps, each due when the step before was over, for ever.
func (e *engine) run() {
	var busy []slot
	for due := time.Now(); ; {
		for len(busy) < e.slots {
			if len(busy) == 0 { // nothing to do until one comes
				busy, due = append(busy, slot{<-e.waiting, e.tokens}), time.Now()
				continue
			}
			select {
			case next := <-e.waiting:
				busy = append(busy, slot{next, e.tokens})
				continue
			default:
			}
			break
		}
		due = due.Add(e.base + time.Duration(len(busy))*e.each)
		time.Sleep(time.Until(due))
		kept := busy[:0]
		for _, s := range busy {
			s.token <- struct{}{}
			if s.left--; s.left > 0 {
				kept = append(kept, s)
			}
		}
		busy = kept
	}
}

// ServeHTTP streams the tokens of one request, in the format of OpenAI's API.
func (e *engine) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	token := make(chan struct{}, e.tokens) // a slow reader holds up no step
	e.waiting <- token
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for range e.tokens {
		<-token
		_, err := io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"word \"}}]}\n\n")
		if err != nil || flush.Flush() != nil {
			return // the user has left
		}
	}
	const end = "data: {\"choices\":[],\"usage\":{\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n"
	if _, err := fmt.Fprintf(w, end, e.tokens); err != nil {
		log.Print(err)
	}
}

func main() {
	e := engine{waiting: make(chan chan struct{}, 100_000)}
	listen := flag.String("listen", "127.0.0.1:8080", "address")
	flag.IntVar(&e.slots, "slots", 8, "streams in a step at most")
	flag.IntVar(&e.tokens, "tokens", 40, "of each stream")
	flag.DurationVar(&e.base, "base", 5*time.Millisecond, "time of a step")
	flag.DurationVar(&e.each, "each", 500*time.Microsecond, "of a step for each stream in it")
	flag.Parse()
	go e.run()
	log.Fatal(http.ListenAndServe(*listen, &e))
}
