/** Own contracts in a real browser. Skipped with a message if the machine has none. */
import { createChainRegistry } from '@chainstead/chains';
import { contractRoutes } from '@chainstead/contracts';
import { MAX_UINT256 } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { stageInBrowser } from '../../testing/browser-stage.ts';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { DESK, DEVICES, examineLooks } from '../../testing/examine-looks.ts';
import { HOSTILE } from '../../testing/hostile-texts.ts';
import { scriptedFunctionRoute, scriptedSource } from './testing/scripted-node.ts';
import { DEPOSITS, LARGEST, OTHER, seedContract, seedDeposit } from './testing/seed-contract.ts';

const eth = createChainRegistry().get('eth');

const shown = stageInBrowser(async () => {
  const stage = await openConsoleStage({
    explorer: { routes: [...contractRoutes, scriptedFunctionRoute()], abiSource: scriptedSource },
  });
  await seedContract(stage.database, eth, HOSTILE);
  return stage;
});

const POSITIONS = 'positions((int24,address),bool)';
const KEY = JSON.stringify({ lower: '-887272', holder: OTHER });
const PAGES = [
  ['list', '?'],
  ['one', '/vault?'],
  ['rows', '/vault/deposit?'],
  ['filtered rows', `/vault/deposit?owner=${OTHER}&order=ASC&`],
  ['refused filter', `/vault/deposit?${new URLSearchParams({ owner: HOSTILE[0] ?? '' })}&`],
  ['event without rows', '/vault/paused?'],
  [
    'result of a call',
    `/vault/read-contract?${new URLSearchParams({ function: POSITIONS, input0: KEY, input1: 'true' })}&`,
  ],
  ['refused call', '/vault/read-contract?function=refuse()&'],
] as const;

test.each(DEVICES)('on %s the pages have nothing serious for axe, and fit', async (device, options) => {
  const pages = PAGES.map(([name, path]) => ({
    name: `contracts ${name}`,
    path: `/console/contracts${path}chain=eth`,
    unfold: async (page: Page) => {
      await page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true");
    },
  }));
  await examineLooks(shown.browser, [device, options], pages);
});

test('from the list one gets to the rows of an event, filters them, goes on, and saves them', async () => {
  const { page, context, complaints } = await shown.browser.open('/console/contracts', DESK);
  await page.getByRole('link', { name: 'vault', exact: true }).click();
  await page.getByRole('link', { name: 'deposit', exact: true }).click();
  // Values break into three lines at most.
  const heights = await page.evaluate<number[]>(
    "[...document.querySelectorAll('.rows tbody tr')].map((row) => row.getBoundingClientRect().height)",
  );
  expect(Math.max(...heights)).toBeLessThan(100);
  await page.getByLabel('To block').fill(String(LARGEST - 1));
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('link', { name: 'Next page' }).click();
  await page.waitForURL('**cursor=**');
  expect(await page.getByLabel('To block').inputValue()).toBe(String(LARGEST - 1));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV', exact: true }).click(),
  ]);
  const saved: Buffer[] = [];
  for await (const part of await download.createReadStream()) saved.push(part);
  expect(Buffer.concat(saved).toString().trim().split('\r\n')).toHaveLength(DEPOSITS + 1);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a whole value opens by keyboard, and stays open with its row when new rows arrive', async () => {
  const { page, context, complaints } = await shown.browser.open(
    '/console/contracts/vault/deposit?chain=eth',
    DESK,
  );
  const row = page.locator(`#log-${LARGEST}-3`);
  await row.locator('summary', { hasText: '2^256' }).focus();
  await page.keyboard.press('Enter');
  await row.getByText(MAX_UINT256.toString()).waitFor();
  const { database } = shown.stage;
  const newest = LARGEST + HOSTILE.length + 1;
  await seedDeposit(database, eth, newest);
  await database.query(
    sql`UPDATE sync_ranges SET last_block = ${newest} WHERE dataset = 'contracts.vault_deposit'`,
  );
  await page.locator(`#log-${newest}-3`).waitFor();
  expect(await row.getByText(MAX_UINT256.toString()).isVisible()).toBe(true);
  expect(await page.locator('main details[open]').count()).toBe(1);
  expect(complaints).toEqual([]);
  await context.close();
});

test('from a contract one gets to its functions, calls one, and adds others', async () => {
  const { page, context, complaints } = await shown.browser.open('/console/contracts/vault?chain=eth', DESK);
  await page.getByRole('link', { name: 'Read contract' }).click();
  await page.getByText('ownerOf(uint256)').click();
  const form = page.getByRole('form', { name: 'ownerOf(uint256)' });
  await form.getByLabel('id').fill('7');
  await form.getByRole('button', { name: 'Call' }).click();
  await page.waitForURL('**input0=7**');
  await page.getByRole('status').getByRole('link').waitFor();
  await form.getByLabel('id').fill('many');
  await form.getByLabel('id').press('Enter');
  await page.getByRole('alert').getByText('params.id must be a whole number').waitFor();
  await page.locator('summary', { hasText: 'Add functions' }).click();
  await page
    .getByLabel('ABI')
    .fill('[{"type":"function","name":"symbol","constant":true,"outputs":[{"type":"string"}]}]');
  await page.getByRole('button', { name: 'Add functions' }).click();
  await page.getByText('symbol()').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
