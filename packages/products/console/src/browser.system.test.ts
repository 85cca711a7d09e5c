/** The console in a real browser. Skipped with a message if the machine has none. */

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '@chainstead/db';
import { describe, expect, test } from 'vitest';
import { stageInBrowser } from './testing/browser-stage.ts';
import { openConsoleStage } from './testing/console-stage.ts';
import { DESK, DEVICES, examineLooks } from './testing/examine-looks.ts';
import { seedChains } from './testing/seed-chains.ts';

const HOSTILE = `<img src=x onerror=alert(1)><script>alert(2)</script>\u202etxt`;

const shown = stageInBrowser(async () => {
  const stage = await openConsoleStage();
  await seedChains(stage.database, [7, 8, 9]);
  await stage.database.query(
    sql`UPDATE sync_chains SET stop_code = 'REORG_TOO_DEEP', stop_message = ${`${HOSTILE} forked`}, upstreams = ${JSON.stringify(
      [
        {
          name: HOSTILE,
          state: 'healthy',
          reason: null,
          score: 1,
          head: 2_000,
          latencyMs: { p50: 12, p95: 40 },
          requests: 9,
          faults: {},
        },
      ],
    )} WHERE chain_id = 8`,
  );
  await stage.keys.create(HOSTILE);
  await stage.database.query(
    sql`INSERT INTO api_usage (key_id, day, method, route, requests, refused, failed)
     SELECT '0123abcd', current_date - ago, 'GET', '/api/v2.2/:address/erc20', 100 + ago, 1, 0 FROM generate_series(0, 9) AS ago`,
  );
  return stage;
});

const PAGES = [
  { name: 'overview', path: '/console' },
  { name: 'chain', path: '/console/chains/chain-7?from=300&to=1500' },
  { name: 'stopped chain', path: '/console/chains/chain-8' },
  { name: 'upstreams', path: '/console/upstreams' },
  { name: 'wrong answers', path: '/console/upstreams/wrong-answers' },
  { name: 'gateway', path: '/console/gateway' },
  { name: 'keys', path: '/console/keys' },
  { name: 'audit', path: '/console/audit' },
  { name: 'sessions', path: '/console/sessions' },
  { name: 'sign-in', path: '/console/sign-in' },
  { name: 'SQL that is off', path: '/console/sql' },
  { name: 'nowhere', path: '/console/nowhere', status: 404 },
];

test.each(DEVICES)(
  'on %s the pages have nothing serious for axe, fit, and run nothing of strangers',
  async (device, options) => {
    await examineLooks(shown.browser, [device, options], PAGES);
  },
);

