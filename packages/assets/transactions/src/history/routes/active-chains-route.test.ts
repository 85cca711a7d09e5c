import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Database, rawSql } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20/requests';
import { seedTransfers } from '@chainstead/erc20/testing';
import { withServices } from '@chainstead/http';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import { addressOf, hashOf, type Moralis, startOfficialSdk, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTrackedWallets } from '../../wallets/tracked-wallets.ts';
import { activeChainsRoute } from './active-chains-route.ts';

const registry = createChainRegistry();
/** With the default settings. */
const asByDefault = (key: string): Chain => ({
  ...registry.get(key),
  transactions: { mode: 'wallets', input: 'full', verifiesSenders: true },
});
const [eth, base, polygon] = [asByDefault('eth'), asByDefault('base'), asByDefault('polygon')];
const [ALICE, BOB, TOKEN] = [addressOf(0xa11ce), addressOf(0xb0b), addressOf(0xc0)] as const;

const scratch = scratchOfFile();
let server: ApiServer;
let sdk: Moralis;
beforeAll(async () => {
  await seed(scratch.database, eth, [3, 7, 11]);
  await seed(scratch.database, polygon, [5]);
  const onDemandBackfill = createOnDemandBackfill({
    ...{ chains: [polygon, base, eth], datasets: [erc20Transfers], maxCalls: 10, perKey: 10 },
  });
  const trackedWallets = createTrackedWallets(onDemandBackfill);
  const served = [polygon, base, eth];
  const find = (text: string) => served.find(({ id }) => id === registry.find(text)?.id) ?? registry.find(text);
  const api = await exampleApi(
    scratch.database,
    [withServices({ served, trackedWallets, onDemandBackfill }, [activeChainsRoute])],
    {
      chains: { find },
      onDemand: { waitMs: 0 },
    },
  );
  server = await serveApi(api, { host: '127.0.0.1', port: 0 });
  ({ Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url }));
});
afterAll(async () => {
  await server.close();
});

/** Alice sends Bob something in each of the blocks. */
async function seed(database: Database, chain: Chain, blocks: readonly number[]): Promise<void> {
  const given = { from: ALICE, to: BOB, token: TOKEN, value: 1n, transactionIndex: 0, logIndex: 0 };
  await seedTransfers(
    database,
    chain,
    blocks.map((blockNumber) => ({ ...given, blockNumber })),
  );
}

async function ask(path: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${server.url}/api/v2.2/wallets/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: answer.status, body: await answer.json() };
}

const ending = (block: number) => ({
  block_number: String(block),
  block_timestamp: new Date(timestampOf(block) * 1_000).toISOString(),
  transaction_hash: hashOf(2, block * 1_000),
});
const indexed = { from_block: null, to_block: null, complete: false };
const onEth = {
  chain: 'eth',
  chain_id: '0x1',
  first_transaction: ending(3),
  last_transaction: ending(11),
  indexed,
};
const onPolygon = {
  chain: 'polygon',
  chain_id: '0x89',
  first_transaction: ending(5),
  last_transaction: ending(5),
  indexed,
};

test('the chains on which a wallet did something, by id, with the first and the last of it', async () => {
  expect(await ask(`${ALICE}/chains`)).toEqual({
    status: 200,
    body: { address: ALICE, active_chains: [onEth, onPolygon] },
  });
  expect(await ask(`${TOKEN}/chains`)).toEqual({ status: 200, body: { address: TOKEN, active_chains: [] } });
});

test('the chains that are asked for, each once, in their order and in every spelling of lists', async () => {
  for (const query of [
    'chains=0x89,eth,polygon,base',
    'chains[]=polygon&chains[]=0x2105&chains[]=0x1',
    'chains[0]=137&chains[1]=eth',
  ])
    expect(await ask(`${BOB}/chains?${query}`), query).toEqual({
      status: 200,
      body: { address: BOB, active_chains: [onPolygon, onEth] },
    });
});

test('missing blocks of a wallet are requested on each chain', async () => {
  const nobody = addressOf(0x0ff);
  expect(await ask(`${nobody}/chains?chains=eth,base`)).toEqual({
    status: 200,
    body: { address: nobody, active_chains: [] },
  });
  const of = `chain_id FROM %t WHERE %w = decode('${nobody.slice(2)}', 'hex') ORDER BY chain_id`;
  const chainsIn = async (table: string, wallet: string) => {
    const text = `SELECT DISTINCT ${of.replace('%t', table).replace('%w', wallet)}`;
    return (await scratch.database.query<{ chainId: number }>(rawSql(text))).map(({ chainId: id }) => id);
  };
  expect(await chainsIn('tracked_wallets', 'wallet')).toEqual([eth.id, base.id]);
  expect(await chainsIn('backfill_requests', 'subject')).toEqual([eth.id, base.id]);
});

test('the official SDK reads it', async () => {
  const { result } = await sdk.EvmApi.wallets.getWalletActiveChains({ address: ALICE, chains: ['0x1', '0x89'] });
  expect(result.address.lowercase).toBe(ALICE);
  const shown = result.activeChains.map(({ chainId, firstTransaction, lastTransaction }) => [
    String(chainId),
    firstTransaction?.blockNumber.toString(),
    lastTransaction?.transactionHash,
  ]);
  expect(shown).toEqual([
    ['0x1', '3', hashOf(2, 11_000)],
    ['0x89', '5', hashOf(2, 5_000)],
  ]);
});
