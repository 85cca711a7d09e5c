import { type Address, parseAddress } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { StateUnavailableError } from '@chainstead/state';
import { BaseError, ContractFunctionRevertedError, getAddress } from 'viem';
import { getEnsAddress, getEnsName } from 'viem/actions';
import { NAME_CHAINS, type NameContracts, type NameNodes } from '../name-chains.ts';
import { type NameAnswer, NO_NAME } from '../name-question.ts';
import type { Names } from '../name-service.ts';
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

  async function ask(signal: AbortSignal, work: (client: EnsClient) => Promise<string | null>): Promise<NameAnswer> {
    const client = openEnsClient({ pool, gateways, signal });
    try {
      return { answer: await work(client), offChain: false };
    } catch (error) {
      // That nodes are away says nothing of the name.
      if (client.outage() !== null) throw client.outage();
      return answerOf(error, chain.name);
    }
  }

  const addressOf: Names['addressOf'] = (name, signal) =>
    ask(signal, async ({ viem }) => {
      const address = await getEnsAddress(viem, { name, universalResolverAddress, strict: true });
      return address === null ? null : getAddress(address);
    });

  return {
    addressOf,
    async nameOf(given, signal) {
      const address: Address = parseAddress(given);
      const told = await ask(signal, ({ viem }) =>
        getEnsName(viem, { address, universalResolverAddress, strict: true }),
      );
      if (told.answer === null) return told;
      // What does not normalise looks like another name.
      if (normalName(told.answer) !== told.answer) return NO_NAME;
      const back = await addressOf(told.answer, signal);
      if (back.offChain) return back;
      return back.answer?.toLowerCase() === address ? told : NO_NAME;
    },
  };
}

/** @throws StateUnavailableError where a gateway gave no answer */
function answerOf(error: unknown, chain: string): NameAnswer {
  if (!(error instanceof BaseError)) throw error;
  const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  // What a resolver answers that is no address leads nowhere.
  if (!(reverted instanceof ContractFunctionRevertedError)) return NO_NAME;
  if (reverted.raw?.startsWith(OFF_CHAIN) === true) return { answer: null, offChain: true };
  const name = reverted.data?.errorName;
  if (name === undefined || NOTHING_THERE.has(name)) return NO_NAME;
  throw new StateUnavailableError(`A gateway of a name on ${chain} gave no answer: ask again in a moment`, error);
}
