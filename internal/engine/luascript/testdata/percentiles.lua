-- done() prints a table of its own.
function done(summary, latency, requests)
   for _, p in ipairs({50, 90, 99, 99.9}) do
      io.write(string.format("%g%%\t%d us\n", p, latency:percentile(p)))
   end
   print(summary.requests, summary.duration, latency.mean, requests.stdev)
end
