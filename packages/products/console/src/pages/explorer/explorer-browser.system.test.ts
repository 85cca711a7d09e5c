/** The explorer in a real browser. Skipped with a message if the machine has none. */
import { hashOf } from '@chainstead/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { stageInBrowser } from '../../testing/browser-stage.ts';
import { DESK, DEVICES, examineLooks } from '../../testing/examine-looks.ts';
import { ALICE, APES, APTOS_OWNER, openExplorerStage, TOKEN } from '../../testing/explorer-stage.ts';

const shown = stageInBrowser(async () => {
  const stage = await openExplorerStage();
  return stage;
});
const PAGES = [
  ['search', ''],
  ['address', `/address/${ALICE}`],
  ['token', `/address/${TOKEN}`],
  ['collection', `/address/${APES}`],
  ['nft', `/nft/${APES}/1`],
  ['table', `/table/erc20-transfers?chain=eth&address=${ALICE}`],
  ['block', '/block/2000'],
  ['transaction', `/transaction/${hashOf(2, 1_000_000)}?chain=eth&block=1000`],
  ['aptos', `/aptos/${APTOS_OWNER}`],
] as const;

test.each(DEVICES)('on %s the pages have nothing serious for axe, and fit', async (device, options) => {
  const pages = PAGES.map(([name, path]) => ({
    name: `look-up ${name}`,
    path: `/console/look-up${path}`,
    unfold: (page: Page) => page.waitForLoadState('networkidle'),
    hasPictures: true,
  }));
  await examineLooks(shown.browser, [device, options], pages);
});

test('from any page one gets to an address, on to an NFT with its picture, and to its collection with a plot', async () => {
  const { page, context, complaints } = await shown.browser.open('/console/sessions', DESK);
  const search = page.getByRole('search').getByLabel('Look up');
  await search.fill(ALICE);
  await search.press('Enter');
  await page.waitForURL(`**/look-up/address/${ALICE}`);
  await page
    .getByRole('region', { name: 'NFTs held, eth' })
    .getByRole('link', { name: '1', exact: true })
    .click();
  await page.waitForURL('**/look-up/nft/**');
  const picture = page.locator('img.thumb').first();
  await picture.scrollIntoViewIfNeeded();
  await page.waitForFunction("document.querySelector('img.thumb')?.naturalWidth > 0");
  await page.locator('main h1').getByRole('link').click();
  await page.waitForURL('**/look-up/address/**');
  await page.locator('[data-plot] canvas').first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('works without script', async () => {
  const { page, context } = await shown.browser.open('/console/look-up', { ...DESK, javaScriptEnabled: false });
  await page.getByLabel('Address, symbol, name').fill(`${APES}/2`);
  await page.getByRole('main').getByRole('button', { name: 'Look up' }).click();
  await page.waitForURL(`**/look-up/nft/${APES}/2`);
  expect(await page.getByRole('heading', { name: 'Metadata' }).count()).toBe(1);
  expect(await page.getByText('The plot needs JavaScript').count()).toBe(1);
  await context.close();
});

test('a symbol suggests its token, and to choose it is to look it up', async () => {
  const { page, context, complaints } = await shown.browser.open('/console/sessions', DESK);
  const search = page.getByRole('search').getByLabel('Look up');
  await search.pressSequentially('gol');
  await page.locator(`datalist option[value="${TOKEN}"]`).waitFor({ state: 'attached' });
  // As the browser does with a chosen option.
  await search.fill(TOKEN);
  await page.waitForURL(`**/look-up/address/${TOKEN}`);
  expect(complaints).toEqual([]);
  await context.close();
});
