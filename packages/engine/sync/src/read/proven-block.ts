/** Tries each upstream until receipts, and requested transactions, match the header's roots. */
import type { Chain, ProofPolicy } from '@chainstead/chains';
import {
  type Block,
  type BlockHeader,
  ChainsteadError,
  type Hash,
  type Log,
  type Receipt,
} from '@chainstead/core';
import {
  contradictsSenders,
  logsBloom,
  type ProofLevel,
  proveBlock,
  proveTransactions,
  type RecoverSigners,
  type TransactionJson,
  type TransactionsProof,
} from '@chainstead/proof';
import {
  type Answer,
  BlockTooLargeError,
  type FaultKind,
  placeLogs,
  repeatsIndexes,
  type UpstreamPool,
  type WholeBlockOptions,
} from '@chainstead/rpc';
import type {
  BlockPart,
  InternalTransaction,
  InternalTransfer,
  PartProof,
  StoresSender,
} from '../dataset/whole-block.ts';
import { UnprovenBlockError } from '../errors.ts';
import type { Rereads } from './rereads.ts';
import { withStoredSenders } from './stored-senders.ts';

/** Legitimate on a chain with other commitments; policy `record` stores it as `unproven`. */
const RECORDABLE: ReadonlySet<string> = new Set([
  'root-mismatch',
  'root-missing',
  'header-hash-mismatch',
  'receipt-count',
]);

const SELF_CONTRADICTIONS: ReadonlySet<string> = new Set([
  'transaction-hash-mismatch',
  'transaction-placement',
  'transaction-malformed',
  'receipt-mismatch',
]);

const TRANSACTION_FAULTS: Readonly<Record<string, FaultKind>> = {
  'transactions-root-mismatch': 'transactions-root-mismatch',
  'transactions-root-missing': 'transactions-root-mismatch',
  'transaction-hash-mismatch': 'transaction-hash-mismatch',
};

export interface ProvenBlock {
  readonly header: BlockHeader;
  readonly block: Block;
  readonly receipts: readonly Receipt[];
  readonly logs: readonly Log[];
  /** Null if the chain's watcher did not request them. */
  readonly internalTransfers: readonly InternalTransfer[] | null;
  /** Null if they were not requested or not available. */
  readonly internalTransactions: readonly InternalTransaction[] | null;
  readonly level: ProofLevel;
  readonly reason: string | null;
  /** Absent: not read. `logs` only if they are unavailable. */
  readonly parts: Readonly<Partial<Record<BlockPart, PartProof>>>;
  readonly upstream: string;
  /** `upstream` is a source of history. @default a node */
  readonly isFromSource?: boolean;
  /** Until it resolves, nothing of the block may be served. Rejects if it can't be checked. */
  readonly sendersHold?: Promise<boolean>;
  /** Senders that no row of its datasets has were not recovered. @default false */
  readonly leavesSenders?: boolean;
}

export interface ProvenLevel extends Pick<ProvenBlock, 'level' | 'reason' | 'upstream' | 'isFromSource'> {
  readonly header: Pick<BlockHeader, 'number'>;
}

export interface BlockReader {
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly policy: ProofPolicy;
  readonly recoverSigners?: RecoverSigners | undefined;
  /** @default a block that contradicts its own header is not fetched again */
  readonly rereads?: Rereads | undefined;
}

export interface ProvenReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly exclude?: ReadonlySet<string>;
  /** As returned (`given`), proven if possible, or with signers recovered too. @default none */
  readonly transactions?: 'none' | 'given' | 'proven' | 'signed';
  /** The other senders are not recovered. @default all are stored */
  readonly storesSender?: StoresSender | undefined;
  /** `later`: returns the block with {@link ProvenBlock.sendersHold}. @default 'wait' */
  readonly senders?: 'wait' | 'later';
  readonly bytesMax?: number | undefined;
  /** Known after a read with `bytesMax`. @default false */
  readonly isLarge?: boolean | undefined;
}

/**
 * Null if no upstream has the block. If no transactions match, `parts` contain the reason.
 * @throws UnprovenBlockError under policy `strict`, without matching receipts; BlockTooLargeError
 */
