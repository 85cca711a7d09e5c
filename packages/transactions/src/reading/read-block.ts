import { type BlockHeader, type Hash, parseHash } from '@chainstead/core';
import { checkSender, checkTransactionHash, checkWithdrawals, committedTransactions } from '@chainstead/proof';
import type { FaultKind } from '@chainstead/rpc';
import { type StateReadingContext, StateUnavailableError } from '@chainstead/state';
import { type ExecutedTransaction, executedTransactions, type ProvenBlock, readProvenBlock } from '@chainstead/sync';
import { isFinal } from './finality.ts';
import { type ProofMark, proofMark } from './proof-mark.ts';

/** A block as it was read from a node, with what was executed in it. */
export interface ReadBlock {
  readonly header: BlockHeader;
  /** In order: those of the block's roots, and what nodes list beside them. */
  readonly transactions: readonly ExecutedTransaction[];
  /** Those that the roots hold. */
  readonly committed: ReadonlySet<Hash>;
  readonly proof: ProofMark;
  /** Whether it can't be reorganised away any more. */
  readonly finalized: boolean;
  /** As it came, for what else is read of it. */
  readonly proven: ProvenBlock;
}

/** Which block, and of whose transactions the senders will be shown. */
export interface BlockAsked {
  readonly at: number | Hash;
  /** @default of all */
  readonly sendersOf?: Hash;
}

/**
 * Reads a block with receipts and transactions, and proves them: of an upstream that contradicts the header, or names another sender than
 * signed, nothing is taken. Null where no upstream has the block.
 * @throws StateUnavailableError where every upstream contradicts it
 */
export async function readBlock(
  context: Pick<StateReadingContext, 'chain' | 'pool'>,
  { at, sendersOf }: BlockAsked,
  signal: AbortSignal,
): Promise<ReadBlock | null> {
  const { chain, pool } = context;
  const refused = new Set<string>();
  for (;;) {
    const read = await readProvenBlock({ chain, pool, policy: chain.proofPolicy }, at, {
      signal,
      exclude: refused,
      transactions: 'proven',
    });
    if (read === null && refused.size === 0) return null;
    const proof = read === null ? null : proofMark(read);
    if (read === null || proof === null)
      throw new StateUnavailableError(`No node of ${chain.name} gives block ${at} as its header says`);
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

/** What the roots of receipts and transactions leave open. */
function contradiction({ header, block }: ProvenBlock, shown: readonly ExecutedTransaction[]): Contradiction | null {
  if (checkWithdrawals(header.raw, block.transactions?.[0]) === 'mismatch')
    return { kind: 'malformed', facts: { reason: 'withdrawals-root-mismatch' } };
  for (const { raw, hash, from } of shown) {
    const check = checkSender(raw);
    // What does not hash to its hash was signed in another form.
    if (check.result === 'mismatch' && checkTransactionHash(raw).result === 'verified')
      return {
        kind: 'malformed',
        facts: { reason: 'sender-mismatch', transaction: hash, expected: check.recovered, given: from },
      };
  }
  return null;
}
