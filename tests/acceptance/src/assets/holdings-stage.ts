/** The real program over a devnet with scenes of holdings, and the official SDK that asks it. */
import { sql } from '@chainstead/db';
import { type Closable, closeOf, type Devnet, type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { openDevnetProgramStage } from '../devnet-program.ts';
import { waitUntil } from '../indexed-chain.ts';
import { buildScene, type HoldingsScene } from './holdings-scene.ts';

const KEY = 'acceptance-key-0123456789';
/** Processes start slowly on a busy machine. */
const SETTLE_TIMEOUT_MS = 90_000;

export interface HoldingsStage extends Closable {
  readonly devnet: Devnet;
  /** As the SDK takes it: hexadecimal. */
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
  /** Size of each scene. */
  readonly sizes: readonly number[];
  /** Makes other things on the chain, before the program starts. @returns additional settings of the program */
  prepare?(devnet: Devnet): Promise<Readonly<Record<string, string>>>;
}

export async function openHoldingsStage(options: HoldingsStageOptions): Promise<HoldingsStage> {
  await using parts = new AsyncDisposableStack();
  const { chainId, sizes, prepare } = options;
  const stage = parts.use(await openDevnetProgramStage(chainId));
  const { devnet, scratch } = stage;
  const scenes: HoldingsScene[] = [];
  for (const [place, size] of sizes.entries()) scenes.push(await buildScene(devnet, place, size));
  const besides = await prepare?.(devnet);
  const program = stage.start(KEY, {
    START_BLOCK_DEVNET: '0',
    ON_DEMAND_WAIT_MS: '10000',
    ON_DEMAND_CONCURRENCY_PER_KEY: '100000',
    ON_DEMAND_CALLS_PER_KEY: '1000000',
    ON_DEMAND_COLLECTION_RATE: '10000',
    ...besides,
  });
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
          sql`SELECT '0x' || encode(checkpoint_hash, 'hex') AS hash, coalesce(stop_message, stall_reason) AS why
             FROM sync_chains WHERE chain_id = ${chainId}`,
        );
        return row?.hash === hash
          ? null
          : `block ${number} is not indexed: ${row?.why ?? ''}\n${program.output()}`;
      }, SETTLE_TIMEOUT_MS);
    },
    ...closeOf(parts),
  };
}
