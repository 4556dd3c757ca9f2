const http = require('http');

const elsewhere = { Location: 'http://localhost:1024/' };

http
  .createServer((request, response) => response.writeHead(301, elsewhere).end())
  .listen(Number(process.argv[2]), '127.0.0.1');
