import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Hash, silentLogger, systemClock } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, hexText, sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi, pageSchema } from '@chainstead/http/testing';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { reviseLabels } from '@chainstead/pages/testing';
import { type Closable, closeOf, coverBlocks, createScratchDatabase } from '@chainstead/testkit';
import { z } from '@hono/zod-openapi';
import { historiesOf } from '../../testing/queued-histories.ts';
import { nftTransfersRoutes, nftTransferView } from '../nft-transfers-routes.ts';
import { ALICE } from './seeded-moves.ts';

export const eth: Chain = createChainRegistry().get('eth');

const nftTransfersSchema = pageSchema(nftTransferView).extend({
  block_exists: z.literal(true),
  index_complete: z.boolean(),
});
export type NftAnswer = z.infer<typeof nftTransfersSchema>;

/** The three routes with a separate database. Ethereum is indexed; no worker runs. */
export interface NftTransfersStage extends Closable {
  readonly database: Database;
  readonly api: ApiApp;
  /** Stores the value of a transaction. Wei. */
  carry(hash: Hash, value: string): Promise<void>;
  /** @param path after `/api/v2.2` */
  request(path: string): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
  /** Returns a response that matches the documented schema. @throws Error if it does not */
  get(path: string): Promise<NftAnswer>;
  /** All pages of a run. */
  pages(path: string): Promise<NftAnswer[]>;
  /** The queued backfills: kind and address. */
  histories(): Promise<string[]>;
  cover(first: number, last: number): Promise<void>;
  empty(): Promise<void>;
}

export async function openNftTransfersStage(): Promise<NftTransfersStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const { database } = scratch;
  const onDemandBackfill = historiesOf(eth);
  const nodeReads = createNodeReadQueue({
    database,
    chains: [eth],
    clock: systemClock,
    logger: silentLogger(),
  });
  const api = await exampleApi(database, nftTransfersRoutes({ onDemandBackfill, nodeReads }), {
    onDemand: { waitMs: 0 },
  });
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
      await database.query(
        sql`INSERT INTO transaction_facts (hash, chain_id, sender, value) VALUES (${hexBytes(hash)}, 1, ${addressBytes(ALICE)}, ${value})`,
      );
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
        sql`SELECT kind || ' ' || ${hexText('subject')} AS line FROM backfill_requests ORDER BY 1`,
      );
      return rows.map(({ line }) => line);
    },
    async cover(first, last) {
      await coverBlocks(database, 1, 'nft-transfers', first, last, 'none');
    },
    async empty() {
      await database.query(
        sql`TRUNCATE nft_transfers, nft_trades, blocks, sync_ranges, subject_ranges, backfill_requests, tokens, nft_collections, address_labels,
           collection_list_entries, spam_list_entries, transaction_facts, state_questions`,
      );
      await reviseLabels(database);
    },
    ...closeOf(parts),
  };
}

/** Block numbers of a response's rows, in order. */
export function blocksOf(answer: NftAnswer): number[] {
  return answer.result.map((row) => Number(row.block_number));
}

/** Positions of all rows of some responses, in order; a batch row's item is identified by its id. */
export function placesOf(answers: readonly NftAnswer[]): string[] {
  return answers.flatMap(({ result }) =>
    result.map((row) => [row.block_number, row.transaction_index, row.log_index, row.token_id].join('.')),
  );
}
