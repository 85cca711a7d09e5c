/**
 * Explorer data from a node: names, transactions and blocks. Parts run in a real browser; without one, they are skipped
 * with a message.
 */

import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf, compileDemoContracts, DEMO_TOKEN_ABI } from '@chainstead/testkit';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { browserBefore } from '../../testing/browser-stage.ts';
import { DESK, DEVICES, examineLooks } from '../../testing/examine-looks.ts';
import { openNodeExplorerStage } from '../../testing/node-explorer-stage.ts';
import { shownTables } from '../../testing/shown-tables.ts';

const [OWNER, OTHER] = [addressOf(0xd8da), addressOf(0x07e3)];

const stage = stageOfFile(openNodeExplorerStage);
const visitor = madeForFile(() => stage.signIn());
let transfer: { readonly hash: string; readonly block: number };
let token: Address;
beforeAll(async () => {
  const { devnet } = stage.nodes;
  const [holder = OWNER] = devnet.accounts;
  token = await devnet.deploy((await compileDemoContracts()).DemoToken, ['Demo Dollar', 'DUSD', 6]);
  const call = { address: token, abi: DEMO_TOKEN_ABI };
  await devnet.send({ ...call, functionName: 'mint', args: [holder, 500n] });
  const { transactionHash, blockNumber } = await devnet.send({
    ...call,
    functionName: 'transfer',
    args: [OTHER, 123n],
    from: holder,
  });
  transfer = { hash: transactionHash, block: Number(blockNumber) };
  await stage.setName('vitalik.eth', OWNER);
  await stage.setName('gone.eth', addressOf(0));
  await stage.setName('bücher.eth', OTHER);
  await stage.setOwnName(OWNER, 'vitalik.eth');
  // Never verified: it resolves to another address.
  await stage.setOwnName(OTHER, 'vitalik.eth');
  await stage.nodes.commit();
});
beforeEach(() => stage.reset());

async function get(path: string) {
  const answer = await stage.get(`/console/look-up${path}`, visitor);
  return { status: answer.status, page: await answer.text(), to: answer.headers.get('location') };
}

/** Follows redirects like a browser. */
async function follow(
  path: string,
): Promise<{ readonly at: string; readonly status: number; readonly page: string }> {
  let at = path;
  for (;;) {
    const { status, page, to } = await get(at);
    if (to === null) return { at, status, page };
    at = to.replace('/console/look-up', '');
  }
}

describe('a name', () => {
  test('leads to the page of its address, which tells that it does, and what the address calls itself, of which block', async () => {
    const head = Number((await stage.nodes.devnet.client.getBlock()).number);
    const { at, status, page } = await follow('?q=VITALIK.eth');
    expect([at, status]).toEqual([`/address/${OWNER}?name=vitalik.eth`, 200]);
    expect(page).toMatch(/Looked up by <strong><bdi>vitalik\.eth<\/bdi><\/strong>/);
    expect(page).toMatch(/<dt>ENS<\/dt><dd>resolves to this address/);
    expect(page).toContain('set by the address, and resolves back to it');
    expect(page.match(new RegExp(`/console/look-up/block/${head}\\?chain=eth`, 'g'))).toHaveLength(2);
    expect(page).toContain('/api/v2.2/resolve/ens/vitalik.eth');
    expect(page).toContain(`/api/v2.2/resolve/${OWNER}/reverse`);
  });

  test('that an address gives itself counts only where it leads back', async () => {
    const { page } = await get(`/address/${OTHER}`);
    expect(page).toMatch(/<dt>ENS<\/dt><dd><span class="soft"><bdi>no name of this address/);
    expect(page).not.toContain('vitalik.eth');
  });

  test('that somebody puts into an address’ page by hand is found out', async () => {
    const { page } = await get(`/address/${OTHER}?name=vitalik.eth`);
    expect(page).toContain('resolves to another address');
    expect(page).not.toContain('resolves to this address');
  });

  test('with letters of other scripts is told to be so, and how it is written', async () => {
    const { page, at } = await follow(`?q=${encodeURIComponent('bücher.eth')}`);
    expect(at).toBe(`/address/${OTHER}?${new URLSearchParams({ name: 'bücher.eth' })}`);
    expect(page).toContain('it may look like another name');
    expect(page).toContain('xn--bcher-kva.eth');
  });

  test.each([
    ['nobody.eth', 404, 'no address of this name'],
    ['gone.eth', 404, 'no address of this name'],
    ['nobody.crypto', 404, 'no address of this name'],
    ['\u202emoc.eth', 400, 'is not a valid name by ENSIP-15'],
    ['аpple.eth', 400, 'is not a valid name by ENSIP-15'],
    ['a..eth', 400, 'is not a valid name by ENSIP-15'],
    [`${'a'.repeat(240)}<script>.eth`, 400, 'is not a valid name by ENSIP-15'],
  ])('such as %.20s is told in words: %i', async (name, status, words) => {
    const reported = await follow(`?q=${encodeURIComponent(name)}`);
    expect([reported.status, reported.page.includes(words)]).toEqual([status, true]);
    expect(reported.page).not.toMatch(/[\u202a-\u202e]|<script>\./);
    expect(reported.page.length).toBeLessThan(20_000);
  });

  test('of a megabyte is no name, also in an address’ page', async () => {
    const name = `${'x'.repeat(1_000_000)}.eth`;
    expect((await get(`?q=${name}`)).page).toContain('is not an address, a name');
    for (const path of [`/name/${name}`, `/address/${OWNER}?name=${name}`]) {
      const { page, status } = await get(path);
      expect([status < 500, page.length < 100_000]).toEqual([true, true]);
    }
  });

  test('of which nodes take too long, or are away, is told to be unknown yet', async () => {
    const { node } = stage.nodes;
    node.alter = async ({ method }) => {
      if (method === 'eth_call') await new Promise((resolve) => setTimeout(resolve, 20_000).unref());
      return undefined;
    };
    const slow = await follow('?q=vitalik.eth');
    expect([slow.at, slow.status]).toEqual(['/name/vitalik.eth', 503]);
    expect(slow.page).toMatch(/being read from the node<\/bdi>\. Reload the page in a moment/);
    node.alter = () => {
      throw new Error('away');
    };
    await stage.database.query(sql`TRUNCATE state_questions`);
    const away = await follow('?q=bücher.eth');
    expect(away.status).toBe(503);
    expect(away.page).toContain('Reload the page in a moment');
  });
});

