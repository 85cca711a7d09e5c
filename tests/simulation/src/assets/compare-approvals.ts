/** Whom wallets allow to move their tokens, against what the tokens say. */
import type { Address } from '@chainstead/core';
import { z } from 'zod';
import { fetchAll } from '../story/api.ts';
import { type Difference, type Differences, gatherDifferences, unlessUnanswered } from '../story/difference.ts';
import type { Comparison } from './comparison.ts';
import { readAllowances, readNewestApprovals } from './truth.ts';
import { nameOf } from './world.ts';

const approvalShape = z.object({
  block_number: z.string(),
  value: z.string(),
  unlimited: z.boolean(),
  token: z.object({ address: z.string() }),
  spender: z.object({ address: z.string() }),
});

/** Each allowance is the token's, of the newest event that says so; of a list that is complete none is missing. */
export async function compareApprovals(
  comparison: Comparison,
  owners: readonly Address[],
): Promise<readonly Difference[]> {
  const differences = gatherDifferences();
  const newest = await readNewestApprovals(comparison.world, comparison.truth.block);
  for (const owner of owners)
    await unlessUnanswered(differences, () => compareOwner(comparison, owner, newest, differences));
  return differences.found;
}

async function compareOwner(
  { api, world, truth, isWhole, limit }: Comparison,
  owner: Address,
  newest: ReadonlyMap<string, number>,
  differences: Differences,
): Promise<void> {
  const path = `wallets/${owner}/approvals`;
  const list = await fetchAll(api, path, approvalShape, limit);
  const allowed = await readAllowances(world, owner, truth.block);
  const seen = new Set<string>();
  for (const { token, spender, value, unlimited, block_number } of list.rows) {
    const pair = `${token.address} ${spender.address}`;
    const shown = `${path} says that ${spender.address} may move ${value} of ${nameOf(world, token.address)}`;
    if (seen.has(pair)) differences.wrong(`${path} has ${pair} twice`);
    seen.add(pair);
    const said = allowed.get(pair) ?? 0n;
    // The event's value stands where the token could not be asked in time.
    if (BigInt(value) !== said) differences.missing(`${shown}, the contract ${said}`);
    if (BigInt(value) <= 0n || unlimited !== BigInt(value) >= 2n ** 255n)
      differences.wrong(`${shown}: ${unlimited}`);
    const block = newest.get(`${owner} ${pair}`);
    if (block !== Number(block_number))
      differences.wrong(`${shown} by an event of block ${block_number}, the newest one is of block ${block}`);
  }
  if (!list.isComplete && isWhole) differences.missing(`${path} is not complete`);
  if (!list.isComplete) return;
  for (const [pair, value] of allowed)
    if (!seen.has(pair)) differences.wrong(`${path} is complete without ${pair}, which is ${value}`);
}
