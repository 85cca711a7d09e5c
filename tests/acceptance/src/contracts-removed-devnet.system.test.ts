/** Contracts that are removed, and tables that are dropped, while blocks with their logs are committed. */

import type { Address } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test, vi } from 'vitest';
import { openContractsStage } from './contracts-stage.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Bell {
  event Rung(uint256 number);
  function ring(uint256 number) external { emit Rung(number); }
}`;

const stage = stageOfFile(() => openContractsStage(31_446, SOURCE));

const add = (name: string, address: Address) =>
  stage.runContracts('add', name, '--chain', 'devnet', '--abi', stage.abiOf('Bell'), '--address', address);

async function numbersOf(name: string): Promise<readonly number[]> {
  const rows = await stage.scratch.database.query<{ number: number }>(
    sql`SELECT number::float8 AS number FROM contracts.${rawSql(name)}_rung ORDER BY number`,
  );
  return rows.map(({ number }) => number);
}

const expectNumbers = (name: string, last: number) =>
  vi.waitFor(
    async () => expect(await numbersOf(name)).toEqual(Array.from({ length: last }, (_, index) => index + 1)),
    {
      timeout: 60_000,
      interval: 100,
    },
  );

test('a removal and a dropped table in the middle of blocks stop no chain', async () => {
  const bell = await stage.devnet.deploy(stage.contractOf('Bell'));
  const program = stage.start('contracts-removed');
  await program.url;
  for (const name of ['removed', 'dropped', 'stays']) await add(name, bell);
  let rung = 0;
  const ring = async (times: number) => {
    for (let done = 0; done < times; done++) await stage.send('Bell', bell, 'ring', BigInt(++rung));
  };
  await ring(3);
  for (const name of ['removed', 'dropped', 'stays']) await expectNumbers(name, 3);

  const ringing = ring(60);
  await stage.scratch.database.query(sql`DROP TABLE contracts.dropped_rung CASCADE`);
  await stage.runContracts('remove', 'removed', '--chain', 'devnet');
  await ringing;
  await ring(3);
  await expectNumbers('stays', 66);
  expect(await stage.runContracts('status')).toMatch(/contracts\.dropped_rung .*table is missing/);

  await add('dropped', bell);
  await expectNumbers('dropped', 66);
  expect((await program.stop()).code).toBe(0);
});
