package result

// The runs of this package's tests, for the tests of what stands above it.
var (
	FromRun     = from
	ClosedRun   = closedRun
	BesideRun   = besideRun
	FailingRun  = failingRun
	ScenarioRun = scenarioRun
	Away        = away
)
