import { type Chain, createChainRegistry, type TransactionKeeping } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { StateQuestions } from '@chainstead/state';
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

/** An answer of a list. */
interface Page {
  readonly result: readonly Readonly<Record<string, unknown>>[];
  readonly cursor: string | null;
  readonly page: number;
  readonly page_size: number;
  readonly indexed: Readonly<Record<string, unknown>>;
}

/** Lists of wallets' transactions, served over rows that are seeded, for the tests of one file. Each test begins without any. */
export interface WalletListsStage {
  readonly eth: Chain;
  /** Of the chain: each test begins with all transactions. */
  readonly keeping: { -readonly [Field in keyof TransactionKeeping]: TransactionKeeping[Field] };
  readonly database: Database;
  readonly sdk: Moralis;
  /** What the worker was asked. */
  readonly asked: readonly { readonly kind: string; readonly question: unknown }[];
  /** Wallets whose sent transactions were asked to be searched. */
  readonly searchesAsked: readonly Address[];
  /** Wallets whose balances were asked to be searched. */
  readonly balancesAsked: readonly Address[];
  /** What the worker answers. Null: nothing in time. */
  answerOf: (kind: string, question: never) => unknown;
  readonly ask: (path: string) => Promise<{ readonly status: number; readonly body: Page }>;
  /** An answer that is to be there. */
  readonly get: (path: string) => Promise<Page>;
  readonly seed: (...all: readonly SeededTransaction[]) => Promise<void>;
}

/** Opens it before the tests of a file, and closes it after them. */
export function walletListsStage(): WalletListsStage {
  const known = createChainRegistry();
  const keeping: WalletListsStage['keeping'] = { mode: 'all', input: 'full', provesSenders: true };
  const eth = { ...known.get('eth'), transactions: keeping };
  let [asked, searchesAsked, balancesAsked]: [{ kind: string; question: unknown }[], Address[], Address[]] = [
    [],
    [],
    [],
  ];
  let answerOf: WalletListsStage['answerOf'] = () => null;
  let scratch: ScratchDatabase;
  let server: ApiServer;
  let sdk: Moralis;

  beforeAll(async () => {
    scratch = await createScratchDatabase();
    const questions: StateQuestions = {
      async ask(_chain, kind, question) {
        asked.push({ kind: kind.name, question });
        const answer = answerOf(kind.name, question as never);
        return answer === null ? null : kind.answer.parse(answer);
      },
    };
    const routes = createTransactionRoutes({
      questions,
      walletHistory: {
        async requestSender(_context, _chain, wallet) {
          searchesAsked.push(wallet);
          return 'requested';
        },
        async requestReceiver(_context, _chain, wallet) {
          balancesAsked.push(wallet);
          return 'requested';
        },
      },
      clock: systemClock,
      ...{ waitMs: 100, maxCalls: 10, perKey: 1 },
    });
    const find = (text: string | number) => (known.find(text)?.id === eth.id ? eth : known.find(text));
    const api = await exampleApi(scratch.database, routes, { chains: { find } });
    server = await serveApi(api, { host: '127.0.0.1', port: 0 });
    ({ Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url }));
  });
  afterAll(async () => {
    await server?.close();
    await scratch?.drop();
  });
  beforeEach(async () => {
    Object.assign(keeping, { mode: 'all', input: 'full', provesSenders: true });
    [asked, searchesAsked, balancesAsked] = [[], [], []];
    answerOf = () => null;
    await scratch.database.query(
      'TRUNCATE transactions, account_transactions, blocks, sync_ranges, sync_chains, address_labels, asked_wallets, wallet_watches, subject_ranges',
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
    get asked() {
      return asked;
    },
    get searchesAsked() {
      return searchesAsked;
    },
    get balancesAsked() {
      return balancesAsked;
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