describe('a transaction', () => {
  test('is told with what its call and logs mean, and the calls inside', async () => {
    const { at, page } = await follow(`?q=${transfer.hash}`);
    expect(at).toBe(`/transaction/${transfer.hash}?chain=eth&block=${transfer.block}`);
    expect(page).toContain('transfer(address,uint256)');
    const tables = shownTables(page.replaceAll(/ <span class="soft">\(\d+\)<\/span><\/h3>/g, '</h3>'));
    const rowsOf = (title: string) => tables.find((table) => table.title === title)?.rows ?? [];
    expect(rowsOf('Call').map((row) => row.includes('123'))).toContain(true);
    const [log = ''] = rowsOf('Logs');
    expect(log).toMatch(/<strong><bdi>Transfer<\/bdi><\/strong>/);
    expect(log).toContain(token);
    expect(page).toContain('>succeeded<');
    expect(page).toContain(
      `/api/v2.2/transaction/${transfer.hash}/verbose?chain=eth&amp;include=internal_transactions`,
    );
    expect(page).toMatch(
      /Internal transactions[\s\S]{0,200}(?:No internal transactions\.|No upstream of the chain has traces\.)/,
    );
  });

  test('that no node has says so', async () => {
    const { page } = await get(`/transaction/0x${'0'.repeat(63)}7?chain=eth`);
    expect(page).toContain('Transaction not found');
  });
});

describe('a block', () => {
  test('is told with its transactions, whole and by pages', async () => {
    // The node was away before: until it is used again, the page asks its reader to reload.
    const page = await vi.waitFor(async () => {
      const shown = await get(`/block/${transfer.block}`);
      expect(shown.page).not.toContain('Reload the page in a moment');
      return shown.page;
    });
    expect(page).toMatch(/Transactions <span class="soft">\(1\)<\/span>/);
    expect(page).toContain(`/console/look-up/transaction/${transfer.hash}`);
    const whole = await get(`/whole/block/transactions?chain=eth&of=${transfer.block}`);
    expect(whole.page).toContain(transfer.hash);
    const beyond = await get(`/whole/block/transactions?chain=eth&of=${transfer.block}&from=1`);
    expect(beyond.page).not.toContain(`title="${transfer.hash}"`);
  });

  test.each([
    ['/whole/block/nothing?chain=eth&of=1', 404],
    ['/whole/block/transactions?chain=eth&of=x', 400],
    ['/whole/block/transactions?chain=eth&of=1&from=-1', 400],
    ['/whole/transaction/logs?chain=eth&of=0x12', 400],
  ])('of which a list can’t be shown is refused in words: %s', async (path, status) => {
    expect((await get(path)).status).toBe(status);
  });
});

describe('in a browser', () => {
  const shown = browserBefore(() => stage);

  test('a name leads to its address', async () => {
    const { page, context, complaints } = await shown.browser.open('/console/sessions', DESK);
    const search = page.getByRole('search').getByLabel('Look up');
    await search.fill('vitalik.eth');
    await search.press('Enter');
    await page.waitForURL(`**/look-up/address/${OWNER}?name=vitalik.eth`);
    await page.getByText('set by the address, and resolves back to it').waitFor();
    await page.goto(`/console/look-up/transaction/${transfer.hash}?chain=eth`);
    await page.getByRole('region', { name: 'Logs, eth' }).getByText('Transfer').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test.each(DEVICES)('on %s the pages have nothing serious for axe, and fit', async (device, options) => {
    await examineLooks(
      shown.browser,
      [device, options],
      [
        { name: 'look-up named', path: `/console/look-up/address/${OWNER}?name=vitalik.eth` },
        { name: 'look-up unknown name', path: '/console/look-up/name/nobody.eth', status: 404 },
        { name: 'look-up told transaction', path: `/console/look-up/transaction/${transfer.hash}?chain=eth` },
        { name: 'look-up told block', path: `/console/look-up/block/${transfer.block}` },
      ],
    );
  });
});
