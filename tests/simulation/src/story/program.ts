/** The program of a story on a real node: it is killed, started again, and waited for. */

import type { Clock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { freePort, type ScratchDatabase } from '@chainstead/testkit';
import { startIngest } from '../ingest-process.ts';
import { openApi, type StoryApi } from './api.ts';
import { readHead } from './node.ts';
import type { StoryChain } from './story-chain.ts';

/** Separate processes: either may die without the other. */
export type StoryRoles = 'ingest' | 'api,worker';

export interface StoryProgram {
  readonly api: StoryApi;
  /** SIGKILL, then a new process. */
  kill(roles: StoryRoles): Promise<void>;
  /** Waits until the newest block is indexed, and the API answers. @returns why it is not; null where it is */
  settle(): Promise<string | null>;
  /** What both wrote, for people to read. */
  output(): string;
  stop(): Promise<void>;
}

export interface StoryProgramOptions {
  readonly chain: StoryChain;
  readonly nodeUrl: string;
  readonly scratch: ScratchDatabase;
  readonly clock: Clock;
  /** Where its index begins. */
  readonly startBlock: number;
  /** Further settings of the chain, without its name: `VERIFICATION`. */
  readonly ofChain: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
}

/** Ample: three processes start at once, on a machine that has other work too. */
const SETTLE_TIMEOUT_MS = 180_000;
const POLL_MS = 20;

export async function startStory(options: StoryProgramOptions): Promise<StoryProgram> {
  const { chain, nodeUrl, scratch, clock } = options;
  const port = await freePort();
  const environment = environmentOf(options, port);
  const processes = {
    ingest: startIngest(environment),
    'api,worker': startIngest(environment, 'api,worker'),
  };
  const api = openApi(() => `http://127.0.0.1:${port}`, chain.key);
  return {
    api,
    async kill(roles) {
      await processes[roles].kill();
      processes[roles] = startIngest(environment, roles);
    },
    async settle() {
      const { number, hash } = await readHead(nodeUrl);
      const deadline = clock.now() + SETTLE_TIMEOUT_MS;
      for (;;) {
        const [row] = await scratch.database.query<{ hash: string; checkpoint: number; why: string | null }>(
          sql`SELECT '0x' || encode(checkpoint_hash, 'hex') AS hash, checkpoint, coalesce(stop_message, stall_reason) AS why
             FROM sync_chains WHERE chain_id = ${chain.id}`,
        );
        if (row?.hash === hash && (await isAnswering(api))) return null;
        if (clock.now() > deadline)
          return `Not settled after ${SETTLE_TIMEOUT_MS / 1_000} s: the checkpoint is ${row?.checkpoint} ${row?.hash}, the newest block ${number} ${hash}: ${row?.why ?? 'no reason given'}`;
        await clock.sleep(POLL_MS);
      }
    },
    output: () =>
      Object.entries(processes)
        .map(([roles, process]) => `Output of ${roles}:\n${process.output()}`)
        .join('\n'),
    async stop() {
      await Promise.all(Object.values(processes).map((process) => process.kill()));
    },
  };
}

async function isAnswering(api: StoryApi): Promise<boolean> {
  try {
    return (await api.ask('erc20/metadata/symbols', { symbols: 'PLAIN' })).status === 200;
  } catch {
    // There is no listener yet: the process starts.
    return false;
  }
}

function environmentOf(
  { chain, nodeUrl, scratch, startBlock, ofChain, settings }: StoryProgramOptions,
  port: number,
): Record<string, string> {
  const suffix = chain.key.toUpperCase().replaceAll('-', '_');
  const own: Readonly<Record<string, string>> = {
    ...(chain.isKnown ? {} : { CHAIN_ID: String(chain.id) }),
    RPC_URLS: nodeUrl,
    START_BLOCK: String(startBlock),
    POLL_INTERVAL_MS: '25',
    REORG_DEPTH_MAX: '64',
    ...ofChain,
  };
  return {
    DATABASE_URL: scratch.url,
    PORT: String(port),
    CHAINS: chain.key,
    ...Object.fromEntries(Object.entries(own).map(([name, value]) => [`${name}_${suffix}`, value])),
    ON_DEMAND_WAIT_MS: '5000',
    ON_DEMAND_CONCURRENCY_PER_KEY: '100000',
    LOG_LEVEL: 'warn',
    ...settings,
  };
}
