package serve

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A journal is the last events of one thing, and whoever follows it. A follower reads
// at its own pace from what is kept, so a slow one holds nobody up and costs no memory;
// one that comes back says what it had last and gets what came since.
//
// The first event of a journal is its head: it says what the others are of. A follower
// that has missed events which are no longer kept gets the head again, which tells it to
// begin anew.
type journal struct {
	most int // events kept, besides the head

	mu     sync.Mutex
	name   string // of this journal since its head: part of each event's id
	head   []byte // "": nothing has happened
	events [][]byte
	last   int           // number of the last event; the head's is 0
	more   chan struct{} // closed when there is more
}

func newJournal(most int) *journal { return &journal{most: most, more: make(chan struct{})} }

// restart forgets all, for a head.
func (j *journal) restart(kind string, data any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.name, j.events, j.last = rand.Text()[:8], nil, 0
	j.head = j.encodeEvent(kind, data)
	j.wakeFollowers()
}

// appendEvent adds an event, and forgets the oldest if there are too many.
func (j *journal) appendEvent(kind string, data any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	j.events = append(j.events, j.encodeEvent(kind, data))
	if len(j.events) > j.most {
		j.events = append([][]byte(nil), j.events[len(j.events)-j.most:]...)
	}
	j.wakeFollowers()
}

func (j *journal) wakeFollowers() {
	close(j.more)
	j.more = make(chan struct{})
}

// encodeEvent writes an event as it is sent. Data has no line break: it is JSON.
func (j *journal) encodeEvent(kind string, data any) []byte {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // a type of ours that has no JSON
	}
	return fmt.Appendf(nil, "id: %s.%d\nevent: %s\ndata: %s\n\n", j.name, j.last, kind, b)
}

// eventsAfter is what follows the event of that id, the id of the last of it, and what is
// closed when there is more.
func (j *journal) eventsAfter(id string) (news []byte, now string, more <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.head == nil {
		return nil, "", j.more
	}
	had := -1 // not even the head
	if name, number, ok := strings.Cut(id, "."); ok && name == j.name {
		if n, err := strconv.Atoi(number); err == nil && 0 <= n && n <= j.last {
			had = n
		}
	}
	oldest := j.last - len(j.events) + 1
	var b bytes.Buffer
	if had < oldest-1 {
		b.Write(j.head)
		had = oldest - 1
	}
	for _, e := range j.events[had-oldest+1:] {
		b.Write(e)
	}
	return b.Bytes(), fmt.Sprintf("%s.%d", j.name, j.last), j.more
}

// Of following.
const (
	heartbeat     = 10 * time.Second // between signs of life when nothing happens
	sendTime      = 10 * time.Second // for a browser to take what there is
	retryAfter    = time.Second      // before a browser that was cut off tries again
	mostFollowers = 64               // at once, of all journals
)

// sendEvents sends a journal's events, from where the browser says it was, until it leaves.
func (s *Server) sendEvents(j *journal, w http.ResponseWriter, r *http.Request) {
	defer s.followers.Add(-1)
	if s.followers.Add(1) > mostFollowers {
		answerError(w, http.StatusServiceUnavailable, fmt.Sprintf("%d pages follow already",
			mostFollowers))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Time{}) // it has been read; a deadline would end the connection
	send := func(b []byte) bool {
		control.SetWriteDeadline(time.Now().Add(sendTime))
		_, err := w.Write(b)
		return err == nil && control.Flush() == nil
	}
	id := r.Header.Get("Last-Event-ID")
	if id == "" { // a page that begins again by itself cannot set headers
		id = r.URL.Query().Get("after")
	}
	if !send(fmt.Appendf(nil, "retry: %d\n\n", retryAfter.Milliseconds())) {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		news, now, more := j.eventsAfter(id)
		if len(news) > 0 && !send(news) {
			return
		}
		id = now
		select {
		case <-more:
		case <-beat.C:
			if !send([]byte(": \n\n")) {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
