import type { ApiApp } from '@chainstead/http';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleApi, readAll, readPage } from '../testing/example-api.ts';
import { coinEvent, coinStoreChange, exampleTransaction, sliceOf } from '../testing/example-transaction.ts';
import { addressOf, seedRange } from '../testing/seeded-rows.ts';
import { transfers } from '../transfers/dataset.ts';

const scratch = scratchOfFile();
let app: ApiApp;

const WALLETS = 6;
const COINS = ['0xa::m::C0', '0xa::m::C1<0xb::n::D, 0x1::a::B>', '0xa::m::C2'];
const coinOf = (version: number): string => COINS[version % COINS.length] ?? '';
const APTOS = '0x1::aptos_coin::AptosCoin';

/**
 * Versions 1 to 60, one per second: the wallet pays gas and withdraws the amount that the next one gets. Every seventh
 * fails.
 */
const history = Array.from({ length: 60 }, (_, index) => {
  const version = index + 1;
  const [from, to] = [addressOf(version % WALLETS), addressOf((version + 1) % WALLETS)];
  return exampleTransaction({
    version,
    timestamp: BigInt(1_600_000_000 + version) * 1_000_000n + 5n,
    sender: from,
    success: version % 7 !== 0,
    entryFunction: version % 2 === 0 ? '0x1::coin::transfer' : null,
    changes: [coinStoreChange(from, coinOf(version), '1'), coinStoreChange(to, coinOf(version), '1')],
    events: [coinEvent('Withdraw', from, 3, String(version)), coinEvent('Deposit', to, 2, String(version))],
  });
});

interface Transfer {
  readonly owner_address: string;
  readonly transaction_version: string;
  readonly event_creation_number: string;
  readonly coin_type: string;
  readonly block_height: string;
  readonly activity_type: string;
}

beforeAll(async () => {
  app = await exampleApi(scratch.database);
  await scratch.database.transaction((transaction) => transfers.derive(sliceOf(history)).write(transaction));
  await seedRange(scratch.database, 'transfers', 0, 60);
});

/** Rows of a selection, newest first, as version, position and owner. */
const PLACES: Readonly<Record<string, number>> = { '-1': 0, '3': 1, '2': 2 };
function shown(row: Transfer): string {
  return `${row.transaction_version}/${PLACES[row.event_creation_number]} ${row.owner_address.slice(-1)}`;
}

function expected(wanted: (version: number, owner: number, coin: string) => boolean): string[] {
  const rows: string[] = [];
  for (const { version, success } of history.toReversed()) {
    const [from, to] = [version % WALLETS, (version + 1) % WALLETS];
    if (success && wanted(version, to, coinOf(version))) rows.push(`${version}/2 ${to}`);
    if (success && wanted(version, from, coinOf(version))) rows.push(`${version}/1 ${from}`);
    if (wanted(version, from, APTOS)) rows.push(`${version}/0 ${from}`);
  }
  return rows;
}

async function read(path: string): Promise<string[]> {
  return (await readAll<Transfer>(app, path)).flat().map(shown);
}

describe('a transfer', () => {
  it('has the fields of the contract', async () => {
    const { result, indexed } = await readPage(app, `/coins/transfers/blocks?limit=3&block_heights=6`);
    expect(indexed).toEqual({ from_version: '0', to_version: '60', complete: true });
    expect(result[0]).toEqual({
      activity_type: '0x1::coin::DepositEvent',
      amount: '60',
      block_height: '6',
      coin_type: '0xa::m::C0',
      entry_function_id_str: '0x1::coin::transfer',
      event_account_address: addressOf(1),
      event_creation_number: '2',
      event_sequence_number: '4',
      is_gas_fee: false,
      is_transaction_success: true,
      owner_address: addressOf(1),
      transaction_timestamp: '2020-09-13T12:27:40.000000Z',
      transaction_version: '60',
    });
    expect(result[2]).toMatchObject({
      activity_type: '0x1::aptos_coin::GasFeeEvent',
      amount: '1100',
      event_creation_number: '-1',
      event_sequence_number: '7',
      is_gas_fee: true,
    });
  });

  it('says where no entry function was called, and where its transaction failed', async () => {
    const { result } = await readPage(app, '/coins/transfers/blocks?limit=100&block_heights=0');
    const failed = result.filter((row) => row.transaction_version === '7');
    expect(failed).toMatchObject([
      { is_gas_fee: true, is_transaction_success: false, entry_function_id_str: null },
    ]);
  });
});

