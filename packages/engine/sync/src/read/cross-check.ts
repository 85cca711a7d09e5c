/** A second upstream that agrees makes the level `cross`. Otherwise a third decides. */
import { ChainsteadError, type Log } from '@chainstead/core';
import { executedTransactions } from './executed-transactions.ts';
import { type BlockReader, type ProvenBlock, readProvenBlock } from './proven-block.ts';

export async function crossCheck(
  reader: BlockReader,
  block: ProvenBlock,
  signal?: AbortSignal,
): Promise<ProvenBlock> {
  if (block.level !== 'not-applicable') return block;
  const second = await readElsewhere(reader, block, [block.upstream], signal);
  if (second === null) return block;
  if (sameContent(block, second)) return agreed(block);
  const third = await readElsewhere(reader, block, [block.upstream, second.upstream], signal);
  if (third === null) return disputed(block);
  for (const [agreeing, outvoted] of [
    [block, second],
    [second, block],
  ] as const)
    if (sameContent(agreeing, third)) {
      const fault = outvoted.logs.length < agreeing.logs.length ? 'missing-logs' : 'surplus-logs';
      const facts = { block: block.header.number, outvoted_by: [agreeing.upstream, third.upstream] };
      reader.pool.reportFault(outvoted.upstream, fault, facts);
      return agreed({ ...agreeing, internalTransactions: block.internalTransactions, parts: block.parts });
    }
  return disputed(block);
}

/** Transactions were compared with the logs; traces were not. */
function agreed(block: ProvenBlock): ProvenBlock {
  const cross = { level: 'cross', reason: null } as const;
  const isCompared = block.parts.transactions?.level === 'not-applicable';
  return { ...block, level: 'cross', parts: { ...block.parts, ...(isCompared && { transactions: cross }) } };
}

function disputed(block: ProvenBlock): ProvenBlock {
  const doubt = { level: 'unproven', reason: 'upstreams-disagree' } as const;
  const parts = Object.entries(block.parts).map(([part, proof]) => [
    part,
    proof.level === 'unavailable' ? proof : doubt,
  ]);
  return { ...block, ...doubt, parts: Object.fromEntries(parts) };
}

/** Null if no other upstream has the block: no error. */
async function readElsewhere(
  reader: BlockReader,
  block: ProvenBlock,
  requested: readonly string[],
  signal?: AbortSignal,
): Promise<ProvenBlock | null> {
  if (reader.pool.status().every(({ name }) => requested.includes(name))) return null;
  try {
    const transactions = block.parts.transactions === undefined ? 'none' : 'proven';
    return await readProvenBlock(reader, block.header.number, {
      signal,
      exclude: new Set(requested),
      transactions,
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ChainsteadError) return null;
    throw error;
  }
}

function sameContent(a: ProvenBlock, b: ProvenBlock): boolean {
  return (
    a.header.hash === b.header.hash &&
    contentOf(a.logs) === contentOf(b.logs) &&
    transactionsOf(a) === transactionsOf(b)
  );
}

function transactionsOf(block: ProvenBlock): string {
  if (block.parts.transactions === undefined) return '';
  return executedTransactions(block)
    .map(({ hash, type, from, to, nonce, value, gas, input, succeeded, gasUsed, contractAddress }) =>
      [hash, type, from, to, nonce, value, gas, input, succeeded, gasUsed, contractAddress].join(' '),
    )
    .join('\n');
}

/** Fields of rows, without node-specific extras such as timestamps. */
function contentOf(logs: readonly Log[]): string {
  return logs
    .map((log) => [log.transactionHash, log.logIndex, log.address, ...log.topics, log.data].join(' '))
    .join('\n');
}
