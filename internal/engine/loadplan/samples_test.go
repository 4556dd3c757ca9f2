package loadplan

import "testing"

// What the responses under way keep for samples has a limit, however many there are.
func TestSampledShare(t *testing.T) {
	for _, c := range []struct{ connections, pipeline, streams, want int }{
		{50, 1, 1, 128 << 20 / 50}, {2048, 1, 1, SampledBody}, {256, 16, 1, 32 << 10}, {256, 1, 16, 32 << 10},
		{1000, 1, 100, 4 << 10}, {MaxConnections, 1, MaxStreams, 4 << 10}, {0, 0, 0, 128 << 20},
	} {
		p := Plan{Connections: c.connections, Pipeline: c.pipeline, Streams: c.streams}
		if got := p.SampledShare(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
