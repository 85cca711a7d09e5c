import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { readChainSamples, sampleChains, saveSamples } from './chain-samples.ts';

const scratch = scratchOfFile();

test('samples say where chains stood by the minute, and are forgotten after a day', async () => {
  const { database } = scratch;
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint, head)
     VALUES (1, 'eth', 0, 100, 120, 125), (10, 'optimism', 0, 100, NULL, NULL)`,
  );
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof)
     VALUES (1, 'erc20-transfers', 0, 9, 'none'), (1, 'nft-transfers', 0, 4, 'none')`,
  );
  await database.query(
    sql`INSERT INTO chain_metrics_minutely (chain, minute, head, checkpoint, covered) VALUES
       ('1', date_trunc('minute', now()) - interval '1 minute', 124, 110, 10),
       ('1', now() - interval '26 hours', 1, 1, 1)`,
  );
  await Promise.all([sampleChains(database), sampleChains(database)]);
  const samples = await readChainSamples(database, { minutes: 30 * 60, step: 1 });
  expect(samples.get('1')).toMatchObject([
    { head: 124, checkpoint: 110, lag: 14, covered: 10 },
    { head: 125, checkpoint: 120, lag: 5, covered: 15 },
  ]);
  expect(samples.get('10')).toMatchObject([{ head: null, checkpoint: null, lag: null, covered: 0 }]);
  const together = await readChainSamples(database, { minutes: 60, step: 100_000, chain: '1' });
  expect([...together.keys()]).toEqual(['1']);
  expect(together.get('1')?.at(-1)).toMatchObject({ lag: 14, covered: 15 });
});

test('samples of no chain are nothing', async () => {
  await saveSamples(scratch.database, []);
});
