package streams

import (
	"time"

	"dyno/internal/engine/loadresult"
)

// A rain is a sample of a worker's streams, evenly spread over those that were due in the window:
// when each arrival of theirs was. Its memory does not grow: of more streams each second one is
// forgotten, and of more arrivals of a stream each second one.
type rain struct {
	begun  int64 // streams of the window
	each   int64 // of which each so-many-th is sampled
	used   int   // of places
	places [loadresult.RainStreams]drops
}

// drops are the arrivals of a stream.
type drops struct {
	number int64 // of the stream, from 1; 0: the place is free
	due    int64
	each   int32 // each so-many-th arrival is kept
	passed int32 // since the last that was kept
	n      int
	at     [loadresult.RainDrops]uint32 // µs since due
}

// begin begins a stream that was due at an instant, and returns its number and place.
func (r *rain) begin(due int64) (number int64, place uint8) {
	r.begun++
	if (r.begun-1)%r.each != 0 {
		return r.begun, 0
	}
	if r.used == len(r.places) {
		if r.thin(); (r.begun-1)%r.each != 0 {
			return r.begun, 0
		}
	}
	for r.places[place].number != 0 {
		place++
	}
	r.used++
	r.places[place] = drops{number: r.begun, due: due, each: 1}
	return r.begun, place
}

// thin forgets every second stream.
func (r *rain) thin() {
	r.each *= 2
	for i := range r.places {
		if d := &r.places[i]; d.number != 0 && (d.number-1)%r.each != 0 {
			d.number = 0
			r.used--
		}
	}
}

// fall notes an arrival of a stream, if it is sampled.
func (r *rain) fall(number int64, place uint8, at int64) {
	d := &r.places[place]
	if d.number != number {
		return
	}
	if d.passed++; d.n > 0 && d.passed < d.each {
		return
	}
	if d.passed = 0; d.n == len(d.at) {
		for i := range d.n / 2 {
			d.at[i] = d.at[2*i]
		}
		d.n /= 2
		d.each *= 2
	}
	d.at[d.n] = uint32(min((at-d.due)/1e3, 1<<32-1))
	d.n++
}

// Rain is the sample, with instants from the window's begin on.
func (w *Watch) Rain(from int64) (all []loadresult.StreamSample) {
	for i := range w.rain.places {
		d := &w.rain.places[i]
		if d.number == 0 || d.n == 0 {
			continue
		}
		s := loadresult.StreamSample{Due: time.Duration(d.due - from), Each: int(d.each)}
		for _, us := range d.at[:d.n] {
			s.Arrivals = append(s.Arrivals, int64(us))
		}
		all = append(all, s)
	}
	return all
}
