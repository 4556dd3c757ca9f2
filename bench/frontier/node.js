require("http").createServer((_, r) => {
  r.sendDate = false;
  r.writeHead(200, { "Content-Type": "text/plain", "Content-Length": 13 });
  r.end("Hello, world\n");
}).listen(Number(process.argv[2]), "127.0.0.1");
