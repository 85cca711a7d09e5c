import type { Address } from '@chainstead/core';
import type { PoolId } from '../events/pool-event.ts';

export interface TradedTokens {
  readonly pool: PoolId;
  readonly sold: Address;
  readonly bought: Address;
}

/** The transaction's value moves wrapped native tokens from sender to receiver. */
export interface TokenFlow {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
}

/**
 * The only account that gave the sold token and received the bought one over the transaction.
 * Null: none, or several. Without traces, native tokens paid by contracts are invisible.
 * @param excluded pool managers, vaults, the zero address
 */
export function beneficiariesOf(
  swaps: readonly TradedTokens[],
  moves: readonly TokenFlow[],
  excluded: ReadonlySet<string>,
): readonly (Address | null)[] {
  const pools = new Set<string>(swaps.map(({ pool }) => pool));
  const traders = [...netFlows(moves)].filter(([account]) => !pools.has(account) && !excluded.has(account));
  return swaps.map(({ sold, bought }) => {
    const givable = closure(sold, (known) =>
      swaps.filter((swap) => known.has(swap.bought)).map((swap) => swap.sold),
    );
    const receivable = closure(bought, (known) =>
      swaps.filter((swap) => known.has(swap.sold)).map((swap) => swap.bought),
    );
    const candidates = traders.filter(
      ([, flows]) =>
        flows.some(({ token, net }) => net < 0n && givable.has(token)) &&
        flows.some(({ token, net }) => net > 0n && receivable.has(token)),
    );
    const [only] = candidates;
    return candidates.length === 1 && only !== undefined ? only[0] : null;
  });
}

function netFlows(moves: readonly TokenFlow[]) {
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

function closure(
  start: Address,
  neighbors: (known: ReadonlySet<Address>) => readonly Address[],
): ReadonlySet<Address> {
  const known = new Set([start]);
  for (let size = 0; size < known.size; ) {
    size = known.size;
    for (const token of neighbors(known)) known.add(token);
  }
  return known;
}
