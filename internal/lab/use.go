package lab

// use computes from the recording what the server and the machine used in the
// measured window.
func (t *Trial) use() {
	t.Result.Server = t.Result.Watched(t.Meanwhile)
}
