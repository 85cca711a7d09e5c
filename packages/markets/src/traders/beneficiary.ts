import type { Address } from '@chainstead/core';
import type { PoolId } from '../events/pool-event.ts';

/** A swap of a transaction, by tokens. The native token is the wrapped one here. */
export interface TradedTokens {
  readonly pool: PoolId;
  /** Into the pool. */
  readonly sold: Address;
  /** Out of the pool. */
  readonly bought: Address;
}

/** A token that moved in the transaction. The transaction's own value moves wrapped native tokens from its sender to its receiver. */
export interface TokenMove {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
}

/**
 * Beneficiary of each swap of a transaction: the single account that gave the sold token and received the bought one over the whole
 * transaction. For a swap within a route, these are the tokens at the ends of the route. Null: no account did, or several did. Pools and
 * `excluded` accounts never count. The sender of the transaction is often another account: a bundler, a solver, a bot.
 *
 * Native tokens that a contract pays out are invisible without traces: such a trade has no beneficiary.
 * @param moves all of the transaction
 * @param excluded pool managers, vaults and the zero address
 */
export function beneficiariesOf(
  swaps: readonly TradedTokens[],
  moves: readonly TokenMove[],
  excluded: ReadonlySet<string>,
): readonly (Address | null)[] {
  const pools = new Set<string>(swaps.map(({ pool }) => pool));
  const traders = [...netFlows(moves)].filter(([account]) => !pools.has(account) && !excluded.has(account));
  return swaps.map(({ sold, bought }) => {
    const [givable, receivable] = [leadingTo(sold, swaps), reachableFrom(bought, swaps)];
    const found = traders.filter(
      ([, flows]) =>
        flows.some(({ token, net }) => net < 0n && givable.has(token)) &&
        flows.some(({ token, net }) => net > 0n && receivable.has(token)),
    );
    const [only] = found;
    return found.length === 1 && only !== undefined ? only[0] : null;
  });
}

interface NetFlow {
  readonly token: Address;
  /** Received minus given, in base units. */
  readonly net: bigint;
}

function netFlows(moves: readonly TokenMove[]): ReadonlyMap<Address, readonly NetFlow[]> {
  const accounts = new Map<Address, Map<Address, bigint>>();
  const add = (account: Address, token: Address, value: bigint): void => {
    const flows = accounts.get(account) ?? new Map<Address, bigint>();
    flows.set(token, (flows.get(token) ?? 0n) + value);
    accounts.set(account, flows);
  };
  for (const { token, from, to, value } of moves) {
    add(from, token, -value);
    add(to, token, value);
  }
  return new Map(
    [...accounts].map(([account, flows]) => [account, [...flows].map(([token, net]) => ({ token, net }))]),
  );
}

/** The token, and every token that swaps of the transaction turn into it. */
function leadingTo(token: Address, swaps: readonly TradedTokens[]): ReadonlySet<Address> {
  return closure(token, (known) => swaps.filter(({ bought }) => known.has(bought)).map(({ sold }) => sold));
}

/** The token, and every token that swaps of the transaction turn it into. */
function reachableFrom(token: Address, swaps: readonly TradedTokens[]): ReadonlySet<Address> {
  return closure(token, (known) => swaps.filter(({ sold }) => known.has(sold)).map(({ bought }) => bought));
}

function closure(start: Address, neighbors: (known: ReadonlySet<Address>) => readonly Address[]): ReadonlySet<Address> {
  const known = new Set([start]);
  for (let size = 0; size < known.size; ) {
    size = known.size;
    for (const token of neighbors(known)) known.add(token);
  }
  return known;
}
