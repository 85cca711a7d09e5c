/** Contracts that are added to a chain without new blocks: rows appear although no block is final, and addresses without code are named. */
import { sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test, vi } from 'vitest';
import { openContractsStage } from './contracts-stage.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Counter {
  event Counted(address indexed by, uint256 count);
  function count(uint256 to) external { for (uint256 i = 1; i <= to; i++) emit Counted(msg.sender, i); }
}`;
const EVENTS = [3, 1, 4, 1, 5];
const WITHOUT_CODE = '0x000000000000000000000000000000000000dead';
const stage = stageOfFile(() => openContractsStage(31_451, SOURCE));

test('has all its rows without a new block', async () => {
  const { devnet, scratch } = stage;
  const counter = await devnet.deploy(stage.contractOf('Counter'));
  const expected: string[] = [];
  for (const events of EVENTS) {
    const { blockNumber } = await stage.send('Counter', counter, 'count', BigInt(events));
    for (let count = 1; count <= events; count++) expected.push(`${blockNumber} ${count - 1} ${count}`);
  }
  const program = stage.start('contracts-idle-devnet');
  await program.url;
  const head = Number(await devnet.client.getBlockNumber());
  const checkpoint = async () =>
    (await scratch.database.query<{ checkpoint: number | null }>(sql`SELECT checkpoint FROM sync_chains`))[0]
      ?.checkpoint;
  await expect.poll(checkpoint).toBe(head);
  const added = [`--chain=devnet`, `--abi=${stage.abiOf('Counter')}`, '--address'];
  expect(await stage.runContracts('add', 'empty', ...added, WITHOUT_CODE)).toContain(
    `Warning: ${WITHOUT_CODE} has no code on devnet`,
  );
  await expect(stage.runContracts('add', 'strict', ...added, WITHOUT_CODE, '--strict')).rejects.toThrow(
    'has no code',
  );
  expect(await stage.runContracts('add', 'counter', ...added, counter, '--strict')).not.toContain('Warning');
  await vi.waitFor(
    async () => {
      const rows = await scratch.database.query<{ row: string }>(
        sql`SELECT concat_ws(' ', block_number, log_index, count) AS row FROM contracts.counter_counted ORDER BY block_number, log_index`,
      );
      expect(rows.map(({ row }) => row)).toEqual(expected);
    },
    { timeout: 30_000, interval: 200 },
  );
  expect(Number(await devnet.client.getBlockNumber())).toBe(head);
  const statuses: readonly { table: string; indexed_blocks: unknown[] }[] = JSON.parse(
    await stage.runContracts('status', '--json'),
  );
  expect(statuses).toHaveLength(2);
  const status = statuses.find(({ table }) => table === 'contracts.counter_counted');
  expect(status).toMatchObject({ rows: expected.length });
  expect(status?.indexed_blocks.at(-1)).toMatchObject({ to: head });
  expect((await program.stop()).code).toBe(0);
});
