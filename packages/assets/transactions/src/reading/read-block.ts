import { type BlockHeader, type Hash, parseHash } from '@chainstead/core';
import type { StateReadingContext } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { checkSender, checkTransactionHash, checkWithdrawals, committedTransactions } from '@chainstead/proof';
import type { FaultKind } from '@chainstead/rpc';
import { executedTransactions, type ProvenBlock, readProvenBlock } from '@chainstead/sync';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
import { isFinal } from './finality.ts';
import { type ProofMark, proofMark } from './proof-mark.ts';

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
