/** Amounts in wei and gas, as digits or quantities. */
interface TransferParts {
  readonly from: string;
  readonly to: string | null;
  readonly value: string;
  readonly input: string;
  readonly gasUsed: string;
}

/** Gas of a transfer to an account without code, and of one that creates the account (EIP-2780 with EIP-8037). */
const TRANSFER_GAS: readonly bigint[] = [21_000n, 204_600n];

/** No code ran, so no contract logged anything. Gas alone doesn't show it since EIP-2780: calls may use 21,000. */
export function isPlainTransfer({ from, to, value, input, gasUsed }: TransferParts): boolean {
  return (
    input === '0x' &&
    to !== null &&
    to.toLowerCase() !== from.toLowerCase() &&
    BigInt(value) > 0n &&
    TRANSFER_GAS.includes(BigInt(gasUsed))
  );
}
