import { createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { ApiApp, IndexedHere } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { coverBlocks } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { createDatasetRoutes } from './dataset-routes.ts';
import { datasets } from './registry.ts';

const ADDRESS = `0x${'ab'.repeat(20)}`;
const registry = createChainRegistry({
  additional: [
    { key: 'eth', id: 1, swaps: 'all' },
    { key: 'polygon', id: 137, swaps: 'all' },
  ],
});
const [eth, polygon] = [registry.get('eth'), registry.get('polygon')];
const ALL = datasets.map(({ name }) => name);

/** Every route that asks for a chain, and the dataset without which it has no answer. */
const ROUTES: readonly (readonly [method: string, path: string, dataset: string | null])[] = [
  ['GET', `${ADDRESS}/erc20/transfers`, 'erc20-transfers'],
  ['GET', `erc20/${ADDRESS}/transfers`, 'erc20-transfers'],
  ['GET', `erc20/${ADDRESS}/stats`, 'erc20-transfers'],
  ['GET', `erc20/${ADDRESS}/owners`, 'erc20-transfers'],
  ['GET', `erc20/${ADDRESS}/holders`, 'erc20-transfers'],
  ['GET', `${ADDRESS}/nft/transfers`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}/transfers`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}/1/transfers`, 'nft-transfers'],
  ['GET', `${ADDRESS}/erc20`, 'erc20-transfers'],
  ['GET', `wallets/${ADDRESS}/tokens`, 'erc20-transfers'],
  ['GET', `${ADDRESS}/nft/collections`, 'nft-transfers'],
  ['GET', `${ADDRESS}/balance`, null],
  ['GET', `transaction/0x${'ab'.repeat(32)}`, null],
  ['GET', `transaction/0x${'ab'.repeat(32)}/verbose`, null],
  ['GET', 'block/1', null],
  ['GET', 'block/1/stats', null],
  ['GET', 'dateToBlock', null],
  ['GET', `${ADDRESS}/nft`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}/1`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}/owners`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}/1/owners`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}/unique-owners`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}/stats`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}/1/trades`, 'nft-trades'],
  ['GET', `nft/${ADDRESS}/trades`, 'nft-trades'],
  ['GET', `wallets/${ADDRESS}/nfts/trades`, 'nft-trades'],
  ['GET', `pairs/${ADDRESS}/swaps`, 'swaps'],
  ['GET', `pairs/${ADDRESS}/ohlcv?fromDate=2020-01-01&toDate=2030-01-01`, 'swaps'],
  ['GET', `erc20/${ADDRESS}/swaps`, 'swaps'],
  ['GET', `pairs/${ADDRESS}/stats`, 'swaps'],
  ['GET', `erc20/${ADDRESS}/pairs`, 'swaps'],
  ['GET', `erc20/${ADDRESS}/pairs/stats`, 'pool-states'],
  ['GET', `erc20/${ADDRESS}/price`, 'pool-states'],
  ['GET', `tokens/${ADDRESS}/analytics`, 'swaps'],
  ['GET', `${ADDRESS}/${ADDRESS}/price`, 'pool-states'],
  ['GET', `wallets/${ADDRESS}/swaps`, 'swaps'],
  ['GET', `wallets/${ADDRESS}/profitability`, 'swaps'],
  ['GET', `wallets/${ADDRESS}/profitability/summary`, 'swaps'],
  ['GET', `erc20/${ADDRESS}/top-gainers`, 'swaps'],
  ['GET', `${ADDRESS}/reserves`, 'pool-states'],
  ['GET', `nft/${ADDRESS}/1/price`, 'nft-trades'],
  ['GET', `nft/${ADDRESS}/price`, 'nft-trades'],
  ['GET', `nft/${ADDRESS}/metadata`, null],
  ['GET', `nft/${ADDRESS}/floor-price`, null],
  ['GET', `nft/${ADDRESS}/floor-price/historical`, null],
  ['GET', `nft/${ADDRESS}/1/floor-price`, null],
  ['PUT', `nft/${ADDRESS}/sync`, null],
  ['GET', `nft/${ADDRESS}/1/metadata/resync`, null],
  ['GET', `nft/${ADDRESS}/traits/resync`, null],
  ['GET', `nft/${ADDRESS}/traits`, 'nft-transfers'],
  ['GET', `nft/${ADDRESS}/traits/paginate`, 'nft-transfers'],
  ['GET', 'contracts/vault/deposit', null],
];

const scratch = scratchOfFile();

