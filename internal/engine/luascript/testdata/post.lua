-- A script without functions: the request is made once.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"name": "ann"}'
