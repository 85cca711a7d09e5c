import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, rawSql, type Sql, type SqlValue, sql } from '@chainstead/db';
import type { StateBlock } from '@chainstead/node-reads/requests';
import type { Said } from '../calls/fetch-balances.ts';
import type { SubjectInSql } from './axes.ts';

export interface Readings {
  /** A wallet, or a token. */
  readonly subject: Address;
  readonly block: StateBlock;
  /** The first one with transfers of the subject. */
  readonly firstBlock: number;
  /** By key of the axis. */
  readonly first: ReadonlyMap<Address, bigint | null>;
  /** From another upstream; null: not read yet. */
  readonly second: ReadonlyMap<Address, Said> | null;
  /** Tokens. */
  readonly silent: ReadonlySet<Address>;
}

/** Readings of one statement. */
export type Together = readonly [Readings, ...Readings[]];

export interface ReadingsInSql extends SubjectInSql {
  readonly firstBlock: number;
  readonly keysInSql: Sql;
  /** Each row has the `place` of its read. @param rows a query for one read */
  each(rows: Sql): Sql;
  part(list: readonly SqlValue[], type: 'bytea' | 'numeric'): Sql;
}

/** A single read uses plain values, which routes the statement to the subject's node. */
export function readingsInSql(
  chain: Chain,
  some: Together,
  keysOf: readonly (readonly Address[])[],
  spread: boolean,
): ReadingsInSql {
  const [{ subject, block, firstBlock }] = some;
  const keys = keysOf.flat();
  const bytes = keys.map(addressBytes);
  const shared = { chain, firstBlock, address: subject, keys, isSpread: spread };
  if (some.length === 1) {
    const part: ReadingsInSql['part'] = (list, type) => sql`${list}::${rawSql(type)}[]`;
    return {
      ...shared,
      each: (rows) => sql`SELECT 1 AS place, expected.* FROM (${rows}) AS expected`,
      subject: sql`${addressBytes(subject)}::bytea`,
      block: sql`${block.number}::bigint`,
      part,
      keysInSql: part(bytes, 'bytea'),
    };
  }
  const relation = readingRelation(some, keysOf);
  const part: ReadingsInSql['part'] = (list, type) =>
    sql`(${list}::${rawSql(type)}[])[reading.begins:reading.ends]`;
  return {
    ...shared,
    each: (rows) =>
      sql`SELECT reading.place::int AS place, expected.* FROM ${relation} CROSS JOIN LATERAL (${rows}) AS expected`,
    subject: sql`reading.subject`,
    block: sql`reading.block`,
    part,
    keysInSql: part(bytes, 'bytea'),
  };
}

/** Subjects and blocks in order, each with the bounds of its part of a list of keys. */
function readingRelation(some: Together, keysOf: readonly (readonly Address[])[]): Sql {
  const begins: number[] = [];
  const ends: number[] = [];
  for (const keys of keysOf) {
    const before = ends.at(-1) ?? 0;
    begins.push(before + 1);
    ends.push(before + keys.length);
  }
  const subjects = some.map(({ subject }) => addressBytes(subject));
  const blocks = some.map(({ block }) => block.number);
  return sql`unnest(${subjects}::bytea[], ${blocks}::bigint[], ${begins}::int[], ${ends}::int[])
    WITH ORDINALITY AS reading(subject, block, begins, ends, place)`;
}
