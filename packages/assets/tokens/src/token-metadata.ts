import type { Chain } from '@chainstead/chains';
import type { Address, ChainsteadError, Hex } from '@chainstead/core';
import { returnedNumber } from '@chainstead/events/abi';
import {
  type CalledState,
  type ContractCalls,
  createContractCalls,
  isUnread,
  settleTogether,
} from '@chainstead/node-reads';
import type { UpstreamPool } from '@chainstead/rpc';

export interface TokenMetadata {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** By ERC-165; `erc20`: it answers like one; null: silent. */
  readonly standard: 'erc20' | 'erc721' | 'erc1155' | null;
  /** False: every call returned nothing or reverted. That node may lack the contract. */
  readonly answered: boolean;
}

export interface TokenMetadataReader {
  /**
   * Missing: unreadable, or far slower than others. @param minBlock only nodes that have it
   * @throws UpstreamsExhaustedError (retryable) if none can be read, RequestAbortedError
   */
  read(
    addresses: readonly Address[],
    signal: AbortSignal,
    minBlock?: number,
  ): Promise<Map<Address, TokenMetadata>>;
}

/** EIP-165, EIP-721, EIP-1155, and the ID that no contract may support (EIP-165). */
export const INTERFACES = {
  erc165: '0x01ffc9a7',
  erc721: '0x80ac58cd',
  erc1155: '0xd9b67a26',
  nobody: '0xffffffff',
} as const satisfies Record<string, Hex>;

const CALLS = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  decimals: '0x313ce567',
  erc721: supportsInterface(INTERFACES.erc721),
  erc1155: supportsInterface(INTERFACES.erc1155),
} as const satisfies Record<string, Hex>;
type CallName = keyof typeof CALLS;
const CALL_NAMES = Object.keys(CALLS) as CallName[];

type Answers = Record<CallName, Hex | null>;

type NodesAt = Pick<CalledState, 'minBlock'>;

const NOTHING: Answers = { name: null, symbol: null, decimals: null, erc721: null, erc1155: null };

/** Milliseconds: one endless contract delays its aggregate. Then each is read alone. */
const AGGREGATE_MS = 1_500;

async function inTime(
  callTogether: ContractCalls['callTogether'],
  [calls, signal, at]: Parameters<ContractCalls['callTogether']>,
): ReturnType<ContractCalls['callTogether']> {
  const late = AbortSignal.timeout(AGGREGATE_MS);
  try {
    return await callTogether(calls, AbortSignal.any([signal, late]), at);
  } catch (error) {
    if (isUnread(error, late)) return null;
    throw error;
  }
}

const ANSWER_BYTES_MAX = 8_192;

/** Five calls each stay far below the 50,000,000 gas that nodes give an eth_call. */
const MULTICALL_TOKENS_MAX = 50;

/** Repeats failed calls alone: an `INVALID` opcode inside Multicall3 burns 63/64 of the gas. */
export function createTokenMetadataReader(options: {
  readonly pool: UpstreamPool;
  readonly chain: Chain;
}): TokenMetadataReader {
  const { call, callTogether } = createContractCalls({ ...options, answerBytesMax: ANSWER_BYTES_MAX });

  async function readTogether(
    addresses: readonly Address[],
    signal: AbortSignal,
    at: NodesAt,
  ): Promise<Answers[]> {
    const calls = addresses.flatMap((to) => CALL_NAMES.map((name) => ({ to, data: CALLS[name] })));
    const answers = addresses.length === 1 ? null : await inTime(callTogether, [calls, signal, at]);
    return addresses.map((_, token) => {
      const of = (index: number): Hex | null => answers?.[token * CALL_NAMES.length + index] ?? null;
      return { name: of(0), symbol: of(1), decimals: of(2), erc721: of(3), erc1155: of(4) };
    });
  }

  /** Repeats calls without a result; ERC-165 calls only if it is not plainly an ERC-20. */
  async function readAlone(
    address: Address,
    first: Answers,
    signal: AbortSignal,
    at: NodesAt,
  ): Promise<TokenMetadata> {
    const again = (name: CallName): Promise<Hex | null> =>
      first[name] === null ? call(address, CALLS[name], signal, at) : Promise.resolve(first[name]);
    const [name, symbol, decimals] = await Promise.all([again('name'), again('symbol'), again('decimals')]);
    const places = decimals === null ? null : decodeDecimals(decimals);
    const plainlyErc20 = places !== null && places > 0;
    const [erc721, erc1155] = plainlyErc20
      ? [first.erc721, first.erc1155]
      : await Promise.all([again('erc721'), again('erc1155')]);
    const nft =
      erc721 !== null && decodeFlag(erc721)
        ? 'erc721'
        : erc1155 !== null && decodeFlag(erc1155)
          ? 'erc1155'
          : null;
    const answered = [name, symbol, decimals, erc721, erc1155].some((answer) => answer !== null);
    // A contract that supports the impossible interface does not speak ERC-165.
    const honest =
      nft === null ||
      !decodeFlag((await call(address, supportsInterface(INTERFACES.nobody), signal, at)) ?? '0x');
    return {
      name: name === null ? null : decodeText(name, NAME_LENGTH_MAX),
      symbol: symbol === null ? null : decodeText(symbol, SYMBOL_LENGTH_MAX),
      decimals: places,
      standard: nft !== null && honest ? nft : answered ? 'erc20' : null,
      answered,
    };
  }

  return {
    async read(addresses, signal, minBlock = 0) {
      const at = minBlock > 0 ? { minBlock } : {};
      const metadata = new Map<Address, TokenMetadata>();
      let reason: ChainsteadError | null = null;
      for (let first = 0; first < addresses.length; first += MULTICALL_TOKENS_MAX) {
        const batch = addresses.slice(first, first + MULTICALL_TOKENS_MAX);
        const answers = await readTogether(batch, signal, at);
        const read = await settleTogether(batch, (address, late) => {
          const first = answers[batch.indexOf(address)] ?? NOTHING;
          return readAlone(address, first, AbortSignal.any([signal, late]), at);
        });
        for (const [index, result] of read.entries()) {
          const address = batch[index];
          if ('unread' in result) reason ??= result.unread;
          else if (address !== undefined) metadata.set(address, result.value);
        }
      }
      if (metadata.size === 0 && reason !== null) throw reason;
      return metadata;
    },
  };
}

