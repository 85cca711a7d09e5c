/**
 * The accumulator's root after a version commits to every transaction up to it. Two fullnodes that give the same root
 * have the same ledger; that their answers are true to it is not proven by that.
 */
import type { Database, Transaction } from '@chainstead/db';
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
  { range, root, fullnode }: VersionBatch,
  signal: AbortSignal,
): Promise<string | null> {
  const other = await fullnodes.rootElsewhere(range.to, fullnode, signal);
  if (other === null) return null;
  requireSame(fullnodes.network, range.to, { fullnode, root }, other);
  return other.fullnode;
}

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
    [network, range.to, Buffer.from(root.slice(2), 'hex'), fullnode, confirmedBy],
  );
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

/** The fullnodes of today must have the ledger that was indexed so far. @throws RootMismatchError */
export async function checkNewestRoot(
  database: Database,
  fullnodes: Fullnodes,
  head: number,
  signal: AbortSignal,
): Promise<void> {
  const { network } = fullnodes;
  const [known] = await database.query<{ version: number; accumulator_root: Buffer; fullnode: string }>(
    `SELECT version, accumulator_root, fullnode FROM aptos_roots WHERE network = $1 AND version <= $2
      ORDER BY version DESC LIMIT 1`,
    [network, head],
  );
  if (known === undefined) return;
  const { version, fullnode } = known;
  try {
    const page = await fullnodes.page(version, 1, null, signal);
    requireSame(network, version, { fullnode, root: `0x${known.accumulator_root.toString('hex')}` }, page);
  } catch (error) {
    // A root that nobody has any more can't be compared.
    if (!(error instanceof VersionsPrunedError)) throw error;
  }
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
