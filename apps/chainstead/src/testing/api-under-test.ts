import type { ChainRegistry } from '@chainstead/chains';
import { createCursorCodec, createMetricsRegistry, silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { walletTokenTransfersRoute } from '@chainstead/erc20';
import { ALL_SCOPES, type IndexedHere, type RouteModule } from '@chainstead/http';
import { createApi, createKeyStore, loadServerSecret, type RequestDatabase } from '@chainstead/http/server';
/** The whole API over a database, asked without a socket. For tests of what a client sees. */

export const TEST_KEY = 'test-key-0123456789';

export async function createApiUnderTest(
  database: Database,
  chains: ChainRegistry,
  routes: readonly RouteModule[] = [walletTokenTransfersRoute],
  indexed?: IndexedHere,
  requests?: RequestDatabase,
) {
  return createApi({
    chains,
    ...(indexed !== undefined && { indexed }),
    database,
    ...(requests !== undefined && { ...requests, requestScope: requests.scope }),
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    keys: createKeyStore({ database, configured: [{ key: TEST_KEY, scopes: ALL_SCOPES }] }),
    cursors: createCursorCodec(await loadServerSecret(database, 'cursor')),
    limits: { bodyBytesMax: 1_000_000, pageLimitMax: 100, requestTimeoutMs: 30_000, rateLimit: null },
    host: '127.0.0.1',
    cors: { origins: [] },
    version: '0.0.0',
    readiness: async () => ({ ready: true, reasons: [] }),
    routes,
  });
}

export interface ServedTransfer {
  readonly address: string;
  readonly from_address: string;
  readonly to_address: string;
  readonly value: string;
  readonly block_number: string;
  readonly block_hash: string;
  readonly transaction_hash: string;
  readonly transaction_index: number;
  readonly log_index: number;
}

/** All pages of a wallet. */
export async function readWallet(
  api: Awaited<ReturnType<typeof createApiUnderTest>>,
  chain: string,
  wallet: string,
): Promise<ServedTransfer[]> {
  const transfers: ServedTransfer[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams(cursor === '' ? { chain } : { chain, cursor });
    const response = await api.request(`/api/v2.2/${wallet}/erc20/transfers?${query}`, {
      headers: { 'x-api-key': TEST_KEY },
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${wallet} on ${chain}: ${response.status} ${text}`);
    const page = JSON.parse(text) as { result: ServedTransfer[]; cursor: string | null };
    transfers.push(...page.result);
    cursor = page.cursor;
  }
  return transfers;
}
