import { type Address, type Hash, inParts, keccak256Hex, parseHash } from '@chainstead/core';
import { hexToBytes } from '@chainstead/proof';

export type SlotLayout = 'solidity' | 'vyper' | 'solady';

export interface BalanceSlot {
  readonly layout: SlotLayout;
  /** Slot of the mapping; for `solady` its seed. */
  readonly slot: bigint;
}

const WORD_DIGITS = 64;
/** Solady hashes the bare address and twelve bytes that end with the seed. */
const SOLADY_SEED_DIGITS = 24;
/** `_BALANCE_SLOT_SEED` of Solady's ERC20. */
const SOLADY_SEED = 0x87a211a2n;

export function slotOfHolder({ layout, slot }: BalanceSlot, holder: Address): Hash {
  const digits = holder.slice(2);
  if (layout === 'solady') return hashOfDigits(digits + hexDigits(slot, SOLADY_SEED_DIGITS));
  const key = digits.padStart(WORD_DIGITS, '0');
  const mapping = hexDigits(slot, WORD_DIGITS);
  return hashOfDigits(layout === 'solidity' ? key + mapping : mapping + key);
}

export function namespacedSlot(namespace: string): bigint {
  const id = BigInt(keccak256Hex(Buffer.from(namespace))) - 1n;
  return BigInt(hashOfDigits(hexDigits(id, WORD_DIGITS))) & ~0xffn;
}

function hashOfDigits(digits: string): Hash {
  return parseHash(keccak256Hex(hexToBytes(`0x${digits}`)));
}

function hexDigits(value: bigint, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** The last four are those of OpenZeppelin's older upgradeable contracts. */
const USUAL: readonly BalanceSlot[] = [
  ...slots('solidity', 0, 11),
  { layout: 'solidity', slot: namespacedSlot('openzeppelin.storage.ERC20') },
  { layout: 'solady', slot: SOLADY_SEED },
  ...slots('vyper', 0, 7),
  ...[51, 101, 151, 201].map((slot): BalanceSlot => ({ layout: 'solidity', slot: BigInt(slot) })),
];

const SOLIDITY_MAX = 255;
const VYPER_MAX = 63;
/** Slots per proof call: nodes accept it, and a proof stays below some hundred kilobytes. */
const TOGETHER = 64;

/** Most likely first, in groups that are requested together. */
export const CANDIDATE_SLOTS: readonly (readonly BalanceSlot[])[] = [
  USUAL,
  ...inParts(
    [...slots('solidity', 0, SOLIDITY_MAX), ...slots('vyper', 0, VYPER_MAX)].filter(
      (other) => !USUAL.some(({ layout, slot }) => layout === other.layout && slot === other.slot),
    ),
    TOGETHER,
  ),
];

function slots(layout: SlotLayout, from: number, to: number): BalanceSlot[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({ layout, slot: BigInt(from + index) }));
}
