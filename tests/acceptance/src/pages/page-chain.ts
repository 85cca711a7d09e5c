/** A scripted chain in the place of the one that a page indexes, with its ID. */
import { createScriptedChain, freePort, type ScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { expect, vi } from 'vitest';
import type { PageReader } from './page-reader.ts';

/** Balance of each account. */
const ONE_ETHER = '0xde0b6b3a7640000';

export interface PageChain {
  readonly chain: ScriptedChain;
  /** Port of the API. */
  readonly port: number;
}

const CHAIN_IDS = { ETH: 1, BASE: 8453 } as const;

/**
 * Serves a chain as `https://your-node` of pages, and chooses the port of the API.
 * @param suffix of the chain's settings
 */
export async function servePageChain(
  reader: PageReader,
  suffix: keyof typeof CHAIN_IDS,
  parts: AsyncDisposableStack,
): Promise<PageChain> {
  const chain = createScriptedChain({ seed: 59, finalityDepth: 8, chainId: CHAIN_IDS[suffix] });
  chain.mine(30);
  const methods = new Map([['eth_getBalance', () => ({ result: ONE_ETHER })]]);
  const node = await serveScriptedChain(chain, { methods: () => methods });
  parts.defer(() => node.close());
  const port = await freePort();
  reader.replace('https://your-node', node.url);
  reader.replace('127.0.0.1:8080', `127.0.0.1:${port}`);
  // Scripted transactions have no signatures.
  await reader.configure(`PORT=${port}\nSWAPS_${suffix}=off`);
  return { chain, port };
}

/** Waits until `/synced` returns 200. @param key of the API, unless it needs none */
export function untilSynced(port: number, key?: string): Promise<void> {
  return vi.waitFor(
    async () => {
      const headers = new Headers(key === undefined ? {} : { 'x-api-key': key });
      const response = await fetch(`http://127.0.0.1:${port}/synced`, { headers });
      expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
    },
    { timeout: 60_000, interval: 200 },
  );
}

/** Waits until the blocks up to this one are stored: `/synced` may know an earlier head only. */
export function untilIndexed(port: number, block: number): Promise<void> {
  return vi.waitFor(
    async () => {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`);
      expect(await response.text()).toMatch(
        new RegExp(`^chainstead_sync_checkpoint_block\\{.*\\} ${block}$`, 'm'),
      );
    },
    { timeout: 60_000, interval: 200 },
  );
}
