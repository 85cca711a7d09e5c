import type { Chain } from '@chainstead/chains';
import type { Address, ChainsteadError, Hex } from '@chainstead/core';
import {
  type CalledState,
  type ContractCalls,
  createContractCalls,
  isUnread,
  settleTogether,
} from '@chainstead/node-reads';
import type { UpstreamPool } from '@chainstead/rpc';
import { decodeDecimals, decodeFlag, decodeText, NAME_LENGTH_MAX, SYMBOL_LENGTH_MAX } from './abi-text.ts';
import { INTERFACES, supportsInterface } from './erc165.ts';

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
