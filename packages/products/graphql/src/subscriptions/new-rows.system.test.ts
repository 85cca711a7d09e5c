/** Subscriptions over HTTP while blocks are written and replaced. */
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type EventReader, type StreamedResult, subscribe } from '../testing/event-reader.ts';
import { type GraphqlStage, OTHER_KEYS, openGraphqlStage } from '../testing/graphql-stage.ts';
import { OTHER, OWNER, removeBlocks, seedVault, writeDeposits } from '../testing/seeded-vault.ts';

const scratch = scratchOfFile();
const stage: GraphqlStage = stageOfFile(() => openGraphqlStage(scratch));
const open: EventReader[] = [];

beforeAll(() => seedVault(scratch.database));
beforeEach(async () => {
  await writeDeposits(scratch.database, [{ block: 100 }], { blocks: [99, 101] });
});
afterEach(async () => {
  for (const reader of open.splice(0)) await reader.close();
  await removeBlocks(scratch.database, 0);
});

async function subscribed(
  args = '',
  of: Pick<GraphqlStage, 'url'> = stage,
  key = EXAMPLE_KEY,
): Promise<EventReader> {
  const reader = await subscribe(
    of.url,
    `subscription ($chain: Chain!) { rows: contracts_vault_deposit(chain: $chain ${args}) { nodes { ...row } } }
     fragment row on contracts_vault_deposit { block_number log_index }`,
    { chain: '1' },
    key,
  );
  open.push(reader);
  return reader;
}

const write = (...args: Parameters<typeof writeDeposits> extends [unknown, ...infer Rest] ? Rest : never) =>
  writeDeposits(scratch.database, ...args);

function shown(result: StreamedResult | null): readonly unknown[] {
  if (result === null) return ['end'];
  const { from_block, to_block, is_replacement } = result.extensions ?? {};
  const rows = (result.data?.rows?.nodes ?? []).map((row) => `${row.block_number}/${row.log_index}`);
  return [`${from_block}-${to_block}${is_replacement === true ? ' again' : ''}`, ...rows];
}

/** Returns the rows until one comes, and how often each came. */
async function rowsUntil(reader: EventReader, last: string): Promise<string[]> {
  const rows: string[] = [];
  while (rows.at(-1) !== last) rows.push(...(shown(await reader.next()).slice(1) as string[]));
  return rows;
}

describe('a subscription', () => {
  test('gets each row of new blocks once, in order, and none of older ones', async () => {
    const reader = await subscribed();
    for (let block = 102; block <= 120; block++)
      await write(
        block % 3 === 0
          ? []
          : [
              { block, log: 0 },
              { block, log: 1 },
            ],
        { blocks: [block] },
      );
    const expected = Array.from({ length: 19 }, (_, index) => index + 102)
      .filter((block) => block % 3 !== 0)
      .flatMap((block) => [`${block}/0`, `${block}/1`]);
    await write([{ block: 121 }]);
    expect(await rowsUntil(reader, '121/0')).toEqual([...expected, '121/0']);
  });

  test('gets no row of a block that is filled in later', async () => {
    const reader = await subscribed();
    await write([{ block: 98 }]);
    await write([{ block: 102 }]);
    expect(shown(await reader.next())).toEqual(['102-102', '102/0']);
  });

  test('gets rows that are not committed only after the commit', async () => {
    const reader = await subscribed();
    await scratch.database.transaction(async (transaction) => {
      await transaction.query(
        sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (1, 102, '\\x01', now())`,
      );
      await write([{ block: 103 }]);
    });
    const results = [shown(await reader.next())];
    expect(results.flat()).toContain('103/0');
  });

  test('can start after a block', async () => {
    await write([{ block: 102 }, { block: 103 }]);
    const reader = await subscribed('after_block: 99');
    expect(shown(await reader.next())).toEqual(['100-103', '100/0', '102/0', '103/0']);
    await write([{ block: 104 }]);
    expect(shown(await reader.next())).toEqual(['104-104', '104/0']);
  });

  test('gets rows with its values only', async () => {
    const reader = await subscribed(
      `where: { owner: "${OTHER}" }, in: { note: ["hello"] }, range: { log_index: { lt: 2 } }`,
    );
    await write([{ block: 102, owner: OWNER }]);
    await write([
      { block: 103, owner: OTHER },
      { block: 103, log: 1, owner: OWNER },
      { block: 103, log: 2, owner: OTHER },
    ]);
    await write([
      { block: 104, owner: OTHER, note: 'other' },
      { block: 104, log: 1, owner: OTHER },
    ]);
    expect(await rowsUntil(reader, '104/1')).toEqual(['103/0', '104/1']);
  });

  test('gets a block with more rows than a page in several results', async () => {
    const reader = await subscribed();
    await scratch.database.transaction(async (transaction) => {
      await transaction.query(
        sql`INSERT INTO contracts.vault_deposit SELECT 1, 102, 2, n, now(), '\\x01', '\\x02', '\\x03', n, true, 'a', '[]' FROM generate_series(0, 2499) n`,
      );
      await transaction.query(
        sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (1, 102, '\\x01', now())`,
      );
    });
    const results = [await reader.next(), await reader.next(), await reader.next()];
    expect(results.map((result) => result?.data?.rows?.nodes.length)).toEqual([1_000, 1_000, 500]);
    expect(results.flatMap((result) => shown(result).slice(1))).toEqual(
      Array.from({ length: 2_500 }, (_, log) => `102/${log}`),
    );
  });
});

