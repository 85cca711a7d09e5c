import { createChainRegistry } from '@chainstead/chains';
import type { ApiApp } from '@chainstead/http';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { EXAMPLE_KEY, exampleApi } from '../example-api.ts';
import { addressOf, hashOf, type SeededTransfer, seedCoverage, seedTransfers, timestampOf } from './seeded-wallets.ts';
import { walletTokenTransfersSchema } from './wallet-token-transfers-response.ts';
import { walletTokenTransfersRoute } from './wallet-token-transfers-route.ts';

const eth = createChainRegistry().get('eth');
const WALLET = addressOf(0xa11ce);
const FRIEND = addressOf(0xb0b);
const USDC = addressOf(0xc0);
const DAI = addressOf(0xda);

let scratch: ScratchDatabase;
let api: ApiApp;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  api = await exampleApi(scratch.database, [walletTokenTransfersRoute]);
});
afterAll(() => scratch.drop());
beforeEach(() =>
  scratch.database.query('TRUNCATE erc20_transfers, blocks, sync_ranges, tokens, address_labels').then(() => undefined),
);

type Answer = z.infer<typeof walletTokenTransfersSchema>;

async function request(
  query: string,
  wallet: string = WALLET,
): Promise<{ status: number; body: { message?: string } & Record<string, unknown> }> {
  const response = await api.request(`/api/v2.2/${wallet}/erc20/transfers${query}`, {
    headers: { 'X-API-Key': EXAMPLE_KEY },
  });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body };
}

/** An answer that keeps to the documented schema. */
async function get(query: string, wallet: string = WALLET): Promise<Answer> {
  const { status, body } = await request(query, wallet);
  expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
  return walletTokenTransfersSchema.parse(body);
}

const blocksOf = (answer: Answer): number[] => answer.result.map((row) => Number(row.block_number));

function transfer(blockNumber: number, facts: Partial<SeededTransfer> = {}): SeededTransfer {
  return {
    from: WALLET,
    to: FRIEND,
    token: USDC,
    value: 1_500_000n,
    blockNumber,
    transactionIndex: 0,
    logIndex: 0,
    ...facts,
  };
}

const run = (first: number, last: number): SeededTransfer[] =>
  Array.from({ length: last - first + 1 }, (_, index) => transfer(first + index));

async function addToken(
  address: string,
  columns: {
    standard?: string;
    name?: string;
    symbol?: string;
    decimals?: number;
    logo?: string;
    verified?: boolean;
    possible_spam?: boolean;
  },
): Promise<void> {
  const names = ['address', 'chain_id', 'facts_status', ...Object.keys(columns)];
  const values = [Buffer.from(address.slice(2), 'hex'), eth.id, 'known', ...Object.values(columns)];
  await scratch.database.query(
    `INSERT INTO tokens (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    values,
  );
}

async function addLabel(
  address: string,
  source: string,
  label: string,
  entity: string | null,
  chainId: number = eth.id,
): Promise<void> {
  await scratch.database.query(
    'INSERT INTO address_labels (address, chain_id, source, label, entity, entity_logo) VALUES ($1, $2, $3, $4, $5, $6)',
    [
      Buffer.from(address.slice(2), 'hex'),
      chainId,
      source,
      label,
      entity,
      entity === null ? null : `https://logo.example/${entity}`,
    ],
  );
}

