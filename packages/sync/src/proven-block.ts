/**
 * Reads a block whole and proves it, asking one upstream after another until one's receipts reproduce the header's root, and
 * where transaction objects are asked for, one's transactions as well.
 */
import type { Chain, ProofPolicy } from '@chainstead/chains';
import type { Block, BlockHeader, Clock, Hash, Log, Receipt } from '@chainstead/core';
import { ChainsteadError } from '@chainstead/core';
import {
  committedTransactions,
  contradictsSenders,
  logsBloom,
  type ProofLevel,
  proveBlock,
  proveTransactions,
  type RecoverSigners,
  type TransactionsProof,
} from '@chainstead/proof';
import {
  type Answer,
  type FaultKind,
  placeLogs,
  type RequestOptions,
  repeatsIndexes,
  type UpstreamPool,
} from '@chainstead/rpc';
import type { InternalTransfer } from './block-watcher.ts';
import { UnprovenBlockError } from './errors.ts';
import type { BlockPart, InternalTransaction, PartProof } from './whole-block.ts';

/** What a chain that commits otherwise may legitimately show; stored as `unproven` under the policy `record`. */
const RECORDABLE: ReadonlySet<string> = new Set([
  'root-mismatch',
  'root-missing',
  'header-hash-mismatch',
  'receipt-count',
]);

/** What an upstream did whose transactions are not those of the header. */
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
  /** For the chain's watcher; null where it did not ask for them. */
  readonly internalTransfers: readonly InternalTransfer[] | null;
  /** For datasets; null where none asked for them, or none could be read. */
  readonly internalTransactions: readonly InternalTransaction[] | null;
  /** Of receipts and logs. */
  readonly level: ProofLevel;
  readonly reason: string | null;
  /** How far what was read besides is proven; absent: it was not read. */
  readonly parts: Readonly<Partial<Record<BlockPart, PartProof>>>;
  readonly upstream: string;
  /**
   * Whether its transactions were signed by those whom they name, where `parts` take it for granted and it is still being found out: nothing of the block may be
   * shown before. Rejects where it can't be. Absent: `parts` tell.
   */
  readonly sendersHold?: Promise<boolean>;
}

/** How far a block is proven, and by whose answer. */
export interface ProvenLevel extends Pick<ProvenBlock, 'level' | 'reason' | 'upstream'> {
  readonly header: Pick<BlockHeader, 'number'>;
}

/** What blocks are read with. */
export interface BlockReader {
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly policy: ProofPolicy;
  /** Who recovers senders from signatures. @default this process */
  readonly recoverSigners?: RecoverSigners | undefined;
  /** Waits before a block that contradicts its own header is read again. @default it is not */
  readonly rereadClock?: Clock | undefined;
}

export interface ProvenReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Upstreams not to ask. */
  readonly exclude?: ReadonlySet<string>;
  /**
   * Transaction objects: none, as the upstream gives them, proven where they can be, or that and their senders recovered from signatures.
   * @default none
   */
  readonly transactions?: 'none' | 'given' | 'proven' | 'signed';
  /** Whether the block is waited for until its senders are recovered, or given with {@link ProvenBlock.sendersHold}. @default 'wait' */
  readonly senders?: 'wait' | 'later';
}

/** Waits between readings of a block that contradicts its own header, milliseconds: nodes serve receipts without their logs for a moment. */
const REREAD_AFTER_MS = [100, 200, 400, 800, 1_600];

/**
 * Null when no upstream (but those excluded) has the block. Where no upstream's transactions prove themselves, the block comes with
 * those that it has, and its `parts` say why.
 * @throws UnprovenBlockError under the policy `strict` when no upstream's receipts prove themselves.
 */
export async function readProvenBlock(
  reader: BlockReader,
  at: number | Hash,
  options: ProvenReadOptions = {},
): Promise<ProvenBlock | null> {
  const { chain, policy, rereadClock } = reader;
  const blamed = new Set<string>();
  for (let readings = 0; ; readings++) {
    const { block, unproven, reason, refused } = await readFromEach(reader, at, options, blamed);
    if (block !== null) return block;
    const wait = REREAD_AFTER_MS[readings];
    if (rereadClock !== undefined && wait !== undefined && mayPass(unproven, policy)) {
      await rereadClock.sleep(wait, options.signal);
      continue;
    }
    if (unproven !== null && policy === 'record') return unproven;
    if (reason === null) return null;
    throw new UnprovenBlockError({ chain: chain.key, block: at, reason, policy, upstreams: [...refused] });
  }
}

/** Whether the block may prove itself in a moment. Where roots may be of a form of the chain's own, blooms tell. */
function mayPass(unproven: ProvenBlock | null, policy: ProofPolicy): boolean {
  return unproven !== null && (policy === 'strict' || unproven.reason === 'receipt-count' || lacksLogs(unproven));
}

/** Whether the header's bloom holds what is in none of the logs. */
function lacksLogs({ header, logs }: ProvenBlock): boolean {
  if (header.logsBloom === null) return false;
  const bloom = logsBloom(logs);
  return Buffer.from(header.logsBloom.slice(2), 'hex').some((byte, at) => (byte & ~(bloom[at] ?? 0)) !== 0);
}

/** What came of asking one upstream after the other. */
interface ReadFromEach {
  /** Proven, or with transactions that are not. */
  readonly block: ProvenBlock | null;
  /** One that may be recorded as it is. */
  readonly unproven: ProvenBlock | null;
  /** Why the last one is not proven. */
  readonly reason: string | null;
  readonly refused: ReadonlySet<string>;
}

