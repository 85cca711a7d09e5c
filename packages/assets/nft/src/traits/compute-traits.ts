import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import type { Address, Logger } from '@chainstead/core';
import {
  addressBytes,
  type Database,
  expectedTrue,
  rawSql,
  type Sql,
  sql,
  type Transaction,
  type WorkJournal,
  WorkSetAsideError,
} from '@chainstead/db';
import { dueChannel } from '@chainstead/jobs';
import { TOKEN_METADATA } from '../collections/token-rows.ts';
import { readDocument } from '../document-object.ts';
import { attributesOf } from '../records/normalized-metadata.ts';
import { TOKENS_MAX } from '../records/read-rarities.ts';
import { traitsOf } from '../records/trait.ts';
import { readCollectionCoverage } from './collection-coverage.ts';
import {
  beginGeneration,
  deleteGeneration,
  endTraitsWork,
  type NewGeneration,
  showGeneration,
  storeGeneration,
} from './generation-store.ts';
import { createTraitCounter, type TraitCounter } from './trait-census.ts';
import { advanceTraits, type TraitsAtWork, type TraitsStep } from './traits-at-work.ts';

type TraitsOutcome = 'computed' | 'too-large' | 'begun-again' | 'overtaken' | 'set-aside' | 'failed';

export interface TraitsContext {
  readonly database: Database;
  readonly chain: Chain;
  readonly logger: Logger;
  readonly journal: Pick<WorkJournal, 'run'>;
  count(outcome: TraitsOutcome): void;
}

/** Bytes of documents read together. */
const PIECE_BYTES_MAX = 8_388_608;

export async function computeTraits(
  context: TraitsContext,
  contract: Address,
  signal: AbortSignal,
): Promise<void> {
  const { database, chain, logger } = context;
  const generation = await beginGeneration(database, chain, contract);
  if (generation === null) return;
  const work = { kind: 'collection', keys: [`${chain.id} ${contract} traits`] } as const;
  try {
    context.count(
      await context.journal.run(work, () => compute(context, { chain, contract, generation }, signal)),
    );
  } catch (error) {
    if (!(error instanceof WorkSetAsideError)) {
      if (!signal.aborted) context.count('failed');
      throw error;
    }
    context.count('set-aside');
    await endTraitsWork(database, chain, contract, { isTooLarge: false });
    logger.warn({ chain: chain.key, token: contract, code: error.code }, error.message);
  }
}

async function compute(context: TraitsContext, made: NewGeneration, signal: AbortSignal): Promise<TraitsOutcome> {
  const { database, chain, logger } = context;
  const { contract } = made;
  const { ids, isBuilt, indexed } = await readCollectionCoverage(database, chain, contract);
  const endTooLarge = async (): Promise<TraitsOutcome> => {
    await endTraitsWork(database, chain, contract, { isTooLarge: true });
    return 'too-large';
  };
  if (ids > TOKENS_MAX) return endTooLarge();
  const counter = createTraitCounter();
  const counted = await countDocuments(context, contract, counter, signal);
  // While ids are being counted again, they are incomplete.
  if (!isBuilt || !(await readCollectionCoverage(database, chain, contract)).isBuilt) {
    const step = { work: 'history', after: null } as const;
    await advanceTraits(database, chain, contract, async () => ({ step, outcome: null }));
    return 'begun-again';
  }
  if (counted === 'no-room') return endTooLarge();
  const census = counter.result();
  // Invariant: NFT-TRAITS-WHOLE
  await storeGeneration(database, made, census);
  const counts = { tokens: census.tokens.length, traits: census.traits.length };
  if (!(await showGeneration(database, made, { ...counts, indexed, isLacking: counted === 'lacking' }))) {
    await deleteGeneration(database, made);
    return 'overtaken';
  }
  logger.info({ chain: chain.key, token: contract, ...counts }, 'Traits of a collection are computed');
  return 'computed';
}

