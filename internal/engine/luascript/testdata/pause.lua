-- A user waits before each request.
function delay()
   return math.random(1, 3)
end
