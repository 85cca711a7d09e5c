import { createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { accountCodesReader, nativeBalancesReader } from '@chainstead/node-reads';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import type { UpstreamPool } from '@chainstead/rpc';
import type { Dataset } from '@chainstead/sync/datasets';
import { createChainSync, createSubjectProjections, createSyncMetrics } from '@chainstead/sync/ingest';
import type { CompiledContract, DevnetCall } from '@chainstead/testkit';
import { type Closable, closeOf } from '@chainstead/testkit';
import { tokenFactsReader } from '@chainstead/tokens';
import { expect, vi } from 'vitest';
import { balancesNow, balancesThen } from '../../balances/read-balances.ts';
import { createWalletBalancesRoute } from '../../balances/wallet-balances-route.ts';
import { balanceOfCall } from '../../calls/fetch-balances.ts';
import { holdersCounted, ownersNow } from '../../holders/count-holders.ts';
import { tokenHolderRoutes } from '../../holders/token-holder-routes.ts';

/** The wrapped native token of the chain `eth`, as known to the API. */
export const COIN = createChainRegistry().get('eth').wrappedNative as Address;

type StageChain = StateStage['chain'];

/** A devnet with a wrapped native token at its address, indexed by the real engine, the API over it, and a worker. */
export interface CoinStage extends Pick<StateStage, 'scratch' | 'devnet' | 'node' | 'chain' | 'pool'>, Closable {
  /** Starts indexing from block 0. */
  index(datasets: readonly Dataset[]): Promise<{ stop(): Promise<void> }>;
  /** Sends a transaction to the contract, mined in a separate block, and waits until it is indexed if indexing runs. */
  call(from: Address | undefined, functionName: string, args?: readonly unknown[], value?: bigint): Promise<void>;
  caughtUp(): Promise<void>;
  /** The wallet's balance from the API, null if it is not shown, and whether the response is complete. */
  held(wallet: Address | undefined): Promise<{ readonly balance: string | null; readonly isComplete: boolean }>;
  ask(path: string): Promise<unknown>;
  /** The current balance from the contract. */
  truth(wallet: Address | undefined): Promise<string>;
  /** Number of balance calls to the contract at nodes. */
  balancesRequested(): number;
  /** The stored class of the token: `sum`, `live`; undefined for none. */
  coinClass(): Promise<string | undefined>;
}

export async function openCoinStage(
  contract: CompiledContract,
  facts: Partial<Omit<StageChain, 'id'>> = {},
): Promise<CoinStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.adopt(
    await openStateStage({
      chain: {
        pollIntervalMs: 50,
        finalizedTag: false,
        confirmations: 1,
        reorgDepthMax: 8,
        wrappedNative: COIN,
        ...facts,
      },
    }),
    (one) => one.close(),
  );
  const { devnet, scratch, chain, pool, nodeReads, node } = stage;
  const { database } = scratch;
  const bytecode = await devnet.client.getCode({ address: await devnet.deploy(contract) });
  if (bytecode === undefined) throw new Error('The coin has no code');
  await devnet.client.setCode({ address: COIN, bytecode });
  // Reorgs keep this and earlier blocks.
  await devnet.mine();
  await stage.startWorker([
    ...[balancesNow, balancesThen, ownersNow, holdersCounted],
    ...[accountCodesReader, tokenFactsReader, nativeBalancesReader],
  ]);
  const api = await openApi(stage, nodeReads);
  const running = new Set<{ stop(): Promise<void> }>();
  parts.defer(async () => void (await Promise.all([...running].map((one) => one.stop()))));
  const ask: CoinStage['ask'] = async (path) => {
    const response = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
    expect(response.status).toBe(200);
    return response.json();
  };
  const caughtUp = (): Promise<void> =>
    vi.waitFor(
      async () => {
        const [row] = await database.query<{ hash: string | null }>(
          sql`SELECT '0x' || encode(checkpoint_hash, 'hex') AS hash FROM sync_chains WHERE chain_id = ${chain.id}`,
        );
        expect(row?.hash).toBe((await devnet.client.getBlock()).hash);
      },
      { timeout: 30_000, interval: 20 },
    );
  const self: CoinStage = {
    ...stage,
    async index(datasets) {
      const ending = new AbortController();
      const finished = runSync({ chain, pool, scratch }, datasets, ending.signal);
      const indexer = {
        async stop() {
          running.delete(indexer);
          ending.abort();
          await finished;
        },
      };
      running.add(indexer);
      await caughtUp();
      return indexer;
    },
    async call(from, functionName, args = [], value = 0n) {
      const call: DevnetCall = { address: COIN, abi: contract.abi, functionName, args };
      await devnet.send({ ...call, ...(from === undefined ? {} : { from }), ...(value === 0n ? {} : { value }) });
      if (running.size > 0) await caughtUp();
    },
    caughtUp,
    async held(wallet) {
      const response = await api.request(`/api/v2.2/${wallet}/erc20?exclude_spam=false`, {
        headers: { 'x-api-key': EXAMPLE_KEY },
      });
      expect(response.status).toBe(200);
      const rows = (await response.json()) as readonly {
        readonly token_address: string;
        readonly balance: string;
      }[];
      return {
        balance: rows.find(({ token_address }) => token_address === COIN)?.balance ?? null,
        isComplete: response.headers.get('x-indexed-complete') === 'true',
      };
    },
    ask,
    async truth(wallet) {
      const { data = '0x0' } = await devnet.client.call({ to: COIN, data: balanceOfCall(wallet as Address) });
      return BigInt(data).toString();
    },
    balancesRequested: () =>
      node.received.filter(
        ({ method, params }) => method === 'eth_call' && JSON.stringify(params).includes(BALANCE_OF),
      ).length,
    async coinClass() {
      const [row] = await database.query<{ class: string }>(
        sql`SELECT class FROM erc20_token_classes WHERE token = ${addressBytes(COIN)} AND chain_id = ${chain.id}`,
      );
      return row?.class;
    },
    ...closeOf(parts),
  };
  return self;
}

/** Selector of `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231';

function runSync(
  {
    chain,
    pool,
    scratch,
  }: { readonly chain: StageChain; readonly pool: UpstreamPool } & Pick<StateStage, 'scratch'>,
  datasets: readonly Dataset[],
  signal: AbortSignal,
): Promise<void> {
  return createChainSync({
    chain,
    pool,
    database: scratch.database,
    datasets,
    logger: silentLogger(),
    metrics: createSyncMetrics(createMetricsRegistry()),
    clock: systemClock,
    settings: {
      startBlock: 0,
      endBlock: null,
      proof: 'record',
      backfillProof: 'none',
      backfillOrder: 'newest-first',
      verifyBlocksPerSecond: 0,
    },
  }).run(signal);
}

function openApi({ scratch: { database } }: StateStage, nodeReads: NodeReadQueue): Promise<ApiApp> {
  const sources = {
    nodeReads,
    projections: createSubjectProjections(database),
    liveMaxAgeMs: 60_000,
  };
  const onDemandBackfill = {
    requestWallet: async () => 'unserved' as const,
    requestContract: async () => 'unserved' as const,
  };
  return exampleApi(database, [
    createWalletBalancesRoute({ ...sources, onDemandBackfill }),
    ...tokenHolderRoutes({ ...sources, onDemandBackfill, readPrices: async () => new Map() }),
  ]);
}
