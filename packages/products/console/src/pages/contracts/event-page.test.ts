import { createChainRegistry } from '@chainstead/chains';
import { contractRoutes } from '@chainstead/contracts';
import { MAX_UINT256 } from '@chainstead/core';
import { hashOf } from '@chainstead/testkit';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { HOSTILE } from '../../testing/hostile-texts.ts';
import { DEPOSITS, LARGEST, OTHER, OWNER, seedContract, VAULT } from './testing/seed-contract.ts';

const eth = createChainRegistry().get('eth');
const FORMULA = '=HYPERLINK("https://evil.example";"x")';
const NOTES = [...HOSTILE, FORMULA, '-12', '@SUM(1)\nnext'];
const stage = stageOfFile(() => openConsoleStage({ explorer: { routes: contractRoutes } }));
const visitor = madeForFile(() => stage.signIn());
beforeAll(() => seedContract(stage.database, eth, NOTES));

const at = (query: Readonly<Record<string, string>>, file = ''): string =>
  `/console/contracts/vault/deposit${file}?${new URLSearchParams({ chain: 'eth', ...query })}`;
const page = async (query: Readonly<Record<string, string>>): Promise<string> => {
  const response = await stage.get(at(query), visitor);
  expect(response.status).toBe(200);
  return response.text();
};
const blocks = (text: string): number[] =>
  [...text.matchAll(/look-up\/block\/(\d+)/g)].map(([, block]) => Number(block));
const csv = async (query: Readonly<Record<string, string>>): Promise<string> =>
  (await stage.get(at(query, '/csv'), visitor)).text();

test('a row links to its block, transaction and addresses, and shortens large values', async () => {
  const text = await page({ from_block: String(LARGEST), to_block: String(LARGEST) });
  expect(blocks(text)).toEqual([LARGEST]);
  expect(text).toContain(
    `href="/console/look-up/transaction/${hashOf(2, LARGEST)}?chain=eth&amp;block=${LARGEST}"`,
  );
  for (const address of [VAULT, OTHER])
    expect(text).toContain(`href="/console/look-up/address/${address}?chain=eth" title="${address}"`);
  expect(text).toContain(`<summary>2^256 − 1</summary>${MAX_UINT256}</details>`);
  expect(text).toContain('&quot;lower&quot;:&quot;-887272&quot;');
  expect(text).toContain(`<code>${hashOf(9, LARGEST)}</code></details>`);
  expect(text).toContain('<table class="rows">');
});

test('the first page is live with its filter, and later ones are not', async () => {
  const live = '/console/events/contracts/vault/deposit?chain=eth';
  const text = await page({ order: 'ASC' });
  expect(text).toContain(`hx-sse:connect="${live}&amp;order=ASC"`);
  const [, next = ''] = /href="([^"]+)" rel="next"/.exec(text) ?? [];
  const later = await (await stage.get(next.replaceAll('&amp;', '&'), visitor)).text();
  expect([later.includes('data-live'), blocks(later).length]).toEqual([false, 50]);
  const events = await stage.get(`${live}&from_block=1005&to_block=1005`, visitor);
  const reader = events.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  expect(blocks(Buffer.from(value ?? []).toString())).toEqual([1_005]);
  await reader?.cancel();
});

test('pages lead through all rows in either order', async () => {
  for (const [order, first] of [
    ['DESC', LARGEST + NOTES.length],
    ['ASC', 1_000],
  ] as const) {
    const seen: number[] = [];
    let path: string | undefined = at({ order });
    while (path !== undefined) {
      const text = await (await stage.get(path, visitor)).text();
      seen.push(...blocks(text));
      path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect([seen[0], new Set(seen).size, seen.length]).toEqual([
      first,
      ...Array(2).fill(DEPOSITS + 1 + NOTES.length),
    ]);
  }
});

test.each<[Record<string, string>, number[]]>([
  [{ owner: OTHER, order: 'ASC', to_block: String(LARGEST) }, [LARGEST]],
  [{ 'assets.gte': '1005', 'assets.lte': '1005' }, [1_005]],
  [{ 'assets.gte': '1005', 'assets.lte': '1007' }, [1_007, 1_006, 1_005]],
  [{ is_first: 'true' }, [1_000]],
  [{ owner: OWNER, 'assets.gte': '1118', 'assets.lte': '' }, [1_119, 1_118]],
])('the filter %j finds rows, and stays in the form', async (query, found) => {
  const text = await page(query);
  expect(blocks(text)).toEqual(found);
  for (const [name, value] of Object.entries(query))
    if (name.startsWith('owner') || name.startsWith('assets'))
      expect(text).toContain(`name="${name}" type="text" value="${value}"`);
});

test.each<[Record<string, string>, string]>([
  [{ owner: '0x12' }, 'owner must be a hexadecimal address'],
  [{ 'assets.gte': HOSTILE[0] ?? '' }, 'assets.gte must be a whole number'],
  [{ from_block: '-1' }, 'from_block must be a block number'],
  [{ order: 'up' }, 'order must be'],
  [{ cursor: HOSTILE[1] ?? '' }, 'cursor'],
])('the filter %j is refused with the reason of the API', async (query, reason) => {
  const text = await page(query);
  expect(text).toContain(reason);
  expect(blocks(text)).toEqual([]);
  expect(text).not.toContain('<script>');
  const file = await stage.get(at(query, '/csv'), visitor);
  if (query.cursor === undefined) expect(file.status).toBe(303);
});

test('hostile texts are shown as text', async () => {
  const text = await page({ from_block: String(LARGEST + 1) });
  expect(text).toContain('&lt;script&gt;');
  expect(text).not.toMatch(/<script>|<img|\u202e/);
  expect(text.length).toBeLessThan(60_000);
});

test('the CSV file has all rows of the filter, without formulas', async () => {
  const lines = (await csv({ to_block: String(LARGEST), order: 'ASC' })).trim().split('\r\n');
  expect(lines).toHaveLength(DEPOSITS + 2);
  expect(lines[0]).toBe(
    'block_number,block_timestamp,transaction_hash,log_index,contract_address,owner,assets,is_first,id,note,position',
  );
  expect(lines.at(-1)).toContain(`,3,${VAULT},${OTHER},${MAX_UINT256},false,`);
  expect(lines.at(-1)).toContain(`"{""lower"":""-887272"",""holder"":""${OTHER}""}"`);
  const texts = await csv({ from_block: String(LARGEST + 1), order: 'ASC' });
  expect(texts).toContain(`,"'=HYPERLINK(""https://evil.example"";""x"")",`);
  expect(texts).toContain(',-12,');
  expect(texts).toContain(`,"'@SUM(1)\nnext",`);
  const file = await stage.get(at({}, '/csv'), visitor);
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="vault-deposit-eth.csv"');
});