export async function readProvenBlock(
  reader: BlockReader,
  at: number | Hash,
  options: ProvenReadOptions = {},
): Promise<ProvenBlock | null> {
  const { chain, policy, rereads } = reader;
  const blamed = new Set<string>();
  for (let readings = 0; ; readings++) {
    const { block, altered, unproven, reason, refused } = await readFromEach(reader, at, options, blamed);
    if (block !== null) {
      rereads?.ended(true);
      return block;
    }
    // Contradictions may be gone on a later read.
    const mayPass =
      altered === null
        ? lacksContents(unproven, policy)
        : policy === 'strict' || SELF_CONTRADICTIONS.has(altered.reason);
    const isRequired = altered === null && policy === 'strict';
    if (mayPass && (await rereads?.wait(readings, isRequired, options.signal))) continue;
    if (mayPass) rereads?.ended(false);
    if (altered !== null) return altered.block;
    if (unproven !== null && policy === 'record') return unproven;
    if (reason === null) return null;
    throw new UnprovenBlockError({ chain: chain.key, block: at, reason, policy, upstreams: [...refused] });
  }
}

/** Receipts may be right on a later read. Where roots may differ, the logs bloom decides. */
function lacksContents(unproven: ProvenBlock | null, policy: ProofPolicy): boolean {
  return unproven !== null && (policy === 'strict' || unproven.reason === 'receipt-count' || lacksLogs(unproven));
}

function lacksLogs({ header, logs }: ProvenBlock): boolean {
  if (header.logsBloom === null) return false;
  const bloom = logsBloom(logs);
  return Buffer.from(header.logsBloom.slice(2), 'hex').some((byte, at) => (byte & ~(bloom[at] ?? 0)) !== 0);
}

interface ReadFromEach {
  readonly block: ProvenBlock | null;
  readonly altered: { readonly block: ProvenBlock; readonly reason: string } | null;
  readonly unproven: ProvenBlock | null;
  readonly reason: string | null;
  readonly refused: ReadonlySet<string>;
}

/** @param blamed upstreams whose fault with this block is counted already */
async function readFromEach(
  { pool, chain, policy, recoverSigners }: BlockReader,
  at: number | Hash,
  {
    signal,
    exclude = new Set(),
    transactions = 'none',
    storesSender,
    senders: waiting = 'wait',
    bytesMax,
    isLarge = false,
  }: ProvenReadOptions,
  blamed: Set<string>,
): Promise<ReadFromEach> {
  const refused = new Set<string>(exclude);
  const requested = transactions === 'proven' || transactions === 'signed' ? transactions : null;
  const proven = (block: ProvenBlock) => ({ block, altered: null, unproven: null, reason: null, refused });
  let unproven: ProvenBlock | null = null;
  let altered: ReadFromEach['altered'] = null;
  let lastReason: string | null = null;
  for (;;) {
    const answer = await readWhole(pool, at, {
      exclude: refused,
      transactions: transactions !== 'none',
      ...(signal === undefined ? {} : { signal }),
      ...(bytesMax === undefined ? {} : { bytesMax }),
      isLarge,
    });
    if (answer === null) break;
    const { block } = answer.value;
    const senders =
      requested === 'signed'
        ? checkSenders(withStoredSenders(block, answer.value.receipts, chain, storesSender), recoverSigners)
        : null;
    const proof = proveBlock({ ...block, receipts: answer.value.receipts }, chain);
    const receipts = numbered(pool, answer, proof.level, chain);
    const read: ProvenBlock = {
      header: block.header,
      block,
      receipts,
      logs: receipts.flatMap((receipt) => receipt.logs),
      internalTransfers: null,
      internalTransactions: null,
      level: proof.level,
      reason: proof.level === 'unproven' ? proof.reason : null,
      parts: {},
      upstream: answer.upstream,
      leavesSenders: requested === 'signed' && storesSender !== undefined,
    };
    refused.add(answer.upstream);
    if (proof.level !== 'unproven') {
      if (requested === null) return proven(read);
      const ofTransactions = await proveObjects(read, chain, waiting === 'wait' ? senders : null);
      const checked = { ...read, parts: { transactions: partProof(ofTransactions, policy) } };
      if (!isAltered(ofTransactions)) {
        const isFinal = waiting === 'wait' || senders === null;
        return proven(isFinal ? checked : { ...checked, sendersHold: reportContradicted(pool, read, senders) });
      }
      if (!blamed.has(answer.upstream)) reportAltered(pool, read, ofTransactions);
      blamed.add(answer.upstream);
      altered ??= { block: checked, reason: ofTransactions.reason };
      continue;
    }
    const { reason: contradiction } = proof;
    const fault = contradiction === 'header-hash-mismatch' ? contradiction : 'receipts-root-mismatch';
    if (!blamed.has(answer.upstream))
      pool.reportFault(answer.upstream, fault, { block: block.header.number, reason: contradiction });
    blamed.add(answer.upstream);
    // Logs that contradict themselves are never stored, under any policy.
    if (RECORDABLE.has(proof.reason)) {
      const { level, reason } = read;
      unproven ??= requested !== null ? { ...read, parts: { transactions: { level, reason } } } : read;
    }
    lastReason = proof.reason;
  }
  return { block: null, altered, unproven, reason: lastReason, refused };
}