/** `no-room`: too many traits; `lacking`: failed documents will be read again. */
async function countDocuments(
  { database, chain }: TraitsContext,
  contract: Address,
  counter: TraitCounter,
  signal: AbortSignal,
): Promise<'whole' | 'lacking' | 'no-room'> {
  let after = '-1';
  let isLacking = false;
  for (;;) {
    signal.throwIfAborted();
    const rows = await database.query<StoredDocument>(documentsStatement(chain, contract, after));
    for (const { tokenId, isRequested, isFailing, metadata } of rows) {
      after = tokenId;
      isLacking ||= isFailing;
      const document = readDocument(metadata);
      const traits = document === null ? [] : traitsOf(attributesOf(document.fields));
      if (isRequested && !counter.add(tokenId, traits)) return 'no-room';
    }
    const [first] = rows;
    if (first === undefined || (first.seen < IDS_PER_PIECE && rows.length === first.seen))
      return isLacking ? 'lacking' : 'whole';
    await nextTurn();
  }
}

interface StoredDocument {
  readonly tokenId: string;
  readonly metadata: string | null;
  readonly isRequested: boolean;
  readonly isFailing: boolean;
  /** Ids examined; more than the rows if documents are large. */
  readonly seen: number;
}

export function documentsStatement(chain: Chain, contract: Address, after: string): Sql {
  const of = { contract: sql`${addressBytes(contract)}`, chainId: sql`${chain.id}` };
  return sql`SELECT token_id::text AS "tokenId", metadata, is_asked AS "isRequested", is_failing, seen FROM (
  SELECT ids.token_id, known.metadata, known.token_id IS NOT NULL AS is_asked, coalesce(known.status = 'failed' AND NOT ${FAILED_FOR_GOOD}, false) AS is_failing, count(*) OVER ()::int AS seen,
    sum(octet_length(known.metadata)) OVER (ORDER BY ids.token_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
  FROM ${nextIds(of, after)} LEFT JOIN LATERAL (
    SELECT token_id, metadata, status, token_uri, due_at, lease_until, attempts FROM nft_token_metadata AS own
    WHERE own.token_address = ${of.contract} AND own.chain_id = ${of.chainId} AND own.token_id = ids.token_id LIMIT 1
  ) AS known ON true
) AS summed WHERE coalesce(before, 0) <= ${rawSql(PIECE_BYTES_MAX)} ORDER BY summed.token_id`;
}

export const IDS_PER_PIECE = 1_000;
/** Attempts until a document counts as permanently failed. */
const DOCUMENT_TRIES = 4;
const NODE_TRIES = 9;
/** Seconds: a later retry means a permanent failure (retry-delay.ts). */
const HOPELESS_SECONDS = 22_000;

/** For no key. Failed documents get one more attempt. @param room maximum number to queue */
export async function queueDocuments(
  transaction: Transaction,
  chain: Chain,
  at: TraitsAtWork,
  room: number,
): Promise<{ readonly step: TraitsStep; readonly queued: number }> {
  const [row] = await transaction.query<{ last: string | null; seen: number; taken: number; queued: number }>(
    queueStatement(chain, at, room),
  );
  if (row === undefined) throw new Error('The statement gives one row');
  if (row.queued > 0) transaction.notify(dueChannel(TOKEN_METADATA, chain.id));
  const isDone = row.seen < IDS_PER_PIECE && row.taken === row.seen;
  return {
    step: isDone ? { work: 'settle', after: null } : { work: 'queue', after: row.last ?? at.after },
    queued: row.queued,
  };
}

