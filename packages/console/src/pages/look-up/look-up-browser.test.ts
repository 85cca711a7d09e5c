/** Looking something up in a real browser. Where the machine has none, the tests say so. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { hashOf } from '@chainstead/testkit';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ConsoleBrowser, openConsoleBrowser } from '../../testing/console-browser.ts';
import { ALICE, APES, APTOS_OWNER, type LookUpStage, openLookUpStage, TOKEN } from '../../testing/look-up-stage.ts';

/** A folder where pictures of all pages are put, for the eye. */
const PICTURES = process.env.CONSOLE_PICTURES;
const DESK: BrowserContextOptions = { viewport: { width: 1280, height: 900 } };
const TELEPHONE: BrowserContextOptions = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

let stage: LookUpStage;
let opened: ConsoleBrowser | undefined;
beforeAll(async () => {
  stage = await openLookUpStage();
  opened = await openConsoleBrowser(stage);
});
afterAll(async () => {
  await opened?.close();
  await stage.close();
});
beforeEach(({ skip }) => {
  if (opened === undefined) skip();
});
vi.setConfig({ testTimeout: 150_000 });

/** Of a test that is not skipped. */
function browser(): ConsoleBrowser {
  if (opened === undefined) throw new Error('The machine has no Chromium');
  return opened;
}

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

const LOOKS = [
  ['light on a desk', { ...DESK, colorScheme: 'light' }],
  ['dark on a telephone', { ...TELEPHONE, colorScheme: 'dark' }],
] as const satisfies readonly (readonly [string, BrowserContextOptions])[];

describe.each(LOOKS)('%s', (look, options) => {
  test.each(PAGES)('the page of %s has nothing serious for axe, and fits', async (name, path) => {
    const { page, context, complaints } = await browser().open(`/console/look-up${path}`, options);
    await page.waitForLoadState('networkidle');
    const { violations } = await new AxeBuilder({ page }).analyze();
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)).toEqual(
      [],
    );
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect(complaints).toEqual([]);
    await takePicture(page, `look-up ${name}, ${look}`);
    await context.close();
  });
});

async function takePicture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name.replaceAll(/[^a-z]+/g, '-')}.png`), fullPage: true });
}

test('from any page one gets to an address, on to an NFT with its picture, and to its collection with a plot', async () => {
  const { page, context, complaints } = await browser().open('/console/sessions', DESK);
  const search = page.getByRole('search').getByLabel('Look up');
  await search.fill(ALICE);
  await search.press('Enter');
  await page.waitForURL(`**/look-up/address/${ALICE}`);
  await page.getByRole('region', { name: 'NFTs held, eth' }).getByRole('link', { name: '1', exact: true }).click();
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
  const { page, context } = await browser().open('/console/look-up', { ...DESK, javaScriptEnabled: false });
  await page.getByLabel('Address, token, collection').fill(`${APES}/2`);
  await page.getByRole('main').getByRole('button', { name: 'Look up' }).click();
  await page.waitForURL(`**/look-up/nft/${APES}/2`);
  expect(await page.getByRole('heading', { name: 'Metadata' }).count()).toBe(1);
  expect(await page.getByText('The plot needs script').count()).toBe(1);
  await context.close();
});
