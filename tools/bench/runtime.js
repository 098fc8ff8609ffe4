/**
 * Replaces Lambda's runtime client, in plain JavaScript so that only the function itself is measured: it has
 * `http` loaded, loads the handler by `import()`, requests one event and posts the response.
 */
const { request } = process.getBuiltinModule('http');

const [, , file] = process.argv;
const { handler } = await import(file);
const event = await call('GET', 'next');
const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => 29_000 };
const answer = await handler(JSON.parse(event), context);
await call('POST', 'response', JSON.stringify({ answer, modules: process.moduleLoadList }));
process.exit(0);

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: process.env.RUNTIME_PORT, path: `/${path}`, method };
    const outgoing = request(options, (incoming) => {
      const chunks = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('end', () => resolve(Buffer.concat(chunks).toString()));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