describe('a reorg', () => {
  test('sends the rows of the new blocks, and names the first replaced one', async () => {
    const reader = await subscribed();
    await write([{ block: 102 }]);
    expect(shown(await reader.next())).toEqual(['102-102', '102/0']);
    await write([{ block: 103 }]);
    expect(shown(await reader.next())).toEqual(['103-103', '103/0']);
    await scratch.database.transaction(async () => {
      await removeBlocks(scratch.database, 102);
      await write([{ block: 102, log: 7 }], { blocks: [103, 104], branch: 2 });
    });
    const seen: (readonly unknown[])[] = [];
    while (!seen.flat().includes('102/7')) seen.push(shown(await reader.next()));
    expect(seen[0]?.[0]).toMatch(/^102-\d+ again$/);
    await write([{ block: 105 }], { branch: 2 });
    expect(shown(await reader.next()).slice(1)).toEqual(['105/0']);
  });

  test('without rows in the new blocks is sent too', async () => {
    const reader = await subscribed();
    await write([{ block: 102 }]);
    expect(shown(await reader.next())).toEqual(['102-102', '102/0']);
    await removeBlocks(scratch.database, 102);
    expect(shown(await reader.next())).toEqual(['102-101 again']);
    await write([{ block: 102, log: 3 }], { branch: 2 });
    expect(shown(await reader.next())).toEqual(['102-102', '102/3']);
  });
});

describe('a stream', () => {
  test('ends with the server', async () => {
    const other = await openGraphqlStage(scratch);
    const reader = await subscribed('', other);
    other.endStreams();
    expect(await reader.next()).toBeNull();
    await other.close();
  });

  test('needs the header for events', async () => {
    const { status, body } = await stage.request(
      'subscription { contracts_vault_deposit(chain: 1) { nodes { note } } }',
    );
    expect([status, body.errors?.[0]?.message]).toEqual([400, 'A subscription is a stream of events']);
  });

  test.each([
    [
      'two lists',
      'a: contracts_vault_deposit(chain: 1) { nodes { note } } b: contracts_vault_deposit(chain: 1) { nodes { note } }',
    ],
    ['a view', 'analytics_wallet_transfers(chain: 1) { nodes { amount } }'],
    ['the schema', '__schema { types { name } }'],
    ['a negative block', 'contracts_vault_deposit(chain: 1, after_block: "-1") { nodes { note } }'],
  ])('of %s is refused', async (_name, selection) => {
    expect((await subscribe(stage.url, `subscription { ${selection} }`)).status).toBe(400);
  });

  test('that starts too many blocks before the newest one is refused', async () => {
    await write([], { blocks: [20_000] });
    expect((await subscribed('after_block: 9999')).status).toBe(400);
    expect((await subscribed('after_block: 10000')).status).toBe(200);
  });

  test('of a chain without blocks starts with its first one', async () => {
    await removeBlocks(scratch.database, 0);
    const reader = await subscribed();
    await write([{ block: 5_000_000 }]);
    expect(shown(await reader.next())).toEqual(['5000000-5000000', '5000000/0']);
  });

  test('is refused while a key has too many', async () => {
    for (let count = 0; count < 20; count++) expect((await subscribed()).status).toBe(200);
    expect((await subscribed()).status).toBe(503);
  });
});

const FIVE_KEYS = [EXAMPLE_KEY, ...OTHER_KEYS.slice(0, 4)];

test('a hundred subscriptions of five keys to one table all get each block, and none ends', async () => {
  const readers = await Promise.all(
    FIVE_KEYS.flatMap((key) => Array.from({ length: 20 }, () => subscribed('', stage, key))),
  );
  expect(readers.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200));
  for (const block of [102, 103]) {
    await write([
      { block, log: 0 },
      { block, log: 1 },
    ]);
    const results = await Promise.all(readers.map((reader) => reader.next()));
    expect(new Set(results.map((result) => shown(result).join(' ')))).toEqual(
      new Set([`${block}-${block} ${block}/0 ${block}/1`]),
    );
  }
  const sixth = OTHER_KEYS[4];
  const statuses: number[] = [];
  for (let count = 0; count < 5; count++) statuses.push((await subscribed('', stage, sixth)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 503]);
});