describe('a transfer', () => {
  test('is shown with every field, labels of both sides and the token’s facts', async () => {
    await seedTransfers(scratch.database, eth, [transfer(7, { transactionIndex: 3, logIndex: 9 })]);
    await seedCoverage(scratch.database, eth, 0, 10);
    await addToken(USDC, {
      standard: 'erc20',
      name: 'USD Coin',
      symbol: 'USDC',
      decimals: 6,
      logo: 'https://logo.example/usdc.png',
      verified: true,
    });
    await addLabel(WALLET, 'list', 'Alice', 'Wonderland');
    await addLabel(FRIEND, 'list', 'Bob', null);
    expect(await get('')).toEqual({
      total: 1,
      page: 0,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '10', complete: true },
      result: [
        {
          token_name: 'USD Coin',
          token_symbol: 'USDC',
          token_logo: 'https://logo.example/usdc.png',
          token_decimals: '6',
          from_address: WALLET,
          from_address_label: 'Alice',
          from_address_entity: 'Wonderland',
          from_address_entity_logo: 'https://logo.example/Wonderland',
          to_address: FRIEND,
          to_address_label: 'Bob',
          to_address_entity: null,
          to_address_entity_logo: null,
          address: USDC,
          block_hash: hashOf(1, 7),
          block_number: '7',
          block_timestamp: new Date(timestampOf(7) * 1000).toISOString(),
          transaction_hash: hashOf(2, 7_003),
          transaction_index: 3,
          log_index: 9,
          value: '1500000',
          value_decimal: '1.5',
          possible_spam: false,
          verified_contract: true,
          verified_collection: true,
        },
      ],
    });
  });

  test('of an unknown token has null facts, and is neither spam nor verified', async () => {
    await seedTransfers(scratch.database, eth, [transfer(7)]);
    const [row] = (await get('')).result;
    expect(row).toMatchObject({
      token_name: null,
      token_symbol: null,
      token_logo: null,
      token_decimals: null,
      value: '1500000',
      value_decimal: null,
      possible_spam: false,
      verified_contract: false,
      from_address_label: null,
      to_address_label: null,
    });
  });

  test('is shown from the side that the wallet is on, and once when it is both', async () => {
    await seedTransfers(scratch.database, eth, [
      transfer(1),
      transfer(2, { from: FRIEND, to: WALLET }),
      transfer(3, { to: WALLET }),
    ]);
    const sides = (await get('?order=asc')).result.map((row) => [row.from_address, row.to_address]);
    expect(sides).toEqual([
      [WALLET, FRIEND],
      [FRIEND, WALLET],
      [WALLET, WALLET],
    ]);
  });

  test('of a contract that turned out to be an NFT is left out, of a spam token marked', async () => {
    await addToken(USDC, { standard: 'erc721' });
    await addToken(DAI, { standard: 'erc20', possible_spam: true });
    await seedTransfers(scratch.database, eth, [transfer(1), transfer(2, { token: DAI })]);
    expect((await get('')).result.map((row) => [row.address, row.possible_spam])).toEqual([[DAI, true]]);
    expect((await get(`?contract_addresses=${USDC},${DAI}`)).result.map((row) => row.address)).toEqual([DAI]);
    expect(await get('?disable_total=false')).toMatchObject({ total: 1 });
  });

  test('takes a label made for its chain, one with an entity, the first source, in that order', async () => {
    await addLabel(FRIEND, 'a', 'everywhere', 'Entity', 0);
    await seedTransfers(scratch.database, eth, [transfer(1)]);
    expect((await get('')).result[0]?.to_address_label).toBe('everywhere');
    await addLabel(FRIEND, 'b', 'here', null);
    expect((await get('')).result[0]?.to_address_label).toBe('here');
    await addLabel(FRIEND, 'd', 'here with entity', 'Entity');
    await addLabel(FRIEND, 'c', 'earlier source', 'Entity');
    expect((await get('')).result[0]?.to_address_label).toBe('earlier source');
  });
});

