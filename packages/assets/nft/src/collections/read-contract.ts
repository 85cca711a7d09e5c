import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, returnedWord } from '@chainstead/events/abi';
import { type ContractCalls, createContractCalls } from '@chainstead/node-reads';
import type { UpstreamPool } from '@chainstead/rpc';
import { INTERFACES, supportsInterface } from '@chainstead/tokens';
import {
  decodeFlag,
  decodeRawText,
  decodeText,
  NAME_LENGTH_MAX,
  SYMBOL_LENGTH_MAX,
} from '@chainstead/tokens/token-metadata';
import { DOCUMENT_BYTES_MAX } from './fetch-document.ts';

export interface ContractReading {
  readonly isContract: boolean;
  /** Null if neither ERC-165, nor its behavior, nor its events show an NFT. */
  readonly standard: NftStandard | null;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly contractUri: string | null;
  readonly baseUri: string | null;
}

export interface SeenEvents {
  readonly erc721: boolean;
  readonly erc1155: boolean;
}

/** @throws UpstreamsExhaustedError (retryable), RequestAbortedError */
export interface ContractReader {
  readCollection(address: Address, seen: SeenEvents, signal: AbortSignal): Promise<ContractReading>;
  /** `tokenURI`, or ERC-1155's `uri` with `{id}` replaced; null if the contract has none. */
  readTokenUri(address: Address, tokenId: string, signal: AbortSignal): Promise<string | null>;
}

/** Bytes: a URI may contain its document in base64. */
const URI_BYTES_MAX = DOCUMENT_BYTES_MAX * 2;
const WORDS_BYTES = 128;

const CALLS = {
  erc165: supportsInterface(INTERFACES.erc165),
  nobody: supportsInterface(INTERFACES.nobody),
  erc721: supportsInterface(INTERFACES.erc721),
  erc1155: supportsInterface(INTERFACES.erc1155),
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  contractUri: '0xe8a3d485',
  baseUri: '0x6c0360eb',
} as const satisfies Record<string, Hex>;
type CallName = keyof typeof CALLS;
const CALL_NAMES = Object.keys(CALLS) as CallName[];

export function createContractReader(options: {
  readonly pool: UpstreamPool;
  readonly chain: Chain;
}): ContractReader {
  const { pool, chain } = options;
  const calls = createContractCalls({ ...options, answerBytesMax: URI_BYTES_MAX + WORDS_BYTES });
  const { call, callTogether } = calls;
  const eventsOnly = new Set<string | null>([...chain.unindexedNfts, chain.cryptoPunks]);

  async function hasCode(address: Address, signal: AbortSignal): Promise<boolean> {
    const { value } = await pool.request('eth_getCode', [address, 'latest'], { signal });
    return typeof value === 'string' && value.length > 2;
  }

  async function ask(to: Address, signal: AbortSignal): Promise<Record<CallName, Hex | null>> {
    const calls = CALL_NAMES.map((name) => ({ name, to, data: CALLS[name] }));
    const together = await callTogether(calls, signal);
    const answers = await Promise.all(
      calls.map(
        async ({ name, data }, index) => [name, together?.[index] ?? (await call(to, data, signal))] as const,
      ),
    );
    return Object.fromEntries(answers) as Record<CallName, Hex | null>;
  }

  return {
    async readCollection(address, seen, signal) {
      const wasSeen = seen.erc721 || seen.erc1155;
      const [isContract, answers] = await Promise.all([hasCode(address, signal), ask(address, signal)]);
      const claimed = claimedStandards(answers);
      const standard = eventsOnly.has(address) ? 'erc721' : standardOf(claimed, seen);
      const text = (data: Hex | null, lengthMax: number): string | null =>
        data === null ? null : decodeText(data, lengthMax);
      const uri = (data: Hex | null): string | null =>
        data === null ? null : decodeRawText(data, URI_BYTES_MAX);
      return {
        isContract: isContract || wasSeen,
        standard: standard === null && isContract ? await probeBehaviour(calls, address, signal) : standard,
        name: text(answers.name, NAME_LENGTH_MAX),
        symbol: text(answers.symbol, SYMBOL_LENGTH_MAX),
        contractUri: uri(answers.contractUri),
        baseUri: uri(answers.baseUri),
      };
    },

    async readTokenUri(address, tokenId, signal) {
      const id = wordOf(tokenId);
      const tokenUri = await call(address, `0xc87b56dd${id}`, signal);
      const own = tokenUri === null ? null : decodeRawText(tokenUri, URI_BYTES_MAX);
      if (own !== null) return own;
      const uri = await call(address, `0x0e89341c${id}`, signal);
      const shared = uri === null ? null : decodeRawText(uri, URI_BYTES_MAX);
      // EIP-1155: hexadecimal, lower case, without 0x, 64 digits.
      return shared?.replaceAll('{id}', id) ?? null;
    },
  };
}

