/** Who holds a token, and how many do, against what its contract says. */

import { type Address, parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { z } from 'zod';
import { fetchAll, fetchOne } from '../story/api.ts';
import { type Difference, type Differences, gatherDifferences, unlessUnanswered } from '../story/difference.ts';
import type { Comparison } from './comparison.ts';
import { drifts, nameOf, type TokenKind } from './world.ts';

const ownerShape = z.object({ owner_address: z.string(), balance: z.string() });
const supplyShape = z.object({ total_supply: z.string().nullable() });

/** The list of owners: each balance is the contract's, and a complete list misses no owner. */
export async function compareOwners(comparison: Comparison, kind: TokenKind): Promise<readonly Difference[]> {
  const differences = gatherDifferences();
  await unlessUnanswered(differences, () => compareList(comparison, kind, differences));
  return differences.found;
}

async function compareList(comparison: Comparison, kind: TokenKind, differences: Differences): Promise<void> {
  const { api, world, truth, unnoticed, isWhole, limit } = comparison;
  const token = world.tokens[kind];
  const path = `erc20/${token}/owners`;
  const list = await fetchAll(api, path, ownerShape, limit);
  const held = truth.balances[kind];
  const seen = new Map<Address, bigint>();
  for (const row of list.rows) {
    const owner = parseAddress(row.owner_address);
    const said = held.get(owner) ?? 0n;
    // A reading between two pages moves its account in the order that pages are cut from.
    if (seen.has(owner)) differences.missing(`${path} has ${owner} twice`);
    seen.set(owner, BigInt(row.balance));
    if (BigInt(row.balance) === said || unnoticed.has(token)) continue;
    const text = `${path} says that ${owner} has ${row.balance} of ${nameOf(world, token)}, the contract ${said}`;
    // Each response about these is read again, and one that was begun just before is of the block before.
    if (drifts(world, token) && BigInt(row.balance) > 0n) differences.missing(text);
    else differences.wrong(text);
  }
  const { total_supply: supply } = supplyShape.parse(list.first);
  const reported = truth.supplies[kind]?.toString() ?? null;
  // A supply that changes without a mint is shown as it was up to an hour; compareSupplies looks at it once that is over.
  if (supply !== reported && !drifts(world, token)) {
    const text = `${path} reports a supply of ${supply} of ${nameOf(world, token)}, the contract ${reported}`;
    if (supply === null) differences.missing(text);
    else differences.wrong(text);
  }
  const mustBecomeComplete = isWhole && addsUp(world, kind);
  if (!list.isComplete && mustBecomeComplete) differences.missing(`${path} is not complete`);
  if (!list.isComplete || unnoticed.has(token)) return;
  for (const [owner, balance] of held)
    if (!seen.has(owner)) differences.wrong(`${path} is complete without ${owner}, who has ${balance}`);
  const balances = [...seen.values()];
  if (balances.some((balance, place) => balance > (balances[place - 1] ?? balance)))
    differences.wrong(`${path} is not in the order of balances: ${balances.join(' ')}`);
}

/** Readings of it contain balances. */
function addsUp({ chain }: Comparison['world'], kind: TokenKind): boolean {
  return ADDING_UP.includes(kind) || (kind === 'wrapped' && chain.isKnown);
}

const ADDING_UP: readonly TokenKind[] = ['plain', 'fee', 'old'];
/** These tokens have no holders. */
const HOLLOW: readonly TokenKind[] = ['lying', 'mute'];

const holdersShape = z.object({
  totalHolders: z.number(),
  holdersByAcquisition: z.record(z.string(), z.number()),
  holderDistribution: z.record(z.string(), z.number()),
  indexed: z.object({ complete: z.boolean() }),
});

/** The counts of holders, and the newest of their history. */
export async function compareHolders(comparison: Comparison, kind: TokenKind): Promise<readonly Difference[]> {
  const differences = gatherDifferences();
  await unlessUnanswered(differences, () => compareCounts(comparison, kind, differences));
  return differences.found;
}

// Invariant: BALANCE-HOLDERS
async function compareCounts(comparison: Comparison, kind: TokenKind, differences: Differences): Promise<void> {
  const { api, world, truth, database, isWhole, unnoticed } = comparison;
  const path = `erc20/${world.tokens[kind]}/holders`;
  // The same figures are served for five minutes.
  await database.query(
    sql`DELETE FROM state_questions WHERE kind = 'erc20-holder-counts' AND settled_at IS NOT NULL`,
  );
  const { body } = await fetchOne(api, path, holdersShape);
  const { totalHolders, holdersByAcquisition, holderDistribution, indexed } = body;
  const expected = truth.balances[kind].size;
  if (HOLLOW.includes(kind) && totalHolders !== 0)
    differences.missing(`${path} reports ${totalHolders} holders of a token that no account can hold`);
  if (!indexed.complete && isWhole && addsUp(world, kind)) differences.missing(`${path} is not complete`);
  if (!indexed.complete || unnoticed.has(world.tokens[kind])) return;
  if (totalHolders !== expected)
    differences.wrong(`${path} reports ${totalHolders} holders, the contract ${expected}`);
  for (const counts of [holdersByAcquisition, holderDistribution])
    if (Object.values(counts).reduce((sum, count) => sum + count, 0) !== totalHolders)
      differences.wrong(`${path} has other holders in all than together: ${JSON.stringify(body)}`);
  await compareHistory(comparison, kind, differences);
}

const historyShape = z.object({
  indexed: z.object({ complete: z.boolean() }),
  result: z.array(z.object({ totalHolders: z.number() })),
});
const YEAR_SECONDS = 365 * 86_400;

async function compareHistory(
  { api, world, truth }: Comparison,
  kind: TokenKind,
  differences: Differences,
): Promise<void> {
  const path = `erc20/${world.tokens[kind]}/holders/historical`;
  const now = Math.round(Date.now() / 1_000);
  const query = { fromDate: String(now - YEAR_SECONDS), toDate: String(now + YEAR_SECONDS), timeFrame: '1d' };
  const { body } = await fetchOne(api, path, historyShape, { ...query, limit: '1' });
  const { indexed, result } = body;
  if (!indexed.complete) return;
  const expected = truth.balances[kind].size;
  const newest = result[0]?.totalHolders ?? 0;
  if (newest !== expected)
    differences.wrong(`${path} ends with ${newest} holders, by the contract there are ${expected}`);
}
