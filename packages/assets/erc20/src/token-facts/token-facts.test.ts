import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type SqlValue, sql } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { openStateStage } from '@chainstead/node-reads/testing';
import {
  addressOf,
  compileDemoContracts,
  DEMO_TOKEN_ABI,
  type Moralis,
  startOfficialSdk,
  storeToken,
} from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { tokenCreationReader, tokenFactsReader } from '@chainstead/tokens';
import { getAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { seedCoverage, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
import { tokenFactsRoutes } from './token-facts-routes.ts';

const NOBODY = addressOf(0xdead);
const ZERO = addressOf(0);

const stage = stageOfFile(() => openStateStage({ chain: { reorgDepthMax: 2 } }));
let server: ApiServer;
let EvmApi: Moralis['EvmApi'];
let coin: Address;
let coinBlock: number;
let nft: Address;
const onDemand = { waitMs: 10_000 };

beforeAll(async () => {
  const { devnet, nodeReads } = stage;
  const contracts = await compileDemoContracts();
  await devnet.mine(5);
  coin = await devnet.deploy(contracts.DemoToken, ['Demo Coin', 'DEMO', 6]);
  coinBlock = Number(await devnet.client.getBlockNumber());
  nft = await devnet.deploy(contracts.ThreeTopicNft);
  await mint(1_500_000n);
  await devnet.mine(5);
  await stage.startWorker([tokenFactsReader, tokenCreationReader]);
  const api = await exampleApi(stage.scratch.database, tokenFactsRoutes({ nodeReads }), { onDemand });
  server = await serveApi(api, { host: '127.0.0.1', port: 0 });
  ({ EvmApi } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis);
});
afterAll(() => server.close());
beforeEach(async () => {
  onDemand.waitMs = 10_000;
  stage.node.alter = () => undefined;
  // Background searches write to the same tables.
  await expect.poll(async () => (await unsettled()).length, { timeout: 15_000 }).toBe(0);
  await stage.scratch.database.query(
    sql`TRUNCATE tokens, state_questions, address_labels, sync_ranges, blocks, erc20_transfer_sides`,
  );
  await stage.commit();
});

const unsettled = () => stage.scratch.database.query(sql`SELECT FROM state_questions WHERE settled_at IS NULL`);

const mint = (value: bigint) =>
  stage.devnet.send({ address: coin, abi: DEMO_TOKEN_ABI, functionName: 'mint', args: [addressOf(1), value] });

interface Row {
  readonly address: string;
  readonly [field: string]: unknown;
}

async function ask(query: string) {
  const response = await fetch(`${server.url}/api/v2.2/erc20/metadata${query}`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  return { status: response.status, body: (await response.json()) as Row[], headers: response.headers };
}

const requestFor = (...addresses: readonly string[]) =>
  ask(`?chain=0x1&${addresses.map((address) => `addresses[]=${address}`).join('&')}`);

async function addToken(number: number, columns: Readonly<Record<string, SqlValue>>): Promise<Address> {
  const address = addressOf(number);
  await storeToken(stage.scratch.database, 1, address, {
    facts_status: 'known',
    supply_read_at: new Date(),
    ...columns,
  });
  return address;
}

/** A row without known data. */
const NOTHING = {
  address_label: null,
  name: null,
  symbol: null,
  decimals: null,
  logo: null,
  logo_hash: null,
  thumbnail: null,
  total_supply: null,
  total_supply_formatted: null,
  implementations: [],
  fully_diluted_valuation: null,
  market_cap: null,
  circulating_supply: null,
  block_number: null,
  created_at: null,
  validated: 0,
  possible_spam: false,
  verified_contract: false,
  categories: [],
  links: {},
  security_score: null,
  description: null,
};

describe('metadata by address', () => {
  test('is a row for each address, once and in the order asked for; what is not known is read now', async () => {
    const { status, body } = await requestFor(NOBODY, getAddress(coin), nft, coin);
    expect(status).toBe(200);
    expect(body.slice(0, 2)).toEqual([
      { ...NOTHING, address: NOBODY },
      {
        ...NOTHING,
        address: coin,
        name: 'Demo Coin',
        symbol: 'DEMO',
        decimals: '6',
        total_supply: '1500000',
        total_supply_formatted: '1.5',
        validated: 1,
      },
    ]);
    expect(body[2]).toMatchObject({ address: nft, validated: 1, decimals: null, total_supply_formatted: null });
    expect(body).toHaveLength(3);
    // Any address may be requested, but only tokens are stored.
    const kept = await stage.scratch.database.query<{ standard: string }>(
      sql`SELECT standard FROM tokens ORDER BY standard`,
    );
    expect(kept.map(({ standard }) => standard)).toEqual(['erc20', 'erc721']);
  });

  test('shows what lists say, and the label of the chain before one of all chains', async () => {
    await requestFor(coin);
    const { database } = stage.scratch;
    await database.query(
      sql`UPDATE tokens SET logo = 'https://x.example/1.png', verified = true, possible_spam = true`,
    );
    for (const [chainId, label] of [
      [0, 'Everywhere'],
      [1, 'Demo (DEMO)'],
      [137, 'Elsewhere'],
    ] as const)
      await database.query(
        sql`INSERT INTO address_labels (address, chain_id, source, label) VALUES (${addressBytes(coin)}, ${chainId}, 'list', ${label})`,
      );
    expect((await requestFor(coin)).body[0]).toMatchObject({
      address_label: 'Demo (DEMO)',
      logo: 'https://x.example/1.png',
      thumbnail: 'https://x.example/1.png',
      verified_contract: true,
      possible_spam: true,
    });
    // Like in every list: the entry with the entity comes first, whether or not it has a label.
    await database.query(
      sql`INSERT INTO address_labels (address, chain_id, source, entity) VALUES (${addressBytes(coin)}, 1, 'other', 'Demo')`,
    );
    expect((await requestFor(coin)).body[0]).toMatchObject({ address_label: null });
  });

  test('has the supply read again after an hour, or once something was minted or burned', async () => {
    const { database } = stage.scratch;
    const supply = async () => (await requestFor(coin)).body[0]?.total_supply;
    const first = BigInt(String(await supply()));
    await mint(500_000n);
    const { number } = await stage.commit();
    expect(await supply()).toBe(String(first));
    await database.query(sql`UPDATE tokens SET supply_read_at = now() - interval '61 minutes'`);
    expect(await supply()).toBe(String(first + 500_000n));
    await mint(1n);
    await stage.commit();
    expect(await supply()).toBe(String(first + 500_000n));
    await database.query(sql`TRUNCATE blocks`);
    const side = { token: coin, value: 1n, blockNumber: number + 1, transactionIndex: 0, logIndex: 0 };
    await seedTransfers(database, stage.chain, [{ ...side, from: ZERO, to: addressOf(1) }]);
    await stage.commit();
    expect(await supply()).toBe(String(first + 500_001n));
  });

  test('has the supply read again once the block was reorganised away after which it was read', async () => {
    const { devnet, node } = stage;
    const readings = () => node.received.filter(({ method }) => method === 'eth_call').length;
    const supply = async () => BigInt(String((await requestFor(coin)).body[0]?.total_supply));
    const before = await supply();
    await mint(7n);
    await stage.commit();
    await stage.scratch.database.query(sql`UPDATE tokens SET supply_read_at = now() - interval '61 minutes'`);
    expect(await supply()).toBe(before + 7n);
    await devnet.reorg(1);
    await stage.commit();
    expect(await supply()).toBe(before);
    const requested = readings();
    expect(await supply()).toBe(before);
    expect(readings()).toBe(requested);
  });

  test('finds the block in which a contract was made, in the background', async () => {
    expect((await requestFor(coin)).body[0]).toMatchObject({ block_number: null, created_at: null });
    await expect
      .poll(async () => (await requestFor(coin)).body[0]?.block_number, { timeout: 15_000 })
      .toBe(String(coinBlock));
    const { timestamp } = await stage.devnet.client.getBlock({ blockNumber: BigInt(coinBlock) });
    expect((await requestFor(coin)).body[0]?.created_at).toBe(new Date(Number(timestamp) * 1_000).toISOString());
    const looks = () => stage.node.received.filter(({ method }) => method === 'eth_getCode').length;
    const before = looks();
    await stage.scratch.database.query(sql`TRUNCATE state_questions`);
    await requestFor(coin);
    expect(looks()).toBe(before);
  });

  test('has no creation where no node keeps old states, and does not look again soon', async () => {
    stage.node.alter = ({ method, params }) =>
      method === 'eth_getCode' && String(params[1]).startsWith('0x')
        ? { error: { code: -32000, message: 'missing trie node 1b' } }
        : undefined;
    await requestFor(coin);
    const sought = () =>
      stage.scratch.database.query(sql`SELECT FROM tokens WHERE creation_sought_at IS NOT NULL`);
    await expect.poll(async () => (await sought()).length, { timeout: 15_000 }).toBe(1);
    await stage.scratch.database.query(sql`TRUNCATE state_questions`);
    expect((await requestFor(coin)).body[0]?.block_number).toBeNull();
    const slow = await stage.scratch.database.query(
      sql`SELECT FROM state_questions WHERE kind = 'token-creation'`,
    );
    expect(slow).toHaveLength(0);
  });

  test('says in headers what is indexed, and that not everything could be read in time', async () => {
    await seedCoverage(stage.scratch.database, stage.chain, 3, 9);
    const known = await requestFor(coin, NOBODY);
    const headersOf = (headers: Headers) =>
      ['from-block', 'to-block', 'complete'].map((name) => headers.get(`x-indexed-${name}`));
    expect(headersOf(known.headers)).toEqual(['3', '9', 'true']);
    await stage.scratch.database.query(sql`TRUNCATE tokens, state_questions, sync_ranges`);
    // The result is shown if a worker stores it before the row is read: the node responds later.
    const held = Promise.withResolvers<undefined>();
    stage.node.alter = ({ method }) => (method === 'eth_call' ? held.promise : undefined);
    onDemand.waitMs = 0;
    const unread = await requestFor(coin);
    expect(unread.body).toEqual([{ ...NOTHING, address: coin }]);
    expect(headersOf(unread.headers)).toEqual([null, null, 'false']);
    onDemand.waitMs = 10_000;
    held.resolve(undefined);
    await expect.poll(async () => (await unsettled()).length, { timeout: 15_000 }).toBe(0);
    await stage.scratch.database.query(sql`TRUNCATE tokens, state_questions`);
    stage.node.alter = ({ method }) =>
      method === 'eth_call' ? { error: { code: -32603, message: 'oops' } } : undefined;
    const failed = await requestFor(coin);
    expect([failed.status, failed.body.length, failed.headers.get('x-indexed-complete')]).toEqual([
      200,
      1,
      'false',
    ]);
  });
});

describe('metadata by symbol', () => {
  test('lists tokens of lists first, then those that are no spam, whatever the letter case; no NFTs', async () => {
    const usdc = { name: 'USD Coin', standard: 'erc20' };
    const spam = await addToken(1, { ...usdc, symbol: 'USDC', possible_spam: true });
    const impostor = await addToken(2, { ...usdc, symbol: 'usdc' });
    const real = await addToken(3, {
      ...usdc,
      symbol: 'USDC',
      verified: true,
      decimals: 6,
      total_supply: '77976217893478',
    });
    const link = await addToken(4, { standard: 'erc20', symbol: 'LINK' });
    await addToken(5, { standard: 'erc721', symbol: 'USDC' });
    await addToken(6, { standard: 'erc20', symbol: 'USDC2' });
    await addToken(7, { standard: 'erc20', symbol: 'USDC', chain_id: 137 });
    const { body } = await ask('/symbols?symbols[]=Usdc&symbols[]=link');
    expect(body.map(({ address }) => address)).toEqual([real, impostor, link, spam]);
    expect(body[0]).toMatchObject({ decimals: '6', total_supply_formatted: '77976217.893478', validated: 1 });
    expect((await ask('/symbols?symbols=NONE')).body).toEqual([]);
  });

  test('is a hundred rows at most, and complete only where all tokens of the chain are known', async () => {
    const complete = async () => (await ask('/symbols?symbols=MANY')).headers.get('x-indexed-complete');
    for (let number = 1; number <= 100; number++) await addToken(number, { standard: 'erc20', symbol: 'MANY' });
    expect(await complete()).toBe('false');
    await seedCoverage(stage.scratch.database, stage.chain, 0, 10);
    expect(await complete()).toBe('true');
    await addToken(200, { facts_status: 'pending', facts_due_at: new Date('2100-01-01') });
    expect(await complete()).toBe('false');
    await stage.scratch.database.query(
      sql`UPDATE tokens SET facts_status = 'known', symbol = 'MANY', standard = 'erc20'`,
    );
    const cut = await ask('/symbols?symbols=MANY');
    expect([cut.body.length, cut.headers.get('x-indexed-complete')]).toEqual([100, 'false']);
  });
});

describe('the official SDK', () => {
  test('reads both, also rows of nulls', async () => {
    const byAddress = await EvmApi.token.getTokenMetadata({ chain: '0x1', addresses: [coin, NOBODY] });
    expect(byAddress.result.map(({ token }) => [token.contractAddress.lowercase, token.decimals])).toEqual([
      [coin, 6],
      [NOBODY, 0],
    ]);
    expect(byAddress.raw[1]).toEqual({ ...NOTHING, address: NOBODY });
    expect(byAddress.toJSON()).toHaveLength(2);
    const bySymbol = await EvmApi.token.getTokenMetadataBySymbol({ chain: '0x1', symbols: ['DEMO', 'NONE'] });
    expect(bySymbol.result.map(({ token }) => parseAddress(token.contractAddress.lowercase))).toEqual([coin]);
  });
});
