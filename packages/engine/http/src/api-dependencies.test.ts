import { waitingAtMost, waitLeft } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { type RouteModule, withWait } from './api-dependencies.ts';
import { EXAMPLE_KEY, exampleApi } from './testing/example-api.ts';

const scratch = scratchOfFile();

const showsWait: RouteModule = (app) => {
  app.get('/wait', (c) => c.json({ left: waitLeft() }));
};

async function waitOf(...[routes, options]: [RouteModule, Parameters<typeof exampleApi>[2]?]): Promise<number> {
  const api = await exampleApi(scratch.database, [routes], options);
  const response = await api.request('/wait', { headers: { 'x-api-key': EXAMPLE_KEY } });
  return ((await response.json()) as { left: number }).left;
}

test('a request has the wait of its settings', async () => {
  const left = await waitOf(showsWait, { onDemand: { waitMs: 9_000 } });
  expect(left).toBeGreaterThan(8_000);
  expect(left).toBeLessThanOrEqual(9_000);
  expect(await waitOf(showsWait, { onDemand: { waitMs: 0 } })).toBe(0);
});

test('the wait ends before the request timeout', async () => {
  const left = await waitOf(showsWait, { onDemand: { waitMs: 60_000 }, requestTimeoutMs: 10_000 });
  expect(left).toBeLessThanOrEqual(8_000);
});

test('the wait of an inner request is its own', async () => {
  const inner = withWait({ waitMs: 2_000 }, [showsWait]);
  expect(await waitingAtMost(0, () => waitOf(inner))).toBeGreaterThan(1_000);
});
