import { createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { rawSql, runStatements, sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createSubjectProjections, LOCAL_ACCESS } from '@chainstead/sync/ingest';
import {
  type Closable,
  closeOf,
  coverBlocks,
  createPartitions,
  createScratchDatabase,
  type ScratchDatabase,
  seedBuilt,
  storeToken,
} from '@chainstead/testkit';
import { historiesOf } from '../../testing/queued-histories.ts';
import { nftCollectionOwners } from '../../transfers/collection-owners.ts';
import { nftTransfers } from '../../transfers/dataset.ts';
import { linesOf, type Move } from '../../transfers/testing/example-moves.ts';
import { createCollectionOwnersRoutes } from '../owners-routes.ts';

export const eth = createChainRegistry().get('eth');

/** The parts of a list response that tests use. */
export interface ListAnswer {
  readonly status?: string;
  readonly status_message?: string;
  readonly page: number;
  readonly page_size?: number;
  readonly cursor: string | null;
  readonly indexed: {
    readonly from_block: string | null;
    readonly to_block: string | null;
    readonly complete: boolean;
  };
  readonly result: readonly Readonly<Record<string, unknown>>[];
}

/** The routes with a separate database whose chain is written by the test. Ethereum is indexed; no worker runs. */
export interface OwnersStage extends Closable {
  readonly scratch: ScratchDatabase;
  readonly api: ApiApp;
  /** Commits a block as the follower does, and updates the collections' state. */
  add(block: number, moves: readonly Move[]): Promise<void>;
  /** Rolls a block back. */
  remove(block: number): Promise<void>;
  /** Blocks that the chain covers. */
  cover(from: number, to: number): Promise<void>;
  /** The standard that a contract's events show. */
  seen(contract: Address, as: 'erc721' | 'erc1155'): Promise<void>;
  request(path: string): Promise<Response>;
  /** The response below `/api/v2.2/nft/`. @throws if it is an error */
  get<Answer = ListAnswer>(path: string): Promise<Answer>;
  /** Reads all pages of a list, with a callback between them. */
  pages(path: string, between?: (page: number) => Promise<void>): Promise<readonly ListAnswer[]>;
  empty(): Promise<void>;
}

export async function openOwnersStage(): Promise<OwnersStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const { database } = scratch;
  const onDemandBackfill = historiesOf(eth);
  const projections = createSubjectProjections(database);
  const api = await exampleApi(database, [...createCollectionOwnersRoutes({ projections, onDemandBackfill })]);
  await createPartitions(database, 'nft_transfers', eth.id);
  await seedBuilt(database, eth.id, nftCollectionOwners);

  async function change(kind: 'added' | 'removed', block: number, moves: readonly Move[]): Promise<void> {
    await database.transaction(async (transaction) => {
      await transaction.query(
        sql`CREATE TEMP TABLE IF NOT EXISTS moved (LIKE nft_transfers) ON COMMIT DELETE ROWS`,
      );
      if (kind === 'added') {
        await transaction.copy('moved', nftTransfers.table.columns, linesOf(eth.id, block, moves));
        await transaction.query(sql`INSERT INTO nft_transfers SELECT * FROM moved`);
      } else {
        await transaction.query(sql`INSERT INTO moved SELECT * FROM nft_transfers WHERE block_number = ${block}`);
        await transaction.query(sql`DELETE FROM nft_transfers WHERE block_number = ${block}`);
      }
      const change = { rows: rawSql('moved'), subjects: SUBJECTS, access: LOCAL_ACCESS };
      await runStatements(
        transaction,
        kind === 'added'
          ? nftCollectionOwners.added(change)
          : nftCollectionOwners.removed({ ...change, remaining: rawSql('nft_transfers') }),
      );
    });
  }

  const stage: OwnersStage = {
    scratch,
    api,
    add: (block, moves) => change('added', block, moves),
    remove: (block) => change('removed', block, []),
    async cover(from, to) {
      await coverBlocks(database, eth.id, 'nft-transfers', from, to, 'none');
    },
    async seen(contract, as) {
      await storeToken(database, eth.id, contract, { seen_as: as === 'erc721' ? 2 : 4 });
    },
    request: async (path) => api.request(`/api/v2.2/nft/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } }),
    async get(path) {
      const answer = await stage.request(path);
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
      return JSON.parse(text);
    },
    async pages(path, between = async () => {}) {
      const found: ListAnswer[] = [];
      const [address = ''] = path.split('?');
      for (let next: string | null = path; next !== null; ) {
        const page: ListAnswer = await stage.get(next);
        found.push(page);
        next = page.cursor === null ? null : `${address}?cursor=${page.cursor}`;
        if (next !== null) await between(found.length);
      }
      return found;
    },
    async empty() {
      await database.query(
        sql`TRUNCATE nft_transfers, nft_collection_balances, nft_collection_ids, nft_collection_owners, nft_collection_counts, subject_projections,
           sync_ranges, subject_ranges, backfill_requests, tokens, nft_collections, nft_token_metadata`,
      );
    },
    ...closeOf(parts),
  };
  return stage;
}

const SUBJECTS = sql`(SELECT subject, coalesce(built_to, 1000000) AS built_to FROM subject_projections WHERE chain_id = ${eth.id} AND state = ${nftCollectionOwners.name})`;
