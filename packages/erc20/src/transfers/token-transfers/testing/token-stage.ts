import { createWalletHistory } from '@chainstead/answers';
import { createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { type Database, hexText } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createJobs } from '@chainstead/jobs';
import { createKeptSubjects } from '@chainstead/sync';
import { type Closable, closeOf, createScratchDatabase } from '@chainstead/testkit';
import type { z } from 'zod';
import { erc20Transfers } from '../../dataset.ts';
import { USDC } from '../../testing/example-wallet.ts';
import { createTokenStatsRoute } from '../../token-stats/token-stats-route.ts';
import { tokenTransfersSchema } from '../token-transfers-response.ts';
import { createTokenTransfersRoute } from '../token-transfers-route.ts';

export type TokenAnswer = z.infer<typeof tokenTransfersSchema>;

/** The routes of a token over a database of its own. Ethereum is served; no worker is at work. */
export interface TokenStage extends Closable {
  readonly database: Database;
  readonly api: ApiApp;
  /** @param path after `/api/v2.2` */
  request(path: string): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
  /** A page of a token's transfers that keeps to the documented schema. @throws Error when the answer is none */
  get(query?: string, token?: Address): Promise<TokenAnswer>;
  /** Every page of a run. */
  pages(query: string, token?: Address): Promise<TokenAnswer[]>;
  /** The contracts whose histories were asked for. */
  histories(): Promise<Address[]>;
  empty(): Promise<void>;
}

export async function openTokenStage(): Promise<TokenStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const { database } = scratch;
  const jobs = parts.adopt(
    await createJobs({ databaseUrl: scratch.url, logger: silentLogger(), metrics: createMetricsRegistry() }),
    (one) => one.close(),
  );
  const chains = [createChainRegistry().get('eth')];
  const walletHistory = createWalletHistory({ jobs, datasets: [erc20Transfers], perKey: 100, chains, maxCalls: 500 });
  const api = await exampleApi(database, [
    createTokenTransfersRoute({ walletHistory }),
    createTokenStatsRoute({ kept: createKeptSubjects(database), walletHistory, waitMs: 15_000 }),
  ]);
  const request: TokenStage['request'] = async (path) => {
    const answer = await api.request(`/api/v2.2${path}`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const get: TokenStage['get'] = async (query = '', token = USDC) => {
    const { status, body } = await request(`/erc20/${token}/transfers${query}`);
    if (status !== 200) throw new Error(`${query} was answered ${status}: ${JSON.stringify(body)}`);
    return tokenTransfersSchema.parse(body);
  };
  return {
    database,
    api,
    request,
    get,
    async pages(query, token) {
      const answers = [await get(query, token)];
      for (let cursor = answers[0]?.cursor ?? null; cursor !== null; cursor = answers.at(-1)?.cursor ?? null)
        answers.push(await get(`?cursor=${cursor}`, token));
      return answers;
    },
    async histories() {
      const rows = await database.query<{ address: Address }>(
        `SELECT ${hexText('subject')} AS address FROM subject_histories WHERE kind = 'contract' ORDER BY 1`,
      );
      return rows.map(({ address }) => address);
    },
    async empty() {
      await database.query(
        `TRUNCATE erc20_transfers, blocks, sync_ranges, subject_ranges, subject_histories, tokens, address_labels, kept_subjects, derived_states,
           erc20_token_counts`,
      );
    },
    ...closeOf(parts),
  };
}

/** Block numbers of an answer's rows, in order. */
export function blocksOf(answer: TokenAnswer): number[] {
  return answer.result.map((row) => Number(row.block_number));
}

/** Blocks that the token's own history covers. */
export async function seedTokenRange(database: Database, token: Address, first: number, last: number): Promise<void> {
  await database.query(
    `INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
     VALUES (1, 'contract', decode($1, 'hex'), 'erc20-transfers', $2, $3)`,
    [token.slice(2), first, last],
  );
}
