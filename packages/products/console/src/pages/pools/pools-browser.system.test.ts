/** Pools and prices in a real browser. Skipped with a message if the machine has none. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, sql } from '@chainstead/db';
import { expect, test } from 'vitest';
import { stageInBrowser } from '../../testing/browser-stage.ts';
import { DESK, DEVICES, examineLooks } from '../../testing/examine-looks.ts';
import { HOSTILE } from '../../testing/hostile-texts.ts';
import { openPoolsStage } from './testing/open-pools-stage.ts';
import { CATS, DEEP, DOGS, FAKE, GONE, seedPools, USDC } from './testing/seed-pools.ts';

const eth = createChainRegistry().get('eth');

const shown = stageInBrowser(async () => {
  const stage = await openPoolsStage(eth);
  await seedPools(stage.database, eth);
  await stage.database.query(
    sql`UPDATE tokens SET symbol = ${HOSTILE.slice(0, -1).join('')} WHERE address = ${hexBytes(DOGS)}`,
  );
  return stage;
});

const PAGES = [
  ['form', {}],
  ['token', { address: CATS }],
  ['anchor', { address: USDC }],
  ['token with a hostile symbol', { address: DOGS }],
  ['pool', { address: DEEP }],
  ['disproved pool', { address: GONE }],
  ['wrong address', { address: HOSTILE[0] ?? '' }],
] as const;

test.each(DEVICES)('on %s the pages have nothing serious for axe, and fit', async (device, options) => {
  const pages = PAGES.map(([name, query]) => ({
    name: `pools ${name}`,
    path: `/console/pools?${new URLSearchParams({ chain: 'eth', ...query })}`,
  }));
  await examineLooks(shown.browser, [device, options], pages);
});

test('from the menu one gets to the price of a token, on to a pool of it, and to its other token', async () => {
  const { page, context, complaints } = await shown.browser.open('/console/sessions', DESK);
  await page.locator('nav summary', { hasText: 'Data' }).click();
  await page.getByRole('link', { name: 'Pools', exact: true }).click();
  await page.getByLabel('Token or pool').fill(CATS);
  await page.getByRole('button', { name: 'Show' }).click();
  await page.locator('strong', { hasText: '1.05 USD' }).waitFor();
  await page.locator(`a[title="${FAKE}"]`).first().click();
  expect(await page.locator('.v-warning').first().textContent()).toBe('unproven');
  await page.goBack();
  await page.getByRole('link', { name: 'USDC' }).first().click();
  await page.getByText('An anchor needs no pool.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
