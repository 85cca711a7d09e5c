import type { Address } from '@chainstead/core';
import { addressBytes, type SqlValue, sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { clockOfWaits } from '@chainstead/node-reads/testing';
import { stageOfTest } from '@chainstead/testkit/hooks';
import { describe, expect, test, vi } from 'vitest';
import { seedTrades } from '../trades/testing/seeded-trades.ts';
import { seedRow } from '../wallet-collections/testing/seeded-holdings.ts';
import { addressOf, exampleCollection, textOf, wordOf } from './testing/example-contracts.ts';
import { ask, eth, NOTHING_SAID, openMetadataStage, PER_KEY } from './testing/metadata-api.ts';

const CATS = addressOf(1);

const stage = stageOfTest(openMetadataStage);

const metadata = async (api: ApiApp, address: Address = CATS, query = '') =>
  ask(api, `${address}/metadata${query}`);

describe('metadata of a contract that nobody asked for yet', () => {
  test('is read while the request waits, then answered from the database', async () => {
    stage.contracts.set(
      CATS,
      exampleCollection('erc721', { name: 'c', symbol: 'CAT', contractUri: `${stage.documents.url}/document` }),
    );
    const api = await stage.openApi();
    await stage.startWorker();
    const first = await metadata(api);
    expect(first).toMatchObject({ status: 200 });
    expect(first.body).toEqual({
      token_address: CATS,
      name: 'Cats',
      synced_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      symbol: 'CAT',
      contract_type: 'ERC721',
      possible_spam: false,
      verified_collection: false,
      ...NOTHING_SAID,
      collection_logo: 'https://x.example/1.png',
      discord_url: 'https://discord.gg/abc',
    });
    const calls = stage.node.counters.snapshot().calls;
    expect((await metadata(api, CATS.toUpperCase().replace('0X', '0x') as Address)).body).toEqual(first.body);
    expect(stage.node.counters.snapshot().calls).toEqual(calls);
  });

  test('makes no node call by itself and starts one job, however many ask at once', async () => {
    const api = await stage.openApi(200);
    const calls = stage.node.counters.snapshot().calls;
    const answers = await Promise.all(Array.from({ length: 20 }, () => metadata(api)));
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(answer.body.message).toMatch(/not indexed on eth yet: indexing has started/);
      expect(answer.body.details).toEqual({ status: 'indexing' });
    }
    expect(stage.node.counters.snapshot().calls).toEqual(calls);
    stage.contracts.set(CATS, exampleCollection('erc721', { name: 'Cats' }));
    const before = stage.node.counters.snapshot().calls.eth_getCode ?? 0;
    await stage.startWorker();
    await vi.waitFor(async () => expect((await metadata(api)).status).toBe(200));
    expect((stage.node.counters.snapshot().calls.eth_getCode ?? 0) - before).toBe(1);
  });

  test('is answered with what is known when it takes longer and its events showed an NFT', async () => {
    await stage.see(CATS, 4);
    const answer = await metadata(await stage.openApi(50));
    expect(answer).toMatchObject({
      status: 200,
      body: { token_address: CATS, name: 'Seen', contract_type: 'ERC1155', synced_at: null, ...NOTHING_SAID },
    });
  });

  test('waits no longer than ON_DEMAND_WAIT_MS', async () => {
    stage.contracts.set(CATS, exampleCollection('erc721', { contractUri: `${stage.documents.url}/held` }));
    const api = await stage.openApi(400);
    await stage.startWorker();
    const started = performance.now();
    expect((await metadata(api)).status).toBe(404);
    const took = performance.now() - started;
    expect(took).toBeGreaterThanOrEqual(390);
    expect(took).toBeLessThan(10_000);
    await vi.waitFor(() => expect(stage.held).toHaveLength(1));
    stage.held[0]?.end('{"name":"Late"}');
    await vi.waitFor(async () => expect((await metadata(api)).body).toMatchObject({ name: 'Late' }), {
      timeout: 5_000,
    });
  });

  test('is not waited for at all with ON_DEMAND_WAIT_MS 0', async () => {
    const clock = clockOfWaits();
    expect((await metadata(await stage.openApi(0, clock))).status).toBe(404);
    expect(clock.waits).toBe(0);
    expect((await metadata(await stage.openApi(200, clock))).status).toBe(404);
    expect(clock.waits).toBe(1);
  });

  test.each([
    ['not a contract', undefined, 'is not a contract on eth', 'not-contract'],
    ['not an NFT', { '0x313ce567': wordOf(18n) }, 'is not an NFT contract on eth', 'not-nft'],
  ] as const)(
    'that is %s is a 404 that says so, remembered for a while',
    async (_, contract, message, status) => {
      if (contract !== undefined) stage.contracts.set(CATS, contract);
      const api = await stage.openApi();
      await stage.startWorker();
      const answer = await metadata(api);
      expect(answer).toMatchObject({ status: 404, body: { details: { status } } });
      expect(answer.body.message).toContain(message);
      // An NFT is deployed there. This goes unnoticed until the refusal expires.
      stage.contracts.set(CATS, exampleCollection('erc721', { name: 'Cats' }));
      const calls = stage.node.counters.snapshot().calls;
      expect((await metadata(api)).status).toBe(404);
      expect(stage.node.counters.snapshot().calls).toEqual(calls);
      await stage.scratch.database.query(sql`UPDATE nft_collections SET due_at = now()`);
      expect(await metadata(api)).toMatchObject({ status: 200, body: { name: 'Cats' } });
    },
  );

  test('that was refused is asked for again as soon as its events show an NFT', async () => {
    const api = await stage.openApi();
    await stage.startWorker();
    expect((await metadata(api)).status).toBe(404);
    await stage.see(CATS, 2);
    stage.contracts.set(CATS, { '0x06fdde03': textOf('Old Cats') });
    expect(await metadata(api)).toMatchObject({
      status: 200,
      body: { name: 'Old Cats', contract_type: 'ERC721', synced_at: expect.any(String) },
    });
  });

  test('whose nodes fail is a 404 that names no node, and is tried again by itself', async () => {
    stage.contracts.set(CATS, exampleCollection('erc721', { name: 'Cats' }));
    const api = await stage.openApi(10_000);
    await stage.startWorker();
    stage.node.faults.set({ methods: ['eth_call', 'eth_getCode'], httpStatus: { rate: 1, status: 503 } });
    const answer = await metadata(api);
    expect(answer).toMatchObject({ status: 404, body: { details: { status: 'failed' } } });
    expect(answer.body.message).toContain('Chainstead retries automatically');
    expect(answer.body.message).not.toContain('127.0.0.1');
    stage.node.faults.clear();
    await vi.waitFor(
      async () => {
        await stage.scratch.database.query(
          sql`UPDATE nft_collections SET due_at = now() - interval '1 minute' WHERE due_at > now()`,
        );
        expect((await metadata(api)).status).toBe(200);
      },
      { timeout: 20_000, interval: 500 },
    );
  });

  test('is bounded by key', async () => {
    const api = await stage.openApi(0);
    for (let index = 0; index < PER_KEY; index++)
      expect((await metadata(api, addressOf(100 + index))).status).toBe(404);
    const refused = await metadata(api, addressOf(200));
    expect(refused).toMatchObject({ status: 429, body: { details: { limit: PER_KEY } } });
    expect(refused.body.message).toMatch(/^This key already has 3 contracts and tokens in the queue/);
    expect(refused.headers.get('retry-after')).toBe('5');
    // A contract that is already queued does not count again.
    expect((await metadata(api, addressOf(100))).status).toBe(404);
    await stage.startWorker();
    await vi.waitFor(async () => expect((await metadata(api, addressOf(200))).status).toBe(404));
  });
});

