/** A wallet's transactions: what is listed, in which order, in pages, and what is refused, over rows that are seeded. */
import { createChainRegistry, type TransactionKeeping } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { StateQuestions } from '@chainstead/state';
import {
  addressOf,
  atDepth,
  createScratchDatabase,
  hashOf,
  type Moralis,
  type ScratchDatabase,
  startOfficialSdk,
  timestampOf,
} from '@chainstead/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TransactionRow } from '../stored/schema.ts';
import {
  type SeededTransaction,
  seededHash,
  seedTransactionCoverage,
  seedTransactions,
} from '../testing/seeded-transactions.ts';
import { createTransactionRoutes } from './create-transaction-routes.ts';

const [WALLET, FRIEND, CONTRACT] = [addressOf(0xa), addressOf(0xb), addressOf(0xc)];
const known = createChainRegistry();
const keeping: { -readonly [Field in keyof TransactionKeeping]: TransactionKeeping[Field] } = {
  mode: 'all',
  input: 'full',
  provesSenders: true,
};
const eth = { ...known.get('eth'), transactions: keeping };
/** What the worker is asked, and what it answers. */
let asked: { readonly kind: string; readonly question: unknown }[] = [];
/** Wallets whose sent transactions were asked to be searched. */
let searchesAsked: Address[] = [];
/** Wallets whose balances were asked to be searched. */
let balancesAsked: Address[] = [];
let answerOf: (kind: string, question: never) => unknown = () => null;

let scratch: ScratchDatabase;
let server: ApiServer;
let sdk: Moralis;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  const questions: StateQuestions = {
    async ask(_chain, kind, question) {
      asked.push({ kind: kind.name, question });
      const answer = answerOf(kind.name, question as never);
      return answer === null ? null : kind.answer.parse(answer);
    },
  };
  const routes = createTransactionRoutes({
    questions,
    walletHistory: {
      async requestSender(_context, _chain, wallet) {
        searchesAsked.push(wallet);
        return 'requested';
      },
      async requestReceiver(_context, _chain, wallet) {
        balancesAsked.push(wallet);
        return 'requested';
      },
    },
    clock: systemClock,
    ...{ waitMs: 100, maxCalls: 10, perKey: 1 },
  });
  const find = (text: string | number) => (known.find(text)?.id === eth.id ? eth : known.find(text));
  const api = await exampleApi(scratch.database, routes, { chains: { find } });
  server = await serveApi(api, { host: '127.0.0.1', port: 0 });
  ({ Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url }));
});
afterAll(async () => {
  await server.close();
  await scratch.drop();
});
beforeEach(async () => {
  Object.assign(keeping, { mode: 'all', input: 'full', provesSenders: true });
  asked = [];
  searchesAsked = [];
  balancesAsked = [];
  answerOf = () => null;
  await scratch.database.query(
    'TRUNCATE transactions, account_transactions, blocks, sync_ranges, sync_chains, address_labels, asked_wallets, wallet_watches, subject_ranges',
  );
});

interface Page {
  readonly result: readonly Readonly<Record<string, unknown>>[];
  readonly cursor: string | null;
  readonly page: number;
  readonly page_size: number;
  readonly indexed: Readonly<Record<string, unknown>>;
}

