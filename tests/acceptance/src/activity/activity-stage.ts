/** All data routes behind a real socket, over some indexed transfers of a devnet, with no worker and no node that is asked within requests. */

import { createChainRegistry } from '@chainstead/chains';
import { parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { seedTransfers } from '@chainstead/erc20/testing';
import { openStateStage } from '@chainstead/node-reads/testing';
import { addressOf, closeOf } from '@chainstead/testkit';
import { createDatasetRoutes, datasets } from 'chainstead/src/datasets/index.ts';
import { shown } from '../assets/refusals.ts';
import { cursorOf, type RequestStage, serveRoutes } from '../request-table.ts';
import { WALLET } from './activity-operations.ts';

export interface ActivityStage extends RequestStage {
  /** Questions to nodes that requests have left or asked themselves. */
  nodeReads(): Promise<number>;
}

export async function openActivityStage(): Promise<ActivityStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.adopt(await openStateStage(), (one) => one.close());
  const { database } = stage.scratch;
  const registry = createChainRegistry();
  const eth = registry.get('eth');
  await stage.devnet.mine(8);
  const token = parseAddress(WALLET);
  await seedTransfers(
    database,
    eth,
    [4, 5, 6].map((blockNumber) => ({
      ...{ from: addressOf(1), to: addressOf(2), token, value: 5n },
      ...{ blockNumber, transactionIndex: 0, logIndex: 0 },
    })),
  );
  await stage.commit();
  let calls = 0;
  const routes = createDatasetRoutes({
    database,
    chains: [eth],
    onDemand: { waitMs: 0, maxCalls: 1_000, perKey: 1_000 },
    clock: systemClock,
    logger: silentLogger(),
    nameChains: [eth],
    call: async () => {
      calls += 1;
      return { kind: 'unavailable' };
    },
  });
  const ask = await serveRoutes(parts, database, registry, routes, {
    chains: [eth],
    datasets: datasets.map(({ name }) => name),
  });
  // Requests of the token's transfers, which no other list takes.
  const cursor = await cursorOf(ask, `/erc20/${token}/transfers`);
  return {
    ask,
    known: { cursor, cursorShown: shown(cursor) },
    async nodeReads() {
      const [row] = await database.query<{ left: number }>(
        sql`SELECT count(*)::int AS left FROM state_questions`,
      );
      return calls + Number(row?.left);
    },
    ...closeOf(parts),
  };
}
