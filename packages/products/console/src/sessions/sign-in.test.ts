import { sql } from '@chainstead/db';
import { ALL_SCOPES, listAudit } from '@chainstead/http';
import { createLocalLimits } from '@chainstead/http/server';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConsoleStage, OWN_ORIGIN, openConsoleStage, type StageOptions } from '../testing/console-stage.ts';

const scratch = scratchOfFile();
const opened: ConsoleStage[] = [];
afterEach(async () => {
  for (const stage of opened.splice(0)) await stage.close();
});

async function open(options: StageOptions = {}): Promise<ConsoleStage> {
  const stage = await openConsoleStage({ scratch, ...options });
  opened.push(stage);
  return stage;
}

describe('signing in', () => {
  test('gives a cookie that scripts and other sites do not get, over HTTPS only where it came over HTTPS', async () => {
    const stage = await open();
    const { key } = await stage.keys.create('Ann', new Set(['admin']));
    const cookies = [];
    for (const headers of [OWN_ORIGIN, { ...OWN_ORIGIN, 'x-forwarded-proto': 'https' }]) {
      const answer = await stage.post(
        '/console/sign-in',
        { key, to: '/console/keys?days=7' },
        undefined,
        headers,
      );
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/keys?days=7']);
      cookies.push(answer.headers.get('set-cookie') ?? '');
    }
    for (const cookie of cookies) {
      expect(cookie).toMatch(/HttpOnly/);
      expect(cookie).toMatch(/SameSite=Strict/);
      expect(cookie).toMatch(/Path=\/console(;|$)/);
      expect(cookie).not.toContain(key);
    }
    expect(cookies.map((cookie) => /; Secure/.test(cookie))).toEqual([false, true]);
    const kept = await scratch.database.query<{ text: string }>(
      sql`SELECT console_sessions::text AS text FROM console_sessions`,
    );
    const secret = /=([^.;]+)\./.exec(cookies[0] ?? '')?.[1] ?? 'none';
    expect(kept.some(({ text }) => text.includes(secret))).toBe(false);
    expect(await listAudit(scratch.database, null, 1)).toMatchObject([
      { action: 'session.begin', name: 'Ann', door: 'console' },
    ]);
  });

  test.each([
    'https://evil.example/',
    '//evil.example',
    '/console//evil.example',
    '/api',
    '/console/\\evil',
    'javascript:alert(1)',
  ])('does not lead to %s', async (to) => {
    const stage = await open();
    const { key } = await stage.keys.create('Ann', new Set(['admin']));
    const answer = await stage.post('/console/sign-in', { key, to });
    expect(answer.headers.get('location')).toBe('/console');
  });

  test('works with a key of API_KEYS, as long as it is configured', async () => {
    const configured = [{ key: 'configured-key', scopes: ALL_SCOPES }];
    const stage = await open({ configured });
    const answer = await stage.post('/console/sign-in', { key: 'configured-key' });
    const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const visitor = { key: 'configured-key', prefix: 'config:1', cookie, token: '' };
    expect((await stage.get('/console', visitor)).status).toBe(200);
    expect((await (await open()).get('/console', visitor)).status).toBe(303);
  });

  test('is slowed down by address for wrong keys, and never refused with a right one', async () => {
    const stage = await open({ sharedLimits: createLocalLimits() });
    const { key } = await stage.keys.create('Ann', new Set(['admin']));
    for (let attempt = 0; attempt < 10; attempt++)
      expect((await stage.post('/console/sign-in', { key: 'f'.repeat(32) })).status).toBe(401);
    const reader = await stage.keys.create('Reader', new Set(['data']));
    for (const wrong of ['e'.repeat(32), reader.key]) {
      const late = await stage.post('/console/sign-in', { key: wrong });
      expect(late.status).toBe(429);
      expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(late.headers.get('set-cookie')).toBeNull();
    }
    for (let time = 0; time < 12; time++)
      expect((await stage.post('/console/sign-in', { key })).status).toBe(303);
  });

  test('ends by signing out, for this session alone', async () => {
    const stage = await open();
    const [one, other] = [await stage.signIn(), await stage.signIn()];
    const left = await stage.post('/console/sign-out', {}, one);
    expect(left.headers.get('set-cookie')).toMatch(/Max-Age=0/);
    expect((await stage.get('/console', one)).status).toBe(303);
    expect((await stage.get('/console', other)).status).toBe(200);
  });

  test('ends where another session ends it, which the audit log has', async () => {
    const stage = await open();
    const [one, other] = [await stage.signIn(), await stage.signIn()];
    const list = await (await stage.get('/console/sessions', one)).text();
    expect(list).toContain(other.prefix);
    const ids = [...list.matchAll(/name="id" value="([0-9a-f]{64})"/g)].map(([, id]) => id ?? '');
    // The last used first: those of this test are the newest two.
    for (const id of ids.slice(0, 2)) await stage.post('/console/sessions/end', { id }, one);
    expect((await stage.get('/console', other)).status).toBe(303);
    const [last] = await listAudit(scratch.database, null, 1);
    expect(last).toMatchObject({ action: 'session.end', id: one.prefix });
  });

  test('is asked for again after a link from elsewhere, by a page of its own, since browsers keep the cookie back', async () => {
    const stage = await open();
    const answer = await stage.get('/console/keys', undefined, { 'sec-fetch-site': 'cross-site' });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('http-equiv="refresh"')]);
    const again = await stage.get('/console/keys', undefined, { 'sec-fetch-site': 'same-origin' });
    expect(again.headers.get('location')).toBe('/console/sign-in?to=%2Fconsole%2Fkeys');
  });

  test('refuses forms that are larger than forms', async () => {
    const stage = await open();
    const answer = await stage.post('/console/sign-in', { key: 'x'.repeat(100_000) });
    expect(answer.status).toBe(413);
  });
});