/** @param blamed upstreams whose fault with this block is counted already */
async function readFromEach(
  { pool, chain, policy, recoverSigners }: BlockReader,
  at: number | Hash,
  { signal, exclude = new Set(), transactions = 'none', senders: waiting = 'wait' }: ProvenReadOptions,
  blamed: Set<string>,
): Promise<ReadFromEach> {
  const refused = new Set<string>(exclude);
  const asked = transactions === 'proven' || transactions === 'signed' ? transactions : null;
  const proven = (block: ProvenBlock): ReadFromEach => ({ block, unproven: null, reason: null, refused });
  let unproven: ProvenBlock | null = null;
  let altered: ProvenBlock | null = null;
  let lastReason: string | null = null;
  for (;;) {
    const answer = await readWhole(pool, at, {
      exclude: refused,
      transactions: transactions !== 'none',
      ...(signal === undefined ? {} : { signal }),
    });
    if (answer === null) break;
    const { block } = answer.value;
    const senders = asked === 'signed' ? checkSenders(block, chain, recoverSigners) : null;
    const given = { header: block.header, transactionHashes: block.transactionHashes, receipts: answer.value.receipts };
    const proof = proveBlock(given, chain);
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
    };
    refused.add(answer.upstream);
    if (proof.level !== 'unproven') {
      if (asked === null) return proven(read);
      const ofTransactions = await proveObjects(read, chain, waiting === 'wait' ? senders : null);
      const found = { ...read, parts: { transactions: partProof(ofTransactions, policy) } };
      if (!isAltered(ofTransactions))
        return proven(
          waiting === 'wait' || senders === null
            ? found
            : { ...found, sendersHold: reportContradicted(pool, read, senders) },
        );
      reportAltered(pool, read, ofTransactions);
      altered ??= found;
      continue;
    }
    if (!blamed.has(answer.upstream))
      pool.reportFault(
        answer.upstream,
        proof.reason === 'header-hash-mismatch' ? 'header-hash-mismatch' : 'receipts-root-mismatch',
        { block: block.header.number, reason: proof.reason },
      );
    blamed.add(answer.upstream);
    // An answer whose logs contradict themselves is never stored, whatever the policy.
    if (RECORDABLE.has(proof.reason)) {
      const { level, reason } = read;
      unproven ??= asked !== null ? { ...read, parts: { transactions: { level, reason } } } : read;
    }
    lastReason = proof.reason;
  }
  return { block: altered, unproven, reason: lastReason, refused };
}

/**
 * Receipts whose logs have the numbers that follow from what is proven. Where nothing is, those of the upstream are kept unless they repeat in a transaction:
 * rows could not be told apart.
 */
function numbered(
  pool: UpstreamPool,
  { value: { block, receipts }, upstream }: Answer<{ readonly block: Block; readonly receipts: readonly Receipt[] }>,
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

/** How one of a block's transactions names another sender than signed it; null where none does. */
type SenderCheck = () => Promise<TransactionsProof | null>;

/** Where others recover them they begin at once: roots are computed meanwhile, which takes half as long. */
function checkSenders(
  { header, transactions }: Block,
  chain: Chain,
  recoverSigners: RecoverSigners | undefined,
): SenderCheck {
  if (transactions === null) return async () => null;
  const check: SenderCheck = () =>
    contradictsSenders(committedTransactions(header, transactions, chain), recoverSigners);
  if (recoverSigners === undefined) return check;
  const begun = check();
  // Nobody asks for it where the roots are wrong: it must not count as an unhandled rejection then.
  begun.catch(() => undefined);
  return () => begun;
}

function reportContradicted(pool: UpstreamPool, read: ProvenBlock, senders: SenderCheck): Promise<boolean> {
  const sendersHold = senders().then((contradiction) => {
    if (contradiction?.level === 'unproven') reportAltered(pool, read, contradiction);
    return contradiction === null;
  });
  // Whoever gives the block up first need not hear of it.
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
    return { level: 'unproven', reason: 'transaction-malformed', expected: 'transaction objects', computed: 'hashes' };
  const proof = proveTransactions({ header, transactions, receipts }, chain);
  if (senders === null || isAltered(proof)) return proof;
  return (await senders()) ?? proof;
}

/** A type that nobody can encode says nothing of the upstream: another one would show the same. */
function isAltered(proof: TransactionsProof): proof is Extract<TransactionsProof, { level: 'unproven' }> {
  return proof.level === 'unproven' && proof.reason !== 'transaction-encoding';
}

/** Under the policy `strict`, what contradicts the header is kept from datasets; they lack the block until an upstream tells the truth. */
function partProof(proof: TransactionsProof, policy: ProofPolicy): PartProof {
  if (proof.level !== 'unproven') return { level: proof.level, reason: null };
  const { reason } = proof;
  // Who reads senders that were proven is promised that they are.
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

/** Null when nobody has the block, or when nobody is left to ask after some were refused. */
async function readWhole(
  pool: UpstreamPool,
  at: number | Hash,
  options: RequestOptions & { readonly exclude: ReadonlySet<string>; readonly transactions: boolean },
) {
  try {
    return await pool.getWholeBlock(at, options);
  } catch (error) {
    // Once some answer is in hand, the others being down must not hide what was found.
    if (options.exclude.size > 0 && error instanceof ChainsteadError && !options.signal?.aborted) return null;
    throw error;
  }
}