describe('the overview', () => {
  test('moves by itself, also back, and keeps the reader where they are', async () => {
    const { page, context, complaints } = await shown.browser.open('/console', DESK);
    const card = page.locator('#chain-chain-7');
    await card.locator('h2 a').focus();
    await setCheckpoint(1_995);
    await card.getByText('1,995').first().waitFor({ timeout: 60_000 });
    // A reorg rolls it back.
    await setCheckpoint(1_993);
    await card.getByText('1,993').first().waitFor({ timeout: 60_000 });
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('chain-7');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('is live also where its script comes slowly', async () => {
    const { page, context } = await shown.browser.open('/console', DESK);
    let scripts = 0;
    await context.route('**/console.js', async (route) => {
      scripts += 1;
      await sleep(1_000);
      await route.continue();
    });
    await page.reload();
    await page.locator('[data-beat]:not([data-beat="0"])').waitFor({ timeout: 30_000 });
    expect(scripts).toBe(1);
    await context.close();
  });

  test('says when it is not live, and is right again once the server is back', async () => {
    const { page, context } = await shown.browser.open('/console', DESK);
    const notice = page.locator('[data-live-notice]');
    await page.locator('[data-beat]').waitFor();
    expect(await notice.isVisible()).toBe(false);
    // By the page's clock alone, as the silence takes long.
    await page.clock.install();
    await shown.browser.stopServing();
    await page.clock.fastForward('00:30');
    await notice.waitFor({ state: 'visible', timeout: 45_000 });
    expect(await notice.textContent()).toContain('Not live');
    await setCheckpoint(1_998);
    await shown.browser.startServing();
    await page.locator('#chain-chain-7').getByText('1,998').first().waitFor({ timeout: 60_000 });
    await notice.waitFor({ state: 'hidden' });
    await context.close();
  });

  test('says so at once where the browser has no network, and since when nothing came', async () => {
    const { page, context } = await shown.browser.open('/console/sessions', {
      ...DESK,
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    await page.clock.install({ time: '2026-01-01T12:00:00Z' });
    await page.goto('/console');
    await page.locator('[data-beat]').waitFor();
    await shown.browser.stopServing();
    await context.setOffline(true);
    const notice = page.locator('[data-live-notice]');
    await notice.waitFor({ state: 'visible' });
    // Not before the page was there.
    expect(await notice.textContent()).toContain('since 12:0');
    await shown.browser.startServing();
    await context.close();
  });

  test('shows nothing more to whoever was signed out', async () => {
    const { page, context } = await shown.browser.open('/console', DESK);
    await page.locator('[data-beat]:not([data-beat="0"])').waitFor();
    await shown.stage.database.query(sql`UPDATE console_sessions SET revoked_at = now()`);
    await page.getByText('Signed out.').first().waitFor({ timeout: 60_000 });
    expect(await page.locator('article').count()).toBe(0);
    await context.close();
  });

  test('shows nothing more to whoever was signed out before it was live', async () => {
    const { page, context } = await shown.browser.open('/console/sessions', DESK);
    await context.route('**/console/events/**', async (route) => {
      await shown.stage.database.query(sql`UPDATE console_sessions SET revoked_at = now()`);
      await route.continue();
    });
    await page.goto('/console');
    await page.getByText('Signed out.').first().waitFor();
    expect(await page.locator('article').count()).toBe(0);
    await context.close();
  });

  test('can be read without script', async () => {
    const { page, context } = await shown.browser.open('/console', { ...DESK, javaScriptEnabled: false });
    expect(await page.locator('article').count()).toBeGreaterThan(2);
    expect(await page.locator('time').first().textContent()).toContain('UTC');
    await page.locator('#chain-chain-7 svg.strip a').first().click();
    await page.waitForURL(/\/console\/chains\/chain-7\?from=0/);
    await context.close();
  });

  test('writes ages and numbers in the language of the reader, with the exact time and zone on hover', async () => {
    const reader = { ...DESK, locale: 'de-DE', timezoneId: 'Asia/Tokyo' };
    const { page, context } = await shown.browser.open('/console', reader);
    const time = page.locator('time[title*="GMT+9"], time[title*="JST"]').first();
    await time.waitFor();
    expect(await time.textContent()).toMatch(/^(?:vor|in) \d/);
    await page.locator('#chain-chain-9').getByText('2.000').first().waitFor();
    await context.close();
  });

  test('is used with the keyboard: the first stop leads past the menu', async () => {
    const { page, context } = await shown.browser.open('/console', DESK);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement?.id')).toBe('main');
    await context.close();
  });
});

describe('keys', () => {
  test('are made in a form after signing in by one, shown once, and revoked', async () => {
    const { key: admin } = await shown.stage.keys.create('Ann', new Set(['admin']));
    const context = await shown.browser.browser.newContext({ ...DESK, baseURL: shown.browser.url });
    const page = await context.newPage();
    await page.goto('/console/keys');
    await page.getByLabel('Key with the scope').fill(admin);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/console/keys');
    const form = page.getByRole('form', { name: 'Create a key' });
    await form.getByLabel('Name', { exact: true }).fill('shop');
    await form.getByLabel('rpc').uncheck();
    await form.getByRole('button').click();
    const key = (await page.locator('#key').textContent()) ?? '';
    expect(await shown.stage.keys.verify(key)).toMatchObject({
      name: 'shop',
      scopes: new Set(['data', 'streams']),
    });
    await page.getByRole('main').getByRole('link', { name: 'Keys' }).click();
    expect(await page.content()).not.toContain(key);
    const row = page.getByRole('row', { name: /shop/ });
    await row.getByText('Change').click();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /shop.*revoked/s }).waitFor();
    expect(await shown.stage.keys.verify(key)).toBeNull();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Key with the scope').waitFor();
    await context.close();
  });

  test('have their usage by days of UTC, written as the reader writes them, wherever the reader is', async () => {
    const { page, context, complaints } = await shown.browser.open('/console/keys', {
      ...DESK,
      locale: 'de-DE',
      timezoneId: 'America/New_York',
    });
    const plot = page.locator('[data-plot] .u-over');
    await plot.waitFor();
    const { width, height } = (await plot.boundingBox()) ?? { width: 0, height: 0 };
    await plot.hover({ position: { x: width - 2, y: height / 2 } });
    const usage = await (await page.request.get('/console/keys/usage.json')).json();
    const last = new Date(usage.times.at(-1) * 1_000);
    const written = new Intl.DateTimeFormat('de-DE', { dateStyle: 'medium', timeZone: 'UTC' }).format(last);
    await page.locator('[data-plot] .u-legend').getByText(written).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('have their usage as a plot', async () => {
    const { page, context, complaints } = await shown.browser.open('/console/keys', DESK);
    await page.locator('[data-plot] canvas').waitFor();
    expect(complaints).toEqual([]);
    // Within its frame, also if that is narrow: otherwise the page scrolls sideways.
    await page.setViewportSize({ width: 390, height: 844 });
    const widths =
      'document.querySelector("[data-plot] canvas").getBoundingClientRect().right - document.querySelector("[data-plot]").getBoundingClientRect().right';
    await expect.poll(() => page.evaluate<number>(widths)).toBeLessThanOrEqual(0);
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    await context.close();
  });
});

async function setCheckpoint(block: number): Promise<void> {
  await shown.stage.database.query(sql`UPDATE sync_chains SET checkpoint = ${block} WHERE chain_id = 7`);
}
