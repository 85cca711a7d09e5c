import { type Hex, parseAddress } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { decodeAbi, EncodingRefusedError } from '@chainstead/events/abi';
import { StateUnavailableError } from '@chainstead/node-reads';
import { encodeFunctionData, getAddress, namehash, parseAbi, toFunctionSelector, toHex } from 'viem';
import { packetToBytes } from 'viem/ens';
import { NAME_CHAINS, type NameContracts, type NameNodes } from '../name-chains.ts';
import { type NameAnswer, NO_NAME } from '../name-question.ts';
import type { Names } from '../name-service.ts';
import { normalName } from '../normal-name.ts';
import { callEns } from './ens-call.ts';
import { LOCAL_BATCH_GATEWAY } from './off-chain-lookup.ts';

const RESOLVER = parseAbi([
  'function resolveWithGateways(bytes name, bytes data, string[] gateways) view returns (bytes, address)',
  'function reverseWithGateways(bytes reverseName, uint256 coinType, string[] gateways) view returns (string, address, address)',
]);
const [RESOLVE, REVERSE] = RESOLVER;
const ADDRESS_OF = parseAbi(['function addr(bytes32 node) view returns (address)']);
const GATEWAYS = [LOCAL_BATCH_GATEWAY];
const COIN_TYPE = 60n;
const ANSWER = { outputBytesMax: 8_192 };
const NOBODY = `0x${'0'.repeat(40)}`;

/** Reverts with an unknown result. Other reverts mean that no record exists. */
const UNREPORTED: ReadonlySet<string> = new Set(
  [
    'DNSDecodingFailed(bytes)',
    'DNSEncodingFailed(string)',
    'HttpError(uint16,string)',
    'InvalidBatchGatewayResponse()',
    'Error(string)',
    'Panic(uint256)',
  ].map((error) => toFunctionSelector(error)),
);
const SELECTOR_LENGTH = 10;

type At = { readonly block: number; readonly signal: AbortSignal };

/** Null: Ethereum is not among the chains. */
export function createEnsNames(
  nodes: readonly NameNodes[],
  gateways: Egress | null,
  contracts: NameContracts,
): Names | null {
  const ethereum = nodes.find(({ chain }) => NAME_CHAINS.ens.includes(chain.key));
  if (ethereum === undefined) return null;
  const { pool, chain } = ethereum;

  const newestAt = async (signal: AbortSignal): Promise<At> => ({
    block: (await pool.getHead({ signal })).value.number,
    signal,
  });

  /** @param read throws EncodingRefusedError for an incorrectly encoded response: no name */
  async function ask(at: At, data: Hex, read: (returned: Hex) => string | null): Promise<NameAnswer> {
    const answer = await callEns({ ...at, pool, gateways }, contracts.universalResolver, data);
    const asOf = { chainId: chain.id, block: at.block };
    if (answer === 'off-chain') return { ...NO_NAME, asOf, offChain: true };
    if (answer === 'nowhere') return { ...NO_NAME, asOf };
    if ('reverted' in answer) {
      if (UNREPORTED.has(answer.reverted.slice(0, SELECTOR_LENGTH)))
        throw new StateUnavailableError(`A gateway of a name on ${chain.name} returned no response: retry in a moment`);
      return { ...NO_NAME, asOf };
    }
    try {
      return { ...NO_NAME, asOf, answer: read(answer.returned) };
    } catch (error) {
      if (error instanceof EncodingRefusedError) return { ...NO_NAME, asOf };
      throw error;
    }
  }

  function addressAt(name: string, at: At): Promise<NameAnswer> {
    const question = encodeFunctionData({ abi: ADDRESS_OF, args: [namehash(name)] });
    const args = [toHex(packetToBytes(name)), question, GATEWAYS] as const;
    return ask(at, encodeFunctionData({ abi: RESOLVER, functionName: 'resolveWithGateways', args }), (returned) => {
      const [record] = decodeAbi(RESOLVE.outputs, returned, ANSWER);
      if (record === '0x') return null;
      const [address] = decodeAbi(ADDRESS_OF[0].outputs, record, ANSWER);
      return address === NOBODY ? null : getAddress(address);
    });
  }

  return {
    addressOf: async (name, signal) => addressAt(name, await newestAt(signal)),
    async nameOf(text, signal) {
      const address = parseAddress(text);
      // Both ways at one block: a name may change hands meanwhile.
      const at = await newestAt(signal);
      const args = [address, COIN_TYPE, GATEWAYS] as const;
      const question = encodeFunctionData({ abi: RESOLVER, functionName: 'reverseWithGateways', args });
      const reported = await ask(at, question, (returned) => decodeAbi(REVERSE.outputs, returned, ANSWER)[0] || null);
      if (reported.answer === null) return reported;
      const none = { ...NO_NAME, asOf: reported.asOf };
      // It looks like another name.
      if (normalName(reported.answer) !== reported.answer) return none;
      const back = await addressAt(reported.answer, at);
      if (back.offChain) return back;
      return back.answer?.toLowerCase() === address ? reported : none;
    },
  };
}
