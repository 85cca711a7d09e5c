/** EIP-2718 types of deposits from the chain below: of the OP Stack, and of Arbitrum. */
const DEPOSIT_TYPES: ReadonlySet<number> = new Set([0x7e, 0x64]);

/** The value was minted: no account on this chain pays for it, whichever account sent it below. */
export function isDeposit({ type }: { readonly type: number }): boolean {
  return DEPOSIT_TYPES.has(type);
}
