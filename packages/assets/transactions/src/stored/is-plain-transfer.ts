interface TransferParts {
  readonly from: string;
  readonly to: string | null;
  readonly value: string;
  readonly input: string;
  readonly gasUsed: string;
}

/** For transfers to an account without code, or to a new one (EIP-2780 with EIP-8037). */
const TRANSFER_GAS: readonly bigint[] = [21_000n, 204_600n];

/** No code ran. Since EIP-2780, calls may use 21,000 gas too. */
export function isPlainTransfer({ from, to, value, input, gasUsed }: TransferParts): boolean {
  return (
    input === '0x' &&
    to !== null &&
    to.toLowerCase() !== from.toLowerCase() &&
    BigInt(value) > 0n &&
    TRANSFER_GAS.includes(BigInt(gasUsed))
  );
}
