/** A chain with two nodes, of which the second one answers for another chain at times: a provider that misroutes requests. */
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import {
  closeOf,
  createScriptedChain,
  createSeededRandom,
  type RpcHandler,
  type ScriptedChain,
  serveScriptedChain,
} from '@chainstead/testkit';
import type { Dataset } from '../dataset/dataset.ts';
import { openScriptedStage, type ScriptedStage } from './scripted-stage.ts';

export interface TwoChainsOptions {
  readonly blocks: number;
  /** Requests in a row of one chain, at most. */
  readonly window: number;
  /** `eth_chainId` of the second node shows the chain that it answers for. */
  readonly tellsChain: boolean;
  /** See `ScriptedChainOptions`. */
  readonly finalityDepth?: number;
}

export interface TwoChainsStage extends ScriptedStage {
  /** Share of the second node's calls that it answers for the other chain. */
  misroute(share: number): void;
  /** Calls that were answered for the other chain. */
  misrouted(): number;
  /** A pool of the second node alone. */
  readonly misroutedPool: UpstreamPool;
  readonly other: ScriptedChain;
  /** Returns the pool of both nodes, whose first read of filtered logs goes to the second one. */
  startingAtSecond(): UpstreamPool;
  /** Rows and hashes of marks that are not of the chain, and blocks of its marks without a row. */
  wrongMarks(from: number, to: number): Promise<{ readonly foreign: number; readonly missing: number }>;
}

type Methods = ReadonlyMap<string, RpcHandler>;

async function serve(chain: ScriptedChain, methods: (own: Methods) => Methods) {
  const node = await serveScriptedChain(chain, { methods: (_view, own) => methods(own) });
  return { ...node, [Symbol.asyncDispose]: () => node.close() };
}

export async function openTwoChains(
  database: Database,
  chainId: number,
  datasets: readonly Dataset[],
  { window, tellsChain, ...staged }: TwoChainsOptions,
): Promise<TwoChainsStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.use(await openScriptedStage(database, chainId, datasets, staged));
  const other = createScriptedChain({
    seed: chainId + 500_000,
    chainId: tellsChain ? chainId + 1 : chainId,
    wallets: 10,
  });
  other.mine(staged.blocks);
  const random = createSeededRandom(`misrouted/${chainId}`);
  let share = 0;
  let count = 0;
  let left = 0;
  let isOther = false;
  const routed =
    (own: RpcHandler, foreign: RpcHandler | undefined): RpcHandler =>
    (params) => {
      if (left-- <= 0) {
        isOther = random.chance(share);
        left = random.integer(1, window);
      }
      if (!isOther || foreign === undefined) return own(params);
      count += 1;
      return foreign(params);
    };
  let foreign: Methods = new Map();
  parts.use(
    await serve(other, (methods) => {
      foreign = methods;
      return methods;
    }),
  );
  const second = parts.use(
    await serve(
      stage.scripted,
      (methods) => new Map([...methods].map(([name, own]) => [name, routed(own, foreign.get(name))])),
    ),
  );
  const open = async (urls: readonly string[]): Promise<UpstreamPool> => {
    const upstreams = urls.map((url) => ({ url }));
    const metrics = createMetricsRegistry();
    const given = createUpstreamPool({ chain: stage.chain, upstreams, logger: silentLogger(), metrics });
    const pool = parts.adopt(given, (one) => one.close());
    await pool.start();
    return pool;
  };
  const pool = await open([stage.node.url, second.url]);
  const misroutedPool = await open([second.url]);
  return {
    ...stage,
    pool,
    misroute(next) {
      share = next;
      left = 0;
    },
    misrouted: () => count,
    misroutedPool,
    other,
    startingAtSecond() {
      let only = pool.status()[1]?.name;
      return {
        ...pool,
        getLogs(query, options) {
          const given = { ...options, ...(only !== undefined && { only }) };
          only = undefined;
          return pool.getLogs(query, given);
        },
      };
    },
    async wrongMarks(from, to) {
      const rows = await database.query<{ place: string }>(
        sql`SELECT concat_ws(' ', block_number, log_index, encode(block_hash, 'hex')) AS place FROM marks WHERE chain_id = ${chainId}`,
      );
      const stored = new Set(rows.map(({ place }) => place));
      const expected = new Set(
        stage.scripted
          .expectedTransfers({ from, to })
          .map(
            ({ blockNumber, logIndex }) =>
              `${blockNumber} ${logIndex} ${stage.scripted.blockAt(blockNumber)?.hash.slice(2)}`,
          ),
      );
      return {
        foreign: [...stored].filter((place) => !expected.has(place)).length,
        missing: [...expected].filter((place) => !stored.has(place)).length,
      };
    },
    ...closeOf(parts),
  };
}