async function openApi(indexed: IndexedHere): Promise<ApiApp> {
  const onDemand = { waitMs: 0, maxCalls: 10, perKey: 10 };
  const routes = createDatasetRoutes({
    database: scratch.database,
    logger: silentLogger(),
    chains: [],
    onDemand,
    clock: systemClock,
  });
  return exampleApi(scratch.database, routes, { indexed, chains: registry });
}

async function ask(api: ApiApp, path: string, method = 'GET') {
  const answer = await api.request(`/api/v2.2/${path}`, { method, headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: answer.status, body: (await answer.json()) as unknown, headers: answer.headers };
}

describe('a chain that is not in CHAINS', () => {
  const api = madeForFile(() => openApi({ chains: [polygon], datasets: ALL }));

  const refusal = (key: string) => ({
    status: 400,
    body: {
      message: `Chain ${key} is not indexed here: add it to CHAINS (CHAINS=${key},…) and restart`,
      details: { reason: 'not-indexed', configuration_key: 'CHAINS' },
    },
  });

  const onChain = (path: string, chain: string) => `${path}${path.includes('?') ? '&' : '?'}chain=${chain}`;

  test.each(ROUTES)('%s %s is refused by name', async (method, path) => {
    expect(await ask(api, path, method)).toMatchObject(refusal('eth'));
    expect(await ask(api, onChain(path, '0x2105'), method)).toMatchObject(refusal('base'));
    expect((await ask(api, onChain(path, 'polygon'), method)).status).not.toBe(400);
  });

  test('has no latest block here either', async () => {
    expect(await ask(api, 'latestBlockNumber/eth')).toMatchObject(refusal('eth'));
  });

  test('is not mixed up with one that nobody knows', async () => {
    expect(await ask(api, `${ADDRESS}/erc20/transfers?chain=nowhere`)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^chain must be a known chain/) },
    });
  });
});

test.each(ROUTES.filter(([, , dataset]) => dataset !== null))(
  '%s %s without its dataset names it and the key',
  async (method, path, dataset) => {
    const api = await openApi({ chains: [eth], datasets: ALL.filter((name) => name !== dataset) });
    expect(await ask(api, path, method)).toMatchObject({
      status: 400,
      body: {
        message: `Dataset ${dataset} is not indexed here: add it to DATASETS (DATASETS=${dataset},…) and restart`,
      },
    });
  },
);

test.each(['contracts/oracle/price', 'contracts/nft/collections', 'contracts/wallet/balance'])(
  '%s is an event of an own contract, although other routes have the word',
  async (path) => {
    const api = await openApi({ chains: [eth], datasets: ALL });
    expect(await ask(api, path)).toMatchObject({
      status: 404,
      body: { message: expect.stringMatching(/^No such contract or event on chain eth/) },
    });
  },
);

describe('while blocks are missing', () => {
  test('nothing is said of the whole: neither how many transfers there are, nor that there was no sale', async () => {
    const api = await openApi({ chains: [eth], datasets: ALL });
    const missing = { total: null, cursor: null, indexed: { complete: false }, result: [] };
    expect((await ask(api, `${ADDRESS}/erc20/transfers`)).body).toMatchObject(missing);
    expect((await ask(api, `${ADDRESS}/erc20/transfers?disable_total=false`)).body).toMatchObject(missing);
    expect((await ask(api, `nft/${ADDRESS}/price`)).body).toMatchObject({
      total_trades: 0,
      message: 'No sale paid in ETH in the indexed blocks of the last 7 days: blocks are missing, see indexed',
    });
  });
});

describe('latestBlockNumber', () => {
  test('is the newest block that is indexed, with the head beside it', async () => {
    const api = await openApi({ chains: [eth], datasets: ALL });
    const latest = () => ask(api, 'latestBlockNumber/0x1');
    expect((await latest()).status).toBe(503);
    await scratch.database.query(
      sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, head) VALUES (1, 0, 100, 120)`,
    );
    expect(await latest()).toMatchObject({ status: 200, body: '120' });
    await coverBlocks(scratch.database, 1, 'erc20-transfers', 0, 90, 'none');
    expect(await latest()).toMatchObject({ status: 200, body: '90' });
    await scratch.database.query(sql`UPDATE sync_chains SET checkpoint = 118`);
    const { body, headers } = await latest();
    expect([body, headers.get('x-chain-head')]).toEqual(['118', '120']);
    expect(await ask(api, 'latestBlockNumber/nowhere')).toMatchObject({ status: 400 });
  });
});
