import { silentLogger } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exampleCollection, serveContracts, textOf, wordOf } from '../collections/testing/example-contracts.ts';
import { type ExampleReading, startReading } from '../collections/testing/example-reading.ts';
import { eth } from '../owners/testing/owners-stage.ts';
import { contract } from '../transfers/testing/example-moves.ts';
import { openTraitsStage } from './testing/traits-stage.ts';

const CATS = contract(0xc000);
const IDS = [1, 2, 3, 4];
const COLORS = ['red', 'red', 'blue'];
/** Documents per second. */
const RATE = 20;

const stage = stageOfFile(() => openTraitsStage({ documentRate: RATE }));
let node: Awaited<ReturnType<typeof serveContracts>>;
let reading: ExampleReading;
beforeAll(async () => {
  const uris = IDS.map((id) => {
    const attributes = COLORS[id - 1] === undefined ? [] : [{ trait_type: 'Type', value: COLORS[id - 1] }];
    const uri = `data:application/json,${JSON.stringify({ name: `#${id}`, attributes })}`;
    return [`0xc87b56dd${wordOf(BigInt(id)).slice(2)}`, textOf(uri)] as const;
  });
  node = await serveContracts(
    new Map([[CATS, exampleCollection('erc721', {}, Object.fromEntries(uris))]]),
    eth.id,
  );
  reading = await startReading({
    database: stage.database,
    node,
    logger: silentLogger(),
  });
  await stage.owners.cover(0, 100);
});
afterAll(async () => {
  await reading.close();
  await node.close();
});

test('the worked example, from contracts’ documents: 202, read at the rate of collections, computed', async () => {
  await stage.mint(CATS, IDS);
  expect((await stage.ask(`${CATS}/traits`)).status).toBe(202);
  const { body } = await stage.ready(`${CATS}/traits`);
  expect(body.traits[0]?.values).toMatchObject([
    { trait_value: 'red', count: 2 },
    { trait_value: 'blue', count: 1 },
  ]);
  const { body: found } = await stage.ask(`${CATS}/nfts-by-traits`, { traits: { Type: 'blue' } });
  expect(found.result).toMatchObject([
    { token_id: '3', rarity_rank: 1, rarity_percentage: 25, rarity_label: 'Top 25%' },
  ]);
});

test('of a large collection so many a second are left for the metadata worker, and single tokens go on beside it', async () => {
  const dogs = contract(0xc001);
  await stage.mint(
    dogs,
    Array.from({ length: 200 }, (_, index) => index + 1),
    2,
  );
  const started = performance.now();
  expect((await stage.ask(`${dogs}/traits`)).status).toBe(202);
  const left = () =>
    stage.database.query<{ count: number; ofKeys: number }>(
      sql`SELECT count(*)::int AS count, count(requested_by)::int AS of_keys FROM nft_token_metadata WHERE token_address = ${addressBytes(dogs)}`,
    );
  await expect.poll(async () => (await left())[0]?.count).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const [row] = await left();
  const seconds = (performance.now() - started) / 1_000;
  expect(row?.count).toBeGreaterThan(0);
  expect(row?.count).toBeLessThanOrEqual(Math.ceil((seconds + 0.5) * RATE));
  expect(row?.ofKeys).toBe(0);
});