describe('parameters', () => {
  test.each([
    'contract_addresses%5B%5D=<usdc>&contract_addresses%5B%5D=<dai>',
    'contract_addresses[0]=<usdc>&contract_addresses[1]=<dai>',
    'contract_addresses=<usdc>&contract_addresses=<dai>',
    'contract_addresses=<usdc>,<dai>',
  ])('the token filter reads %s', async (spelling) => {
    await seedTransfers(scratch.database, eth, [
      transfer(1),
      transfer(2, { token: DAI }),
      transfer(3, { token: addressOf(1) }),
    ]);
    const query = spelling.replace('<usdc>', USDC.toUpperCase().replace('0X', '0x')).replace('<dai>', DAI);
    expect(blocksOf(await get(`?${query}`))).toEqual([2, 1]);
  });

  test('chains are found by name, hexadecimal and decimal id; another chain’s rows stay out', async () => {
    const base = createChainRegistry().get('base');
    await seedTransfers(scratch.database, eth, [transfer(1)]);
    await seedTransfers(scratch.database, base, [transfer(2)]);
    for (const chain of ['eth', 'ETH', '0x1', '1']) expect(blocksOf(await get(`?chain=${chain}`))).toEqual([1]);
    for (const chain of ['base', '0x2105', '8453']) expect(blocksOf(await get(`?chain=${chain}`))).toEqual([2]);
  });

  test('a chain that is known but not indexed answers an empty page that says so', async () => {
    expect(await get('?chain=polygon')).toEqual({
      total: 0,
      page: 0,
      page_size: 100,
      cursor: null,
      indexed: { from_block: null, to_block: null, complete: false },
      result: [],
    });
  });

  test('bounds include their ends, and a block wins over a date', async () => {
    await seedTransfers(scratch.database, eth, run(1, 9));
    const date = (block: number, seconds = 0): string => new Date((timestampOf(block) + seconds) * 1000).toISOString();
    expect(blocksOf(await get('?from_block=3&to_block=5'))).toEqual([5, 4, 3]);
    expect(blocksOf(await get(`?from_date=${date(3)}&to_date=${date(5)}`))).toEqual([5, 4, 3]);
    expect(blocksOf(await get(`?from_date=${date(3, 1)}&to_date=${date(5, -1)}`))).toEqual([4]);
    expect(blocksOf(await get(`?from_block=8&from_date=${date(2)}`))).toEqual([9, 8]);
    expect(blocksOf(await get(`?to_block=2&to_date=${date(8)}&order=ASC`))).toEqual([1, 2]);
    expect(blocksOf(await get(`?from_date=${timestampOf(9)}`))).toEqual([9]);
    expect(blocksOf(await get(`?to_date=${date(0)}`))).toEqual([]);
  });

  test.each([
    ['?chain=nonsense', 'chain'],
    ['?limit=0', 'limit'],
    ['?limit=-1', 'limit'],
    ['?limit=ten', 'limit'],
    ['?order=up', 'order'],
    ['?from_block=-1', 'from_block'],
    ['?from_block=9&to_block=8', 'from_block'],
    ['?from_date=yesterday-ish', 'from_date'],
    ['?contract_addresses=0x12', 'contract_addresses'],
    [
      `?contract_addresses=${Array.from({ length: 101 }, (_, index) => addressOf(index)).join(',')}`,
      'contract_addresses',
    ],
    ['?disable_total=maybe', 'disable_total'],
    ['?cursor=abc', 'cursor'],
  ])('a 400 names the parameter: %.60s', async (query, parameter) => {
    const { status, body } = await request(query);
    expect(status).toBe(400);
    expect(body.message).toContain(parameter);
  });

  test('an address that is none is refused, any letter case accepted', async () => {
    await seedTransfers(scratch.database, eth, [transfer(1)]);
    expect((await request('', '0x123')).status).toBe(400);
    expect(blocksOf(await get('', `0x${WALLET.slice(2).toUpperCase()}`))).toEqual([1]);
  });
});

