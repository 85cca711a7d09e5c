import type { Address } from '@chainstead/core';
import { addressBytes, rawSql, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { contract } from '../transfers/testing/example-moves.ts';
import { type Answer, openTraitsStage, PER_KEY } from './testing/traits-stage.ts';

const stage = stageOfFile(openTraitsStage);
let contracts = 0x8000;
beforeAll(async () => {
  await stage.owners.cover(0, 100);
});

const color = (value: string): unknown => ({ trait_type: 'Color', value });
const values = ({ traits }: Answer['body']): unknown => traits[0]?.values.map(({ trait_value: value }) => value);

let cats: Address;
beforeEach(async () => {
  cats = contract(contracts++);
  await stage.mint(cats, [1, 2, 3]);
  for (const [index, value] of ['red', 'red', 'blue'].entries())
    await stage.document(cats, index + 1, [color(value)]);
});

const resync = () => stage.ask(`${cats}/traits/resync`);
const BEGUN = {
  status: 202,
  body: {
    status: 'SYNCING',
    message: 'The metadata of the collection is read again, then its traits and rarity are computed again',
  },
};

/** As if the figures had been requested half an hour ago. */
async function age(): Promise<void> {
  await stage.database.query(
    sql`UPDATE nft_collection_traits SET requested_at = now() - interval '31 minutes' WHERE token_address = ${addressBytes(cats)}`,
  );
}

/** Waits until the documents are queued for the metadata worker. */
async function queued(documents: number): Promise<void> {
  const due = async () =>
    stage.database.query(
      sql`SELECT FROM nft_token_metadata WHERE token_address = ${addressBytes(cats)} AND due_at <= now()`,
    );
  await expect.poll(due).toHaveLength(documents);
}

async function rowsOf(table: string): Promise<number> {
  const [row] = await stage.database.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM ${rawSql(table)} JOIN nft_collection_traits AS traits USING (token_address, chain_id, generation) WHERE token_address = ${addressBytes(cats)}`,
  );
  return row?.count ?? 0;
}

describe('asked for again', () => {
  test('is nothing within half an hour', async () => {
    await stage.ready(`${cats}/traits`);
    await stage.settled(cats);
    expect(await resync()).toEqual({
      status: 202,
      body: { status: 'SYNCED', message: 'A resync of traits and rarity was requested less than 30 minutes ago' },
    });
  });

  // Invariant: NFT-TRAITS-WHOLE
  test('after it the documents are read again, and the old figures are shown until the new ones are there', async () => {
    const before = await stage.ready(`${cats}/traits`);
    await age();
    expect(await resync()).toEqual(BEGUN);
    expect((await resync()).body).toEqual({
      status: 'SYNCING',
      message: 'Traits and rarity of the collection are being computed',
    });
    await queued(3);
    await stage.document(cats, 1, [color('green')]);
    await stage.document(cats, 2, [color('green')]);
    expect(await stage.ask(`${cats}/traits`)).toEqual(before);
    // A document that can't be read any more keeps its content.
    await stage.failing(cats, 3, true);
    await stage.settled(cats);
    const { body } = await stage.ask(`${cats}/traits`);
    expect(values(body)).toEqual(['green', 'blue']);
    expect(body.traits[0]?.values[0]?.percentage).toBe(66.67);
  });

  test('what nobody has asked for is as before: the documents that are known', async () => {
    expect(await resync()).toEqual({
      status: 202,
      body: { status: 'SYNCING', message: 'The metadata of 3 tokens is read again' },
    });
  });
});

describe('a new generation', () => {
  test('makes the cursors of the old one refused, and its rows go', async () => {
    await stage.ready(`${cats}/traits`);
    const first = await stage.ask(`${cats}/traits/paginate?limit=1`);
    expect(first.body.cursor).not.toBeNull();
    expect((await stage.ask(`${cats}/traits/paginate?cursor=${first.body.cursor}`)).body.result).toHaveLength(1);
    await age();
    expect(await resync()).toEqual(BEGUN);
    await queued(3);
    // The old one is still shown.
    expect((await stage.ask(`${cats}/traits/paginate?cursor=${first.body.cursor}`)).status).toBe(200);
    for (const id of [1, 2, 3]) await stage.document(cats, id, [color(`c${id}`)]);
    await stage.settled(cats);
    const { cursor } = first.body;
    expect(await stage.ask(`${cats}/traits/paginate?cursor=${cursor}`)).toEqual({
      status: 400,
      body: {
        message: 'cursor is of traits that have been computed again since: begin with the first page',
        details: { errors: [{ parameter: 'cursor', given: expect.any(String) }] },
      },
    });
    expect(await rowsOf('nft_trait_counts')).toBe(3);
    await expect
      .poll(
        async () =>
          stage.database.query(
            sql`SELECT FROM nft_trait_generations WHERE token_address = ${addressBytes(cats)}`,
          ),
        { timeout: 10_000 },
      )
      .toHaveLength(1);
    for (const table of ['nft_trait_counts', 'nft_trait_tokens', 'nft_token_rarity'])
      expect(
        await stage.database.query(
          sql`SELECT FROM ${rawSql(table)} WHERE (token_address, generation) NOT IN (SELECT token_address, generation FROM nft_trait_generations)`,
        ),
      ).toEqual([]);
  });

  test('counts what was minted since, which the old one does not', async () => {
    await stage.ready(`${cats}/traits`);
    await stage.mint(cats, [4], 3);
    await stage.document(cats, 4, [color('gold')]);
    expect(values((await stage.ask(`${cats}/traits`)).body)).toEqual(['red', 'blue']);
    await age();
    await resync();
    await queued(4);
    for (const id of [1, 2, 3, 4]) await stage.document(cats, id, [color(id === 4 ? 'gold' : 'red')]);
    await stage.settled(cats);
    expect(values((await stage.ask(`${cats}/traits`)).body)).toEqual(['red', 'gold']);
  });
});

test('a key may leave so many collections waiting, and one that waits is never one more', async () => {
  const waiting: Address[] = [];
  const mintOne = async (): Promise<Address> => {
    const address = contract(contracts++);
    await stage.mint(address, [1], 5);
    return address;
  };
  for (let count = 0; count < PER_KEY; count++) {
    const address = await mintOne();
    waiting.push(address);
    expect((await stage.ask(`${address}/traits`)).status).toBe(202);
  }
  const more = await mintOne();
  expect(await stage.ask(`${more}/traits`)).toMatchObject({ status: 429, body: { details: { limit: PER_KEY } } });
  for (const address of waiting) expect((await stage.ask(`${address}/traits`)).status).toBe(202);
  for (const address of waiting) await stage.document(address, 1, [color('red')]);
  for (const address of waiting) await stage.ready(`${address}/traits`);
  expect((await stage.ask(`${more}/traits`)).status).toBe(202);
});

describe('beyond what a key may leave waiting, asking again is refused', () => {
  const refused = {
    status: 429,
    body: {
      message: `This key already has ${PER_KEY} contracts and tokens in the queue: retry when some of them are done`,
      details: { limit: PER_KEY },
    },
  };

  beforeEach(async () => {
    await stage.database.query(sql`UPDATE nft_token_metadata SET requested_by = NULL`);
    await stage.database.query(sql`UPDATE nft_collection_traits SET work = NULL`);
  });

  test('of documents, which are read again as far as there is room', async () => {
    for (const id of [4, 5]) await stage.document(cats, id, [color('red')]);
    expect(await resync()).toEqual({
      status: 202,
      body: { status: 'SYNCING', message: `The metadata of ${PER_KEY} tokens is read again` },
    });
    await queued(PER_KEY);
    expect(await resync()).toEqual(refused);
    await queued(PER_KEY);
  });

  test('of a collection, while as many others are computed', async () => {
    await stage.ready(`${cats}/traits`);
    await stage.settled(cats);
    await age();
    const others = Array.from({ length: PER_KEY }, () => contract(contracts++));
    for (const other of others) {
      await stage.mint(other, [1], 7);
      expect((await stage.ask(`${other}/traits`)).status).toBe(202);
    }
    expect(await resync()).toEqual(refused);
    for (const other of others) {
      await stage.document(other, 1, [color('red')]);
      await stage.ready(`${other}/traits`);
      await stage.settled(other);
    }
    expect(await resync()).toEqual(BEGUN);
  });
});
