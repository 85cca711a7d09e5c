import { type BlockHeader, type Hash, parseHash, parseQuantity } from '@chainstead/core';
import type { StateKind, StateReader, StateReadingContext } from '@chainstead/node-reads';
import { committedBlock, StateUnavailableError } from '@chainstead/node-reads/requests';
import { checkSender, checkTransactionHash, checkWithdrawals, committedTransactions } from '@chainstead/proof';
import { type FaultKind, type UpstreamPool, UpstreamsExhaustedError } from '@chainstead/rpc';
import { executedTransactions, type ProvenBlock, readProvenBlock } from '@chainstead/sync';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
import { z } from 'zod';
import { blockRecord } from '../records/block-record.ts';
import {
  type ProofMark,
  proofMarkSchema,
  transactionRecord,
  transactionRecordSchema,
} from '../records/transaction-record.ts';

export interface ReadBlock {
  readonly header: BlockHeader;
  /** In order: those of the block's roots, then others that nodes list. */
  readonly transactions: readonly ExecutedTransaction[];
  readonly committed: ReadonlySet<Hash>;
  readonly proof: ProofMark;
  readonly finalized: boolean;
  readonly proven: ProvenBlock;
}

/** Rejects contradictions and wrong signers. Null: not found. @throws StateUnavailableError */
export async function readBlock(
  context: Pick<StateReadingContext, 'chain' | 'pool'>,
  { at, sendersOf }: { readonly at: number | Hash; readonly sendersOf?: Hash },
  signal: AbortSignal,
): Promise<ReadBlock | null> {
  const { chain, pool } = context;
  const refused = new Set<string>();
  for (;;) {
    const options = { signal, exclude: refused, transactions: 'proven' } as const;
    const read = await readProvenBlock({ chain, pool, policy: chain.proofPolicy }, at, options);
    if (read === null && refused.size === 0) return null;
    const proof = read === null ? null : proofMark(read);
    if (read === null || proof === null)
      throw new StateUnavailableError(
        `No node of ${chain.name} returned block ${at} with contents that match its header`,
      );
    const committed = new Set(
      committedTransactions(read.header, read.block.transactions ?? [], chain).map(({ hash }) => parseHash(hash)),
    );
    const transactions = executedTransactions(read);
    const shown = transactions.filter(
      ({ hash }) => committed.has(hash) && (sendersOf === undefined || hash === sendersOf),
    );
    const wrong = contradiction(read, shown);
    if (wrong === null) {
      const finalized = await isFinal(context, read.header.number, signal);
      return { header: read.header, transactions, committed, proof, finalized, proven: read };
    }
    pool.reportFault(read.upstream, wrong.kind, { block: read.header.number, ...wrong.facts });
    refused.add(read.upstream);
  }
}

interface Contradiction {
  readonly kind: FaultKind;
  readonly facts: Readonly<Record<string, unknown>>;
}

function contradiction(
  { header, block }: ProvenBlock,
  shown: readonly ExecutedTransaction[],
): Contradiction | null {
  if (checkWithdrawals(header.raw, block.transactions?.[0]) === 'mismatch')
    return { kind: 'malformed', facts: { reason: 'withdrawals-root-mismatch' } };
  for (const { raw, hash, from } of shown) {
    const check = checkSender(raw);
    // If it does not hash to its hash, it was signed in another form.
    if (check.result === 'mismatch' && checkTransactionHash(raw).result === 'verified')
      return {
        kind: 'malformed',
        facts: { reason: 'sender-mismatch', transaction: hash, expected: check.recovered, given: from },
      };
  }
  return null;
}

const hash = z.custom<Hash>((value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value));
const BLOCK_TAGS = ['latest', 'safe', 'finalized', 'earliest'] as const;

const questionSchema = z.object({ at: z.union([z.int().min(0), hash, z.enum(BLOCK_TAGS)]) });

const answerSchema = z.object({
  /** Milliseconds since the epoch. */
  readAt: z.number(),
  found: z
    .object({
      block: blockRecord.schema,
      transactions: z.array(transactionRecordSchema),
      proof: proofMarkSchema,
      finalized: z.boolean(),
    })
    .nullable(),
});

type Question = z.infer<typeof questionSchema>;
type BlockAnswer = z.infer<typeof answerSchema>;
export type FoundBlock = NonNullable<BlockAnswer['found']>;

export const blockKind: StateKind<Question, BlockAnswer> = {
  name: 'block',
  question: questionSchema,
  answer: answerSchema,
};