/** Untrusted responses of contracts: any bytes become clean text or null, without errors. */
export const NAME_LENGTH_MAX = 256;
export const SYMBOL_LENGTH_MAX = 64;

const WORD_BYTES = 32;
const BYTES_PER_CHARACTER_MAX = 4;

/** ABI `string`, or `bytes32` padded with zeros (MKR, SAI). Null: no text. */
export function decodeText(data: string, charactersMax: number): string | null {
  const bytesMax = charactersMax * BYTES_PER_CHARACTER_MAX;
  // Offset and length words come first.
  const bytes = Buffer.from(data.slice(2, 2 + 2 * (bytesMax + 4 * WORD_BYTES)), 'hex');
  // A `bytes32` begins with a character, unlike an offset.
  const fixed = bytes.length > WORD_BYTES && bytes[0] !== 0 ? bytes.subarray(0, WORD_BYTES) : null;
  const content = bytes.length === WORD_BYTES ? bytes : (stringContent(bytes) ?? fixed);
  return content === null ? null : cleanText(content.subarray(0, bytesMax), charactersMax);
}

/** Null: none, or empty. Cut off after `bytesMax`. */
export function decodeRawText(data: string, bytesMax: number): string | null {
  const bytes = Buffer.from(data.slice(2, 2 + 2 * (bytesMax + 4 * WORD_BYTES)), 'hex');
  const content = stringContent(bytes);
  return content === null || content.length === 0
    ? null
    : new TextDecoder().decode(content.subarray(0, bytesMax));
}

/** Null for anything above 255 or shorter than a word. */
export function decodeDecimals(data: string): number | null {
  const value = returnedNumber(data);
  return value !== null && value <= 255n ? Number(value) : null;
}

export function decodeFlag(data: string): boolean {
  return returnedNumber(data) === 1n;
}

/** UTF-8 without NUL, controls and direction marks. Null: nothing is left. */
export function cleanText(content: Uint8Array | string, charactersMax: number): string | null {
  const text = typeof content === 'string' ? content.toWellFormed() : new TextDecoder().decode(content);
  const clean = text.replace(UNWANTED, '').replace(/\s+/gu, ' ').trim();
  const short = clean.length <= charactersMax ? clean : [...clean].slice(0, charactersMax).join('').trimEnd();
  return short === '' ? null : short;
}

const UNWANTED =
  /\uFFFD|(?!\s)\p{Cc}|[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]|\p{Co}|\p{Cn}/gu;

function stringContent(bytes: Buffer): Buffer | null {
  const offset = wordAsIndex(bytes, 0);
  if (offset === null) return null;
  const length = wordAsIndex(bytes, offset);
  if (length === null) return null;
  const from = offset + WORD_BYTES;
  return bytes.subarray(from, Math.min(from + length, bytes.length));
}

/** Capped if larger than any answer; null if the 32 bytes are not all there. */
function wordAsIndex(bytes: Buffer, at: number): number | null {
  if (at + WORD_BYTES > bytes.length) return null;
  const high = bytes.subarray(at, at + WORD_BYTES - 4).some((byte) => byte !== 0);
  return high ? Number.MAX_SAFE_INTEGER : bytes.readUInt32BE(at + WORD_BYTES - 4);
}

export function supportsInterface(id: Hex): Hex {
  return `0x01ffc9a7${id.slice(2).padEnd(64, '0')}`;
}
