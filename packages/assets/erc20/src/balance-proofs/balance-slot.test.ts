import { addressOf } from '@chainstead/testkit';
import { encodeAbiParameters, encodePacked, keccak256, parseAbiParameters } from 'viem';
import { describe, expect, it } from 'vitest';
import { CANDIDATE_SLOTS, namespacedSlot, slotOfHolder } from './balance-slot.ts';

const HOLDER = addressOf(0xa11ce);

describe('the slot of a balance', () => {
  it('is what Solidity makes of a mapping', () => {
    const expected = keccak256(encodeAbiParameters(parseAbiParameters('address, uint256'), [HOLDER, 9n]));
    expect(slotOfHolder({ layout: 'solidity', slot: 9n }, HOLDER)).toBe(expected);
  });

  it('is what Vyper makes of a HashMap', () => {
    const expected = keccak256(encodeAbiParameters(parseAbiParameters('uint256, address'), [3n, HOLDER]));
    expect(slotOfHolder({ layout: 'vyper', slot: 3n }, HOLDER)).toBe(expected);
  });

  it("is what Solady's ERC20 hashes in 32 bytes from 0x0c on", () => {
    const expected = keccak256(encodePacked(['address', 'uint64', 'uint32'], [HOLDER, 0n, 0x87a211a2]));
    expect(slotOfHolder({ layout: 'solady', slot: 0x87a211a2n }, HOLDER)).toBe(expected);
  });

  it("of a namespace is ERC-7201's: the constant in OpenZeppelin's ERC20Upgradeable", () => {
    expect(namespacedSlot('openzeppelin.storage.ERC20')).toBe(
      0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n,
    );
  });
});

describe('the slots that are tried', () => {
  const all = CANDIDATE_SLOTS.flat();

  it('are tried once each, the usual ones together at first', () => {
    expect(new Set(all.map((one) => slotOfHolder(one, HOLDER))).size).toBe(all.length);
    const [usual] = CANDIDATE_SLOTS;
    // DAI, Bytes32 tokens; USDC; WETH; Vyper's CRV; older upgradeable contracts.
    for (const slot of [2n, 9n, 3n, 51n]) expect(usual).toContainEqual({ layout: 'solidity', slot });
    expect(usual).toContainEqual({ layout: 'vyper', slot: 3n });
    expect(all).toContainEqual({ layout: 'solidity', slot: 255n });
  });

  it('are few enough in a part for one call', () => {
    expect(Math.max(...CANDIDATE_SLOTS.map((part) => part.length))).toBeLessThanOrEqual(64);
  });
});
