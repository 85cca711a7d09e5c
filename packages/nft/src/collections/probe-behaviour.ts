import { addressAt, returnedWord } from '@chainstead/abi';
import { type Address, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import type { ContractCalls } from '@chainstead/node-reads';
import { decodeRawText } from '@chainstead/tokens';

export type NftStandard = 'erc721' | 'erc1155';

/** Call data of the probe calls. */
const SOMEBODY = wordOf('1');
const PROBES = {
  /** No function has this selector: a result comes from a fallback that accepts any call. */
  nothing: '0xffffffff',
  decimals: '0x313ce567',
  balanceOf: `0x70a08231${SOMEBODY}`,
  ownerOf: ['0', '1', '2'].map((id): Hex => `0x6352211e${wordOf(id)}`),
  balanceOfId: `0x00fdd58e${SOMEBODY}${wordOf('0')}`,
  uri: ['0', '1'].map((id): Hex => `0x0e89341c${wordOf(id)}`),
} as const satisfies Record<string, Hex | readonly Hex[]>;
/** Enough of a URI to detect one. Bytes. */
const URI_START_BYTES = 256;

/**
 * Returns the standard that a contract without ERC-165 support behaves like, as some NFTs are older than ERC-165. Null
 * if it behaves like neither, like an ERC-20, or accepts any call. Throws as {@link ContractCalls} does.
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

/** Returns decimal digits as a word of 64 hexadecimal digits. */
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
