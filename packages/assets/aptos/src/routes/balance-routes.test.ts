import type { ApiApp } from '@chainstead/http';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { holders } from '../holders/dataset.ts';
import { exampleApi, readAll, readPage } from '../testing/example-api.ts';
import { coinStoreChange, exampleTransaction, sliceOf } from '../testing/example-transaction.ts';
import { addressOf } from '../testing/seeded-rows.ts';
import { hashesOfCoinTypes } from './transfer-routes.ts';

const scratch = scratchOfFile();
let app: ApiApp;

const COINS = Array.from({ length: 5 }, (_, index) => `0xa::m::C${index}`);
const hashOf = (coin: number): string => hashesOfCoinTypes([COINS[coin] ?? ''])[0] ?? '';
const WALLETS = 7;

interface Held {
  readonly wallet: number;
  readonly coin: number;
  readonly version: number;
  readonly amount: number;
}

/** 80 writes of wallets' stores; amounts from 0 to 3, so that many are equal. */
const writes: Held[] = Array.from({ length: 80 }, (_, version) => ({
  wallet: (version * 5) % WALLETS,
  coin: (version * 3) % COINS.length,
  version,
  amount: version % 4,
}));
const newest = [...new Map(writes.map((write) => [`${write.wallet}/${write.coin}`, write])).values()];

interface Balance {
  readonly owner_address: string;
  readonly coin_type_hash: string;
  readonly amount: string;
  readonly last_transaction_version?: string;
  readonly transaction_version?: string;
}

beforeAll(async () => {
  app = await exampleApi(scratch.database);
  const transactions = writes.map(({ wallet, coin, version, amount }) =>
    exampleTransaction({
      version,
      changes: [coinStoreChange(addressOf(wallet), COINS[coin] ?? '', String(amount))],
    }),
  );
  await scratch.database.transaction((transaction) => holders.derive(sliceOf(transactions)).write(transaction));
});

const owners = (...wallets: number[]): string =>
  wallets.map((wallet) => `owner_addresses[]=${addressOf(wallet)}`).join('&');

async function read(path: string): Promise<string[]> {
  return (await readAll<Balance>(app, path)).flat().map((row) => {
    const version = row.last_transaction_version ?? row.transaction_version;
    return `${row.owner_address.slice(-1)} ${row.coin_type_hash.slice(0, 4)} ${row.amount} ${version}`;
  });
}

const shown = (held: Held): string =>
  `${held.wallet} ${hashOf(held.coin).slice(0, 4)} ${held.amount} ${held.version}`;
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

describe('coins of wallets', () => {
  const inOrder = (rows: readonly Held[]): string[] =>
    rows.toSorted((a, b) => a.wallet - b.wallet || byText(hashOf(a.coin), hashOf(b.coin))).map(shown);

  it.each([1, 2, 3, 100])('are each wallet’s newest balances, %i a page', async (limit) => {
    expect(await read(`/wallets/coins?limit=${limit}&${owners(5, 2, 3)}`)).toEqual(
      inOrder(newest.filter(({ wallet }) => [2, 3, 5].includes(wallet))),
    );
    expect(await read(`/wallets/coins?limit=${limit}&${owners(4)}`)).toEqual(
      inOrder(newest.filter(({ wallet }) => wallet === 4)),
    );
  });

  it('can be some or all but some', async () => {
    const of = newest.filter(({ wallet }) => [2, 3].includes(wallet));
    expect(
      await read(`/wallets/coins?limit=2&${owners(2, 3)}&coin_type_hash_whitelist=${hashOf(1)},${hashOf(4)}`),
    ).toEqual(inOrder(of.filter(({ coin }) => [1, 4].includes(coin))));
    expect(await read(`/wallets/coins?limit=2&${owners(2, 3)}&coin_type_hash_blacklist[]=${hashOf(1)}`)).toEqual(
      inOrder(of.filter(({ coin }) => coin !== 1)),
    );
  });

  it('have the fields of the contract', async () => {
    const [held] = newest.filter(({ wallet, coin }) => wallet === 4 && coin === 0);
    const { result } = await readPage(
      app,
      `/wallets/coins?limit=1&${owners(4)}&coin_type_hash_whitelist=${hashOf(0)}`,
    );
    expect(result).toEqual([
      {
        amount: String(held?.amount),
        coin_type: '0xa::m::C0',
        coin_type_hash: hashOf(0),
        last_transaction_timestamp: '2023-11-14T22:13:20.000000Z',
        last_transaction_version: String(held?.version),
        owner_address: addressOf(4),
      },
    ]);
  });
});

describe('what wallets held', () => {
  it.each([1, 3, 100])('comes newest first, %i a page', async (limit) => {
    const of = (wanted: (held: Held) => boolean): string[] => writes.filter(wanted).toReversed().map(shown);
    const path = `/wallets/coins/history?limit=${limit}`;
    expect(await read(`${path}&${owners(6)}`)).toEqual(of(({ wallet }) => wallet === 6));
    expect(await read(`${path}&${owners(1, 6, 2)}`)).toEqual(of(({ wallet }) => [1, 2, 6].includes(wallet)));
    expect(await read(`${path}&${owners(1, 6)}&coin_type_hash_whitelist=${hashOf(2)}`)).toEqual(
      of(({ wallet, coin }) => [1, 6].includes(wallet) && coin === 2),
    );
    expect(await read(`${path}&${owners(1, 6)}&coin_type_hash_blacklist=${hashOf(2)}`)).toEqual(
      of(({ wallet, coin }) => [1, 6].includes(wallet) && coin !== 2),
    );
  });

  it('has the fields of the contract', async () => {
    const { result } = await readPage(app, `/wallets/coins/history?limit=1&${owners((79 * 5) % WALLETS)}`);
    expect(result).toEqual([
      {
        amount: '3',
        coin_type: COINS[(79 * 3) % 5],
        coin_type_hash: hashOf((79 * 3) % 5),
        transaction_timestamp: '2023-11-14T22:13:20.000000Z',
        transaction_version: '79',
        owner_address: addressOf((79 * 5) % WALLETS),
      },
    ]);
  });
});

describe('top holders', () => {
  const top = (wanted: (held: Held) => boolean): string[] =>
    newest
      .filter((held) => held.coin === 2 && held.amount > 0 && wanted(held))
      .toSorted((a, b) => b.amount - a.amount || b.wallet - a.wallet)
      .map(shown);
  const path = `/coins/owners/${hashOf(2).toUpperCase()}/top-holders`;

  it.each([1, 2, 100])('come largest first, without those who hold none, %i a page', async (limit) => {
    expect(top(() => true).length).toBeGreaterThan(3);
    expect(await read(`${path}?limit=${limit}`)).toEqual(top(() => true));
  });

  it('are bounded by amount and version, and by wallets', async () => {
    expect(await read(`${path}?limit=2&min_amount=2`)).toEqual(top(({ amount }) => amount >= 2));
    expect(await read(`${path}?limit=2&min_version=60`)).toEqual(top(({ version }) => version >= 60));
    const some = [1, 3, 5];
    const listed = some.map((wallet) => addressOf(wallet)).join(',');
    expect(await read(`${path}?limit=2&wallet_whitelist=${listed}`)).toEqual(
      top(({ wallet }) => some.includes(wallet)),
    );
    expect(await read(`${path}?limit=2&wallet_blacklist=${listed}`)).toEqual(
      top(({ wallet }) => !some.includes(wallet)),
    );
  });
});
