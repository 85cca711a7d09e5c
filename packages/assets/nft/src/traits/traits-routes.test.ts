import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { eth } from '../owners/testing/owners-stage.ts';
import { account, contract, ERC1155 } from '../transfers/testing/example-moves.ts';
import { openTraitsStage } from './testing/traits-stage.ts';

const stage = stageOfFile(openTraitsStage);
let contracts = 0x7000;
const nextContract = (): Address => contract(contracts++);
beforeAll(async () => {
  await stage.owners.cover(0, 100);
});

const INDEXED = { from_block: '0', to_block: '100', complete: true };
const NOT_READY = {
  status: 202,
  body: { message: 'Contract is being resynced at the moment. Please try again later.' },
};
const type = (value: unknown): unknown => ({ trait_type: 'Type', value });

/** Ids 1–4 with red, red, blue and nothing. */
async function workedExample(): Promise<Address> {
  const cats = nextContract();
  await stage.mint(cats, [1, 2, 3, 4]);
  for (const [index, value] of ['red', 'red', 'blue'].entries())
    await stage.document(cats, index + 1, [type(value)]);
  await stage.document(cats, 4, []);
  return cats;
}

test('more than an answer has room for are not complete by type, and in pages are', async () => {
  const cats = nextContract();
  const ids = Array.from({ length: 51 }, (_, index) => index + 1);
  await stage.mint(cats, ids);
  for (const id of ids) {
    const traits = Array.from({ length: 100 }, (_, place) => ({ trait_type: `Part ${place}`, value: `${id}` }));
    await stage.document(cats, id, traits);
  }
  const { traits, indexed } = (await stage.ready(`${cats}/traits`)).body;
  expect([traits.flatMap(({ values }) => values).length, indexed]).toEqual([
    5_000,
    { ...INDEXED, complete: false },
  ]);
  expect((await stage.ready(`${cats}/traits/paginate`)).body.indexed).toEqual(INDEXED);
});

describe('the worked example', () => {
  let cats: Address;
  beforeAll(async () => {
    cats = await workedExample();
  });

  test('is 202 until it is computed, then has its traits by type', async () => {
    expect(await stage.ask(`${cats}/traits`)).toEqual(NOT_READY);
    expect(await stage.ready(`${cats}/traits`)).toEqual({
      status: 200,
      body: {
        traits: [
          {
            trait_type: 'Type',
            values: [
              { trait_value: 'red', count: 2, percentage: 50, rarity_label: 'Top 50% trait' },
              { trait_value: 'blue', count: 1, percentage: 25, rarity_label: 'Top 25% trait' },
            ],
          },
        ],
        indexed: INDEXED,
      },
    });
  });

  test('has its NFTs by traits, with their rarity', async () => {
    const { status, body } = await stage.ready(`${cats}/nfts-by-traits?normalizeMetadata=true`, {
      traits: { Type: 'blue' },
    });
    expect([status, body]).toMatchObject([
      200,
      { status: 'SYNCED', page: 0, page_size: 100, cursor: null, indexed: INDEXED },
    ]);
    expect(body.result).toMatchObject([
      {
        token_address: cats,
        token_id: '3',
        owner_of: account(3),
        amount: '1',
        block_number: '1',
        rarity_rank: 1,
        rarity_percentage: 25,
        rarity_label: 'Top 25%',
        normalized_metadata: {
          attributes: [
            { trait_type: 'Type', value: 'blue', count: 1, percentage: 25, rarity_label: 'Top 25% trait' },
          ],
        },
      },
    ]);
    const red = await stage.ask(`${cats}/nfts-by-traits`, { traits: { Type: 'red' } });
    expect(red.body.result.map((row) => [row.token_id, row.rarity_rank, row.rarity_label]).sort()).toEqual([
      ['1', 3, 'Top 75%'],
      ['2', 3, 'Top 75%'],
    ]);
    expect(red.body.result[0]).not.toHaveProperty('normalized_metadata');
  });
});

describe('documents', () => {
  test('that nobody has read are left for the metadata worker, in nobody’s name, and waited for', async () => {
    const cats = nextContract();
    await stage.mint(cats, [1, 2, 3]);
    await stage.document(cats, 2, [type('red')]);
    expect(await stage.ask(`${cats}/traits`)).toEqual(NOT_READY);
    const rows = async () =>
      stage.database.query(
        sql`SELECT token_id, status, requested_by, due_at <= now() AS is_due FROM nft_token_metadata WHERE token_address = ${addressBytes(cats)} ORDER BY token_id`,
      );
    const pending = { status: 'pending', requestedBy: null, isDue: true };
    await expect.poll(rows).toEqual([
      { tokenId: '1', ...pending },
      { tokenId: '2', status: 'known', requestedBy: null, isDue: null },
      { tokenId: '3', ...pending },
    ]);
    await stage.document(cats, 1, [type('blue')]);
    expect(await stage.ask(`${cats}/traits`)).toEqual(NOT_READY);
    await stage.failing(cats, 3, true);
    const { body } = await stage.ready(`${cats}/traits`);
    await stage.settled(cats);
    expect(body.traits[0]?.values.map(({ trait_value: value }) => value)).toEqual(['red', 'blue']);
    expect(body.traits[0]?.values[0]?.percentage).toBe(33.33);
  });

  test('that failed once hold nothing up, and count when they are there', async () => {
    const cats = nextContract();
    await stage.mint(cats, [1, 2]);
    await stage.document(cats, 1, [type('red')]);
    await stage.failing(cats, 2, false);
    expect(await stage.ask(`${cats}/traits`)).toEqual(NOT_READY);
    // Queued and tried once more.
    await expect
      .poll(() =>
        stage.database.query(
          sql`SELECT status FROM nft_token_metadata WHERE token_address = ${addressBytes(cats)} AND token_id = 2`,
        ),
      )
      .toEqual([{ status: 'pending' }]);
    await stage.failing(cats, 2, false);
    const first = await stage.ready(`${cats}/traits`);
    expect(first.body.traits[0]?.values).toMatchObject([{ trait_value: 'red', count: 1, percentage: 50 }]);
    await stage.document(cats, 2, [type('red')]);
    await stage.settled(cats);
    const { body } = await stage.ask(`${cats}/traits`);
    expect(body.traits[0]?.values).toMatchObject([{ trait_value: 'red', count: 2, percentage: 100 }]);
  });

  test('that name nothing, and no attributes at all, leave traits empty and rarity null', async () => {
    const cats = nextContract();
    await stage.mint(cats, [1, 2]);
    await stage.document(cats, 1, null);
    await stage.document(cats, 2, [{ trait_type: 'Born', value: 5, display_type: 'date' }]);
    expect(await stage.ready(`${cats}/traits`)).toEqual({ status: 200, body: { traits: [], indexed: INDEXED } });
    expect((await stage.ask(`${cats}/traits/paginate`)).body.result).toEqual([]);
    expect((await stage.ask(`${cats}/nfts-by-traits`, { traits: { Type: 'red' } })).body.result).toEqual([]);
    // Texts that Postgres can't store are not a trait of any NFT.
    const odd = await stage.ask(`${cats}/nfts-by-traits`, { traits: { 'Type\0': '\ud800' } });
    expect([odd.status, odd.body.result]).toEqual([200, []]);
  });
});

