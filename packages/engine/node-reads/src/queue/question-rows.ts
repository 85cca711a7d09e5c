import { createHash } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import { type ChainId, ChainsteadError } from '@chainstead/core';
import { asSql, type Database, isOutage, type Sql, sql } from '@chainstead/db';
import { answerTo } from '@chainstead/http';
import { type Claim, type DueTable, isClaimed } from '@chainstead/jobs';
import { isNodeless } from '@chainstead/rpc';
import { StateNotArchivedError, StateUnavailableError } from '../state-error.ts';
import type { StateKind } from '../state-kind.ts';

export interface NodeQuestion {
  readonly key: string;
  readonly kind: string;
  readonly question: unknown;
}

export const STATE_WORK = { quick: 'state', slow: 'state-slow' } as const;

export const DUE_QUESTIONS: DueTable = { name: 'state_questions', key: ['chain_id', 'key'] };

/** @param question as its schema gives it: members have one order */
export function questionKey(kind: StateKind, question: unknown): string {
  return `${kind.name}:${createHash('sha256').update(JSON.stringify(question)).digest('hex')}`;
}

export interface Settlement {
  readonly answer: unknown;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

const SETTLEMENT = sql`known.answer, known.error_code, known.error_message`;

/** Since the epoch: a JavaScript date would round them. */
const micros = (column: string): Sql => sql`(extract(epoch FROM ${asSql(column)}) * 1000000)::bigint`;
/** A result stays in its row until the next one, for waiting requests. */
const IS_SETTLED = sql`coalesce(known.settled_at >= known.asked_at, false)`;
const millisecondsSince = (column: string): Sql =>
  sql`(extract(epoch FROM clock_timestamp() - ${asSql(column)}) * 1000)::float8`;
const isYoungerThan = (ms: number, moment: Sql = sql`clock_timestamp()`): Sql =>
  sql`known.settled_at > ${moment} - make_interval(secs => ${ms / 1_000}::float8)`;
const KEPT_SECONDS = 600;

/** `unsettled`: in progress; null: none within `maxAgeMs`. Writes nothing. */
export async function knownQuestion(
  database: Database,
  chainId: ChainId,
  key: string,
  maxAgeMs: number,
): Promise<{ readonly settlement: Settlement; readonly ageMs: number } | 'unsettled' | null> {
  const [row] = await database.query<Settlement & { isSettled: boolean; ageMs: number | null }>(
    sql`SELECT ${IS_SETTLED} AS "isSettled", ${SETTLEMENT}, ${millisecondsSince('settled_at')} AS "ageMs"
     FROM state_questions AS known
     WHERE chain_id = ${chainId} AND key = ${key} AND (NOT ${IS_SETTLED} OR ${isYoungerThan(maxAgeMs)})`,
  );
  if (row === undefined) return null;
  const { isSettled, ageMs, ...settlement } = row;
  return isSettled ? { settlement, ageMs: ageMs ?? 0 } : 'unsettled';
}

function recentAnswerTo(chainId: ChainId | Sql, key: string, maxAgeMs: number): Sql {
  return sql`(SELECT known.answer FROM state_questions AS known WHERE known.chain_id = ${chainId} AND known.key = ${key}
    AND ${IS_SETTLED} AND known.error_code IS NULL AND ${isYoungerThan(maxAgeMs)})`;
}

/** Unless it is in progress or has a result within `maxAgeMs`. `settlement` null: wait for it. */
export async function leaveQuestion(
  database: Database,
  chainId: ChainId,
  { key, kind, question }: NodeQuestion,
  maxAgeMs: number,
): Promise<{ readonly lastRequestedAt: string; readonly ageMs: number; readonly settlement: Settlement | null }> {
  const isShared = sql`(NOT ${IS_SETTLED} OR known.error_code IS NULL AND ${isYoungerThan(maxAgeMs, sql`excluded.asked_at`)})`;
  const [row] = await database.query<Settlement & { lastRequestedAt: string; ageMs: number; isSettled: boolean }>(
    sql`INSERT INTO state_questions AS known (chain_id, key, kind, question, asked_at, due_at)
     SELECT ${chainId}, ${key}, ${kind}, ${JSON.stringify(question)}::jsonb, moment, moment FROM clock_timestamp() AS moment
     ON CONFLICT (chain_id, key) DO UPDATE SET
       asked_at = CASE WHEN ${isShared} THEN known.asked_at ELSE greatest(excluded.asked_at, known.settled_at + interval '1 microsecond') END,
       due_at = CASE WHEN ${isShared} THEN known.due_at ELSE excluded.due_at END
     RETURNING ${micros('known.asked_at')}::text AS "lastRequestedAt", ${millisecondsSince('known.asked_at')} AS "ageMs",
       ${IS_SETTLED} AS "isSettled", ${SETTLEMENT}`,
  );
  if (row === undefined) throw new Error('A question that was left has no row');
  const { lastRequestedAt, ageMs, isSettled, ...settlement } = row;
  return { lastRequestedAt, ageMs, settlement: isSettled ? settlement : null };
}

export interface RequestedQuestion {
  readonly chainId: ChainId;
  readonly key: string;
  /** Microseconds since the epoch. */
  readonly lastRequestedAt: string;
}

export async function settledQuestions(
  database: Database,
  requested: readonly RequestedQuestion[],
): Promise<ReadonlyMap<RequestedQuestion, Settlement>> {
  const rows = await database.query<Settlement & { place: number }>(
    sql`SELECT requested.place::int AS place, ${SETTLEMENT}
     FROM unnest(${requested.map(({ chainId }) => chainId)}::bigint[], ${requested.map(({ key }) => key)}::text[], ${requested.map(({ lastRequestedAt }) => lastRequestedAt)}::bigint[]) WITH ORDINALITY AS requested (chain_id, key, asked_at, place)
     JOIN state_questions AS known USING (chain_id, key)
     WHERE known.settled_at IS NOT NULL AND ${micros('known.settled_at')} >= requested.asked_at`,
  );
  return new Map(
    rows.flatMap(({ place, ...settlement }) =>
      requested.slice(place - 1, place).map((question) => [question, settlement] as const),
    ),
  );
}

export async function isUnanswered(
  database: Database,
  { chainId, key, lastRequestedAt }: RequestedQuestion,
): Promise<boolean> {
  const rows = await database.query(
    sql`SELECT FROM state_questions AS known
     WHERE chain_id = ${chainId} AND key = ${key} AND ${micros('asked_at')} = ${lastRequestedAt}::bigint AND (NOT ${IS_SETTLED} OR error_code IS NOT NULL)`,
  );
  return rows.length > 0;
}

export async function settleQuestion(
  database: Database,
  claim: Claim<unknown>,
  { answer, errorCode, errorMessage }: Settlement,
): Promise<void> {
  await database.query(
    sql`UPDATE state_questions SET settled_at = greatest(clock_timestamp(), asked_at), answer = ${JSON.stringify(answer)}::jsonb, lease_until = NULL, holder = NULL,
       attempts = 0, error_code = ${errorCode}, error_message = ${errorMessage} WHERE ${isClaimed(DUE_QUESTIONS, claim)}`,
  );
}

export async function forgetQuestions(database: Database, chainId: ChainId): Promise<void> {
  await database.query(
    sql`DELETE FROM state_questions WHERE chain_id = ${chainId} AND asked_at < now() - make_interval(secs => ${KEPT_SECONDS})`,
  );
}

/** The statement may read other things too. @param chainId a value or a column */
export function recentAnswer<Question, Answer>(
  kind: StateKind<Question, Answer>,
  question: Question,
  chainId: ChainId | Sql,
  maxAgeMs: number,
) {
  return {
    /** A column; null without a result. */
    sql: recentAnswerTo(chainId, questionKey(kind, kind.question.parse(question)), maxAgeMs),
    /** Null also for the shape of another version of the program. */
    read: (column: unknown): Answer | null =>
      column === null ? null : (kind.answer.safeParse(column).data ?? null),
  };
}

export const DATABASE_AWAY = 'DATABASE_UNAVAILABLE';
export const UNEXPECTED = 'UNEXPECTED';

/** The message is for clients, without texts of nodes. @param isOverdue ran out of time */
export function failedSettlement(error: unknown, chain: Chain, isOverdue: boolean): Settlement {
  const failed = (errorCode: string, errorMessage: string): Settlement => ({
    answer: null,
    errorCode,
    errorMessage,
  });
  if (error instanceof StateNotArchivedError || error instanceof StateUnavailableError)
    return failed(error.code, error.message);
  if (isOutage(error)) return failed(DATABASE_AWAY, 'The database is unavailable: try again later');
  if (error instanceof ChainsteadError && isNodeless(error))
    return failed(error.code, `This needs a node of ${chain.name}, and none is configured`);
  const isForeign = !(error instanceof ChainsteadError);
  const isTimeout = answerTo(error).status === 503 || (error instanceof Error && error.name === 'TimeoutError');
  if (isOverdue || (isForeign && isTimeout))
    return failed('STATE_UNAVAILABLE', `The state read on ${chain.name} timed out: retry in a moment`);
  // All that talks to nodes throws errors of a known kind.
  return error instanceof ChainsteadError
    ? failed(error.code, `The nodes of ${chain.name} returned no response: retry in a moment`)
    : failed(UNEXPECTED, 'Internal error');
}
