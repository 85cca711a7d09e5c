import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { coverBlocks, createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, it } from 'vitest';
import { readContractDatasets } from '../dataset/contract-datasets.ts';
import { addContract } from './add-contract.ts';
import { readContractStatuses } from './contract-status.ts';
import { resumeContract, sizesStatement, suspendLargeContracts } from './suspend-contracts.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const CHECKPOINT = 10_000;
const SETTLED = CHECKPOINT - chain.reorgDepthMax;

const add = (name: string) =>
  addContract(scratch.database, {
    ...{ name, chain, firstBlock: null, events: null, indexed: [], factory: null },
    addresses: [parseAddress(`0x${'11'.repeat(20)}`)],
    abi: [{ type: 'event', name: 'Used', inputs: [] }],
  });
const sizes = async (): Promise<[small: number, large: number]> => {
  const rows = await scratch.database.query<{ name: string; bytes: number }>(sizesStatement(chain));
  const bytesOf = (name: string) => rows.find((row) => row.name === name)?.bytes ?? 0;
  return [bytesOf('small'), bytesOf('large')];
};
const offered = async () => (await readContractDatasets(scratch.database)).map(({ name }) => name);

it('ends the indexing of a contract whose tables are too large, and of no other one', async () => {
  await add('large');
  await add('small');
  await scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES (${chain.id}, 0, 0, ${CHECKPOINT})`,
  );
  await createPartitions(scratch.database, 'contracts.large_used', chain.id);
  await scratch.database.query(
    sql`INSERT INTO contracts.large_used (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract)
     SELECT ${chain.id}, block, 0, 0, now(), '\\xab', '\\xcd' FROM unnest(${[1, 2, SETTLED, SETTLED + 1, CHECKPOINT]}::bigint[]) AS block`,
  );
  await coverBlocks(scratch.database, chain.id, 'contracts.large_used', 0, CHECKPOINT, 'none');
  const suspend = (bytesMax: number | null) => suspendLargeContracts(scratch.database, chain, bytesMax);
  const [small, large] = await sizes();
  expect(await suspend(large)).toBe(0);
  expect(await offered()).toEqual(['contracts.large_used', 'contracts.small_used']);
  expect([await suspend(small), await suspend(small)]).toEqual([1, 1]);
  expect(await offered()).toEqual(['contracts.small_used']);
  // A reorg would not remove rows of a dataset that is not indexed.
  expect((await readContractStatuses(scratch.database))[0]).toMatchObject({
    ...{
      table: 'contracts.large_used',
      rows: 3,
      suspendedReason: `${large} bytes exceed CONTRACT_BYTES_MAX=${small}`,
    },
    blocks: [{ from: 0, to: SETTLED }],
  });

  await resumeContract(scratch.database, 'large', chain.id);
  expect(await suspend(null)).toBe(0);
  expect(await offered()).toEqual(['contracts.large_used', 'contracts.small_used']);
  // A table without rows has no bytes.
  expect(await suspend(1)).toBe(1);
  expect(await offered()).toEqual(['contracts.small_used']);
  await expect(resumeContract(scratch.database, 'none', chain.id)).rejects.toMatchObject({
    message: 'There is no contract none on this chain. Run "chainstead contracts list" for the names',
  });
});
