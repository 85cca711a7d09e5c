import { createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';
import { type ApiApp, withServices } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi, type PageAnswer } from '@chainstead/http/testing';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { type Closable, closeOf, createScratchDatabase } from '@chainstead/testkit';
import { erc20Transfers } from '../../dataset.ts';
import type { transferView } from '../../page/transfer-response.ts';
import { USDC } from '../../testing/example-wallet.ts';
import { createTokenStatsRoute } from '../../token-stats/token-stats-route.ts';
import { tokenTransfersRoute } from '../token-transfers-route.ts';

export type TokenAnswer = Omit<PageAnswer<typeof transferView>, 'total'>;

/** The token routes over a separate database. Ethereum is served; no worker runs. */
export interface TokenStage extends Closable {
  readonly database: Database;
  readonly api: ApiApp;
  /** @param path after `/api/v2.2` */
  request(path: string): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
  /**
   * Returns a page of a token's transfers, validated against the documented schema.
   * @throws Error if the response is not a page
   */
  get(query?: string, token?: Address): Promise<TokenAnswer>;
  /** Returns every page of a run. */
  pages(query: string, token?: Address): Promise<TokenAnswer[]>;
  /** Returns the contracts whose backfill was requested. */
  histories(): Promise<Address[]>;
  empty(): Promise<void>;
}

export async function openTokenStage(): Promise<TokenStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const { database } = scratch;
  const chains = [createChainRegistry().get('eth')];
  const onDemandBackfill = createOnDemandBackfill({
    datasets: [erc20Transfers],
    perKey: 100,
    chains,
    maxCalls: 500,
  });
  const api = await exampleApi(database, [
    withServices({ onDemandBackfill }, [tokenTransfersRoute]),
    createTokenStatsRoute({ projections: createSubjectProjections(database), onDemandBackfill }),
  ]);
  const request: TokenStage['request'] = async (path) => {
    const answer = await api.request(`/api/v2.2${path}`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const get: TokenStage['get'] = async (query = '', token = USDC) => {
    const { status, body } = await request(`/erc20/${token}/transfers${query}`);
    if (status !== 200) throw new Error(`${query} was answered ${status}: ${JSON.stringify(body)}`);
    return body as unknown as TokenAnswer;
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
        sql`SELECT ${hexText('subject')} AS address FROM backfill_requests WHERE kind = 'contract' ORDER BY 1`,
      );
      return rows.map(({ address }) => address);
    },
    async empty() {
      await database.query(
        sql`TRUNCATE erc20_transfer_sides, blocks, sync_ranges, subject_ranges, backfill_requests, tokens, address_labels, subject_projections, projections,
           erc20_token_counts`,
      );
    },
    ...closeOf(parts),
  };
}

/** Returns the block numbers of a response's rows, in order. */
export function blocksOf(answer: TokenAnswer): number[] {
  return answer.result.map((row) => Number(row.block_number));
}

/** Records blocks covered by the token's own backfill. */
export async function seedTokenRange(
  database: Database,
  token: Address,
  first: number,
  last: number,
): Promise<void> {
  await database.query(
    sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
     VALUES (1, 'contract', decode(${token.slice(2)}, 'hex'), 'erc20-transfers', ${first}, ${last})`,
  );
}
