/** The real program over a devnet with scenes of holdings, and the official SDK that asks it. */
import {
  type Closable,
  closeOf,
  createScratchDatabase,
  type Devnet,
  type Moralis,
  startDevnet,
  startOfficialSdk,
  startProgram,
} from '@chainstead/testkit';
import { waitUntil } from '../indexed-chain.ts';
import { buildScene, type HoldingsScene } from './holdings-scene.ts';

const KEY = 'acceptance-key-0123456789';
/** Processes start slowly on a busy machine. */
const SETTLE_TIMEOUT_MS = 90_000;

export interface HoldingsStage extends Closable {
  readonly devnet: Devnet;
  /** As the SDK is told: hexadecimal. */
  readonly chain: string;
  readonly scenes: readonly HoldingsScene[];
  readonly EvmApi: Moralis['EvmApi'];
  /** As any client asks. @param path with its query, below `/api/v2.2/`; the chain is added */
  ask(path: string, sent?: object): Promise<HoldingsAnswer>;
  /** Waits until the newest block of the node is indexed. */
  settle(): Promise<void>;
}

interface HoldingsAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface HoldingsStageOptions {
  readonly chainId: number;
  /** Of each scene. */
  readonly sizes: readonly number[];
  /** Makes other things on the chain, before the program starts. @returns what the program is to be configured with besides */
  prepare?(devnet: Devnet): Promise<Readonly<Record<string, string>>>;
}

export async function openHoldingsStage(options: HoldingsStageOptions): Promise<HoldingsStage> {
  await using parts = new AsyncDisposableStack();
  const { chainId, sizes, prepare } = options;
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const devnet = parts.adopt(await startDevnet({ chainId }), (one) => one.stop());
  const scenes: HoldingsScene[] = [];
  for (const [place, size] of sizes.entries()) scenes.push(await buildScene(devnet, place, size));
  const besides = await prepare?.(devnet);
  const program = parts.adopt(
    startProgram(['start'], {
      environment: {
        DATABASE_URL: scratch.url,
        PORT: '0',
        API_KEYS: KEY,
        CHAINS: 'devnet',
        CHAIN_ID_DEVNET: String(chainId),
        RPC_URLS_DEVNET: devnet.url,
        START_BLOCK_DEVNET: '0',
        POLL_INTERVAL_MS_DEVNET: '50',
        INDEX_WAIT_MS: '10000',
        ON_DEMAND_PER_KEY: '100000',
        ON_DEMAND_COLLECTION_RATE: '10000',
        LOG_LEVEL: 'warn',
        ...besides,
      },
    }),
    (one) => one.kill(),
  );
  const address = await program.url;
  const { EvmApi } = (await startOfficialSdk({ apiKey: KEY, address })).Moralis;
  const chain = `0x${chainId.toString(16)}`;
  return {
    ...{ devnet, chain, scenes, EvmApi },
    async ask(path, sent) {
      const url = `${address}/api/v2.2/${path}${path.includes('?') ? '&' : '?'}chain=${chain}`;
      const json = { 'content-type': 'application/json' };
      const response = await fetch(url, {
        method: sent === undefined ? 'GET' : 'POST',
        headers: { 'x-api-key': KEY, ...(sent !== undefined && json) },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    async settle() {
      const { number, hash } = await devnet.client.getBlock();
      await waitUntil(async () => {
        const [row] = await scratch.database.query<{ hash: string; why: string | null }>(
          `SELECT '0x' || encode(checkpoint_hash, 'hex') AS hash, coalesce(stop_message, stall_reason) AS why
             FROM sync_chains WHERE chain_id = $1`,
          [chainId],
        );
        return row?.hash === hash ? null : `block ${number} is not indexed: ${row?.why ?? ''}\n${program.output()}`;
      }, SETTLE_TIMEOUT_MS);
    },
    ...closeOf(parts),
  };
}
