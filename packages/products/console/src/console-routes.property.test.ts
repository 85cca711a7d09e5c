import { sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { forgedCookie, OWN_ORIGIN, openConsoleStage, type Visitor } from './testing/console-stage.ts';

/** Routes without a session: the sign-in, and script and style. All later ones require a session. */
const OPEN = new Set(['GET /console/assets/:tag/:name', 'GET /console/sign-in', 'POST /console/sign-in']);

const stage = stageOfFile(openConsoleStage);
let routes: readonly { readonly method: string; readonly path: string }[];

beforeAll(async () => {
  routes = stage.app.routes
    .filter(({ path, method }) => path.startsWith('/console') && method !== 'ALL')
    .filter(({ path, method }) => !OPEN.has(`${method} ${path}`))
    .map(({ path, method }) => ({ method, path: path.replace(/:\w+/g, 'eth').replace('*', 'nowhere') }));
});

/** The stored effects of changes. */
async function changes(): Promise<unknown> {
  return stage.database.query(
    sql`SELECT (SELECT count(*) FROM audit_log) AS lines, (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL) AS keys,
            (SELECT count(*) FROM console_sessions WHERE revoked_at IS NULL) AS sessions`,
  );
}

function ask(
  { method, path }: { readonly method: string; readonly path: string },
  headers: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, string>> = {},
): Promise<Response> | Response {
  return stage.app.request(path, {
    method,
    headers: { accept: 'text/html', ...headers },
    ...(method === 'POST' && { body: new URLSearchParams({ ...FORM, ...fields }) }),
  });
}

/** Members of every form, so that none is rejected for a missing one. */
const FORM = {
  ...{ name: 'x', scope: 'data', rate: '', key: '00000000', id: '0'.repeat(64) },
  ...{ chain: 'eth', url: 'https://node.example' },
};

describe('every route of the console', () => {
  test('is known to this test', () => {
    expect(routes.length).toBeGreaterThan(12);
    expect(routes.some(({ method }) => method === 'POST')).toBe(true);
    expect(routes.some(({ path }) => path.startsWith('/console/events/'))).toBe(true);
  });

  test.each<[string, (visitor: Visitor) => Promise<string>]>([
    ['no session', async () => ''],
    ['a cookie that is not signed here', async (visitor) => forgedCookie(visitor)],
    ['a cookie of nonsense', async () => 'chainstead_console=%F0%9F%92%A9.x'],
    [
      'a session that was ended',
      async (visitor) => {
        await stage.database.query(
          sql`UPDATE console_sessions SET revoked_at = now() WHERE key_id = ${visitor.prefix}`,
        );
        return visitor.cookie;
      },
    ],
    [
      'a session that is over',
      async (visitor) => {
        await stage.database.query(
          sql`UPDATE console_sessions SET expires_at = now() WHERE key_id = ${visitor.prefix}`,
        );
        return visitor.cookie;
      },
    ],
    [
      'a session that nobody used for long',
      async (visitor) => {
        await stage.database.query(
          sql`UPDATE console_sessions SET seen_at = now() - interval '12 hours' WHERE key_id = ${visitor.prefix}`,
        );
        return visitor.cookie;
      },
    ],
    [
      'a key that was revoked',
      async (visitor) => {
        await stage.keys.revoke(visitor.prefix);
        return visitor.cookie;
      },
    ],
    [
      'a key that lost the scope admin',
      async (visitor) => {
        await stage.keys.setScopes(visitor.prefix, new Set(['data', 'rpc', 'streams']));
        return visitor.cookie;
      },
    ],
  ])('refuses %s', async (_name, cookieOf) => {
    const visitor = await stage.signIn();
    const cookie = await cookieOf(visitor);
    const before = await changes();
    for (const route of routes) {
      const answer = await ask(route, { ...OWN_ORIGIN, cookie }, { token: visitor.token });
      const where = `${route.method} ${route.path}`;
      expect([303, 401], where).toContain(answer.status);
      if (answer.status === 303) expect(answer.headers.get('location'), where).toMatch(/^\/console\/sign-in/);
      expect(await answer.text(), where).not.toContain('name="token"');
    }
    expect(await changes()).toEqual(before);
  });

  test('takes no key in a header instead of a session', async () => {
    const { key } = await stage.signIn();
    for (const route of routes)
      expect([303, 401]).toContain((await ask(route, { ...OWN_ORIGIN, 'x-api-key': key })).status);
  });

  test('changes nothing without the token of its session', async () => {
    const [visitor, other] = [await stage.signIn(), await stage.signIn()];
    const before = await changes();
    const tokens = fc.oneof(
      fc.constantFrom('', other.token, visitor.token.slice(1), `${visitor.token}A`, visitor.cookie),
      fc.string({ maxLength: 60 }),
    );
    const posts = routes.filter(({ method }) => method === 'POST');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...posts), tokens, async (route, token) => {
        const answer = await ask(route, { ...OWN_ORIGIN, cookie: visitor.cookie }, { token });
        expect(answer.status, `${route.path} with ${token}`).toBe(403);
      }),
      { numRuns: 60 },
    );
    for (const route of posts)
      expect((await ask(route, { ...OWN_ORIGIN, cookie: visitor.cookie })).status, route.path).toBe(403);
    expect(await changes()).toEqual(before);
  });

  test('changes nothing for a page of another site, even with the token', async () => {
    const visitor = await stage.signIn();
    const before = await changes();
    const foreign: readonly Readonly<Record<string, string>>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost.evil.example' },
      { origin: 'http://localhost:81' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://localhost' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
      {},
    ];
    for (const route of [...routes, { method: 'POST', path: '/console/sign-in' }].filter(
      ({ method }) => method === 'POST',
    ))
      for (const headers of foreign) {
        const answer = await ask(
          route,
          { ...headers, cookie: visitor.cookie },
          { token: visitor.token, key: visitor.key },
        );
        expect(answer.status, `${route.path} from ${JSON.stringify(headers)}`).toBe(403);
        expect(answer.headers.get('set-cookie')).toBeNull();
      }
    expect(await changes()).toEqual(before);
  });

  test('lets nobody frame, keep or read it from elsewhere, and runs nothing inline', async () => {
    const visitor = await stage.signIn();
    const views = routes.filter(({ method, path }) => method === 'GET' && !path.startsWith('/console/events/'));
    for (const { path } of [...views, { path: '/console/sign-in' }]) {
      const answer = await stage.get(path, visitor, { origin: 'https://evil.example' });
      expect(answer.headers.get('access-control-allow-origin'), path).toBeNull();
      expect(answer.headers.get('cache-control'), path).toBe('no-store');
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy, path).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy, path).toContain("frame-ancestors 'none'");
      expect(policy, path).not.toContain('unsafe');
      const text = await answer.text();
      expect(text, path).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:/i);
      for (const [, address] of text.matchAll(/\b(?:src|href)="([^"]*)"/g))
        expect(address, path).toMatch(/^[/#]/);
    }
  });
});

describe('signing in', () => {
  test('is refused to every key without the scope admin', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(['data', 'rpc', 'streams'] as const, { minLength: 1 }), async (scopes) => {
        const { key } = await stage.keys.create('narrow', new Set(scopes));
        const answer = await stage.post('/console/sign-in', { key });
        expect(answer.status).toBe(403);
        expect(answer.headers.get('set-cookie')).toBeNull();
        expect(await answer.text()).toContain('scope admin');
      }),
      { numRuns: 7 },
    );
  });
});
