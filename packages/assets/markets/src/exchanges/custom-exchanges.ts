import type { Chain, CustomExchange } from '@chainstead/chains';
import { defineError, isAddress, parseAddress } from '@chainstead/core';
import { exchange } from './exchange.ts';
import { type ChainExchanges, chainExchanges, knownExchanges } from './exchanges-of-chain.ts';
import { familiesByName } from './families.ts';

export class InvalidExchangeError extends defineError(
  'INVALID_EXCHANGE',
  (given: CustomExchange, problem: string) => ({
    message: `Exchange ${JSON.stringify(given).slice(0, 200)} is not valid: ${problem}`,
    facts: { ...given },
    remedy: 'Use the name of a family, list each factory once, and give an init code hash of 32 bytes or none',
  }),
) {}

export const EXCHANGE_FAMILIES: readonly string[] = [...familiesByName.keys()];
const HASH = /^0x[0-9a-f]{64}$/i;

/** @throws InvalidExchangeError */
export function exchangesOf(chain: Pick<Chain, 'id' | 'exchanges'>): ChainExchanges {
  const exchanges =
    byChain.get(chain) ?? withCustomExchanges(chain.id, chain.exchanges, knownExchanges(chain.id));
  byChain.set(chain, exchanges);
  return exchanges;
}

const byChain = new WeakMap<object, ChainExchanges>();

/** Replaces a known exchange with the same factory. @throws InvalidExchangeError */
export function withCustomExchanges(
  chainId: number,
  custom: readonly CustomExchange[],
  known?: ChainExchanges,
): ChainExchanges {
  const added = custom.flatMap((setting) => customExchange(chainId, setting));
  const factories = new Set(added.map(({ deployment }) => deployment.factory));
  if (factories.size < custom.length) throw twice(custom);
  const kept = (known?.all ?? []).filter(({ deployment }) => !factories.has(deployment.factory));
  return chainExchanges([...kept, ...added]);
}

export function findExchangeProblem({ family, factory, initCodeHash }: CustomExchange): string | null {
  if (!familiesByName.has(family)) return `there is no family ${family}, only ${EXCHANGE_FAMILIES.join(', ')}`;
  if (!isAddress(factory)) return 'its factory is no address';
  return initCodeHash === undefined || HASH.test(initCodeHash) ? null : 'its initCodeHash is no hash';
}

function customExchange(chainId: number, setting: CustomExchange) {
  const problem = findExchangeProblem(setting);
  const family = familiesByName.get(setting.family);
  if (problem !== null || family === undefined) throw new InvalidExchangeError(setting, problem ?? '');
  const { name = family.name, initCodeHash = null } = setting;
  const custom = exchange(name, family, initCodeHash, [[chainId, parseAddress(setting.factory), null]]);
  return custom.deployments.map((deployment) => ({ exchange: custom, deployment }));
}

function twice(custom: readonly CustomExchange[]): InvalidExchangeError {
  const factories = custom.map(({ factory }) => factory.toLowerCase());
  const second = custom.find(({ factory }, index) => factories.indexOf(factory.toLowerCase()) < index);
  return new InvalidExchangeError(second ?? { family: '', factory: '' }, 'its factory is listed twice');
}