/** Null if the contract does not support ERC-165, or claims every interface. */
function claimedStandards(answers: Readonly<Record<CallName, Hex | null>>): SeenEvents | null {
  const claims = (name: CallName): boolean => answers[name] !== null && decodeFlag(answers[name]);
  if (claims('nobody')) return null;
  if (!claims('erc165') && !claims('erc721') && !claims('erc1155')) return null;
  return { erc721: claims('erc721'), erc1155: claims('erc1155') };
}

function standardOf(claimed: SeenEvents | null, seen: SeenEvents): NftStandard | null {
  if (claimed !== null && claimed.erc721 !== claimed.erc1155) return claimed.erc721 ? 'erc721' : 'erc1155';
  if (seen.erc721 || seen.erc1155) return seen.erc721 ? 'erc721' : 'erc1155';
  return claimed?.erc721 === true ? 'erc721' : null;
}

export type NftStandard = 'erc721' | 'erc1155';

const SOMEBODY = wordOf('1');
const PROBES = {
  /** No function has this selector: a result shows a fallback that accepts any call. */
  nothing: '0xffffffff',
  decimals: '0x313ce567',
  balanceOf: `0x70a08231${SOMEBODY}`,
  ownerOf: ['0', '1', '2'].map((id): Hex => `0x6352211e${wordOf(id)}`),
  balanceOfId: `0x00fdd58e${SOMEBODY}${wordOf('0')}`,
  uri: ['0', '1'].map((id): Hex => `0x0e89341c${wordOf(id)}`),
} as const satisfies Record<string, Hex | readonly Hex[]>;
const URI_START_BYTES = 256;

/** Some NFTs are older than ERC-165. Null: like an ERC-20, or accepts any call. */
async function probeBehaviour(
  { call }: ContractCalls,
  to: Address,
  signal: AbortSignal,
): Promise<NftStandard | null> {
  const probe = (data: Hex): Promise<Hex | null> => call(to, data, signal);
  const [nothing, decimals, balance, owners, balanceOfId, uris] = await Promise.all([
    probe(PROBES.nothing),
    probe(PROBES.decimals),
    probe(PROBES.balanceOf),
    Promise.all(PROBES.ownerOf.map(probe)),
    probe(PROBES.balanceOfId),
    Promise.all(PROBES.uri.map(probe)),
  ]);
  if (nothing !== null || decimals !== null) return null;
  const hasOwner = owners.some((owner) => {
    const address = addressAt(returnedWord(owner) ?? undefined);
    return address !== null && address !== ZERO_ADDRESS;
  });
  if (returnedWord(balance) !== null && hasOwner) return 'erc721';
  const hasUri = uris.some((uri) => uri !== null && decodeRawText(uri, URI_START_BYTES) !== null);
  return returnedWord(balanceOfId) !== null && hasUri ? 'erc1155' : null;
}

function wordOf(decimal: string): string {
  return BigInt(decimal).toString(16).padStart(64, '0');
}
