package load

import (
	"syscall"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// A load that has files enough for the connections to its server may lead to other origins: connections there
// are opened as requests need them.
func TestFilesOfOrigins(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const files = 300
	low := syscall.Rlimit{Cur: files, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	for connections, refused := range map[int]bool{files * 2 / 3: false, files + 1: true} {
		p := abroadPlan([]int{0, 2}, func(p *loadplan.Plan) { p.Connections, p.Guest = connections, true })
		r := &run{plan: p, result: &loadresult.Result{}}
		if err := r.prepareRun(); (err != nil) != refused {
			t.Errorf("%d connections of %d files: %v", connections, files, err)
		}
	}
}
