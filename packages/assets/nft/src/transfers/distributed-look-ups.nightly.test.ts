/**
 * A large mint that is added and removed while transfers are sharded, on a real cluster if this machine's Postgres has
 * Citus.
 */

import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, rawSql, sql, type Transaction } from '@chainstead/db';
import type { SubjectProjection } from '@chainstead/sync/datasets';
import { runProjection } from '@chainstead/sync/ingest';
import { findCitus, type ScratchCitus, type ScratchDatabase } from '@chainstead/testkit';
import { getTableName } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nftCollectionOwners } from './collection-owners.ts';
import { nftTransfers } from './dataset.ts';
import { account, ERC721, linesOf, type Move } from './testing/example-moves.ts';
import { nftWalletTokens } from './wallet-tokens.ts';

const programs = await findCitus('ids of a large mint');
const CHAIN = 1_200_001;
const IDS = 8_000;
const WALLETS = 3;
const STATES: readonly SubjectProjection[] = [nftCollectionOwners, nftWalletTokens];
/** One lookup per id would take far more statements. */
const STATEMENTS_MAX = 120;

const ids = Array.from({ length: IDS }, (_, id) => id);
const minted: readonly Move[] = ids.map((id) => move(id, ZERO_ADDRESS, account(id % WALLETS)));
const moved: readonly Move[] = ids.map((id) => move(id, account(id % WALLETS), account((id + 1) % WALLETS)));

function move(id: number, from: Address, to: Address): Move {
  return { token: ERC721, id: BigInt(id), from, to, amount: 1n };
}

describe.runIf(programs !== undefined)('ids of a large mint', () => {
  let cluster: ScratchCitus;
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    if (programs === undefined) return;
    cluster = await programs.createCluster();
    scratch = await cluster.createDatabase({ distributed: true });
    await scratch.database.query(sql`SELECT attach_partition('nft_transfers', ${CHAIN}, 0, NULL)`);
    await ask(scratch.database, nftCollectionOwners, ERC721);
    for (let wallet = 0; wallet < WALLETS; wallet++)
      await ask(scratch.database, nftWalletTokens, account(wallet));
  }, 120_000);
  afterAll(async () => {
    await scratch?.drop();
    await cluster?.remove();
  });

  it('are looked up together when blocks go, and found as they were before', { timeout: 120_000 }, async () => {
    const { database } = scratch;
    await change(database, 'added', 5, minted);
    const before = await dump(database);
    await change(database, 'added', 9, moved);
    expect(await dump(database)).not.toEqual(before);
    const statements = await change(database, 'removed', 9, moved);
    expect(await dump(database)).toEqual(before);
    expect(statements).toBeLessThan(STATEMENTS_MAX);
  });
});

async function ask(database: Database, { name }: SubjectProjection, subject: Address): Promise<void> {
  await database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (${CHAIN}, ${name}, ${addressBytes(subject)})`,
  );
}

/** Adds or removes the rows of a block with their derived rows. @returns the number of statements */
function change(
  database: Database,
  kind: 'added' | 'removed',
  block: number,
  moves: readonly Move[],
): Promise<number> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql`CREATE TEMP TABLE changed (LIKE nft_transfers) ON COMMIT DROP`);
    await transaction.copy('changed', nftTransfers.table.columns, linesOf(CHAIN, block, moves));
    await transaction.query(
      rawSql(
        kind === 'added'
          ? 'INSERT INTO nft_transfers SELECT * FROM changed'
          : `DELETE FROM nft_transfers WHERE chain_id = ${CHAIN} AND block_number = ${block}`,
      ),
    );
    let statements = 0;
    const counting: Transaction = {
      ...transaction,
      query(statement) {
        statements += 1;
        return transaction.query(statement);
      },
    };
    for (const state of STATES) {
      const subjects = sql`(SELECT subject, ${Number.MAX_SAFE_INTEGER}::bigint AS built_to FROM subject_projections WHERE chain_id = ${CHAIN} AND state = ${state.name})`;
      await runProjection(counting, true, (access) => {
        const changed = { rows: rawSql('changed'), subjects, access };
        return kind === 'added'
          ? state.added(changed)
          : state.removed({ ...changed, remaining: rawSql('nft_transfers') });
      });
    }
    return statements;
  });
}

/** The number of rows and a checksum of each state table. */
async function dump(database: Database): Promise<readonly object[]> {
  const tables = STATES.flatMap((state) => state.tables.map(getTableName));
  const dumped: object[] = [];
  for (const table of tables) {
    const rows = await database.query(
      sql`SELECT count(*) AS rows, md5(string_agg(line, chr(10) ORDER BY line)) AS digest FROM (SELECT held::text AS line FROM ${rawSql(table)} AS held) AS lines`,
    );
    dumped.push({ table, rows });
  }
  return dumped;
}