describe.each(['/coins/transfers/wallets', '/wallets/coins/transfers'])('%s', (route) => {
  const owners = (...numbers: number[]): string =>
    numbers.map((number) => `owner_addresses[]=${addressOf(number)}`).join('&');

  it('merges wallets, newest first', async () => {
    expect(await read(`${route}?limit=7&${owners(1)}`)).toEqual(expected((_, owner) => owner === 1));
    expect(await read(`${route}?limit=7&${owners(1, 4, 2)}`)).toEqual(
      expected((_, owner) => [1, 2, 4].includes(owner)),
    );
  });

  it('shows some coins or all but some, whatever the spelling of their types', async () => {
    const lp = encodeURIComponent('0x0a::m::C1<0x000b::n::D,0x1::a::B>');
    const isLp = (coin: string): boolean => coin === COINS[1];
    expect(await read(`${route}?limit=3&${owners(1, 2)}&coin_type_whitelist=${lp}`)).toEqual(
      expected((_, owner, coin) => [1, 2].includes(owner) && isLp(coin)),
    );
    expect(
      await read(`${route}?limit=3&${owners(1, 2)}&coin_type_blacklist[]=${lp}&coin_type_blacklist[]=${APTOS}`),
    ).toEqual(expected((_, owner, coin) => [1, 2].includes(owner) && !isLp(coin) && coin !== APTOS));
    expect(await read(`${route}?limit=3&${owners(1, 2)}&coin_type_whitelist=${lp},${APTOS}`)).toEqual(
      expected((_, owner, coin) => [1, 2].includes(owner) && (isLp(coin) || coin === APTOS)),
    );
  });

  it('has every row once, in order, for any wallets, limit and dates', async () => {
    const moment = fc.option(fc.integer({ min: -2, max: 64 }), { nil: null });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 0, max: WALLETS - 1 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 40 }),
        moment,
        moment,
        async (numbers, limit, from, to) => {
          const date = (name: string, version: number | null) =>
            version === null ? '' : `&${name}=${1_600_000_000 + version}`;
          const path = `${route}?limit=${limit}&${owners(...numbers)}${date('from_date', from)}${date('to_date', to)}`;
          expect(await read(path)).toEqual(
            expected(
              (version, owner) =>
                numbers.includes(owner) && version >= (from ?? 0) && version <= (to ?? Number.POSITIVE_INFINITY),
            ),
          );
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('transfers of blocks', () => {
  it('are merged, newest first', async () => {
    expect(
      await read('/coins/transfers/blocks?limit=4&block_heights=5&block_heights=2&block_heights=99'),
    ).toEqual(expected((version) => [2, 5].includes(Math.floor(version / 10))));
  });
});

describe('transfers of a coin', () => {
  it.each([COINS[1] ?? '', '0xa::m::C1<0x0b::n::D,0x1::a::B>'])('%s are found', async (coin) => {
    expect(await read(`/coins/transfers/${encodeURIComponent(coin)}?limit=6`)).toEqual(
      expected((_, __, moved) => moved === COINS[1]),
    );
  });

  it('are bounded by dates', async () => {
    const path = `/coins/transfers/${APTOS}?limit=6&from_date=${1_600_000_010}&to_date=2020-09-13T12:27:00Z`;
    expect(await read(path)).toEqual(
      expected((version, _, coin) => coin === APTOS && version >= 10 && version <= 20),
    );
  });

  it('are none of a text that is no type', async () => {
    expect(await read('/coins/transfers/wallet?limit=6')).toEqual([]);
  });
});

describe('a cursor', () => {
  it('carries the longest lists that are taken', async () => {
    const many = <Item>(item: (index: number) => Item): Item[] =>
      Array.from({ length: 25 }, (_, index) => item(index));
    // In another spelling than a fullnode's, so that two hashes are searched for each.
    const wallets = many((index) => `owner_addresses=${addressOf(index)}`);
    const parameters = [
      ...wallets,
      ...many((index) => `coin_type_whitelist=0x0a::m::C${index}`),
      ...many((index) => `coin_type_blacklist=0x0b::m::C${index}`),
    ];
    const first = await readPage(app, `/wallets/coins/transfers?limit=1&${parameters.join('&')}`);
    expect(first.hasNextPage).toBe(true);
    const path = `/wallets/coins/transfers?limit=1&${wallets.join('&')}&cursor=${first.cursor}`;
    expect((await readPage(app, path)).result).toHaveLength(1);
  });
});
