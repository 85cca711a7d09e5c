import { describe, expect, test } from 'vitest';
import { createDemoApi, errorOf, fixedKeys } from '../testing/demo-api.ts';
import { UNSERVED_OPERATIONS, unservedRoutes } from './unserved-operations.ts';

const KEY = 'a-key-of-the-test';
const WALLET = `0x${'ab'.repeat(20)}`;
const { app } = createDemoApi({ keys: fixedKeys(KEY), routes: [unservedRoutes] });

/** Returns the path with example values. */
function filledIn(path: string): string {
  return path.replaceAll(/\{[^}]+\}/g, WALLET);
}

function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  return Promise.resolve(app.request(path, { method, headers: { 'x-api-key': KEY }, ...init }));
}

describe('an operation that is not served', () => {
  test.each(UNSERVED_OPERATIONS)('$method $path answers 501 and names $name', async ({ method, path, name }) => {
    const answer = await ask(method, `${filledIn(path)}?chain=nowhere`);
    expect(answer.status).toBe(501);
    expect(await errorOf(answer)).toEqual({
      message: `${name} (${method} ${path}) is not served by Chainstead yet: /docs/not-served lists all missing operations`,
      details: { operation: name, method, path },
    });
  });

  test('stands in the table once', () => {
    const routes = UNSERVED_OPERATIONS.map(
      ({ method, path }) => `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`,
    );
    expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
  });

  test('asks for the key first', async () => {
    for (const { method, path } of UNSERVED_OPERATIONS)
      expect((await ask(method, filledIn(path), { headers: {} })).status).toBe(401);
  });

  test('refuses other methods by name', async () => {
    const answer = await ask('DELETE', '/api/v2.2/tokens/trending');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

test.each(['/api/v2.2/wallet', '/api/v2.2/nfts/0x1', '/api/v2.1/erc20/metadata', '/erc20/metadata'])(
  '%s is no operation at all',
  async (path) => {
    expect((await ask('GET', path)).status).toBe(404);
  },
);

test('a route that serves an operation wins', async () => {
  const { app: serving } = createDemoApi({
    routes: [
      (routes) => routes.get('/api/v2.2/nft/:address/traits', (c) => c.json({ served: true })),
      unservedRoutes,
    ],
  });
  const answer = await serving.request('/api/v2.2/nft/0x1/traits');
  expect([answer.status, await answer.json()]).toEqual([200, { served: true }]);
});
