import { addressAt, returnedWord } from '@chainstead/abi';
import { type Address, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import type { ContractCalls } from '@chainstead/state';
import { decodeRawText } from '@chainstead/tokens';

export type NftStandard = 'erc721' | 'erc1155';

/** Call data of what a contract is tried with. */
const SOMEBODY = wordOf('1');
const PROBES = {
  /** No function has this selector: an answer comes from a fallback that answers everything. */
  nothing: '0xffffffff',
  decimals: '0x313ce567',
  balanceOf: `0x70a08231${SOMEBODY}`,
  ownerOf: ['0', '1', '2'].map((id): Hex => `0x6352211e${wordOf(id)}`),
  balanceOfId: `0x00fdd58e${SOMEBODY}${wordOf('0')}`,
  uri: ['0', '1'].map((id): Hex => `0x0e89341c${wordOf(id)}`),
} as const satisfies Record<string, Hex | readonly Hex[]>;
/** Enough of a URI to see that there is one. Bytes. */
const URI_START_BYTES = 256;

/**
 * As what a contract behaves that does not claim to be an NFT: some are older than ERC-165. Null: as neither, or as an ERC-20, or as
 * something that answers everything. Throws as {@link ContractCalls} does.
 */
export async function probeBehaviour(
  { call }: ContractCalls,
  to: Address,
  signal: AbortSignal,
): Promise<NftStandard | null> {
  const one = (data: Hex): Promise<Hex | null> => call(to, data, signal);
  const several = (all: readonly Hex[]): Promise<(Hex | null)[]> => Promise.all(all.map(one));
  const [nothing, decimals, balance, owners, balanceOfId, uris] = await Promise.all([
    one(PROBES.nothing),
    one(PROBES.decimals),
    one(PROBES.balanceOf),
    several(PROBES.ownerOf),
    one(PROBES.balanceOfId),
    several(PROBES.uri),
  ]);
  if (nothing !== null || decimals !== null) return null;
  if (isWord(balance) && owners.some(isAddressWord)) return 'erc721';
  const hasUri = uris.some((uri) => uri !== null && decodeRawText(uri, URI_START_BYTES) !== null);
  return isWord(balanceOfId) && hasUri ? 'erc1155' : null;
}

/** Decimal digits as the 64 hexadecimal ones of a word. */
export function wordOf(decimal: string): string {
  return BigInt(decimal).toString(16).padStart(64, '0');
}

function isWord(answer: Hex | null): boolean {
  return returnedWord(answer) !== null;
}

function isAddressWord(answer: Hex | null): boolean {
  const address = addressAt(returnedWord(answer) ?? undefined);
  return address !== null && address !== ZERO_ADDRESS;
}
