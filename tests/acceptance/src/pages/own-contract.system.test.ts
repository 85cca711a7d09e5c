/** The tutorial docs/start/own-contract.md, command by command: from an empty folder to a chart. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@chainstead/testkit';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createPageReader } from './page-reader.ts';

const WAIT = { timeout: 60_000, interval: 200 };

it('the page of own contracts leads from an address to a chart', async () => {
  const reader = await createPageReader();
  onTestFinished(() => reader.close());
  const [api, node] = [await freePort(), await freePort()];
  reader.replace('CHAINS=dev', `PORT=${api}\nCHAINS=dev`);
  reader.replace('--block-time 2', `--block-time 1 --port ${node}`);
  reader.replace(':8545', `:${node}`);
  reader.replace(':8080', `:${api}`);
  const page = await reader.open('start/own-contract.md');
  await page.next('mkdir own-contract');
  await (await page.start('npx anvil')).until(/Listening on/);
  await page.next('CHAINS=dev');
  const program = await page.start('npx chainstead start');
  await program.until(/dev \(31337\)/);
  await page.next('contract Shop');
  expect(await page.next('deploy.mjs')).toMatch(/^0x[0-9a-f]{40}\n$/);
  expect(await page.next('contracts add')).toContain('sold');
  // A reader repeats the command until the rows are there.
  const rows = `http://127.0.0.1:${api}/api/v2.2/contracts/shop/sold?chain=dev&limit=100`;
  await vi.waitFor(
    async () =>
      expect(await (await fetch(rows)).json(), program.output()).toMatchObject({ result: { length: 30 } }),
    WAIT,
  );
  expect(await page.next('contracts status')).toMatch(/sold\D+30\b/);
  const found: unknown = JSON.parse(await page.next('tier=3'));
  expect(found).toMatchObject({
    result: [{ params: { tier: '3', price: '3000000000000000000' } }, { params: { tier: '3' } }],
  });
  await page.next('console.table');
  const table = await page.next('node chart.mjs');
  expect([...table.matchAll(/'(\d)' +│ (\d+)/g)].map(([, tier, ether]) => [tier, ether])).toEqual([
    ['1', '10'],
    ['2', '20'],
    ['3', '30'],
  ]);
  expect(await readFile(join(reader.folder, 'own-contract/chart.svg'), 'utf8')).toContain('30 ETH');
  page.close();
});
