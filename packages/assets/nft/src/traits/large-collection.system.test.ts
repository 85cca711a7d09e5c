import { addressBytes, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { eth } from '../owners/testing/owners-stage.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { contract } from '../transfers/testing/example-moves.ts';
import { openTraitsStage } from './testing/traits-stage.ts';

// As many ids as are counted, with eight traits each.
const CATS = contract(0xd000);
const IDS = 50_000;

const stage = stageOfFile(openTraitsStage);
beforeAll(async () => {
  await stage.owners.cover(0, 100);
  const { database } = stage;
  const cats = sql`${addressBytes(CATS)}`;
  const ids = sql`generate_series(1, ${IDS}::int) AS id`;
  await database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (${eth.id}, ${nftCollectionOwners.name}, ${cats})`,
  );
  await database.query(
    sql`INSERT INTO nft_collection_counts VALUES (${cats}, ${eth.id}, ${IDS}, ${IDS}, ${IDS})`,
  );
  await database.query(
    sql`INSERT INTO nft_collection_ids (token_address, chain_id, token_id, token_hash, holders, supply, last_block)
     SELECT ${cats}, ${eth.id}, id, decode(md5(${CATS}::text || id::text), 'hex'), 1, 1, 1 FROM ${ids}`,
  );
  await database.query(
    sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, synced_at, metadata)
     SELECT ${cats}, ${eth.id}, id, 'known', now(), json_build_object('name', id, 'attributes', (
       SELECT json_agg(json_build_object('trait_type', 'T' || kind, 'value', id % (kind * kind + 1))) FROM generate_series(1, 8) AS kind))
     FROM ${ids}`,
  );
});

// Invariant: NFT-TRAITS-WHOLE
test('of 50,000 ids is computed whole, while readers get nothing of it before', async () => {
  expect((await stage.ask(`${CATS}/traits`)).status).toBe(202);
  await expect
    .poll(async () => (await stage.ask(`${CATS}/traits`)).status, { timeout: 90_000, interval: 250 })
    .toBe(200);
  const { body } = await stage.ask(`${CATS}/traits`);
  expect(body.traits.map(({ values }) => values.length)).toEqual([2, 5, 10, 17, 26, 37, 50, 65]);
  for (const { values } of body.traits)
    expect(values.reduce((sum, { count }) => sum + Number(count), 0)).toBe(IDS);
  const [rows] = await stage.database.query(
    sql`SELECT (SELECT count(*) FROM nft_trait_tokens)::int AS pairs, (SELECT count(*) FROM nft_token_rarity)::int AS ranks`,
  );
  expect(rows).toEqual({ pairs: 8 * IDS, ranks: IDS });
});