/** Numbers follow from proven logs. Others stay, unless they repeat in a transaction. */
function numbered(
  pool: UpstreamPool,
  {
    value: { block, receipts },
    upstream,
  }: Answer<{ readonly block: Block; readonly receipts: readonly Receipt[] }>,
  level: ProofLevel,
  chain: Chain,
): readonly Receipt[] {
  const isProven = level === 'receipts' && chain.receiptsRoot === 'ethereum';
  if (!isProven && !repeatsIndexes(receipts)) return receipts;
  const placed = placeLogs(receipts);
  if (placed.misplaced > 0)
    pool.reportFault(upstream, 'log-index-mismatch', { block: block.header.number, logs: placed.misplaced });
  return placed.receipts;
}

/** Null: all senders are right. */
type SenderCheck = () => Promise<TransactionsProof | null>;

/** Another thread recovers senders while this one computes roots: that halves the time. */
function checkSenders(
  transactions: readonly TransactionJson[],
  recoverSigners: RecoverSigners | undefined,
): SenderCheck {
  const check: SenderCheck = () => contradictsSenders(transactions, recoverSigners);
  if (recoverSigners === undefined) return check;
  const begun = check();
  // Not awaited if the roots are wrong: avoids an unhandled rejection.
  begun.catch(() => undefined);
  return () => begun;
}

function reportContradicted(pool: UpstreamPool, read: ProvenBlock, senders: SenderCheck): Promise<boolean> {
  const sendersHold = senders().then((contradiction) => {
    if (contradiction?.level === 'unproven') reportAltered(pool, read, contradiction);
    return contradiction === null;
  });
  // A caller that drops the block first does not await this.
  sendersHold.catch(() => undefined);
  return sendersHold;
}

async function proveObjects(
  { header, block, receipts }: ProvenBlock,
  chain: Chain,
  senders: SenderCheck | null,
): Promise<TransactionsProof> {
  const { transactions } = block;
  if (transactions === null)
    return {
      level: 'unproven',
      reason: 'transaction-malformed',
      expected: 'transaction objects',
      computed: 'hashes',
    };
  const proof = proveTransactions({ header, transactions, receipts }, chain);
  if (senders === null || isAltered(proof)) return proof;
  return (await senders()) ?? proof;
}

/** A transaction type that can't be encoded is not the upstream's fault. */
function isAltered(proof: TransactionsProof): proof is Extract<TransactionsProof, { level: 'unproven' }> {
  return proof.level === 'unproven' && proof.reason !== 'transaction-encoding';
}

/** Policy `strict`: a gap instead of parts that contradict the header. */
function partProof(proof: TransactionsProof, policy: ProofPolicy): PartProof {
  if (proof.level !== 'unproven') return { level: proof.level, reason: null };
  const { reason } = proof;
  // Wrong senders are never stored.
  if ((policy === 'strict' && isAltered(proof)) || reason === 'sender-mismatch')
    return { level: 'unavailable', reason, isUnsupported: false };
  return { level: 'unproven', reason };
}

function reportAltered(
  pool: UpstreamPool,
  { upstream, header }: ProvenBlock,
  { reason, expected, computed }: Extract<TransactionsProof, { level: 'unproven' }>,
): void {
  const facts = { block: header.number, reason, expected, computed };
  pool.reportFault(upstream, TRANSACTION_FAULTS[reason] ?? 'malformed', facts);
}

/** Null if no upstream has the block, or if none is left after some were refused. */
async function readWhole(
  pool: UpstreamPool,
  at: number | Hash,
  options: WholeBlockOptions & { readonly exclude: ReadonlySet<string> },
) {
  try {
    return await pool.getWholeBlock(at, options);
  } catch (error) {
    if (error instanceof BlockTooLargeError && options.bytesMax !== undefined) throw error;
    // A response exists already: the failure of other upstreams must not hide it.
    if (options.exclude.size > 0 && error instanceof ChainsteadError && !options.signal?.aborted) return null;
    throw error;
  }
}