describe('what is known', () => {
  const key = { token_address: addressBytes(CATS), chain_id: eth.id };
  async function know(columns: Readonly<Record<string, SqlValue>> = {}): Promise<void> {
    const row = { ...key, status: 'known', synced_at: new Date(), ...columns };
    await seedRow(stage.scratch.database, 'nft_collections', row);
  }
  async function list(source: string, columns: Readonly<Record<string, SqlValue>>): Promise<void> {
    await seedRow(stage.scratch.database, 'collection_list_entries', { ...key, source, ...columns });
  }

  test('of a collection that only a list names is answered, and it is read', async () => {
    await list('a', { name: 'Listed', possible_spam: true });
    expect(await metadata(await stage.openApi(0))).toMatchObject({
      status: 200,
      body: {
        name: 'Listed',
        contract_type: null,
        synced_at: null,
        possible_spam: true,
        verified_collection: false,
      },
    });
    expect(await stage.scratch.database.query(sql`SELECT status FROM nft_collections`)).toEqual([
      { status: 'pending' },
    ]);
  });

  test('carries prices that are not known as null, where they are asked for', async () => {
    await know();
    const api = await stage.openApi(0);
    expect((await metadata(api)).body).not.toHaveProperty('floor_price');
    expect((await metadata(api, CATS, '?include_prices=true')).body).toMatchObject({
      floor_price: null,
      floor_price_usd: null,
      floor_price_currency: null,
      last_sale: null,
    });
  });

  test('carries the last sale where it is asked for and known', async () => {
    await know();
    const timestamp = Math.floor(Date.now() / 1_000) - 100 * 86_400;
    await seedTrades(stage.scratch.database, eth, [
      { token: CATS, blockNumber: 1, timestamp: timestamp - 60, price: '5' },
      { token: CATS, blockNumber: 2, timestamp, price: '7000000000000000000' },
    ]);
    expect((await metadata(await stage.openApi(0), CATS, '?include_prices=true')).body.last_sale).toMatchObject({
      token_address: CATS,
      price: '7000000000000000000',
      price_formatted: '7',
      payment_token: { token_symbol: 'ETH' },
    });
  });

  test('of another chain stays out', async () => {
    await know();
    const api = await stage.openApi(0);
    expect((await metadata(api, CATS, '?chain=0x1')).status).toBe(200);
    expect((await metadata(api, CATS, '?chain=base')).status).toBe(404);
  });

  test.each([
    ['0x123/metadata', 'address'],
    [`${CATS}/metadata?chain=nonsense`, 'chain'],
    [`${CATS}/metadata?include_prices=maybe`, 'include_prices'],
    [`${CATS}/1/metadata/resync?mode=soon`, 'mode'],
    [`${CATS}/1/metadata/resync?flag=x`, 'flag'],
    [`${CATS}/-1/metadata/resync`, 'TokenId'],
    [`${CATS}/${2n ** 256n}/metadata/resync`, 'TokenId'],
  ])('%s is a 400 that names what is wrong', async (path, parameter) => {
    const { status, body } = await ask(await stage.openApi(0), path);
    expect(status).toBe(400);
    expect(body.message).toContain(parameter);
  });
});
