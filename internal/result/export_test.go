package result

// The runs of this package's tests, for the tests of what stands above it.
var (
	FromRun     = from
	ClosedRun   = closedRun
	OpenRun     = openRun
	BesideRun   = besideRun
	FailingRun  = failingRun
	ScenarioRun = scenarioRun
	Away        = away
)
