import { type Chain, createChainRegistry, type TransactionKeeping } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import {
  addressOf,
  createScratchDatabase,
  type Moralis,
  type ScratchDatabase,
  startOfficialSdk,
} from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { createTransactionRoutes } from '../routes/create-transaction-routes.ts';
import type { TransactionRow } from '../stored/schema.ts';
import { type SeededTransaction, seedTransactions } from './seeded-transactions.ts';

export const [WALLET, FRIEND, CONTRACT] = [addressOf(0xa), addressOf(0xb), addressOf(0xc)];

/** A list's response. */
interface Page {
  readonly result: readonly Readonly<Record<string, unknown>>[];
  readonly cursor: string | null;
  readonly page: number;
  readonly page_size: number;
  readonly indexed: Readonly<Record<string, unknown>>;
}

/**
 * Lists of wallets' transactions, served over seeded rows, for the tests of one file. Each test starts without rows.
 */
export interface WalletListsStage {
  readonly eth: Chain;
  /** The chain's setting: each test starts with all transactions stored. */
  readonly keeping: { -readonly [Field in keyof TransactionKeeping]: TransactionKeeping[Field] };
  readonly database: Database;
  readonly sdk: Moralis;
  /** Reads that the worker received. */
  readonly requested: readonly { readonly kind: string; readonly question: unknown }[];
  /** Wallets with a queued search for sent transactions. */
  readonly searchesRequested: readonly Address[];
  /** Wallets with a queued balance search. */
  readonly balancesRequested: readonly Address[];
  /** The worker's result. Null: none in time. */
  answerOf: (kind: string, question: never) => unknown;
  readonly ask: (path: string) => Promise<{ readonly status: number; readonly body: Page }>;
  /** A response with status 200. */
  readonly get: (path: string) => Promise<Page>;
  readonly seed: (...all: readonly SeededTransaction[]) => Promise<void>;
}

/** Opens it before the tests of a file, and closes it after them. */
export function walletListsStage(): WalletListsStage {
  const known = createChainRegistry();
  const keeping: WalletListsStage['keeping'] = { mode: 'all', input: 'full', verifiesSenders: true };
  const eth = { ...known.get('eth'), transactions: keeping };
  let [requested, searchesRequested, balancesRequested]: [
    { kind: string; question: unknown }[],
    Address[],
    Address[],
  ] = [[], [], []];
  let answerOf: WalletListsStage['answerOf'] = () => null;
  let scratch: ScratchDatabase;
  let server: ApiServer;
  let sdk: Moralis;

  beforeAll(async () => {
    scratch = await createScratchDatabase();
    const nodeReads: NodeReadQueue = {
      async request(_chain, kind, question) {
        requested.push({ kind: kind.name, question });
        const answer = answerOf(kind.name, question as never);
        return answer === null ? null : kind.answer.parse(answer);
      },
    };
    const routes = createTransactionRoutes({
      nodeReads,
      onDemandBackfill: {
        async requestSender(_context, _chain, wallet) {
          searchesRequested.push(wallet);
          return 'requested';
        },
        async requestReceiver(_context, _chain, wallet) {
          balancesRequested.push(wallet);
          return 'requested';
        },
      },
      clock: systemClock,
      ...{ maxCalls: 10, perKey: 1 },
    });
    const find = (text: string | number) => (known.find(text)?.id === eth.id ? eth : known.find(text));
    const api = await exampleApi(scratch.database, routes, { chains: { find }, onDemand: { waitMs: 100 } });
    server = await serveApi(api, { host: '127.0.0.1', port: 0 });
    ({ Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url }));
  });
  afterAll(async () => {
    await server?.close();
    await scratch?.drop();
  });
  beforeEach(async () => {
    Object.assign(keeping, { mode: 'all', input: 'full', verifiesSenders: true });
    [requested, searchesRequested, balancesRequested] = [[], [], []];
    answerOf = () => null;
    await scratch.database.query(
      sql`TRUNCATE transactions, account_transactions, blocks, sync_ranges, sync_chains, address_labels, tracked_wallets, wallet_scan_state, subject_ranges`,
    );
  });

  const ask: WalletListsStage['ask'] = async (path) => {
    const answer = await fetch(`${server.url}/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
    return { status: answer.status, body: (await answer.json()) as Page };
  };
  return {
    ...{ eth, keeping, ask },
    get database() {
      return scratch.database;
    },
    get sdk() {
      return sdk;
    },
    get requested() {
      return requested;
    },
    get searchesRequested() {
      return searchesRequested;
    },
    get balancesRequested() {
      return balancesRequested;
    },
    set answerOf(answer: WalletListsStage['answerOf']) {
      answerOf = answer;
    },
    get answerOf() {
      return answerOf;
    },
    async get(path) {
      const { status, body } = await ask(path);
      expect([path, status, status === 200 ? null : body]).toEqual([path, 200, null]);
      return body;
    },
    async seed(...all) {
      await seedTransactions(scratch.database, eth, all);
    },
  };
}

/** A transaction from the wallet to its friend, or between others. */
export function at(
  blockNumber: number,
  transactionIndex = 0,
  columns: Partial<TransactionRow> = {},
  [from, to]: readonly [Address, Address | null] = [WALLET, FRIEND],
): SeededTransaction {
  return { blockNumber, transactionIndex, from, to, columns };
}

/** `block.index` of each. */
export function placesOf(page: Page): string[] {
  return page.result.map((one) => `${String(one.block_number)}.${String(one.transaction_index)}`);
}
