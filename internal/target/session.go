package target

// A worker is what one thread of requests has for itself.
type worker struct {
	site   *site
	count  *counters
	answer answer
	last   known
}

// A session is one connection without its socket: it turns what the client sent
// into what to send. It answers one request at a time, in order.
type session struct {
	worker   *worker
	reader   reader
	answered int  // requests
	body     int  // bytes of the shared body that follow what was appended
	closing  bool // the connection ends with what was appended
	gently   bool // the client may still be sending: do not reset it
	observer bool // it asked for the counts first, so it is not counted

	arrival, start, end int64 // of the request being served
}

func (s *session) beginConn(w *worker) {
	s.worker = w
	s.reader.keepPath, s.reader.last = w.site.log != nil, &w.last
	w.count.connections.Add(1)
}

// A need is what a session waits for.
type need uint8

const (
	input   need = iota // what the client sends next
	room                // that what was appended, and body, is sent
	serving             // that end has come, and reply is called
)

// batchMax is how many bytes of answers are gathered for one send.
const batchMax = 64 << 10

// answerRequests answers requests from in, appending to out. It stops when it needs
// something, and says how much of in it used.
func (s *session) answerRequests(now int64, in, out []byte) (n int, _ []byte, _ need) {
	for len(out) < batchMax && s.body == 0 && !s.closing {
		k, ev := s.reader.nextEvent(in[n:])
		n += k
		switch {
		case ev == more:
			return n, out, input
		case ev == proceed:
			out = s.appendContinue(out)
		case ev >= 400:
			out = s.appendRefused(out, int(ev))
		case s.reader.req.observe:
			out = s.appendCounted(out)
		default:
			s.scheduleRequest(now)
			if s.end > now {
				return n, out, serving
			}
			out = s.appendReply(out)
		}
	}
	return n, out, room
}

// scheduleRequest decides when the request just read is served.
func (s *session) scheduleRequest(now int64) {
	site := s.worker.site
	site.arriveAt(now)
	s.arrival, s.start, s.end = now, now, now
	if site.queue != nil {
		s.start, s.end = site.enqueue(now)
	}
}

// appendReply appends the answer to the request that was served.
func (s *session) appendReply(out []byte) []byte {
	w := s.worker
	s.answered++
	s.closing = s.reader.req.close
	if limit := w.site.CloseAfter; limit > 0 && s.answered >= limit && !s.closing {
		s.closing, s.gently = true, true
	}
	before := len(out)
	out, s.body = w.answer.appendTo(out, s.closing, s.reader.req.bare)
	w.count.requests.Add(1)
	w.count.received.Add(s.reader.size)
	w.count.sent.Add(int64(len(out) - before + s.body))
	if w.site.log != nil {
		w.site.log.addRequest(s.arrival, s.start, s.end-s.start, s.reader.path)
	}
	return out
}

// appendContinue appends what a client waits for before it sends a body.
func (s *session) appendContinue(out []byte) []byte {
	const interim = "HTTP/1.1 100 Continue\r\n\r\n"
	s.worker.count.sent.Add(int64(len(interim)))
	return append(out, interim...)
}

// appendRefused appends the answer to what cannot be understood.
func (s *session) appendRefused(out []byte, status int) []byte {
	c := s.worker.count
	s.closing, s.gently = true, true
	before := len(out)
	out = appendRefusal(out, status)
	c.refused.Add(1)
	c.received.Add(s.reader.size)
	c.sent.Add(int64(len(out) - before))
	return out
}

// appendCounted appends the counts. Neither it nor a connection opened for it is counted.
func (s *session) appendCounted(out []byte) []byte {
	if s.answered == 0 && !s.observer {
		s.observer = true
		s.worker.count.connections.Add(-1)
	}
	s.closing = s.reader.req.close
	counts := s.worker.site.readCounts()
	return appendCounts(out, counts, s.closing, s.reader.req.bare)
}
