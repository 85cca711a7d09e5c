/** EIP-2718 types of the OP Stack and Arbitrum. */
const DEPOSIT_TYPES: ReadonlySet<number> = new Set([0x7e, 0x64]);

/** The value was minted: no account on this chain pays for it. */
export function isDeposit({ type }: { readonly type: number }): boolean {
  return DEPOSIT_TYPES.has(type);
}
