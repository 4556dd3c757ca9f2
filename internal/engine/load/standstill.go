package load

// lookForStandstill is called at the beginning of a turn: see meter.Watch. before is when the last
// one ended, which began at turnBegan.
func (w *worker) lookForStandstill(before int64) {
	if lost := w.watch.Lost(w.now, before, w.turnBegan); lost > 0 {
		w.countStandstill(w.now-lost, w.now)
	}
}

// countStandstill counts a standstill of the window or of the drain, in which answers to the
// window's requests are awaited, and the requests that it may have delayed: those in flight, and
// those due since then, as they are sent (countLag).
func (w *worker) countStandstill(since, until int64) {
	if since = max(since, w.From); since < until {
		w.totals.AddStandstill(since-w.From, until-since)
		w.totals.Delayed += w.sentSince(w.stopped.Until)
		if w.Start+w.Next >= w.stopped.Until { // else what the last one delayed is still being sent
			w.stopped.Since = since
		}
		w.stopped.Until = until
	}
}

// sentSince is how many requests in flight were sent at an instant or later: the others were in
// flight in the last standstill, too, and are counted.
func (w *worker) sentSince(at int64) (n int64) {
	for i := range w.conns {
		for j := range w.conns[i].exchanges {
			if x := &w.conns[i].exchanges[j]; x.live && x.sent >= at {
				n++
			}
		}
	}
	return n
}
