/**
 * The accumulator's root after a version commits to every transaction up to it. Two fullnodes that give the same root
 * have the same ledger; that their answers are true to it is not proven by that.
 */
import { type Database, hexBytes, hexText, type Transaction } from '@chainstead/db';
import { RootMismatchError, VersionsPrunedError } from '../fullnode/errors.ts';
import type { Fullnodes } from '../fullnode/fullnodes.ts';
import { chainKeyOf } from '../fullnode/network.ts';
import type { AptosNetwork } from '../transaction.ts';
import type { VersionBatch } from './read-range.ts';

const ROOT = /^0x[0-9a-f]{64}$/;

/**
 * Asks another fullnode for the root at the end of a batch. @returns which gave the same; null where none could be asked
 * @throws RootMismatchError
 */
export async function confirmRoot(
  fullnodes: Fullnodes,
  { range, root, fullnode }: EndOfBatch,
  signal: AbortSignal,
): Promise<string | null> {
  const other = await fullnodes.rootElsewhere(range.to, fullnode, signal);
  if (other === null) return null;
  requireSame(fullnodes.network, range.to, { fullnode, root }, other);
  return other.fullnode;
}

/** Of a batch, what its root says. */
export type EndOfBatch = Pick<VersionBatch, 'range' | 'root' | 'fullnode'>;

/** In the transaction that writes the batch. Replaces what is known of the same version. */
export async function saveRoot(
  transaction: Transaction,
  network: AptosNetwork,
  { range, root, fullnode }: VersionBatch,
  confirmedBy: string | null,
): Promise<void> {
  if (!ROOT.test(root)) return;
  await transaction.query(
    `INSERT INTO aptos_roots AS r (network, version, accumulator_root, fullnode, confirmed_by) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (network, version) DO UPDATE SET
       accumulator_root = excluded.accumulator_root, fullnode = excluded.fullnode,
       confirmed_by = coalesce(excluded.confirmed_by, r.confirmed_by)`,
    [network, range.to, hexBytes(root), fullnode, confirmedBy],
  );
}

/** Of a root that was written before another fullnode could say it. */
export async function saveConfirmation(
  database: Database,
  network: AptosNetwork,
  version: number,
  confirmedBy: string,
): Promise<void> {
  await database.query('UPDATE aptos_roots SET confirmed_by = $3 WHERE network = $1 AND version = $2', [
    network,
    version,
    confirmedBy,
  ]);
}

/** While following, the root before says nothing that the next does not, unless it was confirmed. */
export async function dropUnconfirmedRoot(
  transaction: Transaction,
  network: AptosNetwork,
  version: number,
): Promise<void> {
  await transaction.query('DELETE FROM aptos_roots WHERE network = $1 AND version = $2 AND confirmed_by IS NULL', [
    network,
    version,
  ]);
}

/**
 * The fullnodes of today must have the ledger that was indexed so far: each is asked for the newest root that it can say.
 * @throws RootMismatchError
 */
export async function checkKnownRoots(
  database: Database,
  fullnodes: Fullnodes,
  head: number,
  signal: AbortSignal,
): Promise<void> {
  let isCompared = false;
  for (const { name, head: reached, oldest } of fullnodes.status()) {
    const known = await readNewestRoot(database, fullnodes.network, oldest ?? 0, reached ?? head);
    const root = known === null ? null : await fullnodes.rootOf(name, known.version, signal);
    if (known === null || root === null) continue;
    requireSame(fullnodes.network, known.version, known, { fullnode: name, root });
    isCompared = true;
  }
  if (!isCompared) await requireNewestRoot(database, fullnodes, head, signal);
}

/** As long as it takes until one of them says it. */
async function requireNewestRoot(
  database: Database,
  fullnodes: Fullnodes,
  head: number,
  signal: AbortSignal,
): Promise<void> {
  const known = await readNewestRoot(database, fullnodes.network, 0, head);
  if (known === null) return;
  try {
    requireSame(fullnodes.network, known.version, known, await fullnodes.page(known.version, 1, null, signal));
  } catch (error) {
    // A root that nobody has any more can't be compared.
    if (!(error instanceof VersionsPrunedError)) throw error;
  }
}

interface KnownRoot {
  readonly version: number;
  readonly fullnode: string;
  readonly root: string;
}

async function readNewestRoot(
  database: Database,
  network: AptosNetwork,
  from: number,
  to: number,
): Promise<KnownRoot | null> {
  const [row] = await database.query<KnownRoot>(
    `SELECT version, fullnode, ${hexText('accumulator_root')} AS root FROM aptos_roots
      WHERE network = $1 AND version BETWEEN $2 AND $3 ORDER BY version DESC LIMIT 1`,
    [network, from, to],
  );
  return row ?? null;
}

function requireSame(
  network: AptosNetwork,
  version: number,
  first: { fullnode: string; root: string },
  { fullnode, root }: { fullnode: string; root: string },
): void {
  if (first.root === root || !ROOT.test(first.root) || !ROOT.test(root)) return;
  throw new RootMismatchError({ chain: chainKeyOf(network), version, first, second: { fullnode, root } });
}
