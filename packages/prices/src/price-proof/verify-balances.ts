import { type Address, isAddress, parseAddress } from '@chainstead/core';
import { slotOfHolder } from '@chainstead/erc20';
import { InvalidStateProofError, verifyAccountProof } from '@chainstead/proof';
import type { PriceProof, UnprovenFact } from '../token-price/serve/price-proof-document.ts';
import type { CountedPool } from './counted-pools.ts';
import { PriceProofError } from './proof-error.ts';
import type { ProvenBlocks } from './proven-blocks.ts';

/** A balance of a concentrated pool at the end of the block. */
export interface NewestBalance {
  readonly pool: Address;
  readonly token: Address;
  /** Base units, decimal digits. */
  readonly balance: string;
}

/** The newest balances of concentrated pools that are contracts and count. Those of others are their reserves, or follow from events. */
export function newestBalances(pools: readonly CountedPool[]): readonly NewestBalance[] {
  return pools.flatMap(({ candidate: { pair_address: pool, sides, states } }) => {
    const last = states.at(-1);
    if (last === undefined || last.sqrt_price_x96 === null || !isAddress(pool)) return [];
    return [last.balance0, last.balance1].flatMap((balance, side): NewestBalance[] => {
      const token = sides[side]?.token_address ?? '';
      return balance === null || !isAddress(token)
        ? []
        : [{ pool: parseAddress(pool), token: parseAddress(token), balance }];
    });
  });
}

/** Compares balances of pools with the storage of their tokens. @throws PriceProofError */
export function verifyBalances(
  pools: readonly CountedPool[],
  { balances }: PriceProof,
  { price }: ProvenBlocks,
): { readonly proven: readonly string[]; readonly unproven: readonly UnprovenFact[] } {
  const wanted = newestBalances(pools);
  const found = balances.map((evidence, place) => {
    const at = `proof.balances[${place}]`;
    // The wrapped and the native token may both be hops, and share a pool.
    const same = wanted.filter(({ pool, token }) => pool === evidence.pair_address && token === evidence.token_address);
    const [one] = same;
    if (one === undefined) throw new PriceProofError(at, 'is not a balance of a concentrated pool that counts');
    const slot = slotOfHolder({ layout: evidence.layout, slot: BigInt(evidence.slot) }, one.pool);
    try {
      const question = { stateRoot: price.stateRoot, address: one.token, slots: [slot] };
      const [value] = verifyAccountProof(evidence.proof, question).slots;
      const wrong = same.find(({ balance }) => balance !== String(value));
      if (wrong !== undefined)
        throw new PriceProofError(
          `the balance of ${one.token} in pool ${one.pool}`,
          `is ${wrong.balance}, but the storage has ${value}`,
        );
    } catch (error) {
      if (!(error instanceof InvalidStateProofError)) throw error;
      throw new PriceProofError(at, `does not lead to the state root of block ${price.number} (${error.fault})`);
    }
    return { ...one, slot: `Slot ${evidence.slot} (${evidence.layout}) of ${one.token} holds its balances` };
  });
  const places = new Set(found.map(({ slot }) => slot));
  return {
    proven: found.map(({ pool, token }) => `Balance of ${token} in pool ${pool}: storage of the token`),
    unproven: [...places].map((fact) => ({ fact, reason: 'contract-call' as const })),
  };
}
