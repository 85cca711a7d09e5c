/** All data routes behind a real socket, over some indexed transfers of a devnet, with no worker and no node that is asked within requests. */
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { createDatasetRoutes, datasets } from '@chainstead/datasets';
import { seedTransfers } from '@chainstead/erc20/testing';
import { serveApi, unservedRoutes } from '@chainstead/http';
import { openStateStage } from '@chainstead/state/testing';
import { addressOf, type Closable, closeOf } from '@chainstead/testkit';
import { createApiUnderTest, TEST_KEY } from '../api-under-test.ts';
import { WALLET } from './activity-operations.ts';

/** Largest request body. Bytes. */
export const BODY_BYTES_MAX = 1_000_000;

export interface SentRequest {
  readonly method: string;
  readonly contentType?: string;
  readonly body?: string;
}

export interface ActivityStage extends Closable {
  /** @param path below `/api/v2.2` */
  ask(path: string, sent: SentRequest): Promise<{ readonly status: number; readonly body: unknown }>;
  /** A cursor of the transfers of {@link WALLET} as a token, which no other list takes. */
  readonly cursor: string;
  /** Questions to nodes that requests have left or asked themselves. */
  questions(): Promise<number>;
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
    jobs: stage.jobs,
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
  const api = await createApiUnderTest(database, registry, [...routes, unservedRoutes], {
    chains: [eth],
    datasets: datasets.map(({ name }) => name),
  });
  const server = parts.adopt(await serveApi(api, { host: '127.0.0.1', port: 0 }), (one) => one.close());
  const ask: ActivityStage['ask'] = async (path, { method, contentType, body }) => {
    const answer = await fetch(`${server.url}/api/v2.2${path}`, {
      method,
      headers: { 'x-api-key': TEST_KEY, ...(contentType !== undefined && { 'content-type': contentType }) },
      ...(body !== undefined && { body }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const { body } = await ask(`/erc20/${token}/transfers?limit=1`, { method: 'GET' });
  const { cursor } = Object(body) as { cursor?: unknown };
  if (typeof cursor !== 'string') throw new Error(`No cursor of the token's transfers: ${JSON.stringify(body)}`);
  return {
    ask,
    cursor,
    async questions() {
      const [row] = await database.query<{ left: number }>('SELECT count(*)::int AS left FROM state_questions');
      return calls + Number(row?.left);
    },
    ...closeOf(parts),
  };
}
