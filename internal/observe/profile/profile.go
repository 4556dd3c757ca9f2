// Package profile says where a server's time went: which functions its stacks were in,
// weighed by CPU time, bytes or waiting.
//
// There is one model for all servers, that of pprof: [Fetch] asks a Go server for what
// net/http/pprof offers, [Record] lets Linux's perf sample any process tree and translates
// its stacks. Both are samples, so what is read from them ([Share], [Top], [Diff]) carries
// the number of samples and the interval that so many allow: 3 samples of 30 are not
// "10 %". The values are shares of the profile's own total, so that profiles of different
// length compare. [Tree] and [DiffTree] are the same samples as a flame graph's data.
// Nothing here draws or prints.
//
// A profile is kept as a .pb.gz ([Save], [Load]), which `go tool pprof` reads, and leaves as
// [Speedscope]. What a reader has to know to believe a profile (kernel time not permitted,
// stacks broken off, counts since the start instead of the load) is in its Comments.
//
//	fetch.go          profiles of a Go server: net/http/pprof
//	profile.go        reads, merges and writes profiles
//	record.go         errors of perf
//	record_linux.go   runs perf on a process tree; record_other.go
//	script.go         reads what perf script prints
//	share.go          shares of functions, with intervals; differences
//	speedscope.go     writes speedscope's format
//	tree.go           data of flame graphs
//
// Note: profiling costs the server time. Take profiles in a pass of their own, never in
// the trials that are compared.
package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"dyno/internal/atomicfile"

	pprof "github.com/google/pprof/profile"
)

// A Profile is stacks with weights, in pprof's model.
type Profile = pprof.Profile

// Errors that callers tell apart; they come wrapped, with the reason and what to do.
var (
	// ErrUnavailable: profiles cannot be had here, now or later: no perf program, not
	// permitted, no pprof at that URL.
	ErrUnavailable = errors.New("profiling is not available")
	// ErrBusy: somebody else is taking a CPU profile of that server. It passes.
	ErrBusy = errors.New("the server is being profiled already")
	// ErrNoSamples: a comparison needs samples on both sides.
	ErrNoSamples = errors.New("a profile without samples")

	errTooLarge = errors.New("it is larger")
)

// MaxEncoded is how many bytes a profile may have, as it is sent or stored. The largest that a Go
// server of thousands of stacks sends is some megabytes.
const MaxEncoded = 64 << 20

// maxDecoded is how many bytes it may have after decompression.
const maxDecoded = 256 << 20

// Merge is the sum of profiles of the same kind, as of several rounds.
func Merge(all ...*Profile) (*Profile, error) {
	p, err := pprof.Merge(all)
	if err != nil {
		return nil, fmt.Errorf("merging %d profiles: %w", len(all), err)
	}
	return p, nil
}

// Save writes p to path in pprof's gzipped form, whole or not at all.
func Save(path string, p *Profile) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("storing a profile: %w", err)
		}
	}()
	if err := p.CheckValid(); err != nil {
		return err
	}
	return atomicfile.Replace(path, 0o600, p.Write)
}

// Load reads a profile that Save, a Go server or `go tool pprof` wrote.
func Load(path string) (*Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a profile: %w", err)
	}
	defer f.Close()
	b, err := readAtMost(f, MaxEncoded)
	if err != nil {
		return nil, fmt.Errorf("reading the profile %s: %w", path, err)
	}
	p, err := decodeProfile(b)
	if err != nil {
		return nil, fmt.Errorf("reading the profile %s: %w", path, err)
	}
	return p, nil
}

// decodeProfile reads one profile, gzipped or not.
func decodeProfile(b []byte) (*Profile, error) {
	b, err := gunzipAtMost(b, maxDecoded)
	if err != nil {
		return nil, err
	}
	p, err := pprof.ParseUncompressed(b)
	if err != nil {
		return nil, err
	}
	if len(p.SampleType) == 0 {
		return nil, errors.New("it has no sample types, so it is no profile")
	}
	if err := p.CheckValid(); err != nil {
		return nil, err
	}
	return p, nil
}

// gunzipAtMost returns b as it is if it is not gzipped.
func gunzipAtMost(b []byte, most int64) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err == nil {
		b, err = readAtMost(z, most)
	}
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	return b, nil
}

func readAtMost(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%w than %d MiB", errTooLarge, most>>20)
	}
	return b, err
}
