import { type ApiServer, serveApi } from '@chainstead/http/server';
import { type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holders } from '../holders/dataset.ts';
import { EXAMPLE_KEY, exampleApi } from '../testing/example-api.ts';
import { coinEvent, coinStoreChange, exampleTransaction, sliceOf } from '../testing/example-transaction.ts';
import { addressOf, seedCoins } from '../testing/seeded-rows.ts';
import { transfers } from '../transfers/dataset.ts';

const scratch = scratchOfFile();
let server: ApiServer;
let coins: Moralis['AptosApi']['coins'];
let wallets: Moralis['AptosApi']['wallets'];
beforeAll(async () => {
  server = await serveApi(await exampleApi(scratch.database), { host: '127.0.0.1', port: 0 });
  const { Moralis } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url });
  ({ coins, wallets } = Moralis.AptosApi);
  await seedCoins(scratch.database, [
    ...Array.from({ length: 23 }, (_, version) => ({ version, symbol: `S${String.fromCharCode(65 + version)}` })),
    ...Array.from({ length: 5 }, (_, version) => ({
      version,
      symbol: `T${version}`,
      network: 'testnet' as const,
    })),
  ]);
  await scratch.database.transaction(async (transaction) => {
    const slice = sliceOf([
      exampleTransaction({
        sender: addressOf(5),
        changes: [coinStoreChange(addressOf(5), '0xa::m::C', '12345')],
        events: [coinEvent('Withdraw', addressOf(5), 3, '77')],
      }),
    ]);
    await transfers.derive(slice).write(transaction);
    await holders.derive(slice).write(transaction);
  });
});
afterAll(async () => {
  await server.close();
});

type Pages = Awaited<ReturnType<typeof coins.getLatestCoins>>;

/** Returns the symbols of every page, following the cursors. */
async function readAll(page: (cursor: string | undefined) => Promise<Pages>): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const answer: Pages = await page(cursor === '' ? undefined : cursor);
    pages.push(answer.result.map((coin) => coin.symbol));
    cursor = answer.hasNextPage ? answer.cursor : undefined;
  }
  return pages;
}

describe('the official SDK', () => {
  it('reads the latest coins to the end', async () => {
    const pages = await readAll((cursor) => coins.getLatestCoins({ limit: 10, ...(cursor && { cursor }) }));
    expect(pages.map((page) => page.length)).toEqual([10, 10, 3]);
    expect(pages[0]?.slice(0, 2)).toEqual(['SW', 'SV']);
  });

  it('reads coins of a range of symbols, with and without a network', async () => {
    const range = { limit: 2, fromSymbol: 'SB', toSymbol: 'SF' };
    const expected = [['SB', 'SC'], ['SD', 'SE'], ['SF']];
    expect(
      await readAll((cursor) => coins.getCoinsBySymbolRange({ ...range, ...(cursor && { cursor }) })),
    ).toEqual(expected);
    expect(
      await readAll((cursor) =>
        coins.getCoinsBySymbolRange({ ...range, network: 'mainnet', ...(cursor && { cursor }) }),
      ),
    ).toEqual(expected);
    expect(
      await readAll((cursor) =>
        coins.getCoinsBySymbolRange({ limit: 2, network: 'testnet', ...(cursor && { cursor }) }),
      ),
    ).toEqual([['T0', 'T1'], ['T2', 'T3'], ['T4']]);
  });

  it('reads coins by names, creators and hashes', async () => {
    const named = await coins.getCoinsByNameRange({ limit: 1, fromName: 'Name of SC' });
    expect(named.result.map((coin) => coin.name)).toEqual(['Name of SC']);
    const created = await coins.getCoinsByCreators({
      limit: 1,
      creatorAddresses: [addressOf(10), addressOf(11)],
    });
    const [coin] = created.result;
    expect(coin?.creatorAddress.address).toBe(addressOf(10));
    const hashed = await coins.getCoinInfoByCoinTypeHashes({ coinTypeHashes: [coin?.coinTypeHash ?? ''] });
    expect(hashed.map((each) => each.symbol)).toEqual([coin?.symbol]);
  });

  it('reads transfers and holders', async () => {
    const ownerAddresses = [addressOf(5)];
    const coinTypeHash = (await wallets.getCoinBalancesByWallets({ limit: 5, ownerAddresses })).result[0]
      ?.coinTypeHash;
    const moved = [
      await coins.getCoinTransfersByOwnerAddresses({
        limit: 5,
        ownerAddresses,
        coinTypeWhitelist: ['0xa::m::C'],
      }),
      await wallets.getCoinTransfersByWalletAddresses({
        limit: 5,
        ownerAddresses,
        coinTypeBlacklist: ['0x1::aptos_coin::AptosCoin'],
      }),
      await coins.getCoinTransfersByBlockHeights({ limit: 1, blockHeights: ['100'] }),
      await coins.getCoinTransfersByCoinType({
        limit: 5,
        coinType: '0xa::m::C',
        fromDate: '2023-11-14',
        toDate: '2023-11-15',
      }),
    ];
    for (const { result } of moved) expect(result.map((row) => row.amount.octas)).toEqual(['77']);
    const held = [
      await wallets.getCoinBalancesByWallets({ limit: 5, ownerAddresses }),
      await wallets.getHistoricalCoinBalancesByWallets({ limit: 5, ownerAddresses }),
      await coins.getTopHoldersByCoin({ limit: 5, coinTypeHash: coinTypeHash ?? '', minVersion: 1 }),
    ];
    for (const { result } of held) expect(result.map((row) => row.amount.octas)).toEqual(['12345']);
  });

  it('is told of its mistakes', async () => {
    await expect(coins.getLatestCoins({ limit: 101 })).rejects.toThrow(/400.*limit must not be greater than 100/);
  });
});
