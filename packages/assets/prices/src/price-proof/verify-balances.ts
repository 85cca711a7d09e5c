import { isAddress, parseAddress } from '@chainstead/core';
import { slotOfHolder } from '@chainstead/erc20/requests';
import { InvalidStateProofError, verifyAccountProof } from '@chainstead/proof';
import type { PriceProof, UnprovenFact } from '../token-price/serve/price-proof-document.ts';
import type { CountedPool } from './counted-pools.ts';
import type { BalanceOfPool } from './evidence-kind.ts';
import { PriceProofError } from './proof-error.ts';
import type { ProvenBlocks } from './proven-blocks.ts';

/** For concentrated pools that are contracts. Others: reserves, or by events. */
export function newestBalances(pools: readonly CountedPool[]): readonly BalanceOfPool[] {
  return pools.flatMap(({ candidate: { pair_address: pool, sides, states } }) => {
    const last = states.at(-1);
    if (last === undefined || last.sqrt_price_x96 === null || !isAddress(pool)) return [];
    return [last.balance0, last.balance1].flatMap((balance, side): BalanceOfPool[] => {
      const token = sides[side]?.token_address ?? '';
      if (balance === null || !isAddress(token)) return [];
      return [{ pool: parseAddress(pool), token: parseAddress(token), balance }];
    });
  });
}

export function verifyBalances(
  pools: readonly CountedPool[],
  { balances }: PriceProof,
  { price }: ProvenBlocks,
): { readonly proven: readonly string[]; readonly unproven: readonly UnprovenFact[] } {
  const wanted = newestBalances(pools);
  const found = balances.map((evidence, index) => {
    const at = `proof.balances[${index}]`;
    // Wrapped and native token may both be hops, and share a pool.
    const same = wanted.filter((of) => of.pool === evidence.pair_address && of.token === evidence.token_address);
    const [first] = same;
    if (first === undefined) throw new PriceProofError(at, 'is not a balance of a concentrated pool that counts');
    const { pool, token } = first;
    const slot = slotOfHolder({ layout: evidence.layout, slot: BigInt(evidence.slot) }, pool);
    try {
      const question = { stateRoot: price.stateRoot, address: token, slots: [slot] };
      const [value] = verifyAccountProof(evidence.proof, question).slots;
      const wrong = same.find(({ balance }) => balance !== String(value));
      const problem = `is ${wrong?.balance}, but the storage has ${value}`;
      if (wrong !== undefined) throw new PriceProofError(`the balance of ${token} in pool ${pool}`, problem);
    } catch (error) {
      if (!(error instanceof InvalidStateProofError)) throw error;
      throw new PriceProofError(at, `does not lead to the state root of block ${price.number} (${error.fault})`);
    }
    return { pool, token, slot: `Slot ${evidence.slot} (${evidence.layout}) of ${token} holds its balances` };
  });
  const slots = new Set(found.map(({ slot }) => slot));
  return {
    proven: found.map(({ pool, token }) => `Balance of ${token} in pool ${pool}: storage of the token`),
    unproven: [...slots].map((fact) => ({ fact, reason: 'contract-call' as const })),
  };
}
