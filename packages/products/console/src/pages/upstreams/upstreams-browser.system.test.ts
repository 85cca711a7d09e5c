/** Nodes and the gateway in a real browser. Skipped with a message if the machine has none. */
import { sql } from '@chainstead/db';
import { addUpstreamCalls } from '@chainstead/sync/ingest';
import { describe, expect, test } from 'vitest';
import { stageInBrowser } from '../../testing/browser-stage.ts';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { seedChains } from '../../testing/seed-chains.ts';

const TELEPHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const HOSTILE = '<img src=x onerror=alert(1)>\u202e';

/** Delays the verdict of a test; undefined: no delay. */
let verdictMay: PromiseWithResolvers<void> | undefined;

const shown = stageInBrowser(async () => {
  const stage = await openConsoleStage({
    upstreams: [
      {
        ...{ chain: 'eth', name: 'node-a.example', address: 'https://node-a.example' },
        ...{ requestsPerSecond: 10, concurrency: 4, isPrivate: false },
      },
    ],
    nodeTest: {
      chains: ['eth', 'base'],
      run: async (chain, _url, onFinding) => {
        const finding = {
          subject: 'client',
          verdict: 'warning' as const,
          found: HOSTILE,
          meaning: 'Slow.',
          remedy: 'Move.',
        };
        onFinding?.(finding);
        await verdictMay?.promise;
        return { chain, name: 'node.example', findings: [finding], calls: 12, tookMs: 2_500 };
      },
    },
  });
  await seedChains(stage.database, [1]);
  return stage;
});

const latency = [0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const ask = (role: string, outcome: string, calls: number): Promise<void> =>
  addUpstreamCalls(shown.stage.database, new Date(), [
    { chain: 'eth', upstream: 'node-a.example', role, outcome, calls, busyMs: 50, latency },
  ]);

describe('upstreams in a browser', () => {
  test('move by themselves when a process has asked a node, and keep what was typed', async () => {
    const { page, context, complaints } = await shown.browser.open('/console/upstreams');
    const row = page.getByRole('row', { name: /node-a\.example/ });
    await row.getByText('–').first().waitFor();
    await page.getByLabel('URL').fill('https://node.example/key');
    await ask('ingest', 'ok', 4_321);
    await row.getByText('4,321').waitFor({ timeout: 60_000 });
    await ask('worker', 'timeout', 4_321);
    await row.getByText('50.0 %').waitFor({ timeout: 60_000 });
    expect(await page.getByLabel('URL').inputValue()).toBe('https://node.example/key');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test.each([
    ['a desk', {}],
    ['a telephone, without script', { ...TELEPHONE, javaScriptEnabled: false }],
  ])('try a node in a form on %s', async (_where, options) => {
    const { page, context, complaints } = await shown.browser.open('/console/upstreams', options);
    const form = page.getByRole('form', { name: 'Test an upstream' });
    await form.getByLabel('Chain').fill('base');
    await form.getByLabel('URL').fill('https://node.example/secret-key');
    await form.getByRole('button').click();
    await page.getByText('Usable, with the warnings above.').waitFor();
    expect(await page.content()).not.toContain('secret-key');
    expect(await page.locator('img').count()).toBe(0);
    const widths = (await page.locator('main').boundingBox())?.width ?? 0;
    expect(widths).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
    expect(complaints).toEqual([]);
    await page.getByRole('link', { name: 'Test another upstream' }).click();
    await page.waitForURL('**/console/upstreams#test');
    await context.close();
  });

  test('shows what was found of a node before the test is over, without script', async () => {
    verdictMay = Promise.withResolvers();
    const { page, context } = await shown.browser.open('/console/upstreams', { javaScriptEnabled: false });
    const form = page.getByRole('form', { name: 'Test an upstream' });
    await form.getByLabel('URL').fill('https://node.example');
    await form.getByRole('button').click({ noWaitAfter: true });
    await page.getByRole('cell', { name: 'Slow.' }).waitFor();
    expect(await page.getByText('Usable, with').count()).toBe(0);
    verdictMay.resolve();
    await page.getByText('Usable, with the warnings above.').waitFor();
    verdictMay = undefined;
    await context.close();
  });

  test('the gateway draws its calls, and shows what is chosen', async () => {
    await shown.stage.database.query(
      sql`INSERT INTO gateway_calls (hour, chain_id, method, calls, errors, cached, latency)
       SELECT date_trunc('hour', now()) - make_interval(hours => ago), 1, 'eth_call', 100 + ago, ago, 50, '{0,0,0,10}' FROM generate_series(0, 30) AS ago`,
    );
    await ask('api', 'rate-limited', 7);
    const { page, context, complaints } = await shown.browser.open('/console/gateway');
    await page.locator('[data-plot] canvas').waitFor();
    await page.getByText('rate-limited 7').waitFor();
    const before = await page.getByRole('row', { name: /eth_call/ }).textContent();
    await page.getByLabel('Period').selectOption('6');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL('**/console/gateway?hours=6&chain=');
    expect(await page.getByRole('row', { name: /eth_call/ }).textContent()).not.toBe(before);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
