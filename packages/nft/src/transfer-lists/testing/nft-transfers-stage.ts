import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Hash, silentLogger, systemClock } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, hexText } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createStateQuestions } from '@chainstead/state';
import { type Closable, closeOf, createScratchDatabase } from '@chainstead/testkit';
import type { z } from '@hono/zod-openapi';
import { openJobs } from '../../testing/queued-histories.ts';
import { nftTransfersSchema } from '../nft-transfers-response.ts';
import { nftTransfersRoutes } from '../nft-transfers-routes.ts';
import { ALICE } from './seeded-moves.ts';

export const eth: Chain = createChainRegistry().get('eth');

export type NftAnswer = z.infer<typeof nftTransfersSchema>;

/** The three routes over a database of its own. Ethereum is served; no worker is at work. */
export interface NftTransfersStage extends Closable {
  readonly database: Database;
  readonly api: ApiApp;
  /** Has it known what a transaction carried. Wei. */
  carry(hash: Hash, value: string): Promise<void>;
  /** @param path after `/api/v2.2` */
  request(path: string): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
  /** An answer that keeps to the documented schema. @throws Error when it is none */
  get(path: string): Promise<NftAnswer>;
  /** Every page of a run. */
  pages(path: string): Promise<NftAnswer[]>;
  /** Whose histories were asked for: kind and address. */
  histories(): Promise<string[]>;
  cover(first: number, last: number): Promise<void>;
  empty(): Promise<void>;
}

export async function openNftTransfersStage(): Promise<NftTransfersStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const { database } = scratch;
  const { jobs, historiesOf } = await openJobs(parts, scratch.url);
  const walletHistory = historiesOf(eth);
  const questions = createStateQuestions({
    database,
    jobs,
    chains: [eth],
    clock: systemClock,
    logger: silentLogger(),
  });
  const api = await exampleApi(database, nftTransfersRoutes({ walletHistory, questions, waitMs: 0 }));
  const request: NftTransfersStage['request'] = async (path) => {
    const answer = await api.request(`/api/v2.2${path}`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const get: NftTransfersStage['get'] = async (path) => {
    const { status, body } = await request(path);
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(body)}`);
    return nftTransfersSchema.parse(body);
  };
  return {
    database,
    api,
    async carry(hash, value) {
      await database.query('INSERT INTO transaction_facts (hash, chain_id, sender, value) VALUES ($1, 1, $2, $3)', [
        hexBytes(hash),
        addressBytes(ALICE),
        value,
      ]);
    },
    request,
    get,
    async pages(path) {
      const [bare] = path.split('?');
      const answers = [await get(path)];
      for (let cursor = answers[0]?.cursor ?? null; cursor !== null; cursor = answers.at(-1)?.cursor ?? null)
        answers.push(await get(`${bare}?cursor=${cursor}`));
      return answers;
    },
    async histories() {
      const rows = await database.query<{ line: string }>(
        `SELECT kind || ' ' || ${hexText('subject')} AS line FROM subject_histories ORDER BY 1`,
      );
      return rows.map(({ line }) => line);
    },
    async cover(first, last) {
      await database.query(
        `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (1, 'nft-transfers', $1, $2, 'none')`,
        [first, last],
      );
    },
    async empty() {
      await database.query(
        `TRUNCATE nft_transfers, nft_trades, blocks, sync_ranges, subject_ranges, subject_histories, tokens, nft_collections, address_labels,
           collection_list_entries, spam_list_entries, transaction_facts, state_questions`,
      );
    },
    ...closeOf(parts),
  };
}

/** Block numbers of an answer's rows, in order. */
export function blocksOf(answer: NftAnswer): number[] {
  return answer.result.map((row) => Number(row.block_number));
}

/** Places of all rows of some answers, in order; of a row of a batch its item is told by its id. */
export function placesOf(answers: readonly NftAnswer[]): string[] {
  return answers.flatMap(({ result }) =>
    result.map((row) => [row.block_number, row.transaction_index, row.log_index, row.token_id].join('.')),
  );
}
