import { addressBytes, rawSql, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { eth } from '../owners/testing/owners-stage.ts';
import { contract } from '../transfers/testing/example-moves.ts';
import { openTraitsStage } from './testing/traits-stage.ts';

// Blocks below 50 are missing at first.
const stage = stageOfFile(openTraitsStage);
beforeAll(async () => {
  await stage.owners.cover(50, 100);
});

const CATS = contract(0xb000);
const NOBODY_KNOWS = contract(0xb001);
const color = (value: string): unknown => ({ trait_type: 'Color', value });

test('a contract that nobody knows is read first, and its traits are not begun', async () => {
  expect((await stage.ask(`${NOBODY_KNOWS}/traits`)).status).toBe(202);
  const ofContract = (table: string) =>
    stage.database.query(
      sql`SELECT chain_id FROM ${rawSql(table)} WHERE token_address = ${addressBytes(NOBODY_KNOWS)}`,
    );
  expect(await ofContract('nft_collections')).toEqual([{ chainId: eth.id }]);
  expect(await ofContract('nft_collection_traits')).toEqual([]);
});

test('traits wait for a history that is read, are shown without one that is not, and are computed again when it is there', async () => {
  const { database } = stage;
  await stage.mint(CATS, [1, 2], 60);
  await stage.owners.seen(CATS, 'erc721');
  for (const id of [1, 2]) await stage.document(CATS, id, [color('red')]);
  expect((await stage.ask(`${CATS}/traits`)).status).toBe(202);
  const history = (status: string) =>
    database.query(
      sql`UPDATE backfill_requests SET status = ${status}, updated_at = now() WHERE subject = ${addressBytes(CATS)}`,
    );
  expect(await database.query(sql`SELECT status FROM backfill_requests`)).toEqual([{ status: 'pending' }]);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await database.query(sql`SELECT work FROM nft_collection_traits`)).toEqual([{ work: 'history' }]);

  await history('refused');
  const partial = await stage.ready(`${CATS}/traits`);
  expect(partial.body).toMatchObject({ indexed: { from_block: '50', to_block: '100', complete: false } });
  expect(partial.body.traits[0]?.values).toMatchObject([{ count: 2, percentage: 100 }]);
  const byTraits = await stage.ask(`${CATS}/nfts-by-traits`, { traits: { Color: 'red' } });
  expect(byTraits.body).toMatchObject({ status: 'SYNCING', indexed: { complete: false } });

  // The blocks below arrive, with two new ids.
  await stage.mint(CATS, [3, 4], 10);
  for (const id of [3, 4]) await stage.document(CATS, id, [color('blue')]);
  await stage.owners.cover(0, 49);
  // The computed generation still reports the blocks that it covers.
  await database.query(sql`UPDATE nft_collection_traits SET requested_at = now() - interval '2 minutes'`);
  expect((await stage.ask(`${CATS}/traits`)).body).toEqual(partial.body);
  await stage.settled(CATS);
  const whole = await stage.ask(`${CATS}/traits`);
  expect(whole.body).toMatchObject({ indexed: { from_block: '0', to_block: '100', complete: true } });
  expect(whole.body.traits[0]?.values.map(({ count }) => count)).toEqual([2, 2]);
});
