import { lockCommits, recordCoverage } from './coverage.ts';
import type { CommittedBatch, VersionWork } from './options.ts';
import type { VersionBatch } from './read-range.ts';
import { dropUnconfirmedRoot, saveRoot } from './roots.ts';

export interface BatchCommit {
  readonly batch: VersionBatch;
  readonly datasets: readonly string[];
  readonly kind: CommittedBatch['kind'];
  readonly confirmedBy: string | null;
  readonly keptRoot?: number | undefined;
}

const MS_PER_SECOND = 1_000;

/** One transaction; concurrent writes of the same versions are harmless. */
export async function commitBatch(
  work: VersionWork,
  { batch, datasets, kind, confirmedBy, keptRoot }: BatchCommit,
): Promise<void> {
  const { clock, database, fullnodes, metrics } = work;
  const { chain, network } = fullnodes;
  const started = clock.now();
  const added = await database.transaction(async (transaction) => {
    await lockCommits(transaction, network);
    await work.leadership?.confirm(transaction);
    const rows = new Map<string, number>();
    for (const { dataset, rows: decoded } of batch.decoded)
      rows.set(dataset, (rows.get(dataset) ?? 0) + (await decoded.write(transaction)));
    await recordCoverage(transaction, network, datasets, batch.range);
    const before = batch.range.from - 1;
    if (kind === 'follow' && before !== keptRoot) await dropUnconfirmedRoot(transaction, network, before);
    // Invariant: APTOS-ROOT-CONFIRMED
    await saveRoot(transaction, network, batch, confirmedBy);
    return rows;
  });
  const versions = batch.range.to - batch.range.from + 1;
  metrics.commitSeconds.observe({ chain, kind }, (clock.now() - started) / MS_PER_SECOND);
  metrics.blocks.inc({ chain, kind }, versions);
  for (const [dataset, count] of added) metrics.rows.inc({ chain, dataset }, count);
  const rows = [...added.values()].reduce((sum, count) => sum + count, 0);
  work.onCommit?.({ kind, versions, rows, last: batch.range.to });
}
