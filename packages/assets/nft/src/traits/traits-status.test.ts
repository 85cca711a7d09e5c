import { addressBytes, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { contract } from '../transfers/testing/example-moves.ts';
import { openTraitsStage } from './testing/traits-stage.ts';
import { readTraitsStatuses } from './traits-at-work.ts';

const [CATS, DOGS] = [contract(0xb000), contract(0xb001)];
const IDLE = { history: 0, queue: 0, settle: 0, compute: 0, improve: 0 };
const stage = stageOfFile(openTraitsStage);
beforeAll(async () => {
  await stage.owners.cover(0, 100);
});

const red = [{ trait_type: 'Color', value: 'red' }];

/** Number of work outcomes, from the metric. */
async function outcomes(): Promise<Readonly<Record<string, number>>> {
  const metric = await stage.metrics.getSingleMetric('chainstead_nft_traits_total')?.get();
  return Object.fromEntries(
    (metric?.values ?? []).map(({ labels, value }) => [`${labels.chain} ${labels.outcome}`, value]),
  );
}

test('collections are told by what they wait for, and counted once they are done', async () => {
  expect(await readTraitsStatuses(stage.database)).toEqual([]);
  await stage.mint(CATS, [1]);
  await stage.document(CATS, 1, red);
  await stage.ready(`${CATS}/traits`);
  await stage.settled(CATS);
  await stage.mint(DOGS, [1], 2);
  expect((await stage.ask(`${DOGS}/traits`)).status).toBe(202);
  // No worker reads its document.
  await expect
    .poll(() => readTraitsStatuses(stage.database))
    .toEqual([{ chainId: 1, computed: 1, tooLarge: 0, atWork: { ...IDLE, settle: 1 } }]);
  expect(await outcomes()).toEqual({ 'eth computed': 1 });
  await stage.database.query(
    sql`UPDATE nft_collection_counts SET ids = 50001 WHERE token_address = ${addressBytes(DOGS)}`,
  );
  await stage.document(DOGS, 1, red);
  await stage.settled(DOGS);
  expect(await readTraitsStatuses(stage.database)).toEqual([
    { chainId: 1, computed: 1, tooLarge: 1, atWork: IDLE },
  ]);
  expect(await outcomes()).toEqual({ 'eth computed': 1, 'eth too-large': 1 });
});
