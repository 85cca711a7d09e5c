import { ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { stageOfTest } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { addressOf, exampleCollection, textOf, wordOf } from '../collections/testing/example-contracts.ts';
import { eth, openMetadataStage } from '../collections/testing/metadata-api.ts';
import { seedMoves } from '../records/testing/seeded-tokens.ts';
import { cover } from '../wallet-nfts/testing/seeded-wallet.ts';

const [CATS, DOGS, ALICE] = [addressOf(1), addressOf(2), addressOf(3)];

const stage = stageOfTest(openMetadataStage);

async function post(api: ApiApp, body: unknown, query = '') {
  const response = await api.request(`/api/v2.2/nft/getMultipleNFTs${query}`, {
    method: 'POST',
    headers: { 'x-api-key': EXAMPLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

const named = (address: string, id: string) => ({ token_address: address, token_id: id });

describe('several NFTs', () => {
  test('come in the order of the request, the same one twice, null for what never moved', async () => {
    stage.contracts.set(
      CATS,
      exampleCollection(
        'erc721',
        { name: 'Cats' },
        { [`0xc87b56dd${wordOf(1n).slice(2)}`]: () => textOf('data:application/json,{"name":"One"}') },
      ),
    );
    await stage.see(CATS, 2);
    await cover(stage.scratch.database, eth, 0, 100);
    await seedMoves(stage.scratch.database, eth, [
      { token: CATS, id: '1', block: 10, to: ALICE },
      { token: CATS, id: '2', block: 11, to: ALICE },
      { token: CATS, id: '2', block: 12, from: ALICE },
    ]);
    await stage.startWorker();
    const api = await stage.openApi();
    const tokens = [
      named(CATS, '2'),
      named(DOGS, '5'),
      named(CATS.toUpperCase().replace('0X', '0x'), '0x1'),
      named(CATS, '2'),
    ];
    const { status, body, headers } = await post(api, {
      tokens,
      normalizeMetadata: true,
      media_items: true,
      more: 1,
    });
    expect([status, body]).toMatchObject([
      200,
      [
        { token_id: '2', owner_of: ZERO_ADDRESS, amount: null, block_number: '12', block_number_minted: null },
        null,
        {
          token_id: '1',
          owner_of: ALICE,
          amount: '1',
          metadata: '{"name":"One"}',
          normalized_metadata: { name: 'One' },
          media: null,
          collection_logo: null,
          instagram_username: null,
        },
        { token_id: '2' },
      ],
    ]);
    expect(
      ['x-indexed-from-block', 'x-indexed-to-block', 'x-indexed-complete'].map((name) => headers.get(name)),
    ).toEqual(['0', '100', 'true']);
    const [plain] = Object((await post(api, { tokens: [named(CATS, '1')] }, '?chain=0x1')).body);
    for (const absent of ['normalized_metadata', 'media', 'last_sale', 'list_price'])
      expect(plain).not.toHaveProperty(absent);
    // The unknown contract is read.
    expect(
      await stage.scratch.database.query(
        sql`SELECT FROM nft_collections WHERE token_address = decode(${DOGS.slice(2)}, ${'hex'})`,
      ),
    ).toHaveLength(1);
  });

  test.each([
    ['of as many collections', (index: number) => addressOf(100 + index), 2],
    ['of one collection', () => addressOf(99), 2],
    ['of collections that nobody knows', (index: number) => addressOf(200 + index), null],
  ])('cause 60 node calls at most: 25 %s', async (_name, contractOf, bits) => {
    const ids = Array.from({ length: 25 }, (_, index) => index + 1);
    const tokens = ids.map((id) => ({ token: contractOf(id), id: String(id) }));
    const uris = ids.map((id) => [
      `0xc87b56dd${wordOf(BigInt(id)).slice(2)}`,
      textOf(`data:application/json,{"name":"${id}"}`),
    ]);
    for (const token of new Set(tokens.map(({ token: one }) => one))) {
      stage.contracts.set(token, exampleCollection('erc721', { name: 'Cats' }, Object.fromEntries(uris)));
      if (bits !== null) await stage.see(token, bits);
    }
    await cover(stage.scratch.database, eth, 0, 100);
    await seedMoves(
      stage.scratch.database,
      eth,
      tokens.map(({ token, id }, index) => ({ token, id, block: 10 + index, to: ALICE })),
    );
    await stage.startWorker();
    const api = await stage.openApi(15_000, undefined, 1_000);
    const calls = () => {
      const { eth_call: called = 0, eth_getCode: looked = 0 } = stage.node.counters.snapshot().calls;
      return called + looked;
    };
    expect(calls()).toBe(0);
    const { body } = await post(api, { tokens: tokens.map(({ token, id }) => named(token, id)) });
    expect(Object(body)[0]).toMatchObject({ owner_of: ALICE, metadata: '{"name":"1"}' });
    // No work for workers is left.
    await expect
      .poll(() =>
        stage.scratch.database.query(
          sql`SELECT 1 AS due FROM nft_token_metadata WHERE due_at <= now() UNION ALL SELECT 1 FROM nft_collections WHERE due_at <= now()`,
        ),
      )
      .toEqual([]);
    expect(calls()).toBeLessThanOrEqual(60);
    expect(calls()).toBeGreaterThan(24);
  });

  test('are null, with nothing indexed said, where nothing is', async () => {
    const { status, body, headers } = await post(await stage.openApi(0), { tokens: [named(DOGS, '5')] });
    expect([status, body, headers.get('x-indexed-complete')]).toEqual([200, [null], 'false']);
    expect(headers.has('x-indexed-from-block')).toBe(false);
  });
});
