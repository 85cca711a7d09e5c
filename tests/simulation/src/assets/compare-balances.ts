/** Balances of wallets and supplies of tokens against what their contracts say. */
import { type Address, parseAddress } from '@chainstead/core';
import { z } from 'zod';
import { fetchOne } from '../story/api.ts';
import { type Difference, type Differences, gatherDifferences, unlessUnanswered } from '../story/difference.ts';
import type { Comparison } from './comparison.ts';
import { readBalance } from './truth.ts';
import { drifts, nameOf, TOKEN_KINDS, type TokenKind } from './world.ts';

const balancesShape = z.array(
  z.object({ token_address: z.string(), balance: z.string(), balance_block: z.string() }),
);

/** Each balance that is shown is the contract's at the block that is said; nothing is missing of what is said to be complete. */
export async function compareBalances(
  comparison: Comparison,
  wallets: readonly Address[],
): Promise<readonly Difference[]> {
  const differences = gatherDifferences();
  for (const wallet of wallets)
    await unlessUnanswered(differences, () => compareWallet(comparison, wallet, differences));
  return differences.found;
}

// Invariant: BALANCE-RIGHT-OR-ABSENT
async function compareWallet(comparison: Comparison, wallet: Address, differences: Differences): Promise<void> {
  const { api, world, truth, unnoticed, isWhole } = comparison;
  const path = `${wallet}/erc20`;
  const { body: rows, headers } = await fetchOne(api, path, balancesShape, { exclude_spam: 'false' });
  const shown = new Set(rows.map(({ token_address }) => token_address));
  if (shown.size < rows.length) differences.wrong(`${path} has a token twice: ${JSON.stringify(rows)}`);
  for (const { token_address, balance, balance_block } of rows) {
    const token = parseAddress(token_address);
    const said = await readBalance(world, token, wallet, Number(balance_block));
    if (BigInt(balance) <= 0n || (BigInt(balance) !== said && !unnoticed.has(token)))
      differences.wrong(
        `${path} says ${balance} of ${nameOf(world, token)} after block ${balance_block}, the contract ${said}`,
      );
  }
  const isComplete = headers.get('x-indexed-complete') === 'true';
  if (!isComplete && isWhole) differences.missing(`${path} is not complete`);
  if (!isComplete) return;
  for (const kind of TOKEN_KINDS) {
    const held = truth.balances[kind].get(wallet) ?? 0n;
    const token = world.tokens[kind];
    if (held === 0n || shown.has(token) || isNeverNamed(comparison, kind)) continue;
    const text = `${path} is complete without ${nameOf(world, token)}, of which the wallet has ${held}`;
    // Each response about these is read again, and one that was begun just before is of the block before.
    if (drifts(world, token)) differences.missing(text);
    else differences.wrong(text);
  }
}

/** No transfer names a wrapped native token to an account that only wraps it; the program knows the wrapped native token of its chains. */
function isNeverNamed({ world }: Comparison, kind: TokenKind): boolean {
  return kind === 'wrapped' && !world.chain.isKnown;
}

const factsShape = z.array(
  z.object({ address: z.string(), symbol: z.string().nullable(), total_supply: z.string().nullable() }),
);
const SYMBOLS: Readonly<Record<TokenKind, string | null>> = {
  plain: 'PLAIN',
  fee: 'FEE',
  old: 'OLD',
  rebasing: 'RBS',
  wrapped: 'WETH',
  lying: 'FREE',
  mute: null,
};

/** Supplies as they are returned with the metadata of tokens. */
export async function compareSupplies(comparison: Comparison): Promise<readonly Difference[]> {
  const { api, world, truth } = comparison;
  const differences = gatherDifferences();
  await unlessUnanswered(differences, async () => {
    const addresses = TOKEN_KINDS.map((kind) => world.tokens[kind]);
    const query = { addresses: addresses.join(',') };
    const { body: rows, headers } = await fetchOne(api, 'erc20/metadata', factsShape, query);
    const isComplete = headers.get('x-indexed-complete') === 'true';
    if (!isComplete) differences.missing('erc20/metadata is not complete');
    for (const [place, kind] of TOKEN_KINDS.entries()) {
      const row = rows[place];
      const supply = truth.supplies[kind]?.toString() ?? null;
      const name = nameOf(world, world.tokens[kind]);
      if (row?.address !== world.tokens[kind])
        differences.wrong(`erc20/metadata has ${row?.address} for ${name}`);
      else if (row.total_supply !== supply) {
        const text = `erc20/metadata reports a supply of ${row.total_supply} of ${name}, the contract ${supply}`;
        // A supply that changes without a mint is read again after an hour.
        if (isComplete && !drifts(world, world.tokens[kind])) differences.wrong(text);
        else differences.missing(text);
      }
      if (isComplete && row?.symbol !== SYMBOLS[kind])
        differences.wrong(`erc20/metadata says that ${name} is ${row?.symbol}`);
    }
  });
  return differences.found;
}
