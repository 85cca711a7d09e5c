import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, asSql, joinSql, type SqlValue, sql } from '@chainstead/db';
import type { ApiApp, RouteModule } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { erc20Transfers } from '../../transfers/dataset.ts';
import { createWalletBalancesRoute, type WalletBalancesOptions } from '../wallet-balances-route.ts';
import { ALICE, type BalanceStage, type BalanceStageOptions, openBalanceStage } from './balance-stage.ts';

/** Routes of balances over a stage of Ethereum, in a separate database. */
export interface BalancesApi {
  readonly scratch: ScratchDatabase;
  readonly stage: BalanceStage;
  readonly api: ApiApp;
  /** Sources of the routes. */
  readonly balances: RouteOptions;
  /** Wallets whose backfill was requested. */
  readonly histories: Address[];
  request(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Stores token data from contracts and lists, by column of `tokens`. */
  know(token: Address, facts: Readonly<Record<string, SqlValue>>): Promise<void>;
  close(): Promise<void>;
}

export const ERC20_PATH = `/api/v2.2/${ALICE}/erc20`;

interface RouteOptions extends WalletBalancesOptions {
  readonly nativeMaxAgeMs: number;
}

/** @param more creates routes of other packages */
export async function openBalancesApi(
  history: BalanceStageOptions['history'] = [],
  more: (options: RouteOptions) => readonly RouteModule[] = () => [],
): Promise<BalancesApi> {
  const scratch = await createScratchDatabase();
  const registry = createChainRegistry();
  const { id, ...facts } = registry.get('eth');
  const stage = await openBalanceStage(scratch.database, {
    chainId: id,
    history,
    facts: { ...facts, multicall3: null, reorgDepthMax: 3 },
  });
  const histories: Address[] = [];
  const options = {
    nodeReads: stage.nodeReads,
    projections: createSubjectProjections(scratch.database),
    onDemandBackfill: {
      requestWallet: async (_context: unknown, _chain: unknown, wallet: Address) => {
        histories.push(wallet);
        return 'unserved' as const;
      },
    },
    liveMaxAgeMs: 60_000,
    nativeMaxAgeMs: 0,
  };
  const api = await exampleApi(scratch.database, [createWalletBalancesRoute(options), ...more(options)], {
    indexed: { chains: [registry.get('eth'), registry.get('base')], datasets: [erc20Transfers.name] },
  });
  return {
    scratch,
    stage,
    api,
    balances: options,
    histories,
    request: async (path, headers = {}) =>
      api.request(path, { headers: { 'x-api-key': EXAMPLE_KEY, ...headers } }),
    async know(token, known) {
      const row = { address: addressBytes(parseAddress(token)), chain_id: id, ...known };
      await scratch.database.query(
        sql`INSERT INTO tokens (${joinSql(Object.keys(row).map(asSql))}) VALUES (${joinSql(Object.values(row).map((value) => sql`${value}`))})
         ON CONFLICT (address, chain_id) DO NOTHING`,
      );
    },
    async close() {
      await stage.close();
      await scratch.drop();
    },
  };
}
