import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import type { Address, Logger } from '@chainstead/core';
import {
  addressBytes,
  type Database,
  rawSql,
  type Sql,
  sql,
  type WorkJournal,
  WorkSetAsideError,
} from '@chainstead/db';
import { readDocument } from '../document-object.ts';
import { normalizeMetadata } from '../records/normalized-metadata.ts';
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
import { FAILED_FOR_GOOD, IDS_PER_PIECE, nextIds } from './queue-documents.ts';
import { createTraitCounter, type TraitCounter } from './trait-census.ts';
import { advanceTraits } from './traits-at-work.ts';

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
      const traits = document === null ? [] : traitsOf(normalizeMetadata(document.fields).attributes);
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
