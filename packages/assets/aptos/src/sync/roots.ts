/** Equal accumulator roots mean equal ledgers, not that responses match them. */
import { type Database, hexBytes, hexText, sql, type Transaction } from '@chainstead/db';
import { type GivenRoot, RootMismatchError, VersionsPrunedError } from '../fullnode/errors.ts';
import type { Fullnodes } from '../fullnode/fullnodes.ts';
import type { AptosNetwork } from '../transaction.ts';
import type { VersionBatch } from './read-range.ts';

const ROOT = /^0x[0-9a-f]{64}$/;

/** @returns the other fullnode; null: none available @throws RootMismatchError */
export async function confirmRoot(
  fullnodes: Fullnodes,
  { range, root, fullnode }: EndOfBatch,
  signal: AbortSignal,
): Promise<string | null> {
  const other = await fullnodes.rootElsewhere(range.to, fullnode, signal);
  if (other === null) return null;
  // Invariant: APTOS-ROOT-CONFIRMED
  requireSame(fullnodes, range.to, { fullnode, root }, other);
  return other.fullnode;
}

export type EndOfBatch = Pick<VersionBatch, 'range' | 'root' | 'fullnode'>;

/** In the batch's transaction. Replaces that of the version. */
export async function saveRoot(
  transaction: Transaction,
  network: AptosNetwork,
  { range, root, fullnode }: VersionBatch,
  confirmedBy: string | null,
): Promise<void> {
  if (!ROOT.test(root)) return;
  await transaction.query(
    sql`INSERT INTO aptos_roots AS r (network, version, accumulator_root, fullnode, confirmed_by) VALUES (${network}, ${range.to}, ${hexBytes(root)}, ${fullnode}, ${confirmedBy})
     ON CONFLICT (network, version) DO UPDATE SET
       accumulator_root = excluded.accumulator_root, fullnode = excluded.fullnode,
       confirmed_by = coalesce(excluded.confirmed_by, r.confirmed_by)`,
  );
}

export async function saveConfirmation(
  database: Database,
  network: AptosNetwork,
  version: number,
  confirmedBy: string,
): Promise<void> {
  await database.query(
    sql`UPDATE aptos_roots SET confirmed_by = ${confirmedBy} WHERE network = ${network} AND version = ${version}`,
  );
}

/** While following, unconfirmed roots add nothing to the next. */
export async function dropUnconfirmedRoot(
  transaction: Transaction,
  network: AptosNetwork,
  version: number,
): Promise<void> {
  await transaction.query(
    sql`DELETE FROM aptos_roots WHERE network = ${network} AND version = ${version} AND confirmed_by IS NULL`,
  );
}

/** A fullnode behind all stored roots is compared with another. @throws RootMismatchError */
export async function checkKnownRoots(
  database: Database,
  fullnodes: Fullnodes,
  head: number,
  signal: AbortSignal,
): Promise<void> {
  if ((await readNewestRoot(database, fullnodes.network, 0, head)) === null) return;
  let isCompared = false;
  for (const { name, head: reached, oldest } of fullnodes.status()) {
    const stored = await readNewestRoot(database, fullnodes.network, oldest ?? 0, reached ?? head);
    const known = stored ?? (await readRootElsewhere(fullnodes, name, reached, signal));
    const root = known === null ? null : await fullnodes.rootOf(name, known.version, signal);
    if (known === null || root === null) continue;
    requireSame(fullnodes, known.version, known, { fullnode: name, root });
    isCompared ||= stored !== null;
  }
  if (!isCompared) await requireNewestRoot(database, fullnodes, head, signal);
}

async function readRootElsewhere(
  fullnodes: Fullnodes,
  name: string,
  reached: number | null,
  signal: AbortSignal,
): Promise<KnownRoot | null> {
  const other = reached === null ? null : await fullnodes.rootElsewhere(reached, name, signal);
  return reached === null || other === null ? null : { version: reached, ...other };
}

async function requireNewestRoot(
  database: Database,
  fullnodes: Fullnodes,
  head: number,
  signal: AbortSignal,
): Promise<void> {
  const known = await readNewestRoot(database, fullnodes.network, 0, head);
  if (known === null) return;
  try {
    requireSame(fullnodes, known.version, known, await fullnodes.page(known.version, 1, null, signal));
  } catch (error) {
    // No fullnode has it any more.
    if (!(error instanceof VersionsPrunedError)) throw error;
  }
}

type KnownRoot = GivenRoot & { readonly version: number };

async function readNewestRoot(
  database: Database,
  network: AptosNetwork,
  from: number,
  to: number,
): Promise<KnownRoot | null> {
  const [row] = await database.query<KnownRoot>(
    sql`SELECT version, fullnode, ${hexText('accumulator_root')} AS root FROM aptos_roots
      WHERE network = ${network} AND version BETWEEN ${from} AND ${to} ORDER BY version DESC LIMIT 1`,
  );
  return row ?? null;
}

function requireSame(
  { chain }: Fullnodes,
  version: number,
  first: GivenRoot,
  { fullnode, root }: GivenRoot,
): void {
  if (first.root === root || !ROOT.test(first.root) || !ROOT.test(root)) return;
  throw new RootMismatchError({ chain, version, first, second: { fullnode, root } });
}