/** One range of the ids' key, and one lookup per id (traits-statements.explain.test.ts). */
export function queueStatement(chain: Chain, at: TraitsAtWork, room: number): Sql {
  const of = { contract: sql`${addressBytes(at.contract)}`, chainId: sql`${chain.id}` };
  return sql`WITH seen AS (
  SELECT ids.token_id, known.token_id IS NULL OR known.status = 'failed' OR known.status <> 'pending' AND coalesce(known.synced_at < ${at.readAfter}, false) AS is_wanted
  FROM ${nextIds(of, at.after)} LEFT JOIN LATERAL (${documentOf(of)}) AS known ON true
), taken AS (
  SELECT token_id, is_wanted FROM (SELECT token_id, is_wanted, sum(is_wanted::int) OVER (ORDER BY token_id) AS wanted FROM seen) AS summed
  WHERE wanted <= ${room}::int
), queued AS (
  INSERT INTO nft_token_metadata AS known (token_address, chain_id, token_id, status, due_at)
  SELECT ${of.contract}, ${of.chainId}, token_id, 'pending', now() FROM taken WHERE is_wanted ORDER BY token_id
  ON CONFLICT (token_address, chain_id, token_id) DO UPDATE SET due_at = excluded.due_at, attempts = 0,
    status = CASE WHEN known.status = 'failed' THEN 'pending' ELSE known.status END
  RETURNING 1
)
SELECT (SELECT max(token_id)::text FROM taken) AS last, (SELECT count(*) FROM seen)::int AS seen, (SELECT count(*) FROM taken)::int AS taken,
  (SELECT count(*) FROM queued)::int AS queued`;
}

export async function settleDocuments(
  transaction: Transaction,
  chain: Chain,
  at: TraitsAtWork,
): Promise<{ readonly step: TraitsStep; readonly isStuck: boolean }> {
  const [row] = await transaction.query<{ last: string | null; seen: number; settled: number }>(
    settleStatement(chain, at),
  );
  if (row === undefined) throw new Error('The statement gives one row');
  const isStuck = row.settled < row.seen;
  const isDone = !isStuck && row.seen < IDS_PER_PIECE;
  return {
    step: isDone ? { work: 'compute', after: null } : { work: at.work, after: row.last ?? at.after },
    isStuck,
  };
}

export function settleStatement(chain: Chain, at: TraitsAtWork): Sql {
  // One dead document must not block the others: the first figures wait for one attempt each.
  const isSettled = sql`CASE known.status
    WHEN 'failed' THEN ${at.work === 'improve' ? FAILED_FOR_GOOD : rawSql('true')}
    WHEN 'pending' THEN false
    ELSE coalesce(known.synced_at >= ${at.readAfter}, true) END`;
  const of = { contract: sql`${addressBytes(at.contract)}`, chainId: sql`${chain.id}` };
  return sql`WITH seen AS (
  SELECT ids.token_id, known.token_id IS NULL OR ${isSettled} AS is_settled
  FROM ${nextIds(of, at.after)} LEFT JOIN LATERAL (${documentOf(of)}) AS known ON true
), settled AS (
  SELECT token_id FROM (SELECT token_id, bool_and(is_settled) OVER (ORDER BY token_id) AS so_far FROM seen) AS looked WHERE so_far
)
SELECT (SELECT max(token_id)::text FROM settled) AS last, (SELECT count(*) FROM seen)::int AS seen, (SELECT count(*) FROM settled)::int AS settled`;
}

type CollectionKey = Readonly<Record<'contract' | 'chainId', Sql>>;

function nextIds({ contract, chainId }: CollectionKey, after: string): Sql {
  return sql`(
    SELECT token_id, token_hash FROM nft_collection_ids
    WHERE token_address = ${contract} AND chain_id = ${chainId} AND token_id > ${after}::numeric AND ${expectedTrue(sql`is_held`)} ORDER BY token_id LIMIT ${rawSql(IDS_PER_PIECE)}
  ) AS ids`;
}

function documentOf({ contract, chainId }: CollectionKey): Sql {
  return sql`SELECT * FROM nft_token_metadata AS own
    WHERE own.token_address = ${contract} AND own.chain_id = ${chainId} AND own.token_id = ids.token_id LIMIT 1`;
}

/** No retry is expected soon (alias `known`). */
const FAILED_FOR_GOOD = sql`(coalesce(known.due_at, known.lease_until) IS NULL OR known.due_at > now() + interval '1 second' * ${rawSql(HOPELESS_SECONDS)}
      OR known.attempts >= CASE WHEN known.token_uri IS NULL THEN ${rawSql(NODE_TRIES)} ELSE ${rawSql(DOCUMENT_TRIES)} END)`;
