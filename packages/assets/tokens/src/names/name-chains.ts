import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import type { UpstreamPool } from '@chainstead/rpc';
import { z } from 'zod';

/** Chain keys, in the order in which they are queried. */
export const NAME_CHAINS: Readonly<Record<NameService, readonly string[]>> = {
  ens: ['eth'],
  unstoppable: ['polygon', 'base', 'eth'],
};

export interface NameContracts {
  readonly universalResolver: Address;
  readonly unstoppable: Readonly<Record<string, { readonly records: Address; readonly reverse: Address }>>;
}

const ON_BASE = parseAddress('0xf6c1b83977de3deffc476f5048a0a84d3375d498');
const ON_ETHEREUM = parseAddress('0x049aba7510f45ba5b64ea9e658e342f904db358d');

export const NAME_CONTRACTS: NameContracts = {
  universalResolver: parseAddress('0xeeeeeeee14d718c2b47d9923deab1335e144eeee'),
  unstoppable: {
    polygon: {
      records: parseAddress('0x423f2531bd5d3c3d4ef7c318c2d1d9bede67c680'),
      reverse: parseAddress('0xa9a6a3626993d487d2dbda3173cf58ca1a9d9e9f'),
    },
    base: { records: ON_BASE, reverse: ON_BASE },
    eth: { records: ON_ETHEREUM, reverse: ON_ETHEREUM },
  },
};

export interface NameNodes {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
}

export function servicesOn(chains: readonly Chain[]): readonly NameService[] {
  return (['ens', 'unstoppable'] as const).filter((service) => chainOfService(chains, service) !== null);
}

/** The chain whose queue has the questions; null: none. */
export function chainOfService(chains: readonly Chain[], service: NameService): Chain | null {
  const [first] = NAME_CHAINS[service].flatMap((key) => chains.filter((chain) => chain.key === key));
  return first ?? null;
}

const questionSchema = z.object({
  service: z.enum(['ens', 'unstoppable']),
  wanted: z.enum(['address', 'name']),
  /** A normalised name, or an address in lower case. */
  subject: z.string().min(1),
});

const answerSchema = z.object({
  answer: z.string().nullable(),
  /** A gateway would have to be queried, and may not be. */
  offChain: z.boolean(),
  /** Null if several chains were needed. */
  asOf: z.object({ chainId: z.int(), block: z.int() }).nullable(),
});

export type NameQuestion = z.infer<typeof questionSchema>;
export type NameService = NameQuestion['service'];
export type NameAnswer = z.infer<typeof answerSchema>;

export const NO_NAME: NameAnswer = { answer: null, offChain: false, asOf: null };

export const nameKind: StateKind<NameQuestion, NameAnswer> = {
  name: 'name',
  question: questionSchema,
  answer: answerSchema,
  // The owner of a domain writes the resolver of all names below it.
  originOf: ({ service, wanted, subject }) =>
    wanted === 'address' ? `${service} ${subject.split('.').slice(-2).join('.')}` : undefined,
};

/** @throws UpstreamsExhaustedError, StateUnavailableError (retryable) */
export interface Names {
  /** With EIP-55 checksum. */
  addressOf(name: string, signal: AbortSignal): Promise<NameAnswer>;
  /** Only if the name leads back to the address. */
  nameOf(address: string, signal: AbortSignal): Promise<NameAnswer>;
}