describe('a contract', () => {
  test('that is no collection has no traits', async () => {
    const token = nextContract();
    await stage.database.query(
      sql`INSERT INTO nft_collections (token_address, chain_id, status) VALUES (${addressBytes(token)}, ${eth.id}, 'not-nft')`,
    );
    expect(await stage.ask(`${token}/traits`)).toEqual({ status: 200, body: { traits: [], indexed: INDEXED } });
    expect(await stage.ask(`${token}/traits/paginate`)).toMatchObject({
      status: 200,
      body: { cursor: null, result: [] },
    });
  });

  test('of which nothing ever moved has no traits, and starts nothing', async () => {
    const token = nextContract();
    expect(await stage.ask(`${token}/traits`)).toEqual({ status: 200, body: { traits: [], indexed: INDEXED } });
    expect(
      await stage.database.query(
        sql`SELECT FROM nft_collection_traits WHERE token_address = ${addressBytes(token)}`,
      ),
    ).toEqual([]);
  });

  test('whose ids were all burned has no traits', async () => {
    const cats = nextContract();
    await stage.mint(cats, [1]);
    await stage.owners.add(2, [{ token: cats, id: 1n, from: account(1), to: ZERO_ADDRESS, amount: 1n }]);
    await stage.owners.seen(cats, 'erc721');
    expect((await stage.ready(`${cats}/traits`)).body.traits).toEqual([]);
  });

  test('with more than 50,000 ids is refused, and what was computed before is not shown', async () => {
    const cats = await workedExample();
    await stage.ready(`${cats}/traits`);
    const setIds = (ids: number) =>
      stage.database.query(
        sql`UPDATE nft_collection_counts SET ids = ${ids} WHERE token_address = ${addressBytes(cats)}`,
      );
    await setIds(50_000);
    expect((await stage.ask(`${cats}/traits`)).status).toBe(200);
    await setIds(50_001);
    for (const [path, body] of [
      ['traits'],
      ['traits/paginate'],
      ['nfts-by-traits', { traits: { Type: 'red' } }],
    ] as const)
      expect(await stage.ask(`${cats}/${path}`, body)).toEqual({
        status: 404,
        body: {
          message: `${cats} is too large on eth: traits are counted of collections of up to 50000 NFTs`,
          details: { status: 'too-large' },
        },
      });
  });

  test('that was too large is looked at again after a while', async () => {
    const cats = await workedExample();
    await stage.ready(`${cats}/traits`);
    const isCats = sql`token_address = ${addressBytes(cats)}`;
    await stage.database.query(sql`UPDATE nft_collection_traits SET is_too_large = true WHERE ${isCats}`);
    expect((await stage.ask(`${cats}/traits`)).status).toBe(404);
    expect((await stage.ask(`${cats}/nfts-by-traits`, { traits: { Type: 'red' } })).status).toBe(404);
    await stage.database.query(
      sql`UPDATE nft_collection_traits SET requested_at = now() - interval '31 minutes' WHERE ${isCats}`,
    );
    expect((await stage.ask(`${cats}/traits`)).status).toBe(404);
    await stage.settled(cats);
    expect((await stage.ask(`${cats}/traits`)).status).toBe(200);
  });

  test('of ERC-1155 counts ids, not units, and its records belong to nobody', async () => {
    const cards = ERC1155;
    await stage.owners.seen(cards, 'erc1155');
    const mint = { token: cards, from: ZERO_ADDRESS, amount: 7n };
    await stage.owners.add(1, [
      { ...mint, id: 1n, to: account(1) },
      { ...mint, id: 1n, to: account(2) },
      { ...mint, id: 2n, to: account(1) },
    ]);
    for (const id of [1, 2]) await stage.document(cards, id, [type('red')]);
    expect((await stage.ready(`${cards}/traits`)).body.traits[0]?.values[0]).toMatchObject({
      count: 2,
      percentage: 100,
    });
    const { body } = await stage.ask(`${cards}/nfts-by-traits`, { traits: { Type: 'red' } });
    expect(body.result.map((row) => [row.token_id, row.owner_of, row.amount, row.rarity_rank]).sort()).toEqual([
      ['1', null, '14', 1],
      ['2', null, '7', 1],
    ]);
  });
});
