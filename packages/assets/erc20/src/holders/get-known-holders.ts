import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, joinSql, type ReadDatabase, sql } from '@chainstead/db';
import { recentAnswer } from '@chainstead/node-reads/requests';
import {
  type CoveredSubject,
  readSubject,
  type SubjectColumns,
  subjectColumns,
  subjectHistory,
} from '@chainstead/pages';
import { isAskNoted } from '@chainstead/sync/requests';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { tokenSubject } from '../transfers/token-transfers/token-transfers-route.ts';
import { coverageOfToken } from '../wrapped/dataset.ts';
import { HOLDERS_COUNTED } from './holder-questions.ts';

/** Milliseconds. */
export const COUNTED_MS = 300_000;

/** Unknown decimals are 0. Without `counts`, the holders must be counted. */
export async function getKnownHolders(database: Database, chain: Chain, token: Address) {
  const subject = sql`${addressBytes(token)}::bytea`;
  const of: CoveredSubject = { ...tokenSubject(subject, chain.id), states: [erc20TokenHolders] };
  const counted = recentAnswer(HOLDERS_COUNTED, { token }, chain.id, COUNTED_MS);
  const ofToken = sql`FROM tokens WHERE address = ${subject} AND chain_id = ${chain.id}`;
  const [row] = await database.query<
    SubjectColumns & { isAskNoted: boolean; firstBlock: number; decimals: number; counted: unknown }
  >(
    sql`WITH ${coverageOfToken(chain, token, of)} SELECT ${subjectColumns(of)}, ${isAskNoted(chain.id, subject, erc20TokenHolders)} AS "isAskNoted",
  coalesce((SELECT created_block ${ofToken}), ${chain.firstBlock}::bigint) AS "firstBlock",
  coalesce((SELECT decimals ${ofToken}), 0) AS decimals, ${counted.sql} AS counted
FROM covered LEFT JOIN ${subjectHistory(of)}`,
  );
  return {
    ...readSubject(chain, row, row?.firstBlock),
    isAskNoted: row?.isAskNoted ?? false,
    decimals: row?.decimals ?? 0,
    counts: counted.read(row?.counted ?? null),
  };
}

export async function readCountedHolders(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
): Promise<ReadonlyMap<Address, number>> {
  if (tokens.length === 0) return new Map();
  const chainId = sql`${chain.id}::bigint`;
  const counted = tokens.map((token) => recentAnswer(HOLDERS_COUNTED, { token }, chainId, COUNTED_MS));
  const [row] = await database.select<{ counted: readonly unknown[] }>(
    sql`SELECT json_build_array(${joinSql(counted.map((answer) => answer.sql))}) AS counted`,
  );
  return new Map(
    tokens.flatMap((token, index) => {
      const counts = counted[index]?.read(row?.counted[index] ?? null);
      return counts?.isSound === true ? [[token, counts.holders] as const] : [];
    }),
  );
}
