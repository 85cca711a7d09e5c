import { type Address, type Hex, parseAddress } from '@chainstead/core';
import {
  type ChainNode,
  createScriptedChain,
  type RpcHandler,
  type RpcReply,
  serveScriptedChain,
} from '@chainstead/testkit';
import { encodeAbiParameters } from 'viem';

/** A contract's results by call data; `default` for all others. Absent: it reverts. */
export type ExampleContract = Readonly<Record<string, Hex | (() => Hex)>>;

const SELECTORS = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  contractUri: '0xe8a3d485',
  baseUri: '0x6c0360eb',
} as const;
const ERC165 = '0x01ffc9a7';
export const TRUE = wordOf(1n);
export const FALSE = wordOf(0n);

export function addressOf(number: number): Address {
  return parseAddress(`0x${(0xc0de_0000 + number).toString(16).padStart(40, '0')}`);
}

/** 32 bytes. */
export function wordOf(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

/** An ABI string. */
export function textOf(text: string): Hex {
  return encodeAbiParameters([{ type: 'string' }], [text]);
}

/** Call data of `supportsInterface`. */
export function asksFor(interfaceId: string): string {
  return `${ERC165}${interfaceId.slice(2).padEnd(64, '0')}`;
}

/** A contract that supports ERC-165. Texts may be functions, which are called every time. */
export function exampleCollection(
  standard: 'erc721' | 'erc1155',
  texts: Readonly<Partial<Record<keyof typeof SELECTORS, string | (() => string)>>> = {},
  others: ExampleContract = {},
): ExampleContract {
  const answers: Record<string, Hex | (() => Hex)> = {
    [asksFor('0x01ffc9a7')]: TRUE,
    [asksFor('0x80ac58cd')]: standard === 'erc721' ? TRUE : FALSE,
    [asksFor('0xd9b67a26')]: standard === 'erc1155' ? TRUE : FALSE,
    [asksFor('0xffffffff')]: FALSE,
    ...others,
  };
  for (const [name, text] of Object.entries(texts))
    answers[SELECTORS[name as keyof typeof SELECTORS]] =
      typeof text === 'function' ? () => textOf(text()) : textOf(text);
  return answers;
}

/** Serves a node with only these contracts; `programs` compute their results from the call data. */
export async function serveContracts(
  contracts: ReadonlyMap<Address, ExampleContract>,
  chainId?: number,
  programs: Readonly<Record<string, (data: Hex) => Hex>> = {},
): Promise<ChainNode & { readonly chainId: number }> {
  const scripted = createScriptedChain({ seed: 11, ...(chainId !== undefined && { chainId }) });
  const node = await serveScriptedChain(scripted, {
    methods: () =>
      new Map<string, RpcHandler>([
        ['eth_getCode', ([address]) => ({ result: contracts.has(String(address) as Address) ? '0x60' : '0x' })],
        [
          'eth_call',
          ([transaction]) => {
            const { to, data } = Object(transaction);
            const program = programs[to];
            return program === undefined ? callOf(contracts, to, data) : { result: program(data) };
          },
        ],
      ]),
  });
  return Object.assign(node, { chainId: scripted.chainId });
}

function callOf(contracts: ReadonlyMap<Address, ExampleContract>, to: Address, data: string): RpcReply {
  const contract = contracts.get(to);
  if (contract === undefined) return { result: '0x' };
  const answer = contract[data] ?? contract.default;
  if (answer === undefined) return { error: { code: 3, message: 'execution reverted' } };
  return { result: typeof answer === 'function' ? answer() : answer };
}
