import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpStreams } from './http-streams.ts';

/** Accepts requests, and never responds. */
const silent = createServer(() => undefined);
beforeAll(() => new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

test('requests that wait for a connection hear their deadline and their signal', async () => {
  const address = silent.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const http = createHttpStreams({ source: 'silent', url, deadlines: { headersMs: 60_000 } });
  const late = createHttpStreams({ source: 'silent', url, deadlines: { headersMs: 50 } });
  const stop = new AbortController();
  const request = { method: 'GET', path: '/' } as const;
  // More than there are connections.
  const opened = Array.from({ length: 40 }, () => http.open(request, stop.signal));
  const waiting = Array.from({ length: 40 }, () => late.open(request, new AbortController().signal));
  for (const one of await Promise.allSettled(waiting))
    expect(String(one.status === 'rejected' && one.reason)).toContain('no response within 50 ms');
  stop.abort(new Error('The process ends'));
  for (const one of await Promise.allSettled(opened))
    expect(String(one.status === 'rejected' && one.reason)).toContain('The process ends');
  await Promise.all([http.close(), late.close()]);
});