export const blockReader: StateReader<Question, BlockAnswer> = {
  kind: blockKind,
  async read(context, { at: requested }, signal) {
    const readAt = context.clock.now();
    const place = await resolveTag(context, requested, signal);
    const number =
      typeof place === 'number'
        ? place
        : await placeOf(context.pool, 'eth_getBlockByHash', [place, false], signal);
    // By number: blocks of abandoned branches are not in the chain.
    const read = number === null ? null : await readBlock(context, { at: number }, signal);
    if (read === null) {
      if (number !== null) await refuseMissing(context, number, signal);
      return { readAt, found: null };
    }
    const { header, transactions, committed, proof } = read;
    if (typeof place === 'string' && header.hash !== place) return { readAt, found: null };
    return {
      readAt,
      found: {
        block: blockRecord.show(header),
        transactions: transactions
          .filter(({ hash }) => committed.has(hash))
          .map((one) => transactionRecord(one, header, context.chain)),
        proof,
        finalized: read.finalized,
      },
    };
  },
};

/** @throws StateUnavailableError for a reached number: nodes have lost the block */
async function refuseMissing(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  if (number > (await pool.getHead({ signal })).value.number) return;
  throw new StateUnavailableError(`No node of ${chain.name} has block ${number}`);
}

async function isFinal(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  number: number,
  signal: AbortSignal,
): Promise<boolean> {
  return number <= (await newestFinal({ chain, pool }, signal));
}

async function newestFinal({ chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>, signal: AbortSignal) {
  const finalized = await pool.getFinalized({ signal });
  if (finalized !== null) return finalized;
  return (await pool.getHead({ signal })).value.number - chain.confirmations;
}

/** Null: the header contradicts the data of every node. */
function proofMark({ level, parts }: Pick<ProvenBlock, 'level' | 'parts'>): ProofMark | null {
  const ofTransactions = parts.transactions?.level;
  if (ofTransactions === 'unavailable') return null;
  return level === 'receipts' && ofTransactions === 'receipts' ? 'receipts+transactions' : 'none';
}

/** Null: in no block, by all healthy upstreams. @throws UpstreamsExhaustedError */
export async function placeOf(
  pool: UpstreamPool,
  method: 'eth_getTransactionByHash' | 'eth_getBlockByHash',
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<number | null> {
  try {
    return numberIn((await pool.request(method, params, { signal })).value);
  } catch (error) {
    if (!(error instanceof UpstreamsExhaustedError)) throw error;
    const sound = pool.status().filter(({ state }) => state === 'healthy');
    if (sound.length === 0) throw error;
    for (const { name } of sound) {
      const { value } = await pool.request(method, params, { signal, only: name });
      if (value !== null) return numberIn(value);
    }
    return null;
  }
}

/** @throws InvalidPrimitiveError */
function numberIn(found: unknown): number | null {
  const { blockNumber, number = blockNumber } = Object(found) as Readonly<Record<string, unknown>>;
  return number === undefined || number === null ? null : parseQuantity(number);
}
type BlockTag = (typeof BLOCK_TAGS)[number];
export type BlockPlace = number | Hash | BlockTag;

/** Undefined: invalid. 64 digits are a hash, fewer a number. */
export function parseBlockPlace(text: string): BlockPlace | undefined {
  const lower = text.toLowerCase();
  const tag = BLOCK_TAGS.find((name) => name === lower);
  if (tag !== undefined) return tag;
  if (/^0x[0-9a-f]{64}$/.test(lower)) return parseHash(lower);
  const isNumber = /^(?:\d{1,16}|0x[0-9a-f]{1,14})$/.test(lower);
  const number = isNumber ? Number(lower) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** `latest`: the newest indexed block, so that later requests can be served. */
async function resolveTag(
  context: Pick<StateReadingContext, 'chain' | 'pool' | 'database'>,
  place: BlockPlace,
  signal: AbortSignal,
): Promise<number | Hash> {
  const { chain, pool, database } = context;
  switch (place) {
    case 'earliest':
      return chain.firstBlock;
    case 'latest':
      return (await committedBlock(database, chain))?.number ?? (await pool.getHead({ signal })).value.number;
    case 'finalized':
      return Math.max(chain.firstBlock, await newestFinal(context, signal));
    case 'safe': {
      if (!chain.finalizedTag) return Math.max(chain.firstBlock, await newestFinal(context, signal));
      const { value } = await pool.request('eth_getBlockByNumber', ['safe', false], { signal });
      return parseQuantity((Object(value) as { readonly number?: unknown }).number);
    }
    default:
      return place;
  }
}