async function ask(path: string): Promise<{ status: number; body: Page }> {
  const answer = await fetch(`${server.url}/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: answer.status, body: (await answer.json()) as Page };
}

async function get(path: string): Promise<Page> {
  const { status, body } = await ask(path);
  expect([path, status, status === 200 ? null : body]).toEqual([path, 200, null]);
  return body;
}

const at = (
  blockNumber: number,
  transactionIndex = 0,
  columns: Partial<TransactionRow> = {},
  [from, to]: readonly [Address, Address | null] = [WALLET, FRIEND],
): SeededTransaction => ({ blockNumber, transactionIndex, from, to, columns });
const placesOf = (page: Page): string[] =>
  page.result.map((one) => `${String(one.block_number)}.${String(one.transaction_index)}`);
const seed = (...all: readonly SeededTransaction[]) => seedTransactions(scratch.database, eth, all);

describe('a wallet’s transactions', () => {
  test('are those that it sent or received, and those that created it', async () => {
    await seed(
      at(1),
      at(2, 0, {}, [FRIEND, WALLET]),
      at(3, 0, {}, [WALLET, WALLET]),
      at(4, 0, {}, [FRIEND, CONTRACT]),
      at(5, 0, { contractAddress: CONTRACT }, [FRIEND, null]),
      at(6, 0, { contractAddress: CONTRACT, status: 0 }, [FRIEND, null]),
    );
    expect(placesOf(await get(WALLET))).toEqual(['3.0', '2.0', '1.0']);
    expect(placesOf(await get(CONTRACT))).toEqual(['5.0', '4.0']);
    expect(placesOf(await get(FRIEND))).toEqual(['6.0', '5.0', '4.0', '2.0', '1.0']);
    expect((await get(addressOf(0xdead))).result).toEqual([]);
  });

  test('have all that is known of each', async () => {
    await scratch.database.query(
      `INSERT INTO address_labels (address, chain_id, source, label, entity) VALUES ($1, $2, 'test', 'Friend 1', 'Friends')`,
      [addressBytes(FRIEND), eth.id],
    );
    const input = `0xa9059cbb${'1'.padStart(64, '0')}${'7'.padStart(64, '0')}` as const;
    const largest = '-1';
    await seed(
      at(9, 3, {
        input,
        selector: '0xa9059cbb',
        nonce: largest,
        l1Fee: '1000000000000',
        blobGasUsed: '10',
        blobGasPrice: '3',
      }),
    );
    const page = await get(`${WALLET.toUpperCase().replace('X', 'x')}?chain=0x1&include=`);
    expect(page).toEqual({
      page: 1,
      page_size: 100,
      cursor: null,
      indexed: { from_block: null, to_block: null, complete: false, senders: 'recovered' },
      result: [
        {
          hash: seededHash({ blockNumber: 9, transactionIndex: 3 }),
          nonce: (2n ** 64n - 1n).toString(),
          transaction_index: '3',
          from_address: WALLET,
          from_address_entity: null,
          from_address_entity_logo: null,
          from_address_label: null,
          to_address: FRIEND,
          to_address_entity: 'Friends',
          to_address_entity_logo: null,
          to_address_label: 'Friend 1',
          value: '5',
          gas: '30000',
          gas_price: '1000000000',
          input,
          receipt_cumulative_gas_used: '42000',
          receipt_gas_used: '21000',
          receipt_contract_address: null,
          receipt_root: null,
          receipt_status: '1',
          transaction_fee: '0.000022',
          blob_fee: '0.00000000000000003',
          block_timestamp: new Date(timestampOf(9) * 1_000).toISOString(),
          block_number: '9',
          block_hash: hashOf(1, 9),
          method_label: 'transfer',
        },
      ],
    });
    expect(asked).toEqual([]);
  });

  test('say of which blocks they tell', async () => {
    await seedTransactionCoverage(scratch.database, eth, 0, 20);
    await seed(at(5), at(7, 0, { senderRecovered: false }));
    expect((await get(WALLET)).indexed).toEqual({
      from_block: '0',
      to_block: '20',
      complete: true,
      senders: 'believed',
    });
    expect((await get(`${WALLET}?to_block=6`)).indexed).toMatchObject({ complete: true, senders: 'recovered' });
    expect((await get(`${WALLET}?to_block=21`)).indexed).toMatchObject({ complete: false });
  });

  test('are bounded by blocks and dates, both inclusive, a block before a date', async () => {
    await seed(...[1, 2, 3, 4, 5].map((block) => at(block)));
    const date = (block: number) => new Date(timestampOf(block) * 1_000).toISOString();
    const blocks = async (query: string) => placesOf(await get(`${WALLET}?order=asc&${query}`)).map(Number.parseFloat);
    expect(await blocks('from_block=2&to_block=4')).toEqual([2, 3, 4]);
    expect(await blocks(`from_date=${date(3)}`)).toEqual([3, 4, 5]);
    expect(await blocks(`to_date=${date(3)}`)).toEqual([1, 2, 3]);
    expect(await blocks(`to_date=${timestampOf(2)}&from_date=${timestampOf(2)}`)).toEqual([2]);
    expect(await blocks(`from_block=4&from_date=${date(1)}`)).toEqual([4, 5]);
    expect(await blocks(`from_date=${date(9)}`)).toEqual([]);
  });

  test('stay as they were while newer ones arrive', async () => {
    await seedTransactionCoverage(scratch.database, eth, 0, 3);
    await seed(at(1), at(2), at(3));
    const first = await get(`${WALLET}?limit=2`);
    await seed(at(4), at(3, 1));
    const second = await get(`${WALLET}?chain=0x1&cursor=${first.cursor}`);
    expect([placesOf(first), placesOf(second), second.page, second.cursor]).toEqual([['3.0', '2.0'], ['1.0'], 2, null]);
  });

  test('have pages that together are all of them once, whatever there is', async () => {
    const place = fc.record({ block: fc.integer({ min: 1, max: 6 }), index: fc.integer({ min: 0, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(place, { selector: ({ block, index }) => block * 10 + index, maxLength: 24 }),
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('ASC', 'DESC'),
        fc.option(fc.integer({ min: 0, max: 7 })),
        fc.option(fc.integer({ min: 0, max: 7 })),
        async (places, limit, order, from, to) => {
          await scratch.database.query('TRUNCATE transactions, account_transactions, blocks');
          await seed(
            ...places.map(({ block, index }, nth) =>
              at(block, index, {}, nth % 2 === 0 ? [WALLET, FRIEND] : [FRIEND, WALLET]),
            ),
          );
          const bounds = `${from === null ? '' : `&from_block=${from}`}${to === null ? '' : `&to_block=${to}`}`;
          const isReversed = from !== null && to !== null && from > to;
          const { status } = await ask(`${WALLET}?limit=${limit}&order=${order}${bounds}`);
          expect(status).toBe(isReversed ? 400 : 200);
          if (isReversed) return;
          const found: string[] = [];
          for (let page = await get(`${WALLET}?limit=${limit}&order=${order}${bounds}`); ; ) {
            expect(page.result.length).toBeLessThanOrEqual(limit);
            found.push(...placesOf(page));
            if (page.cursor === null) break;
            expect(page.result).toHaveLength(limit);
            page = await get(`${WALLET}?cursor=${page.cursor}`);
          }
          const expected = places
            .filter(({ block }) => block >= (from ?? 0) && block <= (to ?? 9))
            .toSorted((one, other) => one.block - other.block || one.index - other.index)
            .map(({ block, index }) => `${block}.${index}`);
          expect(found).toEqual(order === 'ASC' ? expected : expected.toReversed());
        },
      ),
      { numRuns: atDepth(25) },
    );
  });

  test('are not answered while a block of them is being replaced', async () => {
    await seed(at(1), at(2));
    await scratch.database.query('DELETE FROM transactions WHERE block_number = 2');
    expect((await ask(WALLET)).status).toBe(503);
    await scratch.database.query('DELETE FROM account_transactions WHERE block_number = 2');
    expect(placesOf(await get(WALLET))).toEqual(['1.0']);
  });
});

describe('calldata of which four bytes are kept', () => {
  const rows = () =>
    seed(at(1, 0, { input: null, selector: '0xa9059cbb' }), at(2), at(3, 0, { input: null, selector: '0x12345678' }));

  test('is read from a node, that of a page at once', async () => {
    await rows();
    const hashes = [1, 3].map((blockNumber) => seededHash({ blockNumber, transactionIndex: 0 })).sort();
    answerOf = () => ({ readAt: Date.now(), inputs: ['0xa9059cbb', '0x12345678'] });
    const { result } = await get(`${WALLET}?order=ASC`);
    expect(result.map(({ input }) => input)).toEqual(['0xa9059cbb', '0x', '0x12345678']);
    expect(asked).toEqual([{ kind: 'transaction-inputs', question: { hashes } }]);
  });

  test('is 503 as long as no node tells it', async () => {
    await rows();
    expect(await ask(WALLET)).toEqual({ status: 503, body: { message: 'being read from the node' } });
    expect((await ask(`${WALLET}?from_block=2&to_block=2`)).status).toBe(200);
  });
});

describe('the calls inside', () => {
  const call = {
    ...{ type: 'CALL', from: FRIEND, to: CONTRACT, value: '3', gas: '0', gasUsed: '0', input: '0x', output: '0x' },
    ...{ error: null, isReverted: false },
  };

  test('are read from a node where they are asked for, also on the next page', async () => {
    await seed(at(1), at(2));
    answerOf = (_kind, { transactions }: { readonly transactions: readonly { readonly hash: string }[] }) => ({
      readAt: Date.now(),
      traced: transactions.map(({ hash }) => ({ hash, calls: [call] })),
    });
    const first = await get(`${WALLET}?limit=1&include=internal_transactions`);
    const second = await get(`${WALLET}?cursor=${first.cursor}`);
    for (const [page, number] of [
      [first, 2],
      [second, 1],
    ] as const) {
      expect(page.indexed).toMatchObject({ traces: 'on-demand' });
      expect(page.result[0]).toMatchObject({
        internal_transactions: [{ block_number: number, block_hash: hashOf(1, number), to: CONTRACT, value: '3' }],
      });
    }
    expect(asked.map(({ kind }) => kind)).toEqual(['internal-transactions', 'internal-transactions']);
  });

  test('are null where no node gives them', async () => {
    await seed(at(1));
    answerOf = () => ({ readAt: Date.now(), traced: null });
    const page = await get(`${WALLET}?include=internal_transactions`);
    expect([page.indexed.traces, page.result[0]?.internal_transactions]).toEqual(['none', null]);
  });
});

describe('the verbose list', () => {
  const log = {
    index: 4,
    address: CONTRACT,
    topics: [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      `0x${WALLET.slice(2).padStart(64, '0')}`,
      `0x${FRIEND.slice(2).padStart(64, '0')}`,
    ],
    data: `0x${'7'.padStart(64, '0')}`,
  };

  test('has logs, read from a node by block, and what they and the call mean', async () => {
    const input = `0xa9059cbb${FRIEND.slice(2).padStart(64, '0')}${'7'.padStart(64, '0')}` as const;
    await seed(at(1, 1), at(1, 0, { input }), at(2));
    answerOf = (_kind, { transactions }: { readonly transactions: readonly string[] }) => ({
      readAt: Date.now(),
      logs: transactions.map((hash) => (hash === seededHash({ blockNumber: 1, transactionIndex: 0 }) ? [log] : [])),
    });
    const { result } = await get(`${WALLET}/verbose?order=ASC`);
    expect(asked).toEqual(
      [
        {
          block: hashOf(1, 1),
          transactions: [0, 1].map((index) => seededHash({ blockNumber: 1, transactionIndex: index })),
        },
        { block: hashOf(1, 2), transactions: [seededHash({ blockNumber: 2, transactionIndex: 0 })] },
      ].map((question) => ({ kind: 'transaction-logs', question })),
    );
    expect(result[0]).toMatchObject({
      method_label: 'transfer',
      decoded_call: { signature: 'transfer(address,uint256)', label: 'transfer', type: 'function' },
      logs: [
        {
          log_index: '4',
          transaction_index: '0',
          block_number: '1',
          block_hash: hashOf(1, 1),
          address: CONTRACT,
          topic3: null,
          decoded_event: { signature: 'Transfer(address,address,uint256)', label: 'Transfer', type: 'event' },
        },
      ],
    });
    expect(result.slice(1).map(({ logs, decoded_call }) => [logs, decoded_call])).toEqual([
      [[], null],
      [[], null],
    ]);
  });

  test('is 503 as long as no node tells the logs, and its cursors are its own', async () => {
    await seed(at(1), at(2));
    expect(await ask(`${WALLET}/verbose`)).toEqual({ status: 503, body: { message: 'being read from the node' } });
    const { cursor } = await get(`${WALLET}?limit=1`);
    expect((await ask(`${WALLET}/verbose?cursor=${cursor}`)).status).toBe(400);
    expect((await ask(`${FRIEND}?cursor=${cursor}`)).status).toBe(400);
    expect((await ask(`${WALLET}?cursor=${cursor}&order=ASC`)).status).toBe(400);
    expect((await ask(`${WALLET}?cursor=${cursor}&limit=1&order=DESC&chain=eth&include=`)).status).toBe(200);
  });
});

describe('what is refused', () => {
  const INVALID = { message: 'address is not a valid hex address' };
  test.each(['0x', '0x12', `${WALLET}0`, `0x${'g'.repeat(40)}`, '0X1', '0xd8da6bf26964af9d7eed9e03e53415d37aa9604'])(
    'the address %s, by the hosted provider’s text',
    async (given) => {
      for (const path of [given, `${given}/verbose`])
        expect(await ask(path)).toMatchObject({ status: 400, body: INVALID });
    },
  );

  test.each(['wallet', 'nfts', 'tokenz', 'vitalik.eth', 'd8da6bf26964af9d7eed9e03e53415d37aa96045', 'wallet/verbose'])(
    '%s, as a path that is none',
    async (path) => {
      expect(await ask(path)).toEqual({ status: 404, body: { message: `No route for GET /api/v2.2/${path}` } });
    },
  );

  test.each<[string, string]>([
    ['include=logs', 'include must be internal_transactions, "logs" was given'],
    ['limit=0', 'limit must be a whole number from 1 (above 100 means 100), "0" was given'],
    ['order=up', 'order must be ASC or DESC, "up" was given'],
    ['from_block=-1', 'from_block must be a block number (a whole number from 0 to 9007199254740991), "-1" was given'],
    ['from_block=5&to_block=4', 'from_block must be at most to_block (4), "5" was given'],
  ])('%s', async (query, message) => {
    expect(await ask(`${WALLET}?${query}`)).toMatchObject({ status: 400, body: { message } });
  });

  test('a chain whose transactions are not kept, with the key to set', async () => {
    keeping.mode = 'off';
    const body = {
      message: 'transactions of eth are not indexed: set TRANSACTIONS_ETH=all and restart',
      details: { reason: 'not-indexed', configuration_key: 'TRANSACTIONS_ETH' },
    };
    for (const path of [WALLET, `${WALLET}/verbose`]) expect(await ask(path)).toEqual({ status: 400, body });
  });
});

describe('where only transactions of wallets that are asked for are kept', () => {
  beforeEach(async () => {
    Object.assign(keeping, { mode: 'wallets' });
    await scratch.database.query(
      'INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES (1, 100, 100, 119)',
    );
  });

  test('a wallet is asked for by the first request, which is told that nothing is known', async () => {
    await seed(at(3));
    const page = await get(WALLET);
    expect(placesOf(page)).toEqual(['3.0']);
    expect(page.indexed).toEqual({
      ...{ from_block: null, to_block: null, complete: false, senders: 'recovered' },
      sent: { complete: false, state: null },
      received: { searched: false, state: null },
    });
    expect(searchesAsked).toEqual([WALLET]);
    expect(await scratch.database.query('SELECT wallet, since_block FROM asked_wallets')).toEqual([
      { wallet: addressBytes(WALLET), since_block: null },
    ]);
  });

  test('what was searched for it is told: all of new blocks, of older ones what it sent', async () => {
    const columns = 'chain_id, kind, subject, dataset, first_block, last_block';
    await scratch.database.query('INSERT INTO asked_wallets (chain_id, wallet, since_block) VALUES (1, $1, 110)', [
      addressBytes(WALLET),
    ]);
    await scratch.database.query('INSERT INTO wallet_watches (chain_id, first_block, last_block) VALUES (1, 105, 119)');
    const search = (first: number, last: number, kind = 'sender') =>
      scratch.database.query(
        `INSERT INTO subject_ranges (${columns}) VALUES (1, $4, $1, 'account-transactions', $2, $3)`,
        [addressBytes(WALLET), first, last, kind],
      );
    await search(50, 109);
    await seed(at(60), at(112));
    const span = { from_block: '110', to_block: '119', senders: 'recovered' };
    expect((await get(WALLET)).indexed).toEqual({
      ...{ ...span, complete: false },
      sent: { complete: false, state: null },
      received: { searched: false, state: null },
    });
    expect(searchesAsked).toEqual([WALLET]);
    expect(balancesAsked).toEqual([]);
    await search(0, 49);
    expect((await get(`${WALLET}?limit=1`)).indexed).toEqual({
      ...{ ...span, complete: false },
      sent: { complete: true, state: null },
      // All that there is may yet be reorganised.
      received: { searched: true, state: null },
    });
    expect(balancesAsked).toEqual([]);
    expect((await get(`${WALLET}?from_block=110&to_block=119`)).indexed.complete).toBe(true);
    expect((await get(`${WALLET}?from_block=109`)).indexed.complete).toBe(false);
    expect(searchesAsked).toEqual([WALLET]);
    await scratch.database.query('UPDATE sync_chains SET checkpoint = 1000');
    await scratch.database.query('UPDATE wallet_watches SET last_block = 1000');
    expect((await get(WALLET)).indexed).toMatchObject({ complete: false, received: { searched: false } });
    expect(balancesAsked).toEqual([WALLET]);
    await search(1, 900, 'receiver');
    expect((await get(WALLET)).indexed).toMatchObject({ complete: false, received: { searched: true } });
    expect(balancesAsked).toEqual([WALLET]);
    // Another wallet has nothing of it.
    expect((await get(FRIEND)).indexed).toMatchObject({ from_block: null, to_block: null, complete: false });
  });
});

describe('the official SDK', () => {
  test('reads a list and its next page', async () => {
    await seed(at(1), at(2, 0, { status: 0 }), at(3, 0, { contractAddress: CONTRACT }, [WALLET, null]));
    answerOf = () => ({ readAt: Date.now(), traced: null });
    const { transaction } = sdk.EvmApi;
    const found = await transaction.getWalletTransactions({
      chain: '0x1',
      address: WALLET,
      limit: 2,
      include: 'internal_transactions',
    });
    expect(found.result.map(({ blockNumber }) => String(blockNumber))).toEqual(['3', '2']);
    expect(found.result.map(({ receiptStatus, to }) => [receiptStatus, to?.lowercase])).toEqual([
      [1, undefined],
      [0, FRIEND],
    ]);
    expect(found.pagination.cursor).toBeTruthy();
    const next = await found.next();
    expect(next.result.map(({ hash }) => hash)).toEqual([seededHash({ blockNumber: 1, transactionIndex: 0 })]);
    expect(next.hasNext()).toBe(false);
  });

  test('reads a verbose list', async () => {
    await seed(at(1));
    answerOf = () => ({ readAt: Date.now(), logs: [[{ index: 0, address: CONTRACT, topics: [], data: '0x' }]] });
    const found = await sdk.EvmApi.transaction.getWalletTransactionsVerbose({ chain: '0x1', address: WALLET });
    expect(found.result[0]?.logs?.[0]?.address.lowercase).toBe(CONTRACT);
    expect(Object(found.raw).result[0]).toMatchObject({
      decoded_call: null,
      logs: [{ topic0: null, decoded_event: null }],
    });
  });
});
