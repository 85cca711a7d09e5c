import type { Chain } from '@chainstead/chains';
import {
  createScriptedChain,
  exampleChain,
  examplePool,
  type ScriptedChain,
  type SourceFaultSettings,
  type SourceServer,
  serveHyperSync,
  servePortal,
  serveScriptedChain,
} from '@chainstead/testkit';
import { onTestFinished } from 'vitest';
import type { BlockSource } from '../block-source.ts';
import { openHyperSyncSource } from '../hypersync/open-hypersync-source.ts';
import { openPortalSource } from '../portal/open-portal-source.ts';
import { recordedSleeps } from './read-all.ts';

export const CHAIN: Chain = exampleChain({ id: 31_337 });

export type SourceKind = 'portal' | 'hypersync';

export interface SourceStage {
  readonly server: SourceServer;
  readonly source: BlockSource;
  /** Waits of the source, in milliseconds. */
  readonly sleeps: readonly number[];
}

/** Blocks 100 to 140, of which 132 is finalized. */
export function scriptedChain(): ScriptedChain {
  const chain = createScriptedChain({ seed: 62, firstBlock: 100, finalityDepth: 8, creationShare: 0.2 });
  chain.mine(40);
  return chain;
}

/** Closed when the test ends. */
export async function sourceOver(
  kind: SourceKind,
  chain: ScriptedChain,
  faults: Partial<SourceFaultSettings> = {},
): Promise<SourceStage> {
  const { clock, sleeps } = recordedSleeps();
  const server = await (kind === 'portal' ? servePortal : serveHyperSync)(chain, { faults });
  const open = kind === 'portal' ? openPortalSource : openHyperSyncSource;
  const source = open({ url: server.url, chain: CHAIN, clock });
  onTestFinished(async () => {
    await source.close();
    await server.close();
  });
  return { server, source, sleeps };
}

/** A pool with one node over the chain. */
export async function poolOver(chain: ScriptedChain) {
  const node = await serveScriptedChain(chain);
  const pool = await examplePool(CHAIN, node.url);
  onTestFinished(async () => {
    await pool.close();
    await node.close();
  });
  return pool;
}