describe('paging', () => {
  async function pages(query: string): Promise<Answer[]> {
    const answers = [await get(query)];
    for (let cursor = answers[0]?.cursor ?? null; cursor !== null; cursor = answers.at(-1)?.cursor ?? null)
      answers.push(await get(`?cursor=${cursor}`));
    return answers;
  }

  test.each(['ASC', 'DESC'])(
    'walks every row once, %s, and ends with a null cursor and the exact total',
    async (order) => {
      await seedTransfers(scratch.database, eth, [
        ...run(1, 7),
        transfer(4, { logIndex: 1 }),
        transfer(4, { transactionIndex: 1, logIndex: 0 }),
      ]);
      const answers = await pages(`?limit=2&order=${order}`);
      const places = answers.flatMap((answer) =>
        answer.result.map((row) => [Number(row.block_number), row.transaction_index, row.log_index]),
      );
      const expected = [
        [1, 0, 0],
        [2, 0, 0],
        [3, 0, 0],
        [4, 0, 0],
        [4, 0, 1],
        [4, 1, 0],
        [5, 0, 0],
        [6, 0, 0],
        [7, 0, 0],
      ];
      expect(places).toEqual(order === 'ASC' ? expected : expected.toReversed());
      expect(answers.map((answer) => [answer.page, answer.page_size, answer.total])).toEqual([
        [0, 2, null],
        [1, 2, null],
        [2, 2, null],
        [3, 2, null],
        [4, 2, 9],
      ]);
    },
  );

  test('a page that is exactly full and last has no cursor', async () => {
    await seedTransfers(scratch.database, eth, run(1, 4));
    expect((await pages('?limit=2')).map((answer) => answer.result.length)).toEqual([2, 2]);
  });

  test('the limit is clamped, and shown as it counts', async () => {
    expect(await get('?limit=1000000000')).toMatchObject({ page_size: 100 });
  });

  test('disable_total=false counts the whole answer on every page of the run', async () => {
    await seedTransfers(scratch.database, eth, run(1, 5));
    expect((await pages('?limit=2&disable_total=false')).map((answer) => answer.total)).toEqual([5, 5, 5]);
    expect((await get('?limit=2&disable_total=false&from_block=2&to_block=4')).total).toBe(3);
    expect((await get(`?limit=2&disable_total=false&contract_addresses=${DAI}`)).total).toBe(0);
    expect((await get('?limit=2&disable_total=true')).total).toBeNull();
  });

  test('more than 10,000 rows are not counted', async () => {
    await seedTransfers(scratch.database, eth, run(1, 10_000));
    expect((await get('?disable_total=false')).total).toBe(10_000);
    await seedTransfers(scratch.database, eth, [transfer(10_001)]);
    expect((await get('?disable_total=false')).total).toBeNull();
    expect((await get('?disable_total=false&from_block=2')).total).toBe(10_000);
  });

  test.each(['ASC', 'DESC'])('rows of new blocks never enter a running cursor, %s', async (order) => {
    await seedTransfers(scratch.database, eth, run(1, 4));
    const first = await get(`?limit=3&order=${order}`);
    await seedTransfers(scratch.database, eth, run(5, 9));
    const second = await get(`?cursor=${first.cursor}`);
    expect([...blocksOf(first), ...blocksOf(second)]).toEqual(order === 'ASC' ? [1, 2, 3, 4] : [4, 3, 2, 1]);
    expect(second).toMatchObject({ cursor: null, total: 4 });
  });

  test('rows that backfill adds beyond the cursor’s place appear, rows that a reorganisation removed vanish', async () => {
    await seedCoverage(scratch.database, eth, 100, 200);
    await seedTransfers(scratch.database, eth, [transfer(100), transfer(101), transfer(102)]);
    const first = await get('?limit=2&order=ASC');
    await seedTransfers(scratch.database, eth, [transfer(50), transfer(150), transfer(201)]);
    await scratch.database.query('DELETE FROM erc20_transfers WHERE block_number = 102');
    expect(blocksOf(await get(`?cursor=${first.cursor}`))).toEqual([150]);
  });

  test('a cursor keeps its query: what is left out comes from it, what contradicts it is refused', async () => {
    await seedTransfers(scratch.database, eth, run(1, 9));
    const { cursor } = await get(`?limit=2&order=ASC&from_block=2&contract_addresses=${USDC}&chain=0x1`);
    expect(blocksOf(await get(`?cursor=${cursor}`))).toEqual([4, 5]);
    expect(await get(`?cursor=${cursor}&limit=50`)).toMatchObject({ page: 1, page_size: 2 });
    expect(
      blocksOf(await get(`?cursor=${cursor}&order=asc&from_block=2&chain=eth&contract_addresses=${USDC}`)),
    ).toEqual([4, 5]);
    for (const changed of [
      'order=DESC',
      'from_block=3',
      'chain=base',
      `contract_addresses=${DAI}`,
      'to_block=9',
      'from_date=2020-01-01',
    ])
      expect([changed, (await request(`?cursor=${cursor}&${changed}`)).status]).toEqual([changed, 400]);
    expect((await request(`?cursor=${cursor}`, FRIEND)).status).toBe(400);
    expect((await request(`?cursor=${cursor?.slice(0, -2)}`)).status).toBe(400);
  });
});

