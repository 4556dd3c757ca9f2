package lab

import "dyno/probe"

// use computes from the recording what the server and the machine used in the
// measured window.
func (t *Trial) use() {
	used := t.Result.Watched(t.Meanwhile)
	t.Server, t.Host, t.Sampler = used.Processes, &used.Host, &used.Sampler
}

// known is v where it is a number, else 0.
func known(v probe.Value) float64 {
	if !v.OK() {
		return 0
	}
	return float64(v)
}
