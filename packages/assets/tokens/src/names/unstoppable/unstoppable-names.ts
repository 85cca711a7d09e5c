import { type Address, ChainsteadError, type Hex, isAddress, parseAddress } from '@chainstead/core';
import { decodeAbi, EncodingRefusedError } from '@chainstead/events/abi';
import { type ContractCalls, createContractCalls } from '@chainstead/node-reads';
import { type AbiParameter, encodeFunctionData, getAddress, namehash, parseAbi } from 'viem';
import {
  NAME_CHAINS,
  type NameAnswer,
  type NameContracts,
  type NameNodes,
  type Names,
  NO_NAME,
} from '../name-chains.ts';
import { normalName } from '../resolve-routes.ts';

const READER = parseAbi([
  'function getMany(string[] keys, uint256 tokenId) view returns (string[])',
  'function reverseNameOf(address owner) view returns (string)',
]);
const [GET_MANY, REVERSE_NAME_OF] = READER;

/** Keys of the address on Ethereum, by precedence. */
const ADDRESS_KEYS = ['crypto.ETH.address', 'token.EVM.ETH.ETH.address'];
const ANSWER_BYTES_MAX = 8_192;

interface Registry {
  readonly nodes: NameNodes;
  readonly calls: ContractCalls;
  readonly records: Address;
  readonly reverse: Address;
}

/** Null: none of its chains is there. */
export function createUnstoppableNames(nodes: readonly NameNodes[], contracts: NameContracts): Names | null {
  const registries = NAME_CHAINS.unstoppable.flatMap((key): Registry[] => {
    const at = contracts.unstoppable[key];
    const served = nodes.find(({ chain }) => chain.key === key);
    if (at === undefined || served === undefined) return [];
    return [
      { ...at, nodes: served, calls: createContractCalls({ ...served, answerBytesMax: ANSWER_BYTES_MAX }) },
    ];
  });
  if (registries.length === 0) return null;

  async function recordOf({ calls, records }: Registry, name: string, at: BlockCall): Promise<Address | null> {
    const args = [ADDRESS_KEYS, BigInt(namehash(name))] as const;
    const data = encodeFunctionData({ abi: READER, functionName: 'getMany', args });
    const [values] = decoded(GET_MANY.outputs, await calls.call(records, data, at.signal, at)) ?? [];
    const address: unknown = Array.isArray(values)
      ? values.find((value) => typeof value === 'string' && isAddress(value))
      : undefined;
    return typeof address === 'string' ? parseAddress(address) : null;
  }

  async function find(name: string, signal: AbortSignal): Promise<RegistryRecord<Address> | null> {
    return firstOf(registries, signal, (registry, at) => recordOf(registry, name, at));
  }

  return {
    async addressOf(name, signal) {
      const found = await find(name, signal);
      return found === null ? NO_NAME : { answer: getAddress(found.value), offChain: false, asOf: found.asOf };
    },
    async nameOf(text, signal) {
      const address = parseAddress(text);
      const data = encodeFunctionData({ abi: READER, functionName: 'reverseNameOf', args: [address] });
      const found = await firstOf(registries, signal, async ({ calls, reverse }, at) => {
        const [reported] = decoded(REVERSE_NAME_OF.outputs, await calls.call(reverse, data, signal, at)) ?? [];
        // It looks like another name.
        if (typeof reported !== 'string' || reported === '' || normalName(reported) !== reported) return null;
        return (await find(reported, signal))?.value === address ? reported : null;
      });
      return found === null ? NO_NAME : { answer: found.value, offChain: false, asOf: found.asOf };
    },
  };
}

interface BlockCall {
  readonly block: number;
  readonly signal: AbortSignal;
}

interface RegistryRecord<Value> {
  readonly value: Value;
  readonly asOf: NonNullable<NameAnswer['asOf']>;
}

/** The first registry's that has it. @throws the outage of another one, if none has it */
async function firstOf<Value>(
  registries: readonly Registry[],
  signal: AbortSignal,
  ask: (registry: Registry, at: BlockCall) => Promise<Value | null>,
): Promise<RegistryRecord<Value> | null> {
  let outage: unknown = null;
  for (const registry of registries)
    try {
      const { chain, pool } = registry.nodes;
      const block = (await pool.getHead({ signal })).value.number;
      const value = await ask(registry, { block, signal });
      if (value !== null) return { value, asOf: { chainId: chain.id, block } };
    } catch (error) {
      if (!(error instanceof ChainsteadError) || !error.retryable) throw error;
      outage ??= error;
    }
  if (outage !== null) throw outage;
  return null;
}

function decoded(types: readonly AbiParameter[], answer: Hex | null): readonly unknown[] | null {
  if (answer === null) return null;
  try {
    return decodeAbi(types, answer);
  } catch (error) {
    if (error instanceof EncodingRefusedError) return null;
    throw error;
  }
}
