import type { Chain, CustomExchange } from '@chainstead/chains';
import { defineError, isAddress, parseAddress, parseHash } from '@chainstead/core';
import { exchange } from './exchange.ts';
import { type ChainExchanges, chainExchanges, knownExchanges } from './exchanges-of-chain.ts';
import { familiesByName } from './families.ts';

/** An exchange of a setting that can't be used. */
export class InvalidExchangeError extends defineError('INVALID_EXCHANGE', (given: CustomExchange, problem: string) => ({
  message: `Exchange ${JSON.stringify(given).slice(0, 200)} is not valid: ${problem}`,
  facts: { ...given },
  remedy: 'Use the name of a family, list each factory once, and give an init code hash of 32 bytes or none',
})) {}

/** Names of the exchange families. */
export const EXCHANGE_FAMILIES: readonly string[] = [...familiesByName.keys()];

const HASH = /^0x[0-9a-f]{64}$/i;

/**
 * Returns the exchanges of a chain: the known ones, and those of its settings.
 * @throws InvalidExchangeError
 */
export function exchangesOf(chain: Pick<Chain, 'id' | 'exchanges'>): ChainExchanges {
  const known = byChain.get(chain);
  if (known !== undefined) return known;
  const all = withCustomExchanges(chain.id, chain.exchanges, knownExchanges(chain.id));
  byChain.set(chain, all);
  return all;
}

const byChain = new WeakMap<object, ChainExchanges>();

/**
 * The exchanges of a chain, with `known` ones first. One with the factory of a known one replaces it.
 * @throws InvalidExchangeError for an unknown family, a malformed address or hash, or a factory that is given twice
 */
export function withCustomExchanges(
  chainId: number,
  custom: readonly CustomExchange[],
  known?: ChainExchanges,
): ChainExchanges {
  const added = custom.flatMap((given) => customExchange(chainId, given));
  const factories = new Set(added.map(({ deployment }) => deployment.factory));
  if (factories.size < custom.length) throw twice(custom);
  const kept = (known?.all ?? []).filter(({ deployment }) => !factories.has(deployment.factory));
  return chainExchanges([...kept, ...added]);
}

/** Returns what is wrong with an exchange of a setting; null: nothing. */
export function findExchangeProblem({ family, factory, initCodeHash }: CustomExchange): string | null {
  if (!familiesByName.has(family)) return `there is no family ${family}, only ${EXCHANGE_FAMILIES.join(', ')}`;
  if (!isAddress(factory)) return 'its factory is no address';
  return initCodeHash === undefined || HASH.test(initCodeHash) ? null : 'its initCodeHash is no hash';
}

function customExchange(chainId: number, given: CustomExchange) {
  const problem = findExchangeProblem(given);
  const family = familiesByName.get(given.family);
  if (problem !== null || family === undefined) throw new InvalidExchangeError(given, problem ?? '');
  const rule = given.initCodeHash === undefined ? null : { initCodeHash: parseHash(given.initCodeHash) };
  const factory = parseAddress(given.factory);
  const made = exchange(given.name ?? family.name, family, rule, [[chainId, factory, null]]);
  return made.deployments.map((deployment) => ({ exchange: made, deployment }));
}

/** About the first exchange whose factory an earlier one has. */
function twice(custom: readonly CustomExchange[]): InvalidExchangeError {
  const factories = custom.map(({ factory }) => factory.toLowerCase());
  const given = custom.find(({ factory }, place) => factories.indexOf(factory.toLowerCase()) < place);
  return new InvalidExchangeError(given ?? { family: '', factory: '' }, 'its factory is listed twice');
}
