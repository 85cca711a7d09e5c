import { type Address, parseAddress } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { StateUnavailableError } from '@chainstead/state';
import { BaseError, ContractFunctionRevertedError, getAddress } from 'viem';
import { getEnsAddress, getEnsName } from 'viem/actions';
import { NAME_CHAINS, type NameContracts, type NameNodes } from '../name-chains.ts';
import { type NameAnswer, NO_NAME } from '../name-question.ts';
import type { Names } from '../name-service.ts';
import { newestBlock } from '../newest-block.ts';
import { normalName } from '../normal-name.ts';
import { type EnsClient, openEnsClient } from './ens-client.ts';

export interface EnsNamesOptions {
  readonly nodes: readonly NameNodes[];
  readonly gateways: Egress | null;
  readonly contracts: NameContracts;
}

/** What the Universal Resolver reverts with where a name or an address has no record. */
const NOTHING_THERE: ReadonlySet<string> = new Set([
  'ResolverNotFound',
  'ResolverNotContract',
  'UnsupportedResolverProfile',
  'ReverseAddressMismatch',
  'ResolverError',
  'EmptyAddress',
]);
/** EIP-3668: `OffchainLookup`. */
const OFF_CHAIN = '0x556f1830';

/** ENS by its Universal Resolver; null where Ethereum is not among the chains. */
export function createEnsNames({ nodes, gateways, contracts }: EnsNamesOptions): Names | null {
  const ethereum = nodes.find(({ chain }) => NAME_CHAINS.ens.includes(chain.key));
  if (ethereum === undefined) return null;
  const { pool, chain } = ethereum;
  const { universalResolver: universalResolverAddress } = contracts;

  /** @param work one question, about the state at the block */
  async function ask(
    block: number,
    signal: AbortSignal,
    work: (client: EnsClient, blockNumber: bigint) => Promise<string | null>,
  ): Promise<NameAnswer> {
    const client = openEnsClient({ pool, gateways, block, signal });
    const asOf = { chainId: chain.id, block };
    try {
      return { answer: await work(client, BigInt(block)), offChain: false, asOf };
    } catch (error) {
      // That nodes are away says nothing of the name.
      if (client.outage() !== null) throw client.outage();
      return { ...answerOf(error, chain.name), asOf };
    }
  }

  const addressAt = (name: string, block: number, signal: AbortSignal): Promise<NameAnswer> =>
    ask(block, signal, async ({ viem }, blockNumber) => {
      const address = await getEnsAddress(viem, { name, universalResolverAddress, strict: true, blockNumber });
      return address === null ? null : getAddress(address);
    });

  return {
    addressOf: async (name, signal) => addressAt(name, await newestBlock(pool, signal), signal),
    async nameOf(given, signal) {
      const address: Address = parseAddress(given);
      // Both ways at one block: a name that changes hands meanwhile is somebody's, whichever way is asked first.
      const block = await newestBlock(pool, signal);
      const told = await ask(block, signal, ({ viem }, blockNumber) =>
        getEnsName(viem, { address, universalResolverAddress, strict: true, blockNumber }),
      );
      if (told.answer === null) return told;
      const none = { ...NO_NAME, asOf: told.asOf };
      // What does not normalise looks like another name.
      if (normalName(told.answer) !== told.answer) return none;
      const back = await addressAt(told.answer, block, signal);
      if (back.offChain) return back;
      return back.answer?.toLowerCase() === address ? told : none;
    },
  };
}

/** @throws StateUnavailableError where a gateway gave no answer */
function answerOf(error: unknown, chain: string): NameAnswer {
  if (!(error instanceof BaseError)) throw error;
  const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  // What a resolver answers that is no address leads nowhere.
  if (!(reverted instanceof ContractFunctionRevertedError)) return NO_NAME;
  if (reverted.raw?.startsWith(OFF_CHAIN) === true) return { ...NO_NAME, offChain: true };
  const name = reverted.data?.errorName;
  if (name === undefined || NOTHING_THERE.has(name)) return NO_NAME;
  throw new StateUnavailableError(`A gateway of a name on ${chain} gave no answer: ask again in a moment`, error);
}
