/** The whole program over a scripted chain, for tests of what becomes of it while its Postgres is in trouble. */
import {
  type Closable,
  closeOf,
  createScriptedChain,
  type Program,
  type ScriptedChain,
  serveScriptedChain,
  startProgram,
} from '@chainstead/testkit';
import { expect, vi } from 'vitest';

/** Starting and crash recovery are slow on a busy machine. */
export const WAIT = { timeout: 90_000, interval: 200 };

export interface OutageStage extends Closable {
  /** A chain of 30 blocks at first; its ID is 31337. */
  readonly chain: ScriptedChain;
  readonly program: Program;
  /** Environment of the program, and of other commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** URL of the API. */
  readonly address: string;
  /** Asks for the transfers of the busiest wallet. */
  page(): Promise<Response>;
  /** Until `/ready` answers so. */
  untilReady(status: 200 | 503): Promise<void>;
  /** Until the ingest process, asked by way of `/metrics`, has followed the chain to its head. */
  untilFollowed(): Promise<void>;
  /** How often the program wrote that. */
  said(what: string): number;
}

/** Starts the program, which keeps no keys: it answers this machine only. Resolves once it has followed its chain. */
export async function startOutageStage(options: {
  readonly seed: number;
  /** Where its database is, above all. */
  readonly environment: Readonly<Record<string, string>>;
}): Promise<OutageStage> {
  await using parts = new AsyncDisposableStack();
  const chain = createScriptedChain({ seed: options.seed, finalityDepth: 8 });
  chain.mine(30);
  const upstream = parts.adopt(await serveScriptedChain(chain), (one) => one.close());
  const environment = {
    PORT: '0',
    CHAINS: 'scripted',
    CHAIN_ID_SCRIPTED: '31337',
    RPC_URLS_SCRIPTED: upstream.url,
    // Its transactions have no signatures.
    SWAPS_SCRIPTED: 'off',
    START_BLOCK_SCRIPTED: '0',
    POLL_INTERVAL_MS: '100',
    ...options.environment,
  };
  const program = startProgram(['start'], { environment });
  parts.defer(async () => void (await program.stop()));
  const [, address = ''] = await program.waitFor(/API {7}(http:\S+)\/api\/v2\.2/);
  const untilReady: OutageStage['untilReady'] = (status) =>
    vi.waitFor(async () => expect((await fetch(`${address}/ready`)).status).toBe(status), WAIT);
  const untilFollowed: OutageStage['untilFollowed'] = () =>
    vi.waitFor(async () => {
      const metrics = await (await fetch(`${address}/metrics`)).text();
      expect(metrics).toContain(
        `chainstead_sync_checkpoint_block{chain="scripted",role="ingest"} ${chain.head}\n`,
      );
    }, WAIT);
  await untilReady(200);
  await untilFollowed();
  return {
    chain,
    program,
    environment,
    address,
    page: () => fetch(`${address}/api/v2.2/${chain.wallets[0]}/erc20/transfers?chain=scripted`),
    untilReady,
    untilFollowed,
    said: (what) => program.output().split(what).length - 1,
    ...closeOf(parts),
  };
}