describe('indexed', () => {
  const indexed = async (query = ''): Promise<Answer['indexed']> => (await get(query)).indexed;

  test('is the unbroken run that ends with the newest covered block, whatever its proof', async () => {
    await seedCoverage(scratch.database, eth, 0, 9);
    await seedCoverage(scratch.database, eth, 20, 29);
    await seedCoverage(scratch.database, eth, 30, 39, 'none');
    expect(await indexed()).toEqual({ from_block: '20', to_block: '39', complete: false });
    await seedCoverage(scratch.database, eth, 10, 19);
    expect(await indexed()).toEqual({ from_block: '0', to_block: '39', complete: true });
  });

  test('is complete when the blocks that were asked for are covered', async () => {
    await seedCoverage(scratch.database, eth, 5, 9);
    await seedCoverage(scratch.database, eth, 20, 29);
    const complete = async (query: string): Promise<boolean> => (await indexed(query)).complete;
    expect(await complete('?from_block=20')).toBe(true);
    expect(await complete('?from_block=19')).toBe(false);
    expect(await complete('?from_block=5&to_block=9')).toBe(true);
    expect(await complete('?from_block=5&to_block=10')).toBe(false);
    expect(await complete('?from_block=20&to_block=29')).toBe(true);
    expect(await complete('?from_block=20&to_block=30')).toBe(false);
    expect(await complete('?from_block=30')).toBe(false);
    expect(await complete('?to_block=9')).toBe(false);
  });

  test('is complete for dates when every block that may belong to them is covered', async () => {
    await seedTransfers(scratch.database, eth, [transfer(10), transfer(15), transfer(20)]);
    await seedCoverage(scratch.database, eth, 10, 20);
    const date = (block: number): string => new Date(timestampOf(block) * 1000).toISOString();
    const complete = async (query: string): Promise<boolean> => (await indexed(query)).complete;
    // Nothing earlier is known, so blocks before the run may belong to the span too.
    expect(await complete(`?from_date=${date(10)}`)).toBe(false);
    expect(await complete(`?from_date=${date(11)}`)).toBe(true);
    expect(await complete(`?from_date=${date(11)}&to_date=${date(16)}`)).toBe(true);
    expect(await complete(`?from_date=${date(11)}&to_date=${date(99)}`)).toBe(true);
    expect(await complete(`?to_date=${date(16)}`)).toBe(false);
  });

  test('does not change its mind on later pages', async () => {
    await seedCoverage(scratch.database, eth, 0, 9);
    await seedTransfers(scratch.database, eth, run(1, 9));
    const open = await get('?limit=4');
    const beyond = await get('?limit=4&to_block=50');
    await seedCoverage(scratch.database, eth, 20, 29);
    expect([open.indexed.complete, (await get(`?cursor=${open.cursor}`)).indexed.complete]).toEqual([true, true]);
    expect([beyond.indexed.complete, (await get(`?cursor=${beyond.cursor}`)).indexed.complete]).toEqual([false, false]);
  });
});
